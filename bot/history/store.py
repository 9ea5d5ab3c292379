"""Store and query history records, fixes and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Protocol

import msgspec
from sqlalchemy import Insert, Integer, Select, Table, and_, bindparam, delete, or_, select

from bot.history.forget import anonymize, load_forgotten
from bot.history.model import (
    HistoryRecord,
    StoredCounts,
    TimeWindow,
    build_history_record,
    compute_review_stats,
)
from bot.history.outcomes import TagFix, find_fixes
from bot.history.rates import (
    ReviewerRates,
    compute_reviewer_rates,
    followed_item_urls,
    item_fates,
    item_outcomes_in_window,
)
from bot.iterations.model import apply_dismissals, overturned_tags
from bot.pull_request.effects import PostedReply, StoreDocument
from bot.pull_request.model import ItemOutcome, PullRequest
from bot.store.codec import column_text, decode, encode
from bot.store.database import Transaction, insert_into, to_datetime
from bot.store.repositories import find_repository, has_left
from bot.store.schema import audit_table, document_table, fix_table, history_table, repository_table
from bot.store.schema import pull_request_table as pull_requests
from bot.values import GHOST, Account, Repository

MAX_DOCUMENTS_KEPT = 20
"""Kept of a pull request, the newest."""

_read = msgspec.json.Decoder(HistoryRecord).decode


def save_history(transaction: Transaction, lane: str, pull_request: PullRequest) -> None:
    """The rows that history and weeks are answered from, in the transaction that records the pull request."""
    if not pull_request.verdicts and not pull_request.merged:
        return  # it counts nowhere yet
    known = history_record(pull_request)
    gone = load_forgotten(transaction, pull_request.repository.id)
    for who, until in gone.items():
        known = anonymize(known, who, until)
    where = pull_request.repository
    _put(
        transaction,
        history_table,
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


def history_record(pull_request: PullRequest) -> HistoryRecord:
    """The record that a pull request makes, dismissals heard."""
    known = build_history_record(apply_dismissals(pull_request), overturned_tags(pull_request))
    return replace(
        known, followed=followed_item_urls(pull_request), stated=compute_review_stats(pull_request)
    )


def save_document(transaction: Transaction, lane: str, written: StoreDocument) -> None:
    """One of the newest documents of a pull request; older ones go."""
    values = {"id": written.id, "lane": lane, "at": written.at.timestamp(), "body": written.body}
    _put(transaction, document_table, values)
    newest = (
        select(document_table.c.id).where(document_table.c.lane == lane).order_by(document_table.c.at.desc())
    )
    kept = transaction.execute(newest.limit(MAX_DOCUMENTS_KEPT)).scalars().all()
    transaction.execute(
        delete(document_table).where(document_table.c.lane == lane, document_table.c.id.not_in(kept))
    )


def load_records(
    transaction: Transaction, repository_id: int, since: datetime, author_id: int | None = None
) -> tuple[HistoryRecord, ...]:
    """The records of a repository, or of one author in it, that were last active since then."""
    asked = {"where": repository_id, "since": since.timestamp()}
    if author_id is None:
        found = transaction.execute(_OF_ALL, asked)
    else:
        found = transaction.execute(_OF_ONE, asked | {"who": author_id})
    return tuple(map(decode_history, found.scalars()))


def load_newest_records(
    transaction: Transaction, repository_id: int, author_id: int, most: int
) -> tuple[HistoryRecord, ...]:
    """An author's latest records in a repository."""
    asked = {"where": repository_id, "who": author_id, "most": most}
    return tuple(map(decode_history, transaction.execute(_NEWEST, asked).scalars()))


def load_latest_fixes(transaction: Transaction, repository_id: int, author_id: int) -> dict[str, TagFix]:
    """The latest fix of each tag by an author, however long ago."""
    rows = transaction.execute(_FIXES, {"where": repository_id, "who": author_id})
    return {row.tag: TagFix(row.tag, row.number, row.head, to_datetime(row.at)) for row in rows}


