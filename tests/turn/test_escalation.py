"""When does a person decide, and what is said until one has?"""

from dataclasses import replace

from inline_snapshot import snapshot

from bot.gates.config import EscalationRules, IterationRules
from bot.pull_request.effects import Announce, AnnouncementKind
from bot.pull_request.facts import Facts
from bot.pull_request.model import Escalation
from bot.values import Account
from tests.builders import ALICE, BOB, FEEDBACK_ID, HEADS, ME, REPOSITORY, RULES, at_minute, make_facts
from tests.turn.turn_builders import (
    announcements_of,
    decide,
    decide_and_post,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
)

LEO = Account(44, "leo[bot]", bot=True)
LEO_COUNTS = replace(RULES, validators=replace(RULES.validators, apps=("leo",)))


def third_time(rules=RULES, by=ALICE, **changes):
    known = make_revised_pull_request(make_revision(1), make_revision(2), make_revision(3), **changes)
    reviews = [make_revision_review(number, "date_errors", author=by) for number in (1, 2, 3)]
    return decide(known, make_facts(*reviews), rules)


def test_an_escalation_is_told_once_in_a_comment_of_its_own():  # row 8 # row 56
    (told_once,) = announcements_of(third_time())
    assert told_once == Announce(
        REPOSITORY,
        212,
        AnnouncementKind.ESCALATION,
        f"{FEEDBACK_ID}:escalation",
        snapshot("""\
<!-- ESCALATION: {"id": "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10:escalation", "ts": "2026-11-15T11:30:00+00:00", "v": 1, "head": "3333333333333333333333333333333333333333", "iteration": 3, "max_iterations": 5} -->

**Stop: needs a human decision** — `date_errors` keeps coming back, and 1 blocking issue is open at `3333333`: `date_errors`.

If you are an agent: push nothing more until a person with `write` access has answered here, or the feedback comment says **Resolved**.

If you are that person: approve it, close it, or say what to change.
"""),
    )
    again = decide(third_time().pull_request, Facts(ME), identity="another")
    assert announcements_of(again) == []


def test_the_budget_used_up_escalates_too():  # row 9
    rules = replace(RULES, iterations=IterationRules(max=2))
    known = make_revised_pull_request(make_revision(1), make_revision(2))
    decision = decide(
        known,
        make_facts(make_revision_review(1, "date_errors"), make_revision_review(2, "scope_error")),
        rules,
    )
    assert (
        "the budget of 2 iterations is used up, and 1 blocking issue is open"
        in announcements_of(decision)[0].body
    )


def test_a_team_is_mentioned_only_where_the_config_names_one():
    rules = replace(RULES, iterations=IterationRules(escalate=EscalationRules(mention="acme/reviewers")))
    assert announcements_of(third_time(rules))[0].body.endswith("\n\n@acme/reviewers\n")
    assert "@" not in announcements_of(third_time())[0].body


def test_escalation_can_be_switched_off():
    rules = replace(RULES, iterations=IterationRules(escalate=EscalationRules(enabled=False)))
    decision = third_time(rules)
    assert (announcements_of(decision), decision.pull_request.escalation) == ([], None)


def test_the_configs_own_window_decides_what_comes_back_too_often():
    rules = replace(RULES, iterations=IterationRules(escalate=EscalationRules(repeats=2, window=2)))
    known = make_revised_pull_request(make_revision(1), make_revision(2))
    decision = decide(
        known,
        make_facts(make_revision_review(1, "date_errors"), make_revision_review(2, "date_errors")),
        rules,
    )
    assert len(announcements_of(decision)) == 1


def escalated_by_a_bot(*more):
    """Escalated by the verdicts of a bot, with the comment written; then further reviews."""
    reviews = [make_revision_review(number, "date_errors", author=LEO) for number in (1, 2, 3)]
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2), make_revision(3)),
        *reviews,
        rules=LEO_COUNTS,
    )
    moved = replace(known, head=HEADS[3], revisions=(*known.revisions, make_revision(4)))
    return moved, make_facts(*reviews, *more)


def test_until_a_person_speaks_a_worse_verdict_only_edits():
    worse = make_revision_review(4, "date_errors", "scope_error", author=LEO)
    known, read = escalated_by_a_bot(worse)
    (effect,) = decide(known, read, LEO_COUNTS).effects
    assert (effect.issues, effect.anew) == (("date_errors", "scope_error"), False)


def test_once_a_person_with_write_has_judged_a_worse_verdict_is_posted_anew():
    known, read = escalated_by_a_bot(make_revision_review(4, "date_errors", "scope_error", author=BOB))
    decision = decide(known, read, LEO_COUNTS)
    assert (decision.effects[0].anew, decision.pull_request.escalation.heard_at) == (True, at_minute(41))


def test_a_plain_comment_of_a_person_with_write_is_an_answer():
    known, _ = escalated_by_a_bot()
    heard = decide(known, Facts(ME, maintainer_answered_at=at_minute(60)), LEO_COUNTS).pull_request.escalation
    assert heard == Escalation(at_minute(31), HEADS[2], heard_at=at_minute(60))


def test_the_turn_that_escalates_posts_that_one_comment_and_edits_the_other():
    reviews = (make_revision_review(1, "date_errors"), make_revision_review(2, "date_errors"))
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2), make_revision(3)), *reviews
    )
    decision = decide(known, make_facts(*reviews, make_revision_review(3, "date_errors", "scope_error")))
    effect, told_once = decision.effects
    assert (effect.anew, effect.blocking) == (False, ("date_errors", "scope_error"))
    assert told_once.kind is AnnouncementKind.ESCALATION
