"""Merge events, snapshots and revisions into a pull request's record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, assert_never

from bot.pull_request.checks import GATES_CHECK_NAME, CheckResult
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
from bot.pull_request.model import HeadSpan, PullRequest, Revision, ThreadState, Verdict
from bot.values import GHOST


def add_past_revisions(
    pull_request: PullRequest, reviews: Iterable[ReviewSnapshot], *, fresh: bool
) -> PullRequest:
    """Add the heads that were reviewed; revisions that were recorded live stay as they are.

    GitHub does not say when a head was pushed. The first one was there from the start, a later one
    when it was first reviewed, and one without a review no later than the last change.
    """
    first: dict[str, Revision] = {}
    for review in reviews:
        if review.head:
            at = review.submitted_at if first else pull_request.created_at
            first.setdefault(review.head, Revision(review.head, at))
    revisions = {revision.head: revision for revision in pull_request.revisions}
    if fresh:
        revisions = {
            head: _date_revision(revision, first, pull_request) for head, revision in revisions.items()
        }
    ordered = sorted({**first, **revisions}.values(), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=tuple(ordered))


def _date_revision(revision: Revision, first: dict[str, Revision], pull_request: PullRequest) -> Revision:
    if revision.head in first:
        return replace(revision, seen_at=min(revision.seen_at, first[revision.head].seen_at))
    return replace(revision, seen_at=min(revision.seen_at, pull_request.closed_at or revision.seen_at))


MAX_DESCRIPTION = 4_000
"""Characters of a description that are kept, for the claims in it."""
MAX_KEPT_FILES = 300
"""Files stored of one head, which is also GitHub's limit for one comparison."""
MAX_KEPT_HEADS = 50
"""Newest heads whose files are stored."""
MAX_PATCH_LENGTH = 200_000
"""Characters of patches that a pull request stores, those of the newest heads first."""
MAX_KEPT_CHECKS = 200
MAX_THREADS = 500
"""Resolved threads, answers and review requests that are stored."""


def merge_revisions(pull_request: PullRequest, revisions_read: Iterable[Revision]) -> PullRequest:
    """Merge what was read of its heads, within the limits."""
    revisions = {revision.head: revision for revision in pull_request.revisions}
    for each in revisions_read:
        recorded = revisions.get(each.head, each)
        checks = _merge_checks(each.checks, recorded.checks)
        revisions[each.head] = replace(each, seen_at=recorded.seen_at, checks=checks)
    if revisions == {revision.head: revision for revision in pull_request.revisions}:
        return pull_request
    ordered = sorted(revisions.values(), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=_limit_revisions(ordered))


def record_check(pull_request: PullRequest, event: CheckEvent) -> PullRequest:
    """Record that a check started or ended on one of its heads; an older run changes nothing."""
    recorded = next((other for other in pull_request.revisions if other.head == event.head), None)
    if recorded is None and not any(verdict.head == event.head for verdict in pull_request.verdicts):
        return pull_request
    kept = recorded or Revision(event.head, event.at)
    result = CheckResult(
        event.name,
        event.conclusion or None,
        run_id=event.run_id or 0,
        app=event.app,
        suite_id=event.suite_id,
    )
    earlier = max(
        (check.run_id for check in kept.checks if check.is_same_run(result)),
        default=-1,
    )
    if earlier > result.run_id or (result.conclusion is None and earlier == result.run_id):
        return pull_request
    others = (check for check in kept.checks if not check.is_same_run(result))
    checks = (*others, result)[-MAX_KEPT_CHECKS:]
    rest = (other for other in pull_request.revisions if other.head != event.head)
    ordered = sorted((*rest, replace(kept, checks=checks)), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=tuple(ordered))


def record_thread(pull_request: PullRequest, event: ReviewThreadEvent) -> PullRequest:
    """Record that a thread was resolved or reopened; an older event never replaces a newer one."""
    state = ThreadState(
        event.comment_id,
        resolved=event.action == "resolved",
        at=event.at or event.pull_request.updated_at,
        by_id=event.sender.id,
        by=event.sender.login,
    )
    threads = {thread.comment_id: thread for thread in pull_request.conversation.threads}
    earlier = threads.get(state.comment_id)
    if earlier is None or earlier.at <= state.at:
        threads[state.comment_id] = state
    kept = tuple(sorted(threads.values(), key=lambda thread: thread.at))[-MAX_THREADS:]
    return replace(pull_request, conversation=replace(pull_request.conversation, threads=kept))


