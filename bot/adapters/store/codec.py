"""How do values become text and come back equal?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, TypeVar, get_args

import msgspec

from bot.domain.effects import Effect
from bot.domain.model import PullRequest

Value = TypeVar("Value")

EFFECTS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Effect)}
"""Every effect there is, by name: a new member of the union needs no line here."""

# msgspec looks at a class when it first makes one, and two threads that do so at once crash the process;
# so it looks at all of them here, while there is one thread.
_LOOKED_AT = tuple(map(msgspec.json.Decoder, (PullRequest, *EFFECTS.values())))


def encode(value: Any) -> str:
    """A value as JSON, whatever characters it holds."""
    # Escaped ASCII: PostgreSQL's text knows no NUL, and UTF-8 no half of a surrogate pair.
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"))


def decode(text: str, kind: type[Value]) -> Value:
    """The value of this kind that the JSON holds."""
    return msgspec.convert(json.loads(text), kind)


def encode_effect(effect: Effect) -> str:
    """An effect with the name of its kind."""
    return encode({"kind": type(effect).__name__, "value": effect})


def decode_effect(text: str) -> Effect:
    """The effect that was encoded."""
    found = json.loads(text)
    effect: Effect = msgspec.convert(found["value"], EFFECTS[found["kind"]])
    return effect


def encode_record(pull_request: PullRequest) -> str:
    """All of a pull request but its sticky comment, which has a row of its own."""
    return encode(replace(pull_request, sticky=None))


def plain(text: str, limit: int = 2000) -> str:
    """Text that a column can hold: no NUL, no half characters, not without end."""
    return text[:limit].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
