"""Fetch the facts that a turn needs from GitHub and the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar, cast

from bot.commands.invocation import new_texts
from bot.gates.config import Permission, RepositoryRules
from bot.gates.rule_book import CONFIG_FILE, ConfigReport, RuleBook
from bot.github.client import GitHub
from bot.github.errors import Forbidden, NotFound, ValidationFailed
from bot.history.forget import load_forgotten
from bot.history.model import HistoryRecord
from bot.history.store import load_newest_records
from bot.iterations.model import list_iterations
from bot.lessons.agents import read_agents
from bot.paths import is_inside_repository, is_secret_path
from bot.pull_request.checks import CheckAnnotation, CheckResult
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
    ReviewThreadEvent,
    ValidationEvent,
)
from bot.pull_request.facts import Facts
from bot.pull_request.model import UNREADABLE, PullRequest, Revision, Stance
from bot.pull_request.record import MAX_KEPT_HEADS, is_verdict_of, record_event
from bot.store.database import Transaction
from bot.store.store import Store
from bot.values import GHOST, Account, Repository
from bot.verdicts.checks import conclusion_stance, needs_log
from bot.verdicts.item_context import file_key
from bot.verdicts.reviews import is_opinionated
from bot.verdicts.signals import SignalEvent, as_signal, is_validator_comment

MAX_READ_ATTEMPTS = 3


def unread_revisions(pull_request: PullRequest) -> tuple[Revision, ...]:
    """The heads to read now: from the second head on, and only if something was rejected.

    Those that were reviewed are compared with each other, and the newest one shows what the author has
    changed since.
    """
    iterations = list_iterations(pull_request)
    rejected = any(verdict.counted and verdict.stance is Stance.REJECTS for verdict in pull_request.verdicts)
    reviewed = {iteration.head: iteration.reviewed_at for iteration in iterations[-MAX_KEPT_HEADS:]}
    heads = {**reviewed, pull_request.head: pull_request.updated_at} if pull_request.open else reviewed
    if len(heads) < 2 or not rejected:
        return ()
    by_head = {revision.head: revision for revision in pull_request.revisions}
    revisions = (by_head.get(head, Revision(head, at)) for head, at in heads.items())
    return tuple(
        revision
        for revision in revisions
        if revision.files is None and not revision.gone and revision.reads < MAX_READ_ATTEMPTS
    )


# GitHub's webhooks can be ahead of its API by a moment.
_LAG = timedelta(seconds=60)


async def fetch_reviews(
    pull_request: PullRequest,
    events: Sequence[Event],
    rules: RepositoryRules,
    github: GitHub,
    now: datetime,
) -> Facts:
    """Fetch reviews, inline comments and roles; nothing is read if no verdict can have changed."""
    me = await github.me()
    snapshot = None
    if pull_request.unsure:
        snapshot = await github.pull_request(pull_request.repository, pull_request.number)
    if not any(_may_change_verdict(event, pull_request, rules) for event in events):
        return Facts(me, snapshot)
    repository, number = pull_request.repository, pull_request.number
    submitted = (event.review for event in events if isinstance(event, ReviewEvent))
    rejecting = [review for review in submitted if _has_findings(review, rules)]
    comments: tuple[InlineCommentSnapshot, ...] | None = None
    if rejecting:
        # All three are needed for certain, so none waits for another; roles are cached.
        lists = fetch_both(github.reviews(repository, number), github.inline_comments(repository, number))
        roles = _fetch_roles(pull_request, rejecting, github, me)
        (listed, comments), _ = await fetch_both(lists, roles)
    else:
        listed = await github.reviews(repository, number)
    reviews = _merge_event_reviews(listed, events)
    # Remarks beside an approval are no findings, but its words are recorded.
    has_remarks = any(isinstance(event, InlineCommentEvent) for event in events)
    if not has_remarks and not any(_has_findings(review, rules) for review in reviews):
        comments = None
    else:
        comments = await github.inline_comments(repository, number) if comments is None else comments
        comments = _merge_event_comments(comments, events, now)
    return Facts(me, snapshot, reviews, comments, await _fetch_roles(pull_request, reviews, github, me))


One = TypeVar("One")
Other = TypeVar("Other")
Default = TypeVar("Default")


async def fetch_both(one: Awaitable[One], other: Awaitable[Other]) -> tuple[One, Other]:
    """Fetch both at the same time; an error of either is raised once both have ended."""
    fetched = await asyncio.gather(one, other, return_exceptions=True)
    for result in fetched:
        if isinstance(result, BaseException):
            raise result
    return cast("tuple[One, Other]", tuple(fetched))


def _may_change_verdict(event: Event, pull_request: PullRequest, rules: RepositoryRules) -> bool:
    verdict_ids = {verdict.id for verdict in pull_request.verdicts}
    match event:
        case ReviewEvent():
            return (
                event.review.state is ReviewState.DISMISSED
                or f"review:{event.review.id}" in verdict_ids
                or is_opinionated(event.review)
                or _is_named_app(event.review.author, rules)
                or any(is_verdict_of(v, event.review.author.id) and v.counted for v in pull_request.verdicts)
            )
        case InlineCommentEvent():
            # A reply only answers; every other comment comes once more beside its review, mostly after it.
            is_known = event.action == "created" and any(
                item.comment_id == event.comment.id for v in pull_request.verdicts for item in v.items
            )
            is_reply = event.comment.in_reply_to is not None
            return f"review:{event.comment.review_id}" in verdict_ids and not (is_reply or is_known)
        case PastPullRequestEvent():
            return True
        case CheckBackfillEvent():  # it may have been reviewed before the first event came
            return not verdict_ids
        case _:  # the first verdict must not hide the reviews from before the App was installed
            return not verdict_ids and not pull_request.seen_opening


def _has_findings(review: ReviewSnapshot, rules: RepositoryRules) -> bool:
    """Whether a review's inline comments may be findings."""
    return review.state is ReviewState.CHANGES_REQUESTED or (
        review.state is ReviewState.COMMENTED
        and (is_opinionated(review) or _is_named_app(review.author, rules))
    )


