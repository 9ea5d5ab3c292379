"""Which verdict does a plain comment amount to? One of a named validator, and by what it says in codes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.decisions.inference import Words, inferred
from bot.decisions.orders import Order
from bot.domain.commands.asked import RejectAsked
from bot.domain.events import CommentSeen
from bot.domain.gates import Gates
from bot.domain.iterations import current
from bot.domain.model import Account, Item, PullRequest, Stance, Validator, Verdict
from bot.domain.origin import hash_of
from bot.domain.rules import Rules
from bot.domain.rulings import in_force
from bot.domain.tags import MOST_SAID, bounded, hear

_BLOCKING = frozenset({"critical", "major"})
_NO_BRACKETS = Gates()
"""In a plain comment bracketed words are only words, so none of them is a known tag."""


def speaks(seen: CommentSeen, pull_request: PullRequest | None, rules: Rules) -> bool:
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


def with_comment(
    pull_request: PullRequest, seen: CommentSeen, rules: Rules, me: Account
) -> tuple[Verdict, ...]:
    """The verdicts after a named validator wrote, changed or deleted a comment."""
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    key = f"comment:{seen.comment_id}"
    known = verdicts.get(key)
    if seen.action == "deleted":
        unheard = replace(_verdict(pull_request, seen, rules, me), stance=Stance.SILENT, items=(), more=0)
        verdicts[key] = _deleted(known or unheard, seen)
        return tuple(verdicts.values())
    if known and (_is_deleted(known) or (known.edited_at and seen.updated_at < known.edited_at)):
        return pull_request.verdicts  # GitHub told of the newer version first
    if _stance(seen, rules)[0] is not None:
        verdicts[key] = _verdict(pull_request, seen, rules, me)
    elif known:
        lifted = known.lifted_at or seen.updated_at
        verdicts[key] = replace(known, lifted_at=lifted, edited_at=seen.updated_at)
    return tuple(verdicts.values())


def rejected_by_command(
    pull_request: PullRequest, asked: RejectAsked, order: Order, role: str | None, url: str
) -> PullRequest:
    """The pull request after `/feedback-reject` by somebody who may: these tags besides what they had said.

    The command is their newest word, so their later approval lifts it like a review.
    """
    account = order.account
    key = f"user:{account.id}"
    # Without what was dismissed: naming one tag now does not name another one again.
    present = current(pull_request, in_force(pull_request))
    before = [
        verdict
        for verdict in (present.standing if present else ())
        if verdict.validator.key == key and verdict.stance is Stance.REJECTS
    ]
    said = [Item(tag, words=asked.reason or "", place=asked.place, url=url) for tag in asked.tags]
    earlier = [replace(item, origin=each.origin_of(item)) for each in before for item in each.items]
    items, more = bounded(earlier + said)
    verdict = Verdict(
        id=f"command:{order.key}",
        validator=Validator(key, account.login, bot=account.bot),
        stance=Stance.REJECTS,
        at=order.at,
        head=head_at(pull_request, order.at),
        items=items,
        more=more + sum(verdict.more for verdict in before),
        url=url,
        permission=role,
        body_hash=order.body_hash,
    )
    others = tuple(each for each in pull_request.verdicts if each.id != verdict.id)
    return replace(pull_request, verdicts=(*others, verdict))


def with_commands(known: tuple[Verdict, ...], changed: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """The known verdicts, and those that a command has added since."""
    ids = {verdict.id for verdict in known}
    return (*known, *(each for each in changed if each.id.startswith("command:") and each.id not in ids))


def head_at(pull_request: PullRequest, at: datetime) -> str:
    """The head that whoever wrote then has seen, as far as known."""
    seen = [revision for revision in pull_request.revisions if revision.seen_at <= at]
    return max(seen, key=lambda revision: revision.seen_at).head if seen else pull_request.head


def _verdict(pull_request: PullRequest, seen: CommentSeen, rules: Rules, me: Account) -> Verdict:
    stance, items, more = _stance(seen, rules)
    counted = seen.author.id not in {me.id, pull_request.author.id}
    if counted and stance is Stance.REJECTS and not items:
        items = inferred((Words(seen.body, seen.url),), rules)
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
        body_hash=hash_of(seen.body),
        said=seen.body[:MOST_SAID] if counted else "",
    )


def _deleted(known: Verdict, seen: CommentSeen) -> Verdict:
    """Lifted, and without a body for good: GitHub gives a deletion the time of the last version."""
    return replace(known, lifted_at=known.lifted_at or seen.updated_at, body_hash="", said="")


def _is_deleted(known: Verdict) -> bool:
    return known.lifted_at is not None and not known.body_hash


def _stance(seen: CommentSeen, rules: Rules) -> tuple[Stance | None, tuple[Item, ...], int]:
    """Where the comment stands: by its VERDICT; without one it rejects only where an item blocks."""
    speech = hear(seen.body, _NO_BRACKETS, url=seen.url)
    items, more = bounded((*speech.items, *seen.documents))
    if speech.stance is not None:
        return speech.stance, items, more + speech.more
    if any(_blocks(item, rules) for item in items):
        return Stance.REJECTS, items, more + speech.more
    return (Stance.SILENT if items else None), items, more + speech.more


def _blocks(item: Item, rules: Rules) -> bool:
    if item.tag is None:
        return item.severity in _BLOCKING
    gate = rules.gates.get(item.tag)
    return gate is not None and gate.is_blocking
