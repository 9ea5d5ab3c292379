"""Write announcements, check runs, labels, replies and the weekly issue to GitHub."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.commands.store import load_replies
from bot.github.client import GitHub
from bot.github.errors import Forbidden, NotFound, ValidationFailed
from bot.github.model import FoundIssue, PostedComment
from bot.inbox.retry import LOOKUP_MARGIN, lookup_time
from bot.markdown.escape import render_marker
from bot.pull_request.checks import CheckRunText
from bot.pull_request.diff import hunks, new_side_lines
from bot.pull_request.effects import (
    LABEL_STYLES,
    AddReaction,
    Announce,
    CloseAnnouncement,
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
from bot.store.outbox import mark_sending, mark_sent
from bot.store.store import Store
from bot.turn.store import mark_replied, mark_week_posted
from bot.values import Repository
from bot.weekly.issue import ISSUE_LABEL
from bot.weekly.store import load_issue_number
from bot.weekly.text import fold_whole_week, link_whole_week, week_in_marker


@dataclass(frozen=True, slots=True)
class AnnouncementWriter:
    """Posts comments that are written once, and closes them when the pull request is closed."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def write(self, claim: LaneClaim, row: OutboxRow, effect: Announce | CloseAnnouncement) -> None:
        """Post or close the comment."""
        if isinstance(effect, CloseAnnouncement):
            await self._close(effect)
        # Not if an attempt whose answer was lost has posted it.
        elif row.state is not RowState.SENDING or not await self._find_posted(row, effect):
            await self.store.write_claimed(claim, mark_sending, row)
            await self.github.create_comment(effect.repository, effect.number, effect.body)
        self.store.note_claimed(claim, mark_sent, row)

    async def _close(self, effect: CloseAnnouncement) -> None:
        """Replace its text; nothing if it was never posted, closed before, or deleted."""
        opening = f"<!-- {effect.kind}: "
        posted = await self.github.find_text(
            effect.repository, effect.number, opening, effect.since - LOOKUP_MARGIN
        )
        if posted:
            with contextlib.suppress(NotFound):
                await self.github.edit_comment(effect.repository, posted.id, effect.body)

    async def _find_posted(self, row: OutboxRow, effect: Announce) -> PostedComment | None:
        since = lookup_time(row, self.clock()) - LOOKUP_MARGIN
        return await self.github.find_comment(effect.repository, effect.number, effect.marker_id, since)


logger = logging.getLogger("whetstone.checks")