def _is_named_app(account: Account, rules: RepositoryRules) -> bool:
    return account.bot and rules.validators.is_named(account.login, bot=True)


def _merge_event_reviews(
    listed: tuple[ReviewSnapshot, ...], events: Iterable[Event]
) -> tuple[ReviewSnapshot, ...]:
    """The reviews that the API lists, and those of events that it does not list yet."""
    reviews = {review.id: review for review in listed}
    for event in events:
        if isinstance(event, ReviewEvent):
            listed_review = reviews.setdefault(event.review.id, event.review)
            is_dismissed = event.review.state is ReviewState.DISMISSED
            if is_dismissed and listed_review.state is not ReviewState.DISMISSED:
                reviews[event.review.id] = event.review  # a dismissal is never taken back
    return tuple(sorted(reviews.values(), key=lambda review: (review.submitted_at, review.id)))


def _merge_event_comments(
    listed: tuple[InlineCommentSnapshot, ...], events: Iterable[Event], now: datetime
) -> tuple[InlineCommentSnapshot, ...]:
    comments = {comment.id: comment for comment in listed}
    for event in events:
        if isinstance(event, InlineCommentEvent):
            if event.action == "deleted":
                comments.pop(event.comment.id, None)
            elif now - event.comment.created_at < _LAG:
                comments.setdefault(event.comment.id, event.comment)
    return tuple(comments[key] for key in sorted(comments))


async def _fetch_roles(
    pull_request: PullRequest, reviews: Iterable[ReviewSnapshot], github: GitHub, me: Account
) -> dict[int, str | None]:
    """The role of each author of a new opinion; an old opinion keeps the role of its time."""
    settled = {
        verdict.id for verdict in pull_request.verdicts if verdict.counted or verdict.stance is Stance.SILENT
    }
    roles: dict[int, str | None] = {}
    for review in reviews:
        account = review.author
        is_settled = account.id in roles or account.id in {0, me.id, pull_request.author.id}
        if not is_settled and f"review:{review.id}" not in settled and is_opinionated(review):
            roles[account.id] = await github.role(pull_request.repository, account)
    return roles


