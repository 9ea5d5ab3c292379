"""SARIF 2.1.0: what a linter's log says is wrong and where, and our own findings as such a log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from bot.adapters.feedback_lint import SCHEMA
from bot.adapters.sarif_parts import Rules, listed, message, number, obj, text
from bot.adapters.sarif_paths import Roots
from bot.domain.lint import Lint
from bot.domain.quality import Rule

MOST = 1000
"""Results that are kept of a log; the rest is counted."""


class SarifLevel(StrEnum):
    """How bad the tool thinks a result is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One thing that a tool found."""

    tool: str
    rule: str
    level: SarifLevel
    message: str
    path: str | None = None
    """In the repository; with a leading `/` where the log names only a place on the tool's machine."""
    line: int | None = None
    end_line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class SarifLog:
    """The open results of a log, and how many more there are."""

    results: tuple[SarifResult, ...]
    more: int = 0


class NotSarif(Exception):
    """The text is no SARIF log; says why in one line."""


def read(log: object) -> SarifLog:
    """The open results of a parsed log: neither passed, suppressed nor gone; raises `NotSarif`."""
    results = (result for run in listed(_log(log).get("runs")) for result in _results(obj(run)))
    first = tuple(build() for build in islice(results, MOST))
    return SarifLog(first, sum(1 for _ in results))


def write(findings: Sequence[Lint], file: str) -> str:
    """The findings in this file as a log of one run."""
    rules = [SCHEMA, *Rule]
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


def _log(log: object) -> dict[str, Any]:
    if not isinstance(log, dict) or "runs" not in log:
        raise NotSarif("not a SARIF log: an object with `version` and `runs` is expected")
    if not text(log.get("version")).startswith("2.1."):
        raise NotSarif(f"SARIF version {json.dumps(log.get('version'))[:40]} is not read; write 2.1.0")
    return log


def _results(run: dict[str, Any]) -> Iterator[Callable[[], SarifResult]]:
    """Every open result, to be read by a call: those beyond the most are only counted."""
    tool = text(obj(obj(run.get("tool")).get("driver")).get("name"))
    rules, roots = Rules(run), Roots(run)
    for result in listed(run.get("results")):
        if isinstance(result, dict) and _is_open(result):
            yield partial(_read, result, tool, rules, roots)


def _is_open(result: dict[str, Any]) -> bool:
    if (
        result.get("kind") in {"pass", "notApplicable", "informational"}
        or result.get("baselineState") == "absent"
    ):
        return False
    stated = [text(obj(one).get("status")) or "accepted" for one in listed(result.get("suppressions"))]
    return not stated or any(status != "accepted" for status in stated)


def _read(result: dict[str, Any], tool: str, rules: Rules, roots: Roots) -> SarifResult:
    rule, name = rules.of(result)
    places = (obj(obj(one).get("physicalLocation")) for one in listed(result.get("locations")))
    place = next((place for place in places if place), {})
    region = obj(place.get("region"))
    line = number(region.get("startLine"))
    about = message(rule.get("shortDescription"), rule) or message(rule.get("fullDescription"), rule)
    return SarifResult(
        tool=tool,
        rule=name,
        level=_level(result, rule),
        message=message(result.get("message"), rule) or about or name,
        path=roots.path(obj(place.get("artifactLocation"))),
        line=line,
        end_line=(number(region.get("endLine")) or line) if line else None,
        column=number(region.get("startColumn")) if line else None,
    )


def _level(result: dict[str, Any], rule: dict[str, Any]) -> SarifLevel:
    default = text(obj(rule.get("defaultConfiguration")).get("level"))
    undecided = text(result.get("kind")) in {"open", "review"}
    stated = text(result.get("level")) or ("none" if undecided else default)
    return SarifLevel(stated) if stated in list(SarifLevel) else SarifLevel.WARNING


_ABOUT = {
    SCHEMA: "The document is as its schema asks.",
    Rule.TOO_SHORT: "A text has as many characters as the schema asks for.",
    Rule.TOO_LONG: "A text has no more characters than the schema allows.",
    Rule.VAGUE: "An issue says what is wrong, not that something could be better.",
    Rule.ADVISORY: "A suggestion says what to change, not what to think about.",
    Rule.UNGROUNDED: "A claim says what was observed, not what is assumed.",
    Rule.NO_PLACE: "An item names the place that it is about.",
    Rule.NO_PROBLEM: "An issue names the part of the work that is wrong.",
    Rule.NO_EFFECT: "An issue says what happens as a result.",
    Rule.NO_ACTION: "A suggestion orders a change.",
    Rule.NO_OUTCOME: "A rationale says what will be better.",
}


def _driver(rules: Sequence[str]) -> dict[str, Any]:
    return {
        "name": "whetstone lint-feedback",
        "version": version("whetstone-bot"),
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": _ABOUT[rule]},
                "defaultConfiguration": {"level": rule.level if isinstance(rule, Rule) else "error"},
            }
            for rule in rules
        ],
    }


def _result(one: Lint, index: int, uri: str) -> dict[str, Any]:
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
