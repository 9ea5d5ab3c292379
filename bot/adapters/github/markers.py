"""Whether a comment carries the marker with a given id."""

from __future__ import annotations

import msgspec

from bot.adapters.payloads.fields import find
from bot.domain import regex

_MARKER = regex.Pattern(r"<!-- [A-Z]+(?:-[A-Z]+)*: (\{.*?\}) -->")


def carries(body: str, marker_id: str) -> bool:
    """Whether the first line is a marker with this id."""
    found = _MARKER.match(body.partition("\n")[0])
    if not found:
        return False
    try:
        return bool(find(msgspec.json.decode(found[1]), "id") == marker_id)
    except (msgspec.DecodeError, RecursionError):
        return False
