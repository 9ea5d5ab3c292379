"""Export, anonymize and delete what is stored about a person."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

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
    or_,
    select,
    update,
)

from bot.history.model import HistoryRecord, StoredCounts, build_history_record
from bot.pull_request.effects import ForgetPerson
from bot.pull_request.model import (
    Item,
    ItemOutcome,
    OverrideAudit,
    PullRequest,
    Ruling,
    SelectionOverride,
    Verdict,
)
from bot.pull_request.record import is_validator_key_of, is_verdict_of, remove_forgotten_reviewers
from bot.store.codec import decode, encode, encode_record
from bot.store.database import Transaction, to_datetime
from bot.store.repositories import is_repository_lane
from bot.store.schema import (
    IS_PARKED,
    audit_table,
    delivery_table,
    document_table,
    fix_table,
    forgotten_table,
    history_table,
    outbox_table,
    pull_request_table,
    reply_table,
)
from bot.values import GHOST

RecordOrPullRequest = TypeVar("RecordOrPullRequest", HistoryRecord, PullRequest)


def load_forgotten(transaction: Transaction, repository_id: int) -> dict[int, datetime]:
    """Who asked to be forgotten in a repository, and when they last did."""
    rows = select(forgotten_table.c.account_id, forgotten_table.c.at).where(
        forgotten_table.c.repository_id == repository_id
    )
    return {row.account_id: to_datetime(row.at) for row in transaction.execute(rows)}


def account_patterns(who: int) -> tuple[str, ...]:
    """What the text of every record has, as patterns, in which `is_from` may hold."""
    keys = (f'"user:{who}"', f'"validation:{who}"', f'"validation:{who}:')
    numbers = (f'"account_id":{who},', f'"account_id":{who}}}')
    return tuple(f"%{each}%" for each in (*keys, *numbers))


def anonymize(known: RecordOrPullRequest, who: int, until: datetime) -> RecordOrPullRequest:
    """What is known, without the name of this account on anything that it did up to then."""
    is_theirs = known.author.id == who and known.created_at <= until
    # The same for one person in one thread, so that their last word stays their last; no other use.
    mark = hashlib.sha256(f"{known.number}:{known.created_at.isoformat()}:{who}".encode()).hexdigest()[:12]
    verdicts = tuple(
        _unsigned(verdict, f"forgotten:{mark}")
        if is_verdict_of(verdict, who) and verdict.at <= until
        else verdict
        for verdict in known.verdicts
    )
    nameless = replace(known, author=GHOST if is_theirs else known.author, verdicts=verdicts)
    if isinstance(nameless, HistoryRecord):
        given = {verdict.id for verdict in known.verdicts if verdict not in verdicts}
        return replace(nameless, stated=tuple(each for each in nameless.stated if each.verdict not in given))
    return nameless


def without_name(known: PullRequest, who: int, until: datetime, login: str = "") -> PullRequest:
    """An open pull request with its findings, and without this person's name, title and reasons.

    The account's id stays until it is closed: it decides who may dismiss what, and whose verdict is whose.
    """
    acts = _Acts(who, until, login)
    given = (
        verdict.validator for verdict in known.verdicts if is_verdict_of(verdict, who) and verdict.at <= until
    )
    names = {login, *(validator.name for validator in given if not validator.check)} - {""}
    known = replace(
        remove_forgotten_reviewers(known, {who: until}),
        briefs=tuple(
            replace(brief, text=unquoted(brief.text, names), before=unquoted(brief.before, names))
            for brief in known.briefs
        ),
        override=acts.unnamed(known.override) if known.override else None,
        audits=tuple(map(acts.unnamed, known.audits)),
        rulings=tuple(map(acts.unnamed, known.rulings)),
    )
    if known.author.id != who or known.created_at > until:
        return known
    # A brief repeats the title, or an earlier brief, as what it replaces.
    briefs = tuple(replace(brief, before="") for brief in known.briefs)
    return replace(known, author=replace(known.author, login=GHOST.login), title="", briefs=briefs)


def unquoted(value: Any, names: Collection[str]) -> Any:
    """A JSON value with nobody in place of these names, where a text of ours has one: always in quotes."""
    # Not wherever the letters occur: a login may be a word, a branch or a part of a path.
    if isinstance(value, str):
        for name in names:
            for quote in "`\"'":
                value = value.replace(f"{quote}{name}{quote}", f"{quote}{GHOST.login}{quote}")
        return value
    if isinstance(value, list):
        return [unquoted(each, names) for each in value]
    if isinstance(value, dict):
        return {key: _renamed(key, each, names) for key, each in value.items()}
    return value


_NAMES = frozenset({"by", "account", "source", "login", "name"})


def _renamed(key: str, value: Any, names: Collection[str]) -> Any:
    return GHOST.login if key in _NAMES and value in names else unquoted(value, names)


def anonymize_acts(known: PullRequest, who: int, until: datetime, login: str = "") -> PullRequest:
    """What is known, with nobody's name on what this account decided, and on what came of its words."""
    acts = _Acts(who, until, login)
    return replace(
        known,
        override=acts.unnamed(known.override) if known.override else None,
        audits=tuple(map(acts.unnamed, known.audits)),
        rulings=tuple(map(acts.unnamed, known.rulings)),
        grounding=tuple(
            entry
            for entry in known.grounding
            if not is_validator_key_of(entry.validator, who) or entry.at > until
        ),
        tracked=tuple(
            replace(each, observations=tuple(map(acts.unobserved, each.observations)))
            for each in known.tracked
        ),
    )


