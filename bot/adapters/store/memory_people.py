"""What is stored about somebody in a repository, and how does it go away?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Text, and_, cast, delete, func, not_, or_, select, update

from bot.adapters.store.codec import decode, encode, encode_record
from bot.adapters.store.configs import config
from bot.adapters.store.memory_names import anonymous, forgotten_in, is_from, signs, without_acts
from bot.adapters.store.memory_schema import (
    OF_A_REPOSITORY,
    audit,
    document,
    fix,
    forgotten,
    record,
    reply,
    repository,
)
from bot.adapters.store.schema import delivery, outbox, pull_request, refusal
from bot.adapters.store.transaction import Transaction, moment
from bot.domain.commands.replies import Stored
from bot.domain.memory import Record
from bot.domain.memos import Forget
from bot.domain.model import PullRequest, Verdict


def stored(transaction: Transaction, repository_id: int, account_id: int) -> Stored:
    """How much is stored about somebody in a repository."""
    rows = transaction.execute(select(record.c.record).where(_judged_by(repository_id, account_id))).scalars()
    pull_requests = _count(
        transaction, record.c.repository_id == repository_id, record.c.author_id == account_id
    )
    asked = (
        reply.c.repository_id == repository_id,
        reply.c.account_id == account_id,
    )
    return Stored(
        pull_requests=pull_requests,
        verdicts=sum(is_from(each, account_id) for text in rows for each in decode(text, Record).verdicts),
        commands=_count(transaction, *asked),
    )


def export(transaction: Transaction, repository_id: int, account_id: int) -> dict[str, Any]:
    """All that is stored about somebody in a repository, as JSON values."""
    own = select(record).where(record.c.repository_id == repository_id, record.c.author_id == account_id)
    mine = transaction.execute(own.order_by(record.c.number)).all()
    judged = select(record).where(_judged_by(repository_id, account_id)).order_by(record.c.number)
    documents = select(document.c.body).where(document.c.lane.in_([row.lane for row in mine]))
    commands = select(reply).where(reply.c.repository_id == repository_id, reply.c.account_id == account_id)
    rulings = select(audit).where(audit.c.repository_id == repository_id, audit.c.account_id == account_id)
    return {
        "pull_requests": [_own(row.record) for row in mine],
        "documents": [msgspec.json.decode(body) for body in transaction.execute(documents).scalars()],
        "verdicts": [
            {"number": row.number, **verdict, **words.get(verdict["id"], {})}
            for row in transaction.execute(judged).all()
            for words in (_words(transaction, row.lane),)
            for verdict in _given(row.record, account_id)
        ],
        "commands": [
            {"topic": row.topic, "at": moment(row.at).isoformat()} for row in transaction.execute(commands)
        ],
        "rulings": [
            {"act": row.act, "tag": row.tag, "at": moment(row.at).isoformat(), "reason": row.reason}
            for row in transaction.execute(rulings)
        ],
    }


def _own(text: str) -> dict[str, Any]:
    known: dict[str, Any] = msgspec.json.decode(text)
    known.pop("repository", None)  # it is the one that is asked
    return known


def _given(text: str, who: int) -> Iterator[dict[str, Any]]:
    """The verdicts of somebody, each with how it was put, in numbers (null where it had no words)."""
    known = msgspec.json.decode(text)
    stated = {each["verdict"]: each for each in known.get("stated", ())}
    for verdict, said in zip(known["verdicts"], decode(text, Record).verdicts, strict=True):
        if is_from(said, who):
            put = {name: value for name, value in stated.get(verdict["id"], {}).items() if name != "verdict"}
            yield {**verdict, "stated": put or None}


def _words(transaction: Transaction, lane: str) -> dict[str, dict[str, Any]]:
    """What was said in each verdict on a pull request: the records that are counted have no words."""
    kept = select(pull_request.c.record).where(pull_request.c.lane == lane)
    found = transaction.execute(kept).scalar_one_or_none()
    known = msgspec.json.decode(found)["verdicts"] if found else ()
    return {each["id"]: {"items": each["items"], "said": each.get("said", "")} for each in known}


def forget(transaction: Transaction, asked: Forget) -> None:
    """Take the name from what is counted, delete the rest, and remember only that it was asked."""
    where, who = asked.repository_id, asked.account_id
    tombstone = transaction.insert(forgotten)
    tombstone = tombstone.on_conflict_do_update(
        index_elements=[forgotten.c.repository_id, forgotten.c.account_id],
        set_={"at": tombstone.excluded.at},
    )
    values = {"repository_id": where, "account_id": who, "at": asked.at.timestamp()}
    transaction.execute(tombstone, values)
    lanes = select(record.c.lane).where(record.c.repository_id == where, record.c.author_id == who)
    transaction.execute(delete(document).where(document.c.lane.in_(lanes)))
    transaction.execute(delete(fix).where(fix.c.repository_id == where, fix.c.author_id == who))
    for one in (reply, audit):
        transaction.execute(delete(one).where(one.c.repository_id == where, one.c.account_id == who))
    _anonymise_records(transaction, asked)
    _anonymise_closed(transaction, asked)


def still_forgotten(transaction: Transaction, known: PullRequest) -> PullRequest:
    """The pull request as it may be kept: who was forgotten stays so when a closed one is seen again."""
    if not known.open:
        for who, until in forgotten_in(transaction, known.repository.id).items():
            _unquote(transaction, f"pr:{known.repository.id}:{known.number}", known, who, until)
            known = _without(known, who, until)
    return known


def forget_repository(
    transaction: Transaction, repository_id: int, spared: ColumnElement[bool] | None = None
) -> None:
    """All about a repository goes, but for the deliveries that are spared."""
    lanes = select(pull_request.c.lane).where(pull_request.c.repository_id == repository_id)
    transaction.execute(delete(document).where(document.c.lane.in_(lanes)))
    for table in (*OF_A_REPOSITORY, pull_request, refusal):
        transaction.execute(delete(table).where(table.c.repository_id == repository_id))
    transaction.execute(delete(repository).where(repository.c.id == repository_id))
    transaction.execute(delete(config).where(config.c.key == f"repository:{repository_id}"))
    # What was to be said there quotes it, and nobody is left to read it; so does what was delivered.
    transaction.execute(delete(outbox).where(lanes_of(outbox.c.lane, repository_id)))
    told = and_(lanes_of(delivery.c.lane, repository_id), delivery.c.body.is_not(None))
    if spared is not None:
        told = and_(told, not_(spared))
    transaction.execute(update(delivery).where(told).values(body=b"{}"))


def lanes_of(lane: ColumnElement[str], repository_id: int) -> ColumnElement[bool]:
    """Whether a lane is this repository's."""
    exact = [f"{kind}:{repository_id}" for kind in ("weekly", "backfill", "repository")]
    below = (lane.like(f"{kind}:{repository_id}:%") for kind in ("pr", "issue", "commit"))
    return or_(lane.in_(exact), *below)


