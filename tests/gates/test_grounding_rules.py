"""The file of claim types."""

import pytest

from bot.gates.config import ClaimRule, ClaimType, GroundingTool, shipped_claim_rules
from bot.gates.problems import RuleFileError
from bot.gates.rule_files import parse_rule_file
from bot.turn.rule_book import LiveRuleBook, default_rules
from tests.builders import REPOSITORY, RULES_DIRECTORY
from tests.clock import Clock
from tests.turn.test_rule_book import PACKS, Files, Memory

SHIPPED = RULES_DIRECTORY / "grounding.yml"


def test_the_shipped_file_has_every_type_of_claim():
    # rows 126–132, 139
    claims = shipped_claim_rules()
    assert tuple(claims) == tuple(ClaimType)
    assert claims[ClaimType.TEST_RESULTS] == ClaimRule(
        tools=(GroundingTool.CHECKS,), would_verify="a finished check run at this head"
    )
    assert claims[ClaimType.GIT_STATE].would_verify == "the state that GitHub shows on the pull request"
    assert claims[ClaimType.LANGUAGE_SYNTAX].would_verify == "nothing has to"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("grounding: 1", "grounding: 2", "grounding is 2; use 1"),
        (
            "  file_contents:",
            "  file_content:",
            "claims.file_content is unknown; did you mean file_contents?",
        ),
        (
            "tools: [contents, tree]",
            "tools: [glob]",
            'claims.file_contents.tools[0] is "glob"; use one of tree,',
        ),
        (
            "tools: [contents, tree]",
            "tools: tree",
            'claims.file_contents.tools is "tree"; use a list of tree,',
        ),
        (
            "- '\\bn\\+1\\b'",
            "- '(?=n)'",
            "claims.performance_characteristics.signs[2] is not a valid RE2 regular expression",
        ),
        (
            '    would_verify: "the words',
            "    verified: 1 #",
            "claims.file_contents.verified is unknown",
        ),
        (
            '    would_verify: "the',
            "    would_verify: 3 #",
            "claims.file_contents.would_verify is 3; write a few words",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old, new, message):
    text = SHIPPED.read_text("utf-8")
    assert old in text
    with pytest.raises(RuleFileError) as caught:
        parse_rule_file(text.replace(old, new, 1).encode(), "grounding.yml", "rules/grounding")
    assert any(message in str(problem) for problem in caught.value.problems)


def test_a_type_that_is_missing_is_named():
    with pytest.raises(RuleFileError) as caught:
        parse_rule_file(b"grounding: 1\nclaims: {}\n", "grounding.yml", "rules/grounding")
    assert "claims is missing file_contents, " in str(caught.value.problems[0])


async def test_every_repository_has_what_the_file_says():
    memory = Memory()
    book = LiveRuleBook(PACKS, Files(), memory, memory, Clock())
    assert (await book.rules(REPOSITORY)).grounding.catalogue == shipped_claim_rules()
    assert default_rules().grounding.catalogue == shipped_claim_rules()
