"""What the comment and the document say of claims that were looked up."""

import json
import re
from dataclasses import replace

import pytest

from bot.feedback.marker import parse_document
from bot.gates.config import ClaimType, GroundingRules, HintAudience, QualityRules
from bot.grounding.log import find_renames as renamed_paths
from bot.grounding.log import pending_claims
from bot.pull_request.diff import FileDiff
from bot.pull_request.effects import ShowComment
from bot.pull_request.facts import EntryKind, FileText, Observations, Tree, TreeEntry
from bot.pull_request.model import Revision, Ruling, RulingAction
from bot.turn.decide import decide_pull_request
from bot.values import Account
from tests.builders import (
    HEADS,
    RIO,
    RULES,
    SITE,
    at_minute,
    make_decision_time,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
)

PAGE = "claims/futarchy.md"
OTHER = "claims/prediction-markets-and-manipulation.md"
LINES = ("---", "type: claim", "domain: markets", "source: x", "created: 2026-13-01", "---", "", "# Markets")
BOT = Account(7, "checker[bot]", bot=True)


def observed(head=HEADS[0], page=LINES, **files) -> Observations:
    tree = {PAGE: TreeEntry(EntryKind.FILE, "1" * 40, 90), OTHER: TreeEntry(EntryKind.FILE, "2" * 40, 9)}
    return Observations(head, Tree(tree), {PAGE: FileText(page), **files})


def decided(*comments, rules=RULES, seen=None, known=None, said=None):
    spoken = said or make_review(3)
    read = make_facts(spoken, comments=comments)
    return decide_pull_request(
        known or make_pull_request(),
        replace(read, observations=seen or observed()),
        rules,
        make_decision_time(),
        SITE,
    )


def shown(*comments, **how) -> str:
    (effect,) = [each for each in decided(*comments, **how).effects if isinstance(each, ShowComment)]
    return effect.body


def items(body: str) -> list[dict]:
    return parse_document(body)["feedback_items"]


def test_a_place_that_is_there_has_its_source():
    # rows 121, 123
    body = shown(make_inline_comment(1, 3, "[date_errors] month 13 is out of range"))
    assert "#L5) `month 13 is out of range` (Source: review by `alice` @ 1111111)" in body
    assert items(body)[0]["grounding"] == {"outcome": "verified", "source": "contents @ 1111111"}


def test_a_file_that_is_not_there_is_not_repeated_as_a_fact():
    # row 124
    words = "[near_duplicate] repeats claims/prediction-market-manipulation.md in the second half"
    body = shown(make_inline_comment(1, 3, words))
    where, doubt = re.findall(r"^  - (?:Where|Not verified): .*$", body, re.MULTILINE)
    assert where.endswith("repeats claims/prediction-market-manipulation.md in the second half`")
    assert doubt == (
        "  - Not verified: that file is not in the repository (Source: tree @ 1111111)."
        f" Nearest name: `{OTHER}`"
    )
    grounding = items(body)[0]["grounding"]
    assert (grounding["outcome"], grounding["nearest"]) == ("contradicted", OTHER)


def test_what_would_verify_it_is_said_as_the_rules_have_it():
    known = RULES.grounding.catalogue
    kind = ClaimType.CODE_BEHAVIOR
    own = {**known, kind: replace(known[kind], would_verify="a recording")}
    rules = replace(RULES, grounding=replace(RULES.grounding, catalogue=own))
    body = shown(make_inline_comment(1, 3, "[scope_error] `parse()` crashes on empty input"), rules=rules)
    assert "Needed to verify it: a recording." in body


def test_what_nobody_can_look_up_says_what_would_verify_it():
    body = shown(make_inline_comment(1, 3, "[scope_error] `parse()` crashes on empty input"))
    doubt = "Not verified: no check run shows it. Needed to verify it: a test that fails in a check run."
    assert f"\n  - {doubt}\n" in body


