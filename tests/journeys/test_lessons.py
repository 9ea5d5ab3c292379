"""Twelve weeks of reviews become lessons: over HTTP, in the thread, in the weekly issue and in the terminal."""

from __future__ import annotations

import asyncio
import json
import subprocess
from contextlib import asynccontextmanager
from datetime import timedelta

import aiohttp
import jsonschema
import pytest

from bot import app
from bot.cli import run_command_line
from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.inbox.internal_deliveries import weekly_delivery
from bot.lessons.effect import instruction_of
from bot.resources import utc_now
from bot.store.repositories import find_repository
from bot.turn.rule_book import default_rules
from bot.web.api.endpoints import describe_api
from tests.live_markdown import live_references

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
GATES = default_rules().gates
DATE, SCOPE = (instruction_of(GATES.get(tag)) for tag in ("date_errors", "scope_error"))
SIGNED = "Adds a claim.\n\nCo-Authored-By: Claude Opus 4.5 <noreply@anthropic.com>"
WEEKS, ADOPTED_WEEK = 12, 6
"""Each week has four pull requests, 48 in all; the lessons are added after 24 of them."""


@asynccontextmanager
async def running(harness):
    async with app.run_instance(harness.settings, clock=harness.clock, weekly=False) as instance:
        host, port = instance.address
        harness.github.webhook_url = f"http://{host}:{port}/webhook"
        harness.bot = instance
        yield instance


def go_to(harness, ago: timedelta) -> None:
    """GitHub's clock and the worker's show this time before now."""
    harness.clock_offset = -ago


def tags_of(week: int, number: int) -> tuple[str, ...]:
    """The agent breaks dates until the lesson stands in AGENTS.md; dave breaks the scope all along."""
    if number < 2:
        return ("date_errors",) if week < ADOPTED_WEEK else ()
    return ("scope_error",) if number == 2 else ()


async def play_weeks(harness, knowledge) -> None:
    for week in range(WEEKS):
        go_to(harness, timedelta(weeks=WEEKS - week - 0.5))
        if week == ADOPTED_WEEK:
            harness.github.commit_to_default_branch(knowledge, {"AGENTS.md": "# Rules\n"})
            harness.advance_clock()
            harness.github.commit_to_default_branch(
                knowledge, {"AGENTS.md": f"# Rules\n\n- {DATE}.\n- {SCOPE}.\n"}
            )
            harness.advance_clock()
            harness.github.commit_to_default_branch(
                knowledge, {"AGENTS.md": f"# Rules\n\n- {DATE}.\n- {SCOPE}.\n- Be kind.\n"}
            )
        for number in range(4):
            author = "rio-agent[bot]" if number < 2 else "dave"
            path = f"claims/markets/{week}-{number}.md"
            options = PullRequestOptions(
                body=SIGNED if author == "dave" else "", files={path: "# A claim\n\nIt holds.\n"}
            )
            pull = harness.github.open_pull_request(knowledge, author, options)
            harness.advance_clock()
            drafts = [InlineDraft(path, f"[{tag}] see the guide", line=1) for tag in tags_of(week, number)]
            harness.github.submit_review(pull, "alice", REJECT if drafts else APPROVE, "See inline.", drafts)
        await harness.wait_until_idle()
    go_to(harness, timedelta(0))


async def ask(harness, path: str, login: str):
    host, port = harness.bot.address
    headers = {"Authorization": f"Bearer {harness.github.user_token(login)}"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(
            f"http://{host}:{port}/api/v1/repos/acme/knowledge/lessons{path}", headers=headers
        ) as got,
    ):
        return got.status, await got.json(content_type=None)


async def run_cli(*arguments: str) -> int:
    return await asyncio.to_thread(run_command_line, arguments)


def checkout(folder) -> None:
    """A clone with one changed page, whose date is no date."""

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=d", "-c", "user.email=d@d.d")
        subprocess.run(("git", *identity, *arguments), cwd=folder, check=True)  # noqa: S603, S607  our own options

    git("init", "--quiet", "--initial-branch", "main")
    git("remote", "add", "origin", "https://github.com/acme/knowledge.git")
    git("commit", "--quiet", "--allow-empty", "--message", "Begin")
    git("checkout", "--quiet", "-b", "change")
    page = folder / "claims" / "markets" / "new.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\ntype: claim\ncreated: 12 November 2026\n---\n# New\n")


