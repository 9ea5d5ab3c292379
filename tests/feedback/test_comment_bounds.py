"""Does the comment keep to its bounds, whatever it is given to say?"""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.feedback import document as documents
from bot.feedback.build import build_feedback
from bot.feedback.marker import FEEDBACK_MARKER, MAX_MARKER_LENGTH
from bot.feedback.marker import parse_document as document_in
from bot.feedback.render import MAX_COMMENT_LENGTH
from bot.gates import schemas
from bot.gates.model import Gates
from bot.markdown.escape import parse_marker
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    ALICE,
    KNOWLEDGE_BASE,
    RULES,
    SITE,
    at_minute,
    make_decision_time,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
    render_feedback,
)
from tests.feedback.comment_builders import comment_text, make_feedback
from tests.live_markdown import live_references

PARSE_RULE = re.compile(r"<!-- REJECTION: (\{.*?\}) -->")


def test_a_gates_name_mentions_nobody_and_refers_to_nothing():
    loud = "@team/core #12, gh-3 & o/r#4 at https://github.com/o/r/pull/5 of 0123abcd <b>"
    gates = tuple(replace(gate, gate=f"{gate.tag} {loud}") for gate in RULES.gates)
    rules = replace(RULES, gates=Gates(gates))
    said = make_facts(make_review(3, "<!-- ISSUES: date_errors, near_duplicate -->"))
    shown = render_feedback(
        build_feedback(
            merge_reviews(make_pull_request(), said, rules, at_minute(4)), rules, make_decision_time()
        ),
        SITE,
    )
    assert "1 warning, not blocking: near_duplicate @" in shown
    assert ("<b>" in shown.split("```")[0], live_references(shown)) == (False, [])


def test_more_than_ten_gates_are_named_but_not_explained():
    every = ", ".join(KNOWLEDGE_BASE.tags)
    said = comment_text(f"<!-- ISSUES: {every} -->")
    assert said.count("\n  - Fix: ") == 10
    assert "\n\nand 2 more: `broken_wiki_links`, `near_duplicate`\n" in said


HOSTILE = [
    '--> <!-- REJECTION: {"issues": []} -->',
    '<!-- REJECTION: {"issues":["x_y"]} -->',
    "``` ```json\n{}\n```",
    "@everyone @acme/security please, see #12, acme/other#3, GH-4 and 9f2c1e47a1d0b6c85e3f2a9947d1c0be5a6f7d83",
    "https://github.com/acme/other/pull/7 <img src=x onerror=alert(1)> <script>",
    "</details></summary>**bold**",
    "\x00\u202e right to left \u200b \ud800",
    "`" * 70,
    "[docs](https://example.org) - [x] task",
    "&lt;!-- &amp; \\` $x$",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_words(words):
    said = comment_text("", (make_inline_comment(71, 3, f"[date_errors] {words}", path=f"docs/{words}.md"),))
    assert PARSE_RULE.findall(said) == [said.split("\n", 1)[0][len("<!-- REJECTION: ") : -len(" -->")]]
    assert "date_errors" in parse_marker(FEEDBACK_MARKER, said)["issues"]
    assert live_references(said) == []
    assert len(document_in(said)["feedback_items"]) >= 1


def test_a_flood_stays_within_its_limits():
    flood = ", ".join(f"tag_number{number}" for number in range(10_000))
    comments = tuple(
        make_inline_comment(
            number,
            3,
            f"[{tag}] {'long words ' * 400}\n```suggestion\n{'x' * 5000}\n```",
            path="p/" * 200 + "x.md",
        )
        for number, tag in enumerate(KNOWLEDGE_BASE.tags, 1)
    )
    said = comment_text(f"<!-- ISSUES: {flood} -->", comments)
    first = said.split("\n", 1)[0]
    assert (len(said) <= MAX_COMMENT_LENGTH, len(first) <= MAX_MARKER_LENGTH) == (True, True)
    assert parse_marker(FEEDBACK_MARKER, said)["more"] > 9_000
    assert schemas.find_violations("actionable-feedback", document_in(said)) == ()


def test_a_marker_that_is_too_long_keeps_what_blocks_before_what_warns():
    warnings = [f"warning_number{number}" for number in range(60)]
    said = comment_text(f"<!-- ISSUES: {', '.join(warnings)}, date_errors, opsec_internal_deal_terms -->")
    data = parse_marker(FEEDBACK_MARKER, said)
    assert data["blocking"] == ["opsec_internal_deal_terms", "date_errors"]
    assert {*data["blocking"]} < {*data["issues"]}
    assert data["issues"][0] == "warning_number0"
    assert data["more"] == 62 - len(data["issues"])


@settings(max_examples=150, deadline=None)
@given(
    tags=st.lists(
        st.sampled_from([*KNOWLEDGE_BASE.tags, "made_up_tag", "other_thing"]), min_size=1, max_size=14
    ),
    words=st.text(max_size=300),
    path=st.text(min_size=1, max_size=80),
    login=st.from_regex(r"[a-zA-Z0-9-]{1,39}(\[bot\])?", fullmatch=True),
)
def test_any_tags_and_any_text_parse_back_to_the_same_value(tags, words, path, login):
    comments = tuple(
        replace(
            make_inline_comment(number, 3, f"<!-- ISSUES: {tag} -->\n{words}", path=path),
            author=replace(ALICE, login=login),
        )
        for number, tag in enumerate(tags, 1)
    )
    found = make_feedback("", comments, author=replace(ALICE, login=login))
    said = render_feedback(found, SITE)
    assert len(PARSE_RULE.findall(said)) == 1
    assert parse_marker(FEEDBACK_MARKER, said)["issues"] == list(dict.fromkeys(tags))
    assert live_references(said) == []
    assert len(said) <= MAX_COMMENT_LENGTH
    whole = documents.build_document(found, SITE.schema)
    assert schemas.find_violations("actionable-feedback", json.loads(json.dumps(whole))) == ()
    assert schemas.find_violations("actionable-feedback", document_in(said)) == ()
