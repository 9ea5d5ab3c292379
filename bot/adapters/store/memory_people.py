"""What is stored about somebody in a repository, and how does it go away?"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Text,
    and_,
    cast,
    delete,
    func,
    literal,
    not_,
    or_,
    select,
    update,
)

from bot.adapters.store.codec import decode, encode, encode_record
from bot.adapters.store.configs import config
from bot.adapters.store.memory_names import (
    anonymous,
    forgotten_in,
    signs,
    unquoted,
    without_acts,
    without_name,
)
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
from bot.adapters.store.schema import DONE, IS_PARKED, delivery, outbox, pull_request, refusal
from bot.adapters.store.transaction import Transaction, moment
from bot.domain.commands.replies import Stored
from bot.domain.forgetting import is_from
from bot.domain.memory import Record, record_of
from bot.domain.memos import Forget
from bot.domain.model import GHOST, PullRequest, Verdict

logger = logging.getLogger("whetstone.store")

MOST_BODIES = 8 * 1024 * 1024
"""Bytes of delivery bodies in one page of an export; the first is given whatever its size."""


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
        pull_requests=pull_requests + len(_unreviewed(transaction, repository_id, account_id)),
        verdicts=sum(is_from(each, account_id) for text in rows for each in decode(text, Record).verdicts),
        commands=_count(transaction, *asked),
    )


def export(transaction: Transaction, repository_id: int, account_id: int) -> dict[str, Any]:
    """All that is stored about somebody in a repository, as JSON values; its deliveries apart."""
    own = select(record, pull_request.c.record.label("whole"))
    own = own.outerjoin(pull_request, pull_request.c.lane == record.c.lane)
    own = own.where(record.c.repository_id == repository_id, record.c.author_id == account_id)
    mine = transaction.execute(own).all()
    unreviewed = _unreviewed(transaction, repository_id, account_id)
    pull_requests = [
        *({**_own(row.record), "title": _title(row.whole)} for row in mine),
        *({**_own(encode(record_of(known))), "title": known.title} for _, known in unreviewed),
    ]
    judged = select(record).where(_judged_by(repository_id, account_id)).order_by(record.c.number)
    lanes = [*(row.lane for row in mine), *(lane for lane, _ in unreviewed)]
    documents = select(document.c.body).where(document.c.lane.in_(lanes))
    commands = select(reply).where(reply.c.repository_id == repository_id, reply.c.account_id == account_id)
    rulings = select(audit).where(audit.c.repository_id == repository_id, audit.c.account_id == account_id)
    fixes = select(fix).where(fix.c.repository_id == repository_id, fix.c.author_id == account_id)
    return {
        "pull_requests": sorted(pull_requests, key=lambda each: int(each["number"])),
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
        "fixes": [
            {"tag": row.tag, "number": row.number, "head": row.head, "at": moment(row.at).isoformat()}
            for row in transaction.execute(fixes)
        ],
    }


def deliveries_naming(transaction: Transaction, repository_id: int, account_id: int) -> tuple[str, ...]:
    """The ids of a repository's stored deliveries that name somebody, oldest first."""
    named = and_(
        lanes_of(delivery.c.lane, repository_id),
        delivery.c.body.is_not(None),
        _names(transaction, account_id),
    )
    found = select(delivery.c.id).where(named).order_by(delivery.c.accepted_at, delivery.c.position)
    return tuple(transaction.execute(found).scalars())


def exported_deliveries(transaction: Transaction, ids: Sequence[str]) -> list[dict[str, Any]]:
    """These deliveries with their bodies, as far as those fit into a page."""
    listed: list[dict[str, Any]] = []
    size = 0
    for one in ids:
        row = transaction.execute(select(delivery).where(delivery.c.id == one)).first()
        if row is None or row.body is None:
            continue  # emptied or deleted since its id was read
        size += len(row.body)
        listed.append(
            {
                "id": row.id,
                "event": row.event,
                "state": row.state,
                "received_at": moment(row.received_at).isoformat(),
                "bytes": len(row.body),
                "body": msgspec.Raw(row.body) if not listed or size <= MOST_BODIES else None,
            }
        )
    return listed


