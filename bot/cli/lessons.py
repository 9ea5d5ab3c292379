"""`whetstone lessons`: print what reviews of a repository keep asking for."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import AsyncExitStack
from dataclasses import replace

from bot.cli import CommandFailed
from bot.cli.common import add_repository, integer_between, open_recorded
from bot.github.errors import GitHubError
from bot.markdown.links import GitHubLinks
from bot.resources import (
    environment_has_credentials,
    link_context,
    open_github,
    read_settings,
    utc_now,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser)
    parser.add_argument("--agent", metavar="LOGIN", help="one author's pull requests only")
    parser.add_argument(
        "--format", choices=("markdown", "json"), default="markdown", help="output format (default: markdown)"
    )
    parser.add_argument(
        "--max", type=integer_between(1, 50), default=10, help="the maximum number of lessons (default: 10)"
    )


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from bot.history.store import find_author
    from bot.lessons.fetch import fetch_lessons, lesson_query
    from bot.lessons.text import render_report, report_json

    async with AsyncExitStack() as stack:
        recorded = open_recorded(arguments.repository)
        store, repository, rules = await stack.enter_async_context(recorded)
        author = None
        if arguments.agent:
            author = await store.read(find_author, repository.id, arguments.agent)
            if author is None:
                raise CommandFailed(f"{arguments.agent} has no pull request in {repository.full_name}")
        github, web = None, GitHubLinks()
        if environment_has_credentials():
            settings = read_settings()
            web = link_context(settings).web
            github = await stack.enter_async_context(open_github(settings, utc_now, store=store))
        query = replace(lesson_query(repository, rules, utc_now(), author), most=arguments.max)
        try:
            report = await fetch_lessons(store, github, repository, rules, query)
        except GitHubError as error:
            print(f"The effect is not measured: {error}", file=sys.stderr)
            report = await fetch_lessons(store, None, repository, rules, query)
    if github is None:
        print(
            "The effect is not measured: without the App's credentials the instruction files can't be read.",
            file=sys.stderr,
        )
    content = report_json(report, repository, web)
    is_json = arguments.format == "json"
    text = (
        json.dumps(content, ensure_ascii=False) + "\n" if is_json else render_report(report, repository, web)
    )
    print(text, end="")
