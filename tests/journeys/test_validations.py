"""What a script hands in over HTTP, from its token to the comment."""

import json

import aiohttp
import pytest

from bot import app
from bot.feedback.marker import parse_document as shown_document
from bot.gates.rule_book import CONFIG_FILE
from bot.store.pull_requests import load_pull_request
from tests.journeys.submitted_documents import PAGE, make_document, make_sarif_log

CONFIG = "version: 1\nvalidators:\n  sarif:\n    E501: date_errors\n    /^W/: near_duplicate\n"


@pytest.fixture
async def configured(harness, knowledge, pull):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    async with harness.run_bot():
        harness.advance_clock()
        harness.github.push(pull, {PAGE: "# A claim\n\nIt holds indeed.\n"})
        await harness.wait_until_idle()
        yield harness


@pytest.fixture
async def hand_in(configured):
    host, port = configured.bot.address
    async with aiohttp.ClientSession() as session:

        async def handing(pull, content, login="alice", query="", scopes=("repo",)):
            path = f"/api/v1/repos/acme/knowledge/pulls/{pull.number}/validations{query}"
            token = configured.github.tokens.for_user(configured.github.account(login), scopes).token
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            headers = {"Authorization": f"Bearer {token}"}
            async with session.post(f"http://{host}:{port}{path}", data=data, headers=headers) as response:
                answer = response.status, await response.json(content_type=None)
            await configured.wait_until_idle()
            return answer

        yield handing


async def test_a_document_of_who_may_write_rejects(configured, pull, hand_in):
    status, answer = await hand_in(pull, make_document())
    assert (status, answer["results"], answer["mapped"], answer["unmapped"]) == (202, 1, 1, [])
    assert configured.markers(pull)[0]["issues"] == ["date_errors"]
    (body,) = configured.comments(pull)
    assert f"{PAGE}#L1) `The created field names a month that no calendar has`" in body
    assert ('"by": "alice"' in body, configured.markers(pull)[0]["source"]) == (True, "alice")


async def test_a_later_document_that_accepts_resolves(configured, pull, hand_in):
    await hand_in(pull, make_document())
    assessment = {**make_document()["overall_assessment"], "verdict": "accept"}
    await hand_in(pull, make_document(overall_assessment=assessment))
    assert configured.markers(pull)[0]["verdict"] == "accept"


async def test_a_linters_log_is_mapped_by_the_config(configured, pull, hand_in):
    status, answer = await hand_in(pull, make_sarif_log("E501", "W605", "F401"))
    assert (status, answer["results"], answer["mapped"], answer["unmapped"]) == (202, 3, 2, ["F401"])
    assert configured.markers(pull)[0]["issues"] == ["date_errors", "near_duplicate"]
    assert "(Source: validation by `ruff` @ " in configured.comments(pull)[0]


async def test_a_clean_log_of_the_same_tool_lifts_its_rejection(configured, pull, hand_in):
    await hand_in(pull, make_sarif_log("E501"))
    await hand_in(pull, make_sarif_log())
    assert configured.markers(pull)[0]["verdict"] == "accept"


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"{", (422, "line 1, column 2 is not JSON")),
        (b"[]", (422, "the report is in an unknown format; send an actionable-feedback document")),
        ({"version": "1.0", "runs": []}, (422, '/version is "1.0"; write a string that matches')),
        ({"feedback_items": []}, (422, "/feedback_items")),
    ],
)
async def test_what_can_not_be_read_is_refused_with_its_reason(configured, pull, hand_in, content, refusal):
    status, answer = await hand_in(pull, content)
    assert (status, configured.comments(pull)) == (refusal[0], [])
    assert refusal[1] in answer["detail"]


@pytest.mark.parametrize(
    ("content", "by"), [(make_document(), "alice"), (make_sarif_log("E501"), "check:ruff")]
)
async def test_what_a_fine_grained_token_hands_in_is_its_owners(configured, pull, hand_in, content, by):
    # GitHub does not tell what such a token itself may do, so its owner answers for it.
    _, answer = await hand_in(pull, content, scopes=None)
    (item,) = shown_document(configured.comments(pull)[0])["feedback_items"]
    known = await configured.bot.store.read(load_pull_request, f"pr:{pull.repository.id}:{pull.number}")
    (verdict,) = known.verdicts
    alice = configured.github.account("alice")
    assert (item["by"], item["provenance"].get("account", item["by"])) == (by, "alice")
    assert (item["provenance"]["permission"], item["provenance"]["delivery"]) == ("write", answer["id"])
    assert (verdict.account_id, verdict.permission) == (alice.id, "write")


@pytest.mark.parametrize("login", ["carol", "stranger"])
@pytest.mark.parametrize("scopes", [("repo",), None], ids=["classic", "fine-grained"])
async def test_a_token_that_may_not_write_is_refused(configured, pull, hand_in, login, scopes):
    assert (await hand_in(pull, make_document(), login, scopes=scopes))[0] == 403
    assert configured.comments(pull) == []


@pytest.fixture
async def ask(configured):
    """Ask what became of a validation."""
    host, port = configured.bot.address
    async with aiohttp.ClientSession() as session:

        async def asking(identity, login="carol", repository="acme/knowledge"):
            url = f"http://{host}:{port}/api/v1/repos/{repository}/validations/{identity}"
            headers = {"Authorization": f"Bearer {configured.github.user_token(login)}"}
            async with session.get(url, headers=headers) as response:
                return response.status, await response.json(content_type=None)

        yield asking


