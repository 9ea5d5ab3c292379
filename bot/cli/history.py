"""`whetstone history`: show an author's history, or everybody's."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from datetime import timedelta
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
    from bot.commands.fetch import history_query
    from bot.history.patterns import build_history, history_needed_since
    from bot.history.store import find_author, load_author
    from bot.history.text import HistoryContext, render_history

    async with open_existing_store(read_database_url()) as store:
        where = await find_recorded_repository(store, name)
        rules = await stored_rules(store, where)
        shared = rules.history.shared
        author = await store.read(find_author, where.id, login, shared=shared)
        ask = history_query(author.login if author else login, rules, utc_now(), hours)
        identity = author.id if author else -1
        records, fixes = await store.read(
            load_author, where.id, history_needed_since(ask), identity, shared=shared
        )
        told = build_history(records, rules.gates, ask, fixes)
    text = render_history(
        told, HistoryContext(where, rules.gates, GitHubLinks(), is_default=False, is_terminal=True)
    )
    return text, told.patterns.as_json()


async def all_author_patterns(name: str, hours: int) -> dict[str, dict[str, Any]]:
    """Every author's patterns by login, from the store alone."""
    from bot.history.model import earliest_activity, window_of_last_hours
    from bot.history.outcomes import outcomes_in_window
    from bot.history.patterns import compute_all_patterns
    from bot.history.store import load_records

    window = window_of_last_hours(hours, utc_now())
    async with open_existing_store(read_database_url()) as store:
        where = await find_recorded_repository(store, name)
        rules = await stored_rules(store, where)
        dead_after = timedelta(days=rules.history.dead_after_days)
        since = earliest_activity(window.before, dead_after)
        records = await store.read(load_records, where.id, since, shared=rules.history.shared)
    rows, previous = (outcomes_in_window(records, each, dead_after) for each in (window, window.before))
    found = compute_all_patterns(rows, previous, rules.gates, hours)
    return {login: known.as_json() for login, known in sorted(found.items())}
