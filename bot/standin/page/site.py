"""The page at `/`: what this GitHub shows, and what a visitor can do to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from bot.standin.page.acting import Mistake, act
from bot.standin.page.threads import listing, thread

if TYPE_CHECKING:
    from bot.standin.model import Issue
    from bot.standin.server import Standin

_HERE = Path(__file__).parent
_PATIENCE = 20.0
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
                web.get("/threads/{number:\\d+}", self._thread),
                web.get("/changes", self._changes),
                web.post("/threads/{number:\\d+}", self._act),
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
            "traffic": self._traffic(),
        }
        return _answer(json.dumps(content), "application/json")

    async def _thread(self, request: web.Request) -> web.Response:
        wanted = int(request.match_info["number"])
        found = next((each for each in self._all() if each.number == wanted), None)
        if found is None:
            return _answer("There is no such thread.", "text/plain", 404)
        return _answer(thread(self._github, found), "text/html")

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
            shown = act(self._github, int(request.match_info["number"]), await request.json())
        except (Mistake, ValueError, AttributeError) as mistake:
            return _answer(str(mistake), "text/plain", 422)
        return _answer(json.dumps({"number": shown.number}), "application/json")

    def _all(self) -> list[Issue]:
        return [each for where in self._github.repositories.values() for each in where.threads.values()]

    def _at(self) -> str:
        answered = sum(each.status_code is not None for each in self._github.deliveries.all[-50:])
        return f"{len(self._github.requests)}.{len(self._github.deliveries)}.{answered}"

    def _traffic(self) -> list[str]:
        """The last webhooks and requests, in words."""
        sent = [
            f"GitHub → bot: {each.event} {each.action or ''} · {each.status_code or 'on its way'}"
            for each in self._github.deliveries.all[-6:]
        ]
        asked = [
            f"bot → GitHub: {each.method} {each.path} · {each.status}" for each in self._github.requests[-8:]
        ]
        return [*reversed(asked), *reversed(sent)]


def _answer(text: str, kind: str, status: int = 200) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8", status=status, headers=_HEADERS)