def load_author(
    transaction: Transaction, repository_id: int, since: datetime, author_id: int
) -> tuple[tuple[HistoryRecord, ...], dict[str, TagFix]]:
    """An author's records that were last active since then, and their latest fixes however long ago."""
    return (
        load_records(transaction, repository_id, since, author_id),
        load_latest_fixes(transaction, repository_id, author_id),
    )


def find_author(transaction: Transaction, repository_id: int, login: str) -> Account | None:
    """The author who has, or last had, this login here."""
    here = history_table.c.repository_id == repository_id
    for same in (
        history_table.c.login == login,
        history_table.c.login == f"{login}[bot]",
        history_table.c.login.ilike(_literal(login), "\\"),
    ):
        found = transaction.execute(_newest(and_(here, same))).scalar()
        if found is not None:
            return decode_history(found).author
    return _unreviewed_author(transaction, repository_id, login)


def _unreviewed_author(transaction: Transaction, repository_id: int, login: str) -> Account | None:
    """The author of a pull request that has no record yet, since nobody has reviewed it."""
    named = pull_requests.c.record.icontains(f'"login":{encode(login)}', autoescape=True)
    rows = select(pull_requests.c.record).where(pull_requests.c.repository_id == repository_id, named)
    authors = (decode(text, PullRequest).author for text in transaction.execute(rows).scalars())
    return next((author for author in authors if author.login.lower() == login.lower()), None)


def load_documents(transaction: Transaction, lane: str) -> tuple[Any, ...]:
    """The documents of a pull request, newest first."""
    found = (
        select(document_table.c.body)
        .where(document_table.c.lane == lane)
        .order_by(document_table.c.at.desc())
    )
    return tuple(msgspec.json.decode(body) for body in transaction.execute(found).scalars())


def decode_history(text: str) -> HistoryRecord:
    """A record as it was kept."""
    try:
        return _read(text)
    except msgspec.DecodeError:  # half of a surrogate pair in a path
        return decode(text, HistoryRecord)


def _keep_fixes(transaction: Transaction, repository_id: int, known: HistoryRecord) -> None:
    if known.author == GHOST:
        return
    newest = {found.tag: found for found in find_fixes(known, known.last_active)}
    for found in newest.values():
        statement = transaction.insert(fix_table)
        newer = {name: statement.excluded[name] for name in ("number", "head", "at")}
        statement = statement.on_conflict_do_update(
            index_elements=[fix_table.c.repository_id, fix_table.c.author_id, fix_table.c.tag],
            set_=newer,
            where=fix_table.c.at <= statement.excluded.at,
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
            "reason": column_text(ruling.reason),
        }
        for ruling in pull_request.rulings
        if not (ruling.by_id in gone and ruling.at <= gone[ruling.by_id])
    ]
    if rows:
        transaction.execute(transaction.insert(audit_table).on_conflict_do_nothing(), rows)


# Built once: building a statement takes as long as the database needs to answer it.
_OF_ALL = select(history_table.c.record).where(
    history_table.c.repository_id == bindparam("where"), history_table.c.last_active >= bindparam("since")
)
_OF_ONE = _OF_ALL.where(history_table.c.author_id == bindparam("who"))
_NEWEST = (
    select(history_table.c.record)
    .where(history_table.c.repository_id == bindparam("where"), history_table.c.author_id == bindparam("who"))
    .order_by(history_table.c.last_active.desc())
    .limit(bindparam("most", type_=Integer))
)
_FIXES = select(fix_table).where(
    fix_table.c.repository_id == bindparam("where"), fix_table.c.author_id == bindparam("who")
)


def _newest(wanted: Any) -> Select[tuple[str]]:
    return select(history_table.c.record).where(wanted).order_by(history_table.c.last_active.desc()).limit(1)


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


"""The state of a write that waits for a permission."""
"""Parked deliveries that are counted one by one, the newest: each is a series of its own."""

BrokenGateKey = tuple[str, str, str]
"""Repository, author, tag."""


UncountedVerdictKey = tuple[str, str, str]
"""Repository, account, stance."""


