"""Serve the demo's page: threads, a log of requests, and actions as one of the users."""

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
from bot.demo.stories import Edit, Story
from bot.demo.story import edit_files, head_text, routine_file, run_checks, state_tags
from bot.demo.threads import list_threads, render_page, thread_path
from bot.fakegithub.deliveries import Exchange, WebhookDelivery
from bot.fakegithub.model import ApiRefusal, Issue, PullRequest, Repository
from bot.fakegithub.pulls import PullRequestOptions

if TYPE_CHECKING:
    from bot.fakegithub.server import FakeGitHub


_MAX_TEXT, _MAX_TITLE = 5_000, 120
_STEPS = ("push", "approve", "history")
"""The three steps that the page leads through, by the action that completes each."""


@dataclass(frozen=True, slots=True)
class DemoAction:
    """A click on the page, and the user who is acting."""

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


@dataclass(frozen=True, slots=True)
class DemoActions:
    """Performs the clicked actions in the repository of a story."""

    github: FakeGitHub
    repository: Repository
    story: Story

    def perform(self, number: int, action: DemoAction) -> Issue:
        """Perform the action in the thread; returns the thread to show next."""
        thread = self.repository.threads.get(number)
        if thread is None:
            raise DemoActionError("There is no such thread.")
        if not self.github.find_account(action.login):
            raise DemoActionError("There is no such user.")
        try:
            return self._perform(thread, action)
        except ApiRefusal as refusal:
            raise DemoActionError(refusal.message) from refusal

    def _perform(self, thread: Issue, action: DemoAction) -> Issue:
        if action.kind == "comment":
            if not action.text:
                raise DemoActionError("Write something first.")
            self.github.comment(thread, action.login, action.text)
        elif action.kind == "open":
            return self._open_pull_request(action)
        elif isinstance(thread, PullRequest):
            self._change(thread, action)
        else:
            raise DemoActionError("This works only on a pull request.")
        return thread

    def _open_pull_request(self, action: DemoAction) -> PullRequest:
        """Open a flawed pull request by another user, so that the acting user can review it."""
        routine = self.story.routine
        number = len(self.repository.threads) + 1
        usual = " ".join(words[number % len(words)] for words in routine.words).capitalize()
        title = (action.text or usual).splitlines()[0][:_MAX_TITLE]
        path = routine.path.format(number=number, slug=usual.lower().replace(" ", "_"))
        text = routine_file(routine, _one_line(title), self.github.now(), flawed=True)
        authors = (author.login for author in routine.authors if author.login != action.login)
        options = PullRequestOptions(title=title, body=f"Adds `{path}`.", files={path: text})
        return self.github.open_pull_request(self.repository, next(authors), options)

    def _change(self, pull: PullRequest, action: DemoAction) -> None:
        if action.kind in {"reject", "approve"} and action.login == pull.user.login:
            raise DemoActionError("You can't review your own pull request. Act as somebody else.")
        match action.kind:
            case "reject":
                self._reject(pull, action)
            case "approve":
                self.github.submit_review(pull, action.login, "APPROVED", action.text)
            case "push":
                self.github.push(pull, self._revision(pull), message=action.text or "Address the review")
                run_checks(self.github, pull, self.story)
            case "merge" if pull.state == "open":
                self.github.merge(pull, by=action.login)
            case _:
                raise DemoActionError("Nothing is open, so there is nothing to fix.")

    def _revision(self, pull: PullRequest) -> dict[str, str]:
        """The files of the next revision: the story's fixes where they apply, else one more line."""
        path, routine = self._path(pull), self.story.routine
        edits = (*self.story.accepted[0].edits, Edit(path, routine.fixed, routine.flaw))
        files = edit_files(self.repository, pull.head_sha, edits, self.github.now())
        return files or {path: f"{head_text(pull, path).rstrip()}\n\n{self.story.note}\n"}

    def _reject(self, pull: PullRequest, action: DemoAction) -> None:
        path = self._path(pull)
        text = head_text(pull, path)
        items, comments = state_tags(self.story.routine, path, text, action.tags, action.text)
        body = "\n".join(items) or ("" if comments else action.text or "Not yet.")
        self.github.submit_review(pull, action.login, "CHANGES_REQUESTED", body, comments)

    def _path(self, pull: PullRequest) -> str:
        """The file that the pull request is about."""
        objects = pull.repository.objects
        head, base = objects.commits[pull.head_sha].files, objects.commits[pull.base_sha].files
        changed = sorted(path for path in head if head[path] != base.get(path))
        main = self.story.rejected[0].edits[0].path
        return main if main in changed or not changed else changed[0]


def _one_line(text: str) -> str:
    """Text that is safe in the title of a file: no quotes or backslashes."""
    return text.replace("\\", "").replace('"', "'")


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
    """The page of a story; offers to act as one of `logins`, with these `tags`, and guides through it."""

    def __init__(
        self,
        github: FakeGitHub,
        repository: Repository,
        story: Story,
        logins: Sequence[str],
        tags: Sequence[str],
    ) -> None:
        self._github = github
        self._actions = DemoActions(github, repository, story)
        self._logins = tuple(logins)
        # Those of the story first: the others are many.
        self._tags = tuple(dict.fromkeys((*story.routine.remarks, *tags)))
        self._log = WireLog(github)
        self._agent_lines: tuple[str, ...] = ()
        self._story_number = 0
        self._step = 0

    def start_guide(self, agent_lines: Sequence[str]) -> None:
        """Begin the three steps on the newest pull request; these lines are for its agent."""
        threads = self._actions.repository.threads
        self._story_number = max(
            number for number, thread in threads.items() if isinstance(thread, PullRequest)
        )
        self._agent_lines = tuple(line.strip() for line in agent_lines)
        self._github.changed()

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
            "repository": self._actions.repository.full_name,
            "threads": list_threads(self._github),
            "people": self._logins,
            "tags": self._tags,
            "story": self._story_number,
            "step": self._next_step(),
            "agent": self._agent_lines,
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
            return _response("This works only from the page itself.", "text/plain", 415)
        try:
            action = DemoAction.parse(await request.json())
            thread = self._actions.perform(int(request.match_info["number"]), action)
        except (DemoActionError, ValueError, AttributeError) as error:
            return _response(str(error), "text/plain", 422)
        kind = "history" if action.text.startswith("/feedback-history") else action.kind
        step = self._next_step()
        if thread.number == self._story_number and _STEPS[step : step + 1] == (kind,):
            self._step = step + 1
        return _response(json.dumps({"path": thread_path(thread)}), "application/json")

    def _next_step(self) -> int:
        """The step that comes next; a pull request that is closed can't be pushed to or approved any more."""
        thread = self._actions.repository.threads.get(self._story_number)
        is_closed = thread is not None and thread.state != "open"
        return max(self._step, _STEPS.index("history")) if is_closed else self._step

    def _version(self) -> str:
        """Changes with every request, webhook and answer to one, and with the guide."""
        github = self._github
        answered = sum(delivery.status_code is not None for delivery in github.deliveries.all[-50:])
        return f"{len(github.requests)}.{len(github.deliveries)}.{answered}.{self._story_number}.{self._step}"


def _response(text: str, content_type: str, status: int = 200) -> web.Response:
    return web.Response(
        text=text, content_type=content_type, charset="utf-8", status=status, headers=_HEADERS
    )
