"""What is the state of this GitHub, and who waits for it to change?"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar, cast

from bot.standin.deliveries import Deliveries
from bot.standin.limits import Limits
from bot.standin.model import Account, AccountType, App, Installation, Repository
from bot.standin.tokens import Tokens

Clock = Callable[[], datetime]
Found = TypeVar("Found")

PATIENCE = 60.0
STEP = 0.5
"""Seconds that somebody waits for a condition, and that count at a time."""

GITHUB_API = "https://api.github.com"
GITHUB_WEB = "https://github.com"
PERMISSIONS: Mapping[str, str] = {
    "checks": "write",
    "contents": "read",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
}
EVENTS = (
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
class AppFacts:
    """What GitHub knows of the App from its registration."""

    id: int = 4242
    slug: str = "whetstone"
    public_pem: str | None = None
    webhook_secret: str = "standin-secret"  # noqa: S105  # made up: this GitHub is local
    permissions: Mapping[str, str] = field(default_factory=lambda: PERMISSIONS)
    events: tuple[str, ...] = EVENTS


class World:
    """The whole state: accounts, repositories, installations, and a clock."""

    def __init__(
        self, facts: AppFacts, *, webhook_url: str | None = None, clock: Clock | None = None
    ) -> None:
        self.clock = clock or (lambda: datetime.now(UTC))
        self.api_url = GITHUB_API
        self.web_url = GITHUB_WEB
        self.accounts: dict[int, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.former_names: dict[str, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self._ids = itertools.count(1_000_001)
        self._waiting: list[_Waiting] = []
        self.app = self._register(facts)
        self.apps: dict[str, App] = {facts.slug: self.app}
        self.deliveries = Deliveries(
            app=self.app,
            secret=facts.webhook_secret,
            url=webhook_url,
            now=self.now,
            new_id=self.new_id,
            changed=self.changed,
        )
        self.tokens = Tokens(self.app, self.now)
        self.limits = Limits(self.now)
        self.manifest_codes: dict[str, str] = {}  # code → the new App's private key

    def now(self) -> datetime:
        """The time, to the second: GitHub's timestamps are no finer."""
        return self.clock().astimezone(UTC).replace(microsecond=0)

    def new_id(self) -> int:
        """A number that nothing else here has, so that one kind of id never passes for another."""
        return next(self._ids)

    def account(self, login: str | Account, kind: AccountType | None = None) -> Account:
        """The account of this login; made where there is none."""
        if isinstance(login, Account):
            return login
        known = self.find_account(login)
        if known is not None:
            return known
        made = Account(
            self.new_id(), login, kind or ("Bot" if login.endswith("[bot]") else "User"), self.now()
        )
        self.accounts[made.id] = made
        return made

    def find_account(self, login: str) -> Account | None:
        """The account of this login, in any case of letters."""
        wanted = login.casefold()
        return next((each for each in self.accounts.values() if each.login.casefold() == wanted), None)

    def find_repository(self, full_name: str) -> Repository | None:
        """The repository that has this name now."""
        wanted = full_name.casefold()
        return next(
            (each for each in self.repositories.values() if each.full_name.casefold() == wanted), None
        )

    def installation_of(self, repository: Repository) -> Installation | None:
        """The installation that covers this repository."""
        living = (each for each in self.installations.values() if not each.deleted)
        return next((each for each in living if repository in each.repositories), None)

    def changed(self) -> None:
        """Let everybody who waits look again."""
        for waiting in tuple(self._waiting):
            waiting.look()
        self._waiting = [each for each in self._waiting if not each.answer.done()]

    async def until(self, condition: Callable[[], Found], timeout: float = PATIENCE) -> Found:  # noqa: ASYNC109  # asked for by each test
        """The condition's first true value; it is looked at after every change of state.

        Only the time in which this process ran is counted: one that was held up for a minute
        has waited for nobody.
        """
        waiting = _Waiting(condition, asyncio.get_running_loop().create_future())
        waiting.look()
        self._waiting.append(waiting)
        try:
            for _ in range(math.ceil(timeout / STEP)):
                await asyncio.wait((waiting.answer,), timeout=min(timeout, STEP))
                if waiting.answer.done():
                    return cast("Found", waiting.answer.result())
            raise TimeoutError
        finally:
            waiting.answer.cancel()  # nobody looks for one who has gone

    def _register(self, facts: AppFacts) -> App:
        bot = self.account(f"{facts.slug}[bot]", "Bot")
        owner = self.account("whetstone-makers", "Organization")
        name = facts.slug.replace("-", " ").capitalize()
        permissions = dict(facts.permissions)
        return App(
            facts.id, facts.slug, name, owner, bot, facts.public_pem, permissions, facts.events, self.now()
        )


class _Waiting:
    """Somebody who waits for a condition."""

    def __init__(self, condition: Callable[[], object], answer: asyncio.Future[object]) -> None:
        self.condition = condition
        self.answer = answer

    def look(self) -> None:
        if self.answer.done():
            return
        try:
            found = self.condition()
        except Exception as failure:  # noqa: BLE001  # the waiter gets its own mistake, whatever it is
            self.answer.set_exception(failure)
        else:
            if found:
                self.answer.set_result(found)
