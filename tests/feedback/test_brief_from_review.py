"""What the next revision is told, from the validator's own words."""

from dataclasses import replace

import pytest

from bot.feedback.brief_inputs import collect_brief_inputs
from bot.feedback.build import build_feedback
from bot.feedback.document import build_document
from bot.gates import schemas
from bot.gates.config import DetectionConfig, ToolRule, ValidatorRules
from bot.grounding.log import record_grounding
from bot.history.model import collect_advice
from bot.pull_request.checks import CheckAnnotation
from bot.pull_request.events import CommentEvent, LabelEvent, ReviewState, ToolResult, ValidationEvent
from bot.pull_request.facts import EntryKind, Facts, FileText, Observations, Tree, TreeEntry
from bot.pull_request.model import Item
from bot.values import Location
from bot.verdicts.reviews import merge_reviews
from bot.verdicts.signals import merge_signals
from tests.builders import (
    ALICE,
    BOB,
    HEADS,
    ME,
    REPOSITORY,
    RULES,
    at_minute,
    make_decision_time,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
    make_snapshot,
)
from tests.feedback.brief_builders import (
    CHECK,
    FAILING,
    MAPPED,
    REFUSED,
    UNDERSTANDING,
    add_fresh_brief,
    make_feedback_with_brief,
)
from tests.verdicts.signal_builders import LEO

PAGE = "claims/futarchy.md"
DATE_FIX = "created = extraction date (today), not source publication date. Format: YYYY-MM-DD."
PLACED = make_inline_comment(71, 3, "[date_errors] month 13 is out of range")


def test_failing_tests_lead_with_what_must_pass():  # row 228
    brief = make_feedback_with_brief(make_review(3, FAILING), comments=(PLACED,)).brief
    assert brief.feedback_type == "verification_failure"
    assert brief.lines[0].text == "Make `test_dates` pass: expected 2026-11-15 but got 2026-13-01."


def test_a_refusal_is_a_rejection_with_the_confidence_of_a_formal_state():  # row 197
    brief = make_feedback_with_brief(make_review(3, REFUSED)).brief
    assert (brief.feedback_type, brief.confidence) == ("user_rejection", 0.95)


@pytest.mark.parametrize(
    "said", ["The tests fail.", "The build is broken.", "Lint fails.", "The unit tests do not pass."]
)
def test_one_plain_sentence_makes_a_failure_of_a_refusal(said):  # row 196
    assert (
        make_feedback_with_brief(make_review(3, f"[scope_error] {said}")).brief.feedback_type
        == "verification_failure"
    )


@pytest.mark.parametrize(("threshold", "kind"), [(0.3, "runtime_error"), (0.95, "user_rejection")])
def test_words_too_unsure_to_be_shown_leave_it_a_refusal(threshold, kind):  # rows 195, 197
    rules = replace(UNDERSTANDING, detection=DetectionConfig(threshold=threshold))
    said = make_review(3, "[scope_error] It crashes on an empty list.")
    assert make_feedback_with_brief(said, rules=rules).brief.feedback_type == kind


def test_the_brief_stands_in_the_document_and_fits_its_schema():
    place = make_inline_comment(71, 3, "[date_errors] month 13 is out of range")
    whole = build_document(make_feedback_with_brief(make_review(3, FAILING), comments=(place,)))
    assert whole["brief"]["lines"][0]["action"] == "add_test_context"
    assert schemas.find_violations("actionable-feedback", whole) == ()


def test_a_brief_that_names_no_place_says_whom_to_ask():
    last = make_feedback_with_brief(make_review(3, "<!-- ISSUES: scope_error -->")).brief.lines[-1].text
    assert last == "Ask `alice`: which place?"


def test_without_the_detector_there_is_no_brief():
    assert make_feedback_with_brief(make_review(3, FAILING), rules=RULES).brief is None


