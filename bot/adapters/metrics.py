"""`GET /metrics`: what an operator watches, in Prometheus's words; names only for who has the token."""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from bot.adapters.follow_metrics import show_followed, show_tracked, word
from bot.adapters.meter import Meter
from bot.adapters.review_metrics import show_claims, show_validators
from bot.adapters.store.memory_counts import Broken, Counts, Heeded, Unheard
from bot.adapters.web.answers import problem
from bot.adapters.web.sharing import Shared
from bot.domain.memory import Window
from bot.domain.reviewing import Reviewing
from bot.domain.tracked import Observation
from bot.ports import StoreUnavailable

TEXT = "text/plain; version=0.0.4"
WINDOW = timedelta(days=7)
"""How far back broken gates are counted."""
AHEAD = timedelta(minutes=5)
"""How far GitHub's clock may be ahead of ours."""
MOST_A_REPOSITORY = 50
"""Authors, and tags, with series of their own: one more is one less."""
REMEMBERED = 30.0
"""Seconds for which the last days are not counted again."""
QUEUE_REMEMBERED = 2.0
"""Seconds for which the queue is not: anybody may ask, as often as they like."""
OTHER = "other"
"""The label of what has a name that not everybody may read."""


class Counting(Protocol):
    """Whoever can count what is stored."""

    async def counts(self) -> Counts:
        """The queue as it is now."""
        ...

    async def broken(self, since: datetime) -> Counter[Broken]:
        """In how many pull requests each tag was named since then, by repository and author."""
        ...

    async def unheard(self, since: datetime) -> Counter[Unheard]:
        """How many verdicts since then do not count."""
        ...

    async def reviewed(self, window: Window) -> dict[str, tuple[Reviewing, ...]]:
        """What became of the validators' claims in the window, by repository."""
        ...

    async def heeded(self, window: Window) -> Counter[Heeded]:
        """How many items named in the window were followed."""
        ...

    async def observed(self, window: Window) -> tuple[Observation, ...]:
        """What came of the items that an iteration in the window could tell about."""
        ...


@dataclass(frozen=True, slots=True)
class _Lately:
    """What was counted of the last seven days."""

    broken: Counter[Broken]
    heeded: Counter[Heeded]
    unheard: Counter[Unheard]
    reviewed: Mapping[str, tuple[Reviewing, ...]]
    observed: tuple[Observation, ...]


@dataclass(slots=True)
class Metrics:
    """Answers `GET /metrics`."""

    meter: Meter
    stored: Counting
    token: str | None
    tags: frozenset[str]
    """Those of the shipped packs; any other is a repository's own, or a reviewer's."""
    now: Callable[[], datetime]
    _queue: Shared[str, Counts] = field(default_factory=lambda: Shared(QUEUE_REMEMBERED))
    _lately: Shared[str, _Lately] = field(default_factory=lambda: Shared(REMEMBERED))

    def routes(self) -> list[web.RouteDef]:
        """The one route."""
        return [web.get("/metrics", self.show, allow_head=False)]

    async def show(self, request: web.Request) -> web.Response:
        """Everything without names; with the token also by repository, author and a repository's own tags."""
        try:
            counts = await self._queue.of("queue", self.stored.counts)
            lately = await self._lately.of("lately", self._counted_lately)
        except StoreUnavailable:
            return problem(503, "The store is away.")
        found = CollectorRegistry()
        is_known = self._is_known(request.headers.get("Authorization", ""))
        if not is_known:
            counts, lately = without_ids(counts), self._without_own_tags(lately)
        _show_queue(found, counts)
        _show_reconcile(found, counts)
        _show_tags(found, lately.broken)
        _show_unheard(found, lately.unheard)
        show_followed(found, lately.heeded)
        show_tracked(found, lately.observed)
        show_claims(found, lately.reviewed)
        if is_known:
            _show_names(found, lately.broken)
            _show_unheard_names(found, lately.unheard)
            _show_people(found, lately.heeded)
            show_validators(found, lately.reviewed)
        text = generate_latest(self.meter.registry) + generate_latest(found)
        return web.Response(body=text, headers={"Content-Type": f"{TEXT}; charset=utf-8"})

    async def _counted_lately(self) -> _Lately:
        now = self.now()
        window = Window(now - WINDOW, now + AHEAD)
        return _Lately(
            broken=await self.stored.broken(now - WINDOW),
            heeded=await self.stored.heeded(window),
            unheard=await self.stored.unheard(now - WINDOW),
            reviewed=await self.stored.reviewed(window),
            observed=await self.stored.observed(window),
        )

    def _without_own_tags(self, lately: _Lately) -> _Lately:
        broken: Counter[Broken] = Counter()
        for (repository, author, tag), number in lately.broken.items():
            broken[repository, author, self._public(tag)] += number
        heeded: Counter[Heeded] = Counter()
        for item, number in lately.heeded.items():
            heeded[replace(item, tag=self._public(item.tag))] += number
        return replace(lately, broken=broken, heeded=heeded)

    def _public(self, tag: str) -> str:
        return tag if not tag or tag in self.tags else OTHER

    def _is_known(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        if not self.token or scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())


