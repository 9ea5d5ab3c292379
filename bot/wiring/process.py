"""One running process: its door, its API and its worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from bot import settings as settings_of
from bot.domain.comment import Site
from bot.domain.links import Web
from bot.domain.model import PullRequest
from bot.domain.rules import Rules
from bot.ports import Delivery, StoreUnavailable
from bot.settings import Settings
from bot.wiring.basics import (
    READY_WITHIN,
    CannotStart,
    app_desk,
    github_of,
    listening,
    names_credentials,
    new_id,
    now,
    settings,
    site,
    store_trouble,
)
from bot.wiring.rule_parts import DefaultRules, default_rules, live_rule_book
from bot.wiring.setting_up import trying_routes

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from bot.adapters.meter import Meter
    from bot.adapters.store import SqlStore
    from bot.adapters.web.bodies import BodyBudget
    from bot.adapters.web.setup.guests import Guests
    from bot.engine.clock import WeekClock
    from bot.engine.pulse import Pace, Pulse
    from bot.engine.reconcile import ReconcileSchedule
    from bot.engine.rehearsal import Rehearsal
    from bot.engine.watchdog import Limits
    from bot.engine.worker import Worker


@dataclass(frozen=True, slots=True)
class Instance:
    """A running process: where it listens, and the parts that others may ask."""

    address: tuple[str, int] | None
    store: SqlStore
    worker: Worker | None
    week_clock: WeekClock | None = None

    async def settled(self) -> None:
        """Return when nothing that came in is left to be done."""
        if self.worker:
            await self.worker.settled()


@asynccontextmanager
async def running(  # noqa: PLR0913  each is one choice about the process
    configuration: Settings,
    *,
    clock: Callable[[], datetime] = now,
    serve: bool = True,
    work: bool = True,
    guests: Guests | None = None,
    store_clock: Callable[[], datetime] | None = None,
    pace: Pace | None = None,
    weekly: bool = True,
    limits: Limits | None = None,
    reconcile: ReconcileSchedule | None = None,
) -> AsyncIterator[Instance]:
    """Door and worker of one process, as long as the block runs; the store tells its own time.

    With `limits` a watchdog ends a process whose event loop is blocked for longer. With `reconcile`
    a worker has GitHub send again what it could not deliver.
    """
    from bot.adapters.meter import Meter
    from bot.adapters.store import StoreRefused, open_store
    from bot.engine.pulse import Pace, Pulse
    from bot.engine.watchdog import Watchdog

    meter, pulse = Meter(), Pulse(pace or Pace())
    async with AsyncExitStack() as stack:
        try:
            opening = open_store(
                configuration.database_url, worker=work, clock=store_clock, lease=pulse.pace.lease
            )
            store = await stack.enter_async_context(opening)
        except StoreRefused as reason:
            raise CannotStart(str(reason)) from reason
        except (StoreUnavailable, OSError) as error:
            raise CannotStart(store_trouble(configuration.database_url, error)) from error
        working = _working(configuration, store, meter, clock, pulse, weekly=weekly)
        worker, week_clock = await stack.enter_async_context(working) if work else (None, None)
        if limits:
            in_progress = worker.in_progress if worker else (lambda _task: ())
            watchdog = Watchdog(limits, in_progress, meter.loop_stalls.inc)
            stack.enter_context(watchdog.watching())
        serving = _serving(configuration, store, worker, meter, guests)
        address = await stack.enter_async_context(serving) if serve else None
        if worker:
            # While the last turns end, the door still answers, and says that it is not ready.
            stack.push_async_callback(worker.stopped)
        if worker and reconcile:
            await stack.enter_async_context(_reconciling(configuration, store, meter, worker, reconcile))
        yield Instance(address, store, worker, week_clock)


def loop_limits() -> Limits:
    """How long a server's event loop may be blocked."""
    from bot.engine.watchdog import Limits

    return Limits()


