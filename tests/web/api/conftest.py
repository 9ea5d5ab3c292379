"""An API with one protected resource, to test who may read it, and as whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from yarl import URL

from bot.gates.config import Permission
from bot.github.errors import RateLimited
from bot.github.user_api import open_user_api
from bot.values import Repository
from bot.web.api.access import AccessCache, RepositoryGuard
from bot.web.responses import cached_response
from bot.web.server import build_application
from tests.fake_store import FakeStore


class Timer:
    """Seconds that only the test lets pass."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class RecordedRepositories(FakeStore):
    """The repositories that the App works in."""

    def __init__(self) -> None:
        self.by_id: dict[int, Repository] = {}
        self.paused: list[int] = []

    async def find_repository(self, repository_id):
        return self.by_id.get(repository_id)

    async def pause_installation(self, installation_id, _until):
        self.paused.append(installation_id)


@dataclass
class Caller:
    """Speaks to the API as scripts do."""

    client: TestClient

    async def ask(self, path, token=None, method="GET", **headers):
        if token:
            headers["Authorization"] = f"Bearer {token}"
        # As it is, because a client of a stranger's does not resolve `..` first, as this one would.
        url = URL(f"{self.client.make_url('/').origin()}{path}", encoded=True)
        async with self.client.session.request(method, url, headers=headers) as response:
            body = await response.read()
            content = await response.json(content_type=None) if body else None
            return response.status, response.content_type, content, response.headers


@pytest.fixture
async def github(fake_github_server):
    return await fake_github_server()


@pytest.fixture
def timer():
    return Timer()


@pytest.fixture
def recorded():
    return RecordedRepositories()


@pytest.fixture
def knowledge(github, recorded):
    repository = github.repository(
        "acme/knowledge", private=True, collaborators={"alice": "write", "carol": "read"}
    )
    recorded.by_id[repository.id] = Repository(repository.id, "acme", "knowledge", installation_id=5)
    return repository


@pytest.fixture
def token(github):
    return lambda login: github.tokens.for_user(github.account(login)).token


@pytest.fixture
def trusted_proxies():
    return ()


@pytest.fixture
async def guard(github, recorded, timer):
    async with open_user_api(github.api_url, github.graphql_url) as user_api:
        yield RepositoryGuard(AccessCache(user_api, timer), recorded)


@pytest.fixture
async def api(aiohttp_client, guard, knowledge, trusted_proxies):  # noqa: ARG001 - every test has the repository
    async def probe(request: web.Request, access) -> web.Response:
        login = access.account.login if access.account else None
        repository = access.repository
        return cached_response(
            request,
            {
                "login": login,
                "role": access.role,
                "at": [repository.full_name, repository.installation_id],
            },
        )

    async def limited(_request: web.Request, _visit) -> web.Response:
        raise RateLimited(datetime.now(UTC) + timedelta(minutes=2))

    routes = [
        guard.get("/limited", limited),
        guard.get("/probe", probe),
        guard.get("/authors/{login}/probe", probe),
        guard.post("/probe", probe, Permission.WRITE),
    ]
    return Caller(await aiohttp_client(build_application(routes, trusted_proxies)))
