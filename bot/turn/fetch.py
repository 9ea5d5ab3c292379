"""Read from GitHub the facts that a turn needs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.commands.invocation import new_texts
from bot.gates.config import Permission, RepositoryRules
from bot.gates.rule_book import CONFIG_FILE, ConfigReport, RuleBook
from bot.github.client import GitHub
from bot.github.errors import Forbidden, NotFound, ValidationFailed
from bot.history.model import HistoryRecord
from bot.history.store import HistoryReader
from bot.iterations import model as judged
from bot.paths import is_inside_repository, is_secret_path
from bot.pull_request.checks import CheckAnnotation, CheckResult
from bot.pull_request.diff import Comparison
from bot.pull_request.events import (
    CheckBackfillEvent,
    CheckEvent,
    CommentEvent,
    ConfigPushEvent,
    Event,
    InlineCommentEvent,
    InlineCommentSnapshot,
    LabelEvent,
    PastPullRequestEvent,
    PullRequestEvent,
    ReviewEvent,
    ReviewSnapshot,
    ReviewState,
    ValidationEvent,
)
from bot.pull_request.facts import Facts
from bot.pull_request.model import PullRequest, Revision, Stance
from bot.pull_request.record import MAX_KEPT_HEADS, record_event
from bot.values import GHOST, Account, Repository
from bot.verdicts.checks import conclusion_stance
from bot.verdicts.item_context import file_key
from bot.verdicts.reviews import is_opinionated
from bot.verdicts.signals import SignalEvent, as_signal, is_validator_comment

MAX_READ_ATTEMPTS = 3


def unread_revisions(pull_request: PullRequest) -> tuple[Revision, ...]:
    """The judged heads to read now: from the second iteration on, and only where something was rejected."""
    known = judged.list_iterations(pull_request)
    rejected = any(verdict.counted and verdict.stance is Stance.REJECTS for verdict in pull_request.verdicts)
    if len(known) < 2 or not rejected:
        return ()
    by_head = {revision.head: revision for revision in pull_request.revisions}
    newest = known[-MAX_KEPT_HEADS:]
    found = (by_head.get(each.head, Revision(each.head, each.reviewed_at)) for each in newest)
    return tuple(
        each for each in found if each.files is None and not each.gone and each.reads < MAX_READ_ATTEMPTS
    )


# GitHub's webhooks can be ahead of its API by a moment.
_LAG = timedelta(seconds=60)


async def fetch_reviews(
    pull_request: PullRequest, events: Sequence[Event], github: GitHub, now: datetime
) -> Facts:
    """The facts that these events make necessary; nothing is read where no verdict can have changed."""
    me = await github.me()
    truth = None
    if pull_request.unsure:
        truth = await github.pull_request(pull_request.repository, pull_request.number)
    if not any(_matters(event, pull_request) for event in events):
        return Facts(me, truth)
    reviews = _merge_event_reviews(await github.reviews(pull_request.repository, pull_request.number), events)
    comments = None
    if any(_rejects(review) for review in reviews):
        read = await github.inline_comments(pull_request.repository, pull_request.number)
        comments = _merge_event_comments(read, events, now)
    return Facts(me, truth, reviews, comments, await _roles(pull_request, reviews, github, me))


def _matters(event: Event, pull_request: PullRequest) -> bool:
    known = {verdict.id for verdict in pull_request.verdicts}
    match event:
        case ReviewEvent():
            return (
                event.review.state is ReviewState.DISMISSED
                or f"review:{event.review.id}" in known
                or is_opinionated(event.review)
            )
        case InlineCommentEvent():
            return f"review:{event.comment.review_id}" in known
        case PastPullRequestEvent():
            return True
        case CheckBackfillEvent():  # it may have been judged before we were told of anything
            return not known
        case _:  # whatever judges it first must not hide what was said before the App was installed
            return not known and not pull_request.seen_opening


def _rejects(review: ReviewSnapshot) -> bool:
    return review.state is ReviewState.CHANGES_REQUESTED or (
        review.state is ReviewState.COMMENTED and is_opinionated(review)
    )


def _merge_event_reviews(
    read: tuple[ReviewSnapshot, ...], events: Iterable[Event]
) -> tuple[ReviewSnapshot, ...]:
    """What the API shows, and what an event showed that the API does not show yet."""
    reviews = {review.id: review for review in read}
    for event in events:
        if isinstance(event, ReviewEvent):
            known = reviews.setdefault(event.review.id, event.review)
            if event.review.state is ReviewState.DISMISSED and known.state is not ReviewState.DISMISSED:
                reviews[event.review.id] = event.review  # a dismissal is never taken back
    return tuple(sorted(reviews.values(), key=lambda review: (review.submitted_at, review.id)))


def _merge_event_comments(
    read: tuple[InlineCommentSnapshot, ...], events: Iterable[Event], now: datetime
) -> tuple[InlineCommentSnapshot, ...]:
    comments = {comment.id: comment for comment in read}
    for event in events:
        if isinstance(event, InlineCommentEvent):
            if event.action == "deleted":
                comments.pop(event.comment.id, None)
            elif now - event.comment.created_at < _LAG:
                comments.setdefault(event.comment.id, event.comment)
    return tuple(comments[key] for key in sorted(comments))


async def _roles(
    pull_request: PullRequest, reviews: Iterable[ReviewSnapshot], github: GitHub, me: Account
) -> dict[int, str | None]:
    """The role of every account whose opinion is new; an old one keeps the role it had then."""
    settled = {
        verdict.id for verdict in pull_request.verdicts if verdict.counted or verdict.stance is Stance.SILENT
    }
    roles: dict[int, str | None] = {}
    for review in reviews:
        account = review.author
        asked = account.id in roles or account.id in {0, me.id, pull_request.author.id}
        if not asked and f"review:{review.id}" not in settled and is_opinionated(review):
            roles[account.id] = await github.role(pull_request.repository, account)
    return roles


async def fetch_maintainer_answer(
    pull_request: PullRequest, events: Iterable[Event], github: GitHub
) -> datetime | None:
    """When one did, by a plain comment; nobody's role is asked for unless somebody waits for an answer."""
    escalation = pull_request.escalation
    if escalation is None or escalation.heard_at is not None:
        return None
    for event in events:
        if not isinstance(event, CommentEvent) or event.action != "created" or event.author.bot:
            continue
        if event.author.id == pull_request.author.id or event.created_at <= escalation.at:
            continue
        role = await github.role(pull_request.repository, event.author)
        if role in set(Permission) and Permission(role).is_at_least(Permission.WRITE):
            return event.created_at
    return None


