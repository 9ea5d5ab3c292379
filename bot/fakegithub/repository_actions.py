"""Actions on repositories, members, installations and branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.fakegithub.git import FileChanges, GitCommit
from bot.fakegithub.model import Account, Installation, Reaction, Repository, Role, node_id
from bot.fakegithub.shapes import ShapeJson, installation_json, user_json
from bot.fakegithub.shapes import repository_json as written_repository
from bot.fakegithub.world import World

Actor = str | Account  # a login will do


class Actions(World):
    """A world in which things happen."""

    def emit(self, event: str, where: Repository, sender: Account, payload: dict[str, Any]) -> None:
        """Send a repository's event to the App, where it is installed and wants it."""
        installed = self.installation_of(where)
        if installed is not None and installed.suspended_at is None and event in installed.events:
            self.deliveries.emit(event, payload | self._everywhere(where, sender, installed))
        self.changed()

    def emit_installation(
        self, event: str, installed: Installation, sender: Account, payload: dict[str, Any]
    ) -> None:
        """Send an installation's own event: an App gets these unasked."""
        common = {"installation": installation_json(self, installed), "sender": user_json(self, sender)}
        self.deliveries.emit(event, payload | common)
        self.changed()

    def reacted(self, reactions: list[Reaction], by: Actor, content: str) -> Reaction:
        """The reaction, put beside those that a text has; a second one of the same kind is the first."""
        who = self.account(by)
        known = [each for each in reactions if each.user is who and each.content == content]
        if known:
            return known[0]
        made = Reaction(self.new_id(), who, content, self.now())
        reactions.append(made)
        self.changed()
        return made

    def _everywhere(self, where: Repository, sender: Account, installed: Installation) -> dict[str, Any]:
        common: dict[str, Any] = {
            "repository": written_repository(self, where),
            "sender": user_json(self, sender),
            "installation": {"id": installed.id, "node_id": node_id("MDIz", installed.id)},
        }
        if where.owner.type == "Organization":
            common["organization"] = organization_payload(self, where.owner)
        return common


def organization_payload(world: World, owner: Account) -> dict[str, Any]:
    """An organization in short."""
    api = f"{world.api_url}/orgs/{owner.login}"
    return {
        "login": owner.login,
        "id": owner.id,
        "node_id": owner.node_id,
        "url": api,
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events",
        "hooks_url": f"{api}/hooks",
        "issues_url": f"{api}/issues",
        "members_url": f"{api}/members{{/member}}",
        "public_members_url": f"{api}/public_members{{/member}}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{owner.id}?v=4",
        "description": None,
    }


