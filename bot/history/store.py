"""Store and query history records, fixes and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Integer, Select, and_, bindparam, delete, literal, select
from sqlalchemy.dialects.sqlite import insert

from bot.history.forget import ForgottenPerson, anonymize
from bot.history.model import HistoryRecord, TimeWindow, build_history_record, replay_record
from bot.history.outcomes import TagFix, find_fixes
from bot.history.rates import ReviewerRates, compute_reviewer_rates, item_outcomes_in_window
from bot.pull_request.effects import StoreDocument
from bot.pull_request.model import FindingStatus, ItemOutcome, PullRequest
from bot.store.codec import column_text, decode, encode
from bot.store.database import Transaction, to_datetime, upsert
from bot.store.repositories import find_repository, has_left
from bot.store.schema import (
    audit_table,
    document_table,
    fix_table,
    history_table,
    pull_request_table,
    repository_table,
)
from bot.values import GHOST, Account, Repository

MAX_DOCUMENTS_KEPT = 20
"""Kept of a pull request, the newest."""

_read = msgspec.json.Decoder(HistoryRecord).decode


def save_history(
    transaction: Transaction, lane: str, pull_request: PullRequest, forgotten: Mapping[int, datetime]
) -> None:
    """Save the rows that history and weekly summaries read, in the pull request's own transaction."""
    if not pull_request.verdicts and not pull_request.merged:
        return  # it counts nowhere yet
    record = build_history_record(pull_request)
    for account_id, until in forgotten.items():
        record = anonymize(record, ForgottenPerson(account_id, until))
    repository = pull_request.repository
    values = {
        "lane": lane,
        "repository_id": repository.id,
        "installation_id": repository.installation_id,
        "private": repository.private,
        "number": record.number,
        "author_id": record.author.id,
        "login": record.author.login,
        "last_active": record.last_active.timestamp(),
        "record": encode(record),
    }
    transaction.execute(upsert(history_table), values)
    _save_fixes(transaction, repository.id, record)
    _save_rulings(transaction, lane, pull_request, forgotten)


def save_document(transaction: Transaction, lane: str, document: StoreDocument) -> None:
    """Save a document of a pull request, and delete all but the newest."""
    values = {"id": document.id, "lane": lane, "at": document.at.timestamp(), "body": document.body}
    transaction.execute(upsert(document_table), values)
    transaction.execute(_DELETE_OLD_DOCUMENTS, {"of": lane})


_NEWEST_DOCUMENTS = (
    select(document_table.c.id)
    .where(document_table.c.lane == bindparam("of"))
    .order_by(document_table.c.at.desc())
    .limit(literal(MAX_DOCUMENTS_KEPT))
)
_DELETE_OLD_DOCUMENTS = delete(document_table).where(
    document_table.c.lane == bindparam("of"), document_table.c.id.not_in(_NEWEST_DOCUMENTS)
)


def load_records(
    transaction: Transaction,
    repository_id: int,
    since: datetime,
    author_id: int | None = None,
    *,
    shared: bool = False,
) -> tuple[HistoryRecord, ...]:
    """Load the records of a repository, or of one author in it, that were last active since then.

    With `shared` also those of the repositories that share with it, each with its repository's name.
    """
    values = {"where": repository_id, "since": since.timestamp()}
    if author_id is None:
        rows = transaction.execute(_OF_ALL, values)
    else:
        rows = transaction.execute(_OF_ONE, values | {"who": author_id})
    records = tuple(map(decode_history, rows.scalars()))
    if shared:
        records += _load_records_beside(transaction, repository_id, since, author_id)
    return records


def load_newest_records(
    transaction: Transaction, repository_id: int, author_id: int, most: int
) -> tuple[HistoryRecord, ...]:
    """Load an author's latest records in a repository."""
    values = {"where": repository_id, "who": author_id, "most": most}
    return tuple(map(decode_history, transaction.execute(_NEWEST, values).scalars()))


