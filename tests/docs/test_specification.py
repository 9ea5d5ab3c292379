"""Every row and document that code or tests cite is in the specification."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "specification.md").read_text(encoding="utf-8")
ROWS = [int(row) for row in re.findall(r'<a id="row-(\d+)"></a>', PAGE)]
DOCUMENTS = re.findall(r"^## Document (\d{3}): ", PAGE, re.MULTILINE)

# "row 94", "rows 8, 52 and 56", "rows 107 to 118", "rows 126–132, 135-139"
NUMBERS = r"\d{1,3}(?:\s*(?:,|and|to|–|-)\s*\d{1,3})*\b"
CITED_ROWS = re.compile(rf"\brows? ({NUMBERS})", re.IGNORECASE)
CITED_DOCUMENTS = re.compile(r"\bdocuments? (\d{3}(?:[^.\n]{0,20}? (?:,|and) \d{3})*)\b", re.IGNORECASE)
SOURCES = [
    path
    for folder in ("bot", "tests", "rules", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".yml", ".yaml", ".json", ".html"}
]


def cited_rows(text):
    """Row numbers that a text cites, ranges spelled out."""
    for citation in CITED_ROWS.finditer(text):
        for part in re.split(r"\s*(?:,|and)\s*", citation[1]):
            first, *last = re.split(r"\s*(?:to|–|-)\s*", part)
            yield from range(int(first), int(last[-1] if last else first) + 1)


def cited_documents(text):
    """Document numbers that a text cites."""
    for citation in CITED_DOCUMENTS.finditer(text):
        yield from re.findall(r"\d{3}", citation[1])


def without_strings_of_data(path):
    """The text of a source, less what looks like a citation but is a test's data."""
    return path.read_text(encoding="utf-8").replace('"row 99998"', "")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("# row 94 # row 95", [94, 95]),
        ("# rows 8, 52 and 56", [8, 52, 56]),
        ("# rows 19 to 21, 41-43", [19, 20, 21, 41, 42, 43]),
        ("# rows 107–109", [107, 108, 109]),
        ("row 239: two points for each", [239]),
        ("narrow 12, a row of 3", []),
    ],
)
def test_citations_are_read(text, rows):
    assert list(cited_rows(text)) == rows


def test_cited_documents_are_read():
    assert list(cited_documents("documents 000 (vague, advisory) and 002, document 004")) == [
        "000",
        "002",
        "004",
    ]


def test_every_row_is_there_once_and_every_part_in_order():
    assert len(ROWS) == len(set(ROWS))
    assert DOCUMENTS == ["000", "001", "002", "003", "004"]


def test_every_citation_leads_to_the_specification():
    missing = {
        f"{path.relative_to(ROOT)}: {kind} {number}"
        for path in SOURCES
        for text in [without_strings_of_data(path)]
        for kind, numbers, present in (
            ("row", cited_rows(text), ROWS),
            ("document", cited_documents(text), DOCUMENTS),
        )
        for number in numbers
        if number not in present
    }
    assert sorted(missing) == []


def test_every_row_is_proven_by_a_test():
    others = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    proven = {row for path in others for row in cited_rows(path.read_text(encoding="utf-8"))}
    assert [row for row in ROWS if row not in proven] == []