@dataclass(frozen=True, slots=True)
class CheckRunWriter:
    """Writes the bot's check runs and suggestion reviews."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def write_check_run(
        self, claim: LaneClaim, row: OutboxRow, effect: ShowCheckRun, sticky: StickyComment | None
    ) -> None:
        """Update the newest run of this name, or create one if the annotated locations differ."""
        link = sticky.url if effect.links and sticky and not sticky.deleted_at else ""
        text = effect.said
        if link:
            text = replace(text, summary=f"{text.summary}\n\n[The comment]({link})")
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
        # Asked every time: what GitHub shows decides, so a repeat after a crash can't add a second run.
        run = await self.github.check_run(effect.repository, text.head, text.name)
        if run and run.places == text.places:
            await self.github.update_check_run(effect.repository, run.id, text, link)
        else:
            await self.store.write_claimed(claim, mark_sending, row)
            await self._create(effect.repository, text, link)
        self.store.note_claimed(claim, mark_sent, row)

    async def write_suggestions(self, claim: LaneClaim, row: OutboxRow, effect: PostSuggestions) -> None:
        """Post one review with the suggestions; again without the lines that GitHub rejects."""
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
            if await self._has_suggested(effect):
                self.store.note_claimed(claim, mark_sent, row)
                return
        await self.store.write_claimed(claim, mark_sending, row)
        try:
            await self._review(effect)
        except ValidationFailed:
            await self._drop_unknown_lines(effect)
        self.store.note_claimed(claim, mark_sent, row)

    async def _create(self, repository: Repository, text: CheckRunText, link: str) -> None:
        try:
            await self.github.create_check_run(repository, text, link)
        except ValidationFailed as error:
            if not text.annotations:
                raise
            # A check may be required: its conclusion matters more than its annotations.
            logger.warning("writing a check run without annotations: %s", error)
            await self.github.create_check_run(repository, replace(text, annotations=()), link)

    async def _review(self, effect: PostSuggestions) -> None:
        await self.github.create_review(
            effect.repository, effect.number, effect.head, effect.body, effect.suggestions
        )

    async def _drop_unknown_lines(self, effect: PostSuggestions) -> None:
        """Post what is inside the diff: GitHub rejects all if one line is outside, and does not say which."""
        patches = await self.github.changed_files(effect.repository, effect.number)
        inside = tuple(
            suggestion
            for suggestion in effect.suggestions
            if suggestion.line in new_side_lines(hunks(patches.get(suggestion.path, "")))
        )
        logger.info("leaving out suggestions outside the diff", extra={"left": len(inside)})
        if inside and inside != effect.suggestions:
            await self._review(replace(effect, suggestions=inside))

    async def _has_suggested(self, effect: PostSuggestions) -> bool:
        me = await self.github.me()
        first = effect.body.split("\n", 1)[0]
        reviews = await self.github.reviews(effect.repository, effect.number)
        return any(review.author.id == me.id and review.body.startswith(first) for review in reviews)


@dataclass(frozen=True, slots=True)
class LabelWriter:
    """Adds and removes the bot's own labels; others are never touched."""

    store: Store
    github: GitHub

    async def write(self, claim: LaneClaim, row: OutboxRow, effect: ShowLabel) -> None:
        """Add and remove labels by what GitHub shows now, so that it may be repeated."""
        repository, number = effect.repository, effect.number
        present = await self.github.labels(repository, number)
        for label, (colour, description) in LABEL_STYLES.items():
            if label in effect.labels and label not in present:
                await self.github.make_label(repository, label, colour, description)
                await self.github.add_label(repository, number, label)
        for label in LABEL_STYLES:
            if label not in effect.labels and label in present:
                with contextlib.suppress(NotFound):  # somebody was quicker
                    await self.github.remove_label(repository, number, label)
        self.store.note_claimed(claim, mark_sent, row)


REPLY_MARKER = "ANSWER"
"""The keyword of the marker in the bot's replies."""


