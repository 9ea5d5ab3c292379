"""The state of the fake GitHub: accounts, installations, budgets, its clock, and waiting for a change."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from bot.fakegithub.deliveries import Exchange, ExchangeObserver, WebhookSender
from bot.fakegithub.model import Account, AccountType, App, Installation, Repository, fields, show
from bot.fakegithub.tokens import IssuedTokens

_HOUR = timedelta(hours=1)

Actor = str | Account  # a login will do
Awaited = TypeVar("Awaited")
Item = TypeVar("Item")

WAIT_SECONDS = 60.0
CLOCK_STEP = 0.5
"""Seconds to wait for a condition, and between two looks at the clock."""

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


@dataclass(slots=True, eq=False)
class CallerBudget:
    """The requests that a caller has left in this hour."""

    limit: int
    reset_at: datetime
    used: int = 0

    def as_json(self) -> dict[str, int]:
        """The budget as `GET /rate_limit` shows it."""
        left, reset = max(self.limit - self.used, 0), int(self.reset_at.timestamp())
        return {"limit": self.limit, "used": self.used, "remaining": left, "reset": reset}

    def headers(self) -> dict[str, str]:
        """The budget as the headers of every answer."""
        shown = {"resource": "core"} | {name: str(value) for name, value in self.as_json().items()}
        return {f"X-RateLimit-{name.capitalize()}": value for name, value in shown.items()}


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
    """The whole state, and the webhooks about it."""

    sender_type = WebhookSender

    def __init__(
        self, registration: AppRegistration | None = None, *, clock: Callable[[], datetime] | None = None
    ) -> None:
        registration = registration or AppRegistration()
        self.clock = clock or (lambda: datetime.now(UTC))
        self.api_url = "https://api.github.com"
        self.graphql_url = f"{self.api_url}/graphql"
        self.web_url = GITHUB_WEB
        self.logs_url = "https://productionresults.example/logs"
        self.accounts: dict[int, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self.webhook_url: str | None = None
        self.requests: list[Exchange] = []
        self.observers: list[ExchangeObserver] = []
        self.requests_per_hour = 5000
        self._budgets: dict[str, CallerBudget] = {}
        self._ids = itertools.count(1_000_001)
        self._waiting: list[tuple[Callable[[], object], asyncio.Future[object]]] = []
        self.apps: dict[str, App] = {}
        self.app = self._register(registration)
        self.deliveries = self.sender_type(self, registration.webhook_secret)
        self.tokens = IssuedTokens(self)

    def now(self) -> datetime:
        """The time, to the second: GitHub's timestamps are no finer."""
        return self.clock().astimezone(UTC).replace(microsecond=0)

    def new_id(self) -> int:
        """A number that nothing else here has, so that one kind of id never passes for another."""
        return next(self._ids)

    def budget(self, caller: str) -> CallerBudget:
        """The caller's budget of this hour: an installation's, a person's, or all anonymous clients'."""
        now, budget = self.now(), self._budgets.get(caller)
        if budget is None or budget.reset_at <= now:
            budget = self._budgets[caller] = CallerBudget(self.requests_per_hour, now + _HOUR)
        return budget

    def account(self, login: Actor, kind: AccountType | None = None) -> Account:
        """The account of this login; created if there is none."""
        if isinstance(login, Account):
            return login
        account = self.find_account(login)
        if account is None:
            account = Account(self, login, kind or ("Bot" if login.endswith("[bot]") else "User"))
            self.accounts[account.id] = account
        return account

    def find_account(self, login: str) -> Account | None:
        """The account of this login, in any case of letters."""
        return _first(self.accounts.values(), lambda item: item.login.casefold() == login.casefold())

    def find_repository(self, full_name: str) -> Repository | None:
        """The repository that has this name now."""
        wanted = full_name.casefold()
        return _first(self.repositories.values(), lambda item: item.full_name.casefold() == wanted)

    def installation_of(self, repository: Repository) -> Installation | None:
        """The installation that covers this repository."""
        return _first(self.active_installations, lambda item: repository in item.repositories)

    @property
    def active_installations(self) -> list[Installation]:
        """Where the App is installed."""
        return [item for item in self.installations.values() if not item.deleted]

    def user_token(self, login: Actor) -> str:
        """A personal token of this account."""
        return self.tokens.for_user(self.account(login)).token

    def other_app(self, slug: str) -> App:
        """Another App by its slug; created if there is none."""
        if slug not in self.apps:
            owner, bot = self.account(f"{slug}-makers", "Organization"), self.account(f"{slug}[bot]")
            granted = {"checks": "write", "metadata": "read"}
            self.apps[slug] = App(self, slug, slug, owner, bot, None, granted, ())
        return self.apps[slug]

    def _register(self, registration: AppRegistration) -> App:
        slug = registration.slug
        bot, owner = self.account(f"{slug}[bot]"), self.account("whetstone-makers", "Organization")
        name, permissions = slug.replace("-", " ").capitalize(), dict(registration.permissions)
        app = App(self, slug, name, owner, bot, registration.public_pem, permissions, registration.events)
        app.id = registration.id
        self.apps[slug] = app
        return app

    def emit(self, event: str, repository: Repository, sender: Account, **payload: Any) -> None:
        """Send a repository's event to the App, where it is installed and wants it."""
        installed = self.installation_of(repository)
        if installed is not None and installed.suspended_at is None and event in installed.events:
            if repository.owner.type == "Organization":
                payload["organization"] = repository.owner.as_organization
            payload |= {"repository": repository, "sender": sender.or_ghost}
            payload["installation"] = fields(installed, "id node_id")
            self.deliveries.emit(event, {name: show(value) for name, value in payload.items()})
        self.changed()

    def changed(self) -> None:
        """Check again the conditions that are waited for."""
        for condition, answer in tuple(self._waiting):
            _look(condition, answer)

    async def until(self, condition: Callable[[], Awaited], timeout: float = WAIT_SECONDS) -> Awaited:  # noqa: ASYNC109  # asked for by each test
        """The condition's first true value; it is looked at after every change of state.

        Only the time in which this process ran is counted: one that was held up for a minute
        has waited for nobody.
        """
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        _look(condition, answer)
        self._waiting.append((condition, answer))
        try:
            for _ in range(math.ceil(timeout / CLOCK_STEP)):
                await asyncio.wait((answer,), timeout=min(timeout, CLOCK_STEP))
                if answer.done():
                    return cast("Awaited", answer.result())
            raise TimeoutError(f"after {timeout} s; {self._describe_last()}")
        finally:
            self._waiting.remove((condition, answer))

    def _describe_last(self) -> str:
        """Describe the last requests and webhooks."""
        requests = [f"{request.method} {request.path} {request.status}" for request in self.requests[-5:]]
        sent = [f"{item.event} {item.action} {item.status_code}" for item in self.deliveries.all[-5:]]
        return f"last requests: {', '.join(requests) or 'none'}; last webhooks: {', '.join(sent) or 'none'}"


def _first(items: Iterable[Item], is_wanted: Callable[[Item], bool]) -> Item | None:
    return next(filter(is_wanted, items), None)


def _look(condition: Callable[[], object], answer: asyncio.Future[object]) -> None:
    if answer.done():
        return
    try:
        value = condition()
    except Exception as failure:  # noqa: BLE001  # the waiter gets its own mistake, whatever it is
        answer.set_exception(failure)
    else:
        if value:
            answer.set_result(value)
