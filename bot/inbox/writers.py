"""Write one owed effect to GitHub: the comment, check runs, labels, replies, the weekly issue."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ParamSpec, TypeVar, assert_never

from bot.commands.store import load_replies, mark_reply_posted
from bot.feedback.marker import FEEDBACK_MARKER
from bot.feedback.render import render_superseded
from bot.github.client import GitHub
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, RateLimited, ValidationFailed
from bot.github.model import FoundComment, FoundIssue, PostedComment
from bot.inbox.retry import LOOKUP_MARGIN, lookup_time
from bot.markdown.escape import parse_marker, render_marker
from bot.pull_request.checks import CheckRunText
from bot.pull_request.diff import hunks, new_side_lines
from bot.pull_request.effects import (
    LABEL_STYLES,
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
    is_superseded,
)
from bot.pull_request.model import StickyComment
from bot.store.model import LaneClaim, OutboxRow, RowState
from bot.store.outbox import mark_ready, mark_sending
from bot.store.store import Store
from bot.values import Repository
from bot.weekly.issue import ISSUE_LABEL
from bot.weekly.store import load_issue_number, save_issue_number
from bot.weekly.text import fold_whole_week, link_whole_week, week_in_marker

Arguments = ParamSpec("Arguments")
Created = TypeVar("Created")

DELETED_AFTER = 2
"""Attempts after which a comment that is not found counts as deleted, though no event said so."""
REPLY_MARKER = "ANSWER"
"""The keyword of the marker in the bot's replies."""
_LOOKUP_PERIOD = timedelta(days=8)

logger = logging.getLogger("whetstone.checks")


@dataclass(frozen=True, slots=True)
class Written:
    """What a write leaves."""

    sticky: StickyComment | None = None
    """The sticky comment, if it was written or found deleted."""
    then: tuple[Effect, ...] = ()
    """What is owed next."""


