"""The JSON Schemas of this package, and what to say about a value that violates one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot import regex
from bot.gates.model import PhraseError, check_phrase

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

JsonSchema = Mapping[str, Any]
SchemaPath = tuple[str | int, ...]

MAX_VIOLATIONS = 1000
"""Violations that are listed; a value with more was never meant for the schema."""

_LONGEST_VALUE = 60
_LONGEST_MESSAGE = 200
_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_FORMATS = {
    "uuid": "a UUID, such as 7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10",
    "date-time": "a time with a UTC offset, such as 2026-11-15T10:42:07Z",
}
_SIZES = (("minLength", "maxLength", "character", "characters"), ("minItems", "maxItems", "entry", "entries"))


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """One way in which a value differs from its schema."""

    path: SchemaPath
    keyword: str
    """The schema's own word for what is broken: `required`, `enum`, `minLength`."""
    found: str
    expected: str

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer."""
        return json_pointer(self.path)

    def __str__(self) -> str:
        """`/feedback_items/0/severity is "high"; write one of critical, major, minor, suggestion`."""
        return f"{self.pointer or 'the document'} {self.found}; {self.expected}"


def schema_names() -> tuple[str, ...]:
    """Return the names of the published schemas; those in `rules/` are for the shipped files alone."""
    files = resources.files("bot.schemas").iterdir()
    return tuple(sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json")))


@cache
def schema_text(name: str) -> str:
    """Return the text of a published schema; raise `LookupError` for a name that is not published."""
    if name not in schema_names():
        raise LookupError(f"unknown schema {name!r}; use one of {', '.join(schema_names())}")
    return read_schema(name)


def load_schema(name: str) -> JsonSchema:
    """Return a published schema as a value."""
    return dict(json.loads(schema_text(name)))


def find_violations(name: str, value: object) -> tuple[SchemaViolation, ...]:
    """Return every way in which the value differs from the schema, up to `MAX_VIOLATIONS`, by path."""
    errors = islice(schema_validator(name).iter_errors(value), MAX_VIOLATIONS)
    unique = dict.fromkeys(violation for error in errors for violation in _violations(error))
    return tuple(sorted(unique, key=lambda violation: [_sort_key(part) for part in violation.path]))


def json_pointer(path: Iterable[str | int]) -> str:
    """Return the path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def value_at(value: Any, *path: str) -> Any:
    """Return what is at these keys of objects in objects; None where there is something else."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def list_at(value: Any, *path: str) -> list[Any]:
    """Return the list at these keys; an empty one where there is something else."""
    part = value_at(value, *path)
    return part if isinstance(part, list) else []


def object_at(value: Any, *path: str) -> dict[str, Any]:
    """Return the object at these keys; an empty one where there is something else."""
    part = value_at(value, *path)
    return part if isinstance(part, dict) else {}


def text_at(value: Any, *path: str) -> str:
    """Return the text at these keys; an empty one where there is something else."""
    part = value_at(value, *path)
    return part if isinstance(part, str) else ""


def _sort_key(part: str | int) -> tuple[int, int, str]:
    return (0, part, "") if isinstance(part, int) else (1, 0, part)


@cache
def schema_validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema, published or not."""
    from jsonschema import Draft202012Validator, FormatChecker, validators

    # Our own formats: jsonschema checks `date-time` only where a further package happens to be
    # installed, and then differently from version to version.
    formats = FormatChecker(formats=())
    formats.checks("uuid")(_is_uuid)
    formats.checks("date-time", raises=ValueError)(_is_time)
    formats.checks("phrase", raises=PhraseError)(_is_phrase)
    formats.checks("re2", raises=PhraseError)(lambda value: _is_phrase(f"/{value}/"))
    formats.checks("time-zone", raises=(ZoneInfoNotFoundError, ValueError, OSError))(_is_time_zone)
    schema = json.loads(read_schema(name))
    extend: Any = validators.extend  # which has no types
    validator_class = extend(
        Draft202012Validator, {"pattern": _check_pattern, "uniqueItems": _check_unique_items}
    )
    validator: Draft202012Validator = validator_class(
        _inline(schema, schema.get("$defs", {})), format_checker=formats
    )
    return validator


@cache
def read_schema(name: str) -> str:
    """Return the text of a schema, published or not."""
    return resources.files("bot.schemas").joinpath(f"{name}.json").read_text("utf-8")


def _inline(schema: Any, definitions: JsonSchema) -> Any:
    """Replace references by what they point at: half the time of a validation is lookups otherwise."""
    if isinstance(schema, list):
        return [_inline(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].removeprefix("#/$defs/")], **schema}
        del schema["$ref"]
    return {key: _inline(part, definitions) for key, part in schema.items() if key != "$defs"}


_compile = cache(regex.Regex)


