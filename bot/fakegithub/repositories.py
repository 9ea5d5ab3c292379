"""Repositories, members, installations and branches: JSON, actions, endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.fakegithub.calls import REPO_ROUTE, ApiAnswer, ApiCall, Route, requires_read
from bot.fakegithub.git import FileChanges, GitCommit
from bot.fakegithub.model import ROLES, Account, ApiRefusal, Installation, Repository, Role, not_found_refusal
from bot.fakegithub.shapes import (
    ShapeJson,
    addresses,
    avatar_url,
    fields,
    repository_json,
    user_json,
)
from bot.fakegithub.world import World

Actor = str | Account  # a login will do


class Actions(World):
    """A world in which things happen."""

    def emit(self, event: str, repository: Repository, sender: Account, payload: dict[str, Any]) -> None:
        """Send a repository's event to the App, where it is installed and wants it."""
        installed = self.installation_of(repository)
        if installed is not None and installed.suspended_at is None and event in installed.events:
            self.deliveries.emit(event, payload | self._everywhere(repository, sender, installed))
        self.changed()

    def _everywhere(self, repository: Repository, sender: Account, installed: Installation) -> dict[str, Any]:
        common: dict[str, Any] = {
            "repository": repository_json(self, repository),
            "sender": user_json(self, sender),
            "installation": fields(installed, "id", "node_id"),
        }
        if repository.owner.type == "Organization":
            common["organization"] = organization_payload(self, repository.owner)
        return common


def organization_payload(world: World, owner: Account) -> dict[str, Any]:
    """An organization in short."""
    api = f"{world.api_url}/orgs/{owner.login}"
    paths = ("repos", "events", "hooks", "issues", "members{/member}", "public_members{/member}")
    own = {"url": api, "avatar_url": avatar_url(owner), "description": None}
    return fields(owner, "login", "id", "node_id") | addresses(api, *paths) | own


class PushActions(Actions):
    """The event of every push."""

    def emit_push(
        self, repository: Repository, branch: str, before: str | None, after: str, account: Account
    ) -> None:
        """Emit the event of a branch that moved."""
        page = f"{self.web_url}/{repository.full_name}"
        objects = repository.objects
        forced = before is not None and before not in set(objects.ancestors(after))
        commits = objects.between(before, after) if before is not None else (objects.commits[after],)
        pushed = [self._pushed(repository, commit, account) for commit in commits]
        payload = {
            "ref": f"refs/heads/{branch}",
            "before": before or "0" * 40,
            "after": after,
            "created": before is None,
            "deleted": False,
            "forced": forced,
            "base_ref": None,
            "compare": f"{page}/compare/{before or '0' * 12}...{after}",
            "commits": pushed,
            "head_commit": self._pushed(repository, objects.commits[after], account),
            "pusher": {"name": account.login, "email": f"{account.login}@users.noreply.github.com"},
        }
        self.emit("push", repository, account, payload)

    def _pushed(self, repository: Repository, commit: GitCommit, account: Account) -> dict[str, object]:
        before = repository.objects.commits[commit.parents[0]].files if commit.parents else {}
        person = {
            "name": account.login,
            "email": f"{account.login}@users.noreply.github.com",
            "username": account.login,
        }
        return {
            "id": commit.sha,
            "tree_id": commit.tree_sha,
            "distinct": True,
            "message": commit.message,
            "timestamp": commit.at.isoformat(),
            "url": f"{self.web_url}/{repository.full_name}/commit/{commit.sha}",
            "author": person,
            "committer": person,
            "added": sorted(commit.files.keys() - before.keys()),
            "removed": sorted(before.keys() - commit.files.keys()),
            "modified": sorted(
                p for p in commit.files.keys() & before.keys() if commit.files[p] != before[p]
            ),
        }


class RepositoryActions(PushActions):
    """Repositories and installations."""

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
        owner = self.find_account(owner_login) or self.account(owner_login, "Organization")
        repository = Repository(self.new_id(), owner, name, private, self.now())
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

    def _cover(self, repository: Repository) -> Installation:
        installation = self._find_installation(repository.owner) or self._installation(repository.owner)
        installation.repositories.append(repository)
        return installation

    def _find_installation(self, owner: Account) -> Installation | None:
        installations = (
            installation for installation in self.installations.values() if not installation.deleted
        )
        return next((item for item in installations if item.account is owner), None)

    def _installation(self, owner: Account, permissions: Mapping[str, str] | None = None) -> Installation:
        granted = dict(permissions or self.app.permissions)
        installation = Installation(self.new_id(), self.app, owner, granted, self.app.events, self.now())
        self.installations[installation.id] = installation
        return installation


def full_repository_json(world: World, repository: Repository, caller: Account | None) -> ShapeJson:
    """A repository on its own, with what the caller may do in it."""
    role = repository.role(caller) if caller is not None else None
    if role is None and not repository.private:
        role = "read"
    return repository_json(world, repository) | {
        "network_count": 0,
        "subscribers_count": 0,
        # The flags are a user's: of an App's token they say nothing.
        "permissions": permissions_json(None if caller is not None and caller.type == "Bot" else role),
    }


def permissions_json(role: Role | None) -> dict[str, bool]:
    """What a role allows, as GitHub's five flags."""
    rank = -1 if role is None else ROLES.index(role)
    return {
        "admin": rank >= 4,
        "maintain": rank >= 3,
        "push": rank >= 2,
        "triage": rank >= 1,
        "pull": rank >= 0,
    }


def collaborator_permission_json(world: World, repository: Repository, account: Account) -> ShapeJson:
    """An account's permission; `permission` has four values only, `role_name` all of them."""
    role = repository.role(account) or (None if repository.private else "read")
    folded = {"maintain": "write", "triage": "read"}.get(role or "none", role or "none")
    return {
        "permission": folded,
        "role_name": role or "none",
        "user": user_json(world, account)
        | {"permissions": permissions_json(role), "role_name": role or "none"},
    }


def get_repository(call: ApiCall) -> ApiAnswer:
    """One repository."""
    return ApiAnswer(full_repository_json(call.github, call.repository, call.account))


def get_permission(call: ApiCall) -> ApiAnswer:
    """An account's permission in the repository."""
    account = call.github.find_account(call.params["username"])
    if account is None or account.deleted:
        raise not_found_refusal()
    if account.type == "Bot":
        raise ApiRefusal(404, f"{account.login} is not a user")
    return ApiAnswer(collaborator_permission_json(call.github, call.repository, account))


_READ = requires_read("metadata")

REPOSITORY_ROUTES = (
    Route("GET", REPO_ROUTE, get_repository, _READ),
    Route("GET", f"{REPO_ROUTE}/collaborators/{{username}}/permission", get_permission, _READ),
)
