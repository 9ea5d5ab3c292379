"""Actions on pull requests and their reviews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.fakegithub import git
from bot.fakegithub.git import FileChanges, GitCommit
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    Issue,
    Label,
    PullRequest,
    Repository,
    Review,
    ReviewComment,
)
from bot.fakegithub.pull_shapes import (
    pull_changes,
    pull_request_json,
    review_comment_json,
    review_json,
    simple_pull_json,
)
from bot.fakegithub.repository_actions import Actions, Actor, PushActions
from bot.fakegithub.shapes import issue_json, label_json


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
        self,
        pull: PullRequest,
        files: FileChanges,
        *,
        by: Actor | None = None,
        message: str = "Address the review",
    ) -> GitCommit:
        """Push one more commit to the pull request."""
        account = self.account(by or pull.user)
        objects = pull.repository.objects
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

    def reopen(self, thread: Issue, *, by: Actor | None = None) -> None:
        """Open a closed pull request or issue again."""
        thread.state, thread.closed_at, thread.closed_by = "open", None, None
        thread.state_reason = None if isinstance(thread, PullRequest) else "reopened"
        thread.updated_at = self.now()
        self.emit_thread(thread, "reopened", self.account(by or thread.user))

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


def review_threads(pull: PullRequest) -> dict[ReviewComment, list[ReviewComment]]:
    """The comments of every review thread, by the comment that began it and that may be deleted since."""
    threads: dict[ReviewComment, list[ReviewComment]] = {}
    for comment in pull.repository.review_comments.values():
        if comment.review.pull is pull and comment.review.submitted_at is not None:
            threads.setdefault(comment.in_reply_to or comment, []).append(comment)
    return threads


@dataclass(frozen=True, slots=True)
class InlineDraft:
    """An inline comment to be made; without a line it is on the whole file."""

    path: str
    body: str
    line: int | None = None
    start_line: int | None = None
    side: str = "RIGHT"


class ReviewActions(Actions):
    """Reviews and their inline comments."""

    def submit_review(
        self,
        pull: PullRequest,
        reviewer: Actor,
        state: str,
        body: str = "",
        comments: Sequence[InlineDraft] = (),
    ) -> Review:
        """Review the pull request's head; `PENDING` keeps the review to its author."""
        account = self.account(reviewer)
        places = [self._anchor_of(pull, comment) for comment in comments]
        moment = self.now() if state != "PENDING" else None
        via_app = account is self.app.bot
        review = Review(self.new_id(), pull, account, state.upper(), body, pull.head_sha, moment, via_app)
        pull.reviews[review.id] = review
        for inline, anchor in zip(comments, places, strict=True):
            self._attach(review, inline, anchor)
        if moment is not None:
            self._emit_submitted(review)
        return review

    def reply(self, to: ReviewComment, by: Actor, body: str) -> ReviewComment:
        """Answer an inline comment; GitHub makes a review of its own around the answer."""
        account, first = self.account(by), to.in_reply_to or to
        pull = to.review.pull
        around = Review(self.new_id(), pull, account, "COMMENTED", "", pull.head_sha, self.now())
        pull.reviews[around.id] = around
        inline = InlineDraft(to.path, body, to.line, to.start_line, to.side)
        comment = self._attach(around, inline, git.DiffAnchor(to.diff_hunk, to.position))
        comment.in_reply_to = first
        self._emit_inline(comment, "created", account)
        return comment

    def _anchor_of(self, pull: PullRequest, inline: InlineDraft) -> git.DiffAnchor:
        change = next((item for item in pull_changes(pull) if item.path == inline.path), None)
        if change is None:
            raise ApiRefusal(422, "Unprocessable Entity", errors=["Path could not be resolved"])
        if inline.line is None:
            return git.DiffAnchor(change.patch or "", 1)
        anchor = git.find_anchor(change, inline.side, inline.line)
        begins = inline.line if inline.start_line is None else inline.start_line
        if anchor is None or git.find_anchor(change, inline.side, begins) is None:
            raise ApiRefusal(422, "Unprocessable Entity", errors=["Line could not be resolved"])
        return anchor

    def _attach(self, review: Review, inline: InlineDraft, anchor: git.DiffAnchor) -> ReviewComment:
        moment = self.now()
        comment = ReviewComment(
            self.new_id(),
            review,
            review.user,
            inline.path,
            inline.body,
            inline.line,
            inline.start_line,
            inline.side,
            "file" if inline.line is None else "line",
            anchor.hunk,
            anchor.position,
            review.commit_id,
            moment,
            moment,
        )
        review.comments.append(comment)
        review.pull.repository.review_comments[comment.id] = comment
        return comment

    def _emit_submitted(self, review: Review) -> None:
        if review.user in review.pull.requested_reviewers:  # a review answers the request, without a webhook
            review.pull.requested_reviewers.remove(review.user)
        self._emit_review(review, "submitted", review.user)
        for comment in review.comments:
            self._emit_inline(comment, "created", review.user)

    def _emit_review(self, review: Review, action: str, account: Account, **more: Any) -> None:
        # In a webhook the state is in lower case and an empty body is null; in the API neither is so.
        lowered = {"state": review.state.lower(), "body": review.body or None}
        payload = {
            "action": action,
            "review": review_json(self, review) | lowered,
            "pull_request": simple_pull_json(self, review.pull),
        } | more
        self.emit("pull_request_review", review.pull.repository, account, payload)

    def _emit_inline(self, comment: ReviewComment, action: str, account: Account, **more: Any) -> None:
        payload = {
            "action": action,
            "comment": review_comment_json(self, comment),
            "pull_request": simple_pull_json(self, comment.review.pull),
        } | more
        self.emit("pull_request_review_comment", comment.review.pull.repository, account, payload)
