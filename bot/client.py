"""Read the feedback on a pull request: parse a comment, fetch it, wait for a verdict.

For agents and scripts. Only the standard library is imported, so the file can be copied into another project.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException, HTTPMessage
from typing import IO, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

GITHUB_API_URL = "https://api.github.com"
WAIT_SECONDS = 900.0
"""How long a caller waits for a verdict unless told otherwise."""
FIRST_PAUSE, LAST_PAUSE = 1.0, 30.0
"""Seconds between two looks: the pause grows by half each time."""
CALL_SECONDS = 15.0
MAX_ANSWER = 32 * 1024 * 1024
MAX_PAGES = 50
"""Answers that are kept, so that GitHub need not send them again."""

NextStep = Literal["wait", "done", "stop", "fix"]
JsonObject = Mapping[str, object]

_MARKER = "<!-- REJECTION: "
_SETTLED = frozenset({"changed", "fixed", "withdrawn", "dismissed"})
"""Statuses of a finding that leave its author nothing to do."""


class ClientError(Exception):
    """GitHub or the server gave no usable answer; the message says why."""


class Refused(ClientError):
    """The request was refused, and asking again changes nothing."""


class Unreachable(ClientError):
    """There was no response this time; `seconds` is how long to wait, if that is known."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class NoVerdictInTime(TimeoutError):
    """No verdict on the awaited head came in time; `feedback` is what there was at the end."""

    def __init__(self, message: str, feedback: Feedback | None) -> None:
        super().__init__(message)
        self.feedback = feedback


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a validator says is wrong."""

    id: str
    tag: str
    gate: str
    blocking: bool
    status: str
    words: str
    """The validator's own words: a report to act on, never instructions beyond that."""
    fix: str
    path: str
    line: int | None
    end_line: int | None
    by: str
    url: str
    auto_fixable: bool

    @property
    def location(self) -> str:
        """`path:line`, as much of it as is known."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the App says about a pull request: the marker of its comment, and the document."""

    marker: JsonObject
    document: JsonObject | None = None
    url: str = ""

    @property
    def id(self) -> str:
        """Changes whenever there is new feedback."""
        return _text(self.marker, "id")

    @property
    def head(self) -> str:
        """The newest commit with a verdict."""
        return _text(self.marker, "head")

    @property
    def verdict(self) -> str:
        """`accept`, `refine`, `reject` or `escalate`."""
        return _text(self.marker, "verdict")

    @property
    def turn(self) -> str:
        """Who acts next: `author`, `checks`, `reviewer`, `maintainer`, `nobody`; empty if unknown."""
        return _text(self.marker, "turn") or _text(self.document or {}, "turn")

    @property
    def pending(self) -> tuple[str, ...]:
        """The checks and reviewers that have not reported yet."""
        return _texts(self.marker.get("pending"))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The open findings of the document, in the order to fix them."""
        items = (self.document or {}).get("feedback_items")
        return tuple(map(parse_finding, filter(_is_object, items))) if isinstance(items, list) else ()

    @property
    def to_fix(self) -> tuple[Finding, ...]:
        """The blocking findings that no push has changed yet; where nothing blocks, the others."""
        waiting = [finding for finding in self.findings if finding.status not in _SETTLED]
        return tuple(finding for finding in waiting if finding.blocking) or tuple(waiting)

    @property
    def steps(self) -> tuple[str, ...]:
        """The brief: what to do next, in imperative lines."""
        lines = _object((self.document or {}).get("brief")).get("lines")
        return tuple(_text(_object(line), "text") for line in lines) if isinstance(lines, list) else ()

    @property
    def more(self) -> int:
        """How many findings the document leaves out."""
        return _integer(self.document or {}, "more") or 0

    def is_about(self, head: str) -> bool:
        """Whether the verdict is on this commit; a short SHA will do."""
        return bool(head) and self.head.startswith(head.lower())

    def next_step(self, head: str = "") -> NextStep:
        """What the author of this head does next: wait, stop, fix the findings, or nothing more."""
        if head and not self.is_about(head):
            return "wait"
        if self.verdict == "accept":
            return "done"
        if self.verdict == "escalate" or self.turn in {"maintainer", "nobody"}:
            return "stop"
        return "wait" if self.pending or self.turn not in {"", "author"} else "fix"


def parse_comment(body: str, url: str = "") -> Feedback | None:
    """Parse a comment's marker and document; None without a marker. Who wrote it is not checked."""
    marker = next((parsed for line in body.split("\n") if (parsed := _parse_marker(line)) is not None), None)
    return None if marker is None else Feedback(marker, _parse_document(body), url)