async def test_whoever_may_read_sees_which_findings_were_applied(pull, hand_in, ask):
    _, accepted = await hand_in(pull, make_sarif_log("E501", "F401"))
    finding = {"path": PAGE, "line": 1}
    assert await ask(accepted["id"]) == (
        200,
        {
            "id": accepted["id"],
            "pull_request": pull.number,
            "status": "applied",
            "head": pull.head_sha,
            "verdict": "rejects",
            "findings": [
                {
                    "tag": "date_errors",
                    "rule": None,
                    **finding,
                    "message": "E501 is broken here",
                    "blocking": True,
                },
                {"tag": None, "rule": "F401", **finding, "message": "F401 is broken here", "blocking": False},
            ],
            "more": 0,
            "blocking": 1,
            "replaced_by": None,
        },
    )


async def test_what_became_of_a_validation_says_of_a_finding_what_the_comment_says(
    configured, pull, hand_in, ask
):
    """A result's own severity goes before its gate's, in both ways."""
    configured.github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[scope_error] It is too wide.")
    stated = {"near_duplicate": "error", "date_errors": "warning"}
    results = [
        {"tag": tag, "path": PAGE, "line": 1, "message": "This is wrong here", "severity": severity}
        for tag, severity in stated.items()
    ]
    _, accepted = await hand_in(pull, {"findings": results})
    _, outcome = await ask(accepted["id"])
    told = {finding["tag"]: finding["blocking"] for finding in outcome["findings"]}
    assert told == {"near_duplicate": True, "date_errors": False}
    assert sorted(configured.markers(pull)[0]["blocking"]) == ["near_duplicate", "scope_error"]


async def test_a_validation_is_queued_until_it_is_worked_on(harness, pull):
    async with harness.run_bot():
        harness.advance_clock()
        harness.github.push(pull, {PAGE: "# A claim\n\nIt holds indeed.\n"})
        await harness.wait_until_idle()
    path = f"/api/v1/repos/acme/knowledge/pulls/{pull.number}/validations"
    headers = {"Authorization": f"Bearer {harness.github.user_token('alice')}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with app.run_instance(harness.settings, work=False) as web_only:
            url = "http://{}:{}".format(*web_only.address)
            async with session.post(url + path, json=make_document()) as response:
                accepted = await response.json()
            async with session.get(url + accepted["status_url"]) as response:
                assert (await response.json())["status"] == "queued"
        async with harness.run_bot() as bot:
            await harness.wait_until_idle()
            async with session.get("http://{}:{}".format(*bot.address) + accepted["status_url"]) as response:
                assert (await response.json())["status"] == "applied"


async def test_a_newer_validation_of_the_same_caller_and_tool_replaces_at_the_same_head(
    configured, pull, hand_in, ask
):
    _, first = await hand_in(pull, make_sarif_log("E501"), query=f"?head={pull.head_sha}")
    _, other = await hand_in(pull, make_sarif_log("E501"), query=f"?head={pull.head_sha}&tool=nightly")
    _, second = await hand_in(pull, make_sarif_log("W605"), query=f"?head={pull.head_sha}")
    replaced = [(await ask(one["id"]))[1]["replaced_by"] for one in (first, other, second)]
    assert replaced == [second["id"], None, None]
    assert configured.markers(pull)[0]["issues"] == ["date_errors", "near_duplicate"]


async def test_what_the_author_of_a_pull_request_hands_in_is_refused_with_the_reason(
    configured, knowledge, hand_in, ask
):
    own = configured.github.open_pull_request(knowledge, "alice")
    await configured.wait_until_idle()
    _, accepted = await hand_in(own, make_document(), "alice")
    _, status = await ask(accepted["id"])
    assert (status["status"], status["reason"]) == (
        "refused",
        "Its sender is the pull request's author, whose own validations do not count.",
    )


async def test_a_validation_is_not_seen_from_another_repository(configured, pull, hand_in, ask):
    _, accepted = await hand_in(pull, make_document())
    other = configured.github.repository("acme/other", collaborators={"carol": "read"})
    configured.github.open_pull_request(other, "rio-agent[bot]")
    await configured.wait_until_idle()
    assert (await ask(accepted["id"], repository="acme/other"))[0] == 404
    assert [(await ask(name))[0] for name in ("unknown", "a%2Fb", "x" * 80)] == [404] * 3


async def test_the_short_form_rejects_for_its_sender(configured, pull, hand_in):
    finding = {"tag": "date_errors", "path": PAGE, "line": 1, "message": "No calendar has this month"}
    assert (await hand_in(pull, {"findings": [finding]}))[0] == 202
    assert (configured.markers(pull)[0]["issues"], configured.markers(pull)[0]["source"]) == (
        ["date_errors"],
        "alice",
    )
    assert (await hand_in(pull, {"findings": []}))[0] == 202
    assert configured.markers(pull)[0]["verdict"] == "accept"


async def test_a_head_is_the_whole_sha(configured, pull, hand_in):
    assert (await hand_in(pull, make_document(), query="?head=abc"))[0] == 400
    assert (await hand_in(pull, make_document(), query=f"?head={pull.head_sha}"))[0] == 202
    # What GitHub would merge is checked out by its pipelines, and was never a head.
    assert (await hand_in(pull, make_document(), query=f"?head={'f' * 40}"))[0] == 202
    assert [(each["iteration"], each["head"]) for each in configured.markers(pull)] == [(1, pull.head_sha)]
