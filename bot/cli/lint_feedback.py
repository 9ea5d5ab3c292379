"""`whetstone lint-feedback`: report what keeps a feedback document from being actionable."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from bot.cli import UsageError
from bot.cli.common import read_input
from bot.feedback.lint import LintProblem
from bot.markdown.format import format_count
from bot.pull_request.documents import UnreadableDocument
from bot.verdicts.quality import ProblemLevel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "file", metavar="FILE", help="an actionable-feedback document in JSON or YAML; - for stdin"
    )
    parser.add_argument(
        "--format", choices=("text", "json", "sarif"), default="text", help="output format (default: text)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    from bot.feedback.lint import lint_feedback_file, render_sarif
    from bot.pull_request.documents import read_feedback_file

    name = "stdin" if arguments.file == "-" else arguments.file
    try:
        problems = lint_feedback_file(read_feedback_file(read_input(arguments.file), name))
    except UnreadableDocument as error:
        raise UsageError(str(error)) from None
    writers = {"text": _text, "json": _json, "sarif": render_sarif}
    print(writers[arguments.format](problems, name))
    return 1 if _count(problems, ProblemLevel.ERROR) else 0


def _text(problems: Sequence[LintProblem], name: str) -> str:
    lines = [
        f"{name}:{problem.position.line}:{problem.position.column}: {problem.level}: {problem.message}; "
        f"{problem.instead} [{problem.rule}] {problem.pointer}".rstrip()
        for problem in problems
    ]
    errors, notes = _count(problems, ProblemLevel.ERROR), _count(problems, ProblemLevel.NOTE)
    return "\n".join([*lines, f"{name}: {format_count(errors, 'error')}, {format_count(notes, 'note')}"])


def _json(problems: Sequence[LintProblem], name: str) -> str:
    rows = [problem.as_json() for problem in problems]
    counts = {"errors": _count(problems, ProblemLevel.ERROR), "notes": _count(problems, ProblemLevel.NOTE)}
    return json.dumps({"file": name, **counts, "findings": rows}, indent=2)


def _count(problems: Sequence[LintProblem], level: ProblemLevel) -> int:
    return sum(problem.level is level for problem in problems)