def load_author(
    transaction: Transaction, repository_id: int, since: datetime, author_id: int, *, shared: bool = False
) -> tuple[tuple[HistoryRecord, ...], dict[str, TagFix]]:
    """Load an author's records that were last active since then, and the latest fix of each tag ever."""
    fixes = _load_latest_fixes(transaction, repository_id, author_id)
    for other, name in _load_beside(transaction, repository_id).items() if shared else ():
        theirs = _load_latest_fixes(transaction, other, author_id)
        fixes += [replace(fix, repository=name) for fix in theirs]
    newest = {fix.tag: fix for fix in sorted(fixes, key=lambda fix: fix.at)}
    return load_records(transaction, repository_id, since, author_id, shared=shared), newest


def _load_latest_fixes(transaction: Transaction, repository_id: int, author_id: int) -> list[TagFix]:
    rows = transaction.execute(_FIXES, {"where": repository_id, "who": author_id})
    return [TagFix(row.tag, row.number, row.head, to_datetime(row.at)) for row in rows]


def find_author(
    transaction: Transaction, repository_id: int, login: str, *, shared: bool = False
) -> Account | None:
    """Find who has, or last had, this login there; with `shared` also in repositories that share with it."""
    beside = _load_beside(transaction, repository_id) if shared else ()
    authors = (_find_author_in(transaction, where, login) for where in (repository_id, *beside))
    return next((author for author in authors if author is not None), None)


def _find_author_in(transaction: Transaction, repository_id: int, login: str) -> Account | None:
    here = history_table.c.repository_id == repository_id
    for same in (
        history_table.c.login == login,
        history_table.c.login == f"{login}[bot]",
        history_table.c.login.ilike(_literal(login), "\\"),
    ):
        record = transaction.execute(_newest(and_(here, same))).scalar()
        if record is not None:
            return decode_history(record).author
    return _unreviewed_author(transaction, repository_id, login)


def _unreviewed_author(transaction: Transaction, repository_id: int, login: str) -> Account | None:
    """The author of a pull request that has no record yet because it was not reviewed."""
    named = pull_request_table.c.record.icontains(f'"login":{encode(login)}', autoescape=True)
    rows = select(pull_request_table.c.record).where(
        pull_request_table.c.repository_id == repository_id, named
    )
    authors = (decode(text, PullRequest).author for text in transaction.execute(rows).scalars())
    return next((author for author in authors if author.login.lower() == login.lower()), None)


def load_documents(transaction: Transaction, lane: str) -> tuple[Any, ...]:
    """Load the documents of a pull request, newest first."""
    newest_first = (
        select(document_table.c.body)
        .where(document_table.c.lane == lane)
        .order_by(document_table.c.at.desc())
    )
    return tuple(msgspec.json.decode(body) for body in transaction.execute(newest_first).scalars())


def decode_history(text: str) -> HistoryRecord:
    """Decode a stored record; one of an earlier version gets its findings by a replay of its verdicts."""
    try:
        record = _read(text)
    except msgspec.DecodeError:  # half of a surrogate pair in a path
        record = decode(text, HistoryRecord)
    return replay_record(record)


def _save_fixes(transaction: Transaction, repository_id: int, record: HistoryRecord) -> None:
    if record.author == GHOST:
        return
    newest = {fix.tag: fix for fix in find_fixes(record, record.last_active)}
    for fix in newest.values():
        values = {
            "repository_id": repository_id,
            "author_id": record.author.id,
            "tag": fix.tag,
            "number": fix.number,
            "head": fix.head,
            "at": fix.at.timestamp(),
        }
        transaction.execute(_SAVE_FIX, values)


_NEW_FIX = insert(fix_table)
_SAVE_FIX = _NEW_FIX.on_conflict_do_update(
    index_elements=list(fix_table.primary_key),
    set_={name: _NEW_FIX.excluded[name] for name in ("number", "head", "at")},
    where=fix_table.c.at <= _NEW_FIX.excluded.at,
)