@asynccontextmanager
async def _serving(
    configuration: Settings,
    store: SqlStore,
    worker: Worker | None,
    meter: Meter,
    guests: Guests | None = None,
) -> AsyncIterator[tuple[str, int]]:
    from bot.adapters.metrics import Metrics
    from bot.adapters.web.app import application
    from bot.adapters.web.bodies import BodyBudget
    from bot.adapters.web.health import routes
    from bot.adapters.web.webhook import Door

    secrets = tuple(secret.encode() for secret in configuration.webhook_secrets)
    bodies = BodyBudget(lambda reason: meter.bodies_refused.labels(reason).inc())
    door = Door(store, secrets, events_read(), configuration.app_id, bodies=bodies)
    trying = trying_routes(configuration, guests) if guests else ()
    tags = frozenset(default_rules().gates.tags)
    metrics = Metrics(meter, store.memory, configuration.metrics_token, tags, now).routes()
    async with _api(configuration, store, bodies) as api:
        served = [*door.routes(), *routes(_Readiness(store, worker)), *trying, *metrics, *api]
        app = application(served, configuration.trusted_proxies)
        async with listening(app, configuration.host, configuration.port) as address:
            yield address


@asynccontextmanager
async def _api(configuration: Settings, store: SqlStore, bodies: BodyBudget) -> AsyncIterator[Sequence[Any]]:
    """The routes of the HTTP API, with connections of their own to GitHub."""
    from bot.adapters.github.visitors import visitors
    from bot.adapters.rule_book import ByCheckRun
    from bot.adapters.web.api.access import Access
    from bot.adapters.web.api.advice import AdviceReport
    from bot.adapters.web.api.guard import Guard
    from bot.adapters.web.api.open_doors import OpenDoors
    from bot.adapters.web.api.pulls import PullFeedback
    from bot.adapters.web.api.records import AuthorRecords
    from bot.adapters.web.api.reviews import GroundingReport
    from bot.adapters.web.api.validations import Validations
    from bot.decisions.selection import selection_report_of

    asked = visitors(configuration.api_url, configuration.graphql_url)
    # The worker waits by its lanes; a call over HTTP has none, and must heed what was written down.
    async with github_of(configuration, now, store=store) as github, asked as asking:
        guard = Guard(Access(asking), store.memory, store.pause)
        rule_book = live_rule_book(github, store, ByCheckRun(store, now), now)
        pulls = PullFeedback(
            store, store.memory, rule_book, partial(_course, site(configuration)), selection_report_of
        )
        yield [
            *AuthorRecords(store.memory, rule_book, now).routes(guard),
            *pulls.routes(guard),
            *OpenDoors(github.me, rule_book).routes(guard),
            *GroundingReport(store.memory, rule_book, now).routes(guard),
            *AdviceReport(store.memory, rule_book, now).routes(guard),
            *Validations(store, rule_book, bodies, new_id, now).routes(guard),
        ]


def _course(where: Site, known: PullRequest, rules: Rules) -> dict[str, Any]:
    """How the iterations of a pull request went, for the API."""
    from bot.decisions.briefing import feedback_log
    from bot.decisions.selection import report_of
    from bot.domain.bundle import best_tracker, feedback_history, iteration_history
    from bot.domain.grounding.audit import grounding_of

    report = report_of(known, rules)
    scored = report.trajectory.scored if report else ()
    return {
        "iteration_history": iteration_history(scored, known.tracked),
        **feedback_history(scored, rules.gates, known.tracked),
        "best_tracker": best_tracker(report.trajectory, known.repository, where.web.host_url)
        if report
        else None,
        "feedback_log": [entry.as_document() for entry in feedback_log(known)],
        "grounding": grounding_of(known.grounding, known.head, rules.grounding.catalogue),
    }


