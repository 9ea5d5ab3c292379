"""Serve the fake GitHub over HTTP, with access checks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from bot.fakegithub.apps import APP_ROUTES
from bot.fakegithub.calls import ANYBODY, REPO_ROUTE, ApiAnswer, ApiCall, RequiredAccess, Route
from bot.fakegithub.checks import CHECK_ROUTES, CheckActions
from bot.fakegithub.commits import GIT_ROUTES
from bot.fakegithub.deliveries import Exchange, ExchangeObserver
from bot.fakegithub.issues import ISSUE_ROUTES, CommentActions
from bot.fakegithub.model import Account, ApiRefusal, Repository, forbidden_refusal, not_found_refusal
from bot.fakegithub.pulls import PULL_ROUTES, PullRequestActions
from bot.fakegithub.repositories import REPOSITORY_ROUTES, RepositoryActions
from bot.fakegithub.reviews import REVIEW_ROUTES, ReviewActions, answer_graphql
from bot.fakegithub.tokens import AppCaller, Caller, InstallationCaller, Unauthorized, UserCaller
from bot.fakegithub.world import GITHUB_WEB, WAIT_SECONDS, AppRegistration, Awaited, WorldClock


class GitHubActions(RepositoryActions, PullRequestActions, ReviewActions, CommentActions, CheckActions):
    """Everything people and Apps can do here."""

    def user_token(self, login: str | Account) -> str:
        """A personal token of this account."""
        return self.tokens.for_user(self.account(login)).token


_SUSPENDED = "This installation has been suspended"
_ARCHIVED = "Repository was archived so is read-only."


def check_access(caller: Caller, needs: RequiredAccess, repository: Repository | None) -> None:
    """Raise GitHub's refusal where the caller may not."""
    if needs.app:
        if not isinstance(caller, AppCaller):
            raise ApiRefusal(401, "A JSON web token could not be decoded")
        return
    if isinstance(caller, AppCaller) and needs.permissions:
        raise ApiRefusal(403, "Resource not accessible by integration")
    if isinstance(caller, InstallationCaller):
        _check_installation(caller, needs, repository)
    elif repository is not None:
        _check_person(caller, needs, repository)
    if repository is not None and repository.archived and needs.level == "write":
        raise ApiRefusal(403, _ARCHIVED)


def _check_installation(
    caller: InstallationCaller, needs: RequiredAccess, repository: Repository | None
) -> None:
    if caller.installation.suspended_at is not None:
        raise ApiRefusal(403, _SUSPENDED)
    if repository is not None and not caller.covers(repository):
        if repository.private:
            raise not_found_refusal()
        if needs.level == "write":
            raise forbidden_refusal()
        return
    if needs.permissions and not any(
        _is_enough(caller.level(permission), needs.level) for permission in needs.permissions
    ):
        raise forbidden_refusal()


def _is_enough(granted: str | None, wanted: str) -> bool:
    return granted == "write" or (granted == "read" and wanted == "read")


def _check_person(caller: Caller, needs: RequiredAccess, repository: Repository) -> None:
    """Check a person, who only reads over HTTP; what people do here are actions."""
    role = repository.role(caller.account) if isinstance(caller, UserCaller) else None
    if repository.private and role is None:
        raise not_found_refusal()
    if needs.level == "write":
        raise ApiRefusal(401, "Requires authentication")


SECONDARY_LIMIT = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_DOCUMENTATION = "https://docs.github.com/rest"
_LIMIT_EXCEEDED = "API rate limit exceeded for installation."


