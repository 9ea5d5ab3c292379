"""What the operator's commands do, beside a running server or without one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import settings as settings_of
from bot.domain.comment import Site
from bot.domain.diagnosis import Finding, State, of_parked, of_server, of_uncounted, of_waiting
from bot.domain.links import Web
from bot.domain.model import Repository
from bot.domain.spoken import Spoken
from bot.domain.weekly import WeeklyIssue
from bot.ports import Delivery, JobFailed, Progress, StoreUnavailable
from bot.settings import Settings
from bot.wiring.basics import (
    CannotStart,
    NoStoreYet,
    app_desk,
    database_url,
    github_of,
    has_store,
    new_id,
    now,
    settings,
    store_of,
)
from bot.wiring.process import running
from bot.wiring.rule_parts import kept_rules

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from bot.adapters.store import SqlStore
    from bot.engine.jobs import Follower
    from bot.engine.reconcile import Reconciliation


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
    from bot.adapters.store.postgres import ENDS_TRANSACTIONS

    try:
        async with store_of(database_url()) as store:
            parked, known = await store.parked(), await store.recorded(repository)
            waiting, version = await store.waiting(), await store.server_version()
    except NoStoreYet as reason:
        mend = "start the server once; if it ran already, give this command its DATABASE_URL"
        return (Finding("store", State.NOTE, str(reason), mend),)
    except (CannotStart, StoreUnavailable) as error:
        mend = "check DATABASE_URL, and that the database runs and lets this user in"
        return (Finding("store", State.WRONG, str(error), mend),)
    name = "/".join(repository).lower() if repository else ""
    here = [each for each in waiting if not name or each.repository.lower() == name]
    about_store = (of_parked(len(parked)), *of_server(version, ENDS_TRANSACTIONS))
    return (*about_store, *of_waiting(here), *of_uncounted(known))


async def thread(token: str | None, repository: tuple[str, str], number: int) -> tuple[Spoken, ...]:
    """A pull request's comments, read with the caller's own token."""
    from bot.adapters.github.thread import comments

    return await comments(settings_of.load_api_url(os.environ, Path(".env")), token, repository, number)


async def tell_week(configuration: Settings, name: str) -> bool:
    """Have the running week told: by the server that runs, else here; whether a server does it."""
    async with store_of(configuration.database_url) as store:
        delivery = week_by_hand(await _known(store, name), f"weekly-{new_id()}")
    async with job(configuration, delivery) as (follower, handed_over):
        async for progress in follower.steps(delivery):
            if progress.waits_until and not handed_over:  # nobody waits here for as long as that takes
                at = f"{progress.waits_until:%H:%M} UTC"
                raise JobFailed(f"GitHub did not answer as hoped; the job is kept, to be done from {at} on")
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
    from bot.domain.own_events import BackfillDue
    from bot.engine.backfill import Writing

    where = await _installed(configuration, repository)
    delivery = jobs.backfill_step(BackfillDue(where, new_id(), since=since), now())
    if has_store(configuration.database_url):
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
    async with github_of(configuration, now) as github:
        return await github.repository(owner, name, found.id)


async def week_so_far(name: str) -> WeeklyIssue | None:
    """The summary issue as it would be now, from the store alone; None where nothing was judged."""
    from bot.engine.weeks import Weeks

    async with store_of(database_url()) as store:
        repository = await _known(store, name)
        rules = await kept_rules(store, repository)
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
        rules = await kept_rules(store, where)
        shared = rules.history.shared
        author = await store.memory.author(where.id, login, shared=shared)
        ask = ask_of(author.login if author else login, rules, now(), hours)
        identity = author.id if author else -1
        records, fixes = await store.memory.authored(where.id, needed_since(ask), identity, shared=shared)
        told = history(records, rules.gates, ask, fixes)
    text = history_text(told, Setting(where, rules.gates, Web(), is_default=False, is_terminal=True))
    return text, told.patterns.as_json()


async def everybodys_patterns(name: str, hours: int) -> dict[str, dict[str, Any]]:
    """Every author's patterns by login, from the store alone."""
    from bot.domain.judged import judged
    from bot.domain.memory import last_hours, reaches_back
    from bot.domain.patterns import all_patterns

    window = last_hours(hours, now())
    async with store_of(database_url()) as store:
        where = await _known(store, name)
        rules = await kept_rules(store, where)
        dead_after = timedelta(days=rules.history.dead_after_days)
        since = reaches_back(window.before, dead_after)
        records = await store.memory.records(where.id, since, shared=rules.history.shared)
    rows, previous = (judged(records, each, dead_after) for each in (window, window.before))
    found = all_patterns(rows, previous, rules.gates, hours)
    return {login: known.as_json() for login, known in sorted(found.items())}


async def _known(store: SqlStore, name: str) -> Repository:
    found = await store.memory.repository_named(name)
    if found is None:
        raise CannotStart(
            f"nothing is recorded about {name}: no event of it has come in yet; "
            f"whetstone backfill {name} reads its past"
        )
    return found


def week_by_hand(repository: Repository, identity: str) -> Delivery:
    """The row that has the running week of a repository told; it does not use up the clock's run."""
    from bot.adapters.payloads.chores import week_delivery

    return week_delivery(repository, "", now(), identity)


async def bundle(repository: tuple[str, str], number: int) -> dict[str, str] | None:
    """Every file of a pull request's export with its text; None where nothing is judged there."""
    from bot.decisions.selection import report_of
    from bot.domain import bundle as bundles

    async with store_of(database_url()) as store:
        newest = await store.recorded(repository, limit=1)
        known = await store.load(f"pr:{newest[0].repository.id}:{number}") if newest else None
        report = report_of(known, await kept_rules(store, known.repository)) if known else None
    if known is None or report is None:
        return None
    return bundles.files(report, known.repository, tracked=known.tracked)
