"""What is known about a pull request after one more event? Recording decides nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from bot.decisions.revisions import with_check, with_thread
from bot.domain.events import (
    CheckSeen,
    CommentSeen,
    ConfigPushed,
    Event,
    InlineCommentSeen,
    InstallationSeen,
    LabelSeen,
    PullRequestSeen,
    RepositoryChanged,
    ReviewSeen,
    ThreadSeen,
)
from bot.domain.model import PullRequest, Revision
from bot.domain.own_events import (
    BackfillDue,
    ConfigBroken,
    HeadsDue,
    HeadSeen,
    PastSeen,
    RetryDue,
    ValidationSeen,
    WeekDue,
)
from bot.domain.snapshots import PullRequestSnapshot

MOST_REVISIONS = 1_000


def record(pull_request: PullRequest | None, event: Event, received_at: datetime) -> PullRequest | None:
    """The pull request with what the event shows; an older event never overwrites a newer one."""
    match event:
        case PullRequestSeen() | ReviewSeen() | InlineCommentSeen() | LabelSeen() | PastSeen() | HeadSeen():
            shown = _with_snapshot(pull_request, event.pull_request)
            is_opening = isinstance(event, PullRequestSeen) and event.action == "opened"
            return replace(shown, seen_opening=True) if is_opening else shown
        case ThreadSeen():
            return with_thread(_with_snapshot(pull_request, event.pull_request), event)
        case CheckSeen() | ConfigPushed():
            seen = event.pull_request
            known = pull_request if seen is None else _with_snapshot(pull_request, seen)
            return with_check(known, event) if known and isinstance(event, CheckSeen) else known
        case ValidationSeen():
            return _with_validation(pull_request, event)
        case (
            ConfigBroken()
            | RepositoryChanged()
            | InstallationSeen()
            | WeekDue()
            | BackfillDue()
            | RetryDue()
            | HeadsDue()
        ):
            return pull_request
        case CommentSeen():
            return _with_comment(pull_request, event, received_at)
        case _:
            assert_never(event)


def _with_snapshot(known: PullRequest | None, seen: PullRequestSnapshot) -> PullRequest:
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
    with_revision = replace(known, revisions=_with_revision(known.revisions, revision))
    if seen.updated_at > known.updated_at:
        return with_truth(with_revision, seen)
    if seen.updated_at == known.updated_at and _shown(seen) != _shown(known):
        return replace(with_revision, unsure=True)
    return with_revision


def with_truth(known: PullRequest, seen: PullRequestSnapshot) -> PullRequest:
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
        revisions=_with_revision(known.revisions, _revision(seen)),
        unsure=False,
    )


def _shown(pull_request: PullRequest | PullRequestSnapshot) -> tuple[object, ...]:
    return (pull_request.head, pull_request.base, pull_request.title, pull_request.open, pull_request.draft)


def _revision(seen: PullRequestSnapshot) -> Revision:
    return Revision(seen.head, seen.updated_at, seen.base_sha or None)


def _with_revision(known: tuple[Revision, ...], seen: Revision) -> tuple[Revision, ...]:
    if any(revision.head == seen.head for revision in known):
        return known
    ordered = sorted((*known, seen), key=lambda revision: revision.seen_at)
    return tuple(ordered[-MOST_REVISIONS:])


def _with_validation(known: PullRequest | None, seen: ValidationSeen) -> PullRequest | None:
    """A head that nobody told of is either a push that we missed, or no head of this pull request."""
    if known is None or not seen.head or any(each.head == seen.head for each in known.revisions):
        return known
    return replace(known, unsure=True)


def _with_comment(known: PullRequest | None, seen: CommentSeen, received_at: datetime) -> PullRequest | None:
    """Somebody deleting our comment is the one thing that a plain comment event tells about us."""
    if known is not None and seen.repository.installation_id and seen.updated_at >= known.updated_at:
        # Its name and who can read it may be others by now, and what is answered depends on that.
        known = replace(known, repository=seen.repository)
    sticky = known.sticky if known else None
    if known is None or sticky is None or seen.action != "deleted" or seen.comment_id != sticky.comment_id:
        return known
    return replace(known, sticky=replace(sticky, deleted_at=received_at))
