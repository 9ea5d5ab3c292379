"""What a 404 means for the comment that is to be edited, and a refusal for whatever is written."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from bot.feedback.marker import FEEDBACK_MARKER
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, ValidationFailed
from bot.github.model import FoundComment, PostedComment
from bot.inbox.sender import Sender
from bot.markdown.escape import render_marker
from bot.pull_request.effects import PostSuggestions, ShowComment
from bot.pull_request.model import StickyComment
from bot.store.model import LaneClaim, OutboxRow, PermissionBlock, RowState
from tests.builders import REPOSITORY, at_minute
from tests.fake_store import FakeStore

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
STICKY = StickyComment(7, "IC_7", "https://c/7", "m", "f", (), (), at_minute(1))
EFFECT = ShowComment(REPOSITORY, 212, "body", "m", "f2", (), (), anew=False)


class Store(FakeStore):
    """Notes what was written down, what waits, and what is owed no longer."""

    def __init__(self, *known) -> None:
        self.written: list[StickyComment | None] = []
        self.lost: list[str] = []
        self.known = known
        self.noted: list[PermissionBlock] = []
        self.waiting: list[tuple[str, str]] = []
        self.let: list[int] = []
        self.follows: list[object] = []

    async def spend_write(self, _installation, _priority):
        return 0

    def mark_sent(self, _row, sticky=None, then=()):
        self.written.append(sticky)
        self.follows += then

    async def mark_sending(self, row):
        return row

    async def give_up_write(self, row):
        self.lost.append(row.id)

    async def load_blocks(self, _installation):
        return self.known

    async def record_block(self, refusal):
        self.noted.append(refusal)

    async def block_row(self, row, refusal):
        self.waiting.append((row.id, refusal.kind))

    async def clear_blocks(self, installation_id):
        self.let.append(installation_id)

    async def find_repository(self, _repository_id):
        return None


async def _missing(*_):
    raise NotFound("404")


async def _send(store, attempt):
    sender = Sender(store, SimpleNamespace(edit_comment=_missing), lambda: NOW)
    row = OutboxRow("r", "pr:1:1", EFFECT, RowState.READY)
    return await sender.send(LaneClaim("pr:1:1", 5, 1, 1, attempt, (), ()), (row,), STICKY)


@pytest.mark.parametrize("attempt", [0, 1])
async def test_a_comment_that_is_missing_once_is_looked_for_again(attempt):
    store = Store()
    with pytest.raises(GitHubUnavailable):
        await _send(store, attempt)
    assert store.written == []


async def test_a_comment_that_stays_missing_was_deleted():
    store = Store()
    gone = await _send(store, 2)
    assert (gone.deleted_at, store.written) == (NOW, [gone])


SUGGESTIONS = PostSuggestions(REPOSITORY, 212, "a" * 40, "body", ())


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
    return await sender.send(LaneClaim("pr:1:1", 5, 1, 1, attempt, (), ()), rows, None)


@pytest.mark.parametrize(
    "refusal",
    [
        Forbidden("POST comments: 403 IP address is not allowed"),
        Forbidden("POST comments in acme/archived-and-blocked: 403 IP address is not allowed"),
        ValidationFailed("422"),
        ValidationFailed("451"),
    ],
    ids=str,
)
async def test_a_write_that_is_refused_once_is_tried_again_and_holds_up_no_other(refusal):
    store = Store()
    with pytest.raises(GitHubUnavailable):
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
    ],
    ids=str,
)
async def test_a_write_that_can_never_be_taken_is_given_up_on_at_once(refusal):
    store = Store()
    await _refused(store, refusal, attempt=0)
    assert store.lost == ["comment"]


LACKING = Forbidden("Resource not accessible by integration", "pull_requests=write")
REFUSAL = PermissionBlock(5, REPOSITORY.id, "comment", "pull_requests=write")
IN_THIS_THREAD = PermissionBlock(5, REPOSITORY.id, "comment pr:1:1")
LONG_AGO = replace(REFUSAL, recent=False)


async def test_a_write_without_its_permission_waits_and_holds_up_no_other(caplog):
    store = Store()
    await _refused(store, LACKING, attempt=0)
    assert (store.noted, store.waiting, store.lost) == ([REFUSAL], [("comment", "comment")], [])
    assert (len(store.written), len(caplog.records)) == (1, 1)


async def test_while_a_kind_of_write_is_known_to_be_refused_it_is_not_tried(caplog):
    store = Store(REFUSAL)
    await _refused(store, AssertionError("tried"), attempt=0)
    assert (store.noted, store.waiting) == ([], [("comment", "comment")])
    assert (len(store.written), caplog.records) == (1, [])


async def test_a_refusal_of_long_ago_is_tried_again_and_said_no_second_time(caplog):
    store = Store(LONG_AGO)
    await _refused(store, LACKING, attempt=0)
    assert (store.noted, store.waiting, caplog.records) == ([REFUSAL], [("comment", "comment")], [])


@pytest.mark.parametrize(
    ("known", "let"), [((), []), ((LONG_AGO,), [5]), ((replace(LONG_AGO, repository_id=78),), [])]
)
async def test_a_kind_of_write_that_is_taken_again_lets_all_of_the_installation_be_tried(known, let):
    store = Store(*known)

    async def take(*_):
        return SimpleNamespace(id=9, node_id="IC_9", url="https://c/9")

    row = OutboxRow("r", "pr:1:1", EFFECT, RowState.READY)
    sender = Sender(store, SimpleNamespace(create_comment=take, edit_comment=take), lambda: NOW)
    await sender.send(LaneClaim("pr:1:1", 5, 1, 1, 0, (), ()), (row, replace(row, id="s")), None)
    assert store.let == let


async def test_one_whose_answer_was_lost_is_looked_up_though_its_kind_is_refused():
    store = Store(REFUSAL)
    row = OutboxRow("r", "pr:1:1", EFFECT, RowState.SENDING, at_minute(0))

    async def find(*_):
        return SimpleNamespace(id=9, node_id="IC_9", url="https://c/9")

    sender = Sender(store, SimpleNamespace(find_comment=find), lambda: NOW)
    await sender.send(LaneClaim("pr:1:1", 5, 1, 1, 0, (), ()), (row,), None)
    assert (store.waiting, [each.comment_id for each in store.written]) == ([], [9])


@pytest.mark.parametrize(
    ("known", "waiting", "lost"),
    [
        ((), [("comment", "comment pr:1:1")], []),
        ((replace(IN_THIS_THREAD, recent=False),), [], ["comment"]),
    ],
)
async def test_a_thread_that_stays_unknown_is_tried_once_more_after_a_while(known, waiting, lost):
    store = Store(*known)
    await _refused(store, NotFound("404"), attempt=0 if known else 4)
    assert (store.noted, store.waiting, store.lost) == ([IN_THIS_THREAD], waiting, lost)


def _behind(number, identity, *blocking):
    """A comment of ours with this id in its marker."""
    data = {"id": identity, "issues": ["date_errors"], "blocking": list(blocking)}
    posted = PostedComment(number, f"IC_{number}", f"https://c/{number}")
    return FoundComment(posted, f"{render_marker(FEEDBACK_MARKER, data)}\n\nwords")


class Thread:
    """A thread in which comments of ours stand, of which the store knows nothing."""

    def __init__(self, ours):
        self.ours = ours
        self.calls: list[object] = []

    async def own_comments(self, *_):
        return self.ours

    async def find_comment(self, _repository, _number, marker_id, _since):
        return next((each.posted for each in self.ours if f'"{marker_id}"' in each.body), None)

    async def create_comment(self, *_):
        self.calls.append("posted")
        return PostedComment(99, "IC_99", "https://c/99")

    async def edit_comment(self, _repository, number, _body):
        self.calls.append(number)
        return PostedComment(number, f"IC_{number}", f"https://c/{number}")


FIRST = ShowComment(REPOSITORY, 212, "new", "body", "f", ("date_errors",), ("date_errors",), adopts=True)
QUOTED = FoundComment(_behind(7, "x").posted, f"words\n{_behind(7, 'x').body}")


@pytest.mark.parametrize(
    ("ours", "answer_lost", "outcome"),
    [
        ((), False, (["posted"], 99, [])),
        ((_behind(7, "old", "date_errors"),), False, ([7], 7, [])),
        ((_behind(7, "old", "date_errors"), _behind(8, "older")), False, (["posted"], 99, [8])),
        ((_behind(7, "old"),), False, (["posted"], 99, [7])),
        ((_behind(7, "old"), _behind(9, "new", "date_errors")), True, ([], 9, [7])),
        ((_behind(7, "old", "date_errors"),), True, (["posted"], 99, [7])),
        ((QUOTED,), False, (["posted"], 99, [])),
    ],
    ids=["none", "as bad", "the newest", "worse", "posted before a crash", "not posted before it", "quoted"],
)
async def test_a_comment_that_was_left_behind_is_edited_or_superseded(ours, answer_lost, outcome):
    store, github = Store(), Thread(ours)
    row = OutboxRow("r", "pr:1:1", FIRST, RowState.READY)
    if answer_lost:
        row = replace(row, state=RowState.SENDING, sending_at=at_minute(0))
    sticky = await Sender(store, github, lambda: NOW).send(
        LaneClaim("pr:1:1", 5, 1, 1, 0, (), ()), (row,), None
    )
    assert (github.calls, sticky.comment_id, [each.comment_id for each in store.follows]) == outcome
