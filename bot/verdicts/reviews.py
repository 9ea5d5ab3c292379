"""Turn reviews and their inline comments into verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.gates.config import Permission, RepositoryRules
from bot.markdown.spans import has_visible_text
from bot.paths import is_secret_path
from bot.pull_request.events import InlineCommentSnapshot, ReviewSnapshot, ReviewState
from bot.pull_request.facts import Facts
from bot.pull_request.model import Item, Provenance, PullRequest, Stance, Validator, Verdict, hash_text
from bot.values import Account, Location
from bot.verdicts.phrases import repeats_earlier
from bot.verdicts.remarks import read_inline_comment, read_review_body, settle_blocking
from bot.verdicts.reviewers import ReviewerFormat, find_format, is_severe
from bot.verdicts.tags import (
    MAX_BODY_KEPT,
    comment_location,
    infer_tags,
    limit_items,
    parse_hidden_tags,
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
    is_advisory: bool = False
    """The review rejects only while one of its findings blocks."""


def _review_verdict(
    review: ReviewSnapshot, earlier: Verdict | None, context: _ReviewContext
) -> Verdict | None:
    facts, rules = context.facts, context.rules
    if review.state is ReviewState.DISMISSED:
        return earlier and replace(earlier, lifted_at=earlier.lifted_at or context.now)
    formal = _FORMAL.get(review.state)
    role = facts.roles.get(review.author.id, earlier.permission if earlier else None)
    if review.state is ReviewState.COMMENTED and role is None:
        role = _earlier_permission(review, context.pull_request)
    counted = is_validator(review.author, role, context.pull_request, facts.me, rules)
    permission = granting_permission(review.author, role, rules) if counted else role
    stance, is_advisory = _stance(review, rules, counted=counted)
    context = replace(context, is_advisory=is_advisory)
    if stance is None or (earlier and stance is Stance.SILENT is not earlier.stance):
        # Its author took the VERDICT line out again.
        return earlier and replace(earlier, lifted_at=earlier.lifted_at or context.now)
    items, more = _items_now(review, stance, context, permission) if counted else ((), 0)
    if stance is Stance.SILENT and not (items or earlier):
        return None
    inline_comments = _own_comments(review, facts.inline_comments)
    body_text = "\n\n".join(filter(None, (review.body, *(comment.body for comment in inline_comments))))
    if counted and facts.inline_comments is None and earlier:
        items, more = earlier.items, earlier.more
        body_text = body_text if earlier.body_hash != hash_text(review.body) else earlier.said
    elif earlier:
        items = keep_removed(earlier.items, items, context.now)
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
        by_line=formal is None and not is_advisory,
        advisory=is_advisory,
        repeats=has_visible_text(review.body) and repeats_earlier(review.body),
    )


def _earlier_permission(review: ReviewSnapshot, pull_request: PullRequest) -> str | None:
    """Return the role with which the author of a comment reviewed before."""
    key = f"user:{review.author.id}"
    roles = (v.permission for v in pull_request.verdicts if v.validator.key == key and v.counted)
    return next((role for role in roles if role), None)


def _stance(review: ReviewSnapshot, rules: RepositoryRules, *, counted: bool) -> tuple[Stance | None, bool]:
    """Return the stance of a review, and whether it only advises: a named App's comments do."""
    stance = _FORMAL.get(review.state) or stated_stance(review.body)
    if stance is not None or not counted:
        return stance, False
    if review.author.bot and rules.validators.is_named(review.author.login, bot=True):
        return Stance.REJECTS, True
    # Tagged remarks of a comment count while their author's rejection stands.
    return Stance.SILENT, False


def _items_now(
    review: ReviewSnapshot, stance: Stance, context: _ReviewContext, permission: str | None
) -> tuple[tuple[Item, ...], int]:
    """Return what a validator's review reports, by its body and its inline comments."""
    if stance is Stance.APPROVES:
        return (), 0  # remarks beside an approval are recorded as words, not as findings
    comments = _own_comments(review, context.facts.inline_comments)
    if not (comments or review.documents or has_visible_text(review.body)):
        stated = parse_hidden_tags(review.body, url=review.url)
        return stated.items, stated.more
    rules, is_app = context.rules, review.author.bot
    app = find_format(review.author.login, bot=is_app)
    repository = context.pull_request.repository.full_name
    body = read_review_body(review.body, rules.gates, url=review.url, repository=repository)
    # The body of a known review App is scaffolding around its inline comments.
    items = [item for item in body.items if item.tag or not (app or context.is_advisory)]
    items += review.documents
    threshold = rules.validators.blocking_severity(review.author.login) if is_app else None
    inline = [item for comment in comments for item in _inline_items(comment, rules, permission, app)]
    if inline:
        items = [item for item in items if not _only_introduces(item)]
    items += [_apply_threshold(item, threshold) for item in inline] if threshold else inline
    if stance is Stance.SILENT:
        items = [item for item in items if item.tag]
    is_rejection = stance is Stance.REJECTS and not context.is_advisory
    settled = settle_blocking(items, rules.gates, is_rejection=is_rejection, is_app=is_app)
    limited, left_out = limit_items(infer_tags(settled, rules))
    return limited, body.more + left_out


def _inline_items(
    comment: InlineCommentSnapshot,
    rules: RepositoryRules,
    permission: str | None,
    app: ReviewerFormat | None,
) -> list[Item]:
    place = comment_location(comment)
    stated = read_inline_comment(comment, rules.gates, app=app)
    documented = (
        replace(item, place=item.place or place, comment_id=comment.id) for item in comment.documents
    )
    hunk = "" if is_secret_path(comment.path) else comment.diff_hunk
    origin = Provenance("inline comment", permission, hash_text(comment.body))
    items = [replace(item, origin=origin) for item in (tuple(documented) or stated)]
    return _add_hunk_context(items, place, hunk)


MAX_INTRODUCTION = 4
"""Words up to which a body beside inline comments only introduces them: "Not yet.", "Some issues below"."""


def _only_introduces(item: Item) -> bool:
    is_plain = item.tag is None and item.place is None and item.severity is None and item.label is None
    return is_plain and len(item.words.split()) <= MAX_INTRODUCTION


def _apply_threshold(item: Item, threshold: str) -> Item:
    """Return the finding of an App that blocks only from this severity on."""
    return item if item.tag else replace(item, blocks=is_severe(item.severity, threshold))


MAX_REMOVED = 300
"""Items edited out of one text that are kept, the last ones: a bot may edit its comment at every push."""


def keep_removed(before: Sequence[Item], now: Sequence[Item], at: datetime) -> tuple[Item, ...]:
    """Return the items that are there now, and those that were edited out or deleted, marked so."""
    present = {_report_of(item) for item in now}
    gone = (item for item in before if _report_of(item) not in present)
    marked = (replace(item, removed_at=item.removed_at or at) for item in gone)
    removed = sorted(marked, key=lambda item: item.removed_at or at)
    return (*now, *removed[-MAX_REMOVED:])


def _report_of(item: Item) -> tuple[object, ...]:
    if item.comment_id:
        return item.comment_id, item.tag
    return item.tag, item.place, item.words


def _own_comments(
    review: ReviewSnapshot, comments: Sequence[InlineCommentSnapshot] | None
) -> tuple[InlineCommentSnapshot, ...]:
    """Return the inline comments of this review by its own author that start a thread."""
    return tuple(
        comment
        for comment in comments or ()
        if comment.review_id == review.id and comment.author.id == review.author.id
        if comment.in_reply_to is None
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
