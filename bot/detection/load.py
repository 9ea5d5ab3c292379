"""Load the detector's rules from YAML and the table of weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import re2

from bot.detection.automaton import PhrasePatternError, compile_phrase
from bot.detection.detector import warm_up
from bot.detection.rules import (
    BriefAction,
    CueMeaning,
    DetectionCue,
    DetectionRules,
    FeedbackType,
    LearnedWeights,
    OutputStructure,
    RepositoryCue,
)
from bot.gates.config import DetectionConfig
from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.rule_files import find_schema_problems, read_yaml_document
from bot.gates.yaml_reader import (
    YamlEntry,
    YamlMapping,
    YamlScalar,
    YamlSequence,
    entries,
    entry_at,
    to_plain,
)

MAIN_FILE = "detection.yml"
CUE_FILES = "detection-*.yml"
WEIGHTS_FILE = "detection-weights.tsv"

_NUMBERS = len(FeedbackType) + 1
_IN_NUMBERS = frozenset("-0123456789\t")
_LEAST_TOO_LARGE = 1_000_000
_LONGEST_NUMBERS = 8 * _NUMBERS  # six digits, a sign and a tab each


def load_shipped_detection() -> DetectionRules:
    """Return the rules that come with the product, ready for a first text."""
    rules = load_detection(rules_directory())
    warm_up(rules)
    return rules


@cache
def shipped_detection_rules() -> DetectionRules:
    """Return the shipped rules, which are loaded once a process and shared."""
    return load_shipped_detection()


def detection_rules(section: DetectionConfig) -> DetectionRules:
    """Return the shipped rules with a repository's own cues, threshold and number of rounds."""
    cues = (RepositoryCue(FeedbackType(cue.type), cue.phrase) for cue in section.cues)
    return shipped_detection_rules().extended(
        cues, threshold=section.threshold, rounds=section.max_refinement_iterations
    )


def load_detection(directory: Path) -> DetectionRules:
    """Return the rules of this directory; raises `RuleFileError` with the problems of all its files."""
    main = directory / MAIN_FILE
    others = sorted(directory.glob(CUE_FILES))
    files = [(path.read_bytes(), str(path)) for path in (main, *others)]
    table = directory / WEIGHTS_FILE
    return parse_detection(files, (table.read_bytes(), str(table)))


def parse_detection(files: Sequence[tuple[bytes, str]], table: tuple[bytes, str]) -> DetectionRules:
    """Return the rules that these texts hold: the main file, files with further cues, and the weights."""
    roots = [(read_yaml_document(data, file), file) for data, file in files]
    lists = frozenset(entry.key for entry in entries(roots[0][0], "lists"))
    weights, problems = _weights(*table)
    for number, (root, file) in enumerate(roots):
        problems += find_schema_problems(root, "rules/detection-cues" if number else "rules/detection", file)
        problems += _find_pattern_problems(root, file, lists)
    if problems:
        raise RuleFileError(
            tuple(sorted(problems, key=lambda problem: (problem.file, problem.line, problem.column)))
        )
    main, *others = (to_plain(root) for root, _ in roots)
    return DetectionRules(
        lists={name: tuple(text.split()) for name, text in main["lists"].items()},
        negations=frozenset(main["words"]["negations"].split()),
        hypotheticals=frozenset(main["words"]["hypotheticals"].split()),
        questions=frozenset(main["words"]["questions"].split()),
        cues=tuple(_cue(cue) for values in (main, *others) for cue in values["cues"]),
        structures=tuple(_structure(structure) for structure in main["structures"]),
        actions={
            FeedbackType(kind): tuple(_action(action) for action in actions)
            for kind, actions in main["actions"].items()
        },
        learnt=LearnedWeights(weights, _kinds(main["kinds"])),
    )


def _cue(values: dict[str, str]) -> DetectionCue:
    phrases = tuple(line.strip() for line in values["phrases"].splitlines() if line.strip())
    return DetectionCue(
        values["cue"],
        CueMeaning(values["says"]),
        values["strength"] == "strong",
        values["reason"],
        values["example"],
        phrases,
    )


def _structure(values: dict[str, str]) -> OutputStructure:
    strong = values["strength"] == "strong"
    return OutputStructure(
        values["structure"],
        CueMeaning(values["says"]),
        strong,
        values["signal"],
        values["reason"],
        values["example"],
        values["pattern"],
    )


def _action(values: dict[str, str]) -> BriefAction:
    return BriefAction(values["action"], values["description"], values["template"])


def _kinds(named: dict[str, str]) -> dict[str, str]:
    """Return for each word what it counts as; a word of several kinds is of the first."""
    return {word: f"{{{name}}}" for name, text in reversed(named.items()) for word in text.split()}


def _find_pattern_problems(root: YamlMapping, file: str, lists: frozenset[str]) -> Iterator[RuleFileProblem]:
    """Find phrases and expressions that can't be compiled; what is no text is the schema's to report."""
    for name, entry, text in _texts(root, "cues", "phrases"):
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip():
                    compile_phrase(line.strip(), 0, lists)
            except PhrasePatternError as error:
                what = f"{name} has {line.strip()[:60]!r}: {error}"
                allowed = "see the language of phrases in detection.yml"
                yield RuleFileProblem(file, entry.node.line + number, entry.column, what, allowed)
    options = re2.Options()
    options.log_errors = False
    for name, entry, text in _texts(root, "structures", "pattern"):
        try:
            re2.compile(text, options)
        except re2.error as error:
            what = f"{name} is no expression of RE2 ({error})"
            yield RuleFileProblem(file, entry.node.line, entry.node.column, what, "leave out look-around")


def _texts(root: YamlMapping, section: str, key: str) -> Iterator[tuple[str, YamlEntry, str]]:
    """Yield this text of every entry of a section, with its path and where it stands."""
    listed = entry_at(root, section)
    for index, item in enumerate(
        listed.node.items if listed and isinstance(listed.node, YamlSequence) else ()
    ):
        entry = entry_at(item, key)
        if entry and isinstance(entry.node, YamlScalar) and isinstance(entry.node.value, str):
            yield f"{section}[{index}].{key}", entry, entry.node.value


def _hundredths(columns: str) -> tuple[int, ...]:
    """Read whole numbers of up to six digits with tabs between; return none where there is anything else."""
    if len(columns) > _LONGEST_NUMBERS or not _IN_NUMBERS.issuperset(columns):
        return ()
    try:
        numbers = tuple(map(int, columns.split("\t")))
    except ValueError:
        return ()
    return numbers if min(numbers) > -_LEAST_TOO_LARGE and max(numbers) < _LEAST_TOO_LARGE else ()


def _weights(data: bytes, file: str) -> tuple[dict[str, tuple[int, ...]], list[RuleFileProblem]]:
    """Read the table: a feature, a tab, and hundredths for each type and for none."""
    weights: dict[str, tuple[int, ...]] = {}
    problems = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        feature, _, columns = line.partition("\t")
        numbers = _hundredths(columns)
        if len(numbers) == _NUMBERS:
            weights[feature] = numbers
        else:
            allowed = f"a feature and {_NUMBERS} whole numbers, with tabs between"
            problems.append(
                RuleFileProblem(file, number, 1, "the line is no feature with its weights", allowed)
            )
    return weights, problems
