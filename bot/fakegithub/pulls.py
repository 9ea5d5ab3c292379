"""Pull requests: what they are, what people do with them, endpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bot.fakegithub import git
from bot.fakegithub.calls import REPO_ROUTE, ApiCall, Route, requires_read
from bot.fakegithub.git import FileChanges, GitCommit
from bot.fakegithub.issues import Issue, Label
from bot.fakegithub.model import Account, Json, Repository, fields, node_id, same, show
from bot.fakegithub.repositories import RepositoryActions
from bot.fakegithub.world import Actor

if TYPE_CHECKING:
    from bot.fakegithub.reviews import Review


@dataclass(slots=True, eq=False, kw_only=True)
class PullRequest(Issue):
    """A pull request and its reviews."""

    prefix = "PR"
    api = "{0.repository.url}/pulls/{0.number}"
    page = "{0.repository.html_url}/pull/{0.number}"
    pull_id: int = field(init=False)
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: Repository | None
    draft: bool = False
    requested_reviewers: list[Account] = field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit_sha: str | None = None
    reviews: dict[int, Review] = field(default_factory=dict)
    pushed: dict[str, int] = field(default_factory=dict)
    """Heads that were pushed later, each with a number that orders it among comments and reviews."""

    def __post_init__(self) -> None:
        Issue.__post_init__(self)
        self.pull_id = self.world.new_id()

    @property
    def merged(self) -> bool:
        """Whether it went in."""
        return self.merged_at is not None

    @property
    def changes(self) -> tuple[git.FileChange, ...]:
        """What it changes against the commit it branched off from."""
        objects = self.repository.objects
        base = objects.merge_base(self.base_sha, self.head_sha) or self.base_sha
        return git.diff_commits(objects, base, self.head_sha)

    @property
    def as_issue(self) -> Json:
        """The pull request as lists of issues have it."""
        links = fields(self, "url html_url merged_at") | self._patches
        return super(PullRequest, self).as_issue | {"draft": self.draft, "pull_request": links}

    @property
    def _patches(self) -> Json:
        return {f"{kind}_url": f"{self.html_url}.{kind}" for kind in ("diff", "patch")}

    @property
    def json(self) -> Json:
        """The pull request as lists and most payloads have it."""
        base = self._end(self.repository, self.base_ref, self.base_sha)
        return {
            **self.common_fields,
            **fields(self, "merged_at merge_commit_sha draft url issue_url"),
            **same(None, "auto_merge"),
            **self._patches,
            **self._links,
            "id": self.pull_id,
            "node_id": node_id("PR", self.pull_id),
            "user": self.user.or_ghost,
            "requested_reviewers": [reviewer.or_ghost for reviewer in self.requested_reviewers],
            "requested_teams": [],
            "head": self._end(self.head_repository, self.head_ref, self.head_sha),
            "base": base,
        }

    def _end(self, repository: Repository | None, ref: str, sha: str) -> Json:
        """The head or the base; a deleted fork leaves the head without a repository."""
        owner = repository.owner if repository is not None else self.user
        label = f"{owner.login}:{ref}"
        return {"label": label, "ref": ref, "sha": sha, "user": owner.or_ghost, "repo": show(repository)}

    @property
    def _links(self) -> Json:
        below = {
            "comments": f"{self.issue_url}/comments",
            "review_comments": f"{self.url}/comments",
            "review_comment": f"{self.repository.url}/pulls/comments{{/number}}",
            "commits": f"{self.url}/commits",
            "statuses": f"{self.repository.url}/statuses/{self.head_sha}",
        }
        links = {"self": self.url, "html": self.html_url, "issue": self.issue_url} | below
        named = {f"{name}_url": address for name, address in below.items()}
        return named | {"_links": {name: {"href": address} for name, address in links.items()}}

    @property
    def in_full(self) -> Json:
        """The pull request on its own."""
        changes, comments = self.changes, self.repository.comments.values()
        return self.json | {
            **fields(self, "merged merged_by"),
            **same(None if self.merged else True, "mergeable rebaseable"),
            "mergeable_state": "unknown" if self.merged else "clean",
            "comments": sum(comment.issue is self for comment in comments),
            "review_comments": sum(len(review.comments) for review in self.reviews.values()),
            "maintainer_can_modify": False,
            "commits": len(self.repository.objects.between(self.base_sha, self.head_sha)),
            "additions": sum(change.additions for change in changes),
            "deletions": sum(change.deletions for change in changes),
            "changed_files": len(changes),
        }

    @property
    def in_short(self) -> Json:
        """The pull request as checks name it."""
        place = fields(self.repository, "id name url")
        return fields(self, "number url") | {
            "id": self.pull_id,
            "head": {"ref": self.head_ref, "sha": self.head_sha, "repo": place},
            "base": {"ref": self.base_ref, "sha": self.base_sha, "repo": place},
        }


def files_json(repository: Repository, sha: str, changes: Iterable[git.FileChange]) -> list[Json]:
    """The files of a diff."""
    return [_file_json(repository, sha, change) for change in changes]


def _file_json(repository: Repository, sha: str, change: git.FileChange) -> Json:
    path = quote(change.path)
    content = fields(change, "sha status additions deletions") | {
        "filename": change.path,
        "changes": change.additions + change.deletions,
        "blob_url": f"{repository.html_url}/blob/{sha}/{path}",
        "raw_url": f"{repository.html_url}/raw/{sha}/{path}",
        "contents_url": f"{repository.url}/contents/{path}?ref={sha}",
    }
    optional = {"patch": change.patch, "previous_filename": change.previous}
    return content | {name: value for name, value in optional.items() if value is not None}


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


class PullRequestActions(RepositoryActions):
    """Pull requests, without their reviews."""

    def pulls_of(self, repository: Repository) -> list[PullRequest]:
        """The pull requests of a repository, oldest first."""
        return [thread for thread in repository.threads.values() if isinstance(thread, PullRequest)]

    def open_pull_request(
        self, repository: Repository, author: Actor, opening: PullRequestOptions | None = None
    ) -> PullRequest:
        """Open a pull request that makes these changes on a branch of its own."""
        opening = opening or PullRequestOptions()
        account, number = self.account(author), len(repository.threads) + 1
        head_repository = self._fork(repository, account) if opening.fork else repository
        branch = opening.branch or f"change-{number}"
        base = repository.branches[repository.default_branch]
        message = opening.message or opening.title
        head = repository.objects.commit(
            opening.files, parents=(base,), message=message, login=account.login, at=self.now()
        )
        head_repository.branches[branch] = head.sha
        pull = PullRequest(
            self,
            repository,
            account,
            number,
            opening.title,
            opening.body,
            base_ref=repository.default_branch,
            base_sha=base,
            head_ref=branch,
            head_sha=head.sha,
            head_repository=head_repository,
            draft=opening.draft,
        )
        repository.threads[number] = pull
        self.emit_thread(pull, "opened", account)
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
        self._end(thread, self.account(by or thread.user))

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
        return commit

    def label(self, repository: Repository, name: str, *, color: str = "ededed") -> Label:
        """The repository's label of this name; created if there is none."""
        return repository.labels.setdefault(name, Label(self, repository, name, color))

    def emit_thread(self, thread: Issue, action: str, account: Account, **more: Any) -> None:
        """Emit the event of a change of a pull request or an issue."""
        if isinstance(thread, PullRequest):
            more |= {"number": thread.number, "pull_request": thread.in_full}
            self.emit("pull_request", thread.repository, account, action=action, **more)
        else:
            self.emit("issues", thread.repository, account, action=action, issue=thread, **more)

    def _end(self, thread: Issue, account: Account) -> None:
        thread.state, thread.closed_at, thread.closed_by = "closed", self.now(), account
        thread.state_reason = None if isinstance(thread, PullRequest) else "completed"
        thread.updated_at = self.now()
        self.emit_thread(thread, "closed", account)

    def _move_head(self, pull: PullRequest, sha: str, account: Account) -> None:
        before = pull.head_sha
        pull.head_sha, pull.updated_at = sha, self.now()
        pull.pushed[sha] = self.new_id()
        repository = pull.head_repository
        if repository is not None:
            repository.branches[pull.head_ref] = sha
            self.emit_push(repository, pull.head_ref, before, sha, account)
        _outdate(pull)
        self.emit_thread(pull, "synchronize", account, before=before, after=sha)

    def _fork(self, repository: Repository, account: Account) -> Repository:
        fork = Repository(self, account, repository.name, repository.private, fork_of=repository)
        fork.objects, fork.branches = repository.objects, dict(repository.branches)
        self.repositories[fork.id] = fork
        return fork


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


def _list_pulls(call: ApiCall) -> list[PullRequest]:
    """The pull requests of a state, newest first unless asked otherwise."""
    state, by_change = call.query.get("state", "open"), call.query.get("sort") == "updated"
    return sorted(
        (pull for pull in call.github.pulls_of(call.repository) if state in {"all", pull.state}),
        key=lambda pull: (pull.updated_at if by_change else pull.created_at, pull.number),
        reverse=call.query.get("direction") != "asc",
    )


_READ = requires_read("pull_requests")

PULL_ROUTES = (
    Route("GET", f"{REPO_ROUTE}/pulls", _READ, _list_pulls),
    Route("GET", f"{REPO_ROUTE}/pulls/{{pull_number}}", _READ, lambda call: call.pull.in_full),
)
