"""Which concrete parts make up a running Whetstone? The only file that names them."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot import settings as settings_of
from bot.domain.check_runs import Conclusion
from bot.domain.choices import ClaimType
from bot.domain.comment import Site
from bot.domain.config_check import ConfigReport
from bot.domain.detection import DetectionRules
from bot.domain.diagnosis import Finding, State, of_parked, of_uncounted
from bot.domain.document import SCHEMA_ID
from bot.domain.gates import Gates
from bot.domain.grounding.catalogue import ClaimRule
from bot.domain.links import GITHUB, Web
from bot.domain.lint import Lint
from bot.domain.model import PullRequest, Repository
from bot.domain.rules import Rules
from bot.domain.spoken import Spoken
from bot.domain.weekly import WeeklyIssue
from bot.ports import ConfigMemory, Delivery, GitHub, JobFailed, Progress, StoreUnavailable
from bot.settings import Settings

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from bot.adapters.github.app_desk import AppDesk
    from bot.adapters.metrics import Meter
    from bot.adapters.rule_book import Broken, LiveRuleBook
    from bot.adapters.store import SqlStore
    from bot.adapters.web.setup.guests import Guests as Guests  # noqa: PLC0414  the set-up names it too
    from bot.adapters.web.setup.registering import Registering
    from bot.engine.clock import WeekClock
    from bot.engine.jobs import Follower
    from bot.engine.pulse import Pace as Pace  # noqa: PLC0414  the server's command names it too
    from bot.engine.pulse import Pulse
    from bot.engine.reconcile import Reconciliation
    from bot.engine.rehearsal import Rehearsal
    from bot.engine.worker import Worker

READY_WITHIN = 10.0
"""Seconds after which a worker that has not beaten counts as stuck."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """An identity that nothing else has."""
    return str(uuid.uuid4())


def settings() -> Settings:
    """What the environment and `.env` say."""
    return settings_of.load(os.environ, Path(".env"))


def pack(name: str) -> Gates:
    """The gates of a pack, named as in `extends`, or given as a file."""
    from bot.adapters.rule_files import load_pack, rules_directory

    shipped = rules_directory() / f"{name}.yml"
    try:
        return load_pack(shipped if shipped.is_file() and "/" not in name else Path(name))
    except OSError as missing:
        raise CannotStart(
            f"{name}: {missing.strerror}; give a file, or a pack of {shipped.parent}"
        ) from missing


def check_rule_file(path: Path, organisation: Path | None) -> str:
    """What a rule file without mistakes is; raises with everything that is wrong in it."""
    from bot.adapters.rule_files import check_file

    return check_file(path, organisation)


def lint_feedback(data: bytes, name: str) -> tuple[Lint, ...]:
    """Everything that keeps a feedback document from being acted on."""
    from bot.adapters import feedback_files, feedback_lint

    return feedback_lint.lint(feedback_files.read(data, name))


def sarif_log(findings: Sequence[Lint], name: str) -> str:
    """The findings as other tools read them."""
    from bot.adapters import sarif

    return sarif.write(findings, name)


def detection_rules() -> DetectionRules:
    """How plain words are understood, as shipped."""
    from bot.adapters.detection_rules import shipped

    return shipped()


def default_rules() -> Rules:
    """The rules of a repository that configures nothing."""
    from bot.adapters.rule_files import load_packs, merge, rules_directory
    from bot.adapters.scoring_rules import load_scoring

    rules = merge(load_packs(rules_directory()))
    grounding = replace(rules.grounding, catalogue=_claims())
    return replace(rules, scoring=load_scoring(rules_directory() / "scoring.yml"), grounding=grounding)


def _claims() -> Mapping[ClaimType, ClaimRule]:
    """What each type of claim is looked up with, as shipped."""
    from bot.adapters.grounding_rules import load_grounding
    from bot.adapters.rule_files import rules_directory

    return load_grounding(rules_directory() / "grounding.yml")


def site(configuration: Settings) -> Site:
    """Where links lead with these settings."""
    public = configuration.public_url
    schema = f"{public.rstrip('/')}/schemas/actionable-feedback.json" if public else SCHEMA_ID
    return Site(Web(web_address(configuration.api_url)), schema, public and public.rstrip("/"))


def web_address(api_url: str) -> str:
    """The pages that belong to an API's address: GHES has both on one host."""
    parts = urlsplit(api_url)
    if parts.path.rstrip("/").endswith("/api/v3"):
        return f"{parts.scheme}://{parts.netloc}"
    if parts.netloc.startswith("api.") and parts.netloc != "api.github.com":
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"
    return GITHUB