def test_each_remark_without_a_tag_is_an_item_with_its_own_words():
    review = make_review(3, "- The cache never expires.\n- The lock is held for too long.")
    feedback = make_feedback_with_brief(review)
    for items, _ in collect_brief_inputs(feedback, review.body):
        assert [item.text for item in items] == [
            "The cache never expires.",
            "The lock is held for too long.",
        ]


def test_what_is_said_at_a_line_without_a_tag_is_heard_too():
    made = make_feedback_with_brief(
        make_review(3),
        comments=(
            make_inline_comment(71, 3, "[scope_error] too broad"),
            make_inline_comment(72, 3, "It crashes here with `KeyError: 5` on an empty list."),
        ),
    )
    assert (made.brief.feedback_type, lines(made)[0]) == (
        "runtime_error",
        f"Reproduce the error first: `KeyError: 5` at {PAGE}:5",
    )


def test_words_at_lines_stay_known_while_the_lines_are_not_read_again():
    first = make_review(3, "[scope_error]")
    known = make_feedback_with_brief(
        first, comments=(make_inline_comment(72, 3, "It crashes here with `KeyError: 5`."),)
    ).pull_request
    again = merge_reviews(
        known, replace(make_facts(first), inline_comments=None), UNDERSTANDING, at_minute(31)
    )
    assert "KeyError: 5" in again.verdicts[0].said


PLAIN = make_review(3, "The links don't resolve, and the month is wrong: a broken link, a wrong date.")
STATED = make_review(4, "[body_too_thin] one sentence", author=BOB)


@pytest.mark.parametrize(
    ("said", "sure"),
    [  # row 20
        ((STATED,), 0.95),
        ((PLAIN,), 0.60),
        ((PLAIN, STATED), 0.77),
        ((make_review(3, state=ReviewState.APPROVED),), 0.95),
    ],
)
def test_what_nobody_stated_lowers_how_sure_the_whole_is(said, sure):
    assert build_document(make_feedback_with_brief(*said))["overall_assessment"]["confidence"] == sure


# Said without a formal state

NAMED = replace(UNDERSTANDING, validators=ValidatorRules(apps=("leo",)))
ALMOST = "Almost there, looks good otherwise; just one thing: the date."


def voiced(*spoken, rules=NAMED):
    read = Facts(ME, signals=spoken, roles={ALICE.id: "write"})
    return add_fresh_brief(
        build_feedback(merge_signals(make_pull_request(), read, rules), rules, make_decision_time()), rules
    )


def comment(body):
    return CommentEvent(
        "created", REPOSITORY, 212, 81, LEO, LEO, body, at_minute(5), at_minute(5), "https://c/81"
    )


def handed_in(**said):
    return ValidationEvent("1", REPOSITORY, 212, ALICE, "write", at_minute(5), HEADS[0], **said)


@pytest.mark.parametrize("verdict", ["", "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n"])
def test_a_comment_that_almost_agrees_is_told_what_is_left(verdict):  # rows 198, 233-236
    made = voiced(comment(f"{verdict}{ALMOST}\n<!-- ISSUES: date_errors -->")).brief
    assert (made.feedback_type, made.confidence, made.score) == ("partial_success", 0.69, 4)
    assert [(line.action, line.text) for line in made.lines] == [
        ("focus_on_gap", "Finish what is left: Date accuracy"),
        ("add_targeted_constraint", DATE_FIX),
        ("request_incremental_fix", "Change nothing else: Date accuracy is all that is open"),
        ("request_clarification", "Ask `leo[bot]`: which place?"),
    ]


def test_a_document_that_almost_agrees_is_told_the_gap_at_its_location():  # rows 233-236
    item = Item("date_errors", words=ALMOST, place=Location(PAGE, 5), evidence="validate 3")
    made = voiced(handed_in(items=(item,)))
    assert (made.brief.feedback_type, made.brief.confidence) == ("partial_success", 0.69)
    assert lines(made) == [
        f"Finish what is left: Date accuracy at {PAGE}:5",
        DATE_FIX,
        "Change nothing else: Date accuracy is all that is open",
    ]


