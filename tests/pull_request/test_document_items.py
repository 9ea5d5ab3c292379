import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pull_request.documents import parse_document_items, parse_documents_in
from bot.pull_request.model import Item
from bot.values import Location

ITEM = {
    "tag": "date_errors",
    "aspect": "correctness",
    "severity": "critical",
    "issue": "The created field names month 13, which no calendar has",
    "location": {"type": "line", "reference": "5", "context_before": "source: x", "context_after": "---"},
    "suggestion": {
        "action": "Write the day of extraction in the form YYYY-MM-DD",
        "rationale": "Readers sort the claims by this field",
        "example": "created: 2026-11-15",
        "priority": 1,
    },
    "evidence": {"test_result": "frontmatter-dates failed"},
}
READ = Item(
    tag="date_errors",
    words="The created field names month 13, which no calendar has",
    place=Location("claims/x.md", 5),
    url="u",
    suggestion="created: 2026-11-15",
    aspect="correctness",
    severity="critical",
    action="Write the day of extraction in the form YYYY-MM-DD",
    rationale="Readers sort the claims by this field",
    context_before="source: x",
    context_after="---",
    evidence="frontmatter-dates failed",
)


def document(*items, path="claims/x.md"):
    return {"target": {"type": "document", "path": path}, "feedback_items": list(items)}


def fence(value, info="json"):
    return f"See below.\n\n```{info}\n{json.dumps(value, indent=1)}\n```\n"


def test_an_item_is_read_with_all_its_parts():  # rows 25-28, 31, 34, 36, 40, 42
    assert parse_document_items(document(ITEM), "u") == (READ,)


@pytest.mark.parametrize("info", ["json", "JSON", "yaml", "yml", "json title=feedback"])
def test_a_document_in_a_fence_is_read(info):
    assert parse_documents_in(fence(document(ITEM), info), "u") == (READ,)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "feedback_items",
        fence(document(ITEM), "python"),
        fence(document(ITEM), ""),
        "> " + fence(document(ITEM)).replace("\n", "\n> "),
        f"<!-- {fence(document(ITEM))} -->",
        '```json\n{"feedback_items": [\n```',
        '```json\n["feedback_items"]\n```',
        '```json\n{"feedback_items": {"a": 1}}\n```',
        "```yaml\nfeedback_items: &a [*a]\n```",
    ],
)
def test_what_is_no_document_gives_no_items(body):
    assert parse_documents_in(body) == ()


@pytest.mark.parametrize(
    ("location", "target", "place"),
    [
        ({"type": "line", "reference": "42"}, "src/auth.py", Location("src/auth.py", 42)),
        ({"type": "range", "reference": "42-48"}, "src/auth.py", Location("src/auth.py", 42, 48)),
        ({"type": "function", "reference": "parse_token()"}, "src/auth.py", Location("src/auth.py")),
        ({"type": "function", "reference": "src/auth.py:parse_token()"}, "", Location("src/auth.py")),
        ({"type": "range", "reference": "src/auth.py:42-48"}, "docs/x.md", Location("src/auth.py", 42, 48)),
        ({"type": "path", "reference": "src/auth.py"}, "acme/kb#7", Location("src/auth.py")),
        ({"type": "path", "reference": "."}, "acme/kb#7", None),
        (
            {"type": "line", "reference": "5", "path": "a.md", "line": 5, "end_line": 9},
            "",
            Location("a.md", 5, 9),
        ),
        ({}, "", None),
    ],
)
def test_the_place_is_read_as_the_document_means_it(location, target, place):  # rows 32, 33
    (item,) = parse_document_items(document({**ITEM, "location": location}, path=target))
    assert item.place == place


@pytest.mark.parametrize(
    ("location", "part"),
    [
        ({"type": "function", "reference": "src/auth.py:parse_token()"}, ("function", "parse_token()")),
        ({"type": "section", "reference": "Installing"}, ("section", "Installing")),
        ({"type": "element", "reference": "#login"}, ("element", "#login")),
        ({"type": "function", "reference": "42"}, None),
        ({"type": "line", "reference": "42"}, None),
    ],
)
def test_what_inside_a_file_is_meant_is_kept_where_no_line_is_given(location, part):  # row 32
    (item,) = parse_document_items(document({**ITEM, "location": location}))
    assert item.part == part


@pytest.mark.parametrize(("given", "kept"), [(0, 0.0), (0.25, 0.25), (1.5, None), ("1", None), (True, None)])
def test_the_validators_own_score_is_kept(given, kept):  # row 28
    (item,) = parse_document_items(document({**ITEM, "score": given}))
    assert item.score == kept


def test_an_item_without_a_tag_is_kept_with_its_aspect():
    (item,) = parse_document_items(document({**ITEM, "tag": None}))
    assert (item.tag, item.aspect, item.severity) == (None, "correctness", "critical")


def test_an_item_that_says_nothing_is_left_out():
    assert parse_document_items(document({"tag": "x"}, {}, 3, None)) == ()


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["feedback_items", "target", "path", "tag", "issue", "location", "reference"]
                ),
                inner,
            )
        ),
    )
)
def test_no_document_at_all_raises(value):
    assert all(isinstance(item, Item) for item in parse_document_items(value))


def test_an_unknown_severity_is_told_and_blocks_and_case_does_not_matter():
    body = (
        '```json\n{"feedback_items": [{"issue": "The lock leaks", "severity": "urgent"},'
        ' {"issue": "The name is long", "severity": "Minor"}]}\n```'
    )
    leaks, name = parse_documents_in(body)
    assert (leaks.severity, leaks.blocks) == (None, True)
    assert leaks.evidence == 'severity "urgent" is unknown; use one of critical, major, minor, suggestion'
    assert (name.severity, name.blocks, name.evidence) == ("minor", None, None)
