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
from bot.verdicts.clarity import Clarity, MissingPart, clarity, item_clarity, names_nothing
from tests.builders import START

CLEAR = [
    "This loop reads past the end of `rows` when the file is empty; stop at `len(rows) - 1` instead.",
    "Please rename `data` to `invoices`, since the function above already has a variable called data.",
    "Could we move this check into the parser? The importer calls it twice for every row otherwise.",
    "nit: The import of `json` should be grouped with the other standard library imports.",
    "The timeout is in milliseconds here but the caller passes seconds, so requests end after 30 ms.",
]
UNCLEAR = [
    "Why?",
    "hm",
    "Please fix.",
    "Not good.",
    "Needed?",
    "Same here",
    "Done, thanks!",
    "What is this?",
    "LGTM",
]


@pytest.mark.parametrize("text", CLEAR)
def test_a_comment_that_says_what_where_and_how_is_clear(text):
    result = clarity(text)
    assert (result.clear, result.missing, result.hint) == (True, (), "")


@pytest.mark.parametrize("text", UNCLEAR)
def test_a_comment_that_leaves_the_author_guessing_is_unclear(text):
    result = clarity(text)
    assert (result.clear, result.missing != (), result.score < 0.5) == (False, True, True)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Why?", ("what is wrong", "where", "what to do")),
        ("Please fix.", ("what is wrong", "where")),
        ("This is wrong.", ("where", "what to do")),
        ("`rows` is wrong.", ("what to do",)),
    ],
)
def test_what_is_missing_is_named(text, missing):
    assert clarity(text).missing == missing


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
