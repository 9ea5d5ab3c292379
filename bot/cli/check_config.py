"""`whetstone check-config`: is this config, or this pack, free of mistakes?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bot.cli import Command
from bot.domain.problems import RuleFileError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take the files, and the organisation's config that they may lie over."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a config or a pack")
    parser.add_argument(
        "--organisation",
        type=Path,
        metavar="FILE",
        help="the organisation's config, which the files lie over",
    )


def run(given: argparse.Namespace) -> int:
    """Say of every file that it is fine, or all that is wrong with it; the worst exit code wins."""
    return max(_checked(path, given.organisation) for path in given.files)


def _checked(path: Path, organisation: Path | None) -> int:
    from bot import wiring

    try:
        print(f"{path}: fine, {wiring.check_rule_file(path, organisation)}")
    except RuleFileError as wrong:
        print(wrong)
        return 1
    except OSError as unreadable:
        print(
            f"whetstone check-config: {unreadable.filename or path}: {unreadable.strerror}", file=sys.stderr
        )
        return 2
    return 0


COMMAND = Command(
    name="check-config",
    help="Check a repository's config or a pack of gates, and say all that is wrong with its place.",
    example="whetstone check-config .github/whetstone.yml",
    arguments=arguments,
    run=run,
)
