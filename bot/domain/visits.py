"""What may the holder of a GitHub token do in a repository, and whose record may they see?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.choices import Permission
from bot.domain.commands.permits import Sight, sight
from bot.domain.model import Account, Repository


@dataclass(frozen=True, slots=True)
class Visit:
    """GitHub's word on one token in one repository."""

    repository: Repository
    account: Account | None
    """Whose token it is, a person's or an App's; None where GitHub does not say."""
    role: Permission
    installed: bool = False
    """It is an App's, which is installed in this repository."""

    def may(self, least: Permission) -> bool:
        """Whether the token's holder has at least this role."""
        return self.role.is_at_least(least)

    def sees(self, author: Account, *, agent: bool) -> bool:
        """Whether an author's record is shown: one's own, an agent's, or anybody's from `triage` on."""
        own = self.account is not None and self.account.id == author.id
        return sight(self.role, own=own, agent=agent, public_thread=False) is Sight.SHOWN
