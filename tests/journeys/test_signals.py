"""Labels, commands, named validators' comments, documents and plain words."""

import json

import pytest

from bot.fakegithub.reviews import InlineDraft
from bot.feedback.marker import parse_document
from bot.gates.rule_book import CONFIG_FILE
from tests.journeys.finding_stories import statuses
from tests.journeys.harness import ON_ONE_STORE

pytestmark = ON_ONE_STORE

PAGE = "claims/first.md"
REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
NAMED = "version: 1\nvalidators:\n  apps: [leo]\n  users: [carol]\n"
DOCUMENT = {
    "target": {"type": "document", "path": PAGE},
    "feedback_items": [
        {
            "tag": "date_errors",
            "aspect": "correctness",
            "severity": "major",
            "issue": "The created field names a month that no calendar has",
            "location": {"type": "line", "reference": "3"},
            "suggestion": {
                "action": "Write the day of extraction",
                "rationale": "Readers sort by this field",
            },
        },
        {
            "aspect": "efficiency",
            "severity": "major",
            "issue": "The table is loaded once for every row of the page",
            "location": {"type": "line", "reference": "1"},
            "suggestion": {
                "action": "Load the table once before the loop",
                "rationale": "The page takes seconds at present",
            },
        },
    ],
}
FENCED = f"```json\n{json.dumps(DOCUMENT)}\n```\n"


@pytest.fixture
async def named(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: NAMED})
    async with harness.run_bot():
        yield harness


def issues(harness, pull):
    return [marker["issues"] for marker in harness.markers(pull)]


async def test_a_label_rejects_and_removing_it_lifts(journey, pull):
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await journey.wait_until_idle()
    assert (issues(journey, pull), journey.markers(pull)[0]["source"]) == ([["date_errors"]], "alice")
    journey.advance_clock()
    journey.github.remove_label(pull, "gate:date_errors", by="bob")
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["verdict"] == "accept"


async def test_two_labels_of_one_person_stand_side_by_side(journey, pull):
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    journey.advance_clock()
    journey.github.add_label(pull, "gate:scope_error", by="alice")
    await journey.wait_until_idle()
    assert issues(journey, pull) == [["date_errors", "scope_error"]]


@pytest.mark.parametrize("who", ["carol", "rio-agent[bot]", "stranger"])
async def test_a_label_of_whoever_is_no_validator_rejects_nothing(journey, pull, who):
    journey.github.add_label(pull, "gate:date_errors", by=who)
    await journey.wait_until_idle()
    assert journey.comments(pull) == []


async def test_another_label_says_nothing_and_costs_no_call(journey, pull):
    await journey.wait_until_idle()
    before = len(journey.github.requests)
    journey.github.add_label(pull, "documentation", by="alice")
    await journey.wait_until_idle()
    assert journey.github.requests[before:] == []


async def test_a_named_validators_comment_rejects_and_approves(named, pull):
    body = "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: date_errors -->"
    named.github.comment(pull, "leo[bot]", body)
    await named.wait_until_idle()
    assert (issues(named, pull), named.markers(pull)[0]["source"]) == ([["date_errors"]], "leo[bot]")
    named.advance_clock()
    named.github.comment(pull, "leo[bot]", "<!-- VERDICT:LEO:APPROVE -->")
    await named.wait_until_idle()
    assert named.markers(pull)[0]["verdict"] == "accept"


@pytest.mark.parametrize(
    ("who", "body"),
    [
        ("leo[bot]", "[date_errors] in brackets is only a word here"),
        ("leo[bot]", "<!-- ISSUES: near_duplicate -->"),
        ("alice", "<!-- VERDICT:ALICE:REQUEST_CHANGES -->\n<!-- ISSUES: date_errors -->"),
        ("stranger", "<!-- ISSUES: date_errors -->"),
    ],
)
async def test_other_comments_are_never_answered(named, pull, who, body):
    named.github.comment(pull, who, body)
    await named.wait_until_idle()
    assert named.comments(pull) == []


