"""What the published schemas say, and where a value differs from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any

from bot.adapters.schema_words import expectation, found, own_schema, subject
from bot.domain import regex

if TYPE_CHECKING:
    # Large, and most servers never judge a document: loaded with the first one.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

Path = tuple[str | int, ...]

MOST = 1000
"""Violations that are listed; a value with more was never meant for the schema."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value differs from its schema."""

    path: Path
    keyword: str
    """The schema's own word for what is broken: `required`, `enum`, `minLength`."""
    found: str
    expected: str

    @property
    def pointer(self) -> str:
        """The place in the value as a JSON pointer."""
        return pointer(self.path)

    def __str__(self) -> str:
        """`/feedback_items/0/severity is "high"; write one of critical, major, minor, suggestion`."""
        return f"{self.pointer or 'the document'} {self.found}; {self.expected}"


def names() -> tuple[str, ...]:
    """The schemas that are published, by name."""
    files = resources.files("bot.schemas").iterdir()
    return tuple(sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json")))


@cache
def text(name: str) -> str:
    """The published schema as it stands in its file; `LookupError` for a name that is not published."""
    if name not in names():
        raise LookupError(f"there is no schema {name!r}; one of {', '.join(names())}")
    return resources.files("bot.schemas").joinpath(f"{name}.json").read_text("utf-8")


def load(name: str) -> Mapping[str, Any]:
    """The published schema as a value."""
    return dict(json.loads(text(name)))


def violations(name: str, value: object) -> tuple[Violation, ...]:
    """Every way in which the value differs from the schema, up to `MOST`, in the order of its places."""
    validator = _validator(name)
    errors = islice(validator.iter_errors(value), MOST)
    unique = dict.fromkeys(found for error in errors for found in _violations(error, validator.schema))
    return tuple(sorted(unique, key=lambda violation: [_rank(part) for part in violation.path]))


def pointer(path: Iterable[str | int]) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, FormatChecker, validators

    # Our own formats: jsonschema checks `date-time` only where a further package happens to be
    # installed, and then differently from version to version.
    formats = FormatChecker(formats=())
    formats.checks("uuid")(_is_uuid)
    formats.checks("date-time", raises=ValueError)(_is_time)
    extend: Any = validators.extend  # which has no types
    validator: Draft202012Validator = extend(Draft202012Validator, {"pattern": _pattern})(
        load(name), format_checker=formats
    )
    return validator


_expression = cache(regex.Pattern)


def _pattern(_validator: Any, pattern: str, value: object, _schema: Any) -> Iterator[ValidationError]:
    """Check the keyword `pattern`, for which jsonschema itself would use an engine that backtracks."""
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not _expression(pattern).search(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _violations(error: ValidationError, root: Any) -> Iterator[Violation]:
    path = tuple(error.absolute_path)
    for key in subject(error):
        expected = expectation(own_schema(error, key, root), error)
        yield Violation(path if key is None else (*path, key), str(error.validator), found(error), expected)


def _rank(part: str | int) -> tuple[int, int, str]:
    return (0, part, "") if isinstance(part, int) else (1, 0, part)


_UUID = regex.Pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TIME = regex.Pattern(
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