@dataclass(frozen=True, slots=True)
class EffectWriter:
    """Writes one owed row; what an attempt whose answer was lost has written is not written again."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]
    claim: LaneClaim
    row: OutboxRow
    sticky: StickyComment | None = None

    async def write(self) -> Written:  # noqa: C901, PLR0912  one branch for each effect
        """Write it; the caller marks the row as sent."""
        match self.row.effect:
            case ShowComment() as effect:
                return await self._show_comment(effect)
            case ShowWeeklyIssue() as effect:
                return await self._show_weekly_issue(effect)
            case PostReply() as effect:
                return await self._reply(effect)
            case RetireComment() as effect:
                await self._retire(effect)
            case AddReaction() as effect:
                await self._react(effect)
            case MinimiseReply() as effect:
                with contextlib.suppress(NotFound):  # somebody deleted it
                    await self.github.minimise(effect.repository, effect.node_id)
            case PostWeekComment() as effect:
                await self._post_week_comment(effect)
            case ShowCheckRun() as effect:
                await self._show_check_run(effect)
            case PostSuggestions() as effect:
                await self._post_suggestions(effect)
            case ShowLabel() as effect:
                await self._show_label(effect)
            case Announce() as effect:
                await self._announce(effect)
            case CloseAnnouncement() as effect:
                await self._close_announcement(effect)
            case CancelWrite():
                pass
            case effect:
                assert_never(effect)
        return Written()

    def _lost_since(self) -> datetime | None:
        """From when on to look for what an attempt whose answer was lost has written; None: there is none.

        Raises `RetryLater` while GitHub may not list it yet.
        """
        is_lost = self.row.state is RowState.SENDING
        return lookup_time(self.row, self.clock()) - LOOKUP_MARGIN if is_lost else None

    async def _create(
        self,
        create: Callable[Arguments, Awaitable[Created]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Created:
        """Create something on GitHub; the row is marked first, so that a lost answer is looked up."""
        if self.row.state is not RowState.STARTED:
            await self.store.write_claimed(self.claim, mark_sending, self.row)
        try:
            return await create(*args, **kwargs)
        except RateLimited:
            # Certainly not written: nothing has to be looked up.
            await self.store.write_claimed(self.claim, mark_ready, self.row)
            raise

    async def _show_comment(self, effect: ShowComment) -> Written:
        live = self.sticky if self.sticky and not self.sticky.deleted_at else None
        if self.sticky is None and effect.adopts:
            live = await self._find_orphaned_comment(effect)
            # A new blocking issue is worth a new notification.
            is_worse = live is None or not set(effect.blocking) <= set(live.blocking)
            effect = replace(effect, anew=self.row.state is RowState.SENDING or is_worse)
        if live and not effect.anew:
            return await self._edit_comment(effect, live)
        repository, number, posted = effect.repository, effect.number, None
        if since := self._lost_since():
            posted = await self.github.find_comment(repository, number, effect.marker_id, since)
        if posted is None:
            posted = await self._create(self.github.create_comment, repository, number, effect.body)
        then: tuple[Effect, ...] = ()
        if live and live.comment_id != posted.id:
            then = (RetireComment(repository, number, live.comment_id, live.node_id, posted.url),)
        return Written(_posted_sticky(effect, posted, self.clock()), then)

    async def _edit_comment(self, effect: ShowComment, live: StickyComment) -> Written:
        try:
            posted = await self.github.edit_comment(effect.repository, live.comment_id, effect.body)
        except NotFound as error:
            if self.claim.attempt < DELETED_AFTER:
                raise GitHubUnavailable(str(error)) from error
            return Written(replace(live, deleted_at=self.clock()))
        return Written(_posted_sticky(effect, posted, self.clock()))

    async def _find_orphaned_comment(self, effect: ShowComment) -> StickyComment | None:
        """The bot's newest comment with a marker, except one that an attempt of this very effect posted."""
        opening = f"<!-- {FEEDBACK_MARKER}: "
        comments = await self.github.own_comments(effect.repository, effect.number, opening)
        stickies = (_parse_sticky(comment, self.clock()) for comment in comments)
        others = [sticky for sticky in stickies if sticky and sticky.marker_id != effect.marker_id]
        return max(others, key=lambda sticky: sticky.comment_id, default=None)

    async def _retire(self, effect: RetireComment) -> None:
        text = render_superseded(effect.successor_url)
        with contextlib.suppress(NotFound):  # somebody deleted it: it is out of the way
            await self.github.edit_comment(effect.repository, effect.comment_id, text)
            await self.github.minimise(effect.repository, effect.node_id)

    async def _announce(self, effect: Announce) -> None:
        repository, number, since = effect.repository, effect.number, self._lost_since()
        if since and await self.github.find_comment(repository, number, effect.marker_id, since):
            return
        await self._create(self.github.create_comment, repository, number, effect.body)

    async def _close_announcement(self, effect: CloseAnnouncement) -> None:
        """Replace its text; nothing if it was never posted, closed before, or deleted."""
        opening, since = f"<!-- {effect.kind}: ", effect.since - LOOKUP_MARGIN
        posted = await self.github.find_text(effect.repository, effect.number, opening, since)
        if posted:
            with contextlib.suppress(NotFound):
                await self.github.edit_comment(effect.repository, posted.id, effect.body)

    async def _show_check_run(self, effect: ShowCheckRun) -> None:
        """Update the newest run of this name, or create one if the annotated locations differ."""
        link = self.sticky.url if effect.links and self.sticky and not self.sticky.deleted_at else ""
        text = effect.said
        if link:
            text = replace(text, summary=f"{text.summary}\n\n[The comment]({link})")
        self._lost_since()
        # Asked every time: what GitHub shows decides, so a repeat after a crash can't add a second run.
        run = await self.github.check_run(effect.repository, text.head, text.name)
        if run and run.places == text.places:
            await self.github.update_check_run(effect.repository, run.id, text, link)
        else:
            await self._create(self._create_check_run, effect.repository, text, link)

    async def _create_check_run(self, repository: Repository, text: CheckRunText, link: str) -> None:
        try:
            await self.github.create_check_run(repository, text, link)
        except ValidationFailed as error:
            if not text.annotations:
                raise
            # A check may be required: its conclusion matters more than its annotations.
            logger.warning("writing a check run without annotations: %s", error)
            await self.github.create_check_run(repository, replace(text, annotations=()), link)

    async def _post_suggestions(self, effect: PostSuggestions) -> None:
        if self._lost_since() and await self._has_suggested(effect):
            return
        try:
            await self._create(self._review, effect)
        except ValidationFailed:
            await self._drop_unknown_lines(effect)

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

    async def _show_label(self, effect: ShowLabel) -> None:
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

    async def _react(self, effect: AddReaction) -> None:
        """Add the reaction; repeating it changes nothing, and the reply follows even if it fails."""
        try:
            await self.github.react(effect.repository, effect.where, effect.id, effect.node_id, effect.face)
        except (NotFound, Forbidden, ValidationFailed) as error:
            if isinstance(error, Forbidden) and error.permission:
                raise  # all reactions are blocked, not this one alone

    async def _reply(self, effect: PostReply) -> Written:
        """Post the reply; then minimise the replies that it supersedes."""
        marker, is_inline, posted = reply_marker(effect.key), effect.inline is not None, None
        if since := self._lost_since():
            posted = await self.github.find_text(
                effect.repository, effect.number, marker, since, inline=is_inline
            )
        if posted is None:
            posted = await self._create(self._post_reply, effect)
        older = await self._superseded(effect)
        self.store.note_claimed(self.claim, mark_reply_posted, effect.key, posted.id, posted.node_id)
        return Written(then=older)

    async def _post_reply(self, effect: PostReply) -> PostedComment:
        body = f"{effect.body.rstrip()}\n\n{reply_marker(effect.key)}\n"
        if effect.inline is None:
            return await self.github.create_comment(effect.repository, effect.number, body)
        return await self.github.reply_inline(effect.repository, effect.number, effect.inline, body)

    async def _superseded(self, effect: PostReply) -> tuple[MinimiseReply, ...]:
        await self.store.write_notes(self.claim)  # an earlier row may be one of these replies
        replies = await self.store.read(load_replies, self.claim.lane)
        return tuple(
            MinimiseReply(effect.repository, reply.node_id)
            for reply in replies
            if is_superseded(reply.topic, effect.topic)
            and reply.key != effect.key
            and reply.node_id
            and reply.at <= effect.at
        )

    async def _show_weekly_issue(self, effect: ShowWeeklyIssue) -> Written:
        """Create or update the issue; a closed one is left unchanged."""
        self._lost_since()
        issue = await self._find_issue(effect)
        if issue is None:
            issue = await self._create(
                self.github.create_issue, effect.repository, effect.title, effect.body, effect.labels
            )
        elif issue.open and issue.body != effect.body:
            await self._fold_shown_week(effect, issue)
            await self.github.edit_issue(effect.repository, issue.number, effect.body)
        then: tuple[PostWeekComment, ...] = ()
        if issue.open and effect.comment:
            comment = link_whole_week(effect.comment, issue.url)
            then = (PostWeekComment(effect.repository, issue.number, effect.week, comment),)
        self.store.note_claimed(self.claim, save_issue_number, effect.repository.id, issue.number)
        return Written(then=then)

    async def _post_week_comment(self, effect: PostWeekComment) -> None:
        """Post the week's comment once, even if an earlier attempt's answer was lost."""
        repository, number, since = effect.repository, effect.number, self.clock() - _LOOKUP_PERIOD
        first_line = effect.body.partition("\n")[0]
        if self._lost_since() and await self.github.find_text(repository, number, first_line, since):
            return
        await self._create(self.github.create_comment, repository, number, effect.body)

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


def reply_marker(key: str) -> str:
    """The hidden marker of the reply to a command."""
    return render_marker(REPLY_MARKER, {"id": key})


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
