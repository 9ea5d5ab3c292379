"""What the next revision is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from inline_snapshot import snapshot

from bot.detection.detector import Detection
from bot.detection.load import shipped_detection_rules
from bot.detection.rules import FeedbackType
from bot.feedback.brief import (
    BriefFacts,
    OpenItem,
    Step,
    find_intent,
    refine_brief,
    write_brief,
)
from bot.pull_request.model import PostedBrief
from bot.values import Location

RULES = shipped_detection_rules()
DATES = OpenItem(
    "date_errors",
    text="created is the publication date",
    fix="Write the extraction date.",
    locations=(Location("claims/a.md", 5),),
)


def detected(kind: str, sure: float = 0.9) -> Detection:
    return Detection(FeedbackType(kind), sure, is_shown=sure >= 0.6)


def texts(kind: str, items: tuple[OpenItem, ...], known: BriefFacts) -> list[tuple[str, str]]:
    made = write_brief(detected(kind), items, known, RULES.actions)
    return [(line.action, line.text) for line in made.lines] if made else []


def test_a_crash_is_reproduced_first_then_the_framework_is_kept():  # rows 221-224
    said = 'Crashes:\n```\nTraceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3\n```'
    assert texts("runtime_error", (DATES,), BriefFacts("alice", said, framework="Django 5")) == snapshot(
        [
            ("add_context", "Reproduce the error first: `KeyError: 3` at claims/a.md:5"),
            ("add_constraint", "Keep it working with `Django 5`"),
        ]
    )


def test_a_failed_test_has_to_pass_and_the_check_proves_it():  # rows 225-228
    known = BriefFacts("alice", "test_dates fails: expected 2026-01-01 but got 2013-05-01", ("validate",))
    assert texts("verification_failure", (DATES,), known) == snapshot(
        [
            ("add_test_context", "Make `test_dates` pass: expected 2026-01-01 but got 2013-05-01"),
            ("request_validation", "Confirm it with `validate`"),
        ]
    )


def test_an_expectation_without_a_test_is_a_step_of_its_own():  # row 226
    known = BriefFacts("alice", "It prints the wrong year: expected 2026 but got 2013")
    assert texts("verification_failure", (DATES,), known) == snapshot(
        [("specify_behavior", "Produce the expected result: expected 2026 but got 2013")]
    )


def test_a_refusal_names_what_is_asked_for_the_locations_and_the_alternatives():  # rows 229-232
    thin = OpenItem("body_too_thin", fix="Add evidence.", proposals=("cite the paper", "drop the claim"))
    known = BriefFacts("alice", "Wrong. Please use the extraction date, see guide.md:4.")
    assert texts("user_rejection", (DATES, thin, replace(DATES, name="again")), known) == snapshot(
        [
            ("request_clarification", "Use the extraction date, see guide.md:4"),
            ("narrow_scope", "Work only on claims/a.md:5"),
            ("offer_alternatives", "Choose one: `cite the paper` or `drop the claim`"),
        ]
    )


@pytest.mark.parametrize("proposals", [(), ("cite the paper",)])
def test_alternatives_are_offered_only_where_a_validator_gave_two(proposals):  # row 230
    items = (replace(DATES, proposals=proposals), replace(DATES, name="b_c", fix="Another fix of a gate."))
    actions = [action for action, _ in texts("user_rejection", items, BriefFacts("alice"))]
    assert "offer_alternatives" not in actions


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("43 % should be 34 %, see sources/hanson-2013.md:88", None),
        ("Nearly.\n- The port should be `8080`, not 80.\nThanks", "The port should be `8080`, not 80"),
        ("> it should be blue\n\nNo, I wanted green. And soon!", "No, I wanted green"),
        ("Please use `Decimal` here", None),
        ("<!-- this should be seen by machines only -->", ""),
        ("Please use e.g. `foo` instead of `bar`. Thanks.", "Please use e.g. `foo` instead of `bar`"),
        ("It should be short (cf. the docs), i.e. one line vs. three", None),
        ("Please do it so: 1. first the reader, 2. Then the writer", None),
        ("See line 40. Please use version 3. Thanks", "Please use version 3"),
        ("That should be fine otherwise.", ""),
        ("The date is wrong.", ""),
    ],
)
def test_the_goal_is_the_whole_sentence_in_which_the_validator_states_it(said, goal):  # row 229
    assert find_intent(said) == (said if goal is None else goal)


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("Please use `Decimal` here", ["Use `Decimal` here"]),
        ("The port should be `8080`, not 80.", []),
        ("No, I wanted green.", []),
    ],
)
def test_only_what_is_written_as_an_instruction_becomes_a_step(said, steps):  # row 229
    assert [text for _, text in texts("user_rejection", (), BriefFacts("alice", said))] == steps


@pytest.mark.parametrize(
    "known", [BriefFacts("alice", "The build failed"), BriefFacts("alice", checks=("validate",))]
)
def test_what_a_gate_asks_for_is_no_expectation_that_was_observed(known):  # row 226
    actions = [action for action, _ in texts("verification_failure", (DATES,), known)]
    assert "specify_behavior" not in actions


PYTEST = """..F
>       assert month(x) == 11
E       AssertionError: expected 11 but got 13

