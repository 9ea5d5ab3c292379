"""`whetstone history`: show an author's history, or everybody's."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from bot.cli import CliCommand, terminal
from bot.cli.common import (
    find_recorded_repository,
    integer_between,
    parse_repository_name,
    report_usage_errors,
)
from bot.markdown.links import GitHubLinks
from bot.resources import open_existing_store, read_database_url, utc_now
from bot.store.model import StoreUnavailable
from bot.turn.rule_book import stored_rules
from bot.values import Account

_MOST_HOURS = 24 * 3650


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="whose authors")
    parser.add_argument("login", metavar="LOGIN", nargs="?", help="one author; without it all of them")
    parser.add_argument(
        "--hours",
        type=integer_between(1, _MOST_HOURS),
        help="the period (168; for one author the shortest that says enough)",
    )
    parser.add_argument("--json", action="store_true", help="the patterns as JSON")


def _run(arguments: argparse.Namespace) -> int:
    parse_repository_name(arguments.repository)
    try:
        with report_usage_errors():
            return asyncio.run(_told(arguments))
    except StoreUnavailable as error:
        print(f"whetstone history: {error}", file=sys.stderr)
        return 1


async def _told(arguments: argparse.Namespace) -> int:
    if arguments.login:
        text, patterns = await author_history(arguments.repository, arguments.login, arguments.hours)
        print(json.dumps(patterns) if arguments.json else text, end="\n" if arguments.json else "")
        return 0
    everybody = await all_author_patterns(arguments.repository, arguments.hours or 168)
    if arguments.json:
        print(json.dumps(everybody))
        return 0
    if not everybody:
        print("No pull request was judged in this time.")
    elif terminal.is_terminal():
        headings = ("author", "judged", "rejected", "trend", "broken gates")
        terminal.print_table(headings, (_row(login, known) for login, known in everybody.items()))
    else:
        for login, known in everybody.items():
            print(f"{login}: {_line(known)}")
    return 0


def _row(login: str, known: dict[str, Any]) -> tuple[str, ...]:
    trend = "" if known["trend"] == "no_data" else known["trend"]
    return login, str(known["total_prs"]), str(known["rejected_prs"]), trend, _broken(known)


def _broken(known: dict[str, Any]) -> str:
    return ", ".join(f"{tag} {count}" for tag, count in known["issue_breakdown"].items())


def _line(known: dict[str, Any]) -> str:
    """`9 judged, 2 rejected, improving; date_errors 3`."""
    trend = "too few for a trend" if known["trend"] == "no_data" else known["trend"]
    nothing = "rejected without a tag" if known["rejected_prs"] else "no gate broken"
    return (
        f"{known['total_prs']} judged, {known['rejected_prs']} rejected, {trend}; {_broken(known) or nothing}"
    )


COMMAND = CliCommand(
    "history",
    "Show which gates an author breaks, how often, and whether it gets better.",
    "whetstone history acme/knowledge 'rio-agent[bot]' --hours 720",
    _arguments,
    _run,
)


async def author_history(name: str, login: str, hours: int | None) -> tuple[str, dict[str, Any]]:
    """An author's history as text and as patterns, from the store alone."""
    from bot.history.fetch import fetch_history, history_query
    from bot.history.text import HistoryContext, render_history

    async with open_existing_store(read_database_url()) as store:
        where = await find_recorded_repository(store, name)
        rules = await stored_rules(store, where)
        author = await store.memory.author(where.id, login, shared=rules.history.shared)
        query = history_query(author or Account(-1, login), rules, utc_now(), hours)
        history = await fetch_history(store.memory, where, query, rules)
    text = render_history(
        history, HistoryContext(where, rules.gates, GitHubLinks(), is_default=False, is_terminal=True)
    )
    return text, history.patterns.as_json()


async def all_author_patterns(name: str, hours: int) -> dict[str, dict[str, Any]]:
    """Every author's patterns by login, from the store alone."""
    from bot.history.fetch import fetch_all_patterns

    async with open_existing_store(read_database_url()) as store:
        where = await find_recorded_repository(store, name)
        rules = await stored_rules(store, where)
        everybody = await fetch_all_patterns(store.memory, where, hours, rules, utc_now())
    return {login: patterns.as_json() for login, patterns in sorted(everybody.items())}