async def test_without_a_verdict_a_comment_rejects_where_a_tag_blocks_and_deleting_it_lifts(named, pull):
    said = named.github.comment(pull, "carol", "<!-- ISSUES: date_errors -->")
    await named.wait_until_idle()
    assert issues(named, pull) == [["date_errors"]]
    named.advance_clock()
    named.github.delete_comment(said, by="carol")
    await named.wait_until_idle()
    assert named.markers(pull)[0]["verdict"] == "accept"


async def test_what_a_named_validator_edits_out_of_a_comment_is_withdrawn(named, pull):
    said = named.github.comment(pull, "carol", "<!-- ISSUES: date_errors, scope_error -->")
    await named.wait_until_idle()
    named.advance_clock()
    named.github.edit_comment(said, "<!-- ISSUES: date_errors, title_overclaims -->", by="carol")
    assert await statuses(named, pull) == {
        "date_errors": "new",
        "title_overclaims": "new",
        "scope_error": "withdrawn",
    }
    assert issues(named, pull) == [["date_errors", "title_overclaims"]]


@pytest.mark.parametrize(("severity", "shown"), [("minor", []), ("major", [["near_duplicate"]])])
async def test_a_documents_own_severity_decides_whether_a_comment_rejects(named, pull, severity, shown):
    item = {**DOCUMENT["feedback_items"][0], "severity": severity}
    item["tag"] = "date_errors" if severity == "minor" else "near_duplicate"  # its gate says the opposite
    document = json.dumps({**DOCUMENT, "feedback_items": [item]})
    named.github.comment(pull, "carol", f"```json\n{document}\n```")
    await named.wait_until_idle()
    assert issues(named, pull) == shown


async def test_whoever_edits_a_validators_comment_does_not_speak_for_it(named, pull):
    said = named.github.comment(pull, "leo[bot]", "<!-- ISSUES: date_errors -->")
    await named.wait_until_idle()
    named.github.edit_comment(said, "<!-- VERDICT:LEO:APPROVE -->", by="bob")
    await named.wait_until_idle()
    assert issues(named, pull) == [["date_errors"]]


async def test_a_document_in_a_review_gives_items_with_and_without_a_tag(journey, pull):  # rows 25, 41
    journey.github.submit_review(pull, "alice", REJECT, FENCED)
    await journey.wait_until_idle()
    (body,) = journey.comments(pull)
    assert (issues(journey, pull), journey.markers(pull)[0]["blocking"]) == (
        [["date_errors"]],
        ["date_errors"],
    )
    assert "**Rejected** — 2 blocking issues" in body
    assert "**[BLOCK] Efficiency**: `The table is loaded once for every row of the page" in body
    assert "  - Fix: `Load the table once before the loop" in body


async def test_a_document_in_an_inline_comment_takes_its_place(journey, pull):
    item = {**DOCUMENT["feedback_items"][0], "location": {"type": "path", "reference": "."}}
    fence = f"```yaml\n{json.dumps({'feedback_items': [item]})}\n```"
    journey.github.submit_review(pull, "alice", REJECT, "", [InlineDraft(PAGE, fence, line=1)])
    await journey.wait_until_idle()
    assert f"/blob/{pull.head_sha}/{PAGE}#L1)" in journey.comments(pull)[0]


async def test_a_place_that_a_command_names_is_looked_up(journey, pull):
    journey.github.comment(pull, "alice", "/feedback-reject date_errors nowhere.md:3 reason: month 13")
    await journey.wait_until_idle()
    (body,) = [each for each in journey.comments(pull) if "<!-- REJECTION" in each]
    assert "  - Not verified: that file is not in the repository (Source: tree @ " in body
    assert "Focusing specifically on" not in body


