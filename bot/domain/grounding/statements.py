"""What do the validators who reject a pull request say, piece by piece, and what of it is still unchecked?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.domain import iterations, regex
from bot.domain.choices import ClaimType
from bot.domain.facts import Facts
from bot.domain.grounding.claim import Claim, Form, Requirement, requirement
from bot.domain.grounding.claims import find
from bot.domain.grounding.file_outcomes import Anchor
from bot.domain.model import Item, PullRequest, Stance, Verdict
from bot.domain.rules import Rules
from bot.domain.snapshots import InlineComment

_HUNK = regex.Pattern(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_CONTEXT = 3
MOST_SENTENCES = 20
"""Sentences of one item that are read: a verdict may have hundreds of items."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One claim of one verdict that has to be looked up."""

    claim: Claim
    verdict: Verdict
    item: str
    requirement: Requirement
    anchor: Anchor | None = None


def item_key(validator: str, item: Item) -> str:
    """The same for an item however often it is read; its line may be moved by GitHub."""
    path = item.place.path if item.place else ""
    said = "\0".join((validator, item.tag or "", path, item.words, item.url))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def unchecked(pull_request: PullRequest, facts: Facts, rules: Rules) -> tuple[Asked, ...]:
    """The claims that stand against the pull request and were not looked up at its judged head."""
    if not rules.grounding.enabled or not rules.grounding.check_required:
        return ()
    present = iterations.current(pull_request)
    if present is None:
        return ()
    known = {
        (entry.verdict, entry.item, entry.claim, entry.type)
        for entry in pull_request.grounding
        if entry.head == present.head and entry.looked_up
    }
    return tuple(
        asked
        for verdict in present.standing
        if verdict.stance is Stance.REJECTS
        for asked in _of_verdict(verdict, facts, rules)
        if (verdict.id, asked.item, asked.claim.text, asked.claim.type) not in known
    )


def _of_verdict(verdict: Verdict, facts: Facts, rules: Rules) -> Iterator[Asked]:
    seen: set[str] = set()
    comments = {comment.url: comment for comment in facts.inline_comments or () if comment.url}
    for item in verdict.items:
        key = item_key(verdict.validator.key, item)
        anchor = _anchor(comments.get(item.url), item)
        for claim in _of_item(item, verdict):
            seen.add(claim.text)
            need = requirement(claim.type, rules.grounding)
            if need is not Requirement.NOT_REQUIRED:
                yield Asked(claim, verdict, key, need, anchor if claim.form is Form.PLACE else None)
    yield from _of_body(verdict, facts, rules, seen)


def _of_item(item: Item, verdict: Verdict) -> Iterator[Claim]:
    if item.place and not verdict.validator.check:
        place = item.place
        kind = ClaimType.FILE_LOCATION
        yield Claim(kind, str(place)[:200], place.path, place.line, place.end_line, form=Form.PLACE)
    if not verdict.validator.check:
        yield from find(item.words, MOST_SENTENCES)


def _of_body(verdict: Verdict, facts: Facts, rules: Rules, seen: Iterable[str]) -> Iterator[Asked]:
    """What the review says outside of its items: kept in the log, not shown."""
    number = verdict.id.removeprefix("review:")
    bodies = [review.body for review in facts.reviews or () if str(review.id) == number]
    said = "\n".join(seen)
    for claim in (claim for body in bodies for claim in find(_TAG.sub(" ", body))):
        need = requirement(claim.type, rules.grounding)
        if need is not Requirement.NOT_REQUIRED and claim.text.strip(" :-—") not in said:
            yield Asked(claim, verdict, "", need)


_TAG = regex.Pattern(r"\[[a-z][a-z0-9]*(?:_[a-z0-9]+)+\][ :]*")


def _anchor(comment: InlineComment | None, item: Item) -> Anchor | None:
    """The line that was commented on, as the comment's hunk ends with it."""
    if comment is None or item.place is None:
        return None
    header, *body = comment.diff_hunk.split("\n")
    start = _HUNK.match(header)
    if start is None or not body or body[-1].startswith("-"):
        return None
    kept = [line[1:] for line in body if not line.startswith(("-", "\\"))]
    if not kept:
        return None
    return Anchor(kept[-1], int(start[1]) + len(kept) - 1, tuple(kept[-1 - _CONTEXT : -1]))
