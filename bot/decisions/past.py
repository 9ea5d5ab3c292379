"""Which heads did a pull request have before anybody told us of them?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bot.domain.model import PullRequest, Revision
from bot.domain.snapshots import Review


def with_past_heads(pull_request: PullRequest, reviews: Iterable[Review], *, fresh: bool) -> PullRequest:
    """The pull request with the heads that were reviewed; what was seen at its time stays as it was.

    GitHub does not say when a head was pushed. The first one was there from the start, a later one
    when it was first reviewed, and one without a review no later than the last change.
    """
    first: dict[str, Revision] = {}
    for review in reviews:
        if review.head:
            at = review.submitted_at if first else pull_request.created_at
            first.setdefault(review.head, Revision(review.head, at))
    known = {revision.head: revision for revision in pull_request.revisions}
    if fresh:
        known = {head: _dated(revision, first, pull_request) for head, revision in known.items()}
    ordered = sorted({**first, **known}.values(), key=lambda revision: revision.seen_at)
    return replace(pull_request, revisions=tuple(ordered))


def _dated(revision: Revision, first: dict[str, Revision], pull_request: PullRequest) -> Revision:
    if revision.head in first:
        return replace(revision, seen_at=first[revision.head].seen_at)
    return replace(revision, seen_at=min(revision.seen_at, pull_request.closed_at or revision.seen_at))
