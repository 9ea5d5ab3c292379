"""Serve Prometheus metrics (`GET /metrics`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from bot.grounding.audit import GroundingRates
from bot.history.model import TimeWindow
from bot.history.rates import ReviewerRates, combine_reviewer_rates, overall_follow_rate
from bot.history.store import (
    BrokenGateKey,
    FindingLabels,
    UncountedVerdictKey,
    count_broken_gates,
    count_findings,
    count_uncounted_verdicts,
    load_item_outcomes,
    load_reviewer_rates,
)
from bot.metrics import Meter
from bot.pull_request.model import ItemOutcome
from bot.store.lanes import QueueCounts, count_queue
from bot.store.model import StoreUnavailable
from bot.store.store import Store
from bot.web.cache import SingleFlightCache
from bot.web.responses import has_token, problem_response

_MOST_TAGS = 200


def export_findings(registry: CollectorRegistry, findings: Counter[FindingLabels]) -> None:
    """Export the findings by tag, by whether their location is known, and by status."""
    what = "Findings reported in the last seven days, by status"
    gauge = Gauge("whetstone_findings", what, ["tag", "location", "status"], registry=registry)
    tags: Counter[str] = Counter()
    for labels, number in findings.items():
        tags[labels.tag] += number
    named = {tag for tag, _ in tags.most_common(_MOST_TAGS)}
    for labels, number in findings.items():
        if labels.tag in named:
            gauge.labels(labels.tag, yes_or_no(labels.placed), labels.status.value).inc(number)


def export_followup(registry: CollectorRegistry, observed: Sequence[ItemOutcome]) -> None:
    """How often the quality rose afterwards, and how clear the feedback was; nothing before that is known."""
    rate = overall_follow_rate(observed)
    if rate is None:
        return
    rose = "Share of feedback items of the last seven days after which quality improved"
    if rate.improvement_rate is not None:
        Gauge("whetstone_feedback_improvement_rate", rose, registry=registry).set(rate.improvement_rate)
    clear = "Mean clarity of the feedback items of the last seven days, from 0 to 1"
    if rate.mean_clarity is not None:
        Gauge("whetstone_feedback_clarity_score", clear, registry=registry).set(rate.mean_clarity)


def yes_or_no(holds: bool) -> str:  # noqa: FBT001  a label's value
    """Yes or no."""
    return "yes" if holds else "no"


MAX_VALIDATORS = 50
"""Series a repository: those with the most claims."""

_RATES = {
    "grounding_rate": "Share of claims needing verification that were verified",
    "hallucination_rate": "Share of claims needing verification that could not be verified",
    "verification_success_rate": "Share of checked claims that were confirmed",
    "false_claim_rate": "Share of verifiable claims that were contradicted",
}

ReviewerRatesByRepository = Mapping[str, tuple[ReviewerRates, ...]]
"""Repository → its validators."""


def export_claims(registry: CollectorRegistry, reviewed: ReviewerRatesByRepository) -> None:
    """Everybody's claims together."""
    everybody = combine_reviewer_rates(rates for validators in reviewed.values() for rates in validators)
    claims = everybody.claims
    counts = Gauge("whetstone_claims", "Claims by outcome", ["outcome"], registry=registry)
    for outcome in ("verified", "contradicted", "unverifiable"):
        counts.labels(outcome).set(getattr(claims, outcome))
    worded = Gauge(
        "whetstone_worded_items", "Feedback items with a written explanation", ["vague"], registry=registry
    )
    worded.labels("yes").set(everybody.vague.part)
    worded.labels("no").set(everybody.vague.whole - everybody.vague.part)
    for name, what in _RATES.items():
        rate = _rate(claims, name)
        if rate is not None:
            Gauge(f"whetstone_{name}", what, registry=registry).set(rate)


def export_validators(registry: CollectorRegistry, reviewed: ReviewerRatesByRepository) -> None:
    """Each validator's rates."""
    labels = ["repository", "validator"]
    vague = Gauge(
        "whetstone_validator_vague_items", "Feedback items too vague to act on", labels, registry=registry
    )
    rates = {
        name: Gauge(f"whetstone_validator_{name}", what, labels, registry=registry)
        for name, what in _RATES.items()
    }
    for repository, validators in reviewed.items():
        for validator in validators[:MAX_VALIDATORS]:
            vague.labels(repository, validator.validator.name).set(validator.vague.part)
            for name, gauge in rates.items():
                rate = _rate(validator.claims, name)
                if rate is not None:
                    gauge.labels(repository, validator.validator.name).set(rate)


