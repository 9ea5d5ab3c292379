import asyncio
import contextlib
import gc
import hashlib
import hmac
import json
import weakref
from datetime import UTC, datetime

import aiohttp
import pytest
from aiohttp.test_utils import make_mocked_request

from bot.store.model import Delivery
from bot.web.server import build_application, serve_application
from bot.web.webhook import MAX_BODY, WebhookHandler
from tests.judges.samples import samples
from tests.web.conftest import Caller

PULL = {"repository": {"id": 7}, "pull_request": {"number": 3}, "installation": {"id": 9}}
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def sign(body, secret=b"new secret"):
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def said(answer):
    return answer.status, answer.content.get("detail", answer.content["status"])


async def status_of(address, rest, *, end=False, then=b""):
    """What is answered to a request in these very bytes; the last ones are sent after the answer."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"POST /webhook HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + rest)
    if end:
        writer.write_eof()
    answer = await reader.readline()
    if then:
        writer.write(then)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    return answer.decode().split()[1] if answer else "closed"


UNSIGNED = (401, "The signature in X-Hub-Signature-256 does not match.")
TOO_LARGE = (413, "The payload is larger than 25 MiB.")
NO_EVENT = (400, "The header X-GitHub-Event is missing.")
NO_DELIVERY = (400, "The header X-GitHub-Delivery is missing or malformed.")
NO_OBJECT = (400, "The body is not a JSON object. Set the webhook's content type to application/json.")


async def test_a_signed_delivery_is_kept_byte_for_byte_and_answered_202(github, inbox):
    body = json.dumps(PULL, indent=3).encode()
    answer = await github.post(body)
    assert (answer.status, answer.content, answer.content_type) == (
        202,
        {"status": "queued"},
        "application/json",
    )
    assert inbox.deliveries == [Delivery("d-1", "pull_request", "pr:7:3", 9, body, NOW)]


async def test_the_same_delivery_again_is_a_duplicate(github, inbox):
    await github.post(PULL)
    assert said(await github.post(PULL)) == (200, "duplicate")
    assert len(inbox.deliveries) == 1


async def test_a_store_that_is_away_is_a_503(github, inbox):
    inbox.away = True
    answer = await github.post(PULL)
    assert said(answer) == (503, "The store is unavailable. Redeliver this later.")
    assert answer.content_type == "application/problem+json"


async def test_our_own_error_is_a_500_that_tells_nothing(github, inbox, caplog):
    inbox.bug = RuntimeError("the inside")
    answer = await github.post(PULL)
    assert said(answer) == (500, "Internal error. See the server's log.")
    assert [record.name for record in caplog.records] == ["whetstone.web"]


@pytest.mark.parametrize("secret", [b"new secret", b"old secret"])
async def test_both_secrets_count_while_they_are_rotated(github, secret):
    body = json.dumps(PULL).encode()
    assert said(await github.post(body, signature=sign(body, secret))) == (202, "queued")


BODY = json.dumps(PULL).encode()
HOSTILE_SIGNATURES = {
    "another secret": sign(BODY, b"guess"),
    "the empty secret": sign(BODY, b""),
    "another body": sign(BODY + b" "),
    "only the digest": sign(BODY).removeprefix("sha256="),
    "sha1 under the name of sha256": "sha1=" + hmac.new(b"new secret", BODY, hashlib.sha1).hexdigest(),
    "too short": sign(BODY)[:-2],
    "too long": sign(BODY) + "00",
    "upper case": sign(BODY).upper(),
    "letters outside ASCII": "sha256=" + "é" * 64,
    "two at once": sign(BODY, b"guess") + "," + sign(BODY),
    "nothing after the name": "sha256=",
}


@pytest.mark.parametrize("signature", HOSTILE_SIGNATURES.values(), ids=HOSTILE_SIGNATURES.keys())
async def test_a_wrong_signature_is_a_401(github, inbox, signature):
    assert said(await github.post(BODY, signature=signature)) == UNSIGNED
    assert inbox.deliveries == []


async def test_no_signature_is_a_401(github):
    assert said(await github.post(BODY, signature="")) == UNSIGNED


async def test_the_old_sha1_header_alone_is_a_401(github):
    old = "sha1=" + hmac.new(b"new secret", BODY, hashlib.sha1).hexdigest()
    assert said(await github.post(BODY, signature="", **{"X-Hub-Signature": old})) == UNSIGNED


async def test_raw_bytes_in_the_signature_header_are_a_401(address):
    headers = b"Content-Length: 2\r\nX-Hub-Signature-256: sha256=\xff\xfe\x80\r\n\r\n{}"
    assert await status_of(address, headers) == "401"


@pytest.mark.parametrize("secrets", [(), (b"",), (b"good", b"")])
def test_a_webhook_without_a_secret_is_not_built(inbox, secrets):
    with pytest.raises(ValueError, match="secret"):
        WebhookHandler(inbox, secrets, frozenset())


async def test_without_an_event_header(github):
    assert said(await github.post(PULL, event="")) == NO_EVENT


@pytest.mark.parametrize("event", ["gollum", "ping", "star", "installation", "Pull_Request", "no such"])
async def test_an_event_that_is_not_read_is_ignored_whatever_it_holds(github, inbox, event):
    inbox.away = True  # the store is not touched
    assert said(await github.post(b"\xff not json", event=event, delivery="")) == (200, "ignored")


@pytest.mark.parametrize("delivery", ["", "x" * 101, "a b", "a\tb", "é"])
async def test_a_delivery_needs_an_id_of_its_own(github, delivery):
    assert said(await github.post(PULL, delivery=delivery)) == NO_DELIVERY


HOSTILE_BODIES = {
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "number": b"1",
    "string": b'"{}"',
    "cut off": b'{"a":',
    "two": b"{} {}",
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": Infinity}',
    "not UTF-8": b'{"a": "\xff"}',
    "a name not UTF-8": b'{"\xff": 1}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "deep lists": b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "half a surrogate": b'{"a": "\\ud800"}',
    "form": b"payload=%7B%22a%22%3A1%7D",
}


@pytest.mark.parametrize("body", HOSTILE_BODIES.values(), ids=HOSTILE_BODIES.keys())
async def test_a_body_that_is_no_json_object_is_a_400(github, inbox, body):
    assert said(await github.post(body)) == NO_OBJECT
    assert inbox.deliveries == []


async def test_the_content_type_is_not_asked_for(github):
    assert said(await github.post(PULL, **{"Content-Type": "text/plain"})) == (202, "queued")


async def test_a_repeated_key_keeps_its_last_value(github, inbox):
    await github.post(b'{"repository":{"id":7},"pull_request":{"number":1},"pull_request":{"number":2}}')
    assert [kept.lane for kept in inbox.deliveries] == ["pr:7:2"]


async def test_the_checks_come_in_the_documented_order(github):
    """Everything is wrong at first; mending one thing shows the next."""
    bad = b"no json"
    assert [
        said(await github.send(b" " * (MAX_BODY + 1), {})),
        said(await github.send(bad, {})),
        said(await github.send(bad, {"X-Hub-Signature-256": sign(bad)})),
        said(await github.send(bad, {"X-Hub-Signature-256": sign(bad), "X-GitHub-Event": "pull_request"})),
        said(await github.post(bad)),
        said(await github.post(PULL)),
    ] == [TOO_LARGE, UNSIGNED, NO_EVENT, NO_DELIVERY, NO_OBJECT, (202, "queued")]


async def test_the_largest_payload_of_github_comes_in(github):
    body = json.dumps(PULL).encode().ljust(MAX_BODY)
    assert said(await github.post(body)) == (202, "queued")


async def test_one_byte_more_does_not_even_without_a_length(github, inbox):
    async def chunks():
        for _ in range(25):
            yield b" " * (1024 * 1024)
        yield b" "

    assert said(await github.send(chunks(), {"X-Hub-Signature-256": "x"})) == TOO_LARGE
    assert inbox.deliveries == []


async def test_a_request_that_is_too_large_leaves_nothing_behind(inbox):
    webhook = WebhookHandler(inbox, (b"new secret",), frozenset())
    request = make_mocked_request("POST", "/webhook", {"Content-Length": str(MAX_BODY + 1)})
    answer, gone = await webhook.handle(request), weakref.ref(request)
    del request
    gc.collect()
    assert (answer.status, gone()) == (413, None)


async def test_a_packed_body_is_signed_as_it_was_sent_and_not_unpacked(address):
    packed = b"\x1f\x8b\x08\x00 whatever"
    async with aiohttp.ClientSession("http://{}:{}".format(*address)) as session:
        assert said(await Caller(session).post(packed, **{"Content-Encoding": "gzip"})) == NO_OBJECT


@pytest.mark.parametrize(
    "payload", [{}, {"pull_request": {"number": 3}}, {**PULL, "repository": {"id": "7"}}]
)
async def test_a_payload_that_names_no_lane_is_ignored(github, inbox, payload):
    assert said(await github.post(payload)) == (200, "ignored")
    assert inbox.deliveries == []


async def test_a_command_of_our_own_names_its_lane(github, inbox):
    job = {"lane": "weekly:7:2026-W10", "installation": {"id": 9}}
    assert said(await github.post(job, event="whetstone")) == (202, "queued")
    assert [(kept.event, kept.lane) for kept in inbox.deliveries] == [("whetstone", "weekly:7:2026-W10")]


async def test_every_published_sample_gets_a_2xx(github, caplog):
    statuses = {
        (await github.post(sample.payload, event=sample.event, delivery=f"d-{number}")).status
        for number, sample in enumerate(samples())
    }
    assert (statuses, caplog.records) == ({200, 202}, [])


NO_HTTP = {
    "a chunk without a size": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a NUL in a header": b"Bad\x00Header: 1\r\n\r\n",
    "a negative length": b"Content-Length: -5\r\n\r\n",
    "two lengths": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("rest", NO_HTTP.values(), ids=NO_HTTP.keys())
async def test_what_is_no_http_is_a_400_without_a_traceback(address, caplog, rest):
    assert await status_of(address, rest) == "400"
    assert caplog.records == []


async def test_a_body_that_is_cut_off_leaves_no_traceback(address, inbox, caplog):
    assert await status_of(address, b"Content-Length: 20\r\n\r\n{}", end=True) in {"400", "closed"}
    assert (inbox.deliveries, caplog.records) == ([], [])


async def test_a_body_that_does_not_come_is_not_waited_for(inbox):
    webhook = WebhookHandler(inbox, (b"secret",), frozenset(), body_timeout=0.05)
    async with serve_application(build_application(webhook.routes()), "127.0.0.1", 0) as address:
        assert await status_of(address, b"Content-Length: 20\r\n\r\n{}", then=b" " * 18) == "408"


@pytest.mark.parametrize("sent", [b"", b"POST /webhook HTTP/1.1\r\nHost: x\r\nX-Half"])
async def test_a_caller_who_never_comes_to_the_point_is_not_kept(inbox, sent):
    webhook = WebhookHandler(inbox, (b"secret",), frozenset())
    async with serve_application(
        build_application(webhook.routes()), "127.0.0.1", 0, idle_timeout=0.05
    ) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        assert await asyncio.wait_for(reader.read(), 60) == b""
        writer.close()
