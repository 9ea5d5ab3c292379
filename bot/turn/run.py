"""Run one turn of a pull request: from the events of its lane to the effects that GitHub should show.

    events ─► record ─► fetch what the events made necessary ─► assess ─► commands ─► conclude ─► effects

`assess` repeats plan and fetch per feature: from what is known so far each one says what it needs (the
revisions that were reviewed, the claims to look up, the files that a certain fix follows from, the manifests
that name a framework), and what was read is merged before the next one is asked. Nothing is rendered to find
out what to read; only `conclude` renders, once. The caller applies the result in one transaction, then sends.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import ParamSpec, TypeVar

from bot.commands.fetch import CommandHandler
from bot.commands.invocation import find_invocations
from bot.commands.model import CommandOutcome
from bot.commands.overrides import keep_command_verdicts
from bot.detection.load import is_detector_loaded, load_detector
from bot.feedback.brief_inputs import framework_in_manifests, has_plain_words, manifests_to_read
from bot.feedback.check_run import add_check_effects, mark_budgeted
from bot.findings.turns import next_report_due
from bot.gates.config import RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.grounding.fetch import observe_revision
from bot.grounding.log import pending_claims, record_grounding
from bot.lessons.agents import record_agents
from bot.markdown.links import LinkContext
from bot.markdown.spans import has_visible_text
from bot.pull_request.events import CheckBackfillEvent, Event, InlineCommentEvent
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import PullRequest, Verdict
from bot.pull_request.record import merge_revisions, new_descriptions, record_event
from bot.store.model import TurnResult
from bot.store.pull_requests import has_comment
from bot.store.store import Store
from bot.turn.decide import (
    NOTHING_TO_ADD,
    Assessment,
    assess,
    conclude,
    has_locations,
    is_comment_due,
    merge_facts,
    merge_texts,
    merge_verdicts,
)
from bot.turn.fetch import (
    fetch_both,
    fetch_commented,
    fetch_files,
    fetch_maintainer_answer,
    fetch_proposed_config,
    fetch_reviews,
    fetch_revisions,
    fetch_signals,
    fetch_stored,
    fetch_triggers,
    fetch_unrecorded,
    unread_revisions,
)
from bot.verdicts.checks import record_triggers, unread_suites
from bot.verdicts.item_context import add_fixes, file_key, files_at_head, files_for_fixes

logger = logging.getLogger("pipeline.feedback")

NO_CHANGE = TurnResult(None, (), ())
"""The result of a turn that changes nothing."""
LONG_TEXTS = 20_000
"""Characters of reviews from which a turn is computed on a thread: 64 KB can take a second or more."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TurnRunner:
    """Runs the turns of pull requests; reads from GitHub and the store, and writes to neither."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    site: LinkContext
    clock: Callable[[], datetime]

    async def run(
        self, lane: str, stored: PullRequest | None, received: Sequence[tuple[Event, datetime]]
    ) -> TurnResult:
        """Decide what the events, each with the time it was received, change about the pull request."""
        events = [event for event, _ in received]
        if not events:
            return NO_CHANGE
        invocations = find_invocations(events)
        pull_request = stored
        for event, received_at in received:
            pull_request = record_event(pull_request, event, received_at)
        if pull_request is None and invocations:
            pull_request = await fetch_commented(events, self.github)
        elif pull_request is None:
            pull_request = await fetch_unrecorded(events, self.rule_book, self.github)
        if pull_request is None:
            return NO_CHANGE

        if descriptions := new_descriptions(events):
            pull_request = record_agents(pull_request, descriptions)
        moment = DecisionTime(self.clock(), str(uuid.uuid4()))
        rules = await self._rules(pull_request, events)  # mostly known already
        facts, (forgotten, recent_records) = await fetch_both(
            fetch_reviews(pull_request, events, rules, self.github, moment.now),
            fetch_stored(pull_request, events, self.store),
        )
        facts = await fetch_signals(facts, pull_request, events, rules, self.github)
        facts = replace(facts, forgotten=forgotten)
        compute = Compute(on_thread=_has_long_texts(facts))
        is_repetition = not invocations and _may_repeat_review(events)
        if is_repetition and await compute(merge_facts, pull_request, facts, rules, moment.now) == stored:
            return NO_CHANGE
        facts = replace(
            facts,
            config=await fetch_proposed_config(pull_request, events, self.rule_book, self.github),
            maintainer_answered_at=await fetch_maintainer_answer(pull_request, events, self.github),
        )

        is_first = partial(self._is_first_rejection, pull_request)
        assessor = Assessor(rules, moment, self.github, pull_request.verdicts, is_first, compute)
        assessment, facts = await assessor.assess(pull_request, facts)
        outcome = CommandOutcome(assessment.pull_request)
        if invocations:
            commands = CommandHandler(self.store, self.github, self.site)
            outcome = await commands.run(lane, assessment.pull_request, invocations, rules, moment.now)
        if outcome.pull_request != assessment.pull_request:
            # What the command itself names is looked up as well, unless the turn has looked already.
            changed = _merge_command_changes(pull_request, outcome.pull_request)
            assessment, facts = await assessor.assess(changed, facts)

        decision = await compute(conclude, assessment, rules, moment, self.site, recent_records)
        decision = add_check_effects(decision, facts, rules, self.site)
        logger.info("decided", extra={"pull_request": pull_request.name, "reason": decision.reason})
        effects = (*outcome.reactions, *decision.effects, *outcome.replies)
        return TurnResult(
            decision.pull_request,
            mark_budgeted(effects) if _is_only_check_backfill(events) else effects,
            done=(),
            store_commands=(*decision.store_commands, *outcome.store_commands),
            is_shared=rules.history.shared,
            revisit_at=next_report_due(decision.pull_request, rules, moment.now),
        )

    async def _is_first_rejection(self, pull_request: PullRequest) -> bool:
        return not await self.store.read(has_comment, pull_request.repository.id)

    async def _rules(self, pull_request: PullRequest, events: Sequence[Event]) -> RepositoryRules:
        """The rules in force; a check backfill needs them as read after the config was pushed."""
        since = max((event.since for event in events if isinstance(event, CheckBackfillEvent)), default=None)
        rules = await self.rule_book.rules(pull_request.repository, since)
        if pull_request.verdicts or not _is_only_check_backfill(events):
            return rules
        # What is to be said in the thread, the events of today will say.
        return replace(rules, comment=replace(rules.comment, enabled=False, suggestions=False))


@dataclass(frozen=True, slots=True)
class Compute:
    """Calls the pure steps of a turn: on a thread if they are long, so that other deliveries don't wait."""

    on_thread: bool

    async def __call__(
        self, step: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Return what the step returns."""
        if self.on_thread:
            return await asyncio.to_thread(step, *args, **kwargs)
        return step(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class Assessor:
    """Assesses a pull request, and reads from GitHub what each feature needs for it."""

    rules: RepositoryRules
    moment: DecisionTime
    github: GitHub
    verdicts_before: tuple[Verdict, ...]
    """The verdicts that were known before this turn."""
    is_first_rejection: Callable[[], Awaitable[bool]]
    """Whether the bot has not commented in this repository before."""
    compute: Compute = Compute(on_thread=False)

    async def assess(self, before: PullRequest, facts: Facts) -> tuple[Assessment, Facts]:
        """Work out what is wrong; return it with the facts that were read for it."""
        merged = await self.compute(merge_verdicts, before, facts, self.rules, self.moment.now)
        if any(verdict.suite for verdict in merged.verdicts):
            merged, facts = await self._read_triggers(merged, facts)
        if revisions := unread_revisions(merged):
            facts = replace(facts, revisions=await fetch_revisions(merged, revisions, self.github))
        merged = merge_revisions(merged, facts.revisions)
        facts = await self._look_up_claims(merged, facts)
        if facts.observations is not None:
            merged = record_grounding(merged, facts, self.rules, self.moment.now)
        if has_locations(merged):
            facts = await self._read_fixable_files(before, merged, facts)
        merged = merge_texts(before, merged, facts)
        if self.rules.detection.enabled and has_plain_words(merged) and not is_detector_loaded():
            await asyncio.to_thread(load_detector)
        assessment = await self.compute(assess, merged, self.rules, self.moment)
        if assessment.reason == NOTHING_TO_ADD and await self.is_first_rejection():
            assessment = assess(merged, self.rules, self.moment, assessment.detection, is_first=True)
        return await self._name_framework(merged, assessment, facts)

    async def _read_triggers(self, merged: PullRequest, facts: Facts) -> tuple[PullRequest, Facts]:
        if suites := unread_suites(merged):
            facts = replace(facts, triggers=await fetch_triggers(merged.repository, suites, self.github))
        return record_triggers(merged, facts.triggers), facts

    async def _look_up_claims(self, merged: PullRequest, facts: Facts) -> Facts:
        # Claims come with verdicts: without a new one, those that could not be looked up stay so.
        has_no_news = merged.sticky is not None and merged.verdicts == self.verdicts_before
        if has_no_news or facts.observations is not None or not self._may_claim_anything(merged, facts):
            return facts
        if not is_comment_due(merged, self.rules):
            return facts
        claims = pending_claims(merged, facts, self.rules)
        if not claims:
            return facts
        return replace(facts, observations=await observe_revision(merged, claims, self.rules, self.github))

    def _may_claim_anything(self, merged: PullRequest, facts: Facts) -> bool:
        """Whether there is any text or location that a claim could be in."""
        items = (item for verdict in merged.verdicts for item in verdict.items)
        return (
            (self.rules.grounding.author and bool(merged.body))
            or any(item.words or item.place for item in items)
            or any(has_visible_text(review.body) for review in facts.reviews or ())
        )

    async def _read_fixable_files(self, before: PullRequest, merged: PullRequest, facts: Facts) -> Facts:
        texts = files_at_head(facts)
        paths = files_for_fixes(before, add_fixes(before, merged, texts))
        if not paths:
            return facts
        return replace(facts, files={**facts.files, **await fetch_files(merged, paths, texts, self.github)})

    async def _name_framework(
        self, merged: PullRequest, assessment: Assessment, facts: Facts
    ) -> tuple[Assessment, Facts]:
        """Read the manifests once if the brief of an error is poor without the framework's name."""
        due = assessment.is_comment_due
        manifests = manifests_to_read(assessment.pull_request, self.rules) if due else ()
        if not manifests:
            return assessment, facts
        files = await fetch_files(merged, manifests, {}, self.github)
        texts = {path: files[key] for head, path in manifests if (key := file_key(head, path)) in files}
        facts = replace(facts, framework=framework_in_manifests(texts))
        merged = replace(merged, framework=facts.framework)
        return assess(merged, self.rules, self.moment, assessment.detection), facts


def _has_long_texts(facts: Facts) -> bool:
    length = sum(len(review.body) for review in facts.reviews or ())
    return length + sum(len(comment.body) for comment in facts.inline_comments or ()) > LONG_TEXTS


def _may_repeat_review(events: Iterable[Event]) -> bool:
    """Whether these may only repeat a review: GitHub sends each of its inline comments once more."""
    return all(isinstance(event, InlineCommentEvent) for event in events)


def _is_only_check_backfill(events: Iterable[Event]) -> bool:
    """Whether a turn is about nothing but check runs that are missing."""
    return all(isinstance(event, CheckBackfillEvent) for event in events)


def _merge_command_changes(pull_request: PullRequest, changed: PullRequest) -> PullRequest:
    """The recorded pull request with what the commands changed, to be assessed once more."""
    return replace(
        pull_request,
        rulings=changed.rulings,
        override=changed.override,
        audits=changed.audits,
        comment_requested_at=changed.comment_requested_at,
        verdicts=keep_command_verdicts(pull_request.verdicts, changed.verdicts),
    )
