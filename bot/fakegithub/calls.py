"""API calls, required permissions, answers and pagination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    Issue,
    PullRequest,
    Repository,
    invalid_refusal,
    not_found_refusal,
)
from bot.fakegithub.tokens import AppCaller, Caller, InstallationCaller, UserCaller

if TYPE_CHECKING:
    from bot.fakegithub.server import GitHubActions

PagedItem = TypeVar("PagedItem")

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

    github: GitHubActions
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
        """The account that acts; refused for an anonymous caller."""
        account = self.account
        if account is None:
            raise ApiRefusal(401, "Requires authentication")
        return account

    @property
    def fields(self) -> dict[str, Any]:
        """The body, where it is an object."""
        if not isinstance(self.body, dict):
            raise ApiRefusal(400, "Body should be a JSON object")
        return self.body

    def number(self, name: str) -> int:
        """A number in the path."""
        text = self.params[name]
        if not text.isdecimal():
            raise not_found_refusal()
        return int(text)

    def find(self, things: Mapping[int, PagedItem], name: str) -> PagedItem:
        """The thing with the number in the path."""
        thing = things.get(self.number(name))
        if thing is None:
            raise not_found_refusal()
        return thing

    @property
    def thread(self) -> Issue:
        """The issue or pull request in the path."""
        return self.find(self.repository.threads, "issue_number")

    @property
    def pull(self) -> PullRequest:
        """The pull request in the path."""
        thread = self.find(self.repository.threads, "pull_number")
        if not isinstance(thread, PullRequest):
            raise not_found_refusal()
        return thread

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


ApiHandler = Callable[[ApiCall], ApiAnswer]


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint: GitHub's own path template, who may call, and what answers."""

    method: str
    path: str
    answer: ApiHandler
    needs: RequiredAccess


def requires_read(*permissions: str) -> RequiredAccess:
    """Open to a token that has one of these permissions."""
    return RequiredAccess(permissions, "read")


def requires_write(*permissions: str) -> RequiredAccess:
    """Open to a token that may write one of these."""
    return RequiredAccess(permissions, "write")


APP_ONLY = RequiredAccess(app=True)

ANYBODY = RequiredAccess()

_DEFAULT_SIZE, _MAX_SIZE = 30, 100

ApiShape = Callable[["GitHubActions", PagedItem], object]


def show(find: Callable[[ApiCall], PagedItem], shape: ApiShape[PagedItem]) -> ApiHandler:
    """Respond with the requested object."""
    return lambda call: ApiAnswer(shape(call.github, find(call)))


def show_page(find: Callable[[ApiCall], Iterable[PagedItem]], shape: ApiShape[PagedItem]) -> ApiHandler:
    """Respond with the requested page of a list."""
    return lambda call: page_answer(call, find(call), shape)


def page_answer(call: ApiCall, items: Iterable[PagedItem], shape: ApiShape[PagedItem]) -> ApiAnswer:
    """Answer with the requested page of a list, and the addresses of the others in the `Link` header."""
    page, headers = cut_page(call, items)
    return ApiAnswer([shape(call.github, item) for item in page], headers=headers)


def cut_page(call: ApiCall, items: Iterable[PagedItem]) -> tuple[list[PagedItem], Mapping[str, str]]:
    """Return the requested page, and the header that leads to the others."""
    everything = list(items)
    size = page_size(call)
    number = max(_integer(call.query.get("page"), 1), 1)
    last = max(-(-len(everything) // size), 1)
    links: dict[str, int] = {}
    if number > 1:
        links |= {"prev": number - 1, "first": 1}
    if number < last:
        links |= {"next": number + 1, "last": last}
    header = ", ".join(f'<{_address(call, to)}>; rel="{name}"' for name, to in links.items())
    return everything[(number - 1) * size : number * size], {"Link": header} if header else {}


def page_size(call: ApiCall) -> int:
    """The requested number of items on a page."""
    return min(max(_integer(call.query.get("per_page"), _DEFAULT_SIZE), 1), _MAX_SIZE)


def _address(call: ApiCall, number: int) -> str:
    return f"{call.url}?{urlencode({**call.query, 'page': number})}"


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default
