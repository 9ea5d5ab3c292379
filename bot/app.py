"""Compose a running instance: HTTP server, worker and scheduler on one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import settings as settings_of
from bot.gates.config import RepositoryRules
from bot.markdown.links import LinkContext
from bot.pull_request.model import PullRequest
from bot.resources import (
    READY_HEARTBEAT_SECONDS,
    CannotStart,
    describe_store_error,
    link_context,
    listen,
    new_id,
    open_app_api_from,
    open_github,
    utc_now,
    web_url,
)
from bot.settings import Settings
from bot.store.model import StoreUnavailable
from bot.turn.rule_book import build_rule_book, default_rules

if TYPE_CHECKING:
    from bot.inbox.heartbeat import Heartbeat, HeartbeatSettings, WatchdogLimits
    from bot.inbox.reconcile import ReconcileSchedule
    from bot.inbox.worker import Worker
    from bot.metrics import Meter
    from bot.turn.store import SqlStore
    from bot.web.bodies import BodyBudget
    from bot.web.setup import RegistrationPages, SetupSessions
    from bot.weekly.schedule import WeeklyScheduler


def new_setup_sessions() -> SetupSessions:
    """Nobody is let in yet; the key, which the console has to show, opens one session."""
    from bot.web.setup import SetupSessions

    return SetupSessions(utc_now)


@asynccontextmanager
async def serve_setup(
    configuration: Settings, guests: SetupSessions, kept_in: Path
) -> AsyncIterator[tuple[tuple[str, int], RegistrationPages]]:
    """The pages that register the App, as long as the block runs."""
    from bot.github.app_api import Registration, RegistrationRequest, convert_manifest_code
    from bot.settings import check_writable, save_dotenv
    from bot.web.server import build_application
    from bot.web.setup import RegistrationPages

    def kept(made: Registration, order: RegistrationRequest) -> None:
        own = (
            {}
            if configuration.api_url == settings_of.DEFAULT_API_URL
            else {"GITHUB_API_URL": configuration.api_url}
        )
        credentials = {
            "GITHUB_APP_ID": str(made.app_id),
            "GITHUB_PRIVATE_KEY": made.private_key,
            "GITHUB_WEBHOOK_SECRET": made.webhook_secret,
        }
        save_dotenv(kept_in, {**credentials, "PUBLIC_URL": order.public_url, **own})

    registering = RegistrationPages(
        guests,
        web_url(configuration.api_url),
        lambda code: convert_manifest_code(configuration.api_url, code),
        kept,
        configuration.public_url or "",
        lambda: check_writable(kept_in),
    )
    app = build_application(registering.routes(), configuration.trusted_proxies)
    async with listen(app, configuration.host, configuration.port) as address:
        yield address, registering


def installation_routes(configuration: Settings, guests: SetupSessions) -> Sequence[Any]:
    """The routes that send a test event once the App is there."""
    from bot.web.setup import InstallationPages

    return InstallationPages(guests, lambda: open_app_api_from(configuration), utc_now).routes()


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """A running process: where it listens, and the parts that others may ask."""

    address: tuple[str, int] | None
    store: SqlStore
    worker: Worker | None
    week_clock: WeeklyScheduler | None = None

    async def settled(self) -> None:
        """Return when nothing that came in is left to be done."""
        if self.worker:
            await self.worker.settled()


@asynccontextmanager
async def run_instance(  # noqa: PLR0913  each is one choice about the process
    configuration: Settings,
    *,
    clock: Callable[[], datetime] = utc_now,
    serve: bool = True,
    work: bool = True,
    guests: SetupSessions | None = None,
    store_clock: Callable[[], datetime] | None = None,
    pace: HeartbeatSettings | None = None,
    weekly: bool = True,
    limits: WatchdogLimits | None = None,
    reconcile: ReconcileSchedule | None = None,
) -> AsyncIterator[RunningInstance]:
    """Door and worker of one process, as long as the block runs; the store tells its own time.

    With `limits` a watchdog ends a process whose event loop is blocked for longer. With `reconcile`
    a worker has GitHub send again what it could not deliver.
    """
    from bot.inbox.heartbeat import Heartbeat, HeartbeatSettings, Watchdog
    from bot.metrics import Meter
    from bot.store.database import StoreConfigError
    from bot.turn.store import open_store

    meter, pulse = Meter(), Heartbeat(pace or HeartbeatSettings())
    async with AsyncExitStack() as stack:
        try:
            opening = open_store(
                configuration.database_url, worker=work, clock=store_clock, lease=pulse.pace.lease
            )
            store = await stack.enter_async_context(opening)
        except StoreConfigError as reason:
            raise CannotStart(str(reason)) from reason
        except (StoreUnavailable, OSError) as error:
            raise CannotStart(describe_store_error(configuration.database_url, error)) from error
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
        yield RunningInstance(address, store, worker, week_clock)


def watchdog_limits() -> WatchdogLimits:
    """How long a server's event loop may be blocked."""
    from bot.inbox.heartbeat import WatchdogLimits

    return WatchdogLimits()