def _unreviewed(
    transaction: Transaction, repository_id: int, account_id: int
) -> list[tuple[str, PullRequest]]:
    """Somebody's pull requests that have no record yet, since nobody has reviewed them."""
    theirs = and_(pull_request.c.repository_id == repository_id, pull_request.c.author_id == account_id)
    recorded = select(record.c.lane).where(record.c.repository_id == repository_id)
    rows = transaction.execute(
        select(pull_request.c.lane, pull_request.c.record).where(theirs, pull_request.c.lane.not_in(recorded))
    )
    known = [(row.lane, decode(row.record, PullRequest)) for row in rows]
    return [(lane, each) for lane, each in known if each.author.login != GHOST.login]


def _title(whole: str | None) -> str:
    return "" if whole is None else str(msgspec.json.decode(whole)["title"])


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
    transaction.execute(delete(fix).where(fix.c.repository_id == where, fix.c.author_id == who))
    transaction.execute(delete(reply).where(reply.c.repository_id == where, reply.c.account_id == who))
    signed = or_(audit.c.account_id == who, and_(audit.c.account_id == 0, audit.c.login == asked.login))
    transaction.execute(delete(audit).where(audit.c.repository_id == where, signed))
    _anonymise_replies(transaction, asked)
    _anonymise_records(transaction, asked)
    _anonymise_pull_requests(transaction, asked)
    _anonymise_writes(transaction, asked)
    delete_parked(transaction, where, who, asked.at)


def still_forgotten(transaction: Transaction, known: PullRequest) -> PullRequest:
    """The pull request as it may be kept: who was forgotten stays so when it is seen again."""
    for who, until in forgotten_in(transaction, known.repository.id).items():
        known = _kept(transaction, known, who, until)
    return known


def delete_parked(transaction: Transaction, repository_id: int, who: int, until: datetime) -> None:
    """Delete the deliveries that were given up on, arrived by then and name the person."""
    # Deleted, not emptied: GitHub can send one again, while an empty one would be retried in vain.
    named = and_(
        IS_PARKED,
        lanes_of(delivery.c.lane, repository_id),
        delivery.c.accepted_at <= until.timestamp(),
        _names(transaction, who),
    )
    deleted = transaction.execute(delete(delivery).where(named)).rowcount
    if deleted:
        logger.info(
            "parked deliveries that name a forgotten person are deleted",
            extra={"repository": repository_id, "deliveries": deleted},
        )


def forgets_people(transaction: Transaction, lane: str) -> int | None:
    """The id of the lane's repository where somebody asked to be forgotten: it keeps no bodies; else None."""
    kind, _, rest = lane.partition(":")
    number = rest.partition(":")[0]
    # A backfill is followed by reading its steps; they name nobody.
    if kind == "backfill" or not number.isdecimal():
        return None
    repository_id = int(number)
    is_here = lanes_of(literal(lane), repository_id)
    asked = select(forgotten.c.account_id).where(forgotten.c.repository_id == repository_id, is_here)
    return None if transaction.execute(asked.limit(1)).first() is None else repository_id


def has_done_body(repository_id: int) -> ColumnElement[bool]:
    """A delivery of this repository that is done and still has its body; not a backfill's own."""
    here = and_(lanes_of(delivery.c.lane, repository_id), delivery.c.lane != f"backfill:{repository_id}")
    return and_(here, delivery.c.body.is_not(None), delivery.c.state == DONE)


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
    transaction.execute(update(delivery).where(told).values(body=b"{}", error=None))


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