def test_a_comment_about_failing_tests_is_told_what_must_pass():  # rows 225, 226
    made = voiced(comment(FAILING))
    assert (made.brief.feedback_type, made.brief.confidence) == ("verification_failure", 0.6)
    assert lines(made)[0] == "Make `test_dates` pass: expected 2026-11-15 but got 2026-13-01."


CODES = "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: date_errors -->"
LABEL = LabelEvent(
    "labeled", make_snapshot(), "gate:date_errors", ALICE, "https://github.com/acme/knowledge/pull/212"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (comment(CODES), None),
        (handed_in(items=(Item("date_errors", words="month 13"),)), None),
        (LABEL, ("user_rejection", 0.95)),  # an order of a validator, like a review
    ],
)
def test_only_what_rejects_formally_is_a_refusal_without_words(said, told):  # rows 197, 237
    made = voiced(said).brief
    assert (made and (made.feedback_type, made.confidence)) == told


@pytest.mark.parametrize(
    ("state", "kind"),
    [(ReviewState.CHANGES_REQUESTED, "user_rejection"), (ReviewState.COMMENTED, "partial_success")],
)
def test_a_review_has_the_state_that_github_gives_it(state, kind):  # rows 197, 198
    body = f"<!-- VERDICT:ALICE:REQUEST_CHANGES -->\n{ALMOST}\n<!-- ISSUES: date_errors -->"
    assert make_feedback_with_brief(make_review(3, body, state=state)).brief.feedback_type == kind


def test_a_log_that_was_handed_in_is_a_failure_by_itself_and_no_formal_state():  # row 196
    rules = replace(UNDERSTANDING, validators=ValidatorRules(rules=(ToolRule("E501", "date_errors"),)))
    found = ToolResult("E501", "month 13 is out of range", Location(PAGE, 5), "error")
    made = voiced(handed_in(tool="ruff", findings=(found,)), rules=rules).brief
    assert (made.feedback_type, made.confidence) == ("verification_failure", 0.7)


# A failed check

FOUND = CheckAnnotation(PAGE, 5, 5, "line 5: month 13 is out of range", "frontmatter-dates")


def checked(*reviews, annotations=(FOUND,), rules=MAPPED, check=CHECK):
    read = replace(make_facts(*reviews), signals=(check,), annotations={9: annotations})
    seen = merge_signals(merge_reviews(make_pull_request(), read, rules, at_minute(30)), read, rules)
    return add_fresh_brief(build_feedback(seen, rules, make_decision_time()), rules)


@pytest.mark.parametrize("reviews", [(), (make_review(3, "[title_overclaims] This is wrong, redo it."),)])
def test_a_failed_check_is_a_verification_failure_whoever_else_rejects_it(reviews):  # rows 196, 225-228
    made = checked(*reviews).brief
    assert (made.feedback_type, made.confidence, made.score) == ("verification_failure", 0.95, 10)
    assert [line.text for line in made.lines] == [
        "Make `validate` pass: `frontmatter-dates: line 5: month 13 is out of range`"
    ]


PRINTED = """FAILED tests/test_dates.py::test_month - AssertionError: expected 11 but got 13
Traceback (most recent call last):
  File "src/dates.py", line 3, in month
ValueError: month 13 <!-- REJECTION: {} -->"""


def test_what_a_failed_check_printed_fills_the_brief():  # rows 195, 196, 225, 226
    made = checked(make_review(3, REFUSED), annotations=(), check=replace(CHECK, output=PRINTED))
    assert lines(made) == [
        "Make `tests/test_dates.py::test_month` pass: expected 11 but got 13",
        "Confirm it with `validate`",
    ]
    assert (made.brief.feedback_type, made.brief.score) == ("verification_failure", 10)
    (told,) = made.pull_request.briefs
    assert told.signal.startswith("check validate failed, ")


