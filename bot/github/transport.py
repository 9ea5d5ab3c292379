"""Send one request to GitHub: redirects, conditional requests, error mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import inf
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import aiohttp
import gidgethub
from cachetools import LRUCache
from gidgethub.aiohttp import GitHubAPI
from yarl import URL

from bot import regex
from bot.github.errors import (
    ApiRequest,
    ErrorMapper,
    GitHubUnavailable,
    HttpAnswer,
    NotFound,
    describe_connection_error,
)
from bot.store.model import LaneFenced

REPO_PATH = "/repos/{owner}/{repo}"


def has_dot_segment(text: str) -> bool:
    """Whether the text has a `.` or `..` segment, which would lead a path to another endpoint."""
    return any(part in {".", ".."} for part in text.split("/"))


@dataclass(frozen=True, slots=True)
class InstallationToken:
    """An installation's access token, and when it expires."""

    value: str = field(repr=False)
    expires_at: datetime


USER_AGENT = "whetstone-bot"
ACCEPT_HEADER = "application/vnd.github+json"
_VERSION = {"x-github-api-version": "2022-11-28"}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HOPS = 5
_PAGES = 100
_CHUNK = 64 * 1024
_LONGEST_TEXT = 64 * 1024 * 1024
"""Bytes of a text of which only the end is wanted; GitHub can't be asked for the end alone."""
_CACHE_BYTES = 16 * 1024 * 1024

_LAST_PAGE = regex.Regex(r'[?&]page=(\d{1,9})[^>,]*>;\s*rel="last"')

_CacheKey = tuple[int, int, str, str]
"""Installation, repository, URL, accepted type: two installations never share an answer."""


RequestCounter = Callable[[int, str, str, Mapping[str, str]], None]
"""Counts a request: its installation, method, status or error, and the headers of its response."""


@dataclass(frozen=True, slots=True)
class Transport:
    """What all requests of a client share."""

    session: aiohttp.ClientSession
    api_url: str
    graphql_url: str
    errors: ErrorMapper
    cache: LRUCache[_CacheKey, HttpAnswer]
    may_write: Callable[[], bool] = lambda: True
    count: RequestCounter | None = None

    @property
    def trusted_origins(self) -> frozenset[str]:
        """The origins that may receive the credentials."""
        return _origins(self.api_url, self.graphql_url)


def response_cache(limit: int = _CACHE_BYTES) -> LRUCache[_CacheKey, HttpAnswer]:
    """A cache of answers with an ETag, limited in bytes."""
    return LRUCache(limit, getsizeof=lambda answer: len(answer.body) + 2048)


