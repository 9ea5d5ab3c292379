"""What does GitHub say when it does not do what it was asked?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Refused(Exception):
    """An answer that is an error, in GitHub's words."""

    def __init__(
        self, status: int, message: str, *, errors: Any = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})


def not_found() -> Refused:
    """It is not there, or the caller may not know that it is."""
    return Refused(404, "Not Found")


def not_accessible() -> Refused:
    """The App was not granted the permission for this."""
    return Refused(403, "Resource not accessible by integration")


def invalid(resource: str, field: str, code: str = "invalid", **more: Any) -> Refused:
    """A field has a value that GitHub does not take."""
    error = {"resource": resource, "field": field, "code": code} | more
    return Refused(422, "Validation Failed", errors=[error])