def _save_rulings(
    transaction: Transaction, lane: str, pull_request: PullRequest, forgotten: Mapping[int, datetime]
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
        if not (ruling.by_id in forgotten and ruling.at <= forgotten[ruling.by_id])
    ]
    if rows:
        transaction.execute(insert(audit_table).on_conflict_do_nothing(), rows)


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


BrokenGateKey = tuple[str, str, str]
"""Repository, author, tag."""


UncountedVerdictKey = tuple[str, str, str]
"""Repository, account, stance."""


@dataclass(frozen=True, slots=True)
class FindingLabels:
    """What a finding is counted by: its location, reporter, author and outcome."""

    repository: str
    author: str
    reviewer: str
    tag: str
    placed: bool
    status: FindingStatus


@dataclass(frozen=True, slots=True)
class RecentCounts:
    """What happened in all repositories in a window; each is named by its full name in lower case."""

    broken: Counter[BrokenGateKey]
    """The pull requests in which each tag was reported, a tag once a pull request."""
    findings: Counter[FindingLabels]
    uncounted: Counter[UncountedVerdictKey]
    """The verdicts of accounts that are no validators: they are shown nowhere else."""
    reviewed: Mapping[str, tuple[ReviewerRates, ...]]
    """The outcomes of the validators' claims, by repository."""
    observed: tuple[ItemOutcome, ...]
    """The outcomes of the items that an iteration could tell about, without names."""


def count_recent(transaction: Transaction, window: TimeWindow) -> RecentCounts:
    """Count what happened in the window."""
    broken: Counter[BrokenGateKey] = Counter()
    findings: Counter[FindingLabels] = Counter()
    uncounted: Counter[UncountedVerdictKey] = Counter()
    observed: list[ItemOutcome] = []
    by_repository: dict[str, list[HistoryRecord]] = {}
    rows = transaction.execute(
        select(history_table.c.record, history_table.c.login, repository_table.c.folded)
        .join(repository_table, repository_table.c.id == history_table.c.repository_id)
        .where(~has_left, history_table.c.last_active >= window.start.timestamp())
    )
    for row in rows:
        record, repository = decode_history(row.record), row.folded
        by_repository.setdefault(repository, []).append(record)
        observed += item_outcomes_in_window((record,), window)
        reported = [finding for finding in record.findings if finding.last_report(window)]
        tags = {finding.tag for finding in reported if finding.tag}
        broken.update((repository, row.login, tag) for tag in tags)
        names = {verdict.validator.key: verdict.validator.name for verdict in record.verdicts}
        findings.update(
            FindingLabels(
                repository,
                row.login,
                names.get(finding.validator, ""),
                finding.tag or "",
                finding.path is not None,
                finding.status,
            )
            for finding in reported
        )
        uncounted.update(
            (repository, verdict.validator.name, verdict.stance.value)
            for verdict in record.verdicts
            if not verdict.counted and verdict.at >= window.start
        )
    reviewed = {name: compute_reviewer_rates(records, window) for name, records in by_repository.items()}
    return RecentCounts(broken, findings, uncounted, reviewed, tuple(observed))


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


def _load_records_beside(
    transaction: Transaction, repository_id: int, since: datetime, author_id: int | None
) -> tuple[HistoryRecord, ...]:
    repository, beside = find_repository(transaction, repository_id), _load_beside(transaction, repository_id)
    if repository is None or not beside:
        return ()
    values = {
        "where": list(beside),
        "installation": repository.installation_id,
        "private": repository.private,
        "since": since.timestamp(),
    }
    rows = (
        transaction.execute(_SHARED_COLUMNS, values)
        if author_id is None
        else transaction.execute(_SHARED_OF_ONE, values | {"who": author_id})
    )
    return tuple(replace(decode_history(row.record), repository=beside[row.repository_id]) for row in rows)


def _load_beside(transaction: Transaction, repository_id: int) -> dict[int, str]:
    """The full names, by id, of the repositories that share their history with this one."""
    rows = transaction.execute(_BESIDE, {"which": repository_id})
    return {row.id: Repository(row.id, row.owner, row.name, 0).full_name for row in rows}