NamedAct = TypeVar("NamedAct", SelectionOverride, OverrideAudit, Ruling)


@dataclass(frozen=True, slots=True)
class _Acts:
    """Whose acts lose their name; older ones are known by the login alone."""

    who: int
    until: datetime
    login: str

    def unnamed(self, act: NamedAct) -> NamedAct:
        theirs = act.by_id == self.who or (not act.by_id and act.by == self.login)
        return replace(act, by=GHOST.login, by_id=0, reason="") if theirs and act.at <= self.until else act

    def unobserved(self, seen: ItemOutcome) -> ItemOutcome:
        named = seen.author, seen.reviewer
        if seen.at > self.until or not any(is_validator_key_of(each, self.who) for each in named):
            return seen
        author, reviewer = ("" if is_validator_key_of(each, self.who) else each for each in named)
        return replace(seen, author=author, reviewer=reviewer)


def _unsigned(verdict: Verdict, key: str) -> Verdict:
    validator, (voice, _, rest) = verdict.validator, verdict.validator.key.partition(":")
    if voice not in {"user", "validation", "label"}:
        return replace(verdict, account="", account_id=0)  # a check's words are nobody's
    if voice == "validation":
        key = f"{key}:validation:{rest.partition(':')[2]}"  # still another voice than their review
    if voice == "label":
        key = validator.key  # the label may still be taken off
    nobody = replace(validator, key=key, name=validator.name if validator.check else GHOST.login)
    wordless = tuple(
        Item(item.tag, place=item.place, inferred=item.inferred, aspect=item.aspect, severity=item.severity)
        for item in verdict.items
    )
    unsigned = replace(verdict, validator=nobody, items=wordless, account="", account_id=0)
    return replace(unsigned, url="", body_hash="", said="")


logger = logging.getLogger("whetstone.store")

MOST_BODIES = 8 * 1024 * 1024
"""Bytes of delivery bodies in one page of an export; the first is given whatever its size."""


def count_stored(transaction: Transaction, repository_id: int, account_id: int) -> StoredCounts:
    """How much is stored about somebody in a repository."""
    rows = transaction.execute(
        select(history_table.c.record).where(_judged_by(repository_id, account_id))
    ).scalars()
    pull_requests = _count(
        transaction, history_table.c.repository_id == repository_id, history_table.c.author_id == account_id
    )
    asked = (
        reply_table.c.repository_id == repository_id,
        reply_table.c.account_id == account_id,
    )
    return StoredCounts(
        pull_requests=pull_requests + len(_unreviewed(transaction, repository_id, account_id)),
        verdicts=sum(
            is_verdict_of(each, account_id) for text in rows for each in decode(text, HistoryRecord).verdicts
        ),
        commands=_count(transaction, *asked),
    )


