"""All actions of the fake GitHub, with comments, reactions and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.fakegithub.model import (
    Account,
    Annotation,
    ApiRefusal,
    App,
    CheckRun,
    CommitStatus,
    Issue,
    IssueComment,
    Label,
    PullRequest,
    Reaction,
    Repository,
    invalid_refusal,
)
from bot.fakegithub.pull_actions import PullRequestActions, ReviewActions
from bot.fakegithub.pull_shapes import check_run_json as written_run
from bot.fakegithub.pull_shapes import check_suite_json as written_suite
from bot.fakegithub.pull_shapes import commit_json as written_commit
from bot.fakegithub.repository_actions import Actions, Actor, RepositoryActions
from bot.fakegithub.shapes import ShapeJson, format_time, user_json
from bot.fakegithub.shapes import comment_json as written_comment
from bot.fakegithub.shapes import issue_json as written_issue


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a check says about its result."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()


class CheckActions(Actions):
    """Check runs and commit statuses."""

    def check(
        self,
        pull: PullRequest,
        name: str,
        conclusion: str,
        output: CheckOutput | None = None,
        *,
        app: str = "ci",
    ) -> CheckRun:
        """A check on the pull request's head, from start to end, by another App."""
        run = self.start_check_run(pull.repository, pull.head_sha, name, app=app)
        self.complete_check_run(run, conclusion, output)
        return run

    def start_check_run(
        self, where: Repository, sha: str, name: str, *, app: str | App = "ci", status: str = "in_progress"
    ) -> CheckRun:
        """Begin a check on a commit."""
        by = app if isinstance(app, App) else self.other_app(app)
        run = CheckRun(
            self.new_id(), self.new_id(), where, by, name, sha, status, None, self.now(), completed_at=None
        )
        where.check_runs[run.id] = run
        self._tell_check(run, "created")
        return run

    def complete_check_run(self, run: CheckRun, conclusion: str, output: CheckOutput | None = None) -> None:
        """End a check; more annotations are added to those it had."""
        self.describe_check_run(run, output)
        run.status, run.conclusion, run.completed_at = "completed", conclusion, self.now()
        self._tell_check(run, "completed")

    def describe_check_run(self, run: CheckRun, output: CheckOutput | None) -> None:
        """Say more about a check that goes on."""
        if output is not None:
            run.title, run.summary, run.text = output.title, output.summary, output.text
            run.annotations.extend(output.annotations)
        self.changed()

    def set_status(
        self, where: Repository, sha: str, context: str, state: str, *, by: Actor = "ci[bot]"
    ) -> CommitStatus:
        """Put a status on a commit."""
        who = self.account(by)
        made = CommitStatus(self.new_id(), sha, context, state, None, None, who, self.now())
        where.statuses.append(made)
        payload = {
            "id": made.id,
            "sha": sha,
            "name": where.full_name,
            "avatar_url": f"https://avatars.githubusercontent.com/u/{who.id}?v=4",
            "target_url": None,
            "context": context,
            "description": None,
            "state": state,
            "commit": written_commit(self, where, where.objects.commits[sha]),
            "branches": [],
            "created_at": format_time(made.created_at),
            "updated_at": format_time(made.created_at),
        }
        self.emit("status", where, who, payload)
        return made

    def other_app(self, slug: str) -> App:
        """Another App by its slug; made where there is none."""
        if slug not in self.apps:
            owner, bot = self.account(f"{slug}-makers", "Organization"), self.account(f"{slug}[bot]")
            granted = {"checks": "write", "metadata": "read"}
            self.apps[slug] = App(self.new_id(), slug, slug, owner, bot, None, granted, (), self.now())
        return self.apps[slug]

    def _tell_check(self, run: CheckRun, action: str) -> None:
        written = written_run(self, run) | {"check_suite": written_suite(self, run)}
        self.emit("check_run", run.repository, run.app.bot, {"action": action, "check_run": written})


_LONGEST_BODY = 65_536
_LONGEST_TITLE = 256


