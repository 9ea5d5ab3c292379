"""Others' words in our Markdown: they stay words."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.markdown.escape import (
    code_span,
    escape_mentions,
    html_safe_json,
    one_line,
    parse_marker,
    render_marker,
    table_cell,
    truncate,
)
from tests.live_markdown import live_references

HOSTILE = st.text(
    st.one_of(st.sampled_from("`@#<!->&\\|[]() \n\ta1f/GH"), st.characters(exclude_categories=())),
    max_size=60,
)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("month 13", "`month 13`"),
        ("use `created`", "`` use `created` ``"),
        ("`", "`` ` ``"),
        ("a ``` b", "```` a ``` b ````".replace("` a", "`a").replace("b `", "b`")),
        ("two\n\n  lines\t here", "`two lines here`"),
        ("", "` `"),
        (" \r\n ", "` `"),
        ("@acme/all see #12", "`@acme/all see #12`"),
        ("<!-- REJECTION: {} -->", "`<\u2060!-- REJECTION: {} -->`"),
        ("a\x00b\x1b[31m", "`a\ufffdb\ufffd[31m`"),
        ("left\u202etfel", "`left\ufffdtfel`"),
        ("hidden\U000e0041\U000e0101", "`hidden\ufffd\ufffd`"),
        ("family \U0001f468\u200d\U0001f469", "`family \U0001f468\u200d\U0001f469`"),
        ("broken \ud800 half", "`broken \ufffd half`"),
        ("line\u2028sep", "`line sep`"),
    ],
)
def test_words_stand_in_code(words, shown):
    assert code_span(words) == shown


def test_long_words_are_cut_and_say_so():
    assert code_span("x" * 121) == f"`{'x' * 119}…`"
    assert code_span("x" * 120) == f"`{'x' * 120}`"
    assert truncate("word and more", 6) == "word…"


@given(HOSTILE, st.integers(1, 200))
def test_nothing_inside_ends_the_code(words, limit):
    span = code_span(words, limit)
    fence = re.match(r"`+", span)[0]
    inside = span[len(fence) : -len(fence)]
    assert span.endswith(fence)
    assert fence not in re.findall(r"`+", inside)
    assert not inside.startswith("`")
    assert not inside.endswith("`")
    assert "\n" not in span
    assert "<!--" not in span
    assert len(inside) <= limit + 2 + words.count("<!--")


@given(HOSTILE)
def test_words_in_code_notify_nobody(words):
    assert live_references(f"before {code_span(words)} after") == []


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Re-read the source.", "Re-read the source."),
        ("[[wiki links]] reference files", "[[wiki links]] reference files"),
        ("use `<!-- claim pending: … -->`.", "use `<!-- claim pending: … -->`."),
        ("not `<!-- REJECTION: {} -->`", "not `<\u2060!-- REJECTION: {} -->`"),
        ("use <!-- claim -->.", "use &#60;!-- claim -->."),
        ("Ask @acme/editors, or @bob.", "Ask `@acme/editors`, or `@bob`."),
        ("see #12 and acme/knowledge#3", "see `#12` and `acme/knowledge#3`"),
        ("mail x@example.org", "mail `x@example.org`"),
        ("see GH-7", "see `GH-7`"),
        ("since 9f2c1e4a.", "since `9f2c1e4a`."),
        ("a defaced 1234567 façade", "a defaced 1234567 façade"),
        ("(https://github.com/acme/x/issues/1)", "(`https://github.com/acme/x/issues/1`)"),
        ("[x](/acme/x/issues/1)", "[x]&#40;/acme/x/issues/1)"),
        ("![x](y)", "&#33;[x]&#40;y)"),
        ("&#64;bob & co", "&`#64`;bob & co"),
        ("&#x40;bob &commat;eve", "&#38;#x40;bob &#38;commat;eve"),
        ("\\@bob", "&#92;`@bob`"),
        ("one ` tick", "one &#96; tick"),
        ("**bold** 'X proves Y'", "**bold** 'X proves Y'"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_gates_sentence_stays_readable_and_mentions_nobody(words, shown):
    assert escape_mentions(words) == shown


@given(HOSTILE)
def test_no_sentence_is_live(words):
    line = escape_mentions(words)
    assert live_references(line) == []
    assert live_references(f"{line} `@bob #12` {line}") == []
    assert not re.search(r"<!--\s*[A-Z][A-Z-]*:", line)
    assert "\n" not in line


@pytest.mark.parametrize(
    ("markdown", "cell"),
    [
        ("plain", "plain"),
        ("`a|b`", "`a\\|b`"),
        ("two\r\nlines", "two lines"),
        (" x ", "x"),
        ("a\\|b", "a\\\\|b"),
    ],
)
def test_a_cell_holds_pipes(markdown, cell):
    assert table_cell(markdown) == cell


def test_a_marker_is_one_line_that_its_data_cannot_end():  # row 170
    data = {"issues": ["--> <b>&"], "words": "two\nlines \u2028"}
    text = render_marker("REJECTION", data)
    assert text == (
        '<!-- REJECTION: {"issues": ["--\\u003e \\u003cb\\u003e\\u0026"], "words": "two\\nlines \\u2028"} -->'
    )
    assert parse_marker("REJECTION", f"\n{text}\n\n**Rejected**") == data


def test_what_can_be_seen_is_written_as_it_is_and_what_hides_is_escaped():
    assert html_safe_json(["ünder … 測試 😀", "\u202eabc\u200b", "\ud800"]) == (
        '["ünder … 測試 😀", "\\u202eabc\\u200b", "\\ud800"]'
    )


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | HOSTILE, st.lists, max_leaves=5)))
def test_what_a_marker_says_is_read_back(data):
    text = render_marker("WEEKLY-SUMMARY", data)
    assert re.findall(r"<!-- WEEKLY-SUMMARY: (\{.*?\}) -->", text) == [html_safe_json(data)]
    assert parse_marker("WEEKLY-SUMMARY", f"x {text} y") == json.loads(json.dumps(data))
    assert parse_marker("REJECTION", text) is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no marker",
        "<!-- REJECTION: {broken} -->",
        "<!-- REJECTION: {\n} -->",
        "<!-- REJECTION: [1] -->",
        "<!-- REJECTION: {" + '"a":[' * 100_000 + "} -->",
        "<!-- REJECTION: {" * 20_000,
    ],
)
def test_a_broken_marker_is_none(body):  # row 175
    assert parse_marker("REJECTION", body) is None


def test_one_line_keeps_ordinary_letters():
    assert one_line("Grüße — 東京 ✓") == "Grüße — 東京 ✓"