async def test_twelve_weeks_of_reviews_teach(harness, knowledge, tmp_path, monkeypatch, capsys):  # noqa: PLR0915  one story
    async with running(harness) as bot:
        await play_weeks(harness, knowledge)

        # Over HTTP: a lesson that helped stays, one without effect is proposed for removal.
        status, content = await ask(harness, "", "carol")
        jsonschema.validate(content, {"$ref": "#/components/schemas/lessons", **describe_api()})
        (lesson,), (removal,) = content["lessons"], content["removals"]
        assert (status, content["pull_requests"]) == (200, 48)
        assert (lesson["tag"], lesson["broken"], lesson["prevented"]) == (
            "date_errors", 12, 12,
        )  # fmt: skip
        assert lesson["folder"] is None, "all that is reviewed here is in one folder"
        assert (lesson["effect"]["file"], lesson["effect"]["outcome"]) == ("AGENTS.md", "helped")
        assert (lesson["effect"]["before"], lesson["effect"]["after"]) == (
            {"broken": 12, "of": 24, "low": 0.314, "high": 0.686},
            {"broken": 0, "of": 24, "low": 0.0, "high": 0.138},
        )
        assert [each["number"] for each in lesson["evidence"]] == [22, 21, 18, 17, 14]
        assert (removal["tag"], removal["effect"]["outcome"]) == ("scope_error", "no_effect")
        assert removal["evidence"] == [], "a person's pull requests are not named in a public repository"

        # A trailer makes no agent of a person: their record stays theirs, the figures have no login.
        assert content["agents"] == [
            {"agent": "Claude Code", "model": "Opus 4.5", "pull_requests": 24, "tags": {"scope_error": 12}}
        ]
        assert "dave" not in json.dumps(content)
        assert (await ask(harness, "?agent=dave", "carol"))[0] == 404
        assert (await ask(harness, "?agent=dave", "alice"))[1]["pull_requests"] == 24
        assert (await ask(harness, "?agent=@me", "dave"))[1]["agent"] == "dave"
        assert (await ask(harness, "?agent=rio-agent[bot]", "carol"))[1]["lessons"][0]["of"] == 24
        assert (await ask(harness, "?max=0", "carol"))[0] == 400

        # In the thread: for triage or more.
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        asked = harness.github.comment(pull, "alice", "/feedback-lessons")
        refused = harness.github.comment(pull, "carol", "/feedback-lessons")
        await harness.wait_until_idle()
        (reply,) = harness.comments(pull)
        assert content["markdown"] in reply
        assert "- `scope_error` in `AGENTS.md`" in reply
        assert live_references(reply) == []
        assert [reaction.content for reaction in asked.reactions] == ["eyes"]
        assert [reaction.content for reaction in refused.reactions] == ["confused"]

        # In the weekly issue, which needs one review this week.
        harness.github.submit_review(pull, "alice", APPROVE)
        await harness.wait_until_idle()
        await bot.store.accept(
            weekly_delivery(await bot.store.read(find_repository, knowledge.id), "", utc_now(), "by-hand")
        )
        await harness.wait_until_idle()
        (issue,) = [each for each in knowledge.threads.values() if each.title == "Weekly feedback summary"]
        assert "\nLessons: 1 helped, 1 without effect.\n" in issue.body
        assert "dave" not in issue.body
        assert live_references(issue.body) == []

        # In the terminal, from the store alone.
        monkeypatch.setenv("DATABASE_URL", harness.database_url)
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        assert await run_cli("lessons", "acme/knowledge", "--agent", "rio-agent[bot]") == 0
        printed = capsys.readouterr()
        assert "(`date_errors`): reported in 12 of your 25 pull requests, last in [22](" in printed.out
        assert "The effect is not measured" in printed.err

        # Before a push: what this author breaks in these folders, and the fix that is certain.
        checkout(tmp_path)
        monkeypatch.setenv("WHETSTONE_URL", "http://{}:{}".format(*bot.address))
        monkeypatch.setenv("GH_TOKEN", harness.github.user_token("carol"))
        arguments = ("preflight", "--base", "main", "--agent", "rio-agent[bot]")
        assert await run_cli(*arguments) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"1. [BLOCK] {DATE} (`date_errors`): reported in 12 of")
        assert "Certain fixes:\n  claims/markets/new.md:3: created: 2026-11-12 (date_errors)\n" in printed

    monkeypatch.setenv("WHETSTONE_URL", "http://127.0.0.1:9")
    assert await run_cli(*arguments) == 3
    offline = capsys.readouterr()
    assert offline.out == ""
    assert "http://127.0.0.1:9 (WHETSTONE_URL) can't be reached" in offline.err


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
async def test_commit_trailers_are_read_from_the_comparison_without_a_further_read(harness, knowledge):
    signed = PullRequestOptions(message="Add\n\nCo-authored-by: Codex <noreply@openai.com>")
    async with running(harness):
        go_to(harness, timedelta(minutes=5))
        for _ in range(5):
            pull = harness.github.open_pull_request(knowledge, "dave", signed)
            harness.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors -->")
            await harness.wait_until_idle()
            harness.advance_clock()
            harness.github.push(pull, {"claims/first.md": "# Better\n"})
            harness.github.submit_review(pull, "alice", APPROVE)
            await harness.wait_until_idle()
        go_to(harness, timedelta(0))
        _, content = await ask(harness, "", "carol")
    listed = [call for call in harness.github.requests if call.path.endswith("/commits")]
    assert content["agents"] == [
        {"agent": "Codex", "model": None, "pull_requests": 5, "tags": {"date_errors": 5}}
    ]
    assert listed == []


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
async def test_in_a_private_repository_evidence_is_named(journey):
    private = journey.github.repository("acme/knowledge", collaborators={"alice": "write"}, private=True)
    for _ in range(2):
        pull = journey.github.open_pull_request(private, "dave")
        journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors -->")
    await journey.wait_until_idle()
    _, content = await ask(journey, "", "alice")
    assert [each["number"] for each in content["lessons"][0]["evidence"]] == [2, 1]
