"""Which comment of a thread is the App's word on it, and what does it say to a machine?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain import prose
from bot.domain.comment_marker import MARKER
from bot.domain.escape import read_marker


@dataclass(frozen=True, slots=True)
class Spoken:
    """One comment, and whose it is."""

    login: str
    bot: bool
    body: str
    url: str


def word_of(app: str, thread: Sequence[Spoken]) -> Spoken | None:
    """The newest comment with a marker that the App itself wrote; a marker alone proves nothing."""
    login = f"{app.removesuffix('[bot]')}[bot]".casefold()
    ours = (each for each in reversed(thread) if each.bot and each.login.casefold() == login)
    return next((each for each in ours if read_marker(MARKER, each.body) is not None), None)


def document(body: str) -> dict[str, object] | None:
    """The first JSON fence, if it holds an object."""
    first = next((fence.text for fence in prose.fences(body) if fence.info.split()[:1] == ["json"]), None)
    try:
        found = json.loads(first) if first is not None else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
