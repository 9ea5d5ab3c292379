"""`whetstone lint-comment`: say whether review comments tell their author what to do."""

from __future__ import annotations

import argparse

from bot.cli import CliCommand
from bot.cli.comment_lines import answer_comments
from bot.feedback.clarity import clarity


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        'Reads lines of JSON {"id", "text"} and writes for each {"id", "clear", "score", "missing", "hint"}; '
        "missing lists what is wrong, where, what to do, as far as an unclear comment leaves them out."
    )


def _run(_arguments: argparse.Namespace) -> int:
    return answer_comments("lint-comment", _answer)


def _answer(text: str) -> dict[str, object]:
    result = clarity(text)
    return {
        "clear": result.clear,
        "score": result.score,
        "missing": list(result.missing),
        "hint": result.hint,
    }


COMMAND = CliCommand(
    "lint-comment",
    "Say whether a review comment tells its author what to do, and what is missing.",
    """echo '{"id": 1, "text": "Why?"}' | whetstone lint-comment""",
    _arguments,
    _run,
)
