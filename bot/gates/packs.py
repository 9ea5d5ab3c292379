"""Load packs of gates from YAML."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import bot
from bot import regex
from bot.gates.model import DEFAULT_PRIORITY, Gate, Gates
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.rule_files import MAX_RULE_FILE_SIZE, ExtraCheck, RuleFile, parse_rule_file

PACK_SUFFIX = ".yml"

_PACK = regex.Regex(r"(?m)^pack\s*:")


def rules_directory() -> Path:
    """Return where the rule files are: beside the package in a checkout, inside it when installed."""
    package = Path(bot.__file__).parent
    inside = package / "rules"
    return inside if inside.is_dir() else package.parent / "rules"


def load_rules(name: str, *checks: ExtraCheck) -> Any:
    """Return the values of a rule file that comes with the product; raise `RuleFileError`."""
    path = rules_directory() / f"{name}.yml"
    return parse_rule_file(path.read_bytes(), str(path), f"rules/{name}", *checks)


def load_pack(path: Path) -> Gates:
    """Return the gates of a pack; raise `RuleFileError` with all its problems, `OSError` when unreadable."""
    return parse_pack(read_rule_file(path), str(path), path.stem)


def read_rule_file(path: Path) -> bytes:
    """Return the bytes of a file; of one that is too large, just enough to see that it is."""
    with path.open("rb") as file:
        return file.read(MAX_RULE_FILE_SIZE + 1)


def parse_pack(data: bytes, file: str, name: str) -> Gates:
    """Return the gates in the text of a pack; `name` is its file's name without the suffix."""
    values = parse_rule_file(data, file, "pack", partial(_find_wrong_name, name))
    return Gates(tuple(new_gate(tag, fields, name) for tag, fields in values["gates"].items()))


def load_packs(directory: Path) -> dict[str, Gates]:
    """Return every pack of the directory by name; raise `RuleFileError` with the problems of all of them."""
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
    """Whether the file declares itself a pack; a config or another rule file does not."""
    return _PACK.search(data.decode("utf-8", "replace")) is not None


def new_gate(tag: str, values: dict[str, Any], pack: str) -> Gate:
    """Return the gate of values that their schema has passed."""
    return _convert({"tag": tag, "pack": pack, **values})


def change_gate(gate: Gate, values: dict[str, Any]) -> Gate:
    """Return the gate with these values instead.

    A priority that came from the severity follows it, and another fix needs another lesson.
    """
    follows = gate.priority == DEFAULT_PRIORITY[gate.severity]
    before = {**msgspec.to_builtins(gate), "priority": 0 if follows else gate.priority}
    if "fix" in values:
        before["lesson"] = ""
    return _convert({**before, **values})


def _convert(values: dict[str, Any]) -> Gate:
    # Not strict, since 5.0 is an integer to JSON Schema.
    return msgspec.convert(_strip(values), Gate, strict=False)


def _strip(value: Any) -> Any:
    """Strip every text: a block of YAML ends with a line break."""
    match value:
        case str():
            return value.strip()
        case list():
            return [_strip(item) for item in value]
        case dict():
            return {key: _strip(item) for key, item in value.items()}
    return value


def _find_wrong_name(name: str, file: RuleFile) -> Iterator[RuleFileProblem]:
    given = file.values.get("pack")
    if isinstance(given, str) and given != name:
        yield file.value_problem(("pack",), f'pack is "{given}"', f"use the file's name, {name}")
