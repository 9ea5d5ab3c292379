"""`whetstone receive`: dry-run one delivery."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, replace

from bot import settings as settings_of
from bot.cli import UsageError
from bot.cli.common import read_input
from bot.commands.invocation import find_invocations
from bot.feedback.check_run import add_check_effects
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.inbox.parse import ACCEPTED_EVENTS, parse_delivery
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
from bot.store.codec import effect_name
from bot.store.model import Delivery
from bot.turn.decide import conclude, decide_pull_request
from bot.turn.fetch import fetch_proposed_config, fetch_reviews, fetch_signals, fetch_unrecorded
from bot.turn.rule_book import DefaultRules, build_rule_book
from bot.turn.run import Assessor
from bot.values import Account

_PAYLOAD_ONLY = "No credentials: using only the payload, and treating its reviewer as a validator."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("-e", "--event", required=True, help="the event name, such as pull_request_review")
    parser.add_argument(
        "-p", "--payload", required=True, metavar="PAYLOAD.json", help="the payload file; - for stdin"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per effect")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    events = sorted(ACCEPTED_EVENTS)
    if arguments.event not in events:
        raise UsageError(f"{arguments.event!r} is not a supported event; use one of {', '.join(events)}")
    body = _read_payload(arguments.payload)
    result, is_payload_only = await dry_run(arguments.event, body)
    if is_payload_only:
        print(_PAYLOAD_ONLY, file=sys.stderr)
    for effect in result.effects:
        print(json.dumps(_as_json(effect), default=str) if arguments.json else _text(effect))
    if not result.effects and not arguments.json:
        print(f"No effect: {result.reason}.")


def _read_payload(name: str) -> bytes:
    body = read_input(name)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError(f"{name} is not a JSON object")
    return body


def _as_json(effect: Effect) -> dict[str, object]:
    return {"effect": effect_name(effect), **asdict(effect)}


def _text(effect: Effect) -> str:
    fields = asdict(effect)
    body = fields.pop("body", "")
    lines = [effect_name(effect), *(f"  {name}: {_plain(value)}" for name, value in fields.items())]
    return "\n".join([*lines, "", body]) if body else "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, dict) and "owner" in value:
        return f"{value['owner']}/{value['name']}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


_NO_PULL_REQUEST = "it is not about a known pull request"
_IS_COMMAND = "slash commands can't be dry-run: the reply depends on permissions and stored history"
_NO_APP = Account(-1, "whetstone[bot]", bot=True)


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """The effects that a delivery would have, and the reason for them."""

    effects: tuple[Effect, ...]
    reason: str


async def dry_run(event: str, body: bytes) -> tuple[DryRunResult, bool]:
    """Dry-run a delivery; returns the result, and whether it rests on the payload alone."""
    from bot.turn.rule_book import NullConfigStore

    delivery = Delivery("dry-run", event, "", 0, body, utc_now())
    try:
        configuration = read_settings()
    except settings_of.SettingsError:
        if environment_has_credentials():
            raise
        return await _decide(delivery, DefaultRules(), LinkContext(GitHubLinks()), None), True
    async with open_github(configuration, utc_now) as github:
        rule_book = build_rule_book(github, NullConfigStore(), NullConfigStore(), utc_now)
        return await _decide(delivery, rule_book, link_context(configuration), github), False


async def _decide(
    delivery: Delivery, rule_book: RuleBook, site: LinkContext, github: GitHub | None
) -> DryRunResult:
    """Decide on a pull request not seen before, and write nothing; without GitHub, trust the payload."""
    event = parse_delivery(delivery)
    if isinstance(event, IgnoredEvent):
        return DryRunResult((), event.reason)
    pull_request = record_event(None, event, delivery.received_at)
    if pull_request is None and github:
        pull_request = await _fetch_affected(event, rule_book, github)
    if pull_request is None:
        return DryRunResult((), _IS_COMMAND if find_invocations((event,)) else _NO_PULL_REQUEST)
    rules = await rule_book.rules(pull_request.repository)
    moment = DecisionTime(utc_now(), new_id())
    if github:
        facts = await fetch_reviews(pull_request, (event,), rules, github, moment.now)
        facts = await fetch_signals(facts, pull_request, (event,), rules, github)
        config = await fetch_proposed_config(pull_request, (event,), rule_book, github)
        assessor = Assessor(rules, moment, github, pull_request.verdicts, _never_first)
        assessment, facts = await assessor.assess(pull_request, replace(facts, config=config))
        decision = conclude(assessment, rules, moment, site)
    else:
        facts = _facts_of_payload(pull_request, event)
        decision = decide_pull_request(pull_request, facts, rules, moment, site)
    decision = add_check_effects(decision, facts, rules, site)
    effects = tuple(effect for effect in decision.effects if not isinstance(effect, CancelWrite))
    return DryRunResult(effects, decision.reason)


async def _fetch_affected(event: Event, rule_book: RuleBook, github: GitHub) -> PullRequest | None:
    """Fetch the first pull request that an event about a commit, or a validator's comment, is about."""
    if not isinstance(event, CheckEvent | ConfigPushEvent):
        return await fetch_unrecorded((event,), rule_book, github)
    snapshots = await github.pull_requests_at(event.repository, event.head)
    if not snapshots:
        return None
    return record_event(None, replace(event, pull_request=snapshots[0]), utc_now())


def _facts_of_payload(pull_request: PullRequest, event: Event) -> Facts:
    """Take the facts from the payload: its author counts as if they had write access."""
    if isinstance(event, LabelEvent) and event.sender != pull_request.author:
        return Facts(_NO_APP, roles={event.sender.id: "write"}, signals=(event,))
    if not isinstance(event, ReviewEvent):
        return Facts(_NO_APP)
    roles = {event.review.author.id: "write"} if event.review.author != pull_request.author else {}
    return Facts(_NO_APP, None, (event.review,), (), roles)


async def _never_first() -> bool:
    """A dry run knows no other pull request, so none of its comments is there only for being the first."""
    return False
