"""Load the detector's rules from YAML and the learned model."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import re2

from bot.detection.phrases import PhraseError, PhraseMatcher, compile_phrase
from bot.detection.rules import (
    COLUMNS,
    HIGHEST,
    BriefAction,
    CueMeaning,
    DetectionCue,
    DetectionRules,
    FeedbackType,
    LearnedModel,
    OutputStructure,
    RepositoryCue,
    StructureMatcher,
    pack_weights,
)
from bot.gates import yaml_reader
from bot.gates.config import DetectionConfig
from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.rule_files import find_schema_problems, is_checked, read_yaml_document

RULES_FILE, MODEL_FILE = "detection.yml", "detection-model.tsv"
SHOWN_FROM = "#shown-from:"
"""How a line of the model begins that is no feature: a type, then the probability from which it is shown."""


@cache
def shipped_detection_rules() -> DetectionRules:
    """Return the shipped rules, which are loaded once a process and shared."""
    return load_detection(rules_directory())


@lru_cache(maxsize=16)
def detection_rules(section: DetectionConfig) -> DetectionRules:
    """Return the shipped rules with a repository's own cues, threshold and number of rounds."""
    cues = (RepositoryCue(FeedbackType(cue.type), cue.phrase) for cue in section.cues)
    return replace(
        shipped_detection_rules(),
        own_cues=tuple(cues),
        threshold=section.threshold,
        max_refinement_iterations=section.max_refinement_iterations,
    )


def load_detection(directory: Path) -> DetectionRules:
    """Return the rules of this directory; raises `RuleFileError` with the problems of both files."""
    rules, table = (directory / name for name in (RULES_FILE, MODEL_FILE))
    return parse_detection((rules.read_bytes(), str(rules)), (table.read_bytes(), str(table)))


def parse_detection(rules: tuple[bytes, str], table: tuple[bytes, str]) -> DetectionRules:
    """Return the rules that these texts, each with the name of its file, hold."""
    data, file = rules
    root = read_yaml_document(data, file)
    model, problems = parse_model(*table)
    if not is_checked(data, "rules/detection"):
        problems += find_schema_problems(root, "rules/detection", file)
    problems += _find_pattern_problems(root, file)
    if problems:
        problems.sort(key=lambda problem: (problem.file, problem.line, problem.column))
        raise RuleFileError(tuple(problems))
    values = yaml_reader.to_plain(root)
    kinds = {name: tuple(text.split()) for name, text in values["kinds"].items()}
    cues = tuple(_cue(**cue) for cue in values["cues"])
    phrases = ((number, phrase) for number, cue in enumerate(cues) for phrase in cue.phrases)
    structures = tuple(_structure(**structure) for structure in values["structures"])
    return DetectionRules(
        negations=frozenset(values["words"]["negations"].split()),
        hypotheticals=frozenset(values["words"]["hypotheticals"].split()),
        questions=frozenset(values["words"]["questions"].split()),
        elsewhere=frozenset(values["words"]["elsewhere"].split()),
        failing=frozenset((*kinds.get("fail", ()), *kinds.get("crash", ()))),
        kind_of={word: f"{{{name}}}" for name, words in reversed(kinds.items()) for word in words},
        cues=cues,
        matcher=PhraseMatcher(phrases, kinds),
        structures=structures,
        structure_matcher=StructureMatcher(structure.pattern for structure in structures),
        actions={
            FeedbackType(kind): tuple(
                BriefAction(action["action"], action["description"], action["template"]) for action in actions
            )
            for kind, actions in values["actions"].items()
        },
        model=model,
    )


def _cue(cue: str, says: str, example: str, phrases: str) -> DetectionCue:
    lines = tuple(line.strip() for line in phrases.splitlines() if line.strip())
    return DetectionCue(cue, CueMeaning(says), example, lines)


def _structure(structure: str, says: str, signal: str, example: str, pattern: str) -> OutputStructure:
    return OutputStructure(structure, CueMeaning(says), signal, example, pattern)


def _find_pattern_problems(root: yaml_reader.YamlMapping, file: str) -> Iterator[RuleFileProblem]:
    """Find phrases and expressions that can't be compiled; what is no text is the schema's to report."""
    kinds = {entry.key: frozenset[str]() for entry in yaml_reader.entries(root, "kinds")}
    for name, entry, text in _texts(root, "cues", "phrases"):
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip():
                    compile_phrase(line.strip(), kinds)
            except PhraseError as error:
                what = f"{name} has {line.strip()[:60]!r}: {error}"
                allowed = "see the language of phrases in detection.yml"
                yield RuleFileProblem(file, entry.node.line + number, entry.column, what, allowed)
    options = re2.Options()
    options.log_errors = False
    for name, entry, text in _texts(root, "structures", "pattern"):
        try:
            re2.compile(text, options)
        except re2.error as error:
            what = f"{name} is not a valid RE2 expression ({error})"
            yield RuleFileProblem(file, entry.node.line, entry.node.column, what, "leave out look-around")


def _texts(
    root: yaml_reader.YamlMapping, section: str, key: str
) -> Iterator[tuple[str, yaml_reader.YamlEntry, str]]:
    """Yield this text of every entry of a section, with its path and its position."""
    listed = yaml_reader.entry_at(root, section)
    for index, item in enumerate(
        listed.node.items if listed and isinstance(listed.node, yaml_reader.YamlSequence) else ()
    ):
        entry = yaml_reader.entry_at(item, key)
        if entry and isinstance(entry.node, yaml_reader.YamlScalar) and isinstance(entry.node.value, str):
            yield f"{section}[{index}].{key}", entry, entry.node.value


def parse_model(data: bytes, file: str) -> tuple[LearnedModel, list[RuleFileProblem]]:
    """Read the model: a feature, a tab, and two hexadecimal digits for each type and for none."""
    weights: dict[str, int] = {}
    shown_from: dict[FeedbackType, float] = {}
    problems = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        name, _, columns = line.partition("\t")
        try:
            if name.startswith(SHOWN_FROM):
                shown_from[FeedbackType(name.removeprefix(SHOWN_FROM))] = _probability(columns)
            elif line:
                weights[name] = pack_weights(bytes.fromhex(columns))
        except (ValueError, struct.error):
            allowed = f"a feature, a tab and {2 * COLUMNS} hexadecimal digits"
            problems.append(
                RuleFileProblem(file, number, 1, "the line is not a feature with its weights", allowed)
            )
    return LearnedModel(weights, shown_from), problems


def _probability(column: str) -> float:
    if not 0 < (value := float(column)) <= HIGHEST:
        raise ValueError
    return value