_NEW_HEAD = frozenset({"opened", "reopened"})


async def fetch_signals(
    facts: Facts, pull_request: PullRequest, events: Sequence[Event], rules: RepositoryRules, github: GitHub
) -> Facts:
    """The facts with what these events say by themselves; an event that says nothing costs no read."""
    before = await _ended_before(pull_request, events, rules, github)
    found = (as_signal(event, pull_request, rules, facts.me) for event in (*before, *events))
    spoken = tuple(voice for voice in found if voice)
    roles = dict(facts.roles)
    annotations = {}
    for voice in spoken:
        if isinstance(voice, LabelEvent) and _is_asked(voice, pull_request, facts):
            roles[voice.sender.id] = await github.role(pull_request.repository, voice.sender)
        elif isinstance(voice, CheckEvent) and voice.run_id and _has_places(voice):
            annotations[voice.run_id] = await _annotations(pull_request.repository, voice.run_id, github)
    return replace(facts, spoken=spoken, roles=roles, annotations=annotations)


async def fetch_unrecorded(
    events: Sequence[Event], rule_book: RuleBook, github: GitHub
) -> PullRequest | None:
    """The pull request that a validator judges by other means than a review, where nothing is known of it."""
    for event in events:
        if isinstance(event, ValidationEvent) or (
            isinstance(event, CommentEvent)
            and is_validator_comment(event, None, await rule_book.rules(event.repository))
        ):
            seen = await github.pull_request(event.repository, event.number)
            return record_event(None, PullRequestEvent("seen", seen), seen.updated_at)
    return None


async def fetch_proposed_config(
    pull_request: PullRequest, events: Sequence[Event], rule_book: RuleBook, github: GitHub
) -> ConfigReport | None:
    """What is to be said of the config that the pull request proposes; None where it proposes none."""
    if not pull_request.open or not any(_may_propose(event, pull_request) for event in events):
        return None
    report = await rule_book.check_head(pull_request.repository, pull_request.head)
    if report is None:
        return None
    # An old branch differs from the default one also where it touches nothing.
    changed = await github.changed_files(pull_request.repository, pull_request.number)
    return report if CONFIG_FILE in changed else None


async def fetch_files(
    pull_request: PullRequest,
    wanted: Sequence[tuple[str, str]],
    known: Mapping[str, str],
    github: GitHub,
) -> dict[str, str]:
    """The text of each file that can be read as such; one that was read already is not asked for again."""
    found: dict[str, str] = {}
    for head, path in wanted:
        if file_key(head, path) in known or is_secret_path(path) or not is_inside_repository(path):
            continue
        try:
            data = await github.file(pull_request.repository, path, head)
        except (Forbidden, NotFound, ValidationFailed):
            continue
        if data is not None:
            found[file_key(head, path)] = data.decode("utf-8", "replace")
    return found


