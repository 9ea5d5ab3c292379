"""What must be read from GitHub before this turn can decide? As little as possible, and nothing written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bot.decisions.verdicts import is_opinion
from bot.domain.events import Event, InlineCommentSeen, ReviewSeen
from bot.domain.facts import Facts
from bot.domain.model import Account, PullRequest, Stance
from bot.domain.own_events import HeadSeen, PastSeen
from bot.domain.snapshots import InlineComment, Review, ReviewState
from bot.ports import GitHub

# GitHub's webhooks can be ahead of its API by a moment.
_LAG = timedelta(seconds=60)


async def gather(pull_request: PullRequest, events: Sequence[Event], github: GitHub, now: datetime) -> Facts:
    """The facts that these events make necessary; nothing is read where no verdict can have changed."""
    me = await github.me()
    truth = None
    if pull_request.unsure:
        truth = await github.pull_request(pull_request.repository, pull_request.number)
    if not any(_matters(event, pull_request) for event in events):
        return Facts(me, truth)
    reviews = _with_seen_reviews(await github.reviews(pull_request.repository, pull_request.number), events)
    comments = None
    if any(_rejects(review) for review in reviews):
        read = await github.inline_comments(pull_request.repository, pull_request.number)
        comments = _with_seen_comments(read, events, now)
    return Facts(me, truth, reviews, comments, await _roles(pull_request, reviews, github, me))


def _matters(event: Event, pull_request: PullRequest) -> bool:
    known = {verdict.id for verdict in pull_request.verdicts}
    match event:
        case ReviewSeen():
            return (
                event.review.state is ReviewState.DISMISSED
                or f"review:{event.review.id}" in known
                or is_opinion(event.review)
            )
        case InlineCommentSeen():
            return f"review:{event.comment.review_id}" in known
        case PastSeen():
            return True
        case HeadSeen():  # it may have been judged before we were told of anything
            return not known
        case _:  # whatever judges it first must not hide what was said before the App was installed
            return not known and not pull_request.seen_opening


def _rejects(review: Review) -> bool:
    return review.state is ReviewState.CHANGES_REQUESTED or (
        review.state is ReviewState.COMMENTED and is_opinion(review)
    )


def _with_seen_reviews(read: tuple[Review, ...], events: Iterable[Event]) -> tuple[Review, ...]:
    """What the API shows, and what an event showed that the API does not show yet."""
    reviews = {review.id: review for review in read}
    for event in events:
        if isinstance(event, ReviewSeen):
            known = reviews.setdefault(event.review.id, event.review)
            if event.review.state is ReviewState.DISMISSED and known.state is not ReviewState.DISMISSED:
                reviews[event.review.id] = event.review  # a dismissal is never taken back
    return tuple(sorted(reviews.values(), key=lambda review: (review.submitted_at, review.id)))


def _with_seen_comments(
    read: tuple[InlineComment, ...], events: Iterable[Event], now: datetime
) -> tuple[InlineComment, ...]:
    comments = {comment.id: comment for comment in read}
    for event in events:
        if isinstance(event, InlineCommentSeen):
            if event.action == "deleted":
                comments.pop(event.comment.id, None)
            elif now - event.comment.created_at < _LAG:
                comments.setdefault(event.comment.id, event.comment)
    return tuple(comments[key] for key in sorted(comments))


async def _roles(
    pull_request: PullRequest, reviews: Iterable[Review], github: GitHub, me: Account
) -> dict[int, str | None]:
    """The role of every account whose opinion is new; an old one keeps the role it had then."""
    settled = {
        verdict.id for verdict in pull_request.verdicts if verdict.counted or verdict.stance is Stance.SILENT
    }
    roles: dict[int, str | None] = {}
    for review in reviews:
        account = review.author
        asked = account.id in roles or account.id in {0, me.id, pull_request.author.id}
        if not asked and f"review:{review.id}" not in settled and is_opinion(review):
            roles[account.id] = await github.role(pull_request.repository, account)
    return roles
