"""Serve the fake GitHub over HTTP, with access checks."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from bot.fakegithub.apps import APP_ROUTES
from bot.fakegithub.calls import ANYBODY, REPO_ROUTE, ApiAnswer, ApiCall, RequiredAccess, Route
from bot.fakegithub.checks import CHECK_ROUTES, CheckActions
from bot.fakegithub.commits import GIT_ROUTES
from bot.fakegithub.deliveries import Exchange
from bot.fakegithub.issues import ISSUE_ROUTES, CommentActions
from bot.fakegithub.model import ApiRefusal, Installation, Repository, forbidden_refusal, not_found_refusal
from bot.fakegithub.pulls import PULL_ROUTES
from bot.fakegithub.repositories import REPOSITORY_ROUTES
from bot.fakegithub.reviews import REVIEW_ROUTES, ReviewActions, answer_graphql
from bot.fakegithub.tokens import Caller


def check_access(caller: Caller, needs: RequiredAccess, repository: Repository | None) -> None:
    """Raise GitHub's refusal where the caller may not."""
    if needs.app:
        if not caller.is_app:
            raise ApiRefusal(401, "A JSON web token could not be decoded")
        return
    if caller.is_app and needs.permissions:
        raise forbidden_refusal()
    if caller.installation is not None:
        _check_installation(caller, caller.installation, needs, repository)
    elif repository is not None:
        # People only read over HTTP; what they do here are actions.
        if repository.private and (caller.person is None or repository.role(caller.person) is None):
            raise not_found_refusal()
        if needs.level == "write":
            raise ApiRefusal(401, "Requires authentication")
    if repository is not None and repository.archived and needs.level == "write":
        raise ApiRefusal(403, "Repository was archived so is read-only.")


def _check_installation(
    caller: Caller, installation: Installation, needs: RequiredAccess, repository: Repository | None
) -> None:
    if installation.suspended_at is not None:
        raise ApiRefusal(403, "This installation has been suspended")
    if repository is not None and not caller.covers(repository):
        if repository.private:
            raise not_found_refusal()
        if needs.level == "write":
            raise forbidden_refusal()
    elif needs.permissions and not caller.may(needs.level, *needs.permissions):
        raise forbidden_refusal()


def _refusal(refusal: ApiRefusal) -> ApiAnswer:
    body: dict[str, Any] = {"message": refusal.message}
    if refusal.errors is not None:
        body["errors"] = refusal.errors
    body |= {"documentation_url": "https://docs.github.com/rest", "status": str(refusal.status)}
    return ApiAnswer(body, refusal.status, refusal.headers)


def _with_etag(answer: ApiAnswer, cached_tag: str | None) -> ApiAnswer:
    """The answer with its ETag; no body where the caller has it already."""
    data = json.dumps(answer.body, sort_keys=True).encode()
    etag = f'W/"{hashlib.sha256(data).hexdigest()}"'
    headers = {**answer.headers, "ETag": etag}
    if cached_tag == etag:
        return ApiAnswer(None, 304, headers)
    return ApiAnswer(answer.body, answer.status, headers)


def _not_found(_: ApiCall) -> ApiAnswer:
    raise not_found_refusal()


ALL_ROUTES = (
    *APP_ROUTES,
    *REPOSITORY_ROUTES,
    *REVIEW_ROUTES,
    *PULL_ROUTES,
    *ISSUE_ROUTES,
    *CHECK_ROUTES,  # before git: a branch's name may hold slashes
    *GIT_ROUTES,
)

_GRAPHQL_ROUTE = Route("POST", "/graphql", ANYBODY, answer_graphql)
_NOT_FOUND_ROUTE = Route("*", "", ANYBODY, _not_found)
_MAX_BODY = 32 * 1024 * 1024
_MAY_HOLD_SLASHES = {"{path}": "{path:.*}", "{basehead}": "{basehead:.+}", "{ref}": "{ref:.+}"}


