"""Export, anonymize and delete what is stored about a person."""

from __future__ import annotations

import ast
import hashlib
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    LargeBinary,
    Row,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    update,
)

from bot import regex
from bot.findings.ledger import report_key
from bot.history.model import HistoryRecord, StoredCounts, build_history_record
from bot.pull_request.effects import ForgetPerson
from bot.pull_request.model import (
    FindingRecord,
    Item,
    ItemOutcome,
    OverrideAudit,
    PullRequest,
    Ruling,
    SelectionOverride,
    ThreadState,
    Verdict,
)
from bot.pull_request.record import is_validator_key_of, is_verdict_of, remove_forgotten_reviewers
from bot.store.codec import decode, encode, encode_record
from bot.store.database import Transaction, to_datetime, upsert
from bot.store.repositories import is_repository_lane, repository_of_lane
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
NamedAct = TypeVar("NamedAct", SelectionOverride, OverrideAudit, Ruling)


def load_forgotten(transaction: Transaction, repository_id: int) -> dict[int, datetime]:
    """Load who asked to be forgotten in a repository, by account id, and when they last did."""
    rows = transaction.execute(_FORGOTTEN, {"where": repository_id})
    return {row.account_id: to_datetime(row.at) for row in rows}


# Built once: every turn asks.
_FORGOTTEN = select(forgotten_table.c.account_id, forgotten_table.c.at).where(
    forgotten_table.c.repository_id == bindparam("where")
)


def account_patterns(who: int) -> tuple[str, ...]:
    """Return LIKE patterns of which every record with a verdict of this account has one."""
    keys = (f'"user:{who}"', f'"validation:{who}"', f'"validation:{who}:')
    numbers = (f'"account_id":{who},', f'"account_id":{who}}}')
    return tuple(f"%{text}%" for text in (*keys, *numbers))


@dataclass(frozen=True, slots=True)
class ForgottenPerson:
    """Who is forgotten, with all that they did up to then; of older acts only the login is stored."""

    id: int
    until: datetime
    login: str = ""

    def opened(self, record: HistoryRecord | PullRequest) -> bool:
        """Whether they are the author."""
        return record.author.id == self.id and record.created_at <= self.until

    def gave(self, verdict: Verdict) -> bool:
        """Whether the verdict is theirs."""
        return is_verdict_of(verdict, self.id) and verdict.at <= self.until

    def names_in(self, pull_request: PullRequest) -> set[str]:
        """The names under which their verdicts are shown, and their login."""
        given = (verdict.validator for verdict in pull_request.verdicts if self.gave(verdict))
        return {self.login, *(validator.name for validator in given if not validator.check)} - {""}

    def unnamed(self, act: NamedAct) -> NamedAct:
        """The act without their name and reason, if it is theirs."""
        is_theirs = act.by_id == self.id or (not act.by_id and act.by == self.login)
        return replace(act, by=GHOST.login, by_id=0, reason="") if is_theirs and act.at <= self.until else act

    def unnamed_in(self, pull_request: PullRequest) -> PullRequest:
        """The pull request without their name at what they decided."""
        return replace(
            pull_request,
            override=self.unnamed(pull_request.override) if pull_request.override else None,
            audits=tuple(map(self.unnamed, pull_request.audits)),
            rulings=tuple(map(self.unnamed, pull_request.rulings)),
        )

    def unnamed_thread(self, thread: ThreadState) -> ThreadState:
        """The thread without their name, if they resolved it."""
        is_theirs = thread.by_id == self.id and thread.at <= self.until
        return replace(thread, by=GHOST.login) if is_theirs else thread

    def unobserved(self, outcome: ItemOutcome) -> ItemOutcome:
        """The outcome without them as author or reviewer."""
        if outcome.at > self.until:
            return outcome
        author, reviewer = (
            "" if is_validator_key_of(key, self.id) else key for key in (outcome.author, outcome.reviewer)
        )
        return replace(outcome, author=author, reviewer=reviewer)


