"""`whetstone detect`: detect the feedback type of comments given as JSON lines."""

from __future__ import annotations

import argparse

from bot.cli.comment_lines import answer_comments
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
    shipped_detection_rules()
    return answer_comments("detect", _answer)


def _answer(text: str) -> dict[str, object]:
    detection = detect(text, shipped_detection_rules())
    return {
        "type": detection.type,
        "confidence": detection.confidence,
        "signals": list(detection.signals),
        "actions": list(detection.actions),
    }
