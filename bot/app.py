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
    from bot.store.store import Store
    from bot.web.bodies import BodyBudget
    from bot.web.setup import RegistrationPages, SetupSessions
    from bot.weekly.schedule import WeeklyScheduler


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """A running process: where it listens, and the parts that commands and tests use."""

    address: tuple[str, int] | None
    store: Store
    worker: Worker | None
    weekly_scheduler: WeeklyScheduler | None = None

    async def wait_until_idle(self) -> None:
        """Return when everything that came in is processed."""
        if self.worker:
            await self.worker.wait_until_idle()


@asynccontextmanager
async def run_instance(  # noqa: PLR0913  each is one choice about the process
    configuration: Settings,
    *,
    clock: Callable[[], datetime] = utc_now,
    serve: bool = True,
    work: bool = True,
    setup_sessions: SetupSessions | None = None,
    store_clock: Callable[[], datetime] | None = None,
    heartbeat: HeartbeatSettings | None = None,
    weekly: bool = True,
    limits: WatchdogLimits | None = None,
    reconcile: ReconcileSchedule | None = None,
) -> AsyncIterator[RunningInstance]:
    """Run the web server and the worker of one process; the store has its own clock.

    With `limits` a watchdog ends a process whose event loop is blocked for longer. With `reconcile`
    a worker asks GitHub to redeliver what it could not deliver.
    """
    from bot.inbox.heartbeat import Heartbeat, HeartbeatSettings, Watchdog
    from bot.metrics import Meter
    from bot.store.database import StoreConfigError
    from bot.store.store import open_store

    meter, beat = Meter(), Heartbeat(heartbeat or HeartbeatSettings())
    async with AsyncExitStack() as stack:
        try:
            store = await stack.enter_async_context(
                open_store(
                    configuration.database_url, worker=work, clock=store_clock, lease=beat.settings.lease
                )
            )
        except StoreConfigError as reason:
            raise CannotStart(str(reason)) from reason
        except (StoreUnavailable, OSError) as error:
            raise CannotStart(describe_store_error(configuration.database_url, error)) from error
        worker = scheduler = address = None
        if work:
            worker, scheduler = await stack.enter_async_context(
                _run_worker(configuration, store, meter, clock, beat, weekly=weekly)
            )
        if limits:
            in_progress = worker.in_progress if worker else (lambda _task: ())
            watchdog = Watchdog(limits, in_progress, meter.loop_stalls.inc)
            stack.enter_context(watchdog.watching())
        if serve:
            address = await stack.enter_async_context(
                _serve(configuration, store, worker, meter, setup_sessions)
            )
        if worker:
            # While the last turns end, the web server still answers, and reports that it is not ready.
            stack.push_async_callback(worker.wait_stopped)
        if worker and reconcile:
            await stack.enter_async_context(_reconcile(configuration, store, meter, worker, reconcile))
        yield RunningInstance(address, store, worker, scheduler)


@asynccontextmanager
async def _run_worker(  # noqa: PLR0913  the parts of a worker
    configuration: Settings,
    store: Store,
    meter: Meter,
    clock: Callable[[], datetime],
    heartbeat: Heartbeat,
    *,
    weekly: bool,
) -> AsyncIterator[tuple[Worker, WeeklyScheduler]]:
    from bot.inbox.internal_deliveries import CheckRunReporter, weekly_delivery
    from bot.inbox.processor import LaneProcessor
    from bot.inbox.runner import MeteredHandler
    from bot.inbox.worker import Worker
    from bot.weekly.schedule import WeeklyScheduler

    async with open_github(configuration, clock, meter, heartbeat.is_fresh) as github:
        rule_book = build_rule_book(github, store, CheckRunReporter(store, clock), clock)
        processor = LaneProcessor(store, github, rule_book, link_context(configuration), clock)
        worker = Worker(store, MeteredHandler(processor, meter, clock), clock, heartbeat=heartbeat)
        scheduler = WeeklyScheduler(store, rule_book, weekly_delivery, clock)
        working = asyncio.create_task(worker.run())
        # A command does its own job only: the schedule is the server's.
        scheduling = asyncio.create_task(_run_once_registered(worker, scheduler.run)) if weekly else None
        try:
            yield worker, scheduler
        finally:
            if scheduling:
                scheduling.cancel()
            worker.stop()
            await working


@asynccontextmanager
async def _reconcile(
    configuration: Settings, store: Store, meter: Meter, worker: Worker, schedule: ReconcileSchedule
) -> AsyncIterator[None]:
    from bot.inbox.reconcile import Reconciler

    async with open_app_api_from(configuration, meter, worker.heartbeat.is_fresh) as github:
        reconciler = Reconciler(github, store, schedule)
        reconciling = asyncio.create_task(_run_once_registered(worker, reconciler.run))
        try:
            yield
        finally:
            reconciling.cancel()
            await asyncio.wait({reconciling})


