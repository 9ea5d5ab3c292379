"""Encode stored values as JSON and decode them again.

Names in stored JSON outlive names in the code. An effect is stored under an explicit name, which never
changes; its class may be renamed. Fields are stored under their own names: a renamed field must still be
read under its former name, or rows written by an earlier version lose their meaning
(`tests/adapters/store/test_stored_values.py`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from bot.pull_request.effects import (
    AddReaction,
    Announce,
    CancelWrite,
    Effect,
    MinimiseReply,
    PostReply,
    PostSuggestions,
    PostWeekComment,
    RetireComment,
    ShowCheckRun,
    ShowComment,
    ShowLabel,
    ShowWeeklyIssue,
)
from bot.pull_request.model import PullRequest

StoredValue = TypeVar("StoredValue")

STORED_EFFECTS: dict[str, type[Any]] = {
    "Announce": Announce,
    "MinimiseReply": MinimiseReply,
    "React": AddReaction,
    "Reply": PostReply,
    "RetireComment": RetireComment,
    "ShowCheck": ShowCheckRun,
    "ShowComment": ShowComment,
    "ShowIssue": ShowWeeklyIssue,
    "ShowLabel": ShowLabel,
    "Suggest": PostSuggestions,
    "WeekComment": PostWeekComment,
    "Withdraw": CancelWrite,
}
"""Every effect by the name it is stored under. A stored name never changes."""

_STORED_NAMES = {kind: name for name, kind in STORED_EFFECTS.items()}

# msgspec looks at a class when it first makes one, and two threads that do so at once crash the process;
# so it looks at all of them here, while there is one thread.
_LOOKED_AT = tuple(map(msgspec.json.Decoder, (PullRequest, *STORED_EFFECTS.values())))


def encode(value: Any) -> str:
    """A value as JSON, whatever characters it holds."""
    # Escaped ASCII: PostgreSQL's text knows no NUL, and UTF-8 no half of a surrogate pair.
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"))


def decode(text: str, kind: type[StoredValue]) -> StoredValue:
    """The value of this kind that the JSON holds."""
    return msgspec.convert(json.loads(text), kind)


def encode_effect(effect: Effect) -> str:
    """An effect with the name of its kind."""
    return encode({"kind": _STORED_NAMES[type(effect)], "value": effect})


def decode_effect(text: str) -> Effect:
    """The effect that was encoded."""
    found = json.loads(text)
    effect: Effect = msgspec.convert(found["value"], STORED_EFFECTS[found["kind"]])
    return effect


def encode_record(pull_request: PullRequest) -> str:
    """All of a pull request but its sticky comment, which has a row of its own."""
    return encode(replace(pull_request, sticky=None))


def column_text(text: str, limit: int = 2000) -> str:
    """Text that a column can hold: no NUL, no half characters, not without end."""
    return text[:limit].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
