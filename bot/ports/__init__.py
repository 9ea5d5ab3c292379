"""What the engine needs from the outside: a store that keeps, a GitHub that answers, and rules."""

from bot.ports.github import Archive, Commits, Contents, GitHub, Threads
from bot.ports.github_answers import (
    Budget,
    FoundComment,
    FoundIssue,
    PostedCheck,
    PostedComment,
    PullRequestPage,
)
from bot.ports.github_errors import Forbidden, GitHubError, Gone, RateLimited, Refused, Unavailable
from bot.ports.jobs import JobFailed, Progress
from bot.ports.kept import (
    Acceptance,
    Claim,
    Delivery,
    DeliveryState,
    Fenced,
    Home,
    Kept,
    OutboxRow,
    Parked,
    ReconcileOutcome,
    ReconcileRun,
    Refusal,
    RowState,
    StoreUnavailable,
    Turn,
)
from bot.ports.memory import Memory
from bot.ports.rules import ConfigMemory, KeptConfig, RuleBook
from bot.ports.store import Derive, Inbox, Parse, Store

__all__ = [
    "Acceptance",
    "Archive",
    "Budget",
    "Claim",
    "Commits",
    "ConfigMemory",
    "Contents",
    "Delivery",
    "DeliveryState",
    "Derive",
    "Fenced",
    "Forbidden",
    "FoundComment",
    "FoundIssue",
    "GitHub",
    "GitHubError",
    "Gone",
    "Home",
    "Inbox",
    "JobFailed",
    "Kept",
    "KeptConfig",
    "Memory",
    "OutboxRow",
    "Parked",
    "Parse",
    "PostedCheck",
    "PostedComment",
    "Progress",
    "PullRequestPage",
    "RateLimited",
    "ReconcileOutcome",
    "ReconcileRun",
    "Refusal",
    "Refused",
    "RowState",
    "RuleBook",
    "Store",
    "StoreUnavailable",
    "Threads",
    "Turn",
    "Unavailable",
]