async def _run_once_registered(worker: Worker, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Wait until the store knows that this instance is alive, before anything calls GitHub."""
    await worker.is_registered.wait()
    await run()


@asynccontextmanager
async def _serve(
    configuration: Settings,
    store: Store,
    worker: Worker | None,
    meter: Meter,
    setup_sessions: SetupSessions | None,
) -> AsyncIterator[tuple[str, int]]:
    from bot.web.bodies import BodyBudget
    from bot.web.monitoring import Monitoring
    from bot.web.server import build_application, health_routes
    from bot.web.webhook import WebhookHandler

    secrets = tuple(secret.encode() for secret in configuration.webhook_secrets)
    bodies = BodyBudget(lambda reason: meter.bodies_refused.labels(reason).inc())
    webhook = WebhookHandler(store, secrets, accepted_events(), configuration.app_id, bodies=bodies)
    tags = frozenset(default_rules().gates.tags)
    monitoring = Monitoring(meter, store, configuration.metrics_token, tags, utc_now)
    routes = [
        *webhook.routes(),
        *health_routes(partial(_check_readiness, store, worker)),
        *monitoring.routes(),
    ]
    if setup_sessions:
        from bot.web.setup import InstallationPages

        pages = InstallationPages(setup_sessions, lambda: open_app_api_from(configuration), utc_now)
        routes += pages.routes()
    async with _api_routes(configuration, store, bodies) as api_routes:
        app = build_application([*routes, *api_routes], configuration.trusted_proxies)
        async with listen(app, configuration.host, configuration.port) as address:
            yield address


def accepted_events() -> frozenset[str]:
    """The events that a delivery may have: those of GitHub that are parsed, and the bot's own."""
    from bot.inbox.internal_deliveries import INTERNAL_EVENT
    from bot.inbox.parse import SUBSCRIBED_EVENTS, UNSUBSCRIBED_EVENTS

    return SUBSCRIBED_EVENTS | UNSUBSCRIBED_EVENTS | {INTERNAL_EVENT}


async def _check_readiness(store: Store, worker: Worker | None) -> tuple[bool, dict[str, Any]]:
    """Whether the store answers and the worker is alive; an outage of GitHub changes nothing."""
    try:
        await store.next_due()
    except StoreUnavailable:
        return False, {"store": "away"}
    if worker is None:
        return True, {"store": "ok"}
    if worker.is_stopping:
        return False, {"store": "ok", "worker": "stopping"}
    alive = worker.heartbeat_age < READY_HEARTBEAT_SECONDS
    return alive, {"store": "ok", "worker": "ok" if alive else "stuck"}


@asynccontextmanager
async def _api_routes(
    configuration: Settings, store: Store, bodies: BodyBudget
) -> AsyncIterator[Sequence[Any]]:
    """The routes of the HTTP API, with their own connections to GitHub."""
    from bot.github.user_api import open_user_api
    from bot.inbox.internal_deliveries import CheckRunReporter
    from bot.web.api.access import AccessCache, RepositoryGuard
    from bot.web.api.endpoints import PublicEndpoints, RepositoryEndpoints
    from bot.web.api.oidc import open_verifier
    from bot.web.api.validations import ValidationEndpoints

    # The worker pauses its lanes; an API call has none, so its client asks the store for pauses.
    async with (
        open_github(configuration, utc_now, store=store) as github,
        open_user_api(configuration.api_url, configuration.graphql_url) as user_api,
        open_verifier(configuration.oidc_issuer, configuration.public_url) as oidc,
    ):
        guard = RepositoryGuard(AccessCache(user_api, oidc=oidc), store)
        rule_book = build_rule_book(github, store, CheckRunReporter(store, utc_now), utc_now)
        site = link_context(configuration)
        validations = ValidationEndpoints(
            store, github, rule_book, bodies, new_id, utc_now, configuration.public_url or ""
        )
        yield [
            *RepositoryEndpoints(store, github, rule_book, site, utc_now).routes(guard),
            *PublicEndpoints(github.me).routes(),
            *validations.routes(guard),
        ]


@asynccontextmanager
async def serve_setup(
    configuration: Settings, sessions: SetupSessions, env_file: Path
) -> AsyncIterator[tuple[tuple[str, int], RegistrationPages]]:
    """Serve the pages that register the App; the credentials are saved to `env_file`."""
    from bot.github.app_api import (
        Registration,
        RegistrationRequest,
        convert_manifest_code,
        is_webhook_relay,
    )
    from bot.settings import DEFAULT_API_URL, check_writable, save_dotenv
    from bot.web.server import build_application
    from bot.web.setup import RegistrationPages

    def save(registration: Registration, request: RegistrationRequest) -> None:
        variables = {
            "GITHUB_APP_ID": str(registration.app_id),
            "GITHUB_PRIVATE_KEY": registration.private_key,
            "GITHUB_WEBHOOK_SECRET": registration.webhook_secret,
        }
        if not is_webhook_relay(request.public_url):  # a relay serves neither the API nor the schemas
            variables["PUBLIC_URL"] = request.public_url
        if configuration.api_url != DEFAULT_API_URL:
            variables["GITHUB_API_URL"] = configuration.api_url
        save_dotenv(env_file, variables)

    pages = RegistrationPages(
        sessions,
        web_url(configuration.api_url),
        lambda code: convert_manifest_code(configuration.api_url, code),
        save,
        configuration.public_url or "",
        lambda: check_writable(env_file),
    )
    app = build_application(pages.routes(), configuration.trusted_proxies)
    async with listen(app, configuration.host, configuration.port) as address:
        yield address, pages
