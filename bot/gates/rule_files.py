"""Read rule files: YAML that is checked against its JSON Schema, with the position of every mistake."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from bot.gates.model import nearest_word
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.schemas import SchemaPath, read_schema, schema_validator
from bot.gates.yaml_reader import (
    YamlFault,
    YamlMapping,
    YamlNode,
    YamlProblem,
    YamlReader,
    YamlScalar,
    YamlSequence,
    to_plain,
)

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_RULE_FILE_SIZE = 65_536
MAX_RULE_FILE_DEPTH = 16

ExtraCheck = Callable[[YamlMapping, str], Iterable[RuleFileProblem]]

_TYPES = {
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "a list",
    "object": "a mapping",
}
_TEXT_KEYWORDS = ("minLength", "maxLength", "pattern", "format")
"""Of one text only the first of these is reported: the others usually follow from it."""
_SIZE_KEYWORDS = {"minItems": "least", "minProperties": "least", "maxItems": "most", "maxProperties": "most"}
_LONGEST_QUOTE = 40
_RULE_FILE_MESSAGES = {
    YamlFault.SYNTAX: ("not valid YAML: {}", "check indentation, quotes and colons"),
    YamlFault.CHARACTER: ("the character U+{:04X} is not printable", "remove it"),
    YamlFault.DEPTH: ("nested too deeply", "use at most {} levels"),
    YamlFault.SECOND_DOCUMENT: ("a second YAML document starts here", "use one document per file"),
    YamlFault.ALIAS: ("the alias *{} is not supported", "write the value out"),
    YamlFault.ANCHOR: ("the anchor &{} is not supported", "write the value out where it is used"),
    YamlFault.TAG: ("the YAML tag {} is not supported", "remove it"),
    YamlFault.MERGE_KEY: ("the merge key << is not supported", "write the keys out"),
    YamlFault.KEY_TYPE: ("a key can't be a list or a mapping", "use a string as the key"),
    YamlFault.DUPLICATE_KEY: ("{0} is set twice", "keep one (first set in line {1})"),
}


def read_yaml_document(data: bytes, file: str) -> YamlMapping:
    """Return the mapping that a rule file is; raise `RuleFileError` with everything wrong with its YAML."""
    text = _decode(data, file)
    reader = YamlReader(MAX_RULE_FILE_DEPTH, strict=True)
    reader.read(text)
    if reader.problems:
        raise RuleFileError(tuple(_rule_file_problem(problem, text, file) for problem in reader.problems))
    root = reader.root
    if not isinstance(root, YamlMapping):
        is_empty = root is None or (isinstance(root, YamlScalar) and root.value is None)
        what = "the file is empty" if is_empty else "the file is not a mapping"
        line, column = (root.line, root.column) if root else (1, 1)
        allowed = "write keys with values, such as `version: 1`"
        raise RuleFileError((RuleFileProblem(file, line, column, what, allowed),))
    return root


def _decode(data: bytes, file: str) -> str:
    if len(data) > MAX_RULE_FILE_SIZE:
        allowed = f"at most {MAX_RULE_FILE_SIZE} bytes"
        raise RuleFileError((RuleFileProblem(file, 1, 1, "the file is too large", allowed),))
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        what = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise RuleFileError((RuleFileProblem(file, line, column, what, "save the file as UTF-8"),)) from None


def _rule_file_problem(problem: YamlProblem, text: str, file: str) -> RuleFileProblem:
    what, allowed = (words.format(*problem.details) for words in _RULE_FILE_MESSAGES[problem.fault])
    if problem.fault is YamlFault.SYNTAX:
        line = "".join(text.splitlines()[problem.line - 1 : problem.line])
        if "\t" in line[: len(line) - len(line.lstrip())]:  # which the parser says less clearly
            what, allowed = "a tab indents this line", "indent with spaces"
    return RuleFileProblem(file, problem.line, problem.column, what, allowed)


def parse_rule_file(data: bytes, file: str, schema: str, *checks: ExtraCheck) -> Any:
    """Return the values of a rule file; raise `RuleFileError` with every problem, from top to bottom.

    The checks look for what a schema can't say. They see files of any shape.
    """
    root = read_yaml_document(data, file)
    problems = [problem for check in checks for problem in check(root, file)]
    if not is_checked(data, schema):
        problems += find_schema_problems(root, schema, file)
    if problems:
        raise RuleFileError(tuple(sorted(problems, key=lambda problem: (problem.line, problem.column))))
    return to_plain(root)


def is_checked(data: bytes, schema: str) -> bool:
    """Whether this file is one that was shipped as it is: its schema need not be loaded to check it again."""
    return digest(data, schema) in _checked()


def digest(data: bytes, schema: str) -> str:
    """Return the digest of a rule file together with its schema."""
    return hashlib.sha256(b"\0".join((read_schema(schema).encode(), data))).hexdigest()


@cache
def _checked() -> frozenset[str]:
    # To load jsonschema and to check all files takes 3.7 MB at every start. A test validates what is listed.
    return frozenset(resources.files("bot.schemas").joinpath("checked.txt").read_text("utf-8").split())


def find_schema_problems(root: YamlMapping, schema: str, file: str) -> tuple[RuleFileProblem, ...]:
    """Return every way in which the file differs from its schema, from top to bottom."""
    errors = sorted(_narrow(schema_validator(schema).iter_errors(to_plain(root))), key=_keyword_rank)
    problems: dict[RuleFileProblem, None] = {}
    texts: set[tuple[SchemaPath, str]] = set()
    for error in errors:
        path = tuple(error.absolute_path)
        if error.validator in _TEXT_KEYWORDS:
            text = (path, str(error.instance))  # at the path of a mapping: one of its keys
            if text in texts:
                continue
            texts.add(text)
        problems.update(dict.fromkeys(_problems(error, path, root, file)))
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def _keyword_rank(error: ValidationError) -> int:
    return _TEXT_KEYWORDS.index(error.validator) if error.validator in _TEXT_KEYWORDS else 0


def _narrow(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Replace a failed choice between shapes by the errors of the intended shape."""
    for error in errors:
        shapes: dict[int, list[ValidationError]] = {}
        for nested in error.context or ():
            shapes.setdefault(int(nested.relative_schema_path[0]), []).append(nested)
        meant = next((shape for shape in shapes.values() if not any(map(_is_of_other_kind, shape))), None)
        yield from _narrow(meant) if meant else (error,)