def _judged_by(repository_id: int, account_id: int) -> ColumnElement[bool]:
    about = or_(*(record.c.record.like(sign) for sign in signs(account_id)))
    return and_(record.c.repository_id == repository_id, about)


def _anonymise_records(transaction: Transaction, asked: Forget) -> None:
    where, who = asked.repository_id, asked.account_id
    theirs = and_(record.c.repository_id == where, record.c.author_id == who)
    touched = select(record.c.lane, record.c.record).where(or_(theirs, _judged_by(where, who)))
    for row in transaction.execute(touched).all():
        known = anonymous(decode(row.record, Record), who, asked.at)
        values = {"record": encode(known), "author_id": known.author.id, "login": known.author.login}
        transaction.execute(update(record).where(record.c.lane == row.lane).values(values))


def _anonymise_closed(transaction: Transaction, asked: Forget) -> None:
    """An open pull request is still worked on, and needs to know whose it is; a closed one does not."""
    where, who = asked.repository_id, asked.account_id
    kept = cast(pull_request.c.record, Text)
    acts = (f'%"by_id":{who},%', f'%"by_id":{who}}}%', f'%"by":"{asked.login}"%')
    about = or_(pull_request.c.author_id == who, *(kept.like(sign) for sign in (*signs(who), *acts)))
    closed = and_(pull_request.c.repository_id == where, pull_request.c.open.is_(False), about)
    rows = transaction.execute(select(pull_request.c.lane, pull_request.c.record).where(closed)).all()
    for row in rows:
        before = decode(row.record, PullRequest)
        _unquote(transaction, row.lane, before, who, asked.at)
        known = _without(before, who, asked.at, asked.login)
        values = {"record": encode_record(known), "author_id": known.author.id}
        transaction.execute(update(pull_request).where(pull_request.c.lane == row.lane).values(values))


def _unquote(transaction: Transaction, lane: str, known: PullRequest, who: int, until: datetime) -> None:
    """What a reviewer said goes from the documents too; one that has nothing else goes as a whole."""
    names = {each.validator.name for each in known.verdicts if is_from(each, who) and each.at <= until}
    if not names:
        return
    kept = and_(document.c.lane == lane, document.c.at <= until.timestamp())
    for row in transaction.execute(select(document.c.id, document.c.body).where(kept)).all():
        body = msgspec.json.decode(row.body)
        items = body.pop("feedback_items", [])
        left = [item for item in items if item.get("by") not in names]
        here = document.c.id == row.id
        if items and not left:
            transaction.execute(delete(document).where(here))
        elif left != items:
            body.pop("brief", None)  # it repeats what was said
            values = {"body": encode(body | {"feedback_items": left})}
            transaction.execute(update(document).where(here).values(values))


def _without(known: PullRequest, who: int, until: datetime, login: str = "") -> PullRequest:
    """A closed pull request without this name, and without words where it was theirs."""
    nameless = without_acts(anonymous(known, who, until), who, until, login)
    if nameless.author == known.author:
        # What the author was told repeats the reviewer's words.
        return replace(nameless, briefs=()) if nameless.verdicts != known.verdicts else nameless
    return replace(
        nameless, title="", briefs=(), grounding=(), verdicts=tuple(map(_wordless, nameless.verdicts))
    )


def _wordless(verdict: Verdict) -> Verdict:
    items = tuple(
        replace(item, words="", context_before="", context_after="", suggestion=None)
        for item in verdict.items
    )
    return replace(verdict, items=items, said="")


def _count(transaction: Transaction, *where: ColumnElement[bool]) -> int:
    count: int = transaction.execute(select(func.count()).where(*where)).scalar_one()
    return count