def record_resolver_roles(pull_request: PullRequest, roles: Mapping[int, str | None]) -> PullRequest:
    """Record the roles of those who resolved threads, as they were read at that time."""
    if not pull_request.conversation.threads:
        return pull_request
    threads = tuple(
        replace(thread, role=roles[thread.by_id]) if thread.role is None and thread.by_id in roles else thread
        for thread in pull_request.conversation.threads
    )
    return replace(pull_request, conversation=replace(pull_request.conversation, threads=threads))


def record_answer(pull_request: PullRequest, event: InlineCommentEvent) -> PullRequest:
    """Record that the author replied in a thread."""
    thread, comment = event.comment.in_reply_to, event.comment
    if event.action != "created" or thread is None or comment.author.id != pull_request.author.id:
        return pull_request
    answers = _keep_latest(pull_request.conversation.answers, thread, comment.created_at)
    return replace(pull_request, conversation=replace(pull_request.conversation, answers=answers))


def record_review_request(pull_request: PullRequest, event: PullRequestEvent) -> PullRequest:
    """Record that a review was requested, or that the opening was received."""
    if event.action == "opened":
        pull_request = replace(pull_request, seen_opening=True)
    if event.requested is None:
        return pull_request
    at = event.pull_request.updated_at
    requests = _keep_latest(pull_request.conversation.requests, event.requested.id, at)
    return replace(pull_request, conversation=replace(pull_request.conversation, requests=requests))


def _keep_latest(
    times: tuple[tuple[int, datetime], ...], key: int, at: datetime
) -> tuple[tuple[int, datetime], ...]:
    latest = dict(times)
    latest[key] = max(at, latest.get(key, at))
    return tuple(sorted(latest.items(), key=lambda entry: (entry[1], entry[0])))[-MAX_THREADS:]


def add_head(spans: tuple[HeadSpan, ...], head: str, at: datetime) -> tuple[HeadSpan, ...]:
    """Add that the branch was at this head then; observations may come in any order."""
    before = [span for span in spans if span.last <= at]
    after = [span for span in spans if span.first > at]
    around = next((span for span in spans if span.first <= at < span.last), None)
    if around is not None:
        if around.head == head:
            return spans
        before = [*(span for span in before if span is not around), replace(around, last=around.first)]
        after = [replace(around, first=around.last), *after]
    if before and before[-1].head == head:
        before[-1] = replace(before[-1], last=at)
    elif after and after[0].head == head:
        after[0] = replace(after[0], first=at)
    else:
        before.append(HeadSpan(head, at, at))
    return tuple((*before, *after)[-MAX_REVISIONS:])


def _merge_checks(
    checks_read: tuple[CheckResult, ...], checks_reported: tuple[CheckResult, ...]
) -> tuple[CheckResult, ...]:
    """Merge the checks that were read with those of events that the read does not show as ended."""
    ended = [check for check in checks_read if check.conclusion is not None]
    unfinished = [check for check in checks_reported if not any(map(check.is_same_run, ended))]
    others = (check for check in checks_read if not any(map(check.is_same_run, unfinished)))
    return (*others, *unfinished)[-MAX_KEPT_CHECKS:]


def _limit_revisions(revisions: list[Revision]) -> tuple[Revision, ...]:
    left, listed = MAX_PATCH_LENGTH, 0
    bounded: list[Revision] = []
    for revision in reversed(revisions):
        if revision.files is None:
            bounded.append(revision)
            continue
        listed += 1
        files = None if listed > MAX_KEPT_HEADS else revision.files[:MAX_KEPT_FILES]
        shown = sum(len(file.patch or "") for file in files or ())
        if files and shown > left:
            files = tuple(replace(file, patch=None) for file in files)
        elif files:
            left -= shown
        bounded.append(replace(revision, files=files))
    return tuple(reversed(bounded))


MAX_REVISIONS = 1_000