async def _ended_before(
    pull_request: PullRequest, events: Sequence[Event], rules: RepositoryRules, github: GitHub
) -> tuple[CheckEvent, ...]:
    """The checks that ended before there was a pull request to tell; asked only where the config maps any."""
    if not pull_request.open or not rules.validators.checks:
        return ()
    if not any(_may_have_ended_before(event, pull_request) for event in events):
        return ()
    try:
        return await github.ended_checks(pull_request.repository, pull_request.head)
    except (Forbidden, NotFound, ValidationFailed):
        return ()


async def _annotations(repository: Repository, run_id: int, github: GitHub) -> tuple[CheckAnnotation, ...]:
    """What the run found; a verdict without places is better than none where they may not be read."""
    try:
        return await github.annotations(repository, run_id)
    except (Forbidden, NotFound, ValidationFailed):
        return ()


def _may_have_ended_before(event: Event, pull_request: PullRequest) -> bool:
    match event:
        case PullRequestEvent():
            return event.action in _NEW_HEAD
        case CheckBackfillEvent():
            return not pull_request.verdicts
        case _:
            return False


def _may_propose(event: Event, pull_request: PullRequest) -> bool:
    match event:
        case PullRequestEvent():
            # GitHub tells of a push to our own branches with its files; of one to a fork it does not.
            pushed = event.action == "synchronize" and (event.fork or pull_request.proposes)
            return event.action in _NEW_HEAD or pushed
        case ConfigPushEvent():
            return True
        case _:
            return False


def _is_asked(voice: LabelEvent, pull_request: PullRequest, facts: Facts) -> bool:
    """Whether it matters what the sender may do."""
    return voice.action == "labeled" and voice.sender.id not in {0, facts.me.id, pull_request.author.id}


def _has_places(voice: SignalEvent) -> bool:
    return (
        isinstance(voice, CheckEvent)
        and voice.annotations > 0
        and conclusion_stance(voice.conclusion) is Stance.REJECTS
    )


RECENT_RECORDS = 12
"""Records of an author: five of them are looked at, some of the latest may not have been judged."""


async def fetch_recent_records(
    known: PullRequest, facts: Facts, memory: HistoryReader
) -> tuple[HistoryRecord, ...]:
    """The author's latest records, where a verdict can have changed."""
    if known.author == GHOST or (facts.reviews is None and not known.verdicts):
        return ()
    return await memory.newest(known.repository.id, known.author.id, RECENT_RECORDS)


async def fetch_commented(events: Sequence[Event], github: GitHub) -> PullRequest | None:
    """The pull request that was commented on, as GitHub shows it, where nothing is known of it yet."""
    text = next(new_texts(events), None)
    if text is None:
        return None
    seen = await github.pull_request(text.repository, text.number)
    return record_event(None, PullRequestEvent("seen", seen), seen.updated_at)


logger = logging.getLogger("whetstone.revisions")


async def fetch_revisions(
    pull_request: PullRequest, heads: Iterable[Revision], github: GitHub
) -> tuple[Revision, ...]:
    """The heads with tree, files and checks as GitHub shows them now."""
    return tuple([await _read(pull_request, revision, github) for revision in heads])


async def _read(pull_request: PullRequest, revision: Revision, github: GitHub) -> Revision:
    tried = replace(revision, reads=revision.reads + 1)
    try:
        seen = await _compared(pull_request, revision, github)
    except (NotFound, ValidationFailed):
        # The webhook of a push can be ahead of the API, so the present head is asked for again.
        return tried if revision.head == pull_request.head else replace(tried, gone=True)
    checks = await _checks(pull_request, revision, github)
    if seen is None or not seen.ahead:
        return replace(tried, checks=checks)
    return replace(tried, base=seen.base, tree=seen.tree, files=seen.files, checks=checks)


async def _compared(pull_request: PullRequest, revision: Revision, github: GitHub) -> Comparison | None:
    try:
        seen = await github.comparison(pull_request.repository, pull_request.base, revision.head)
        if not seen.ahead and revision.base:
            # It was merged meanwhile: the base has it all by now.
            seen = await github.comparison(pull_request.repository, revision.base, revision.head)
    except Forbidden as refusal:
        logger.warning("a revision can't be read", extra={"reason": str(refusal)})
        return None
    return seen


async def _checks(pull_request: PullRequest, revision: Revision, github: GitHub) -> tuple[CheckResult, ...]:
    try:
        return await github.check_results(pull_request.repository, revision.head)
    except (Forbidden, NotFound, ValidationFailed) as refusal:
        logger.warning("checks can't be read", extra={"reason": str(refusal)})
        return ()
