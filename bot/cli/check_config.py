"""`whetstone check-config`: validate a config or a pack."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bot.cli import CliCommand
from bot.gates.problems import RuleFileError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the files, and the organisation's config that they may lie over."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a config or a pack")
    parser.add_argument(
        "--organisation",
        type=Path,
        metavar="FILE",
        help="the organisation's config, which the files lie over",
    )


def check_files(given: argparse.Namespace) -> int:
    """Say of every file that it is fine, or all that is wrong with it; the worst exit code wins."""
    return max(_checked(path, given.organisation) for path in given.files)


def _checked(path: Path, organisation: Path | None) -> int:

    try:
        print(f"{path}: fine, {describe_rule_file(path, organisation)}")
    except RuleFileError as wrong:
        print(wrong)
        return 1
    except OSError as unreadable:
        print(
            f"whetstone check-config: {unreadable.filename or path}: {unreadable.strerror}", file=sys.stderr
        )
        return 2
    return 0


COMMAND = CliCommand(
    name="check-config",
    help="Check a repository's config or a pack of gates, and say all that is wrong with its place.",
    example="whetstone check-config .github/whetstone.yml",
    arguments=add_arguments,
    run=check_files,
)


def describe_rule_file(path: Path, organisation: Path | None) -> str:
    """What a rule file without mistakes is; raises with everything that is wrong in it."""
    from bot.gates.repository_config import check_file

    return check_file(path, organisation)
