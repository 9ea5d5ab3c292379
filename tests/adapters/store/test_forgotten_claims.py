"""What was looked up goes with whoever asked to be forgotten: it has their words."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.grounding.grounded import Grounded
from bot.domain.memos import Forget
from tests.adapters.store.test_memory import AUTHORS, HERE, THERE, generated, kept
from tests.builders import START


def entry(who: int) -> Grounded:
    said = START - timedelta(days=1)
    return Grounded(
        f"user:{who}", "x", "review:1", "", "git_state", "mandatory", "it is so", "verified", "a" * 40, said
    )


@pytest.mark.parametrize(("who", "left"), [(1, ["user:2"]), (AUTHORS[0].id, [])])
async def test_the_log_loses_a_forgotten_validators_claims_and_all_of_a_forgotten_author(store, who, left):
    chance = random.Random(11)
    known = replace(
        generated(1, chance),
        author=AUTHORS[0],
        open=False,
        closed_at=START,
        grounding=(entry(1), entry(2)),
    )
    await kept(store, known)
    await kept(store, generated(100, chance, THERE), memos=(Forget(HERE.id, who, "x", START, "k/0"),))
    after = await store.load(f"pr:{HERE.id}:1")
    assert [each.validator for each in after.grounding] == left
