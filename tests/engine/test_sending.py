"""What a 404 means for the comment that is to be edited, and a refusal for whatever is written."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from bot.domain.check_effects import Suggest
from bot.domain.effects import ShowComment
from bot.domain.model import Sticky
from bot.engine.sending import Sender
from bot.ports import Claim, Forbidden, Gone, OutboxRow, Refused, RowState, Unavailable
from tests.builders import REPOSITORY, at

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
STICKY = Sticky(7, "IC_7", "https://c/7", "m", "f", (), (), at(1))
EFFECT = ShowComment(REPOSITORY, 212, "body", "m", "f2", (), (), anew=False)


class Store:
    """Notes which comment was written down."""

    def __init__(self) -> None:
        self.written: list[Sticky | None] = []
        self.lost: list[str] = []

    async def spend(self, _installation, _priority):
        return 0

    async def sent(self, _claim, _row, sticky, _then):
        self.written.append(sticky)

    async def sending(self, _claim, row):
        return row

    async def given_up(self, _claim, row):
        self.lost.append(row.id)

    @property
    def memory(self):
        return SimpleNamespace(repository=_unknown)


async def _unknown(_repository_id):
    return None


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


SUGGESTIONS = Suggest(REPOSITORY, 212, "a" * 40, "body", ())


def _github(refusal):
    """A GitHub that refuses comments, and takes reviews."""

    async def refuse(*_):
        raise refusal

    async def take(*_):
        return None

    return SimpleNamespace(create_comment=refuse, create_review=take)


async def _refused(store, refusal, attempt):
    rows = tuple(
        OutboxRow(name, "pr:1:1", effect, RowState.READY)
        for name, effect in (("comment", EFFECT), ("suggestions", SUGGESTIONS))
    )
    sender = Sender(store, _github(refusal), lambda: NOW)
    return await sender.send(Claim("pr:1:1", 5, 1, 1, attempt, (), ()), rows, None)


@pytest.mark.parametrize(
    "refusal",
    [
        Forbidden("POST comments: 403 IP address is not allowed"),
        Forbidden("POST comments in acme/archived-and-blocked: 403 IP address is not allowed"),
        Refused("422"),
        Refused("451"),
    ],
    ids=str,
)
async def test_a_write_that_is_refused_once_is_tried_again_and_holds_up_no_other(refusal):
    store = Store()
    with pytest.raises(Unavailable):
        await _refused(store, refusal, attempt=0)
    assert (store.lost, len(store.written)) == ([], 1)


async def test_a_write_that_stays_refused_is_given_up_on():
    store = Store()
    await _refused(store, Forbidden("IP address is not allowed"), attempt=3)
    assert store.lost == ["comment"]


@pytest.mark.parametrize(
    "refusal",
    [
        Forbidden("POST comments: 403 Unable to create comment because issue is locked."),
        Forbidden("POST comments: 403 Repository was archived so is read-only."),
        Forbidden("Resource not accessible by integration", "issues=write"),
    ],
    ids=str,
)
async def test_a_write_that_can_never_be_taken_is_given_up_on_at_once(refusal):
    store = Store()
    await _refused(store, refusal, attempt=0)
    assert store.lost == ["comment"]
