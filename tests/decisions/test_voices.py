"""What every kind of voice amounts to, as values."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters import schemas
from bot.decisions.check_verdicts import is_mapped
from bot.decisions.checks import beside
from bot.decisions.pull_request import decide
from bot.decisions.voices import voice_of, with_voices
from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.check_runs import Annotation
from bot.domain.comment import MARKER
from bot.domain.effects import ShowComment
from bot.domain.escape import read_marker
from bot.domain.events import CheckSeen, CommentSeen, LabelSeen, ReviewState, ValidationSeen
from bot.domain.facts import Facts
from bot.domain.gates import Gates
from bot.domain.iterations import standing
from bot.domain.memos import Document
from bot.domain.model import Account, Item, Place, Stance
from bot.domain.rules import AnnotationRule, Check, CheckRule, Validators
from tests.builders import (
    ALICE,
    BOB,
    HEADS,
    ME,
    REPOSITORY,
    RIO,
    RULES,
    SITE,
    at,
    facts,
    inline,
    moment,
    pull_request,
    review,
    snapshot,
)
from tests.live import live_references

LEO = Account(44, "leo[bot]", bot=True)
MAPPED = replace(
    RULES,
    validators=Validators(
        apps=("leo",),
        checks=(
            CheckRule("validate", ("date_errors",), (AnnotationRule("wiki link", "broken_wiki_links"),)),
            CheckRule("/^test/", ("body_too_thin", "scope_error")),
        ),
    ),
)


def check(name="validate", conclusion="failure", **changes) -> CheckSeen:
    seen = CheckSeen(
        REPOSITORY, HEADS[0], name, conclusion, at(5), "https://ci/1", run_id=9, title="1 mistake"
    )
    return replace(seen, **changes)


def label(name="gate:date_errors", action="labeled", minutes=5, sender=ALICE) -> LabelSeen:
    return LabelSeen(action, snapshot(updated_at=at(minutes)), name, sender, "https://github.com/p/1")


def comment(body, author=LEO, **changes) -> CommentSeen:
    seen = CommentSeen("created", REPOSITORY, 212, 81, author, author, body, at(5), at(5), "https://c/81")
    return replace(seen, **changes)


def heard(*spoken, known=None, rules=MAPPED, roles=None, annotations=None):
    read = Facts(ME, spoken=spoken, roles=roles or {ALICE.id: "write"}, annotations=annotations or {})
    return with_voices(known or pull_request(), read, rules).verdicts


def test_a_failed_check_is_a_verdict_with_its_provenance():
    (verdict,) = heard(check())
    assert (verdict.id, verdict.validator.key, verdict.validator.check) == (
        f"check:validate@{HEADS[0]}",
        "check:validate",
        True,
    )
    assert (verdict.stance, verdict.head, verdict.url, verdict.permission) == (
        Stance.REJECTS,
        HEADS[0],
        "https://ci/1",
        "config",
    )
    said = "1 mistake"
    assert verdict.items == (Item("date_errors", said, url="https://ci/1", evidence=said, metric=said),)


def test_annotations_give_tags_by_their_text_and_places():
    found = (
        Annotation("a.md", 3, 3, "Wiki link leads nowhere", "links"),
        Annotation("a.md", 5, 7, "month 13"),
        Annotation("a.md", 9, 9, "fine", level="notice"),
    )
    (verdict,) = heard(check(), annotations={9: found})
    assert [(item.tag, item.place, item.evidence) for item in verdict.items] == [
        ("date_errors", Place("a.md", 5, 7), "month 13"),
        ("broken_wiki_links", Place("a.md", 3), "links: Wiki link leads nowhere"),
    ]


def test_an_annotation_of_a_check_with_two_tags_is_given_to_neither():
    (verdict,) = heard(check("tests"), annotations={9: (Annotation("a.py", 1, 1, "boom"),)})
    assert [(item.tag, item.place) for item in verdict.items] == [
        ("body_too_thin", None),
        ("scope_error", None),
    ]


def test_a_check_that_runs_again_replaces_what_it_said_and_an_older_result_does_not():
    known = replace(pull_request(), verdicts=heard(check()))
    (passed,) = heard(check(conclusion="success", at=at(9)), known=known)
    assert (passed.stance, passed.items) == (Stance.APPROVES, ())
    known = replace(known, verdicts=(passed,))
    assert heard(check(at=at(7)), known=known) == (passed,)


@pytest.mark.parametrize(
    ("seen", "mapped"),
    [
        (check(), True),
        (check("tests / unit"), True),
        (check("build"), False),
        (check(app="whetstone"), False),
        (check(conclusion="cancelled"), False),
        (check(conclusion="stale"), False),
        (check(conclusion="skipped"), True),
    ],
)
def test_only_checks_that_the_config_maps_count_and_never_our_own(seen, mapped):
    assert is_mapped(seen, MAPPED, ME) is mapped
    assert (voice_of(seen, pull_request(), MAPPED, ME) is not None) is mapped


def test_a_label_is_a_verdict_of_whoever_put_it_there():
    (verdict,) = heard(label())
    assert (verdict.id, verdict.validator.name, verdict.permission, verdict.counted) == (
        "label:date_errors",
        "alice",
        "write",
        True,
    )
    assert verdict.items == (Item("date_errors", url="https://github.com/p/1"),)


def test_a_label_whose_removal_is_told_first_does_not_stand():
    late = heard(label(action="unlabeled", minutes=9), label(minutes=5))
    assert [(each.stance, each.items) for each in late] == [(Stance.SILENT, ())]
    (again,) = heard(label(minutes=12), known=pull_request(verdicts=late))
    assert (again.stance, again.lifted_at, again.counted) == (Stance.REJECTS, None, True)


def test_a_label_taken_off_is_lifted_and_put_on_again_stands_again():
    first = heard(label())
    off = heard(label(action="unlabeled", minutes=6), known=replace(pull_request(), verdicts=first))
    assert [verdict.lifted_at for verdict in off] == [at(6)]
    again = heard(label(minutes=7), known=replace(pull_request(), verdicts=off))
    assert [(verdict.lifted_at, verdict.at) for verdict in again] == [(None, at(7))]
    late = heard(label(action="unlabeled", minutes=6), known=replace(pull_request(), verdicts=again))
    assert late == again


@pytest.mark.parametrize("name", ["bug", "gate:", "gate:single", "gate: not a tag!", "gates:date_errors"])
def test_other_labels_say_nothing(name):
    assert voice_of(label(name), pull_request(), RULES, ME) is None


@pytest.mark.parametrize("name", ["gate:date_errors", "Gate:Date-Errors", "gate: date errors"])
def test_a_label_is_read_in_any_case(name):
    assert [item.tag for item in heard(label(name))[0].items] == ["date_errors"]


@pytest.mark.parametrize(("sender", "role"), [(BOB, "triage"), (BOB, None), (RIO, "admin")])
def test_a_label_of_no_validator_is_recorded_and_not_counted(sender, role):
    (verdict,) = heard(label(sender=sender), roles={sender.id: role})
    assert (verdict.counted, verdict.permission) == (False, role)


@pytest.mark.parametrize(
    ("body", "stance", "tags"),
    [
        ("<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: a_b -->", Stance.REJECTS, ["a_b"]),
        ("<!-- VERDICT:LEO:APPROVE -->", Stance.APPROVES, []),
        ("<!-- ISSUES: date_errors -->", Stance.REJECTS, ["date_errors"]),
        ("<!-- ISSUES: near_duplicate -->", Stance.SILENT, ["near_duplicate"]),
        ("<!-- ISSUES: not_known -->", Stance.SILENT, ["not_known"]),
        ('<!-- REJECTION: {"issues": ["scope_error"]} -->', Stance.REJECTS, ["scope_error"]),
    ],
)
def test_a_named_validators_comment_counts_by_its_codes(body, stance, tags):
    (verdict,) = heard(comment(body))
    assert (verdict.stance, [item.tag for item in verdict.items]) == (stance, tags)
    assert (verdict.permission, verdict.url, len(verdict.body_hash)) == ("config", "https://c/81", 64)


def test_an_older_version_of_a_comment_that_is_told_late_changes_nothing():
    rejects = "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: a_b -->"
    edited = comment("<!-- VERDICT:LEO:APPROVE -->", action="edited", updated_at=at(9))
    (verdict,) = heard(edited, comment(rejects))
    assert verdict.stance is Stance.APPROVES
    taken_back = comment("never mind", action="edited", updated_at=at(12))
    (verdict,) = heard(comment(rejects), taken_back, edited)
    assert verdict.lifted_at == at(12)


@pytest.mark.parametrize("sender", [LEO, BOB])
def test_a_comment_whose_deletion_is_told_first_does_not_stand(sender):
    rejects = "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: a_b -->"
    deleted = comment(rejects, action="deleted", sender=sender)
    assert voice_of(deleted, pull_request(), MAPPED, ME) is deleted
    late = heard(deleted, comment(rejects))
    assert [(each.stance, each.items, each.lifted_at) for each in late] == [(Stance.SILENT, (), at(5))]


def test_an_app_that_can_not_be_told_from_others_lifts_no_rejection():
    rejects = ValidationSeen(
        "1", REPOSITORY, 212, None, "write", at(5), HEADS[0], items=(Item("date_errors"),)
    )
    accepts = replace(rejects, id="2", at=at(6), items=(), accepts=True)
    stances = [verdict.stance for verdict in standing(heard(rejects, accepts))]
    assert stances == [Stance.REJECTS, Stance.APPROVES]
    log = replace(rejects, tool="ruff", items=())
    clean = replace(log, id="2", at=at(6))
    assert len({verdict.validator.key for verdict in heard(log, clean)}) == 2


def test_a_critical_item_without_a_tag_rejects_in_a_comment_too():
    item = Item(None, "The lock is never released", aspect="correctness", severity="critical")
    (verdict,) = heard(comment("See below.", documents=(item,)))
    assert (verdict.stance, verdict.items) == (Stance.REJECTS, (item,))


@pytest.mark.parametrize(
    "seen",
    [
        comment("[date_errors] is only a word here"),
        comment("<!-- ISSUES: date_errors -->", author=ALICE),
        comment("<!-- ISSUES: date_errors -->", sender=BOB),
        comment("Thank you."),
        comment("Thank you.", action="deleted"),
        comment("<!-- ISSUES: date_errors -->", author=ALICE, action="deleted"),
    ],
)
def test_other_comments_say_nothing(seen):
    assert voice_of(seen, pull_request(), MAPPED, ME) is None


def test_a_named_author_does_not_judge_their_own_pull_request():
    known = pull_request(author=LEO)
    assert [verdict.counted for verdict in heard(comment("<!-- ISSUES: a_b -->"), known=known)] == [False]


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("The frontmatter is missing.", ["frontmatter_schema"]),
        ("There is no broken wiki link here.", []),
        ("You fixed the broken wiki link.", []),
        ("> broken wiki link\n\nI disagree.", []),
        ("`broken wiki link`", []),
        ("Not good: there is a broken wiki link.", ["broken_wiki_links"]),
    ],
)
def test_plain_words_mean_a_gate_by_its_phrases(body, tags):
    decision = decide(pull_request(), facts(review(3, body)), RULES, moment(), SITE)
    (verdict,) = decision.pull_request.verdicts
    assert [(item.tag, item.inferred) for item in verdict.items] == [(tag, 0.6) for tag in tags]


def test_a_stated_tag_leaves_nothing_to_infer():
    said = facts(review(3, "[date_errors] and a broken wiki link"))
    (verdict,) = decide(pull_request(), said, RULES, moment(), SITE).pull_request.verdicts
    assert [(item.tag, item.inferred) for item in verdict.items] == [("date_errors", None)]


def test_inference_can_be_switched_off():
    rules = replace(RULES, detection=replace(RULES.detection, enabled=False))
    said = facts(review(3, "There is a broken wiki link."))
    assert decide(pull_request(), said, rules, moment(), SITE).pull_request.verdicts[0].items == ()


CHECKING = replace(MAPPED, check=Check(enabled=True))


def run(known, read, rules=CHECKING):
    decision = beside(decide(known, read, rules, moment(), SITE), read, rules, moment(), SITE)
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
    decision = beside(decide(pull_request(), read, rules, moment(), SITE), read, rules, moment(), SITE)
    (offered,) = [effect for effect in decision.effects if isinstance(effect, Suggest)]
    (suggestion,) = offered.suggestions
    assert suggestion.body.startswith("`@team` `#12` (`date_errors`)")
    assert live_references(suggestion.body) == []


def test_what_the_validator_offers_to_commit_is_not_offered_again():
    rules = replace(RULES, comment=replace(RULES.comment, suggestions=True))
    said = inline(71, 3, "[date_errors] so:\n```suggestion\ncreated: 2026-11-14\n```")
    read = facts(review(3), comments=(said,))
    decision = beside(decide(pull_request(), read, rules, moment(), SITE), read, rules, moment(), SITE)
    assert [effect for effect in decision.effects if isinstance(effect, Suggest)] == []


def test_a_check_run_that_says_so_already_is_left_alone():
    read = facts(review(3, "<!-- ISSUES: date_errors -->"))
    known, first = run(pull_request(), read)
    assert (len(first), run(known, read)[1]) == (1, [])


def test_a_closed_pull_request_gets_no_check_run():
    assert run(pull_request(open=False), facts(review(3)))[1] == []


TAGS = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){1,2}", fullmatch=True)
WORDS = st.text(max_size=300)
ITEMS = st.builds(
    Item,
    tag=st.none() | TAGS | st.sampled_from([gate.tag for gate in RULES.gates]),
    words=WORDS,
    place=st.none() | st.builds(Place, st.text(min_size=1, max_size=40), st.none() | st.integers(1, 10**6)),
    suggestion=st.none() | WORDS,
    aspect=st.none() | st.sampled_from(["clarity", "security", "style"]),
    severity=st.none() | st.sampled_from(["critical", "major", "minor", "suggestion"]),
    action=st.none() | WORDS,
    rationale=st.none() | WORDS,
    evidence=st.none() | WORDS,
    score=st.none() | st.floats(0, 1),
    part=st.none() | st.tuples(st.sampled_from(["function", "section", "element"]), WORDS),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=30), WORDS)
def test_any_document_and_any_text_give_a_comment_that_parses_back(items, body):
    said = replace(review(3, body), documents=tuple(items))
    decision = decide(pull_request(), facts(said), RULES, moment(), SITE)
    for effect in decision.effects:
        if isinstance(effect, ShowComment):
            found = read_marker(MARKER, effect.body)
            assert len(effect.body) <= 20_000
            assert effect.body.count("<!-- REJECTION: ") == 1
            assert found["issues"] == list(effect.issues)[: len(found["issues"])]
            assert len(found["issues"]) + found.get("more", 0) == len(effect.issues)
            assert live_references(effect.body) == []
    (whole,) = [memo for memo in decision.memos if isinstance(memo, Document)] or (None,)
    if whole:
        assert schemas.violations("actionable-feedback", json.loads(whole.body)) == ()
