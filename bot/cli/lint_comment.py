"""`whetstone lint-comment`: say whether review comments tell their author what to do."""

from __future__ import annotations

import argparse

from bot.cli.common import answer_comments
from bot.verdicts.clarity import clarity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        'Reads JSON lines {"id", "text"}, and writes one JSON line for each: {"id", "clear", "score", '
        '"missing", "hint"}. For an unclear comment, "missing" lists what it leaves out: what is wrong, '
        "where, what to do."
    )


def run(_arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return answer_comments("lint-comment", clarity, ("clear", "score", "missing", "hint"))