def _check_pattern(_validator: Any, pattern: str, value: object, _schema: Any) -> Iterator[ValidationError]:
    """Check the keyword `pattern`, for which jsonschema itself would use an engine that backtracks."""
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not _compile(pattern).search(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _check_unique_items(
    _validator: Any, unique: object, items: object, _schema: Any
) -> Iterator[ValidationError]:
    """Check the keyword `uniqueItems` at each item that repeats another; jsonschema's own is quadratic."""
    from jsonschema.exceptions import ValidationError

    seen = set()
    for index, item in enumerate(items if unique and isinstance(items, list) else ()):
        value = json.dumps(item, sort_keys=True) if isinstance(item, dict | list) else item
        if (key := (type(item) is bool, value)) in seen:  # true is not 1
            yield ValidationError("repeats another", path=[index], instance=item)
        seen.add(key)


_UUID = regex.Regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TIME = regex.Regex(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.[0-9]+)?([Zz]|[-+][0-9]{2}:[0-9]{2})"
)


def _is_uuid(value: object) -> bool:
    return not isinstance(value, str) or _UUID.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    match = _TIME.fullmatch(value)
    if match is None:
        return False
    day, minute, second, zone = match.groups()
    second = "59" if second == "60" else second  # RFC 3339 knows leap seconds, Python does not
    return datetime.fromisoformat(f"{day}T{minute}:{second}{zone.upper()}").tzinfo is not None


def _is_phrase(value: object) -> bool:
    if isinstance(value, str):
        check_phrase(value)
    return True


def _is_time_zone(value: object) -> bool:
    if isinstance(value, str):
        ZoneInfo(value)
    return True


def _violations(error: Any) -> Iterator[SchemaViolation]:
    """Describe an error; one about missing or unknown keys is a violation at each of them."""
    path, schema = tuple(error.absolute_path), error.schema
    properties: JsonSchema = schema.get("properties", {})
    match error.validator:
        case "required":
            places = [
                ((*path, key), properties.get(key, {}))
                for key in schema["required"]
                if key not in error.instance
            ]
        case "additionalProperties":
            places = [((*path, key), schema) for key in error.instance if key not in properties]
        case "uniqueItems":
            places = [(path[:-1], schema)]  # the list is named, not the item that repeats another
        case _:
            places = [(path, schema)]
    for place, expected in places:
        yield SchemaViolation(
            place, str(error.validator), _describe_value(error), _describe_expectation(expected, error)
        )


def _describe_value(error: Any) -> str:
    match error.validator:
        case "required":
            return "is missing"
        case "additionalProperties":
            return "is not a known key"
        case "minLength" | "maxLength":
            return f"has {_count(len(error.instance), 'character', 'characters')}"
        case "minItems" | "maxItems":
            return f"has {_count(len(error.instance), 'entry', 'entries')}"
        case "uniqueItems":
            return "contains duplicates"
    return f"is {_format_value(error.instance)}"


def _describe_expectation(schema: JsonSchema, error: Any) -> str:
    if error.validator == "additionalProperties":
        return f"use one of {', '.join(sorted(schema['properties']))}"
    if error.validator == "uniqueItems":
        return "list each value once"
    is_number = isinstance(error.instance, int | float) and not isinstance(error.instance, bool)
    if error.validator == "type" and schema["type"] == "string" and is_number:
        return f'put it in quotes: "{_format_value(error.instance)}"'
    expected = _describe_schema(schema)
    return f"write {expected}" if expected else _printable(error.message, _LONGEST_MESSAGE)


def _describe_schema(schema: JsonSchema) -> str:
    match schema:
        case {"enum": values}:
            return "one of " + ", ".join("null" if value is None else str(value) for value in values)
        case {"const": value}:
            return json.dumps(value)
        case {"format": name}:
            return _FORMATS.get(name, f"a {name}")
        case {"pattern": pattern}:
            meaning = schema.get("description", "").partition("\n")[0]
            return f"a string that matches {pattern}" + (f" ({meaning})" if meaning else "")
        case {"type": "object", "required": required}:
            return f"an object with {', '.join(required)}"
    kind = schema.get("type")
    return f"{_TYPES[kind]}{_describe_bounds(schema)}" if isinstance(kind, str) else ""


def _describe_bounds(schema: JsonSchema) -> str:
    for low, high, one, many in _SIZES:
        if low in schema or high in schema:
            numbers = _describe_range(schema.get(low), schema.get(high))
            return f" of {numbers} {one if numbers.endswith(' 1') else many}"
    if "minimum" in schema or "maximum" in schema:
        numbers = _describe_range(schema.get("minimum"), schema.get("maximum"))
        return f" {'of' if numbers.startswith('at') else 'from'} {numbers}"
    return ""


def _describe_range(low: object, high: object) -> str:
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"{low} to {high}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _format_value(value: object) -> str:
    """Return the value as JSON, cut short, with nothing in it that a terminal would obey."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return _printable(json.dumps(value[: _LONGEST_VALUE + 1], ensure_ascii=False), _LONGEST_VALUE)
    return _printable(json.dumps(value), _LONGEST_VALUE)


def _printable(text: str, longest: int) -> str:
    escaped = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text[: longest + 1])
    return escaped if len(text) <= longest else escaped[: longest - 1] + "…"
