"""Which claims were looked up at which head, and what did each come to?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.domain import iterations
from bot.domain.choices import ClaimType
from bot.domain.facts import Facts
from bot.domain.grounding.claim import Form
from bot.domain.grounding.grounded import MOST_KEPT, Grounded
from bot.domain.grounding.observations import Observations
from bot.domain.grounding.outcome import Setting, ground
from bot.domain.grounding.result import Outcome, Result, Tool
from bot.domain.grounding.statements import Asked, unchecked
from bot.domain.model import PullRequest
from bot.domain.rules import Rules


def with_grounding(pull_request: PullRequest, facts: Facts, rules: Rules, now: datetime) -> PullRequest:
    """The pull request with what was just seen about the claims that stand against it."""
    present = iterations.current(pull_request)
    if present is None or not rules.grounding.enabled:
        return pull_request
    seen = facts.observations
    asked = unchecked(pull_request, facts, rules) if seen is not None else ()
    if seen is None or seen.head != present.head or not asked:
        return pull_request
    kinds = _kinds(seen, rules)
    names = renamed(pull_request, seen)
    found = tuple(_with_name(_entry(each, seen, kinds, now), names) for each in asked)
    again = {(entry.verdict, entry.item, entry.claim, entry.type) for entry in found}
    kept = tuple(
        entry
        for entry in pull_request.grounding
        if entry.head != seen.head or (entry.verdict, entry.item, entry.claim, entry.type) not in again
    )
    return replace(pull_request, grounding=(*kept, *found)[-MOST_KEPT:])


def _entry(asked: Asked, seen: Observations, kinds: dict[str, str], now: datetime) -> Grounded:
    claim, verdict = asked.claim, asked.verdict
    result = ground(claim, seen, Setting(kinds, asked.anchor, verdict.head))
    entry = seen.entry(result.path or claim.path or "")
    return Grounded(
        validator=verdict.validator.key,
        name=verdict.validator.name,
        verdict=verdict.id,
        item=asked.item,
        type=claim.type.value,
        requirement=asked.requirement.value,
        claim=claim.text,
        outcome=result.outcome.value,
        head=seen.head,
        at=now,
        tool=result.tool.value if result.tool else "",
        check=result.check,
        path=result.path or claim.path,
        line=result.line if result.path else claim.line,
        end_line=result.end_line if result.path else claim.end_line,
        is_place=_is_place(claim.type, claim.form, result),
        note=result.note,
        nearest=result.nearest,
        moved_from=result.moved_from,
        cited=claim.cited,
        blob=entry.sha if entry else "",
    )


def renamed(pull_request: PullRequest, seen: Observations) -> dict[str, str]:
    """Where files went that had another path: by what GitHub says of the diff, or by the same content."""
    files = [
        file
        for revision in pull_request.revisions
        if revision.head == seen.head
        for file in revision.files or ()
    ]
    names = {file.previous_path: file.path for file in files if file.previous_path}
    paths = {entry.sha: path for path, entry in (seen.tree.entries.items() if seen.tree else ())}
    known = {
        entry.path: paths[entry.blob]
        for entry in pull_request.grounding
        if entry.path and entry.blob in paths
    }
    return {**known, **names}


def _with_name(entry: Grounded, names: dict[str, str]) -> Grounded:
    """A file that is not there any more under its name is named as it is called now."""
    now = names.get(entry.path or "")
    if entry.outcome != Outcome.CONTRADICTED or entry.tool != Tool.TREE or now is None or now == entry.path:
        return entry
    return replace(entry, note="that file was renamed", nearest=now)


def _is_place(kind: ClaimType, form: Form, result: Result) -> bool:
    """Whether the claim says where the item is."""
    of_place = kind is ClaimType.FILE_LOCATION or form in {Form.NAMED, Form.PLACE}
    return of_place and result.path is not None


def _kinds(seen: Observations, rules: Rules) -> dict[str, str]:
    """What the config says about each check that ran."""
    return {
        run.name: rule.kind.value
        for run in seen.checks or ()
        for rule in rules.validators.checks
        if rule.kind and rule.covers(run.name)
    }
