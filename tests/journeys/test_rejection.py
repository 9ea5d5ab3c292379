"""From a signed review to the one comment, over real HTTP."""

import pytest

from bot.fakegithub.reviews import InlineDraft
from bot.markdown.escape import parse_marker
from bot.store.deliveries import load_parked

DATE = "<!-- ISSUES: date_errors -->"
BOTH = "<!-- ISSUES: date_errors, scope_error -->"
REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
PAGE = "claims/first.md"


async def test_a_rejection_becomes_one_comment_with_its_place(journey, pull):
    journey.github.submit_review(
        pull, "alice", REJECT, "", [InlineDraft(PAGE, "[date_errors] month 13 is out of range", line=1)]
    )
    await journey.wait_until_idle()
    (body,) = journey.comments(pull)
    assert parse_marker("REJECTION", body)["issues"] == ["date_errors"]
    assert f"/blob/{pull.head_sha}/{PAGE}#L1) `month 13 is out of range`" in body


async def test_a_second_rejection_updates_the_same_comment(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, BOTH)
    await journey.wait_until_idle()
    journey.github.push(pull, {PAGE: "# Better\n"})
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    (body,) = journey.comments(pull)
    marker = parse_marker("REJECTION", body)
    assert (marker["issues"], marker["iteration"], marker["head"]) == (["date_errors"], 2, pull.head_sha)
    assert "Since iteration 1: 1 fixed, 1 still open." in body


async def test_a_worse_rejection_is_posted_anew_and_the_old_comment_gives_way(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.push(pull, {PAGE: "# Worse\n"})
    journey.github.submit_review(pull, "alice", REJECT, BOTH)
    await journey.wait_until_idle()
    old, new = journey.github.comments_of(pull)
    page = f"https://github.com/acme/knowledge/pull/{pull.number}#issuecomment-{new.id}"
    assert (old.body, old.minimized) == (f"Superseded by [a newer comment]({page}).", "outdated")
    assert [marker["issues"] for marker in journey.markers(pull)] == [["date_errors", "scope_error"]]


async def test_it_is_resolved_only_when_both_rejecting_reviewers_approve(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    journey.github.submit_review(pull, "bob", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    journey.github.submit_review(pull, "alice", APPROVE)
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["issues"] == ["scope_error"]
    journey.github.submit_review(pull, "bob", APPROVE)
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["verdict"] == "accept"
    assert "**Resolved** — " in journey.comments(pull)[-1]


async def test_two_reviews_at_the_same_instant_make_one_comment(journey, pull):
    journey.github.hold()
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    journey.github.submit_review(pull, "bob", REJECT, "<!-- ISSUES: scope_error -->")
    journey.github.release()
    await journey.wait_until_idle()
    assert [set(marker["issues"]) for marker in journey.markers(pull)] == [{"date_errors", "scope_error"}]
    assert len(journey.comments(pull)) == 1


async def test_the_same_delivery_three_times_has_one_effect(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    writes = [
        each
        for each in journey.github.requests
        if each.method in {"POST", "PATCH"} and "comments" in each.path
    ]
    delivery = next(each for each in journey.github.deliveries if each.event == "pull_request_review")
    first = journey.github.redeliver(delivery)
    second = journey.github.redeliver(delivery)
    await journey.wait_until_idle()
    again = [
        each
        for each in journey.github.requests
        if each.method in {"POST", "PATCH"} and "comments" in each.path
    ]
    assert (first.status_code, second.status_code, len(journey.comments(pull))) == (200, 200, 1)
    assert len(again) == len(writes) == 1


async def test_events_out_of_order_show_the_newest_truth(journey, pull):
    journey.github.hold()
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    journey.github.push(pull, {PAGE: "# Better\n"})
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: near_duplicate -->")
    journey.github.release(reversed)
    await journey.wait_until_idle()
    (marker,) = journey.markers(pull)
    assert (marker["issues"], marker["iteration"], marker["head"]) == (["near_duplicate"], 2, pull.head_sha)


async def test_a_batch_of_reject_push_and_approve_leaves_no_rejection(journey, pull):
    journey.github.hold()
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    journey.github.push(pull, {PAGE: "# Better\n"})
    journey.github.submit_review(pull, "alice", APPROVE)
    journey.github.release()
    await journey.wait_until_idle()
    assert journey.comments(pull) == [] or "**Resolved**" in journey.comments(pull)[-1]


async def test_twelve_pushes_before_the_first_review_are_iteration_one(journey, pull):
    for number in range(12):
        journey.github.push(pull, {PAGE: f"# Draft {number}\n"})
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    assert [marker["iteration"] for marker in journey.markers(pull)] == [1]


async def test_a_stranger_and_a_reader_reject_nothing(journey, pull):
    journey.github.submit_review(pull, "carol", REJECT, DATE)
    journey.github.submit_review(pull, "stranger", REJECT, DATE)
    await journey.wait_until_idle()
    assert journey.comments(pull) == []


async def test_a_dismissed_review_resolves(journey, pull):
    review = journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.dismiss_review(review, by="bob")
    await journey.wait_until_idle()
    assert journey.markers(pull)[0]["verdict"] == "accept"


async def test_an_edited_review_changes_the_comment(journey, pull):
    review = journey.github.submit_review(pull, "alice", REJECT, BOTH)
    await journey.wait_until_idle()
    journey.github.edit_review(review, DATE)
    await journey.wait_until_idle()
    assert [marker["issues"] for marker in journey.markers(pull)] == [["date_errors"]]


async def test_a_deleted_comment_comes_back_with_the_next_verdict_only(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.delete_comment(journey.github.comments_of(pull)[0], by="alice")
    journey.github.push(pull, {PAGE: "# Better\n"})
    await journey.wait_until_idle()
    assert journey.comments(pull) == []


async def test_a_locked_conversation_is_left_alone(journey, pull):
    journey.github.lock(pull)
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    assert (journey.comments(pull), await journey.bot.store.read(load_parked)) == ([], ())


async def test_a_warm_rejection_costs_two_reads_and_one_write(journey, knowledge, pull):
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    other = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    await journey.wait_until_idle()
    before = len(journey.github.requests)
    journey.github.submit_review(other, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    calls = [(each.method, each.path.split("/")[-1]) for each in journey.github.requests[before:]]
    assert calls == [("GET", "reviews"), ("GET", "comments"), ("POST", "comments")]


async def test_an_event_that_changes_no_verdict_costs_no_call(journey, pull):
    await journey.wait_until_idle()
    before = len(journey.github.requests)
    journey.advance_clock()
    journey.github.push(pull, {PAGE: "# Again\n"})
    journey.advance_clock()
    journey.github.comment(pull, "alice", "Thank you, I will look at it.")
    journey.github.submit_review(pull, "alice", "COMMENTED", "Just a question.")
    await journey.wait_until_idle()
    assert journey.github.requests[before:] == []


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_an_answer_of_5xx_is_tried_again(journey, pull, status):
    journey.github.fail("GET", "*/reviews", status=status, times=1)
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.github.until(lambda: journey.comments(pull))
    assert len(journey.comments(pull)) == 1
