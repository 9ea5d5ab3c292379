"""How does a pull request open, move and end?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bot.standin.acts.base import Who
from bot.standin.acts.pushes import PushActs
from bot.standin.git import Changes, Commit
from bot.standin.model import Account, Issue, Label, PullRequest, Repository
from bot.standin.shapes.accounts import Json
from bot.standin.shapes.issues import issue as written_issue
from bot.standin.shapes.pulls import pull_request as written_pull
from bot.standin.shapes.repositories import label as written_label


@dataclass(frozen=True, slots=True)
class Opening:
    """How a pull request starts out, where it differs from the usual."""

    title: str = "Add a claim"
    body: str | None = None
    branch: str = ""
    draft: bool = False
    fork: bool = False
    files: Changes = field(default_factory=lambda: {"claims/first.md": "# A claim\n\nIt holds.\n"})


class PullRequestActs(PushActs):
    """Pull requests, without their reviews."""

    def open_pull_request(
        self, where: Repository, author: Who, opening: Opening | None = None
    ) -> PullRequest:
        """Open a pull request that makes these changes on a branch of its own."""
        opening = opening or Opening()
        who = self.account(author)
        number = len(where.threads) + 1
        head_repository = self._fork(where, who) if opening.fork else where
        branch = opening.branch or f"change-{number}"
        base = where.branches[where.default_branch]
        head = where.objects.commit(
            opening.files, parents=(base,), message=opening.title, login=who.login, at=self.now()
        )
        head_repository.branches[branch] = head.sha
        pull = PullRequest(
            self.new_id(),
            where,
            number,
            opening.title,
            opening.body,
            who,
            self.now(),
            self.now(),
            pull_id=self.new_id(),
            base_ref=where.default_branch,
            base_sha=base,
            head_ref=branch,
            head_sha=head.sha,
            head_repository=head_repository,
            draft=opening.draft,
        )
        where.threads[number] = pull
        self._tell_pull(pull, "opened", who)
        return pull

    def push(
        self, pull: PullRequest, files: Changes, *, by: Who | None = None, message: str = "Address the review"
    ) -> Commit:
        """Push one more commit to the pull request."""
        who = self.account(by) if by is not None else pull.user
        objects = pull.repository.objects
        made = objects.commit(
            files, parents=(pull.head_sha,), message=message, login=who.login, at=self.now()
        )
        self._move_head(pull, made.sha, who)
        return made

    def force_push(self, pull: PullRequest, sha: str, *, by: Who | None = None) -> None:
        """Set the pull request's branch to a commit that exists."""
        self._move_head(pull, pull.repository.objects.commits[sha].sha, self.account(by or pull.user))

    def edit_pull_request(
        self, pull: PullRequest, *, title: str | None = None, body: str | None = None
    ) -> None:
        """Change the title or the description."""
        changes: Json = {}
        if title is not None:
            changes["title"], pull.title = {"from": pull.title}, title
        if body is not None:
            changes["body"], pull.body = {"from": pull.body or ""}, body
        self._tell_pull(pull, "edited", pull.user, changes=changes)

    def set_draft(self, pull: PullRequest, *, draft: bool) -> None:
        """Turn the pull request into a draft, or say that it is ready."""
        pull.draft = draft
        self._tell_pull(pull, "converted_to_draft" if draft else "ready_for_review", pull.user)

    def close(self, thread: Issue, *, by: Who | None = None) -> None:
        """Close a pull request without merging it, or an issue."""
        who = self.account(by) if by is not None else thread.user
        self._end(thread, who)
        self.tell_thread(thread, "closed", who)

    def merge(self, pull: PullRequest, *, by: Who) -> Commit:
        """Merge a pull request into its base."""
        who, where = self.account(by), pull.repository
        tip, message = where.branches[pull.base_ref], f"Merge pull request #{pull.number}"
        made = where.objects.merge(tip, pull.head_sha, message=message, login=who.login, at=self.now())
        where.branches[pull.base_ref] = made.sha
        pull.merged_at, pull.merged_by, pull.merge_commit_sha = self.now(), who, made.sha
        self._end(pull, who)
        self._tell_pull(pull, "closed", who)
        return made

    def reopen(self, thread: Issue, *, by: Who | None = None) -> None:
        """Open a closed pull request or issue again."""
        thread.state, thread.closed_at, thread.closed_by = "open", None, None
        thread.state_reason = None if isinstance(thread, PullRequest) else "reopened"
        thread.updated_at = self.now()
        self.tell_thread(thread, "reopened", self.account(by or thread.user))

    def lock(self, thread: Issue, *, locked: bool = True) -> None:
        """Lock a conversation, or open it again."""
        thread.locked = locked
        self.tell_thread(thread, "locked" if locked else "unlocked", thread.repository.owner)

    def add_label(self, thread: Issue, name: str, *, by: Who) -> Label:
        """Put a label on a pull request or an issue."""
        made = self.label(thread.repository, name)
        if made not in thread.labels:
            thread.labels.append(made)
            self._tell_label(thread, "labeled", made, self.account(by))
        return made

    def remove_label(self, thread: Issue, name: str, *, by: Who) -> None:
        """Take a label off."""
        for gone in [each for each in thread.labels if each.name == name]:
            thread.labels.remove(gone)
            self._tell_label(thread, "unlabeled", gone, self.account(by))

    def label(self, where: Repository, name: str, *, color: str = "ededed") -> Label:
        """The repository's label of this name; made where there is none."""
        return where.labels.setdefault(name, Label(self.new_id(), name, color))

    def tell_thread(self, thread: Issue, action: str, who: Account) -> None:
        """Tell of a change of a pull request or an issue, by its own event."""
        if isinstance(thread, PullRequest):
            self._tell_pull(thread, action, who)
        else:
            self.emit(
                "issues", thread.repository, who, {"action": action, "issue": written_issue(self, thread)}
            )

    def delete_fork(self, pull: PullRequest) -> None:
        """Delete the repository that the pull request comes from; its commits stay readable here."""
        fork = pull.head_repository
        if fork is not None and fork is not pull.repository:
            self.repositories.pop(fork.id)
            pull.head_repository = None
        self.changed()

    def _end(self, thread: Issue, who: Account) -> None:
        thread.state, thread.closed_at, thread.closed_by = "closed", self.now(), who
        thread.state_reason = None if isinstance(thread, PullRequest) else "completed"
        thread.updated_at = self.now()

    def _move_head(self, pull: PullRequest, sha: str, who: Account) -> None:
        before = pull.head_sha
        pull.head_sha, pull.updated_at = sha, self.now()
        pull.pushed[sha] = self.new_id()
        where = pull.head_repository
        if where is not None:
            where.branches[pull.head_ref] = sha
            self.emit_push(where, pull.head_ref, before, sha, who)
        _outdate(pull)
        self._tell_pull(pull, "synchronize", who, before=before, after=sha)

    def _fork(self, where: Repository, who: Account) -> Repository:
        made = Repository(self.new_id(), who, where.name, where.private, self.now(), fork_of=where)
        made.objects = where.objects
        made.branches = dict(where.branches)
        self.repositories[made.id] = made
        return made

    def _tell_label(self, thread: Issue, action: str, made: Label, who: Account) -> None:
        written = written_label(self, thread.repository, made)
        if isinstance(thread, PullRequest):
            self._tell_pull(thread, action, who, label=written)
        else:
            payload = {"action": action, "issue": written_issue(self, thread), "label": written}
            self.emit("issues", thread.repository, who, payload)

    def _tell_pull(self, pull: PullRequest, action: str, who: Account, **more: Any) -> None:
        payload = {"action": action, "number": pull.number, "pull_request": written_pull(self, pull)} | more
        self.emit("pull_request", pull.repository, who, payload)


def _outdate(pull: PullRequest) -> None:
    """Mark the inline comments whose line is no longer what it was."""
    objects = pull.repository.objects
    for comment in (each for review in pull.reviews.values() for each in review.comments):
        if comment.line is not None and comment.side == "RIGHT":
            old = _line(objects.content(comment.commit_id, comment.path), comment.line)
            comment.outdated = old != _line(objects.content(pull.head_sha, comment.path), comment.line)


def _line(data: bytes | None, number: int) -> bytes | None:
    lines = (data or b"").splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else None
