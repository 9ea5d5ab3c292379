"""Read rule files: YAML that is checked against its JSON Schema, with the position of every mistake."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from bot.gates.model import nearest_word
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.schemas import SchemaPath, read_schema, schema_validator
from bot.gates.yaml_reader import YamlFault, YamlPath, YamlPosition, YamlProblem, YamlReader, dotted

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_RULE_FILE_SIZE = 65_536
MAX_RULE_FILE_DEPTH = 16

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


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The values of a rule file, and the positions of its values and keys."""

    name: str
    values: dict[str, Any]
    positions: Mapping[YamlPath, YamlPosition]
    keys: Mapping[YamlPath, YamlPosition]

    def value_problem(self, path: YamlPath, what: str, allowed: str) -> RuleFileProblem:
        """Return a problem at the value of this path."""
        at = self.positions[path]
        return RuleFileProblem(self.name, at.line, at.column, what, allowed)

    def key_problem(self, path: YamlPath, what: str, allowed: str) -> RuleFileProblem:
        """Return a problem at the key of this path; of an item of a list at its value."""
        at = self.keys.get(path) or (self.positions[path] if path else YamlPosition(1, 1))
        return RuleFileProblem(self.name, at.line, at.column, what, allowed)


ExtraCheck = Callable[[RuleFile], Iterable[RuleFileProblem]]


def read_rule_yaml(data: bytes, name: str) -> RuleFile:
    """Return the mapping that a rule file is; raise `RuleFileError` with everything wrong with its YAML."""
    text = _decode(data, name)
    reader = YamlReader(MAX_RULE_FILE_DEPTH, strict=True)
    reader.read(text)
    if reader.problems:
        raise RuleFileError(tuple(_rule_file_problem(problem, text, name) for problem in reader.problems))
    if not isinstance(reader.value, dict):
        what = "the file is empty" if reader.value is None else "the file is not a mapping"
        at = reader.positions.get((), YamlPosition(1, 1))
        allowed = "write keys with values, such as `version: 1`"
        raise RuleFileError((RuleFileProblem(name, at.line, at.column, what, allowed),))
    return RuleFile(name, reader.value, reader.positions, reader.keys)


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


def parse_rule_file(data: bytes, name: str, schema: str, *checks: ExtraCheck) -> Any:
    """Return the values of a rule file; raise `RuleFileError` with every problem, from top to bottom.

    The checks look for what a schema can't say. They see files of any shape.
    """
    file = read_rule_yaml(data, name)
    problems = [problem for check in checks for problem in check(file)]
    if not is_checked(data, schema):
        problems += find_schema_problems(file, schema)
    raise_problems(problems)
    return file.values


def raise_problems(problems: Iterable[RuleFileProblem]) -> None:
    """Raise `RuleFileError` if there are any problems, each once and from top to bottom."""
    if unique := dict.fromkeys(problems):
        order = sorted(unique, key=lambda problem: (problem.file, problem.line, problem.column))
        raise RuleFileError(tuple(order))


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


def find_schema_problems(file: RuleFile, schema: str) -> tuple[RuleFileProblem, ...]:
    """Return every way in which the file differs from its schema, from top to bottom."""
    errors = sorted(_narrow(schema_validator(schema).iter_errors(file.values)), key=_keyword_rank)
    problems: dict[RuleFileProblem, None] = {}
    texts: set[tuple[SchemaPath, str]] = set()
    for error in errors:
        path = tuple(error.absolute_path)
        if error.validator in _TEXT_KEYWORDS:
            text = (path, str(error.instance))  # at the path of a mapping: one of its keys
            if text in texts:
                continue
            texts.add(text)
        problems.update(dict.fromkeys(_problems(error, path, file)))
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


def _problems(error: ValidationError, path: SchemaPath, file: RuleFile) -> Iterator[RuleFileProblem]:
    schema: Any = error.schema
    value: Any = error.instance
    name = dotted(path)
    match error.validator:
        case "additionalProperties":
            choices = schema.get("properties", {})
            for key in value:
                if key not in choices:
                    what = f"{dotted((*path, key))} is unknown"
                    yield file.key_problem((*path, key), what, suggest_choice(key, choices))
        case "required":
            missing = [key for key in schema["required"] if key not in value]
            what = f"{name or 'the file'} is missing {', '.join(missing)}"
            yield file.key_problem(path, what, f"required: {', '.join(schema['required'])}")
        case "minItems" | "maxItems" | "minProperties" | "maxProperties" as keyword:
            allowed = f"at {_SIZE_KEYWORDS[keyword]} {error.validator_value}"
            yield file.key_problem(path, f"{name} has {len(value)} entries", allowed)
        case "uniqueItems":
            yield file.value_problem(path, f"{name} repeats {_show(value)}", "list each value once")
        case _ if isinstance(value, str) and (*path, value) in file.keys:  # the schema of a mapping's keys
            yield file.key_problem((*path, value), *_value_problem(error, f"{name}: the key"))
        case _:
            yield file.value_problem(path, *_value_problem(error, name))


def _value_problem(error: Any, name: str) -> tuple[str, str]:
    """Return what is wrong with a single value, and what is allowed."""
    value = error.instance
    allowed = _describe_allowed(error.schema, value)
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


def _describe_allowed(schema: dict[str, Any], value: object = None) -> str:
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
