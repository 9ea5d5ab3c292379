"""`whetstone receive`: a dry run of one delivery."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from bot import wiring
from bot.cli import Command, UsageError
from bot.cli.mistakes import said_in_one_line
from bot.domain.effects import Effect
from bot.ports import GitHubError

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
    known = sorted(wiring.events_read())
    if arguments.event not in known:
        raise UsageError(f"{arguments.event!r} is no event that is read; one of {', '.join(known)}")
    body = _body(arguments.payload)
    try:
        with said_in_one_line():
            rehearsal, believed = asyncio.run(wiring.rehearse(arguments.event, body))
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


COMMAND = Command(
    "receive",
    "Print the effects that one delivery would have, and do nothing.",
    "whetstone receive -e pull_request_review -p review.json",
    _arguments,
    _run,
)
