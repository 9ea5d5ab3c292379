import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters import schemas
from bot.decisions.pull_request import feedback_on
from bot.decisions.verdicts import with_reviews
from bot.domain import document as documents
from bot.domain import prose
from bot.domain.comment import MOST_CHARACTERS, render, superseded
from bot.domain.comment_marker import MARKER, MOST_MARKER
from bot.domain.escape import read_marker
from bot.domain.gates import Gates
from bot.domain.links import Web
from bot.domain.model import Item, Place, Revision, Stance, Validator, Verdict
from bot.domain.snapshots import ReviewState
from tests.builders import (
    ALICE,
    BOB,
    HEADS,
    KNOWLEDGE_BASE,
    RULES,
    SITE,
    at,
    facts,
    inline,
    moment,
    pull_request,
    review,
)
from tests.live import live_references

PARSE_RULE = re.compile(r"<!-- REJECTION: (\{.*?\}) -->")


def feedback(body="", comments=(), **changes):
    known = with_reviews(pull_request(), facts(review(3, body, **changes), comments=comments), RULES, at(4))
    found = feedback_on(known, RULES, moment())
    assert found
    return found


def text(body="", comments=(), **changes) -> str:
    return render(feedback(body, comments, **changes), SITE)


def document_in(comment: str) -> dict:
    return json.loads(next(fence.text for fence in prose.fences(comment) if fence.info == "json"))


def test_the_comment_reads_as_the_model_does():
    said = text(
        "<!-- ISSUES: title_overclaims, near_duplicate -->",
        (inline(71, 3, "[date_errors] month 13 is out of range\n```suggestion\ncreated: 2026-11-15\n```"),),
    )
    visible = said.split("\n\n<details><summary>Machine-readable")[0].split("\n\n", 1)[1]
    head = "1" * 40
    assert visible == (
        "**Rejected** — 2 blocking issues, 1 warning\n\n"
        f"Iteration 1 of 5 at [`1111111`](https://github.com/acme/knowledge/commit/{head}), judged by `alice`.\n\n"
        "**Next**: fix the 2 blocking issues in this order.\n\n"
        "**[BLOCK] Date accuracy**: Invalid or incorrect date format in created field (auto-fixable)\n"
        "  - Fix: created = extraction date (today), not source publication date. Format: YYYY-MM-DD. `date_errors`\n"
        f"  - Where: [`claims/futarchy.md:5`](https://github.com/acme/knowledge/blob/{head}/claims/futarchy.md#L5)"
        " — `month 13 is out of range` (Source: inline comment by `alice` @ 1111111)\n"
        "  - Write: `created: 2026-11-15`\n\n"
        "**[BLOCK] Title precision**: Title asserts more than the evidence supports\n"
        "  - Fix: Scope the title to match the evidence strength. Single source = 'X suggests Y' not 'X proves Y'."
        " Name the specific mechanism. `title_overclaims`\n\n"
        "<details><summary>1 warning, not blocking: Duplicate check</summary>\n\n"
        "**[WARN] Duplicate check**: Substantially similar claim already exists in KB\n"
        "  - Fix: Check KB index before extracting. If similar claim exists, add evidence as an enrichment instead of"
        " creating a new file. `near_duplicate`\n\n"
        "</details>"
    )


def rejected_by(*validators):
    """What the thread shows while each of these rejects for wrong dates."""
    item = Item("date_errors", "month 13")
    said = (Verdict(f"v:{v.key}", v, Stance.REJECTS, at(3), HEADS[0], (item,)) for v in validators)
    return render(feedback_on(pull_request(verdicts=tuple(said)), RULES, moment()), SITE)


@pytest.mark.parametrize(
    ("tools", "judges", "then"),
    [
        (("check:ruff",), "the check `ruff`", "make `ruff` pass"),
        (("validation:1:ruff",), "the log of `ruff`", "hand in a clean log of `ruff`"),
        (("forgotten:x:validation:ruff",), "the log of `ruff`", "hand in a clean log of `ruff`"),
        (
            ("check:validate", "validation:1:ruff"),
            "the check `validate` and the log of `ruff`",
            "make `validate` pass and hand in a clean log of `ruff`",
        ),
    ],
)
def test_a_log_that_was_handed_in_is_no_check_that_could_pass(tools, judges, then):
    shown = rejected_by(*(Validator(key, key.rpartition(":")[2], bot=True, check=True) for key in tools))
    assert f", judged by {judges}.\n" in shown
    assert f"**Next**: fix the blocking issue, then {then}.\n" in shown