@dataclass(frozen=True, slots=True)
class ReplyWriter:
    """Writes reactions and replies to commands."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def write_reaction(self, claim: LaneClaim, row: OutboxRow, effect: AddReaction) -> None:
        """Add the reaction; repeating it changes nothing, and the reply follows even if it fails."""
        try:
            await self.github.react(effect.repository, effect.where, effect.id, effect.node_id, effect.face)
        except (NotFound, Forbidden, ValidationFailed) as error:
            if isinstance(error, Forbidden) and error.permission:
                raise  # all reactions are blocked, not this one alone
        self.store.note_claimed(claim, mark_sent, row)

    async def write_reply(self, claim: LaneClaim, row: OutboxRow, effect: PostReply) -> None:
        """Post the reply, unless a lost attempt has; then minimise the replies that it supersedes."""
        posted = await self._find_posted(row, effect) if row.state is RowState.SENDING else None
        if posted is None:
            await self.store.write_claimed(claim, mark_sending, row)
            posted = await self._post(effect)
        older = await self._superseded(claim, effect)
        self.store.note_claimed(claim, mark_replied, row, posted, older)

    async def minimise(self, claim: LaneClaim, row: OutboxRow, effect: MinimiseReply) -> None:
        """Minimise a reply, unless it was deleted."""
        with contextlib.suppress(NotFound):
            await self.github.minimise(effect.repository, effect.node_id)
        self.store.note_claimed(claim, mark_sent, row)

    async def _post(self, effect: PostReply) -> PostedComment:
        body = f"{effect.body.rstrip()}\n\n{reply_marker(effect.key)}\n"
        if effect.inline is None:
            return await self.github.create_comment(effect.repository, effect.number, body)
        return await self.github.reply_inline(effect.repository, effect.number, effect.inline, body)

    async def _find_posted(self, row: OutboxRow, effect: PostReply) -> PostedComment | None:
        since = lookup_time(row, self.clock()) - LOOKUP_MARGIN
        return await self.github.find_text(
            effect.repository,
            effect.number,
            reply_marker(effect.key),
            since,
            inline=effect.inline is not None,
        )

    async def _superseded(self, claim: LaneClaim, effect: PostReply) -> tuple[MinimiseReply, ...]:
        await self.store.write_notes(claim)  # an earlier row may be one of these replies
        replies = await self.store.read(load_replies, claim.lane)
        return tuple(
            MinimiseReply(effect.repository, reply.node_id)
            for reply in replies
            if is_superseded(reply.topic, effect.topic)
            and reply.key != effect.key
            and reply.node_id
            and reply.at <= effect.at
        )


def reply_marker(key: str) -> str:
    """The hidden marker of the reply to a command."""
    return render_marker(REPLY_MARKER, {"id": key})


_LOOKUP_PERIOD = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class WeeklyIssueWriter:
    """Writes the weekly issue and a comment per week."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def write_issue(self, claim: LaneClaim, row: OutboxRow, effect: ShowWeeklyIssue) -> None:
        """Create or update the issue; a closed one is left unchanged."""
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
        issue = await self._find_issue(effect)
        if issue is None:
            await self.store.write_claimed(claim, mark_sending, row)
            issue = await self.github.create_issue(
                effect.repository, effect.title, effect.body, effect.labels
            )
        elif issue.open and issue.body != effect.body:
            await self._fold_shown_week(effect, issue)
            await self.github.edit_issue(effect.repository, issue.number, effect.body)
        then: tuple[PostWeekComment, ...] = ()
        if issue.open and effect.comment:
            comment = link_whole_week(effect.comment, issue.url)
            then = (PostWeekComment(effect.repository, issue.number, effect.week, comment),)
        self.store.note_claimed(claim, mark_week_posted, row, effect.repository.id, issue.number, then)

    async def write_week_comment(self, claim: LaneClaim, row: OutboxRow, effect: PostWeekComment) -> None:
        """Post the week's comment once, even if an earlier attempt's answer was lost."""
        if row.state is RowState.SENDING:
            lookup_time(row, self.clock())
            first_line = effect.body.partition("\n")[0]
            since = self.clock() - _LOOKUP_PERIOD
            if await self.github.find_text(effect.repository, effect.number, first_line, since):
                self.store.note_claimed(claim, mark_sent, row)
                return
        await self.store.write_claimed(claim, mark_sending, row)
        await self.github.create_comment(effect.repository, effect.number, effect.body)
        self.store.note_claimed(claim, mark_sent, row)

    async def _fold_shown_week(self, effect: ShowWeeklyIssue, issue: FoundIssue) -> None:
        """Move the week that the description shows into its own comment, before another one replaces it."""
        week = week_in_marker(issue.body)
        if week is None or week == effect.week:
            return
        for comment in await self.github.own_comments(effect.repository, issue.number, f'"{week}"'):
            body = fold_whole_week(comment.body, issue.body)
            if week_in_marker(comment.body) == week and body != comment.body:
                # Deleted meanwhile, or too long: the next week is shown all the same.
                with contextlib.suppress(NotFound, ValidationFailed):
                    await self.github.edit_comment(effect.repository, comment.posted.id, body)

    async def _find_issue(self, effect: ShowWeeklyIssue) -> FoundIssue | None:
        """Find the issue by the stored number, then by label, creator and marker."""
        number = await self.store.read(load_issue_number, effect.repository.id)
        if number is not None:
            try:
                return await self.github.issue(effect.repository, number)
            except NotFound:
                pass  # somebody deleted it
        labelled = await self.github.issues_labelled(effect.repository, ISSUE_LABEL)
        ours = [issue for issue in labelled if week_in_marker(issue.body)]
        return next((issue for issue in ours if issue.open), ours[0] if ours else None)
