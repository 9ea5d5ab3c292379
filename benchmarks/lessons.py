"""How often does a preflight name a gate of the next rejection: on the demo's weeks, and on a given store.

`DATABASE_URL=… make bench ARGS=lessons` adds every repository of that store, for example after a backfill.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from bot import app
from bot.demo.stories import STORIES
from bot.demo.story import STORY_PEOPLE, StoryClock, StoryMonths, story_weeks
from bot.fakegithub.registration import new_key_pair
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

WEEKS = 12
EVER = datetime(2000, 1, 1, tzinfo=UTC)


def main() -> None:
    """Print hit@1 and hit@3 of the author's history, and of the repository's most broken gates."""
    asyncio.run(_measure())


async def _measure() -> None:
    _report(f"the demo's {WEEKS} weeks", await _play_demo())
    if url := os.environ.get("DATABASE_URL"):
        async with open_existing_store(url) as store:
            for repository in await store.read(find_active_repositories, EVER):
                _report(repository.full_name, await store.read(load_records, repository.id, EVER))


async def _play_demo() -> tuple[HistoryRecord, ...]:
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
                story = STORIES["code"]
                repository = github.repository(
                    story.repository, collaborators=STORY_PEOPLE, files=story.files
                )
                months = StoryMonths(github, repository, story, clock, weeks, weeks[WEEKS - 1])
                for _ in months.play():
                    await github.until(lambda: github.deliveries.is_idle)
                    await bot.wait_until_idle()
                return await bot.store.read(load_records, repository.id, EVER)


def _report(name: str, records: Sequence[HistoryRecord]) -> None:
    cases = list(_cases(records))
    hits = Counter[str]()
    for gates, predicted, common in cases:
        hits["hit@1"] += bool(gates & set(predicted[:1]))
        hits["hit@3"] += bool(gates & set(predicted))
        hits["hit@3 of the most broken gates"] += bool(gates & set(common))
    started = time.perf_counter()
    report = build_report(records, default_rules().gates, LessonQuery(datetime.now(UTC), lambda _: True))
    seconds = time.perf_counter() - started
    print(f"{name}: {len(records)} pull requests, {len(cases)} rejections with something known before")
    for measure in ("hit@1", "hit@3", "hit@3 of the most broken gates"):
        share = f"{100 * hits[measure] / len(cases):.0f}%" if cases else "–"
        print(f"  {measure:<32} {hits[measure]:>4} of {len(cases)}  {share}")
    print(f"  {len(report.lessons)} lessons in {1000 * seconds:.1f} ms")


def _cases(records: Sequence[HistoryRecord]) -> Iterator[tuple[set[str], list[str], list[str]]]:
    """Yield the gates of each first rejection, what a preflight names, and the most broken gates."""
    for record in sorted(records, key=lambda record: record.created_at):
        tagged = [finding for finding in record.findings if finding.tag]
        if not tagged:
            continue
        first = min(finding.changes[0].at for finding in tagged)
        reported = [finding for finding in tagged if finding.changes[0].at == first]
        earlier = [other for other in records if other is not record and other.created_at < record.created_at]
        everybody = _history(earlier, record.created_at)
        own = _history([other for other in earlier if other.author == record.author], record.created_at)
        if everybody:
            # The files that the review named stand for those that changed.
            changed = [finding.path for finding in record.findings if finding.path]
            predicted = [gate.tag for gate in rank_gates(own or everybody, changed)[:MAX_SHOWN]]
            common = sorted(everybody, key=lambda gate: (-gate.broken, gate.tag))[:MAX_SHOWN]
            yield {finding.tag or "" for finding in reported}, predicted, [gate.tag for gate in common]


def _history(records: Sequence[HistoryRecord], until: datetime) -> list[GateHistory]:
    findings = [
        (record.number, finding)
        for record in records
        for finding in record.findings
        if finding.tag and finding.changes[0].at < until
    ]
    broken = Counter(tag for _, tag in {(number, finding.tag) for number, finding in findings})
    return [
        GateHistory(
            tag or "",
            broken=count,
            paths=tuple(finding.path for _, finding in findings if finding.tag == tag and finding.path),
        )
        for tag, count in broken.items()
    ]
