"""How do people and Apps write in a thread?"""

from __future__ import annotations

from typing import Any

from bot.standin.acts.base import Acts, Who
from bot.standin.model import Account, Issue, IssueComment, Label, Reaction, Repository
from bot.standin.refusal import Refused, invalid
from bot.standin.shapes.accounts import Json, user
from bot.standin.shapes.issues import comment as written_comment
from bot.standin.shapes.issues import issue as written_issue

_LONGEST_BODY = 65_536
_LONGEST_TITLE = 256


class CommentActs(Acts):
    """Issues, comments and reactions."""

    def open_issue(
        self, where: Repository, by: Who, title: str, body: str | None = None, labels: tuple[Label, ...] = ()
    ) -> Issue:
        """Open an issue."""
        who, moment = self.account(by), self.now()
        if not title or len(title) > _LONGEST_TITLE:
            raise invalid("Issue", "title", "custom", message="title is too long (maximum is 256 characters)")
        _check_length("Issue", body or "")
        made = Issue(self.new_id(), where, len(where.threads) + 1, title, body, who, moment, moment)
        made.labels.extend(labels)
        made.via_app = who is self.app.bot
        where.threads[made.number] = made
        self.emit("issues", where, who, {"action": "opened", "issue": written_issue(self, made)})
        return made

    def edit_issue(self, issue: Issue, by: Who, *, title: str | None = None, body: str | None = None) -> None:
        """Change an issue's title or text."""
        changes: Json = {}
        if title is not None and title != issue.title:
            changes["title"], issue.title = {"from": issue.title}, title
        if body is not None and body != issue.body:
            _check_length("Issue", body)
            changes["body"], issue.body = {"from": issue.body or ""}, body
        if changes:
            issue.updated_at = self.now()
            payload = {"action": "edited", "issue": written_issue(self, issue), "changes": changes}
            self.emit("issues", issue.repository, self.account(by), payload)

    def comment(self, thread: Issue, by: Who, body: str) -> IssueComment:
        """Comment in a thread."""
        who, moment = self.account(by), self.now()
        if thread.locked:
            raise Refused(403, "Unable to create comment because issue is locked.")
        _check_length("IssueComment", body)
        made = IssueComment(self.new_id(), thread, who, body, moment, moment, via_app=who is self.app.bot)
        thread.repository.comments[made.id] = made
        thread.updated_at = moment
        self._tell_comment(made, "created", who)
        return made

    def edit_comment(self, comment: IssueComment, body: str, *, by: Who | None = None) -> None:
        """Change a comment's text."""
        _check_length("IssueComment", body)
        before, comment.body, comment.updated_at = comment.body, body, self.now()
        self._tell_comment(
            comment, "edited", self.account(by or comment.user), changes={"body": {"from": before}}
        )

    def delete_comment(self, comment: IssueComment, *, by: Who | None = None) -> None:
        """Delete a comment."""
        comment.issue.repository.comments.pop(comment.id)
        self._tell_comment(comment, "deleted", self.account(by or comment.user))

    def minimize(self, comment: IssueComment, reason: str | None) -> None:
        """Fold a comment away for a reason, or show it again; GitHub sends no webhook for this."""
        comment.minimized = reason
        self.changed()

    def react(self, comment: IssueComment, by: Who, content: str) -> Reaction:
        """Put a reaction on a comment; a second one of the same kind is the first."""
        return self.reacted(comment.reactions, by, content)

    def comments_of(self, thread: Issue) -> list[IssueComment]:
        """The thread's comments, oldest first."""
        return [each for each in thread.repository.comments.values() if each.issue is thread]

    def _tell_comment(self, comment: IssueComment, action: str, who: Account, **more: Any) -> None:
        payload = {
            "action": action,
            # Here a deleted author is shown as the ghost, not as null.
            "issue": written_issue(self, comment.issue) | {"user": user(self, comment.issue.user)},
            "comment": written_comment(self, comment),
        } | more
        self.emit("issue_comment", comment.issue.repository, who, payload)


def _check_length(resource: str, body: str) -> None:
    if len(body) > _LONGEST_BODY:
        raise invalid(
            resource, "body", "custom", message=f"body is too long (maximum is {_LONGEST_BODY} characters)"
        )
