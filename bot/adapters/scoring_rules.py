"""The rules that scores are computed by: read from YAML, or refused with everything that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.adapters.rule_files import nodes
from bot.adapters.rule_files.document import read
from bot.adapters.rule_files.nodes import Entry, Node, Scalar
from bot.domain.gates import Aspect, nearest
from bot.domain.problems import Problem, RuleFileError
from bot.domain.weights import Dimension, Limits, Scoring, Weights

VERSION = 1

_EXACT = 1e-9
"""Weights are written in hundredths; what binary fractions add to their sum is far below this."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """Which values a key may have, and how that is said."""

    fits: Callable[[object], bool]
    allowed: str


def load_scoring(path: Path) -> Scoring:
    """Return the rules of this file; raises `RuleFileError` with all its problems."""
    return parse_scoring(path.read_bytes(), str(path))


def parse_scoring(data: bytes, file: str) -> Scoring:
    """Return the rules that the text holds."""
    root = read(data, file)
    problems = tuple(_problems(root, file))
    if problems:
        raise RuleFileError(tuple(sorted(problems, key=lambda problem: (problem.line, problem.column))))
    said = nodes.plain(root)
    weights = Weights(
        dimensions={dimension: float(said["dimensions"][dimension]) for dimension in Dimension},
        severities={name: float(value) for name, value in said["severities"].items()},
        aspects={aspect: Dimension(said["aspects"][aspect]) for aspect in Aspect},
    )
    return Scoring(weights, Limits(**said["degradation"]))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: Any) -> bool:
    return _number(value) and 0 <= value <= 1


def _factor(value: Any) -> bool:
    return _number(value) and value > 1


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_SHARE = _Kind(_share, "use a number from 0 to 1")
_FACTOR = _Kind(_factor, "use a number over 1")
_COUNT = _Kind(_count, "use a whole number, at least 1")
_DIMENSION = _Kind(lambda value: value in set(Dimension), f"use one of {', '.join(Dimension)}")
_VERSION = _Kind(lambda value: value == VERSION and _count(value), f"use {VERSION}, the version of this form")

_SECTIONS: Mapping[str, Mapping[str, _Kind] | _Kind] = {
    "scoring": _VERSION,
    "dimensions": dict.fromkeys(Dimension, _SHARE),
    "severities": dict.fromkeys(("critical", "major", "minor", "suggestion"), _SHARE),
    "aspects": dict.fromkeys(Aspect, _DIMENSION),
    "degradation": {
        "drop": _SHARE,
        "drops_in_a_row": _COUNT,
        "iterations_since_best": _COUNT,
        "growth": _FACTOR,
        "growth_lines": _COUNT,
        "growth_files": _COUNT,
        "style_items": _COUNT,
        "lost_share": _SHARE,
        "lost_lines": _COUNT,
    },
}


def _problems(root: nodes.Mapping, file: str) -> Iterator[Problem]:
    yield from _keys(root, "", tuple(_SECTIONS), (file, root.line, root.column))
    for entry in root.entries:
        expected = _SECTIONS.get(entry.key)
        if isinstance(expected, _Kind):
            yield from _value(entry, entry.key, expected, file)
        elif expected is not None:
            yield from _section(entry, expected, file)
    yield from _sum(root.get("dimensions"), file)


def _section(entry: Entry, expected: Mapping[str, _Kind], file: str) -> Iterator[Problem]:
    if not isinstance(entry.node, nodes.Mapping):
        what = f"{entry.key} is {_shown(entry.node)}"
        yield Problem(file, entry.node.line, entry.node.column, what, f"give it {', '.join(expected)}")
        return
    yield from _keys(entry.node, entry.key, tuple(expected), (file, entry.line, entry.column))
    for below in entry.node.entries:
        if below.key in expected:
            yield from _value(below, f"{entry.key}.{below.key}", expected[below.key], file)


def _keys(
    node: nodes.Mapping, path: str, known: tuple[str, ...], at: tuple[str, int, int]
) -> Iterator[Problem]:
    """Give what is there and should not be, at its own place, and what is missing, at that of the section."""
    for entry in node.entries:
        if entry.key not in known:
            near = nearest(entry.key, known)
            allowed = f"did you mean {near}?" if near else f"use one of {', '.join(known)}"
            what = f"{path}.{entry.key}".lstrip(".") + " is unknown"
            yield Problem(at[0], entry.line, entry.column, what, allowed)
    for key in known:
        if node.get(key) is None:
            yield Problem(*at, f"{path or 'the file'} has no {key}", f"it needs {', '.join(known)}")


def _value(entry: Entry, path: str, kind: _Kind, file: str) -> Iterator[Problem]:
    node = entry.node
    if not (isinstance(node, Scalar) and kind.fits(node.value)):
        yield Problem(file, node.line, node.column, f"{path} is {_shown(node)}", kind.allowed)


def _sum(entry: Entry | None, file: str) -> Iterator[Problem]:
    if entry is None or not isinstance(entry.node, nodes.Mapping):
        return
    values = list(nodes.plain(entry.node).values())
    if all(map(_share, values)) and len(values) == len(Dimension) and abs(sum(values) - 1) > _EXACT:
        what = f"dimensions add up to {sum(values):.4g}"
        yield Problem(file, entry.line, entry.column, what, "they are shares of one score: make it 1")


def _shown(node: Node) -> str:
    if isinstance(node, Scalar):
        return "empty" if node.value is None else json.dumps(node.value, ensure_ascii=False)
    return "a mapping" if isinstance(node, nodes.Mapping) else "a list"
