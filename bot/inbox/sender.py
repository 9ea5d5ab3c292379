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
    CloseAnnouncement,
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
    """The bot's newest comment with a marker, except one that an attempt of this very effect posted."""
    comments = await github.own_comments(effect.repository, effect.number, f"<!-- {FEEDBACK_MARKER}: ")
    stickies = (_parse_sticky(comment, now) for comment in comments)
    others = [sticky for sticky in stickies if sticky and sticky.marker_id != effect.marker_id]
    return max(others, key=lambda sticky: sticky.comment_id, default=None)


def has_new_blocking(effect: ShowComment, before: StickyComment | None) -> bool:
    """Whether there is a new blocking issue, which is worth a new notification."""
    return before is None or bool(set(effect.blocking) - set(before.blocking))


def _parse_sticky(comment: FoundComment, now: datetime) -> StickyComment | None:
    data = parse_marker(FEEDBACK_MARKER, comment.body.partition("\n")[0])
    if data is None:
        return None
    return StickyComment(
        comment_id=comment.posted.id,
        node_id=comment.posted.node_id,
        url=comment.posted.url,
        marker_id=str(data.get("id", "")),
        fingerprint="",
        issues=_tags(data.get("issues")),
        blocking=_tags(data.get("blocking")),
        written_at=now,
    )


