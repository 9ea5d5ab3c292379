"""The demo's page: threads, a log of requests, and actions of a visitor."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import re2
from aiohttp import web

from bot.demo.story import claim_page
from bot.demo.threads import list_threads, render_file_page, render_thread, thread_path
from bot.fakegithub.deliveries import Exchange, WebhookDelivery
from bot.fakegithub.model import ApiRefusal, Issue, PullRequest, Repository
from bot.fakegithub.pull_actions import InlineDraft, PullRequestOptions

if TYPE_CHECKING:
    from bot.fakegithub.server import FakeGitHub


_LONGEST, _LONGEST_TITLE = 5_000, 120
_SEEN_AT = {
    "frontmatter_schema": "type:",
    "confidence_miscalibration": "confidence:",
    "date_errors": "created:",
    "title_overclaims": "# ",
    "title_too_few_words": "# ",
    "title_not_proposition": "# ",
    "scope_error": "# ",
}
"""How the line begins that a tag is put at; any other tag is about the last line."""


@dataclass(frozen=True, slots=True)
class DemoAction:
    """What a visitor asked for."""

    act: str
    who: str
    text: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> DemoAction:
        """The wish in what the page sent."""
        tags = asked.get("tags", ())
        return cls(
            str(asked.get("act")),
            _text(asked, "who"),
            _text(asked, "text"),
            tuple(map(str, tags)) if isinstance(tags, list) else (),
        )


class DemoActionError(Exception):
    """What can't be done, in words for the visitor."""


def perform_action(github: FakeGitHub, number: int, asked: Mapping[str, Any]) -> Issue:
    """Do what was asked in the thread; returns the thread to show next."""
    thread = next(
        (
            each
            for where in github.repositories.values()
            for each in where.threads.values()
            if each.number == number
        ),
        None,
    )
    if thread is None:
        raise DemoActionError("There is no such thread.")
    wish = DemoAction.of(asked)
    if not github.find_account(wish.who):
        raise DemoActionError("There is nobody of that name.")
    try:
        return _done(github, thread, wish)
    except ApiRefusal as refusal:
        raise DemoActionError(refusal.message) from refusal


def _done(github: FakeGitHub, thread: Issue, wish: DemoAction) -> Issue:
    if wish.act == "comment":
        if not wish.text:
            raise DemoActionError("Say something first.")
        github.comment(thread, wish.who, wish.text)
    elif wish.act == "open":
        return _opened(github, thread.repository, wish)
    elif isinstance(thread, PullRequest):
        _judged(github, thread, wish)
    else:
        raise DemoActionError("That works on a pull request only.")
    return thread


def _opened(github: FakeGitHub, where: Repository, wish: DemoAction) -> PullRequest:
    """A claim of its own, with a date that a reviewer may find fault with."""
    title = (wish.text or "One more claim about markets").splitlines()[0][:_LONGEST_TITLE]
    files = {
        f"claims/{len(where.threads) + 1:03d}.md": claim_page(
            title, github.now(), "One study says so.", wrong=True
        )
    }
    return github.open_pull_request(where, wish.who, PullRequestOptions(title=title, files=files))


def _judged(github: FakeGitHub, pull: PullRequest, wish: DemoAction) -> None:
    if wish.act in {"reject", "approve"} and wish.who == pull.user.login:
        raise DemoActionError("Nobody reviews their own pull request: act as somebody else.")
    match wish.act:
        case "reject":
            _reject(github, pull, wish)
        case "approve":
            github.submit_review(pull, wish.who, "APPROVED", wish.text)
        case "push":
            github.push(
                pull, {_page(pull): _revised(github, pull)}, message=wish.text or "Address the review"
            )
        case "merge" if pull.state == "open":
            github.merge(pull, by=wish.who)
        case _:
            raise DemoActionError("There is nothing to do.")


def _reject(github: FakeGitHub, pull: PullRequest, wish: DemoAction) -> None:
    """Each tag at the line that it is about."""
    path = _page(pull)
    lines = _content(pull, path).splitlines()
    places = [
        InlineDraft(path, f"[{tag}] {wish.text}".strip(), line=_line(lines, tag))
        for tag in wish.tags
        if lines
    ]
    body = "" if places else wish.text or "Not yet."
    github.submit_review(pull, wish.who, "CHANGES_REQUESTED", body, places)


def _line(lines: list[str], tag: str) -> int:
    begins = _SEEN_AT.get(tag)
    found = (at for at, line in enumerate(lines, 1) if begins and line.startswith(begins))
    return next(found, len(lines))


def _page(pull: PullRequest) -> str:
    """The file that the pull request is about."""
    objects = pull.repository.objects
    head, base = objects.commits[pull.head_sha].files, objects.commits[pull.base_sha].files
    return next(iter(sorted(path for path in head if head[path] != base.get(path))), "claims/first.md")


_CREATED = re2.compile(r"(?m)^created: .*$")


def _revised(github: FakeGitHub, pull: PullRequest) -> str:
    """The page with a good date, and a sentence more."""
    dated = _CREATED.sub(f"created: {github.now():%Y-%m-%d}", _content(pull, _page(pull)))
    return f"{dated.rstrip()}\n\nRevised after the review.\n"


