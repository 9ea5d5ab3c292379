"""Whose documents are taken in over HTTP?"""

import aiohttp
import pytest

from bot.adapters.github.visitors import visitors
from bot.adapters.payloads import read
from bot.adapters.web.api.access import Access
from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.validations import Validations
from bot.adapters.web.app import application, serving
from bot.domain.rules import Rules, Validators
from bot.ports import Acceptance
from tests.builders import at

LOG = b'{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "ruff"}}, "results": []}]}'


class Inbox:
    """Keeps what is handed in."""

    def __init__(self):
        self.kept = []

    async def accept(self, delivery):
        self.kept.append(delivery)
        return Acceptance.QUEUED


class RuleBook:
    """Names two Apps everywhere."""

    async def rules(self, _repository, _since=None):
        return Rules(validators=Validators(apps=("leo", "github-actions")))


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
async def hand_in(github, known, knowledge, timer, inbox):
    """Hand a log in as somebody; gives the status, and whose it is by which right."""
    knowledge.private = False
    async with (
        visitors(github.api_url, github.graphql_url) as asking,
        aiohttp.ClientSession() as session,
    ):
        guard = Guard(Access(asking, timer), known, known.pause)
        routes = Validations(inbox, RuleBook(), lambda: "1", lambda: at(0)).routes(guard)
        async with serving(application(routes), "127.0.0.1", 0) as (host, port):

            async def handing(login, *, installed):
                if installed:
                    knowledge.collaborators[github.account(login).id] = "write"
                address = f"http://{host}:{port}/api/v1/repos/acme/knowledge/pulls/7/validations"
                headers = {"Authorization": f"Bearer {github.user_token(login)}"}
                async with session.post(address, data=LOG, headers=headers) as response:
                    said = [(seen.author.login, seen.role) for seen in map(read, inbox.kept)]
                    return response.status, *(word for each in said for word in each)

            yield handing


@pytest.mark.parametrize(
    ("login", "installed", "expected"),
    [
        ("alice", False, (202, "alice", "write")),
        ("carol", False, (403,)),
        ("leo[bot]", True, (202, "leo[bot]", "config")),
        ("leo[bot]", False, (403,)),  # every App reads what is public, wherever it is installed
        ("mia[bot]", True, (403,)),  # nobody named it
        ("github-actions[bot]", True, (403,)),  # workflows of forks have its token
    ],
)
async def test_those_who_may_write_and_the_apps_that_the_config_names(hand_in, login, installed, expected):
    assert await hand_in(login, installed=installed) == expected
