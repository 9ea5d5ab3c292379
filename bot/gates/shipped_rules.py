"""Load the shipped scoring rules and claim types (`rules/scoring.yml`, `rules/grounding.yml`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.gates import yaml_reader
from bot.gates.config import (
    ClaimRule,
    ClaimType,
    DegradationLimits,
    GroundingTool,
    QualityDimension,
    ScoreWeights,
    ScoringRules,
)
from bot.gates.model import Aspect, nearest_word
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.yaml_reader import YamlEntry, YamlNode, YamlScalar, read_yaml_document

GROUNDING_VERSION = 1

_KEYS = ("tools", "would_verify")


def load_grounding(path: Path) -> Mapping[ClaimType, ClaimRule]:
    """Return the types of claims of this file; raises `RuleFileError` with all its problems."""
    return parse_grounding(path.read_bytes(), str(path))


def parse_grounding(data: bytes, file: str) -> Mapping[ClaimType, ClaimRule]:
    """Return the types of claims that the text holds."""
    root = read_yaml_document(data, file)
    problems = tuple(_claim_problems(root, file))
    if problems:
        raise RuleFileError(tuple(sorted(problems, key=lambda problem: (problem.line, problem.column))))
    claims = yaml_reader.to_plain(root)["claims"]
    return {ClaimType(kind): _rule(said) for kind, said in claims.items()}


def _rule(said: Mapping[str, object]) -> ClaimRule:
    listed = said.get("tools")
    tools = tuple(GroundingTool(str(tool)) for tool in listed) if isinstance(listed, list | tuple) else ()
    return ClaimRule(tools, str(said.get("would_verify") or ""))


def _claim_problems(root: yaml_reader.YamlMapping, file: str) -> Iterator[RuleFileProblem]:
    yield from _claim_keys(root, "", ("grounding", "claims"), file)
    version = root.get("grounding")
    if version and not (isinstance(version.node, YamlScalar) and version.node.value == GROUNDING_VERSION):
        yield _at(version.node, file, "grounding is another version", f"use {GROUNDING_VERSION}")
    claims = root.get("claims")
    if claims is None or not isinstance(claims.node, yaml_reader.YamlMapping):
        where = claims.node if claims else root
        yield _at(where, file, "claims is no mapping", "give it the types of claims")
        return
    yield from _claim_keys(claims.node, "claims", tuple(ClaimType), file)
    missing = [kind.value for kind in ClaimType if claims.node.get(kind) is None]
    if missing:
        yield _at(claims.node, file, f"claims has no {', '.join(missing)}", "give every type")
    for entry in claims.node.entries:
        yield from _claim(entry, file)


def _claim(entry: YamlEntry, file: str) -> Iterator[RuleFileProblem]:
    path = f"claims.{entry.key}"
    if not isinstance(entry.node, yaml_reader.YamlMapping):
        yield _at(entry.node, file, f"{path} is no mapping", f"give it {', '.join(_KEYS)}")
        return
    yield from _claim_keys(entry.node, path, _KEYS, file)
    if entry.node.get("would_verify") is None:
        yield _at(entry.node, file, f"{path} has no would_verify", "say what would confirm such a claim")
    for below in entry.node.entries:
        if below.key == "would_verify" and not (
            isinstance(below.node, YamlScalar) and isinstance(below.node.value, str)
        ):
            yield _at(below.node, file, f"{path}.{below.key} is no text", "write a few words")
        if below.key == "tools":
            yield from _tools(below, path, file)


def _tools(entry: YamlEntry, path: str, file: str) -> Iterator[RuleFileProblem]:
    allowed = f"use a list of {', '.join(GroundingTool)}"
    tools = yaml_reader.to_plain(entry.node)
    if not isinstance(tools, list | tuple):
        yield _at(entry.node, file, f"{path}.tools is no list", allowed)
        return
    for tool in tools:
        if tool not in set(GroundingTool):
            yield _at(entry.node, file, f"{path}.tools has {tool}", allowed)


def _claim_keys(
    node: yaml_reader.YamlMapping, path: str, known: tuple[str, ...], file: str
) -> Iterator[RuleFileProblem]:
    for entry in node.entries:
        if entry.key not in known:
            near = nearest_word(entry.key, known)
            allowed = f"did you mean {near}?" if near else f"use one of {', '.join(known)}"
            what = f"{path}.{entry.key}".lstrip(".") + " is unknown"
            yield RuleFileProblem(file, entry.line, entry.column, what, allowed)


def _at(node: YamlNode, file: str, what: str, allowed: str) -> RuleFileProblem:
    return RuleFileProblem(file, node.line, node.column, what, allowed)


SCORING_VERSION = 1

_EXACT = 1e-9
"""Weights are written in hundredths; what binary fractions add to their sum is far below this."""


@dataclass(frozen=True, slots=True)
class _ValueKind:
    """Which values a key may have, and how that is said."""

    fits: Callable[[object], bool]
    allowed: str


def load_scoring(path: Path) -> ScoringRules:
    """Return the rules of this file; raises `RuleFileError` with all its problems."""
    return parse_scoring(path.read_bytes(), str(path))


def parse_scoring(data: bytes, file: str) -> ScoringRules:
    """Return the rules that the text holds."""
    root = read_yaml_document(data, file)
    problems = tuple(_scoring_problems(root, file))
    if problems:
        raise RuleFileError(tuple(sorted(problems, key=lambda problem: (problem.line, problem.column))))
    said = yaml_reader.to_plain(root)
    weights = ScoreWeights(
        dimensions={dimension: float(said["dimensions"][dimension]) for dimension in QualityDimension},
        severities={name: float(value) for name, value in said["severities"].items()},
        aspects={aspect: QualityDimension(said["aspects"][aspect]) for aspect in Aspect},
    )
    return ScoringRules(weights, DegradationLimits(**said["degradation"]))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: Any) -> bool:
    return _number(value) and 0 <= value <= 1


def _factor(value: Any) -> bool:
    return _number(value) and value > 1


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_SHARE = _ValueKind(_share, "use a number from 0 to 1")
_FACTOR = _ValueKind(_factor, "use a number over 1")
_COUNT = _ValueKind(_count, "use a whole number, at least 1")
_DIMENSION = _ValueKind(
    lambda value: value in set(QualityDimension), f"use one of {', '.join(QualityDimension)}"
)
_VERSION = _ValueKind(
    lambda value: value == SCORING_VERSION and _count(value),
    f"use {SCORING_VERSION}, the version of this form",
)

_SECTIONS: Mapping[str, Mapping[str, _ValueKind] | _ValueKind] = {
    "scoring": _VERSION,
    "dimensions": dict.fromkeys(QualityDimension, _SHARE),
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


def _scoring_problems(root: yaml_reader.YamlMapping, file: str) -> Iterator[RuleFileProblem]:
    yield from _scoring_keys(root, "", tuple(_SECTIONS), (file, root.line, root.column))
    for entry in root.entries:
        expected = _SECTIONS.get(entry.key)
        if isinstance(expected, _ValueKind):
            yield from _value(entry, entry.key, expected, file)
        elif expected is not None:
            yield from _section(entry, expected, file)
    yield from _sum(root.get("dimensions"), file)


def _section(entry: YamlEntry, expected: Mapping[str, _ValueKind], file: str) -> Iterator[RuleFileProblem]:
    if not isinstance(entry.node, yaml_reader.YamlMapping):
        what = f"{entry.key} is {_shown(entry.node)}"
        yield RuleFileProblem(
            file, entry.node.line, entry.node.column, what, f"give it {', '.join(expected)}"
        )
        return
    yield from _scoring_keys(entry.node, entry.key, tuple(expected), (file, entry.line, entry.column))
    for below in entry.node.entries:
        if below.key in expected:
            yield from _value(below, f"{entry.key}.{below.key}", expected[below.key], file)


def _scoring_keys(
    node: yaml_reader.YamlMapping, path: str, known: tuple[str, ...], at: tuple[str, int, int]
) -> Iterator[RuleFileProblem]:
    """Give what is there and should not be, at its own place, and what is missing, at that of the section."""
    for entry in node.entries:
        if entry.key not in known:
            near = nearest_word(entry.key, known)
            allowed = f"did you mean {near}?" if near else f"use one of {', '.join(known)}"
            what = f"{path}.{entry.key}".lstrip(".") + " is unknown"
            yield RuleFileProblem(at[0], entry.line, entry.column, what, allowed)
    for key in known:
        if node.get(key) is None:
            yield RuleFileProblem(*at, f"{path or 'the file'} has no {key}", f"it needs {', '.join(known)}")


def _value(entry: YamlEntry, path: str, kind: _ValueKind, file: str) -> Iterator[RuleFileProblem]:
    node = entry.node
    if not (isinstance(node, YamlScalar) and kind.fits(node.value)):
        yield RuleFileProblem(file, node.line, node.column, f"{path} is {_shown(node)}", kind.allowed)


def _sum(entry: YamlEntry | None, file: str) -> Iterator[RuleFileProblem]:
    if entry is None or not isinstance(entry.node, yaml_reader.YamlMapping):
        return
    values = list(yaml_reader.to_plain(entry.node).values())
    if all(map(_share, values)) and len(values) == len(QualityDimension) and abs(sum(values) - 1) > _EXACT:
        what = f"dimensions add up to {sum(values):.4g}"
        yield RuleFileProblem(file, entry.line, entry.column, what, "they are shares of one score: make it 1")


def _shown(node: YamlNode) -> str:
    if isinstance(node, YamlScalar):
        return "empty" if node.value is None else json.dumps(node.value, ensure_ascii=False)
    return "a mapping" if isinstance(node, yaml_reader.YamlMapping) else "a list"
