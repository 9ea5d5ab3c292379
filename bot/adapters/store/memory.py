"""What of a pull request is remembered for its author's history and its repository's weeks?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Insert, Integer, Select, Table, and_, bindparam, delete, or_, select

from bot.adapters.store.codec import decode, encode, plain
from bot.adapters.store.memory_homes import left, repository_of
from bot.adapters.store.memory_names import anonymous, forgotten_in
from bot.adapters.store.memory_schema import audit, document, fix, record, repository
from bot.adapters.store.schema import pull_request as pull_requests
from bot.adapters.store.transaction import Transaction, insert_into, moment
from bot.domain.fixes import Fix, fixes
from bot.domain.follow_rates import followed_items
from bot.domain.memory import Record, record_of
from bot.domain.memos import Document
from bot.domain.model import GHOST, Account, PullRequest, Repository
from bot.domain.rulings import for_memory, overturned
from bot.domain.stated import stated

DOCUMENTS = 20
"""Kept of a pull request, the newest."""

_read = msgspec.json.Decoder(Record).decode


def keep(transaction: Transaction, lane: str, pull_request: PullRequest) -> None:
    """The rows that history and weeks are answered from, in the transaction that records the pull request."""
    if not pull_request.verdicts and not pull_request.merged:
        return  # it counts nowhere yet
    known = remembered(pull_request)
    gone = forgotten_in(transaction, pull_request.repository.id)
    for who, until in gone.items():
        known = anonymous(known, who, until)
    where = pull_request.repository
    _put(
        transaction,
        record,
        {
            "lane": lane,
            "repository_id": where.id,
            "installation_id": where.installation_id,
            "private": where.private,
            "number": known.number,
            "author_id": known.author.id,
            "login": known.author.login,
            "last_active": known.last_active.timestamp(),
            "record": encode(known),
        },
    )
    _keep_fixes(transaction, where.id, known)
    _keep_rulings(transaction, lane, pull_request, gone)


def remembered(pull_request: PullRequest) -> Record:
    """The record that a pull request makes, dismissals heard."""
    known = record_of(for_memory(pull_request), overturned(pull_request))
    return replace(known, followed=followed_items(pull_request), stated=stated(pull_request))


def keep_document(transaction: Transaction, lane: str, written: Document) -> None:
    """One of the newest documents of a pull request; older ones go."""
    values = {"id": written.id, "lane": lane, "at": written.at.timestamp(), "body": written.body}
    _put(transaction, document, values)
    newest = select(document.c.id).where(document.c.lane == lane).order_by(document.c.at.desc())
    kept = transaction.execute(newest.limit(DOCUMENTS)).scalars().all()
    transaction.execute(delete(document).where(document.c.lane == lane, document.c.id.not_in(kept)))


def records_of(
    transaction: Transaction, repository_id: int, since: datetime, author_id: int | None = None
) -> tuple[Record, ...]:
    """The records of a repository, or of one author in it, that were last active since then."""
    asked = {"where": repository_id, "since": since.timestamp()}
    if author_id is None:
        found = transaction.execute(_OF_ALL, asked)
    else:
        found = transaction.execute(_OF_ONE, asked | {"who": author_id})
    return tuple(map(decoded, found.scalars()))


def newest_records(
    transaction: Transaction, repository_id: int, author_id: int, most: int
) -> tuple[Record, ...]:
    """An author's latest records in a repository."""
    asked = {"where": repository_id, "who": author_id, "most": most}
    return tuple(map(decoded, transaction.execute(_NEWEST, asked).scalars()))


def last_fixes_of(transaction: Transaction, repository_id: int, author_id: int) -> dict[str, Fix]:
    """The latest fix of each tag by an author, however long ago."""
    rows = transaction.execute(_FIXES, {"where": repository_id, "who": author_id})
    return {row.tag: Fix(row.tag, row.number, row.head, moment(row.at)) for row in rows}


def authored(
    transaction: Transaction, repository_id: int, since: datetime, author_id: int
) -> tuple[tuple[Record, ...], dict[str, Fix]]:
    """An author's records that were last active since then, and their latest fixes however long ago."""
    return (
        records_of(transaction, repository_id, since, author_id),
        last_fixes_of(transaction, repository_id, author_id),
    )


def author_named(transaction: Transaction, repository_id: int, login: str) -> Account | None:
    """The author who has, or last had, this login here."""
    here = record.c.repository_id == repository_id
    for same in (
        record.c.login == login,
        record.c.login == f"{login}[bot]",
        record.c.login.ilike(_literal(login), "\\"),
    ):
        found = transaction.execute(_newest(and_(here, same))).scalar()
        if found is not None:
            return decoded(found).author
    return _unreviewed_author(transaction, repository_id, login)


