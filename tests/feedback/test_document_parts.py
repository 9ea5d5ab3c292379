"""What the document says of where, why and by what evidence, as values."""

import json
from dataclasses import replace

import pytest

from bot.commands.catalogue import RejectRequest
from bot.commands.model import CommandInvocation, CommandText
from bot.commands.overrides import apply_rejection
from bot.feedback.build import build_feedback
from bot.feedback.document import build_document
from bot.gates import schemas
from bot.gates.config import CheckRule, QualityRules, ValidatorRules
from bot.pull_request.diff import FileDiff
from bot.pull_request.effects import CommandSource, ShowComment, StoreDocument
from bot.pull_request.events import CheckEvent
from bot.pull_request.facts import Facts, FileText, Observations
from bot.pull_request.model import Item, Provenance, Revision, hash_text
from bot.values import Location
from bot.verdicts.reviews import merge_reviews
from tests import builders
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
)

PAGE = "claims/futarchy.md"
LINES = tuple(f"line {number}" for number in range(1, 12))
SAID = make_review(3, "[date_errors] month 13")


def decided(read, rules=RULES, known=None):
    return builders.decide(known or make_pull_request(), read, rules)


def whole(read, rules=RULES, known=None) -> dict:
    (memo,) = [memo for memo in decided(read, rules, known).store_commands if isinstance(memo, StoreDocument)]
    found = json.loads(memo.body)
    assert schemas.find_violations("actionable-feedback", found) == ()
    return found


def items(read, rules=RULES, known=None) -> list[dict]:
    return whole(read, rules, known)["feedback_items"]


def test_an_items_score_is_what_the_rules_weigh_it():
    weights = replace(RULES.scoring.weights, severities={**RULES.scoring.weights.severities, "major": 0.7})
    heavier = replace(RULES, scoring=replace(RULES.scoring, weights=weights))
    assert [item["score"] for rules in (RULES, heavier) for item in items(make_facts(SAID), rules)] == [
        0.6,
        0.3,
    ]


def test_the_target_names_the_path_the_version_and_what_it_is_for():  # rows 10-14
    read = make_facts(make_review(3), comments=(make_inline_comment(71, 3, "[date_errors] month 13"),))
    assert whole(read)["target"] == {
        "type": "document",
        "path": PAGE,
        "version": HEADS[0],
        "context": "acme/knowledge#212 into main",
    }


def test_the_hunk_gives_the_lines_before_and_the_file_those_after():  # row 34
    read = make_facts(make_review(3), comments=(make_inline_comment(71, 3, "[date_errors] month 13"),))
    read = replace(read, observations=Observations(HEADS[0], files={PAGE: FileText(LINES)}))
    location = items(read)[0]["location"]
    assert location["context_before"] == "type: claim\ndomain: markets\nsource: x"
    assert location["context_after"] == "line 6\nline 7\nline 8"


def test_the_lines_before_a_range_stand_before_its_first_line():  # row 34
    said = make_inline_comment(71, 3, "[date_errors] month 13", start_line=4)
    location = items(make_facts(make_review(3), comments=(said,)))[0]["location"]
    assert (location["line"], location["end_line"]) == (4, 5)
    assert location["context_before"] == "---\ntype: claim\ndomain: markets"


def test_the_lines_before_one_that_was_taken_out_are_those_of_the_file():  # row 34
    hunk = "@@ -1,4 +1,3 @@\n one\n-two\n\\ No newline at end of file\n+two\n three\n-four"
    said = make_inline_comment(71, 3, "[date_errors] month 13", line=None, diff_hunk=hunk)
    location = items(make_facts(make_review(3), comments=(said,)))[0]["location"]
    assert location["context_before"] == "one\ntwo\nthree"


@pytest.mark.parametrize("kind", ["function", "section", "element"])
def test_a_named_part_of_a_file_stays_the_place_that_was_named(kind):  # rows 32, 33
    said = replace(SAID, documents=(Item("scope_error", "too wide", Location(PAGE), part=(kind, "a thing")),))
    found = next(item for item in items(make_facts(said)) if item["tag"] == "scope_error")
    assert found["location"] == {"type": kind, "reference": f"{PAGE}:a thing", "path": PAGE}
    (shown,) = [effect for effect in decided(make_facts(said)).effects if isinstance(effect, ShowComment)]
    assert f"{PAGE}) (`a thing`) `too wide`" in shown.body


def test_the_file_stands_before_the_place_where_the_target_is_not_that_file():  # row 31
    first, second = (
        Item("scope_error", "too wide", Location(PAGE, 2)),
        Item("scope_error", "", Location(PAGE, 4, 6)),
    )
    shared = items(make_facts(replace(SAID, body="", documents=(first, second))))
    assert [item["location"]["reference"] for item in shared] == ["2", "4-6"]
    other = replace(second, place=Location("claims/other.md", 4, 6))
    apart = items(
        make_facts(replace(SAID, body="", documents=(first, other, replace(first, place=Location(PAGE)))))
    )
    assert [item["location"]["reference"] for item in apart] == [f"{PAGE}:2", "claims/other.md:4-6", PAGE]