class GitHubRequester(GitHubAPI):
    """gidgethub for one request; every failure is raised as a `GitHubError`."""

    def __init__(
        self,
        transport: Transport,
        request: ApiRequest,
        token: InstallationToken | None = None,
        jwt: str | None = None,
    ) -> None:
        super().__init__(
            transport.session,
            USER_AGENT,
            oauth_token=token.value if token else None,
            base_url=transport.api_url,
        )
        self._transport = transport
        self._api_request = request
        self._what = request.what
        self._jwt = jwt
        self._last = HttpAnswer(0, {}, b"")
        self._tail = 0  # bytes at the end of an answer that are kept; 0 for all

    async def get(self, url: str) -> Any:
        """What is at a URL."""
        content, _ = await self._call("GET", url)
        return content

    async def tail(self, url: str, size: int) -> str:
        """GET a text of which only the end is kept, however long it is."""
        self._tail = size
        text = await self.get(url)
        return text if isinstance(text, str) else ""

    async def items(self, url: str, limit: int | None = None) -> list[Any]:
        """The items of a list over all its pages, or the first `limit` of them."""
        found: list[Any] = []
        following: str | None = url
        for _ in range(_PAGES):
            if following is None or len(found) >= (limit or inf):
                return found
            page, following = await self.page(following)
            found += page
        raise GitHubUnavailable(f"{self._what}: the list has too many pages")

    async def page(self, url: str, name: str = "") -> tuple[list[Any], str | None]:
        """One page of a list, or of a list that is a named field of the answer, and the next page's URL."""
        # gidgethub's own paging would take an object for a list of its keys.
        page, following = await self._call("GET", url)
        found = page.get(name) if name and isinstance(page, dict) else page
        if not isinstance(found, list):
            raise self._unreadable()
        return found, following

    @property
    def last_page(self) -> int | None:
        """The number of the last page of the list of which a page was read, if GitHub says so."""
        last = _LAST_PAGE.search(self._last.headers.get("link", ""))
        return int(last[1]) if last else None

    async def items_until(self, url: str, is_enough: Callable[[Any], bool], pages: int = _PAGES) -> list[Any]:
        """The items of a list, up to the page with the first item for which `is_enough` holds."""
        found: list[Any] = []
        following: str | None = url
        page: list[Any] = []
        for _ in range(pages):
            if following is None or any(map(is_enough, page)):
                return found
            page, following = await self.page(following)
            found += page
        return found

    @property
    def budget_left(self) -> float:
        """The remaining share of the hourly rate limit by the last answer; 1 if it does not say."""
        left, limit = (self._last.headers.get(f"x-ratelimit-{name}", "") for name in ("remaining", "limit"))
        is_known = left.isdecimal() and limit.isdecimal() and int(limit) > 0
        return int(left) / int(limit) if is_known else 1.0

    async def write(self, method: str, url: str, data: Any = b"") -> Any:
        """What GitHub says after having written."""
        content, _ = await self._call(method, url, data)
        return content

    async def mutate(self, query: str, **variables: str) -> Any:
        """The data of a GraphQL answer."""
        try:
            return await self.graphql(query, endpoint=self._transport.graphql_url, **variables)
        except gidgethub.QueryError as error:
            errors = error.response.get("errors")
            raise self._transport.errors.map_query_errors(self._api_request, self._last, errors) from error
        except (gidgethub.GraphQLException, *_UNREADABLE) as error:
            raise self._unreadable() from error

    async def _call(self, method: str, url: str, data: Any = b"") -> tuple[Any, str | None]:
        """GitHub's answer, and the next page's URL if it has one."""
        try:
            content: Any
            content, following, _ = await self._make_request(
                method, url, None, data, ACCEPT_HEADER, jwt=self._jwt
            )
        except _UNREADABLE as error:
            raise self._unreadable() from error
        return content, following

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        transport, request = self._transport, self._api_request
        key = (request.installation_id, request.repository_id, url, headers["accept"])
        cached = transport.cache.get(key) if method == "GET" else None
        tag = {"if-none-match": cached.headers["etag"]} if cached else {}
        answer = await self._follow(method, url, {**headers, **_VERSION, **tag}, body)
        if answer.status == 304 and cached:
            answer = cached
        elif not 200 <= answer.status < 300:
            raise transport.errors.map_answer(self._api_request, answer)
        elif method == "GET" and "etag" in answer.headers and len(answer.body) < transport.cache.maxsize // 4:
            transport.cache[key] = answer
        transport.errors.reset(self._api_request.installation_id)
        self._last = answer
        return answer.status, answer.headers, answer.body

    async def _follow(self, method: str, url: str, headers: dict[str, str], body: bytes) -> HttpAnswer:
        # Renamed repositories answer with another address; a write is repeated there as it is.
        for _ in range(_HOPS):
            is_trusted = _origin(url) in self._transport.trusted_origins
            if not is_trusted and method != "GET":
                break
            sent = headers if is_trusted else {k: v for k, v in headers.items() if k != "authorization"}
            answer = await self._send(method, url, sent, body)
            target = answer.headers.get("location")
            if answer.status not in _REDIRECTS or target is None:
                return answer
            url = urljoin(url, target)
        raise GitHubUnavailable(f"{self._what}: too many redirects, or a write redirected to another host")

    async def _send(self, method: str, url: str, headers: dict[str, str], body: bytes) -> HttpAnswer:
        # Asked at the last moment: a process that was held up must not write what it decided before.
        if method != "GET" and not self._transport.may_write():
            raise LaneFenced(f"{self._what}: this process has had no heartbeat for too long")
        try:
            async with self._transport.session.request(
                method,
                URL(url, encoded=True),
                headers=headers,
                data=body or None,
                allow_redirects=False,
            ) as response:
                content = await (_read_tail(response, self._tail) if self._tail else response.read())
                self._count(method, str(response.status), response.headers)
                return HttpAnswer(response.status, response.headers, content)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            self._count(method, type(error).__name__, {})
            raise GitHubUnavailable(f"{self._what}: {describe_connection_error(error)}") from error

    def _count(self, method: str, status: str, headers: Mapping[str, str]) -> None:
        if self._transport.count:
            self._transport.count(self._api_request.installation_id, method, status, headers)

    def _unreadable(self) -> GitHubUnavailable:
        return GitHubUnavailable(f"{self._what}: a response with {self._last.status} that can't be read")


async def _read_tail(response: aiohttp.ClientResponse, size: int) -> bytes:
    """Return the last bytes of an answer in whole lines; nothing of one that does not end."""
    tail, length = b"", 0
    async for chunk in response.content.iter_chunked(_CHUNK):
        length += len(chunk)
        if length > _LONGEST_TEXT:
            response.close()
            return b""
        tail = (tail + chunk)[-size:]
    return tail.partition(b"\n")[2] if length > size else tail


# A proxy's page in place of JSON, cut or wrongly encoded text.
_UNREADABLE = (gidgethub.GitHubException, ValueError, LookupError, TypeError, RecursionError)


def fill_path(path: str, **gaps: str | int) -> str:
    """Fill the `{gaps}` of a path with quoted values, and a `{+gap}` with one that is quoted already.

    As gidgethub does, in less time. A dot needs no quoting, but would lead to another endpoint.
    """
    filled = {name: str(value) for name, value in gaps.items()}
    if dotted := [name for name, value in filled.items() if has_dot_segment(value)]:
        raise NotFound(f"a name on GitHub can't be `.` or `..`: {', '.join(dotted)}")
    for name, value in filled.items():
        path = path.replace(f"{{+{name}}}", value).replace(f"{{{name}}}", quote(value, safe=""))
    return path


@lru_cache(maxsize=8)
def _origins(api_url: str, graphql_url: str) -> frozenset[str]:
    return frozenset({_origin(api_url), _origin(graphql_url)})


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
