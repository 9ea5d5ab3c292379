"""Write announcements, check runs, labels, replies and the weekly issue to GitHub."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.github.client import GitHub
from bot.github.errors import Forbidden, NotFound, ValidationFailed
from bot.github.model import FoundIssue, PostedComment
from bot.inbox.retry import LOOKUP_MARGIN, lookup_time
from bot.markdown.escape import parse_marker, render_marker
from bot.pull_request.checks import CheckRunText
from bot.pull_request.diff import hunks, new_side_lines
from bot.pull_request.effects import (
    LABEL_STYLES,
    AddReaction,
    Announce,
    MinimiseReply,
    PostReply,
    PostSuggestions,
    PostWeekComment,
    ShowCheckRun,
    ShowLabel,
    ShowWeeklyIssue,
    is_superseded,
)
from bot.pull_request.model import StickyComment
from bot.store.model import LaneClaim, OutboxRow, RowState
from bot.turn.store import Store
from bot.values import Repository
from bot.weekly.issue import ISSUE_LABEL
from bot.weekly.text import WEEKLY_MARKER


@dataclass(frozen=True, slots=True)
class AnnouncementWriter:
    """Posts what is said once."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def write(self, claim: LaneClaim, row: OutboxRow, effect: Announce) -> None:
        """Posted, or found where an attempt whose answer was lost had posted it."""
        if row.state is not RowState.SENDING or not await self._posted_before(row, effect):
            await self.store.sending(claim, row)
            await self.github.create_comment(effect.repository, effect.number, effect.body)
        await self.store.sent(claim, row, None, ())

    async def _posted_before(self, row: OutboxRow, effect: Announce) -> PostedComment | None:
        since = lookup_time(row, self.clock()) - LOOKUP_MARGIN
        return await self.github.find_comment(effect.repository, effect.number, effect.marker_id, since)


logger = logging.getLogger("whetstone.checks")


@dataclass(frozen=True, slots=True)
class CheckRunWriter:
    """Writes our check runs and suggestion reviews."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def show(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowCheckRun, sticky: StickyComment | None
    ) -> None:
        """Bring the newest run of this name up to date, or add one where the places are others."""
        link = sticky.url if effect.links and sticky and not sticky.deleted_at else ""
        await self._write(claim, row, effect.repository, _linked(effect.said, link), link)

    async def write_suggestions(self, claim: LaneClaim, row: OutboxRow, effect: PostSuggestions) -> None:
        """One review with the suggestions; again without the lines that GitHub does not take."""
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
            if await self._suggested_before(effect):
                await self.store.sent(claim, row, None, ())
                return
        await self.store.sending(claim, row)
        try:
            await self._review(effect)
        except ValidationFailed:
            await self._drop_unknown_lines(effect)
        await self.store.sent(claim, row, None, ())

    async def _write(
        self, claim: LaneClaim, row: OutboxRow, repository: Repository, said: CheckRunText, link: str
    ) -> None:
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
        # Asked every time: what GitHub shows decides, so a repeat after a crash can't add a second run.
        known = await self.github.check_run(repository, said.head, said.name)
        if known and known.places == said.places:
            await self.github.update_check_run(repository, known.id, said, link)
        else:
            await self.store.sending(claim, row)
            await self._create(repository, said, link)
        await self.store.sent(claim, row, None, ())

    async def _create(self, repository: Repository, said: CheckRunText, link: str) -> None:
        try:
            await self.github.create_check_run(repository, said, link)
        except ValidationFailed as refusal:
            if not said.annotations:
                raise
            # A check may be required: what it says of the whole matters more than where.
            logger.warning("a check run is written without its places: %s", refusal)
            await self.github.create_check_run(repository, replace(said, annotations=()), link)

    async def _review(self, effect: PostSuggestions) -> None:
        await self.github.create_review(
            effect.repository, effect.number, effect.head, effect.body, effect.suggestions
        )

    async def _drop_unknown_lines(self, effect: PostSuggestions) -> None:
        """GitHub takes none of them if one line is outside the diff, and does not say which."""
        patches = await self.github.changed_files(effect.repository, effect.number)
        inside = tuple(
            one for one in effect.suggestions if one.line in new_side_lines(hunks(patches.get(one.path, "")))
        )
        logger.info("suggestions outside the diff are left out", extra={"left": len(inside)})
        if inside and inside != effect.suggestions:
            await self._review(replace(effect, suggestions=inside))

    async def _suggested_before(self, effect: PostSuggestions) -> bool:
        me = await self.github.me()
        first = effect.body.split("\n", 1)[0]
        reviews = await self.github.reviews(effect.repository, effect.number)
        return any(review.author.id == me.id and review.body.startswith(first) for review in reviews)


def _linked(said: CheckRunText, link: str) -> CheckRunText:
    return replace(said, summary=f"{said.summary}\n\n[The comment]({link})") if link else said


@dataclass(frozen=True, slots=True)
class LabelWriter:
    """Keeps our labels in step; others' are never touched."""

    store: Store
    github: GitHub

    async def show(self, claim: LaneClaim, row: OutboxRow, effect: ShowLabel) -> None:
        """Add what is missing, take the others off: what GitHub shows decides, so it may be repeated."""
        where, number = effect.repository, effect.number
        present = await self.github.labels(where, number)
        for label, (colour, description) in LABEL_STYLES.items():
            if label in effect.labels and label not in present:
                await self.github.make_label(where, label, colour, description)
                await self.github.add_label(where, number, label)
        for label in LABEL_STYLES:
            if label not in effect.labels and label in present:
                await self._take_off(effect, label)
        await self.store.sent(claim, row, None, ())

    async def _take_off(self, effect: ShowLabel, label: str) -> None:
        try:
            await self.github.remove_label(effect.repository, effect.number, label)
        except NotFound:
            return  # somebody was quicker


