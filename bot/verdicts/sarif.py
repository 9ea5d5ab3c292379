"""Parse SARIF 2.1.0 logs."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any, TypeGuard
from urllib.parse import unquote

from bot import regex

MAX_SARIF_MESSAGE = 2000
"""Characters of a message that are kept."""

_LINK = regex.Regex(r"\[((?:[^\[\]\\]|\\.)+)\]\([0-9]{1,9}\)")
_SLOT = regex.Regex(r"\{([0-9]{1,3})\}")


class SarifRules:
    """The rules that a run's tool and its plug-ins describe."""

    def __init__(self, run: dict[str, Any]) -> None:
        tool = as_object(run.get("tool"))
        parts = [as_object(tool.get("driver")), *map(as_object, as_list(tool.get("extensions")))]
        self._lists = [[as_object(rule) for rule in as_list(part.get("rules"))] for part in parts]
        self._by_name: dict[str, dict[str, Any]] = {}
        for rules in self._lists:
            for rule in rules:
                self._by_name.setdefault(as_text(rule.get("id")), rule)

    def of(self, result: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The description of the rule that the result breaks, empty where there is none, and its name."""
        reference = as_object(result.get("rule"))
        name = as_text(result.get("ruleId")) or as_text(reference.get("id"))
        rule = self._by_name.get(name) or self._by_name.get(name.rpartition("/")[0]) or {}
        if not rule:
            rule = self._at(reference, result.get("ruleIndex", reference.get("index")))
        return rule, name or as_text(rule.get("id"))

    def _at(self, reference: dict[str, Any], index: object) -> dict[str, Any]:
        extension = as_object(reference.get("toolComponent")).get("index")
        number_of_list = extension + 1 if _is_index(extension) else 0
        rules = self._lists[number_of_list] if number_of_list < len(self._lists) else []
        return rules[index] if _is_index(index) and index < len(rules) else {}


def sarif_message(said: object, rule: dict[str, Any]) -> str:
    """What a message says: its own text, or the rule's text of that name with its arguments filled in."""
    stated = as_object(said)
    whole = as_text(stated.get("text")) or as_text(stated.get("markdown"))
    if not whole:
        named = as_object(as_object(rule.get("messageStrings")).get(as_text(stated.get("id"))))
        whole = as_text(named.get("text")) or as_text(named.get("markdown"))
    whole = whole[:MAX_SARIF_MESSAGE]
    # A text may name an argument hundreds of times.
    arguments = [as_text(argument)[:MAX_SARIF_MESSAGE] for argument in as_list(stated.get("arguments"))]
    if arguments:
        whole = _SLOT.sub(lambda slot: _argument(slot, arguments), whole)
    return _LINK.sub(lambda link: str(link[1]), whole[:MAX_SARIF_MESSAGE]).strip()


def as_object(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a text, else an empty one; half of a surrogate pair becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def as_line_number(value: object) -> int | None:
    """The value if it can be a line or a column."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def _argument(slot: regex.RegexMatch, arguments: list[str]) -> str:
    index = int(slot[1])
    return arguments[index] if index < len(arguments) else str(slot[0])


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_SCHEME = regex.Regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HOST = regex.Regex(r"file:(?://[^/]*)?", ignore_case=True)
_DRIVE = regex.Regex(r"[A-Za-z]:[\\/]")
_LONGEST = 1024
_DEEPEST = 5
_MOST_ROOTS = 100
"""Each result is compared with every root; a real log has a few."""
# Where GitHub's runners check a repository out: tools that know no root (ruff) name the whole path.
_RUNNER = regex.Regex(
    r"/(?:home/runner/work/[^/]+/[^/]+|github/workspace|__w/[^/]+/[^/]+)/|/[A-Za-z]:/a/[^/]+/[^/]+/"
)


class SarifRoots:
    """The folders that the places of one run are counted from."""

    def __init__(self, run: dict[str, Any]) -> None:
        self._bases = {
            name: as_object(base) for name, base in as_object(run.get("originalUriBaseIds")).items()
        }
        self._artifacts = as_list(run.get("artifacts"))
        stated = [as_object(one).get("workingDirectory") for one in as_list(run.get("invocations"))]
        stated += [as_object(one).get("mappedTo") for one in as_list(run.get("versionControlProvenance"))]
        known = [_absolute(as_text(as_object(one).get("uri"))) for one in (*self._bases.values(), *stated)]
        self._known = sorted({root.rstrip("/") + "/" for root in known if root}, key=len)[:_MOST_ROOTS]

    def path(self, location: dict[str, Any]) -> str | None:
        """The file in the repository; with a leading `/` where the log does not say what it is in."""
        location = self._whole(location)
        uri = as_text(location.get("uri"))
        if not uri or len(uri) > _LONGEST:
            return None
        absolute = _absolute(uri)
        if absolute:
            return _clean(self._below_a_root(absolute))
        if _SCHEME.match(uri):
            return None
        return _clean(self._prefix(location) + unquote(uri).replace("\\", "/"))

    def _whole(self, location: dict[str, Any]) -> dict[str, Any]:
        index = location.get("index")
        if location.get("uri") or not isinstance(index, int) or not 0 <= index < len(self._artifacts):
            return location
        return as_object(as_object(self._artifacts[index]).get("location"))

    def _prefix(self, location: dict[str, Any]) -> str:
        prefix = ""
        for _ in range(_DEEPEST):
            location = self._bases.get(as_text(location.get("uriBaseId")), {})
            uri = as_text(location.get("uri"))
            if not uri or len(uri) > _LONGEST or _absolute(uri) or _SCHEME.match(uri):
                break
            prefix = unquote(uri).rstrip("/") + "/" + prefix
        return prefix

    def _below_a_root(self, path: str) -> str:
        for root in self._known:
            if path.startswith(root):
                return path.removeprefix(root)
        runner = _RUNNER.match(path)
        return path[runner.end() :] if runner else path


def _absolute(uri: str) -> str:
    """The path of a file on the tool's machine, empty for any other address."""
    if _DRIVE.match(uri):
        return "/" + uri.replace("\\", "/")
    if host := _HOST.match(uri):
        return unquote(uri[host.end() :])
    return uri if uri.startswith("/") else ""


def _clean(path: str) -> str | None:
    cleaned = posixpath.normpath(path)
    if cleaned.startswith("../") or cleaned in {".", "..", "/"} or not cleaned.isprintable():
        return None
    return cleaned


MAX_SARIF_RESULTS = 1000
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


class SarifError(Exception):
    """The text is no SARIF log; says why in one line."""


def parse_sarif(log: object) -> SarifLog:
    """The open results of a parsed log: neither passed, suppressed nor gone; raises `NotSarif`."""
    results = (result for run in as_list(_log(log).get("runs")) for result in _results(as_object(run)))
    first = tuple(build() for build in islice(results, MAX_SARIF_RESULTS))
    return SarifLog(first, sum(1 for _ in results))


def _log(log: object) -> dict[str, Any]:
    if not isinstance(log, dict) or "runs" not in log:
        raise SarifError("not a SARIF log: an object with `version` and `runs` is expected")
    if not as_text(log.get("version")).startswith("2.1."):
        raise SarifError(f"SARIF version {json.dumps(log.get('version'))[:40]} is not read; write 2.1.0")
    return log


def _results(run: dict[str, Any]) -> Iterator[Callable[[], SarifResult]]:
    """Every open result, to be read by a call: those beyond the most are only counted."""
    tool = as_text(as_object(as_object(run.get("tool")).get("driver")).get("name"))
    rules, roots = SarifRules(run), SarifRoots(run)
    for result in as_list(run.get("results")):
        if isinstance(result, dict) and _is_open(result):
            yield partial(_read, result, tool, rules, roots)


def _is_open(result: dict[str, Any]) -> bool:
    if (
        result.get("kind") in {"pass", "notApplicable", "informational"}
        or result.get("baselineState") == "absent"
    ):
        return False
    stated = [
        as_text(as_object(one).get("status")) or "accepted" for one in as_list(result.get("suppressions"))
    ]
    return not stated or any(status != "accepted" for status in stated)


def _read(result: dict[str, Any], tool: str, rules: SarifRules, roots: SarifRoots) -> SarifResult:
    rule, name = rules.of(result)
    places = (as_object(as_object(one).get("physicalLocation")) for one in as_list(result.get("locations")))
    place = next((place for place in places if place), {})
    region = as_object(place.get("region"))
    line = as_line_number(region.get("startLine"))
    about = sarif_message(rule.get("shortDescription"), rule) or sarif_message(
        rule.get("fullDescription"), rule
    )
    return SarifResult(
        tool=tool,
        rule=name,
        level=_level(result, rule),
        message=sarif_message(result.get("message"), rule) or about or name,
        path=roots.path(as_object(place.get("artifactLocation"))),
        line=line,
        end_line=(as_line_number(region.get("endLine")) or line) if line else None,
        column=as_line_number(region.get("startColumn")) if line else None,
    )


def _level(result: dict[str, Any], rule: dict[str, Any]) -> SarifLevel:
    default = as_text(as_object(rule.get("defaultConfiguration")).get("level"))
    undecided = as_text(result.get("kind")) in {"open", "review"}
    stated = as_text(result.get("level")) or ("none" if undecided else default)
    return SarifLevel(stated) if stated in list(SarifLevel) else SarifLevel.WARNING
