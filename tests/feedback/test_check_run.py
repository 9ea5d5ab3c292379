"""What do our own check run and our suggestions show beside the comment?"""

from dataclasses import replace

import pytest

from bot.feedback.check_run import add_check_effects
from bot.gates.config import CheckPolicy, CheckRunRules
from bot.gates.model import Gates
from bot.pull_request.effects import PostSuggestions, ShowCheckRun, ShowLabel
from bot.pull_request.events import ReviewState
from bot.pull_request.model import Item
from bot.values import Location
from tests.builders import (
    HEADS,
    RULES,
    SITE,
    decide,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
)
from tests.live_markdown import live_references
from tests.verdicts.signal_builders import MAPPED

CHECKING = replace(MAPPED, check=CheckRunRules(CheckPolicy.ALWAYS))


def run(known, read, rules=CHECKING):
    decision = add_check_effects(decide(known, read, rules), read, rules, SITE)
    runs = [effect for effect in decision.effects if isinstance(effect, ShowCheckRun)]
    return decision.pull_request, runs


@pytest.mark.parametrize(
    ("reviews", "conclusion"),
    [
        ((), "success"),
        ((make_review(3, state=ReviewState.APPROVED),), "success"),
        ((make_review(3, "<!-- ISSUES: date_errors -->"),), "failure"),
        ((make_review(3, "<!-- ISSUES: near_duplicate -->"),), "neutral"),
        ((make_review(3, "no"),), "neutral"),
    ],
)
def test_the_check_run_mirrors_the_verdict(reviews, conclusion):  # rows 18, 166
    (shown,) = run(make_pull_request(), make_facts(*reviews))[1]
    assert (shown.said.head, shown.said.conclusion) == (HEADS[0], conclusion)


def test_a_used_up_budget_asks_for_a_person_in_the_check_run():  # row 18
    rules = replace(CHECKING, iterations=replace(CHECKING.iterations, max=1))
    (shown,) = run(make_pull_request(), make_facts(make_review(3, "<!-- ISSUES: date_errors -->")), rules)[1]
    assert shown.said.conclusion == "action_required"


def test_a_suggestion_names_its_gate_without_mentioning_anybody():
    gates = Gates(tuple(replace(gate, gate="@team #12", auto_fixable=True) for gate in RULES.gates))
    rules = replace(RULES, gates=gates, comment=replace(RULES.comment, suggestions=True))
    item = Item("date_errors", "wrong", place=Location("a.md", 3), suggestion="created: 2026-11-14")
    read = make_facts(replace(make_review(3), documents=(item,)))
    decision = add_check_effects(decide(make_pull_request(), read, rules), read, rules, SITE)
    (offered,) = [effect for effect in decision.effects if isinstance(effect, PostSuggestions)]
    (suggestion,) = offered.suggestions
    assert suggestion.body.startswith("`@team` `#12` (`date_errors`)")
    assert live_references(suggestion.body) == []


def test_what_the_validator_offers_to_commit_is_not_offered_again():
    rules = replace(RULES, comment=replace(RULES.comment, suggestions=True))
    said = make_inline_comment(71, 3, "[date_errors] so:\n```suggestion\ncreated: 2026-11-14\n```")
    read = make_facts(make_review(3), comments=(said,))
    decision = add_check_effects(decide(make_pull_request(), read, rules), read, rules, SITE)
    assert [effect for effect in decision.effects if isinstance(effect, PostSuggestions)] == []


def test_a_check_run_that_says_so_already_is_left_alone():
    read = make_facts(make_review(3, "<!-- ISSUES: date_errors -->"))
    known, first = run(make_pull_request(), read)
    assert (len(first), run(known, read)[1]) == (1, [])


def silence(decision):
    """The decision where nothing is shown in the thread."""
    return replace(decision, effects=(), body=None)


