"""`whetstone doctor`: diagnose an installation and suggest fixes."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from bot.cli import terminal
from bot.cli.common import add_repository
from bot.github.app_api import is_webhook_relay
from bot.github.errors import GitHubError, NotFound
from bot.github.model import AppInfo, AppInstallation, DeliveryAttempt, RequiredPermissions, WebhookConfig
from bot.inbox.reconcile import failed_deliveries
from bot.markdown.format import format_count
from bot.pull_request.checks import CONFIG_CHECK_NAME, GATES_CHECK_NAME
from bot.pull_request.model import PullRequest, Stance
from bot.resources import (
    CannotStart,
    NoStore,
    open_app_api_from,
    open_existing_store,
    read_database_url,
    read_settings,
    utc_now,
)
from bot.settings import Settings, SettingsError
from bot.store.model import BlockedWrites, StoreUnavailable

if TYPE_CHECKING:
    from bot.github.app_api import GitHubAppApi

_LEVELS = ("read", "write", "admin")
_SKEW_NOTE, _SKEW_ERROR = 10, 55
"""Our JWT is dated a minute back, and GitHub takes none from its future."""


class CheckState(StrEnum):
    """The result of a check, as it is printed."""

    OK = "ok"
    NOTE = "note"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """The result of one check, and how to fix what is wrong."""

    subject: str
    state: CheckState
    message: str
    fix: str = ""


def check_settings(problems: Sequence[str]) -> tuple[DoctorResult, ...]:
    """Report settings that are missing or malformed."""
    if not problems:
        return (DoctorResult("settings", CheckState.OK, "all required settings are set"),)
    return tuple(
        DoctorResult("settings", CheckState.ERROR, problem, _settings_fix(problem)) for problem in problems
    )


def _settings_fix(problem: str) -> str:
    fix = "set it in the environment or in .env (see docs/reference/settings.md)"
    is_missing = problem.startswith("GITHUB_") and " is not set" in problem
    return f"{fix}, or let whetstone serve --setup register the App" if is_missing else fix


def check_clock(ahead: float | None) -> DoctorResult:
    """Compare this machine's clock with GitHub's; `ahead` is in seconds."""
    if ahead is None:
        return DoctorResult("clock", CheckState.NOTE, "GitHub's response had no date to compare with")
    if abs(ahead) <= _SKEW_NOTE:
        return DoctorResult("clock", CheckState.OK, "in sync with GitHub's")
    state = CheckState.ERROR if abs(ahead) > _SKEW_ERROR else CheckState.NOTE
    message = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} GitHub's clock"
    fix = "synchronise this machine's clock (NTP): GitHub rejects tokens with a wrong date"
    return DoctorResult("clock", state, message, fix)


def check_registration(app: AppInfo, wanted: RequiredPermissions) -> tuple[DoctorResult, ...]:
    """Check that the App was registered with what `app.yml` asks for."""
    fix = f"change it in the App's settings under 'Permissions & events' ({app.url})"
    events = DoctorResult("events", CheckState.OK, "the App is subscribed to every event it needs")
    if lacks := sorted(set(wanted.events) - set(app.events)):
        message = f"the App is not subscribed to {', '.join(lacks)}"
        events = DoctorResult("events", CheckState.ERROR, message, fix)
    return _permissions("permissions", "the App", app.permissions, wanted, fix), events


def check_installation(
    installation: AppInstallation, wanted: RequiredPermissions
) -> tuple[DoctorResult, ...]:
    """Check that an account granted what the App asks for."""
    where = f"the installation on {installation.account}"
    if installation.suspended:
        fix = f"un-suspend it at {installation.url}"
        return (DoctorResult("installation", CheckState.ERROR, f"{where} is suspended", fix),)
    fix = f"ask an owner of {installation.account} to accept the new permissions at {installation.url}"
    return (_permissions("installation", where, installation.permissions, wanted, fix),)


def check_webhook(hook: WebhookConfig, public_url: str | None) -> tuple[DoctorResult, ...]:
    """Check that deliveries go to this server, in the form that it reads."""
    problems = []
    if not hook.url:
        problems.append(("the App has no webhook URL", "set it to https://<this server>/webhook"))
    elif not hook.url.endswith("/webhook") and not is_webhook_relay(hook.url):
        problems.append((f"the webhook URL {hook.url} is not this server's", "make it end with /webhook"))
    elif public_url and hook.url != f"{public_url}/webhook":
        problems.append((f"the webhook URL is {hook.url}, PUBLIC_URL is {public_url}", "make the two match"))
    if not hook.json:
        problems.append(("the webhook sends form data", "set the content type to application/json"))
    if not hook.has_secret:
        problems.append(("the webhook has no secret", "set it to the value of GITHUB_WEBHOOK_SECRET"))
    if not hook.checks_certificate:
        problems.append(("the webhook does not verify this server's certificate", "enable SSL verification"))
    if not problems:
        return (DoctorResult("webhook", CheckState.OK, f"deliveries go to {hook.url}"),)
    return tuple(
        DoctorResult("webhook", CheckState.ERROR, message, f"{fix} in the App's settings")
        for message, fix in problems
    )


def check_deliveries(sent: Iterable[DeliveryAttempt]) -> DoctorResult:
    """Check that GitHub could deliver its events."""
    failed = failed_deliveries(sent)
    if not failed:
        return DoctorResult("deliveries", CheckState.OK, "every delivery of the last three days was received")
    statuses = Counter(attempt.status for attempt in failed)
    reasons = ", ".join(f"{status} ({count})" for status, count in statuses.most_common(3))
    fix = "once the cause is fixed, run: whetstone reconcile"
    message = f"{len(failed)} deliveries of the last three days failed: {reasons}"
    return DoctorResult("deliveries", CheckState.ERROR, message, fix)


def check_parked(count: int) -> DoctorResult:
    """Check that no delivery is parked."""
    if not count:
        return DoctorResult("store", CheckState.OK, "available; no parked deliveries")
    fix = "see whetstone parked; once the cause is fixed, run: whetstone parked --retry all"
    parked = "1 parked delivery" if count == 1 else f"{count} parked deliveries"
    return DoctorResult("store", CheckState.NOTE, f"available; {parked}", fix)


def check_server_version(version: int | None, wanted: int) -> tuple[DoctorResult, ...]:
    """Check that this PostgreSQL ends the transactions of a stopped process."""
    if version is None or version >= wanted:
        return ()
    message = (
        f"PostgreSQL {version} has no transaction timeout: "
        "a process that stops in the middle of a statement blocks the others"
    )
    fix = f"upgrade to PostgreSQL {wanted} or newer (see docs/scaling.md)"
    return (DoctorResult("store", CheckState.NOTE, message, fix),)


def check_blocked_writes(writes: Sequence[BlockedWrites]) -> tuple[DoctorResult, ...]:
    """Report writes that wait for a permission."""
    fix = "ask an owner to accept the App's permissions on GitHub; the writes are then sent automatically"
    results = []
    for blocked in writes:
        kind = blocked.kind.partition(" ")[0]
        number = f"1 {kind} write is" if blocked.count == 1 else f"{blocked.count} {kind} writes are"
        lacks = f": the App lacks {blocked.permission}" if blocked.permission else ""
        message = f"{number} blocked in {blocked.repository}{lacks}"
        results.append(DoctorResult("writes", CheckState.ERROR, message, fix))
    return tuple(results)


def check_uncounted(pull_requests: Sequence[PullRequest]) -> tuple[DoctorResult, ...]:
    """Report accounts whose rejecting reviews were not counted, and the config that would count them."""
    if not any(pull_request.verdicts for pull_request in pull_requests):
        fix = "to import reviews from before the App was installed: whetstone backfill OWNER/REPO"
        return (DoctorResult("validators", CheckState.NOTE, "no reviews are recorded yet", fix),)
    names = _uncounted(pull_requests)
    if not names:
        return (DoctorResult("validators", CheckState.OK, "every rejecting review was counted"),)
    return tuple(_describe_uncounted(name, count, bot=bot) for (name, bot), count in names.most_common(10))


def _uncounted(pull_requests: Sequence[PullRequest]) -> Counter[tuple[str, bool]]:
    """Count the rejecting reviews that did not count, by who gave them and whether it is a bot."""
    return Counter(
        (verdict.validator.name, verdict.validator.bot)
        for pull_request in pull_requests
        for verdict in pull_request.verdicts
        if not verdict.counted and verdict.stance is Stance.REJECTS
    )


def _describe_uncounted(name: str, count: int, *, bot: bool) -> DoctorResult:
    reviews = format_count(count, "rejecting review")
    kind, listed = ("apps", name.removesuffix("[bot]")) if bot else ("users", name)
    fix = f"to count {name}, add to .github/whetstone.yml: validators: {{{kind}: [{listed}]}}"
    message = f"{name} is not a validator: {reviews} not counted"
    return DoctorResult("validators", CheckState.NOTE, message, fix)


def suggest_config(pull_requests: Sequence[PullRequest]) -> tuple[DoctorResult, ...]:
    """Print the lines of a config for the checks and reviewers that were seen and do not count yet."""
    verdicts = [verdict for pull_request in pull_requests for verdict in pull_request.verdicts]
    mapped = {verdict.validator.name for verdict in verdicts if verdict.validator.check}
    uncounted = dict.fromkeys(
        (verdict.validator.bot, verdict.validator.name.removesuffix("[bot]"))
        for verdict in verdicts
        if not (verdict.validator.check or verdict.counted) and verdict.stance is Stance.REJECTS
    )
    checks = dict.fromkeys(
        check.name
        for pull_request in pull_requests
        for revision in pull_request.revisions
        for check in revision.checks
    )
    unmapped = [name for name in checks if name not in {*mapped, GATES_CHECK_NAME, CONFIG_CHECK_NAME}]
    lines = [
        f"  {key}: [{', '.join(names)}]"
        for key, is_bot in (("users", False), ("apps", True))
        if (names := [name for bot, name in uncounted if bot is is_bot])
    ]
    if unmapped:
        listed = (f"    {json.dumps(name)}: [{_likely_tag(name)}]" for name in unmapped[:MAX_SUGGESTED])
        lines += ["  checks:", *listed]
    if not lines:
        return ()
    message = "some checks or reviewers are not in the config, so their results do not count"
    fix = "\n".join(("to count them, add to .github/whetstone.yml:", "validators:", *lines))
    return (DoctorResult("config", CheckState.NOTE, message, fix),)


MAX_SUGGESTED = 20
"""Checks that the suggested config lists."""
_LIKELY_TAGS = {
    "test": "tests_failing",
    "lint": "lint_errors",
    "type": "type_errors",
    "mypy": "type_errors",
    "format": "formatting_errors",
    "coverage": "coverage_dropped",
}


def _likely_tag(check: str) -> str:
    """Return the tag that a check most likely stands for, by its name."""
    name = check.lower()
    return next((tag for word, tag in _LIKELY_TAGS.items() if word in name), "build_failing")


def _permissions(
    subject: str, who: str, granted: Mapping[str, str], wanted: RequiredPermissions, fix: str
) -> DoctorResult:
    if lacks := _above(wanted.permissions, granted):
        return DoctorResult(subject, CheckState.ERROR, f"{who} lacks {lacks}", fix)
    if extra := _above(granted, wanted.permissions):
        return DoctorResult(
            subject, CheckState.NOTE, f"{who} has more permissions than it needs: {extra}", fix
        )
    return DoctorResult(subject, CheckState.OK, f"{who} has exactly the permissions in app.yml")


def _above(some: Mapping[str, object], others: Mapping[str, object]) -> str:
    """Name the permissions that are higher than the others."""
    higher = (name for name, level in some.items() if _rank(level) > _rank(others.get(name)))
    return ", ".join(f"{name}: {some[name]}" for name in higher)


def _rank(level: object) -> int:
    return _LEVELS.index(level) + 1 if level in _LEVELS else 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser, "check this repository only", nargs="?")
    parser.add_argument("--json", action="store_true", help="print one JSON object per check")


async def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    results = await _diagnose(arguments.repository)
    if arguments.json:
        for result in results:
            print(json.dumps(asdict(result), ensure_ascii=False))
    else:
        rows = [(result.state.value, result.subject, result.message, result.fix) for result in results]
        terminal.print_table(("", "check", "result", "fix"), rows)
    return 1 if any(result.state is CheckState.ERROR for result in results) else 0


async def _diagnose(repository: str | None) -> tuple[DoctorResult, ...]:
    try:
        settings = read_settings()
    except SettingsError as error:
        results = check_settings(error.problems)
        is_about_store = any(problem.startswith("DATABASE_URL") for problem in error.problems)
        return results if is_about_store else (*results, *await diagnose_store(repository))
    results = await _diagnose_github(settings, repository)
    return (*check_settings(()), *results, *await diagnose_store(repository))


DELIVERY_LOG_PERIOD = timedelta(days=3)
"""How long GitHub keeps the list of its deliveries; a GHES keeps seven."""


async def _diagnose_github(configuration: Settings, repository: str | None) -> tuple[DoctorResult, ...]:
    async with open_app_api_from(configuration) as github:
        return tuple([result async for result in _check_github(github, configuration.public_url, repository)])


async def _check_github(
    github: GitHubAppApi, public_url: str | None, repository: str | None
) -> AsyncIterator[DoctorResult]:
    """Check everything that needs GitHub, in the order in which it should be fixed."""
    from bot.github.app_api import required_permissions

    try:
        time = await github.time()
    except GitHubError as error:
        fix = "check GITHUB_API_URL, and this machine's DNS and proxy"
        yield DoctorResult("reach", CheckState.ERROR, f"GitHub can't be reached: {error}", fix)
        return
    yield DoctorResult("reach", CheckState.OK, "GitHub responds")
    yield check_clock((utc_now() - time).total_seconds() if time else None)
    try:
        app = await github.app()
    except GitHubError as error:
        fix = "GITHUB_APP_ID and the private key must belong to the same App; generate a new key there"
        yield DoctorResult("key", CheckState.ERROR, f"GitHub rejected it: {error}", fix)
        return
    yield DoctorResult("key", CheckState.OK, f"accepted; the App is {app.login}")
    wanted = required_permissions()
    for result in check_registration(app, wanted):
        yield result

    async def check_deliveries_lately() -> tuple[DoctorResult, ...]:
        return (check_deliveries(await github.deliveries(utc_now() - DELIVERY_LOG_PERIOD)),)

    async def check_hook() -> tuple[DoctorResult, ...]:
        return check_webhook(await github.webhook_config(), public_url)

    # One failure hides nothing behind it.
    for subject, check in (
        ("installation", partial(_check_installations, github, app, wanted, repository)),
        ("webhook", check_hook),
        ("deliveries", check_deliveries_lately),
    ):
        try:
            results = await check()
        except NotFound as error:
            message = f"GitHub has no information about it: {error}"
            results = (DoctorResult(subject, CheckState.NOTE, message),)
        except GitHubError as error:
            fix = "try again later, and check https://www.githubstatus.com"
            results = (DoctorResult(subject, CheckState.ERROR, str(error), fix),)
        for result in results:
            yield result


async def _check_installations(
    github: GitHubAppApi, app: AppInfo, wanted: RequiredPermissions, repository: str | None
) -> tuple[DoctorResult, ...]:
    if repository:
        installation = await github.installation_of(*repository.split("/"))
        installations: tuple[AppInstallation, ...] = (installation,) if installation else ()
    else:
        installations = await github.installations()
    if not installations:
        missing = f"the App is not installed {f'on {repository}' if repository else 'anywhere'}"
        fix = f"install it: {app.url}/installations/new"
        return (DoctorResult("installation", CheckState.ERROR, missing, fix),)
    return tuple(result for one in installations for result in check_installation(one, wanted))


async def diagnose_store(repository: str | None) -> tuple[DoctorResult, ...]:
    """Check the store: whether it answers, what is parked or blocked, which reviews did not count."""
    from bot.store.database import load_server_version
    from bot.store.deliveries import load_parked
    from bot.store.dialects import TRANSACTION_TIMEOUT_VERSION
    from bot.store.outbox import load_blocked_writes
    from bot.store.pull_requests import load_newest_pull_requests

    owner, _, name = (repository or "").partition("/")
    try:
        async with open_existing_store(read_database_url()) as store:
            parked = await store.read(load_parked)
            pull_requests = await store.read(load_newest_pull_requests, (owner, name) if repository else None)
            blocked = await store.read(load_blocked_writes)
            version = await store.read(load_server_version)
    except NoStore as reason:
        fix = "start the server once; if it has run before, set the same DATABASE_URL here"
        return (DoctorResult("store", CheckState.NOTE, str(reason), fix),)
    except (CannotStart, StoreUnavailable) as error:
        fix = "check DATABASE_URL, and that the database is running and accepts this user"
        return (DoctorResult("store", CheckState.ERROR, str(error), fix),)
    blocked_here = [
        writes for writes in blocked if not repository or writes.repository.lower() == repository.lower()
    ]
    results = (check_parked(len(parked)), *check_server_version(version, TRANSACTION_TIMEOUT_VERSION))
    suggested = suggest_config(pull_requests) if repository else ()
    return (*results, *check_blocked_writes(blocked_here), *check_uncounted(pull_requests), *suggested)
