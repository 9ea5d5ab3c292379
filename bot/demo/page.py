"""Serve the demo's page: threads, a log of requests, and actions in the name of somebody."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bot import regex
from bot.demo.story import claim_page
from bot.demo.threads import list_threads, render_page, thread_path
from bot.fakegithub.deliveries import Exchange, WebhookDelivery
from bot.fakegithub.model import ApiRefusal, Issue, PullRequest, Repository
from bot.fakegithub.pull_actions import InlineDraft, PullRequestOptions

if TYPE_CHECKING:
    from bot.fakegithub.server import FakeGitHub


_MAX_TEXT, _MAX_TITLE = 5_000, 120
_LINE_STARTS = {
    "frontmatter_schema": "type:",
    "confidence_miscalibration": "confidence:",
    "date_errors": "created:",
    "title_overclaims": "# ",
    "title_too_few_words": "# ",
    "title_not_proposition": "# ",
    "scope_error": "# ",
}
"""How the line begins that a tag is put at; any other tag is about the last line."""
_CREATED = regex.Regex(r"(?m)^created: .*$")


@dataclass(frozen=True, slots=True)
class DemoAction:
    """What somebody clicked on the page, and as whom."""

    kind: str
    login: str
    text: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> DemoAction:
        """Read the action from what the page sent."""
        tags = content.get("tags", ())
        return cls(
            str(content.get("act")),
            _text(content, "who"),
            _text(content, "text"),
            tuple(map(str, tags)) if isinstance(tags, list) else (),
        )


class DemoActionError(Exception):
    """An action that is not possible; the message is shown on the page."""


def perform_action(github: FakeGitHub, number: int, content: Mapping[str, Any]) -> Issue:
    """Perform the action in the thread; returns the thread to show next."""
    threads = (
        thread
        for repository in github.repositories.values()
        for thread in repository.threads.values()
        if thread.number == number
    )
    thread = next(threads, None)
    if thread is None:
        raise DemoActionError("There is no such thread.")
    action = DemoAction.parse(content)
    if not github.find_account(action.login):
        raise DemoActionError("There is nobody of that name.")
    try:
        return _perform(github, thread, action)
    except ApiRefusal as refusal:
        raise DemoActionError(refusal.message) from refusal


def _perform(github: FakeGitHub, thread: Issue, action: DemoAction) -> Issue:
    if action.kind == "comment":
        if not action.text:
            raise DemoActionError("Say something first.")
        github.comment(thread, action.login, action.text)
    elif action.kind == "open":
        return _open_pull_request(github, thread.repository, action)
    elif isinstance(thread, PullRequest):
        _change_pull_request(github, thread, action)
    else:
        raise DemoActionError("That works on a pull request only.")
    return thread


def _open_pull_request(github: FakeGitHub, repository: Repository, action: DemoAction) -> PullRequest:
    """Open a pull request with a new claim whose date a reviewer may object to."""
    title = (action.text or "One more claim about markets").splitlines()[0][:_MAX_TITLE]
    path = f"claims/{len(repository.threads) + 1:03d}.md"
    page = claim_page(title, github.now(), "One study says so.", wrong=True)
    options = PullRequestOptions(title=title, files={path: page})
    return github.open_pull_request(repository, action.login, options)


def _change_pull_request(github: FakeGitHub, pull: PullRequest, action: DemoAction) -> None:
    if action.kind in {"reject", "approve"} and action.login == pull.user.login:
        raise DemoActionError("Nobody reviews their own pull request: act as somebody else.")
    match action.kind:
        case "reject":
            _reject(github, pull, action)
        case "approve":
            github.submit_review(pull, action.login, "APPROVED", action.text)
        case "push":
            path = _changed_path(pull)
            page = _CREATED.sub(f"created: {github.now():%Y-%m-%d}", _content(pull, path)).rstrip()
            revised = f"{page}\n\nRevised after the review.\n"
            github.push(pull, {path: revised}, message=action.text or "Address the review")
        case "merge" if pull.state == "open":
            github.merge(pull, by=action.login)
        case _:
            raise DemoActionError("There is nothing to do.")


def _reject(github: FakeGitHub, pull: PullRequest, action: DemoAction) -> None:
    """Request changes, each tag at the line that it is about."""
    path = _changed_path(pull)
    lines = _content(pull, path).splitlines()
    comments = [
        InlineDraft(path, f"[{tag}] {action.text}".strip(), line=_line_of(lines, tag))
        for tag in action.tags
        if lines
    ]
    body = "" if comments else action.text or "Not yet."
    github.submit_review(pull, action.login, "CHANGES_REQUESTED", body, comments)


def _line_of(lines: list[str], tag: str) -> int:
    start = _LINE_STARTS.get(tag)
    matches = (number for number, line in enumerate(lines, 1) if start and line.startswith(start))
    return next(matches, len(lines))


def _changed_path(pull: PullRequest) -> str:
    """The file that the pull request is about."""
    objects = pull.repository.objects
    head, base = objects.commits[pull.head_sha].files, objects.commits[pull.base_sha].files
    return min((path for path in head if head[path] != base.get(path)), default="claims/first.md")


def _content(pull: PullRequest, path: str) -> str:
    return (pull.repository.objects.content(pull.head_sha, path) or b"").decode("utf-8", "replace")


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name, "")
    return value.strip()[:_MAX_TEXT] if isinstance(value, str) else ""


_LOG_SIZE = 14
_SHA = regex.Regex(r"\b([0-9a-f]{7})[0-9a-f]{33}\b")


class WireLog:
    """The last webhooks and requests between the fake GitHub and the bot."""

    def __init__(self, github: FakeGitHub) -> None:
        self._last: deque[WebhookDelivery | Exchange] = deque(maxlen=_LOG_SIZE)
        github.observers.append(self._last.append)
        github.deliveries.observers.append(self._last.append)

    def lines(self) -> list[dict[str, str]]:
        """Direction, request and status of each, newest first."""
        return [
            _webhook_line(item) if isinstance(item, WebhookDelivery) else _request_line(item)
            for item in reversed(self._last)
        ]


def _webhook_line(delivery: WebhookDelivery) -> dict[str, str]:
    status = "…" if delivery.status_code is None else str(delivery.status_code)
    event = f"{delivery.event} {delivery.action or ''}".strip()
    return {"direction": "GitHub → bot", "request": event, "status": status}


def _request_line(exchange: Exchange) -> dict[str, str]:
    params = exchange.params or {}
    path = exchange.path.removeprefix("/repos/{}/{}".format(params.get("owner"), params.get("repo")))
    request = f"{exchange.method} {_SHA.sub(lambda sha: str(sha[1]), path)}"
    return {"direction": "bot → GitHub", "request": request, "status": str(exchange.status)}


_FOLDER = Path(__file__).parent
_POLL_SECONDS = 20.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


class DemoPage:
    """The page of one fake GitHub; offers to act as one of `logins`, with these `tags`."""

    def __init__(self, github: FakeGitHub, logins: Sequence[str], tags: Sequence[str]) -> None:
        self._github = github
        self._logins = tuple(logins)
        self._tags = tuple(tags)
        self._log = WireLog(github)

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Listen while the block runs; yields the address."""
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            yield f"http://{host}:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application()
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/page.{kind:css|js}", self._asset),
                web.get("/threads", self._threads),
                web.get("/view/{owner}/{name}/{rest:.+}", self._view),
                web.get("/changes", self._changes),
                web.post("/threads/{number:\\d+}", self._act),
                web.get("/{owner}/{name}/{rest:.+}", self._page),
            ]
        )
        return app

    async def _page(self, _: web.Request) -> web.Response:
        return _response((_FOLDER / "page.html").read_text(encoding="utf-8"), "text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        kind = request.match_info["kind"]
        text = (_FOLDER / f"page.{kind}").read_text(encoding="utf-8")
        return _response(text, "text/css" if kind == "css" else "text/javascript")

    async def _threads(self, _: web.Request) -> web.Response:
        content = {
            "at": self._version(),
            "threads": list_threads(self._github),
            "people": self._logins,
            "tags": self._tags,
            "wire": self._log.lines(),
        }
        return _response(json.dumps(content), "application/json")

    async def _view(self, request: web.Request) -> web.Response:
        """Answer with what GitHub shows at this path, without the frame around it."""
        path = request.match_info
        repository = self._github.find_repository(f"{path['owner']}/{path['name']}")
        view = render_page(self._github, repository, path["rest"]) if repository else None
        if view is None:
            return _response(
                "<header><h1>There is no such page in this demo.</h1></header>", "text/html", 404
            )
        return _response(view, "text/html")

    async def _changes(self, request: web.Request) -> web.Response:
        """Answer when something has happened since, or after a while."""
        since = request.query.get("since", "")
        with suppress(TimeoutError):
            await self._github.until(lambda: self._version() != since, _POLL_SECONDS)
        return _response(json.dumps({"at": self._version()}), "application/json")

    async def _act(self, request: web.Request) -> web.Response:
        # Another site's page can send no JSON here without asking first, and is not answered.
        if request.content_type != "application/json":
            return _response("Only from the page itself.", "text/plain", 415)
        try:
            thread = perform_action(self._github, int(request.match_info["number"]), await request.json())
        except (DemoActionError, ValueError, AttributeError) as error:
            return _response(str(error), "text/plain", 422)
        return _response(json.dumps({"path": thread_path(thread)}), "application/json")

    def _version(self) -> str:
        """Changes with every request, webhook and answer to one."""
        github = self._github
        answered = sum(delivery.status_code is not None for delivery in github.deliveries.all[-50:])
        return f"{len(github.requests)}.{len(github.deliveries)}.{answered}"


def _response(text: str, content_type: str, status: int = 200) -> web.Response:
    return web.Response(
        text=text, content_type=content_type, charset="utf-8", status=status, headers=_HEADERS
    )
