"""`whetstone lint-feedback`: says everything that keeps a feedback document from being acted on."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.cli import Command, UsageError
from bot.domain.lint import Lint, UnreadableFeedback
from bot.domain.quality import Level


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take one file and a format."""
    parser.add_argument(
        "file", metavar="FILE", help="an actionable-feedback document, JSON or YAML; - for stdin"
    )
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")


def run(chosen: argparse.Namespace) -> int:
    """Print every finding; 1 where one is an error."""
    from bot import wiring

    name = "stdin" if chosen.file == "-" else chosen.file
    try:
        findings = wiring.lint_feedback(_data(chosen.file), name)
    except UnreadableFeedback as wrong:
        raise UsageError(str(wrong)) from None
    writers = {"text": _text, "json": _json, "sarif": wiring.sarif_log}
    print(writers[chosen.format](findings, name))
    return 1 if _count(findings, Level.ERROR) else 0


def _data(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as wrong:
        raise UsageError(f"{file}: {wrong.strerror or wrong}") from None


def _text(findings: Sequence[Lint], name: str) -> str:
    lines = [
        f"{name}:{one.position.line}:{one.position.column}: {one.level}: {one.message}; {one.instead}"
        f" [{one.rule}] {one.pointer}".rstrip()
        for one in findings
    ]
    errors, notes = _count(findings, Level.ERROR), _count(findings, Level.NOTE)
    return "\n".join([*lines, f"{name}: {_number(errors, 'error')}, {_number(notes, 'note')}"])


def _json(findings: Sequence[Lint], name: str) -> str:
    rows = [
        {
            "level": one.level,
            "rule": one.rule,
            "pointer": one.pointer,
            "line": one.position.line,
            "column": one.position.column,
            "message": one.message,
            "instead": one.instead,
        }
        for one in findings
    ]
    counts = {"errors": _count(findings, Level.ERROR), "notes": _count(findings, Level.NOTE)}
    return json.dumps({"file": name, **counts, "findings": rows}, indent=2)


def _count(findings: Sequence[Lint], level: Level) -> int:
    return sum(one.level is level for one in findings)


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


COMMAND = Command(
    name="lint-feedback",
    help="Check an actionable-feedback document: its schema, its lengths and its words.",
    example="whetstone lint-feedback review.json --format sarif",
    arguments=arguments,
    run=run,
)
