"""The same on a GitHub Enterprise Server: other addresses, and no detour for links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import settings as settings_of
from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from tests.journeys.harness import Harness

DATE = "<!-- ISSUES: date_errors -->"
WORSE = "<!-- ISSUES: date_errors, frontmatter_schema -->"


class EnterpriseHarness(Harness):
    """A harness whose GitHub has everything under one host, and derives the GraphQL address from the API's."""

    @property
    def settings(self):
        return replace(super().settings, graphql_url=settings_of.graphql_url_for(self.github.api_url))


@pytest.fixture
async def journey(sqlite_url):
    place = EnterpriseHarness(sqlite_url, enterprise=True)
    async with place.github, place.run_bot():
        yield place


@pytest.fixture
def pull(journey):
    knowledge = journey.github.repository("acme/knowledge", collaborators={"alice": "write"})
    changed = {"notes/q3.md": "# Q3\n\nIn 2062 it grew.\n"}
    return journey.github.open_pull_request(knowledge, "rio-agent[bot]", PullRequestOptions(files=changed))


async def test_the_addresses_are_those_of_an_enterprise_server(journey):
    assert journey.settings.api_url.endswith("/api/v3")
    assert journey.settings.graphql_url == journey.github.graphql_url
    assert journey.settings.graphql_url.endswith("/api/graphql")


async def test_a_rejection_links_to_the_server_itself_and_never_through_githubs_other_name(journey, pull):
    github = journey.github
    place = InlineDraft("notes/q3.md", "[date_errors] The year is wrong.", 3)
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE, [place])
    await journey.wait_until_idle()
    [body] = journey.comments(pull)
    host = github.api_url.removesuffix("/api/v3")
    assert f"({host}/acme/knowledge/blob/{pull.head_sha}/notes/q3.md#L3)" in body
    assert ("redirect.github.com" in body, "https://github.com" in body) == (False, False)


async def test_a_worse_verdict_supersedes_the_comment_over_graphql(journey, pull):
    github = journey.github
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    github.push(pull, {"claims/first.md": "# Worse\n"})
    journey.advance_clock()
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", WORSE)
    await journey.wait_until_idle()
    old, new = [each for each in github.comments_of(pull) if each.user is github.app.bot]
    assert (old.minimized, new.minimized) == ("outdated", None)
    assert [marker["issues"] for marker in journey.markers(pull)] == [["date_errors", "frontmatter_schema"]]
    assert "redirect.github.com" not in old.body
    assert len(github.asked("POST", "/api/graphql")) == 1


async def test_history_and_iterations_name_other_commits_in_code(journey, pull):
    github = journey.github
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    github.push(pull, {"notes/q3.md": "# Q3\n\nIn 2026 it grew.\n"})
    await journey.wait_until_idle()
    journey.advance_clock()
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    github.comment(pull, "alice", "/feedback-history @rio-agent[bot]")
    await journey.wait_until_idle()
    bodies = journey.comments(pull)
    assert len(bodies) == 2
    assert [("redirect.github.com" in body, "https://github.com" in body) for body in bodies] == [
        (False, False),
        (False, False),
    ]
