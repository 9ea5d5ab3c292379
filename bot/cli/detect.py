"""`whetstone detect`: detect the feedback type of comments given as JSON lines."""

from __future__ import annotations

import argparse
from functools import partial

from bot.cli.common import answer_comments
from bot.detection.detector import detect
from bot.detection.load import shipped_detection_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        'Reads JSON lines {"id", "text"}, and writes one JSON line for each: {"id", "type", "confidence", '
        '"signals", "actions"}. The type is runtime_error, verification_failure, user_rejection, '
        "partial_success or null."
    )


def run(_arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    rules = shipped_detection_rules()
    return answer_comments(
        "detect", partial(detect, rules=rules), ("type", "confidence", "signals", "actions")
    )
