"""Load packs of gates from YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import bot
from bot import regex
from bot.gates.model import DEFAULT_PRIORITY, Aspect, Example, Gate, Gates, Severity
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.rule_files import parse_rule_file
from bot.gates.yaml_reader import MAX_RULE_FILE_SIZE, YamlMapping, YamlScalar

PACK_SUFFIX = ".yml"

_PACK = regex.Regex(r"(?m)^pack\s*:")


def rules_directory() -> Path:
    """Where the rule files are: beside the package in a checkout, inside it when installed."""
    package = Path(bot.__file__).parent
    inside = package / "rules"
    return inside if inside.is_dir() else package.parent / "rules"


def load_pack(path: Path) -> Gates:
    """The gates of a pack; raises `RuleFileError` with all its problems, `OSError` when unreadable."""
    return parse_pack(read_rule_file(path), str(path), path.stem)


def read_rule_file(path: Path) -> bytes:
    """What the file holds; of one that is too large, just enough to see that it is."""
    with path.open("rb") as file:
        return file.read(MAX_RULE_FILE_SIZE + 1)


def parse_pack(data: bytes, file: str, name: str) -> Gates:
    """The gates that the text of a pack holds; `name` is what its file is called."""
    values = parse_rule_file(data, file, "pack", partial(_misnamed, name))
    return Gates(tuple(new_gate(tag, fields, name) for tag, fields in values["gates"].items()))


def load_packs(directory: Path) -> dict[str, Gates]:
    """Every pack of the directory by name; raises `RuleFileError` with the problems of all of them."""
    packs: dict[str, Gates] = {}
    problems: list[RuleFileProblem] = []
    for path in sorted(directory.glob(f"*{PACK_SUFFIX}")):
        data = read_rule_file(path)
        if not is_pack(data):  # another kind of rule file lives here too
            continue
        try:
            packs[path.stem] = parse_pack(data, str(path), path.stem)
        except RuleFileError as error:
            problems.extend(error.problems)
    if problems:
        raise RuleFileError(tuple(problems))
    return packs


def is_pack(data: bytes) -> bool:
    """Whether the file says that it is a pack; a config or another rule file does not."""
    return _PACK.search(data.decode("utf-8", "replace")) is not None


def new_gate(tag: str, values: dict[str, Any], pack: str) -> Gate:
    """The gate of plain values that their schema has passed."""
    return Gate(tag=tag, pack=pack, **_fields(values))


def changed_gate(gate: Gate, values: dict[str, Any]) -> Gate:
    """The gate with these values of its own; a priority that came from the severity follows it."""
    follows = gate.priority == DEFAULT_PRIORITY[gate.severity]
    return replace(gate, **{"priority": 0 if follows else gate.priority, **_fields(values)})


def _fields(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _FIELDS[key](value) for key, value in values.items()}


def _examples(values: list[dict[str, str]]) -> tuple[Example, ...]:
    return tuple(Example(each["bad"].strip(), each["good"].strip()) for each in values)


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "gate": str.strip,
    "subject": str.strip,
    "description": str.strip,
    "fix": str.strip,
    "severity": Severity,
    "auto_fixable": bool,
    "aspect": Aspect,
    "guide": str,
    "phrases": tuple,
    "examples": _examples,
    "priority": int,
}


def _misnamed(name: str, root: YamlMapping, file: str) -> Iterator[RuleFileProblem]:
    entry = root.entries.get("pack")
    node = entry.node if entry else None
    if isinstance(node, YamlScalar) and isinstance(node.value, str) and node.value != name:
        what = f'pack is "{node.value}"'
        yield RuleFileProblem(file, node.line, node.column, what, f"use the file's name, {name}")