def _rate(claims: GroundingRates, name: str) -> float | None:
    rate: float | None = getattr(claims, name)
    return rate


METRICS_CONTENT_TYPE = "text/plain; version=0.0.4"
METRICS_WINDOW = timedelta(days=7)
"""How far back broken gates are counted."""
CLOCK_SKEW = timedelta(minutes=5)
"""How far GitHub's clock may be ahead of ours."""
MAX_SERIES_PER_REPOSITORY = 50
"""Authors, and tags, with series of their own: one more is one less."""
METRICS_MAX_AGE = 30.0
"""Seconds for which the last days are not counted again."""
QUEUE_METRICS_MAX_AGE = 2.0
"""Seconds for which the queue is not: anybody may ask, as often as they like."""
OTHER = "other"
"""The label of what has a name that not everybody may read."""


@dataclass(frozen=True, slots=True)
class _Lately:
    """What was counted of the last seven days."""

    broken: Counter[BrokenGateKey]
    findings: Counter[FindingLabels]
    unheard: Counter[UncountedVerdictKey]
    reviewed: Mapping[str, tuple[ReviewerRates, ...]]
    observed: tuple[ItemOutcome, ...]


@dataclass(slots=True)
class Metrics:
    """Answers `GET /metrics`."""

    meter: Meter
    store: Store
    token: str | None
    tags: frozenset[str]
    """Those of the shipped packs; any other is a repository's own, or a reviewer's."""
    now: Callable[[], datetime]
    _queue: SingleFlightCache[str, QueueCounts] = field(
        default_factory=lambda: SingleFlightCache(QUEUE_METRICS_MAX_AGE)
    )
    _lately: SingleFlightCache[str, _Lately] = field(
        default_factory=lambda: SingleFlightCache(METRICS_MAX_AGE)
    )

    def routes(self) -> list[web.RouteDef]:
        """The one route."""
        return [web.get("/metrics", self.show, allow_head=False)]

    async def show(self, request: web.Request) -> web.Response:
        """Everything without names; with the token also by repository, author and a repository's own tags."""
        try:
            counts = await self._queue.get("queue", partial(self.store.read, count_queue))
            lately = await self._lately.get("lately", self._counted_lately)
        except StoreUnavailable:
            return problem_response(503, "The store is unavailable.")
        registry = CollectorRegistry()
        is_known = has_token(request, self.token)
        if not is_known:
            counts, lately = without_ids(counts), self._without_own_tags(lately)
        _show_queue(registry, counts)
        _show_reconcile(registry, counts)
        _show_tags(registry, lately.broken)
        _show_unheard(registry, lately.unheard)
        export_findings(registry, lately.findings)
        export_followup(registry, lately.observed)
        export_claims(registry, lately.reviewed)
        if is_known:
            _show_names(registry, lately.broken)
            _show_unheard_names(registry, lately.unheard)
            _show_people(registry, lately.findings)
            export_validators(registry, lately.reviewed)
        text = generate_latest(self.meter.registry) + generate_latest(registry)
        return web.Response(body=text, headers={"Content-Type": f"{METRICS_CONTENT_TYPE}; charset=utf-8"})

    async def _counted_lately(self) -> _Lately:
        now = self.now()
        window = TimeWindow(now - METRICS_WINDOW, now + CLOCK_SKEW)
        return _Lately(
            broken=await self.store.read(count_broken_gates, window),
            findings=await self.store.read(count_findings, window),
            unheard=await self.store.read(count_uncounted_verdicts, now - METRICS_WINDOW),
            reviewed=await self.store.read(load_reviewer_rates, window),
            observed=await self.store.read(load_item_outcomes, window),
        )

    def _without_own_tags(self, lately: _Lately) -> _Lately:
        broken: Counter[BrokenGateKey] = Counter()
        for (repository, author, tag), number in lately.broken.items():
            broken[repository, author, self._public(tag)] += number
        findings: Counter[FindingLabels] = Counter()
        for labels, number in lately.findings.items():
            findings[replace(labels, tag=self._public(labels.tag))] += number
        return replace(lately, broken=broken, findings=findings)

    def _public(self, tag: str) -> str:
        return tag if not tag or tag in self.tags else OTHER