class PushActions(Actions):
    """The event of every push."""

    def emit_push(self, where: Repository, branch: str, before: str | None, after: str, who: Account) -> None:
        """Tell of a branch that moved."""
        page = f"{self.web_url}/{where.full_name}"
        objects = where.objects
        forced = before is not None and before not in set(objects.ancestors(after))
        commits = objects.between(before, after) if before is not None else (objects.commits[after],)
        written = [self._pushed(where, each, who) for each in commits]
        payload = {
            "ref": f"refs/heads/{branch}",
            "before": before or "0" * 40,
            "after": after,
            "created": before is None,
            "deleted": False,
            "forced": forced,
            "base_ref": None,
            "compare": f"{page}/compare/{before or '0' * 12}...{after}",
            "commits": written,
            "head_commit": self._pushed(where, objects.commits[after], who),
            "pusher": {"name": who.login, "email": f"{who.login}@users.noreply.github.com"},
        }
        self.emit("push", where, who, payload)

    def _pushed(self, where: Repository, commit: GitCommit, who: Account) -> dict[str, object]:
        before = where.objects.commits[commit.parents[0]].files if commit.parents else {}
        person = {"name": who.login, "email": f"{who.login}@users.noreply.github.com", "username": who.login}
        return {
            "id": commit.sha,
            "tree_id": commit.tree_sha,
            "distinct": True,
            "message": commit.message,
            "timestamp": commit.at.isoformat(),
            "url": f"{self.web_url}/{where.full_name}/commit/{commit.sha}",
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
        made = Repository(self.new_id(), owner, name, private, self.now())
        self.repositories[made.id] = made
        for login, role in (collaborators or {}).items():
            self.set_role(made, login, role)
        self.commit_to_default_branch(made, files or {"README.md": f"# {name}\n"}, message="Begin")
        if installed:
            self._cover(made)
        self.changed()
        return made

    def commit_to_default_branch(
        self, where: Repository, files: FileChanges, *, message: str = "Change", by: Actor | None = None
    ) -> GitCommit:
        """A commit straight on the default branch, with its `push` event."""
        who = self.account(by) if by is not None else where.owner
        before = where.branches.get(where.default_branch)
        parents = () if before is None else (before,)
        made = where.objects.commit(files, parents=parents, message=message, login=who.login, at=self.now())
        where.branches[where.default_branch] = made.sha
        self.emit_push(where, where.default_branch, before, made.sha, who)
        return made

    def set_role(self, where: Repository, who: Actor, role: Role | None) -> None:
        """Give somebody a role in a repository, or take it away."""
        account = self.account(who)
        if role is None:
            where.collaborators.pop(account.id, None)
        else:
            where.collaborators[account.id] = role
        self.changed()

    def rename_repository(self, where: Repository, name: str, *, by: Actor | None = None) -> None:
        """Give a repository another name; the old one leads to it."""
        former = where.name
        self.former_names[where.full_name.casefold()] = where
        where.name = name
        who = self.account(by) if by is not None else where.owner
        changes = {"repository": {"name": {"from": former}}}
        self.emit("repository", where, who, {"action": "renamed", "changes": changes})

    def transfer_repository(self, where: Repository, to: Actor, *, by: Actor | None = None) -> None:
        """Give a repository to another owner, who has the App already; the old name leads to it."""
        former, covered = where.owner, self.installation_of(where)
        self.former_names[where.full_name.casefold()] = where
        where.owner = self.account(to)
        if covered is not None:
            covered.repositories.remove(where)
        self._cover(where)
        is_organization = former.type == "Organization"
        gave = (
            {"organization": organization_payload(self, former)}
            if is_organization
            else {"user": user_json(self, former)}
        )
        changes = {"owner": {"from": gave}}
        who = self.account(by) if by is not None else former
        self.emit("repository", where, who, {"action": "transferred", "changes": changes})

    def delete_repository(self, where: Repository, *, by: Actor | None = None) -> None:
        """Remove a repository with all that is in it, and tell the App, which can't read it any more."""
        who = self.account(by) if by is not None else where.owner
        self.emit("repository", where, who, {"action": "deleted"})
        covered = self.installation_of(where)
        if covered is not None:
            covered.repositories.remove(where)
        self.repositories.pop(where.id, None)
        self.changed()

    def archive(self, where: Repository, *, archived: bool = True) -> None:
        """Make a repository read-only, or writable again."""
        where.archived = archived
        action = "archived" if archived else "unarchived"
        self.emit("repository", where, where.owner, {"action": action})

    def set_private(self, where: Repository, *, private: bool = True) -> None:
        """Hide a repository, or show it to everybody."""
        where.private = private
        action = "privatized" if private else "publicized"
        self.emit("repository", where, where.owner, {"action": action})

    def install(self, owner: Actor, *, permissions: Mapping[str, str] | None = None) -> Installation:
        """Install the App on an account, and tell it."""
        made = self._installation(self.account(owner), permissions)
        payload: ShapeJson = {"action": "created", "repositories": [], "requester": None}
        self.emit_installation("installation", made, made.account, payload)
        return made

    def add_to_installation(self, where: Repository) -> Installation:
        """Let the App into one more repository, and tell it."""
        made = self._cover(where)
        self._tell_repositories(made, "added", where)
        return made

    def remove_from_installation(self, where: Repository, former: Installation | None = None) -> None:
        """Shut the App out of a repository, and tell it; a former installation is only told."""
        made = former or self.installation_of(where)
        if made is not None:
            if where in made.repositories:
                made.repositories.remove(where)
            self._tell_repositories(made, "removed", where)

    def uninstall(self, owner: Actor) -> None:
        """Remove the App from an account, and tell it; its tokens are worthless from now on."""
        made = self._living(self.account(owner))
        if made is not None:
            made.deleted = True
            short = [_short(each) for each in made.repositories]
            payload = {"action": "deleted", "repositories": short, "requester": None}
            self.emit_installation("installation", made, made.account, payload)

    def suspend(self, owner: Actor, *, suspended: bool = True) -> None:
        """Suspend the App on an account, or let it work again, and tell it."""
        made = self._living(self.account(owner))
        if made is not None:
            made.suspended_at = self.now() if suspended else None
            made.suspended_by = made.account if suspended else None
            action = "suspend" if suspended else "unsuspend"
            short = [_short(each) for each in made.repositories]
            payload = {"action": action, "repositories": short, "requester": None}
            self.emit_installation("installation", made, made.account, payload)

    def rename_account(self, who: Actor, login: str) -> Account:
        """Give an account another login; its id stays."""
        account = self.account(who)
        account.login = login
        self.changed()
        return account

    def delete_account(self, who: Actor) -> None:
        """Remove an account; what it wrote stays, without a user."""
        self.account(who).deleted = True
        self.changed()

    def _cover(self, where: Repository) -> Installation:
        made = self._living(where.owner) or self._installation(where.owner)
        made.repositories.append(where)
        return made

    def _living(self, owner: Account) -> Installation | None:
        living = (each for each in self.installations.values() if not each.deleted)
        return next((each for each in living if each.account is owner), None)

    def _installation(self, owner: Account, permissions: Mapping[str, str] | None = None) -> Installation:
        granted = dict(permissions or self.app.permissions)
        made = Installation(self.new_id(), self.app, owner, granted, self.app.events, self.now())
        self.installations[made.id] = made
        return made

    def _tell_repositories(self, installed: Installation, action: str, where: Repository) -> None:
        lists: ShapeJson = {"repositories_added": [], "repositories_removed": []} | {
            f"repositories_{action}": [_short(where)]
        }
        payload = {"action": action, "repository_selection": "selected", "requester": None} | lists
        self.emit_installation("installation_repositories", installed, installed.account, payload)


def _short(where: Repository) -> dict[str, object]:
    return {
        "id": where.id,
        "node_id": node_id("R", where.id),
        "name": where.name,
        "full_name": where.full_name,
        "private": where.private,
    }
