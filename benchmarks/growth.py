"""How acknowledgements, turns, an author's history and a repository's week slow down as the store grows.

The larger store has 1,000,000 items unless ITEMS says otherwise: ITEMS=100000 make bench ARGS=growth
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta

import asyncpg
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Insert,
    Table,
    Text,
    bindparam,
    cast,
    insert,
    select,
)
from sqlalchemy.dialects import sqlite

from benchmarks._servers import new_database, postgres
from benchmarks.compare import GROWTH, RESULTS
from benchmarks.store import delivery, turn
from bot.history.model import HistoryRecord, week_containing
from bot.history.patterns import HistoryQuery, build_history, history_needed_since
from bot.history.store import load_author, load_records
from bot.history.text import HistoryContext, render_history
from bot.lessons.model import LessonQuery, build_report
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.store.codec import encode
from bot.store.database import Transaction
from bot.store.schema import delivery_table, history_table, pull_request_table, repository_table
from bot.store.store import Store, open_store
from bot.turn.rule_book import default_rules
from bot.values import Account, Location, Repository
from bot.weekly.issue import render_weekly_issue
from bot.weekly.recommendations import WeeklyContext
from bot.weekly.summary import WeekQuery, summarize_week
from bot.weekly.summary import summary_needed_since as week_needs

INTRODUCTION = """\
Measured by `make bench ARGS=growth`: a store with few findings and one with many, in turn, so that whatever
else the machine does slows both alike. The aim is a growth of at most 1.2."""
SMALL = 10_000
FIRST = 1_000
"""The id of the first repository; the turns that are measured have one of their own."""
ITEMS_A_REPOSITORY = 1_000
ITEMS_A_PULL_REQUEST = 4
AUTHORS_A_REPOSITORY = 10
BATCH = 5_000
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
YEAR = timedelta(days=365)
GATES = default_rules().gates
TAGS = GATES.tags[:12]

Work = Callable[[Store, int], Awaitable[None]]


def main() -> None:
    large = int(os.environ.get("ITEMS", "1000000"))
    with tempfile.TemporaryDirectory(prefix="whetstone-bench-") as directory, postgres() as server:
        files = (f"sqlite:///{directory}/{name}.db" for name in ("small", "large"))
        told = {
            "SQLite": asyncio.run(measure(*files, large)),
            "PostgreSQL": asyncio.run(measure(asyncio.run(new_database(server, "small")), server, large)),
        }
    lines = [f"| p50 (least) in ms | store | {SMALL:,} | {large:,} | growth |", "|---|---|--:|--:|--:|"]
    for kind, measured in told.items():
        for name, spent in measured.items():
            cells = " | ".join(f"{statistics.median(each):.2f} ({min(each):.2f})" for each in spent)
            growth = statistics.median(spent[1]) / statistics.median(spent[0])
            lines.append(f"| {name} | {kind} | {cells} | {growth:.2f} |")
    table = "\n".join(lines)
    print(table)
    text = RESULTS.read_text(encoding="utf-8").partition(GROWTH)[0]
    RESULTS.write_text(f"{text}{GROWTH}\n{INTRODUCTION}\n\n{table}\n", encoding="utf-8")


Spent = tuple[list[float], list[float]]
"""Milliseconds on the small store and on the large one."""


async def measure(small: str, large: str, items: int) -> dict[str, Spent]:
    async with open_store(small, worker=True) as one, open_store(large, worker=True) as other:
        await fill(one, SMALL)
        await fill(other, items)
        await vacuum(small, large)
        stores = ((one, SMALL), (other, items))
        return {
            "acknowledgement": await timed(100, one_ack, stores),
            "turn that posts a comment": await timed(100, one_turn, stores),
            "one author's history": await timed(100, one_history, stores),
            "one repository's week": await timed(20, one_week, stores),
        }


async def timed(times: int, work: Work, stores: tuple[tuple[Store, int], ...]) -> Spent:
    """In turn, so that whatever else the machine does slows both alike."""
    chance, spent = random.Random(times), ([], [])
    for _ in range(times + 1):
        for (store, items), mine in zip(stores, spent, strict=True):
            where = FIRST + chance.randrange(items // ITEMS_A_REPOSITORY)
            begun = time.perf_counter()
            await work(store, where)
            mine.append((time.perf_counter() - begun) * 1000)
    return spent[0][1:], spent[1][1:]


_numbers = itertools.count(1)


async def one_ack(store: Store, _where: int) -> None:
    number = next(_numbers)
    await store.accept(delivery(f"ack-{number}", number))


async def one_turn(store: Store, _where: int) -> None:
    """All that the store does, from the claim to the release."""
    (claim,) = await store.claim(1)
    await turn(store, claim)


async def one_history(store: Store, where: int) -> None:
    ask = HistoryQuery("rio-agent[bot]", NOW, UTC)
    author = where * AUTHORS_A_REPOSITORY + 1
    records, fixes = await store.read(load_author, where, history_needed_since(ask), author)
    told = build_history(records, GATES, ask, fixes)
    render_history(told, HistoryContext(Repository(where, "acme", "knowledge", 5), GATES, GitHubLinks()))


async def one_week(store: Store, where: int) -> None:
    ask = WeekQuery(Repository(where, "acme", "knowledge", 5), week_containing(NOW, UTC).back(1), UTC)
    records = await store.read(load_records, where, week_needs(ask))
    lessons = build_report(records, GATES, LessonQuery(NOW, lambda _: False))
    render_weekly_issue(summarize_week(records, GATES, ask), WeeklyContext(GATES, GitHubLinks(), lessons))


async def fill(store: Store, items: int) -> None:
    """Repositories with a year of pull requests each; the first ones are built, the others are copies."""
    built = list(rows(0, SMALL // ITEMS_A_REPOSITORY))
    for start in range(0, len(built), BATCH):
        await put(store, built[start : start + BATCH])
    step = SMALL // ITEMS_A_REPOSITORY
    for distance in range(step, items // ITEMS_A_REPOSITORY, step):
        for statement in COPIES:
            await store.write(Transaction.execute, statement, {"by": distance})
    await store.sweep()  # as every hour


async def vacuum(*urls: str) -> None:
    """As PostgreSQL does by itself after a while."""
    for url in urls:
        if url.startswith("postgresql"):
            connection = await asyncpg.connect(url)
            await connection.execute("VACUUM ANALYZE")
            await connection.close()


def copied(table: Table, **changed: ColumnElement[object]) -> Insert:
    """Copy the rows of the repositories that were built to those that are `by` further on."""
    where = table.c.id if table is repository_table else table.c.repository_id
    columns = [changed.get(column.name, column).label(column.name) for column in table.c]
    last = FIRST + SMALL // ITEMS_A_REPOSITORY
    rows = select(*columns).where(where >= FIRST, where < last)
    return insert(table).from_select([column.name for column in table.c], rows)


BY: BindParameter[int] = bindparam("by", type_=BigInteger)


def moved_lane(table: Table, prefix: str = "pr:") -> ColumnElement[str]:
    number = cast(table.c.repository_id + BY, Text)
    return prefix + number + ":" + cast(table.c.number, Text)


def copies() -> Iterator[Insert]:
    for table in (history_table, pull_request_table):
        moved = {"lane": moved_lane(table), "repository_id": table.c.repository_id + BY}
        yield copied(table, **moved, author_id=table.c.author_id + BY * AUTHORS_A_REPOSITORY)
    past = delivery_table.join(history_table, delivery_table.c.lane == history_table.c.lane)
    ids = {"id": moved_lane(history_table, "past-pr:"), "lane": moved_lane(history_table)}
    columns = [ids.get(column.name, column).label(column.name) for column in delivery_table.c]
    last = FIRST + SMALL // ITEMS_A_REPOSITORY
    rows = select(*columns).select_from(past).where(history_table.c.repository_id < last)
    yield insert(delivery_table).from_select([column.name for column in delivery_table.c], rows)
    yield copied(
        repository_table,
        id=repository_table.c.id + BY,
        name="r" + cast(repository_table.c.id + BY, Text),
        folded="acme/r" + cast(repository_table.c.id + BY, Text),
    )


async def put(store: Store, batch: list[dict[str, object]]) -> None:
    if batch:
        names = {int(str(row["repository_id"])) for row in batch}
        known = [{"id": one, "folded": f"acme/r{one}", "name": f"r{one}"} for one in names]
        fixed = {"installation_id": 5, "owner": "acme", "private": False, "default_branch": "main"}
        await store.database.write(lambda t: t.execute(insert(history_table), batch))
        pulls, past = [pull_row(row) for row in batch], [delivery_row(row) for row in batch]
        await store.database.write(lambda t: t.execute(insert(pull_request_table), pulls))
        await store.database.write(lambda t: t.execute(insert(delivery_table), past))
        for one in known:
            row = {**fixed, **one}
            await store.database.write(
                lambda t, row=row: t.execute(sqlite.insert(repository_table).on_conflict_do_nothing(), row)
            )


COPIES = tuple(copies())


def pull_row(record: dict[str, object]) -> dict[str, object]:
    kept = ("lane", "repository_id", "number", "installation_id", "author_id")
    seen = {"created_at": record["last_active"], "updated_at": record["last_active"]}
    place = {"owner": "acme", "name": f"r{record['repository_id']}", "head": "0" * 40}
    return {
        **{name: record[name] for name in kept},
        **seen,
        **place,
        "open": False,
        "merged": True,
        "record": "{}",
    }


def delivery_row(record: dict[str, object]) -> dict[str, object]:
    at = NOW.timestamp()
    times = {"received_at": at, "accepted_at": at, "finished_at": at, "position": 1, "attempts": 0}
    lane = {"id": f"past-{record['lane']}", "lane": record["lane"], "installation_id": 5}
    return {**lane, **times, "event": "pull_request_review", "state": "done", "body": b"x" * 500}


def rows(first: int, last: int) -> Iterator[dict[str, object]]:
    for where in range(FIRST + first, FIRST + last):
        chance = random.Random(where)
        for number in range(1, ITEMS_A_REPOSITORY // ITEMS_A_PULL_REQUEST + 1):
            author = Account(
                where * AUTHORS_A_REPOSITORY + chance.randrange(AUTHORS_A_REPOSITORY),
                "rio-agent[bot]",
                bot=True,
            )
            known = one_record(number, author, chance)
            yield {
                "lane": f"pr:{where}:{number}",
                "repository_id": where,
                "installation_id": 5,
                "private": False,
                "number": number,
                "author_id": author.id,
                "login": author.login,
                "last_active": known.last_active.timestamp(),
                "record": encode(known),
            }


def one_record(number: int, author: Account, chance: random.Random) -> HistoryRecord:
    """A pull request that is rejected for some gates, mended, and then approved or not."""
    opened = NOW - YEAR * chance.random()
    heads = [f"{chance.getrandbits(160):040x}" for _ in range(2)]
    alice = Validator(f"user:{number % 7}", "alice")
    items = tuple(
        Item(
            tag,
            place=Location(f"claims/{number}.md", 5),
            url=f"https://github.com/acme/k/pull/{number}#r{tag}",
        )
        for tag in chance.sample(TAGS, ITEMS_A_PULL_REQUEST)
    )
    rejects = Verdict(
        f"review:{number}1", alice, Stance.REJECTS, opened + timedelta(hours=1), heads[0], items
    )
    approves = Verdict(f"review:{number}2", alice, Stance.APPROVES, opened + timedelta(hours=9), heads[1])
    merged = chance.random() < 0.7
    return HistoryRecord(
        number=number,
        author=author,
        created_at=opened,
        pushed_at=(opened, opened + timedelta(hours=5)),
        verdicts=(rejects, approves) if merged else (rejects,),
        closed_at=opened + timedelta(hours=10) if merged else None,
        merged=merged,
    )


if __name__ == "__main__":
    main()
