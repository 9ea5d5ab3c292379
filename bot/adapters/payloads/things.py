"""What GitHub's JSON says of one thing: an account, a repository, a pull request, a review, a comment."""

from __future__ import annotations

from bot.adapters.feedback_items import items_in
from bot.adapters.payloads.fields import (
    Json,
    Odd,
    find,
    identifier,
    mapping,
    moment,
    optional_integer,
    optional_moment,
    text,
    word,
)
from bot.domain.model import GHOST, Account, Repository
from bot.domain.snapshots import InlineComment, PullRequestSnapshot, Review, ReviewState


def account(tree: object, path: str) -> Account:
    """The account there; a deleted one is null, and becomes the ghost."""
    found = find(tree, path)
    number = optional_integer(found, "id")
    login = text(found, "login")
    if not number or number < 1 or not login:
        return GHOST
    return Account(number, login, bot=find(found, "type") == "Bot")


def repository(payload: Json) -> Repository:
    """The payload's repository, with the installation that the delivery came through (0: none)."""
    return Repository(
        id=identifier(payload, "repository.id"),
        owner=word(payload, "repository.owner.login"),
        name=word(payload, "repository.name"),
        installation_id=optional_integer(payload, "installation.id") or 0,
        private=find(payload, "repository.private") is True,
        default_branch=text(payload, "repository.default_branch") or "main",
    )


def pull_request(payload: Json) -> PullRequestSnapshot:
    """The payload's pull request as it was when the event happened."""
    return pull_request_of(repository(payload), mapping(payload, "pull_request"))


def pull_request_of(where: Repository, tree: Json) -> PullRequestSnapshot:
    """A pull request of this repository, from a webhook or as it is read."""
    created = moment(tree, "created_at")
    return PullRequestSnapshot(
        repository=where,
        number=identifier(tree, "number"),
        author=account(tree, "user"),
        title=text(tree, "title"),
        base=word(tree, "base.ref"),
        head=word(tree, "head.sha"),
        created_at=created,
        updated_at=optional_moment(tree, "updated_at") or created,
        open=find(tree, "state") != "closed",
        # Reviews' payloads carry no `merged`, only the time.
        merged=find(tree, "merged") is True or optional_moment(tree, "merged_at") is not None,
        draft=find(tree, "draft") is True,
        closed_at=optional_moment(tree, "closed_at"),
        base_sha=text(tree, "base.sha"),
    )


def review(tree: Json) -> Review:
    """A review, from a webhook or from a list; `Odd` for a pending one without a time."""
    submitted = optional_moment(tree, "submitted_at") or optional_moment(tree, "updated_at")
    if submitted is None:
        raise Odd("review.submitted_at", "a time")
    return Review(
        id=identifier(tree, "id"),
        author=account(tree, "user"),
        state=_state(tree),
        body=text(tree, "body"),
        submitted_at=submitted,
        head=text(tree, "commit_id") or None,
        url=text(tree, "html_url"),
        documents=items_in(text(tree, "body"), text(tree, "html_url")),
        node_id=text(tree, "node_id"),
    )


def inline_comment(tree: Json) -> InlineComment:
    """A review comment, from a webhook or from a list."""
    on_line = find(tree, "subject_type") != "file"
    return InlineComment(
        id=identifier(tree, "id"),
        review_id=optional_integer(tree, "pull_request_review_id"),
        author=account(tree, "user"),
        body=text(tree, "body"),
        path=word(tree, "path"),
        line=_line(tree, "line", "side"),
        start_line=_line(tree, "start_line", "start_side"),
        # Of a comment on the whole file the hunk says nothing: it ends with no line that was meant.
        diff_hunk=text(tree, "diff_hunk") if on_line else "",
        created_at=moment(tree, "created_at"),
        url=text(tree, "html_url"),
        documents=items_in(text(tree, "body"), text(tree, "html_url")),
        in_reply_to=optional_integer(tree, "in_reply_to_id"),
    )


def _state(tree: Json) -> ReviewState:
    try:
        # Webhooks write it in lower case, the API in upper case.
        return ReviewState(text(tree, "state").lower())
    except ValueError:
        raise Odd("review.state", "a state that is known") from None


def _line(tree: Json, key: str, side: str) -> int | None:
    # The left side numbers the lines of the base, which mean nothing at the head.
    return None if find(tree, side) == "LEFT" else optional_integer(tree, key)
