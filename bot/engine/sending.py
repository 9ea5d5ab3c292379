"""How does an effect reach GitHub exactly once, also when the answer is lost?"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from bot.domain.announcement import Announce
from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.comment import superseded
from bot.domain.effects import Effect, RetireComment, ShowComment, Withdraw
from bot.domain.label_effects import ShowLabel
from bot.domain.model import Sticky
from bot.domain.thread_effects import MinimiseReply, React, Reply, ShowIssue, WeekComment
from bot.engine.adopting import is_worse, left_behind
from bot.engine.announcing import Announcer
from bot.engine.checks import Checks
from bot.engine.homes import REST
from bot.engine.labels import Labels
from bot.engine.replies import Replies
from bot.engine.settling import LOOK_BACK, NotYet, sent_at
from bot.engine.summaries import Summaries
from bot.engine.withholding import Withholding
from bot.ports import (
    Claim,
    Forbidden,
    GitHub,
    GitHubError,
    Gone,
    OutboxRow,
    PostedComment,
    RateLimited,
    Refused,
    RowState,
    Store,
    Unavailable,
)

BELIEVE_GONE_AFTER = 4
"""Attempts after which a 404 is no longer GitHub being slow to show a thing."""

BELIEVE_REFUSED_AFTER = 3
"""Attempts after which a refusal is no longer a passing one, as of an address list or a race."""

BELIEVE_DELETED_AFTER = 2
"""Attempts after which a comment of ours that is not found was deleted, though nobody told us so."""

logger = logging.getLogger("whetstone.sending")


@dataclass(frozen=True, slots=True)
class Sender:
    """Writes what is owed to GitHub, oldest first."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def send(self, claim: Claim, rows: tuple[OutboxRow, ...], sticky: Sticky | None) -> Sticky | None:
        """The sticky comment after every row was written, or waits for a permission."""
        left: Unavailable | None = None
        known = await self.store.refusals(claim.installation_id) if rows else ()
        withholding = Withholding.of(claim, known)
        for row in rows:
            if refusal := withholding.pointless(row):
                await self.store.withhold(claim, row, refusal)
                continue
            try:
                sticky = await self._send(claim, row, sticky)
                await self._taken(withholding, row)
            except Unavailable as away:
                if not isinstance(row.effect, RetireComment | MinimiseReply):
                    raise
                left = away  # tidying up holds up nothing that somebody waits for
            except (Forbidden, Refused) as refused:
                left = await self._refused(withholding, row, refused) or left
            except Gone as missing:
                await self._miss(withholding, row, missing)
        if left:
            raise left
        return sticky

    async def _taken(self, withholding: Withholding, row: OutboxRow) -> None:
        """What GitHub takes again of one kind it may take of the others, too."""
        if withholding.before(row):
            withholding.forget()
            await self.store.let_again(withholding.claim.installation_id)

    async def _refused(
        self, withholding: Withholding, row: OutboxRow, refused: Forbidden | Refused
    ) -> Unavailable | None:
        """The row waits or is given up on; or the error with which it is tried again."""
        if isinstance(refused, Forbidden) and refused.permission:
            await self._withhold(withholding, row, refused)
            return None
        if withholding.claim.attempt < BELIEVE_REFUSED_AFTER and not _is_lasting(refused):
            return Unavailable(str(refused))  # it may be this row's trouble alone
        await self._give_up(withholding.claim, row, refused)
        return None

    async def _withhold(self, withholding: Withholding, row: OutboxRow, refused: Forbidden) -> None:
        """A write for which the App lacks a permission stays owed; it is said once, not at every event."""
        claim, is_news = withholding.claim, not withholding.before(row)
        await self._still_ours(row.effect)
        refusal = withholding.lacking(row, refused.permission or "")
        if refusal is None:
            return
        if is_news:
            told = {"lane": claim.lane, "target": row.target, "permission": refusal.permission}
            logger.warning("writes wait for a permission: %s", refused, extra=told)
        await self.store.refused(refusal)
        await self.store.withhold(claim, row, refusal)

    async def _miss(self, withholding: Withholding, row: OutboxRow, missing: Gone) -> None:
        """What GitHub does not show us is tried once more after a while, then given up on."""
        claim, again = withholding.claim, withholding.before(row)
        if claim.attempt < BELIEVE_GONE_AFTER and not again:
            raise Unavailable(str(missing)) from missing
        refusal = withholding.showing_nothing(row)
        if refusal and not again:
            await self._still_ours(row.effect)
            await self.store.refused(refusal)
            await self.store.withhold(claim, row, refusal)
            return
        await self._give_up(claim, row, missing)
        if refusal:
            await self.store.refused(refusal)

    async def _give_up(self, claim: Claim, row: OutboxRow, reason: GitHubError) -> None:
        """A write that GitHub never takes (locked, archived, deleted) is owed no longer."""
        await self._still_ours(row.effect)
        logger.warning(
            "GitHub refused a write", extra={"lane": claim.lane, "target": row.target, "reason": str(reason)}
        )
        await self.store.given_up(claim, row)

    async def _still_ours(self, effect: Effect) -> None:
        """Raise `NotYet` where the repository is no longer the installation's that was refused."""
        if isinstance(effect, Withdraw):
            return
        now = await self.store.memory.repository(effect.repository.id)
        if now is not None and now.installation_id != effect.repository.installation_id:
            raise NotYet(REST)

    async def _send(self, claim: Claim, row: OutboxRow, sticky: Sticky | None) -> Sticky | None:
        effect = row.effect
        await self._within_budget(claim, effect)
        match effect:
            case ShowComment():
                return await self._show(claim, row, effect, sticky)
            case RetireComment():
                await self._retire(effect)
                await self.store.sent(claim, row, None, ())
            case Withdraw():
                await self.store.sent(claim, row, None, ())
            case React() | Reply() | MinimiseReply():
                await self._answer(claim, row, effect)
            case ShowIssue() | WeekComment():
                await self._tell(claim, row, effect)
            case ShowCheck():
                await Checks(self.store, self.github, self.clock).show(claim, row, effect, sticky)
            case Suggest():
                await Checks(self.store, self.github, self.clock).suggest(claim, row, effect)
            case ShowLabel():
                await Labels(self.store, self.github).show(claim, row, effect)
            case Announce():
                await Announcer(self.store, self.github, self.clock).announce(claim, row, effect)
            case _:
                assert_never(effect)
        return sticky

    async def _within_budget(self, claim: Claim, effect: Effect) -> None:
        """GitHub takes so many writes a minute from an installation: rejections go before all else."""
        priority = _priority(effect)
        if priority is not None and (wait := await self.store.spend(claim.installation_id, priority)):
            raise NotYet(wait)

    async def _answer(self, claim: Claim, row: OutboxRow, effect: React | Reply | MinimiseReply) -> None:
        replies = Replies(self.store, self.github, self.clock)
        match effect:
            case React():
                await replies.react(claim, row, effect)
            case Reply():
                await replies.reply(claim, row, effect)
            case MinimiseReply():
                await replies.minimise(claim, row, effect)

    async def _tell(self, claim: Claim, row: OutboxRow, effect: ShowIssue | WeekComment) -> None:
        summaries = Summaries(self.store, self.github, self.clock)
        match effect:
            case ShowIssue():
                await summaries.show(claim, row, effect)
            case WeekComment():
                await summaries.comment(claim, row, effect)

    async def _show(
        self, claim: Claim, row: OutboxRow, effect: ShowComment, sticky: Sticky | None
    ) -> Sticky | None:
        live = sticky if sticky and not sticky.deleted_at else None
        if sticky is None and effect.adopts:
            live = await left_behind(self.github, effect, self.clock())
            effect = replace(effect, anew=row.state is RowState.SENDING or is_worse(effect, live))
        if live and not effect.anew:
            return await self._edit(claim, row, effect, live)
        posted = await self._post(claim, row, effect)
        fresh = _sticky(effect, posted, self.clock())
        then: tuple[Effect, ...] = ()
        if live and live.comment_id != posted.id:
            then = (
                RetireComment(
                    effect.repository, effect.number, live.comment_id, live.node_id, successor_url=posted.url
                ),
            )
        await self.store.sent(claim, row, fresh, then)
        return fresh

    async def _post(self, claim: Claim, row: OutboxRow, effect: ShowComment) -> PostedComment:
        if row.state is RowState.SENDING and (found := await self._posted_before(row, effect)):
            return found
        sending = await self.store.sending(claim, row)
        try:
            return await self.github.create_comment(effect.repository, effect.number, effect.body)
        except RateLimited:
            await self.store.unsent(claim, sending)  # certainly not written: nothing has to be looked up
            raise

    async def _posted_before(self, row: OutboxRow, effect: ShowComment) -> PostedComment | None:
        """Our comment, if the attempt whose answer was lost did write it."""
        since = sent_at(row, self.clock()) - LOOK_BACK
        return await self.github.find_comment(effect.repository, effect.number, effect.marker_id, since)

    async def _edit(self, claim: Claim, row: OutboxRow, effect: ShowComment, live: Sticky) -> Sticky:
        try:
            posted = await self.github.edit_comment(effect.repository, live.comment_id, effect.body)
        except Gone as missing:
            if claim.attempt < BELIEVE_DELETED_AFTER:
                raise Unavailable(str(missing)) from missing
            gone = replace(live, deleted_at=self.clock())
            await self.store.sent(claim, row, gone, ())
            return gone
        fresh = _sticky(effect, posted, self.clock())
        await self.store.sent(claim, row, fresh, ())
        return fresh

    async def _retire(self, effect: RetireComment) -> None:
        try:
            await self.github.edit_comment(
                effect.repository, effect.comment_id, superseded(effect.successor_url)
            )
            await self.github.minimise(effect.repository, effect.node_id)
        except Gone:
            return  # somebody deleted it: it is out of the way


def _is_lasting(refusal: Forbidden | Refused) -> bool:
    """Whether GitHub gave a reason that no second attempt will change."""
    if isinstance(refusal, Refused):
        return False
    said = str(refusal).partition(": ")[2].lower()  # not in what was asked: a repository may have such a name
    return "locked" in said or "archived" in said


def _sticky(effect: ShowComment, posted: PostedComment, now: datetime) -> Sticky:
    return Sticky(
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
        case ShowCheck(counted=True):
            return None
        case ShowComment() | RetireComment() | ShowCheck():
            return 0
        case Reply() | Announce() | Suggest() | ShowLabel():
            return 1
        case ShowIssue() | WeekComment():
            return 2
        case _:
            return None
