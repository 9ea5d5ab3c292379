"""How do checks and commit statuses come to a commit?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.standin.acts.base import Acts, Who
from bot.standin.model import Annotation, App, CheckRun, PullRequest, Repository, Status
from bot.standin.shapes.accounts import stamp
from bot.standin.shapes.checks import check_run as written_run
from bot.standin.shapes.checks import check_suite as written_suite
from bot.standin.shapes.git import commit as written_commit


@dataclass(frozen=True, slots=True)
class Output:
    """What a check says about its result."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()


class CheckActs(Acts):
    """Check runs and commit statuses."""

    def check(
        self, pull: PullRequest, name: str, conclusion: str, output: Output | None = None, *, app: str = "ci"
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

    def complete_check_run(self, run: CheckRun, conclusion: str, output: Output | None = None) -> None:
        """End a check; more annotations are added to those it had."""
        self.describe_check_run(run, output)
        run.status, run.conclusion, run.completed_at = "completed", conclusion, self.now()
        self._tell_check(run, "completed")

    def describe_check_run(self, run: CheckRun, output: Output | None) -> None:
        """Say more about a check that goes on."""
        if output is not None:
            run.title, run.summary, run.text = output.title, output.summary, output.text
            run.annotations.extend(output.annotations)
        self.changed()

    def set_status(
        self, where: Repository, sha: str, context: str, state: str, *, by: Who = "ci[bot]"
    ) -> Status:
        """Put a status on a commit."""
        who = self.account(by)
        made = Status(self.new_id(), sha, context, state, None, None, who, self.now())
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
            "created_at": stamp(made.created_at),
            "updated_at": stamp(made.created_at),
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
