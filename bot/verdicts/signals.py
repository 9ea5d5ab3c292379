"""Turn comments, labels and submitted validations into verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from bot.gates.config import Permission, RepositoryRules
from bot.gates.model import Gates, is_tag, matches_name, normalize_tag
from bot.pull_request.events import CheckEvent, CommentEvent, Event, LabelEvent, ValidationEvent
from bot.pull_request.facts import Facts
from bot.pull_request.model import Item, PullRequest, Stance, Validator, Verdict, hash_text
from bot.values import Account
from bot.verdicts import checks
from bot.verdicts.reviews import granting_permission, is_validator
from bot.verdicts.tags import (
    MAX_BODY_KEPT,
    MAX_ITEM_WORDS,
    ValidatorText,
    infer_items,
    limit_items,
    parse_tags,
)

_BLOCKING = frozenset({"critical", "major"})
_NO_BRACKETS = Gates()
"""In a plain comment bracketed words are only words, so none of them is a known tag."""


def is_validator_comment(
    seen: CommentEvent, pull_request: PullRequest | None, rules: RepositoryRules
) -> bool:
    """Whether the comment is a named validator's own word, or withdraws one."""
    known = pull_request is not None and any(
        verdict.id == f"comment:{seen.comment_id}" for verdict in pull_request.verdicts
    )
    named = rules.validators.is_named(seen.author.login, bot=seen.author.bot)
    if seen.action == "deleted":
        # GitHub may tell of this before it tells that the comment was written.
        return known or (named and _stance(seen, rules)[0] is not None)
    # Whoever edits another's comment does not speak for them.
    is_own = seen.author.id == seen.sender.id and seen.author.id != 0
    return named and is_own and (known or _stance(seen, rules)[0] is not None)


def merge_comment(
    pull_request: PullRequest, seen: CommentEvent, rules: RepositoryRules, me: Account
) -> tuple[Verdict, ...]:
    """The verdicts after a named validator wrote, changed or deleted a comment."""
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    key = f"comment:{seen.comment_id}"
    known = verdicts.get(key)
    if seen.action == "deleted":
        unheard = replace(
            _comment_verdict(pull_request, seen, rules, me), stance=Stance.SILENT, items=(), more=0
        )
        verdicts[key] = _deleted(known or unheard, seen)
        return tuple(verdicts.values())
    if known and (_is_deleted(known) or (known.edited_at and seen.updated_at < known.edited_at)):
        return pull_request.verdicts  # GitHub told of the newer version first
    if _stance(seen, rules)[0] is not None:
        verdicts[key] = _comment_verdict(pull_request, seen, rules, me)
    elif known:
        lifted = known.lifted_at or seen.updated_at
        verdicts[key] = replace(known, lifted_at=lifted, edited_at=seen.updated_at)
    return tuple(verdicts.values())


def head_at(pull_request: PullRequest, at: datetime) -> str:
    """The head that whoever wrote then has seen, as far as known."""
    seen = [revision for revision in pull_request.revisions if revision.seen_at <= at]
    return max(seen, key=lambda revision: revision.seen_at).head if seen else pull_request.head


def _comment_verdict(
    pull_request: PullRequest, seen: CommentEvent, rules: RepositoryRules, me: Account
) -> Verdict:
    stance, items, more = _stance(seen, rules)
    counted = seen.author.id not in {me.id, pull_request.author.id}
    if counted and stance is Stance.REJECTS and not items:
        items = infer_items((ValidatorText(seen.body, seen.url),), rules)
    return Verdict(
        id=f"comment:{seen.comment_id}",
        validator=Validator(f"user:{seen.author.id}", seen.author.login, bot=seen.author.bot),
        stance=stance or Stance.SILENT,
        at=seen.created_at,
        head=head_at(pull_request, seen.created_at),
        items=items,
        more=more,
        url=seen.url,
        counted=counted,
        permission="config",
        edited_at=seen.updated_at,
        body_hash=hash_text(seen.body),
        said=seen.body[:MAX_BODY_KEPT] if counted else "",
    )


