"""Send outbox rows to GitHub exactly once, even when an answer is lost."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.github.client import GitHub
from bot.github.errors import Forbidden, GitHubError, GitHubUnavailable, NotFound, ValidationFailed
from bot.inbox.ownership import OWNERSHIP_RETRY
from bot.inbox.retry import GONE_AFTER_ATTEMPTS, RetryLater
from bot.inbox.writers import EffectWriter
from bot.pull_request.effects import (
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
from bot.store.outbox import block_row, load_blocks, mark_sent, record_block, spend_write
from bot.store.repositories import find_repository
from bot.store.store import Store
from bot.turn.store import give_up_write

REFUSED_AFTER_ATTEMPTS = 3
"""Attempts after which a refusal is no longer temporary, as of an address list or a race."""

logger = logging.getLogger("whetstone.sending")

Blocks = dict[str, PermissionBlock]
"""The writes that GitHub refused to one installation, by the block's key."""


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
        blocks = {block.key: block for block in stored}
        for row in rows:
            known = _known_block(claim, row, blocks)
            # A row whose answer was lost is looked up, though its kind is refused.
            if known and known.recent and row.state is RowState.READY:
                await self.store.write_claimed(claim, block_row, row, known)
                continue
            try:
                sticky = await self._send(claim, row, sticky)
                if known:
                    # GitHub accepts a kind that was blocked: it may accept the others, too.
                    blocks.clear()
                    await self.store.clear_blocks(claim.installation_id)
            except GitHubUnavailable as error:
                if not isinstance(row.effect, RetireComment | MinimiseReply):
                    raise
                postponed = error  # tidying up delays nothing that somebody waits for
            except (Forbidden, ValidationFailed) as error:
                postponed = await self._handle_refusal(claim, row, blocks, error) or postponed
            except NotFound as error:
                await self._handle_missing(claim, row, blocks, error)
        if postponed:
            raise postponed
        return sticky

    async def _send(
        self, claim: LaneClaim, row: OutboxRow, sticky: StickyComment | None
    ) -> StickyComment | None:
        await self._spend_budget(claim, row)
        writer = EffectWriter(self.store, self.github, self.clock, claim, row, sticky)
        written = await writer.write()
        self.store.note_claimed(claim, mark_sent, row, written.sticky, written.then)
        return written.sticky or sticky

    async def _spend_budget(self, claim: LaneClaim, row: OutboxRow) -> None:
        """Raise `RetryLater` if the installation's writes per minute are used up; rejections go first."""
        priority = _priority(row.effect)
        if priority is None or row.state is RowState.STARTED:
            return
        # After a power cut, a write of the last moment may be counted less; GitHub's minute is over by then.
        spend = self.store.write_claimed_unsynced
        if wait := await spend(claim, spend_write, claim.installation_id, priority):
            raise RetryLater(wait)

    async def _handle_refusal(
        self, claim: LaneClaim, row: OutboxRow, blocks: Blocks, error: Forbidden | ValidationFailed
    ) -> GitHubUnavailable | None:
        """Block the row or give it up; or return the error with which it is tried again."""
        if isinstance(error, Forbidden) and error.permission:
            await self._block(claim, row, blocks, error)
            return None
        if claim.attempt < REFUSED_AFTER_ATTEMPTS and not _is_lasting(error):
            return GitHubUnavailable(str(error))  # the cause may be this row alone
        await self._give_up(claim, row, error)
        return None

    async def _block(self, claim: LaneClaim, row: OutboxRow, blocks: Blocks, error: Forbidden) -> None:
        """Keep a write owed for which the App lacks a permission; logged once, not at every event."""
        is_new = not _known_block(claim, row, blocks)
        await self._check_fence(row.effect)
        block = _permission_block(claim, row, error.permission or "")
        if block is None:
            return
        if is_new:
            details = {"lane": claim.lane, "target": row.target, "permission": block.permission}
            logger.warning("writes are blocked by a missing permission: %s", error, extra=details)
        await self._record_block(claim, row, blocks, block)

    async def _handle_missing(
        self, claim: LaneClaim, row: OutboxRow, blocks: Blocks, error: NotFound
    ) -> None:
        """Try once more after a while what GitHub does not show, then give it up."""
        is_repeated = _known_block(claim, row, blocks)
        if claim.attempt < GONE_AFTER_ATTEMPTS and not is_repeated:
            raise GitHubUnavailable(str(error)) from error
        block = _thread_block(claim, row)
        if block and not is_repeated:
            await self._check_fence(row.effect)
            await self._record_block(claim, row, blocks, block)
            return
        await self._give_up(claim, row, error)
        if block:
            blocks[block.key] = block
            await self.store.write(record_block, block)

    async def _record_block(
        self, claim: LaneClaim, row: OutboxRow, blocks: Blocks, block: PermissionBlock
    ) -> None:
        blocks[block.key] = block
        await self.store.write(record_block, block)
        await self.store.write_claimed(claim, block_row, row, block)

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


def _known_block(claim: LaneClaim, row: OutboxRow, blocks: Blocks) -> PermissionBlock | None:
    """The last refusal of this kind of write: a moment ago, or long enough ago to try again."""
    possible = (_permission_block(claim, row), _thread_block(claim, row))
    return next((blocks[block.key] for block in possible if block and block.key in blocks), None)


def _permission_block(claim: LaneClaim, row: OutboxRow, permission: str = "") -> PermissionBlock | None:
    """Block this kind of write in the whole repository."""
    if isinstance(row.effect, CancelWrite):
        return None
    return PermissionBlock(claim.installation_id, row.effect.repository.id, _kind(row), permission)


def _thread_block(claim: LaneClaim, row: OutboxRow) -> PermissionBlock | None:
    """Block what every event would owe again, in this thread only: the cause may be the thread."""
    if not isinstance(row.effect, ShowComment | ShowCheckRun | PostSuggestions):
        return None
    return PermissionBlock(claim.installation_id, row.effect.repository.id, f"{_kind(row)} {row.lane}")


def _kind(row: OutboxRow) -> str:
    return row.target.partition(":")[0]


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
