"""Load and save pull requests and their sticky comments."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, func, select

from bot.pull_request.model import PullRequest, StickyComment
from bot.store.codec import decode, encode, encode_record
from bot.store.database import Transaction, to_datetime, upsert
from bot.store.schema import pull_request_table, sticky_table


def load_newest_pull_requests(
    transaction: Transaction, repository: tuple[str, str] | None, limit: int = 500
) -> tuple[PullRequest, ...]:
    """Load the newest pull requests of one repository, or of all, without their sticky comments."""
    newest = select(pull_request_table.c.record).order_by(pull_request_table.c.updated_at.desc()).limit(limit)
    if repository:
        owner, name = repository
        newest = newest.where(
            func.lower(pull_request_table.c.owner) == owner.lower(),
            func.lower(pull_request_table.c.name) == name.lower(),
        )
    return tuple(decode(record, PullRequest) for record in transaction.execute(newest).scalars())


def load_pull_request(transaction: Transaction, lane: str) -> PullRequest | None:
    """Load the pull request of this lane with its sticky comment, None if nothing is recorded."""
    return decode_pull_request(load_stored(transaction, (lane,)).get(lane))


def load_stored(transaction: Transaction, lanes: Collection[str]) -> dict[str, Row[Any]]:
    """Load the rows of the pull requests of these lanes, by lane."""
    rows = transaction.execute(_PULL_REQUESTS, {"lanes": tuple(lanes)})
    return {row.key: row for row in rows}


def decode_pull_request(row: Row[Any] | None) -> PullRequest | None:
    """Decode a pull request with its sticky comment."""
    if row is None:
        return None
    record = decode(row.record, PullRequest)
    return record if row.lane is None else replace(record, sticky=_sticky(row))


_PULL_REQUESTS = (
    select(pull_request_table.c.lane.label("key"), pull_request_table.c.record, sticky_table)
    .select_from(pull_request_table.outerjoin(sticky_table))
    .where(pull_request_table.c.lane.in_(bindparam("lanes", expanding=True)))
)


def has_comment(transaction: Transaction, repository_id: int) -> bool:
    """Whether a pull request of this repository has, or had, a comment of the bot."""
    return transaction.execute(_ANY_COMMENT, {"repository_id": repository_id}).first() is not None


_ANY_COMMENT = (
    select(sticky_table.c.lane)
    .join(pull_request_table, pull_request_table.c.lane == sticky_table.c.lane)
    .where(pull_request_table.c.repository_id == bindparam("repository_id"))
    .limit(1)
)


def save_pull_request(transaction: Transaction, lane: str, record: PullRequest) -> None:
    """Save a pull request; its sticky comment is saved separately, when it was written."""
    repository = record.repository
    values = {
        "repository_id": repository.id,
        "number": record.number,
        "installation_id": repository.installation_id,
        "owner": repository.owner,
        "name": repository.name,
        "author_id": record.author.id,
        "open": record.open,
        "merged": record.merged,
        "created_at": record.created_at.timestamp(),
        "updated_at": record.updated_at.timestamp(),
        "closed_at": _seconds(record.closed_at),
        "record": encode_record(record),
        "head": record.head,
    }
    transaction.execute(upsert(pull_request_table), {"lane": lane, **values})


def find_numbers_at_head(transaction: Transaction, repository_id: int, head: str) -> tuple[int, ...]:
    """Find the recorded open pull requests of a repository that have this head."""
    return tuple(transaction.execute(_AT_HEAD, {"where": repository_id, "head": head}).scalars())


_AT_HEAD = (
    select(pull_request_table.c.number)
    .where(
        pull_request_table.c.repository_id == bindparam("where"),
        pull_request_table.c.head == bindparam("head"),
        pull_request_table.c.open,
    )
    .order_by(pull_request_table.c.number)
)


def find_numbers_that_left(transaction: Transaction, repository_id: int, head: str) -> tuple[int, ...]:
    """Find the recorded open pull requests of a repository whose branch was at this head earlier.

    No column has these heads, so this reads every open record: it is for what is found in no other way.
    """
    named = pull_request_table.c.record.contains(f'{{"head":{encode(head)}', autoescape=True)
    rows = transaction.execute(_OPEN.where(named), {"where": repository_id}).scalars()
    records = (decode(record, PullRequest) for record in rows)
    return tuple(record.number for record in records if head in {one.head for one in record.revisions})


_OPEN = (
    select(pull_request_table.c.record)
    .where(pull_request_table.c.repository_id == bindparam("where"), pull_request_table.c.open)
    .order_by(pull_request_table.c.number)
)


def save_sticky(transaction: Transaction, lane: str, sticky: StickyComment) -> None:
    """Save the sticky comment."""
    values = {
        "comment_id": sticky.comment_id,
        "node_id": sticky.node_id,
        "url": sticky.url,
        "marker_id": sticky.marker_id,
        "fingerprint": sticky.fingerprint,
        "issues": encode(sticky.issues),
        "blocking": encode(sticky.blocking),
        "written_at": sticky.written_at.timestamp(),
        "deleted_at": _seconds(sticky.deleted_at),
    }
    transaction.execute(upsert(sticky_table), {"lane": lane, **values})


def _sticky(row: Row[Any]) -> StickyComment:
    return StickyComment(
        comment_id=row.comment_id,
        node_id=row.node_id,
        url=row.url,
        marker_id=row.marker_id,
        fingerprint=row.fingerprint,
        issues=decode(row.issues, tuple[str, ...]),
        blocking=decode(row.blocking, tuple[str, ...]),
        written_at=to_datetime(row.written_at),
        deleted_at=None if row.deleted_at is None else to_datetime(row.deleted_at),
    )


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()
