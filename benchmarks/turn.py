"""What one delivery costs inside: statements, transactions, requests, calls and modules."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

from sqlalchemy import event
from sqlalchemy.pool import Pool

from benchmarks._servers import APP, DATE_ERROR, ROOT, settings_of
from bot.app import RunningInstance, run_instance
from bot.settings import load_settings
from tests.scripted_github import ScriptedGitHub

BOT = str(ROOT / "bot")
NOT_COUNTED = (f"{BOT}/fakegithub",)
WRITES = ("INSERT", "UPDATE", "DELETE")
REVIEWS = {"rejecting review": ("CHANGES_REQUESTED", DATE_ERROR), "approval": ("APPROVED", "")}


def main() -> None:
    """Print the costs of a warm rejecting review that posts a comment, and of the approval that edits it.

    VERBOSE=1 lists those of the rejecting review.
    """
    with tempfile.TemporaryDirectory(prefix="whetstone-bench-") as folder:
        asyncio.run(_measure(f"sqlite:///{folder}/bench.db"))


async def _measure(database_url: str) -> None:
    statements: list[str] = []

    @event.listens_for(Pool, "connect")
    def trace(connection: object, _record: object) -> None:
        connection.set_trace_callback(statements.append)

    async with (
        ScriptedGitHub(APP) as github,
        run_instance(load_settings(settings_of(github, database_url))) as instance,
    ):
        host, port = instance.address
        github.webhook_url = f"http://{host}:{port}/webhook"
        repository = github.repository("acme/knowledge", collaborators={"alice": "write"})
        pulls = [github.open_pull_request(repository, "rio-agent[bot]") for _ in range(6)]
        await _settle(github, instance)
        for pull in pulls[:-1]:
            for state, body in REVIEWS.values():
                github.submit_review(pull, "alice", state, body)
                await _settle(github, instance)
        costs = {}
        for name, (state, body) in REVIEWS.items():
            statements.clear()
            before = len(github.requests)
            with _counting(calls := Counter()):
                github.submit_review(pulls[-1], "alice", state, body)
                await _settle(github, instance)
            requests = Counter(request.method for request in github.requests[before:])
            costs[name] = _costs(statements, calls, requests)
            if os.environ.get("VERBOSE") and len(costs) == 1:
                _list(statements, calls)
        print(" " * 36 + "".join(f"{name:>20}" for name in costs))
        for line in next(iter(costs.values())):
            print(f"{line:36}" + "".join(f"{figures[line]:>20}" for figures in costs.values()))


async def _settle(github: ScriptedGitHub, instance: RunningInstance) -> None:
    await github.delivered()
    await instance.wait_until_idle()


@contextmanager
def _counting(calls: Counter[CodeType]) -> Iterator[None]:
    """Count the calls of the bot's own functions, in every thread."""

    def count(frame: FrameType, kind: str, _argument: object) -> None:
        code = frame.f_code
        if (
            kind == "call"
            and code.co_filename.startswith(BOT)
            and not code.co_filename.startswith(NOT_COUNTED)
        ):
            calls[code] += 1

    threading.setprofile_all_threads(count) if sys.version_info >= (3, 12) else threading.setprofile(count)
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _commits(statements: list[str], *, synced: bool) -> int:
    """Count the transactions that changed something, or those of them that waited for the disk."""
    count, is_full, has_changed = 0, True, False
    for statement in statements:
        if statement.startswith("PRAGMA synchronous"):
            is_full = statement.endswith("FULL")
        elif statement.startswith(WRITES):
            has_changed = True
        elif statement == "COMMIT":
            count += has_changed and (is_full or not synced)
            has_changed = False
    return count


def _costs(statements: list[str], calls: Counter[CodeType], requests: Counter[str]) -> dict[str, str]:
    kinds = Counter(statement.split(None, 1)[0].upper() for statement in statements)
    modules = {code.co_filename for code in calls}
    writes = requests["POST"] + requests["PATCH"]
    return {
        "statements": f"{sum(kinds.values()) - kinds['BEGIN'] - kinds['COMMIT'] - kinds['PRAGMA']}",
        "  of them writes": f"{sum(kinds[kind] for kind in WRITES)}",
        "commits of changes": f"{_commits(statements, synced=False)}",
        "  of them written to the disk": f"{_commits(statements, synced=True)}",
        "requests to GitHub, reads + writes": f"{requests['GET']} + {writes}",
        "calls of own functions": f"{calls.total():,}",
        "modules that they are in": f"{len(modules)}",
    }


def _list(statements: list[str], calls: Counter[CodeType]) -> None:
    for statement in statements:
        print("   ", " ".join(statement.split())[:160])
    for name, count in calls.most_common(40):
        print(f"{count:6} {name.co_filename.removeprefix(str(ROOT))}:{name.co_qualname}")
    print("\n".join(sorted({code.co_filename.removeprefix(str(ROOT)) for code in calls})))