def test_an_item_has_the_score_that_was_given_or_that_its_severity_has():  # row 28
    given = Item("scope_error", "too wide", severity="minor", score=0.3)
    said = replace(SAID, documents=(given, Item("near_duplicate"), Item(None, "slow", severity="critical")))
    scores = {item.get("tag"): item["score"] for item in items(make_facts(said))}
    assert scores == {"date_errors": 0.6, "scope_error": 0.3, "near_duplicate": 0.9, None: 0.0}


def test_the_diff_of_the_revision_gives_the_lines_around_a_place():  # row 34
    patch = "@@ -1,2 +1,4 @@\n line 1\n-old\n+line 2\n+line 3\n line 4"
    revision = Revision(HEADS[0], at_minute(-60), files=(FileDiff(PAGE, patch=patch),))
    said = replace(SAID, documents=(Item("scope_error", "too wide", Location(PAGE, 2)),))
    (found,) = [
        i
        for i in items(make_facts(said), known=make_pull_request(revisions=(revision,)))
        if "path" in i["location"]
    ]
    assert (found["location"]["context_before"], found["location"]["context_after"]) == (
        "line 1",
        "line 3\nline 4",
    )


def test_what_was_seen_around_a_place_is_kept():
    read = make_facts(make_review(3), comments=(make_inline_comment(71, 3, "[date_errors] month 13"),))
    first = decided(replace(read, observations=Observations(HEADS[0], files={PAGE: FileText(LINES)})))
    again = decided(read, known=first.pull_request).pull_request.verdicts[0].items[0]
    assert again.context_after == "line 6\nline 7\nline 8"


def test_a_file_that_may_hold_secrets_is_not_quoted():
    said = make_inline_comment(
        71, 3, "[date_errors] month 13", path=".env", diff_hunk="@@ -0,0 +1,2 @@\n+KEY=1\n+TOKEN=2"
    )
    assert "context_before" not in items(make_facts(make_review(3), comments=(said,)))[0]["location"]


def test_the_diff_of_a_file_that_may_hold_secrets_is_not_quoted_either():
    patch = "@@ -0,0 +1,3 @@\n+KEY=1\n+TOKEN=2\n+MORE=3"
    revision = Revision(HEADS[0], at_minute(-60), files=(FileDiff(".env", patch=patch),))
    said = replace(make_review(3), documents=(Item("scope_error", "too wide", Location(".env", 2)),))
    location = items(make_facts(said), known=make_pull_request(revisions=(revision,)))[0]["location"]
    assert set(location) == {"type", "reference", "path", "line"}


def test_evidence_is_what_a_check_printed_its_number_and_the_rule():  # rows 42-44
    check = CheckEvent(
        REPOSITORY, HEADS[0], "cover", "failure", at_minute(5), "https://ci/1", title="coverage 61 %"
    )
    gate = replace(RULES.gates.get("date_errors"), guide="CLAUDE.md#dates")
    gates = RULES.gates.merged(type(RULES.gates)((gate,)))
    rules = replace(
        RULES, gates=gates, validators=ValidatorRules(checks=(CheckRule("cover", ("date_errors",)),))
    )
    (item,) = items(Facts(ME, signals=(check,)), rules)
    assert item["evidence"] == {
        "test_result": "coverage 61 %",
        "metric": "coverage 61 %",
        "reference": "CLAUDE.md#dates",
    }


def test_another_wording_around_the_same_items_has_another_hash_and_is_no_new_feedback():
    first = decided(make_facts(SAID))
    reworded = make_facts(replace(SAID, body=f"{SAID.body}\n\nThank you."))
    later = builders.decide(first.pull_request, reworded, time=make_decision_time(50, "another id"))
    before, after = (
        next(effect for effect in each.effects if isinstance(effect, ShowComment)) for each in (first, later)
    )
    assert (before.marker_id, hash_text(SAID.body) in before.body) == (after.marker_id, True)
    assert hash_text(f"{SAID.body}\n\nThank you.") in after.body


def test_a_command_leaves_what_its_giver_said_before_as_it_was_said():
    known = merge_reviews(make_pull_request(), make_facts(SAID), RULES, at_minute(4))
    body = "/feedback-reject scope_error"
    text = CommandText(CommandSource.COMMENT, 9, ALICE, ALICE.id, at_minute(5), body, REPOSITORY, 212)
    order = CommandInvocation(text, 0, RejectRequest(("scope_error",)))
    url = "https://c/9"
    said, order = apply_rejection(known, [Item("scope_error", url=url)], order, "admin", url).verdicts
    assert [said.origin_of(item) for item in said.items] == [
        Provenance("review", "write", hash_text(SAID.body))
    ]
    assert [order.origin_of(item) for item in order.items] == [
        Provenance("command", "admin", hash_text(body))
    ]


