"""`whetstone receive` shows what the server would post, to the letter."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from bot.cli import receive, run_command_line
from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.pull_request.effects import CancelWrite

PAGE = "claims/a.md"
TEXT = "---\ntype: claim\ndomain: markets\nsource: hanson.md\ncreated: 2026-13-01\n---\n\n# Markets\n"


def document(text: str) -> dict:
    return json.loads(re.search(r"```json\n(.*?)\n```", text, re.DOTALL)[1])


def but_for_its_moment(text: str) -> dict:
    return {name: value for name, value in document(text).items() if name not in {"id", "timestamp"}}


async def test_a_rehearsal_looks_up_and_briefs_as_the_server_does(harness, monkeypatch, capsys, tmp_path):
    github = harness.github
    where = github.repository("acme/knowledge", collaborators={"alice": "write"})
    async with github, harness.run_bot():
        pull = github.open_pull_request(where, "rio-agent[bot]", PullRequestOptions(files={PAGE: TEXT}))
        said = [InlineDraft(PAGE, "[date_errors] month 13 should be month 11", 5)]
        github.submit_review(pull, "alice", "CHANGES_REQUESTED", "", said)
        await harness.wait_until_idle()
        (heard,) = [each for each in github.deliveries if each.event == "pull_request_review"]
        payload = tmp_path / "review.json"
        payload.write_bytes(heard.body)
        monkeypatch.setenv("GITHUB_API_URL", github.api_url)
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", github.graphql_url)
        code = await asyncio.to_thread(run_command_line, ["receive", "-e", heard.event, "-p", str(payload)])
    (posted,) = harness.comments(pull)
    shown = but_for_its_moment(capsys.readouterr().out)
    assert (code, shown) == (0, but_for_its_moment(posted))
    assert (shown["brief"]["score"], shown["feedback_items"][0]["grounding"]["outcome"]) == (8, "verified")


COMMENTED = {
    "action": "created",
    "issue": {"number": 7, "pull_request": {"url": "x"}, "user": {"id": 5, "login": "dave", "type": "User"}},
    "comment": {
        "id": 81,
        "node_id": "C_81",
        "body": "/feedback-help",
        "user": {"id": 6, "login": "bob", "type": "User"},
        "created_at": "2026-11-16T09:00:00Z",
        "html_url": "https://github.com/acme/kb/pull/7#issuecomment-81",
    },
    "repository": {"id": 9, "name": "kb", "full_name": "acme/kb", "owner": {"id": 1, "login": "acme"}},
    "installation": {"id": 3},
    "sender": {"id": 6, "login": "bob", "type": "User"},
}


@pytest.fixture
def payload(tmp_path):
    path = tmp_path / "comment.json"
    path.write_text(json.dumps(COMMENTED))
    return str(path)


def test_a_command_is_not_called_an_event_without_effect(payload, capsys):
    assert run_command_line(["receive", "-e", "issue_comment", "-p", payload]) == 0
    assert capsys.readouterr().out.startswith("No effect: slash commands can't be dry-run")


async def test_what_github_refuses_is_one_line(harness, monkeypatch, capsys, payload):
    async with harness.github:
        monkeypatch.setenv("GITHUB_API_URL", harness.github.api_url)
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", harness.github.graphql_url)
        body = payload.replace("comment.json", "review.json")
        review = {"id": 4, "state": "changes_requested", "body": "[date_errors]", "commit_id": "a" * 40}
        review |= {"user": COMMENTED["sender"], "submitted_at": "2026-11-16T09:00:00Z", "html_url": ""}
        pull = {"number": 7, "title": "x", "state": "open", "user": COMMENTED["issue"]["user"]}
        pull |= {
            "head": {"sha": "a" * 40, "ref": "x"},
            "base": {"ref": "main"},
            "html_url": "",
            "created_at": "2026-11-16T08:00:00Z",
        }
        reviewed = {**COMMENTED, "action": "submitted", "review": review, "pull_request": pull}
        await asyncio.to_thread(lambda: Path(body).write_text(json.dumps(reviewed)))
        code = await asyncio.to_thread(run_command_line, ["receive", "-e", "pull_request_review", "-p", body])
    said = capsys.readouterr().err.strip().splitlines()
    assert (code, len(said), said[0].startswith("whetstone receive: ")) == (1, 1, True)


def test_a_setting_that_is_wrong_is_not_called_missing_credentials(payload, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_APP_ID", "12")
    monkeypatch.setenv("PORT", "abc")
    assert run_command_line(["receive", "-e", "issue_comment", "-p", payload]) == 2
    assert "PORT" in capsys.readouterr().err


def test_an_effect_is_printed_under_its_stored_name_whatever_its_class_is_called():
    assert receive._as_json(CancelWrite("comment")) == {"effect": "Withdraw", "target": "comment"}
    assert receive._text(CancelWrite("comment")) == "Withdraw\n  target: comment"
