"""The fake GitHub with what only tests do: rarer actions of people, and injected faults."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from aiohttp import web

from bot.fakegithub.calls import ApiAnswer, Route
from bot.fakegithub.checks import CheckRun
from bot.fakegithub.commits import commit_json
from bot.fakegithub.deliveries import Exchange, WebhookDelivery, WebhookSender
from bot.fakegithub.git import DiffAnchor
from bot.fakegithub.issues import Issue, IssueComment, Label
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    Installation,
    Json,
    Repository,
    fields,
    node_id,
    show,
)
from bot.fakegithub.pulls import PullRequest
from bot.fakegithub.reviews import InlineDraft, Review, ReviewComment
from bot.fakegithub.server import ALL_ROUTES, FakeGitHub, build_response, parse_body
from bot.fakegithub.world import WAIT_SECONDS, Actor
from tests.app_registration import registration_routes
from tests.scripted_endpoints import CommitStatus, with_scripted

SECONDARY_LIMIT = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_PRIMARY = "API rate limit exceeded for installation ID 1."
_MESSAGES = {500: "Server Error", 502: "Server Error", 503: "Service Unavailable", 504: "Gateway Timeout"}


@dataclass(slots=True, eq=False, kw_only=True)
class Fault:
    """A fault for the next `times` requests that match, after the first `skip` of them."""

    method: str
    pattern: str
    times: int = 1
    skip: int = 0
    after: bool = False
    """The request is carried out first."""
    answer: ApiAnswer | None = None
    """None: the connection is dropped."""
    hangs: bool = False
    """It is dropped only at the end."""
    met: int = 0

    def fits(self, method: str, path: str) -> bool:
        """Whether a request is meant."""
        return self.method in {"*", method} and fnmatchcase(path, self.pattern)


class FaultActions:
    """Ways to inject faults; a pattern is a path with `*` for anything, slashes included."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fail(  # a test names only what it changes
        self,
        method: str,
        pattern: str,
        *,
        status: int = 500,
        times: int = 1,
        skip: int = 0,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        after: bool = False,
    ) -> Fault:
        """Answer with this status; with `after`, only once the request was carried out."""
        content = {"message": _MESSAGES.get(status, "Something went wrong")} if body is None else body
        answer = ApiAnswer(content, status, headers or {})
        return self._inject(method, pattern, times=times, skip=skip, after=after, answer=answer)

    def lose_answer(self, method: str, pattern: str, *, times: int = 1, skip: int = 0) -> Fault:
        """Carry the request out, then drop the connection."""
        return self._inject(method, pattern, times=times, skip=skip, after=True)

    def reset(self, method: str, pattern: str, *, times: int = 1, skip: int = 0) -> Fault:
        """Drop the connection without carrying the request out."""
        return self._inject(method, pattern, times=times, skip=skip)

    def hang(self, method: str, pattern: str, *, times: int = 1, after: bool = False) -> Fault:
        """Do not answer at all."""
        return self._inject(method, pattern, times=times, after=after, hangs=True)

    def _inject(self, method: str, pattern: str, **more: Any) -> Fault:
        self.faults.append(Fault(method=method, pattern=pattern, **more))
        return self.faults[-1]

    def meet(self, method: str, path: str) -> Fault | None:
        """Return the fault of this request, if it has any, and count it."""
        for fault in self.faults:
            if not fault.fits(method, path):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.met += 1
            if fault.met >= fault.times:
                self.faults.remove(fault)
            return fault
        return None

    def limit_primary(
        self, reset_at: datetime, *, method: str = "*", pattern: str = "*", times: int = 1, status: int = 403
    ) -> Fault:
        """The hour's budget is used up until then; GitHub gives no `Retry-After` for this one."""
        reset = str(int(reset_at.timestamp()))
        headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Used": "5000", "X-RateLimit-Reset": reset}
        body = {"message": _PRIMARY}
        return self.fail(method, pattern, status=status, times=times, headers=headers, body=body)

    def limit_secondary(
        self,
        retry_after: int | None = None,
        *,
        method: str = "*",
        pattern: str = "*",
        times: int = 1,
        status: int = 403,
    ) -> Fault:
        """Too much at once; with or without a hint when to come back."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        body = {"message": SECONDARY_LIMIT}
        return self.fail(method, pattern, status=status, times=times, headers=headers, body=body)


@dataclass(slots=True, eq=False)
class HoldableSender(WebhookSender):
    """A sender that can keep webhooks back."""

    _held: list[WebhookDelivery] | None = None

    def hold(self) -> None:
        """Keep every webhook from now on back."""
        if self._held is None:
            self._held = []

    def release(
        self, order: Callable[[list[WebhookDelivery]], Iterable[WebhookDelivery]] = list
    ) -> list[WebhookDelivery]:
        """Send what was held back, in this order (`reversed`, say); what the order leaves out is lost."""
        held, self._held = self._held or [], None
        sent = list(order(held))
        for delivery in sent:
            self._enqueue(delivery)
        return sent

    def _enqueue(self, delivery: WebhookDelivery) -> None:
        if self._held is None:
            WebhookSender._enqueue(self, delivery)
        else:
            self._held.append(delivery)
            self.world.changed()


class ScriptedGitHub(FakeGitHub, FaultActions):
    """A fake GitHub to which a test can do anything; `enterprise` serves it as an Enterprise Server does."""

    sender_type = HoldableSender
    routes = with_scripted(ALL_ROUTES)

    def __init__(self, *arguments: Any, enterprise: bool = False, **more: Any) -> None:
        super().__init__(*arguments, **more)
        FaultActions.__init__(self)
        self.statuses: list[CommitStatus] = []
        self.former_names: dict[str, Repository] = {}
        self.manifest_codes: dict[str, str] = {}  # code → the new App's private key
        # GitHub's is 80; off, because a test's clock may stand still.
        self.writes_per_minute: int | None = None
        self._writes: list[tuple[str, datetime]] = []
        self._enterprise = enterprise
        if enterprise:
            self.api_prefix, self.graphql_path = "/api/v3", "/api/graphql"
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """Listen; the pages of an Enterprise Server are where its API is."""
        await super().start()
        if self._enterprise:
            self.web_url = self.api_url.removesuffix(self.api_prefix)

    async def stop(self) -> None:
        """Listen no more; what hangs is let go."""
        self._stopping.set()
        await super().stop()

    async def serve(self, route: Route, request: web.Request) -> web.StreamResponse:
        """Answer one request, or let it fail."""
        fault = self.meet(request.method, self.api_path(request)) or self._limit_writes(route, request)
        if fault is None:
            return await super().serve(route, request)
        body = parse_body(await request.read())
        if fault.after:
            self.answer(route, request, body)
        answer = await self._suffer(fault, request)
        self.record(route, request, body, answer, is_fault=True)
        return web.Response(status=500) if answer is None else build_response(answer)

    def _repository(self, request: web.Request) -> Repository | None:
        """Find the repository in the path; a former name leads on to its id."""
        name = "/".join(request.match_info.get(gap, "") for gap in ("owner", "repo"))
        former = self.former_names.get(name.casefold())
        if former is not None and self.find_repository(name) is None:
            to = f"{self.api_url}/repositories/{former.id}{request.path_qs.partition(f'/repos/{name}')[2]}"
            status = 301 if request.method in {"GET", "HEAD"} else 307
            raise ApiRefusal(status, "Moved Permanently", headers={"Location": to})
        return super()._repository(request)

    def _limit_writes(self, route: Route, request: web.Request) -> Fault | None:
        """Note one more write, unless the caller's minute has had enough of them."""
        if self.writes_per_minute is None or route.needs.level != "write":
            return None
        caller, now = request.headers.get("Authorization", ""), self.now()
        self._writes = [write for write in self._writes if write[1] > now - timedelta(minutes=1)]
        if sum(by == caller for by, _ in self._writes) < self.writes_per_minute:
            self._writes.append((caller, now))
            return None
        answer = ApiAnswer({"message": SECONDARY_LIMIT}, 403, {"Retry-After": "60"})
        return Fault(method="*", pattern="*", answer=answer)

    def pages(self) -> list[web.RouteDef]:
        """The pages of the manifest flow, too."""
        return [*super().pages(), *registration_routes(self)]

    def emit_installation(
        self, event: str, installed: Installation, sender: Account, payload: dict[str, Any]
    ) -> None:
        """Send an installation's own event: an App gets these unasked."""
        self.deliveries.emit(event, payload | {"installation": installed.json, "sender": sender.or_ghost})
        self.changed()

    def install(self, owner: Actor, *, permissions: Mapping[str, str] | None = None) -> Installation:
        """Install the App on an account; emits the event."""
        installation = self._installation(self.account(owner), permissions)
        self._emit_installed(installation, "created")
        return installation

    def add_to_installation(self, repository: Repository) -> Installation:
        """Let the App into one more repository; emits the event."""
        installation = self._cover(repository)
        self._emit_repositories(installation, "added", repository)
        return installation

    def _emit_installed(self, installation: Installation, action: str) -> None:
        short = [repository.in_short for repository in installation.repositories]
        payload: Json = {"action": action, "repositories": short, "requester": None}
        self.emit_installation("installation", installation, installation.account, payload)

    def _emit_repositories(self, installed: Installation, action: str, repository: Repository) -> None:
        lists: Json = {"repositories_added": [], "repositories_removed": []} | {
            f"repositories_{action}": [repository.in_short]
        }
        payload = {"action": action, "repository_selection": "selected", "requester": None} | lists
        self.emit_installation("installation_repositories", installed, installed.account, payload)

    def reopen(self, thread: Issue, *, by: Actor | None = None) -> None:
        """Open a closed pull request or issue again."""
        thread.state, thread.closed_at, thread.closed_by = "open", None, None
        thread.state_reason = None if isinstance(thread, PullRequest) else "reopened"
        thread.updated_at = self.now()
        self.emit_thread(thread, "reopened", self.account(by or thread.user))

    def revoke_tokens(self) -> None:
        """Make every token given out so far worthless."""
        for caller in self.tokens.issued.values():
            caller.revoked = True

    def hold(self) -> None:
        """Keep every webhook from now on back."""
        self.deliveries.hold()

    def release(
        self, order: Callable[[list[WebhookDelivery]], Iterable[WebhookDelivery]] = list
    ) -> list[WebhookDelivery]:
        """Send what was held back, in this order (`reversed`, say); what the order leaves out is lost."""
        return self.deliveries.release(order)

    def redeliver(self, delivery: WebhookDelivery) -> WebhookDelivery:
        """Send a webhook again, with the same GUID."""
        return self.deliveries.redeliver(delivery)

    async def delivered(self, timeout: float = WAIT_SECONDS) -> None:  # noqa: ASYNC109  # asked for by each test
        """Wait until every webhook that is not held back was answered."""
        await self.until(lambda: self.deliveries.is_idle, timeout)

    def asked(self, method: str = "*", pattern: str = "*") -> list[Exchange]:
        """The requests so far of this method and path (`*` for anything)."""
        wanted = Fault(method=method, pattern=pattern)
        return [request for request in self.requests if wanted.fits(request.method, request.path)]

    async def _suffer(self, fault: Fault, request: web.Request) -> ApiAnswer | None:
        """The ordered answer, or None once the connection is dropped."""
        if fault.hangs:
            self.changed()  # a test that waits for the fault sees it begin
            await self._stopping.wait()
        if fault.answer is None and request.transport is not None:
            request.transport.abort()
        return fault.answer

    def force_push(self, pull: PullRequest, sha: str, *, by: Actor | None = None) -> None:
        """Set the pull request's branch to a commit that exists."""
        self._move_head(pull, pull.repository.objects.commits[sha].sha, self.account(by or pull.user))

    def edit_pull_request(
        self, pull: PullRequest, *, title: str | None = None, body: str | None = None, by: Actor | None = None
    ) -> None:
        """Change the title or the description."""
        changes: Json = {}
        if title is not None:
            changes["title"], pull.title = {"from": pull.title}, title
        if body is not None:
            changes["body"], pull.body = {"from": pull.body or ""}, body
        self.emit_thread(pull, "edited", self.account(by or pull.user), changes=changes)

    def set_draft(self, pull: PullRequest, *, draft: bool, by: Actor | None = None) -> None:
        """Turn the pull request into a draft, or say that it is ready."""
        pull.draft, pull.updated_at = draft, self.now()
        action = "converted_to_draft" if draft else "ready_for_review"
        self.emit_thread(pull, action, self.account(by or pull.user))

    def request_review(self, pull: PullRequest, reviewer: Actor, *, by: Actor | None = None) -> None:
        """Ask somebody for a review, or for another one."""
        account = self.account(reviewer)
        if account not in pull.requested_reviewers:
            pull.requested_reviewers.append(account)
        self._emit_request(pull, "review_requested", account, by)

    def remove_review_request(self, pull: PullRequest, reviewer: Actor, *, by: Actor | None = None) -> None:
        """Take the request for a review back."""
        account = self.account(reviewer)
        pull.requested_reviewers.remove(account)
        self._emit_request(pull, "review_request_removed", account, by)

    def lock(self, thread: Issue, *, locked: bool = True) -> None:
        """Lock a conversation, or open it again."""
        thread.locked = locked
        self.emit_thread(thread, "locked" if locked else "unlocked", thread.repository.owner)

    def delete_fork(self, pull: PullRequest) -> None:
        """Delete the repository that the pull request comes from; its commits stay readable here."""
        fork = pull.head_repository
        if fork is not None and fork is not pull.repository:
            self.repositories.pop(fork.id)
            pull.head_repository = None
        self.changed()

    def _emit_request(self, pull: PullRequest, action: str, reviewer: Account, by: Actor | None) -> None:
        sender = self.account(by or pull.user)
        pull.updated_at = self.now()
        self.emit_thread(pull, action, sender, requested_reviewer=reviewer.or_ghost)

    def add_label(self, thread: Issue, name: str, *, by: Actor) -> Label:
        """Put a label on a pull request or an issue."""
        label = self.label(thread.repository, name)
        if label not in thread.labels:
            thread.labels.append(label)
            thread.updated_at = self.now()
            self.emit_thread(thread, "labeled", self.account(by), label=label)
        return label

    def remove_label(self, thread: Issue, name: str, *, by: Actor) -> None:
        """Take a label off."""
        for gone in [label for label in thread.labels if label.name == name]:
            thread.labels.remove(gone)
            thread.updated_at = self.now()
            self.emit_thread(thread, "unlabeled", self.account(by), label=gone)

    def reply(self, to: ReviewComment, by: Actor, body: str) -> ReviewComment:
        """Answer an inline comment; GitHub makes a review of its own around the answer."""
        account = self.account(by)
        around = self._review(to.review.pull, account, "COMMENTED", "", self.now())
        inline = InlineDraft(to.path, body, to.line, to.start_line, to.side)
        comment = self._attach(around, inline, DiffAnchor(to.diff_hunk, to.position))
        comment.in_reply_to = to.in_reply_to or to
        self._emit_inline(comment, "created", account)
        return comment

    def submit_pending(self, review: Review, state: str) -> None:
        """Submit a review that was pending."""
        review.state, review.submitted_at = state, self.now()
        self._emit_submitted(review)

    def edit_review(self, review: Review, body: str, *, by: Actor | None = None) -> None:
        """Change a review's text; GitHub sends what it was before, too."""
        before, review.body = review.body, body
        self._emit_review(
            review, "edited", self.account(by or review.user), changes={"body": {"from": before}}
        )

    def dismiss_review(self, review: Review, *, by: Actor) -> None:
        """Take a review's verdict back."""
        review.state = "DISMISSED"
        self._emit_review(review, "dismissed", self.account(by))

    def edit_review_comment(self, comment: ReviewComment, body: str, *, by: Actor | None = None) -> None:
        """Change an inline comment's text."""
        before, comment.body, comment.updated_at = comment.body, body, self.now()
        self._emit_inline(
            comment, "edited", self.account(by or comment.user), changes={"body": {"from": before}}
        )

    def delete_review_comment(self, comment: ReviewComment, *, by: Actor | None = None) -> None:
        """Delete an inline comment."""
        comment.review.comments.remove(comment)
        comment.review.pull.repository.review_comments.pop(comment.id)
        self._emit_inline(comment, "deleted", self.account(by or comment.user))

    def resolve_thread(self, comment: ReviewComment, *, by: Actor, resolved: bool = True) -> None:
        """Mark the thread of a comment as resolved, or open it again."""
        first, account = comment.in_reply_to or comment, self.account(by)
        pull = first.review.pull
        inline = pull.repository.review_comments.values()
        thread = [comment for comment in inline if (comment.in_reply_to or comment) is first]
        self.emit(
            "pull_request_review_thread",
            pull.repository,
            account,
            action="resolved" if resolved else "unresolved",
            pull_request=pull,
            thread={"node_id": node_id("PRRT", first.id), "comments": show(thread)},
            updated_at=self.now(),
        )

    def rerun_check_run(self, run: CheckRun, *, status: str = "queued") -> CheckRun:
        """Run a check again: a newer run of the same name in the same suite."""
        workflows = run.repository.workflow_runs.values()
        workflow = next((item for item in workflows if item.suite_id == run.suite_id), None)
        if workflow is not None:
            workflow.attempt += 1
        return self.start_check_run(
            run.repository, run.head_sha, run.name, app=run.app, status=status, workflow=workflow
        )

    def set_status(
        self, repository: Repository, sha: str, context: str, state: str, *, by: Actor = "ci[bot]"
    ) -> CommitStatus:
        """Put a status on a commit."""
        account = self.account(by)
        status = CommitStatus(self, repository, sha, context, state, account)
        self.statuses.append(status)
        names = "id sha state description target_url context created_at"
        self.emit(
            "status",
            repository,
            account,
            **fields(status, names),
            name=repository.full_name,
            avatar_url=account.avatar_url,
            commit=commit_json(repository, repository.objects.commits[sha]),
            branches=[],
            updated_at=status.created_at,
        )
        return status

    def delete_comment(self, comment: IssueComment, *, by: Actor | None = None) -> None:
        """Delete a comment."""
        comment.issue.repository.comments.pop(comment.id)
        self._emit_comment(comment, "deleted", self.account(by or comment.user))

    def installation_token(self, owner: str | Account) -> str:
        """A token of the App on this account, without the way over a JWT."""
        account = self.account(owner)
        installation = next(
            installed for installed in self.installations.values() if installed.account is account
        )
        return self.tokens.for_installation(installation).token

    def rename_repository(self, repository: Repository, name: str, *, by: Actor | None = None) -> None:
        """Give a repository another name; the old one leads to it."""
        former = repository.name
        self.former_names[repository.full_name.casefold()] = repository
        repository.name = name
        account = self.account(by or repository.owner)
        changes = {"repository": {"name": {"from": former}}}
        self.emit("repository", repository, account, action="renamed", changes=changes)

    def transfer_repository(self, repository: Repository, to: Actor, *, by: Actor | None = None) -> None:
        """Give a repository to another owner, who has the App already; the old name leads to it."""
        former, covered = repository.owner, self.installation_of(repository)
        self.former_names[repository.full_name.casefold()] = repository
        repository.owner = self.account(to)
        if covered is not None:
            covered.repositories.remove(repository)
        self._cover(repository)
        is_organization = former.type == "Organization"
        shown = former.as_organization if is_organization else former.or_ghost
        changes = {"owner": {"from": {"organization" if is_organization else "user": shown}}}
        account = self.account(by or former)
        self.emit("repository", repository, account, action="transferred", changes=changes)

    def delete_repository(self, repository: Repository, *, by: Actor | None = None) -> None:
        """Remove a repository with all that is in it, and tell the App, which can't read it any more."""
        account = self.account(by or repository.owner)
        self.emit("repository", repository, account, action="deleted")
        covered = self.installation_of(repository)
        if covered is not None:
            covered.repositories.remove(repository)
        self.repositories.pop(repository.id, None)
        self.changed()

    def archive(self, repository: Repository, *, archived: bool = True) -> None:
        """Make a repository read-only, or writable again."""
        repository.archived = archived
        action = "archived" if archived else "unarchived"
        self.emit("repository", repository, repository.owner, action=action)

    def set_private(self, repository: Repository, *, private: bool = True) -> None:
        """Hide a repository, or show it to everybody."""
        repository.private = private
        action = "privatized" if private else "publicized"
        self.emit("repository", repository, repository.owner, action=action)

    def grant_permissions(self, owner: Actor, permissions: Mapping[str, str]) -> None:
        """Accept more permissions of the App on an account; emits the event."""
        installation = self._find_installation(self.account(owner))
        if installation is not None:
            installation.permissions |= permissions
            self._emit_installed(installation, "new_permissions_accepted")

    def remove_from_installation(self, repository: Repository, former: Installation | None = None) -> None:
        """Shut the App out of a repository; a former installation only gets the event."""
        installation = former or self.installation_of(repository)
        if installation is not None:
            if repository in installation.repositories:
                installation.repositories.remove(repository)
            self._emit_repositories(installation, "removed", repository)

    def uninstall(self, owner: Actor) -> None:
        """Remove the App from an account; its tokens are worthless from now on."""
        installation = self._find_installation(self.account(owner))
        if installation is not None:
            installation.deleted = True
            self._emit_installed(installation, "deleted")

    def suspend(self, owner: Actor, *, suspended: bool = True) -> None:
        """Suspend the App on an account, or let it work again; emits the event."""
        installation = self._find_installation(self.account(owner))
        if installation is not None:
            installation.suspended_at = self.now() if suspended else None
            installation.suspended_by = installation.account if suspended else None
            self._emit_installed(installation, "suspend" if suspended else "unsuspend")

    def rename_account(self, who: Actor, login: str) -> Account:
        """Give an account another login; its id stays."""
        account = self.account(who)
        account.login = login
        self.changed()
        return account

    def delete_account(self, account: Actor) -> None:
        """Remove an account; what it wrote stays, without a user."""
        self.account(account).deleted = True
        self.changed()
