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
from bot.gates import yaml_reader
from bot.gates.config import DetectionConfig
from bot.gates.model import nearest_word
from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.yaml_reader import YamlEntry, YamlMapping, YamlNode, YamlScalar, read_yaml_document

MAIN_FILE = "detection.yml"
CUE_FILES = "detection-*.yml"
WEIGHTS_FILE = "detection-weights.tsv"
DETECTION_VERSION = 1

_WORDS = ("negations", "hypotheticals", "questions")
_STRENGTHS = ("strong", "weak")
_CUE = ("cue", "says", "strength", "reason", "example", "phrases")
_STRUCTURE = ("structure", "says", "strength", "signal", "reason", "example", "pattern")
_ACTION = ("action", "description", "template")
_PARTS = ("version", "lists", "kinds", "words", "actions", "structures", "cues")
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
    problems = [
        problem
        for number, root in enumerate(roots)
        for problem in _problems(*root, _lists(roots), is_main=number == 0)
    ]
    weights, wrong = _weights(*table)
    problems += wrong
    if problems:
        raise RuleFileError(tuple(sorted(problems, key=lambda one: (one.file, one.line, one.column))))
    main, *_ = (yaml_reader.to_plain(root) for root, _ in roots)
    cues = [cue for root, _ in roots for cue in yaml_reader.to_plain(root).get("cues", ())]
    return DetectionRules(
        lists={name: tuple(text.split()) for name, text in main["lists"].items()},
        negations=frozenset(main["words"]["negations"].split()),
        hypotheticals=frozenset(main["words"]["hypotheticals"].split()),
        questions=frozenset(main["words"]["questions"].split()),
        cues=tuple(_cue(cue) for cue in cues),
        structures=tuple(_structure(one) for one in main["structures"]),
        actions={
            FeedbackType(kind): tuple(_action(one) for one in listed)
            for kind, listed in main["actions"].items()
        },
        learnt=LearnedWeights(weights, _kinds(main["kinds"])),
    )


def _cue(said: dict[str, str]) -> DetectionCue:
    phrases = tuple(line.strip() for line in said["phrases"].splitlines() if line.strip())
    return DetectionCue(
        said["cue"],
        CueMeaning(said["says"]),
        said["strength"] == "strong",
        said["reason"],
        said["example"],
        phrases,
    )


def _structure(said: dict[str, str]) -> OutputStructure:
    strong = said["strength"] == "strong"
    return OutputStructure(
        said["structure"],
        CueMeaning(said["says"]),
        strong,
        said["signal"],
        said["reason"],
        said["example"],
        said["pattern"],
    )


def _action(said: dict[str, str]) -> BriefAction:
    return BriefAction(said["action"], said["description"], said["template"])


def _kinds(named: dict[str, str]) -> dict[str, str]:
    """Return for each word what it counts as; a word of several kinds is of the first."""
    return {word: f"{{{name}}}" for name, text in reversed(named.items()) for word in text.split()}


def _lists(roots: Sequence[tuple[YamlMapping, str]]) -> frozenset[str]:
    entry = roots[0][0].get("lists")
    return (
        frozenset(one.key for one in entry.node.entries)
        if entry and isinstance(entry.node, YamlMapping)
        else frozenset()
    )


def _problems(
    root: YamlMapping, file: str, lists: frozenset[str], *, is_main: bool
) -> Iterator[RuleFileProblem]:
    parts = _PARTS if is_main else ("version", "cues")
    yield from _keys(root, "", parts, file)
    version = root.get("version")
    if version and not (isinstance(version.node, YamlScalar) and version.node.value == DETECTION_VERSION):
        yield _at(version.node, file, "version is another one", f"use {DETECTION_VERSION}")
    if is_main:
        yield from _texts(root.get("lists"), file)
        yield from _texts(root.get("kinds"), file)
        yield from _words(root.get("words"), file)
        yield from _actions(root.get("actions"), file)
    yield from _listed(root.get("structures"), _STRUCTURE, file, lists)
    yield from _listed(root.get("cues"), _CUE, file, lists)


def _texts(entry: YamlEntry | None, file: str) -> Iterator[RuleFileProblem]:
    if entry is None:
        return
    if not isinstance(entry.node, YamlMapping):
        yield _at(entry.node, file, f"{entry.key} is no mapping", "give it names with words")
        return
    for below in entry.node.entries:
        if not _is_text(below.node):
            yield _at(
                below.node, file, f"{entry.key}.{below.key} is no text", "write words, with spaces between"
            )


