"""The state of the fake GitHub, its clock, and its rate limits."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

from bot.fakegithub.deliveries import WebhookSender
from bot.fakegithub.model import Account, AccountType, App, Installation, Repository
from bot.fakegithub.tokens import IssuedTokens

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


@dataclass(slots=True, eq=False)
class CallerBudget:
    """The requests that a caller has left in this hour."""

    limit: int
    reset_at: datetime
    used: int = 0
    writes: list[datetime] = field(default_factory=list)

    def as_json(self) -> dict[str, int]:
        """The budget as `GET /rate_limit` shows it."""
        left, reset = max(self.limit - self.used, 0), int(self.reset_at.timestamp())
        return {"limit": self.limit, "used": self.used, "remaining": left, "reset": reset}

    def headers(self) -> dict[str, str]:
        """The budget as the headers of every answer."""
        shown = {"resource": "core"} | {name: str(value) for name, value in self.as_json().items()}
        return {f"X-RateLimit-{name.capitalize()}": value for name, value in shown.items()}


@dataclass(slots=True, eq=False)
class RateLimits:
    """The budgets by caller: an installation, a person, or an anonymous client."""

    now: Callable[[], datetime]
    per_hour: int = 5000
    writes_per_minute: int | None = None  # GitHub's is 80; off, because a test's clock may stand still
    budgets: dict[str, CallerBudget] = field(default_factory=dict)

    def allows_write(self, caller: str) -> bool:
        """Note one more write, unless this minute has had enough of them."""
        if self.writes_per_minute is None:
            return True
        budget, now = self.of(caller), self.now()
        budget.writes = [write for write in budget.writes if write > now - _MINUTE]
        if len(budget.writes) >= self.writes_per_minute:
            return False
        budget.writes.append(now)
        return True

    def of(self, caller: str) -> CallerBudget:
        """The caller's budget of this hour."""
        now, budget = self.now(), self.budgets.get(caller)
        if budget is None or budget.reset_at <= now:
            budget = self.budgets[caller] = CallerBudget(self.per_hour, now + _HOUR)
        return budget


WorldClock = Callable[[], datetime]
Awaited = TypeVar("Awaited")

WAIT_SECONDS = 60.0
CLOCK_STEP = 0.5
"""Seconds to wait for a condition, and between two looks at the clock."""

GITHUB_API = "https://api.github.com"
GITHUB_WEB = "https://github.com"
APP_PERMISSIONS: Mapping[str, str] = {
    "actions": "read",
    "checks": "write",
    "contents": "read",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
}
APP_EVENTS = (
    "check_run",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "push",
    "repository",
    "status",
)


@dataclass(frozen=True, slots=True)
class AppRegistration:
    """What GitHub knows of the App from its registration."""

    id: int = 4242
    slug: str = "whetstone"
    public_pem: str | None = None
    webhook_secret: str = "standin-secret"  # noqa: S105  # made up: this GitHub is local
    permissions: Mapping[str, str] = field(default_factory=lambda: APP_PERMISSIONS)
    events: tuple[str, ...] = APP_EVENTS


class World:
    """The whole state: accounts, repositories, installations, and a clock."""

    sender_type = WebhookSender

    def __init__(
        self,
        registration: AppRegistration,
        *,
        webhook_url: str | None = None,
        clock: WorldClock | None = None,
    ) -> None:
        self.clock = clock or (lambda: datetime.now(UTC))
        self.api_url = GITHUB_API
        self.web_url = GITHUB_WEB
        self.logs_url = "https://productionresults.example/logs"
        self.accounts: dict[int, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.former_names: dict[str, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self._ids = itertools.count(1_000_001)
        self._waiting: list[_Waiting] = []
        self.app = self._register(registration)
        self.apps: dict[str, App] = {registration.slug: self.app}
        self.deliveries = self.sender_type(
            app=self.app,
            secret=registration.webhook_secret,
            url=webhook_url,
            now=self.now,
            new_id=self.new_id,
            changed=self.changed,
        )
        self.tokens = IssuedTokens(self.app, self.now)
        self.limits = RateLimits(self.now)
        self.manifest_codes: dict[str, str] = {}  # code → the new App's private key

    def now(self) -> datetime:
        """The time, to the second: GitHub's timestamps are no finer."""
        return self.clock().astimezone(UTC).replace(microsecond=0)

    def new_id(self) -> int:
        """A number that nothing else here has, so that one kind of id never passes for another."""
        return next(self._ids)

    def account(self, login: str | Account, kind: AccountType | None = None) -> Account:
        """The account of this login; created if there is none."""
        if isinstance(login, Account):
            return login
        account = self.find_account(login)
        if account is not None:
            return account
        created = Account(
            self.new_id(), login, kind or ("Bot" if login.endswith("[bot]") else "User"), self.now()
        )
        self.accounts[created.id] = created
        return created

    def find_account(self, login: str) -> Account | None:
        """The account of this login, in any case of letters."""
        wanted = login.casefold()
        return next(
            (account for account in self.accounts.values() if account.login.casefold() == wanted), None
        )

    def find_repository(self, full_name: str) -> Repository | None:
        """The repository that has this name now."""
        wanted = full_name.casefold()
        return next(
            (
                repository
                for repository in self.repositories.values()
                if repository.full_name.casefold() == wanted
            ),
            None,
        )

    def installation_of(self, repository: Repository) -> Installation | None:
        """The installation that covers this repository."""
        active = (installation for installation in self.installations.values() if not installation.deleted)
        return next((item for item in active if repository in item.repositories), None)

    def changed(self) -> None:
        """Check again the conditions that are waited for."""
        for waiting in tuple(self._waiting):
            waiting.look()
        self._waiting = [waiter for waiter in self._waiting if not waiter.answer.done()]

    async def until(self, condition: Callable[[], Awaited], timeout: float = WAIT_SECONDS) -> Awaited:  # noqa: ASYNC109  # asked for by each test
        """The condition's first true value; it is looked at after every change of state.

        Only the time in which this process ran is counted: one that was held up for a minute
        has waited for nobody.
        """
        waiting = _Waiting(condition, asyncio.get_running_loop().create_future())
        waiting.look()
        self._waiting.append(waiting)
        try:
            for _ in range(math.ceil(timeout / CLOCK_STEP)):
                await asyncio.wait((waiting.answer,), timeout=min(timeout, CLOCK_STEP))
                if waiting.answer.done():
                    return cast("Awaited", waiting.answer.result())
            raise TimeoutError
        finally:
            waiting.answer.cancel()  # nobody looks for one who has gone

    def _register(self, registration: AppRegistration) -> App:
        bot = self.account(f"{registration.slug}[bot]", "Bot")
        owner = self.account("whetstone-makers", "Organization")
        name = registration.slug.replace("-", " ").capitalize()
        permissions = dict(registration.permissions)
        return App(
            registration.id,
            registration.slug,
            name,
            owner,
            bot,
            registration.public_pem,
            permissions,
            registration.events,
            self.now(),
        )


@dataclass(slots=True, eq=False)
class _Waiting:
    """A condition that is waited for."""

    condition: Callable[[], object]
    answer: asyncio.Future[object]

    def look(self) -> None:
        if self.answer.done():
            return
        try:
            value = self.condition()
        except Exception as failure:  # noqa: BLE001  # the waiter gets its own mistake, whatever it is
            self.answer.set_exception(failure)
        else:
            if value:
                self.answer.set_result(value)
