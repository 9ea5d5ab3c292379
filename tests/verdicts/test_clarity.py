"""Whether an author can tell from a review comment what to do, and what is missing."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bot import cli
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.values import Location
from bot.verdicts.clarity import Clarity, MissingPart, clarity, item_clarity, names_nothing, write_hint
from tests.builders import START

PROBLEM, WHERE, CHANGE = MissingPart
CLEAR = [
    "This loop reads past the end of `rows` when the file is empty; stop at `len(rows) - 1` instead.",
    "Please rename `data` to `invoices`, since the function above already has a variable called data.",
    "Could we move this check into the parser? The importer calls it twice for every row otherwise.",
    "nit: The import of `json` should be grouped with the other standard library imports.",
    "The timeout is in milliseconds here but the caller passes seconds, so requests end after 30 ms.",
    # Short, but each names what has to change.
    "The README has to list the codes.",
    "`tmp2` could be `prices`",
    "Rename `tmp2` to `prices`.",
    "Could you rename `load_all` to `load`?",
    "Can we reuse `parse_price` here?",
    "Use `Path` instead of `os.path`.",
    "`limit` should default to `None`.",
    "`close()` needs to be in a `finally` block.",
    "Please add a test for the empty list.",
    "Please add a docstring.\nAlso, `total` should be a property.",
    "Add a test for a basket without items.",
    "Must return an error when the file is missing.",
    "nit: sort the keys of `SETTINGS`",
    "Don't catch `Exception` here.",
    "Let's keep the old name of the column in the export.",
    "The second heading must say when the token expires.",
    "You have to close the cursor before the commit.",
    "The changelog needs an entry for the new flag.",
    "I'd move `retry` into the client.",
    "`flush` is never used by the exporter.",
    "Unused import of `os`.",
    "Would you mind splitting `test_checkout` into two tests?",
    "Remove the `print` in `main()`.",
    "We should validate the currency before the conversion.",
    "Return early rather than nesting the loop.",
    'Typo: "recieve" should be "receive".',
]
UNCLEAR = [
    ("Why?", (PROBLEM, WHERE, CHANGE)),
    ("hm", (PROBLEM, WHERE, CHANGE)),
    ("What is this?", (PROBLEM, WHERE, CHANGE)),
    ("Really?", (PROBLEM, WHERE, CHANGE)),
    ("I have doubts here.", (PROBLEM, WHERE, CHANGE)),
    ("Ugly", (PROBLEM, WHERE, CHANGE)),
    ("Needed?", (PROBLEM, WHERE, CHANGE)),
    ("Same here", (PROBLEM, WHERE, CHANGE)),
    ("Should this be final?", (PROBLEM, WHERE, CHANGE)),
    ("This should be better.", (PROBLEM, WHERE, CHANGE)),
    ("Could this be improved somehow?", (PROBLEM, WHERE, CHANGE)),
    ("This has to be fixed.", (PROBLEM, WHERE, CHANGE)),
    ("Done, thanks!", (PROBLEM, WHERE, CHANGE)),
    ("This file?", (PROBLEM, CHANGE)),
    ("`rows`?", (PROBLEM, CHANGE)),
    ("Should we use `Path`?", (PROBLEM, CHANGE)),
    ("Please fix.", (PROBLEM, WHERE)),
    ("Please change it.", (PROBLEM, WHERE)),
    ("Remove this.", (PROBLEM, WHERE)),
    ("Could you fix it?", (PROBLEM, WHERE)),
    ("Not good.", (WHERE, CHANGE)),
    ("This is wrong.", (WHERE, CHANGE)),
    ("That is confusing.", (WHERE, CHANGE)),
    ("`rows` is wrong.", (CHANGE,)),
    ("This test is broken.", (CHANGE,)),
    ("Fix the bug.", (WHERE,)),
    ("The variable is unused, remove it.", (WHERE,)),
]


@pytest.mark.parametrize("text", CLEAR)
def test_a_comment_that_says_what_where_and_how_is_clear(text):
    result = clarity(text)
    assert (result.clear, result.missing, result.hint) == (True, (), "")


@pytest.mark.parametrize(("text", "missing"), UNCLEAR)
def test_a_comment_that_leaves_the_author_guessing_is_told_what_is_missing(text, missing):
    result = clarity(text)
    assert (result.clear, result.missing, result.hint) == (False, missing, write_hint(missing))
    assert result.score < 0.5


def test_a_hint_says_what_to_add():
    assert clarity("Wrong.") == Clarity(
        clear=False,
        score=0.0,
        missing=(MissingPart.LOCATION, MissingPart.CHANGE),
        hint="Name the file, line or name that it is about and say what to do instead.",
    )


@pytest.mark.parametrize("text", ["", "   ", "👍", "...", "\ud800"])
def test_a_comment_without_words_is_unclear(text):
    assert clarity(text).clear is False


def test_a_suggestion_that_can_be_committed_is_clear():
    assert clarity("```suggestion\nreturn rows[:-1]\n```").clear is True


def test_a_text_without_end_is_judged_by_its_beginning():
    assert clarity("x" * 1_000_000 + "?") == clarity("x" * 4_000)


def run(monkeypatch, capsys, lines: str) -> tuple[int, list[dict], str]:
    stdin = SimpleNamespace(buffer=io.BytesIO(lines.encode()), isatty=lambda: False)
    monkeypatch.setattr("sys.stdin", stdin)
    code = cli.run_command_line(["lint-comment"])
    out, err = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err


def test_the_command_answers_each_line_with_the_five_fields(monkeypatch, capsys):
    code, answers, err = run(
        monkeypatch, capsys, '{"id": 7, "text": "Wrong."}\n\n{"id": "b", "text": "Done"}\n'
    )
    assert (code, err, [answer["id"] for answer in answers]) == (0, "", [7, "b"])
    assert answers[0] == {
        "id": 7,
        "clear": False,
        "score": 0.0,
        "missing": ["where", "what to do"],
        "hint": "Name the file, line or name that it is about and say what to do instead.",
    }


def test_a_line_that_cannot_be_read_is_named_and_the_others_are_answered(monkeypatch, capsys):
    code, answers, err = run(monkeypatch, capsys, 'x\n{"id": 2, "text": "Why?"}\n')
    assert (code, [answer["id"] for answer in answers]) == (1, [2])
    assert err == 'whetstone lint-comment: line 1: not valid JSON; expected {"id": …, "text": "…"}\n'


@pytest.mark.parametrize(
    ("item", "missing"),
    [
        (Item(None, "Wrong."), ("where", "what to do")),
        (Item(None, "Wrong.", Location("a.md", 3)), ("what to do",)),
        (Item(None, "Wrong.", part=("function", "parse()")), ("what to do",)),
        (Item("scope_error", "Wrong."), ("where",)),
        (Item("scope_error"), ("where",)),
        (Item("scope_error", "Wrong.", Location("a.md", 3)), ()),
        (Item(None, "Wrong.", suggestion="in 2025"), ()),
        (Item(None, "Wrong.", Location("a.md", 3), action="Name it"), ()),
    ],
)
def test_location_tag_and_suggestion_say_what_the_words_of_an_item_leave_out(item, missing):
    result = item_clarity(item)
    assert (result.missing, result.clear, result.score >= 0.5) == (missing, not missing, not missing)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, True),
        ({"items": (Item("scope_error"),)}, False),
        ({"more": 3}, False),
        ({"repeats": True}, False),
        ({"stance": Stance.APPROVES}, False),
    ],
)
def test_a_rejection_without_any_item_names_nothing(facts, expected):
    verdict = Verdict("review:1", Validator("user:1", "alice"), Stance.REJECTS, START, "a" * 40)
    assert names_nothing(replace(verdict, **facts)) is expected