@asynccontextmanager
async def store_of(url: str) -> AsyncIterator[SqlStore]:
    """The store beside a running server: reads, accepts and retries, but takes no lanes."""
    from bot.adapters.store import open_store

    async with open_store(url, worker=False) as store:
        yield store


def database_url() -> str:
    """The store's address, for the commands that ask nothing of GitHub."""
    return settings_of.load_database_url(os.environ, Path(".env"))


def configure_log(configuration: Settings) -> None:
    """Log lines as the settings say, without any secret in them."""
    from bot.adapters import log

    log.configure(configuration.log_level, configuration.log_format, configuration.secrets)


def store_line(configuration: Settings) -> str:
    """Which store is used, and whether it survives a restart."""
    shown = settings_of.shown_database(configuration.database_url)
    if configuration.database_url.startswith("sqlite"):
        return f"Store: {shown}, a file on this machine: it survives a restart as long as the disk is kept."
    return f"Store: {shown}, PostgreSQL: it survives a restart, and several machines may share it."


class CannotStart(Exception):
    """Why this process can't begin its work, for the operator."""


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
) -> AsyncIterator[Instance]:
    """Door and worker of one process, as long as the block runs; the store tells its own time."""
    from bot.adapters.metrics import Meter
    from bot.adapters.store import StoreRefused, open_store
    from bot.engine.pulse import Pace, Pulse

    meter, pulse = Meter(), Pulse(pace or Pace())
    async with AsyncExitStack() as stack:
        try:
            opening = open_store(
                configuration.database_url, worker=work, clock=store_clock, lease=pulse.pace.lease
            )
            store = await stack.enter_async_context(opening)
        except (StoreRefused, StoreUnavailable) as reason:
            raise CannotStart(str(reason)) from reason
        working = _working(configuration, store, meter, clock, pulse, weekly=weekly)
        worker, week_clock = await stack.enter_async_context(working) if work else (None, None)
        serving = _serving(configuration, store, worker, meter, guests)
        address = await stack.enter_async_context(serving) if serve else None
        if worker:
            # While the last turns end, the door still answers, and says that it is not ready.
            stack.push_async_callback(worker.stopped)
        yield Instance(address, store, worker, week_clock)


@asynccontextmanager
async def _serving(
    configuration: Settings,
    store: SqlStore,
    worker: Worker | None,
    meter: Meter,
    guests: Guests | None = None,
) -> AsyncIterator[tuple[str, int]]:
    from bot.adapters.metrics import Metrics
    from bot.adapters.web.app import application, serving
    from bot.adapters.web.health import routes
    from bot.adapters.web.webhook import Door

    secrets = tuple(secret.encode() for secret in configuration.webhook_secrets)
    door = Door(store, secrets, events_read(), configuration.app_id)
    trying = _trying(configuration, guests) if guests else ()
    metrics = Metrics(meter, store.memory, configuration.metrics_token, now).routes()
    async with _api(configuration, store) as api:
        app = application([*door.routes(), *routes(_Readiness(store, worker)), *trying, *metrics, *api])
        async with serving(app, configuration.host, configuration.port) as address:
            yield address


