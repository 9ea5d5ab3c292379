"""What was looked up goes with whoever asked to be forgotten: it has their words."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.pull_request.effects import ForgetPerson
from bot.pull_request.model import GroundedClaim
from bot.store.pull_requests import load_pull_request
from tests.builders import START
from tests.store.test_history import AUTHORS, HERE, THERE, generated, kept


def entry(who: int) -> GroundedClaim:
    said = START - timedelta(days=1)
    return GroundedClaim(
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
    await kept(
        store, generated(100, chance, THERE), store_commands=(ForgetPerson(HERE.id, who, "x", START, "k/0"),)
    )
    after = await store.read(load_pull_request, f"pr:{HERE.id}:1")
    assert [each.validator for each in after.grounding] == left
