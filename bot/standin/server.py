"""How is the stand-in reached over HTTP?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from bot.standin.api import apps, checks, deliveries, git, graphql, hook, issues, pulls, repositories
from bot.standin.api.call import BY_ANYBODY, REPO, Answer, Route
from bot.standin.deliveries import Delivery
from bot.standin.exchange import Exchange, Observer
from bot.standin.faults import Fault, FaultActs, Kind
from bot.standin.gate import Gate
from bot.standin.page import registration
from bot.standin.world import GITHUB_WEB, PATIENCE, AppFacts, Clock, Found

ROUTES = (
    *apps.ROUTES,
    *deliveries.ROUTES,
    *hook.ROUTES,
    *repositories.ROUTES,
    *pulls.ROUTES,
    *issues.ROUTES,
    *checks.ROUTES,  # before git: a branch's name may hold slashes
    *git.ROUTES,
)
GRAPHQL = Route("POST", "/graphql", graphql.answer, BY_ANYBODY)
NOWHERE = Route("*", "", lambda _: Answer({"message": "Not Found"}, status=404), BY_ANYBODY)

_LARGEST_BODY = 32 * 1024 * 1024
_FREE_TEXT = {
    "path": "{path:.*}",
    "basehead": "{basehead:.+}",
    "ref": "{ref:.+}",
}  # gaps that may hold slashes


class Standin(Gate, FaultActs):
    """A small local GitHub: state, webhooks and HTTP; `async with` starts and stops it."""

    def __init__(
        self,
        facts: AppFacts | None = None,
        *,
        webhook_url: str | None = None,
        clock: Clock | None = None,
        enterprise: bool = False,
    ) -> None:
        Gate.__init__(self, facts or AppFacts(), webhook_url=webhook_url, clock=clock)
        FaultActs.__init__(self)
        self.enterprise = enterprise
        self.requests: list[Exchange] = []
        self.observers: list[Observer] = []
        self.graphql_url = "https://api.github.com/graphql"
        self._runner: web.AppRunner | None = None
        self._stopping = asyncio.Event()

    @property
    def webhook_url(self) -> str | None:
        """Where webhooks go; settable, because the bot's port is often known later."""
        return self.deliveries.url

    @webhook_url.setter
    def webhook_url(self, url: str | None) -> None:
        self.deliveries.url = url

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, and send webhooks."""
        prefix = "/api/v3" if self.enterprise else ""
        self._stopping.clear()
        self._runner = web.AppRunner(self._application(prefix), access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        address = f"http://{host}:{self._runner.addresses[0][1]}"
        self.api_url = address + prefix
        self.graphql_url = f"{address}/api/graphql" if self.enterprise else f"{address}/graphql"
        self.web_url = address if self.enterprise else GITHUB_WEB
        await self.deliveries.start()

    async def stop(self) -> None:
        """Listen no more; what hangs is let go."""
        self._stopping.set()
        await self.deliveries.stop()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def until(self, condition: Callable[[], Found], timeout: float = PATIENCE) -> Found:  # noqa: ASYNC109  # asked for by each test
        """The condition's first true value; a time-out tells what happened last."""
        try:
            return await super().until(condition, timeout)
        except TimeoutError:
            raise TimeoutError(f"after {timeout} s; {self._story()}") from None

    def hold(self) -> None:
        """Keep every webhook from now on back."""
        self.deliveries.hold()

    def release(self, order: Callable[[list[Delivery]], Iterable[Delivery]] = list) -> list[Delivery]:
        """Send what was held back, in this order (`reversed`, say); what the order leaves out is lost."""
        return self.deliveries.release(order)

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Send a webhook again, with the same GUID."""
        return self.deliveries.redeliver(delivery)

    async def delivered(self, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109  # asked for by each test
        """Wait until every webhook that is not held back was answered."""
        await self.until(lambda: self.deliveries.is_idle, timeout)

    def asked(self, method: str = "*", pattern: str = "*") -> list[Exchange]:
        """The requests so far of this method and path (`*` for anything)."""
        wanted = Fault(method, pattern, Kind.ANSWER, 1)
        return [each for each in self.requests if wanted.fits(each.method, each.path)]

    def _application(self, prefix: str) -> web.Application:
        application = web.Application(client_max_size=_LARGEST_BODY)
        router = application.router
        for route in ROUTES:
            for path in _addresses(route.path):
                router.add_route(route.method, prefix + path, partial(self._serve, route))
        graphql_path = "/api/graphql" if self.enterprise else "/graphql"
        router.add_route("POST", graphql_path, partial(self._serve, GRAPHQL))
        application.add_routes(registration.routes(self))
        router.add_route("*", "/{tail:.*}", partial(self._serve, NOWHERE))
        return application

    async def _serve(self, route: Route, request: web.Request) -> web.StreamResponse:
        body = _parsed(await request.read())
        fault = self.faults.meet(request.method, self._path(request))
        answer: Answer | None = None
        if fault is None or fault.after:
            answer = self.answer(route, request, body)
        if fault is not None:
            answer = await self._trouble(fault, request)
        self._note(route, request, body, answer, is_fault=fault is not None)
        return web.Response(status=500) if answer is None else _response(answer)

    async def _trouble(self, fault: Fault, request: web.Request) -> Answer | None:
        """The ordered answer, or None once the connection is dropped."""
        if fault.kind is Kind.ANSWER:
            return Answer(fault.body, fault.status, fault.headers)
        if fault.kind is Kind.HANG:
            self.changed()  # whoever waits for the trouble sees it begin
            await self._stopping.wait()
        if request.transport is not None:
            request.transport.abort()
        return None

    def _note(
        self, route: Route, request: web.Request, body: Any, answer: Answer | None, *, is_fault: bool
    ) -> None:
        given = answer or Answer(status=0)
        exchange = Exchange(
            method=request.method,
            path=self._path(request),
            query=dict(request.query),
            headers=dict(request.headers),
            body=body,
            status=given.status,
            answer=given.body if given.raw is None else given.raw,
            answer_headers=dict(given.headers),
            route=route.path,
            params=dict(request.match_info),
            is_fault=is_fault,
        )
        self.requests.append(exchange)
        for observer in self.observers:
            observer(exchange)
        self.changed()

    def _story(self) -> str:
        """The last requests and webhooks, for whoever waited in vain."""
        asked = [f"{each.method} {each.path} {each.status}" for each in self.requests[-5:]]
        sent = [f"{each.event} {each.action} {each.status_code}" for each in self.deliveries.all[-5:]]
        return f"last requests: {', '.join(asked) or 'none'}; last webhooks: {', '.join(sent) or 'none'}"

    def _path(self, request: web.Request) -> str:
        return request.path.removeprefix("/api/v3") if self.enterprise else request.path


def _addresses(path: str) -> list[str]:
    """A route's path, also by the repository's id, which is where former names lead."""
    for gap, free in _FREE_TEXT.items():
        path = path.replace(f"{{{gap}}}", free)
    if path.startswith(REPO):
        return [path, "/repositories/{repository_id}" + path.removeprefix(REPO)]
    return [path]


def _parsed(data: bytes) -> Any:
    """The body; an empty one is an empty object, and what is no JSON is None."""
    try:
        return json.loads(data) if data else {}
    except ValueError:
        return None


def _response(answer: Answer) -> web.Response:
    headers = {"X-GitHub-Request-Id": "0000:0000", **answer.headers}
    if answer.raw is not None:
        return web.Response(body=answer.raw, status=answer.status, headers=headers)
    if answer.status in {204, 304}:
        return web.Response(status=answer.status, headers=headers)
    if isinstance(answer.body, str):
        return web.Response(text=answer.body, status=answer.status, headers=headers)
    text = json.dumps(answer.body, ensure_ascii=False)
    return web.Response(
        text=text, status=answer.status, headers=headers, content_type="application/json", charset="utf-8"
    )