class CommentActions(Actions):
    """Issues, comments and reactions."""

    def open_issue(
        self,
        where: Repository,
        by: Actor,
        title: str,
        body: str | None = None,
        labels: tuple[Label, ...] = (),
    ) -> Issue:
        """Open an issue."""
        who, moment = self.account(by), self.now()
        if not title or len(title) > _LONGEST_TITLE:
            raise invalid_refusal(
                "Issue", "title", "custom", message="title is too long (maximum is 256 characters)"
            )
        _check_length("Issue", body or "")
        made = Issue(self.new_id(), where, len(where.threads) + 1, title, body, who, moment, moment)
        made.labels.extend(labels)
        made.via_app = who is self.app.bot
        where.threads[made.number] = made
        self.emit("issues", where, who, {"action": "opened", "issue": written_issue(self, made)})
        return made

    def edit_issue(
        self, issue: Issue, by: Actor, *, title: str | None = None, body: str | None = None
    ) -> None:
        """Change an issue's title or text."""
        changes: ShapeJson = {}
        if title is not None and title != issue.title:
            changes["title"], issue.title = {"from": issue.title}, title
        if body is not None and body != issue.body:
            _check_length("Issue", body)
            changes["body"], issue.body = {"from": issue.body or ""}, body
        if changes:
            issue.updated_at = self.now()
            payload = {"action": "edited", "issue": written_issue(self, issue), "changes": changes}
            self.emit("issues", issue.repository, self.account(by), payload)

    def comment(self, thread: Issue, by: Actor, body: str) -> IssueComment:
        """Comment in a thread."""
        who, moment = self.account(by), self.now()
        if thread.locked:
            raise ApiRefusal(403, "Unable to create comment because issue is locked.")
        _check_length("IssueComment", body)
        made = IssueComment(self.new_id(), thread, who, body, moment, moment, via_app=who is self.app.bot)
        thread.repository.comments[made.id] = made
        thread.updated_at = moment
        self._tell_comment(made, "created", who)
        return made

    def edit_comment(self, comment: IssueComment, body: str, *, by: Actor | None = None) -> None:
        """Change a comment's text."""
        _check_length("IssueComment", body)
        before, comment.body, comment.updated_at = comment.body, body, self.now()
        self._tell_comment(
            comment, "edited", self.account(by or comment.user), changes={"body": {"from": before}}
        )

    def delete_comment(self, comment: IssueComment, *, by: Actor | None = None) -> None:
        """Delete a comment."""
        comment.issue.repository.comments.pop(comment.id)
        self._tell_comment(comment, "deleted", self.account(by or comment.user))

    def minimize(self, comment: IssueComment, reason: str | None) -> None:
        """Fold a comment away for a reason, or show it again; GitHub sends no webhook for this."""
        comment.minimized = reason
        self.changed()

    def react(self, comment: IssueComment, by: Actor, content: str) -> Reaction:
        """Put a reaction on a comment; a second one of the same kind is the first."""
        return self.reacted(comment.reactions, by, content)

    def comments_of(self, thread: Issue) -> list[IssueComment]:
        """The thread's comments, oldest first."""
        return [each for each in thread.repository.comments.values() if each.issue is thread]

    def _tell_comment(self, comment: IssueComment, action: str, who: Account, **more: Any) -> None:
        payload = {
            "action": action,
            # Here a deleted author is shown as the ghost, not as null.
            "issue": written_issue(self, comment.issue) | {"user": user_json(self, comment.issue.user)},
            "comment": written_comment(self, comment),
        } | more
        self.emit("issue_comment", comment.issue.repository, who, payload)


def _check_length(resource: str, body: str) -> None:
    if len(body) > _LONGEST_BODY:
        raise invalid_refusal(
            resource, "body", "custom", message=f"body is too long (maximum is {_LONGEST_BODY} characters)"
        )


class GitHubState(RepositoryActions, PullRequestActions, ReviewActions, CommentActions, CheckActions):
    """Everything people and Apps can do here."""

    def user_token(self, login: str | Account) -> str:
        """A personal token of this account."""
        return self.tokens.for_user(self.account(login)).token

    def installation_token(self, owner: str | Account) -> str:
        """A token of the App on this account, without the way over a JWT."""
        account = self.account(owner)
        found = next(each for each in self.installations.values() if each.account is account)
        return self.tokens.for_installation(found).token
