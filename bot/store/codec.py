"""Encode stored values as JSON and decode them again.

Names in stored JSON outlive names in the code. An effect is stored under an explicit name, which never
changes; its class may be renamed. Fields are stored under their own names: a renamed field must still be
read under its former name, or rows written by an earlier version lose their meaning
(`tests/store/test_stored_values.py`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from bot.pull_request.effects import (
    AddReaction,
    Announce,
    CancelWrite,
    CloseAnnouncement,
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
    "CloseAnnouncement": CloseAnnouncement,
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


def effect_name(effect: Effect) -> str:
    """Return the name that an effect is stored and shown under."""
    return _STORED_NAMES[type(effect)]


# msgspec looks at a class when it first makes one, and two threads that do so at once crash the process;
# so it looks at all of them here, while there is one thread.
_PREPARED = tuple(map(msgspec.json.Decoder, (PullRequest, *STORED_EFFECTS.values())))


def encode(value: Any) -> str:
    """Encode a value as JSON, whatever characters it holds."""
    # Always ASCII: PostgreSQL's text knows no NUL, and UTF-8 no half of a surrogate pair.
    with suppress(UnicodeEncodeError):
        encoded = msgspec.json.encode(value)
        if encoded.isascii():
            return encoded.decode("ascii")
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"))


def decode(text: str, kind: type[StoredValue]) -> StoredValue:
    """Decode the value of this type from JSON."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # half of a surrogate pair
        return msgspec.convert(json.loads(text), kind)


def encode_effect(effect: Effect) -> str:
    """Encode an effect with its stored name."""
    return encode({"kind": effect_name(effect), "value": effect})


def decode_effect(text: str) -> Effect:
    """Decode an effect."""
    stored = json.loads(text)
    effect: Effect = msgspec.convert(stored["value"], STORED_EFFECTS[stored["kind"]])
    return effect


def encode_record(pull_request: PullRequest) -> str:
    """Encode a pull request without its sticky comment, which has its own row."""
    return encode(replace(pull_request, sticky=None))


def column_text(text: str, limit: int = 2000) -> str:
    """Convert text to what a column can hold: no NUL, no half characters, limited length."""
    return text[:limit].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
