"""What became of the advice that was given?"""

from dataclasses import replace

import pytest

from bot.feedback.build import build_feedback
from bot.gates.config import CommentPolicy
from bot.history.model import collect_advice
from bot.pull_request.events import ReviewState
from bot.pull_request.model import Revision
from bot.verdicts.reviews import merge_reviews
from bot.verdicts.signals import merge_signals
from tests.builders import (
    ALICE,
    BOB,
    HEADS,
    at_minute,
    decide,
    make_decision_time,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
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


def told(*rounds):
    known = make_pull_request()
    for number, reviews in enumerate(rounds):
        head = HEADS[number]
        known = replace(
            known, head=head, revisions=(*known.revisions, Revision(head, at_minute(number * 10)))
        )
        known = make_feedback_with_brief(*reviews, known=known).pull_request
    return known


def posted(known):
    """The last round of each iteration."""
    return list({entry.iteration: entry for entry in known.briefs}.values())


def test_success_is_filled_in_when_the_next_verdict_comes():  # row 242
    first = make_review(3, FAILING, head=HEADS[0])
    second = make_review(13, REFUSED, head=HEADS[1])
    third = make_review(23, state=ReviewState.APPROVED, head=HEADS[2])
    log = posted(told((first,), (first, second), (first, second, third)))
    assert [(entry.iteration, entry.success) for entry in log] == [(1, False), (2, True)]
    assert log[0].before == "Futarchy resists manipulation"
    assert log[1].before == log[0].text


def test_a_revision_that_is_rejected_after_it_was_accepted_is_briefed_anew():  # rows 242, 245
    first = make_review(3, FAILING)
    accepted = make_review(5, state=ReviewState.APPROVED)
    again = make_review(7, FAILING)
    known = told((first,))
    for said in ((first, accepted), (first, accepted, again), (first, accepted, again)):
        known = make_feedback_with_brief(*said, known=known).pull_request
    log = known.briefs
    assert [(entry.iteration, entry.success) for entry in log] == [(1, True), (1, None)]
    assert log[1].before == log[0].text
    assert [each.success for each in collect_advice(known)] == [True, None]
    known = replace(known, head=HEADS[1], revisions=(*known.revisions, Revision(HEADS[1], at_minute(10))))
    known = make_feedback_with_brief(
        first, accepted, again, make_review(13, REFUSED, head=HEADS[1]), known=known
    ).pull_request
    assert [(entry.iteration, entry.success) for entry in known.briefs] == [
        (1, True),
        (1, False),
        (2, None),
    ]


def test_a_dismissed_rejection_is_no_advice_that_helped():  # rows 242, 245
    first = make_review(3, FAILING)
    known = make_feedback_with_brief(first).pull_request
    dismissed = make_feedback_with_brief(
        replace(first, state=ReviewState.DISMISSED), known=known
    ).pull_request
    assert [entry.success for entry in dismissed.briefs] == [None]


def test_a_check_that_passes_on_the_next_revision_judges_no_advice_of_somebody_else():  # rows 242, 245
    first = make_review(3, FAILING, head=HEADS[0])
    known = replace(
        told((first,)),
        head=HEADS[1],
        revisions=(Revision(HEADS[0], at_minute(0)), Revision(HEADS[1], at_minute(10))),
    )
    passed = replace(CHECK, head=HEADS[1], conclusion="success", at=at_minute(12))

    def heard(known, *reviews):
        read = replace(make_facts(*reviews), signals=(passed,))
        seen = merge_signals(merge_reviews(known, read, MAPPED, at_minute(30)), read, MAPPED)
        return add_fresh_brief(build_feedback(seen, MAPPED, make_decision_time()), MAPPED)

    still = heard(known, first)
    assert (still.iteration.number, still.brief is None) == (2, False)
    assert [(entry.iteration, entry.success) for entry in still.pull_request.briefs] == [(1, None)]
    approved = make_review(23, state=ReviewState.APPROVED, head=HEADS[1])
    settled = heard(still.pull_request, first, approved)
    assert [(entry.iteration, entry.success) for entry in settled.pull_request.briefs] == [(1, True)]


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        (
            "This is not what we want.",
            replace(UNDERSTANDING, comment=replace(UNDERSTANDING.comment, when=CommentPolicy.TAGGED)),
        ),
        (FAILING, replace(UNDERSTANDING, comment=replace(UNDERSTANDING.comment, enabled=False))),
    ],
)
def test_a_brief_that_nobody_was_shown_is_not_remembered(said, rules):  # row 245
    quiet = decide(make_pull_request(), make_facts(make_review(3, said)), rules)
    assert (quiet.body, quiet.pull_request.briefs) == (None, ())


def test_the_same_verdict_twice_is_one_entry():
    first = make_review(3, FAILING)
    known = make_feedback_with_brief(first).pull_request
    assert len(make_feedback_with_brief(first, known=known).pull_request.briefs) == 1


def approve(known, *reviews, comments=(), rules=UNDERSTANDING):
    return decide(known, make_facts(*reviews, comments=comments), rules).pull_request


def test_an_approval_with_inline_nits_is_recorded_once_as_partial_success():  # row 198
    approval = make_review(3, "Looks good to me.", state=ReviewState.APPROVED)
    nit = make_inline_comment(1, 3, "nit: please rename this heading")
    known = approve(make_pull_request(), approval, comments=(nit,))
    known = approve(known, approval, comments=(nit,))
    (entry,) = known.briefs
    assert (entry.feedback_type, entry.actions, entry.success) == ("partial_success", (), True)
    assert (entry.at, entry.signal != "") == (approval.submitted_at, True)
    assert (known.findings, known.verdicts[0].items) == ((), ())


@pytest.mark.parametrize("words", ["", "Great work!"])
def test_an_approval_that_asks_for_nothing_is_not_recorded(words):
    approval = make_review(3, words, state=ReviewState.APPROVED)
    assert approve(make_pull_request(), approval).briefs == ()


def test_two_approvals_of_the_same_second_are_two_entries():
    reviews = [
        make_review(
            number,
            "Just a nit: a typo.",
            state=ReviewState.APPROVED,
            author=author,
            submitted_at=at_minute(3),
        )
        for number, author in enumerate((ALICE, BOB), 3)
    ]
    known = approve(approve(make_pull_request(), *reviews), *reviews)
    assert [entry.feedback_type for entry in known.briefs] == ["partial_success"] * 2


def test_an_approval_with_nits_beside_a_rejection_leaves_its_brief_alone():
    first, approval = (
        make_review(3, FAILING),
        make_review(5, "nit: a typo", state=ReviewState.APPROVED, author=BOB),
    )
    known = make_pull_request()
    for _ in range(3):
        known = approve(known, first, approval)
    assert [(entry.feedback_type, entry.success) for entry in known.briefs] == [
        ("verification_failure", None),
        ("partial_success", True),
    ]


def test_where_detection_is_off_no_approval_is_recorded():
    rules = replace(UNDERSTANDING, detection=replace(UNDERSTANDING.detection, enabled=False))
    approval = make_review(3, "nit: a typo", state=ReviewState.APPROVED)
    assert approve(make_pull_request(), approval, rules=rules).briefs == ()
