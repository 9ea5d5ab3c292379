"""What becomes of a review as people and Apps write it, over real HTTP."""

from __future__ import annotations

import json

import pytest

from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.feedback.marker import parse_document
from bot.gates.rule_book import CONFIG_FILE
from tests.journeys.harness import ON_ONE_STORE

pytestmark = ON_ONE_STORE

REJECT, COMMENT = "CHANGES_REQUESTED", "COMMENTED"
APP, NOTES, SHARP, AUTH = "src/app.py", "docs/My Notes.md", "docs/c# notes.md", "src/auth.py"
FILES = {
    APP: "".join(f"line_{number} = {number}\n" for number in range(1, 31)),
    NOTES: "# Notes\n\nOne.\nTwo.\n",
    SHARP: "# C#\n\nOne.\n",
    AUTH: "import jwt\n\n\ndef parse_token(token):\n    return jwt.decode(token)\n",
}
TRACEBACK = (
    "```\nTraceback (most recent call last):\n"
    '  File "/home/runner/work/knowledge/knowledge/src/app.py", line 12, in main\nValueError: month 13\n```'
)
DOCUMENT = {
    "issue": "The month of the claim is 13",
    "tag": "date_errors",
    "severity": "catastrophic",
    "location": {"type": "path", "reference": "src/app.py:4"},
}
BODIES = {
    "## [date_errors] Dates\nMonth 13 in src/app.py:4.\n\n## [SCOPE_ERROR]\nIt covers all markets.": [
        "date_errors src/app.py:4: Month 13 in src/app.py:4.",
        "scope_error .: It covers all markets.",
    ],
    "[date_errors] Month 13 in src/app.py:4. [scope_error] Far too wide in line 9 of src/app.py.": [
        "date_errors src/app.py:4: Month 13 in src/app.py:4.",
        "scope_error src/app.py:9: Far too wide in line 9 of src/app.py.",
    ],
    "<!-- ISSUES: date_errors,\n scope_error -->": ["date_errors .: ", "scope_error .: "],
    "[date_errors] See https://github.com/acme/knowledge/blob/main/docs/My%20Notes.md#L3 please.": [
        (
            "date_errors docs/My Notes.md:3: "
            "See https://github.com/acme/knowledge/blob/main/docs/My%20Notes.md#L3 please."
        )
    ],
    "[date_errors] As https://github.com/other/guide/blob/main/src/app.py#L3 says.": [
        "date_errors .: As https://github.com/other/guide/blob/main/src/app.py#L3 says."
    ],
    f"[date_errors] The import fails.\n{TRACEBACK}": ["date_errors src/app.py:12: The import fails."],
    f"- `{SHARP}` line 2 is empty\n- `{NOTES}` has no index\n- `parse_token()` in {AUTH} swallows errors": [
        "- docs/c# notes.md:2: `docs/c# notes.md` line 2 is empty",
        "- docs/My Notes.md: `docs/My Notes.md` has no index",
        "- src/auth.py:4: `parse_token()` in src/auth.py swallows errors",
    ],
    f"```json\n{json.dumps({'feedback_items': [DOCUMENT]})}\n```\nThe loop in src/app.py:9 never ends.": [
        "date_errors src/app.py:4: The month of the claim is 13"
    ],
    'The "Notes" section of `docs/My Notes.md` is out of date.': [
        '- docs/My Notes.md:1: The "Notes" section of `docs/My Notes.md` is out of date.'
    ],
    "`missing()` in src/auth.py swallows errors": [
        "- src/auth.py: `missing()` in src/auth.py swallows errors"
    ],
    "The loop never ends, otherwise looks good.\n\n/feedback-reject date_errors src/app.py:4 reason: month 13": [
        "- .: The loop never ends, otherwise looks good.",
        "date_errors src/app.py:4: month 13",
    ],
}
"""The body of a review that requests changes → its findings: tag, location and words."""


@pytest.fixture
def pull(harness, knowledge):
    """A pull request by an agent with paths of every kind."""
    return harness.github.open_pull_request(knowledge, "rio-agent[bot]", PullRequestOptions(files=FILES))


