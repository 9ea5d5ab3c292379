"""Whatever somebody pastes, reading it takes time in proportion to its length, not to its square."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import date

import pytest

from bot.adapters.feedback_items import items_in
from bot.decisions.inference import inferred, words_of
from bot.domain import brief_slots, certain_fixes, diff, escape, phrasing, prose, quality, tags
from bot.domain.commands.reading import commands_in
from bot.domain.detection.detector import detect
from bot.domain.grounding import claims, config_values, manifests, mentions
from bot.domain.model import Item, Place
from bot.domain.rules import Rules
from bot.wiring.rule_parts import DefaultRules
from tests.builders import KNOWLEDGE_BASE, review

SHORT, LONG = 1_000, 4_000
NOTHING = 0.05
"""Seconds of work that need no second look, whatever they grow with."""
FENCED = "The build fails, see the log [date_errors]:\n```\n{}\n```\nPlease fix."
LOG = "2026-11-16 ERROR step 17 failed with code 3, retrying in 5 seconds.\n"
UNITS = (
    *(" ", "\t", "\u00a0", "\n", " \n", "`", "``a", "-", " — ", "a", "0", "a ", "@a ", "#1", "a/b#"),
    *("[[a", "](", "[a_", "<!--", '"', "'", "'a' ", "> ", "(", "a()", "a::", "a.", "a.b.", "a+", "a-", "1, "),
    *("src/a.py:1 ", "line 1 ", "src/a.py line 1-", "expected ", "timeout: ", "/feedback-help\n", LOG),
    *("wrong date ", "if the wrong date was not fixed and "),
)

Reader = Callable[[str], object]


async def _rules() -> Rules:
    return await DefaultRules().rules(None)


def _fixes(text: str) -> object:
    page = f"---\ncreated: {text}\n---\n"
    on = date(2026, 11, 16)
    named = ("date_errors", "frontmatter_schema", "broken_wiki_links")
    return [certain_fixes.certain_fix(Item(tag, place=Place("a.md", 2)), page, on) for tag in named]


def _values(text: str) -> object:
    paths = ("a.yml", "a.ini", "a.py", "a.toml")
    lines = [*text.split("\n"), f"timeout{text}", f"{text}timeout", f"timeout: {text}x"]
    return [config_values.values(path, lines, "timeout") for path in paths]


def _versions(text: str) -> object:
    held = f"<dependency><version>{text}</version></dependency>"
    paths = ("requirements.txt", "go.mod", "pom.xml", "Cargo.toml")
    return [manifests.versions(path, page) for path in paths for page in (text, held)]


READERS: dict[str, Reader] = {
    "what a review asks for": lambda text: tags.hear(text, KNOWLEDGE_BASE),
    "its stance": tags.spoken_stance,
    "its documents": items_in,
    "its hidden comments": prose.comments,
    "its commands": commands_in,
    "its claims": claims.find,
    "its places": mentions.path_of,
    "its wording": lambda text: (quality.wording(text), quality.ungrounded(text)),
    "an error in it": brief_slots.error_message,
    "an error that is told of": brief_slots.said_error,
    "what was expected": brief_slots.expected,
    "a test in it": brief_slots.failing_test,
    "what it expected": brief_slots.expected,
    "what it meant": brief_slots.intent,
    "its first sentence": phrasing.first_sentence,
    "it in our words": escape.quiet,
    "it in code": lambda text: escape.code_span(escape.one_line(text)),
    "its marker": lambda text: escape.read_marker("REJECTION", text),
    "a patch": lambda text: list(diff.hunks(text)),
    "a page to fix": _fixes,
    "a file of settings": _values,
    "a manifest": _versions,
}


def texts(length: int) -> Iterator[tuple[str, str]]:
    for unit in UNITS:
        yield unit, (unit * (length // len(unit) + 1))[:length]
    for unit in (" ", "x", "a.b ", LOG):
        yield f"fenced {unit}", FENCED.format((unit * (length // len(unit) + 1))[:length])


def seconds(read: Reader, text: str) -> float:
    begun = time.process_time()
    read(text)
    return time.process_time() - begun


def slow(read: Reader) -> list[str]:
    """What takes more than nine times as long when it is four times as long."""
    short = dict(texts(SHORT))
    return [
        f"{name!r}: {taken:.2f} s"
        for name, text in texts(LONG)
        if (taken := seconds(read, text)) > NOTHING and taken > 9 * seconds(read, short[name])
    ]


@pytest.mark.parametrize("name", READERS)
def test_a_long_text_is_read_in_time_that_grows_with_its_length(name):
    assert slow(READERS[name]) == []


async def test_a_long_text_is_understood_in_time_that_grows_with_its_length():
    rules = await _rules()
    assert slow(lambda text: detect(text, rules.understanding)) == []
    assert slow(lambda text: inferred(words_of(review(1, text), ()), rules)) == []