def _deleted(known: Verdict, seen: CommentEvent) -> Verdict:
    """Lifted, and without a body for good: GitHub gives a deletion the time of the last version."""
    return replace(known, lifted_at=known.lifted_at or seen.updated_at, body_hash="", said="")


def _is_deleted(known: Verdict) -> bool:
    return known.lifted_at is not None and not known.body_hash


def _stance(seen: CommentEvent, rules: RepositoryRules) -> tuple[Stance | None, tuple[Item, ...], int]:
    """Where the comment stands: by its VERDICT; without one it rejects only where an item blocks."""
    speech = parse_tags(seen.body, _NO_BRACKETS, url=seen.url)
    items, more = limit_items((*speech.items, *seen.documents))
    if speech.stance is not None:
        return speech.stance, items, more + speech.more
    if any(_blocks(item, rules) for item in items):
        return Stance.REJECTS, items, more + speech.more
    return (Stance.SILENT if items else None), items, more + speech.more


def _blocks(item: Item, rules: RepositoryRules) -> bool:
    if item.tag is None:
        return item.severity in _BLOCKING
    gate = rules.gates.get(item.tag)
    return gate is not None and gate.is_blocking


LABEL_PREFIX = "gate:"


def parse_gate_label(label: str) -> str | None:
    """The tag that the label names; None for every other label."""
    if not label.lower().startswith(LABEL_PREFIX):
        return None
    tag = normalize_tag(label[len(LABEL_PREFIX) :])
    return tag if is_tag(tag) else None


def merge_label(
    pull_request: PullRequest, seen: LabelEvent, role: str | None, *, counted: bool
) -> tuple[Verdict, ...]:
    """The verdicts after a label was put on or taken off; an older event changes nothing."""
    tag, at = parse_gate_label(seen.label), seen.pull_request.updated_at
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    known = verdicts.get(f"label:{tag}")
    if tag is None or (known and known.at > at):
        return pull_request.verdicts
    if seen.action == "labeled":
        verdicts[f"label:{tag}"] = _label_verdict(tag, seen, role, counted=counted)
    elif known:
        verdicts[known.id] = replace(known, lifted_at=known.lifted_at or at)
    else:
        # GitHub may tell of this before it tells that the label was put on.
        gone = _label_verdict(tag, seen, role, counted=False)
        verdicts[gone.id] = replace(gone, stance=Stance.SILENT, items=(), lifted_at=at)
    return tuple(verdicts.values())


def _label_verdict(tag: str, seen: LabelEvent, role: str | None, *, counted: bool) -> Verdict:
    return Verdict(
        id=f"label:{tag}",
        # Each label stands for itself: a second one must not replace the first of the same person.
        validator=Validator(f"label:{tag}", seen.sender.login, bot=seen.sender.bot),
        stance=Stance.REJECTS,
        at=seen.pull_request.updated_at,
        head=seen.pull_request.head,
        items=(Item(tag, url=seen.url),),
        url=seen.url,
        counted=counted,
        permission=role,
        body_hash=hash_text(seen.label),
        account_id=seen.sender.id,
    )


_SEVERITIES = {"error": "major", "warning": "minor", "note": "suggestion", "none": "suggestion"}


def merge_validation(
    pull_request: PullRequest, seen: ValidationEvent, rules: RepositoryRules, me: Account
) -> tuple[Verdict, ...]:
    """The verdicts with what was handed in; the newest of the same voice stands."""
    items, more = limit_items(_mapped(seen, rules) if seen.tool else seen.items)
    rejects = bool(items) and not seen.accepts
    voice = _validator(seen)
    # Findings that the config gives no meaning refuse nothing, but they are no consent either.
    means_nothing = bool(seen.tool and seen.findings and not items) and not _has_rejected(pull_request, voice)
    # Pipelines name what they checked out, which may be GitHub's merge of the head into the base.
    heads = {revision.head for revision in pull_request.revisions}
    verdict = Verdict(
        id=f"validation:{seen.id}",
        validator=voice,
        stance=Stance.REJECTS if rejects else Stance.APPROVES,
        at=seen.at,
        head=seen.head if seen.head in heads else head_at(pull_request, seen.at),
        items=items if rejects else (),
        more=more if rejects else 0,
        counted=_counts(seen, pull_request, rules, me) and not means_nothing,
        permission=seen.role,
        body_hash=seen.body_hash,
        account=seen.author.login if seen.author and seen.tool else "",
        account_id=seen.author.id if seen.author else 0,
    )
    return (*(each for each in pull_request.verdicts if each.id != verdict.id), verdict)


