"""Pull requests: JSON, actions, endpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from bot.fakegithub import git
from bot.fakegithub.calls import (
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    page_answer,
    requires_read,
    show,
)
from bot.fakegithub.git import FileChanges, GitCommit
from bot.fakegithub.issues import issue_json, issue_url, label_json
from bot.fakegithub.model import Account, Issue, Label, PullRequest, Repository, node_id
from bot.fakegithub.repositories import Actor, PushActions
from bot.fakegithub.shapes import (
    THREAD_FIELDS,
    ShapeJson,
    author_association,
    fields,
    optional_user_json,
    page_url,
    repository_json,
    repository_url,
    user_json,
)
from bot.fakegithub.world import World


def pulls_at(repository: Repository, sha: str) -> list[PullRequest]:
    """The open pull requests of this repository's own branches with this head."""
    pulls = [thread for thread in repository.threads.values() if isinstance(thread, PullRequest)]
    return [
        pull
        for pull in pulls
        if pull.head_sha == sha and pull.state == "open" and pull.head_repository is repository
    ]


def pull_url(world: World, pull: PullRequest) -> str:
    """The pull request's address in the API."""
    return f"{repository_url(world, pull.repository)}/pulls/{pull.number}"


def pull_page(world: World, pull: PullRequest) -> str:
    """The pull request's address for people."""
    return f"{page_url(world, pull.repository)}/pull/{pull.number}"


def simple_pull_json(world: World, pull: PullRequest) -> ShapeJson:
    """A pull request as lists and most payloads have it."""
    api, page = pull_url(world, pull), pull_page(world, pull)
    return {
        **fields(pull, *THREAD_FIELDS, "merged_at", "merge_commit_sha", "draft"),
        **dict.fromkeys(("assignee", "milestone", "auto_merge", "active_lock_reason")),
        "id": pull.pull_id,
        "node_id": node_id("PR", pull.pull_id),
        "url": api,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url(world, pull),
        "user": user_json(world, pull.user),
        "assignees": [],
        "requested_reviewers": [user_json(world, reviewer) for reviewer in pull.requested_reviewers],
        "requested_teams": [],
        "labels": [label_json(world, label) for label in pull.labels],
        "head": _end(world, pull.head_repository, pull.head_ref, pull.head_sha, pull),
        "base": _end(world, pull.repository, pull.base_ref, pull.base_sha, pull),
        "author_association": author_association(pull.repository, pull.user),
    } | _links(world, pull)


def _end(world: World, repository: Repository | None, ref: str, sha: str, pull: PullRequest) -> ShapeJson:
    """The head or the base; a deleted fork leaves the head without a repository."""
    owner = repository.owner if repository is not None else pull.user
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user_json(world, owner),
        "repo": None if repository is None else repository_json(world, repository),
    }


def _links(world: World, pull: PullRequest) -> ShapeJson:
    api, issue = pull_url(world, pull), issue_url(world, pull)
    repository_api = repository_url(world, pull.repository)
    addresses = {
        "self": api,
        "html": pull_page(world, pull),
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{api}/comments",
        "review_comment": f"{repository_api}/pulls/comments{{/number}}",
        "commits": f"{api}/commits",
        "statuses": f"{repository_api}/statuses/{pull.head_sha}",
    }
    named = {f"{name}_url": addresses[name] for name in list(addresses)[3:]}
    return named | {"_links": {name: {"href": address} for name, address in addresses.items()}}


