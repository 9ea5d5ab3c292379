from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import aiohttp
import jwt
import pytest
from aiohttp import web

from tests.clock import Clock
from tests.judges.judge import Judge
from tests.scripted_github import ScriptedGitHub

SECRET = "the secret of the tests"


class Client:
    """Somebody who calls the fake GitHub with one set of credentials."""

    def __init__(
        self, session: aiohttp.ClientSession, fake_github: ScriptedGitHub, token: str | None
    ) -> None:
        self.session, self.fake_github, self.token = session, fake_github, token

    async def __call__(self, method: str, path: str, **more: Any) -> Reply:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= more.pop("headers", {})
        url = path if path.startswith("http") else self.fake_github.api_url + path
        more.setdefault("allow_redirects", False)
        async with self.session.request(method, url, headers=headers, **more) as answer:
            data = await answer.read()
            is_json = answer.content_type == "application/json"
            return Reply(answer.status, await answer.json() if is_json and data else data, answer.headers)


class Reply:
    def __init__(self, status: int, body: Any, headers: Any) -> None:
        self.status, self.body, self.headers = status, body, headers


class Hooks:
    """A bot that only listens."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.status = 202
        self.url = ""

    @property
    def events(self) -> list[str]:
        return [headers["X-GitHub-Event"] for headers, _ in self.heard]

    async def listen(self, request: web.Request) -> web.Response:
        self.heard.append((dict(request.headers), await request.read()))
        return web.Response(status=self.status)


@pytest.fixture
def clock():
    return Clock(datetime(2026, 11, 16, 9, 0, tzinfo=UTC))


@pytest.fixture
async def hooks(aiohttp_server):
    listening = Hooks()
    application = web.Application()
    application.router.add_post("/webhook", listening.listen)
    server = await aiohttp_server(application)
    listening.url = str(server.make_url("/webhook"))
    return listening


@pytest.fixture
async def fake_github(fake_github_server, clock):
    """A fake GitHub whose every answer and webhook must have the form that GitHub describes."""
    judge = Judge()
    github = await fake_github_server(clock=clock, webhook_secret=SECRET)
    judge.watch(github)
    yield github
    await github.stop()
    assert judge.violations == []


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as open_session:
        yield open_session


@pytest.fixture
def app_jwt(keys, clock, fake_github):
    def made(**changes: Any) -> str:
        now = int(clock().timestamp())
        claims = {"iss": str(fake_github.app.id), "iat": now - 60, "exp": now + 540} | changes
        return jwt.encode(claims, keys.private_pem, algorithm="RS256")

    return made


@pytest.fixture
def caller(session, fake_github):
    """A client for a token; without one, a client for nobody."""

    def made(token: str | None = None) -> Client:
        return Client(session, fake_github, token)

    return made


@pytest.fixture
def repository(fake_github):
    people = {"alice": "write", "carol": "maintain", "tim": "triage", "rita": "read"}
    return fake_github.repository("acme/kb", collaborators=people)


@pytest.fixture
def pull(fake_github, repository):
    return fake_github.open_pull_request(repository, "bob")


@pytest.fixture
def bot(caller, fake_github, repository):
    """The App on acme/kb."""
    return caller(fake_github.installation_token(repository.owner))
