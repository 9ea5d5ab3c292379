from __future__ import annotations

from datetime import timedelta

import pytest

from bot.findings.line_tracking import UNCHANGED_FILE, LineMap, TrackedFile, map_lines, was_touched
from bot.history.model import Ratio
from bot.history.rates import FollowRate, item_outcomes, overall_follow_rate
from bot.iterations.followup import ItemResponse, item_responses, track_feedback
from bot.iterations.model import list_iterations
from bot.iterations.scoring import ScoredIteration, build_trajectory
from bot.pull_request.model import FollowUp, Item, ItemOutcome
from bot.values import Location
from bot.verdicts.quality import FeedbackField, FeedbackText, QualityProblem, QualityRule, find_problems
from tests.builders import BOB
from tests.builders import at_minute as at
from tests.findings.ledger_builders import Story, inline
from tests.iterations.iteration_builders import (
    AUTHOR,
    BAND,
    GATES,
    SCORING,
    at_minute,
    make_approval,
    make_pull_request,
    make_rejection,
    make_reviewer,
    make_scored_iteration,
)

FILE = "claims/a.md"
BEFORE = "title\n\ncreated: 2026-13-01\n\nbody\nmore\n"
AFTER = "title\n\ncreated: 2026-11-01\n\nbody\nmore\n"


def carried_between(old: str, new: str) -> TrackedFile:
    return TrackedFile(has_changed=old != new, lines=LineMap(map_lines(old.splitlines(), new.splitlines())))


def responses(story: Story) -> list[tuple[str | None, bool | None]]:
    """What became of the first iteration's findings by the second: tag, and whether it was followed."""
    one, two = list_iterations(story.pull_request)
    return [(response.item.tag, response.is_followed) for response in item_responses(one, two)]


# Was it followed?


def test_what_is_reported_again_is_not_followed_even_if_its_push_is_not_known_yet():
    verdicts = make_rejection(1), make_rejection(9, where="b")
    one, two = list_iterations(make_pull_request(*verdicts, pushes=[(0, "a")], at_head="a"))
    assert [response.is_followed for response in item_responses(one, two)] == [False]


@pytest.mark.parametrize(
    ("story", "followed"),
    [
        (Story().reject("date_errors").push("b", {9: "x"}).reject("date_errors"), False),
        (Story().reject("date_errors").push("b", {9: "x"}).reject("scope_error"), True),
        (Story().reject("date_errors").push("b", {9: "x"}).approve(), True),
        # A push after it was reported again belongs to the next iteration.
        (Story().reject("date_errors").push("b", {9: "x"}).reject("date_errors").push("c", {9: "y"}), False),
        # Somebody else's approval: its own validator has not looked at the change yet.
        (Story().reject("date_errors").push("b", {9: "x"}).approve(who=BOB), None),
        (Story().reject(inline(1, tag="date_errors")).push("b", {9: "x"}).approve(who=BOB), False),
        (Story().reject(inline(1, tag="date_errors")).push("b", {5: "x"}).approve(who=BOB), None),
    ],
)
def test_a_finding_was_followed_once_it_is_fixed(story, followed):  # row 21
    assert responses(story)[0] == ("date_errors", followed)


def test_what_was_dismissed_or_withdrawn_counts_neither_way():  # row 21
    dismissed = Story().reject("date_errors", "scope_error").push("b", {9: "x"}).reject("date_errors")
    assert responses(dismissed.dismiss("date_errors")) == [("scope_error", True)]
    withdrawn = Story().reject("date_errors").push("b", {9: "x"}).approve(who=BOB)
    assert responses(withdrawn.change_verdict(0, lifted_at=at(9))) == []


def test_every_finding_of_every_rejecting_validator_is_asked_about():
    story = Story().reject("date_errors").check(Item("near_duplicate", "x")).push("b", {9: "x"}).approve()
    assert responses(story) == [("date_errors", True), ("near_duplicate", None)]


# Locations, carried through the diff


