"""What does a thread show, in the order in which it happened?"""

from __future__ import annotations

import html
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from bot.standin.git import Commit
from bot.standin.model import Account, Issue, IssueComment, PullRequest, Review, ReviewComment
from bot.standin.page.files import lines as coloured
from bot.standin.page.markdown import rendered
from bot.standin.page.people import ago, avatar, icon, name

if TYPE_CHECKING:
    from bot.standin.server import Standin

_REACTIONS = {"eyes": "👀", "confused": "😕", "+1": "👍", "-1": "👎", "rocket": "🚀"}
_STATES = {
    "APPROVED": ("approved these changes", "good", "check"),
    "CHANGES_REQUESTED": ("requested changes", "bad", "changes"),
    "COMMENTED": ("reviewed", "plain", "eye"),
    "DISMISSED": ("had a review that was dismissed", "plain", "eye"),
}
_FEEDBACK = "<!-- REJECTION: "
_HUNK = 4
"""Lines of the diff above an inline comment."""
_LAST = 1 << 62
"""Of what happens in the same second, the end comes last."""


def listing(github: Standin) -> list[dict[str, object]]:
    """Every thread, newest first, the issues before the pull requests."""
    threads = [each for where in github.repositories.values() for each in where.threads.values()]
    ordered = sorted(
        threads, key=lambda each: (isinstance(each, PullRequest), each.state != "open", -each.number)
    )
    return [
        {
            "number": each.number,
            "path": address(each),
            "title": each.title,
            "author": each.user.login.removesuffix("[bot]"),
            "state": _state(each),
            "kind": "pull request" if isinstance(each, PullRequest) else "issue",
            "opened": ago(each.created_at, github.now()),
            "comments": len(github.comments_of(each)),
        }
        for each in ordered
    ]


def address(shown: Issue) -> str:
    """The thread's path, as on GitHub."""
    kind = "pull" if isinstance(shown, PullRequest) else "issues"
    return f"/{shown.repository.full_name}/{kind}/{shown.number}"


def thread(github: Standin, shown: Issue) -> str:
    """The thread as HTML."""
    entries = sorted(_entries(github, shown), key=lambda each: each[0])
    words = shown.body or ("No description provided." if isinstance(shown, PullRequest) else "")
    opened = _bubble(shown, shown.user, f"commented {_when(shown.created_at, github)}", rendered(words))
    return f"{_header(shown)}{opened}{''.join(text for _, text in entries)}"


def _header(shown: Issue) -> str:
    if isinstance(shown, PullRequest):
        commits = len(shown.repository.objects.between(shown.base_sha, shown.head_sha))
        counted = "1 commit" if commits == 1 else f"{commits} commits"
        merged = (
            f"{name(shown.merged_by)} merged" if shown.merged_by else f"{name(shown.user)} wants to merge"
        )
        branches = (
            f"<code>{html.escape(shown.base_ref)}</code> from <code>{html.escape(shown.head_ref)}</code>"
        )
        told = f"{merged} {counted} into {branches}"
    else:
        labels = "".join(f'<span class="label">{html.escape(each.name)}</span>' for each in shown.labels)
        told = f"{name(shown.user)} opened this issue {labels}"
    state = _state(shown)
    pill = f'<span class="state {state}">{_icon_of(shown)} {state.capitalize()}</span>'
    return (
        f'<header><h1>{html.escape(shown.title)} <span class="number">#{shown.number}</span></h1>'
        f'<p class="meta">{pill} <span>{told}</span></p></header>'
    )


def _entries(github: Standin, shown: Issue) -> Iterator[tuple[tuple[datetime, int], str]]:
    for comment in github.comments_of(shown):
        yield (comment.created_at, comment.id), _comment(github, comment)
    if isinstance(shown, PullRequest):
        for review in shown.reviews.values():
            if review.submitted_at:
                yield (review.submitted_at, review.id), _review(github, review)
        for commit in shown.repository.objects.between(shown.base_sha, shown.head_sha):
            yield (commit.at, shown.pushed.get(commit.sha, 0)), _push(shown, commit)
        if shown.closed_at:
            word = _state(shown)
            by = name(shown.merged_by or shown.closed_by or shown.user)
            text = f"{by} {word} this {_when(shown.closed_at, github)}"
            yield (shown.closed_at, _LAST), _event(word, word, text, word)


