"""What GitHub's JSON says of a revision: its files against the base, and how its checks ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.adapters.payloads import commits as events
from bot.adapters.payloads import jobs
from bot.adapters.payloads.fields import Json, Odd, find, optional_integer, text
from bot.domain.check_result import CheckResult
from bot.domain.diff import Comparison, FileDiff
from bot.domain.events import CheckSeen, Event, Ignored
from bot.domain.model import Repository

COMPARE = "/repos/{owner}/{repo}/compare/{basehead}"
CHECK_RUNS = "/repos/{owner}/{repo}/commits/{sha}/check-runs?per_page=100"
STATUS = "/repos/{owner}/{repo}/commits/{sha}/status?per_page=100"


def comparison(answer: Any, head: str) -> Comparison:
    """The comparison with what could be read of it; the tree only where the head itself is shown."""
    commits = _list(answer, "commits")
    shown = next((commit for commit in reversed(commits) if text(commit, "sha") == head), None)
    return Comparison(
        base=text(answer, "merge_base_commit.sha") or None,
        tree=text(shown, "commit.tree.sha") or None,
        ahead=optional_integer(answer, "ahead_by") or 0,
        files=tuple(map(_file, filter(_is_named, _list(answer, "files")))),
    )


def check_results(runs: Any, statuses: Any) -> tuple[CheckResult, ...]:
    """Check runs and commit statuses alike; a status that waits has no conclusion yet."""
    found = [
        CheckResult(text(run, "name"), text(run, "conclusion") or None) for run in _list(runs, "check_runs")
    ]
    for status in _list(statuses, "statuses"):
        state = text(status, "state")
        found.append(CheckResult(text(status, "context"), None if state == "pending" else state or None))
    return tuple(check for check in found if check.name)


def ended_checks(where: Repository, head: str, runs: Any, statuses: Any) -> tuple[CheckSeen, ...]:
    """Check runs and statuses that ended, as their events would have told of them."""
    told = jobs.repository(where)
    ended = [run for run in _list(runs, "check_runs") if text(run, "status") == "completed"]
    found = [_told(events.check_run, {**told, "check_run": run}) for run in ended]
    found += [_told(events.status, {**told, **each, "sha": head}) for each in _list(statuses, "statuses")]
    return tuple(each for each in found if isinstance(each, CheckSeen))


def _told(reader: Callable[[str, Json], Event | Ignored], payload: Json) -> Event | Ignored | None:
    """What the event would say; None where one of many is of an odd shape."""
    try:
        return reader("completed", payload)
    except Odd:
        return None


def _file(tree: Any) -> FileDiff:
    return FileDiff(
        path=text(tree, "filename"),
        added=optional_integer(tree, "additions") or 0,
        deleted=optional_integer(tree, "deletions") or 0,
        status=text(tree, "status") or "modified",
        blob=text(tree, "sha") or None,
        previous_path=text(tree, "previous_filename") or None,
        patch=text(tree, "patch") if isinstance(find(tree, "patch"), str) else None,
    )


def _is_named(tree: Any) -> bool:
    return bool(text(tree, "filename"))


def _list(tree: Any, path: str) -> list[Any]:
    found = find(tree, path)
    return found if isinstance(found, list) else []
