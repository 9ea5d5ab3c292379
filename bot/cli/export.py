"""`whetstone export`: write a pull request's iterations as files."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from bot.cli import CliCommand, UsageError
from bot.cli.common import parse_repository_name, positive_integer, report_usage_errors
from bot.resources import open_existing_store, read_database_url
from bot.store.model import StoreUnavailable
from bot.turn.rule_book import stored_rules


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="where the pull request is")
    parser.add_argument("number", metavar="N", type=positive_integer, help="the pull request's number")
    parser.add_argument("directory", metavar="DIR", type=Path, help="where to write; made if it is not there")


def _run(arguments: argparse.Namespace) -> int:
    repository = parse_repository_name(arguments.repository)
    try:
        with report_usage_errors():
            files = asyncio.run(export_bundle(repository, arguments.number))
    except StoreUnavailable as error:
        print(f"whetstone export: {error}", file=sys.stderr)
        return 1
    if files is None:
        where = f"{arguments.repository}#{arguments.number}"
        print(f"whetstone export: nothing is judged at {where}", file=sys.stderr)
        return 1
    try:
        _written(arguments.directory, files)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    return 0


def _written(directory: Path, files: dict[str, str]) -> None:
    for name, text in sorted(files.items()):
        path = directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)  # also one that was there before
        path.write_text(text, encoding="utf-8")
        print(path)


COMMAND = CliCommand(
    "export",
    "Write scores, the best iteration and the selection report of a pull request as files.",
    "whetstone export acme/knowledge 212 ./export",
    _arguments,
    _run,
)


async def export_bundle(repository: tuple[str, str], number: int) -> dict[str, str] | None:
    """Every file of a pull request's export with its text; None where nothing is judged there."""
    from bot.history import export as bundles
    from bot.iterations.selection import selection_report
    from bot.store.pull_requests import load_newest_pull_requests, load_pull_request

    async with open_existing_store(read_database_url()) as store:
        newest = await store.read(load_newest_pull_requests, repository, limit=1)
        if not newest:
            return None
        known = await store.read(load_pull_request, f"pr:{newest[0].repository.id}:{number}")
        report = selection_report(known, await stored_rules(store, known.repository)) if known else None
    if known is None or report is None:
        return None
    return bundles.export_files(report, known.repository, tracked=known.tracked)
