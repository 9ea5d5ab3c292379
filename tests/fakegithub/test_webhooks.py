from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from bot.fakegithub.reviews import InlineDraft
from tests.fakegithub.conftest import SECRET


@pytest.fixture
async def hooked(fake_github, hooks):
    fake_github.webhook_url = hooks.url
    return fake_github


async def test_a_review_reaches_the_bot_signed(hooked, hooks, pull):
    hooked.submit_review(
        pull,
        "alice",
        "CHANGES_REQUESTED",
        "[date_errors]",
        [InlineDraft("claims/first.md", "Which year?", 3)],
    )
    await hooked.delivered()
    assert hooks.events == ["pull_request", "pull_request_review", "pull_request_review_comment"]
    headers, body = hooks.heard[1]
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] == f"sha256={signature}"
    assert headers["X-GitHub-Delivery"] == hooked.deliveries.all[1].guid
    payload = json.loads(body)
    assert (payload["action"], payload["review"]["state"]) == ("submitted", "changes_requested")
    assert payload["installation"]["id"] == hooked.installation_of(pull.repository).id


async def test_the_answer_to_each_webhook_is_remembered(hooked, hooks, pull):
    await hooked.delivered()
    hooks.status = 503
    hooked.comment(pull, "bob", "Done?")
    await hooked.delivered()
    assert [(each.event, each.status_code) for each in hooked.deliveries] == [
        ("pull_request", 202),
        ("issue_comment", 503),
    ]


async def test_nobody_answers(fake_github, pull):
    fake_github.webhook_url = "http://127.0.0.1:1/webhook"
    fake_github.comment(pull, "bob", "Anybody there?")
    await fake_github.delivered()
    assert fake_github.deliveries.all[-1].status_code == 0


async def test_held_webhooks_come_in_another_order(hooked, hooks, pull):
    await hooked.delivered()
    hooked.hold()
    hooked.push(pull, {"claims/first.md": "# Another\n"})
    hooked.comment(pull, "bob", "Done.")
    await hooked.delivered()
    assert hooks.events == ["pull_request"]
    hooked.release(reversed)
    await hooked.delivered()
    assert hooks.events == ["pull_request", "issue_comment", "pull_request", "push"]


async def test_what_the_order_leaves_out_is_lost(hooked, hooks, pull):
    await hooked.delivered()
    hooked.hold()
    hooked.comment(pull, "bob", "One")
    hooked.comment(pull, "bob", "Two")
    hooked.release(lambda held: held[1:])
    await hooked.delivered()
    assert [json.loads(body)["comment"]["body"] for _, body in hooks.heard[1:]] == ["Two"]


async def test_a_redelivery_keeps_its_guid_and_its_bytes(hooked, hooks, repository):
    hooked.open_pull_request(repository, "bob")
    first = hooked.deliveries.all[0]
    hooked.redeliver(first)
    await hooked.delivered()
    assert hooks.heard[0][1] == hooks.heard[1][1]
    assert [headers["X-GitHub-Delivery"] for headers, _ in hooks.heard] == [first.guid, first.guid]
    assert hooked.deliveries.all[1].redelivery is True


@pytest.mark.usefixtures("pull")
async def test_the_bots_own_comment_comes_back_as_a_webhook(hooked, hooks, bot):
    await bot("POST", "/repos/acme/kb/issues/1/comments", json={"body": "Hello"})
    await hooked.delivered()
    payload = json.loads(hooks.heard[-1][1])
    assert payload["action"] == "created"
    assert payload["sender"]["login"] == "whetstone[bot]"
    assert payload["comment"]["performed_via_github_app"]["slug"] == "whetstone"


async def test_a_suspended_installation_hears_no_events(hooked, hooks, pull):
    hooked.suspend("acme")
    hooked.comment(pull, "bob", "Hello?")
    hooked.suspend("acme", suspended=False)
    await hooked.delivered()
    assert hooks.events == ["pull_request", "installation", "installation"]


async def test_waiting_sees_even_a_state_that_does_not_last(fake_github, pull):
    def both() -> bool:
        return len(fake_github.comments_of(pull)) == 1

    waiting = fake_github.until(both)
    made = fake_github.comment(pull, "bob", "Hello")
    assert await waiting is True
    fake_github.delete_comment(made)
    with pytest.raises(TimeoutError):
        await fake_github.until(both, timeout=0.01)