def record_event(pull_request: PullRequest | None, event: Event, received_at: datetime) -> PullRequest | None:
    """Merge what the event shows; an older event never overwrites a newer one."""
    recorded = pull_request
    match event:
        case PullRequestEvent():
            recorded = record_review_request(_record_snapshot(pull_request, event.pull_request), event)
        case InlineCommentEvent():
            recorded = record_answer(_record_snapshot(pull_request, event.pull_request), event)
        case ReviewThreadEvent():
            recorded = record_thread(_record_snapshot(pull_request, event.pull_request), event)
        case ReviewEvent() | LabelEvent() | PastPullRequestEvent() | CheckBackfillEvent():
            recorded = _record_snapshot(pull_request, event.pull_request)
        case CheckEvent() | ConfigPushEvent():
            snapshot = event.pull_request
            recorded = pull_request if snapshot is None else _record_snapshot(pull_request, snapshot)
            recorded = (
                record_check(recorded, event) if recorded and isinstance(event, CheckEvent) else recorded
            )
        case ValidationEvent():
            recorded = _record_validation(pull_request, event)
        case CommentEvent():
            recorded = _record_comment(pull_request, event, received_at)
        case (
            ConfigBrokenEvent()
            | RepositoryEvent()
            | InstallationEvent()
            | WeekDueEvent()
            | BackfillStep()
            | RetryEvent()
            | CheckBackfillStep()
        ):
            pass
        case _:
            assert_never(event)
    return recorded


def _record_snapshot(pull_request: PullRequest | None, snapshot: PullRequestSnapshot) -> PullRequest:
    revision = _snapshot_revision(snapshot)
    if pull_request is None:
        return PullRequest(
            number=snapshot.number,
            created_at=snapshot.created_at,
            merged=snapshot.merged,
            revisions=(revision,),
            heads=(HeadSpan(snapshot.head, snapshot.updated_at, snapshot.updated_at),),
            **_shown_fields(snapshot),
        )
    with_revision = replace(
        pull_request,
        revisions=_add_revision(pull_request.revisions, revision),
        heads=add_head(known_heads(pull_request), snapshot.head, snapshot.updated_at),
    )
    if snapshot.updated_at > pull_request.updated_at:
        return merge_snapshot(with_revision, snapshot)
    if snapshot.updated_at == pull_request.updated_at and _comparable_fields(snapshot) != _comparable_fields(
        pull_request
    ):
        return replace(with_revision, unsure=True)
    return with_revision


def merge_snapshot(pull_request: PullRequest, snapshot: PullRequestSnapshot) -> PullRequest:
    """Merge a snapshot that is newer than everything recorded."""
    return replace(
        pull_request,
        # Only the pull_request event's own payload says so; the others show a merged one as closed.
        merged=snapshot.merged or (pull_request.merged and not snapshot.open),
        revisions=_add_revision(pull_request.revisions, _snapshot_revision(snapshot)),
        heads=add_head(known_heads(pull_request), snapshot.head, snapshot.updated_at),
        unsure=False,
        **_shown_fields(snapshot),
    )


def _shown_fields(snapshot: PullRequestSnapshot) -> dict[str, Any]:
    """Return what every payload shows as it is now."""
    names = ("repository", "author", "title", "base", "head", "updated_at", "open", "draft", "closed_at")
    return {name: getattr(snapshot, name) for name in names} | {"body": snapshot.body[:MAX_DESCRIPTION]}


def date_comments(pull_request: PullRequest) -> PullRequest:
    """Set the heads of comments and commands by their times: the push before one can be recorded after it."""
    known_since = min((revision.seen_at for revision in pull_request.revisions), default=None)
    verdicts = tuple(
        replace(verdict, head=pull_request.head_at(verdict.at))
        if verdict.id.startswith(("comment:", "command:")) and known_since and verdict.at >= known_since
        else verdict
        for verdict in pull_request.verdicts
    )
    return replace(pull_request, verdicts=verdicts)


def known_heads(pull_request: PullRequest) -> tuple[HeadSpan, ...]:
    """Return where the branch was; for a record of an earlier version, from its revisions."""
    if pull_request.heads:
        return pull_request.heads
    heads: tuple[HeadSpan, ...] = ()
    for revision in pull_request.revisions:
        heads = add_head(heads, revision.head, revision.seen_at)
    return heads


def _comparable_fields(pull_request: PullRequest | PullRequestSnapshot) -> tuple[object, ...]:
    return (pull_request.head, pull_request.base, pull_request.title, pull_request.open, pull_request.draft)


