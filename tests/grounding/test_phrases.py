"""The file of phrases that claim something."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from bot.gates.problems import RuleFileError
from bot.grounding.claims import _BUILDERS, parse_phrases
from tests.builders import RULES_DIRECTORY

SHIPPED = RULES_DIRECTORY / "claims.yml"


def test_every_kind_of_claim_in_the_file_can_be_built():
    schema = json.loads(resources.files("bot.schemas").joinpath("rules/claims.json").read_text("utf-8"))
    assert sorted(_BUILDERS) == schema["$defs"]["claim"]["properties"]["of"]["enum"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("phrases: 1", "phrases: 2", "phrases is 2; use 1"),
        ("- of: error", "- of: errors", 'claims[1].of is "errors"; did you mean error?'),
        ("<Q> <RESULT>", "<Q> <RESULTS>", "is not a phrase (unknown word list RESULTS)"),
        ("- 'there are", "- '(?=there are", "is not a phrase (invalid perl operator: (?=)"),
        ("  NEGATION:", "  negation:", 'words: the key is "negation"; use capital letters'),
    ],
)
def test_a_mistake_is_reported_with_its_position(old, new, message):
    text = SHIPPED.read_text("utf-8")
    assert old in text
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(RuleFileError) as caught:
        parse_phrases(text.replace(old, new, 1).encode(), "claims.yml")
    problems = [str(problem) for problem in caught.value.problems]
    assert any(each.startswith(f"claims.yml:{line}:") and message in each for each in problems), problems
