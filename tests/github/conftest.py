from datetime import UTC, datetime

import pytest

from bot.github.auth import AppKey
from bot.github.client import connect_github
from bot.values import Repository
from tests.clock import Clock


@pytest.fixture
def clock():
    return Clock(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))


@pytest.fixture(params=[False], ids=["github.com"])
def enterprise(request):
    return request.param


@pytest.fixture
async def fake_github(fake_github_server, clock, enterprise):
    return await fake_github_server(clock=clock, enterprise=enterprise)


@pytest.fixture
async def client(keys, clock, fake_github):
    key = AppKey(4242, keys.private_pem)
    async with connect_github(
        key, fake_github.api_url, fake_github.graphql_url, now=clock, seconds=60
    ) as client:
        yield client


@pytest.fixture
def place(fake_github):
    """The fake GitHub's own repository."""
    return fake_github.repository("acme/kb", collaborators={"alice": "write"})


@pytest.fixture
def pull(fake_github, place):
    return fake_github.open_pull_request(place, "bob")


@pytest.fixture
def repository(fake_github, place):
    """The same repository as the bot knows it."""
    installation = fake_github.installation_of(place)
    return Repository(place.id, "acme", "kb", installation.id)