async def fetch_maintainer_answer(
    pull_request: PullRequest, events: Iterable[Event], github: GitHub
) -> datetime | None:
    """When a maintainer answered an escalation by a comment; no role is read unless one is open."""
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
    """Add the verdicts that are not reviews; an event that is not a verdict costs no read."""
    earlier = await _fetch_earlier_checks(pull_request, events, rules, github)
    possible = (event for event in (*earlier, *events) if isinstance(event, SignalEvent))
    found = (as_signal(event, pull_request, rules, facts.me) for event in possible)
    signals = tuple(signal for signal in found if signal)
    roles = dict(facts.roles)
    annotations = {}
    for resolver in _unknown_resolvers(events, pull_request, facts):
        roles[resolver.id] = await github.role(pull_request.repository, resolver)
    for signal in signals:
        # Only the sender's role decides if a label counts.
        if isinstance(signal, LabelEvent) and signal.sender.id not in {
            0,
            facts.me.id,
            pull_request.author.id,
        }:
            roles[signal.sender.id] = await github.role(pull_request.repository, signal.sender)
        elif isinstance(signal, CheckEvent) and signal.run_id and _has_annotations(signal):
            # If they may not be read, a verdict without locations is better than none.
            run = github.annotations(pull_request.repository, signal.run_id)
            annotations[signal.run_id] = await _read_or((), run)
    logs = await _fetch_logs(pull_request.repository, signals, annotations, github)
    return replace(facts, signals=signals, roles=roles, annotations=annotations, logs=logs)


async def _fetch_logs(
    repository: Repository,
    signals: Iterable[Event],
    annotations: Mapping[int, tuple[CheckAnnotation, ...]],
    github: GitHub,
) -> dict[int, str]:
    """Read the end of a failed job's log, where nothing else says what failed; empty without permission."""
    jobs = [
        signal.run_id
        for signal in signals
        if isinstance(signal, CheckEvent)
        and signal.run_id
        and needs_log(signal, annotations.get(signal.run_id, ()))
    ]
    logs = {job: await github.job_log(repository, job) for job in jobs}
    return {job: log for job, log in logs.items() if log}


async def fetch_triggers(repository: Repository, suites: Iterable[int], github: GitHub) -> dict[int, str]:
    """Read the event that started each suite; without permission or a run it is like no other."""
    return {suite: await github.suite_event(repository, suite) or UNREADABLE for suite in suites}


def _unknown_resolvers(
    events: Sequence[Event], pull_request: PullRequest, facts: Facts
) -> tuple[Account, ...]:
    """Return who resolved a thread, where only their role says what that means."""
    senders = {
        event.sender.id: event.sender
        for event in events
        if isinstance(event, ReviewThreadEvent) and event.action == "resolved"
    }
    plain = {0, facts.me.id, pull_request.author.id, *facts.roles}
    return tuple(sender for key, sender in senders.items() if key not in plain)


async def fetch_unrecorded(
    events: Sequence[Event], rule_book: RuleBook, github: GitHub
) -> PullRequest | None:
    """Fetch a pull request that is not recorded yet, if a validator reviews it by other means."""
    for event in events:
        if isinstance(event, ValidationEvent) or (
            isinstance(event, CommentEvent)
            and is_validator_comment(event, None, await rule_book.rules(event.repository))
        ):
            return await _fetch_pull_request(event.repository, event.number, github)
    return None


async def fetch_proposed_config(
    pull_request: PullRequest, events: Sequence[Event], rule_book: RuleBook, github: GitHub
) -> ConfigReport | None:
    """Check the config that the pull request proposes; None if it proposes none."""
    if not pull_request.open or not any(_may_propose(event, pull_request) for event in events):
        return None
    report = await rule_book.check_head(pull_request.repository, pull_request.head)
    if report is None:
        return None
    # An old branch differs from the default one even if it does not change the config.
    changed = await github.changed_files(pull_request.repository, pull_request.number)
    return report if CONFIG_FILE in changed else None


async def fetch_files(
    pull_request: PullRequest,
    wanted: Sequence[tuple[str, str]],
    already_read: Mapping[str, str],
    github: GitHub,
) -> dict[str, str]:
    """Fetch the text of each file that can be read and was not read already."""
    texts: dict[str, str] = {}
    for head, path in wanted:
        if file_key(head, path) in already_read or is_secret_path(path) or not is_inside_repository(path):
            continue
        data = await _read_or(None, github.file(pull_request.repository, path, head))
        if data is not None:
            texts[file_key(head, path)] = data.decode("utf-8", "replace")
    return texts


async def _fetch_earlier_checks(
    pull_request: PullRequest, events: Sequence[Event], rules: RepositoryRules, github: GitHub
) -> tuple[CheckEvent, ...]:
    """The checks that ended before the pull request was opened; read only if the config maps any."""
    if not pull_request.open or not rules.validators.checks:
        return ()
    if not any(_may_have_ended_before(event, pull_request) for event in events):
        return ()
    return await _read_or((), github.ended_checks(pull_request.repository, pull_request.head))