def found(journey, pull):
    (body,) = [each for each in journey.comments(pull) if "<!-- REJECTION" in each]
    for item in parse_document(body)["feedback_items"]:
        location = item["location"]
        place = location.get("path", location["reference"])
        line = f":{location['line']}" if "line" in location else ""
        yield f"{item.get('tag') or '-'} {place}{line}: {item.get('words', '')}"


@pytest.mark.parametrize("body", BODIES)
async def test_a_review_gives_these_findings(journey, pull, body):
    journey.github.submit_review(pull, "alice", REJECT, body)
    await journey.wait_until_idle()
    assert sorted(found(journey, pull)) == sorted(BODIES[body])


async def test_a_severity_that_a_document_invents_is_told_and_blocks(journey, pull):
    body = f"```json\n{json.dumps({'feedback_items': [DOCUMENT]})}\n```"
    journey.github.submit_review(pull, "alice", REJECT, body)
    await journey.wait_until_idle()
    (comment,) = journey.comments(pull)
    (item,) = parse_document(comment)["feedback_items"]
    assert item["blocking"]
    assert item["evidence"]["test_result"].startswith('severity "catastrophic" is unknown')


async def test_a_command_on_a_line_rejects_there(journey, pull):
    line = InlineDraft(APP, "/feedback-reject date_errors reason: month 13", line=7)
    journey.github.submit_review(pull, "alice", REJECT, "", [line])
    await journey.wait_until_idle()
    assert list(found(journey, pull)) == ["date_errors src/app.py:7: month 13"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (f"/feedback-reject date_errors {NOTES}:2 reason: x", f"between backticks: `{NOTES}:2`"),
        ("/feedback-reject dates reason: x", "`dates` is neither a tag"),
        ("/feedback-dismiss f1 f2 reason: x", "`f2` is one tag too many"),
        ("/feedback-appeal f9 reason: x", "`f9` is not open here"),
        ("/feedback-dismiss f1 reason: upheld", "Dismissed `f1`"),
        ("/feedback-explain f1", "**Date accuracy** `date_errors`"),
    ],
)
async def test_a_command_with_an_id_or_used_wrongly_is_answered_clearly(journey, pull, line, answer):
    journey.github.submit_review(pull, "alice", REJECT, "[date_errors] month 13")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(pull, "bob", line)
    await journey.wait_until_idle()
    assert answer in journey.comments(pull)[-1]


async def test_what_two_apps_report_on_a_line_is_shown_once_with_both_names(harness, knowledge, pull):
    config = "version: 1\nvalidators:\n  apps: ['coderabbitai[bot]', 'cursor[bot]']\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    rabbit = (
        "_⚠️ Potential issue_ | _🟠 Major_\n\n**The retry loop never ends when the server fails.**\n\n"
        "The counter is reset.\n\n<details>\n<summary>🤖 Prompt for AI Agents</summary>\n\nBound it.\n</details>"
    )
    bugbot = (
        "### Retry loop never ends when the server fails\n\n**High Severity**\n\n<!-- DESCRIPTION START -->\n"
        "The counter is reset on each failure.\n<!-- DESCRIPTION END -->\n\n"
        "<sup>Reviewed by [Cursor Bugbot](https://example.org) for commit 0a1b2c3.</sup>"
    )
    async with harness.run_bot():
        for login, text in (("coderabbitai[bot]", rabbit), ("cursor[bot]", bugbot)):
            line = InlineDraft(APP, text, line=7)
            harness.github.submit_review(pull, login, COMMENT, "**Actionable comments posted: 1**", [line])
        await harness.wait_until_idle()
        (comment,) = harness.comments(pull)
        assert "**Rejected** — 1 blocking issue\n" in comment
        assert comment.count("`The retry loop never ends when the server fails. The counter is reset.`") == 1
        assert "(Source: reviews by `coderabbitai[bot]` and `cursor[bot]` @" in comment