@asynccontextmanager
async def _working(  # noqa: PLR0913  the parts of a worker
    configuration: Settings,
    store: SqlStore,
    meter: Meter,
    clock: Callable[[], datetime],
    pulse: Pulse,
    *,
    weekly: bool = True,
) -> AsyncIterator[tuple[Worker, WeekClock]]:
    from bot.adapters import payloads
    from bot.adapters.meter import CountedTurns
    from bot.adapters.payloads import derived, jobs
    from bot.adapters.payloads.chores import week_delivery
    from bot.adapters.rule_book import ByCheckRun
    from bot.engine.backfill import Writing
    from bot.engine.clock import WeekClock
    from bot.engine.heads import HeadWriting
    from bot.engine.turns import Turns
    from bot.engine.worker import Worker

    async with github_of(configuration, clock, meter, pulse.is_fresh) as github:
        rule_book = live_rule_book(github, store, ByCheckRun(store, clock), clock)
        where = site(configuration)
        writing = Writing(jobs.backfill_step, derived.past)
        heads = HeadWriting(jobs.heads_step, derived.head)
        derive = derived.for_pull_request
        turns = Turns(store, github, rule_book, payloads.read, where, clock, new_id, derive, writing, heads)
        worker = Worker(store, CountedTurns(turns, meter, clock), clock, pulse=pulse)
        week_clock = WeekClock(store, rule_book, week_delivery, clock)
        running = asyncio.create_task(worker.run())
        # A command does its own job only: the calendar is the server's.
        ticking = asyncio.create_task(_once_alive(worker, week_clock.run)) if weekly else None
        try:
            yield worker, week_clock
        finally:
            if ticking:
                ticking.cancel()
            worker.stop()
            await running


@asynccontextmanager
async def _reconciling(
    configuration: Settings, store: SqlStore, meter: Meter, worker: Worker, schedule: ReconcileSchedule
) -> AsyncIterator[None]:
    from bot.engine.reconcile import Reconciler

    async with app_desk(configuration, meter, worker.pulse.is_fresh) as github:
        looking = asyncio.create_task(_once_alive(worker, Reconciler(github, store, schedule).run))
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.wait({looking})


async def _once_alive(worker: Worker, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run what may ask GitHub only once the store knows that this instance lives."""
    await worker.is_noted.wait()
    await run()


def reconcile_schedule() -> ReconcileSchedule:
    """How often a server looks for missed deliveries."""
    from bot.engine.reconcile import ReconcileSchedule

    return ReconcileSchedule()


def events_read() -> frozenset[str]:
    """The events that a delivery may be of: those that GitHub is asked for, and our own."""
    from bot.adapters.payloads import EVENTS, OWN_EVENT, UNASKED

    return EVENTS | UNASKED | {OWN_EVENT}


async def rehearse(event: str, body: bytes) -> tuple[Rehearsal, bool]:
    """What this delivery would do, and whether that rests on the payload alone."""
    from bot.adapters import payloads
    from bot.adapters.rule_book import NoMemory
    from bot.engine.rehearsal import Stage

    delivery = Delivery("dry-run", event, "", 0, body, now())
    try:
        configuration = settings()
    except settings_of.SettingsError:
        if names_credentials():
            raise
        stage = Stage(payloads.read, DefaultRules(), Site(Web()), now, new_id)
        return await stage.rehearse(delivery), True
    async with github_of(configuration, now) as github:
        rule_book = live_rule_book(github, NoMemory(), NoMemory(), now)
        stage = Stage(payloads.read, rule_book, site(configuration), now, new_id, github)
        return await stage.rehearse(delivery), False


@dataclass(frozen=True, slots=True)
class _Readiness:
    store: SqlStore
    worker: Worker | None

    async def ready(self) -> tuple[bool, dict[str, Any]]:
        """Whether the store answers and the worker is alive; GitHub being away changes nothing."""
        try:
            await self.store.next_due()
        except StoreUnavailable:
            return False, {"store": "away"}
        if self.worker is None:
            return True, {"store": "ok"}
        if self.worker.is_stopping:
            return False, {"store": "ok", "worker": "stopping"}
        alive = self.worker.beat_age < READY_WITHIN
        return alive, {"store": "ok", "worker": "ok" if alive else "stuck"}
