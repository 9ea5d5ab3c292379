"""What does a thread show, in the order in which it happened?"""

from __future__ import annotations

import html
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from bot.standin.model import Account, Issue, IssueComment, PullRequest, Review
from bot.standin.page.markdown import inline, rendered

if TYPE_CHECKING:
    from bot.standin.server import Standin

_REACTIONS = {"eyes": "👀", "confused": "😕", "+1": "👍", "-1": "👎", "rocket": "🚀"}
_STATES = {
    "APPROVED": ("approved these changes", "good"),
    "CHANGES_REQUESTED": ("requested changes", "bad"),
    "COMMENTED": ("reviewed", "plain"),
    "DISMISSED": ("had a review that was dismissed", "plain"),
}


def listing(github: Standin) -> list[dict[str, object]]:
    """Every thread, newest first, the issues before the pull requests."""
    threads = [each for where in github.repositories.values() for each in where.threads.values()]
    ordered = sorted(
        threads, key=lambda each: (isinstance(each, PullRequest), each.state != "open", -each.number)
    )
    return [
        {
            "number": each.number,
            "title": each.title,
            "author": each.user.login,
            "state": _state(each),
            "kind": "pull request" if isinstance(each, PullRequest) else "issue",
            "comments": len(github.comments_of(each)),
        }
        for each in ordered
    ]


def thread(github: Standin, shown: Issue) -> str:
    """The thread as HTML."""
    kind = "pull request" if isinstance(shown, PullRequest) else "issue"
    entries = sorted(_entries(github, shown), key=lambda each: each[0])
    opened = _bubble(shown.user, f"opened this {kind}", shown.created_at, rendered(shown.body or ""))
    place = f"{html.escape(shown.user.login)} in {html.escape(shown.repository.full_name)}"
    return (
        f'<header><h1>{html.escape(shown.title)} <span class="number">#{shown.number}</span></h1>'
        f'<span class="state {_state(shown)}">{_state(shown)}</span> '
        f"<span class=soft>{place}</span>"
        f"</header>{opened}{''.join(text for _, text in entries)}"
    )


def _entries(github: Standin, shown: Issue) -> Iterator[tuple[tuple[datetime, int], str]]:
    for comment in github.comments_of(shown):
        yield (comment.created_at, comment.id), _comment(comment)
    if isinstance(shown, PullRequest):
        for review in shown.reviews.values():
            if review.submitted_at:
                yield (review.submitted_at, review.id), _review(review)
        objects = shown.repository.objects
        for commit in objects.between(shown.base_sha, shown.head_sha):
            text = f"<code>{commit.sha[:7]}</code> {html.escape(commit.message)}"
            yield (commit.at, 0), f'<p class="event push">{html.escape(shown.user.login)} pushed {text}</p>'
        if shown.closed_at:
            word = "merged" if shown.merged else "closed"
            by = (shown.merged_by or shown.closed_by or shown.user).login
            yield (shown.closed_at, 0), f'<p class="event">{html.escape(by)} {word} this</p>'


def _comment(comment: IssueComment) -> str:
    reactions = "".join(
        f'<span class="reaction" title="{html.escape(each.user.login)}">'
        f"{_REACTIONS.get(each.content, '•')}</span>"
        for each in comment.reactions
    )
    edited = " · edited" if comment.updated_at > comment.created_at else ""
    body = rendered(comment.body) + (f'<p class="reactions">{reactions}</p>' if reactions else "")
    if comment.minimized:
        summary = f"<summary>This comment was marked as {comment.minimized}.</summary>"
        body = f"<details class=minimised>{summary}{body}</details>"
    kind = "bot" if comment.via_app else ""
    return _bubble(comment.user, f"commented{edited}", comment.created_at, body, kind)


def _review(review: Review) -> str:
    words, kind = _STATES.get(review.state, ("reviewed", "plain"))
    inline_comments = "".join(
        f'<div class="inline"><code>{html.escape(each.path)}{f":{each.line}" if each.line else ""}</code>'
        f"<p>{inline(each.body)}</p></div>"
        for each in review.comments
    )
    body = (rendered(review.body) if review.body else "") + inline_comments
    return _bubble(review.user, words, review.submitted_at or review.pull.created_at, body, f"review {kind}")


def _bubble(who: Account, did: str, at: datetime, body: str, kind: str = "") -> str:
    badge = '<span class="badge">bot</span>' if who.type == "Bot" else ""
    moment = f'<time datetime="{at.isoformat()}">{at:%d %b %Y, %H:%M}</time>'
    inside = f'<div class="body">{body}</div>' if body else ""
    return (
        f'<article class="{kind}"><h2><strong>{html.escape(who.login)}</strong>{badge} {did} {moment}</h2>'
        f"{inside}</article>"
    )


def _state(shown: Issue) -> str:
    if isinstance(shown, PullRequest) and shown.merged:
        return "merged"
    return shown.state
