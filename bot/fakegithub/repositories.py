"""Repositories, their people, pushes and installations: what happens to them, endpoints."""

from __future__ import annotations

from collections.abc import Mapping

from bot.fakegithub.calls import REPO_ROUTE, ApiCall, Route, requires_read
from bot.fakegithub.git import FileChanges, GitCommit
from bot.fakegithub.model import (
    ROLES,
    Account,
    ApiRefusal,
    Installation,
    Json,
    Repository,
    Role,
    not_found_refusal,
)
from bot.fakegithub.world import Actor, World


class RepositoryActions(World):
    """Repositories, pushes and installations."""

    def repository(
        self,
        full_name: str,
        *,
        private: bool = False,
        collaborators: Mapping[str, Role] | None = None,
        files: FileChanges | None = None,
        installed: bool = True,
    ) -> Repository:
        """A new repository with these people and files, the App installed on its owner."""
        owner_login, _, name = full_name.partition("/")
        repository = Repository(self, self.account(owner_login, "Organization"), name, private)
        self.repositories[repository.id] = repository
        for login, role in (collaborators or {}).items():
            self.set_role(repository, login, role)
        self.commit_to_default_branch(repository, files or {"README.md": f"# {name}\n"}, message="Begin")
        if installed:
            self._cover(repository)
        self.changed()
        return repository

    def commit_to_default_branch(
        self, repository: Repository, files: FileChanges, *, message: str = "Change", by: Actor | None = None
    ) -> GitCommit:
        """A commit straight on the default branch, with its `push` event."""
        account = self.account(by or repository.owner)
        before = repository.branches.get(repository.default_branch)
        parents = () if before is None else (before,)
        commit = repository.objects.commit(
            files, parents=parents, message=message, login=account.login, at=self.now()
        )
        repository.branches[repository.default_branch] = commit.sha
        self.emit_push(repository, repository.default_branch, before, commit.sha, account)
        return commit

    def set_role(self, repository: Repository, who: Actor, role: Role | None) -> None:
        """Give a user a role in a repository, or remove it."""
        account = self.account(who)
        if role is None:
            repository.collaborators.pop(account.id, None)
        else:
            repository.collaborators[account.id] = role
        self.changed()

    def emit_push(
        self, repository: Repository, branch: str, before: str | None, after: str, account: Account
    ) -> None:
        """Emit the event of a branch that moved."""
        objects = repository.objects
        commits = objects.between(before, after) if before is not None else (objects.commits[after],)
        self.emit(
            "push",
            repository,
            account,
            ref=f"refs/heads/{branch}",
            before=before or "0" * 40,
            after=after,
            created=before is None,
            deleted=False,
            forced=before is not None and before not in set(objects.ancestors(after)),
            base_ref=None,
            compare=f"{repository.html_url}/compare/{before or '0' * 12}...{after}",
            commits=[_pushed_json(repository, commit, account) for commit in commits],
            head_commit=_pushed_json(repository, objects.commits[after], account),
            pusher={"name": account.login, "email": email_of(account.login)},
        )

    def _cover(self, repository: Repository) -> Installation:
        installation = self._find_installation(repository.owner) or self._installation(repository.owner)
        installation.repositories.append(repository)
        return installation

    def _find_installation(self, owner: Account) -> Installation | None:
        return next((item for item in self.active_installations if item.account is owner), None)

    def _installation(self, owner: Account, permissions: Mapping[str, str] | None = None) -> Installation:
        granted = dict(permissions or self.app.permissions)
        installation = Installation(self, self.app, owner, granted, self.app.events)
        self.installations[installation.id] = installation
        return installation


def email_of(login: str) -> str:
    """The address that commits of this account have."""
    return f"{login}@users.noreply.github.com"


def _pushed_json(repository: Repository, commit: GitCommit, account: Account) -> Json:
    before = repository.objects.commits[commit.parents[0]].files if commit.parents else {}
    person = {"name": account.login, "email": email_of(account.login), "username": account.login}
    kept = commit.files.keys() & before.keys()
    return {
        "id": commit.sha,
        "tree_id": commit.tree_sha,
        "distinct": True,
        "message": commit.message,
        "timestamp": commit.at.isoformat(),
        "url": f"{repository.html_url}/commit/{commit.sha}",
        "author": person,
        "committer": person,
        "added": sorted(commit.files.keys() - before.keys()),
        "removed": sorted(before.keys() - commit.files.keys()),
        "modified": sorted(path for path in kept if commit.files[path] != before[path]),
    }


def _flags(role: Role | None) -> dict[str, bool]:
    """What a role allows, as GitHub's five flags."""
    rank = -1 if role is None else ROLES.index(role)
    flags = ("pull", "triage", "push", "maintain", "admin")
    return {flag: rank >= least for least, flag in enumerate(flags)}


def _get_repository(call: ApiCall) -> Json:
    """A repository on its own, with what the caller may do in it."""
    account = call.caller.account
    # The flags are a user's: of an App's token they say nothing.
    role = None if account is not None and account.type == "Bot" else call.repository.role(account)
    own = {"network_count": 0, "subscribers_count": 0, "permissions": _flags(role)}
    return {**call.repository.json, **own}


def _get_permission(call: ApiCall) -> Json:
    """An account's permission; `permission` has four values only, `role_name` all of them."""
    account = call.github.find_account(call.params["username"])
    if account is None or account.deleted:
        raise not_found_refusal()
    if account.type == "Bot":
        raise ApiRefusal(404, f"{account.login} is not a user")
    role = call.repository.role(account)
    name = role or "none"
    user = account.or_ghost | {"permissions": _flags(role), "role_name": name}
    folded = {"maintain": "write", "triage": "read"}.get(name, name)
    return {"permission": folded, "role_name": name, "user": user}


_READ = requires_read("metadata")

REPOSITORY_ROUTES = (
    Route("GET", REPO_ROUTE, _READ, _get_repository),
    Route("GET", f"{REPO_ROUTE}/collaborators/{{username}}/permission", _READ, _get_permission),
)
