"""Read comments as JSON lines `{"id", "text"}` from stdin and answer each with one line."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bot.cli import terminal


def answer_comments(command: str, answer: Callable[[str], object], keys: Sequence[str]) -> int:
    """Write these of the answer to each comment as it comes; return 1 where a line could not be read."""
    terminal.prompt_for_input('JSON lines such as {"id": …, "text": "…"}')
    failures = 0
    for number, line in enumerate(_read_lines(), 1):
        if not line.strip():
            continue
        try:
            identity, text = _parse_line(line)
        except ValueError as error:
            print(f"whetstone {command}: line {number}: {error}", file=sys.stderr)
            failures += 1
            continue
        answered = answer(text)
        print(json.dumps({"id": identity, **{key: getattr(answered, key) for key in keys}}), flush=True)
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
