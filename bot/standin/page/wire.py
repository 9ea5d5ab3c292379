"""What went over the wire last, in the order in which it happened?"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import re2

from bot.standin.deliveries import Delivery
from bot.standin.exchange import Exchange

if TYPE_CHECKING:
    from bot.standin.server import Standin

_KEPT = 14
_SHA = re2.compile(r"\b([0-9a-f]{7})[0-9a-f]{33}\b")


class Wire:
    """The last webhooks and requests of a stand-in, from now on."""

    def __init__(self, github: Standin) -> None:
        self._last: deque[Delivery | Exchange] = deque(maxlen=_KEPT)
        github.observers.append(self._last.append)
        github.deliveries.observers.append(self._last.append)

    def told(self) -> list[dict[str, str]]:
        """Newest first: who spoke to whom, what, and what was answered."""
        return [
            _webhook(each) if isinstance(each, Delivery) else _request(each) for each in reversed(self._last)
        ]


def _webhook(sent: Delivery) -> dict[str, str]:
    status = "…" if sent.status_code is None else str(sent.status_code)
    return {"way": "GitHub → bot", "what": f"{sent.event} {sent.action or ''}".strip(), "status": status}


def _request(asked: Exchange) -> dict[str, str]:
    params = asked.params or {}
    path = asked.path.removeprefix("/repos/{}/{}".format(params.get("owner"), params.get("repo")))
    short = _SHA.sub(lambda sha: str(sha[1]), path)
    return {"way": "bot → GitHub", "what": f"{asked.method} {short}", "status": str(asked.status)}