@asynccontextmanager
async def _serving(
    configuration: Settings,
    store: SqlStore,
    worker: Worker | None,
    meter: Meter,
    guests: SetupSessions | None = None,
) -> AsyncIterator[tuple[str, int]]:
    from bot.web.bodies import BodyBudget
    from bot.web.metrics import Metrics
    from bot.web.server import build_application, health_routes
    from bot.web.webhook import WebhookHandler

    secrets = tuple(secret.encode() for secret in configuration.webhook_secrets)
    bodies = BodyBudget(lambda reason: meter.bodies_refused.labels(reason).inc())
    door = WebhookHandler(store, secrets, accepted_events(), configuration.app_id, bodies=bodies)
    trying = installation_routes(configuration, guests) if guests else ()
    tags = frozenset(default_rules().gates.tags)
    metrics = Metrics(meter, store.memory, configuration.metrics_token, tags, utc_now).routes()
    async with _api(configuration, store, bodies) as api:
        served = [*door.routes(), *health_routes(_Readiness(store, worker)), *trying, *metrics, *api]
        app = build_application(served, configuration.trusted_proxies)
        async with listen(app, configuration.host, configuration.port) as address:
            yield address


@asynccontextmanager
async def _api(configuration: Settings, store: SqlStore, bodies: BodyBudget) -> AsyncIterator[Sequence[Any]]:
    """The routes of the HTTP API, with connections of their own to GitHub."""
    from bot.github.user_api import open_user_api
    from bot.inbox.internal_deliveries import CheckRunReporter
    from bot.iterations.selection import selection_report_markdown
    from bot.web.api.access import AccessCache, RepositoryGuard
    from bot.web.api.public import PublicEndpoints
    from bot.web.api.pulls import PullRequestEndpoints, ValidationEndpoint
    from bot.web.api.reports import AdviceReport, AuthorEndpoints, GroundingReport

    asked = open_user_api(configuration.api_url, configuration.graphql_url)
    # The worker waits by its lanes; a call over HTTP has none, and must heed what was written down.
    async with open_github(configuration, utc_now, store=store) as github, asked as asking:
        guard = RepositoryGuard(AccessCache(asking), store.memory, store.pause)
        rule_book = build_rule_book(github, store, CheckRunReporter(store, utc_now), utc_now)
        pulls = PullRequestEndpoints(
            store,
            store.memory,
            rule_book,
            partial(_progress_json, link_context(configuration)),
            selection_report_markdown,
        )
        yield [
            *AuthorEndpoints(store.memory, rule_book, utc_now).routes(guard),
            *pulls.routes(guard),
            *PublicEndpoints(github.me, rule_book).routes(guard),
            *GroundingReport(store.memory, rule_book, utc_now).routes(guard),
            *AdviceReport(store.memory, rule_book, utc_now).routes(guard),
            *ValidationEndpoint(store, rule_book, bodies, new_id, utc_now).routes(guard),
        ]


def _progress_json(where: LinkContext, known: PullRequest, rules: RepositoryRules) -> dict[str, Any]:
    """How the iterations of a pull request went, for the API."""
    from bot.feedback.brief_inputs import feedback_log
    from bot.grounding.audit import grounding_report
    from bot.history.export import best_tracker, feedback_history, iteration_history
    from bot.iterations.selection import selection_report

    report = selection_report(known, rules)
    scored = report.trajectory.scored if report else ()
    return {
        "iteration_history": iteration_history(scored, known.tracked),
        **feedback_history(scored, rules.gates, known.tracked),
        "best_tracker": best_tracker(report.trajectory, known.repository, where.web.host_url)
        if report
        else None,
        "feedback_log": [entry.as_document() for entry in feedback_log(known)],
        "grounding": grounding_report(known.grounding, known.head, rules.grounding.catalogue),
    }


@asynccontextmanager
async def _working(  # noqa: PLR0913  the parts of a worker
    configuration: Settings,
    store: SqlStore,
    meter: Meter,
    clock: Callable[[], datetime],
    pulse: Heartbeat,
    *,
    weekly: bool = True,
) -> AsyncIterator[tuple[Worker, WeeklyScheduler]]:
    from bot.inbox import internal_deliveries, parse
    from bot.inbox.backfill import BackfillDeliveries, CheckBackfillDeliveries
    from bot.inbox.internal_deliveries import CheckRunReporter, weekly_delivery
    from bot.inbox.processor import LaneProcessor
    from bot.inbox.runner import MeteredHandler
    from bot.inbox.worker import Worker
    from bot.weekly.schedule import WeeklyScheduler

    async with open_github(configuration, clock, meter, pulse.is_fresh) as github:
        rule_book = build_rule_book(github, store, CheckRunReporter(store, clock), clock)
        where = link_context(configuration)
        writing = BackfillDeliveries(internal_deliveries.backfill_delivery, internal_deliveries.past_delivery)
        heads = CheckBackfillDeliveries(
            internal_deliveries.check_backfill_step_delivery, internal_deliveries.check_backfill_delivery
        )
        derive = internal_deliveries.derive_for_pull_request
        turns = LaneProcessor(
            store, github, rule_book, parse.parse_delivery, where, clock, new_id, derive, writing, heads
        )
        worker = Worker(store, MeteredHandler(turns, meter, clock), clock, pulse=pulse)
        week_clock = WeeklyScheduler(store, rule_book, weekly_delivery, clock)
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
    from bot.inbox.reconcile import Reconciler

    async with open_app_api_from(configuration, meter, worker.pulse.is_fresh) as github:
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
    from bot.inbox.reconcile import ReconcileSchedule

    return ReconcileSchedule()


def accepted_events() -> frozenset[str]:
    """The events that a delivery may be of: those that GitHub is asked for, and our own."""
    from bot.inbox.internal_deliveries import INTERNAL_EVENT
    from bot.inbox.parse import SUBSCRIBED_EVENTS, UNSUBSCRIBED_EVENTS

    return SUBSCRIBED_EVENTS | UNSUBSCRIBED_EVENTS | {INTERNAL_EVENT}


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
        alive = self.worker.beat_age < READY_HEARTBEAT_SECONDS
        return alive, {"store": "ok", "worker": "ok" if alive else "stuck"}