@dataclass(frozen=True, slots=True)
class FollowedItem:
    """One item of feedback and whether it was followed, by whom it was said, and to whom."""

    repository: str
    author: str
    reviewer: str
    tag: str
    placed: bool
    followed: bool


def count_broken_gates(transaction: Transaction, since: datetime) -> Counter[BrokenGateKey]:
    """In how many pull requests each tag was named since then, a tag once a pull request."""
    rows = transaction.execute(
        select(history_table.c.record, history_table.c.login, repository_table.c.folded)
        .join(repository_table, repository_table.c.id == history_table.c.repository_id)
        .where(~has_left, history_table.c.last_active >= since.timestamp())
    )
    found: Counter[BrokenGateKey] = Counter()
    for row in rows:
        known = decode_history(row.record)
        said = (verdict for verdict in known.verdicts if verdict.counted and verdict.at >= since)
        found.update({(row.folded, row.login, item.tag) for one in said for item in one.items if item.tag})
    return found


def count_uncounted_verdicts(transaction: Transaction, since: datetime) -> Counter[UncountedVerdictKey]:
    """The verdicts since then whose givers are no validators: shown nowhere, counted here."""
    rows = transaction.execute(
        select(history_table.c.record, repository_table.c.folded)
        .join(repository_table, repository_table.c.id == history_table.c.repository_id)
        .where(
            ~has_left,
            history_table.c.last_active >= since.timestamp(),
            history_table.c.record.like('%"counted":false%'),
        )
    )
    return Counter(
        (row.folded, verdict.validator.name, verdict.stance.value)
        for row in rows
        for verdict in decode_history(row.record).verdicts
        if not verdict.counted and verdict.at >= since
    )


def count_followed_items(transaction: Transaction, window: TimeWindow) -> Counter[FollowedItem]:
    """How many items named in the window were followed, of those whose fate is known."""
    rows = transaction.execute(
        select(history_table.c.record, history_table.c.login, repository_table.c.folded)
        .join(repository_table, repository_table.c.id == history_table.c.repository_id)
        .where(~has_left, history_table.c.last_active >= window.start.timestamp())
    )
    return Counter(
        FollowedItem(
            row.folded,
            row.login,
            fate.verdict.validator.name,
            fate.item.tag or "",
            fate.item.place is not None,
            fate.followed,
        )
        for row in rows
        for fate in item_fates(decode_history(row.record), window)
    )


def load_item_outcomes(transaction: Transaction, window: TimeWindow) -> tuple[ItemOutcome, ...]:
    """What came of the items that an iteration in the window could tell about."""
    rows = transaction.execute(
        select(history_table.c.record)
        .join(repository_table, repository_table.c.id == history_table.c.repository_id)
        .where(~has_left, history_table.c.last_active >= window.start.timestamp())
    ).scalars()
    return item_outcomes_in_window(map(decode_history, rows), window)


def load_reviewer_rates(transaction: Transaction, window: TimeWindow) -> dict[str, tuple[ReviewerRates, ...]]:
    """What became of the validators' claims in the window, by repository."""
    rows = transaction.execute(
        select(history_table.c.record, repository_table.c.folded)
        .join(repository_table, repository_table.c.id == history_table.c.repository_id)
        .where(~has_left, history_table.c.last_active >= window.start.timestamp())
    )
    known: dict[str, list[HistoryRecord]] = {}
    for row in rows:
        known.setdefault(row.folded, []).append(decode_history(row.record))
    return {where: compute_reviewer_rates(records, window) for where, records in known.items()}


_here = repository_table.alias("here")
_BESIDE = (
    select(repository_table.c.id, repository_table.c.owner, repository_table.c.name)
    .join(
        _here,
        and_(
            _here.c.installation_id == repository_table.c.installation_id,
            _here.c.private == repository_table.c.private,
        ),
    )
    # Both share: nobody's record leaves a repository whose own config does not say so.
    .where(
        _here.c.id == bindparam("which"),
        repository_table.c.id != _here.c.id,
        repository_table.c.shared,
        ~has_left,
    )
    .order_by(repository_table.c.id)
)
_SHARED_COLUMNS = select(history_table.c.repository_id, history_table.c.record).where(
    history_table.c.repository_id.in_(bindparam("where", expanding=True)),
    history_table.c.installation_id == bindparam("installation"),
    history_table.c.private == bindparam("private"),
    history_table.c.last_active >= bindparam("since"),
)
_SHARED_OF_ONE = _SHARED_COLUMNS.where(history_table.c.author_id == bindparam("who"))


