"""`whetstone backfill`: import a repository's earlier pull requests."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from bot.cli import UsageError, terminal
from bot.cli.common import add_repository, run_job
from bot.markdown.format import format_count
from bot.resources import (
    CannotStart,
    has_store,
    new_id,
    open_app_api_from,
    open_existing_store,
    open_github,
    read_settings,
    utc_now,
)
from bot.settings import Settings
from bot.store.model import JobFailed, JobProgress
from bot.values import Repository


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser, "the repository to import")
    parser.add_argument(
        "--since", metavar="DATE", help="only pull requests updated since this date, such as 2026-01-31"
    )


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    repository, since, progress = arguments.repository, _parse_day(arguments.since), JobProgress()
    settings = read_settings()
    try:
        with terminal.progress_bar(f"Importing {repository}") as show:
            async for progress in run_backfill(settings, repository, since):
                show(progress.done, progress.total, _note(progress))
    except asyncio.CancelledError:
        print("whetstone backfill: interrupted; run the same command again to resume", file=sys.stderr)
        raise
    print(f"{format_count(progress.done, 'pull request')} imported; nothing was posted.")


def _note(progress: JobProgress) -> str:
    until = progress.waits_until
    return f"GitHub's rate limit is reached; resuming at {until:%H:%M:%S} UTC" if until else ""


def _parse_day(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--since must be a date such as 2026-01-31, not {text!r}") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


async def run_backfill(
    configuration: Settings, repository: str, since: datetime | None
) -> AsyncIterator[JobProgress]:
    """Read a repository's earlier pull requests, in the running server or here; yields the progress."""
    from bot.inbox import internal_deliveries, parse
    from bot.pull_request.events import BackfillStep
    from bot.store.deliveries import find_unfinished

    step = BackfillStep(await _installed_repository(configuration, repository), new_id(), since=since)
    delivery = internal_deliveries.backfill_delivery(step, utc_now())
    if has_store(configuration.database_url):
        async with open_existing_store(configuration.database_url) as store:
            # One that was interrupted, or given up on, goes on from where it was.
            if unfinished := await store.read(find_unfinished, delivery.lane):
                delivery = unfinished.delivery
    event = parse.parse_delivery(delivery)
    if not isinstance(event, BackfillStep):
        raise JobFailed(f"{delivery.id} can't be read")
    async with run_job(configuration, delivery) as (follower, _):
        async for progress in follower.follow_backfill(event):
            yield progress


async def _installed_repository(configuration: Settings, repository: str) -> Repository:
    """Fetch the repository; raises where the App is not installed."""
    owner, name = repository.split("/")
    async with open_app_api_from(configuration) as api:
        installation = await api.installation_of(owner, name)
    if installation is None:
        raise CannotStart(f"{repository} does not exist, or the App is not installed there")
    async with open_github(configuration, utc_now) as github:
        return await github.repository(owner, name, installation.id)
