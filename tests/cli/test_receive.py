"""`whetstone receive` shows what the server would post, to the letter."""

from __future__ import annotations

import asyncio
import json
import re

from bot.cli import run
from bot.standin import Inline, Opening

PAGE = "claims/a.md"
TEXT = "---\ntype: claim\ndomain: markets\nsource: hanson.md\ncreated: 2026-13-01\n---\n\n# Markets\n"


def document(text: str) -> dict:
    return json.loads(re.search(r"```json\n(.*?)\n```", text, re.DOTALL)[1])


def but_for_its_moment(text: str) -> dict:
    return {name: value for name, value in document(text).items() if name not in {"id", "timestamp"}}


async def test_a_rehearsal_looks_up_and_briefs_as_the_server_does(town, monkeypatch, capsys, tmp_path):
    github = town.github
    where = github.repository("acme/knowledge", collaborators={"alice": "write"})
    async with github, town.running():
        pull = github.open_pull_request(where, "rio-agent[bot]", Opening(files={PAGE: TEXT}))
        said = [Inline(PAGE, "[date_errors] month 13 should be month 11", 5)]
        github.submit_review(pull, "alice", "CHANGES_REQUESTED", "", said)
        await town.settled()
        (heard,) = [each for each in github.deliveries if each.event == "pull_request_review"]
        payload = tmp_path / "review.json"
        payload.write_bytes(heard.body)
        monkeypatch.setenv("GITHUB_API_URL", github.api_url)
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", github.graphql_url)
        code = await asyncio.to_thread(run, ["receive", "-e", heard.event, "-p", str(payload)])
    (posted,) = town.comments(pull)
    shown = but_for_its_moment(capsys.readouterr().out)
    assert (code, shown) == (0, but_for_its_moment(posted))
    assert (shown["brief"]["score"], shown["feedback_items"][0]["grounding"]["outcome"]) == (8, "verified")