@pytest.mark.parametrize(
    ("place", "file", "expected"),
    [
        (Location(FILE, 3), UNCHANGED_FILE, False),
        (Location(FILE, 3), TrackedFile(has_changed=True), None),  # binary, or too large to read
        (Location(FILE), TrackedFile(has_changed=True), True),
        (Location(FILE), UNCHANGED_FILE, False),
        (
            Location(FILE, 3),
            TrackedFile(has_changed=True, lines=LineMap()),
            True,
        ),  # the file is gone
        (Location(FILE, 1, 2), carried_between(BEFORE, AFTER), False),
        (Location(FILE, 1, 4), carried_between(BEFORE, AFTER), True),
        (Location(FILE, 90), TrackedFile(has_changed=True, lines=LineMap((1, None), shift=0)), False),
    ],
)
def test_whether_a_location_changed(place, file, expected):  # row 21
    assert was_touched(place, file) is expected


# Did it help, and how clear was it?


def answer(*, followed: bool, place=None) -> ItemResponse:
    return ItemResponse(Item("date_errors", place=place), make_reviewer(), is_followed=followed)


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
    pushes = [(0, "a"), (5, "b")]
    one, two = list_iterations(make_pull_request(first, again, pushes=pushes, at_head="b"))
    found = item_responses(one, two)
    way = build_trajectory([ScoredIteration(one), ScoredIteration(two)], 2, GATES, SCORING.weights, BAND)
    tracking = track_feedback(found, *way.scored, [()])
    author = AUTHOR.login if pull % 2 else "scribe-2"
    return item_outcomes(found, tracking, author, at_minute(9) + timedelta(weeks=number, hours=pull))


WEEKS = [seen for number in range(4) for seen in week(number)]


PLACED = [seen for seen in WEEKS if seen.placed]
UNPLACED = [seen for seen in WEEKS if not seen.placed]


def test_feedback_with_a_place_is_seen_to_be_followed_more_often():  # row 53
    assert [Ratio.of(seen.followed for seen in group) for group in (PLACED, UNPLACED)] == [
        Ratio(32, 40),
        Ratio(12, 40),
    ]
    assert overall_follow_rate(PLACED) == FollowRate(Ratio(32, 40), mean_clarity=1.0)
    assert overall_follow_rate(UNPLACED) == FollowRate(Ratio(12, 40), mean_clarity=1.0)


def test_what_is_followed_improves_and_what_is_not_does_not():  # row 54
    followed = overall_follow_rate([seen for seen in WEEKS if seen.followed])
    ignored = overall_follow_rate([seen for seen in WEEKS if not seen.followed])
    assert (followed.improved.rate, ignored.improved.rate) == (1.0, 0.0)


def test_an_outcome_names_author_reviewer_and_tag():  # row 53 # row 54
    named = {(seen.author, seen.reviewer, seen.tag) for seen in WEEKS}
    assert named == {
        (author, *about)
        for author in ("scribe-bot", "scribe-2")
        for about in (("user:alice", "date_errors"), ("user:bob", "scope_error"))
    }


def test_a_rate_counts_only_what_was_measured():
    seen = [
        ItemOutcome(at_minute(1), "scribe-bot", "user:alice", None, placed=False, followed=True, delta=0.2),
        ItemOutcome(at_minute(2), "scribe-bot", "user:alice", None, placed=False, followed=False, delta=-0.1),
        ItemOutcome(at_minute(3), "scribe-bot", "user:alice", None, placed=False, followed=False),
    ]
    found = overall_follow_rate(seen)
    assert (found, found.improved.rate) == (FollowRate(Ratio(1, 2)), 0.5)
    assert overall_follow_rate(seen[2:]).improved.rate is None


def test_the_clarity_of_everything_is_the_mean_of_what_is_known():
    seen = [
        ItemOutcome(at_minute(n), "", "", None, placed=False, followed=True, clarity=clear)
        for n, clear in enumerate((0.6, 1.0, None))
    ]
    assert overall_follow_rate(seen) == FollowRate(Ratio(), mean_clarity=0.8)
    assert overall_follow_rate([]) is None
