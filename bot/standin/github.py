"""A whole GitHub without its doors: state, and all that can be done to it."""

from __future__ import annotations

from bot.standin.acts.checks import CheckActs
from bot.standin.acts.comments import CommentActs
from bot.standin.acts.pulls import PullRequestActs
from bot.standin.acts.repositories import RepositoryActs
from bot.standin.acts.reviews import ReviewActs
from bot.standin.model import Account


class GitHub(RepositoryActs, PullRequestActs, ReviewActs, CommentActs, CheckActs):
    """Everything people and Apps can do here."""

    def user_token(self, login: str | Account) -> str:
        """A personal token of this account."""
        return self.tokens.for_user(self.account(login)).token

    def installation_token(self, owner: str | Account) -> str:
        """A token of the App on this account, without the way over a JWT."""
        account = self.account(owner)
        found = next(each for each in self.installations.values() if each.account is account)
        return self.tokens.for_installation(found).token
