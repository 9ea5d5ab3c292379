"""The parts of a YAML file, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scalar:
    """One word, number, truth value or nothing."""

    value: str | int | float | bool | None
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a mapping, where it stands, and what it holds."""

    key: str
    line: int
    column: int
    node: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and what they hold, in the file's order."""

    entries: tuple[Entry, ...]
    line: int
    column: int

    def get(self, key: str) -> Entry | None:
        """The entry of this key."""
        return next((entry for entry in self.entries if entry.key == key), None)


Node = Scalar | Sequence | Mapping


def plain(node: Node) -> Any:
    """The node as Python's own values, as JSON would have them."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {entry.key: plain(entry.node) for entry in node.entries}


def entry_at(node: Node, *path: str) -> Entry | None:
    """The entry at the end of these keys, or None where the file does not have it."""
    entry: Entry | None = None
    for key in path:
        entry = node.get(key) if isinstance(node, Mapping) else None
        if entry is None:
            return None
        node = entry.node
    return entry


def entries(node: Node, *path: str) -> tuple[Entry, ...]:
    """The entries of the mapping at the end of these keys; none where there is no mapping."""
    entry = entry_at(node, *path)
    return entry.node.entries if entry and isinstance(entry.node, Mapping) else ()
