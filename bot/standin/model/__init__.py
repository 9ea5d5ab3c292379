"""What is there on GitHub, as far as the stand-in knows it?

Everything has GitHub's own words for names. Objects are compared by identity: they change over time.
"""

from bot.standin.model.accounts import Account, AccountType, App, node_id
from bot.standin.model.checks import Annotation, CheckRun, Status
from bot.standin.model.repositories import ROLES, Installation, Label, Repository, Role
from bot.standin.model.threads import Issue, IssueComment, PullRequest, Reaction, Review, ReviewComment

__all__ = [
    "ROLES",
    "Account",
    "AccountType",
    "Annotation",
    "App",
    "CheckRun",
    "Installation",
    "Issue",
    "IssueComment",
    "Label",
    "PullRequest",
    "Reaction",
    "Repository",
    "Review",
    "ReviewComment",
    "Role",
    "Status",
    "node_id",
]
