"""Turn reviews and their inline comments into verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.gates.config import Permission, RepositoryRules
from bot.paths import is_secret_path
from bot.pull_request.events import InlineCommentSnapshot, ReviewSnapshot, ReviewState
from bot.pull_request.facts import Facts
from bot.pull_request.model import Item, Provenance, PullRequest, Stance, Validator, Verdict, hash_text
from bot.values import Account, Location
from bot.verdicts.tags import (
    MAX_BODY_KEPT,
    TextVerdict,
    comment_location,
    infer_items,
    limit_items,
    parse_tags,
    review_texts,
    stated_stance,
)

_FORMAL = {ReviewState.APPROVED: Stance.APPROVES, ReviewState.CHANGES_REQUESTED: Stance.REJECTS}


def is_opinionated(review: ReviewSnapshot) -> bool:
    """Whether the review has a stance, by its state or by a VERDICT line."""
    return review.state in _FORMAL or (
        review.state is ReviewState.COMMENTED and stated_stance(review.body) is not None
    )


def merge_reviews(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, now: datetime
) -> PullRequest:
    """Merge the verdicts of the reviews that were just read."""
    if facts.reviews is None:
        return pull_request
    context = _ReviewContext(pull_request, facts, rules, now)
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    for review in facts.reviews:
        earlier = verdicts.get(f"review:{review.id}")
        if verdict := _review_verdict(review, earlier, context):
            verdicts[verdict.id] = verdict
    return replace(pull_request, verdicts=tuple(verdicts.values()))


def is_validator(
    account: Account, role: str | None, pull_request: PullRequest, me: Account, rules: RepositoryRules
) -> bool:
    """Whether this account is a validator of this pull request."""
    if account.id in {me.id, pull_request.author.id}:
        return False
    if rules.validators.is_named(account.login, bot=account.bot):
        return True
    return has_validator_role(role, rules)


def has_validator_role(role: str | None, rules: RepositoryRules) -> bool:
    """Whether an account with this role is a validator without being named by the config."""
    return role in set(Permission) and Permission(role).is_at_least(rules.validators.permission)


def granting_permission(account: Account, role: str | None, rules: RepositoryRules) -> str | None:
    """Return what makes this account a validator: its role, or `config` where only the config names it."""
    is_named = rules.validators.is_named(account.login, bot=account.bot)
    return "config" if is_named and not has_validator_role(role, rules) else role


@dataclass(frozen=True, slots=True)
class _ReviewContext:
    """The inputs of a review's verdict."""

    pull_request: PullRequest
    facts: Facts
    rules: RepositoryRules
    now: datetime


def _review_verdict(
    review: ReviewSnapshot, earlier: Verdict | None, context: _ReviewContext
) -> Verdict | None:
    facts, rules = context.facts, context.rules
    if review.state is ReviewState.DISMISSED:
        return earlier and replace(earlier, lifted_at=earlier.lifted_at or context.now)
    formal = _FORMAL.get(review.state)
    role = facts.roles.get(review.author.id, earlier.permission if earlier else None)
    counted = is_validator(review.author, role, context.pull_request, facts.me, rules)
    permission = granting_permission(review.author, role, rules) if counted else role
    # What strangers say is not even listened to: there may be any amount of it.
    stated = parse_tags(review.body, rules.gates, url=review.url) if counted else TextVerdict()
    stance = formal or (stated.stance if counted else stated_stance(review.body))
    if stance is None:
        # Its author took the VERDICT line out again.
        return earlier and replace(earlier, lifted_at=earlier.lifted_at or context.now)
    items, more = (
        _review_items(review, stated, facts.inline_comments, rules, permission) if counted else ((), 0)
    )
    inline_comments = _own_comments(review, facts.inline_comments)
    if counted and not items and stance is Stance.REJECTS:
        items = infer_items(review_texts(review, inline_comments, permission), rules)
    body_text = "\n\n".join(filter(None, (review.body, *(comment.body for comment in inline_comments))))
    if counted and facts.inline_comments is None and earlier:
        items, more = earlier.items, earlier.more
        body_text = body_text if earlier.body_hash != hash_text(review.body) else earlier.said
    return Verdict(
        id=f"review:{review.id}",
        validator=Validator(f"user:{review.author.id}", review.author.login, bot=review.author.bot),
        stance=stance,
        at=review.submitted_at,
        head=review.head,
        items=items,
        more=more,
        url=review.url,
        counted=counted,
        permission=permission,
        # Only a formal review can be dismissed; a line that was taken out can be put in again.
        lifted_at=earlier.lifted_at if earlier and formal else None,
        body_hash=hash_text(review.body),
        said=body_text[:MAX_BODY_KEPT] if counted else "",
        by_line=formal is None,
    )


def _review_items(
    review: ReviewSnapshot,
    stated: TextVerdict,
    comments: Sequence[InlineCommentSnapshot] | None,
    rules: RepositoryRules,
    permission: str | None,
) -> tuple[tuple[Item, ...], int]:
    items = [*stated.items, *review.documents]
    more = stated.more
    for comment in _own_comments(review, comments):
        place = comment_location(comment)
        inline = parse_tags(comment.body, rules.gates, url=comment.url, place=place)
        documented = (replace(item, place=item.place or place) for item in comment.documents)
        hunk = "" if is_secret_path(comment.path) else comment.diff_hunk
        origin = Provenance("inline comment", permission, hash_text(comment.body))
        inline_items = (replace(item, origin=origin) for item in (*inline.items, *documented))
        items += _add_hunk_context(tuple(inline_items), place, hunk)
        more += inline.more
    limited, left_out = limit_items(items)
    return limited, more + left_out


def _own_comments(
    review: ReviewSnapshot, comments: Sequence[InlineCommentSnapshot] | None
) -> tuple[InlineCommentSnapshot, ...]:
    """Return the inline comments of this review by its own author, without replies of others."""
    return tuple(
        comment
        for comment in comments or ()
        if comment.review_id == review.id and comment.author.id == review.author.id
    )


def _add_hunk_context(items: Sequence[Item], place: Location, hunk: str) -> list[Item]:
    """Add the hunk's lines before the location; GitHub ends a hunk at the last commented line."""
    hunk_lines = hunk.splitlines()[1:-1]
    lines = [line[1:] for line in hunk_lines if not line.startswith(("-", "\\"))]
    length = place.end_line - place.line if place.line and place.end_line else 0
    context = "\n".join(lines[: max(0, len(lines) - length)][-3:])[:500]
    return [
        item if item.context_before or item.place != place else replace(item, context_before=context)
        for item in items
    ]
