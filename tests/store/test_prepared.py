"""A statement that is built once and run again returns the same, and fails the same, as the first time."""

import pytest
from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from bot.store.database import NOW, Transaction
from bot.store.schema import repository_table as table

ROW = {
    "id": 1,
    "installation_id": 5,
    "owner": "acme",
    "name": "a",
    "folded": "acme/a",
    "default_branch": "main",
}
ROWS = [{**ROW, "id": number, "private": number == 2} for number in (1, 2, 3)]
CHOSEN = table.c.id.in_(bindparam("ids", expanding=True))


async def fill(store):
    await store.write(Transaction.execute, insert(table), ROWS)


async def ask(store, statement, values):
    return await store.read(lambda transaction: [tuple(r) for r in transaction.execute(statement, values)])


@pytest.mark.parametrize("ids", [(), (2,), (1, 2), [3, 9], tuple(range(100))])
async def test_a_list_of_any_length_finds_its_rows_again(timed_store, ids):
    await fill(timed_store)
    statement = select(table.c.id, table.c.private).where(CHOSEN).order_by(table.c.id)
    expected = [(number, number == 2) for number in (1, 2, 3) if number in ids]
    assert [await ask(timed_store, statement, {"ids": ids}) for _ in range(3)] == [expected] * 3


async def test_a_truth_value_stays_one(timed_store):
    await fill(timed_store)
    statement = select(table.c.private).order_by(table.c.id)
    for _ in range(3):
        assert [row[0] for row in await ask(timed_store, statement, {})] == [False, True, False]
        assert {type(row[0]) for row in await ask(timed_store, statement, {})} == {bool}


async def test_many_rows_return_what_was_inserted(timed_store):
    statement = insert(table).returning(table.c.id)
    inserted = []
    for first in (1, 11, 21):
        rows = [{**ROW, "id": first + number, "private": False} for number in range(3)]
        inserted += await timed_store.write(lambda t, rows=rows: t.execute(statement, rows).scalars().all())
    assert inserted == [1, 2, 3, 11, 12, 13, 21, 22, 23]


async def test_a_violated_constraint_is_the_same_error_each_time(timed_store):
    await fill(timed_store)
    statement = insert(table)
    for _ in range(3):
        with pytest.raises(IntegrityError):
            await timed_store.write(Transaction.execute, statement, ROWS[0])
    removal = delete(table).where(CHOSEN)
    for number in (1, 2, 3):
        await timed_store.write(Transaction.execute, removal, {"ids": (number,)})
    assert await ask(timed_store, select(table.c.id), {}) == []


def test_a_statement_with_the_time_is_compiled_once_on_postgresql_too():
    assert select(NOW)._generate_cache_key() is not None
