"""`whetstone lint-feedback`: report what keeps a feedback document from being actionable."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.cli import CliCommand, UsageError
from bot.feedback.lint import LintProblem
from bot.pull_request.documents import UnreadableDocument
from bot.verdicts.quality import ProblemLevel


def add_lint_arguments(parser: argparse.ArgumentParser) -> None:
    """Take one file and a format."""
    parser.add_argument(
        "file", metavar="FILE", help="an actionable-feedback document, JSON or YAML; - for stdin"
    )
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")


def run_lint(chosen: argparse.Namespace) -> int:
    """Print every finding; 1 where one is an error."""
    name = "stdin" if chosen.file == "-" else chosen.file
    try:
        findings = lint_document(_data(chosen.file), name)
    except UnreadableDocument as wrong:
        raise UsageError(str(wrong)) from None
    writers = {"text": _text, "json": _json, "sarif": sarif_document}
    print(writers[chosen.format](findings, name))
    return 1 if _count(findings, ProblemLevel.ERROR) else 0


def _data(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as wrong:
        raise UsageError(f"{file}: {wrong.strerror or wrong}") from None


def _text(findings: Sequence[LintProblem], name: str) -> str:
    lines = [
        f"{name}:{one.position.line}:{one.position.column}: {one.level}: {one.message}; {one.instead}"
        f" [{one.rule}] {one.pointer}".rstrip()
        for one in findings
    ]
    errors, notes = _count(findings, ProblemLevel.ERROR), _count(findings, ProblemLevel.NOTE)
    return "\n".join([*lines, f"{name}: {_number(errors, 'error')}, {_number(notes, 'note')}"])


def _json(findings: Sequence[LintProblem], name: str) -> str:
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
    counts = {"errors": _count(findings, ProblemLevel.ERROR), "notes": _count(findings, ProblemLevel.NOTE)}
    return json.dumps({"file": name, **counts, "findings": rows}, indent=2)


def _count(findings: Sequence[LintProblem], level: ProblemLevel) -> int:
    return sum(one.level is level for one in findings)


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


COMMAND = CliCommand(
    name="lint-feedback",
    help="Check an actionable-feedback document: its schema, its lengths and its words.",
    example="whetstone lint-feedback review.json --format sarif",
    arguments=add_lint_arguments,
    run=run_lint,
)


def lint_document(data: bytes, name: str) -> tuple[LintProblem, ...]:
    """Everything that keeps a feedback document from being acted on."""
    from bot.feedback import lint
    from bot.pull_request import documents

    return lint.lint_feedback_file(documents.read_feedback_file(data, name))


def sarif_document(findings: Sequence[LintProblem], name: str) -> str:
    """The findings as other tools read them."""
    from bot.feedback.lint import render_sarif

    return render_sarif(findings, name)