def pull_request_json(world: World, pull: PullRequest) -> ShapeJson:
    """A pull request in full."""
    changes = pull_changes(pull)
    comments = pull.repository.comments.values()
    return simple_pull_json(world, pull) | {
        "merged": pull.merged,
        "mergeable": None if pull.merged else True,
        "rebaseable": None if pull.merged else True,
        "mergeable_state": "unknown" if pull.merged else "clean",
        "merged_by": optional_user_json(world, pull.merged_by),
        "comments": sum(comment.issue is pull for comment in comments),
        "review_comments": sum(len(review.comments) for review in pull.reviews.values()),
        "maintainer_can_modify": False,
        "commits": len(pull.repository.objects.between(pull.base_sha, pull.head_sha)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def pull_changes(pull: PullRequest) -> tuple[git.FileChange, ...]:
    """What the pull request changes against the commit it branched off from."""
    objects = pull.repository.objects
    base = objects.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    return git.diff_commits(objects, base, pull.head_sha)


def file_change_json(world: World, repository: Repository, sha: str, change: git.FileChange) -> ShapeJson:
    """One file of a diff."""
    path = quote(change.path)
    api = repository_url(world, repository)
    content = fields(change, "sha", "status", "additions", "deletions") | {
        "filename": change.path,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page_url(world, repository)}/blob/{sha}/{path}",
        "raw_url": f"{page_url(world, repository)}/raw/{sha}/{path}",
        "contents_url": f"{api}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        content["patch"] = change.patch
    if change.previous is not None:
        content["previous_filename"] = change.previous
    return content


@dataclass(frozen=True, slots=True)
class PullRequestOptions:
    """How a pull request starts out, where it differs from the usual."""

    title: str = "Add a claim"
    body: str | None = None
    branch: str = ""
    draft: bool = False
    fork: bool = False
    message: str = ""  # of the commit; the title where it is empty
    files: FileChanges = field(default_factory=lambda: {"claims/first.md": "# A claim\n\nIt holds.\n"})


class PullRequestActions(PushActions):
    """Pull requests, without their reviews."""

    def open_pull_request(
        self, repository: Repository, author: Actor, opening: PullRequestOptions | None = None
    ) -> PullRequest:
        """Open a pull request that makes these changes on a branch of its own."""
        opening = opening or PullRequestOptions()
        account = self.account(author)
        number = len(repository.threads) + 1
        head_repository = self._fork(repository, account) if opening.fork else repository
        branch = opening.branch or f"change-{number}"
        base = repository.branches[repository.default_branch]
        message = opening.message or opening.title
        head = repository.objects.commit(
            opening.files, parents=(base,), message=message, login=account.login, at=self.now()
        )
        head_repository.branches[branch] = head.sha
        pull = PullRequest(
            self.new_id(),
            repository,
            number,
            opening.title,
            opening.body,
            account,
            self.now(),
            self.now(),
            pull_id=self.new_id(),
            base_ref=repository.default_branch,
            base_sha=base,
            head_ref=branch,
            head_sha=head.sha,
            head_repository=head_repository,
            draft=opening.draft,
        )
        repository.threads[number] = pull
        self._emit_pull(pull, "opened", account)
        return pull

    def push(
        self, pull: PullRequest, files: FileChanges, *, message: str = "Address the review"
    ) -> GitCommit:
        """Push one more commit to the pull request."""
        account, objects = pull.user, pull.repository.objects
        commit = objects.commit(
            files, parents=(pull.head_sha,), message=message, login=account.login, at=self.now()
        )
        self._move_head(pull, commit.sha, account)
        return commit

    def close(self, thread: Issue, *, by: Actor | None = None) -> None:
        """Close a pull request without merging it, or an issue."""
        account = self.account(by or thread.user)
        self._end(thread, account)
        self.emit_thread(thread, "closed", account)

    def merge(self, pull: PullRequest, *, by: Actor) -> GitCommit:
        """Merge a pull request into its base."""
        account, repository = self.account(by), pull.repository
        tip, message = repository.branches[pull.base_ref], f"Merge pull request #{pull.number}"
        commit = repository.objects.merge(
            tip, pull.head_sha, message=message, login=account.login, at=self.now()
        )
        repository.branches[pull.base_ref] = commit.sha
        pull.merged_at, pull.merged_by, pull.merge_commit_sha = self.now(), account, commit.sha
        self._end(pull, account)
        self._emit_pull(pull, "closed", account)
        return commit

    def add_label(self, thread: Issue, name: str, *, by: Actor) -> Label:
        """Put a label on a pull request or an issue."""
        label = self.label(thread.repository, name)
        if label not in thread.labels:
            thread.labels.append(label)
            self._emit_label(thread, "labeled", label, self.account(by))
        return label

    def remove_label(self, thread: Issue, name: str, *, by: Actor) -> None:
        """Take a label off."""
        for gone in [label for label in thread.labels if label.name == name]:
            thread.labels.remove(gone)
            self._emit_label(thread, "unlabeled", gone, self.account(by))

    def label(self, repository: Repository, name: str, *, color: str = "ededed") -> Label:
        """The repository's label of this name; created if there is none."""
        return repository.labels.setdefault(name, Label(self.new_id(), repository, name, color))

    def emit_thread(self, thread: Issue, action: str, account: Account) -> None:
        """Emit the event of a change of a pull request or an issue."""
        if isinstance(thread, PullRequest):
            self._emit_pull(thread, action, account)
        else:
            self.emit(
                "issues", thread.repository, account, {"action": action, "issue": issue_json(self, thread)}
            )

    def _end(self, thread: Issue, account: Account) -> None:
        thread.state, thread.closed_at, thread.closed_by = "closed", self.now(), account
        thread.state_reason = None if isinstance(thread, PullRequest) else "completed"
        thread.updated_at = self.now()

    def _move_head(self, pull: PullRequest, sha: str, account: Account) -> None:
        before = pull.head_sha
        pull.head_sha, pull.updated_at = sha, self.now()
        pull.pushed[sha] = self.new_id()
        repository = pull.head_repository
        if repository is not None:
            repository.branches[pull.head_ref] = sha
            self.emit_push(repository, pull.head_ref, before, sha, account)
        _outdate(pull)
        self._emit_pull(pull, "synchronize", account, before=before, after=sha)

    def _fork(self, repository: Repository, account: Account) -> Repository:
        fork = Repository(
            self.new_id(), account, repository.name, repository.private, self.now(), fork_of=repository
        )
        fork.objects = repository.objects
        fork.branches = dict(repository.branches)
        self.repositories[fork.id] = fork
        return fork

    def _emit_label(self, thread: Issue, action: str, label: Label, account: Account) -> None:
        content = label_json(self, label)
        thread.updated_at = self.now()
        if isinstance(thread, PullRequest):
            self._emit_pull(thread, action, account, label=content)
        else:
            payload = {"action": action, "issue": issue_json(self, thread), "label": content}
            self.emit("issues", thread.repository, account, payload)

    def _emit_pull(self, pull: PullRequest, action: str, account: Account, **more: Any) -> None:
        payload = {
            "action": action,
            "number": pull.number,
            "pull_request": pull_request_json(self, pull),
        } | more
        self.emit("pull_request", pull.repository, account, payload)


def _outdate(pull: PullRequest) -> None:
    """Mark the inline comments whose line is no longer what it was."""
    objects = pull.repository.objects
    for comment in (inline for review in pull.reviews.values() for inline in review.comments):
        if comment.line is not None and comment.side == "RIGHT":
            old = _line(objects.content(comment.commit_id, comment.path), comment.line)
            comment.outdated = old != _line(objects.content(pull.head_sha, comment.path), comment.line)


def _line(data: bytes | None, number: int) -> bytes | None:
    lines = (data or b"").splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else None


def list_pulls(call: ApiCall) -> ApiAnswer:
    """The pull requests of a state, newest first unless asked otherwise."""
    state, by_change = call.query.get("state", "open"), call.query.get("sort") == "updated"
    threads = call.repository.threads.values()
    pulls = [
        thread for thread in threads if isinstance(thread, PullRequest) and state in {"all", thread.state}
    ]
    pulls.sort(
        key=lambda pull: (pull.updated_at if by_change else pull.created_at, pull.number),
        reverse=call.query.get("direction") != "asc",
    )
    return page_answer(call, pulls, simple_pull_json)


def list_files(call: ApiCall) -> ApiAnswer:
    """What a pull request changes."""
    pull = call.pull
    return page_answer(
        call,
        pull_changes(pull),
        lambda github, change: file_change_json(github, pull.repository, pull.head_sha, change),
    )


_PULL = f"{REPO_ROUTE}/pulls/{{pull_number}}"

_READ = requires_read("pull_requests")

PULL_ROUTES = (
    Route("GET", f"{REPO_ROUTE}/pulls", list_pulls, _READ),
    Route("GET", _PULL, show(lambda call: call.pull, pull_request_json), _READ),
    Route("GET", f"{_PULL}/files", list_files, _READ),
)