def without_ids(counts: Counts) -> Counts:
    """The same without the ids of our own deliveries: they hold the numbers of repositories."""
    crashes: Counter[tuple[str, str]] = Counter()
    for (delivery, event), number in counts.parked_crashes.items():
        crashes[OTHER if ":" in delivery else delivery, event] += number
    return replace(counts, parked_crashes=dict(crashes))


def _show_queue(found: CollectorRegistry, counts: Counts) -> None:
    deliveries = Gauge("whetstone_deliveries", "Deliveries kept", ["event", "state"], registry=found)
    for (event, state), number in counts.deliveries.items():
        deliveries.labels(event, state).set(number)
    parked = sum(number for (_, state), number in counts.deliveries.items() if state == "parked")
    Gauge("whetstone_parked", "Deliveries given up on", registry=found).set(parked)
    what = "How often the process ended while it handled this parked delivery alone"
    crashes = Gauge("whetstone_parked_crashes", what, ["delivery", "event"], registry=found)
    for labels, number in counts.parked_crashes.items():
        crashes.labels(*labels).set(number)
    Gauge("whetstone_lanes", "Lanes known", registry=found).set(counts.lanes)
    what = "Lanes whose last turn ended with the process"
    Gauge("whetstone_lanes_crashed", what, registry=found).set(counts.lanes_crashed)
    Gauge("whetstone_lanes_due", "Lanes that wait for a turn", registry=found).set(counts.due)
    waited = "How long the oldest due lane has waited"
    Gauge("whetstone_lane_wait_seconds", waited, registry=found).set(counts.longest_due)
    outbox = Gauge("whetstone_outbox", "Writes to GitHub that are owed", ["state"], registry=found)
    for state in ("ready", "sending", "withheld"):
        outbox.labels(state).set(counts.outbox.get(state, 0))


def _show_reconcile(found: CollectorRegistry, counts: Counts) -> None:
    if counts.reconciled_at is not None:
        what = "When missed deliveries were last looked for with success, in seconds since the epoch"
        at = Gauge("whetstone_reconcile_last_run_timestamp_seconds", what, registry=found)
        at.set(counts.reconciled_at)
    missed = Gauge("whetstone_reconcile_found", "Missed deliveries found so far", registry=found)
    missed.set(counts.missed)
    what = "Redeliveries asked of GitHub so far"
    Gauge("whetstone_reconcile_resent", what, registry=found).set(counts.resent)


def _show_tags(found: CollectorRegistry, broken: Counter[Broken]) -> None:
    tags: Counter[str] = Counter()
    for (_, _, tag), number in broken.items():
        tags[tag] += number
    what = "Pull requests of the last seven days in which a validator named the tag"
    shown = Gauge("whetstone_rejections", what, ["tag"], registry=found)
    for tag, number in tags.most_common(200):
        shown.labels(tag).set(number)


def _show_unheard(found: CollectorRegistry, unheard: Counter[Unheard]) -> None:
    what = "Verdicts of the last seven days that do not count: who gave them is no validator"
    shown = Gauge("whetstone_uncounted_verdicts", what, ["stance"], registry=found)
    for (_, _, stance), number in unheard.items():
        shown.labels(stance).inc(number)


def _show_unheard_names(found: CollectorRegistry, unheard: Counter[Unheard]) -> None:
    what = "As whetstone_uncounted_verdicts, by repository and account"
    labels = ["repository", "account", "stance"]
    shown = Gauge("whetstone_account_uncounted_verdicts", what, labels, registry=found)
    for key, number in bounded(unheard.items()):
        shown.labels(*key).set(number)


def _show_people(found: CollectorRegistry, heeded: Counter[Heeded]) -> None:
    for role in ("author", "reviewer"):
        what = f"As whetstone_feedback_items, by repository and {role}"
        labels = ["repository", role, "followed"]
        shown = Gauge(f"whetstone_{role}_feedback_items", what, labels, registry=found)
        counted: Counter[Broken] = Counter()
        for item, number in heeded.items():
            who = item.author if role == "author" else item.reviewer
            counted[item.repository, who, word(item.followed)] += number
        for labelled, number in bounded(counted.items()):
            shown.labels(*labelled).set(number)


def _show_names(found: CollectorRegistry, broken: Counter[Broken]) -> None:
    what = "As whetstone_rejections, by repository and author"
    shown = Gauge("whetstone_author_rejections", what, ["repository", "author", "tag"], registry=found)
    for key, number in bounded(broken.items()):
        shown.labels(*key).set(number)


def bounded(broken: Iterable[tuple[Broken, int]]) -> list[tuple[Broken, int]]:
    """The series of the authors and of the tags with the most, so many of each a repository."""
    rows = list(broken)
    authors, tags = (_most(rows, label) for label in (1, 2))
    return [(key, number) for key, number in rows if key[:2] in authors and (key[0], key[2]) in tags]


def _most(rows: Iterable[tuple[Broken, int]], label: int) -> set[tuple[str, str]]:
    by_repository: dict[str, Counter[str]] = defaultdict(Counter)
    for key, number in rows:
        by_repository[key[0]][key[label]] += number
    return {
        (where, each)
        for where, counted in by_repository.items()
        for each, _ in counted.most_common(MOST_A_REPOSITORY)
    }
