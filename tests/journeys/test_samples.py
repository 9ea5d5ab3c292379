"""GitHub's own published payloads, and hostile ones, at the door of the running bot."""

import hashlib
import hmac
import json
import logging

import aiohttp
import pytest

from bot.inbox.parse import ACCEPTED_EVENTS
from tests.journeys.harness import SECRET
from tests.judges.samples import samples


@pytest.fixture
def store_url(sqlite_url):
    return sqlite_url


def signed(body: bytes, event: str, guid: str) -> dict[str, str]:
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return {"X-GitHub-Event": event, "X-GitHub-Delivery": guid, "X-Hub-Signature-256": f"sha256={signature}"}


async def post(harness, headers: dict[str, str], body: bytes) -> tuple[int, dict]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(harness.github.webhook_url, data=body, headers=headers) as answer,
    ):
        return answer.status, await answer.json(content_type=None)


async def test_every_published_sample_is_taken_and_leaves_no_error(journey, caplog):
    caplog.set_level(logging.WARNING)
    answers = {}
    async with aiohttp.ClientSession() as session:
        for number, sample in enumerate(samples()):
            body = json.dumps(sample.payload).encode()
            headers = signed(body, sample.event, f"sample-{number}")
            async with session.post(journey.github.webhook_url, data=body, headers=headers) as answer:
                answers[number] = (answer.status, (await answer.json())["status"])
    await journey.bot.wait_until_idle()
    assert {status // 100 for status, _ in answers.values()} == {2}
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    read = [number for number, sample in enumerate(samples()) if sample.event in ACCEPTED_EVENTS]
    assert all(answers[number][1] == "ignored" for number in set(answers) - set(read))


REVIEW = next(each.payload for each in samples() if each.event == "pull_request_review")
BODY = json.dumps(REVIEW).encode()
GOOD = signed(BODY, "pull_request_review", "guid-1")


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({**GOOD, "X-Hub-Signature-256": "sha256=" + "0" * 64}, BODY, 401),
        ({**GOOD, "X-Hub-Signature-256": "sha256=é"}, BODY, 401),
        ({**GOOD, "X-Hub-Signature-256": ""}, BODY, 401),
        ({"X-Hub-Signature": "sha1=" + "0" * 40, "X-GitHub-Event": "pull_request"}, BODY, 401),
        (GOOD, BODY + b" ", 401),
        ({**GOOD, "X-GitHub-Event": ""}, BODY, 400),
        ({**GOOD, "X-GitHub-Delivery": ""}, BODY, 400),
        (signed(b"[]", "pull_request", "guid-2"), b"[]", 400),
        (signed(b"{", "pull_request", "guid-3"), b"{", 400),
        (signed(b"[" * 100_000, "pull_request", "guid-4"), b"[" * 100_000, 400),
        (signed(b"\xff\xfe", "pull_request", "guid-5"), b"\xff\xfe", 400),
        (signed(b"{", "gollum", "guid-6"), b"{", 200),
        (signed(b"{}", "pull_request", "guid-7"), b"{}", 200),
    ],
)
async def test_a_hostile_request_gets_its_answer_in_the_documented_order(journey, headers, body, status):
    assert (await post(journey, headers, body))[0] == status


async def test_a_known_delivery_is_a_duplicate(journey):
    first, again = await post(journey, GOOD, BODY), await post(journey, GOOD, BODY)
    assert (first, again) == ((202, {"status": "queued"}), (200, {"status": "duplicate"}))