class FakeGitHub(ReviewActions, CommentActions, CheckActions):
    """A small local GitHub: state, webhooks and HTTP; `async with` starts and stops it."""

    routes: tuple[Route, ...] = ALL_ROUTES
    api_prefix = ""
    graphql_path = "/graphql"

    _runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen, and send webhooks."""
        host = "127.0.0.1"
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, 0).start()
        await web.TCPSite(self._runner, host, 0).start()  # logs are on another host, which gets no token
        address, logs = (f"http://{host}:{where[1]}" for where in self._runner.addresses)
        self.logs_url = f"{logs}/logs"
        self.api_url = address + self.api_prefix
        self.graphql_url = address + self.graphql_path
        await self.deliveries.start()

    async def stop(self) -> None:
        """Listen no more."""
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

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=_MAX_BODY)
        router = application.router
        for route in self.routes:
            for path in _addresses(route.path):
                router.add_route(route.method, self.api_prefix + path, partial(self.serve, route))
        router.add_route("POST", self.graphql_path, partial(self.serve, _GRAPHQL_ROUTE))
        application.add_routes(self.pages())
        router.add_route("*", "/{tail:.*}", partial(self.serve, _NOT_FOUND_ROUTE))
        return application

    def pages(self) -> list[web.RouteDef]:
        """What is served beside the API."""
        return [web.get("/logs/{job_id}", self._serve_log)]

    async def serve(self, route: Route, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        body = parse_body(await request.read())
        answer = self.answer(route, request, body)
        self.record(route, request, body, answer)
        return build_response(answer)

    async def _serve_log(self, request: web.Request) -> web.Response:
        """A job's log as plain text; like GitHub's file store, refuse a token that belongs to the API."""
        if "Authorization" in request.headers:
            return web.Response(status=401, text="InvalidAuthenticationInfo")
        wanted = int(request.match_info["job_id"])
        runs = (repository.check_runs.get(wanted) for repository in self.repositories.values())
        log = next((run.log for run in runs if run), None)
        return web.Response(status=404) if log is None else web.Response(text=log)

    def answer(self, route: Route, request: web.Request, body: Any) -> ApiAnswer:
        """The endpoint's answer, or GitHub's refusal, with the caller's budget in its headers."""
        try:
            caller = self.tokens.caller(request.headers.get("Authorization"))
        except ApiRefusal as refusal:
            return _refusal(refusal)
        budget = self.budget(caller.budget)
        try:
            if budget.used >= budget.limit:
                raise ApiRefusal(403, "API rate limit exceeded for installation.")  # noqa: TRY301  # one place turns refusals into answers
            answer = self._carry_out(route, request, body, caller)
        except ApiRefusal as refusal:
            answer = _refusal(refusal)
        if request.method == "GET" and answer.status == 200:
            answer = _with_etag(answer, request.headers.get("If-None-Match"))
        # What the caller had already is free, and so is asking for the budget itself.
        budget.used += answer.status != 304 and route.path != "/rate_limit"
        headers = {**budget.headers(), **answer.headers}
        if caller.scopes is not None:  # only a classic token has them, even if they are none
            headers["X-OAuth-Scopes"] = ", ".join(caller.scopes)
        return ApiAnswer(answer.body, answer.status, headers)

    def _carry_out(self, route: Route, request: web.Request, body: Any, caller: Caller) -> ApiAnswer:
        if "User-Agent" not in request.headers:
            raise ApiRefusal(403, "Request forbidden by administrative rules.")
        if body is None:
            raise ApiRefusal(400, "Problems parsing JSON")
        repository = self._repository(request)
        check_access(caller, route.needs, repository)
        url = self.api_url + request.rel_url.raw_path.removeprefix(self.api_prefix)
        return route.answer(ApiCall(self, caller, request.match_info, request.query, body, url, repository))

    def _repository(self, request: web.Request) -> Repository | None:
        """The repository in the path, if the path is about one."""
        gaps = request.match_info
        if "repository_id" in gaps:
            repository = self.repositories.get(int(gaps["repository_id"]))
        elif "owner" in gaps:
            repository = self.find_repository(f"{gaps['owner']}/{gaps['repo']}")
        else:
            return None
        if repository is None:
            raise not_found_refusal()
        return repository

    def record(
        self,
        route: Route,
        request: web.Request,
        body: Any,
        answer: ApiAnswer | None,
        *,
        is_fault: bool = False,
    ) -> None:
        """Keep the exchange, and show it to the observers; no answer where the connection was dropped."""
        response = answer or ApiAnswer(status=0)
        exchange = Exchange(
            method=request.method,
            path=self.api_path(request),
            query=dict(request.query),
            headers=dict(request.headers),
            body=body,
            status=response.status,
            answer=response.body,
            answer_headers=dict(response.headers),
            route=route.path,
            params=dict(request.match_info),
            is_fault=is_fault,
        )
        self.requests.append(exchange)
        for observer in self.observers:
            observer(exchange)
        self.changed()

    def api_path(self, request: web.Request) -> str:
        """The request's path as on github.com."""
        return request.path.removeprefix(self.api_prefix)


def _addresses(path: str) -> list[str]:
    """A route's path, and the one by the repository's id, to which former names lead."""
    for gap, expression in _MAY_HOLD_SLASHES.items():
        path = path.replace(gap, expression)
    if path.startswith(REPO_ROUTE):
        return [path, "/repositories/{repository_id}" + path.removeprefix(REPO_ROUTE)]
    return [path]


def parse_body(data: bytes) -> Any:
    """The body; an empty one is an empty object, and what is no JSON is None."""
    try:
        return json.loads(data) if data else {}
    except ValueError:
        return None


def build_response(answer: ApiAnswer) -> web.Response:
    """The answer over HTTP."""
    headers = {"X-GitHub-Request-Id": "0000:0000", **answer.headers}
    if answer.status in {204, 302, 304}:
        return web.Response(status=answer.status, headers=headers)
    if isinstance(answer.body, str):
        return web.Response(text=answer.body, status=answer.status, headers=headers)
    text = json.dumps(answer.body, ensure_ascii=False)
    return web.Response(
        text=text, status=answer.status, headers=headers, content_type="application/json", charset="utf-8"
    )