def anonymize(record: RecordOrPullRequest, person: ForgottenPerson) -> RecordOrPullRequest:
    """Remove the account's name from anything that it did up to then."""
    # The same for one person in one thread, so that their last verdict stays their last; no other use.
    thread = f"{record.number}:{record.created_at.isoformat()}:{person.id}"
    key = f"forgotten:{hashlib.sha256(thread.encode()).hexdigest()[:12]}"
    verdicts = tuple(
        _anonymize_verdict(verdict, key) if person.gave(verdict) else verdict for verdict in record.verdicts
    )
    nameless = replace(record, author=GHOST if person.opened(record) else record.author, verdicts=verdicts)
    changed = [(old, new) for old, new in zip(record.verdicts, verdicts, strict=True) if old != new]
    if isinstance(nameless, HistoryRecord):
        keys = {old.validator.key: new.validator.key for old, new in changed}
        ids = {old.id for old, _ in changed}
        return replace(
            nameless,
            stated=tuple(stats for stats in nameless.stated if stats.verdict not in ids),
            findings=tuple(
                replace(finding, validator=keys.get(finding.validator, finding.validator))
                if finding.reported_at <= person.until
                else finding
                for finding in nameless.findings
            ),
        )
    return replace(nameless, findings=_rename_reports(nameless.findings, changed))


def _rename_reports(
    findings: tuple[FindingRecord, ...], changed: Sequence[tuple[Verdict, Verdict]]
) -> tuple[FindingRecord, ...]:
    """Return the findings with the keys of their wordless reports, so that they keep their numbers."""
    keys = {
        report_key(old, item): report_key(new, wordless)
        for old, new in changed
        for item, wordless in zip(old.items, new.items, strict=True)
    }
    return tuple(
        replace(finding, keys=tuple(keys.get(key, key) for key in finding.keys)) for finding in findings
    )


def anonymize_open(pull_request: PullRequest, person: ForgottenPerson) -> PullRequest:
    """Remove the person's name, title and reasons from an open pull request, and keep its findings.

    The account's id stays until it is closed: it decides who may dismiss what, and whose verdict is whose.
    """
    names = person.names_in(pull_request)
    pull_request = person.unnamed_in(remove_forgotten_reviewers(pull_request, {person.id: person.until}))
    is_author = person.opened(pull_request)
    return replace(
        pull_request,
        verdicts=tuple(
            replace(verdict, unlabelled_by=GHOST.login)
            if person.login and verdict.unlabelled_by == person.login
            else verdict
            for verdict in pull_request.verdicts
        ),
        briefs=tuple(
            replace(
                brief,
                text=replace_names(brief.text, names),
                # It repeats the author's title, or an earlier brief, as what it replaces.
                before="" if is_author else replace_names(brief.before, names),
            )
            for brief in pull_request.briefs
        ),
        conversation=replace(
            pull_request.conversation,
            threads=tuple(map(person.unnamed_thread, pull_request.conversation.threads)),
        ),
        author=replace(pull_request.author, login=GHOST.login) if is_author else pull_request.author,
        title="" if is_author else pull_request.title,
    )


def replace_names(value: Any, names: Collection[str]) -> Any:
    """Replace these names in a JSON value, where a text of the bot has one: always in quotes."""
    # Not wherever the letters occur: a login may be a word, a branch or a part of a path.
    if isinstance(value, str):
        for name in names:
            for quote in "`\"'":
                value = value.replace(f"{quote}{name}{quote}", f"{quote}{GHOST.login}{quote}")
        return value
    if isinstance(value, list):
        return [replace_names(element, names) for element in value]
    if isinstance(value, dict):
        return {key: _renamed(key, element, names) for key, element in value.items()}
    return value


_NAMES = frozenset({"by", "account", "source", "login", "name"})


