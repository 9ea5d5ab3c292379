"""How far has a job come that somebody asked for?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come that somebody asked for."""

    done: int = 0
    total: int | None = None
    waits_until: datetime | None = None
    """GitHub is not asked before then."""
    finished: bool = False


class JobFailed(Exception):
    """Why a job was given up on, for whoever asked for it."""
