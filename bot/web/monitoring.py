"""Serve Prometheus metrics (`GET /metrics`) and the status page (`GET /`, `GET /status.json`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from heapq import nsmallest
from importlib.metadata import version
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from bot import regex
from bot.history.model import TimeWindow
from bot.history.rates import ReviewerRates, combine_reviewer_rates, overall_follow_rate
from bot.history.store import (
    BrokenGateKey,
    RecentCounts,
    count_recent,
)
from bot.metrics import Meter
from bot.store.lanes import QueueCounts, count_queue
from bot.store.model import ParkedDelivery, StoreUnavailable
from bot.store.outbox import RATE_WINDOWS
from bot.store.status import MAX_ROWS, StoreStatus, load_status
from bot.store.store import Store
from bot.web.cache import SingleFlightCache
from bot.web.responses import has_token, json_response, page_response, problem_response

Key = TypeVar("Key")
Group = TypeVar("Group")

MAX_TAGS = 200
"""Tags with series of their own."""
MAX_VALIDATORS = 50
"""Series a repository: those with the most claims."""

_RATES = {
    "grounding_rate": "Share of claims needing verification that were verified",
    "hallucination_rate": "Share of claims needing verification that could not be verified",
    "verification_success_rate": "Share of checked claims that were confirmed",
    "false_claim_rate": "Share of verifiable claims that were contradicted",
}


METRICS_CONTENT_TYPE = "text/plain; version=0.0.4"
METRICS_WINDOW = timedelta(days=7)
"""How far back broken gates are counted."""
CLOCK_SKEW = timedelta(minutes=5)
"""How far GitHub's clock may be ahead of ours."""
MAX_SERIES_PER_REPOSITORY = 50
"""Authors, and tags, with series of their own: one more is one less."""
METRICS_MAX_AGE = 30.0
"""Seconds for which the last days are not counted again."""
STATUS_MAX_AGE = 2.0
"""Seconds for which queue and status are not read again: anybody may ask, as often as they like."""
OTHER = "other"
"""The label of what has a name that not everybody may read."""


