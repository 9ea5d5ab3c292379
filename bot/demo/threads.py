"""Render threads, files and changes of the demo's page as HTML (`templates/`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from bot import regex
from bot.demo.markdown import format_ago, render_markdown, templates
from bot.fakegithub.git import GitCommit, diff_commits
from bot.fakegithub.model import Issue, IssueComment, PullRequest, Repository, Review

if TYPE_CHECKING:
    from bot.fakegithub.server import FakeGitHub

_COMPARISON = regex.Regex(r"(?P<base>[0-9a-f]+)\.\.\.?(?P<head>[0-9a-f]+)")
_REACTIONS = {"eyes": "👀", "confused": "😕", "+1": "👍", "-1": "👎", "rocket": "🚀"}
_REVIEW_STATES = {
    "APPROVED": ("approved these changes", "good", "check"),
    "CHANGES_REQUESTED": ("requested changes", "bad", "changes"),
    "COMMENTED": ("reviewed", "plain", "eye"),
    "DISMISSED": ("had a review that was dismissed", "plain", "eye"),
}
"""Text, class and icon of a review."""
_LAST = 1 << 62
"""Of what happens in the same second, the end comes last."""

Entry = tuple[Literal["comment", "review", "commit", "end"], IssueComment | Review | GitCommit | None]


def list_threads(github: FakeGitHub) -> list[dict[str, object]]:
    """Every thread, newest first, the issues before the pull requests."""
    threads = sorted(
        (thread for repository in github.repositories.values() for thread in repository.threads.values()),
        key=lambda thread: (isinstance(thread, PullRequest), thread.state != "open", -thread.number),
    )
    return [
        {
            "number": thread.number,
            "path": thread_path(thread),
            "title": thread.title,
            "author": thread.user.login.removesuffix("[bot]"),
            "state": _state(thread),
            "kind": "pull request" if isinstance(thread, PullRequest) else "issue",
            "opened": format_ago(thread.created_at, github.now()),
            "comments": len(github.comments_of(thread)),
        }
        for thread in threads
    ]


def thread_path(thread: Issue) -> str:
    """The thread's path, as on GitHub."""
    kind = "pull" if isinstance(thread, PullRequest) else "issues"
    return f"/{thread.repository.full_name}/{kind}/{thread.number}"


def render_page(github: FakeGitHub, repository: Repository, path: str) -> str | None:
    """Render what GitHub shows at this path of a repository, or return None if there is nothing."""
    kind, _, rest = path.partition("/")
    if kind in {"pull", "issues"}:
        thread = repository.threads.get(int(rest)) if rest.isdecimal() else None
        return render_thread(github, thread) if thread else None
    if kind == "blob":
        sha, _, file = rest.partition("/")
        return _render_file(repository, _find_commit(repository, sha), file)
    if kind == "commit":
        commit = _find_commit(repository, rest)
        return _render_change(repository, next(iter(commit.parents), None), commit) if commit else None
    if kind == "compare" and (match := _COMPARISON.fullmatch(rest)):
        base, head = _find_commit(repository, match["base"]), _find_commit(repository, match["head"])
        return _render_change(repository, base.sha, head) if base and head else None
    return None


def render_thread(github: FakeGitHub, thread: Issue) -> str:
    """Render a thread: its description, and what happened since in its order."""
    from markupsafe import Markup

    def markdown(text: str) -> Markup:
        return Markup(render_markdown(text, github.find_repository))  # noqa: S704  escaped by the renderer

    entries = sorted(_entries(github, thread), key=lambda entry: entry[0])
    return (
        templates()
        .get_template("thread.html")
        .render(
            thread=thread,
            is_pull=isinstance(thread, PullRequest),
            state=_state(thread),
            commit_count=len(_commits(thread)),
            entries=[entry for _, entry in entries],
            now=github.now(),
            emojis=_REACTIONS,
            review_states=_REVIEW_STATES,
            markdown=markdown,
        )
    )


def _entries(github: FakeGitHub, thread: Issue) -> Iterator[tuple[tuple[datetime, int], Entry]]:
    for comment in github.comments_of(thread):
        yield (comment.created_at, comment.id), ("comment", comment)
    if isinstance(thread, PullRequest):
        for review in thread.reviews.values():
            if review.submitted_at:
                yield (review.submitted_at, review.id), ("review", review)
        for commit in _commits(thread):
            yield (commit.at, thread.pushed.get(commit.sha, 0)), ("commit", commit)
        if thread.closed_at:
            yield (thread.closed_at, _LAST), ("end", None)


def _commits(thread: Issue) -> tuple[GitCommit, ...]:
    if not isinstance(thread, PullRequest):
        return ()
    return thread.repository.objects.between(thread.base_sha, thread.head_sha)


def _state(thread: Issue) -> str:
    return "merged" if isinstance(thread, PullRequest) and thread.merged else thread.state


def _find_commit(repository: Repository, sha: str) -> GitCommit | None:
    """Find a commit by the first digits of its name, or by a branch."""
    commits = repository.objects.commits
    matches = (name for name in commits if sha and name.startswith(sha))
    return commits.get(repository.branches.get(sha) or next(matches, ""))


def _render_file(repository: Repository, commit: GitCommit | None, path: str) -> str | None:
    content = repository.objects.content(commit.sha, path) if commit else None
    if commit is None or content is None:
        return None
    lines = content.decode("utf-8", "replace").splitlines()
    return templates().get_template("file.html").render(path=path, sha=commit.sha, lines=lines)


def _render_change(repository: Repository, base: str | None, head: GitCommit) -> str:
    changes = diff_commits(repository.objects, base, head.sha)
    return templates().get_template("change.html").render(commit=head, base=base, changes=changes)
