"""Compare a rule file with its published JSON Schema, with the position of each difference.

The schema is the one description of a file: editors, the documentation and this module read the same.
Only the keywords that our schemas use are known; a test compares the verdicts with a full validator's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot import regex
from bot.gates.model import PhraseError, check_phrase, nearest_word
from bot.gates.problems import RuleFileProblem
from bot.gates.yaml_reader import YamlEntry, YamlMapping, YamlNode, YamlScalar, YamlSequence

FormatProblem = tuple[str, str]  # what is wrong, as the end of a sentence; what is allowed


def check_format(name: str | None, text: str) -> FormatProblem | None:
    """What is wrong with the text in this format, or None."""
    check = _FORMATS.get(name or "")
    return check(text) if check else None


def _phrase(text: str) -> FormatProblem | None:
    try:
        check_phrase(text)
    except PhraseError as refused:
        return (
            f"is not a regular expression of RE2 ({refused})",
            "leave out look-around, back-references and long repeats",
        )
    return None


def _time_zone(text: str) -> FormatProblem | None:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f'is "{text}", which is no time zone', "use an IANA name, as in UTC or Europe/Berlin"
    return None


_FORMATS: dict[str, Callable[[str], FormatProblem | None]] = {"phrase": _phrase, "time-zone": _time_zone}


SchemaRule = dict[str, Any]  # a part of a JSON Schema

_TYPES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "keys with values",
}
_LONGEST_QUOTE = 40


@cache
def load_rule_schema(name: str) -> SchemaRule:
    """The published schema of this name."""
    text = resources.files("bot").joinpath("schemas", f"{name}.json").read_text("utf-8")
    found: SchemaRule = json.loads(text)
    return found


def schema_differences(root: YamlMapping, name: str, file: str) -> tuple[RuleFileProblem, ...]:
    """Every way in which the file is not what its schema asks for, from top to bottom."""
    found = _Walk(load_rule_schema(name), file).node(root, load_rule_schema(name), _At("", 1, 1))
    return tuple(sorted(found, key=lambda problem: (problem.line, problem.column)))


@dataclass(frozen=True, slots=True)
class _At:
    """The path of a value, and the place of its key."""

    path: str
    line: int
    column: int

    def under(self, entry: YamlEntry) -> _At:
        return _At(f"{self.path}.{entry.key}" if self.path else entry.key, entry.line, entry.column)

    def item(self, index: int, node: YamlNode) -> _At:
        return _At(f"{self.path}[{index}]", node.line, node.column)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One pass over the nodes of a file beside the rules of its schema."""

    root: SchemaRule
    file: str

    def node(self, node: YamlNode, rule: SchemaRule, at: _At) -> Iterator[RuleFileProblem]:
        rule = self._chosen(node, self._resolved(rule))
        if not _fits(node, rule):
            given = node.value if isinstance(node, YamlScalar) and isinstance(node.value, str) else ""
            yield self._at_value(
                node, f"{at.path or 'the file'} is {_shown(node)}", describe_allowed(rule, given)
            )
        elif isinstance(node, YamlMapping):
            yield from self._mapping(node, rule, at)
        elif isinstance(node, YamlSequence):
            yield from self._sequence(node, rule, at)
        else:
            yield from self._scalar(node, rule, at.path)

    def _mapping(self, node: YamlMapping, rule: SchemaRule, at: _At) -> Iterator[RuleFileProblem]:
        known, others = rule.get("properties", {}), rule.get("additionalProperties", True)
        yield from self._size(len(node.entries), rule, "Properties", at)
        if missing := [key for key in rule.get("required", ()) if node.get(key) is None]:
            what = f"{at.path or 'the file'} has no {', '.join(missing)}"
            yield self._at_key(at, what, f"it needs {', '.join(rule['required'])}")
        for entry in node.entries:
            below = at.under(entry)
            if entry.key not in known and others is False:
                yield self._at_key(below, f"{below.path} is unknown", suggest_choice(entry.key, known))
                continue
            key = YamlScalar(entry.key, entry.line, entry.column)
            yield from self._scalar(key, self._resolved(rule.get("propertyNames", {})), f"{at.path}: the key")
            if entry.key in known or isinstance(others, dict):
                yield from self.node(entry.node, known.get(entry.key, others), below)

    def _sequence(self, node: YamlSequence, rule: SchemaRule, at: _At) -> Iterator[RuleFileProblem]:
        yield from self._size(len(node.items), rule, "Items", at)
        seen: set[object] = set()
        for index, item in enumerate(node.items):
            here = at.item(index, item)
            value = (isinstance(item.value, bool), item.value) if isinstance(item, YamlScalar) else item
            if rule.get("uniqueItems") and value in seen:
                yield self._at_value(item, f"{here.path} repeats {_shown(item)}", "name each once")
            seen.add(value)
            yield from self.node(item, rule["items"], here)

    def _scalar(self, node: YamlScalar, rule: SchemaRule, path: str) -> Iterator[RuleFileProblem]:
        value = node.value
        if isinstance(value, str):
            if not _is_long_enough(value, rule):
                yield self._at_value(node, f"{path} has {len(value)} characters", describe_allowed(rule))
            elif not _matches(value, rule):
                yield self._at_value(node, f"{path} is {_shown(node)}", describe_allowed(rule))
            elif wrong := check_format(rule.get("format"), value):
                yield self._at_value(node, f"{path} {wrong[0]}", wrong[1])
        elif isinstance(value, (int, float)) and not _is_in_range(value, rule):
            yield self._at_value(node, f"{path} is {_shown(node)}", describe_allowed(rule))

    def _size(self, size: int, rule: SchemaRule, of: str, at: _At) -> Iterator[RuleFileProblem]:
        least, most = rule.get(f"min{of}", 0), rule.get(f"max{of}", size)
        if size < least:
            yield self._at_key(at, f"{at.path} has {size} entries", f"at least {least}")
        elif size > most:
            yield self._at_key(at, f"{at.path} has {size} entries", f"at most {most}")

    def _resolved(self, rule: SchemaRule) -> SchemaRule:
        """Put what a reference points at in its place; words beside it win."""
        while "$ref" in rule:
            target: Any = self.root
            for step in rule["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            rule = {**target, **{key: value for key, value in rule.items() if key != "$ref"}}
        return rule

    def _chosen(self, node: YamlNode, rule: SchemaRule) -> SchemaRule:
        """Of several shapes the one of the node's kind; where there is none, the choice itself."""
        shapes = (self._resolved(shape) for shape in rule.get("anyOf", ()))
        return next((shape for shape in shapes if _fits(node, shape)), rule)

    def _at_value(self, node: YamlNode, what: str, allowed: str) -> RuleFileProblem:
        return RuleFileProblem(self.file, node.line, node.column, what, allowed)

    def _at_key(self, at: _At, what: str, allowed: str) -> RuleFileProblem:
        return RuleFileProblem(self.file, at.line, at.column, what, allowed)


def describe_allowed(rule: SchemaRule, given: str = "") -> str:
    """What a rule allows, in words; of several words the one most like what was given first."""
    if "x-allowed" in rule:
        return str(rule["x-allowed"])
    if "enum" in rule:
        return suggest_choice(given, map(_word, rule["enum"]))
    words = f"use {_TYPES[rule['type']]}"
    if "minimum" in rule and "maximum" in rule:
        return f"{words} from {rule['minimum']} to {rule['maximum']}"
    return words


def suggest_choice(word: str, known: Iterable[str]) -> str:
    """What one may write instead of a word that nothing has: the likeliest first."""
    words = tuple(known)
    if len(words) == 1:
        return f"use {words[0]}"
    near = nearest_word(word, words)
    return f"did you mean {near}? One of {', '.join(words)}" if near else f"use one of {', '.join(words)}"


def _fits(node: YamlNode, rule: SchemaRule) -> bool:
    """Whether the node is of the kind that the rule asks for, or one of its words."""
    if "anyOf" in rule:
        return False
    if "enum" in rule:
        return isinstance(node, YamlScalar) and any(_same(node.value, word) for word in rule["enum"])
    return "type" not in rule or rule["type"] in _kinds(node)


def _kinds(node: YamlNode) -> tuple[str, ...]:
    if isinstance(node, YamlMapping):
        return ("object",)
    if isinstance(node, YamlSequence):
        return ("array",)
    kinds: dict[type, tuple[str, ...]] = {bool: ("boolean",), str: ("string",), int: ("integer", "number")}
    if isinstance(node.value, float):  # JSON knows one kind of number: 5.0 is whole
        return ("integer", "number") if node.value.is_integer() else ("number",)
    return kinds.get(type(node.value), ("null",))


def _same(value: object, word: object) -> bool:
    """Equality as in JSON, where true is not 1."""
    return value == word and isinstance(value, bool) == isinstance(word, bool)


def _is_long_enough(value: str, rule: SchemaRule) -> bool:
    return bool(rule.get("minLength", 0) <= len(value) <= rule.get("maxLength", len(value)))


def _matches(value: str, rule: SchemaRule) -> bool:
    return _expression(rule.get("pattern", "")).search(value) is not None


_expression = cache(regex.Regex)


def _is_in_range(value: float, rule: SchemaRule) -> bool:
    return bool(rule.get("minimum", value) <= value <= rule.get("maximum", value))


def _shown(node: YamlNode) -> str:
    match node:
        case YamlMapping():
            return "a mapping"
        case YamlSequence():
            return "a list"
        case YamlScalar(value=None):
            return "empty"
        case YamlScalar(value=str() as text):
            return quote_value(text)
        case YamlScalar(value=value):
            return _word(value)


def quote_value(text: str) -> str:
    """The text in quotes, cut where it is long."""
    cut = text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
    return json.dumps(cut, ensure_ascii=False)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
