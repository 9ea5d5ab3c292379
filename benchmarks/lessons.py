"""How often does a preflight name a gate of the next rejection: on the demo's weeks, and on a given store.

`DATABASE_URL=… make bench ARGS=lessons` adds every repository of that store, for example after a backfill.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot import app
from bot.demo.stories import STORY_NAMES, load_story
from bot.demo.story import STORY_PEOPLE, StoryClock, StoryMonths, story_weeks
from bot.fakegithub.apps import new_key_pair
from bot.fakegithub.model import Repository
from bot.fakegithub.world import AppRegistration
from bot.history.model import HistoryRecord
from bot.history.store import load_records
from bot.lessons.model import LessonQuery, build_report
from bot.lessons.preflight import MAX_SHOWN, GateHistory, rank_gates
from bot.resources import open_existing_store
from bot.settings import Settings
from bot.store.repositories import find_active_repositories
from bot.turn.rule_book import default_rules
from tests.scripted_github import ScriptedGitHub

ChangedPaths = Mapping[int, tuple[str, ...]]
"""What each pull request changed, where that is known: the store does not keep it."""

WEEKS = 12
EVER = datetime(2000, 1, 1, tzinfo=UTC)


def main() -> None:
    """Print hit@1 and hit@3 of the preflight, and of the repository's most broken gates."""
    asyncio.run(_measure())


async def _measure() -> None:
    for name in STORY_NAMES:
        _report(f"the demo's {WEEKS} weeks, {name}", *await _play_demo(name))
    if url := os.environ.get("DATABASE_URL"):
        async with open_existing_store(url) as store:
            for repository in await store.read(find_active_repositories, EVER):
                _report(repository.full_name, await store.read(load_records, repository.id, EVER), {})


async def _play_demo(name: str) -> tuple[tuple[HistoryRecord, ...], ChangedPaths]:
    keys = new_key_pair()
    weeks = story_weeks(datetime.now(UTC), WEEKS)
    clock = StoryClock(datetime.now(UTC) - weeks[0])
    registration = AppRegistration(public_pem=keys.public_pem)
    with tempfile.TemporaryDirectory() as folder:
        async with ScriptedGitHub(registration, clock=clock.now) as github:
            settings = Settings(
                app_id=registration.id,
                private_key=keys.private_pem,
                webhook_secrets=(registration.webhook_secret,),
                api_url=github.api_url,
                graphql_url=github.graphql_url,
                database_url=f"sqlite:///{folder}/lessons.db",
                port=0,
            )
            async with app.run_instance(
                settings, clock=clock.now, store_clock=clock.now, weekly=False
            ) as bot:
                github.webhook_url = "http://{}:{}/webhook".format(*(bot.address or ("", 0)))
                story = load_story(name)
                repository = github.repository(
                    story.repository, collaborators=STORY_PEOPLE, files=story.files
                )
                months = StoryMonths(github, repository, story, clock, weeks, weeks[WEEKS - 1])
                for _ in months.play():
                    await github.until(lambda: github.deliveries.is_idle)
                    await bot.wait_until_idle()
                records = await bot.store.read(load_records, repository.id, EVER)
                return records, {record.number: _changed(repository, record.number) for record in records}


def _changed(repository: Repository, number: int) -> tuple[str, ...]:
    pull, commits = repository.threads[number], repository.objects.commits
    head, base = commits[pull.head_sha].files, commits[pull.base_sha].files
    return tuple(path for path in head if head[path] != base.get(path))


def _report(name: str, records: Sequence[HistoryRecord], changed: ChangedPaths) -> None:
    cases = list(_cases(records, changed))
    print(f"{name}: {len(records)} pull requests, {len(cases)} rejections with something known before")
    for measure, rank in RANKINGS.items():
        hits = sum(bool(case.gates & {gate.tag for gate in rank(case)}) for case in cases)
        share = f"{100 * hits / len(cases):.0f}%" if cases else "–"
        print(f"  {measure:<40} {hits:>4} of {len(cases)}  {share}")
    if not changed:
        print("  The store has no changed paths, so the preflight is measured without them.")
    started = time.perf_counter()
    report = build_report(records, default_rules().gates, LessonQuery(datetime.now(UTC), lambda _: True))
    print(f"  {len(report.lessons)} lessons in {1000 * (time.perf_counter() - started):.1f} ms")


@dataclass(frozen=True, slots=True)
class Case:
    """The gates of a pull request's first rejection, and what was known when it was opened."""

    gates: frozenset[str]
    own: tuple[GateHistory, ...]
    everybody: tuple[GateHistory, ...]
    changed: tuple[str, ...]


def _rank_by_count(case: Case) -> list[GateHistory]:
    return sorted(case.everybody, key=lambda gate: (-gate.broken, gate.tag))


RANKINGS: Mapping[str, Callable[[Case], Sequence[GateHistory]]] = {
    "hit@1": lambda case: rank_gates(case.own, case.everybody, case.changed)[:1],
    "hit@3": lambda case: rank_gates(case.own, case.everybody, case.changed)[:MAX_SHOWN],
    "hit@3 without the changed paths": lambda case: rank_gates(case.own, case.everybody, ())[:MAX_SHOWN],
    "hit@3 of the most broken gates": lambda case: _rank_by_count(case)[:MAX_SHOWN],
}


def _cases(records: Sequence[HistoryRecord], changed: ChangedPaths) -> Iterator[Case]:
    for record in sorted(records, key=lambda record: record.created_at):
        tagged = [finding for finding in record.findings if finding.tag]
        earlier = [other for other in records if other.created_at < record.created_at]
        everybody = _history(earlier, record.created_at)
        if tagged and everybody:
            first = min(finding.changes[0].at for finding in tagged)
            yield Case(
                frozenset(finding.tag or "" for finding in tagged if finding.changes[0].at == first),
                _history([other for other in earlier if other.author == record.author], record.created_at),
                everybody,
                changed.get(record.number, ()),
            )


def _history(records: Sequence[HistoryRecord], until: datetime) -> tuple[GateHistory, ...]:
    known = {
        record.number: [finding for finding in record.findings if finding.changes[0].at < until]
        for record in records
    }
    broken: dict[str, list[int]] = {}
    for number, findings in known.items():
        for tag in {finding.tag for finding in findings if finding.tag}:
            broken.setdefault(tag, []).append(number)
    return tuple(
        GateHistory(
            tag,
            broken=len(numbers),
            paths=tuple(finding.path for number in numbers for finding in known[number] if finding.path),
        )
        for tag, numbers in broken.items()
    )