def export_person(transaction: Transaction, repository_id: int, account_id: int) -> dict[str, Any]:
    """All that is stored about somebody in a repository, as JSON values; its deliveries apart."""
    own = select(history_table, pull_request_table.c.record.label("whole"))
    own = own.outerjoin(pull_request_table, pull_request_table.c.lane == history_table.c.lane)
    own = own.where(history_table.c.repository_id == repository_id, history_table.c.author_id == account_id)
    mine = transaction.execute(own).all()
    unreviewed = _unreviewed(transaction, repository_id, account_id)
    pull_requests = [
        *({**_own(row.record), "title": _title(row.whole)} for row in mine),
        *({**_own(encode(build_history_record(known))), "title": known.title} for _, known in unreviewed),
    ]
    judged = (
        select(history_table).where(_judged_by(repository_id, account_id)).order_by(history_table.c.number)
    )
    lanes = [*(row.lane for row in mine), *(lane for lane, _ in unreviewed)]
    documents = select(document_table.c.body).where(document_table.c.lane.in_(lanes))
    commands = select(reply_table).where(
        reply_table.c.repository_id == repository_id, reply_table.c.account_id == account_id
    )
    rulings = select(audit_table).where(
        audit_table.c.repository_id == repository_id, audit_table.c.account_id == account_id
    )
    fixes = select(fix_table).where(
        fix_table.c.repository_id == repository_id, fix_table.c.author_id == account_id
    )
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
            {"topic": row.topic, "at": to_datetime(row.at).isoformat()}
            for row in transaction.execute(commands)
        ],
        "rulings": [
            {"act": row.act, "tag": row.tag, "at": to_datetime(row.at).isoformat(), "reason": row.reason}
            for row in transaction.execute(rulings)
        ],
        "fixes": [
            {"tag": row.tag, "number": row.number, "head": row.head, "at": to_datetime(row.at).isoformat()}
            for row in transaction.execute(fixes)
        ],
    }


def deliveries_naming(transaction: Transaction, repository_id: int, account_id: int) -> tuple[str, ...]:
    """The ids of a repository's stored deliveries that name somebody, oldest first."""
    named = and_(
        is_repository_lane(delivery_table.c.lane, repository_id),
        delivery_table.c.body.is_not(None),
        _names(transaction, account_id),
    )
    found = (
        select(delivery_table.c.id)
        .where(named)
        .order_by(delivery_table.c.accepted_at, delivery_table.c.position)
    )
    return tuple(transaction.execute(found).scalars())


def exported_deliveries(transaction: Transaction, ids: Sequence[str]) -> list[dict[str, Any]]:
    """These deliveries with their bodies, as far as those fit into a page."""
    listed: list[dict[str, Any]] = []
    size = 0
    for one in ids:
        row = transaction.execute(select(delivery_table).where(delivery_table.c.id == one)).first()
        if row is None or row.body is None:
            continue  # emptied or deleted since its id was read
        size += len(row.body)
        listed.append(
            {
                "id": row.id,
                "event": row.event,
                "state": row.state,
                "received_at": to_datetime(row.received_at).isoformat(),
                "bytes": len(row.body),
                "body": msgspec.Raw(row.body) if not listed or size <= MOST_BODIES else None,
            }
        )
    return listed