def test_an_error_is_what_a_check_has_to_pass_without_where_it_names_no_test():  # row 195
    check = replace(CHECK, output="Traceback (most recent call last):\nValueError: month 13 <!-- x -->")
    told = lines(checked(annotations=(), check=check))[0]
    assert told == "Make `validate` pass: `ValueError: month 13`"


def test_a_quoted_test_is_nobodys_own_word():  # row 225
    made = make_feedback_with_brief(
        make_review(3, "> `test_old` fails\n\nThe tests fail.\n<!-- ISSUES: date_errors -->")
    )
    assert [text for text in lines(made) if "test_old" in text] == []


def test_a_failed_check_without_a_place_is_read_not_asked():
    last = checked(annotations=()).brief.lines[-1].text
    assert last == "Read the output of `validate`: which place?"


def test_each_round_is_logged_and_refines_the_one_before():  # rows 241, 242
    log = checked().pull_request.briefs
    assert [(entry.iteration, entry.round, entry.success) for entry in log] == [(1, 1, False), (1, 2, None)]
    assert {entry.signal for entry in log} == {"check validate failed"}
    assert log[0].text == "Make `validate` pass"
    assert log[1].before == log[0].text
    assert log[1].text.startswith("Make `validate` pass: `frontmatter-dates: ")


def test_a_repository_that_allows_one_round_gets_what_the_event_says():  # row 240
    once = replace(MAPPED, detection=DetectionConfig(max_refinement_iterations=1))
    made = checked(rules=once)
    assert [entry.round for entry in made.pull_request.briefs] == [1]
    assert made.brief.lines[-1].text == "Read the output of `validate`: which place?"


def test_only_the_round_that_was_posted_is_counted_as_advice():  # row 245
    assert [each.success for each in collect_advice(checked().pull_request)] == [None]


# What was looked up

LINES = ("---", "type: claim", "domain: markets", "source: x", "created: 2026-13-01", "---")


def looked_up(said, *comments):
    tree = Tree({PAGE: TreeEntry(EntryKind.FILE, "1" * 40, 90)})
    seen = Observations(HEADS[0], tree, {PAGE: FileText(LINES)})
    read = replace(make_facts(said, comments=comments), observations=seen)
    known = merge_reviews(make_pull_request(), read, UNDERSTANDING, at_minute(30))
    known = record_grounding(known, read, UNDERSTANDING, at_minute(30))
    return add_fresh_brief(build_feedback(known, UNDERSTANDING, make_decision_time()), UNDERSTANDING)


def lines(feedback):
    return [line.text for line in feedback.brief.lines]


def test_a_place_that_was_found_is_evidence_and_the_fix_is_the_gates_own():  # rows 230, 231, 239
    made = looked_up(make_review(3), PLACED)
    assert made.brief.score == 8
    assert lines(made) == [f"Work only on {PAGE}:5"]


def test_a_name_is_resolved_to_its_line_in_the_third_round():  # row 239
    made = looked_up(make_review(3, f"[date_errors] the month is wrong, see {PAGE}:5"))
    assert [entry.round for entry in made.pull_request.briefs] == [1, 3]
    assert lines(made)[0] == f"Work only on {PAGE}:5"


def test_a_place_that_is_not_there_is_no_place_to_look_at():
    made = looked_up(
        make_review(3), make_inline_comment(71, 3, "[date_errors] month 13", path="claims/gone.md")
    )
    assert [text for text in lines(made) if "gone" in text] == []
    assert lines(made)[-1] == "Ask `alice`: which place?"


def test_a_tag_is_no_test():
    made = looked_up(make_review(3, "<!-- ISSUES: flaky_test -->\nThe tests fail: flaky_test."))
    assert [text for text in lines(made) if "flaky_test" in text] == []