def test_a_gates_name_mentions_nobody_and_refers_to_nothing():
    loud = "@team/core #12, gh-3 & o/r#4 at https://github.com/o/r/pull/5 of 0123abcd <b>"
    gates = tuple(replace(gate, gate=f"{gate.tag} {loud}") for gate in RULES.gates)
    rules = replace(RULES, gates=Gates(gates))
    said = facts(review(3, "<!-- ISSUES: date_errors, near_duplicate -->"))
    shown = render(feedback_on(with_reviews(pull_request(), said, rules, at(4)), rules, moment()), SITE)
    assert "1 warning, not blocking: near_duplicate @" in shown
    assert ("<b>" in shown.split("```")[0], live_references(shown)) == (False, [])


def test_an_unknown_tag_is_a_warning_that_names_the_nearest_known_one():  # row 174
    said = text("<!-- ISSUES: date_error -->")
    assert (
        "**[WARN] `date_error`**: no gate of this repository has this tag; the nearest known tag is `date_errors`\n"
        in said
    )
    assert "  - Fix: See the repository's quality gates. `date_error`\n" in said


def without_a_tag(words="the **loop** reads @all the table", **changes):
    """What is said of an item that a document names without a tag."""
    item = Item(None, words, aspect="efficiency", severity="major", **changes)
    known = pull_request(
        verdicts=(
            Verdict("review:3", Validator("user:1", "alice"), Stance.REJECTS, at(3), HEADS[0], (item,)),
        )
    )
    shown = render(feedback_on(known, RULES, moment()), SITE)
    start = shown.index("**[BLOCK] Efficiency**")
    return shown[start : shown.index("\n\n", start)]


def test_what_has_no_tag_is_said_in_its_validators_words_once_and_in_code():
    place = Place("src/table.py", 9)
    assert without_a_tag(action="Load **it** once, before #7", place=place) == (
        "**[BLOCK] Efficiency**: `the **loop** reads @all the table`\n"
        "  - Fix: `Load **it** once, before #7`\n"
        f"  - Where: [`src/table.py:9`](https://github.com/acme/knowledge/blob/{HEADS[0]}/src/table.py#L9)"
        " (Source: review by `alice` @ 1111111)"
    )
    assert without_a_tag() == (
        "**[BLOCK] Efficiency**: `the **loop** reads @all the table`\n"
        "  - Fix: See the repository's quality gates."
    )


@pytest.mark.parametrize(("said", "shown"), [("a" * 500, "a" * 500), ("a" * 501, f"{'a' * 499}…")])
def test_long_words_without_a_tag_are_shown_since_no_gate_describes_them(said, shown):
    assert without_a_tag(said).splitlines()[0] == f"**[BLOCK] Efficiency**: `{shown}`"


@pytest.mark.parametrize(
    ("names", "noted"),
    [
        (("a()", "b()"), "(`a()`, `b()`)"),
        (("a()", "a()"), "(`a()`)"),
        (("a()", "b()", "c()", "d()", "e()"), "(`a()`, `b()`, `c()`, 2 more)"),
    ],
)
def test_every_part_of_a_file_that_was_named_stands_beside_it(names, noted):
    named = tuple(
        Item("date_errors", f"{name} reads no month", Place("src/auth.py"), part=("function", name))
        for name in names
    )
    said = Verdict("review:3", Validator("user:1", "alice"), Stance.REJECTS, at(3), HEADS[0], named)
    shown = render(feedback_on(pull_request(verdicts=(said,)), RULES, moment()), SITE)
    assert f"/src/auth.py) {noted} — `a() reads no month` (Source: " in shown


def test_short_words_stand_before_what_they_are_about():
    found = documents.document(feedback("", (inline(71, 3, "[date_errors] no"),)))
    assert [item["issue"] for item in found["feedback_items"]] == [
        "no (Invalid or incorrect date format in created field)"
    ]


@pytest.mark.parametrize(
    ("item", "issue"),
    [
        (Item(None, "slow", aspect="efficiency"), "slow (said by alice about efficiency)"),
        (Item(None, "", aspect="style"), "said by alice about style"),
        (Item("date_error", "no"), "no (alice names date_error, which is no gate of this repository)"),
    ],
)
def test_few_words_that_no_gate_describes_are_told_with_who_said_them(item, issue):
    said = Verdict("review:3", Validator("user:1", "alice"), Stance.REJECTS, at(3), HEADS[0], (item,))
    found = documents.document(feedback_on(pull_request(verdicts=(said,)), RULES, moment()))
    assert [each["issue"] for each in found["feedback_items"]] == [issue]


def test_the_document_has_the_markers_time_and_budget_and_a_short_score():
    found = feedback("<!-- ISSUES: date_errors -->")
    late = replace(
        found,
        at=found.at.replace(microsecond=307358),
        iteration=replace(found.iteration, number=6),
        score=0.8333,
    )
    whole = documents.document(late)
    data = read_marker(MARKER, render(late, SITE))
    assert (whole["timestamp"], whole["iteration"]["max"]) == (data["ts"], data["max_iterations"])
    assert whole["overall_assessment"]["score"] == 0.83
    assert whole["overall_assessment"]["summary"] == (
        "1 blocking issue at iteration 6 (the budget was 5): "
        "the first revision of acme/knowledge#212 that was judged."
    )
    assert "\n\nIteration 6 (the budget was 5) at [`1111111`]" in render(late, SITE)