def test_the_tag_leads_to_the_repositorys_own_guide():  # row 168
    gate = replace(RULES.gates.get("date_errors"), guide="docs/CLAUDE.md#dates")
    rules = replace(RULES, gates=RULES.gates.merged(type(RULES.gates)((gate,))))
    (shown,) = [
        effect for effect in decided(make_facts(SAID), rules).effects if isinstance(effect, ShowComment)
    ]
    address = "https://github.com/acme/knowledge/blob/main/docs/CLAUDE.md#dates"
    assert f"Format: YYYY-MM-DD. [`date_errors`]({address})\n" in shown.body


def test_a_documents_own_evidence_and_severity_win():  # rows 27, 42-44
    said = Item("date_errors", "month 13", severity="critical", evidence="r", metric="m", reference="u")
    found = items(make_facts(replace(make_review(3), documents=(said,))))[0]
    assert (found["severity"], found["evidence"]) == (
        "critical",
        {"test_result": "r", "metric": "m", "reference": "u"},
    )


def test_an_item_says_whether_its_author_can_tell_what_to_do():
    tagged = make_inline_comment(71, 3, "[date_errors] month 13")
    plain = make_inline_comment(72, 3, "Hm, wrong.", line=2)
    check = CheckEvent(REPOSITORY, HEADS[0], "lint", "failure", at_minute(5), "https://ci/1", run_id=9)
    mapped = replace(RULES, validators=ValidatorRules(checks=(CheckRule("lint", ("scope_error",)),)))
    read = replace(make_facts(make_review(3), comments=(tagged, plain)), signals=(check,))
    assert {item.get("tag"): item.get("clarity") for item in items(read, mapped)} == {
        "date_errors": {"clear": True, "score": 0.5},
        None: {"clear": False, "score": 0.0, "missing": ["what to do"]},
        "scope_error": None,
    }


def test_in_strict_mode_an_item_without_a_place_blocks_nothing():  # row 50
    strict = replace(RULES, quality=QualityRules(strict=True))
    known = merge_reviews(make_pull_request(), make_facts(SAID), strict, at_minute(4))
    assert [gate.blocking for gate in build_feedback(known, strict, make_decision_time()).gates] == [False]
    placed = make_facts(make_review(3), comments=(make_inline_comment(71, 3, "[date_errors] month 13"),))
    known = merge_reviews(make_pull_request(), placed, strict, at_minute(4))
    assert [gate.blocking for gate in build_feedback(known, strict, make_decision_time()).gates] == [True]


@pytest.mark.parametrize(
    ("tags", "heading"),
    [
        ("date_errors", "**Rejected** — 1 blocking issue"),
        ("date_errors, scope_error", "**Rejected** — 2 blocking issues"),
        ("near_duplicate", "**Rejected** — no blocking issue, 1 warning"),
        ("near_duplicate, broken_wiki_links", "**Rejected** — no blocking issue, 2 warnings"),
    ],
)
def test_the_heading_counts(tags, heading):  # rows 171, 172
    (effect,) = decided(make_facts(make_review(3, f"<!-- ISSUES: {tags} -->"))).effects
    assert effect.body.split("\n\n")[1] == heading


def test_a_gate_reads_as_the_source_has_it_for_people_and_machines():  # rows 169, 173, 176
    (effect,) = decided(make_facts(make_review(3, "<!-- ISSUES: date_errors, near_duplicate -->"))).effects
    assert (
        "**[BLOCK] Date accuracy**: Invalid or incorrect date format in created field (auto-fixable)\n  - Fix: "
        in (effect.body)
    )
    assert (
        "**[WARN] Duplicate check**: Substantially similar claim already exists in KB\n  - Fix: "
        in effect.body
    )
    assert effect.body.startswith('<!-- REJECTION: {"issues"')


def test_every_reviewer_has_a_verdict_of_their_own_in_the_record():  # rows 177, 178
    said = (
        make_review(3, "<!-- ISSUES: date_errors -->"),
        make_review(4, "<!-- ISSUES: a_b -->", author=BOB),
    )
    known = decided(make_facts(*said)).pull_request
    assert [(v.validator.name, v.stance, [i.tag for i in v.items], v.at) for v in known.verdicts] == [
        ("alice", "rejects", ["date_errors"], at_minute(3)),
        ("bob", "rejects", ["a_b"], at_minute(4)),
    ]
    assert (known.number, known.author.login, known.created_at, known.head) == (
        212,
        "rio-agent[bot]",
        at_minute(-60),
        HEADS[0],
    )


def test_the_document_has_one_item_for_each_that_was_named():
    known = merge_reviews(make_pull_request(), make_facts(SAID), RULES, at_minute(4))
    assert len(build_document(build_feedback(known, RULES, make_decision_time()))["feedback_items"]) == 1
