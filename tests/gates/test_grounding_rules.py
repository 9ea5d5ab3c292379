"""The file of claim types."""

from dataclasses import replace

import pytest

from bot.gates.config import DEFAULT_CLAIM_RULES
from bot.gates.problems import RuleFileError
from bot.gates.shipped_rules import load_grounding, parse_grounding
from bot.turn.rule_book import LiveRuleBook, default_rules
from tests.builders import REPOSITORY, RULES_DIRECTORY
from tests.clock import Clock
from tests.turn.test_rule_book import PACKS, Files, Memory

SHIPPED = RULES_DIRECTORY / "grounding.yml"


def test_the_shipped_file_says_what_holds_without_one():
    # rows 126–132
    assert load_grounding(SHIPPED) == DEFAULT_CLAIM_RULES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("grounding: 1", "grounding: 2", "grounding is another version; use 1"),
        (
            "  file_contents:",
            "  file_content:",
            "claims.file_content is unknown; did you mean file_contents?",
        ),
        (
            "tools: [contents, tree]",
            "tools: [glob]",
            "claims.file_contents.tools has glob; use a list of tree,",
        ),
        (
            "tools: [contents, tree]",
            "tools: tree",
            "claims.file_contents.tools is no list; use a list of tree,",
        ),
        (
            '    would_verify: "the words',
            "    verified: 1 #",
            "claims.file_contents.verified is unknown",
        ),
        ('    would_verify: "the', "    would_verify: 3 #", "claims.file_contents.would_verify is no text"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old, new, message):
    text = SHIPPED.read_text("utf-8")
    assert old in text
    with pytest.raises(RuleFileError) as caught:
        parse_grounding(text.replace(old, new, 1).encode(), "grounding.yml")
    assert any(message in str(problem) for problem in caught.value.problems)


def test_a_type_that_is_missing_is_named():
    with pytest.raises(RuleFileError) as caught:
        parse_grounding(b"grounding: 1\nclaims: {}\n", "grounding.yml")
    assert "claims has no file_contents, " in str(caught.value.problems[0])


async def test_every_repository_has_what_the_file_says():
    given = {kind: replace(rule, would_verify="another way") for kind, rule in DEFAULT_CLAIM_RULES.items()}
    memory = Memory()
    book = LiveRuleBook(PACKS, Files(), memory, memory, Clock())
    book.claims = given
    assert (await book.rules(REPOSITORY)).grounding.catalogue == given


def test_a_repository_without_a_config_has_the_shipped_ones():
    assert default_rules().grounding.catalogue == load_grounding(SHIPPED)