async def _read_or(default: Default, read: Awaitable[One]) -> One | Default:
    """Return what is read, or the default where GitHub has no such thing or does not show it."""
    try:
        return await read
    except (Forbidden, NotFound, ValidationFailed):
        return default


def _may_have_ended_before(event: Event, pull_request: PullRequest) -> bool:
    if isinstance(event, PullRequestEvent):
        return event.action in _NEW_HEAD
    return isinstance(event, CheckBackfillEvent) and not pull_request.verdicts


def _may_propose(event: Event, pull_request: PullRequest) -> bool:
    if not isinstance(event, PullRequestEvent):
        return isinstance(event, ConfigPushEvent)
    # GitHub's push event lists the files of a push to the repository, but a fork sends none.
    pushed = event.action == "synchronize" and (event.fork or pull_request.proposes)
    return event.action in _NEW_HEAD or pushed


def _has_annotations(check: CheckEvent) -> bool:
    return check.annotations > 0 and conclusion_stance(check.conclusion) is Stance.REJECTS


RECENT_RECORDS = 12
"""Records of an author: five of them are used, and some of the latest may not have been reviewed."""


_REVIEWING = (ReviewEvent, InlineCommentEvent, PastPullRequestEvent, CheckBackfillEvent)


async def fetch_stored(
    pull_request: PullRequest, events: Sequence[Event], store: Store
) -> tuple[dict[int, datetime], tuple[HistoryRecord, ...]]:
    """Who asked to be forgotten, and, if a verdict can have changed, the author's latest records."""
    author = pull_request.author
    is_reviewed = bool(pull_request.verdicts) or any(isinstance(event, _REVIEWING) for event in events)
    is_needed = author != GHOST and is_reviewed
    return await store.read(
        _load_stored, pull_request.repository.id, author.id, RECENT_RECORDS if is_needed else 0
    )


def _load_stored(
    transaction: Transaction, repository_id: int, author_id: int, limit: int
) -> tuple[dict[int, datetime], tuple[HistoryRecord, ...]]:
    forgotten = load_forgotten(transaction, repository_id)
    return forgotten, load_newest_records(transaction, repository_id, author_id, limit) if limit else ()


async def fetch_commented(events: Sequence[Event], github: GitHub) -> PullRequest | None:
    """Fetch a pull request that is not recorded yet, if a new comment has a command."""
    text = next(new_texts(events), None)
    return await _fetch_pull_request(text.repository, text.number, github) if text else None


async def _fetch_pull_request(repository: Repository, number: int, github: GitHub) -> PullRequest | None:
    snapshot = await github.pull_request(repository, number)
    return record_event(None, PullRequestEvent("seen", snapshot), snapshot.updated_at)


logger = logging.getLogger("whetstone.revisions")


async def fetch_revisions(
    pull_request: PullRequest, revisions: Iterable[Revision], github: GitHub
) -> tuple[Revision, ...]:
    """Read tree, files and checks of the revisions."""
    return tuple([await _fetch_revision(pull_request, revision, github) for revision in revisions])


async def _fetch_revision(pull_request: PullRequest, revision: Revision, github: GitHub) -> Revision:
    tried = replace(revision, reads=revision.reads + 1)
    repository, comparison = pull_request.repository, None
    try:
        comparison = await github.comparison(repository, pull_request.base, revision.head)
        if not comparison.ahead and revision.base:
            # It was merged meanwhile: the base has it all by now.
            comparison = await github.comparison(repository, revision.base, revision.head)
    except Forbidden as error:
        logger.warning("a revision can't be read", extra={"reason": str(error)})
    except (NotFound, ValidationFailed):
        # The webhook of a push can be ahead of the API, so the present head is read again.
        return tried if revision.head == pull_request.head else replace(tried, gone=True)
    tried = replace(tried, checks=await _fetch_check_results(pull_request, revision, github))
    if comparison is None or not comparison.ahead:
        return tried
    return replace(
        tried,
        base=comparison.base,
        tree=comparison.tree,
        files=comparison.files,
        written_by=read_agents(comparison.messages),
    )


async def _fetch_check_results(
    pull_request: PullRequest, revision: Revision, github: GitHub
) -> tuple[CheckResult, ...]:
    try:
        return await github.check_results(pull_request.repository, revision.head)
    except (Forbidden, NotFound, ValidationFailed) as error:
        logger.warning("checks can't be read", extra={"reason": str(error)})
        return ()
