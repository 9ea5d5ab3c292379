"""Read the comments of review Apps: title, severity, suggestion, and what is scaffolding."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReviewerFormat:
    """How one App writes its inline comments."""

    name: str


@dataclass(frozen=True, slots=True)
class AppRemark:
    words: str
    severity: str | None = None
    suggestion: str | None = None


def read_app_comment(body: str, app: ReviewerFormat) -> AppRemark | None:
    return None