def parse_finding(item: JsonObject) -> Finding:
    """Parse an item of the document, or a finding of the server's list."""
    location, suggestion = _object(item.get("location")), _object(item.get("suggestion"))
    texts = {name: _text(item, name) for name in ("tag", "gate", "status", "by", "url")}
    return Finding(
        id=_text(item, "finding") or _text(item, "id"),
        blocking=item.get("blocking") is True,
        words=_text(item, "words") or _text(item, "issue"),
        fix=_text(suggestion, "action") or _text(item, "fix"),
        path=_text(location, "path"),
        line=_integer(location, "line"),
        end_line=_integer(location, "end_line"),
        auto_fixable=item.get("auto_fixable") is True,
        **texts,
    )


@dataclass(slots=True)
class Whetstone:
    """Reads from GitHub with the caller's own token, and from the server where its address is given."""

    token: str | None = None
    login: str | None = None
    """The App's login; a server is asked for it."""
    api_url: str = GITHUB_API_URL
    server_url: str | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _opener: OpenerDirector = field(default_factory=lambda: build_opener(_SameHostRedirects()))
    _pages: dict[str, tuple[str, bytes, str | None]] = field(default_factory=dict)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Whetstone:
        """Read `GH_TOKEN`, `GITHUB_API_URL`, `WHETSTONE_URL` and `WHETSTONE_LOGIN`; raises `Refused`."""
        whetstone = cls(
            token=environ.get("GH_TOKEN") or environ.get("GITHUB_TOKEN") or None,
            login=environ.get("WHETSTONE_LOGIN") or None,
            api_url=environ.get("GITHUB_API_URL") or GITHUB_API_URL,
            server_url=environ.get("WHETSTONE_URL") or None,
        )
        if not (whetstone.login or whetstone.server_url):
            raise Refused(
                "set WHETSTONE_LOGIN to the App's login, or WHETSTONE_URL to the address of its server"
            )
        return whetstone

    def fetch(self, repository: str, number: int) -> Feedback | None:
        """Fetch the App's newest feedback on a pull request; None if there is none yet."""
        feedback = self._fetch_from_thread(repository, number)
        return self._complete(repository, number, feedback) if feedback and self.server_url else feedback

    def wait(
        self,
        repository: str,
        number: int,
        head: str = "",
        timeout: float = WAIT_SECONDS,
        on_look: Callable[[float], None] = lambda _seconds: None,
    ) -> Feedback:
        """Return the feedback once there is a verdict on this head and nothing is pending.

        Without `head` it is the pull request's current one. `on_look` is told the seconds waited so far
        before each look. Raises `NoVerdictInTime`, `Refused`, and `Unreachable` where the last look failed.
        """
        start, pause, seen = self.clock(), FIRST_PAUSE, None
        while True:
            on_look(self.clock() - start)
            failure, wanted = None, pause
            try:
                head = head or self.fetch_head(repository, number)
                seen = self.fetch(repository, number)
            except Unreachable as error:
                failure, wanted = error, max(pause, error.seconds)
            if not failure and seen and seen.is_about(head) and not seen.pending:
                return seen
            left = start + timeout - self.clock()
            if left <= 0 or wanted > max(left, LAST_PAUSE):
                if failure:
                    raise failure
                raise NoVerdictInTime(_describe_wait(head, seen, timeout), seen)
            self.sleep(min(wanted, left))
            pause = min(pause * 1.5, LAST_PAUSE)

    def fetch_head(self, repository: str, number: int) -> str:
        """Fetch the SHA of a pull request's current head."""
        pull = self._github(f"/repos/{_path(repository)}/pulls/{number}")
        head = _text(_object(_object(pull).get("head")), "sha")
        if not head:
            raise Unreachable("GitHub's response names no head")
        return head

    def fetch_history(self, repository: str, author: str = "") -> JsonObject:
        """Fetch one author's patterns, or by login those of every author whom the caller may see."""
        one = f"authors/{quote(author, safe='')}/patterns" if author else "patterns"
        return _object(self._server(f"/api/v1/repos/{_path(repository)}/{one}"))

    def fetch_gates(self, repository: str) -> tuple[JsonObject, ...]:
        """Fetch the gates in force in a repository."""
        gates = self._server(f"/api/v1/repos/{_path(repository)}/gates")
        return tuple(filter(_is_object, gates)) if isinstance(gates, list) else ()

    def _fetch_from_thread(self, repository: str, number: int) -> Feedback | None:
        login = f"{self._app_login().removesuffix('[bot]')}[bot]".casefold()
        newest = None
        for comment in self._comments(repository, number):
            user = _object(comment.get("user"))
            # A marker alone proves nothing: anybody can paste one, and name an account like the App.
            if user.get("type") == "Bot" and _text(user, "login").casefold() == login:
                newest = parse_comment(_text(comment, "body"), _text(comment, "html_url")) or newest
        return newest

    def _app_login(self) -> str:
        if self.login is None:
            self.login = _text(_object(self._server("/api/v1/app")), "login")
        if not self.login:
            raise Unreachable("the server did not return the App's login")
        return self.login

    def _comments(self, repository: str, number: int) -> Iterator[JsonObject]:
        url: str | None = f"{self.api_url}/repos/{_path(repository)}/issues/{number}/comments?per_page=100"
        while url:
            body, following = self._get(url)
            # The token is shown to the host that was set, and to no other.
            url = following if following and _host(following) == _host(url) else None
            page = _parse_json(body)
            yield from filter(_is_object, page if isinstance(page, list) else ())

    def _complete(self, repository: str, number: int, feedback: Feedback) -> Feedback:
        """Add the items that only the server has: a comment shows ten at most."""
        path = f"/api/v1/repos/{_path(repository)}/pulls/{number}/feedback?per_page=1"
        try:
            documents = _object(self._server(path)).get("documents")
        except Refused:
            return feedback  # the server does not know the pull request, or the token may not ask
        newest = _object(documents[0]) if isinstance(documents, list) and documents else {}
        if feedback.verdict == "accept" or _text(_object(newest.get("target")), "version") != feedback.head:
            return feedback
        return Feedback(feedback.marker, newest, feedback.url)

    def _github(self, path: str) -> object:
        return _parse_json(self._get(self.api_url + path)[0])

    def _server(self, path: str) -> object:
        if not self.server_url:
            raise Refused("only the App's server has this: set WHETSTONE_URL to its address")
        return _parse_json(self._get(self.server_url.rstrip("/") + path)[0])

    def _get(self, url: str) -> tuple[bytes, str | None]:
        """The body, and the address of the next page; an unchanged page costs no request of the budget."""
        etag, body, following = self._pages.get(url, ("", b"", None))
        request = Request(url, headers=self._headers(etag))  # noqa: S310  the caller's own setting
        try:
            with self._opener.open(request, timeout=CALL_SECONDS) as answer:
                body = answer.read(MAX_ANSWER + 1)
                following = _next_page(answer.headers.get("Link", ""))
                if len(self._pages) >= MAX_PAGES:
                    self._pages.clear()
                self._pages[url] = (answer.headers.get("ETag") or "", body, following)
        except HTTPError as error:
            with error:
                if error.code != 304:
                    raise self._refusal(error) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, ConnectionRefusedError):
                raise Unreachable(f"nothing answers at {_host(url)}") from error
            raise Unreachable(f"{_host(url)} can't be reached: {reason}") from error
        if len(body) > MAX_ANSWER:
            raise Unreachable(f"the response of {_host(url)} is too large")
        return body, following

    def _headers(self, etag: str) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "whetstone-client"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return {**headers, "If-None-Match": etag} if etag else headers

    def _refusal(self, error: HTTPError) -> ClientError:
        text = f"{_host(error.url)} responded with {error.code}: {_problem(error)}"
        limited = error.code == 429 or error.headers.get("x-ratelimit-remaining") == "0"
        if error.code >= 500 or limited or "Retry-After" in error.headers:
            return Unreachable(text, _seconds_to_wait(error.headers))
        if error.code in {401, 403, 404}:
            hint = "GH_TOKEN is not valid, or may not read this" if self.token else "GH_TOKEN is not set"
            return Refused(f"{text}; {hint}")
        return Refused(text)


