"""Each broken file gets exactly these lines: place, what is wrong, what is allowed."""

from __future__ import annotations

import pytest

from bot.gates.packs import load_packs, parse_pack, rules_directory
from bot.gates.problems import RuleFileError
from bot.gates.repository_config import load_config
from tests.gates.broken_configs import CONFIGS
from tests.gates.broken_packs import PACK_FILES
from tests.gates.broken_yaml import FILES

PACKS = load_packs(rules_directory())


@pytest.mark.parametrize(("text", "expected"), [*FILES.values(), *CONFIGS.values()], ids=[*FILES, *CONFIGS])
def test_a_broken_config_is_refused_with_all_its_mistakes_and_their_places(text, expected):
    with pytest.raises(RuleFileError) as refused:
        load_config(text, ".github/whetstone.yml", PACKS)
    assert [str(problem) for problem in refused.value.problems] == [
        f".github/whetstone.yml:{line}" for line in expected
    ]


@pytest.mark.parametrize(("text", "expected"), PACK_FILES.values(), ids=PACK_FILES)
def test_a_broken_pack_is_refused_with_all_its_mistakes_and_their_places(text, expected):
    with pytest.raises(RuleFileError) as refused:
        parse_pack(text.encode(), "rules/house.yml", "house")
    assert [str(problem) for problem in refused.value.problems] == [
        f"rules/house.yml:{line}" for line in expected
    ]
