"""Does something fit its schema at a first look?

The thorough validators take tens of milliseconds for one exchange, and nearly everything fits. What
fits here needs no second look; what doesn't is looked at again by the one that can say why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jsonschema_rs

SHARED = "urn:description"
"""Where the parts are that several schemas refer to: read once, not with each of them."""
Resolve = Callable[[dict[str, Any]], dict[str, Any]]


class QuickLook:
    """Validators of one description, each made once."""

    def __init__(self, description: dict[str, Any], resolve: Resolve) -> None:
        shared = {"components": _plain(description["components"])}
        self._registry = jsonschema_rs.Registry([(SHARED, shared)], draft=jsonschema_rs.Draft4)
        self._resolve = resolve
        self._made: dict[int, jsonschema_rs.Validator] = {}

    def fits(self, schema: dict[str, Any], value: Any) -> bool:
        """Whether a value certainly has this form; the schema is one of the description's own objects."""
        validator = self._made.get(id(schema))
        if validator is None:
            validator = jsonschema_rs.Draft4Validator(
                _plain(schema), validate_formats=True, registry=self._registry
            )
            self._made[id(schema)] = validator
        try:
            return validator.is_valid(value)
        except (TypeError, ValueError):  # not JSON by itself
            return False

    def parameters_fit(
        self, operation: dict[str, Any], path: Mapping[str, Any], query: Mapping[str, Any]
    ) -> bool:
        """Whether every parameter that is given, or has to be, fits."""
        given = {"path": path, "query": query}
        for each in map(self._resolve, operation.get("parameters", ())):
            values = given.get(each["in"], {})
            schema = self._resolve(each["schema"])
            if each["name"] not in values:
                if each.get("required"):
                    return False
            elif not self.fits(schema, _read(values[each["name"]], schema.get("type"))):
                return False
        return True

    def body_fits(self, operation: dict[str, Any], body: Any) -> bool:
        """Whether a request's body fits; none does where one is wanted."""
        wanted = self._resolve(operation.get("requestBody", {}))
        schema = wanted.get("content", {}).get("application/json", {}).get("schema")
        if body in ({}, None):
            return not wanted.get("required")
        return schema is not None and self.fits(schema, body)

    def answer_fits(self, operation: dict[str, Any], status: int, answer: Any) -> bool:
        """Whether an answer fits the form that its status has."""
        described = self._resolve(operation["responses"][str(status)])
        schema = described.get("content", {}).get("application/json", {}).get("schema")
        return status == 204 or (schema is not None and self.fits(schema, answer))


def _plain(node: Any) -> Any:
    """The same in the words of JSON Schema, which has no `nullable`."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("nullable") is True:
        return {"anyOf": [{"type": "null"}, _plain({k: v for k, v in node.items() if k != "nullable"})]}
    return {key: SHARED + each if key == "$ref" else _plain(each) for key, each in node.items()}


def _read(text: Any, kind: str | None) -> Any:
    """A parameter's text as its type has it; the text where it is none of that type."""
    try:
        if kind == "integer":
            return int(text)
        if kind == "boolean":
            return {"true": True, "false": False}[text]
    except (ValueError, KeyError, TypeError):
        return text
    return text