def _renamed(key: str, value: Any, names: Collection[str]) -> Any:
    return GHOST.login if key in _NAMES and value in names else replace_names(value, names)


def anonymize_acts(pull_request: PullRequest, person: ForgottenPerson) -> PullRequest:
    """Remove the account from what it decided and resolved, and from the outcomes of its items."""
    conversation = pull_request.conversation
    return replace(
        person.unnamed_in(pull_request),
        conversation=replace(
            conversation,
            threads=tuple(_anonymize_thread(thread, pull_request, person) for thread in conversation.threads),
            requests=tuple(request for request in conversation.requests if request[0] != person.id),
        ),
        grounding=tuple(
            entry
            for entry in pull_request.grounding
            if not is_validator_key_of(entry.validator, person.id) or entry.at > person.until
        ),
        tracked=tuple(
            replace(item, observations=tuple(map(person.unobserved, item.observations)))
            for item in pull_request.tracked
        ),
    )


def _anonymize_thread(thread: ThreadState, pull_request: PullRequest, person: ForgottenPerson) -> ThreadState:
    """Remove who resolved a thread of a closed pull request, and keep its effect on the finding."""
    nameless = person.unnamed_thread(thread)
    if nameless is thread:
        return thread
    is_author = thread.by_id == pull_request.author.id
    is_own = any(
        item.comment_id == thread.comment_id
        for verdict in pull_request.verdicts
        if is_verdict_of(verdict, person.id)
        for item in verdict.items
    )
    # A validator's own thread is closed by them whatever their role; the author's id is the ghost's, too.
    return replace(nameless, by_id=GHOST.id if is_author else -1, role="write" if is_own else thread.role)


_COUNTED = (
    *("tag", "place", "inferred", "aspect", "severity"),
    *("label", "blocks", "comment_id", "removed_at", "looks_like"),
)
"""What stays of a forgotten person's item: the rest is their words."""


def _anonymize_verdict(verdict: Verdict, key: str) -> Verdict:
    validator, (source, _, rest) = verdict.validator, verdict.validator.key.partition(":")
    if source not in {"user", "validation", "label"}:
        return replace(verdict, account="", account_id=0)  # a check's text is nobody's
    if source == "validation":
        key = f"{key}:validation:{rest.partition(':')[2]}"  # still distinct from their review
    if source == "label":
        key = validator.key  # the label may still be removed
    nobody = replace(validator, key=key, name=validator.name if validator.check else GHOST.login)
    wordless = tuple(Item(**{name: getattr(item, name) for name in _COUNTED}) for item in verdict.items)
    unsigned = replace(verdict, validator=nobody, items=wordless, account="", account_id=0)
    return replace(unsigned, url="", body_hash="", said="")


logger = logging.getLogger("whetstone.store")

MAX_EXPORT_BYTES = 8 * 1024 * 1024
"""Bytes of delivery bodies in one page of an export; the first is given whatever its size."""


def count_stored(transaction: Transaction, repository_id: int, account_id: int) -> StoredCounts:
    """Count what is stored about a person in a repository."""
    rows = transaction.execute(
        select(history_table.c.record).where(_is_reviewed_by(repository_id, account_id))
    ).scalars()
    pull_requests = _count(transaction, _is_of(history_table.c.author_id, repository_id, account_id))
    return StoredCounts(
        pull_requests=pull_requests + len(_unreviewed(transaction, repository_id, account_id)),
        verdicts=sum(
            is_verdict_of(verdict, account_id)
            for text in rows
            for verdict in decode(text, HistoryRecord).verdicts
        ),
        commands=_count(transaction, _is_of(reply_table.c.account_id, repository_id, account_id)),
    )


