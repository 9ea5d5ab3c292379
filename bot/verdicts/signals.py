"""Turn comments, labels and submitted validations into verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from bot.findings.model import is_blocking
from bot.gates.config import RepositoryRules
from bot.gates.model import Gates, is_tag, normalize_tag
from bot.pull_request.events import CheckEvent, CommentEvent, Event, LabelEvent, ValidationEvent
from bot.pull_request.facts import Facts
from bot.pull_request.model import (
    Item,
    PullRequest,
    Stance,
    Validator,
    Verdict,
    hash_text,
)
from bot.values import Account
from bot.verdicts import checks
from bot.verdicts.remarks import read_review_body, settle_blocking
from bot.verdicts.reviews import granting_permission, has_validator_role, is_validator, keep_removed
from bot.verdicts.tags import (
    MAX_BODY_KEPT,
    infer_tags,
    limit_items,
    parse_tags,
)
from bot.verdicts.tool_reports import build_items

_NO_BRACKETS = Gates()
"""In a plain comment bracketed words are only words, so none of them is a known tag."""


def is_validator_comment(
    event: CommentEvent, pull_request: PullRequest | None, rules: RepositoryRules
) -> bool:
    """Whether the comment is a named validator's own verdict, or withdraws one."""
    is_recorded = pull_request is not None and any(
        verdict.id == f"comment:{event.comment_id}" for verdict in pull_request.verdicts
    )
    is_named = rules.validators.is_named(event.author.login, bot=event.author.bot)
    if event.action == "deleted":
        # GitHub may tell of this before it tells that the comment was written.
        return is_recorded or (is_named and _comment_stance(event, rules)[0] is not None)
    # Whoever edits another's comment does not speak for them.
    is_own = event.author.id == event.sender.id and event.author.id != 0
    return is_named and is_own and (is_recorded or _comment_stance(event, rules)[0] is not None)


def merge_comment(
    pull_request: PullRequest, event: CommentEvent, rules: RepositoryRules, me: Account
) -> tuple[Verdict, ...]:
    """Return the verdicts after a named validator created, edited or deleted a comment."""
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    key = f"comment:{event.comment_id}"
    earlier = verdicts.get(key)
    if event.action == "deleted":
        silent = replace(
            _comment_verdict(pull_request, event, rules, me), stance=Stance.SILENT, items=(), more=0
        )
        verdicts[key] = _mark_deleted(earlier or silent, event)
        return tuple(verdicts.values())
    if earlier and (_is_deleted(earlier) or (earlier.edited_at and event.updated_at < earlier.edited_at)):
        return pull_request.verdicts  # the newer version arrived first
    if _comment_stance(event, rules)[0] is not None:
        verdict = _comment_verdict(pull_request, event, rules, me)
        kept = keep_removed(earlier.items, verdict.items, event.updated_at) if earlier else verdict.items
        verdicts[key] = replace(verdict, items=kept)
    elif earlier:
        lifted = earlier.lifted_at or event.updated_at
        verdicts[key] = replace(earlier, lifted_at=lifted, edited_at=event.updated_at)
    return tuple(verdicts.values())


def _comment_verdict(
    pull_request: PullRequest, event: CommentEvent, rules: RepositoryRules, me: Account
) -> Verdict:
    stance, items, more = _comment_stance(event, rules)
    counted = event.author.id not in {me.id, pull_request.author.id}
    if counted and stance is Stance.REJECTS and not items:
        plain = read_review_body(
            event.body, _NO_BRACKETS, url=event.url, repository=pull_request.repository.full_name
        ).items
        items = infer_tags(settle_blocking(plain, rules.gates, is_rejection=True), rules)
    return Verdict(
        id=f"comment:{event.comment_id}",
        validator=Validator(f"user:{event.author.id}", event.author.login, bot=event.author.bot),
        stance=stance or Stance.SILENT,
        at=event.created_at,
        head=pull_request.head_at(event.created_at),
        items=items,
        more=more,
        url=event.url,
        counted=counted,
        permission="config",
        edited_at=event.updated_at,
        body_hash=hash_text(event.body),
        said=event.body[:MAX_BODY_KEPT] if counted else "",
    )


def _mark_deleted(verdict: Verdict, event: CommentEvent) -> Verdict:
    """Lift the verdict and empty its body for good: a deletion has the time of the last version."""
    return replace(verdict, lifted_at=verdict.lifted_at or event.updated_at, body_hash="", said="")


def _is_deleted(verdict: Verdict) -> bool:
    return verdict.lifted_at is not None and not verdict.body_hash


