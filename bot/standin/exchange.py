"""What was asked over HTTP, and what was answered?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; status 0 where the connection was dropped without one.

    `route` is GitHub's path template with `params` for its gaps, both empty for an unknown path;
    `is_fault` marks an answer that was ordered by a test rather than given by the endpoint.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    status: int
    answer: Any
    answer_headers: Mapping[str, str]
    route: str = ""
    params: Mapping[str, str] | None = None
    is_fault: bool = False

    @property
    def was_304(self) -> bool:
        """Whether the caller had it already; such an answer costs nothing."""
        return self.status == 304


Observer = Callable[[Exchange], None]
