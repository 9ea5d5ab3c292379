"""Endpoints: the table's row, the call that it answers, required permissions, pages of lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from bot.fakegithub.model import Account, ApiRefusal, Repository, invalid_refusal, not_found_refusal, show
from bot.fakegithub.tokens import Caller

if TYPE_CHECKING:
    from bot.fakegithub.issues import Issue
    from bot.fakegithub.pulls import PullRequest
    from bot.fakegithub.server import FakeGitHub

Item = TypeVar("Item")

REPO_ROUTE = "/repos/{owner}/{repo}"


@dataclass(frozen=True, slots=True)
class RequiredAccess:
    """Who may call: an App by its JWT, or a token with one of these permissions at this level."""

    permissions: tuple[str, ...] = ()
    level: str = "read"
    app: bool = False


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What goes back as JSON."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ApiCall:
    """One request, with its caller and its repository resolved."""

    github: FakeGitHub
    caller: Caller
    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    url: str
    path_repository: Repository | None = None

    @property
    def repository(self) -> Repository:
        """The repository in the path; refused if there is none."""
        if self.path_repository is None:
            raise not_found_refusal()
        return self.path_repository

    @property
    def actor(self) -> Account:
        """The account that acts; refused for an anonymous caller."""
        if self.caller.account is None:
            raise ApiRefusal(401, "Requires authentication")
        return self.caller.account

    @property
    def fields(self) -> dict[str, Any]:
        """The body, where it is an object."""
        if not isinstance(self.body, dict):
            raise ApiRefusal(400, "Body should be a JSON object")
        return self.body

    def find(self, things: Mapping[Any, Item], name: str) -> Item:
        """The thing with the number or the name that is in the path."""
        text = self.params[name]
        key = int(text) if text.isdecimal() and text not in things else text
        if key not in things:
            raise not_found_refusal()
        return things[key]

    @property
    def thread(self) -> Issue:
        """The issue or pull request in the path."""
        return self.find(self.repository.threads, "issue_number")

    @property
    def pull(self) -> PullRequest:
        """The pull request in the path."""
        return self.find({pull.number: pull for pull in self.github.pulls_of(self.repository)}, "pull_number")

    @property
    def since(self) -> datetime:
        """The `since` of the query."""
        return datetime.fromisoformat(self.query.get("since", "2000-01-01T00:00:00Z"))

    def text(self, name: str, resource: str) -> str:
        """A text of the body that must be there and must not be blank."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value.strip():
            raise invalid_refusal(resource, name, "missing_field")
        return value

    def cut_page(self, items: Sequence[Item]) -> tuple[Sequence[Item], Mapping[str, str]]:
        """Return the requested page, and the header that leads to the others."""
        size, number = self.page_size, max(_integer(self.query.get("page"), 1), 1)
        last = max(-(-len(items) // size), 1)
        links: dict[str, int] = {}
        if number > 1:
            links |= {"prev": number - 1, "first": 1}
        if number < last:
            links |= {"next": number + 1, "last": last}
        header = ", ".join(
            f'<{self.url}?{urlencode({**self.query, "page": to})}>; rel="{name}"'
            for name, to in links.items()
        )
        return items[(number - 1) * size : number * size], {"Link": header} if header else {}

    @property
    def page_size(self) -> int:
        """The requested number of items on a page."""
        return min(max(_integer(self.query.get("per_page"), 30), 1), 100)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint: GitHub's own path template, who may call, what is shown, and the status of the answer."""

    method: str
    path: str
    needs: RequiredAccess
    handle: Callable[[ApiCall], object]
    """Returns what is shown: one thing, or a list of which the answer has a page."""
    status: int = 200
    listed_as: str = ""
    """The field that has the list, where the answer is an object with its length."""

    def answer(self, call: ApiCall) -> ApiAnswer:
        """Carry out the call."""
        result = self.handle(call)
        if isinstance(result, ApiAnswer):
            return result
        if not isinstance(result, list | tuple):
            return ApiAnswer(show(result), self.status)
        page, headers = call.cut_page(result)
        body = {"total_count": len(result), self.listed_as: show(page)} if self.listed_as else show(page)
        return ApiAnswer(body, self.status, headers)


def requires_read(*permissions: str) -> RequiredAccess:
    """Open to a token that has one of these permissions."""
    return RequiredAccess(permissions, "read")


def requires_write(*permissions: str) -> RequiredAccess:
    """Open to a token that may write one of these."""
    return RequiredAccess(permissions, "write")


APP_ONLY = RequiredAccess(app=True)

ANYBODY = RequiredAccess()
