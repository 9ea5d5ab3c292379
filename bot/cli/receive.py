"""`whetstone receive`: dry-run one delivery."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from bot import app
from bot import settings as settings_of
from bot.cli import CliCommand, UsageError
from bot.cli.common import report_usage_errors
from bot.commands.invocation import find_invocations
from bot.feedback.check_run import add_check_effects
from bot.gates.config import RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.errors import GitHubError
from bot.inbox.parse import parse_delivery
from bot.markdown.links import GitHubLinks, LinkContext
from bot.pull_request.effects import CancelWrite, Effect
from bot.pull_request.events import CheckEvent, ConfigPushEvent, Event, IgnoredEvent, LabelEvent, ReviewEvent
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import PullRequest
from bot.pull_request.record import record_event
from bot.resources import (
    environment_has_credentials,
    link_context,
    new_id,
    open_github,
    read_settings,
    utc_now,
)
from bot.store.model import Delivery
from bot.turn.decide import conclude, decide_pull_request
from bot.turn.fetch import fetch_proposed_config, fetch_reviews, fetch_signals, fetch_unrecorded
from bot.turn.rule_book import DefaultRules, build_rule_book
from bot.turn.run import Assessor
from bot.values import Account

_BELIEVED = "No credentials: decided on the payload's own facts, its reviewer taken for a validator."


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-e", "--event", required=True, help="GitHub's name of the event, such as pull_request_review"
    )
    parser.add_argument(
        "-p", "--payload", required=True, metavar="PAYLOAD.json", help="the body; - for stdin"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object an effect")


def _run(arguments: argparse.Namespace) -> int:
    known = sorted(app.accepted_events())
    if arguments.event not in known:
        raise UsageError(f"{arguments.event!r} is no event that is read; one of {', '.join(known)}")
    body = _body(arguments.payload)
    try:
        with report_usage_errors():
            rehearsal, believed = asyncio.run(dry_run(arguments.event, body))
    except GitHubError as error:
        print(f"whetstone receive: {error}", file=sys.stderr)
        return 1
    if believed:
        print(_BELIEVED, file=sys.stderr)
    for effect in rehearsal.effects:
        print(json.dumps(_value(effect), default=str) if arguments.json else _text(effect))
    if not rehearsal.effects and not arguments.json:
        print(f"No effect: {rehearsal.because}.")
    return 0


def _body(name: str) -> bytes:
    try:
        body = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        value = json.loads(body)
    except OSError as wrong:
        raise UsageError(f"{name}: {wrong.strerror}") from wrong
    except (ValueError, RecursionError) as wrong:
        raise UsageError(f"{name} is not JSON: {wrong}") from wrong
    if not isinstance(value, dict):
        raise UsageError(f"{name} is not a JSON object")
    return body


def _value(effect: Effect) -> dict[str, object]:
    return {"effect": type(effect).__name__, **asdict(effect)}


def _text(effect: Effect) -> str:
    value = asdict(effect)
    body = value.pop("body", "")
    lines = [type(effect).__name__, *(f"  {key}: {_plain(each)}" for key, each in value.items())]
    return "\n".join([*lines, "", body]) if body else "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, dict) and "owner" in value:
        return f"{value['owner']}/{value['name']}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


COMMAND = CliCommand(
    "receive",
    "Print the effects that one delivery would have, and do nothing.",
    "whetstone receive -e pull_request_review -p review.json",
    _arguments,
    _run,
)


_UNKNOWN = "it says nothing about a pull request that is known"
_COMMAND = "a command is not rehearsed, since its answer depends on who gave it and on what is stored"
_NOBODY = Account(-1, "whetstone[bot]", bot=True)


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """What would happen, and why."""

    effects: tuple[Effect, ...]
    because: str


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a rehearsal needs; without GitHub it believes the payload."""

    rule_book: RuleBook
    site: LinkContext
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    github: GitHub | None = None

    async def rehearse(self, delivery: Delivery) -> DryRunResult:
        """The effects that this delivery would have on a pull request not seen before."""
        event = parse_delivery(delivery)
        if isinstance(event, IgnoredEvent):
            return DryRunResult((), event.reason)
        known = record_event(None, event, delivery.received_at) or await self._affected(event)
        if known is None:
            return DryRunResult((), _COMMAND if find_invocations((event,)) else _UNKNOWN)
        rules = await self.rule_book.rules(known.repository)
        moment = DecisionTime(self.clock(), self.new_id())
        if self.github:
            facts = await self._read(self.github, known, event, rules, moment.now)
            assessor = Assessor(rules, moment, self.github, known.verdicts)
            assessment, facts = await assessor.assess(known, facts)
            decision = conclude(assessment, rules, moment, self.site)
        else:
            facts = self._from_payload(known, event)
            decision = decide_pull_request(known, facts, rules, moment, self.site)
        decision = add_check_effects(decision, facts, rules, self.site)
        shown = tuple(effect for effect in decision.effects if not isinstance(effect, CancelWrite))
        return DryRunResult(shown, decision.reason)

    async def _affected(self, event: Event) -> PullRequest | None:
        """The first pull request that an event about a commit concerns, or that a validator speaks of."""
        if self.github is None:
            return None
        if not isinstance(event, CheckEvent | ConfigPushEvent):
            return await fetch_unrecorded((event,), self.rule_book, self.github)
        found = await self.github.pull_requests_at(event.repository, event.head)
        return record_event(None, replace(event, pull_request=found[0]), self.clock()) if found else None

    async def _read(
        self, github: GitHub, known: PullRequest, event: Event, rules: RepositoryRules, now: datetime
    ) -> Facts:
        facts = await fetch_reviews(known, (event,), github, now)
        facts = await fetch_signals(facts, known, (event,), rules, github)
        return replace(facts, config=await fetch_proposed_config(known, (event,), self.rule_book, github))

    def _from_payload(self, known: PullRequest, event: Event) -> Facts:
        """The payload's own word: whoever speaks in it counts as if they may write."""
        if isinstance(event, LabelEvent) and event.sender != known.author:
            return Facts(_NOBODY, roles={event.sender.id: "write"}, signals=(event,))
        if not isinstance(event, ReviewEvent):
            return Facts(_NOBODY)
        roles = {event.review.author.id: "write"} if event.review.author != known.author else {}
        return Facts(_NOBODY, None, (event.review,), (), roles)


async def dry_run(event: str, body: bytes) -> tuple[DryRunResult, bool]:
    """What this delivery would do, and whether that rests on the payload alone."""
    from bot.turn.rule_book import NullConfigStore

    delivery = Delivery("dry-run", event, "", 0, body, utc_now())
    try:
        configuration = read_settings()
    except settings_of.SettingsError:
        if environment_has_credentials():
            raise
        stage = DryRun(DefaultRules(), LinkContext(GitHubLinks()), utc_now, new_id)
        return await stage.rehearse(delivery), True
    async with open_github(configuration, utc_now) as github:
        rule_book = build_rule_book(github, NullConfigStore(), NullConfigStore(), utc_now)
        stage = DryRun(rule_book, link_context(configuration), utc_now, new_id, github)
        return await stage.rehearse(delivery), False
