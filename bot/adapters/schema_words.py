"""How a difference from a schema reads in plain words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Schema = Mapping[str, Any]

_SHOWN = 60
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_FORMATS = {
    "uuid": "a UUID such as 7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10",
    "date-time": "a time with its zone such as 2026-11-15T10:42:07Z",
}
_SIZES = (("minLength", "maxLength", "character", "characters"), ("minItems", "maxItems", "entry", "entries"))


def subject(error: ValidationError) -> tuple[str | None, ...]:
    """The keys below the error's place that it is about; `None` stands for the place itself."""
    keys = list(error.instance) if isinstance(error.instance, dict) else []
    if error.validator == "required":
        wanted = error.validator_value
        return tuple(key for key in wanted if key not in keys) if isinstance(wanted, list) else ()
    if error.validator == "additionalProperties":
        return tuple(key for key in keys if key not in _properties(error.schema))
    return (None,)


def own_schema(error: ValidationError, key: str | None, root: Schema) -> Schema:
    """What the schema says about the place that the error is about."""
    schema: Any = error.schema if isinstance(error.schema, Mapping) else {}
    own = schema if key is None else _properties(schema).get(key, {})
    name = str(own.get("$ref", "")).removeprefix("#/$defs/")
    definition: Schema = root.get("$defs", {}).get(name, own)
    return definition


def found(error: ValidationError) -> str:
    """What stands there, in a few words."""
    match error.validator:
        case "required":
            return "is missing"
        case "additionalProperties":
            return "is not a known key"
        case "minLength" | "maxLength":
            return f"has {_count(len(_sized(error)), 'character')}"
        case "minItems" | "maxItems":
            return f"has {_count(len(_sized(error)), 'entry', 'entries')}"
        case "uniqueItems":
            return "says something twice"
    return f"is {shown(error.instance)}"


def expectation(schema: Schema, error: ValidationError) -> str:
    """What to write instead."""
    if error.validator == "additionalProperties":
        return f"use one of {', '.join(sorted(_properties(error.schema)))}"
    if error.validator == "uniqueItems":
        return "say everything once"
    expected = _expected(schema)
    if error.validator == "type" and schema.get("type") == "string" and _is_number(error.instance):
        return f'write it in quotes: "{shown(error.instance)}"'
    return f"write {expected}" if expected else _plain(error.message, 200)


def shown(value: object) -> str:
    """The value as JSON, cut short, with nothing in it that a terminal would obey."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return _plain(json.dumps(value[: _SHOWN + 1], ensure_ascii=False), _SHOWN)
    return _plain(json.dumps(value), _SHOWN)


def _expected(schema: Schema) -> str:
    kind = schema.get("type")
    match schema:
        case {"enum": values}:
            return "one of " + ", ".join("null" if value is None else str(value) for value in values)
        case {"const": value}:
            return json.dumps(value)
        case {"format": name}:
            return _FORMATS.get(name, f"a {name}")
        case {"pattern": pattern}:
            meaning = schema.get("description", "").partition("\n")[0]
            return f"text that matches {pattern}" + (f" ({meaning})" if meaning else "")
        case {"type": "object", "required": required}:
            return f"an object with {', '.join(required)}"
    return f"{_KINDS[kind]}{_bounds(schema)}" if isinstance(kind, str) else ""


def _bounds(schema: Schema) -> str:
    for low, high, one, many in _SIZES:
        if low in schema or high in schema:
            numbers = _range(schema.get(low), schema.get(high))
            return f" of {numbers} {one if numbers.endswith(' 1') else many}"
    if "minimum" in schema or "maximum" in schema:
        return f", {_range(schema.get('minimum'), schema.get('maximum'))}"
    return ""


def _range(low: object, high: object) -> str:
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"{low} to {high}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _sized(error: ValidationError) -> str | list[object]:
    return error.instance if isinstance(error.instance, str | list) else []


def _properties(schema: object) -> Mapping[str, Schema]:
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    return properties if isinstance(properties, Mapping) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(text: str, most: int) -> str:
    printable = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text[: most + 1])
    return printable if len(text) <= most else printable[: most - 1] + "…"
