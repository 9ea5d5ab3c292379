"""`whetstone doctor`: diagnose an installation and suggest fixes."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.cli import CliCommand, terminal
from bot.cli.common import parse_repository_name
from bot.github.errors import GitHubError, NotFound
from bot.github.model import AppInfo, AppInstallation, DeliveryAttempt, RequiredPermissions, WebhookConfig
from bot.inbox.reconcile import failed_deliveries
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
_SKEW_NOTED, _SKEW_WRONG = 10, 55
"""Our JWT is dated a minute back, and GitHub takes none from its future."""


class CheckState(StrEnum):
    """How bad it is."""

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """One thing that was looked at, what was found, and what to do about it."""

    subject: str
    state: CheckState
    what: str
    mend: str = ""


def check_settings(problems: Sequence[str]) -> tuple[DoctorResult, ...]:
    """Everything that is missing or malformed."""
    if not problems:
        return (DoctorResult("settings", CheckState.FINE, "all that is needed is set"),)
    return tuple(DoctorResult("settings", CheckState.WRONG, problem, _set(problem)) for problem in problems)


def _set(problem: str) -> str:
    mend = "set it in the environment or in .env; docs/reference/settings.md says how"
    is_missing = problem.startswith("GITHUB_") and " is not set" in problem
    return f"{mend}, and whetstone serve --setup does it for you" if is_missing else mend


def check_clock(ahead: float | None) -> DoctorResult:
    """How far this machine's clock is ahead of GitHub's, in seconds."""
    if ahead is None:
        return DoctorResult("clock", CheckState.NOTE, "GitHub showed no time to compare with")
    state = CheckState.FINE if abs(ahead) <= _SKEW_NOTED else CheckState.NOTE
    if abs(ahead) > _SKEW_WRONG:
        state = CheckState.WRONG
    way = "ahead of" if ahead > 0 else "behind"
    what = (
        "as GitHub's, to a few seconds"
        if state is CheckState.FINE
        else f"{abs(ahead):.0f} s {way} GitHub's clock"
    )
    mend = (
        ""
        if state is CheckState.FINE
        else "set this machine's clock by NTP: GitHub refuses what is dated wrongly"
    )
    return DoctorResult("clock", state, what, mend)


def check_registration(app: AppInfo, wanted: RequiredPermissions) -> tuple[DoctorResult, ...]:
    """Whether the App was registered with what `app.yml` asks for."""
    mend = f"change it under Permissions & events of the App ({app.url})"
    return (
        _permissions("permissions", "the App", app.permissions, wanted, mend),
        _events(app, wanted, mend),
    )


def check_installation(installed: AppInstallation, wanted: RequiredPermissions) -> tuple[DoctorResult, ...]:
    """Whether an account granted what the App asks for."""
    where = f"the installation on {installed.account}"
    if installed.suspended:
        mend = f"un-suspend it at {installed.url}"
        return (DoctorResult("installation", CheckState.WRONG, f"{where} is suspended", mend),)
    mend = f"an owner of {installed.account} accepts the new permissions at {installed.url}"
    return (_permissions("installation", where, installed.permissions, wanted, mend),)


def check_webhook(hook: WebhookConfig, public_url: str | None) -> tuple[DoctorResult, ...]:
    """Whether deliveries go where this server is, in the form that it reads."""
    found = []
    if not hook.url:
        found.append(("the App has no webhook address", "set it to https://<this server>/webhook"))
    elif not hook.url.endswith("/webhook"):
        found.append((f"the address {hook.url} is not this bot's door", "let it end with /webhook"))
    elif public_url and hook.url != f"{public_url}/webhook":
        found.append((f"the address is {hook.url}, PUBLIC_URL is {public_url}", "make the two agree"))
    if not hook.json:
        found.append(("deliveries come as a form", "set the content type to application/json"))
    if not hook.has_secret:
        found.append(("GitHub signs nothing", "set the webhook secret to GITHUB_WEBHOOK_SECRET"))
    if not hook.checks_certificate:
        found.append(("GitHub does not check the certificate", "enable SSL verification"))
    if not found:
        return (DoctorResult("webhook", CheckState.FINE, f"deliveries go to {hook.url}"),)
    return tuple(
        DoctorResult("webhook", CheckState.WRONG, what, f"{mend}, on the App's settings page")
        for what, mend in found
    )


def check_deliveries(sent: Iterable[DeliveryAttempt]) -> DoctorResult:
    """Whether GitHub could deliver what it had to say."""
    lost = failed_deliveries(sent)
    if not lost:
        return DoctorResult("deliveries", CheckState.FINE, "every delivery of the last three days was taken")
    reasons = ", ".join(f"{status} ({n})" for status, n in Counter(s.status for s in lost).most_common(3))
    mend = "when the reason is gone: whetstone reconcile"
    return DoctorResult(
        "deliveries", CheckState.WRONG, f"{len(lost)} of the last three days failed: {reasons}", mend
    )


def check_parked(count: int) -> DoctorResult:
    """Whether deliveries were given up on."""
    if not count:
        return DoctorResult("store", CheckState.FINE, "it answers, and nothing is parked")
    mend = "whetstone parked says why; when it is mended: whetstone parked --retry all"
    parked = "1 delivery is parked" if count == 1 else f"{count} deliveries are parked"
    return DoctorResult("store", CheckState.NOTE, f"it answers; {parked}", mend)


def check_server_version(version: int | None, wanted: int) -> tuple[DoctorResult, ...]:
    """Whether a PostgreSQL of this major version lets a process that stands still hold up nobody."""
    if version is None or version >= wanted:
        return ()
    what = (
        f"PostgreSQL {version} ends no transaction that lasts: "
        "a process that is stopped in the middle of a statement holds up the others"
    )
    mend = f"move DATABASE_URL to PostgreSQL {wanted} or newer; docs/scaling.md says why"
    return (DoctorResult("store", CheckState.NOTE, what, mend),)


def check_blocked_writes(writes: Sequence[BlockedWrites]) -> tuple[DoctorResult, ...]:
    """The permissions that writes wait for."""
    mend = "an owner accepts the App's permissions on GitHub; what waits is then written by itself"
    return tuple(
        DoctorResult("writes", CheckState.WRONG, f"{_waiting(each)}: GitHub does not take it", mend)
        for each in writes
    )


def _waiting(each: BlockedWrites) -> str:
    kind = each.kind.partition(" ")[0]
    number = f"1 {kind} waits" if each.count == 1 else f"{each.count} writes of the kind {kind} wait"
    lacks = f" for the permission {each.permission}" if each.permission else ""
    return f"{number} in {each.repository}{lacks}"


def check_uncounted(pull_requests: Sequence[PullRequest]) -> tuple[DoctorResult, ...]:
    """The accounts whose rejecting reviews were not counted, with the lines that would count them."""
    if not any(pull_request.verdicts for pull_request in pull_requests):
        mend = "whetstone backfill OWNER/REPO reads what was said before the App was installed"
        return (DoctorResult("validators", CheckState.NOTE, "no review is recorded yet", mend),)
    names: Counter[tuple[str, bool]] = Counter()
    for pull_request in pull_requests:
        names.update(
            (verdict.validator.name, verdict.validator.bot)
            for verdict in pull_request.verdicts
            if not verdict.counted and verdict.stance is Stance.REJECTS
        )
    if not names:
        return (DoctorResult("validators", CheckState.FINE, "every rejecting review was counted"),)
    return tuple(_uncounted(name, count, bot=bot) for (name, bot), count in names.most_common(10))


def _uncounted(name: str, count: int, *, bot: bool) -> DoctorResult:
    reviews = "1 rejecting review" if count == 1 else f"{count} rejecting reviews"
    kind, listed = ("apps", name.removesuffix("[bot]")) if bot else ("users", name)
    mend = f"to count {name}, in .github/whetstone.yml: validators: {{{kind}: [{listed}]}}"
    what = f"{name} is no validator: {reviews} of {'its' if bot else 'theirs'} did not count"
    return DoctorResult("validators", CheckState.NOTE, what, mend)


def _permissions(
    subject: str, who: str, granted: object, wanted: RequiredPermissions, mend: str
) -> DoctorResult:
    has = granted if isinstance(granted, dict) else {}
    lacks = [
        f"{name}: {level}"
        for name, level in wanted.permissions.items()
        if _rank(has.get(name)) < _rank(level)
    ]
    if lacks:
        return DoctorResult(subject, CheckState.WRONG, f"{who} lacks {', '.join(lacks)}", mend)
    extra = [f"{n}: {v}" for n, v in has.items() if _rank(v) > _rank(wanted.permissions.get(n))]
    if extra:
        return DoctorResult(
            subject, CheckState.NOTE, f"{who} may do more than is needed: {', '.join(extra)}", mend
        )
    return DoctorResult(subject, CheckState.FINE, f"{who} may do exactly what app.yml says")


def _rank(level: object) -> int:
    return _LEVELS.index(level) + 1 if level in _LEVELS else 0


def _events(app: AppInfo, wanted: RequiredPermissions, mend: str) -> DoctorResult:
    lacks = sorted(set(wanted.events) - set(app.events))
    if lacks:
        return DoctorResult("events", CheckState.WRONG, f"GitHub does not tell of {', '.join(lacks)}", mend)
    return DoctorResult("events", CheckState.FINE, "GitHub tells of all that is read")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", nargs="?", help="look at this one alone")
    parser.add_argument("--json", action="store_true", help="one JSON object a finding")


def _run(arguments: argparse.Namespace) -> int:
    repository = parse_repository_name(arguments.repository) if arguments.repository else None
    findings = asyncio.run(_examined(repository))
    if arguments.json:
        for finding in findings:
            print(json.dumps(asdict(finding), ensure_ascii=False))
    else:
        terminal.print_table(("", "what", "found", "to mend it"), [_row(finding) for finding in findings])
    return 1 if any(finding.state is CheckState.WRONG for finding in findings) else 0


async def _examined(repository: tuple[str, str] | None) -> tuple[DoctorResult, ...]:
    try:
        settings = read_settings()
    except SettingsError as mistakes:
        problems = check_settings(mistakes.problems)
        about_store = any(problem.startswith("DATABASE_URL") for problem in mistakes.problems)
        return problems if about_store else (*problems, *await examine_store(repository))
    found = await examine_github(settings, repository)
    return (*check_settings(()), *found, *await examine_store(repository))


def _row(finding: DoctorResult) -> tuple[str, str, str, str]:
    return finding.state.value, finding.subject, finding.what, finding.mend


COMMAND = CliCommand(
    "doctor",
    "Say what is wrong with settings, key, clock, permissions, webhook and store, and how to mend it.",
    "whetstone doctor acme/knowledge",
    _arguments,
    _run,
)


DELIVERY_LOG_PERIOD = timedelta(days=3)
"""How long GitHub keeps the list of its deliveries; a GHES keeps seven."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """Looks at everything that needs GitHub; one failure hides nothing behind it."""

    github: GitHubAppApi
    wanted: RequiredPermissions
    public_url: str | None
    clock: Callable[[], datetime]

    async def findings(self, repository: tuple[str, str] | None) -> tuple[DoctorResult, ...]:
        """What was found, in the order in which it should be mended."""
        reach = await self._reach()
        if reach[0].state is CheckState.WRONG:
            return reach
        try:
            app = await self.github.app()
        except GitHubError as error:
            mend = "GITHUB_APP_ID and the private key must be of the same App; make a new key on its page"
            return (*reach, DoctorResult("key", CheckState.WRONG, f"GitHub does not take it: {error}", mend))
        return (
            *reach,
            DoctorResult("key", CheckState.FINE, f"GitHub takes it; the App writes as {app.login}"),
            *check_registration(app, self.wanted),
            *await self._installations(app, repository),
            *await _tried("webhook", self._hook),
            *await _tried("deliveries", self._deliveries),
        )

    async def _reach(self) -> tuple[DoctorResult, ...]:
        try:
            time = await self.github.time()
        except GitHubError as error:
            mend = "check GITHUB_API_URL, the name service and the proxy of this machine"
            return (DoctorResult("reach", CheckState.WRONG, f"GitHub can't be reached: {error}", mend),)
        ahead = (self.clock() - time).total_seconds() if time else None
        return (DoctorResult("reach", CheckState.FINE, "GitHub answers"), check_clock(ahead))

    async def _installations(
        self, app: AppInfo, repository: tuple[str, str] | None
    ) -> tuple[DoctorResult, ...]:
        async def looked() -> tuple[DoctorResult, ...]:
            if repository:
                found = await self.github.installation_of(*repository)
                installed: tuple[AppInstallation, ...] = (found,) if found else ()
                missing = f"the App is not installed on {'/'.join(repository)}"
            else:
                installed = await self.github.installations()
                missing = "the App is installed nowhere"
            if not installed:
                mend = f"install it: {app.url}/installations/new"
                return (DoctorResult("installation", CheckState.WRONG, missing, mend),)
            return tuple(f for each in installed for f in check_installation(each, self.wanted))

        return await _tried("installation", looked)

    async def _hook(self) -> tuple[DoctorResult, ...]:
        return check_webhook(await self.github.webhook_config(), self.public_url)

    async def _deliveries(self) -> tuple[DoctorResult, ...]:
        return (check_deliveries(await self.github.deliveries(self.clock() - DELIVERY_LOG_PERIOD)),)


async def _tried(
    subject: str, look: Callable[[], Awaitable[tuple[DoctorResult, ...]]]
) -> tuple[DoctorResult, ...]:
    try:
        return await look()
    except NotFound as error:
        return (DoctorResult(subject, CheckState.NOTE, f"GitHub shows nothing about it: {error}"),)
    except GitHubError as error:
        return (
            DoctorResult(subject, CheckState.WRONG, str(error), "try again; GitHub's status page says more"),
        )


async def examine_github(
    configuration: Settings, repository: tuple[str, str] | None
) -> tuple[DoctorResult, ...]:
    """What GitHub says about this App, for the operator."""
    from bot.github.app_api import required_permissions

    async with open_app_api_from(configuration) as github:
        return await Doctor(github, required_permissions(), configuration.public_url, utc_now).findings(
            repository
        )


async def examine_store(repository: tuple[str, str] | None) -> tuple[DoctorResult, ...]:
    """What the store says, for the operator."""
    from bot.store.dialects import TRANSACTION_TIMEOUT_VERSION

    try:
        async with open_existing_store(read_database_url()) as store:
            parked, known = await store.parked(), await store.load_newest(repository)
            waiting, version = await store.waiting(), await store.server_version()
    except NoStore as reason:
        mend = "start the server once; if it ran already, give this command its DATABASE_URL"
        return (DoctorResult("store", CheckState.NOTE, str(reason), mend),)
    except (CannotStart, StoreUnavailable) as error:
        mend = "check DATABASE_URL, and that the database runs and lets this user in"
        return (DoctorResult("store", CheckState.WRONG, str(error), mend),)
    name = "/".join(repository).lower() if repository else ""
    here = [each for each in waiting if not name or each.repository.lower() == name]
    about_store = (check_parked(len(parked)), *check_server_version(version, TRANSACTION_TIMEOUT_VERSION))
    return (*about_store, *check_blocked_writes(here), *check_uncounted(known))