def test_a_line_that_moved_says_so():
    body = shown(
        make_inline_comment(1, 3, "[date_errors] month 13 is out of range"),
        seen=observed(page=("# one", "# two", *LINES)),
    )
    assert "#L7) (moved: line 5 → 7) `month 13" in body
    (item,) = items(body)
    assert (item["location"]["line"], item["grounding"]["moved_from"]) == (7, 5)


def test_a_place_that_is_only_named_becomes_the_item_s_place():
    said = make_review(3, f"[date_errors] the month is wrong, see {PAGE}:5")
    body = shown(said=said)
    assert f"/blob/{HEADS[0]}/{PAGE}#L5)" in body
    assert items(body)[0]["location"]["path"] == PAGE


def test_items_beyond_the_first_that_were_not_confirmed_are_counted():
    comments = [
        make_inline_comment(n, 3, "[date_errors] wrong", path=f"claims/gone{n}.md") for n in (1, 2, 3)
    ]
    body = shown(*comments)
    (doubt,) = re.findall(r"^  - Not verified: .*$", body, re.MULTILINE)
    assert doubt.endswith(" And 2 more, in the document.")
    assert [item["grounding"]["outcome"] for item in items(body)] == ["contradicted"] * 3


def test_a_location_that_is_not_there_has_neither_link_nor_source():
    body = shown(make_inline_comment(1, 3, "[date_errors] month 13", path="claims/gone.md"))
    assert "\n  - Where: `claims/gone.md:5` `month 13`\n  - Not verified: " in body


def test_what_was_not_confirmed_stands_beside_an_appeal():
    appeal = Ruling(
        RulingAction.APPEAL,
        "date_errors",
        RIO.id,
        RIO.login,
        at_minute(5),
        HEADS[0],
        "it is right",
        "comment:81/0",
    )
    body = shown(
        make_inline_comment(1, 3, "[date_errors] wrong", path="claims/gone.md"),
        known=make_pull_request(rulings=(appeal,)),
    )
    assert "  - Appealed: by `rio-agent[bot]`, `it is right`; not verified: that file is not in " in body
    assert "  - Not verified: " not in body


def test_every_wrong_claim_of_an_item_is_named_with_what_it_is_about():
    words = f"Line 3 of {PAGE} contains `source: x`. It repeats claims/gone.md."
    body = shown(said=make_review(3, f"[scope_error] The body is thin. {words}"))
    (doubt,) = re.findall(r"^  - Not verified: (.*)$", body, re.MULTILINE)
    assert doubt == (
        f"`source: x` is at line 4, not at line 3 (Source: `{PAGE}` @ 1111111)."
        " Also: `claims/gone.md` is not in the repository (Source: tree @ 1111111)."
    )


def test_an_unverified_claim_is_kept_with_a_mark_where_the_config_allows_it():
    # row 125
    rules = replace(RULES, grounding=GroundingRules(allow_unverified_claim=True))
    body = shown(make_inline_comment(1, 3, "[scope_error] `parse()` crashes on empty input"), rules=rules)
    assert ("Not verified" in body, " (not verified)\n" in body) == (False, True)


def test_the_config_turns_the_source_off_or_adds_the_time():
    # rows 121, 122
    comment = make_inline_comment(1, 3, "[date_errors] month 13 is out of range")
    off = shown(comment, rules=replace(RULES, grounding=GroundingRules(include_source=False)))
    timed = shown(comment, rules=replace(RULES, grounding=GroundingRules(include_timestamp=True)))
    assert "(Source:" not in off
    assert "(Source: review by `alice` @ 1111111, 2026-11-15T10:42+00:00)" in timed


def test_nothing_is_asked_where_grounding_is_off():
    # row 119
    rules = replace(RULES, grounding=GroundingRules(enabled=False))
    read = make_facts(make_review(3), comments=(make_inline_comment(1, 3, "[date_errors] wrong"),))
    decision = decide_pull_request(make_pull_request(), read, rules, make_decision_time(), SITE)
    assert pending_claims(decision.pull_request, read, rules) == ()


