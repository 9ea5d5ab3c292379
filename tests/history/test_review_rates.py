"""How the validators put what they said, and how the weekly issue tells it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.gates.config import AuthorNaming
from bot.grounding.audit import GroundingRates
from bot.history.model import Ratio, ReviewStats, compute_review_stats, window_of_last_hours
from bot.history.rates import ReviewerRates, compute_reviewer_rates
from bot.pull_request.model import GroundedClaim, Item, Stance, Validator, Verdict
from bot.values import GHOST
from bot.weekly.text import render_reviewers
from tests.builders import START, make_pull_request
from tests.history.record_builders import NOW, make_record, make_rejection
from tests.weekly.test_issue import MODEL

NONE = GroundingRates(0, 0, 0, 0, 0)
WEEK = window_of_last_hours(168, NOW)


def told(naming=AuthorNaming.AGENTS, *reviews):
    return render_reviewers(replace(MODEL, query=replace(MODEL.query, naming=naming), reviews=reviews))


def reviewer(name, vague, *counts):
    return ReviewerRates(Validator(f"user:{name}", name), GroundingRates(*counts or (0,) * 5), vague)


def make_verdict(*items, number=0, stance=Stance.REJECTS, **facts):
    return Verdict(f"review:{number}", Validator("user:1", "alice"), stance, START, "a" * 40, items, **facts)


def test_unclear_items_are_counted_without_their_words():  # row 46
    alice, lint = Validator("user:1", "alice"), Validator("check:lint", "lint", check=True)
    words = ("It could be better.", "The date in line 3 is in the future.", "")
    items = tuple(Item("date_errors", text) for text in words)
    verdicts = tuple(
        Verdict(f"review:{number}", who, Stance.REJECTS, START, "a" * 40, items, counted=counted)
        for number, (who, counted) in enumerate(((alice, True), (lint, True), (alice, False)))
    )
    assert compute_review_stats(make_pull_request(verdicts=verdicts)) == (
        ReviewStats("review:0", NONE, 2, 1),
    )


def test_a_rejection_that_names_nothing_to_change_counts_as_unclear():
    verdicts = (
        make_verdict(number=1),
        make_verdict(number=2, repeats=True),
        make_verdict(number=3, stance=Stance.APPROVES),
    )
    assert compute_review_stats(make_pull_request(verdicts=verdicts)) == (
        ReviewStats("review:1", NONE, 1, 1),
    )


def test_claims_belong_to_the_verdict_that_made_them():
    verdict = make_verdict(Item("scope_error"), number=7)
    entry = GroundedClaim(
        "user:1",
        "alice",
        "review:7",
        "",
        "git_state",
        "mandatory",
        "it conflicts",
        "verified",
        "a" * 40,
        START,
    )
    log = (entry, replace(entry, verdict="review:6"), replace(entry, requirement="recommended", claim="x"))
    found = compute_review_stats(make_pull_request(verdicts=(verdict,), grounding=log))
    assert found == (ReviewStats("review:7", GroundingRates(1, 1, 0, 0, 0)),)


def test_a_week_has_what_was_said_in_it_and_the_busiest_first():
    claims = GroundingRates(2, 1, 1, 0, 2)
    records = [
        make_record(
            1, make_rejection(2, "date_errors", by="bob"), stated=(ReviewStats("review:bob2", NONE, 3, 1),)
        ),
        make_record(2, make_rejection(3, "date_errors"), stated=(ReviewStats("review:alice3", claims, 1),)),
        make_record(
            3, make_rejection(1, "date_errors"), stated=(ReviewStats("review:alice1", claims, 1, 1),)
        ),
        make_record(
            4, make_rejection(9, "date_errors"), stated=(ReviewStats("review:alice9", claims, 5, 5),)
        ),
    ]
    assert [
        (one.validator.name, one.claims.claims, one.vague) for one in compute_reviewer_rates(records, WEEK)
    ] == [
        ("alice", 4, Ratio(1, 2)),
        ("bob", 0, Ratio(1, 3)),
    ]


def test_whoever_was_forgotten_is_nobody_in_particular():
    said = [
        replace(make_rejection(ago, "x_y"), validator=Validator(f"forgotten:{ago}", GHOST.login))
        for ago in (1, 2)
    ]
    records = [make_record(n, one, stated=(ReviewStats(one.id, NONE, 1),)) for n, one in enumerate(said)]
    (found,) = compute_reviewer_rates(records, WEEK)
    assert (found.validator.name, found.vague) == ("ghost", Ratio(0, 2))


def test_nothing_is_told_where_nothing_was_claimed_and_nothing_vague():
    assert (told(), told(AuthorNaming.AGENTS, reviewer("alice", Ratio(0, 9)))) == ((), ())


def test_a_repository_that_shows_no_authors_gets_the_figure_alone():
    found = told(AuthorNaming.NONE, reviewer("alice", Ratio(1, 4)))
    assert found == ("Reviews: 1 of 4 items too vague to act on.",)


@pytest.mark.parametrize(
    ("named", "rows"), [(AuthorNaming.AGENTS, ["2 people"]), (AuthorNaming.ALL, ["`alice`", "`bob`"])]
)
def test_people_are_named_only_where_the_repository_wants_it(named, rows):
    (section,) = told(named, reviewer("alice", Ratio(1, 2), 4, 4, 0, 0, 4), reviewer("bob", Ratio(0, 1)))
    assert [line.split(" | ")[0].lstrip("| ") for line in section.split("\n")[4:-2]] == rows


def test_a_window_ends_with_this_instant():
    late = replace(make_rejection(0, "x_y"), at=NOW + timedelta(seconds=1))
    assert compute_reviewer_rates([make_record(1, late, stated=(ReviewStats(late.id, NONE, 1),))], WEEK) == ()
