"""Slash commands from a comment to their one answer, over real HTTP."""

import pytest

from bot.fakegithub.reviews import InlineDraft
from bot.history.forget import count_stored
from bot.history.model import StoredCounts
from bot.markdown.escape import parse_marker
from tests.live_markdown import live_references

DATE = "<!-- ISSUES: date_errors -->"
BOTH = "<!-- ISSUES: date_errors, scope_error -->"
REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
PAGE = "claims/first.md"


def faces(comment):
    return [reaction.content for reaction in comment.reactions]


def answers(harness, pull):
    return [body for body in harness.comments(pull) if "<!-- ANSWER: " in body]


async def test_history_is_answered_with_eyes_and_one_reply(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    asked = journey.github.comment(pull, "alice", "/feedback-history 30d")
    await journey.wait_until_idle()
    (reply,) = answers(journey, pull)
    marker = parse_marker("FEEDBACK-HISTORY", reply)
    assert faces(asked) == ["eyes"]
    assert (marker["agent"], marker["period_hours"], marker["total_prs"]) == ("rio-agent[bot]", 720, 1)
    assert marker["issue_breakdown"] == {"date_errors": 1}
    assert live_references(reply) == []


async def test_a_repeated_command_gets_a_new_reply_and_the_older_is_folded(journey, pull):
    once = "/feedback-explain date_errors"
    for text in (once, once, f"/feedback-help\n{once}"):
        journey.github.comment(pull, "alice", text)
        await journey.wait_until_idle()
    replies = [each.minimized for each in journey.github.comments_of(pull) if "ANSWER" in each.body]
    assert replies == ["outdated", "outdated", None]


async def test_wrong_use_gets_the_right_use(journey, pull):
    asked = journey.github.comment(pull, "alice", "/feedback-dismiss date_errors")
    await journey.wait_until_idle()
    (reply,) = answers(journey, pull)
    assert (faces(asked), "a reason is missing" in reply) == (["eyes"], True)


async def test_without_the_permission_there_is_a_face_and_no_reply(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    asked = journey.github.comment(pull, "carol", "/feedback-dismiss date_errors reason: it is right")
    await journey.wait_until_idle()
    assert (faces(asked), answers(journey, pull)) == (["confused"], [])
    assert journey.markers(pull)[0]["issues"] == ["date_errors"]


async def test_a_dismissal_lifts_its_tag_and_is_named_in_the_comment(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, BOTH)
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(
        pull, "bob", "/feedback-dismiss scope_error reason: the scope is given in the text"
    )
    await journey.wait_until_idle()
    sticky = journey.comments(pull)[0]
    assert [marker["issues"] for marker in journey.markers(pull)] == [["date_errors"]]
    assert (
        f"Dismissed: `scope_error` by `bob` at `{pull.head_sha[:7]}` (`the scope is given in the text`)."
        in sticky
    )
    assert "1 issue open: `date_errors`." in answers(journey, pull)[0]


async def test_dismissing_the_last_tag_resolves_until_it_is_named_again(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: the date is right")
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["verdict"] == "accept"
    journey.advance_clock()
    journey.github.push(pull, {PAGE: "# Worse\n"})
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["issues"] == ["date_errors"]


async def test_a_push_after_the_command_does_not_move_what_it_was_about(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    seen = pull.head_sha
    journey.advance_clock()
    journey.github.hold()
    journey.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: the date is right")
    journey.advance_clock()
    journey.github.push(pull, {PAGE: "# Other\n"})
    journey.github.release()
    await journey.wait_until_idle()
    assert f"Dismissed `date_errors` at `{seen[:7]}`: `the date is right`." in answers(journey, pull)[0]


async def test_an_appeal_is_shown_at_its_gate_until_it_is_decided(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    journey.github.submit_review(pull, "alice", REJECT, BOTH)
    await journey.wait_until_idle()
    journey.advance_clock()
    asked = journey.github.comment(
        pull, "dave", "/feedback-appeal date_errors reason: the source has no other date"
    )
    await journey.wait_until_idle()
    assert faces(asked) == ["eyes"]
    assert "  - Appealed: by `dave`, `the source has no other date`" in journey.comments(pull)[0]
    journey.advance_clock()
    journey.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: upheld")
    await journey.wait_until_idle()
    assert "Appealed" not in journey.comments(pull)[0]


async def test_an_inline_command_is_answered_in_its_thread(journey, pull):
    review = journey.github.submit_review(
        pull,
        "alice",
        REJECT,
        "",
        [InlineDraft(PAGE, "[date_errors] month 13\n\n/feedback-explain date_errors", line=1)],
    )
    await journey.wait_until_idle()
    first = review.comments[0]
    replies = [each for each in journey.github.requests if each.path.endswith("/replies")]
    assert (faces(first), [each.params["comment_id"] for each in replies]) == (["eyes"], [str(first.id)])
    assert "**Date accuracy** `date_errors`" in replies[0].body["body"]


async def test_a_command_in_a_review_is_answered_in_the_thread(journey, pull):
    review = journey.github.submit_review(pull, "alice", "COMMENTED", "/feedback-help")
    await journey.wait_until_idle()
    assert faces(review) == ["eyes"]
    assert ["**Commands**" in body for body in answers(journey, pull)] == [True]


@pytest.mark.parametrize(
    "text", ["> /feedback-help", "`/feedback-help`", "```\n/feedback-help\n```", "say /feedback-help"]
)
async def test_quoted_commands_cost_nothing(journey, pull, text):
    await journey.wait_until_idle()
    before = len(journey.github.requests)
    journey.github.comment(pull, "alice", text)
    await journey.wait_until_idle()
    assert journey.github.requests[before:] == []


async def test_an_edited_comment_gives_no_command(journey, pull):
    comment = journey.github.comment(pull, "alice", "hello")
    await journey.wait_until_idle()
    journey.github.edit_comment(comment, "/feedback-help")
    await journey.wait_until_idle()
    assert (faces(comment), answers(journey, pull)) == ([], [])


async def test_bots_do_not_keep_each_other_busy(journey, pull):
    stranger = journey.github.comment(pull, "other-agent[bot]", "/feedback-help")
    first = journey.github.comment(pull, "rio-agent[bot]", "/feedback-help")
    await journey.wait_until_idle()
    second = journey.github.comment(pull, "rio-agent[bot]", "/feedback-history")
    await journey.wait_until_idle()
    assert [faces(each) for each in (stranger, first, second)] == [[], ["eyes"], []]
    assert len(answers(journey, pull)) == 1


async def test_a_redelivered_command_is_answered_once(journey, pull):
    journey.github.comment(pull, "alice", "/feedback-help")
    await journey.wait_until_idle()
    delivery = next(each for each in journey.github.deliveries if each.event == "issue_comment")
    journey.github.redeliver(delivery)
    await journey.wait_until_idle()
    assert len(answers(journey, pull)) == 1


async def test_a_lost_answer_is_found_again_and_not_posted_twice(journey, pull):
    await journey.wait_until_idle()
    journey.github.lose_answer("POST", "*/comments")
    journey.github.comment(pull, "alice", "/feedback-help")
    await journey.github.until(lambda: len(journey.github.asked("GET", "*/issues/*/comments")) >= 1)
    await journey.wait_until_idle()
    assert len(answers(journey, pull)) == 1


async def test_a_command_on_a_pull_request_never_seen_before(harness, knowledge):
    harness.github.hold()
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    harness.github.release(lambda _: [])
    async with harness.run_bot():
        harness.github.comment(pull, "alice", "/feedback-history")
        await harness.wait_until_idle()
        assert len(answers(harness, pull)) == 1


async def test_forgetting_asks_first_and_then_forgets(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.comment(pull, "alice", "/feedback-forget")
    await journey.wait_until_idle()
    journey.github.comment(pull, "alice", "/feedback-forget confirm")
    await journey.wait_until_idle()
    stored = await journey.bot.store.read(
        count_stored, pull.repository.id, journey.github.account("alice").id
    )
    first, second = answers(journey, pull)
    assert "Stored about `alice` in this repository: 1 verdict" in first
    assert "Deleted in this repository: 1 verdict" in second
    assert stored == StoredCounts()


async def test_a_verdict_stays_forgotten_when_its_pull_request_goes_on(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(pull, "alice", "/feedback-forget confirm")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.push(pull, {PAGE: "# Better\n"})
    await journey.wait_until_idle()
    stored = await journey.bot.store.read(
        count_stored, pull.repository.id, journey.github.account("alice").id
    )
    assert (stored.verdicts, journey.markers(pull)[0]["issues"]) == (0, ["date_errors"])


async def test_the_third_time_in_five_is_said_at_the_gate(journey, knowledge):
    pulls = []
    for number in range(3):
        journey.advance_clock(60)
        pull = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
        journey.github.submit_review(pull, "alice", REJECT, DATE)
        await journey.wait_until_idle()
        if number < 2:
            journey.advance_clock(60)
            journey.github.push(pull, {PAGE: f"# Better {number}\n"})
            journey.github.submit_review(pull, "alice", APPROVE)
            await journey.wait_until_idle()
        pulls.append(pull)
    said = next(line for line in journey.comments(pulls[2])[0].splitlines() if "Recurring" in line)
    assert "in 3 of the last 3 pull requests" in said
    assert f"pull/{pulls[1].number})" in said
    assert f"`{pulls[1].head_sha[:7]}`" in said
    assert live_references(journey.comments(pulls[2])[0]) == []


async def test_a_thread_that_became_public_shows_no_persons_record(harness):
    github = harness.github
    async with harness.run_bot():
        place = github.repository("acme/notes", private=True, collaborators={"alice": "write"})
        pull = github.open_pull_request(place, "dora")
        github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()
        harness.advance_clock()
        github.set_private(place, private=False)
        github.comment(pull, "alice", "/feedback-history @dora")
        await harness.wait_until_idle()
    (reply,) = answers(harness, pull)
    assert "is not shown in a public thread" in reply
