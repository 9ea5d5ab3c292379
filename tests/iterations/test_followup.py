from __future__ import annotations

from datetime import timedelta

import pytest

from bot.findings.line_tracking import UNCHANGED_FILE, LineMap, TrackedFile, map_lines
from bot.history.rates import FollowRate, follow_rates, item_outcomes, overall_follow_rate
from bot.iterations.followup import ItemResponse, item_responses, track_feedback, was_touched
from bot.iterations.model import list_iterations
from bot.iterations.scoring import IterationSnapshot, build_trajectory
from bot.pull_request.model import FollowUp, GroupBy, Item, ItemOutcome
from bot.values import Location
from bot.verdicts.quality import FeedbackField, FeedbackText, QualityProblem, QualityRule, find_problems
from tests.iterations.iteration_builders import (
    AUTHOR,
    BAND,
    GATES,
    SCORING,
    at_minute,
    make_approval,
    make_check_validator,
    make_pull_request,
    make_rejection,
    make_reviewer,
    make_scored_iteration,
)

FILE = "claims/a.md"
BEFORE = "title\n\ncreated: 2026-13-01\n\nbody\nmore\n"
AFTER = "title\n\ncreated: 2026-11-01\n\nbody\nmore\n"
DATE = Item("date_errors", place=Location(FILE, 3), url="https://github.com/acme/knowledge/pull/212#r1")


def carried_between(old: str, new: str) -> TrackedFile:
    return TrackedFile(has_changed=old != new, lines=map_lines(old, new))


def next_to(first, *later, at_head="b", **facts):
    """What became of the first verdict's items, by the later verdicts."""
    one, two = list_iterations(make_pull_request(first, *later, at_head=at_head))
    return item_responses(one, two, **{"files": {}, **facts})


def only(found) -> ItemResponse:
    (answer,) = found
    return answer


SAID = make_rejection(1, items=(DATE,))
AGAIN = make_rejection(9, where="b", items=(DATE,))


# Was it followed?


def test_changed_lines_show_that_an_item_was_followed():  # row 21
    found = only(next_to(SAID, AGAIN, files={FILE: carried_between(BEFORE, AFTER)}))
    assert found == ItemResponse(DATE, make_reviewer(), has_changed=True, is_resolved=False, is_gone=False)
    assert found.is_followed


def test_lines_elsewhere_in_the_file_do_not():  # row 21
    elsewhere = BEFORE.replace("more", "much more")
    found = only(next_to(SAID, AGAIN, files={FILE: carried_between(BEFORE, elsewhere)}))
    assert (found.has_changed, found.is_followed) == (False, False)


def test_a_resolved_thread_shows_that_an_item_was_followed():  # row 21
    found = only(next_to(SAID, AGAIN, resolved={DATE.url}))
    assert (found.has_changed, found.is_resolved, found.is_followed) == (None, True, True)


def test_an_item_without_a_thread_is_never_resolved():
    unlinked = make_rejection(1, items=(Item("date_errors"),))
    assert not only(next_to(unlinked, AGAIN, resolved={""})).is_resolved


@pytest.mark.parametrize(
    ("later", "gone"),
    [
        (make_rejection(9, where="b", items=(DATE,)), False),
        (make_rejection(9, where="b", tags=("scope_error",)), True),
        (make_approval(9, where="b"), True),
        (make_approval(9, "bob", where="b"), False),  # somebody else's word
    ],
)
def test_a_tag_gone_from_the_next_verdict_shows_that_it_was_followed(later, gone):  # row 21
    assert only(next_to(SAID, later)).is_gone is gone


def test_a_dismissal_is_no_sign_that_anybody_followed():
    dismissed = make_rejection(1, items=(DATE,), lifted_at=at_minute(8))
    one = list_iterations(make_pull_request(make_rejection(1, items=(DATE,))))[0]
    two = list_iterations(make_pull_request(dismissed, make_approval(9, "bob", "b"), at_head="b"))[1]
    assert not only(item_responses(one, two, {})).is_followed


def test_an_approval_given_before_the_item_was_named_is_no_answer_to_it():
    told = (
        SAID,
        make_approval(5, where="b"),
        make_rejection(9, where="a", items=(DATE,)),
        make_approval(12, where="c"),
    )
    one, two, _ = list_iterations(make_pull_request(*told, at_head="c"))
    assert [answer.is_gone for answer in item_responses(one, two, {})] == [False]


def test_an_item_without_a_tag_is_known_by_its_words():
    vague = make_rejection(1, items=(Item(None, words="unclear", aspect="clarity"),))
    same, other = (
        make_rejection(9, where="b", items=(Item(None, words=words, aspect="clarity"),))
        for words in ("unclear", "ok")
    )
    assert (only(next_to(vague, same)).is_gone, only(next_to(vague, other)).is_gone) == (False, True)


