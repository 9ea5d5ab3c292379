"""How is a pull request reviewed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.standin import diff
from bot.standin.acts.base import Acts, Who
from bot.standin.model import Account, PullRequest, Reaction, Review, ReviewComment
from bot.standin.refusal import Refused
from bot.standin.shapes.pulls import pull_changes, simple_pull
from bot.standin.shapes.pulls import review as written_review
from bot.standin.shapes.pulls import review_comment as written_comment


@dataclass(frozen=True, slots=True)
class Inline:
    """An inline comment to be made; without a line it is on the whole file."""

    path: str
    body: str
    line: int | None = None
    start_line: int | None = None
    side: str = "RIGHT"


class ReviewActs(Acts):
    """Reviews and their inline comments."""

    def submit_review(
        self, pull: PullRequest, reviewer: Who, state: str, body: str = "", comments: Sequence[Inline] = ()
    ) -> Review:
        """Review the pull request's head; `PENDING` keeps the review to its author."""
        who = self.account(reviewer)
        places = [self._place(pull, each) for each in comments]
        moment = self.now() if state != "PENDING" else None
        via_app = who is self.app.bot
        made = Review(self.new_id(), pull, who, state.upper(), body, pull.head_sha, moment, via_app)
        pull.reviews[made.id] = made
        for inline, anchor in zip(comments, places, strict=True):
            self._attach(made, inline, anchor)
        if moment is not None:
            self._announce(made)
        return made

    def submit_pending(self, review: Review, state: str) -> None:
        """Submit a review that was pending."""
        review.state, review.submitted_at = state, self.now()
        self._announce(review)

    def edit_review(self, review: Review, body: str) -> None:
        """Change a review's text; GitHub sends what it was before, too."""
        before, review.body = review.body, body
        self._tell_review(review, "edited", review.user, changes={"body": {"from": before}})

    def dismiss_review(self, review: Review, *, by: Who) -> None:
        """Take a review's verdict back."""
        review.state = "DISMISSED"
        self._tell_review(review, "dismissed", self.account(by))

    def reply(self, to: ReviewComment, by: Who, body: str) -> ReviewComment:
        """Answer an inline comment; GitHub makes a review of its own around the answer."""
        who, first = self.account(by), to.in_reply_to or to
        pull = to.review.pull
        around = Review(self.new_id(), pull, who, "COMMENTED", "", pull.head_sha, self.now())
        pull.reviews[around.id] = around
        inline = Inline(to.path, body, to.line, to.start_line, to.side)
        made = self._attach(around, inline, diff.Anchor(to.diff_hunk, to.position))
        made.in_reply_to = first
        self._tell_inline(made, "created", who)
        return made

    def edit_review_comment(self, comment: ReviewComment, body: str) -> None:
        """Change an inline comment's text."""
        before, comment.body, comment.updated_at = comment.body, body, self.now()
        self._tell_inline(comment, "edited", comment.user, changes={"body": {"from": before}})

    def delete_review_comment(self, comment: ReviewComment, *, by: Who | None = None) -> None:
        """Delete an inline comment."""
        comment.review.comments.remove(comment)
        comment.review.pull.repository.review_comments.pop(comment.id)
        self._tell_inline(comment, "deleted", self.account(by or comment.user))

    def resolve_thread(self, comment: ReviewComment, *, by: Who, resolved: bool = True) -> None:
        """Mark the thread that a comment began as resolved, or open it again."""
        first = comment.in_reply_to or comment
        inline = first.review.pull.repository.review_comments.values()
        members = [first, *(each for each in inline if each.in_reply_to is first)]
        thread = {
            "node_id": f"PRRT_{first.id}",
            "comments": [written_comment(self, each) for each in members],
        }
        payload = {
            "action": "resolved" if resolved else "unresolved",
            "pull_request": simple_pull(self, first.review.pull),
            "thread": thread,
        }
        where = first.review.pull.repository
        self.emit("pull_request_review_thread", where, self.account(by), payload)

    def react_to_review(self, review: Review, by: Who, content: str) -> Reaction:
        """Put a reaction on a review's text; a second one of the same kind is the first."""
        return self.reacted(review.reactions, by, content)

    def react_to_review_comment(self, comment: ReviewComment, by: Who, content: str) -> Reaction:
        """Put a reaction on an inline comment; a second one of the same kind is the first."""
        return self.reacted(comment.reactions, by, content)

    def _place(self, pull: PullRequest, inline: Inline) -> diff.Anchor:
        change = next((each for each in pull_changes(pull) if each.path == inline.path), None)
        if change is None:
            raise Refused(422, "Unprocessable Entity", errors=["Path could not be resolved"])
        if inline.line is None:
            return diff.Anchor(change.patch or "", 1)
        found = diff.anchor(change, inline.side, inline.line)
        begins = inline.line if inline.start_line is None else inline.start_line
        if found is None or diff.anchor(change, inline.side, begins) is None:
            raise Refused(422, "Unprocessable Entity", errors=["Line could not be resolved"])
        return found

    def _attach(self, review: Review, inline: Inline, anchor: diff.Anchor) -> ReviewComment:
        moment = self.now()
        made = ReviewComment(
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
        review.comments.append(made)
        review.pull.repository.review_comments[made.id] = made
        return made

    def _announce(self, review: Review) -> None:
        self._tell_review(review, "submitted", review.user)
        for comment in review.comments:
            self._tell_inline(comment, "created", review.user)

    def _tell_review(self, review: Review, action: str, who: Account, **more: Any) -> None:
        # In a webhook the state is in lower case and an empty body is null; in the API neither is so.
        lowered = {"state": review.state.lower(), "body": review.body or None}
        payload = {
            "action": action,
            "review": written_review(self, review) | lowered,
            "pull_request": simple_pull(self, review.pull),
        } | more
        self.emit("pull_request_review", review.pull.repository, who, payload)

    def _tell_inline(self, comment: ReviewComment, action: str, who: Account, **more: Any) -> None:
        payload = {
            "action": action,
            "comment": written_comment(self, comment),
            "pull_request": simple_pull(self, comment.review.pull),
        } | more
        self.emit("pull_request_review_comment", comment.review.pull.repository, who, payload)
