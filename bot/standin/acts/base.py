"""Which installation hears of a change, and what stands in every payload?"""

from __future__ import annotations

from typing import Any

from bot.standin.model import Account, Installation, Reaction, Repository, node_id
from bot.standin.shapes.accounts import installation, user
from bot.standin.shapes.repositories import repository as written_repository
from bot.standin.world import World

Who = str | Account  # a login will do


class Acts(World):
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
        common = {"installation": installation(self, installed), "sender": user(self, sender)}
        self.deliveries.emit(event, payload | common)
        self.changed()

    def reacted(self, reactions: list[Reaction], by: Who, content: str) -> Reaction:
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
            "sender": user(self, sender),
            "installation": {"id": installed.id, "node_id": node_id("MDIz", installed.id)},
        }
        if where.owner.type == "Organization":
            common["organization"] = organization(self, where.owner)
        return common


def organization(world: World, owner: Account) -> dict[str, Any]:
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
