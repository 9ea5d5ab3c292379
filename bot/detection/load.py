"""Load the detector's rules from YAML and the learned model."""

from __future__ import annotations

import gc
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import msgspec
import re2

from bot.detection.phrases import PhraseError, PhraseMatcher, compile_phrase
from bot.detection.rules import (
    COLUMNS,
    HIGHEST,
    BriefActions,
    DetectionCue,
    DetectionRules,
    FeedbackType,
    LearnedModel,
    OutputStructure,
    RepositoryCue,
    StructureMatcher,
    pack_weights,
)
from bot.gates.config import DetectionConfig
from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileProblem
from bot.gates.rule_files import RuleFile, parse_rule_file
from bot.gates.schemas import list_at, object_at, text_at
from bot.gates.yaml_reader import YamlPath, dotted

RULES_FILE, MODEL_FILE = "detection.yml", "detection-model.tsv"
SHOWN_FROM = "#shown-from:"
"""How a line of the model begins that is no feature: a type, then the probability from which it is shown."""


@cache
def shipped_detection_rules() -> DetectionRules:
    """Return the shipped rules, which are loaded once a process and shared."""
    return load_detection(rules_directory())


@lru_cache(maxsize=16)
def detection_rules(section: DetectionConfig) -> DetectionRules:
    """Return the shipped rules with a repository's own cues and threshold."""
    cues = (RepositoryCue(FeedbackType(cue.type), cue.phrase) for cue in section.cues)
    return replace(shipped_detection_rules(), own_cues=tuple(cues), threshold=section.threshold)


_LOADING = threading.Lock()


def load_detector() -> None:
    """Load the shipped rules, unless they are loaded; slow enough to be called on a thread."""
    with _LOADING:
        if not is_detector_loaded():
            shipped_detection_rules()
            gc.freeze()  # they stay for good, so no collection has to look through them


def is_detector_loaded() -> bool:
    """Whether the shipped rules are loaded."""
    return shipped_detection_rules.cache_info().currsize > 0


@cache
def brief_actions() -> BriefActions:
    """Return the shipped actions alone: a brief without plain words needs nothing else of the rules."""
    path = rules_directory() / RULES_FILE
    values = parse_rule_file(path.read_bytes(), str(path), "rules/detection")
    actions: BriefActions = msgspec.convert(values["actions"], BriefActions)
    return actions


def load_detection(directory: Path) -> DetectionRules:
    """Return the rules of this directory; raises `RuleFileError` with the problems of both files."""
    rules, table = directory / RULES_FILE, directory / MODEL_FILE
    return parse_detection((rules.read_bytes(), str(rules)), (table.read_bytes(), str(table)))


def parse_detection(rules: tuple[bytes, str], table: tuple[bytes, str]) -> DetectionRules:
    """Return the rules that these texts, each with the name of its file, hold."""
    model, problems = parse_model(*table)
    values = parse_rule_file(*rules, "rules/detection", _find_pattern_problems, lambda _: problems)
    kinds = {name: tuple(text.split()) for name, text in values["kinds"].items()}
    cues = msgspec.convert(values["cues"], tuple[DetectionCue, ...])
    phrases = ((number, phrase) for number, cue in enumerate(cues) for phrase in cue.phrases)
    structures = msgspec.convert(values["structures"], tuple[OutputStructure, ...])
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
        actions=msgspec.convert(values["actions"], BriefActions),
        model=model,
    )


def _find_pattern_problems(file: RuleFile) -> Iterator[RuleFileProblem]:
    """Find phrases and expressions that can't be compiled; what is no text is the schema's to report."""
    kinds = dict.fromkeys(object_at(file.values, "kinds"), frozenset[str]())
    for path, text in _texts(file, "cues", "phrases"):
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip():
                    compile_phrase(line.strip(), kinds)
            except PhraseError as error:
                what = f"{dotted(path)} has {line.strip()[:60]!r}: {error}"
                at, allowed = file.positions[path], "see the language of phrases in detection.yml"
                column = file.keys[path].column
                yield RuleFileProblem(file.name, at.line + number, column, what, allowed)
    options = re2.Options()
    options.log_errors = False
    for path, text in _texts(file, "structures", "pattern"):
        try:
            re2.compile(text, options)
        except re2.error as error:
            what = f"{dotted(path)} is not a valid RE2 expression ({error})"
            yield file.value_problem(path, what, "leave out look-around")


def _texts(file: RuleFile, section: str, key: str) -> Iterator[tuple[YamlPath, str]]:
    """Yield this text of every entry of a section, with its path."""
    for index, item in enumerate(list_at(file.values, section)):
        if text := text_at(item, key):
            yield (section, index, key), text


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
