"""The config of a repository: read from YAML, and laid over the organisation's and the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.adapters.rule_files import nodes
from bot.adapters.rule_files.document import read
from bot.adapters.rule_files.layers import laid_over
from bot.adapters.rule_files.packs import changed_gate, new_gate
from bot.adapters.rule_files.references import faults
from bot.adapters.rule_files.shape import differences
from bot.domain.gates import Gate, Gates
from bot.domain.problems import RuleFileError
from bot.domain.rules import DEFAULTS, Rules

Packs = Mapping[str, Gates]


@dataclass(frozen=True, slots=True)
class Config:
    """One config file without a mistake."""

    file: str
    root: nodes.Mapping


def load_config(data: bytes | str, file: str, packs: Packs, organisation: Config | None = None) -> Config:
    """The config in the file, to lie over the organisation's; raises `RuleFileError` with all mistakes."""
    root = read(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"), file)
    below = (organisation.root,) if organisation else ()
    problems = {*differences(root, "config", file), *faults(root, file, packs, below)}
    if problems:
        raise RuleFileError(
            tuple(sorted(problems, key=lambda problem: (problem.line, problem.column, problem.what)))
        )
    return Config(file, root)


def merge(packs: Packs, organisation: Config | None = None, repository: Config | None = None) -> Rules:
    """The rules in force: the repository's config over the organisation's over the defaults.

    Raises `RuleFileError` where the repository's changes a gate that the organisation's no longer has.
    """
    layers = tuple(layer for layer in (organisation, repository) if layer)
    rules = DEFAULTS
    for index, layer in enumerate(layers):
        below = tuple(each.root for each in layers[:index])
        if problems := faults(layer.root, layer.file, packs, below):
            raise RuleFileError(problems)
        rules = laid_over(rules, nodes.plain(layer.root))
    return replace(rules, gates=_gates(packs, rules.extends, layers))


def _gates(packs: Packs, extends: tuple[str, ...], layers: tuple[Config, ...]) -> Gates:
    """The gates of the packs as the configs change them; one that is off comes back when changed again."""
    gates = Gates()
    for name in extends:
        gates = gates.merged(packs[name])
    off: set[str] = set()
    for layer in layers:
        for entry in nodes.entries(layer.root, "gates"):
            if isinstance(entry.node, nodes.Mapping):
                off.discard(entry.key)
                gates = gates.merged(Gates((_changed(gates.get(entry.key), entry, layer.file),)))
            else:
                off.add(entry.key)
    return gates.without(off)


def _changed(gate: Gate | None, entry: nodes.Entry, file: str) -> Gate:
    values: dict[str, Any] = nodes.plain(entry.node)
    return changed_gate(gate, values) if gate else new_gate(entry.key, values, file)