REPLY_MARKER = "ANSWER"
"""The word of the mark by which an answer of ours is known again."""


@dataclass(frozen=True, slots=True)
class ReplyWriter:
    """Writes reactions and answers."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def react(self, claim: LaneClaim, row: OutboxRow, effect: AddReaction) -> None:
        """Repeating it changes nothing; where it can't be given, the answer still comes."""
        try:
            await self.github.react(effect.repository, effect.where, effect.id, effect.node_id, effect.face)
        except (NotFound, Forbidden, ValidationFailed) as refusal:
            if isinstance(refusal, Forbidden) and refusal.permission:
                raise  # it is not this one alone that can't be given
        await self.store.sent(claim, row, None, ())

    async def reply(self, claim: LaneClaim, row: OutboxRow, effect: PostReply) -> None:
        """Posted, or found where the last attempt's answer was lost; then older ones are folded away."""
        posted = await self._posted_before(row, effect) if row.state is RowState.SENDING else None
        if posted is None:
            await self.store.sending(claim, row)
            posted = await self._post(effect)
        older = await self._repeated(claim, effect)
        await self.store.replied(claim, row, posted, older)

    async def minimise(self, claim: LaneClaim, row: OutboxRow, effect: MinimiseReply) -> None:
        """Folded away, unless somebody deleted it."""
        with contextlib.suppress(NotFound):
            await self.github.minimise(effect.repository, effect.node_id)
        await self.store.sent(claim, row, None, ())

    async def _post(self, effect: PostReply) -> PostedComment:
        body = f"{effect.body.rstrip()}\n\n{reply_marker(effect.key)}\n"
        if effect.inline is None:
            return await self.github.create_comment(effect.repository, effect.number, body)
        return await self.github.reply_inline(effect.repository, effect.number, effect.inline, body)

    async def _posted_before(self, row: OutboxRow, effect: PostReply) -> PostedComment | None:
        since = lookup_time(row, self.clock()) - LOOKUP_MARGIN
        return await self.github.find_text(
            effect.repository,
            effect.number,
            reply_marker(effect.key),
            since,
            inline=effect.inline is not None,
        )

    async def _repeated(self, claim: LaneClaim, effect: PostReply) -> tuple[MinimiseReply, ...]:
        known = await self.store.memory.replies(claim.lane)
        return tuple(
            MinimiseReply(effect.repository, one.node_id)
            for one in known
            if is_superseded(one.topic, effect.topic)
            and one.key != effect.key
            and one.node_id
            and one.at <= effect.at
        )


def reply_marker(key: str) -> str:
    """What an answer to this command carries out of sight."""
    return render_marker(REPLY_MARKER, {"id": key})


_A_WEEK = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class WeeklyIssueWriter:
    """Writes the summary issue and the comments of its weeks."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def show(self, claim: LaneClaim, row: OutboxRow, effect: ShowWeeklyIssue) -> None:
        """The issue as it should be; one that somebody closed is left alone."""
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
        found = await self._found(effect)
        if found is None:
            await self.store.sending(claim, row)
            found = await self.github.create_issue(
                effect.repository, effect.title, effect.body, effect.labels
            )
        elif found.open and found.body != effect.body:
            await self.github.edit_issue(effect.repository, found.number, effect.body)
        then: tuple[PostWeekComment, ...] = ()
        if found.open and effect.comment:
            then = (PostWeekComment(effect.repository, found.number, effect.week, effect.comment),)
        await self.store.told(claim, row, effect.repository.id, found.number, then)

    async def comment(self, claim: LaneClaim, row: OutboxRow, effect: PostWeekComment) -> None:
        """The week's comment, once: also when an earlier attempt's answer was lost."""
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
            first_line = effect.body.partition("\n")[0]
            since = self.clock() - _A_WEEK
            if await self.github.find_text(effect.repository, effect.number, first_line, since):
                await self.store.sent(claim, row, None, ())
                return
        await self.store.sending(claim, row)
        await self.github.create_comment(effect.repository, effect.number, effect.body)
        await self.store.sent(claim, row, None, ())

    async def _found(self, effect: ShowWeeklyIssue) -> FoundIssue | None:
        """By the stored number, then by label, creator and marker."""
        number = await self.store.memory.weekly_issue(effect.repository.id)
        if number is not None:
            try:
                return await self.github.issue(effect.repository, number)
            except NotFound:
                pass  # somebody deleted it
        labelled = await self.github.issues_labelled(effect.repository, ISSUE_LABEL)
        ours = [issue for issue in labelled if parse_marker(WEEKLY_MARKER, issue.body) is not None]
        return next((issue for issue in ours if issue.open), ours[0] if ours else None)