@pytest.mark.parametrize(
    ("reviews", "said"),
    [
        ([review(4, state=ReviewState.APPROVED, author=BOB)], "judged by `alice`; `bob` approves."),
        ([review(4, "<!-- ISSUES: scope_error -->", author=BOB)], "judged by `alice` and `bob`."),
    ],
)
def test_whoever_approves_is_not_named_among_those_who_reject(reviews, said):
    read = facts(review(3, "<!-- ISSUES: date_errors -->"), *reviews)
    shown = render(feedback_on(with_reviews(pull_request(), read, RULES, at(5)), RULES, moment()), SITE)
    assert f"), {said}\n" in shown


def test_an_approval_of_the_new_head_is_told_beside_the_earlier_verdict():
    moved = pull_request(head=HEADS[1], revisions=(Revision(HEADS[0], at(0)), Revision(HEADS[1], at(4))))
    approval = review(5, state=ReviewState.APPROVED, author=BOB, head=HEADS[1])
    read = facts(review(3, "<!-- ISSUES: date_errors -->"), approval)
    shown = render(feedback_on(with_reviews(moved, read, RULES, at(6)), RULES, moment()), SITE)
    assert ", judged by `bob`, who approves. The earlier verdict of `alice` still stands." in shown


def test_more_than_ten_gates_are_named_but_not_explained():
    every = ", ".join(KNOWLEDGE_BASE.tags)
    said = text(f"<!-- ISSUES: {every} -->")
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
    said = text("", (inline(71, 3, f"[date_errors] {words}", path=f"docs/{words}.md"),))
    assert PARSE_RULE.findall(said) == [said.split("\n", 1)[0][len("<!-- REJECTION: ") : -len(" -->")]]
    assert "date_errors" in read_marker(MARKER, said)["issues"]
    assert live_references(said) == []
    assert len(document_in(said)["feedback_items"]) >= 1


def test_a_flood_stays_within_its_limits():
    flood = ", ".join(f"tag_number{number}" for number in range(10_000))
    comments = tuple(
        inline(
            number,
            3,
            f"[{tag}] {'long words ' * 400}\n```suggestion\n{'x' * 5000}\n```",
            path="p/" * 200 + "x.md",
        )
        for number, tag in enumerate(KNOWLEDGE_BASE.tags, 1)
    )
    said = text(f"<!-- ISSUES: {flood} -->", comments)
    first = said.split("\n", 1)[0]
    assert (len(said) <= MOST_CHARACTERS, len(first) <= MOST_MARKER) == (True, True)
    assert read_marker(MARKER, said)["more"] > 9_000
    assert schemas.violations("actionable-feedback", document_in(said)) == ()


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
            inline(number, 3, f"<!-- ISSUES: {tag} -->\n{words}", path=path),
            author=replace(ALICE, login=login),
        )
        for number, tag in enumerate(tags, 1)
    )
    found = feedback("", comments, author=replace(ALICE, login=login))
    said = render(found, SITE)
    assert len(PARSE_RULE.findall(said)) == 1
    assert read_marker(MARKER, said)["issues"] == list(dict.fromkeys(tags))
    assert live_references(said) == []
    assert len(said) <= MOST_CHARACTERS
    whole = documents.document(found, SITE.schema)
    assert schemas.violations("actionable-feedback", json.loads(json.dumps(whole))) == ()
    assert schemas.violations("actionable-feedback", document_in(said)) == ()


def test_the_superseded_line_carries_no_marker():
    assert superseded("https://github.com/a/b/pull/1#issuecomment-2") == (
        "Superseded by [a newer comment](https://github.com/a/b/pull/1#issuecomment-2)."
    )


def test_on_another_host_links_lead_there():
    site = replace(SITE, web=Web("https://git.example.org"))
    assert "https://git.example.org/acme/knowledge/commit/" in render(feedback("[date_errors]"), site)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/auth.py", "code"),
        ("claims/futarchy.md", "document"),
        ("tests/test_auth.py", "test"),
        ("web/login.spec.ts", "test"),
        ("bot/schemas/pack.json", "schema"),
        ("api/user.proto", "schema"),
        ("config/app.yml", "configuration"),
        ("Dockerfile", "configuration"),
        (".editorconfig", "configuration"),
        ("logo.png", "artifact"),
    ],
)
def test_the_target_kind_follows_from_the_path(path, kind):  # row 11
    assert documents.kind_of(path) == kind
