"""How is somebody's name taken from what is counted?"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import select

from bot.adapters.store.memory_schema import forgotten
from bot.adapters.store.transaction import Transaction, moment
from bot.domain.forgetting import is_from, is_key_of, without_reviewers
from bot.domain.memory import Record
from bot.domain.model import GHOST, Item, PullRequest, Verdict
from bot.domain.override import Audit, Override
from bot.domain.ruling import Ruling
from bot.domain.tracked import Observation

Known = TypeVar("Known", Record, PullRequest)


def forgotten_in(transaction: Transaction, repository_id: int) -> dict[int, datetime]:
    """Who asked to be forgotten in a repository, and when they last did."""
    rows = select(forgotten.c.account_id, forgotten.c.at).where(forgotten.c.repository_id == repository_id)
    return {row.account_id: moment(row.at) for row in transaction.execute(rows)}


def signs(who: int) -> tuple[str, ...]:
    """What the text of every record has, as patterns, in which `is_from` may hold."""
    keys = (f'"user:{who}"', f'"validation:{who}"', f'"validation:{who}:')
    numbers = (f'"account_id":{who},', f'"account_id":{who}}}')
    return tuple(f"%{each}%" for each in (*keys, *numbers))


def anonymous(known: Known, who: int, until: datetime) -> Known:
    """What is known, without the name of this account on anything that it did up to then."""
    is_theirs = known.author.id == who and known.created_at <= until
    # The same for one person in one thread, so that their last word stays their last; no other use.
    mark = hashlib.sha256(f"{known.number}:{known.created_at.isoformat()}:{who}".encode()).hexdigest()[:12]
    verdicts = tuple(
        _unsigned(verdict, f"forgotten:{mark}") if is_from(verdict, who) and verdict.at <= until else verdict
        for verdict in known.verdicts
    )
    nameless = replace(known, author=GHOST if is_theirs else known.author, verdicts=verdicts)
    if isinstance(nameless, Record):
        given = {verdict.id for verdict in known.verdicts if verdict not in verdicts}
        return replace(nameless, stated=tuple(each for each in nameless.stated if each.verdict not in given))
    return nameless


def without_name(known: PullRequest, who: int, until: datetime, login: str = "") -> PullRequest:
    """An open pull request with its findings, and without this person's name, title and reasons.

    The account's id stays until it is closed: it decides who may dismiss what, and whose verdict is whose.
    """
    acts = _Acts(who, until, login)
    given = (verdict.validator for verdict in known.verdicts if is_from(verdict, who) and verdict.at <= until)
    names = {login, *(validator.name for validator in given if not validator.check)} - {""}
    known = replace(
        without_reviewers(known, {who: until}),
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


def without_acts(known: PullRequest, who: int, until: datetime, login: str = "") -> PullRequest:
    """What is known, with nobody's name on what this account decided, and on what came of its words."""
    acts = _Acts(who, until, login)
    return replace(
        known,
        override=acts.unnamed(known.override) if known.override else None,
        audits=tuple(map(acts.unnamed, known.audits)),
        rulings=tuple(map(acts.unnamed, known.rulings)),
        grounding=tuple(
            entry for entry in known.grounding if not is_key_of(entry.validator, who) or entry.at > until
        ),
        tracked=tuple(
            replace(each, observations=tuple(map(acts.unobserved, each.observations)))
            for each in known.tracked
        ),
    )


Act = TypeVar("Act", Override, Audit, Ruling)


@dataclass(frozen=True, slots=True)
class _Acts:
    """Whose acts lose their name; older ones are known by the login alone."""

    who: int
    until: datetime
    login: str

    def unnamed(self, act: Act) -> Act:
        theirs = act.by_id == self.who or (not act.by_id and act.by == self.login)
        return replace(act, by=GHOST.login, by_id=0, reason="") if theirs and act.at <= self.until else act

    def unobserved(self, seen: Observation) -> Observation:
        named = seen.author, seen.reviewer
        if seen.at > self.until or not any(is_key_of(each, self.who) for each in named):
            return seen
        author, reviewer = ("" if is_key_of(each, self.who) else each for each in named)
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
