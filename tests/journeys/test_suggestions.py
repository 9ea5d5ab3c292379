"""The certain fix of an auto-fixable gate, in the comment and as a suggestion to commit."""

import pytest

from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.gates.rule_book import CONFIG_FILE
from tests.journeys.harness import ON_ONE_STORE

pytestmark = ON_ONE_STORE

PAGE = "claims/first.md"
CLAIM = """\
---
type: claim
domain: markets
description: Attackers moved the price
confidence: likely
source_archive: hanson-2013.md
created: 2026/11/14
---

See [[thin-markets]].
"""
REJECT = "CHANGES_REQUESTED"
DOCUMENT = f"""\
```yaml
feedback_items:
  - tag: date_errors
    issue: The date is in the wrong form
    location: {{type: line, reference: '{PAGE}:2'}}
```
"""
CONFIG = "version: 1\ncomment:\n  suggestions: true\n"
SAID = [
    InlineDraft(PAGE, "[date_errors] the form is wrong", line=7),
    InlineDraft(PAGE, "[frontmatter_schema] a field has a wrong name", line=6),
    InlineDraft(PAGE, "[broken_wiki_links] there is no such file", line=10),
]


@pytest.fixture
def claim(harness, knowledge):
    return harness.github.open_pull_request(
        knowledge, "rio-agent[bot]", PullRequestOptions(files={PAGE: CLAIM})
    )


@pytest.fixture
async def suggesting(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    async with harness.run_bot():
        yield harness


def ours(harness, pull):
    return [review for review in pull.reviews.values() if review.user is harness.github.app.bot]


def reads(harness) -> int:
    """How often a file of the pull request was asked for."""
    return sum(len(harness.github.asked("GET", each)) for each in (f"*/contents/{PAGE}", "*/git/blobs/*"))


def offered(review):
    return sorted(
        (each.line, each.body.split("```suggestion\n")[1].split("\n")[0]) for each in review.comments
    )


async def test_the_comment_shows_what_to_write(journey, claim):  # rows 154, 155, 158, 167
    journey.github.submit_review(claim, "alice", REJECT, "", SAID)
    await journey.wait_until_idle()
    (body,) = journey.comments(claim)
    assert "  - Suggested change: `created: 2026-11-14`" in body
    assert "  - Suggested change: `source: hanson-2013.md`" in body
    assert "  - Suggested change: `See thin-markets.`" in body
    assert ours(journey, claim) == []


async def test_a_later_verdict_keeps_the_fix_without_reading_the_file_again(journey, claim):
    journey.github.submit_review(claim, "alice", REJECT, "", SAID[:1])
    await journey.wait_until_idle()
    before = reads(journey)
    journey.advance_clock()
    journey.github.submit_review(claim, "bob", REJECT, "<!-- ISSUES: near_duplicate -->")
    await journey.wait_until_idle()
    assert "  - Suggested change: `created: 2026-11-14`" in journey.comments(claim)[-1]
    assert (before, reads(journey)) == (1, 1)


async def test_the_validators_own_suggestion_wins(journey, claim):
    said = InlineDraft(PAGE, "[date_errors] so:\n```suggestion\ncreated: 2026-01-01\n```", line=7)
    journey.github.submit_review(claim, "alice", REJECT, "", [said])
    await journey.wait_until_idle()
    assert "  - Suggested change: `created: 2026-01-01`" in journey.comments(claim)[0]
    assert journey.github.asked("GET", f"*/contents/{PAGE}") == []


async def test_one_review_a_head_offers_the_fixes(suggesting, claim):
    suggesting.github.submit_review(claim, "alice", REJECT, "", SAID)
    await suggesting.wait_until_idle()
    suggesting.advance_clock()
    suggesting.github.submit_review(claim, "bob", REJECT, "", SAID[:1])
    await suggesting.wait_until_idle()
    (review,) = ours(suggesting, claim)
    assert (review.state, offered(review)) == (
        "COMMENTED",
        [(6, "source: hanson-2013.md"), (7, "created: 2026-11-14"), (10, "See thin-markets.")],
    )
    suggesting.advance_clock()
    suggesting.github.push(claim, {PAGE: CLAIM.replace("14", "13")})
    suggesting.github.submit_review(claim, "alice", REJECT, "", SAID[:1])
    await suggesting.wait_until_idle()
    assert [offered(review) for review in ours(suggesting, claim)][1:] == [[(7, "created: 2026-11-13")]]


async def test_a_line_outside_the_diff_is_left_out_and_the_rest_is_sent_again(harness, knowledge):
    longer = "---\ncreated: 2026/01/02\n---\n" + "\n".join(f"Line {number}" for number in range(60))
    config = {CONFIG_FILE: CONFIG, PAGE: longer}
    harness.github.commit_to_default_branch(knowledge, config)
    files = {PAGE: longer + "\n\nSee [[thin-markets]].\n"}
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]", PullRequestOptions(files=files))
    async with harness.run_bot():
        said = InlineDraft(PAGE, "[broken_wiki_links] there is no such file", line=65)
        harness.github.submit_review(pull, "alice", REJECT, DOCUMENT, [said])
        await harness.wait_until_idle()
        (review,) = ours(harness, pull)
        assert offered(review) == [(65, "See thin-markets.")]
        assert [each.status for each in harness.github.asked("POST", "*/reviews")] == [422, 200]
