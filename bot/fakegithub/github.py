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
    Issue,
    IssueComment,
    Label,
    PullRequest,
    Reaction,
    Repository,
    Review,
    ReviewComment,
    WorkflowRun,
    invalid_refusal,
)
from bot.fakegithub.pull_actions import PullRequestActions, ReviewActions
from bot.fakegithub.pull_shapes import check_run_json, check_suite_json
from bot.fakegithub.repository_actions import Actions, Actor, RepositoryActions
from bot.fakegithub.shapes import (
    ShapeJson,
    comment_json,
    issue_json,
    page_url,
    user_json,
)

ACTIONS_SLUG = "github-actions"
"""The App whose check runs are the jobs of workflows."""


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a check says about its result."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()


class CheckActions(Actions):
    """Check runs and commit statuses."""

    def check(  # noqa: PLR0913  # a test names only what it changes
        self,
        pull: PullRequest,
        name: str,
        conclusion: str,
        output: CheckOutput | None = None,
        *,
        app: str = "ci",
        workflow: WorkflowRun | None = None,
        log: str | None = None,
    ) -> CheckRun:
        """A check on the pull request's head, from start to end, by another App or a job of a workflow."""
        run = self.start_check_run(pull.repository, pull.head_sha, name, app=app, workflow=workflow)
        run.log = log
        self.complete_check_run(run, conclusion, output)
        return run

    def start_check_run(  # noqa: PLR0913  # a test names only what it changes
        self,
        repository: Repository,
        sha: str,
        name: str,
        *,
        app: str | App = "ci",
        status: str = "in_progress",
        workflow: WorkflowRun | None = None,
        details_url: str | None = None,
    ) -> CheckRun:
        """Begin a check on a commit; a newer one of the same name is a rerun."""
        slug = ACTIONS_SLUG if workflow is not None else app
        by = slug if isinstance(slug, App) else self.other_app(slug)
        run = CheckRun(
            self.new_id(),
            self._suite_id(repository, sha, by) if workflow is None else workflow.suite_id,
            repository,
            by,
            name,
            sha,
            status,
            None,
            self.now(),
            completed_at=None,
            details_url=details_url,
        )
        if workflow is not None:
            run.details_url = f"{page_url(self, repository)}/actions/runs/{workflow.id}/job/{run.id}"
        repository.check_runs[run.id] = run
        self._emit_check(run, "created")
        return run

    def start_workflow(
        self, pull: PullRequest, name: str = "CI", *, event: str = "pull_request", by: Actor | None = None
    ) -> WorkflowRun:
        """Run a workflow of GitHub Actions on the head; its jobs are checks with `workflow=`."""
        repository = pull.repository
        ids = (run.workflow_id for run in repository.workflow_runs.values() if run.name == name)
        run = WorkflowRun(
            self.new_id(),
            self.new_id(),
            next(ids, None) or self.new_id(),
            repository,
            name,
            event,
            pull.head_ref,
            pull.head_sha,
            pull.head_repository or repository,
            self.account(by or pull.user),
            self.now(),
        )
        repository.workflow_runs[run.id] = run
        self.changed()
        return run

    def complete_check_run(self, run: CheckRun, conclusion: str, output: CheckOutput | None = None) -> None:
        """End a check; more annotations are added to those it had."""
        self.describe_check_run(run, output)
        run.status, run.conclusion, run.completed_at = "completed", conclusion, self.now()
        self._emit_check(run, "completed")

    def describe_check_run(self, run: CheckRun, output: CheckOutput | None) -> None:
        """Say more about a check that goes on."""
        if output is not None:
            run.title, run.summary, run.text = output.title, output.summary, output.text
            run.annotations.extend(output.annotations)
        self.changed()

    def other_app(self, slug: str) -> App:
        """Another App by its slug; created if there is none."""
        if slug not in self.apps:
            owner, bot = self.account(f"{slug}-makers", "Organization"), self.account(f"{slug}[bot]")
            granted = {"checks": "write", "metadata": "read"}
            self.apps[slug] = App(self.new_id(), slug, slug, owner, bot, None, granted, (), self.now())
        return self.apps[slug]

    def _suite_id(self, repository: Repository, sha: str, app: App) -> int:
        """The suite of an App on a commit; all its runs there are in it."""
        runs = repository.check_runs.values()
        same = (run.suite_id for run in runs if run.app is app and run.head_sha == sha)
        return next(same, None) or self.new_id()

    def _emit_check(self, run: CheckRun, action: str) -> None:
        content = check_run_json(self, run) | {"check_suite": check_suite_json(self, run)}
        self.emit("check_run", run.repository, run.app.bot, {"action": action, "check_run": content})


