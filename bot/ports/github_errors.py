"""In which ways does GitHub say no?"""

from __future__ import annotations

from datetime import datetime


class GitHubError(Exception):
    """GitHub did not do what was asked."""


class RateLimited(GitHubError):
    """The installation must not ask before `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"rate limited until {until.isoformat()}")
        self.until = until


class Unavailable(GitHubError):
    """5xx, time-out, reset, or a thing GitHub does not show yet: try again later."""


class Gone(GitHubError):
    """404 or 410 of a thing that was there."""


class Forbidden(GitHubError):
    """403 that no waiting mends: locked, archived, suspended, or a permission that was not granted."""

    def __init__(self, message: str = "", permission: str | None = None) -> None:
        super().__init__(message)
        self.permission = permission
        """What the App lacks (`pull_requests=write`), where that is the reason."""


class Refused(GitHubError):
    """422: GitHub understood and will not."""
