"""Lint feedback documents, and write the problems as SARIF."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from bot.gates.schemas import MAX_VIOLATIONS, SchemaViolation, find_violations, json_pointer
from bot.pull_request.documents import DocumentPath, FeedbackFile, TextPosition
from bot.verdicts.quality import (
    FeedbackField,
    FeedbackText,
    ProblemLevel,
    QualityProblem,
    QualityRule,
    find_problems,
    is_location,
    ungrounded_problems,
)


@dataclass(frozen=True, slots=True)
class LintProblem:
    """One finding in a file: where it is as a position and as a JSON pointer, and what to write instead."""

    level: ProblemLevel
    rule: str
    pointer: str
    position: TextPosition
    message: str
    instead: str


SCHEMA_RULE = "schema"
"""The rule that the published schema stands for, but for its lengths."""

_LENGTHS = {"minLength": QualityRule.TOO_SHORT, "maxLength": QualityRule.TOO_LONG}
_PATHS: dict[FeedbackField, DocumentPath] = {
    FeedbackField.ISSUE: ("issue",),
    FeedbackField.ACTION: ("suggestion", "action"),
    FeedbackField.RATIONALE: ("suggestion", "rationale"),
    FeedbackField.PLACE: ("location", "reference"),
}
_SUMMARY: DocumentPath = ("overall_assessment", "summary")


def lint_feedback_file(file: FeedbackFile) -> tuple[LintProblem, ...]:
    """Every finding at once, from top to bottom; of a hopeless file only so many as a person would read."""
    broken = find_violations("actionable-feedback", file.value)
    found = [_of_schema(file, violation) for violation in broken]
    found += [
        _of_words(file, path, finding)
        for path, finding in islice(_worded(file.value), MAX_VIOLATIONS)
        if not any(_covers(violation, path, finding) for violation in broken)
    ]
    return tuple(sorted(found, key=lambda one: (one.position, one.level)))


def _of_schema(file: FeedbackFile, broken: SchemaViolation) -> LintProblem:
    name = str(broken.path[-1]) if broken.path else "the document"
    return LintProblem(
        ProblemLevel.ERROR,
        _LENGTHS.get(broken.keyword, SCHEMA_RULE),
        broken.pointer,
        file.position(broken.path),
        f"{name} {broken.found}" if not name.isdigit() else f"entry {name} {broken.found}",
        broken.expected,
    )


def _of_words(file: FeedbackFile, path: DocumentPath, found: QualityProblem) -> LintProblem:
    place = file.words(path, found.start, found.end) if found.end else file.position(path)
    return LintProblem(found.level, found.rule, json_pointer(path), place, found.message, found.suggestion)


def _covers(broken: SchemaViolation, path: DocumentPath, found: QualityProblem) -> bool:
    """Whether the schema has already said so: the text is missing, no text, or has the same wrong length."""
    if path[: len(broken.path)] != broken.path:
        return False
    return broken.keyword not in _LENGTHS or _LENGTHS[broken.keyword] is found.rule


def _worded(value: Any) -> Iterator[tuple[DocumentPath, QualityProblem]]:
    items = _at(value, ("feedback_items",))
    for number, item in enumerate(items if isinstance(items, list) else []):
        for found in find_problems(_item(item)):
            yield ("feedback_items", number, *_PATHS[found.field]), found
    for found in ungrounded_problems(_text(value, _SUMMARY)):
        yield _SUMMARY, found


def _item(item: Any) -> FeedbackText:
    return FeedbackText(
        issue=_text(item, _PATHS[FeedbackField.ISSUE]),
        action=_text(item, _PATHS[FeedbackField.ACTION]),
        rationale=_text(item, _PATHS[FeedbackField.RATIONALE]),
        has_place=is_location(_text(item, ("location", "type")), _text(item, _PATHS[FeedbackField.PLACE])),
        blocking=_blocks(item),
    )


def _blocks(item: Any) -> bool:
    stated = _at(item, ("blocking",))
    return stated if isinstance(stated, bool) else _at(item, ("severity",)) in ("critical", "major")


def _text(value: Any, path: DocumentPath) -> str:
    found = _at(value, path)
    return found if isinstance(found, str) else ""


def _at(value: Any, path: DocumentPath) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def render_sarif(findings: Sequence[LintProblem], file: str) -> str:
    """The findings in this file as a log of one run."""
    rules = [SCHEMA_RULE, *QualityRule]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(rules)},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, rules.index(one.rule), _uri(file)) for one in findings],
            }
        ],
    }
    return json.dumps(log, indent=2)


_ABOUT = {
    SCHEMA_RULE: "The document is as its schema asks.",
    QualityRule.TOO_SHORT: "A text has as many characters as the schema asks for.",
    QualityRule.TOO_LONG: "A text has no more characters than the schema allows.",
    QualityRule.VAGUE: "An issue says what is wrong, not that something could be better.",
    QualityRule.ADVISORY: "A suggestion says what to change, not what to think about.",
    QualityRule.UNGROUNDED: "A claim says what was observed, not what is assumed.",
    QualityRule.NO_PLACE: "An item names the place that it is about.",
    QualityRule.NO_PROBLEM: "An issue names the part of the work that is wrong.",
    QualityRule.NO_EFFECT: "An issue says what happens as a result.",
    QualityRule.NO_ACTION: "A suggestion orders a change.",
    QualityRule.NO_OUTCOME: "A rationale says what will be better.",
}


def _driver(rules: Sequence[str]) -> dict[str, Any]:
    return {
        "name": "whetstone lint-feedback",
        "version": version("whetstone-bot"),
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": _ABOUT[rule]},
                "defaultConfiguration": {"level": rule.level if isinstance(rule, QualityRule) else "error"},
            }
            for rule in rules
        ],
    }


def _result(one: LintProblem, index: int, uri: str) -> dict[str, Any]:
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.level,
        "message": {"text": f"{one.message}; {one.instead}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {"startLine": one.position.line, "startColumn": one.position.column},
                },
                "logicalLocations": [{"fullyQualifiedName": one.pointer, "kind": "member"}],
            }
        ],
    }


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
