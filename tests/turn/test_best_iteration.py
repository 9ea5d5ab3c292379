"""Which iteration was the best, and how does the comment say so?"""

import pytest

from bot.history.model import build_history_record
from bot.markdown.escape import parse_marker
from bot.pull_request.events import PullRequestEvent
from bot.pull_request.record import record_event
from bot.turn.decide import assess, conclude, merge_facts
from tests.builders import (
    HEADS,
    RULES,
    SITE,
    at_minute,
    make_decision_time,
    make_facts,
    make_pull_request,
    make_snapshot,
)
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
    assert "| **0.69** | 1 blocking | correctness 0.60 |\n| 2 " in body
    assert "git fetch" not in body


def test_a_force_push_back_to_the_best_makes_it_the_present_one():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors", "title_overclaims"),
    )
    pushed_back = PullRequestEvent("synchronize", make_snapshot(head=HEADS[0], updated_at=at_minute(40)))
    back = record_event(known, pushed_back, at_minute(40))
    again = make_revision_review(1, "date_errors", id=50, submitted_at=at_minute(50))
    reviews = (
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors", "title_overclaims"),
        again,
    )
    body = decide(back, make_facts(*reviews)).effects[0].body
    marker = parse_marker("REJECTION", body)
    assert (marker["iteration"], marker["best"]["iteration"], marker["head"]) == (1, 1, HEADS[0])
    assert marker["blocking"] == ["date_errors"]


@pytest.mark.parametrize(("lines", "offered"), [(("one",), False), (("another",), True)])
def test_an_earlier_iteration_is_worth_restoring_only_if_its_files_differ(lines, offered):
    heads = (
        make_revision(1, files=(make_page_diff("one"),), base="m1"),
        make_revision(2, files=(make_page_diff(*lines),), base="m2"),
    )
    read = make_facts(
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors", "title_overclaims"),
    )
    body = decide(make_revised_pull_request(*heads), read).effects[0].body
    assert (f"git fetch origin {HEADS[0]}" in body) is offered


def test_an_open_gate_says_in_how_many_pull_requests_it_recurs():
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
    assert "  - Recurring: in 3 of the last 3 pull requests, most recently [61](" in body