def _snapshot_revision(snapshot: PullRequestSnapshot) -> Revision:
    return Revision(snapshot.head, snapshot.updated_at, snapshot.base_sha or None)


def _add_revision(revisions: tuple[Revision, ...], added: Revision) -> tuple[Revision, ...]:
    recorded = next((revision for revision in revisions if revision.head == added.head), None)
    if recorded is not None and recorded.seen_at <= added.seen_at:
        return revisions
    if recorded is not None:
        # A later event of the same head arrived first.
        added = replace(recorded, seen_at=added.seen_at)
        revisions = tuple(revision for revision in revisions if revision is not recorded)
    ordered = sorted((*revisions, added), key=lambda revision: revision.seen_at)
    return tuple(ordered[-MAX_REVISIONS:])


def _record_validation(pull_request: PullRequest | None, event: ValidationEvent) -> PullRequest | None:
    """Request a refresh for an unknown head: a missed push, or no head of this pull request."""
    if (
        pull_request is None
        or not event.head
        or any(revision.head == event.head for revision in pull_request.revisions)
    ):
        return pull_request
    return replace(pull_request, unsure=True)


def _record_comment(
    pull_request: PullRequest | None, event: CommentEvent, received_at: datetime
) -> PullRequest | None:
    """Record that the sticky comment was deleted."""
    if pull_request is None:
        return None
    if event.repository.installation_id and event.updated_at >= pull_request.updated_at:
        # Its name and who can read it may be others by now, and what is answered depends on that.
        pull_request = replace(pull_request, repository=event.repository)
    sticky = pull_request.sticky
    if sticky is None or event.action != "deleted" or event.comment_id != sticky.comment_id:
        return pull_request
    return replace(pull_request, sticky=replace(sticky, deleted_at=received_at))


def new_descriptions(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the descriptions that came with the events, each once."""
    snapshots = (getattr(event, "pull_request", None) for event in events)
    bodies = (snapshot.body for snapshot in snapshots if isinstance(snapshot, PullRequestSnapshot))
    return tuple(dict.fromkeys(filter(None, bodies)))


def is_verdict_of(verdict: Verdict, account_id: int) -> bool:
    """Whether this account gave the verdict: in a review, by a label or a status, or over HTTP."""
    return is_validator_key_of(verdict.validator.key, account_id) or verdict.account_id == account_id


def is_validator_key_of(key: str, account_id: int) -> bool:
    """Whether the validator with this key is the account itself."""
    kind, _, rest = key.partition(":")
    return kind in {"user", "validation"} and rest.partition(":")[0] == str(account_id)


def remove_forgotten_reviewers(pull_request: PullRequest, forgotten: Mapping[int, datetime]) -> PullRequest:
    """Remove the names of forgotten reviewers, and keep their findings.

    Ids stay: a reviewer who comes back still replaces their own earlier verdict.
    """
    for account_id, until in forgotten.items():
        verdicts = tuple(
            _remove_name(verdict) if is_verdict_of(verdict, account_id) and verdict.at <= until else verdict
            for verdict in pull_request.verdicts
        )
        grounding = tuple(
            replace(entry, name=GHOST.login)
            if is_validator_key_of(entry.validator, account_id) and entry.at <= until
            else entry
            for entry in pull_request.grounding
        )
        pull_request = replace(pull_request, verdicts=verdicts, grounding=grounding)
    return pull_request


def _remove_name(verdict: Verdict) -> Verdict:
    validator = verdict.validator
    if not validator.check:
        validator = replace(validator, name=GHOST.login)
    items = tuple(
        replace(item, origin=replace(item.origin, account="")) if item.origin else item
        for item in verdict.items
    )
    return replace(verdict, validator=validator, items=items, account="")


def mark_unsent(pull_request: PullRequest, effect: Effect) -> PullRequest:
    """Remove the note that this was sent, so that the next event sends it again."""
    match effect:
        case ShowCheckRun() if effect.said.name == GATES_CHECK_NAME and effect.said.head == pull_request.head:
            return replace(pull_request, check="")
        case PostSuggestions() if effect.head == pull_request.suggested:
            return replace(pull_request, suggested="")
        case ShowLabel():
            return replace(pull_request, labelled=_UNKNOWN)
        case _:
            return pull_request


_UNKNOWN = "?"
"""No label has this name, so that the right one, or none, is sent again."""
