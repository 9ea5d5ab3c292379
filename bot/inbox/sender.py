"""Send outbox rows to GitHub exactly once, even when an answer is lost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from bot.feedback.marker import FEEDBACK_MARKER
from bot.feedback.render import render_superseded
from bot.github.client import GitHub
from bot.github.errors import (
    Forbidden,
    GitHubError,
    GitHubUnavailable,
    NotFound,
    RateLimited,
    ValidationFailed,
)
from bot.github.model import FoundComment, PostedComment
from bot.inbox.ownership import OWNERSHIP_RETRY
from bot.inbox.retry import GONE_AFTER_ATTEMPTS, LOOKUP_MARGIN, RetryLater, lookup_time
from bot.inbox.writers import AnnouncementWriter, CheckRunWriter, LabelWriter, ReplyWriter, WeeklyIssueWriter
from bot.markdown.escape import parse_marker
from bot.pull_request.effects import (
    AddReaction,
    Announce,
    CancelWrite,
    Effect,
    MinimiseReply,
    PostReply,
    PostSuggestions,
    PostWeekComment,
    RetireComment,
    ShowCheckRun,
    ShowComment,
    ShowLabel,
    ShowWeeklyIssue,
)
from bot.pull_request.model import StickyComment
from bot.store.model import LaneClaim, OutboxRow, PermissionBlock, RowState
from bot.store.outbox import (
    block_row,
    load_blocks,
    mark_ready,
    mark_sending,
    mark_sent,
    record_block,
    spend_write,
)
from bot.store.repositories import find_repository
from bot.store.store import Store
from bot.turn.store import give_up_write


async def find_orphaned_comment(github: GitHub, effect: ShowComment, now: datetime) -> StickyComment | None:
    """The newest comment of ours with a marker, but for what an attempt of this very effect posted."""
    found = await github.own_comments(effect.repository, effect.number, f"<!-- {FEEDBACK_MARKER}: ")
    ours = (_found_sticky(each, now) for each in found)
    others = [each for each in ours if each and each.marker_id != effect.marker_id]
    return max(others, key=lambda each: each.comment_id, default=None)


def has_new_blocking(effect: ShowComment, before: StickyComment | None) -> bool:
    """Whether something blocks that did not before: worth a new notification."""
    return before is None or bool(set(effect.blocking) - set(before.blocking))


def _found_sticky(found: FoundComment, now: datetime) -> StickyComment | None:
    data = parse_marker(FEEDBACK_MARKER, found.body.partition("\n")[0])
    if data is None:
        return None
    return StickyComment(
        comment_id=found.posted.id,
        node_id=found.posted.node_id,
        url=found.posted.url,
        marker_id=str(data.get("id", "")),
        fingerprint="",
        issues=_tags(data.get("issues")),
        blocking=_tags(data.get("blocking")),
        written_at=now,
    )


def _tags(said: object) -> tuple[str, ...]:
    return tuple(map(str, said)) if isinstance(said, list) else ()


@dataclass(slots=True)
class PermissionBlocks:
    """What GitHub did not take of one installation, as far as it matters to one lane."""

    claim: LaneClaim
    _known: dict[str, PermissionBlock] = field(default_factory=dict)

    @classmethod
    def of(cls, claim: LaneClaim, refusals: Iterable[PermissionBlock]) -> PermissionBlocks:
        """For the rows of this claim."""
        return cls(claim, {each.key: each for each in refusals})

    def before(self, row: OutboxRow) -> PermissionBlock | None:
        """When this kind of write was last not taken: a moment ago, or long enough ago to try again."""
        possible = (each.key for each in (self._permission(row, ""), self._nothing(row)) if each)
        return next((self._known[key] for key in possible if key in self._known), None)

    def block_for_row(self, row: OutboxRow) -> PermissionBlock | None:
        """Why the row need not be tried; one whose answer was lost is looked up all the same."""
        found = self.before(row)
        return found if found and found.recent and row.state is RowState.READY else None

    def block_for_permission(self, row: OutboxRow, permission: str) -> PermissionBlock | None:
        """The refusal of a whole kind of write, in all of the repository."""
        return self._note(self._permission(row, permission))

    def block_shown_nothing(self, row: OutboxRow) -> PermissionBlock | None:
        """The refusal of what every event would owe again, in this thread only: it may be the thread's."""
        return self._note(self._nothing(row))

    def forget(self) -> None:
        """Nothing is known of any refusal."""
        self._known.clear()

    def _note(self, refusal: PermissionBlock | None) -> PermissionBlock | None:
        if refusal:
            self._known[refusal.key] = refusal
        return refusal

    def _permission(self, row: OutboxRow, permission: str) -> PermissionBlock | None:
        effect = row.effect
        if isinstance(effect, CancelWrite):
            return None
        return PermissionBlock(self.claim.installation_id, effect.repository.id, _kind(effect), permission)

    def _nothing(self, row: OutboxRow) -> PermissionBlock | None:
        effect = row.effect
        if not isinstance(effect, ShowComment | ShowCheckRun | PostSuggestions):
            return None
        kind = f"{_kind(effect)} {row.lane}"
        return PermissionBlock(self.claim.installation_id, effect.repository.id, kind)