def _has_rejected(pull_request: PullRequest, voice: Validator) -> bool:
    return any(
        each.validator.key == voice.key and each.counted and each.stance is Stance.REJECTS
        for each in pull_request.verdicts
    )


def _validator(seen: ValidationEvent) -> Validator:
    """A voice of its own: a script that uses a person's token must not replace that person's review."""
    # GitHub did not say which App's token it was: what one such token says must lift nothing of another's.
    who = str(seen.author.id) if seen.author else f"app:{seen.id}"
    if seen.tool:
        return Validator(f"validation:{who}:{seen.tool}", seen.tool, bot=True, check=True)
    name = seen.author.login if seen.author else "validation"
    return Validator(f"validation:{who}", name, bot=seen.author is None or seen.author.bot)


def _counts(seen: ValidationEvent, pull_request: PullRequest, rules: RepositoryRules, me: Account) -> bool:
    if seen.author and seen.author.id in {me.id, pull_request.author.id}:
        return False
    if seen.author and rules.validators.is_named(seen.author.login, bot=seen.author.bot):
        return True
    return seen.role in set(Permission) and Permission(seen.role).is_at_least(rules.validators.permission)


def _mapped(seen: ValidationEvent, rules: RepositoryRules) -> Iterator[Item]:
    """The results whose rule the config gives a tag; the others are the linter's own business."""
    for finding in seen.findings:
        tag = next(
            (rule.tag for rule in rules.validators.sarif if matches_name(rule.rule, finding.rule)), None
        )
        if tag:
            yield Item(
                tag,
                words=finding.message[:MAX_ITEM_WORDS],
                place=finding.place,
                severity=_SEVERITIES.get(finding.level),
                evidence=f"{seen.tool} {finding.rule}: {finding.message}"[:MAX_ITEM_WORDS],
            )


SignalEvent = CommentEvent | LabelEvent | CheckEvent | ValidationEvent


def as_signal(
    event: Event, pull_request: PullRequest, rules: RepositoryRules, me: Account
) -> SignalEvent | None:
    """The event, if it can change a verdict by itself."""
    match event:
        case CommentEvent() if is_validator_comment(event, pull_request, rules):
            return event
        case ValidationEvent():
            return event
        case LabelEvent() if parse_gate_label(event.label):
            return event
        case CheckEvent() if checks.is_mapped_check(event, rules, me):
            return event
        case _:
            return None


def merge_signals(pull_request: PullRequest, facts: Facts, rules: RepositoryRules) -> PullRequest:
    """The pull request with the verdicts that these events amount to, in the order they came."""
    for voice in facts.signals:
        match voice:
            case CommentEvent():
                verdicts = merge_comment(pull_request, voice, rules, facts.me)
            case LabelEvent():
                role = facts.roles.get(voice.sender.id)
                counted = is_validator(voice.sender, role, pull_request, facts, rules)
                allowed = granting_permission(voice.sender, role, rules) if counted else role
                verdicts = merge_label(pull_request, voice, allowed, counted=counted)
            case ValidationEvent():
                verdicts = merge_validation(pull_request, voice, rules, facts.me)
            case CheckEvent():
                found = facts.annotations.get(voice.run_id or 0, ())
                verdicts = checks.merge_check(pull_request, voice, found, rules)
            case _:
                assert_never(voice)
        pull_request = replace(pull_request, verdicts=verdicts)
    return pull_request
