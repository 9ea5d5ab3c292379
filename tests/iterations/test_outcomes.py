"""Which findings come back too often, and what is the outcome of an iteration?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.findings.model import FindingStatus
from bot.gates.config import EscalationRules
from bot.iterations.model import (
    IterationOutcome,
    Phase,
    Situation,
    decide_outcome,
    iteration_phase,
    list_iterations,
    repeated_findings,
)
from tests.builders import RULES
from tests.iterations.iteration_builders import make_check_validator, make_pull_request, make_rejection


def over(*tags_by_iteration):
    verdicts = [
        make_rejection(n, where=letter, tags=tags)
        for n, (letter, tags) in enumerate(zip("abcdef9", tags_by_iteration, strict=False))
    ]
    pushes = [(n - 0.5, letter) for n, letter in enumerate("abcdef9"[: len(verdicts)])]
    at_head = "abcdef9"[len(verdicts) - 1]
    return list_iterations(make_pull_request(*verdicts, pushes=pushes, at_head=at_head))


DATES, SCOPE = ("date_errors",), ("scope_error",)


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        ((), ()),
        ((DATES, DATES), ()),
        ((DATES, DATES, DATES), DATES),
        ((DATES, SCOPE, DATES, SCOPE, DATES), DATES),
        ((DATES, DATES, SCOPE, SCOPE, SCOPE, DATES), ()),  # the first is out of the window
        ((DATES, DATES, DATES, SCOPE), ()),  # it was fixed
    ],
)
def test_a_finding_is_repeated_the_third_time_in_five_iterations(story, expected):  # row 52 # row 55 # row 56
    iterations = over(*story)
    findings = {f.id for i in iterations for f in i.ledger.findings if f.item.tag == "date_errors"}
    repeated = repeated_findings(iterations, findings, RULES.gates, EscalationRules())
    assert tuple(finding.item.tag for finding in repeated) == expected


def test_a_warning_is_never_repeated_enough_to_escalate():
    assert repeated_findings(over(DATES, DATES, DATES), frozenset(), RULES.gates, EscalationRules()) == ()


def test_a_finding_that_waits_for_its_reviewer_after_a_push_is_not_repeated():
    check = make_check_validator("test")
    pull_request = make_pull_request(
        make_rejection(0, where="a"),
        make_rejection(1, where="b"),
        make_rejection(2, check, where="c", tags=("tests_failing",)),
        pushes=[(-0.5, "a"), (0.5, "b"), (1.5, "c")],
        at_head="c",
    )
    iterations = list_iterations(pull_request)
    changed = [finding for finding in iterations[-1].ledger.open if finding.item.tag == "date_errors"]
    assert [finding.status for finding in changed] == [FindingStatus.CHANGED]
    assert (
        repeated_findings(iterations, {finding.id for finding in changed}, RULES.gates, EscalationRules())
        == ()
    )


REJECTED = Situation(is_rejected=True, has_blocking=True)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ({}, IterationOutcome.REFINE),
        ({"is_budget_used_up": True}, IterationOutcome.ESCALATE),
        ({"has_repeated": True}, IterationOutcome.ESCALATE),
        ({"has_repeated": True, "has_critical": True, "is_fixable": False}, IterationOutcome.ESCALATE),
        ({"has_critical": True, "is_fixable": False}, IterationOutcome.REJECT),
        ({"has_critical": True}, IterationOutcome.REFINE),
        ({"is_fixable": False}, IterationOutcome.REFINE),
        ({"is_rejected": False}, IterationOutcome.REFINE),
        ({"has_blocking": False}, IterationOutcome.REFINE),
        ({"is_rejected": False, "has_blocking": False}, IterationOutcome.ACCEPT),
        ({"is_rejected": False, "has_blocking": False, "is_budget_used_up": True}, IterationOutcome.ACCEPT),
        ({"is_rejected": False, "has_blocking": False, "has_repeated": True}, IterationOutcome.ACCEPT),
    ],
)
def test_the_first_outcome_that_holds(fact, expected):  # row 8 # row 18
    assert decide_outcome(replace(REJECTED, **fact)) == expected


@pytest.mark.parametrize(
    ("number", "maximum", "closed", "expected"),
    [
        (1, 5, False, Phase.INITIAL),
        (2, 5, False, Phase.REFINEMENT),
        (4, 5, False, Phase.REFINEMENT),
        (5, 5, False, Phase.FINAL),
        (6, 5, False, Phase.FINAL),
        (2, 5, True, Phase.FINAL),
        (1, 5, True, Phase.FINAL),
        (1, 1, False, Phase.FINAL),
    ],
)
def test_the_phase(number, maximum, closed, expected):  # row 8 # row 9
    assert iteration_phase(number, maximum, closed=closed) == expected
