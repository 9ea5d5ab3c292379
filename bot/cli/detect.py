"""`whetstone detect`: detect the feedback type of comments given as JSON lines."""

from __future__ import annotations

import argparse
import codecs
import gc
import json
import sys
from collections.abc import Iterator
from typing import Any

from bot.cli import terminal
from bot.detection.detector import Detection, detect
from bot.detection.load import shipped_detection_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        'Reads JSON lines {"id", "text"}; for each, writes {"id", "type", "confidence", '
        '"signals", "actions"}. The type is runtime_error, verification_failure, '
        "user_rejection, partial_success or null."
    )


def run(_arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    rules = shipped_detection_rules()
    gc.collect()
    gc.freeze()  # no collection of garbage goes through the rules again
    terminal.prompt_for_input('JSON lines such as {"id": 1, "text": "…"}')
    failures = 0
    for number, line in enumerate(_read_lines(), 1):
        if not line.strip():
            continue
        try:
            identity, text = _parse_line(line)
        except ValueError as error:
            print(f"whetstone detect: line {number}: {error}", file=sys.stderr)
            failures += 1
            continue
        print(json.dumps(_as_json(identity, detect(text, rules))), flush=True)
    return 1 if failures else 0


def _read_lines() -> Iterator[str]:
    """Yield the lines as they come, so that a reader at the other end of a pipe need not wait."""
    bom = codecs.BOM_UTF8  # some editors begin a file with it
    for raw in sys.stdin.buffer:
        yield raw.removeprefix(bom).decode("utf-8", "replace")
        bom = b""


def _parse_line(line: str) -> tuple[Any, str]:
    try:
        comment = json.loads(line, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise ValueError('not valid JSON; expected {"id": …, "text": "…"}') from None
    if not isinstance(comment, dict) or "id" not in comment:
        raise ValueError('"id" is missing; expected {"id": …, "text": "…"}')
    text = comment.get("text")
    if text is None or text != str(text):
        raise ValueError('"text" must be a string; expected {"id": …, "text": "…"}')
    try:
        json.dumps(comment["id"], allow_nan=False)
    except ValueError:
        raise ValueError('"id" is too large; expected {"id": …, "text": "…"}') from None
    return comment["id"], text


def _reject_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(name)


def _as_json(identity: Any, detection: Detection) -> dict[str, Any]:
    return {
        "id": identity,
        "type": detection.type,
        "confidence": detection.confidence,
        "signals": list(detection.signals),
        "actions": list(detection.actions),
    }
