"""What the next revision is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.adapters.detection_rules import shipped
from bot.domain.brief import (
    Brief,
    Known,
    Line,
    LogEntry,
    OpenItem,
    Refinement,
    Wanted,
    brief,
    log_entry,
    refined,
)
from bot.domain.detection import Detection, FeedbackType
from bot.domain.model import Place

RULES = shipped()
DATES = OpenItem(
    "date_errors",
    words="created is the publication date",
    fix="Write the extraction date.",
    place=Place("claims/a.md", 5),
)


def detected(kind: str, sure: float = 0.9) -> Detection:
    return Detection(FeedbackType(kind), sure, is_shown=sure >= 0.6)


def texts(kind: str, items: tuple[OpenItem, ...], known: Known) -> list[tuple[str, str]]:
    made = brief(detected(kind), items, known, RULES)
    return [(line.action, line.text) for line in made.lines] if made else []


def test_a_crash_is_told_with_its_error_then_the_framework_then_the_approach():  # rows 221-224
    said = 'Crashes:\n```\nTraceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3\n```'
    assert texts("runtime_error", (DATES,), Known("alice", said, framework="Django 5")) == [
        ("add_context", "Given the error: KeyError: 3"),
        ("add_constraint", "Ensure compatibility with Django 5"),
        ("request_approach", "Approach this step by step, validating each change"),
    ]


def test_a_failed_check_is_told_with_what_must_pass_then_what_is_expected_then_the_proof():  # rows 225-228
    known = Known("alice", "test_dates fails: expected 2026-01-01 but got 2013-05-01", ("validate",))
    assert texts("verification_failure", (DATES,), known) == [
        ("add_test_context", "Ensure the solution passes: check validate (test_dates)"),
        ("specify_behavior", "Expected behavior: expected 2026-01-01 but got 2013-05-01"),
        ("request_validation", "Include validation that confirms the fix works"),
    ]


def test_a_refusal_is_told_with_the_goal_then_the_scope_then_the_registrys_alternatives():  # rows 229-232
    item = replace(DATES, alternatives=("created: 2026-01-01",))
    known = Known("alice", "Wrong. I meant the extraction date, see the guide.")
    assert texts("user_rejection", (item,), known) == [
        ("request_clarification", "To clarify the goal: I meant the extraction date, see the guide"),
        ("narrow_scope", "Focusing specifically on: claims/a.md:5"),
        ("offer_alternatives", "Alternative approaches to consider: created: 2026-01-01"),
    ]


def test_a_remainder_is_told_with_the_gap_then_the_constraint_then_the_smallest_fix():  # rows 233-236
    assert texts("partial_success", (DATES,), Known("alice")) == [
        ("focus_on_gap", "Specifically addressing: created is the publication date"),
        ("add_targeted_constraint", "Additional constraint: Write the extraction date."),
        ("request_incremental_fix", "Make minimal changes to address: date_errors"),
    ]


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("runtime_error", ["request_approach"]),
        ("verification_failure", ["request_validation"]),
        ("user_rejection", []),
        ("partial_success", []),
    ],
)
def test_a_template_whose_slot_nothing_fills_is_not_shown(kind, left):
    assert [action for action, _ in texts(kind, (), Known("alice"))] == left


def test_the_first_blocking_item_fills_the_slots():
    warning = OpenItem("scope_error", fix="Name the scope.", is_blocking=False)
    assert texts("partial_success", (warning, DATES), Known("alice"))[1][1].endswith(
        "Write the extraction date."
    )


def test_long_observations_are_cut():
    item = replace(DATES, fix="x" * 500)
    assert (
        len(texts("partial_success", (item,), Known("alice"))[1][1]) == len("Additional constraint: ") + 200
    )


@pytest.mark.parametrize("detection", [Detection(None), detected("user_rejection", 0.5)])
def test_nothing_detected_or_too_unsure_is_no_brief(detection):  # row 237
    known = Known("alice")
    assert (brief(detection, (DATES,), known, RULES), refined(detection, (DATES,), known, RULES)) == (
        None,
        None,
    )


@pytest.mark.parametrize(
    ("items", "known", "score"),
    [  # row 239: two points for each mark
        ((DATES,), Known("alice", "test_a fails", ("validate",)), 10),
        ((DATES,), Known("alice"), 6),
        ((replace(DATES, place=None),), Known("alice"), 4),
        ((OpenItem("a_b"),), Known("alice"), 2),
        ((OpenItem("a_b"),), Known("alice", "KeyError: 3"), 4),
        ((), Known("alice"), 0),
    ],
)
def test_a_brief_is_scored_by_how_well_it_can_be_acted_on(items, known, score):
    made = brief(detected("partial_success"), items, known, RULES)
    assert (made.score if made else None) == score


def test_a_good_brief_is_final_in_the_first_round():  # rows 238, 239
    known = Known("alice", checks=("validate",))
    assert refined(detected("partial_success"), (DATES,), known, RULES) == Refinement(
        Brief(
            FeedbackType.PARTIAL_SUCCESS,
            0.9,
            10,
            (
                Line("focus_on_gap", "Specifically addressing: created is the publication date"),
                Line("add_targeted_constraint", "Additional constraint: Write the extraction date."),
                Line("request_incremental_fix", "Make minimal changes to address: date_errors"),
            ),
        ),
        1,
    )


def test_a_poor_brief_asks_for_annotations_then_for_places_then_for_a_person():  # rows 239, 240
    item = OpenItem("a_b", words="the parser is off")
    rounds = [
        refined(detected("user_rejection"), (item,), known, RULES)
        for known in (
            Known("alice"),
            Known("alice", annotations=()),
            Known("alice", annotations=(), resolved=()),
        )
    ]
    assert [(one.round, one.wants, one.brief.lines) for one in rounds if one] == [
        (1, Wanted.ANNOTATIONS, ()),
        (2, Wanted.PLACES, ()),
        (3, None, (Line("request_clarification", "Ask `alice`: which place?"),)),
    ]


def test_a_repository_limits_the_rounds():  # row 240
    once = RULES.extended((), threshold=0.6, rounds=1)
    made = refined(detected("user_rejection"), (OpenItem("a_b"),), Known("alice"), once)
    assert (made.round, made.wants) == (1, None)


def test_what_the_rounds_read_makes_the_brief_better():
    item = OpenItem("a_b", words="the parser is off", fix="Return None.")
    known = Known("alice", annotations=("error: 3 findings",), resolved=(Place("a.py", 7),))
    made = refined(detected("user_rejection"), (replace(item, place=Place("a.py", 7)),), known, RULES)
    assert (made.brief.score, made.brief.lines[0].text) == (8, "Focusing specifically on: a.py:7")


def test_a_brief_is_written_into_the_document():
    made = brief(detected("verification_failure"), (DATES,), Known("alice", checks=("validate",)), RULES)
    assert made.as_document() == {
        "feedback_type": "verification_failure",
        "confidence": 0.9,
        "score": 10,
        "lines": [
            {"action": "add_test_context", "text": "Ensure the solution passes: check validate"},
            {"action": "specify_behavior", "text": "Expected behavior: Write the extraction date."},
            {"action": "request_validation", "text": "Include validation that confirms the fix works"},
        ],
    }


AT = datetime(2026, 2, 1, 10, 30, tzinfo=UTC)


def test_each_round_is_logged_and_waits_for_the_next_verdict():  # rows 241, 242
    known = Known("alice", "wrong, I meant security review")
    made = refined(
        detected("user_rejection"),
        (OpenItem("scope_error"),),
        replace(known, annotations=(), resolved=()),
        RULES,
    )
    assert made
    assert log_entry(made, known.said, "review the code", AT) == LogEntry(
        timestamp=AT,
        original_prompt="review the code",
        feedback_type=FeedbackType.USER_REJECTION,
        feedback_signal="wrong, I meant security review",
        actions_applied=("request_clarification", "request_clarification"),
        refined_prompt="To clarify the goal: I meant security review\nAsk `alice`: which place?",
        iteration=3,
        success=None,
    )


def test_the_documents_example_entry_is_written_as_it_stands_there():  # row 243
    entry = LogEntry(
        AT,
        "review the code",
        FeedbackType.USER_REJECTION,
        "wrong, I meant security review",
        ("request_clarification",),
        "As a security expert, review the code for vulnerabilities",
        1,
    )
    assert entry.judged(accepted=True).as_document() == {
        "timestamp": "2026-02-01T10:30:00Z",
        "original_prompt": "review the code",
        "feedback_type": "user_rejection",
        "feedback_signal": "wrong, I meant security review",
        "actions_applied": ["request_clarification"],
        "refined_prompt": "As a security expert, review the code for vulnerabilities",
        "iteration": 1,
        "success": True,
    }