def _comment_stance(
    event: CommentEvent, rules: RepositoryRules
) -> tuple[Stance | None, tuple[Item, ...], int]:
    """Return stance, items and omitted tags; without a VERDICT line it rejects only where an item blocks."""
    stated = parse_tags(event.body, _NO_BRACKETS, url=event.url)
    items, more = limit_items((*stated.items, *event.documents))
    if stated.stance is not None:
        return stated.stance, items, more + stated.more
    if any(is_blocking(item, rules.gates) for item in items):
        return Stance.REJECTS, items, more + stated.more
    return (Stance.SILENT if items else None), items, more + stated.more


LABEL_PREFIX = "gate:"
MAX_LABELS_KEPT = 20
"""How often a label was put on and taken off before, as far as a pull request stores it."""


def parse_gate_label(label: str) -> str | None:
    """Return the tag that a `gate:` label names; None for every other label."""
    if not label.lower().startswith(LABEL_PREFIX):
        return None
    tag = normalize_tag(label[len(LABEL_PREFIX) :])
    return tag if is_tag(tag) else None


def merge_label(
    pull_request: PullRequest, event: LabelEvent, role: str | None, *, counted: bool
) -> tuple[Verdict, ...]:
    """Return the verdicts after a label was added or removed; their times decide, not their arrival."""
    tag = parse_gate_label(event.label)
    if tag is None:
        return pull_request.verdicts
    verdict = _label_verdict(tag, event, role, counted=counted)
    if event.action != "labeled":
        verdict = _label_removal(verdict, verdict.at, "" if counted else event.sender.login)
    verdicts = pull_request.verdicts
    same_label = [v for v in verdicts if v.id == f"label:{tag}" or v.id.startswith(f"label:{tag}@")]
    merged = _pair_label_events(tag, _insert_label_event(same_label, verdict))
    if merged == same_label:
        return verdicts
    return (*(other for other in verdicts if other not in same_label), *merged)


def _insert_label_event(verdicts: Sequence[Verdict], event: Verdict) -> list[Verdict]:
    """Return when a label was put on and taken off, in order; within a second, in the order of arrival."""
    events: list[Verdict] = []
    for verdict in verdicts:
        events.append(verdict)
        if verdict.stance is Stance.REJECTS and verdict.lifted_at:
            events[-1:] = replace(verdict, lifted_at=None), _label_removal(verdict, verdict.lifted_at, "")
    events.sort(key=lambda verdict: verdict.at)
    index = sum(other.at <= event.at for other in events)
    before = events[index - 1] if index else None
    if before is None or (before.at, before.stance) != (event.at, event.stance):  # else it is told again
        events.insert(index, event)
    return events


def _pair_label_events(tag: str, events: Sequence[Verdict]) -> list[Verdict]:
    """Return what a label said each time it was put on, lifted where a validator took it off.

    A removal without an addition before it is kept, since GitHub may tell of it before it tells that the
    label was put on; so is one that lifts nothing.
    """
    merged: list[Verdict] = []
    added: int | None = None
    for event in events:
        named = replace(event, id=f"label:{tag}@{int(event.at.timestamp())}")
        if event.stance is Stance.REJECTS and added is not None and merged[added].counted > event.counted:
            # A validator's label stands, although it was taken off; putting it back adds nothing.
            merged[added] = replace(merged[added], unlabelled_by="")
            merged.append(named)
        elif event.stance is Stance.REJECTS:
            # Verdicts of one second have no order, so only the last one of them is kept.
            merged = [other for other in merged if (other.at, other.stance) != (event.at, event.stance)]
            added = len(merged)
            merged.append(named)
        elif added is None:
            merged.append(event)
        elif event.unlabelled_by:
            # Only a validator lifts what a label says; anybody else only takes the label off.
            merged[added] = replace(merged[added], unlabelled_by=event.unlabelled_by)
            merged.append(event)
        else:
            merged[added] = replace(merged[added], lifted_at=event.at, unlabelled_by="")
            added = None
    rejecting = [index for index, other in enumerate(merged) if other.stance is Stance.REJECTS]
    newest = max(rejecting, key=lambda index: (merged[index].counted, index), default=None)
    if newest is not None:
        merged[newest] = replace(merged[newest], id=f"label:{tag}")
    return merged[-MAX_LABELS_KEPT - 1 :]


def _label_removal(verdict: Verdict, at: datetime, remover: str) -> Verdict:
    """Return that a label was taken off then, as a verdict that says nothing; `remover` is no validator."""
    return replace(
        verdict,
        id=f"{verdict.id.partition('@')[0]}@{int(at.timestamp())}/off",
        stance=Stance.SILENT,
        at=at,
        items=(),
        counted=False,
        lifted_at=at,
        unlabelled_by=remover,
    )


def _label_verdict(tag: str, event: LabelEvent, role: str | None, *, counted: bool) -> Verdict:
    return Verdict(
        id=f"label:{tag}",
        # Each label stands for itself: a second one must not replace the first of the same person.
        validator=Validator(f"label:{tag}", event.sender.login, bot=event.sender.bot),
        stance=Stance.REJECTS,
        at=event.pull_request.updated_at,
        head=event.pull_request.head,
        items=(Item(tag, url=event.url),),
        url=event.url,
        counted=counted,
        permission=role,
        body_hash=hash_text(event.label),
        account_id=event.sender.id,
    )


