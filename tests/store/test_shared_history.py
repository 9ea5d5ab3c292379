"""Repositories that share their history count together: of one installation, of one visibility, both willing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.history.outcomes import TagFix
from bot.history.store import find_author, load_author, load_records
from bot.pull_request.effects import RemoveRepository
from bot.pull_request.model import Item, Revision, Stance, Validator, Verdict
from bot.turn.store import apply_turn
from bot.values import Account, Repository
from tests.builders import START, make_pull_request
from tests.store.store_builders import claim_one, make_delivery, make_turn_result

LONG_AGO = START - timedelta(days=900)
RIO = Account(9, "rio-agent[bot]", bot=True)
HERE = Repository(77, "acme", "knowledge", 5)
BESIDE = Repository(78, "acme", "wiki", 5)
UNWILLING = Repository(79, "acme", "quiet", 5)
SECRET = Repository(80, "acme", "secret", 5, private=True)
ELSEWHERE = Repository(81, "other", "wiki", 6)


def judged(where, hours=0):
    """Rejected, and mended after so many hours."""
    alice = Validator("user:1", "alice")
    rejects = Verdict("review:1", alice, Stance.REJECTS, START, "abc", (Item("date_errors"),))
    approves = Verdict("review:2", alice, Stance.APPROVES, START + timedelta(hours=hours), "def")
    return make_pull_request(
        repository=where,
        number=1,
        author=RIO,
        head="def",
        verdicts=(rejects, approves),
        revisions=(Revision("abc", START), Revision("def", approves.at)),
        created_at=START,
    )


async def kept(store, known, *, is_shared, store_commands=()):
    lane = f"pr:{known.repository.id}:{known.number}"
    await store.accept(
        make_delivery(f"{lane} {is_shared} {store_commands}", lane, known.repository.installation_id)
    )
    claim = await claim_one(store)
    await apply_turn(
        store,
        claim,
        replace(
            make_turn_result(claim, pull_request=known), is_shared=is_shared, store_commands=store_commands
        ),
    )
    await store.release(claim)


@pytest.fixture
async def neighbours(store):
    for hours, where in enumerate((HERE, BESIDE, UNWILLING, SECRET, ELSEWHERE), 1):
        await kept(store, judged(where, hours), is_shared=where is not UNWILLING)
    return store


async def places(store, **asked):
    found = await store.read(load_records, HERE.id, LONG_AGO, **asked)
    return sorted(record.repository for record in found)


async def test_only_the_willing_of_the_same_owner_and_visibility_count(neighbours):
    assert await places(neighbours, shared=True) == ["", "acme/wiki"]
    assert await places(neighbours, shared=True, author_id=RIO.id) == ["", "acme/wiki"]
    assert await places(neighbours, shared=True, author_id=8) == []
    assert await places(neighbours) == [""]


async def test_the_private_ones_never_count_with_public_ones_nor_the_other_way_round(neighbours):
    found = await neighbours.read(load_records, SECRET.id, LONG_AGO, shared=True)
    assert [record.repository for record in found] == [""]


async def test_an_author_and_the_last_fix_are_found_beside_too(neighbours):
    _, fixes = await neighbours.read(load_author, HERE.id, LONG_AGO, RIO.id, shared=True)
    at = START + timedelta(hours=2)
    assert fixes == {"date_errors": TagFix("date_errors", 1, "def", at, "acme/wiki")}
    newcomer = replace(judged(BESIDE), number=2, author=Account(11, "max"))
    await kept(neighbours, newcomer, is_shared=True)
    asked = [await neighbours.read(find_author, HERE.id, "max", shared=shared) for shared in (True, False)]
    assert asked == [Account(11, "max"), None]


async def test_a_repository_that_no_longer_shares_counts_no_more(neighbours):
    await kept(neighbours, judged(BESIDE), is_shared=False)
    assert await places(neighbours, shared=True) == [""]


async def test_a_repository_that_was_made_private_counts_no_more(neighbours):
    later = replace(judged(replace(BESIDE, private=True)), updated_at=START + timedelta(days=9000))
    await kept(neighbours, later, is_shared=None)
    assert await places(neighbours, shared=True) == [""]


async def test_a_repository_that_the_app_was_shut_out_of_counts_no_more(neighbours):
    await kept(neighbours, judged(HERE, 2), is_shared=True, store_commands=(RemoveRepository(BESIDE.id, 5),))
    assert await places(neighbours, shared=True) == [""]