class RequestHandler(GitHubActions):
    """The checks before every endpoint, and what GitHub adds to every answer."""

    def answer(self, route: Route, request: web.Request, body: Any) -> ApiAnswer:
        """The endpoint's answer, or GitHub's refusal, with the caller's budget in its headers."""
        try:
            caller = self.tokens.caller(request.headers.get("Authorization"))
        except Unauthorized as refusal:
            return _refusal(ApiRefusal(401, str(refusal)))
        budget = self.limits.of(caller.budget)
        try:
            if budget.used >= budget.limit:
                raise ApiRefusal(403, _LIMIT_EXCEEDED)  # noqa: TRY301  # one place turns refusals into answers
            if route.needs.level == "write" and not self.limits.allows_write(caller.budget):
                raise ApiRefusal(403, SECONDARY_LIMIT, headers={"Retry-After": "60"})  # noqa: TRY301  # as above
            answer = self._carry_out(route, request, body, caller)
        except ApiRefusal as refusal:
            answer = _refusal(refusal)
        if request.method == "GET" and answer.status == 200:
            answer = _with_etag(answer, request.headers.get("If-None-Match"))
        # What the caller had already is free, and so is asking for the budget itself.
        budget.used += answer.status != 304 and route.path != "/rate_limit"
        headers = {**budget.headers(), **_scopes(caller), **answer.headers}
        return ApiAnswer(answer.body, answer.status, headers)

    def _carry_out(self, route: Route, request: web.Request, body: Any, caller: Caller) -> ApiAnswer:
        if "User-Agent" not in request.headers:
            raise ApiRefusal(403, "Request forbidden by administrative rules.")
        if body is None:
            raise ApiRefusal(400, "Problems parsing JSON")
        repository = self._repository(request)
        if isinstance(repository, str):
            return _moved(request.method, repository)
        check_access(caller, route.needs, repository)
        call = ApiCall(
            github=self,
            caller=caller,
            params=request.match_info,
            query=request.query,
            body=body,
            url=self.api_url + request.rel_url.raw_path.removeprefix("/api/v3"),
            path_repository=repository,
        )
        return route.answer(call)

    def _repository(self, request: web.Request) -> Repository | str | None:
        """The repository in the path, or the address that a former name leads to."""
        gaps = request.match_info
        if "repository_id" in gaps:
            repository = self.repositories.get(int(gaps["repository_id"]))
        elif "owner" in gaps:
            name = f"{gaps['owner']}/{gaps['repo']}"
            repository = self.find_repository(name)
            former = self.former_names.get(name.casefold())
            if repository is None and former is not None:
                rest = request.path_qs.partition(f"/repos/{name}")[2]
                return f"{self.api_url}/repositories/{former.id}{rest}"
        else:
            return None
        if repository is None:
            raise not_found_refusal()
        return repository


def _scopes(caller: Caller) -> dict[str, str]:
    """What a classic token was given, empty if that is nothing; other tokens get no such header."""
    if isinstance(caller, UserCaller) and caller.scopes is not None:
        return {"X-OAuth-Scopes": ", ".join(caller.scopes)}
    return {}


def _refusal(refusal: ApiRefusal) -> ApiAnswer:
    body: dict[str, Any] = {"message": refusal.message}
    if refusal.errors is not None:
        body["errors"] = refusal.errors
    body |= {"documentation_url": _DOCUMENTATION, "status": str(refusal.status)}
    return ApiAnswer(body, refusal.status, refusal.headers)


def _moved(method: str, to: str) -> ApiAnswer:
    status = 301 if method in {"GET", "HEAD"} else 307
    body = {"message": "Moved Permanently", "url": to, "documentation_url": _DOCUMENTATION}
    return ApiAnswer(body, status, {"Location": to})


def _with_etag(answer: ApiAnswer, cached_tag: str | None) -> ApiAnswer:
    """The answer with its ETag; no body where the caller has it already."""
    data = json.dumps(answer.body, sort_keys=True).encode()
    etag = f'W/"{hashlib.sha256(data).hexdigest()}"'
    headers = {**answer.headers, "ETag": etag}
    if cached_tag == etag:
        return ApiAnswer(None, 304, headers)
    return ApiAnswer(answer.body, answer.status, headers)