_LONGEST_BODY = 65_536
_LONGEST_TITLE = 256


class CommentActions(Actions):
    """Issues, comments and reactions."""

    def open_issue(
        self,
        repository: Repository,
        by: Actor,
        title: str,
        body: str | None = None,
        labels: tuple[Label, ...] = (),
    ) -> Issue:
        """Open an issue."""
        account, moment = self.account(by), self.now()
        if not title or len(title) > _LONGEST_TITLE:
            raise invalid_refusal(
                "Issue", "title", "custom", message="title is too long (maximum is 256 characters)"
            )
        _check_length("Issue", body or "")
        issue = Issue(
            self.new_id(), repository, len(repository.threads) + 1, title, body, account, moment, moment
        )
        issue.labels.extend(labels)
        issue.via_app = account is self.app.bot
        repository.threads[issue.number] = issue
        self.emit("issues", repository, account, {"action": "opened", "issue": issue_json(self, issue)})
        return issue

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
            payload = {"action": "edited", "issue": issue_json(self, issue), "changes": changes}
            self.emit("issues", issue.repository, self.account(by), payload)

    def comment(self, thread: Issue, by: Actor, body: str) -> IssueComment:
        """Comment in a thread."""
        account, moment = self.account(by), self.now()
        if thread.locked:
            raise ApiRefusal(403, "Unable to create comment because issue is locked.")
        _check_length("IssueComment", body)
        comment = IssueComment(
            self.new_id(), thread, account, body, moment, moment, via_app=account is self.app.bot
        )
        thread.repository.comments[comment.id] = comment
        thread.updated_at = moment
        self._emit_comment(comment, "created", account)
        return comment

    def edit_comment(self, comment: IssueComment, body: str, *, by: Actor | None = None) -> None:
        """Change a comment's text."""
        _check_length("IssueComment", body)
        before, comment.body, comment.updated_at = comment.body, body, self.now()
        self._emit_comment(
            comment, "edited", self.account(by or comment.user), changes={"body": {"from": before}}
        )

    def minimize(self, comment: IssueComment, reason: str | None) -> None:
        """Fold a comment away for a reason, or show it again; GitHub sends no webhook for this."""
        comment.minimized = reason
        self.changed()

    def react(self, to: IssueComment | Review | ReviewComment, by: Actor, content: str) -> Reaction:
        """Put a reaction on a text; a second one of the same kind is the first."""
        account = self.account(by)
        for previous in to.reactions:
            if previous.user is account and previous.content == content:
                return previous
        to.reactions.append(Reaction(self.new_id(), account, content, self.now()))
        self.changed()
        return to.reactions[-1]

    def comments_of(self, thread: Issue) -> list[IssueComment]:
        """The thread's comments, oldest first."""
        return [comment for comment in thread.repository.comments.values() if comment.issue is thread]

    def _emit_comment(self, comment: IssueComment, action: str, account: Account, **more: Any) -> None:
        payload = {
            "action": action,
            # Here a deleted author is shown as the ghost, not as null.
            "issue": issue_json(self, comment.issue) | {"user": user_json(self, comment.issue.user)},
            "comment": comment_json(self, comment),
        } | more
        self.emit("issue_comment", comment.issue.repository, account, payload)


def _check_length(resource: str, body: str) -> None:
    if len(body) > _LONGEST_BODY:
        raise invalid_refusal(
            resource, "body", "custom", message=f"body is too long (maximum is {_LONGEST_BODY} characters)"
        )


class GitHubActions(RepositoryActions, PullRequestActions, ReviewActions, CommentActions, CheckActions):
    """Everything people and Apps can do here."""

    def user_token(self, login: str | Account) -> str:
        """A personal token of this account."""
        return self.tokens.for_user(self.account(login)).token