def _unreviewed(
    transaction: Transaction, repository_id: int, account_id: int
) -> list[tuple[str, PullRequest]]:
    """Somebody's pull requests that have no record yet, since nobody has reviewed them."""
    theirs = and_(
        pull_request_table.c.repository_id == repository_id, pull_request_table.c.author_id == account_id
    )
    recorded = select(history_table.c.lane).where(history_table.c.repository_id == repository_id)
    rows = transaction.execute(
        select(pull_request_table.c.lane, pull_request_table.c.record).where(
            theirs, pull_request_table.c.lane.not_in(recorded)
        )
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
    for verdict, said in zip(known["verdicts"], decode(text, HistoryRecord).verdicts, strict=True):
        if is_verdict_of(said, who):
            put = {name: value for name, value in stated.get(verdict["id"], {}).items() if name != "verdict"}
            yield {**verdict, "stated": put or None}


def _words(transaction: Transaction, lane: str) -> dict[str, dict[str, Any]]:
    """What was said in each verdict on a pull request: the records that are counted have no words."""
    kept = select(pull_request_table.c.record).where(pull_request_table.c.lane == lane)
    found = transaction.execute(kept).scalar_one_or_none()
    known = msgspec.json.decode(found)["verdicts"] if found else ()
    return {each["id"]: {"items": each["items"], "said": each.get("said", "")} for each in known}


def forget_person(transaction: Transaction, asked: ForgetPerson) -> None:
    """Take the name from what is counted, delete the rest, and remember only that it was asked."""
    where, who = asked.repository_id, asked.account_id
    tombstone = transaction.insert(forgotten_table)
    tombstone = tombstone.on_conflict_do_update(
        index_elements=[forgotten_table.c.repository_id, forgotten_table.c.account_id],
        set_={"at": tombstone.excluded.at},
    )
    values = {"repository_id": where, "account_id": who, "at": asked.at.timestamp()}
    transaction.execute(tombstone, values)
    transaction.execute(
        delete(fix_table).where(fix_table.c.repository_id == where, fix_table.c.author_id == who)
    )
    transaction.execute(
        delete(reply_table).where(reply_table.c.repository_id == where, reply_table.c.account_id == who)
    )
    signed = or_(
        audit_table.c.account_id == who,
        and_(audit_table.c.account_id == 0, audit_table.c.login == asked.login),
    )
    transaction.execute(delete(audit_table).where(audit_table.c.repository_id == where, signed))
    _anonymise_replies(transaction, asked)
    _anonymise_records(transaction, asked)
    _anonymise_pull_requests(transaction, asked)
    _anonymise_writes(transaction, asked)
    delete_parked(transaction, where, who, asked.at)


def keep_forgotten(transaction: Transaction, known: PullRequest) -> PullRequest:
    """The pull request as it may be kept: who was forgotten stays so when it is seen again."""
    for who, until in load_forgotten(transaction, known.repository.id).items():
        known = _kept(transaction, known, who, until)
    return known


def delete_parked(transaction: Transaction, repository_id: int, who: int, until: datetime) -> None:
    """Delete the deliveries that were given up on, arrived by then and name the person."""
    # Deleted, not emptied: GitHub can send one again, while an empty one would be retried in vain.
    named = and_(
        IS_PARKED,
        is_repository_lane(delivery_table.c.lane, repository_id),
        delivery_table.c.accepted_at <= until.timestamp(),
        _names(transaction, who),
    )
    deleted = transaction.execute(delete(delivery_table).where(named)).rowcount
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
    is_here = is_repository_lane(literal(lane), repository_id)
    asked = select(forgotten_table.c.account_id).where(
        forgotten_table.c.repository_id == repository_id, is_here
    )
    return None if transaction.execute(asked.limit(1)).first() is None else repository_id


def _judged_by(repository_id: int, account_id: int) -> ColumnElement[bool]:
    about = or_(*(history_table.c.record.like(sign) for sign in account_patterns(account_id)))
    return and_(history_table.c.repository_id == repository_id, about)


def _anonymise_records(transaction: Transaction, asked: ForgetPerson) -> None:
    where, who = asked.repository_id, asked.account_id
    theirs = and_(history_table.c.repository_id == where, history_table.c.author_id == who)
    touched = select(history_table.c.lane, history_table.c.record).where(or_(theirs, _judged_by(where, who)))
    for row in transaction.execute(touched).all():
        known = anonymize(decode(row.record, HistoryRecord), who, asked.at)
        values = {"record": encode(known), "author_id": known.author.id, "login": known.author.login}
        transaction.execute(update(history_table).where(history_table.c.lane == row.lane).values(values))


def _anonymise_replies(transaction: Transaction, asked: ForgetPerson) -> None:
    """What others asked about the person, such as their history."""
    here = reply_table.c.repository_id == asked.repository_id
    about = reply_table.c.topic.icontains(f"login='{asked.login}'", autoescape=True)
    transaction.execute(update(reply_table).where(here, about).values(topic="forgotten"))


def _anonymise_pull_requests(transaction: Transaction, asked: ForgetPerson) -> None:
    """An open pull request keeps its findings without the name, a closed one neither."""
    where, who = asked.repository_id, asked.account_id
    text = cast(pull_request_table.c.record, Text)
    acts = (f'%"by_id":{who},%', f'%"by_id":{who}}}%', f'%"by":"{asked.login}"%')
    about = or_(
        pull_request_table.c.author_id == who, *(text.like(sign) for sign in (*account_patterns(who), *acts))
    )
    theirs = and_(pull_request_table.c.repository_id == where, about)
    rows = transaction.execute(
        select(pull_request_table.c.lane, pull_request_table.c.record).where(theirs)
    ).all()
    for row in rows:
        known = _kept(transaction, decode(row.record, PullRequest), who, asked.at, asked.login)
        values = {"record": encode_record(known), "author_id": known.author.id}
        transaction.execute(
            update(pull_request_table).where(pull_request_table.c.lane == row.lane).values(values)
        )


def _anonymise_writes(transaction: Transaction, asked: ForgetPerson) -> None:
    """What is still to be written to GitHub, such as what waits for a permission."""
    named = and_(
        is_repository_lane(outbox_table.c.lane, asked.repository_id),
        outbox_table.c.effect.contains(asked.login, autoescape=True),
    )
    # One that somebody holds is being sent, and goes with that.
    rows = select(outbox_table.c.id, outbox_table.c.effect).where(named).with_for_update(skip_locked=True)
    for row in transaction.execute(rows).all():
        effect = encode(unquoted(msgspec.json.decode(row.effect), {asked.login}))
        transaction.execute(update(outbox_table).where(outbox_table.c.id == row.id).values(effect=effect))


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
    for row in transaction.execute(select(document_table).where(document_table.c.lane == lane)).all():
        before = msgspec.json.decode(row.body)
        after = unquoted(before, names)
        if after != before:
            transaction.execute(
                update(document_table).where(document_table.c.id == row.id).values(body=encode(after))
            )


def _names_of(known: PullRequest, who: int, until: datetime) -> set[str]:
    """The names under which the account's verdicts up to then are shown."""
    return {
        each.validator.name
        for each in known.verdicts
        if is_verdict_of(each, who) and each.at <= until and not each.validator.check
    }


def _names(transaction: Transaction, who: int) -> ColumnElement[bool]:
    """Whether a delivery's body has this account, in any part."""
    # PostgreSQL's `position` of two byte strings is a function under its full name only.
    found = func.pg_catalog.position if transaction.shared else func.instr
    needles = [f'id":{space}{who}{end}'.encode() for space in ("", " ") for end in (",", "}")]
    return or_(*(found(delivery_table.c.body, literal(each, LargeBinary)) > 0 for each in needles))


def _unquote(transaction: Transaction, lane: str, known: PullRequest, who: int, until: datetime) -> None:
    """What a reviewer said goes from the documents too; an author's documents go as a whole."""
    if known.author.id == who and known.created_at <= until:
        transaction.execute(delete(document_table).where(document_table.c.lane == lane))
        return
    names = {each.validator.name for each in known.verdicts if is_verdict_of(each, who) and each.at <= until}
    if not names:
        return
    names.add(GHOST.login)  # so it was shown while the pull request was open
    kept = and_(document_table.c.lane == lane, document_table.c.at <= until.timestamp())
    for row in transaction.execute(select(document_table.c.id, document_table.c.body).where(kept)).all():
        body = msgspec.json.decode(row.body)
        items = body.pop("feedback_items", [])
        left = [item for item in items if item.get("by") not in names]
        here = document_table.c.id == row.id
        if items and not left:
            transaction.execute(delete(document_table).where(here))
        elif left != items:
            body.pop("brief", None)  # it repeats what was said
            values = {"body": encode(body | {"feedback_items": left})}
            transaction.execute(update(document_table).where(here).values(values))


def _without(known: PullRequest, who: int, until: datetime, login: str = "") -> PullRequest:
    """A closed pull request without this name, and without words where it was theirs."""
    nameless = anonymize_acts(anonymize(known, who, until), who, until, login)
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