def _anonymise_replies(transaction: Transaction, asked: Forget) -> None:
    """What others asked about the person, such as their history."""
    here = reply.c.repository_id == asked.repository_id
    about = reply.c.topic.icontains(f"login='{asked.login}'", autoescape=True)
    transaction.execute(update(reply).where(here, about).values(topic="forgotten"))


def _anonymise_pull_requests(transaction: Transaction, asked: Forget) -> None:
    """An open pull request keeps its findings without the name, a closed one neither."""
    where, who = asked.repository_id, asked.account_id
    text = cast(pull_request.c.record, Text)
    acts = (f'%"by_id":{who},%', f'%"by_id":{who}}}%', f'%"by":"{asked.login}"%')
    about = or_(pull_request.c.author_id == who, *(text.like(sign) for sign in (*signs(who), *acts)))
    theirs = and_(pull_request.c.repository_id == where, about)
    rows = transaction.execute(select(pull_request.c.lane, pull_request.c.record).where(theirs)).all()
    for row in rows:
        known = _kept(transaction, decode(row.record, PullRequest), who, asked.at, asked.login)
        values = {"record": encode_record(known), "author_id": known.author.id}
        transaction.execute(update(pull_request).where(pull_request.c.lane == row.lane).values(values))


def _anonymise_writes(transaction: Transaction, asked: Forget) -> None:
    """What is still to be written to GitHub, such as what waits for a permission."""
    named = and_(
        lanes_of(outbox.c.lane, asked.repository_id), outbox.c.effect.contains(asked.login, autoescape=True)
    )
    # One that somebody holds is being sent, and goes with that.
    rows = select(outbox.c.id, outbox.c.effect).where(named).with_for_update(skip_locked=True)
    for row in transaction.execute(rows).all():
        effect = encode(unquoted(msgspec.json.decode(row.effect), {asked.login}))
        transaction.execute(update(outbox).where(outbox.c.id == row.id).values(effect=effect))


def _kept(
    transaction: Transaction, known: PullRequest, who: int, until: datetime, login: str = ""
) -> PullRequest:
    """The pull request and its documents without this person, as far as it still needs them."""
    lane = f"pr:{known.repository.id}:{known.number}"
    if known.open:
        _unname_documents(transaction, lane, {login, *_names_of(known, who, until)} - {"", GHOST.login})
        return without_name(known, who, until, login)
    _unquote(transaction, lane, known, who, until)
    return _without(known, who, until, login)


def _unname_documents(transaction: Transaction, lane: str, names: Collection[str]) -> None:
    if not names:
        return
    for row in transaction.execute(select(document).where(document.c.lane == lane)).all():
        before = msgspec.json.decode(row.body)
        after = unquoted(before, names)
        if after != before:
            transaction.execute(update(document).where(document.c.id == row.id).values(body=encode(after)))


def _names_of(known: PullRequest, who: int, until: datetime) -> set[str]:
    """The names under which the account's verdicts up to then are shown."""
    return {
        each.validator.name
        for each in known.verdicts
        if is_from(each, who) and each.at <= until and not each.validator.check
    }


def _names(transaction: Transaction, who: int) -> ColumnElement[bool]:
    """Whether a delivery's body has this account, in any part."""
    # PostgreSQL's `position` of two byte strings is a function under its full name only.
    found = func.pg_catalog.position if transaction.shared else func.instr
    needles = [f'id":{space}{who}{end}'.encode() for space in ("", " ") for end in (",", "}")]
    return or_(*(found(delivery.c.body, literal(each, LargeBinary)) > 0 for each in needles))


def _unquote(transaction: Transaction, lane: str, known: PullRequest, who: int, until: datetime) -> None:
    """What a reviewer said goes from the documents too; an author's documents go as a whole."""
    if known.author.id == who and known.created_at <= until:
        transaction.execute(delete(document).where(document.c.lane == lane))
        return
    names = {each.validator.name for each in known.verdicts if is_from(each, who) and each.at <= until}
    if not names:
        return
    names.add(GHOST.login)  # so it was shown while the pull request was open
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
