"""What do our own check run and our suggestions show beside the comment?"""

from dataclasses import replace

import pytest

from bot.decisions.checks import add_check_effects
from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.gates import Gates
from bot.domain.model import Item, Place
from bot.domain.rules import Check
from bot.domain.snapshots import ReviewState
from tests.builders import HEADS, RULES, SITE, decided, facts, inline, pull_request, review
from tests.decisions.voices.hearing import MAPPED
from tests.live import live_references

CHECKING = replace(MAPPED, check=Check(enabled=True))


def run(known, read, rules=CHECKING):
    decision = add_check_effects(decided(known, read, rules), read, rules, SITE)
    runs = [effect for effect in decision.effects if isinstance(effect, ShowCheck)]
    return decision.pull_request, runs


@pytest.mark.parametrize(
    ("reviews", "conclusion"),
    [
        ((), "success"),
        ((review(3, state=ReviewState.APPROVED),), "success"),
        ((review(3, "<!-- ISSUES: date_errors -->"),), "failure"),
        ((review(3, "<!-- ISSUES: near_duplicate -->"),), "neutral"),
        ((review(3, "no"),), "neutral"),
    ],
)
def test_the_check_run_mirrors_the_verdict(reviews, conclusion):  # rows 18, 166
    (shown,) = run(pull_request(), facts(*reviews))[1]
    assert (shown.said.head, shown.said.conclusion) == (HEADS[0], conclusion)


def test_a_used_up_budget_asks_for_a_person_in_the_check_run():  # row 18
    rules = replace(CHECKING, iterations=replace(CHECKING.iterations, max=1))
    (shown,) = run(pull_request(), facts(review(3, "<!-- ISSUES: date_errors -->")), rules)[1]
    assert shown.said.conclusion == "action_required"


def test_a_suggestion_names_its_gate_without_mentioning_anybody():
    gates = Gates(tuple(replace(gate, gate="@team #12", auto_fixable=True) for gate in RULES.gates))
    rules = replace(RULES, gates=gates, comment=replace(RULES.comment, suggestions=True))
    item = Item("date_errors", "wrong", place=Place("a.md", 3), suggestion="created: 2026-11-14")
    read = facts(replace(review(3), documents=(item,)))
    decision = add_check_effects(decided(pull_request(), read, rules), read, rules, SITE)
    (offered,) = [effect for effect in decision.effects if isinstance(effect, Suggest)]
    (suggestion,) = offered.suggestions
    assert suggestion.body.startswith("`@team` `#12` (`date_errors`)")
    assert live_references(suggestion.body) == []


def test_what_the_validator_offers_to_commit_is_not_offered_again():
    rules = replace(RULES, comment=replace(RULES.comment, suggestions=True))
    said = inline(71, 3, "[date_errors] so:\n```suggestion\ncreated: 2026-11-14\n```")
    read = facts(review(3), comments=(said,))
    decision = add_check_effects(decided(pull_request(), read, rules), read, rules, SITE)
    assert [effect for effect in decision.effects if isinstance(effect, Suggest)] == []


def test_a_check_run_that_says_so_already_is_left_alone():
    read = facts(review(3, "<!-- ISSUES: date_errors -->"))
    known, first = run(pull_request(), read)
    assert (len(first), run(known, read)[1]) == (1, [])


def test_a_closed_pull_request_gets_no_check_run():
    assert run(pull_request(open=False), facts(review(3)))[1] == []