def test_every_item_of_every_rejecting_validator_is_asked_about():
    failed = make_rejection(2, make_check_validator(), items=(Item("near_duplicate"),))
    found = next_to(SAID, failed, make_approval(9, where="b"))
    assert [(answer.item.tag, answer.validator.name, answer.is_gone) for answer in found] == [
        ("date_errors", "alice", True),
        ("near_duplicate", "validate", False),
    ]


# Places, carried through the diff


@pytest.mark.parametrize(
    ("place", "files", "expected"),
    [
        (None, {FILE: carried_between(BEFORE, AFTER)}, None),
        (Location(FILE, 3), {}, None),
        (Location(FILE, 3), {FILE: UNCHANGED_FILE}, False),
        (Location(FILE, 3), {FILE: TrackedFile(has_changed=True)}, None),  # binary, or too large to read
        (Location(FILE), {FILE: TrackedFile(has_changed=True)}, True),
        (Location(FILE), {FILE: UNCHANGED_FILE}, False),
        (
            Location(FILE, 3),
            {FILE: TrackedFile(has_changed=True, lines=LineMap(()))},
            True,
        ),  # the file is gone
        (Location(FILE, 1, 2), {FILE: carried_between(BEFORE, AFTER)}, False),
        (Location(FILE, 1, 4), {FILE: carried_between(BEFORE, AFTER)}, True),
        (Location(FILE, 90), {FILE: carried_between(BEFORE, AFTER)}, None),
    ],
)
def test_whether_a_place_changed(place, files, expected):  # row 21
    assert was_touched(place, files) is expected


def test_a_rebase_without_change_follows_nothing():
    rebased = "a line from main\nanother\n" + BEFORE
    found = only(next_to(SAID, AGAIN, files={FILE: carried_between(BEFORE, rebased)}))
    assert not found.is_followed


def test_over_a_rebase_the_lines_are_still_found():
    rebased = "a line from main\n" + AFTER
    found = only(next_to(SAID, AGAIN, files={FILE: carried_between(BEFORE, rebased)}))
    assert found.is_followed


# Did it help, and how clear was it?


def answer(*, followed: bool, place=None) -> ItemResponse:
    return ItemResponse(
        Item("date_errors", place=place),
        make_reviewer(),
        has_changed=followed,
        is_resolved=False,
        is_gone=False,
    )


VAGUE = QualityProblem(QualityRule.VAGUE, FeedbackField.ISSUE, "vague", "say what")


@pytest.mark.parametrize(
    ("before", "after", "improved", "delta"),
    [(0.6, 0.85, True, 0.25), (0.85, 0.83, False, -0.02), (0.5, 0.5, False, 0.0), (None, 0.5, None, None)],
)
def test_whether_the_quality_rose_and_by_how_much(before, after, improved, delta):  # row 22 # row 23
    found = track_feedback(
        [answer(followed=True)], make_scored_iteration(1, before), make_scored_iteration(2, after), [()]
    )
    assert (found.improved, found.delta) == (improved, delta)


@pytest.mark.parametrize(
    ("followed", "per_item", "expected"),
    [
        ([True], [()], 1.0),
        ([False], [()], 1.0),
        ([False], [(VAGUE,)], 0.75),
        ([True], [(VAGUE,)], 0.85),
        ([True, True], [(VAGUE,), (VAGUE, VAGUE)], 0.725),
        ([False], [(VAGUE,) * 5], 0.0),
        ([True], [(VAGUE,) * 4], 0.1),
    ],
)
def test_how_clear_the_feedback_was_in_hindsight(followed, per_item, expected):  # row 24
    found = track_feedback(
        [answer(followed=each) for each in followed],
        make_scored_iteration(1, 0.5),
        make_scored_iteration(2, 0.6),
        per_item,
    )
    assert found.clarity == expected


def test_clarity_is_computed_from_what_the_quality_rules_find():  # row 24
    vague = FeedbackText("could be better", "consider improving", "", has_place=False)
    lost = min(1.0, 0.25 * len(find_problems(vague)))
    found = track_feedback(
        [answer(followed=False)],
        make_scored_iteration(1, 0.5),
        make_scored_iteration(2, 0.5),
        [find_problems(vague)],
    )
    assert found.clarity == 1 - lost < 0.5


@pytest.mark.parametrize(
    ("followed", "expected"),
    [([], False), ([True], True), ([True, False], True), ([True, False, False], False)],
)
def test_feedback_is_followed_where_at_least_half_of_its_items_are(followed, expected):
    found = track_feedback(
        [answer(followed=each) for each in followed],
        make_scored_iteration(1, 0.5),
        make_scored_iteration(2, 0.5),
        [()],
    )
    assert found.followed is expected