def export_person(transaction: Transaction, repository_id: int, account_id: int) -> dict[str, Any]:
    """Export all that is stored about a person in a repository as JSON values, except its deliveries."""
    own = select(history_table, pull_request_table.c.record.label("whole"))
    own = own.outerjoin(pull_request_table, pull_request_table.c.lane == history_table.c.lane)
    mine = transaction.execute(own.where(_is_of(history_table.c.author_id, repository_id, account_id))).all()
    unreviewed = _unreviewed(transaction, repository_id, account_id)
    pull_requests = [
        *({**_own(row.record), "title": _title(row.whole)} for row in mine),
        *(
            {**_own(encode(build_history_record(pull_request))), "title": pull_request.title}
            for _, pull_request in unreviewed
        ),
    ]
    reviewed = (
        select(history_table)
        .where(_is_reviewed_by(repository_id, account_id))
        .order_by(history_table.c.number)
    )
    lanes = [*(row.lane for row in mine), *(lane for lane, _ in unreviewed)]
    documents = select(document_table.c.body).where(document_table.c.lane.in_(lanes))
    commands = select(reply_table).where(_is_of(reply_table.c.account_id, repository_id, account_id))
    rulings = select(audit_table).where(_is_of(audit_table.c.account_id, repository_id, account_id))
    fixes = select(fix_table).where(_is_of(fix_table.c.author_id, repository_id, account_id))
    return {
        "pull_requests": sorted(pull_requests, key=lambda pull_request: int(pull_request["number"])),
        "documents": [msgspec.json.decode(body) for body in transaction.execute(documents).scalars()],
        "verdicts": [
            {"number": row.number, **verdict, **texts.get(verdict["id"], {})}
            for row in transaction.execute(reviewed).all()
            for texts in (_verdict_texts(transaction, row.lane),)
            for verdict in _verdicts_of(row.record, account_id)
        ],
        "commands": [
            {**_command(topic), "at": to_datetime(row.at).isoformat()}
            for row in transaction.execute(commands)
            for topic in row.topic.split("\n")
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


_ENUM_VALUE = regex.Regex(r"<\w+\.\w+: ('\w+'|\d+)>")


def _command(topic: str) -> dict[str, Any]:
    """The command of a reply's topic, which has its arguments as Python writes them."""
    name, _, request = topic.partition(":")
    try:
        arguments = ast.parse(_ENUM_VALUE.sub(r"\1", request), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {"command": name, "arguments": None}
    return {"command": name, "arguments": _plain_value(arguments)}


def _plain_value(node: ast.expr) -> Any:
    match node:
        case ast.Call():
            return {keyword.arg: _plain_value(keyword.value) for keyword in node.keywords}
        case ast.Tuple():
            return [_plain_value(element) for element in node.elts]
        case ast.Constant():
            return node.value
        case _:
            return None


def find_deliveries_naming(transaction: Transaction, repository_id: int, account_id: int) -> tuple[str, ...]:
    """Find the ids of a repository's stored deliveries that name a person, oldest first."""
    named = and_(
        is_repository_lane(delivery_table.c.lane, repository_id),
        delivery_table.c.body.is_not(None),
        _is_named(transaction, account_id),
    )
    ids = (
        select(delivery_table.c.id)
        .where(named)
        .order_by(delivery_table.c.accepted_at, delivery_table.c.position)
    )
    return tuple(transaction.execute(ids).scalars())


def export_deliveries(transaction: Transaction, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Export these deliveries with their bodies, as far as those fit into a page."""
    listed: list[dict[str, Any]] = []
    size = 0
    for delivery_id in ids:
        row = transaction.execute(select(delivery_table).where(delivery_table.c.id == delivery_id)).first()
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
                "body": msgspec.Raw(row.body) if not listed or size <= MAX_EXPORT_BYTES else None,
            }
        )
    return listed


def _unreviewed(
    transaction: Transaction, repository_id: int, account_id: int
) -> list[tuple[str, PullRequest]]:
    """Load a person's pull requests that have no record yet because they were not reviewed."""
    theirs = _is_of(pull_request_table.c.author_id, repository_id, account_id)
    recorded = select(history_table.c.lane).where(history_table.c.repository_id == repository_id)
    rows = transaction.execute(
        select(pull_request_table.c.lane, pull_request_table.c.record).where(
            theirs, pull_request_table.c.lane.not_in(recorded)
        )
    )
    pull_requests = [(row.lane, decode(row.record, PullRequest)) for row in rows]
    return [(lane, one) for lane, one in pull_requests if one.author.login != GHOST.login]


def _title(whole: str | None) -> str:
    return "" if whole is None else str(msgspec.json.decode(whole)["title"])


def _own(text: str) -> dict[str, Any]:
    record: dict[str, Any] = msgspec.json.decode(text)
    record.pop("repository", None)  # it is the exported one
    return record


def _verdicts_of(text: str, who: int) -> Iterator[dict[str, Any]]:
    """The verdicts of a person, each with the figures of its text (null if it had none)."""
    record = msgspec.json.decode(text)
    stated = {stats["verdict"]: stats for stats in record.get("stated", ())}
    for exported, verdict in zip(record["verdicts"], decode(text, HistoryRecord).verdicts, strict=True):
        if is_verdict_of(verdict, who):
            stats = {name: value for name, value in stated.get(verdict.id, {}).items() if name != "verdict"}
            yield {**exported, "stated": stats or None}


def _verdict_texts(transaction: Transaction, lane: str) -> dict[str, dict[str, Any]]:
    """Load the texts of each verdict on a pull request: history records have none."""
    record = select(pull_request_table.c.record).where(pull_request_table.c.lane == lane)
    text = transaction.execute(record).scalar_one_or_none()
    verdicts = msgspec.json.decode(text)["verdicts"] if text else ()
    return {one["id"]: {"items": one["items"], "said": one.get("said", "")} for one in verdicts}


def forget_person(transaction: Transaction, command: ForgetPerson) -> None:
    """Remove the name from what is counted, delete the rest, and keep only that it was requested."""
    where, who = command.repository_id, command.account_id
    tombstone = {"repository_id": where, "account_id": who, "at": command.at.timestamp()}
    transaction.execute(upsert(forgotten_table), tombstone)
    transaction.execute(delete(fix_table).where(_is_of(fix_table.c.author_id, where, who)))
    transaction.execute(delete(reply_table).where(_is_of(reply_table.c.account_id, where, who)))
    signed = or_(
        audit_table.c.account_id == who,
        and_(audit_table.c.account_id == 0, audit_table.c.login == command.login),
    )
    transaction.execute(delete(audit_table).where(audit_table.c.repository_id == where, signed))
    # What others asked about the person, such as their history.
    about = reply_table.c.topic.icontains(f"login='{command.login}'", autoescape=True)
    asked = update(reply_table).where(reply_table.c.repository_id == where, about)
    transaction.execute(asked.values(topic="forgotten"))
    _anonymize_records(transaction, command)
    _anonymize_pull_requests(transaction, command)
    _anonymize_writes(transaction, command)
    delete_parked(transaction, where, who, command.at)


def keep_forgotten(
    transaction: Transaction, pull_request: PullRequest, forgotten: Mapping[int, datetime]
) -> PullRequest:
    """Return the pull request as it may be stored: a forgotten person stays so when it is seen again."""
    for who, until in forgotten.items():
        pull_request = _forget_in(transaction, pull_request, ForgottenPerson(who, until))
    return pull_request


def delete_parked(transaction: Transaction, repository_id: int, who: int, until: datetime) -> None:
    """Delete the parked deliveries that arrived by then and name the person."""
    # Deleted, not emptied: GitHub can send one again, while an empty one would be retried in vain.
    named = and_(
        IS_PARKED,
        is_repository_lane(delivery_table.c.lane, repository_id),
        delivery_table.c.accepted_at <= until.timestamp(),
        _is_named(transaction, who),
    )
    deleted = transaction.change(delete(delivery_table).where(named))
    if deleted:
        logger.info(
            "parked deliveries that name a forgotten person are deleted",
            extra={"repository": repository_id, "deliveries": deleted},
        )


def forgets_people(
    transaction: Transaction, lane: str, forgotten: Mapping[int, datetime] | None = None
) -> int | None:
    """Return the lane's repository where a person asked to be forgotten: it keeps no bodies; else None.

    `forgotten` are those who asked to be, if they are loaded already.
    """
    repository_id = repository_of_lane(lane)
    # A backfill is followed by reading its steps; they name nobody.
    if repository_id is None or lane.startswith("backfill:"):
        return None
    forgotten = load_forgotten(transaction, repository_id) if forgotten is None else forgotten
    return repository_id if forgotten else None


def _is_reviewed_by(repository_id: int, account_id: int) -> ColumnElement[bool]:
    about = or_(*(history_table.c.record.like(pattern) for pattern in account_patterns(account_id)))
    return and_(history_table.c.repository_id == repository_id, about)


def _anonymize_records(transaction: Transaction, command: ForgetPerson) -> None:
    where, who = command.repository_id, command.account_id
    theirs = _is_of(history_table.c.author_id, where, who)
    touched = select(history_table.c.lane, history_table.c.record).where(
        or_(theirs, _is_reviewed_by(where, who))
    )
    for row in transaction.execute(touched).all():
        record = anonymize(decode(row.record, HistoryRecord), ForgottenPerson(who, command.at))
        values = {"record": encode(record), "author_id": record.author.id, "login": record.author.login}
        transaction.execute(update(history_table).where(history_table.c.lane == row.lane).values(values))


def _anonymize_pull_requests(transaction: Transaction, command: ForgetPerson) -> None:
    """Anonymize pull requests: an open one keeps its findings without the name, a closed one neither."""
    person = ForgottenPerson(command.account_id, command.at, command.login)
    for row in _load_pull_requests_about(transaction, command):
        pull_request = _forget_in(transaction, decode(row.record, PullRequest), person)
        values = {"record": encode_record(pull_request), "author_id": pull_request.author.id}
        transaction.execute(
            update(pull_request_table).where(pull_request_table.c.lane == row.lane).values(values)
        )


def find_open_about(transaction: Transaction, command: ForgetPerson) -> tuple[str, ...]:
    """Find the lanes of the open pull requests that name a person: their comments are to be edited."""
    rows = _load_pull_requests_about(transaction, command)
    return tuple(row.lane for row in rows if decode(row.record, PullRequest).open)


def _load_pull_requests_about(transaction: Transaction, command: ForgetPerson) -> Sequence[Row[Any]]:
    where, who = command.repository_id, command.account_id
    text = cast(pull_request_table.c.record, Text)
    ids = (f'%"by_id":{who},%', f'%"by_id":{who}}}%', f"%[{who},%")
    acts = (*ids, f'%"by":"{command.login}"%', f'%"unlabelled_by":"{command.login}"%')
    about = or_(
        pull_request_table.c.author_id == who,
        *(text.like(pattern) for pattern in (*account_patterns(who), *acts)),
    )
    theirs = and_(pull_request_table.c.repository_id == where, about)
    return transaction.execute(
        select(pull_request_table.c.lane, pull_request_table.c.record).where(theirs)
    ).all()


def _anonymize_writes(transaction: Transaction, command: ForgetPerson) -> None:
    """Anonymize what is still to be written to GitHub, such as what waits for a permission."""
    named = and_(
        is_repository_lane(outbox_table.c.lane, command.repository_id),
        outbox_table.c.effect.contains(command.login, autoescape=True),
    )
    # One that an instance holds is being sent, and is deleted after that.
    rows = select(outbox_table.c.id, outbox_table.c.effect).where(named).with_for_update(skip_locked=True)
    for row in transaction.execute(rows).all():
        effect = encode(replace_names(msgspec.json.decode(row.effect), {command.login}))
        transaction.execute(update(outbox_table).where(outbox_table.c.id == row.id).values(effect=effect))


def _forget_in(transaction: Transaction, pull_request: PullRequest, person: ForgottenPerson) -> PullRequest:
    """Remove a person from a pull request and its documents, as far as it does not need them."""
    lane = f"pr:{pull_request.repository.id}:{pull_request.number}"
    if pull_request.open:
        _anonymize_documents(transaction, lane, person.names_in(pull_request) - {GHOST.login})
        return anonymize_open(pull_request, person)
    _delete_quotes(transaction, lane, pull_request, person)
    return _anonymize_closed(pull_request, person)


def _anonymize_documents(transaction: Transaction, lane: str, names: Collection[str]) -> None:
    if not names:
        return
    for row in transaction.execute(select(document_table).where(document_table.c.lane == lane)).all():
        before = msgspec.json.decode(row.body)
        after = replace_names(before, names)
        if after != before:
            transaction.execute(
                update(document_table).where(document_table.c.id == row.id).values(body=encode(after))
            )


def _is_named(transaction: Transaction, who: int) -> ColumnElement[bool]:
    """Whether a delivery's body has this account, anywhere."""
    # PostgreSQL's `position` of two byte strings is a function under its full name only.
    position = func.pg_catalog.position if transaction.shared else func.instr
    needles = [f'id":{space}{who}{end}'.encode() for space in ("", " ") for end in (",", "}")]
    return or_(*(position(delivery_table.c.body, literal(needle, LargeBinary)) > 0 for needle in needles))


def _delete_quotes(
    transaction: Transaction, lane: str, pull_request: PullRequest, person: ForgottenPerson
) -> None:
    """Delete a reviewer's items from the documents; delete an author's documents as a whole."""
    if person.opened(pull_request):
        transaction.execute(delete(document_table).where(document_table.c.lane == lane))
        return
    names = {verdict.validator.name for verdict in pull_request.verdicts if person.gave(verdict)}
    if not names:
        return
    names.add(GHOST.login)  # so it was shown while the pull request was open
    kept = and_(document_table.c.lane == lane, document_table.c.at <= person.until.timestamp())
    for row in transaction.execute(select(document_table.c.id, document_table.c.body).where(kept)).all():
        body = msgspec.json.decode(row.body)
        items = body.pop("feedback_items", [])
        left = [item for item in items if item.get("by") not in names]
        here = document_table.c.id == row.id
        if items and not left:
            transaction.execute(delete(document_table).where(here))
        elif left != items:
            body.pop("brief", None)  # it repeats the items
            values = {"body": encode(body | {"feedback_items": left})}
            transaction.execute(update(document_table).where(here).values(values))


def _anonymize_closed(pull_request: PullRequest, person: ForgottenPerson) -> PullRequest:
    """Remove the name from a closed pull request, and all text where it was theirs."""
    nameless = anonymize(anonymize_acts(pull_request, person), person)
    if nameless.author == pull_request.author:
        # A brief repeats the reviewer's text.
        return replace(nameless, briefs=()) if nameless.verdicts != pull_request.verdicts else nameless
    return replace(
        nameless, title="", briefs=(), grounding=(), verdicts=tuple(map(_without_text, nameless.verdicts))
    )


def _without_text(verdict: Verdict) -> Verdict:
    items = tuple(
        replace(item, words="", context_before="", context_after="", suggestion=None)
        for item in verdict.items
    )
    return replace(verdict, items=items, said="")


def _is_of(account: Column[int], repository_id: int, account_id: int) -> ColumnElement[bool]:
    """Whether a row is of this repository and has this account in the given column."""
    return and_(account.table.c.repository_id == repository_id, account == account_id)


def _count(transaction: Transaction, where: ColumnElement[bool]) -> int:
    count: int = transaction.execute(select(func.count()).where(where)).scalar_one()
    return count