class _SameHostRedirects(HTTPRedirectHandler):
    """Follows the redirects of a renamed repository; the token is shown to no other host."""

    def redirect_request(  # noqa: PLR0913, PLR0917  as the base class has it
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            raise URLError(f"it redirects to another host, {new.netloc}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _parse_marker(line: str) -> JsonObject | None:
    start = line.find(_MARKER + "{")
    end = line.find("} -->", start) if start >= 0 else -1
    return _parse_object(line[start + len(_MARKER) : end + 1]) if end >= 0 else None


def _parse_document(body: str) -> JsonObject | None:
    """Parse the first fence of JSON."""
    lines = iter(body.splitlines())
    for line in lines:
        opening = line.strip()
        fence = opening[: len(opening) - len(opening.lstrip("`"))]
        if len(fence) >= 3 and not line.startswith("    "):
            inside = []
            for content in lines:
                if content.strip() == fence:
                    break
                inside.append(content)
            if opening[len(fence) :].split()[:1] == ["json"]:
                return _parse_object("\n".join(inside))
    return None


def _parse_object(text: str) -> JsonObject | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _parse_json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Unreachable("the response is not JSON") from None


def _problem(error: HTTPError) -> str:
    """GitHub's message, or the detail of a problem+json."""
    body = error.read(65_536).decode("utf-8", "replace")
    answer = _parse_object(body) or {}
    return _text(answer, "message") or _text(answer, "detail") or str(error.reason)


def _seconds_to_wait(headers: Message) -> float:
    after, reset = headers.get("Retry-After", ""), headers.get("x-ratelimit-reset", "")
    if after.isdigit():
        return float(after)
    exhausted = headers.get("x-ratelimit-remaining") == "0" and reset.isdigit()
    return max(0.0, float(reset) - time.time()) if exhausted else 0.0


def _next_page(links: str) -> str | None:
    for link in links.split(","):
        target, _, relation = link.partition(";")
        if 'rel="next"' in relation:
            return target.strip().strip("<>")
    return None


def _describe_wait(head: str, seen: Feedback | None, timeout: float) -> str:
    after = f"after {timeout:g} s"
    if seen is None:
        return f"there is no feedback {after}"
    if not seen.is_about(head):
        return f"there is no verdict on {head[:7]} {after}; the newest is on {seen.head[:7] or 'none'}"
    return f"{', '.join(seen.pending)} has not reported {after}"


def _path(repository: str) -> str:
    owner, _, name = repository.partition("/")
    if not owner or not name or "/" in name or {owner, name} & {".", ".."}:
        raise Refused(f"{repository!r} is not a repository; write it as OWNER/REPO")
    return f"{quote(owner, safe='')}/{quote(name, safe='')}"


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(data: JsonObject, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _integer(data: JsonObject, key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
