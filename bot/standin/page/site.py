"""The page at `/`: what this GitHub shows, and what a visitor can do to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import re2
from aiohttp import web

from bot.standin.page.acting import Mistake, act
from bot.standin.page.files import shown
from bot.standin.page.threads import address, listing, thread
from bot.standin.page.wire import Wire

if TYPE_CHECKING:
    from bot.standin.model import Repository
    from bot.standin.server import Standin

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


class Site:
    """The page of one stand-in; `people` may act, and `tags` may be named."""

    def __init__(self, github: Standin, people: Sequence[str], tags: Sequence[str]) -> None:
        self._github = github
        self._people = tuple(people)
        self._tags = tuple(tags)
        self._wire = Wire(github)

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
            "threads": listing(self._github),
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
            return shown(where, rest)
        found = where.threads.get(int(number)) if number.isdecimal() else None
        return thread(self._github, found) if found else None

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
            acted = act(self._github, int(request.match_info["number"]), await request.json())
        except (Mistake, ValueError, AttributeError) as mistake:
            return _answer(str(mistake), "text/plain", 422)
        return _answer(json.dumps({"path": address(acted)}), "application/json")

    def _at(self) -> str:
        answered = sum(each.status_code is not None for each in self._github.deliveries.all[-50:])
        return f"{len(self._github.requests)}.{len(self._github.deliveries)}.{answered}"


def _answer(text: str, kind: str, status: int = 200) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8", status=status, headers=_HEADERS)
