"""The packs of gates: read from YAML, or refused with everything that is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bot
from bot.adapters.rule_files.document import read
from bot.adapters.rule_files.nodes import Mapping, plain
from bot.adapters.rule_files.shape import differences
from bot.domain.gates import Aspect, Example, Gate, Gates, Severity
from bot.domain.problems import Problem, RuleFileError

ENDING = ".yml"

_PACK = re.compile(rb"^pack\s*:", re.MULTILINE)


def rules_directory() -> Path:
    """Where the rule files are: beside the package in a checkout, inside it when installed."""
    package = Path(bot.__file__).parent
    inside = package / "rules"
    return inside if inside.is_dir() else package.parent / "rules"


def load_pack(path: Path) -> Gates:
    """The gates of a pack; raises `RuleFileError` with all its problems, `OSError` when unreadable."""
    return parse_pack(path.read_bytes(), str(path), path.stem)


def parse_pack(data: bytes, file: str, name: str) -> Gates:
    """The gates that the text of a pack holds; `name` is what its file is called."""
    root = read(data, file)
    problems = differences(root, "pack", file) or _misnamed(root, file, name)
    if problems:
        raise RuleFileError(problems)
    return gates_of(plain(root)["gates"], name)


def load_packs(directory: Path) -> dict[str, Gates]:
    """Every pack of the directory by name; raises `RuleFileError` with the problems of all of them."""
    packs: dict[str, Gates] = {}
    problems: list[Problem] = []
    for path in sorted(directory.glob(f"*{ENDING}")):
        data = path.read_bytes()
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
    return _PACK.search(data) is not None


def gates_of(by_tag: dict[str, dict[str, Any]], pack: str) -> Gates:
    """The gates of plain values that their schema has passed."""
    return Gates(tuple(_gate(tag, values, pack) for tag, values in by_tag.items()))


def _gate(tag: str, values: dict[str, Any], pack: str) -> Gate:
    return Gate(
        tag=tag,
        gate=values["gate"].strip(),
        description=values["description"].strip(),
        fix=values["fix"].strip(),
        severity=Severity(values["severity"]),
        auto_fixable=values["auto_fixable"],
        aspect=Aspect(values.get("aspect", Aspect.CORRECTNESS)),
        guide=values.get("guide"),
        phrases=tuple(values.get("phrases", ())),
        examples=tuple(
            Example(each["bad"].strip(), each["good"].strip()) for each in values.get("examples", ())
        ),
        priority=int(values.get("priority", 0)),
        pack=pack,
    )


def _misnamed(root: Mapping, file: str, name: str) -> tuple[Problem, ...]:
    entry = root.get("pack")
    given = plain(entry.node) if entry else name
    if entry is None or given == name:
        return ()
    return (
        Problem(
            file, entry.node.line, entry.node.column, f'pack is "{given}"', f"use the file's name, {name}"
        ),
    )
