"""`whetstone check-config`: validate a config or a pack."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bot.gates.problems import RuleFileError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a repository's config, or a pack of gates"
    )
    parser.add_argument(
        "--organisation",
        type=Path,
        metavar="FILE",
        help="the organisation's config, which FILE extends",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return max(_check(path, arguments.organisation) for path in arguments.files)


def _check(path: Path, organisation: Path | None) -> int:
    from bot.gates.repository_config import check_file

    try:
        print(f"{path}: ok, {check_file(path, organisation)}")
    except RuleFileError as problems:
        print(problems)
        return 1
    except OSError as error:
        print(f"whetstone check-config: {error.filename or path}: {error.strerror}", file=sys.stderr)
        return 2
    return 0