def _kind(effect: Effect) -> str:
    return effect.target.partition(":")[0]


"""Attempts after which a 404 is no longer GitHub being slow to show a thing."""

REFUSED_AFTER_ATTEMPTS = 3
"""Attempts after which a refusal is no longer a passing one, as of an address list or a race."""

DELETED_AFTER = 2
"""Attempts after which a comment of ours that is not found was deleted, though nobody told us so."""

logger = logging.getLogger("whetstone.sending")


@dataclass(frozen=True, slots=True)
class Sender:
    """Writes what is owed to GitHub, oldest first."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def send(
        self, claim: LaneClaim, rows: tuple[OutboxRow, ...], sticky: StickyComment | None
    ) -> StickyComment | None:
        """The sticky comment after every row was written, or waits for a permission."""
        left: GitHubUnavailable | None = None
        known = await self.store.read(load_blocks, claim.installation_id) if rows else ()
        withholding = PermissionBlocks.of(claim, known)
        for row in rows:
            if refusal := withholding.block_for_row(row):
                await self.store.write_claimed(claim, block_row, row, refusal)
                continue
            try:
                sticky = await self._send(claim, row, sticky)
                await self._taken(withholding, row)
            except GitHubUnavailable as away:
                if not isinstance(row.effect, RetireComment | MinimiseReply):
                    raise
                left = away  # tidying up holds up nothing that somebody waits for
            except (Forbidden, ValidationFailed) as refused:
                left = await self._refused(withholding, row, refused) or left
            except NotFound as missing:
                await self._handle_missing(withholding, row, missing)
        if left:
            raise left
        return sticky

    async def _taken(self, withholding: PermissionBlocks, row: OutboxRow) -> None:
        """What GitHub takes again of one kind it may take of the others, too."""
        if withholding.before(row):
            withholding.forget()
            await self.store.clear_blocks(withholding.claim.installation_id)

    async def _refused(
        self, withholding: PermissionBlocks, row: OutboxRow, refused: Forbidden | ValidationFailed
    ) -> GitHubUnavailable | None:
        """The row waits or is given up on; or the error with which it is tried again."""
        if isinstance(refused, Forbidden) and refused.permission:
            await self._withhold(withholding, row, refused)
            return None
        if withholding.claim.attempt < REFUSED_AFTER_ATTEMPTS and not _is_lasting(refused):
            return GitHubUnavailable(str(refused))  # it may be this row's trouble alone
        await self._give_up(withholding.claim, row, refused)
        return None

    async def _withhold(self, withholding: PermissionBlocks, row: OutboxRow, refused: Forbidden) -> None:
        """A write for which the App lacks a permission stays owed; it is said once, not at every event."""
        claim, is_news = withholding.claim, not withholding.before(row)
        await self._check_fence(row.effect)
        refusal = withholding.block_for_permission(row, refused.permission or "")
        if refusal is None:
            return
        if is_news:
            told = {"lane": claim.lane, "target": row.target, "permission": refusal.permission}
            logger.warning("writes wait for a permission: %s", refused, extra=told)
        await self.store.write(record_block, refusal)
        await self.store.write_claimed(claim, block_row, row, refusal)

    async def _handle_missing(self, withholding: PermissionBlocks, row: OutboxRow, missing: NotFound) -> None:
        """What GitHub does not show us is tried once more after a while, then given up on."""
        claim, again = withholding.claim, withholding.before(row)
        if claim.attempt < GONE_AFTER_ATTEMPTS and not again:
            raise GitHubUnavailable(str(missing)) from missing
        refusal = withholding.block_shown_nothing(row)
        if refusal and not again:
            await self._check_fence(row.effect)
            await self.store.write(record_block, refusal)
            await self.store.write_claimed(claim, block_row, row, refusal)
            return
        await self._give_up(claim, row, missing)
        if refusal:
            await self.store.write(record_block, refusal)

    async def _give_up(self, claim: LaneClaim, row: OutboxRow, reason: GitHubError) -> None:
        """A write that GitHub never takes (locked, archived, deleted) is owed no longer."""
        await self._check_fence(row.effect)
        logger.warning(
            "GitHub refused a write", extra={"lane": claim.lane, "target": row.target, "reason": str(reason)}
        )
        await self.store.write_claimed(claim, give_up_write, row)

    async def _check_fence(self, effect: Effect) -> None:
        """Raise `NotYet` where the repository is no longer the installation's that was refused."""
        if isinstance(effect, CancelWrite):
            return
        now = await self.store.read(find_repository, effect.repository.id)
        if now is not None and now.installation_id != effect.repository.installation_id:
            raise RetryLater(OWNERSHIP_RETRY)

    async def _send(
        self, claim: LaneClaim, row: OutboxRow, sticky: StickyComment | None
    ) -> StickyComment | None:
        effect = row.effect
        await self._within_budget(claim, effect)
        match effect:
            case ShowComment():
                return await self._show(claim, row, effect, sticky)
            case RetireComment():
                await self._retire(effect)
                await self.store.write_claimed(claim, mark_sent, row)
            case CancelWrite():
                await self.store.write_claimed(claim, mark_sent, row)
            case AddReaction() | PostReply() | MinimiseReply():
                await self._answer(claim, row, effect)
            case ShowWeeklyIssue() | PostWeekComment():
                await self._tell(claim, row, effect)
            case ShowCheckRun():
                await CheckRunWriter(self.store, self.github, self.clock).show(claim, row, effect, sticky)
            case PostSuggestions():
                await CheckRunWriter(self.store, self.github, self.clock).write_suggestions(
                    claim, row, effect
                )
            case ShowLabel():
                await LabelWriter(self.store, self.github).show(claim, row, effect)
            case Announce():
                await AnnouncementWriter(self.store, self.github, self.clock).write(claim, row, effect)
            case _:
                assert_never(effect)
        return sticky

    async def _within_budget(self, claim: LaneClaim, effect: Effect) -> None:
        """GitHub takes so many writes a minute from an installation: rejections go before all else."""
        priority = _priority(effect)
        if priority is None:
            return
        if wait := await self.store.write(spend_write, claim.installation_id, priority):
            raise RetryLater(wait)

    async def _answer(
        self, claim: LaneClaim, row: OutboxRow, effect: AddReaction | PostReply | MinimiseReply
    ) -> None:
        replies = ReplyWriter(self.store, self.github, self.clock)
        match effect:
            case AddReaction():
                await replies.react(claim, row, effect)
            case PostReply():
                await replies.reply(claim, row, effect)
            case MinimiseReply():
                await replies.minimise(claim, row, effect)

    async def _tell(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowWeeklyIssue | PostWeekComment
    ) -> None:
        summaries = WeeklyIssueWriter(self.store, self.github, self.clock)
        match effect:
            case ShowWeeklyIssue():
                await summaries.show(claim, row, effect)
            case PostWeekComment():
                await summaries.comment(claim, row, effect)

    async def _show(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowComment, sticky: StickyComment | None
    ) -> StickyComment | None:
        live = sticky if sticky and not sticky.deleted_at else None
        if sticky is None and effect.adopts:
            live = await find_orphaned_comment(self.github, effect, self.clock())
            effect = replace(effect, anew=row.state is RowState.SENDING or has_new_blocking(effect, live))
        if live and not effect.anew:
            return await self._edit(claim, row, effect, live)
        posted = await self._post(claim, row, effect)
        fresh = _posted_sticky(effect, posted, self.clock())
        then: tuple[Effect, ...] = ()
        if live and live.comment_id != posted.id:
            then = (
                RetireComment(
                    effect.repository, effect.number, live.comment_id, live.node_id, successor_url=posted.url
                ),
            )
        await self.store.write_claimed(claim, mark_sent, row, fresh, then)
        return fresh

    async def _post(self, claim: LaneClaim, row: OutboxRow, effect: ShowComment) -> PostedComment:
        if row.state is RowState.SENDING and (found := await self._posted_before(row, effect)):
            return found
        sending = await self.store.write_claimed(claim, mark_sending, row)
        try:
            return await self.github.create_comment(effect.repository, effect.number, effect.body)
        except RateLimited:
            # Certainly not written: nothing has to be looked up.
            await self.store.write_claimed(claim, mark_ready, sending)
            raise

    async def _posted_before(self, row: OutboxRow, effect: ShowComment) -> PostedComment | None:
        """Our comment, if the attempt whose answer was lost did write it."""
        since = lookup_time(row, self.clock()) - LOOKUP_MARGIN
        return await self.github.find_comment(effect.repository, effect.number, effect.marker_id, since)

    async def _edit(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowComment, live: StickyComment
    ) -> StickyComment:
        try:
            posted = await self.github.edit_comment(effect.repository, live.comment_id, effect.body)
        except NotFound as missing:
            if claim.attempt < DELETED_AFTER:
                raise GitHubUnavailable(str(missing)) from missing
            gone = replace(live, deleted_at=self.clock())
            await self.store.write_claimed(claim, mark_sent, row, gone)
            return gone
        fresh = _posted_sticky(effect, posted, self.clock())
        await self.store.write_claimed(claim, mark_sent, row, fresh)
        return fresh

    async def _retire(self, effect: RetireComment) -> None:
        try:
            await self.github.edit_comment(
                effect.repository, effect.comment_id, render_superseded(effect.successor_url)
            )
            await self.github.minimise(effect.repository, effect.node_id)
        except NotFound:
            return  # somebody deleted it: it is out of the way


def _is_lasting(refusal: Forbidden | ValidationFailed) -> bool:
    """Whether GitHub gave a reason that no second attempt will change."""
    if isinstance(refusal, ValidationFailed):
        return False
    said = str(refusal).partition(": ")[2].lower()  # not in what was asked: a repository may have such a name
    return "locked" in said or "archived" in said


def _posted_sticky(effect: ShowComment, posted: PostedComment, now: datetime) -> StickyComment:
    return StickyComment(
        comment_id=posted.id,
        node_id=posted.node_id,
        url=posted.url,
        marker_id=effect.marker_id,
        fingerprint=effect.fingerprint,
        issues=effect.issues,
        blocking=effect.blocking,
        written_at=now,
    )


def _priority(effect: Effect) -> int | None:
    """0 before 1 before 2; None for what GitHub does not count as content."""
    match effect:
        case ShowCheckRun(counted=True):
            return None
        case ShowComment() | RetireComment() | ShowCheckRun():
            return 0
        case PostReply() | Announce() | PostSuggestions() | ShowLabel():
            return 1
        case ShowWeeklyIssue() | PostWeekComment():
            return 2
        case _:
            return None
