"""Apply a turn's result, and record the outcome of a write, each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from sqlalchemy.dialects.sqlite import insert

from bot.commands.store import save_replies
from bot.history import forget
from bot.history.store import save_document, save_history
from bot.pull_request.effects import (
    AddRepository,
    CancelWrite,
    Effect,
    ForgetPerson,
    RecordWeeklyRun,
    RemoveInstallation,
    RemoveRepository,
    SetHistorySharing,
    StoreCommand,
    StoreDocument,
    UpdateRepository,
)
from bot.pull_request.record import mark_unsent
from bot.store import deliveries, outbox, pull_requests, repositories
from bot.store.database import Transaction
from bot.store.model import Delivery, LaneClaim, OutboxRow, TurnResult
from bot.store.schema import audit_table
from bot.store.store import Store
from bot.weekly.store import save_weekly_run


async def apply_turn(
    store: Store,
    claim: LaneClaim,
    turn: TurnResult,
    is_post: Callable[[Effect], bool] = lambda _effect: False,
    follow_ups: Callable[[Transaction], Sequence[Delivery]] = lambda _transaction: (),
) -> tuple[OutboxRow, ...]:
    """Write records, outbox and deliveries in one transaction; return the rows now owed.

    The first row is started in the same transaction if it posts a comment; `follow_ups` are queued in it.
    """

    def save(transaction: Transaction) -> tuple[tuple[OutboxRow, ...], bool]:
        def may_start(effect: Effect) -> bool:
            return is_post(effect) and outbox.may_post(transaction, claim.installation_id)

        owed, is_emptied = save_turn(transaction, claim.lane, turn, may_start)
        deliveries.queue_follow_ups(transaction, follow_ups(transaction))
        return owed, is_emptied

    owed, is_emptied = await store.write_claimed(claim, save)
    for command in turn.store_commands:
        if isinstance(command, AddRepository | UpdateRepository):
            # Apart: a turn that waits for other lanes than its own could wait for ever.
            await store.write(repositories.wake_lanes, command.repository.id)
    erased = [
        command.repository_id
        for command in turn.store_commands
        if isinstance(command, ForgetPerson) or (isinstance(command, RemoveRepository) and command.is_deleted)
    ]
    for repository_id in erased:
        await repositories.empty_bodies(store.database, repository_id)
    if is_emptied or erased:
        await store.database.scrub(rewrite=bool(erased))
    return owed


def save_turn(
    transaction: Transaction,
    lane: str,
    turn: TurnResult,
    may_start: Callable[[Effect], bool] = lambda _effect: False,
) -> tuple[tuple[OutboxRow, ...], bool]:
    """Save records, deliveries and outbox; return the rows owed, and whether delivery bodies were emptied."""
    forgotten: Mapping[int, datetime] | None = None
    if turn.pull_request:
        # First: whoever moves a repository holds its row before those of its pull requests.
        pull_request = repositories.relocate_pull_request(
            transaction, turn.pull_request, is_shared=turn.is_shared
        )
        forgotten = forget.load_forgotten(transaction, pull_request.repository.id)
        pull_requests.save_pull_request(
            transaction, lane, forget.keep_forgotten(transaction, pull_request, forgotten)
        )
        if pull_request.sticky:
            pull_requests.save_sticky(transaction, lane, pull_request.sticky)
        save_history(transaction, lane, pull_request, forgotten)
    elif turn.effects:
        repositories.check_ownership(
            transaction, {effect.repository for effect in turn.effects if not isinstance(effect, CancelWrite)}
        )
    save_replies(transaction, lane, turn.effects)
    for command in turn.store_commands:
        _apply_store_command(transaction, lane, command)
        if isinstance(command, ForgetPerson):
            forgotten = None  # somebody more
    forgetting = forget.forgets_people(transaction, lane, forgotten)
    deliveries.finish_deliveries(transaction, lane, turn.done, empty=forgetting is not None)
    deliveries.park_deliveries(transaction, lane, turn.parked)
    if forgetting is not None and turn.parked:
        for account_id, until in forget.load_forgotten(transaction, forgetting).items():
            forget.delete_parked(transaction, forgetting, account_id, until)
    return outbox.save_effects(transaction, lane, turn.effects, may_start), forgetting is not None


def _apply_store_command(transaction: Transaction, lane: str, command: StoreCommand) -> None:
    match command:
        case StoreDocument():
            save_document(transaction, lane, command)
        case ForgetPerson():
            forget.forget_person(transaction, command)
            _audit_forgetting(transaction, lane, command)
        case RecordWeeklyRun():
            save_weekly_run(transaction, command)
        case UpdateRepository():
            repositories.update_repository(transaction, command.repository)
        case AddRepository():
            repositories.add_repository(transaction, command.repository, transferred=command.transferred)
        case RemoveRepository():
            repositories.remove_repository(transaction, command.repository_id, command.installation_id)
            if command.is_deleted:
                repositories.delete_repository_data(transaction, command.repository_id)
        case SetHistorySharing():
            repositories.set_history_sharing(transaction, command.repository_id, shared=command.shared)
        case RemoveInstallation():
            repositories.remove_installation(transaction, command.installation_id)
        case _:
            assert_never(command)


def _audit_forgetting(transaction: Transaction, lane: str, command: ForgetPerson) -> None:
    """Log that a person was forgotten, without the name."""
    values = {
        "key": command.key,
        "act": "forget",
        "tag": "",
        "lane": lane,
        "repository_id": command.repository_id,
        "account_id": 0,
        "login": "",
        "at": command.at.timestamp(),
        "head": "",
        "reason": "",
    }
    transaction.execute(insert(audit_table).on_conflict_do_nothing(), values)


def give_up_write(transaction: Transaction, row: OutboxRow) -> None:
    """Drop a row that GitHub does not take, and record what it should have shown as not shown."""
    pull_request = pull_requests.load_pull_request(transaction, row.lane)
    if pull_request is not None and (unsent := mark_unsent(pull_request, row.effect)) != pull_request:
        forgotten = forget.load_forgotten(transaction, unsent.repository.id)
        pull_requests.save_pull_request(
            transaction, row.lane, forget.keep_forgotten(transaction, unsent, forgotten)
        )
    outbox.delete_row(transaction, row)
