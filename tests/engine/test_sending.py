"""What a 404 means for the comment that is to be edited."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from bot.domain.effects import ShowComment
from bot.domain.model import Sticky
from bot.engine.sending import Sender
from bot.ports import Claim, Gone, OutboxRow, RowState, Unavailable
from tests.builders import REPOSITORY, at

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
STICKY = Sticky(7, "IC_7", "https://c/7", "m", "f", (), (), at(1))
EFFECT = ShowComment(REPOSITORY, 212, "body", "m", "f2", (), (), anew=False)


class Store:
    """Notes which comment was written down."""

    def __init__(self) -> None:
        self.written: list[Sticky | None] = []

    async def spend(self, _installation, _priority):
        return 0

    async def sent(self, _claim, _row, sticky, _then):
        self.written.append(sticky)


async def _missing(*_):
    raise Gone("404")


async def _send(store, attempt):
    sender = Sender(store, SimpleNamespace(edit_comment=_missing), lambda: NOW)
    row = OutboxRow("r", "pr:1:1", EFFECT, RowState.READY)
    return await sender.send(Claim("pr:1:1", 5, 1, 1, attempt, (), ()), (row,), STICKY)


@pytest.mark.parametrize("attempt", [0, 1])
async def test_a_comment_that_is_missing_once_is_looked_for_again(attempt):
    store = Store()
    with pytest.raises(Unavailable):
        await _send(store, attempt)
    assert store.written == []


async def test_a_comment_that_stays_missing_was_deleted():
    store = Store()
    gone = await _send(store, 2)
    assert (gone.deleted_at, store.written) == (NOW, [gone])
