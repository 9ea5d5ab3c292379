"""`whetstone history`: show an author's history, or everybody's."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bot.cli import terminal
from bot.cli.common import add_repository, integer_between, open_recorded
from bot.markdown.links import GitHubLinks
from bot.resources import utc_now

_MAX_HOURS = 24 * 3650


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser)
    parser.add_argument("login", metavar="LOGIN", nargs="?", help="an author; all authors if omitted")
    parser.add_argument(
        "--hours",
        type=integer_between(1, _MAX_HOURS),
        help="the period in hours (default: 168; for one author, the shortest with enough pull requests)",
    )
    parser.add_argument("--json", action="store_true", help="print the patterns as JSON")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.login:
        text, patterns = await author_history(arguments.repository, arguments.login, arguments.hours)
        print(json.dumps(patterns) if arguments.json else text, end="\n" if arguments.json else "")
        return
    patterns_by_login = await all_author_patterns(arguments.repository, arguments.hours or 168)
    if arguments.json:
        print(json.dumps(patterns_by_login))
    elif not patterns_by_login:
        print("No pull requests were reviewed in this period.")
    elif terminal.is_terminal():
        headings = ("author", "reviewed", "rejected", "trend", "broken gates")
        terminal.print_table(
            headings, (_row(login, patterns) for login, patterns in patterns_by_login.items())
        )
    else:
        for login, patterns in patterns_by_login.items():
            print(f"{login}: {_line(patterns)}")


def _row(login: str, patterns: dict[str, Any]) -> tuple[str, ...]:
    trend = "" if patterns["trend"] == "no_data" else patterns["trend"]
    return login, str(patterns["total_prs"]), str(patterns["rejected_prs"]), trend, _broken_gates(patterns)


def _broken_gates(patterns: dict[str, Any]) -> str:
    return ", ".join(f"{tag} {count}" for tag, count in patterns["issue_breakdown"].items())


def _line(patterns: dict[str, Any]) -> str:
    """`9 reviewed, 2 rejected, improving; date_errors 3`."""
    trend = "no trend yet" if patterns["trend"] == "no_data" else patterns["trend"]
    nothing = "rejected without a tag" if patterns["rejected_prs"] else "no broken gates"
    broken = _broken_gates(patterns) or nothing
    return f"{patterns['total_prs']} reviewed, {patterns['rejected_prs']} rejected, {trend}; {broken}"


async def author_history(name: str, login: str, hours: int | None) -> tuple[str, dict[str, Any]]:
    """Return an author's history as text and as patterns, from the store alone."""
    from bot.history.fetch import fetch_author, fetch_history, history_query
    from bot.history.text import HistoryContext, render_history

    async with open_recorded(name) as (store, repository, rules):
        author = await fetch_author(store, repository, login, rules)
        query = history_query(author, rules, utc_now(), hours)
        history = await fetch_history(store, repository, query, rules)
    text = render_history(
        history, HistoryContext(repository, rules.gates, GitHubLinks(), is_default=False, is_terminal=True)
    )
    return text, history.patterns.as_json()


async def all_author_patterns(name: str, hours: int) -> dict[str, dict[str, Any]]:
    """Return every author's patterns by login, from the store alone."""
    from bot.history.fetch import fetch_outcomes
    from bot.history.model import window_of_last_hours
    from bot.history.patterns import compute_all_patterns

    async with open_recorded(name) as (store, repository, rules):
        window = window_of_last_hours(hours, utc_now())
        now, before = await fetch_outcomes(store, repository.id, window, rules.history)
    patterns_by_login = compute_all_patterns(now, before, rules.gates, hours)
    return {login: patterns.as_json() for login, patterns in sorted(patterns_by_login.items())}
