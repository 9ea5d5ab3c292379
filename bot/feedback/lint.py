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
    """One problem of a file: its position, also as a JSON pointer, and what to write instead."""

    level: ProblemLevel
    rule: str
    pointer: str
    position: TextPosition
    message: str
    instead: str

    def as_json(self) -> dict[str, Any]:
        """The object that programs get."""
        return {
            "level": self.level.value,
            "rule": self.rule,
            "pointer": self.pointer,
            "line": self.position.line,
            "column": self.position.column,
            "message": self.message,
            "instead": self.instead,
        }


SCHEMA_RULE = "schema"
"""The rule of everything that the published schema asks for except lengths."""

_LENGTHS = {"minLength": QualityRule.TOO_SHORT, "maxLength": QualityRule.TOO_LONG}
_PATHS: dict[FeedbackField, DocumentPath] = {
    FeedbackField.ISSUE: ("issue",),
    FeedbackField.ACTION: ("suggestion", "action"),
    FeedbackField.RATIONALE: ("suggestion", "rationale"),
    FeedbackField.PLACE: ("location", "reference"),
}
_SUMMARY: DocumentPath = ("overall_assessment", "summary")


def lint_feedback_file(file: FeedbackFile) -> tuple[LintProblem, ...]:
    """Return every problem, from top to bottom; of a hopeless file no more than a person would read."""
    violations = find_violations("actionable-feedback", file.value)
    problems = [_schema_problem(file, violation) for violation in violations]
    problems += [
        _wording_problem(file, path, problem)
        for path, problem in islice(_wording_problems(file.value), MAX_VIOLATIONS)
        if not any(_covers(violation, path, problem) for violation in violations)
    ]
    return tuple(sorted(problems, key=lambda problem: (problem.position, problem.level)))


def _schema_problem(file: FeedbackFile, violation: SchemaViolation) -> LintProblem:
    name = str(violation.path[-1]) if violation.path else "the document"
    return LintProblem(
        ProblemLevel.ERROR,
        _LENGTHS.get(violation.keyword, SCHEMA_RULE),
        violation.pointer,
        file.position(violation.path),
        f"{name} {violation.found}" if not name.isdigit() else f"entry {name} {violation.found}",
        violation.expected,
    )


def _wording_problem(file: FeedbackFile, path: DocumentPath, problem: QualityProblem) -> LintProblem:
    position = file.words(path, problem.start, problem.end) if problem.end else file.position(path)
    return LintProblem(
        problem.level, problem.rule, json_pointer(path), position, problem.message, problem.suggestion
    )


def _covers(violation: SchemaViolation, path: DocumentPath, problem: QualityProblem) -> bool:
    """Whether the violation reports it already: the text is missing, no text, or of the same wrong length."""
    if path[: len(violation.path)] != violation.path:
        return False
    return violation.keyword not in _LENGTHS or _LENGTHS[violation.keyword] is problem.rule


def _wording_problems(value: Any) -> Iterator[tuple[DocumentPath, QualityProblem]]:
    items = _at(value, ("feedback_items",))
    for number, item in enumerate(items if isinstance(items, list) else []):
        for problem in find_problems(_feedback_text(item)):
            yield ("feedback_items", number, *_PATHS[problem.field]), problem
    for problem in ungrounded_problems(_text(value, _SUMMARY)):
        yield _SUMMARY, problem


def _feedback_text(item: Any) -> FeedbackText:
    return FeedbackText(
        issue=_text(item, _PATHS[FeedbackField.ISSUE]),
        action=_text(item, _PATHS[FeedbackField.ACTION]),
        rationale=_text(item, _PATHS[FeedbackField.RATIONALE]),
        has_place=is_location(_text(item, ("location", "type")), _text(item, _PATHS[FeedbackField.PLACE])),
        blocking=_is_blocking(item),
    )


def _is_blocking(item: Any) -> bool:
    blocking = _at(item, ("blocking",))
    return blocking if isinstance(blocking, bool) else _at(item, ("severity",)) in ("critical", "major")


def _text(value: Any, path: DocumentPath) -> str:
    text = _at(value, path)
    return text if isinstance(text, str) else ""


def _at(value: Any, path: DocumentPath) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def render_sarif(problems: Sequence[LintProblem], file: str) -> str:
    """Return the problems of this file as a SARIF log of one run."""
    rules = [SCHEMA_RULE, *QualityRule]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(rules)},
                "columnKind": "unicodeCodePoints",
                "results": [_result(problem, rules.index(problem.rule), _uri(file)) for problem in problems],
            }
        ],
    }
    return json.dumps(log, indent=2)


_DESCRIPTIONS = {
    SCHEMA_RULE: "The document is valid against its schema.",
    QualityRule.TOO_SHORT: "A text has at least the minimum length of the schema.",
    QualityRule.TOO_LONG: "A text has at most the maximum length of the schema.",
    QualityRule.VAGUE: "An issue says what is wrong, not that something could be better.",
    QualityRule.ADVISORY: "A suggestion says what to change, not what to think about.",
    QualityRule.UNGROUNDED: "A claim says what was observed, not what is assumed.",
    QualityRule.NO_PLACE: "An item names the location that it is about.",
    QualityRule.NO_PROBLEM: "An issue names the part of the work that is wrong.",
    QualityRule.NO_EFFECT: "An issue says what happens as a result.",
    QualityRule.NO_ACTION: "A suggestion names a concrete change.",
    QualityRule.NO_OUTCOME: "A rationale says what will be better.",
}


def _driver(rules: Sequence[str]) -> dict[str, Any]:
    return {
        "name": "whetstone lint-feedback",
        "version": version("whetstone-bot"),
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": _DESCRIPTIONS[rule]},
                "defaultConfiguration": {"level": rule.level if isinstance(rule, QualityRule) else "error"},
            }
            for rule in rules
        ],
    }


def _result(problem: LintProblem, index: int, uri: str) -> dict[str, Any]:
    return {
        "ruleId": problem.rule,
        "ruleIndex": index,
        "level": problem.level,
        "message": {"text": f"{problem.message}; {problem.instead}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {"startLine": problem.position.line, "startColumn": problem.position.column},
                },
                "logicalLocations": [{"fullyQualifiedName": problem.pointer, "kind": "member"}],
            }
        ],
    }


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