@asynccontextmanager
async def _api(configuration: Settings, store: SqlStore) -> AsyncIterator[Sequence[Any]]:
    """The routes of the HTTP API, with connections of their own to GitHub."""
    from bot.adapters.github.visitors import visitors
    from bot.adapters.rule_book import ByCheckRun
    from bot.adapters.web.api.access import Access
    from bot.adapters.web.api.guard import Guard
    from bot.adapters.web.api.open_doors import OpenDoors
    from bot.adapters.web.api.pulls import PullFeedback
    from bot.adapters.web.api.records import AuthorRecords
    from bot.adapters.web.api.reviews import GroundingReport
    from bot.adapters.web.api.validations import Validations
    from bot.decisions.selection import selection_report_of

    async with _github(configuration, now) as github, visitors(configuration.api_url) as asking:
        guard = Guard(Access(asking), store.memory)
        rule_book = _rule_book(github, store, ByCheckRun(store, now), now)
        pulls = PullFeedback(
            store, store.memory, rule_book, partial(_course, site(configuration)), selection_report_of
        )
        yield [
            *AuthorRecords(store.memory, rule_book, now).routes(guard),
            *pulls.routes(guard),
            *OpenDoors(github.me, rule_book).routes(guard),
            *GroundingReport(store.memory, rule_book, now).routes(guard),
            *Validations(store, new_id, now).routes(guard),
        ]