def _words(entry: YamlEntry | None, file: str) -> Iterator[RuleFileProblem]:
    yield from _texts(entry, file)
    if entry and isinstance(entry.node, YamlMapping):
        yield from _keys(entry.node, "words", _WORDS, file)


def _actions(entry: YamlEntry | None, file: str) -> Iterator[RuleFileProblem]:
    if entry is None:
        return
    if not isinstance(entry.node, YamlMapping):
        yield _at(entry.node, file, "actions is no mapping", f"give it {', '.join(FeedbackType)}")
        return
    yield from _keys(entry.node, "actions", tuple(FeedbackType), file)
    for below in entry.node.entries:
        yield from _listed(below, _ACTION, file, frozenset())


def _listed(
    entry: YamlEntry | None, known: tuple[str, ...], file: str, lists: frozenset[str]
) -> Iterator[RuleFileProblem]:
    if entry is None:
        return
    if not isinstance(entry.node, yaml_reader.YamlSequence):
        yield _at(entry.node, file, f"{entry.key} is no list", f"give each entry {', '.join(known)}")
        return
    for number, item in enumerate(entry.node.items):
        path = f"{entry.key}[{number}]"
        if not isinstance(item, YamlMapping):
            yield _at(item, file, f"{path} is no mapping", f"give it {', '.join(known)}")
            continue
        yield from _keys(item, path, known, file)
        for below in item.entries:
            yield from _value(below, path, file, lists)


def _value(entry: YamlEntry, path: str, file: str, lists: frozenset[str]) -> Iterator[RuleFileProblem]:
    if not _is_text(entry.node):
        yield _at(entry.node, file, f"{path}.{entry.key} is no text", "write a few words")
        return
    text = str(entry.node.value) if isinstance(entry.node, YamlScalar) else ""
    choices = {"says": tuple(CueMeaning), "strength": _STRENGTHS}.get(entry.key)
    if choices and text not in choices:
        yield _at(entry.node, file, f"{path}.{entry.key} is {text!r}", f"use one of {', '.join(choices)}")
    elif entry.key == "phrases":
        yield from _phrases(text, entry, path, file, lists)
    elif entry.key == "pattern":
        yield from _pattern(text, entry, path, file)


def _phrases(
    text: str, entry: YamlEntry, path: str, file: str, lists: frozenset[str]
) -> Iterator[RuleFileProblem]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if line.strip():
                compile_phrase(line.strip(), 0, lists)
        except PhrasePatternError as wrong:
            what = f"{path}.phrases has {line.strip()[:60]!r}: {wrong}"
            yield RuleFileProblem(
                file,
                entry.node.line + number,
                entry.column,
                what,
                "see the language of phrases in detection.yml",
            )


def _pattern(text: str, entry: YamlEntry, path: str, file: str) -> Iterator[RuleFileProblem]:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options)
    except re2.error as wrong:
        yield _at(
            entry.node, file, f"{path}.pattern is no expression of RE2 ({wrong})", "leave out look-around"
        )


def _keys(node: YamlMapping, path: str, known: tuple[str, ...], file: str) -> Iterator[RuleFileProblem]:
    below = f"{path}." if path else ""
    for entry in node.entries:
        if entry.key not in known:
            near = nearest_word(entry.key, known)
            allowed = f"did you mean {near}?" if near else f"use one of {', '.join(known)}"
            yield RuleFileProblem(file, entry.line, entry.column, f"{below}{entry.key} is unknown", allowed)
    missing = [key for key in known if node.get(key) is None]
    if missing:
        yield _at(
            node, file, f"{path or 'the file'} has no {', '.join(missing)}", f"it needs {', '.join(known)}"
        )


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
    found: dict[str, tuple[int, ...]] = {}
    problems = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        feature, _, columns = line.partition("\t")
        numbers = _hundredths(columns)
        if len(numbers) == _NUMBERS:
            found[feature] = numbers
        else:
            allowed = f"a feature and {_NUMBERS} whole numbers, with tabs between"
            problems.append(
                RuleFileProblem(file, number, 1, "the line is no feature with its weights", allowed)
            )
    return found, problems


def _is_text(node: YamlNode) -> bool:
    return isinstance(node, YamlScalar) and isinstance(node.value, str)


def _at(node: YamlNode, file: str, what: str, allowed: str) -> RuleFileProblem:
    return RuleFileProblem(file, node.line, node.column, what, allowed)
