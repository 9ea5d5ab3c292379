"""How one field is read from GitHub's JSON, which promises nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]

_LARGEST = 2**63 - 1  # what a database's integer holds


class Odd(Exception):
    """A field that has to be there is not, or is of another kind."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(f"{path} is not {expected}")


def find(tree: object, path: str) -> Any:
    """What stands at `a.b.c`, None where any step is missing."""
    for step in path.split("."):
        if not isinstance(tree, dict):  # as every object that was read is: to ask for more is slow
            return None
        tree = tree.get(step)
    return tree


def mapping(tree: object, path: str) -> Json:
    """An object that has to be there."""
    value = find(tree, path)
    if not isinstance(value, Mapping):
        raise Odd(path, "an object")
    return value


def identifier(tree: object, path: str) -> int:
    """An id or number that has to be there."""
    value = optional_integer(tree, path)
    if value is None or value < 1:
        raise Odd(path, "a number")
    return value


def optional_integer(tree: object, path: str) -> int | None:
    """A whole number that a database can hold, None for anything else."""
    value = find(tree, path)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and abs(value) <= _LARGEST else None


def word(tree: object, path: str) -> str:
    """A string that has to be there and to say something."""
    value = text(tree, path)
    if not value.strip():
        raise Odd(path, "a text")
    return value


def text(tree: object, path: str) -> str:
    """A string as a database can keep it; empty for anything else."""
    value = find(tree, path)
    if not isinstance(value, str):
        return ""
    # PostgreSQL keeps no NUL, and nothing encodes half a surrogate pair.
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def moment(tree: object, path: str) -> datetime:
    """A time that has to be there, in UTC."""
    value = optional_moment(tree, path)
    if value is None:
        raise Odd(path, "a time")
    return value


def optional_moment(tree: object, path: str) -> datetime | None:
    """A time in UTC, None for anything else."""
    value = find(tree, path)
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
