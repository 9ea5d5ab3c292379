"""No file, however made, brings down the reader or takes it long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.gates.config import RepositoryRules
from bot.gates.packs import load_packs, parse_pack, rules_directory
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.repository_config import load_config, merge_rules

PACKS = load_packs(rules_directory())

FRAGMENTS = [
    *(
        "comment:",
        "gates:",
        "  date_errors:",
        "  - ",
        "enabled",
        "true",
        "off",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
    ),
    *(
        "&a",
        "*a",
        "<<",
        "!!int",
        "!x",
        "|",
        ">-",
        "? ",
        "---",
        "...",
        "%YAML 1.2",
        "#",
        "'",
        '"',
        "\\",
        "\t",
        "@",
        "`",
    ),
    *(
        "\r",
        "\x85",
        "\ufeff",
        "é",
        "\U0001f600",
        "0x1F",
        "1e9",
        ".inf",
        "9:00",
        "2026-01-01",
        "null",
        "~",
        "=",
        "/(?=/",
    ),
    *("validators:", "  checks:", "    ci:", "grounding:", "extends:", "knowledge-base", "version: 1"),
]


def outcome(data: bytes | str) -> tuple[RuleFileProblem, ...] | RepositoryRules:
    try:
        return merge_rules(PACKS, None, load_config(data, "f.yml", PACKS))
    except RuleFileError as refused:
        return refused.problems


def is_said_clearly(problems: tuple[RuleFileProblem, ...], data: bytes) -> bool:
    lines = data.count(b"\n") + data.count(b"\r") + 1
    return bool(problems) and all(
        1 <= problem.line <= lines + 1 and problem.column >= 1 and problem.what and problem.allowed
        for problem in problems
    )


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_config_or_refused_with_places(data):
    found = outcome(data)
    assert isinstance(found, RepositoryRules) or is_said_clearly(found, data)


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join))
def test_any_mixture_of_yaml_is_a_config_or_refused_with_places(text):
    found = outcome(text)
    assert isinstance(found, RepositoryRules) or is_said_clearly(found, text.encode())


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join))
def test_any_mixture_of_yaml_is_a_pack_or_refused(text):
    with pytest.raises(RuleFileError) as refused:
        parse_pack(text.encode(), "house.yml", "house")
    assert refused.value.problems


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 65_000,
        b"{" * 65_000,
        b"- " * 32_000,
        b"? " * 32_000,
        b"a: " * 20_000,
        b"gates: {date_errors: {phrases: [" + b"'/" + b"(" * 150 + b"a" + b")*" * 150 + b"/'," * 1 + b"]}}",
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n" * 900,
        b"x: '" + b"\\" * 65_000,
        b"".join(b"k%d: 1\n" % number for number in range(7_000)),
        b"gates:\n" + b"".join(b"  a_%d: {}\n" % number for number in range(4_500)),
        b"validators: {users: [" + b",".join(b"u%d" % number for number in range(9_000)) + b"]}",
        b'"\\ud800": 1',
        b"\xff\xfe" + "version: 1".encode("utf-16-le"),
    ],
    ids=range(13),
)
def test_a_bomb_is_refused(data):
    assert is_said_clearly(outcome(data), data)


def test_half_a_surrogate_pair_in_a_text_is_no_utf_8():
    assert [str(problem) for problem in outcome("comment: \ud800")] == [
        "f.yml:1:10: byte 0xed is not UTF-8; save the file as UTF-8"
    ]


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("2026-01-01", "2026-01-01"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
    ],
)
def test_words_that_older_yaml_turns_into_something_else_stay_words(word, means):
    rules = outcome(f"detection: {{cues: [{{type: user_rejection, phrase: the cue, reason: {word}}}]}}")
    assert rules.detection.cues[0].reason == means


def test_a_line_break_at_the_end_is_part_of_a_tag():
    (problem,) = outcome('validators: {checks: {ci: ["date_errors\\n"]}}')
    assert problem.what == 'validators.checks.ci[0] is "date_errors\\n"'