def _course(where: Site, known: PullRequest, rules: Rules) -> dict[str, Any]:
    """How the iterations of a pull request went, for the API."""
    from bot.decisions.briefing import feedback_log
    from bot.decisions.selection import report_of
    from bot.domain.bundle import best_tracker, iteration_history
    from bot.domain.grounding.audit import grounding_of

    report = report_of(known, rules)
    scored = report.trajectory.scored if report else ()
    return {
        "iteration_history": iteration_history(scored, known.tracked),
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
    from bot.adapters.metrics import CountedTurns
    from bot.adapters.payloads import derived, jobs
    from bot.adapters.payloads.chores import week_delivery
    from bot.adapters.rule_book import ByCheckRun
    from bot.engine.backfill import Writing
    from bot.engine.clock import WeekClock
    from bot.engine.turns import Turns
    from bot.engine.worker import Worker

    async with _github(configuration, clock, meter, pulse.is_fresh) as github:
        rule_book = _rule_book(github, store, ByCheckRun(store, clock), clock)
        where = site(configuration)
        writing = Writing(jobs.backfill_step, derived.past)
        turns = Turns(
            store, github, rule_book, payloads.read, where, clock, new_id, derived.for_pull_request, writing
        )
        worker = Worker(store, CountedTurns(turns, meter, clock), clock, pulse=pulse)
        week_clock = WeekClock(store, rule_book, week_delivery, clock)
        running = asyncio.create_task(worker.run())
        # A command does its own job only: the calendar is the server's.
        ticking = asyncio.create_task(week_clock.run()) if weekly else None
        try:
            yield worker, week_clock
        finally:
            if ticking:
                ticking.cancel()
            worker.stop()
            await running


@asynccontextmanager
async def _github(
    configuration: Settings,
    clock: Callable[[], datetime],
    meter: Meter | None = None,
    may_write: Callable[[], bool] = lambda: True,
) -> AsyncIterator[GitHub]:
    from bot.adapters.github import AppKey, connect

    key = AppKey(configuration.app_id, configuration.private_key)
    tracing = [meter.tracing()] if meter else []
    urls = configuration.api_url, configuration.graphql_url
    async with connect(key, *urls, now=clock, tracing=tracing, may_write=may_write) as github:
        yield github


def without_credentials() -> Settings:
    """What the environment and `.env` say while there is no App yet."""
    return settings_of.load_without_credentials(os.environ, Path(".env"))


def new_guests() -> Guests:
    """Nobody is let in yet but who sits at this machine, or has the key of the console."""
    from bot.adapters.web.setup.guests import Guests

    return Guests(now)


@asynccontextmanager
async def setting_up(
    configuration: Settings, guests: Guests, kept_in: Path
) -> AsyncIterator[tuple[tuple[str, int], Registering]]:
    """The pages that register the App, as long as the block runs."""
    from bot.adapters.github.manifest import Order, Registration, convert
    from bot.adapters.web.app import application, serving
    from bot.adapters.web.setup.keeping import keep
    from bot.adapters.web.setup.registering import Registering

    def kept(made: Registration, order: Order) -> None:
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
        keep(kept_in, {**credentials, "PUBLIC_URL": order.public_url, **own})

    registering = Registering(
        guests,
        web_address(configuration.api_url),
        lambda code: convert(configuration.api_url, code),
        kept,
        configuration.public_url or "",
    )
    async with serving(application(registering.routes()), configuration.host, configuration.port) as address:
        yield address, registering


def _trying(configuration: Settings, guests: Guests) -> Sequence[Any]:
    from bot.adapters.web.setup.trying import Trying

    return Trying(guests, lambda: app_desk(configuration), now).routes()


@asynccontextmanager
async def app_desk(configuration: Settings) -> AsyncIterator[AppDesk]:
    """GitHub as the App itself asks it, for the operator."""
    from bot.adapters.github import AppKey
    from bot.adapters.github.app_desk import app_desk as desk_of

    key = AppKey(configuration.app_id, configuration.private_key)
    async with desk_of(key, configuration.api_url, now=now) as desk:
        yield desk


@asynccontextmanager
async def reconciliation(configuration: Settings) -> AsyncIterator[Reconciliation]:
    """What brings failed deliveries again."""
    from bot.engine.reconcile import Reconciliation

    async with app_desk(configuration) as desk:
        yield Reconciliation(desk, now)


async def examine(configuration: Settings, repository: tuple[str, str] | None) -> tuple[Finding, ...]:
    """What GitHub says about this App, for the operator."""
    from bot.adapters.github.manifest import wanted
    from bot.engine.examination import Examination

    async with app_desk(configuration) as desk:
        return await Examination(desk, wanted(), configuration.public_url, now).findings(repository)


async def examine_store(repository: tuple[str, str] | None) -> tuple[Finding, ...]:
    """What the store says, for the operator."""
    from bot.adapters.store import StoreRefused

    try:
        async with store_of(database_url()) as store:
            parked, known = await store.parked(), await store.recorded(repository)
    except (StoreRefused, StoreUnavailable, OSError) as error:
        mend = "check DATABASE_URL, and that the database runs and lets this user in"
        return (Finding("store", State.WRONG, str(error), mend),)
    return (of_parked(len(parked)), *of_uncounted(known))


async def thread(token: str | None, repository: tuple[str, str], number: int) -> tuple[Spoken, ...]:
    """A pull request's comments, read with the caller's own token."""
    from bot.adapters.github.thread import comments

    return await comments(settings_of.load_api_url(os.environ, Path(".env")), token, repository, number)


async def tell_week(configuration: Settings, name: str) -> bool:
    """Have the running week told: by the server that runs, else here; whether a server does it."""
    async with store_of(configuration.database_url) as store:
        delivery = week_by_hand(await _known(store, name), f"weekly-{new_id()}")
    async with job(configuration, delivery) as (follower, handed_over):
        async for _ in follower.steps(delivery):
            pass
    return handed_over


async def retry_parked(ids: tuple[str, ...]) -> int:
    """Have parked deliveries queued again: by the server that runs, else here; how many."""
    from bot.adapters.payloads import jobs

    delivery = jobs.retry(ids, f"retry-{new_id()}", now())
    try:
        configuration = settings()
    except settings_of.SettingsError:  # without a secret nothing can be handed over
        configuration = None
    async with store_of(database_url()) as store:
        if configuration and await _hand_over(configuration, delivery):
            async for _ in _follower(store).steps(delivery):
                pass
            return len(ids)
        return await store.retry(ids)


@asynccontextmanager
async def job(configuration: Settings, delivery: Delivery) -> AsyncIterator[tuple[Follower, bool]]:
    """A job under way, handed to the server that runs, else done here while the block lasts."""
    handed_over = await _hand_over(configuration, delivery)
    async with AsyncExitStack() as stack:
        if handed_over:
            yield _follower(await stack.enter_async_context(store_of(configuration.database_url))), True
            return
        instance = await stack.enter_async_context(running(configuration, serve=False, weekly=False))
        await instance.store.accept(delivery)
        yield _follower(instance.store), False
        await instance.settled()


async def _hand_over(configuration: Settings, delivery: Delivery) -> bool:
    from bot.adapters.web.handing_over import hand_over

    secret = configuration.webhook_secrets[0].encode()
    return await hand_over(delivery, secret, configuration.host, configuration.port)


def _follower(store: SqlStore) -> Follower:
    from bot.engine.jobs import Follower

    return Follower(store, now)


async def backfill(
    configuration: Settings, repository: tuple[str, str], since: datetime | None
) -> AsyncIterator[Progress]:
    """Have a repository's earlier pull requests read: by the server that runs, else here; how far it is."""
    from bot.adapters import payloads
    from bot.adapters.payloads import derived, jobs
    from bot.domain.events import BackfillDue
    from bot.engine.backfill import Writing

    where = await _installed(configuration, repository)
    delivery = jobs.backfill_step(BackfillDue(where, new_id(), since=since), now())
    async with store_of(configuration.database_url) as store:
        # One that was interrupted, or given up on, goes on from where it was.
        if unfinished := await store.unfinished(delivery.lane):
            delivery = unfinished.delivery
    due = payloads.read(delivery)
    if not isinstance(due, BackfillDue):
        raise JobFailed(f"{delivery.id} can't be read")
    async with job(configuration, delivery) as (follower, _):
        async for progress in follower.backfill(
            due, payloads.read, Writing(jobs.backfill_step, derived.past)
        ):
            yield progress


async def _installed(configuration: Settings, repository: tuple[str, str]) -> Repository:
    """The repository as GitHub has it; refused where the App is not installed."""
    owner, name = repository
    async with app_desk(configuration) as desk:
        found = await desk.installation_of(owner, name)
    if found is None:
        raise CannotStart(f"there is no repository {owner}/{name}, or the App is not installed in it")
    async with _github(configuration, now) as github:
        return await github.repository(owner, name, found.id)


async def week_so_far(name: str) -> WeeklyIssue | None:
    """The summary issue as it would be now, from the store alone; None where nothing was judged."""
    from bot.engine.weeks import Weeks

    async with store_of(database_url()) as store:
        repository = await _known(store, name)
        rules = await _kept_rules(store, repository)
        told = await Weeks(store.memory, None, Site(Web())).told(repository, rules, None, now())
    return told.issue


async def history_of(name: str, login: str, hours: int | None) -> tuple[str, dict[str, Any]]:
    """An author's history as text and as patterns, from the store alone."""
    from bot.domain.history import history, needed_since
    from bot.domain.history_text import history_text
    from bot.domain.history_words import Setting
    from bot.engine.commands import ask_of

    async with store_of(database_url()) as store:
        where = await _known(store, name)
        rules = await _kept_rules(store, where)
        author = await store.memory.author(where.id, login)
        ask = ask_of(author.login if author else login, rules, now(), hours)
        identity = author.id if author else -1
        records = await store.memory.records(where.id, needed_since(ask), identity)
        told = history(records, rules.gates, ask, await store.memory.fixes(where.id, identity))
    text = history_text(told, Setting(where, rules.gates, Web(), is_default=False))
    return text, told.patterns.as_json()


async def everybodys_patterns(name: str, hours: int) -> dict[str, dict[str, Any]]:
    """Every author's patterns by login, from the store alone."""
    from bot.domain.judged import judged
    from bot.domain.memory import last_hours, reaches_back
    from bot.domain.patterns import all_patterns

    window = last_hours(hours, now())
    async with store_of(database_url()) as store:
        where = await _known(store, name)
        rules = await _kept_rules(store, where)
        records = await store.memory.records(where.id, reaches_back(window.before))
    found = all_patterns(judged(records, window), judged(records, window.before), rules.gates, hours)
    return {login: known.as_json() for login, known in sorted(found.items())}


async def _known(store: SqlStore, name: str) -> Repository:
    found = await store.memory.repository_named(name)
    if found is None:
        raise CannotStart(f"nothing is recorded about {name}; give a repository as OWNER/REPO")
    return found


def week_by_hand(repository: Repository, identity: str) -> Delivery:
    """The row that has the running week of a repository told; it does not use up the clock's run."""
    from bot.adapters.payloads.chores import week_delivery

    return week_delivery(repository, "", now(), identity)


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
        stage = Stage(payloads.read, _DefaultRules(), Site(Web()), now, new_id)
        return await stage.rehearse(delivery), True
    async with _github(configuration, now) as github:
        rule_book = _rule_book(github, NoMemory(), NoMemory(), now)
        stage = Stage(payloads.read, rule_book, site(configuration), now, new_id, github)
        return await stage.rehearse(delivery), False


class _DefaultRules:
    """Every repository has the product's own rules."""

    def __init__(self) -> None:
        self._rules = default_rules()

    async def rules(self, repository: Repository) -> Rules:  # noqa: ARG002  the port names it
        return self._rules

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:  # noqa: ARG002
        return None

    async def judged(self, repository: Repository) -> ConfigReport:  # noqa: ARG002  the port names it
        return ConfigReport("", Conclusion.NEUTRAL, 0)


def _rule_book(
    github: GitHub, memory: ConfigMemory, teller: Broken, clock: Callable[[], datetime]
) -> LiveRuleBook:
    from bot.adapters.rule_book import LiveRuleBook
    from bot.adapters.rule_files import load_packs, rules_directory
    from bot.adapters.scoring_rules import load_scoring

    book = LiveRuleBook(load_packs(rules_directory()), github, memory, teller, clock)
    book.scoring = load_scoring(rules_directory() / "scoring.yml")
    book.claims = _claims()
    book.understanding = detection_rules()
    return book


async def bundle(repository: tuple[str, str], number: int) -> dict[str, str] | None:
    """Every file of a pull request's export with its text; None where nothing is judged there."""
    from bot.decisions.selection import report_of
    from bot.domain import bundle as bundles

    async with store_of(database_url()) as store:
        newest = await store.recorded(repository, limit=1)
        known = await store.load(f"pr:{newest[0].repository.id}:{number}") if newest else None
        report = report_of(known, await _kept_rules(store, known.repository)) if known else None
    if known is None or report is None:
        return None
    return bundles.files(report, known.repository, tracked=known.tracked)


async def _kept_rules(memory: ConfigMemory, repository: Repository) -> Rules:
    """The rules as last read from GitHub, which is not asked here."""
    from bot.adapters.rule_files import load_packs, rules_directory
    from bot.adapters.rule_files.config import load_config, merge

    packs = load_packs(rules_directory())
    owner = await memory.config(f"owner:{repository.installation_id}:{repository.owner.lower()}")
    own = await memory.config(f"repository:{repository.id}")
    path = ".github/whetstone.yml"
    below = load_config(owner.good, path, packs) if owner and owner.good else None
    config = load_config(own.good, path, packs, below) if own and own.good else None
    rules = merge(packs, below, config)
    grounding = replace(rules.grounding, catalogue=_claims())
    return replace(rules, scoring=default_rules().scoring, grounding=grounding)


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
