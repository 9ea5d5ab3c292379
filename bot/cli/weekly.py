"""`whetstone weekly`: show or post the current week of a repository."""

from __future__ import annotations

import argparse

from bot.cli.common import (
    add_repository,
    find_recorded_repository,
    open_recorded,
    run_job,
)
from bot.markdown.links import GitHubLinks, LinkContext
from bot.resources import new_id, open_existing_store, read_settings, utc_now
from bot.settings import Settings
from bot.store.model import JobFailed
from bot.weekly.issue import WeeklyIssue

_NOTHING = "No pull requests were reviewed this week, so there is nothing to post."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser)
    parser.add_argument("--dry-run", action="store_true", help="print the issue without posting it")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    name = arguments.repository
    settings = None if arguments.dry_run else read_settings()
    issue = await current_week(name)
    if issue is None or settings is None:
        print(issue.body if issue else _NOTHING)
        return
    handed_over = await post_week(settings, name)
    done = "The running server updated the weekly summary" if handed_over else "Updated the weekly summary"
    print(f"{done}. A closed summary issue is left unchanged.")


async def post_week(configuration: Settings, name: str) -> bool:
    """Post the current week, in the running server or here; returns whether a server does it."""
    from bot.inbox.internal_deliveries import weekly_delivery

    async with open_existing_store(configuration.database_url) as store:
        repository = await find_recorded_repository(store, name)
    # Without a week's name the scheduler's own run is not used up.
    delivery = weekly_delivery(repository, "", utc_now(), f"weekly-{new_id()}")
    async with run_job(configuration, delivery) as (follower, handed_over):
        async for progress in follower.follow(delivery):
            if progress.waits_until and not handed_over:  # nobody waits here for as long as that takes
                at = f"{progress.waits_until:%H:%M} UTC"
                raise JobFailed(
                    f"GitHub did not accept the write; the job is kept and will be retried from {at}"
                )
    return handed_over


async def current_week(name: str) -> WeeklyIssue | None:
    """The summary issue as it would be now, from the store alone; None if nothing was reviewed."""
    from bot.weekly.fetch import WeeklyFetcher

    async with open_recorded(name) as (store, repository, rules):
        fetcher = WeeklyFetcher(store, None, LinkContext(GitHubLinks()))
        decision = await fetcher.fetch_week(repository, rules, None, utc_now())
    return decision.issue