def _unreviewed_author(transaction: Transaction, repository_id: int, login: str) -> Account | None:
    """The author of a pull request that has no record yet, since nobody has reviewed it."""
    named = pull_requests.c.record.icontains(f'"login":{encode(login)}', autoescape=True)
    rows = select(pull_requests.c.record).where(pull_requests.c.repository_id == repository_id, named)
    authors = (decode(text, PullRequest).author for text in transaction.execute(rows).scalars())
    return next((author for author in authors if author.login.lower() == login.lower()), None)


def find_repository(transaction: Transaction, wanted: int | str) -> Repository | None:
    """A repository by its id or its name, as it was last seen."""
    same = repository.c.id == wanted if isinstance(wanted, int) else repository.c.folded == wanted.lower()
    row = transaction.execute(select(repository).where(same, ~left)).first()
    return None if row is None else repository_of(row)


def active_repositories(transaction: Transaction, since: datetime) -> tuple[Repository, ...]:
    """Where anything was judged since then."""
    active = select(record.c.repository_id).where(record.c.last_active >= since.timestamp()).distinct()
    rows = transaction.execute(select(repository).where(repository.c.id.in_(active), ~left))
    return tuple(repository_of(row) for row in rows)


def documents_of(transaction: Transaction, lane: str) -> tuple[Any, ...]:
    """The documents of a pull request, newest first."""
    found = select(document.c.body).where(document.c.lane == lane).order_by(document.c.at.desc())
    return tuple(msgspec.json.decode(body) for body in transaction.execute(found).scalars())


def decoded(text: str) -> Record:
    """A record as it was kept."""
    try:
        return _read(text)
    except msgspec.DecodeError:  # half of a surrogate pair in a path
        return decode(text, Record)


def _keep_fixes(transaction: Transaction, repository_id: int, known: Record) -> None:
    if known.author == GHOST:
        return
    newest = {found.tag: found for found in fixes(known, known.last_active)}
    for found in newest.values():
        statement = transaction.insert(fix)
        newer = {name: statement.excluded[name] for name in ("number", "head", "at")}
        statement = statement.on_conflict_do_update(
            index_elements=[fix.c.repository_id, fix.c.author_id, fix.c.tag],
            set_=newer,
            where=fix.c.at <= statement.excluded.at,
        )
        values = {
            "repository_id": repository_id,
            "author_id": known.author.id,
            "tag": found.tag,
            "number": found.number,
            "head": found.head,
            "at": found.at.timestamp(),
        }
        transaction.execute(statement, values)


def _keep_rulings(
    transaction: Transaction, lane: str, pull_request: PullRequest, gone: Mapping[int, datetime]
) -> None:
    rows = [
        {
            "key": ruling.key,
            "act": ruling.act.value,
            "tag": ruling.tag,
            "lane": lane,
            "repository_id": pull_request.repository.id,
            "account_id": ruling.by_id,
            "login": ruling.by,
            "at": ruling.at.timestamp(),
            "head": ruling.head,
            "reason": plain(ruling.reason),
        }
        for ruling in pull_request.rulings
        if not (ruling.by_id in gone and ruling.at <= gone[ruling.by_id])
    ]
    if rows:
        transaction.execute(transaction.insert(audit).on_conflict_do_nothing(), rows)


# Built once: building a statement takes as long as the database needs to answer it.
_OF_ALL = select(record.c.record).where(
    record.c.repository_id == bindparam("where"), record.c.last_active >= bindparam("since")
)
_OF_ONE = _OF_ALL.where(record.c.author_id == bindparam("who"))
_NEWEST = (
    select(record.c.record)
    .where(record.c.repository_id == bindparam("where"), record.c.author_id == bindparam("who"))
    .order_by(record.c.last_active.desc())
    .limit(bindparam("most", type_=Integer))
)
_FIXES = select(fix).where(fix.c.repository_id == bindparam("where"), fix.c.author_id == bindparam("who"))


def _newest(wanted: Any) -> Select[tuple[str]]:
    return select(record.c.record).where(wanted).order_by(record.c.last_active.desc()).limit(1)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _put(transaction: Transaction, table: Table, values: dict[str, Any]) -> None:
    transaction.execute(_upsert(table, transaction.shared), values)


@cache  # slow to build, and always the same
def _upsert(table: Table, shared: bool) -> Insert:  # noqa: FBT001 - a part of the key
    statement = insert_into(table, shared=shared)
    keys = {column.name for column in table.primary_key}
    newer = {column.name: statement.excluded[column.name] for column in table.c if column.name not in keys}
    # A row that says the same already is not written again.
    changed = or_(*(table.c[name].is_distinct_from(value) for name, value in newer.items()))
    return statement.on_conflict_do_update(index_elements=sorted(keys), set_=newer, where=changed)
