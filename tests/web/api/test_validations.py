"""Whose documents are taken in over HTTP?"""

import asyncio
import io
from dataclasses import replace

import pytest

from bot.gates.config import RepositoryRules, ValidatorRules
from bot.github.errors import NotFound
from bot.inbox.parse import parse_delivery
from bot.store.model import Acceptance
from bot.web.api.access import RateLimiter
from bot.web.api.validations import MAX_BODY, PER_MINUTE, ValidationEndpoints
from bot.web.bodies import BodyBudget
from bot.web.server import build_application
from tests.builders import at_minute, make_pull_request
from tests.fake_store import FakeStore

LOG = b'{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "ruff"}}, "results": []}]}'


class Inbox(FakeStore):
    """Keeps what is handed in about the one pull request that is recorded."""

    def __init__(self):
        self.kept = []

    async def load_pull_request(self, lane):
        number = int(lane.rpartition(":")[2])
        recorded = make_pull_request(number=number)
        repository = replace(recorded.repository, id=int(lane.split(":")[1]))
        return replace(recorded, repository=repository) if number == 7 else None

    async def accept(self, delivery):
        self.kept.append(delivery)
        return Acceptance.QUEUED


class RuleBook:
    """Names two Apps everywhere."""

    async def rules(self, _repository, _since=None):
        return RepositoryRules(validators=ValidatorRules(apps=("leo", "github-actions")))


class NoPullRequests:
    """A GitHub that knows no further pull request."""

    async def pull_request(self, repository, number):
        raise NotFound(f"{repository.full_name}#{number}")


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
async def post(aiohttp_client, guard, knowledge, timer, inbox):
    """Hand in these bytes, or these chunks, as somebody; gives the status and the answer."""
    knowledge.private = False
    validations = ValidationEndpoints(
        inbox,
        NoPullRequests(),
        RuleBook(),
        BodyBudget(),
        lambda: "1",
        lambda: at_minute(0),
        rate=RateLimiter(PER_MINUTE, timer),
    )
    client = await aiohttp_client(build_application(validations.routes(guard)))

    async def posting(data, token, number=7, query="", **headers):
        headers["Authorization"] = f"Bearer {token}"
        data = io.BytesIO(data) if isinstance(data, bytes) else data
        path = f"/api/v1/repos/acme/knowledge/pulls/{number}/validations{query}"
        async with client.post(path, data=data, headers=headers) as response:
            return response.status, await response.json(content_type=None)

    return posting


@pytest.fixture
def hand_in(github, knowledge, post, inbox):
    """Hand a log in as somebody; gives the status, and whose it is by which right."""

    async def handing(login, *, installed):
        if installed:
            knowledge.collaborators[github.account(login).id] = "write"
        status, _ = await post(LOG, github.user_token(login))
        said = [(seen.author.login, seen.role) for seen in map(parse_delivery, inbox.kept)]
        return status, *(word for each in said for word in each)

    return handing


async def test_what_could_be_ascribed_to_nobody_is_refused(hand_in, github, inbox):
    github.fail("GET", "/user", status=403)
    assert (await hand_in("alice", installed=False), inbox.kept) == ((403,), [])


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


async def test_a_log_of_ten_mebibytes_is_taken_in(post, token, inbox):
    assert (await post(LOG.ljust(MAX_BODY), token("alice")))[0] == 202
    assert len(inbox.kept) == 1


async def chunks(size):
    """A body that does not tell its length."""
    for start in range(0, size, 2**20):
        yield b" " * min(2**20, size - start)


async def endless():
    """A body whose end never comes: whoever waits for it waits for ever."""
    yield b" "
    await asyncio.Event().wait()


async def test_a_byte_more_is_refused(post, token, inbox):
    refusals = [
        await post(LOG.ljust(MAX_BODY + 1), token("alice")),
        await post(chunks(MAX_BODY + 1), token("alice")),
        await post(endless(), token("alice"), **{"Content-Length": str(MAX_BODY + 1)}),
    ]
    assert {(status, answer["detail"]) for status, answer in refusals} == {
        (413, "The payload is larger than 10 MiB.")
    }
    assert inbox.kept == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"[" + b"[]," * 3_000_000 + b"[]]", "The body can't be read: more than 1,000,000 values."),
        (b"[" * 101 + b"]" * 101, "The body can't be read: nested more than 100 levels deep."),
        (
            b'{"feedback_items": ["' + b"x" * 2**20 + b'"]}',
            "The body can't be read: the report can have at most 1,048,576 bytes if it is a document",
        ),
    ],
)
async def test_what_would_take_too_much_memory_is_refused_with_its_reason(post, token, body, detail):
    status, answer = await post(body, token("alice"))
    assert (status, answer["detail"]) == (422, detail)


async def test_a_token_hands_in_so_much_a_minute_and_keeps_nobody_else_from_it(post, token, timer):
    alice, another = token("alice"), token("alice")
    answers = [(await post(LOG, alice))[0] for _ in range(PER_MINUTE + 1)]
    assert (answers, (await post(LOG, another))[0]) == ([202] * PER_MINUTE + [429], 202)
    timer.now += 60
    assert (await post(LOG, alice))[0] == 202


async def test_an_unknown_pull_request_is_told_at_once(post, token, inbox):
    status, answer = await post(LOG, token("alice"), number=8)
    assert (status, answer["detail"], inbox.kept) == (404, "There is no such pull request.", [])


async def test_every_problem_of_a_body_is_told_with_its_place(post, token, inbox):
    body = b'{"findings": [{"line": 0, "path": "a.py"}, {"message": "odd", "file": "a.py"}]}'
    status, answer = await post(body, token("alice"))
    assert (status, inbox.kept) == (422, [])
    assert answer["errors"] == [
        {"where": "/findings/0/line", "detail": "is 0; write an integer from 1 to 2147483647"},
        {"where": "/findings/0/message", "detail": "is missing; write a string of 1 to 10000 characters"},
        {
            "where": "/findings/1/file",
            "detail": "is not a known key; use one of line, message, path, severity, tag",
        },
    ]


async def test_the_answer_says_what_the_config_made_of_the_report(post, token):
    body = b'{"findings": [{"tag": "date_errors", "message": "no such month"}, {"message": "odd"}]}'
    assert await post(body, token("alice")) == (
        202,
        {
            "id": "1",
            "results": 2,
            "mapped": 1,
            "unmapped": [],
            "status_url": "/api/v1/repos/acme/knowledge/validations/1",
        },
    )


async def test_a_query_that_is_wrong_is_refused_with_every_reason(post, token, inbox):
    status, answer = await post(LOG, token("alice"), query="?head=abc&tool=" + "x" * 101)
    assert (status, inbox.kept) == (400, [])
    assert answer["detail"] == (
        "head must be the full SHA of the validated commit. tool must be a name of at most 100 characters."
    )