def _push(shown: PullRequest, commit: Commit) -> str:
    where = f"/{shown.repository.full_name}/commit/{commit.sha}"
    text = f'{html.escape(commit.message)}<a href="{where}"><code>{commit.sha[:7]}</code></a>'
    return _event("commit", "push", f"{avatar(shown.user, small=True)} {text}", f"commit-{commit.sha}")


def _event(mark: str, kind: str, text: str, anchor: str) -> str:
    shown = f'<span class="mark">{icon(mark)}</span><div>{text}</div>'
    return f'<div class="event {kind}" id="{anchor}">{shown}</div>'


def _comment(github: Standin, comment: IssueComment) -> str:
    reactions = "".join(
        f'<span class="reaction" title="{html.escape(each.user.login)}">'
        f"{_REACTIONS.get(each.content, '•')} 1</span>"
        for each in comment.reactions
    )
    edited = " · edited" if comment.updated_at > comment.created_at else ""
    body = rendered(comment.body) + (f'<p class="reactions">{reactions}</p>' if reactions else "")
    if comment.minimized:
        summary = f"<summary>This comment was marked as {comment.minimized}.</summary>"
        body = f"<details class=minimised>{summary}{body}</details>"
    did = f"commented {_when(comment.created_at, github)}{edited}"
    kind = "bot rejection" if comment.body.startswith(_FEEDBACK) else "bot" if comment.via_app else ""
    return _bubble(comment.issue, comment.user, did, body, f'class="{kind}" id="issuecomment-{comment.id}"')


def _review(github: Standin, review: Review) -> str:
    """The event, the words in a box of their own, and each comment below the lines that it is about."""
    words, kind, mark = _STATES.get(review.state, _STATES["COMMENTED"])
    at = review.submitted_at or review.pull.created_at
    told = f"{name(review.user)} {words} {_when(at, github)}"
    event = _event(mark, f"review {kind}", told, f"pullrequestreview-{review.id}")
    body = rendered(review.body) if review.body else ""
    box = _bubble(review.pull, review.user, "left a comment", body, 'class="review"') if body else ""
    return f"{event}{box}{''.join(_inline(github, each) for each in review.comments)}"


def _inline(github: Standin, comment: ReviewComment) -> str:
    hunk = coloured(comment.diff_hunk.splitlines()[-_HUNK:] if comment.line else [])
    place = html.escape(comment.path) + (f":{comment.line}" if comment.line else "")
    said = f"{avatar(comment.user, small=True)} {name(comment.user)} {_when(comment.created_at, github)}"
    return (
        f'<div class="inline" id="discussion_r{comment.id}">'
        f'<p class="path">{place}</p>{f"<pre>{hunk}</pre>" if hunk else ""}'
        f'<p class="by">{said}</p><div class="body">{rendered(comment.body)}</div></div>'
    )


def _bubble(where: Issue, who: Account, did: str, body: str, marks: str = "") -> str:
    author = '<span class="label">Author</span>' if who is where.user and where.user.type == "User" else ""
    return (
        f"<article {marks}>{avatar(who)}<h2><span>{name(who)} {did}</span>{author}</h2>"
        f'<div class="body">{body}</div></article>'
    )


def _when(at: datetime, github: Standin) -> str:
    full = f"{at:%d %b %Y, %H:%M} UTC"
    return f'<time datetime="{at.isoformat()}" title="{full}">{ago(at, github.now())}</time>'


def _icon_of(shown: Issue) -> str:
    kind = "pull" if isinstance(shown, PullRequest) else "issue"
    return icon(kind if shown.state == "open" else _state(shown))


def _state(shown: Issue) -> str:
    if isinstance(shown, PullRequest) and shown.merged:
        return "merged"
    return shown.state