@dataclass(slots=True)
class Monitoring:
    """Answers `GET /metrics`, `/` and `/status.json`; without the token nothing in them names anybody."""

    meter: Meter
    store: Store
    token: str | None
    tags: frozenset[str]
    """Those of the shipped packs; any other is a repository's own, or a reviewer's."""
    now: Callable[[], datetime]
    _queue: SingleFlightCache[str, QueueCounts] = field(
        default_factory=lambda: SingleFlightCache(STATUS_MAX_AGE)
    )
    _status: SingleFlightCache[str, StoreStatus] = field(
        default_factory=lambda: SingleFlightCache(STATUS_MAX_AGE)
    )
    _recent: SingleFlightCache[str, RecentCounts] = field(
        default_factory=lambda: SingleFlightCache(METRICS_MAX_AGE)
    )

    def routes(self) -> list[web.RouteDef]:
        """The routes of the metrics, and of the status as a page and as JSON."""
        return [
            web.get("/metrics", self.show, allow_head=False),
            web.get("/", self.page),
            web.get("/status.json", self.json),
        ]

    async def show(self, request: web.Request) -> web.Response:
        """Everything without names; with the token also by repository, author and a repository's own tags."""
        try:
            counts = await self._queue.get("queue", partial(self.store.read, count_queue))
            recent = await self._recent.get("recent", self._count_recent)
        except StoreUnavailable:
            return problem_response(503, "The store is unavailable.")
        gauges = _Gauges()
        is_known = has_token(request, self.token)
        if not is_known:
            counts, recent = without_ids(counts), self._without_own_tags(recent)
        _show_queue(gauges, counts)
        _show_totals(gauges, recent)
        _show_claims(gauges, recent.reviewed)
        if is_known:
            _show_names(gauges, recent)
            _show_validators(gauges, recent.reviewed)
        text = generate_latest(self.meter.registry) + generate_latest(gauges.registry)
        return web.Response(body=text, headers={"Content-Type": f"{METRICS_CONTENT_TYPE}; charset=utf-8"})

    async def _count_recent(self) -> RecentCounts:
        now = self.now()
        return await self.store.read(count_recent, TimeWindow(now - METRICS_WINDOW, now + CLOCK_SKEW))

    def _without_own_tags(self, recent: RecentCounts) -> RecentCounts:
        return replace(
            recent,
            broken=_sum_by(recent.broken, lambda key: (*key[:2], self._public(key[2]))),
            findings=_sum_by(recent.findings, lambda labels: replace(labels, tag=self._public(labels.tag))),
        )

    def _public(self, tag: str) -> str:
        return tag if not tag or tag in self.tags else OTHER

    async def page(self, request: web.Request) -> web.Response:
        """The page for people; it loads itself again, without a script."""
        try:
            status: dict[str, Any] | None = await self._describe(request)
        except StoreUnavailable:
            status = None
        return page_response(
            "status.html", {"status": status, "ago": format_age}, status=200 if status else 503
        )

    async def json(self, request: web.Request) -> web.Response:
        """The same for programs."""
        try:
            response = json_response(200, await self._describe(request))
        except StoreUnavailable:
            response = problem_response(503, "The store is unavailable.")
        response.headers["Cache-Control"] = "no-store"
        return response

    async def _describe(self, request: web.Request) -> dict[str, Any]:
        status = await self._status.get("status", partial(self.store.read, load_status))
        is_operator = has_token(request, self.token)
        now = self.now()

        def age(at: datetime | None) -> float | None:
            return None if at is None else round(max(0.0, (now - at).total_seconds()), 1)

        return {
            "version": _version(),
            "store": f"PostgreSQL {status.postgres_version}" if status.postgres_version else "SQLite",
            "queue": {
                "deliveries": status.queued,
                "lanes_due": status.lanes_due,
                "owed_writes": status.owed_writes,
                "oldest_seconds": age(status.oldest_waiting),
            },
            "last_delivery_seconds": age(status.last_delivery),
            "reconciled_seconds": age(status.reconciled_at),
            "parked": {
                "count": status.parked_count,
                "deliveries": [
                    _describe_parked(one, age(one.parked_at), is_operator=is_operator)
                    for one in status.parked
                ],
            },
            "budgets": self._budgets(status, now),
        }

    def _budgets(self, status: StoreStatus, now: datetime) -> list[dict[str, Any]]:
        """GitHub's limits by installation: requests as this process saw them, writes of all processes."""
        writes = {budget.installation_id: budget for budget in status.budgets}
        rows = []
        told = dict(self.meter.budgets)
        scarcest = nsmallest(MAX_ROWS, told, key=lambda identity: told[identity].remaining)
        # Installation 0 is the App itself, which has a budget of its own.
        for identity in sorted({*writes, *scarcest}):
            wrote, requests = writes.get(identity), told.get(identity)
            paused = wrote.paused_until if wrote else None
            rows.append(
                {
                    "installation": identity,
                    "requests_left": requests.remaining if requests else None,
                    "requests_limit": requests.limit if requests else None,
                    "writes_last_minute": wrote.last_minute if wrote else 0,
                    "writes_last_hour": wrote.last_hour if wrote else 0,
                    "writes_limits": [window.most for window in RATE_WINDOWS],
                    "paused_seconds": paused and max(0.0, round((paused - now).total_seconds(), 1)),
                }
            )
        return rows


def without_ids(counts: QueueCounts) -> QueueCounts:
    """The same without the ids of the bot's own deliveries: they contain the numbers of repositories."""
    crashes = _sum_by(counts.parked_crashes, lambda key: (OTHER if ":" in key[0] else key[0], key[1]))
    return replace(counts, parked_crashes=dict(crashes))


def _sum_by(counts: Mapping[Key, int], group: Callable[[Key], Group]) -> Counter[Group]:
    """Add up the counts of the keys that are in one group."""
    sums: Counter[Group] = Counter()
    for key, number in counts.items():
        sums[group(key)] += number
    return sums


