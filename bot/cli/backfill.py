"""`whetstone backfill`: a repository's earlier pull requests, into the store."""

from __future__ import annotations

import argparse
import asyncio
import sys
from datetime import UTC, datetime

from bot import wiring
from bot.cli import Command, UsageError, terminal
from bot.cli.comment import repository_named
from bot.cli.mistakes import said_in_one_line
from bot.ports import GitHubError, JobFailed, Progress, StoreUnavailable
from bot.settings import Settings


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="whose past")
    parser.add_argument(
        "--since", metavar="DATE", help="only pull requests that changed since this day (2026-01-31)"
    )


def _run(arguments: argparse.Namespace) -> int:
    repository, since = repository_named(arguments.repository), _day(arguments.since)
    try:
        with said_in_one_line():
            count = asyncio.run(_filled(wiring.settings(), repository, since))
    except (GitHubError, JobFailed, StoreUnavailable) as error:
        print(f"whetstone backfill: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("whetstone backfill: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    print(f"{count} pull request{'' if count == 1 else 's'} read; nothing was posted.")
    return 0


async def _filled(settings: Settings, repository: tuple[str, str], since: datetime | None) -> int:
    progress = Progress()
    with terminal.bar(f"Reading {'/'.join(repository)}") as show:
        async for progress in wiring.backfill(settings, repository, since):
            show(progress.done, progress.total, _note(progress))
    return progress.done


def _note(progress: Progress) -> str:
    until = progress.waits_until
    return f"GitHub's limit is reached, going on at {until:%H:%M:%S} UTC" if until else ""


def _day(given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(f"--since is a date such as 2026-01-31, not {given!r}") from None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


COMMAND = Command(
    "backfill",
    "Read a repository's earlier pull requests and reviews, so that history works from the first day.",
    "whetstone backfill acme/knowledge --since 2026-01-01",
    _arguments,
    _run,
)
