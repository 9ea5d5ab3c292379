"""Claim lanes, apply a turn's result, and read history, each within a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar, assert_never

from bot.commands import store as commands_store
from bot.github.model import PostedComment
from bot.history import forget
from bot.history import store as history_store
from bot.history.model import HistoryRecord, StoredCounts, TimeWindow
from bot.history.outcomes import TagFix
from bot.history.rates import ReviewerRates
from bot.history.store import BrokenGateKey, FollowedItem, UncountedVerdictKey
from bot.pull_request.effects import (
    AddRepository,
    CancelWrite,
    DeleteRepository,
    Effect,
    ForgetPerson,
    PostedReply,
    PostReply,
    RecordWeeklyRun,
    RemoveInstallation,
    RemoveRepository,
    SetHistorySharing,
    StoreCommand,
    StoreDocument,
    UpdateRepository,
)
from bot.pull_request.model import ItemOutcome, StickyComment
from bot.pull_request.record import mark_unsent
from bot.store import deliveries, lanes, outbox, pull_requests, repositories
from bot.store.database import Database, Transaction
from bot.store.lanes import QueueCounts, count_queue
from bot.store.model import Delivery, LaneClaim, OutboxRow, TurnResult
from bot.store.repositories import delete_repository_data, find_active_repositories, find_repository
from bot.store.schema import audit_table
from bot.values import Account, Repository
from bot.weekly import store as weekly_store


class StoredHistory:
    """What is remembered beyond one pull request: reads only; turns write it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        return await self._database.read(lambda t: find_repository(t, repository_id))

    async def repository_named(self, full_name: str) -> Repository | None:
        """The repository of this name, in any case."""
        return await self._database.read(lambda t: find_repository(t, full_name))

    async def active(self, since: datetime) -> tuple[Repository, ...]:
        """The repositories in which anything was judged since then."""
        return await self._database.read(lambda t: find_active_repositories(t, since))

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None, *, shared: bool = False
    ) -> tuple[HistoryRecord, ...]:
        """The records of a repository, or of one author in it, that were last active since then."""
        find = history_store.load_shared_records if shared else history_store.load_records
        return await self._database.read(lambda t: find(t, repository_id, since, author_id))

    async def newest(self, repository_id: int, author_id: int, most: int) -> tuple[HistoryRecord, ...]:
        """An author's latest records in a repository."""
        return await self._database.read(
            lambda t: history_store.load_newest_records(t, repository_id, author_id, most)
        )

    async def authored(
        self, repository_id: int, since: datetime, author_id: int, *, shared: bool = False
    ) -> tuple[tuple[HistoryRecord, ...], dict[str, TagFix]]:
        """An author's records that were last active since then, and their latest fixes however long ago."""
        find = history_store.load_shared_author if shared else history_store.load_author
        return await self._database.read(lambda t: find(t, repository_id, since, author_id))

    async def author(self, repository_id: int, login: str, *, shared: bool = False) -> Account | None:
        """The author who has, or last had, this login there."""
        find = history_store.find_shared_author if shared else history_store.find_author
        return await self._database.read(lambda t: find(t, repository_id, login))

    async def documents(self, lane: str) -> tuple[Any, ...]:
        """The documents of a pull request, newest first."""
        return await self._database.read(lambda t: history_store.load_documents(t, lane))

    async def forgotten(self, repository_id: int) -> dict[int, datetime]:
        """Who asked to be forgotten in a repository, by account id, and when they last did."""
        return await self._database.read(lambda t: forget.load_forgotten(t, repository_id))

    async def replies(self, lane: str) -> tuple[PostedReply, ...]:
        """The answers to commands in a thread, oldest first."""
        return await self._database.read(lambda t: commands_store.load_replies(t, lane))

    async def stored(self, repository_id: int, account_id: int) -> StoredCounts:
        """How much is stored about somebody in a repository."""
        return await self._database.read(lambda t: forget.count_stored(t, repository_id, account_id))

    async def export(self, repository_id: int, account_id: int) -> dict[str, Any]:
        """All that is stored about somebody in a repository."""
        return await self._database.read(lambda t: forget.export_person(t, repository_id, account_id))

    async def deliveries(self, repository_id: int, account_id: int) -> tuple[str, ...]:
        """The ids of the stored deliveries of a repository that name somebody, oldest first."""
        return await self._database.read(lambda t: forget.deliveries_naming(t, repository_id, account_id))

    async def delivered(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """These deliveries with their bodies, as far as those fit into a page of an export."""
        return await self._database.read(lambda t: forget.exported_deliveries(t, ids))

    async def weekly_issue(self, repository_id: int) -> int | None:
        """The number of the repository's summary issue, as far as known."""
        return await self._database.read(lambda t: weekly_store.load_issue_number(t, repository_id))

    async def was_told(self, repository_id: int, week: str) -> bool:
        """Whether the clock's run for this week is decided."""
        return await self._database.read(lambda t: weekly_store.has_weekly_run(t, repository_id, week))

    async def counts(self) -> QueueCounts:
        """The queue as it is now, for the operator."""
        return await self._database.read(count_queue)

    async def broken(self, since: datetime) -> Counter[BrokenGateKey]:
        """In how many pull requests each tag was named since then, by repository and author."""
        return await self._database.read(lambda t: history_store.count_broken_gates(t, since))

    async def unheard(self, since: datetime) -> Counter[UncountedVerdictKey]:
        """How many verdicts since then do not count, by repository, account and stance."""
        return await self._database.read(lambda t: history_store.count_uncounted_verdicts(t, since))

    async def heeded(self, window: TimeWindow) -> Counter[FollowedItem]:
        """How many items named in the window were followed, by whom, to whom and about what."""
        return await self._database.read(lambda t: history_store.count_followed_items(t, window))

    async def observed(self, window: TimeWindow) -> tuple[ItemOutcome, ...]:
        """What came of the items that an iteration in the window could tell about, without names."""
        return await self._database.read(lambda t: history_store.load_item_outcomes(t, window))

    async def reviewed(self, window: TimeWindow) -> dict[str, tuple[ReviewerRates, ...]]:
        """What became of the validators' claims in the window, by repository."""
        return await self._database.read(lambda t: history_store.load_reviewer_rates(t, window))


def apply_store_command(transaction: Transaction, lane: str, memo: StoreCommand) -> None:
    """In the transaction of the turn that decided it."""
    match memo:
        case StoreDocument():
            history_store.save_document(transaction, lane, memo)
        case ForgetPerson():
            forget.forget_person(transaction, memo)
            _log(transaction, lane, memo)
        case RecordWeeklyRun():
            weekly_store.save_weekly_run(transaction, memo)
        case UpdateRepository():
            repositories.update_repository(transaction, memo.repository)
        case AddRepository():
            repositories.add_repository(transaction, memo.repository, transferred=memo.transferred)
        case RemoveRepository():
            repositories.remove_repository(transaction, memo.repository_id, memo.installation_id)
        case DeleteRepository():
            repositories.remove_repository(transaction, memo.repository_id, memo.installation_id)
            delete_repository_data(transaction, memo.repository_id)
        case SetHistorySharing():
            repositories.set_history_sharing(transaction, memo.repository_id, shared=memo.shared)
        case RemoveInstallation():
            repositories.remove_installation(transaction, memo.installation_id)
        case _:
            assert_never(memo)


def _log(transaction: Transaction, lane: str, asked: ForgetPerson) -> None:
    """That somebody was forgotten is logged, without saying who."""
    values = {
        "key": asked.key,
        "act": "forget",
        "tag": "",
        "lane": lane,
        "repository_id": asked.repository_id,
        "account_id": 0,
        "login": "",
        "at": asked.at.timestamp(),
        "head": "",
        "reason": "",
    }
    transaction.execute(transaction.insert(audit_table).on_conflict_do_nothing(), values)


LaneRow = TypeVar("LaneRow", Delivery, OutboxRow)


def claim_lanes(transaction: Transaction, who: lanes.Claimant, limit: int) -> tuple[LaneClaim, ...]:
    """Lanes that are due and now owned, each with its deliveries and what it owes."""
    taken = lanes.take_due_lanes(transaction, who, limit)
    if not taken:
        return ()
    keys = [row.key for row in taken]
    waiting = _by_lane(deliveries.load_waiting(transaction, keys))
    owed = _by_lane(outbox.load_owed(transaction, keys))
    came = {row.key: row.installation_id for row in taken}
    through = {(each.lane, each.installation_id) for rows in waiting.values() for each in rows}
    homes = repositories.load_ownership(transaction, through | set(came.items()))
    return tuple(
        LaneClaim(
            lane=row.key,
            installation_id=row.installation_id,
            fence=row.fence,
            arrivals=row.arrivals,
            attempt=row.attempt,
            deliveries=waiting.get(row.key, ()),
            outbox=owed.get(row.key, ()),
            home=homes.get(row.key),
            crashes=row.crashes,
        )
        for row in taken
    )


@dataclass(frozen=True, slots=True)
class Applied:
    """The rows that are owed after a turn, and whether bodies of deliveries were emptied."""

    owed: tuple[OutboxRow, ...]
    emptied: bool


def apply_turn(transaction: Transaction, lane: str, turn: TurnResult) -> Applied:
    """Records, deliveries and outbox as the turn left them."""
    if turn.pull_request:
        # First: whoever moves a repository holds its row before those of its pull requests.
        known = repositories.relocate_pull_request(transaction, turn.pull_request, shares=turn.shares)
        pull_requests.save_pull_request(transaction, lane, forget.keep_forgotten(transaction, known))
        if known.sticky:
            pull_requests.save_sticky(transaction, lane, known.sticky)
        history_store.save_history(transaction, lane, known)
    elif turn.effects:
        repositories.check_ownership(
            transaction, {each.repository for each in turn.effects if not isinstance(each, CancelWrite)}
        )
    commands_store.save_replies(transaction, lane, turn.effects)
    for memo in turn.memos:
        apply_store_command(transaction, lane, memo)
    # After the memos: one of them may be to forget somebody.
    where = forget.forgets_people(transaction, lane)
    deliveries.finish_deliveries(transaction, lane, turn.done, empty=where is not None)
    deliveries.park_deliveries(transaction, lane, turn.parked)
    if where is not None and turn.parked:
        for who, until in forget.load_forgotten(transaction, where).items():
            forget.delete_parked(transaction, where, who, until)
    return Applied(outbox.save_effects(transaction, lane, turn.effects), emptied=where is not None)


def repositories_of_turn(turn: TurnResult) -> tuple[int, ...]:
    """The repositories of which the turn says where they are."""
    told = (memo for memo in turn.memos if isinstance(memo, AddRepository | UpdateRepository))
    return tuple(memo.repository.id for memo in told)


def erased_in(turn: TurnResult) -> tuple[int, ...]:
    """The repositories in which the turn deletes what was stored."""
    return tuple(
        memo.repository_id for memo in turn.memos if isinstance(memo, ForgetPerson | DeleteRepository)
    )


def mark_sent(
    transaction: Transaction, row: OutboxRow, sticky: StickyComment | None, then: tuple[Effect, ...]
) -> None:
    """GitHub has the row: what it left there is remembered, what follows from it is owed."""
    outbox.delete_row(transaction, row)
    if sticky:
        pull_requests.save_sticky(transaction, row.lane, sticky)
    if then:
        outbox.save_effects(transaction, row.lane, then)


def give_up_write(transaction: Transaction, row: OutboxRow) -> None:
    """The row is owed no longer, and what it should have shown is not recorded as shown."""
    known = pull_requests.load_pull_request(transaction, row.lane)
    if known is not None and (honest := mark_unsent(known, row.effect)) != known:
        pull_requests.save_pull_request(transaction, row.lane, forget.keep_forgotten(transaction, honest))
    outbox.delete_row(transaction, row)


def mark_replied(
    transaction: Transaction, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
) -> None:
    """A command has its answer: where that stands is remembered, what follows from it is owed."""
    if isinstance(row.effect, PostReply):
        commands_store.mark_reply_posted(transaction, row.effect.key, posted.id, posted.node_id)
    mark_sent(transaction, row, None, then)


def mark_week_posted(
    transaction: Transaction, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
) -> None:
    """A repository's week stands in this issue; what follows from it is owed."""
    weekly_store.save_issue_number(transaction, repository_id, number)
    mark_sent(transaction, row, None, then)


def release_lane(
    transaction: Transaction, owned: LaneClaim, owner: str, rest: lanes.LaneRest
) -> float | None:
    """The lane is nobody's; returns when it is due again."""
    due = lanes.release_owned_lane(transaction, owned, owner, rest)
    if rest.attempt > owned.attempt:
        deliveries.count_attempt(transaction, owned)
    return due


def _by_lane(rows: Iterable[LaneRow]) -> dict[str, tuple[LaneRow, ...]]:
    return {lane: tuple(group) for lane, group in groupby(rows, key=attrgetter("lane"))}
