"""What does a look at GitHub and at the store say about this installation of Whetstone?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain import diagnosis
from bot.domain.app_facts import AboutApp, Hook, Installed, Sent, Wanted
from bot.domain.diagnosis import Finding, State
from bot.ports import GitHubError, Gone

KEPT = timedelta(days=3)
"""How long GitHub keeps the list of its deliveries; a GHES keeps seven."""


class Desk(Protocol):
    """What is asked of GitHub as the App."""

    async def time(self) -> datetime | None:
        """GitHub's clock."""
        ...

    async def about(self) -> AboutApp:
        """The App as it is registered."""
        ...

    async def hook(self) -> Hook:
        """Where deliveries go."""
        ...

    async def installations(self) -> tuple[Installed, ...]:
        """Everywhere the App is installed."""
        ...

    async def installation_of(self, owner: str, name: str) -> Installed | None:
        """The installation that covers a repository."""
        ...

    async def deliveries(self, since: datetime) -> tuple[Sent, ...]:
        """What GitHub sent since then."""
        ...


@dataclass(frozen=True, slots=True)
class Examination:
    """Looks at everything that needs GitHub; one failure hides nothing behind it."""

    desk: Desk
    wanted: Wanted
    public_url: str | None
    clock: Callable[[], datetime]

    async def findings(self, repository: tuple[str, str] | None) -> tuple[Finding, ...]:
        """What was found, in the order in which it should be mended."""
        reach = await self._reach()
        if reach[0].state is State.WRONG:
            return reach
        try:
            app = await self.desk.about()
        except GitHubError as error:
            mend = "GITHUB_APP_ID and the private key must be of the same App; make a new key on its page"
            return (*reach, Finding("key", State.WRONG, f"GitHub does not take it: {error}", mend))
        return (
            *reach,
            Finding("key", State.FINE, f"GitHub takes it; the App writes as {app.login}"),
            *diagnosis.of_registration(app, self.wanted),
            *await self._installations(app, repository),
            *await _tried("webhook", self._hook),
            *await _tried("deliveries", self._deliveries),
        )

    async def _reach(self) -> tuple[Finding, ...]:
        try:
            time = await self.desk.time()
        except GitHubError as error:
            mend = "check GITHUB_API_URL, the name service and the proxy of this machine"
            return (Finding("reach", State.WRONG, f"GitHub can't be reached: {error}", mend),)
        ahead = (self.clock() - time).total_seconds() if time else None
        return (Finding("reach", State.FINE, "GitHub answers"), diagnosis.of_clock(ahead))

    async def _installations(self, app: AboutApp, repository: tuple[str, str] | None) -> tuple[Finding, ...]:
        async def looked() -> tuple[Finding, ...]:
            if repository:
                found = await self.desk.installation_of(*repository)
                installed: tuple[Installed, ...] = (found,) if found else ()
                missing = f"the App is not installed on {'/'.join(repository)}"
            else:
                installed = await self.desk.installations()
                missing = "the App is installed nowhere"
            if not installed:
                mend = f"install it: {app.url}/installations/new"
                return (Finding("installation", State.WRONG, missing, mend),)
            return tuple(f for each in installed for f in diagnosis.of_installation(each, self.wanted))

        return await _tried("installation", looked)

    async def _hook(self) -> tuple[Finding, ...]:
        return diagnosis.of_hook(await self.desk.hook(), self.public_url)

    async def _deliveries(self) -> tuple[Finding, ...]:
        return (diagnosis.of_deliveries(await self.desk.deliveries(self.clock() - KEPT)),)


async def _tried(subject: str, look: Callable[[], Awaitable[tuple[Finding, ...]]]) -> tuple[Finding, ...]:
    try:
        return await look()
    except Gone as error:
        return (Finding(subject, State.NOTE, f"GitHub shows nothing about it: {error}"),)
    except GitHubError as error:
        return (Finding(subject, State.WRONG, str(error), "try again; GitHub's status page says more"),)