src/dates.py:4: AssertionError
FAILED tests/test_dates.py::test_month - AssertionError: expected 11 but got 13"""
GO = "=== RUN   TestMonth\n--- FAIL: TestMonth (0.00s)\n    dates_test.go:9: expected 11, got 13"
JEST = "FAIL web/dates.test.ts\n  ● month › ends the year\n    Expected: 11\n    Received: 13"
CARGO = "running 2 tests\ntest dates::month ... FAILED\n"


@pytest.mark.parametrize(
    ("output", "steps"),
    [
        (
            PYTEST,
            snapshot(
                [
                    "Make `tests/test_dates.py::test_month` pass: expected 11 but got 13",
                    "Confirm it with `ci`",
                ]
            ),
        ),
        (GO, snapshot(["Make `TestMonth` pass: expected 11, got 13", "Confirm it with `ci`"])),
        (
            JEST,
            snapshot(["Make `web/dates.test.ts` pass: Expected: 11 Received: 13", "Confirm it with `ci`"]),
        ),
        (CARGO, snapshot(["Make `dates::month` pass", "Confirm it with `ci`"])),
        ("FAILED (failures=1)", snapshot(["Make `ci` pass"])),
        (
            "a.c:3: error: expected ';' before '}'",
            snapshot(["Make `ci` pass: `a.c:3: error: expected ';' before '}'`"]),
        ),
    ],
)
def test_what_a_check_printed_names_the_test_and_what_it_expects(output, steps):  # rows 225, 226
    lines = texts("verification_failure", (DATES,), BriefFacts("ci", checks=("ci",), output=output))
    assert [text for _, text in lines] == steps


def test_a_program_says_more_exactly_than_people_what_failed():  # row 225
    known = BriefFacts("alice", "See test_other, expected 1 but got 2", ("ci",), output=GO)
    assert (
        texts("verification_failure", (DATES,), known)[0][1] == "Make `TestMonth` pass: expected 11, got 13"
    )


def test_the_test_that_a_check_reports_at_a_line_has_to_pass():  # row 225
    known = BriefFacts("ci", checks=("ci",), failing_test=("test_total", "assert 90 == 100"))
    made = write_brief(detected("verification_failure"), (DATES,), known, RULES.actions)
    assert (made.lines[0].text, made.lines[0].headline) == (
        "Make `test_total` pass: `assert 90 == 100`",
        "make `test_total` pass",
    )


def test_an_error_that_a_check_printed_is_the_error_of_a_crash():  # rows 195, 221
    known = BriefFacts("alice", "It crashes.", output='  File "a.py", line 1\nValueError: month 13')
    assert texts("runtime_error", (DATES,), known)[0] == (
        "add_context",
        "Reproduce the error first: `ValueError: month 13` at claims/a.md:5",
    )
    assert known.has_trace


def test_without_an_error_the_first_annotation_is_the_reason():  # row 225
    known = BriefFacts("alice", checks=("validate",), annotations=("dates: month 13",))
    assert texts("verification_failure", (DATES,), known)[0][1] == "Make `validate` pass: `dates: month 13`"


def test_checks_and_logs_have_to_pass():
    known = BriefFacts("ruff", checks=("validate",), logs=("ruff",))
    assert texts("verification_failure", (DATES,), known)[0][1] == "Make `validate` and `ruff` pass"
    alone = BriefFacts("ruff", logs=("ruff",))
    # Evidence and proof, besides the place, the change and steps that are tied to it.
    assert write_brief(detected("partial_success"), (DATES,), alone, RULES.actions).score == 10


def test_a_remainder_is_told_with_the_gap_then_the_constraint_then_the_smallest_fix():  # rows 233-236
    assert texts("partial_success", (DATES,), BriefFacts("alice")) == snapshot(
        [
            ("focus_on_gap", "Finish what is left: date_errors at claims/a.md:5"),
            ("add_targeted_constraint", "Write the extraction date."),
            ("request_incremental_fix", "Change nothing else: date_errors is all that is open"),
        ]
    )


@pytest.mark.parametrize("kind", list(FeedbackType))
def test_a_step_whose_fact_nobody_observed_costs_no_line(kind):
    assert texts(kind, (), BriefFacts("alice")) == []


def test_every_line_keeps_the_documents_own_template():  # rows 221-236
    made = write_brief(detected("partial_success"), (DATES,), BriefFacts("alice"), RULES.actions)
    assert [line.template for line in made.lines] == [
        "Specifically addressing: {gap_description}",
        "Additional constraint: {constraint}",
        "Make minimal changes to address: {issue}",
    ]


def test_the_first_blocking_item_comes_first():
    warning = OpenItem("scope_error", fix="Name the scope.", is_blocking=False)
    assert (
        texts("partial_success", (warning, DATES), BriefFacts("alice"))[1][1] == "Write the extraction date."
    )


def test_long_observations_are_cut():
    item = replace(DATES, fix="x" * 500)
    assert len(texts("partial_success", (item,), BriefFacts("alice"))[1][1]) == 200


def rounds(kind, *readings, most=3):
    return refine_brief(detected(kind), readings, RULES.actions, most)


@pytest.mark.parametrize("detection", [Detection(None), detected("user_rejection", 0.5)])
def test_nothing_detected_or_too_unsure_is_no_brief(detection):  # row 237
    known = BriefFacts("alice")
    assert write_brief(detection, (DATES,), known, RULES.actions) is None
    assert refine_brief(detection, (((DATES,), known),), RULES.actions, 3) == ()


@pytest.mark.parametrize(
    ("items", "known", "score"),
    [  # row 239: two points for each mark
        ((DATES,), BriefFacts("alice", "test_a fails", ("validate",)), 10),
        ((DATES,), BriefFacts("alice", observed=("contents @ 1111111",)), 8),
        ((DATES,), BriefFacts("alice"), 6),
        ((replace(DATES, locations=()),), BriefFacts("alice"), 4),
        ((OpenItem("a_b"),), BriefFacts("alice"), 2),
        ((OpenItem("a_b"),), BriefFacts("alice", "KeyError: 3"), 4),
        ((), BriefFacts("alice"), 0),
    ],
)
def test_a_brief_is_scored_by_how_well_it_can_be_acted_on(items, known, score):
    made = write_brief(detected("partial_success"), items, known, RULES.actions)
    assert (made.score if made else None) == score


@pytest.mark.parametrize(
    ("trace", "score"),
    [
        ('  File "src/auth.py", line 6, in parse\nKeyError: 3', 8),
        ("TypeError: x is undefined\n    at total (/app/web/cart.ts:7:3)", 8),
        ('  File "/venv/lib/site-packages/attr/_make.py", line 6\nKeyError: 3', 6),
        ("KeyError: 3 in src/auth.py", 6),
    ],
)
def test_a_trace_through_the_projects_own_code_is_a_place(trace, score):  # row 239
    made = write_brief(
        detected("partial_success"),
        (replace(DATES, locations=()),),
        BriefFacts("alice", trace),
        RULES.actions,
    )
    assert (made.score if made else None) == score


def test_a_brief_without_a_step_has_no_points_for_its_steps():  # row 239
    made = write_brief(detected("runtime_error"), (DATES,), BriefFacts("alice"), RULES.actions)
    assert (made.lines, made.score) == ((), 4)


def test_a_good_brief_is_final_in_the_first_round():  # rows 238, 239
    known = BriefFacts("alice", checks=("validate",))
    (made,) = rounds("partial_success", ((DATES,), known), ((), known))
    assert (made.round, made.score, len(made.lines)) == (1, 10, 3)


VAGUE = OpenItem("a_b", text="the parser is off")
FIXED = replace(VAGUE, fix="Return None.")
PLACED = replace(FIXED, locations=(Location("a.py", 7),))
ALICE = BriefFacts("alice")
SEEN = BriefFacts("alice", observed=("a.py:7 @ 1111111",))


def test_a_poor_brief_has_a_round_for_each_thing_read_and_stops_once_it_is_good():  # rows 239, 240
    made = rounds("user_rejection", ((VAGUE,), ALICE), ((FIXED,), ALICE), ((PLACED,), SEEN))
    assert [(one.round, one.score) for one in made] == [(1, 0), (2, 2), (3, 8)]
    assert [line.text for line in made[-1].lines] == ["Work only on a.py:7"]


def test_a_round_that_reads_nothing_more_is_none():
    made = rounds("user_rejection", ((FIXED,), ALICE), ((FIXED,), ALICE), ((PLACED,), SEEN))
    assert [one.round for one in made] == [1, 3]


@pytest.mark.parametrize(("most", "made"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (10, [1, 2, 3])])
def test_a_repository_limits_the_rounds(most, made):  # row 240
    read = ((VAGUE,), ALICE), ((FIXED,), ALICE), ((PLACED,), SEEN)
    assert [one.round for one in rounds("user_rejection", *read, most=most)] == made


@pytest.mark.parametrize(
    ("item", "known", "question"),
    [
        (VAGUE, ALICE, "Ask `alice`: which place?"),
        (FIXED, SEEN, "Ask `alice`: which place?"),
        (replace(PLACED, fix=""), SEEN, "Ask `alice`: what should change?"),
        (PLACED, ALICE, "Ask `alice`: what shows the problem?"),
        (
            VAGUE,
            BriefFacts("validate", only_checks=True),
            "Read the output of `validate`: which place?",
        ),
    ],
)
def test_a_brief_that_stays_poor_asks_for_what_is_missing(item, known, question):
    (made,) = rounds("user_rejection", ((item,), known))
    template = "To clarify the goal: {clarification_prompt}"
    assert made.lines[-1] == Step(question, action="request_clarification", template=template)


def test_a_brief_that_is_good_asks_nobody():
    (made,) = rounds("user_rejection", ((PLACED,), SEEN))
    assert [line.action for line in made.lines] == ["narrow_scope"]


def test_a_brief_is_written_into_the_document():
    made = write_brief(
        detected("verification_failure"), (DATES,), BriefFacts("alice", checks=("validate",)), RULES.actions
    )
    assert made.as_document() == {
        "feedback_type": "verification_failure",
        "confidence": 0.9,
        "score": 8,
        "lines": [
            {
                "action": "add_test_context",
                "text": "Make `validate` pass",
                "template": "Ensure the solution passes: {test_description}",
            },
        ],
    }


AT = datetime(2026, 2, 1, 10, 30, tzinfo=UTC)


def test_the_documents_example_entry_is_written_as_it_stands_there():  # row 243
    brief = PostedBrief(
        AT,
        1,
        "user_rejection",
        "wrong, I meant security review",
        ("request_clarification",),
        text="As a security expert, review the code for vulnerabilities",
        before="review the code",
        success=True,
    )
    assert brief.as_document() == {
        "timestamp": "2026-02-01T10:30:00Z",
        "original_prompt": "review the code",
        "feedback_type": "user_rejection",
        "feedback_signal": "wrong, I meant security review",
        "actions_applied": ["request_clarification"],
        "refined_prompt": "As a security expert, review the code for vulnerabilities",
        "iteration": 1,
        "success": True,
        "round": 1,
    }