class _Gauges:
    """Gauges that are set once, for one response."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

    def value(self, name: str, what: str, value: float | None) -> None:
        """Show a number, unless it is not known."""
        if value is not None:
            Gauge(name, what, registry=self.registry).set(value)

    def series(
        self, name: str, what: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]
    ) -> None:
        """Show numbers by their labels; those with the same labels are added up."""
        gauge = Gauge(name, what, labels, registry=self.registry)
        for key, number in values:
            gauge.labels(*key).inc(number)


def _show_queue(gauges: _Gauges, counts: QueueCounts) -> None:
    gauges.series("whetstone_deliveries", "Stored deliveries", ("event", "state"), counts.deliveries.items())
    parked = sum(number for (_, state), number in counts.deliveries.items() if state == "parked")
    gauges.value("whetstone_parked", "Parked deliveries", parked)
    gauges.series(
        "whetstone_parked_crashes",
        "Crashes of the process while it handled this parked delivery alone",
        ("delivery", "event"),
        counts.parked_crashes.items(),
    )
    gauges.value("whetstone_lanes", "Lanes in the store", counts.lanes)
    gauges.value("whetstone_lanes_crashed", "Lanes whose last turn ended in a crash", counts.lanes_crashed)
    gauges.value("whetstone_lanes_due", "Lanes waiting for a turn", counts.due)
    waited = "Seconds that the oldest due lane has waited"
    gauges.value("whetstone_lane_wait_seconds", waited, counts.longest_due)
    states = ("ready", "sending", "withheld")
    writes = (((state,), counts.outbox.get(state, 0)) for state in states)
    gauges.series("whetstone_outbox", "Pending writes to GitHub", ("state",), writes)
    gauges.value(
        "whetstone_reconcile_last_run_timestamp_seconds",
        "Time of the last successful check for missed deliveries, in seconds since the epoch",
        counts.reconciled_at,
    )
    gauges.value("whetstone_reconcile_found", "Missed deliveries found", counts.missed)
    gauges.value("whetstone_reconcile_resent", "Redeliveries requested from GitHub", counts.resent)


def _show_totals(gauges: _Gauges, recent: RecentCounts) -> None:
    """Show what names nobody."""
    broken = _sum_by(recent.broken, itemgetter(2))
    gauges.series(
        "whetstone_rejections",
        "Pull requests of the last seven days with this tag",
        ("tag",),
        (((tag,), number) for tag, number in broken.most_common(MAX_TAGS)),
    )
    gauges.series(
        "whetstone_uncounted_verdicts",
        "Verdicts of the last seven days by accounts that are not validators",
        ("stance",),
        (((stance,), number) for (_, _, stance), number in recent.uncounted.items()),
    )
    tags = _sum_by(recent.findings, attrgetter("tag"))
    named = {tag for tag, _ in tags.most_common(MAX_TAGS)}
    gauges.series(
        "whetstone_findings",
        "Findings reported in the last seven days, by status",
        ("tag", "location", "status"),
        (
            ((labels.tag, "yes" if labels.placed else "no", labels.status.value), number)
            for labels, number in recent.findings.items()
            if labels.tag in named
        ),
    )
    if rate := overall_follow_rate(recent.observed):
        gauges.value(
            "whetstone_feedback_improvement_rate",
            "Share of feedback items of the last seven days after which quality improved",
            rate.improved.rate,
        )
        gauges.value(
            "whetstone_feedback_clarity_score",
            "Mean clarity of the feedback items of the last seven days, from 0 to 1",
            rate.mean_clarity,
        )


def _show_names(gauges: _Gauges, recent: RecentCounts) -> None:
    """Show the same by repository, and by author, reviewer or account."""
    gauges.series(
        "whetstone_author_rejections",
        "As whetstone_rejections, by repository and author",
        ("repository", "author", "tag"),
        limit_series(recent.broken.items()),
    )
    gauges.series(
        "whetstone_account_uncounted_verdicts",
        "As whetstone_uncounted_verdicts, by repository and account",
        ("repository", "account", "stance"),
        limit_series(recent.uncounted.items()),
    )
    for role in ("author", "reviewer"):
        counted = _sum_by(recent.findings, attrgetter("repository", role, "status"))
        gauges.series(
            f"whetstone_{role}_findings",
            f"As whetstone_findings, by repository and {role}",
            ("repository", role, "status"),
            limit_series(counted.items()),
        )


def _show_claims(gauges: _Gauges, reviewed: Mapping[str, tuple[ReviewerRates, ...]]) -> None:
    """Show everybody's claims together."""
    everybody = combine_reviewer_rates(rates for validators in reviewed.values() for rates in validators)
    claims, vague = everybody.claims, everybody.vague
    outcomes = ("verified", "contradicted", "unverifiable")
    counts = (((outcome,), getattr(claims, outcome)) for outcome in outcomes)
    gauges.series("whetstone_claims", "Claims by outcome", ("outcome",), counts)
    worded = ((("yes",), vague.part), (("no",), vague.whole - vague.part))
    what = "Feedback items with a written explanation"
    gauges.series("whetstone_worded_items", what, ("vague",), worded)
    for name, what in _RATES.items():
        gauges.value(f"whetstone_{name}", what, claims.figures[name])