def test_what_was_looked_up_is_kept_and_not_asked_again():
    read = make_facts(
        make_review(3), comments=(make_inline_comment(1, 3, "[date_errors] month 13 is out of range"),)
    )
    first = decide_pull_request(make_pull_request(), read, RULES, make_decision_time(), SITE)
    assert len(pending_claims(first.pull_request, read, RULES)) == 1
    again = decide_pull_request(
        make_pull_request(), replace(read, observations=observed()), RULES, make_decision_time(), SITE
    )
    assert pending_claims(again.pull_request, read, RULES) == ()
    (entry,) = again.pull_request.grounding
    assert (entry.name, entry.outcome, entry.source) == ("alice", "verified", "contents @ 1111111")


def test_lines_of_a_secrets_file_are_not_quoted():
    whole = decided(make_inline_comment(1, 3, "[date_errors] the key is in the open", path="app/.env"))
    stored = json.dumps([str(memo) for memo in whole.store_commands])
    assert "2026-13-01" not in stored
    assert "source: x" not in stored


@pytest.mark.parametrize(
    ("remarks", "hint"),
    [
        (
            ["The scope could be better"],
            "this remark is unclear. Say what is wrong and say what to do instead.",
        ),
        (
            ["Wrong.", "Hm", "[scope_error] Too broad"],
            "2 of 3 remarks are unclear. Say what is wrong and say what to do instead.",
        ),
        (
            [],
            "this rejection names nothing to change. Say what is wrong, name the file, line or name that it is about and say what to do instead.",
        ),
    ],
)
def test_an_agent_is_told_in_one_line_what_its_remarks_leave_out(remarks, hint):
    said = make_review(3, author=BOT)
    comments = [make_inline_comment(n, 3, text, author=BOT) for n, text in enumerate(remarks, 1)]
    (line,) = [
        line for line in shown(*comments, said=said).splitlines() if line.startswith("To `checker[bot]`")
    ]
    assert line == f"To `checker[bot]`: {hint}"


def test_an_agent_whose_remarks_say_what_to_do_is_told_nothing():
    comments = [
        make_inline_comment(1, 3, "[scope_error] Too broad", author=BOT),
        make_inline_comment(2, 3, "```suggestion\nin 2025\n```", author=BOT),
    ]
    assert "To `checker[bot]`" not in shown(*comments, said=make_review(3, author=BOT))


def test_a_person_is_not_told_unless_the_config_says_so():
    comment = make_inline_comment(1, 3, "The scope could be better")
    everybody = replace(RULES, quality=QualityRules(tell=HintAudience.ALL))
    assert ("To `alice`" in shown(comment), "To `alice`" in shown(comment, rules=everybody)) == (False, True)


def test_words_about_a_file_are_not_confirmed_by_its_being_there():
    body = shown(said=make_review(3, f"[scope_error] everything in {OTHER} is said better"))
    assert "is said better` (Source: review by `alice` @ 1111111)" in body
    assert "grounding" not in items(body)[0]
    assert items(body)[0]["location"]["path"] == OTHER


def test_a_renamed_file_is_named_as_it_is_called_now():
    renamed = FileDiff("claims/markets.md", status="renamed", previous_path="claims/old.md")
    known = make_pull_request(revisions=(Revision(HEADS[0], at_minute(-60), files=(renamed,)),))
    body = shown(said=make_review(3, "[near_duplicate] repeats claims/old.md word for word"), known=known)
    assert (
        "Not verified: that file was renamed (Source: tree @ 1111111). Nearest name: `claims/markets.md`"
        in body
    )


def test_a_file_that_was_looked_up_before_is_known_again_by_its_content():
    first = decided(make_inline_comment(1, 3, "[date_errors] wrong"))
    moved = Tree({"claims/other.md": TreeEntry(EntryKind.FILE, "1" * 40, 90)})
    assert renamed_paths(first.pull_request, replace(observed(), tree=moved)) == {PAGE: "claims/other.md"}