def _content(pull: PullRequest, path: str) -> str:
    return (pull.repository.objects.content(pull.head_sha, path) or b"").decode("utf-8", "replace")


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name, "")
    return value.strip()[:_LONGEST] if isinstance(value, str) else ""


_KEPT = 14
_SHA = re2.compile(r"\b([0-9a-f]{7})[0-9a-f]{33}\b")


class WireLog:
    """The last webhooks and requests of a stand-in, from now on."""

    def __init__(self, github: FakeGitHub) -> None:
        self._last: deque[WebhookDelivery | Exchange] = deque(maxlen=_KEPT)
        github.observers.append(self._last.append)
        github.deliveries.observers.append(self._last.append)

    def told(self) -> list[dict[str, str]]:
        """Newest first: who spoke to whom, what, and what was answered."""
        return [
            _webhook(each) if isinstance(each, WebhookDelivery) else _request(each)
            for each in reversed(self._last)
        ]


def _webhook(sent: WebhookDelivery) -> dict[str, str]:
    status = "…" if sent.status_code is None else str(sent.status_code)
    return {"way": "GitHub → bot", "what": f"{sent.event} {sent.action or ''}".strip(), "status": status}


def _request(asked: Exchange) -> dict[str, str]:
    params = asked.params or {}
    path = asked.path.removeprefix("/repos/{}/{}".format(params.get("owner"), params.get("repo")))
    short = _SHA.sub(lambda sha: str(sha[1]), path)
    return {"way": "bot → GitHub", "what": f"{asked.method} {short}", "status": str(asked.status)}


_HERE = Path(__file__).parent
_PATIENCE = 20.0
_LINK = re2.compile(
    r'href="https://(?:redirect\.)?github\.com(?P<to>/(?P<name>[^/"]+/[^/"]+)/[^"]*)"'
    r' target="_blank" rel="noreferrer noopener"'
)
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


class DemoPage:
    """The page of one stand-in; `people` may act, and `tags` may be named."""

    def __init__(self, github: FakeGitHub, people: Sequence[str], tags: Sequence[str]) -> None:
        self._github = github
        self._people = tuple(people)
        self._tags = tuple(tags)
        self._wire = WireLog(github)

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Listens while the block runs; gives the address."""
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
                web.get("/page.{kind:css|js}", self._part),
                web.get("/threads", self._threads),
                web.get("/view/{owner}/{name}/{rest:.+}", self._view),
                web.get("/changes", self._changes),
                web.post("/threads/{number:\\d+}", self._act),
                web.get("/{owner}/{name}/{rest:.+}", self._page),
            ]
        )
        return app

    async def _page(self, _: web.Request) -> web.Response:
        return _answer((_HERE / "page.html").read_text(encoding="utf-8"), "text/html")

    async def _part(self, request: web.Request) -> web.Response:
        kind = request.match_info["kind"]
        text = (_HERE / f"page.{kind}").read_text(encoding="utf-8")
        return _answer(text, "text/css" if kind == "css" else "text/javascript")

    async def _threads(self, _: web.Request) -> web.Response:
        content = {
            "at": self._at(),
            "threads": list_threads(self._github),
            "people": self._people,
            "tags": self._tags,
            "wire": self._wire.told(),
        }
        return _answer(json.dumps(content), "application/json")

    async def _view(self, request: web.Request) -> web.Response:
        """What GitHub shows at this path, without the frame around it."""
        asked = request.match_info
        where = self._github.find_repository(f"{asked['owner']}/{asked['name']}")
        found = self._found(where, asked["rest"]) if where else None
        if found is None:
            return _answer("<header><h1>There is no such page in this demo.</h1></header>", "text/html", 404)
        return _answer(_LINK.sub(self._here, found), "text/html")

    def _found(self, where: Repository, rest: str) -> str | None:
        kind, _, number = rest.partition("/")
        if kind not in {"pull", "issues"}:
            return render_file_page(where, rest)
        found = where.threads.get(int(number)) if number.isdecimal() else None
        return render_thread(self._github, found) if found else None

    def _here(self, link: Any) -> str:
        """A link into a repository of this GitHub stays on this machine."""
        return f'href="{link["to"]}"' if self._github.find_repository(link["name"]) else str(link[0])

    async def _changes(self, request: web.Request) -> web.Response:
        """Answers when something has happened since, or after a while."""
        since = request.query.get("since", "")
        with suppress(TimeoutError):
            await self._github.until(lambda: self._at() != since, _PATIENCE)
        return _answer(json.dumps({"at": self._at()}), "application/json")

    async def _act(self, request: web.Request) -> web.Response:
        # Another site's page can send no JSON here without asking first, and is not answered.
        if request.content_type != "application/json":
            return _answer("Only from the page itself.", "text/plain", 415)
        try:
            acted = perform_action(self._github, int(request.match_info["number"]), await request.json())
        except (DemoActionError, ValueError, AttributeError) as mistake:
            return _answer(str(mistake), "text/plain", 422)
        return _answer(json.dumps({"path": thread_path(acted)}), "application/json")

    def _at(self) -> str:
        answered = sum(each.status_code is not None for each in self._github.deliveries.all[-50:])
        return f"{len(self._github.requests)}.{len(self._github.deliveries)}.{answered}"


def _answer(text: str, kind: str, status: int = 200) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8", status=status, headers=_HEADERS)
