"""Whose name a verdict carries, and how an open pull request loses the names of forgotten people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.domain.model import GHOST, Item, PullRequest, Verdict


def is_from(verdict: Verdict, who: int) -> bool:
    """Whether this account gave the verdict: in a review, by a label or a status, or over HTTP."""
    return is_key_of(verdict.validator.key, who) or verdict.account_id == who


def is_key_of(key: str, who: int) -> bool:
    """Whether the validator with this key is the account itself."""
    kind, _, rest = key.partition(":")
    return kind in {"user", "validation"} and rest.partition(":")[0] == str(who)


def without_reviewers(known: PullRequest, forgotten: Mapping[int, datetime]) -> PullRequest:
    """The pull request with its findings, and without the names of the reviewers who were forgotten.

    Ids stay: a reviewer who comes back still replaces their own earlier verdict.
    """
    for who, until in forgotten.items():
        verdicts = tuple(
            _unnamed(verdict) if is_from(verdict, who) and verdict.at <= until else verdict
            for verdict in known.verdicts
        )
        grounding = tuple(
            replace(entry, name=GHOST.login)
            if is_key_of(entry.validator, who) and entry.at <= until
            else entry
            for entry in known.grounding
        )
        known = replace(known, verdicts=verdicts, grounding=grounding)
    return known


def _unnamed(verdict: Verdict) -> Verdict:
    validator = verdict.validator
    if not validator.check:
        validator = replace(validator, name=GHOST.login)
    return replace(verdict, validator=validator, items=tuple(map(_unsigned, verdict.items)), account="")


def _unsigned(item: Item) -> Item:
    if item.origin is None or not item.origin.account:
        return item
    return replace(item, origin=replace(item.origin, account=""))
