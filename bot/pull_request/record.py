"""Merge events, snapshots and revisions into a pull request's record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from bot.pull_request.checks import GATES_CHECK_NAME, CheckResult
from bot.pull_request.diff import FileDiff
from bot.pull_request.effects import Effect, PostSuggestions, ShowCheckRun, ShowLabel
from bot.pull_request.events import (
    BackfillStep,
    CheckBackfillEvent,
    CheckBackfillStep,
    CheckEvent,
    CommentEvent,
    ConfigBrokenEvent,
    ConfigPushEvent,
    Event,
    InlineCommentEvent,
    InstallationEvent,
    LabelEvent,
    PastPullRequestEvent,
    PullRequestEvent,
    PullRequestSnapshot,
    RepositoryEvent,
    RetryEvent,
    ReviewEvent,
    ReviewSnapshot,
    ReviewThreadEvent,
    ValidationEvent,
    WeekDueEvent,
)
from bot.pull_request.model import Item, PullRequest, Revision, Verdict
from bot.values import GHOST


def add_past_revisions(
    pull_request: PullRequest, reviews: Iterable[ReviewSnapshot], *, fresh: bool
) -> PullRequest:
    """The pull request with the heads that were reviewed; what was seen at its time stays as it was.

    GitHub does not say when a head was pushed. The first one was there from the start, a later one
    when it was first reviewed, and one without a review no later than the last change.
    """
    first: dict[str, Revision] = {}
    for review in reviews:
        if review.head:
            at = review.submitted_at if first else pull_request.created_at
            first.setdefault(review.head, Revision(review.head, at))
    known = {revision.head: revision for revision in pull_request.revisions}
    if fresh:
        known = {head: _dated(revision, first, pull_request) for head, revision in known.items()}
    ordered = sorted({**first, **known}.values(), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=tuple(ordered))


def _dated(revision: Revision, first: dict[str, Revision], pull_request: PullRequest) -> Revision:
    if revision.head in first:
        return replace(revision, seen_at=first[revision.head].seen_at)
    return replace(revision, seen_at=min(revision.seen_at, pull_request.closed_at or revision.seen_at))


MAX_KEPT_FILES = 300
"""Files kept of one head, which is also what GitHub shows in one comparison."""
MAX_KEPT_HEADS = 50
"""Heads of which the files are kept: the newest."""
MAX_PATCH_LENGTH = 200_000
"""Characters of patches that a pull request keeps, those of the newest heads first."""
MAX_KEPT_CHECKS = 200
MAX_RESOLVED_THREADS = 500
"""How often a head is asked for that could not be read."""


def merge_revisions(pull_request: PullRequest, read: Iterable[Revision]) -> PullRequest:
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


def record_check(pull_request: PullRequest, seen: CheckEvent) -> PullRequest:
    """The pull request with how a check on one of its heads ended, however late."""
    known = next((each for each in pull_request.revisions if each.head == seen.head), None)
    if known is None and not any(verdict.head == seen.head for verdict in pull_request.verdicts):
        return pull_request
    kept = known or Revision(seen.head, seen.at)
    others = (check for check in kept.checks if check.name != seen.name)
    checks = (*others, CheckResult(seen.name, seen.conclusion))[-MAX_KEPT_CHECKS:]
    rest = (each for each in pull_request.revisions if each.head != seen.head)
    ordered = sorted((*rest, replace(kept, checks=checks)), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=tuple(ordered))


def record_thread(pull_request: PullRequest, seen: ReviewThreadEvent) -> PullRequest:
    """The pull request with which inline comments stand in resolved threads."""
    known = [url for url in pull_request.resolved_threads if url not in seen.urls]
    resolved = (*known, *seen.urls) if seen.action == "resolved" else tuple(known)
    return replace(pull_request, resolved_threads=resolved[-MAX_RESOLVED_THREADS:])


def _merged(read: tuple[CheckResult, ...], told: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
    """What was read, and what an event told that the read does not show as ended."""
    ended = {check.name for check in read if check.conclusion is not None}
    late = tuple(check for check in told if check.name not in ended)
    names = {check.name for check in late}
    return (*(check for check in read if check.name not in names), *late)[-MAX_KEPT_CHECKS:]


def _bounded(revisions: list[Revision]) -> tuple[Revision, ...]:
    left, listed = MAX_PATCH_LENGTH, 0
    kept: list[Revision] = []
    for revision in reversed(revisions):
        if revision.files is None:
            kept.append(revision)
            continue
        listed += 1
        files = None if listed > MAX_KEPT_HEADS else revision.files[:MAX_KEPT_FILES]
        shown = sum(len(file.patch or "") for file in files or ())
        if files and shown > left:
            files = tuple(map(_without_patch, files))
        elif files:
            left -= shown
        kept.append(replace(revision, files=files))
    return tuple(reversed(kept))


def _without_patch(file: FileDiff) -> FileDiff:
    return replace(file, patch=None)


MAX_REVISIONS = 1_000


def record_event(pull_request: PullRequest | None, event: Event, received_at: datetime) -> PullRequest | None:
    """The pull request with what the event shows; an older event never overwrites a newer one."""
    match event:
        case (
            PullRequestEvent()
            | ReviewEvent()
            | InlineCommentEvent()
            | LabelEvent()
            | PastPullRequestEvent()
            | CheckBackfillEvent()
        ):
            shown = _record_snapshot(pull_request, event.pull_request)
            is_opening = isinstance(event, PullRequestEvent) and event.action == "opened"
            return replace(shown, seen_opening=True) if is_opening else shown
        case ReviewThreadEvent():
            return record_thread(_record_snapshot(pull_request, event.pull_request), event)
        case CheckEvent() | ConfigPushEvent():
            seen = event.pull_request
            known = pull_request if seen is None else _record_snapshot(pull_request, seen)
            return record_check(known, event) if known and isinstance(event, CheckEvent) else known
        case ValidationEvent():
            return _record_validation(pull_request, event)
        case (
            ConfigBrokenEvent()
            | RepositoryEvent()
            | InstallationEvent()
            | WeekDueEvent()
            | BackfillStep()
            | RetryEvent()
            | CheckBackfillStep()
        ):
            return pull_request
        case CommentEvent():
            return _record_comment(pull_request, event, received_at)
        case _:
            assert_never(event)


def _record_snapshot(known: PullRequest | None, seen: PullRequestSnapshot) -> PullRequest:
    revision = _revision(seen)
    if known is None:
        return PullRequest(
            repository=seen.repository,
            number=seen.number,
            author=seen.author,
            title=seen.title,
            base=seen.base,
            head=seen.head,
            created_at=seen.created_at,
            updated_at=seen.updated_at,
            open=seen.open,
            merged=seen.merged,
            draft=seen.draft,
            closed_at=seen.closed_at,
            revisions=(revision,),
        )
    with_revision = replace(known, revisions=_add_revision(known.revisions, revision))
    if seen.updated_at > known.updated_at:
        return merge_snapshot(with_revision, seen)
    if seen.updated_at == known.updated_at and _shown(seen) != _shown(known):
        return replace(with_revision, unsure=True)
    return with_revision


def merge_snapshot(known: PullRequest, seen: PullRequestSnapshot) -> PullRequest:
    """The pull request as this snapshot shows it, which is the newest there is."""
    return replace(
        known,
        repository=seen.repository,
        author=seen.author,
        title=seen.title,
        base=seen.base,
        head=seen.head,
        updated_at=seen.updated_at,
        open=seen.open,
        # Only the pull_request event's own payload says so; the others show a merged one as closed.
        merged=seen.merged or (known.merged and not seen.open),
        draft=seen.draft,
        closed_at=seen.closed_at,
        revisions=_add_revision(known.revisions, _revision(seen)),
        unsure=False,
    )


def _shown(pull_request: PullRequest | PullRequestSnapshot) -> tuple[object, ...]:
    return (pull_request.head, pull_request.base, pull_request.title, pull_request.open, pull_request.draft)


def _revision(seen: PullRequestSnapshot) -> Revision:
    return Revision(seen.head, seen.updated_at, seen.base_sha or None)


def _add_revision(known: tuple[Revision, ...], seen: Revision) -> tuple[Revision, ...]:
    if any(revision.head == seen.head for revision in known):
        return known
    ordered = sorted((*known, seen), key=lambda revision: revision.seen_at)
    return tuple(ordered[-MAX_REVISIONS:])


def _record_validation(known: PullRequest | None, seen: ValidationEvent) -> PullRequest | None:
    """A head that nobody told of is either a push that we missed, or no head of this pull request."""
    if known is None or not seen.head or any(each.head == seen.head for each in known.revisions):
        return known
    return replace(known, unsure=True)


def _record_comment(
    known: PullRequest | None, seen: CommentEvent, received_at: datetime
) -> PullRequest | None:
    """Somebody deleting our comment is the one thing that a plain comment event tells about us."""
    if known is not None and seen.repository.installation_id and seen.updated_at >= known.updated_at:
        # Its name and who can read it may be others by now, and what is answered depends on that.
        known = replace(known, repository=seen.repository)
    sticky = known.sticky if known else None
    if known is None or sticky is None or seen.action != "deleted" or seen.comment_id != sticky.comment_id:
        return known
    return replace(known, sticky=replace(sticky, deleted_at=received_at))


def is_verdict_of(verdict: Verdict, who: int) -> bool:
    """Whether this account gave the verdict: in a review, by a label or a status, or over HTTP."""
    return is_validator_key_of(verdict.validator.key, who) or verdict.account_id == who


def is_validator_key_of(key: str, who: int) -> bool:
    """Whether the validator with this key is the account itself."""
    kind, _, rest = key.partition(":")
    return kind in {"user", "validation"} and rest.partition(":")[0] == str(who)


def remove_forgotten_reviewers(known: PullRequest, forgotten: Mapping[int, datetime]) -> PullRequest:
    """The pull request with its findings, and without the names of the reviewers who were forgotten.

    Ids stay: a reviewer who comes back still replaces their own earlier verdict.
    """
    for who, until in forgotten.items():
        verdicts = tuple(
            _unnamed(verdict) if is_verdict_of(verdict, who) and verdict.at <= until else verdict
            for verdict in known.verdicts
        )
        grounding = tuple(
            replace(entry, name=GHOST.login)
            if is_validator_key_of(entry.validator, who) and entry.at <= until
            else entry
            for entry in known.grounding
        )
        known = replace(known, verdicts=verdicts, grounding=grounding)
    return known


def _unnamed(verdict: Verdict) -> Verdict:
    validator = verdict.validator
    if not validator.check:
        validator = replace(validator, name=GHOST.login)
    return replace(verdict, validator=validator, items=tuple(map(_unsigned, verdict.items)), account="")


def _unsigned(item: Item) -> Item:
    if item.origin is None or not item.origin.account:
        return item
    return replace(item, origin=replace(item.origin, account=""))


def mark_unsent(known: PullRequest, effect: Effect) -> PullRequest:
    """The record without the note that this is shown, so that the next event owes it again."""
    match effect:
        case ShowCheckRun() if effect.said.name == GATES_CHECK_NAME and effect.said.head == known.head:
            return replace(known, check="")
        case PostSuggestions() if effect.head == known.suggested:
            return replace(known, suggested="")
        case ShowLabel():
            return replace(known, labelled=_UNKNOWN)
        case _:
            return known


_UNKNOWN = "?"
"""No label has this name, so whatever should stand there is owed; also that none should."""