def _tags(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


@dataclass(slots=True)
class PermissionBlocks:
    """The writes that GitHub refused to one installation, for the rows of one lane."""

    claim: LaneClaim
    _blocks: dict[str, PermissionBlock] = field(default_factory=dict)

    @classmethod
    def of(cls, claim: LaneClaim, blocks: Iterable[PermissionBlock]) -> PermissionBlocks:
        """The stored blocks of the claim's installation."""
        return cls(claim, {block.key: block for block in blocks})

    def known_block(self, row: OutboxRow) -> PermissionBlock | None:
        """The last refusal of this kind of write: a moment ago, or long enough ago to try again."""
        possible = (block.key for block in (self._permission(row, ""), self._not_shown(row)) if block)
        return next((self._blocks[key] for key in possible if key in self._blocks), None)

    def block_for_row(self, row: OutboxRow) -> PermissionBlock | None:
        """The block that makes trying the row pointless; a row whose answer was lost is looked up anyway."""
        block = self.known_block(row)
        return block if block and block.recent and row.state is RowState.READY else None

    def block_for_permission(self, row: OutboxRow, permission: str) -> PermissionBlock | None:
        """Block this kind of write in the whole repository."""
        return self._add(self._permission(row, permission))

    def block_shown_nothing(self, row: OutboxRow) -> PermissionBlock | None:
        """Block what every event would owe again, in this thread only: the cause may be the thread."""
        return self._add(self._not_shown(row))

    def clear(self) -> None:
        """Forget all blocks."""
        self._blocks.clear()

    def _add(self, block: PermissionBlock | None) -> PermissionBlock | None:
        if block:
            self._blocks[block.key] = block
        return block

    def _permission(self, row: OutboxRow, permission: str) -> PermissionBlock | None:
        effect = row.effect
        if isinstance(effect, CancelWrite):
            return None
        return PermissionBlock(self.claim.installation_id, effect.repository.id, _kind(effect), permission)

    def _not_shown(self, row: OutboxRow) -> PermissionBlock | None:
        effect = row.effect
        if not isinstance(effect, ShowComment | ShowCheckRun | PostSuggestions):
            return None
        kind = f"{_kind(effect)} {row.lane}"
        return PermissionBlock(self.claim.installation_id, effect.repository.id, kind)


def _kind(effect: Effect) -> str:
    return effect.target.partition(":")[0]


REFUSED_AFTER_ATTEMPTS = 3
"""Attempts after which a refusal is no longer temporary, as of an address list or a race."""

DELETED_AFTER = 2
"""Attempts after which a comment that is not found counts as deleted, though no event said so."""

logger = logging.getLogger("whetstone.sending")


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends owed rows to GitHub, oldest first."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def send(
        self, claim: LaneClaim, rows: tuple[OutboxRow, ...], sticky: StickyComment | None
    ) -> StickyComment | None:
        """Send the rows; returns the sticky comment as it is afterwards."""
        postponed: GitHubUnavailable | None = None
        # Where anything was blocked, nothing is started.
        is_clear = not rows or rows[0].state is RowState.STARTED
        stored = () if is_clear else await self.store.read(load_blocks, claim.installation_id)
        blocks = PermissionBlocks.of(claim, stored)
        for row in rows:
            if block := blocks.block_for_row(row):
                await self.store.write_claimed(claim, block_row, row, block)
                continue
            try:
                sticky = await self._send(claim, row, sticky)
                await self._mark_sent(blocks, row)
            except GitHubUnavailable as error:
                if not isinstance(row.effect, RetireComment | MinimiseReply):
                    raise
                postponed = error  # tidying up delays nothing that somebody waits for
            except (Forbidden, ValidationFailed) as error:
                postponed = await self._handle_refusal(blocks, row, error) or postponed
            except NotFound as error:
                await self._handle_missing(blocks, row, error)
        if postponed:
            raise postponed
        return sticky

    async def _mark_sent(self, blocks: PermissionBlocks, row: OutboxRow) -> None:
        """Clear all blocks if GitHub accepts a kind that was blocked: it may accept the others, too."""
        if blocks.known_block(row):
            blocks.clear()
            await self.store.clear_blocks(blocks.claim.installation_id)

    async def _handle_refusal(
        self, blocks: PermissionBlocks, row: OutboxRow, error: Forbidden | ValidationFailed
    ) -> GitHubUnavailable | None:
        """Block the row or give it up; or return the error with which it is tried again."""
        if isinstance(error, Forbidden) and error.permission:
            await self._block(blocks, row, error)
            return None
        if blocks.claim.attempt < REFUSED_AFTER_ATTEMPTS and not _is_lasting(error):
            return GitHubUnavailable(str(error))  # the cause may be this row alone
        await self._give_up(blocks.claim, row, error)
        return None

    async def _block(self, blocks: PermissionBlocks, row: OutboxRow, error: Forbidden) -> None:
        """Keep a write owed for which the App lacks a permission; logged once, not at every event."""
        claim, is_new = blocks.claim, not blocks.known_block(row)
        await self._check_fence(row.effect)
        block = blocks.block_for_permission(row, error.permission or "")
        if block is None:
            return
        if is_new:
            details = {"lane": claim.lane, "target": row.target, "permission": block.permission}
            logger.warning("writes are blocked by a missing permission: %s", error, extra=details)
        await self.store.write(record_block, block)
        await self.store.write_claimed(claim, block_row, row, block)

    async def _handle_missing(self, blocks: PermissionBlocks, row: OutboxRow, error: NotFound) -> None:
        """Try once more after a while what GitHub does not show, then give it up."""
        claim, is_repeated = blocks.claim, blocks.known_block(row)
        if claim.attempt < GONE_AFTER_ATTEMPTS and not is_repeated:
            raise GitHubUnavailable(str(error)) from error
        block = blocks.block_shown_nothing(row)
        if block and not is_repeated:
            await self._check_fence(row.effect)
            await self.store.write(record_block, block)
            await self.store.write_claimed(claim, block_row, row, block)
            return
        await self._give_up(claim, row, error)
        if block:
            await self.store.write(record_block, block)

    async def _give_up(self, claim: LaneClaim, row: OutboxRow, reason: GitHubError) -> None:
        """Forget a write that GitHub never accepts (locked, archived, deleted)."""
        await self._check_fence(row.effect)
        logger.warning(
            "GitHub refused a write", extra={"lane": claim.lane, "target": row.target, "reason": str(reason)}
        )
        await self.store.write_claimed(claim, give_up_write, row)

    async def _check_fence(self, effect: Effect) -> None:
        """Raise `RetryLater` if the repository has left the installation that was refused."""
        if isinstance(effect, CancelWrite):
            return
        repository = await self.store.read(find_repository, effect.repository.id)
        if repository is not None and repository.installation_id != effect.repository.installation_id:
            raise RetryLater(OWNERSHIP_RETRY)

    async def _send(
        self, claim: LaneClaim, row: OutboxRow, sticky: StickyComment | None
    ) -> StickyComment | None:
        effect = row.effect
        await self._spend_budget(claim, row)
        match effect:
            case ShowComment():
                return await self._show_comment(claim, row, effect, sticky)
            case RetireComment():
                await self._retire(effect)
                self.store.note_claimed(claim, mark_sent, row)
            case CancelWrite():
                self.store.note_claimed(claim, mark_sent, row)
            case AddReaction() | PostReply() | MinimiseReply():
                await self._send_reply(claim, row, effect)
            case ShowWeeklyIssue() | PostWeekComment():
                await self._send_weekly(claim, row, effect)
            case ShowCheckRun():
                await CheckRunWriter(self.store, self.github, self.clock).write_check_run(
                    claim, row, effect, sticky
                )
            case PostSuggestions():
                await CheckRunWriter(self.store, self.github, self.clock).write_suggestions(
                    claim, row, effect
                )
            case ShowLabel():
                await LabelWriter(self.store, self.github).write(claim, row, effect)
            case Announce() | CloseAnnouncement():
                await AnnouncementWriter(self.store, self.github, self.clock).write(claim, row, effect)
            case _:
                assert_never(effect)
        return sticky

    async def _spend_budget(self, claim: LaneClaim, row: OutboxRow) -> None:
        """Raise `RetryLater` if the installation's writes per minute are used up; rejections go first."""
        priority = _priority(row.effect)
        if priority is None or row.state is RowState.STARTED:
            return
        # After a power cut, a write of the last moment may be counted less; GitHub's minute is over by then.
        spend = self.store.write_claimed_unsynced
        if wait := await spend(claim, spend_write, claim.installation_id, priority):
            raise RetryLater(wait)

    async def _send_reply(
        self, claim: LaneClaim, row: OutboxRow, effect: AddReaction | PostReply | MinimiseReply
    ) -> None:
        replies = ReplyWriter(self.store, self.github, self.clock)
        match effect:
            case AddReaction():
                await replies.write_reaction(claim, row, effect)
            case PostReply():
                await replies.write_reply(claim, row, effect)
            case MinimiseReply():
                await replies.minimise(claim, row, effect)

    async def _send_weekly(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowWeeklyIssue | PostWeekComment
    ) -> None:
        summaries = WeeklyIssueWriter(self.store, self.github, self.clock)
        match effect:
            case ShowWeeklyIssue():
                await summaries.write_issue(claim, row, effect)
            case PostWeekComment():
                await summaries.write_week_comment(claim, row, effect)

    async def _show_comment(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowComment, sticky: StickyComment | None
    ) -> StickyComment | None:
        live = sticky if sticky and not sticky.deleted_at else None
        if sticky is None and effect.adopts:
            live = await find_orphaned_comment(self.github, effect, self.clock())
            effect = replace(effect, anew=row.state is RowState.SENDING or has_new_blocking(effect, live))
        if live and not effect.anew:
            return await self._edit(claim, row, effect, live)
        posted = await self._post(claim, row, effect)
        new_sticky = _posted_sticky(effect, posted, self.clock())
        then: tuple[Effect, ...] = ()
        if live and live.comment_id != posted.id:
            then = (
                RetireComment(
                    effect.repository, effect.number, live.comment_id, live.node_id, successor_url=posted.url
                ),
            )
        self.store.note_claimed(claim, mark_sent, row, new_sticky, then)
        return new_sticky

    async def _post(self, claim: LaneClaim, row: OutboxRow, effect: ShowComment) -> PostedComment:
        if row.state is RowState.SENDING and (posted := await self._find_posted(row, effect)):
            return posted
        if row.state is not RowState.STARTED:
            row = await self.store.write_claimed(claim, mark_sending, row)
        try:
            return await self.github.create_comment(effect.repository, effect.number, effect.body)
        except RateLimited:
            # Certainly not written: nothing has to be looked up.
            await self.store.write_claimed(claim, mark_ready, row)
            raise

    async def _find_posted(self, row: OutboxRow, effect: ShowComment) -> PostedComment | None:
        """The bot's comment, if the attempt whose answer was lost did write it."""
        since = lookup_time(row, self.clock()) - LOOKUP_MARGIN
        return await self.github.find_comment(effect.repository, effect.number, effect.marker_id, since)

    async def _edit(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowComment, live: StickyComment
    ) -> StickyComment:
        try:
            posted = await self.github.edit_comment(effect.repository, live.comment_id, effect.body)
        except NotFound as error:
            if claim.attempt < DELETED_AFTER:
                raise GitHubUnavailable(str(error)) from error
            deleted = replace(live, deleted_at=self.clock())
            self.store.note_claimed(claim, mark_sent, row, deleted)
            return deleted
        new_sticky = _posted_sticky(effect, posted, self.clock())
        self.store.note_claimed(claim, mark_sent, row, new_sticky)
        return new_sticky

    async def _retire(self, effect: RetireComment) -> None:
        try:
            await self.github.edit_comment(
                effect.repository, effect.comment_id, render_superseded(effect.successor_url)
            )
            await self.github.minimise(effect.repository, effect.node_id)
        except NotFound:
            return  # somebody deleted it: it is out of the way


def posts_new_comment(effect: Effect, sticky: StickyComment | None) -> bool:
    """Whether a write posts a comment, so that it is certain before anything is read from GitHub."""
    if not isinstance(effect, ShowComment) or (sticky is None and effect.adopts):
        return False
    return effect.anew or sticky is None or sticky.deleted_at is not None


def _is_lasting(error: Forbidden | ValidationFailed) -> bool:
    """Whether GitHub gave a reason that no second attempt will change."""
    if isinstance(error, ValidationFailed):
        return False
    # Not in what was asked: a repository may have such a name.
    reason = str(error).partition(": ")[2].lower()
    return "locked" in reason or "archived" in reason


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
    """The priority of a write, 0 first; None for what GitHub does not count as content."""
    match effect:
        case ShowCheckRun(counted=True):
            return None
        case ShowComment() | RetireComment() | ShowCheckRun():
            return 0
        case PostReply() | Announce() | CloseAnnouncement() | PostSuggestions() | ShowLabel():
            return 1
        case ShowWeeklyIssue() | PostWeekComment():
            return 2
        case _:
            return None