def run_instead(known, read, *, commented=False):
    decision = decide(known, read, MAPPED)
    decision = add_check_effects(decision if commented else silence(decision), read, MAPPED, SITE)
    return decision.pull_request, [e.said for e in decision.effects if isinstance(e, ShowCheckRun)]


REJECTED = make_facts(make_review(3, "<!-- ISSUES: date_errors -->"))


def test_a_rejection_without_a_comment_gets_a_neutral_check_run_instead():
    (shown,) = run_instead(make_pull_request(), REJECTED)[1]
    assert (shown.conclusion, shown.title) == ("neutral", "Rejected — 1 blocking issue (author's turn)")


def test_a_rejection_with_a_comment_gets_no_check_run_unless_it_is_asked_for():
    assert run_instead(make_pull_request(), REJECTED, commented=True)[1] == []
    assert run_instead(make_pull_request(), make_facts())[1] == []


def test_the_neutral_check_run_is_updated_once_nothing_rejects_that_head():
    known, _ = run_instead(make_pull_request(), REJECTED)
    approved = make_facts(*REJECTED.reviews, make_review(4, state=ReviewState.APPROVED))
    known, (shown,) = run_instead(known, approved)
    assert (shown.conclusion, shown.title) == ("success", "Nothing rejects this pull request")
    assert run_instead(known, approved)[1] == []


def test_without_the_check_run_nothing_is_written():
    rules = replace(MAPPED, check=CheckRunRules(CheckPolicy.NEVER))
    decision = add_check_effects(silence(decide(make_pull_request(), REJECTED, rules)), REJECTED, rules, SITE)
    assert decision.effects == ()


def test_the_title_says_whose_turn_it_is():
    (shown,) = run(make_pull_request(), REJECTED)[1]
    assert shown.said.title == "Rejected — 1 blocking issue (author's turn)"


def labels(known, read):
    rules = replace(MAPPED, comment=replace(MAPPED.comment, labels=True))
    decision = add_check_effects(decide(known, read, rules), read, rules, SITE)
    return decision.pull_request, [e.labels for e in decision.effects if isinstance(e, ShowLabel)]


def test_labels_say_what_the_comment_says_and_whose_turn_it_is():
    known, shown = labels(make_pull_request(), REJECTED)
    assert shown == [("whetstone: rejected", "whetstone: author's turn")]
    approved = make_facts(*REJECTED.reviews, make_review(4, state=ReviewState.APPROVED))
    known, shown = labels(known, approved)
    assert shown == [("whetstone: maintainer's turn",)]
    assert labels(replace(known, open=False, merged=True), approved)[1] == [()]


def test_a_closed_pull_request_gets_no_check_run():
    assert run(make_pull_request(open=False), make_facts(make_review(3)))[1] == []


def test_the_check_run_of_a_closed_pull_request_gives_no_turn_any_more():
    known, _ = run(make_pull_request(), REJECTED)
    closed, (shown,) = run(replace(known, open=False), REJECTED)
    assert (shown.said.title, shown.said.conclusion) == ("Rejected — 1 blocking issue", "failure")
    assert run(closed, REJECTED)[1] == [], "once"


def test_a_check_run_instead_of_a_comment_stays_true_once_a_comment_follows():
    rules = replace(CHECKING, check=CheckRunRules(CheckPolicy.INSTEAD))
    silent = replace(rules, comment=replace(rules.comment, enabled=False))
    known, (shown,) = run(make_pull_request(), REJECTED, silent)
    assert shown.said.title == "Rejected — 1 blocking issue (author's turn)"
    both = make_facts(*REJECTED.reviews, make_review(4, "<!-- ISSUES: scope_error -->"))
    known, (shown,) = run(known, both, rules)
    assert shown.said.title == "Rejected — 2 blocking issues (author's turn)"
    approved = make_facts(*both.reviews, make_review(5, state=ReviewState.APPROVED))
    known, (shown,) = run(known, approved, rules)
    assert (shown.said.title, shown.said.conclusion) == ("Nothing rejects this pull request", "success")
