"""Which findings come back too often, and what is the outcome of an iteration?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.feedback.build import decide_outcome
from bot.feedback.model import find_failed_gates
from bot.findings.model import FindingStatus
from bot.gates.config import EscalationRules
from bot.iterations.model import (
    IterationOutcome,
    iteration_phase,
    list_iterations,
    repeated_findings,
)
from bot.pull_request.model import Item
from tests.builders import RULES
from tests.iterations.iteration_builders import (
    make_approval,
    make_check_validator,
    make_pull_request,
    make_rejection,
)


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


CRITICAL = Item("scope_error", severity="critical")


@pytest.mark.parametrize(
    ("items", "facts", "expected"),
    [
        (["date_errors"], {}, IterationOutcome.REFINE),
        (["date_errors"], {"is_stuck": True}, IterationOutcome.ESCALATE),
        ([CRITICAL], {"is_stuck": True}, IterationOutcome.ESCALATE),
        ([CRITICAL], {}, IterationOutcome.REJECT),
        ([CRITICAL, "date_errors"], {}, IterationOutcome.REFINE),  # its gate is auto-fixable
        ([replace(CRITICAL, suggestion="mostly")], {}, IterationOutcome.REFINE),
        (["scope_error"], {}, IterationOutcome.REFINE),
        (["near_duplicate"], {}, IterationOutcome.REFINE),  # only a warning
        ([], {}, IterationOutcome.ACCEPT),
        ([], {"is_stuck": True}, IterationOutcome.ACCEPT),
        ([CRITICAL], {"open": False, "merged": True}, IterationOutcome.ACCEPT),
        (["date_errors"], {"open": False}, IterationOutcome.REJECT),
        ([], {"open": False}, IterationOutcome.ACCEPT),
    ],
)
def test_the_first_outcome_that_holds(items, facts, expected):  # row 8 # row 18
    listed = [item if isinstance(item, Item) else Item(item) for item in items]
    is_stuck = facts.pop("is_stuck", False)
    verdict = make_rejection(1, items=tuple(listed)) if listed else make_approval(1)
    pull_request = make_pull_request(verdict, **facts)
    current = list_iterations(pull_request)[0]
    gates = find_failed_gates(current.standing, RULES.gates)
    assert decide_outcome(pull_request, current, gates, RULES, is_stuck=is_stuck) == expected


@pytest.mark.parametrize(
    ("number", "maximum", "closed", "expected"),
    [
        (1, 5, False, "initial"),
        (2, 5, False, "refinement"),
        (4, 5, False, "refinement"),
        (5, 5, False, "final"),
        (6, 5, False, "final"),
        (2, 5, True, "final"),
        (1, 5, True, "final"),
        (1, 1, False, "final"),
    ],
)
def test_the_phase(number, maximum, closed, expected):  # row 8 # row 9
    assert iteration_phase(number, maximum, closed=closed) == expected
