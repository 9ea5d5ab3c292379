"""Which heads are worth reading, and how much of them is kept?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bot.domain import iterations as judged
from bot.domain.check_result import CheckResult
from bot.domain.diff import FileDiff
from bot.domain.events import CheckSeen, ThreadSeen
from bot.domain.model import PullRequest, Revision, Stance

MOST_FILES = 300
"""Files kept of one head, which is also what GitHub shows in one comparison."""
MOST_LISTED = 50
"""Heads of which the files are kept: the newest."""
MOST_PATCH = 200_000
"""Characters of patches that a pull request keeps, those of the newest heads first."""
MOST_CHECKS = 200
MOST_THREADS = 500
MOST_READS = 3
"""How often a head is asked for that could not be read."""


def unread(pull_request: PullRequest) -> tuple[Revision, ...]:
    """The judged heads to read now: from the second iteration on, and only where something was rejected."""
    known = judged.iterations(pull_request)
    rejected = any(verdict.counted and verdict.stance is Stance.REJECTS for verdict in pull_request.verdicts)
    if len(known) < 2 or not rejected:
        return ()
    by_head = {revision.head: revision for revision in pull_request.revisions}
    newest = known[-MOST_LISTED:]
    found = (by_head.get(each.head, Revision(each.head, each.judged_at)) for each in newest)
    return tuple(each for each in found if each.files is None and not each.gone and each.reads < MOST_READS)


def with_revisions(pull_request: PullRequest, read: Iterable[Revision]) -> PullRequest:
    """The pull request with what was read of its heads, within bounds."""
    revisions = {revision.head: revision for revision in pull_request.revisions}
    for each in read:
        known = revisions.get(each.head, each)
        checks = _merged(each.checks, known.checks)
        revisions[each.head] = replace(each, seen_at=known.seen_at, checks=checks)
    if revisions == {revision.head: revision for revision in pull_request.revisions}:
        return pull_request
    ordered = sorted(revisions.values(), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=_bounded(ordered))


def with_check(pull_request: PullRequest, seen: CheckSeen) -> PullRequest:
    """The pull request with how a check on one of its heads ended, however late."""
    known = next((each for each in pull_request.revisions if each.head == seen.head), None)
    if known is None and not any(verdict.head == seen.head for verdict in pull_request.verdicts):
        return pull_request
    kept = known or Revision(seen.head, seen.at)
    others = (check for check in kept.checks if check.name != seen.name)
    checks = (*others, CheckResult(seen.name, seen.conclusion))[-MOST_CHECKS:]
    rest = (each for each in pull_request.revisions if each.head != seen.head)
    ordered = sorted((*rest, replace(kept, checks=checks)), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=tuple(ordered))


def with_thread(pull_request: PullRequest, seen: ThreadSeen) -> PullRequest:
    """The pull request with which inline comments stand in resolved threads."""
    known = [url for url in pull_request.resolved_threads if url not in seen.urls]
    resolved = (*known, *seen.urls) if seen.action == "resolved" else tuple(known)
    return replace(pull_request, resolved_threads=resolved[-MOST_THREADS:])


def _merged(read: tuple[CheckResult, ...], told: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
    """What was read, and what an event told that the read does not show as ended."""
    ended = {check.name for check in read if check.conclusion is not None}
    late = tuple(check for check in told if check.name not in ended)
    names = {check.name for check in late}
    return (*(check for check in read if check.name not in names), *late)[-MOST_CHECKS:]


def _bounded(revisions: list[Revision]) -> tuple[Revision, ...]:
    left, listed = MOST_PATCH, 0
    kept: list[Revision] = []
    for revision in reversed(revisions):
        if revision.files is None:
            kept.append(revision)
            continue
        listed += 1
        files = None if listed > MOST_LISTED else revision.files[:MOST_FILES]
        shown = sum(len(file.patch or "") for file in files or ())
        if files and shown > left:
            files = tuple(map(_without_patch, files))
        elif files:
            left -= shown
        kept.append(replace(revision, files=files))
    return tuple(reversed(kept))


def _without_patch(file: FileDiff) -> FileDiff:
    return replace(file, patch=None)