async def test_the_command_rejects_beside_what_its_giver_said_before(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(pull, "alice", f"/feedback-reject date_errors {PAGE}:1 reason: month 13")
    await journey.wait_until_idle()
    assert issues(journey, pull) == [["scope_error", "date_errors"]]
    (body,) = [each for each in journey.comments(pull) if "<!-- REJECTION" in each]
    assert f"{PAGE}#L1) `month 13` (Source: command by `alice` @ " in body
    journey.advance_clock()
    journey.github.submit_review(pull, "alice", APPROVE)
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["verdict"] == "accept"


@pytest.mark.parametrize("who", ["carol", "rio-agent[bot]", "stranger", "leo[bot]"])
async def test_the_command_of_whoever_may_not_rejects_nothing(journey, pull, who):
    journey.github.comment(pull, who, "/feedback-reject date_errors reason: x")
    await journey.wait_until_idle()
    assert journey.comments(pull) == []


async def test_plain_words_are_a_finding_that_looks_like_a_gate(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, "The code does not compile.")
    await journey.wait_until_idle()
    (body,), (marker,) = journey.comments(pull), journey.markers(pull)
    assert "**Rejected** — 1 blocking issue" in body
    assert "**[BLOCK] Review comment**: `The code does not compile.`" in body
    assert "`f1` (looks like `build_failing`)" in body
    assert (marker["issues"], marker["blocking"]) == ([], [])
    assert marker["open"] == {"blocking": 1, "warnings": 0}
    (item,) = parse_document(body)["feedback_items"]
    assert ("tag" in item, item["blocking"], item["words"]) == (False, True, "The code does not compile.")


async def test_a_pack_infers_from_plain_words_only_where_the_config_extends_it(harness, knowledge, pull):
    words = "There is a broken wiki link."
    async with harness.run_bot():
        harness.github.submit_review(pull, "alice", REJECT, words)
        await harness.wait_until_idle()
        assert "looks like" not in harness.comments(pull)[-1]
        extended = {CONFIG_FILE: "version: 1\nextends: [knowledge-base]\n"}
        harness.github.commit_to_default_branch(knowledge, extended)
        await harness.wait_until_idle()
        harness.advance_clock()
        harness.github.push(pull, {PAGE: "# Second\n"})
        harness.advance_clock()
        harness.github.submit_review(pull, "alice", REJECT, words)
        await harness.wait_until_idle()
        assert "(looks like `broken_wiki_links`)" in harness.comments(pull)[-1]


@pytest.mark.parametrize(
    "words", ["The failed build was fixed.", "Is this a compile error? If the build fails, tell me."]
)
async def test_words_that_state_no_fault_are_a_finding_that_looks_like_no_gate(journey, pull, words):
    journey.github.submit_review(pull, "alice", REJECT, words)
    await journey.wait_until_idle()
    (body,) = journey.comments(pull)
    assert f"**[BLOCK] Review comment**: `{words}`" in body
    assert "looks like" not in body


@pytest.mark.parametrize("words", ["Thanks for this!", "See inline.", "A few things:", "Please fix."])
async def test_words_that_only_introduce_or_thank_are_no_finding(journey, pull, words):
    journey.github.submit_review(pull, "alice", REJECT, words)
    await journey.wait_until_idle()
    (body,), (marker,) = journey.comments(pull), journey.markers(pull)
    assert "**Rejected** — no blocking issue" in body
    assert (marker["open"], parse_document(body)) == ({"blocking": 0, "warnings": 0}, None)


@pytest.mark.parametrize("first", ["label", "command"])
async def test_what_was_said_before_the_installation_stands_whatever_judges_first(journey, first):
    github = journey.github
    github.account("neworg", "Organization")
    place = github.repository(
        "neworg/old", collaborators={"alice": "write", "bob": "maintain"}, installed=False
    )
    pull = github.open_pull_request(place, "dave")
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    journey.advance_clock()
    github.install("neworg")
    github.add_to_installation(place)
    await journey.wait_until_idle()
    if first == "label":
        github.add_label(pull, "gate:body_too_thin", by="bob")
    else:
        github.comment(pull, "bob", "/feedback-reject body_too_thin reason: too short")
    await journey.wait_until_idle()
    assert sorted(journey.markers(pull)[0]["issues"]) == ["body_too_thin", "date_errors"]
    journey.advance_clock()
    if first == "label":
        github.remove_label(pull, "gate:body_too_thin", by="bob")
    else:
        github.comment(pull, "bob", "/feedback-dismiss body_too_thin reason: my mistake")
    await journey.wait_until_idle()
    (marker,) = journey.markers(pull)
    assert (marker["issues"], marker["verdict"]) == (["date_errors"], "refine")