def _is_of_other_kind(error: ValidationError) -> bool:
    return error.validator in ("type", "enum") and not error.relative_path


def _problems(
    error: ValidationError, path: SchemaPath, root: YamlMapping, file: str
) -> Iterator[RuleFileProblem]:
    schema: Any = error.schema
    value: Any = error.instance
    node, line, column = _locate(root, path)
    name = dotted(path)
    match error.validator:
        case "additionalProperties":
            choices = schema.get("properties", {})
            for entry in node.entries.values() if isinstance(node, YamlMapping) else ():
                if entry.key not in choices:
                    what = f"{dotted((*path, entry.key))} is unknown"
                    allowed = suggest_choice(entry.key, choices)
                    yield RuleFileProblem(file, entry.line, entry.column, what, allowed)
        case "required":
            missing = [key for key in schema["required"] if key not in value]
            what = f"{name or 'the file'} is missing {', '.join(missing)}"
            yield RuleFileProblem(file, line, column, what, f"required: {', '.join(schema['required'])}")
        case "minItems" | "maxItems" | "minProperties" | "maxProperties" as keyword:
            what = f"{name} has {len(value)} entries"
            allowed = f"at {_SIZE_KEYWORDS[keyword]} {error.validator_value}"
            yield RuleFileProblem(file, line, column, what, allowed)
        case "uniqueItems":
            what = f"{name} repeats {_show(value)}"
            yield RuleFileProblem(file, node.line, node.column, what, "list each value once")
        case _ if isinstance(node, YamlMapping) and isinstance(value, str):  # the schema of its keys
            entry = node.entries[value]
            yield RuleFileProblem(file, entry.line, entry.column, *_value_problem(error, f"{name}: the key"))
        case _:
            yield RuleFileProblem(file, node.line, node.column, *_value_problem(error, name))


def _value_problem(error: Any, name: str) -> tuple[str, str]:
    """Return what is wrong with a single value, and what is allowed."""
    value = error.instance
    allowed = describe_allowed(error.schema, value)
    match error.validator, error.validator_value:
        case "minLength" | "maxLength", _:
            return f"{name} has {len(value)} characters", allowed
        case "format", "phrase" | "re2":
            return (
                f"{name} is not a valid RE2 regular expression ({error.cause})",
                "RE2 has no look-around, back-references or long repeats",
            )
        case "format", "time-zone":
            return f'{name} is "{value}", which is not a known time zone', allowed
    return f"{name} is {_show(value)}", allowed


def _locate(root: YamlMapping, path: SchemaPath) -> tuple[YamlNode, int, int]:
    """Return the node at the path, with the line and column of its key."""
    node: YamlNode = root
    line = column = 1
    for part in path:
        if isinstance(node, YamlMapping):
            entry = node.entries[str(part)]
            node, line, column = entry.node, entry.line, entry.column
        elif isinstance(node, YamlSequence):
            node = node.items[int(part)]
            line, column = node.line, node.column
    return node, line, column


def dotted(path: SchemaPath) -> str:
    """Return a path as people write it: `validators.checks.lint[0]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def describe_allowed(schema: dict[str, Any], value: object = None) -> str:
    """Return what a schema allows; of several words the one most like the value first."""
    if "x-allowed" in schema:
        return str(schema["x-allowed"])
    if "enum" in schema:
        return suggest_choice(value if isinstance(value, str) else "", map(_word, schema["enum"]))
    allowed = f"use {_TYPES[schema['type']]}"
    if "minimum" in schema and "maximum" in schema:
        return f"{allowed} from {schema['minimum']} to {schema['maximum']}"
    return allowed


def suggest_choice(word: str, choices: Iterable[str]) -> str:
    """Return what one may write instead of an unknown word, with the likeliest first."""
    words = tuple(choices)
    if len(words) == 1:
        return f"use {words[0]}"
    near = nearest_word(word, words)
    return f"did you mean {near}? One of {', '.join(words)}" if near else f"use one of {', '.join(words)}"


def _show(value: object) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "empty"
        case str():
            return quote_value(value)
    return _word(value)


def quote_value(text: str) -> str:
    """Return the text in quotes, cut where it is long."""
    cut = text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
    return json.dumps(cut, ensure_ascii=False)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