MAX_VALIDATIONS_KEPT = 20
"""Validations of one caller and tool that a pull request stores: each new one replaces those before."""


def merge_validation(
    pull_request: PullRequest, event: ValidationEvent, rules: RepositoryRules, me: Account
) -> tuple[Verdict, ...]:
    """Return the verdicts with a submitted validation; the newest of each validator counts."""
    results = build_items(event.findings, event.tool, rules.validators)
    reported, more = limit_items((*event.items, *results))
    # An advisory verdict rejects while one of its findings blocks, so each of them says whether it does.
    items = tuple(replace(item, blocks=is_blocking(item, rules.gates)) for item in reported)
    rejects = bool(items) and not event.accepts
    validator = _validation_validator(event)
    # Findings that the config ignores refuse nothing, but they are no consent either.
    means_nothing = bool(event.findings and not items) and not _has_rejected(pull_request, validator)
    # Pipelines name what they checked out, which may be GitHub's merge of the head into the base.
    heads = {revision.head for revision in pull_request.revisions}
    verdict = Verdict(
        id=f"validation:{event.id}",
        validator=validator,
        stance=Stance.REJECTS if rejects else Stance.APPROVES,
        at=event.at,
        head=event.head if event.head in heads else pull_request.head_at(event.at),
        items=items if rejects else (),
        more=more if rejects else 0,
        counted=_is_counted(event, pull_request, rules, me) and not means_nothing,
        permission=event.role,
        body_hash=event.body_hash,
        account=event.author.login if event.author and event.tool else "",
        account_id=event.author.id if event.author else 0,
        advisory=rejects,
    )
    others = [other for other in pull_request.verdicts if other.id != verdict.id]
    earlier = [other.id for other in others if other.validator.key == validator.key]
    dropped = set(earlier[: -MAX_VALIDATIONS_KEPT + 1])
    return (*(other for other in others if other.id not in dropped), verdict)


def _has_rejected(pull_request: PullRequest, validator: Validator) -> bool:
    return any(
        verdict.validator.key == validator.key and verdict.counted and verdict.stance is Stance.REJECTS
        for verdict in pull_request.verdicts
    )


def _validation_validator(event: ValidationEvent) -> Validator:
    """Return a separate validator: a script that uses a person's token must not replace their review."""
    # GitHub did not say which App's token it was: what one such token says must lift nothing of another's.
    author = str(event.author.id) if event.author else f"app:{event.id}"
    if event.tool:
        return Validator(f"validation:{author}:{event.tool}", event.tool, bot=True, check=True)
    name = event.author.login if event.author else "validation"
    return Validator(f"validation:{author}", name, bot=event.author is None or event.author.bot)


def _is_counted(
    event: ValidationEvent, pull_request: PullRequest, rules: RepositoryRules, me: Account
) -> bool:
    if event.author is None:
        return has_validator_role(event.role, rules)
    return is_validator(event.author, event.role, pull_request, me, rules)


SignalEvent = CommentEvent | LabelEvent | CheckEvent | ValidationEvent


def as_signal(
    event: Event, pull_request: PullRequest, rules: RepositoryRules, me: Account
) -> SignalEvent | None:
    """Return the event, if it can change a verdict by itself."""
    match event:
        case CommentEvent() if is_validator_comment(event, pull_request, rules):
            return event
        case ValidationEvent():
            return event
        case LabelEvent() if parse_gate_label(event.label):
            return event
        case CheckEvent() if event.conclusion and checks.is_mapped_check(event, rules, me):
            return event
        case _:
            return None


def merge_signals(pull_request: PullRequest, facts: Facts, rules: RepositoryRules) -> PullRequest:
    """Merge the verdicts of these events, in the order in which they came."""
    for signal in facts.signals:
        match signal:
            case CommentEvent():
                verdicts = merge_comment(pull_request, signal, rules, facts.me)
            case LabelEvent():
                role = facts.roles.get(signal.sender.id)
                counted = is_validator(signal.sender, role, pull_request, facts.me, rules)
                allowed = granting_permission(signal.sender, role, rules) if counted else role
                verdicts = merge_label(pull_request, signal, allowed, counted=counted)
            case ValidationEvent():
                verdicts = merge_validation(pull_request, signal, rules, facts.me)
            case CheckEvent():
                annotations = facts.annotations.get(signal.run_id or 0, ())
                log = facts.logs.get(signal.run_id or 0, "")
                verdicts = checks.merge_check(pull_request, signal, annotations, rules, log=log)
            case _:
                assert_never(signal)
        pull_request = replace(pull_request, verdicts=verdicts)
    return pull_request
