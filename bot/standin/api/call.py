"""What was asked of which endpoint, and what is answered?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.standin.github import GitHub
from bot.standin.model import Account, Issue, PullRequest, Repository
from bot.standin.refusal import Refused, invalid, not_found
from bot.standin.tokens import AppCaller, Caller, InstallationCaller, UserCaller

REPO = "/repos/{owner}/{repo}"


@dataclass(frozen=True, slots=True)
class Needs:
    """Who may call: an App by its JWT, or a token with one of these permissions at this level."""

    permissions: tuple[str, ...] = ()
    level: str = "read"
    app: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: JSON, or bytes with a media type of their own."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass(slots=True)
class Call:
    """One request, with its caller and its repository found."""

    github: GitHub
    caller: Caller
    params: Mapping[str, str]
    query: Mapping[str, str]
    accept: str
    body: Any
    url: str
    found: Repository | None = None

    @property
    def repository(self) -> Repository:
        """The repository in the path."""
        if self.found is None:
            raise not_found()
        return self.found

    @property
    def account(self) -> Account | None:
        """The account that acts: the person, or the App's bot."""
        match self.caller:
            case InstallationCaller(installation=installation):
                return installation.app.bot
            case UserCaller(account=account):
                return account
            case AppCaller(app=app):
                return app.bot
            case _:
                return None

    @property
    def actor(self) -> Account:
        """The account that acts; nobody may not."""
        account = self.account
        if account is None:
            raise Refused(401, "Requires authentication")
        return account

    @property
    def fields(self) -> dict[str, Any]:
        """The body, where it is an object."""
        if not isinstance(self.body, dict):
            raise Refused(400, "Body should be a JSON object")
        return self.body

    def number(self, name: str) -> int:
        """A number in the path."""
        text = self.params[name]
        if not text.isdecimal():
            raise not_found()
        return int(text)

    @property
    def thread(self) -> Issue:
        """The issue or pull request in the path."""
        found = self.repository.threads.get(self.number("issue_number"))
        if found is None:
            raise not_found()
        return found

    @property
    def pull(self) -> PullRequest:
        """The pull request in the path."""
        found = self.repository.threads.get(self.number("pull_number"))
        if not isinstance(found, PullRequest):
            raise not_found()
        return found

    def since(self) -> datetime | None:
        """The `since` of the query."""
        text = self.query.get("since")
        return None if text is None else datetime.fromisoformat(text)

    def text(self, name: str, resource: str) -> str:
        """A text of the body that must be there and must not be blank."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value.strip():
            raise invalid(resource, name, "missing_field")
        return value


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint: GitHub's own path template, who may call, and what answers."""

    method: str
    path: str
    answer: Handler
    needs: Needs


def reads(*permissions: str) -> Needs:
    """Open to a token that has one of these permissions."""
    return Needs(permissions, "read")


def writes(*permissions: str) -> Needs:
    """Open to a token that may write one of these."""
    return Needs(permissions, "write")


BY_APP = Needs(app=True)
BY_ANYBODY = Needs()