def load_shared_records(
    transaction: Transaction, where: int, since: datetime, author_id: int | None = None
) -> tuple[HistoryRecord, ...]:
    """Those of the repository, and those of the ones that share with it, each with its repository's name."""
    mine = load_records(transaction, where, since, author_id)
    here, beside = find_repository(transaction, where), _beside(transaction, where)
    if here is None or not beside:
        return mine
    asked = {
        "where": list(beside),
        "installation": here.installation_id,
        "private": here.private,
        "since": since.timestamp(),
    }
    found = (
        transaction.execute(_SHARED_COLUMNS, asked)
        if author_id is None
        else transaction.execute(_SHARED_OF_ONE, asked | {"who": author_id})
    )
    theirs = (replace(decode_history(row.record), repository=beside[row.repository_id]) for row in found)
    return (*mine, *theirs)


def load_shared_author(
    transaction: Transaction, where: int, since: datetime, author_id: int
) -> tuple[tuple[HistoryRecord, ...], dict[str, TagFix]]:
    """An author's records and latest fixes, there and in the repositories that share with it."""
    fixes = list(load_latest_fixes(transaction, where, author_id).values())
    for other, name in _beside(transaction, where).items():
        theirs = load_latest_fixes(transaction, other, author_id).values()
        fixes += [replace(each, repository=name) for each in theirs]
    newest = {each.tag: each for each in sorted(fixes, key=lambda each: each.at)}
    return load_shared_records(transaction, where, since, author_id), newest


def find_shared_author(transaction: Transaction, where: int, login: str) -> Account | None:
    """The author who has, or last had, this login there or in a repository that shares with it."""
    for which in (where, *_beside(transaction, where)):
        found = find_author(transaction, which, login)
        if found is not None:
            return found
    return None


def _beside(transaction: Transaction, where: int) -> dict[int, str]:
    rows = transaction.execute(_BESIDE, {"which": where})
    return {row.id: Repository(row.id, row.owner, row.name, 0).full_name for row in rows}


class HistoryReader(Protocol):
    """What is remembered beyond one pull request; written by turns, read here."""

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        ...

    async def active(self, since: datetime) -> tuple[Repository, ...]:
        """The repositories in which anything was judged since then."""
        ...

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None, *, shared: bool = False
    ) -> tuple[HistoryRecord, ...]:
        """The records of a repository, or of one author in it, that were last active since then.

        With `shared` also those of the repositories beside it whose configs share their history.
        """
        ...

    async def newest(self, repository_id: int, author_id: int, most: int) -> tuple[HistoryRecord, ...]:
        """An author's latest records in a repository."""
        ...

    async def authored(
        self, repository_id: int, since: datetime, author_id: int, *, shared: bool = False
    ) -> tuple[tuple[HistoryRecord, ...], Mapping[str, TagFix]]:
        """An author's records that were last active since then, and their latest fixes however long ago."""
        ...

    async def author(self, repository_id: int, login: str, *, shared: bool = False) -> Account | None:
        """The author who has, or last had, this login there."""
        ...

    async def forgotten(self, repository_id: int) -> Mapping[int, datetime]:
        """Who asked to be forgotten in a repository, by account id, and when they last did."""
        ...

    async def replies(self, lane: str) -> tuple[PostedReply, ...]:
        """The answers to commands in a thread, oldest first."""
        ...

    async def stored(self, repository_id: int, account_id: int) -> StoredCounts:
        """How much is stored about somebody in a repository."""
        ...

    async def weekly_issue(self, repository_id: int) -> int | None:
        """The number of the repository's summary issue, as far as known."""
        ...

    async def was_told(self, repository_id: int, week: str) -> bool:
        """Whether the clock's run for this week is decided."""
        ...
