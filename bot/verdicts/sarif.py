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
        """Return the description of the result's rule, empty if there is none, and its name."""
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


def sarif_message(value: object, rule: dict[str, Any]) -> str:
    """Return a message's own text, or the rule's text of that id with the arguments filled in."""
    message = as_object(value)
    text = as_text(message.get("text")) or as_text(message.get("markdown"))
    if not text:
        template = as_object(as_object(rule.get("messageStrings")).get(as_text(message.get("id"))))
        text = as_text(template.get("text")) or as_text(template.get("markdown"))
    text = text[:MAX_SARIF_MESSAGE]
    # A text may name an argument hundreds of times.
    arguments = [as_text(argument)[:MAX_SARIF_MESSAGE] for argument in as_list(message.get("arguments"))]
    if arguments:
        text = _SLOT.sub(lambda slot: _argument(slot, arguments), text)
    return _LINK.sub(lambda link: str(link[1]), text[:MAX_SARIF_MESSAGE]).strip()


def as_object(value: object) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return the value if it is a text, else an empty one; half of a surrogate pair becomes `?`."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def as_line_number(value: object) -> int | None:
    """Return the value if it can be a line or a column."""
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
    """Resolves the locations of one run to paths of the repository."""

    def __init__(self, run: dict[str, Any], root: str = "") -> None:
        self._bases = {
            name: as_object(base) for name, base in as_object(run.get("originalUriBaseIds")).items()
        }
        self._artifacts = as_list(run.get("artifacts"))
        folders = [as_object(call).get("workingDirectory") for call in as_list(run.get("invocations"))]
        folders += [
            as_object(source).get("mappedTo") for source in as_list(run.get("versionControlProvenance"))
        ]
        roots = [
            _absolute(as_text(as_object(folder).get("uri"))) for folder in (*self._bases.values(), *folders)
        ]
        # The caller knows where the repository is; a log's own roots may be folders of it.
        checkout = [_absolute(root).rstrip("/") + "/"] if _absolute(root) else []
        self._roots = [
            *checkout,
            *sorted({root.rstrip("/") + "/" for root in roots if root}, key=len)[:_MOST_ROOTS],
        ]

    def path(self, location: dict[str, Any]) -> str | None:
        """Return the file in the repository; with a leading `/` where the log does not say what it is in."""
        location = self._resolve_index(location)
        uri = as_text(location.get("uri"))
        if not uri or len(uri) > _LONGEST:
            return None
        absolute = _absolute(uri)
        if absolute:
            return _clean(self._relative(absolute))
        if _SCHEME.match(uri):
            return None
        return _clean(self._prefix(location) + unquote(uri).replace("\\", "/"))

    def _resolve_index(self, location: dict[str, Any]) -> dict[str, Any]:
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

    def _relative(self, path: str) -> str:
        for root in self._roots:
            if path.startswith(root):
                return path.removeprefix(root)
        runner = _RUNNER.match(path)
        return path[runner.end() :] if runner else path


def _absolute(uri: str) -> str:
    """Return the path of a file on the tool's machine, empty for any other address."""
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
    """The level that the tool gives a result."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One result of a tool."""

    tool: str
    rule: str
    level: SarifLevel
    message: str
    path: str | None = None
    """In the repository; with a leading `/` where the log names only a path on the tool's machine."""
    line: int | None = None
    end_line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class SarifLog:
    """The open results of a log, and the number of further ones."""

    results: tuple[SarifResult, ...]
    more: int = 0


class SarifError(Exception):
    """The value is not a SARIF log; the message says why in one line."""


def parse_sarif(log: object, root: str = "") -> SarifLog:
    """Return the open results of a log: neither passed, suppressed nor gone; raise `SarifError`.

    `root` is where the repository was checked out on the tool's machine.
    """
    runs = as_list(_log(log).get("runs"))
    results = (result for run in runs for result in _results(as_object(run), root))
    first = tuple(build() for build in islice(results, MAX_SARIF_RESULTS))
    return SarifLog(first, sum(1 for _ in results))


def _log(log: object) -> dict[str, Any]:
    if not isinstance(log, dict) or "runs" not in log:
        raise SarifError("not a SARIF log: an object with `version` and `runs` is expected")
    if not as_text(log.get("version")).startswith("2.1."):
        raise SarifError(f"SARIF version {json.dumps(log.get('version'))[:40]} is not supported; use 2.1.0")
    return log


def _results(run: dict[str, Any], root: str) -> Iterator[Callable[[], SarifResult]]:
    """Yield a reader for every open result: those beyond the limit are only counted."""
    tool = as_text(as_object(as_object(run.get("tool")).get("driver")).get("name"))
    rules, roots = SarifRules(run), SarifRoots(run, root)
    for result in as_list(run.get("results")):
        if isinstance(result, dict) and _is_open(result):
            yield partial(_read, result, tool, rules, roots)


def _is_open(result: dict[str, Any]) -> bool:
    if (
        result.get("kind") in {"pass", "notApplicable", "informational"}
        or result.get("baselineState") == "absent"
    ):
        return False
    statuses = [
        as_text(as_object(suppression).get("status")) or "accepted"
        for suppression in as_list(result.get("suppressions"))
    ]
    return not statuses or any(status != "accepted" for status in statuses)


def _read(result: dict[str, Any], tool: str, rules: SarifRules, roots: SarifRoots) -> SarifResult:
    rule, name = rules.of(result)
    locations = map(as_object, as_list(result.get("locations")))
    physical = (as_object(location.get("physicalLocation")) for location in locations)
    location = next((location for location in physical if location), {})
    region = as_object(location.get("region"))
    line = as_line_number(region.get("startLine"))
    description = sarif_message(rule.get("shortDescription"), rule)
    description = description or sarif_message(rule.get("fullDescription"), rule)
    return SarifResult(
        tool=tool,
        rule=name,
        level=_level(result, rule),
        message=sarif_message(result.get("message"), rule) or description or name,
        path=roots.path(as_object(location.get("artifactLocation"))),
        line=line,
        end_line=(as_line_number(region.get("endLine")) or line) if line else None,
        column=as_line_number(region.get("startColumn")) if line else None,
    )


def _level(result: dict[str, Any], rule: dict[str, Any]) -> SarifLevel:
    default = as_text(as_object(rule.get("defaultConfiguration")).get("level"))
    undecided = as_text(result.get("kind")) in {"open", "review"}
    level = as_text(result.get("level")) or ("none" if undecided else default)
    return SarifLevel(level) if level in list(SarifLevel) else SarifLevel.WARNING
