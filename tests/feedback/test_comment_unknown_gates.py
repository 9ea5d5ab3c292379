"""How are words told that no gate describes, and gates that nobody knows?"""

import pytest
from inline_snapshot import snapshot

from bot.feedback import document as documents
from bot.feedback.build import build_feedback
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.values import Location
from tests.builders import (
    HEADS,
    RULES,
    SITE,
    at_minute,
    make_decision_time,
    make_inline_comment,
    make_pull_request,
    render_feedback,
)
from tests.feedback.comment_builders import comment_text, make_feedback


def test_an_unknown_tag_is_a_warning_that_names_the_nearest_known_one():  # row 174
    said = comment_text("<!-- ISSUES: date_error -->")
    assert (
        "**[WARN] `date_error`**: no gate of this repository has this tag; the nearest known tag is `date_errors`\n"
        in said
    )
    assert "  - Fix: See the repository's quality gates. `date_error`\n" in said


def without_a_tag(words="the **loop** reads @all the table", **changes):
    """What is said of an item that a document names without a tag."""
    item = Item(None, words, aspect="efficiency", severity="major", **changes)
    known = make_pull_request(
        verdicts=(
            Verdict(
                "review:3", Validator("user:1", "alice"), Stance.REJECTS, at_minute(3), HEADS[0], (item,)
            ),
        )
    )
    shown = render_feedback(build_feedback(known, RULES, make_decision_time()), SITE)
    start = shown.index("**[BLOCK] Efficiency**")
    return shown[start : shown.index("\n\n", start)]


def test_what_has_no_tag_is_said_in_its_validators_words_once_and_in_code():
    place = Location("src/table.py", 9)
    assert without_a_tag(action="Load **it** once, before #7", place=place) == snapshot("""\
**[BLOCK] Efficiency**: `the **loop** reads @all the table`
  - Fix: `Load **it** once, before #7` `f1`
  - Where: [`src/table.py:9`](https://github.com/acme/knowledge/blob/1111111111111111111111111111111111111111/src/table.py#L9) (Source: review by `alice` @ 1111111)\
""")
    assert without_a_tag() == (
        "**[BLOCK] Efficiency**: `the **loop** reads @all the table`\n  - Fix: Change it, or answer it. `f1`"
    )


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("a = 1", "`a = 1`"),
        (
            "a = 1\nb = 2",
            "[the 2 lines of the suggestion](https://github.com/acme/knowledge/pull/212#discussion_r71)",
        ),
        (
            "a" * 121,
            "[the line of the suggestion](https://github.com/acme/knowledge/pull/212#discussion_r71)",
        ),
    ],
)
def test_a_suggestion_is_shown_whole_or_not_at_all(given, written):
    said = comment_text("", (make_inline_comment(71, 3, f"[date_errors] so\n```suggestion\n{given}\n```"),))
    assert f"\n  - Suggested change: {written}\n" in said


def test_lines_that_stand_in_a_document_only_are_to_be_read_there():
    assert without_a_tag(suggestion="a = 1\nb = 2").splitlines()[-1] == (
        "  - Fix: the 2 lines under `example` in the document `f1`"
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
        Item("date_errors", f"{name} reads no month", Location("src/auth.py"), part=("function", name))
        for name in names
    )
    said = Verdict("review:3", Validator("user:1", "alice"), Stance.REJECTS, at_minute(3), HEADS[0], named)
    shown = render_feedback(
        build_feedback(make_pull_request(verdicts=(said,)), RULES, make_decision_time()), SITE
    )
    assert f"/src/auth.py) {noted} `a() reads no month`" in shown


def test_short_words_stand_before_what_they_are_about():
    found = documents.build_document(
        make_feedback("", (make_inline_comment(71, 3, "[date_errors] month 13"),))
    )
    assert [item["issue"] for item in found["feedback_items"]] == [
        "month 13 (Invalid or incorrect date format in created field)"
    ]


@pytest.mark.parametrize(
    ("item", "issue"),
    [
        (Item(None, "slow", aspect="efficiency"), "slow (reported by alice)"),
        (Item(None, "", aspect="style"), "reported by alice (gate Style)"),
        (Item("date_error", "no"), "no (alice names date_error, which is not a gate of this repository)"),
    ],
)
def test_few_words_that_no_gate_describes_are_told_with_who_reported_them(item, issue):
    said = Verdict("review:3", Validator("user:1", "alice"), Stance.REJECTS, at_minute(3), HEADS[0], (item,))
    found = documents.build_document(
        build_feedback(make_pull_request(verdicts=(said,)), RULES, make_decision_time())
    )
    assert [each["issue"] for each in found["feedback_items"]] == [issue]