def _show_validators(gauges: _Gauges, reviewed: Mapping[str, tuple[ReviewerRates, ...]]) -> None:
    """Show each validator's claims."""
    labels = ("repository", "validator")
    listed = [
        ((repository, rates.validator.name), rates)
        for repository, validators in reviewed.items()
        for rates in validators[:MAX_VALIDATORS]
    ]
    what = "Feedback items too vague to act on"
    vague = ((key, rates.vague.part) for key, rates in listed)
    gauges.series("whetstone_validator_vague_items", what, labels, vague)
    for name, what in _RATES.items():
        known = ((key, rates.claims.figures[name]) for key, rates in listed)
        rated = ((key, rate) for key, rate in known if rate is not None)
        gauges.series(f"whetstone_validator_{name}", what, labels, rated)


def limit_series(broken: Iterable[tuple[BrokenGateKey, int]]) -> list[tuple[BrokenGateKey, int]]:
    """Return the series of the authors and tags with the highest counts, a limited number per repository."""
    rows = list(broken)
    authors, tags = (_most(rows, label) for label in (1, 2))
    return [(key, number) for key, number in rows if key[:2] in authors and (key[0], key[2]) in tags]


def _most(rows: Iterable[tuple[BrokenGateKey, int]], label: int) -> set[tuple[str, str]]:
    by_repository: dict[str, Counter[str]] = defaultdict(Counter)
    for key, number in rows:
        by_repository[key[0]][key[label]] += number
    return {
        (where, each)
        for where, counted in by_repository.items()
        for each, _ in counted.most_common(MAX_SERIES_PER_REPOSITORY)
    }


_ERROR_NAME = regex.Regex(r"^[A-Za-z_]{1,60}:")


@cache
def _version() -> str:
    return version("whetstone-bot")


def _describe_parked(delivery: ParkedDelivery, age: float | None, *, is_operator: bool) -> dict[str, Any]:
    about = {"event": delivery.event, "attempts": delivery.attempts, "parked_seconds": age}
    if is_operator:
        return {"id": delivery.id, "lane": delivery.lane, "reason": delivery.error, **about}
    # Ids of the bot's own deliveries hold the number of a repository, and what follows an error's name
    # may quote a name.
    identity = "own delivery" if ":" in delivery.id else delivery.id
    name = _ERROR_NAME.match(delivery.error)
    return {"id": identity, "reason": name[0].rstrip(":") if name else "error", **about}


def format_age(seconds: float | None) -> str:
    """Write a number of seconds as people say it."""
    if seconds is None:
        return "never"
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}s"
    return f"{seconds:.0f} s"