def test_tracking_in_the_documents_names():  # row 21 # row 22 # row 23 # row 24
    assert FollowUp(followed=True, delta=0.13, clarity=0.85).as_document() == {
        "feedback_followed": True,
        "improvement_observed": True,
        "improvement_delta": 0.13,
        "feedback_clarity_score": 0.85,
    }
    assert FollowUp(followed=False, delta=None, clarity=1.0).as_document() == {
        "feedback_followed": False,
        "feedback_clarity_score": 1.0,
    }


# Rates over simulated weeks


def week(number: int):
    """Ten pull requests: with a place eight of ten items are followed, without one three of ten."""
    for pull in range(10):
        for placed in (True, False):
            follows = pull < (8 if placed else 3)
            yield from story(number, pull, placed=placed, follows=follows)


def story(number: int, pull: int, *, placed: bool, follows: bool):
    tag, who = ("date_errors", "alice") if placed else ("scope_error", "bob")
    item = Item(tag, place=Location(FILE, 3) if placed else None)
    first = make_rejection(1, who, items=(item,))
    again = make_approval(9, who, "b") if follows else make_rejection(9, who, "b", items=(item,))
    one, two = list_iterations(make_pull_request(first, again, at_head="b"))
    files = {FILE: carried_between(BEFORE, AFTER) if follows else UNCHANGED_FILE}
    found = item_responses(one, two, files)
    way = build_trajectory([IterationSnapshot(one), IterationSnapshot(two)], 2, GATES, SCORING.weights, BAND)
    tracking = track_feedback(found, *way.scored, [()])
    author = AUTHOR.login if pull % 2 else "scribe-2"
    return item_outcomes(found, tracking, author, at_minute(9) + timedelta(weeks=number, hours=pull))


WEEKS = [seen for number in range(4) for seen in week(number)]


def share_followed(rate):
    return round(rate.followed / rate.items, 3)


def test_feedback_with_a_place_is_seen_to_be_followed_more_often():  # row 53
    assert [(rate.key, rate.items, share_followed(rate)) for rate in follow_rates(WEEKS, GroupBy.PLACE)] == [
        ("with a place", 40, 0.8),
        ("without a place", 40, 0.3),
    ]


def test_what_is_followed_improves_and_what_is_not_does_not():  # row 54
    assert {rate.key: rate.improvement_rate for rate in follow_rates(WEEKS, GroupBy.PLACE)} == {
        "with a place": 0.8,
        "without a place": 0.3,
    }
    followed = follow_rates([seen for seen in WEEKS if seen.followed], GroupBy.REVIEWER)
    ignored = follow_rates([seen for seen in WEEKS if not seen.followed], GroupBy.REVIEWER)
    assert {rate.improvement_rate for rate in followed} == {1.0}
    assert {rate.improvement_rate for rate in ignored} == {0.0}


def test_rates_by_author_reviewer_and_gate():  # row 53 # row 54
    assert {rate.key: share_followed(rate) for rate in follow_rates(WEEKS, GroupBy.AUTHOR)} == {
        "scribe-bot": 0.5,
        "scribe-2": 0.6,
    }
    assert {rate.key: share_followed(rate) for rate in follow_rates(WEEKS, GroupBy.REVIEWER)} == {
        "user:alice": 0.8,
        "user:bob": 0.3,
    }
    assert [(rate.key, share_followed(rate)) for rate in follow_rates(WEEKS, GroupBy.GATE)] == [
        ("date_errors", 0.8),
        ("scope_error", 0.3),
    ]


def test_a_rate_counts_only_what_was_measured():
    seen = [
        ItemOutcome(at_minute(1), "scribe-bot", "user:alice", None, placed=False, followed=True, delta=0.2),
        ItemOutcome(at_minute(2), "scribe-bot", "user:alice", None, placed=False, followed=False, delta=-0.1),
        ItemOutcome(at_minute(3), "scribe-bot", "user:alice", None, placed=False, followed=False),
    ]
    (found,) = follow_rates(seen, GroupBy.GATE)
    assert found == FollowRate("without a tag", items=3, followed=1, measured=2, improved=1)
    assert (share_followed(found), found.improvement_rate) == (0.333, 0.5)
    assert follow_rates(seen[2:], GroupBy.GATE)[0].improvement_rate is None


def test_the_clarity_of_everything_is_the_mean_of_what_is_known():
    seen = [
        ItemOutcome(at_minute(n), "", "", None, placed=False, followed=True, clarity=clear)
        for n, clear in enumerate((0.6, 1.0, None))
    ]
    assert overall_follow_rate(seen) == FollowRate("", 3, 3, measured=0, improved=0, mean_clarity=0.8)
    assert overall_follow_rate([]) is None


def test_nothing_seen_has_no_rates():
    assert follow_rates([], GroupBy.AUTHOR) == ()
