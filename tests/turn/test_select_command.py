"""What happens when a person selects an iteration?"""

from dataclasses import replace

import pytest

from bot.commands.overrides import SelectionRequester, apply_selection
from bot.iterations.selection import selection_report, selection_report_markdown
from bot.pull_request.facts import Facts
from bot.pull_request.model import OverrideAudit, SelectionChoice
from tests.builders import BOB, HEADS, ME, RULES, at_minute, make_pull_request
from tests.turn.turn_builders import (
    announcements_of,
    close_pull_request,
    decide,
    decide_and_post,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
    make_three_iterations,
)


def selected(known, choice, reason="the second is what we want", seen=HEADS[2]):
    return apply_selection(known, str(choice), reason, SelectionRequester(BOB, at_minute(70), seen), RULES)


def test_a_person_selects_an_iteration_with_a_reason():  # row 73 # row 74 # row 75
    pull_request, reply = selected(make_three_iterations("date_errors"), 1)
    assert pull_request.audits == (
        OverrideAudit(
            "bob",
            at_minute(70),
            "the second is what we want",
            HEADS[2],
            SelectionChoice.USE_SPECIFIC,
            before=2,
            after=1,
            by_id=BOB.id,
        ),
    )
    assert reply.startswith(
        "`bob` selects iteration 1 instead of 2, at `3333333`: `the second is what we want`\n\n"
        "## Output Selection Report\n"
    )


@pytest.mark.parametrize(("choice", "number"), [("best", 2), ("final", 3), (3, 3)])
def test_best_final_and_a_number_can_be_selected(choice, number):
    report = selection_report(selected(make_three_iterations("date_errors"), choice)[0], RULES)
    assert report.selection.selected.number == number


def test_a_selection_holds_for_the_head_that_was_seen():
    known = selected(make_three_iterations("date_errors"), 1)[0]
    moved = decide_and_post(
        replace(known, head=HEADS[3], revisions=(*known.revisions, make_revision(4))),
        make_revision_review(1, "date_errors", "scope_error"),
        make_revision_review(2, "near_duplicate"),
        make_revision_review(3, "date_errors"),
        make_revision_review(4, "date_errors"),
    )
    selection = selection_report(moved, RULES).selection
    assert (selection.selected.number, selection.outdated.by) == (2, "bob")


def test_an_iteration_that_does_not_exist_is_refused():
    known = make_three_iterations("date_errors")
    assert selected(known, 7) == (
        known,
        "Name `best`, `final` or an iteration from 1 to 3.\n",
    )


def test_a_selection_without_a_reason_is_refused():  # row 76
    known = make_three_iterations("date_errors")
    assert selected(known, "best", " ")[0] == known


def test_before_the_first_judgement_there_is_nothing_to_select():
    known = make_pull_request()
    assert selected(known, "best")[0] == known


def test_a_selection_of_a_head_that_was_left_is_not_taken():
    known = make_three_iterations("date_errors")
    assert selected(known, "best", seen=HEADS[1]) == (
        known,
        (
            "Not selected: you asked at `2222222`, but the head is now `3333333`. "
            "If you still want it, repeat the command.\n"
        ),
    )


def test_the_comment_names_who_selected_and_why():
    known = selected(make_three_iterations("date_errors"), 1, "the first is @simple")[0]
    body = decide(known, Facts(ME)).effects[0].body
    assert "\n\n`bob` selected iteration 1: `the first is @simple`\n\n" in body


def test_whoever_selected_the_final_one_is_not_told_that_it_was_not_the_best():
    known = selected(make_three_iterations("date_errors"), "final")[0]
    assert announcements_of(decide(close_pull_request(known), Facts(ME))) == []


def test_of_one_iteration_there_is_nothing_to_select():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
    )
    requester = SelectionRequester(BOB, at_minute(50), HEADS[0])
    assert apply_selection(known, "best", "it is", requester, RULES) == (
        known,
        "Only one iteration has been reviewed, so there is nothing to choose from.\n",
    )
    assert selection_report_markdown(known, RULES) is None
