"""Does the server do what its OpenAPI description says? Tried by schemathesis on the running server."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth

from bot.findings.turns import Turn
from bot.gates.schemas import schema_names
from bot.pull_request.model import FindingStatus
from bot.web.api.endpoints import describe_api
from tests.journeys.harness import Harness

FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
REPO = "/api/v1/repos/{owner}/{repo}"


def described(mode: GenerationMode):
    schema = schemathesis.openapi.from_dict(describe_api())
    schema.config.generation.update(modes=[mode])
    return schema


WELL_ASKED = described(GenerationMode.POSITIVE)
# The others take nothing that could be wrong.
BADLY_ASKED = described(GenerationMode.NEGATIVE).include(path_regex=r"\{")


async def _harness(url: str, ready: Future, stop: asyncio.Event) -> None:
    harness = Harness(url)
    async with harness.github as github, harness.run_bot() as bot:
        where = github.repository("acme/knowledge", collaborators={"alice": "write"})
        pull = github.open_pull_request(where, "rio-agent[bot]")
        github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors -->")
        await harness.wait_until_idle()
        # One caller a question: the limit of calls a minute is proven elsewhere.
        ready.set_result((bot.address, lambda: github.tokens.for_user(github.account("alice")).token))
        await stop.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The real server with one rejected pull request, in a loop of its own."""
    url = f"sqlite:///{tmp_path_factory.mktemp('openapi') / 'store.db'}"
    loop, ready, stop = asyncio.new_event_loop(), Future(), asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(_harness(url, ready, stop),))
    thread.start()
    try:
        (host, port), token = ready.result(timeout=120)
        yield f"http://{host}:{port}", token
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@WELL_ASKED.parametrize()
@FEW
def test_well_asked_questions_get_what_is_described(case, server):
    url, token = server
    if "owner" in case.path_parameters:
        case.path_parameters |= {"owner": "acme", "repo": "knowledge"}
    if "number" in case.path_parameters:
        case.path_parameters["number"] = 1
    response = case.call(base_url=url, headers={"Authorization": f"Bearer {token()}"})
    # Tokens that GitHub does not know are limited; that and the rest about tokens is proven elsewhere.
    case.validate_response(response, excluded_checks=[ignored_auth])
    assert response.status_code in {200, 202, 404}


@BADLY_ASKED.parametrize()
@FEW
def test_badly_asked_questions_get_a_described_problem(case, server):
    url, token = server
    response = case.call(base_url=url, headers={"Authorization": f"Bearer {token()}"})
    assert response.status_code < 500
    kind = response.headers.get("content-type", [""])[0]
    assert response.status_code < 400 or not response.content or kind == "application/problem+json"


def test_every_route_of_the_api_is_described(server):
    url, _ = server
    paths = set(describe_api()["paths"])
    assert {f"{REPO}/patterns", f"{REPO}/gates", "/openapi.json"} <= paths
    assert url.startswith("http://127.0.0.1:")


def test_the_description_names_every_status_turn_and_schema():
    described = describe_api()
    parts = described["components"]["schemas"]
    named = described["paths"]["/schemas/{name}.json"]["get"]["parameters"][0]["schema"]["enum"]
    assert parts["finding"]["properties"]["status"]["enum"] == [status.value for status in FindingStatus]
    assert parts["findings"]["properties"]["turn"]["enum"] == [turn.value for turn in Turn]
    assert named == list(schema_names())