ALL_ROUTES = (
    *APP_ROUTES,
    *REPOSITORY_ROUTES,
    *REVIEW_ROUTES,
    *PULL_ROUTES,
    *ISSUE_ROUTES,
    *CHECK_ROUTES,  # before git: a branch's name may hold slashes
    *GIT_ROUTES,
)

GRAPHQL_ROUTE = Route("POST", "/graphql", answer_graphql, ANYBODY)

NOT_FOUND_ROUTE = Route("*", "", lambda _: ApiAnswer({"message": "Not Found"}, status=404), ANYBODY)

_MAX_BODY = 32 * 1024 * 1024
_FREE_TEXT = {
    "path": "{path:.*}",
    "basehead": "{basehead:.+}",
    "ref": "{ref:.+}",
}  # gaps that may hold slashes


class FakeGitHub(RequestHandler):
    """A small local GitHub: state, webhooks and HTTP; `async with` starts and stops it."""

    def __init__(
        self,
        registration: AppRegistration | None = None,
        *,
        webhook_url: str | None = None,
        clock: WorldClock | None = None,
        enterprise: bool = False,
    ) -> None:
        super().__init__(registration or AppRegistration(), webhook_url=webhook_url, clock=clock)
        self.enterprise = enterprise
        self.requests: list[Exchange] = []
        self.observers: list[ExchangeObserver] = []
        self.graphql_url = "https://api.github.com/graphql"
        self._runner: web.AppRunner | None = None

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
        self._runner = web.AppRunner(self._application(prefix), access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        await web.TCPSite(self._runner, host, 0).start()  # logs are on another host, which gets no token
        address, logs = (f"http://{host}:{where[1]}" for where in self._runner.addresses)
        self.logs_url = f"{logs}/logs"
        self.api_url = address + prefix
        self.graphql_url = f"{address}/api/graphql" if self.enterprise else f"{address}/graphql"
        self.web_url = address if self.enterprise else GITHUB_WEB
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

    async def until(self, condition: Callable[[], Awaited], timeout: float = WAIT_SECONDS) -> Awaited:  # noqa: ASYNC109  # asked for by each test
        """Wait for the condition's first true value; a time-out says what happened last."""
        try:
            return await super().until(condition, timeout)
        except TimeoutError:
            raise TimeoutError(f"after {timeout} s; {self._describe_last()}") from None

    def _application(self, prefix: str) -> web.Application:
        application = web.Application(client_max_size=_MAX_BODY)
        router = application.router
        for route in ALL_ROUTES:
            for path in _addresses(route.path):
                router.add_route(route.method, prefix + path, partial(self.serve, route))
        graphql_path = "/api/graphql" if self.enterprise else "/graphql"
        router.add_route("POST", graphql_path, partial(self.serve, GRAPHQL_ROUTE))
        application.add_routes(self.pages())
        router.add_route("*", "/{tail:.*}", partial(self.serve, NOT_FOUND_ROUTE))
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
        runs = (repository.check_runs for repository in self.repositories.values())
        logs = (jobs[wanted].log for jobs in runs if (wanted := int(request.match_info["job_id"])) in jobs)
        log = next(logs, None)
        return web.Response(status=404) if log is None else web.Response(text=log)

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

    def _describe_last(self) -> str:
        """Describe the last requests and webhooks."""
        requests = [f"{request.method} {request.path} {request.status}" for request in self.requests[-5:]]
        sent = [
            f"{delivery.event} {delivery.action} {delivery.status_code}"
            for delivery in self.deliveries.all[-5:]
        ]
        return f"last requests: {', '.join(requests) or 'none'}; last webhooks: {', '.join(sent) or 'none'}"

    def api_path(self, request: web.Request) -> str:
        """The request's path as on github.com."""
        return request.path.removeprefix("/api/v3") if self.enterprise else request.path


def _addresses(path: str) -> list[str]:
    """A route's path, and the one by the repository's id, to which former names lead."""
    for gap, free in _FREE_TEXT.items():
        path = path.replace(f"{{{gap}}}", free)
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
