"""Which iteration was the best, and how does the comment say so?"""

from dataclasses import replace

import pytest

from bot.history.model import build_history_record
from bot.markdown.escape import parse_marker
from bot.turn.decide import assess, conclude, merge_facts
from tests.builders import HEADS, RULES, SITE, at_minute, make_decision_time, make_facts, make_pull_request
from tests.turn.turn_builders import (
    decide,
    decide_and_post,
    make_page_diff,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
)


def test_equal_iterations_keep_the_earlier_one():  # row 66 # row 69
    known = make_revised_pull_request(make_revision(1), make_revision(2))
    body = (
        decide(
            known,
            make_facts(make_revision_review(1, "date_errors"), make_revision_review(2, "title_overclaims")),
        )
        .effects[0]
        .body
    )
    assert parse_marker("REJECTION", body)["best"] == {"iteration": 1, "head": HEADS[0]}
    assert "<summary>Quality 0.83 → 0.83: as good as iteration 1, none was better</summary>" in body


def test_a_force_push_back_to_the_best_makes_it_the_present_one():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors", "title_overclaims"),
    )
    back = replace(known, head=HEADS[0])
    again = make_revision_review(1, "date_errors", id=50, submitted_at=at_minute(50))
    reviews = (
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors", "title_overclaims"),
        again,
    )
    body = decide(back, make_facts(*reviews)).effects[0].body
    assert parse_marker("REJECTION", body)["iteration"] == 1
    assert "<summary>Quality 0.83 → 0.67: iteration 1, the present one, is the best</summary>" in body


def test_a_rebase_without_change_offers_no_way_back():
    same = (make_page_diff("one"),)
    heads = (make_revision(1, files=same, base="m1"), make_revision(2, files=same, base="m2"))
    read = make_facts(
        make_revision_review(1, "date_errors"), make_revision_review(2, "date_errors", "title_overclaims")
    )
    body = decide(make_revised_pull_request(*heads), read).effects[0].body
    assert "iteration 1 scored higher with the same files</summary>" in body
    assert "Shorter" not in body


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (("title_overclaims",), ("date_errors", "title_overclaims"), "only the second of them was open"),
        (("near_duplicate",), ("date_errors", "title_overclaims"), "none of them was open"),
        (("near_duplicate",), ("date_errors",), "it was not open"),
        (("scope_error",), ("date_errors", "title_overclaims"), "only 1 blocking issue was open"),
        (
            ("date_errors", "scope_error"),
            ("date_errors", "scope_error", "title_overclaims", "factual_discrepancy"),
            "only 2 of them were open",
        ),
    ],
)
def test_the_next_line_names_the_shorter_way(first, second, words):
    body = (
        decide(
            make_revised_pull_request(make_revision(1), make_revision(2)),
            make_facts(make_revision_review(1, *first), make_revision_review(2, *second)),
        )
        .effects[0]
        .body
    )
    assert f" Shorter: go back to iteration 1 (below), where {words}." in body


def test_an_open_gate_tells_since_when_and_how_often_elsewhere():
    elsewhere = tuple(
        build_history_record(
            make_pull_request(
                number=number,
                verdicts=decide_and_post(
                    make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
                ).verdicts,
            )
        )
        for number in (60, 61)
    )
    reviews = (make_revision_review(1, "date_errors"), make_revision_review(2, "date_errors"))
    known = merge_facts(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_facts(*reviews),
        RULES,
        at_minute(42),
    )
    decision = conclude(
        assess(known, RULES, make_decision_time()),
        RULES,
        make_decision_time(),
        SITE,
        recent_records=elsewhere,
    )
    body = decision.effects[0].body
    assert "  - Again: open since iteration 1; in 3 of the last 3 pull requests, last in [61](" in body
