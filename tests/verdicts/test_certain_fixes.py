from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pull_request.model import Item
from bot.values import Location
from bot.verdicts.item_context import compute_fix, has_certain_fix

TODAY = date(2026, 11, 15)


def claim(**changes) -> str:
    fields = {
        "type": "claim",
        "domain": "markets",
        "description": "Attackers moved the price",
        "confidence": "likely",
        "source": "hanson-2013.md",
        "created": "2026-11-15",
    }
    fields |= changes
    lines = [f"{key}: {value}" for key, value in fields.items() if value is not None]
    return "\n".join(["---", *lines, "---", "", "See [[thin-markets]].", "", "[[a]] and [[b|the b]]."])


def item(tag, line=None, words=""):
    return Item(tag, words=words, place=Location("claims/x.md", line))


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("2026-13-01", "created: 2026-11-15"),
        ("yesterday", "created: 2026-11-15"),
        ("2026/11/14", "created: 2026-11-14"),
        ("2026-1-5", "created: 2026-01-05"),
        ("'2026-11-14T09:00:00Z'", "created: 2026-11-14"),
        ("14 November 2026", "created: 2026-11-14"),
        ("Nov 14, 2026", "created: 2026-11-14"),
        ("2013-04-01", "created: 2026-11-15"),  # the form is right, so the day is what is wrong
        ("2026-11-15", None),
    ],
)
def test_a_wrong_date_is_put_right(written, right):  # row 158
    assert compute_fix(item("date_errors", 7), claim(created=written), TODAY) == right
    assert compute_fix(item("date_errors"), claim(created=written), TODAY) == right


def test_a_date_of_another_field_is_only_put_into_the_right_form():  # row 158
    text = claim(updated="2026/11/14")
    assert compute_fix(item("date_errors", 8), text, TODAY) == "updated: 2026-11-14"
    assert compute_fix(item("date_errors", 8), claim(updated="soon"), TODAY) is None


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"source": None, "source_archive": "x.md"}, "source: x.md"),
        ({"description": None, "desciption": "x"}, "description: x"),
        ({"confidence": None, "Confidence": "likely"}, "confidence: likely"),
        ({"source_archive": "x.md"}, None),  # the right one is there, too
        ({"source": None}, None),  # nobody can know what belongs there
        ({"source": None, "created": None, "source_archive": "x", "Created": "y"}, None),
    ],
)
def test_a_field_under_a_wrong_name_is_renamed(wrong, right):  # row 154
    assert compute_fix(item("frontmatter_schema"), claim(**wrong), TODAY) == right


@pytest.mark.parametrize(
    ("line", "words", "right"),
    [
        (10, "", "See thin-markets."),
        (12, "there is no such file", None),
        (12, "[[b]] leads nowhere", "[[a]] and the b."),
        (9, "", None),
        (99, "", None),
        (None, "", None),
    ],
)
def test_a_link_without_a_target_becomes_its_words(line, words, right):  # row 155
    assert compute_fix(item("broken_wiki_links", line, words), claim(), TODAY) == right


def test_other_gates_have_no_certain_fix():  # row 167
    assert [has_certain_fix(tag) for tag in ("date_errors", "scope_error", None)] == [True, False, False]
    assert compute_fix(item("scope_error", 7), claim(), TODAY) is None


@given(
    st.sampled_from(["date_errors", "frontmatter_schema", "broken_wiki_links"]),
    st.none() | st.integers(0, 30),
    st.text(),
    st.text(alphabet="-:\n [|]#acreted0123456789/", max_size=200),
)
def test_no_file_at_all_raises_and_a_fix_is_one_line(tag, line, words, text):
    fix = compute_fix(item(tag, line, words), f"---\n{text}", TODAY)
    assert fix is None or len(fix.splitlines()) <= 1