def without_ids(counts: QueueCounts) -> QueueCounts:
    """The same without the ids of the bot's own deliveries: they contain the numbers of repositories."""
    crashes: Counter[tuple[str, str]] = Counter()
    for (delivery, event), number in counts.parked_crashes.items():
        crashes[OTHER if ":" in delivery else delivery, event] += number
    return replace(counts, parked_crashes=dict(crashes))


def _show_queue(registry: CollectorRegistry, counts: QueueCounts) -> None:
    deliveries = Gauge("whetstone_deliveries", "Stored deliveries", ["event", "state"], registry=registry)
    for (event, state), number in counts.deliveries.items():
        deliveries.labels(event, state).set(number)
    parked = sum(number for (_, state), number in counts.deliveries.items() if state == "parked")
    Gauge("whetstone_parked", "Parked deliveries", registry=registry).set(parked)
    what = "Crashes of the process while it handled this parked delivery alone"
    crashes = Gauge("whetstone_parked_crashes", what, ["delivery", "event"], registry=registry)
    for labels, number in counts.parked_crashes.items():
        crashes.labels(*labels).set(number)
    Gauge("whetstone_lanes", "Lanes in the store", registry=registry).set(counts.lanes)
    what = "Lanes whose last turn ended in a crash"
    Gauge("whetstone_lanes_crashed", what, registry=registry).set(counts.lanes_crashed)
    Gauge("whetstone_lanes_due", "Lanes waiting for a turn", registry=registry).set(counts.due)
    waited = "Seconds that the oldest due lane has waited"
    Gauge("whetstone_lane_wait_seconds", waited, registry=registry).set(counts.longest_due)
    outbox = Gauge("whetstone_outbox", "Pending writes to GitHub", ["state"], registry=registry)
    for state in ("ready", "sending", "withheld"):
        outbox.labels(state).set(counts.outbox.get(state, 0))


def _show_reconcile(registry: CollectorRegistry, counts: QueueCounts) -> None:
    if counts.reconciled_at is not None:
        what = "Time of the last successful check for missed deliveries, in seconds since the epoch"
        at = Gauge("whetstone_reconcile_last_run_timestamp_seconds", what, registry=registry)
        at.set(counts.reconciled_at)
    missed = Gauge("whetstone_reconcile_found", "Missed deliveries found", registry=registry)
    missed.set(counts.missed)
    what = "Redeliveries requested from GitHub"
    Gauge("whetstone_reconcile_resent", what, registry=registry).set(counts.resent)


def _show_tags(registry: CollectorRegistry, broken: Counter[BrokenGateKey]) -> None:
    tags: Counter[str] = Counter()
    for (_, _, tag), number in broken.items():
        tags[tag] += number
    what = "Pull requests of the last seven days with this tag"
    gauge = Gauge("whetstone_rejections", what, ["tag"], registry=registry)
    for tag, number in tags.most_common(200):
        gauge.labels(tag).set(number)


def _show_unheard(registry: CollectorRegistry, unheard: Counter[UncountedVerdictKey]) -> None:
    what = "Verdicts of the last seven days by accounts that are not validators"
    gauge = Gauge("whetstone_uncounted_verdicts", what, ["stance"], registry=registry)
    for (_, _, stance), number in unheard.items():
        gauge.labels(stance).inc(number)


def _show_unheard_names(registry: CollectorRegistry, unheard: Counter[UncountedVerdictKey]) -> None:
    what = "As whetstone_uncounted_verdicts, by repository and account"
    labels = ["repository", "account", "stance"]
    gauge = Gauge("whetstone_account_uncounted_verdicts", what, labels, registry=registry)
    for key, number in limit_series(unheard.items()):
        gauge.labels(*key).set(number)


def _show_people(registry: CollectorRegistry, findings: Counter[FindingLabels]) -> None:
    for role in ("author", "reviewer"):
        what = f"As whetstone_findings, by repository and {role}"
        gauge = Gauge(f"whetstone_{role}_findings", what, ["repository", role, "status"], registry=registry)
        counted: Counter[BrokenGateKey] = Counter()
        for labels, number in findings.items():
            login = labels.author if role == "author" else labels.reviewer
            counted[labels.repository, login, labels.status.value] += number
        for labelled, number in limit_series(counted.items()):
            gauge.labels(*labelled).set(number)


def _show_names(registry: CollectorRegistry, broken: Counter[BrokenGateKey]) -> None:
    what = "As whetstone_rejections, by repository and author"
    gauge = Gauge("whetstone_author_rejections", what, ["repository", "author", "tag"], registry=registry)
    for key, number in limit_series(broken.items()):
        gauge.labels(*key).set(number)


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
