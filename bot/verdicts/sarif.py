"""Read the results of SARIF 2.1.0 logs, and the paths that tools report."""

from __future__ import annotations

import posixpath
from typing import Any, TypeGuard
from urllib.parse import unquote

from bot import regex
from bot.gates.schemas import list_at, text_at, value_at
from bot.pull_request.events import ToolResult
from bot.values import Location

MAX_RULE = 200
MAX_MESSAGE = 500
_LONGEST_MESSAGE = 2000
"""Characters of a message that are read."""
_LEVELS = frozenset({"error", "warning", "note", "none"})
_CLOSED_KINDS = frozenset({"pass", "notApplicable", "informational"})
_LINK = regex.Regex(r"\[((?:[^\[\]\\]|\\.)+)\]\([0-9]{1,9}\)")
_SLOT = regex.Regex(r"\{([0-9]{1,3})\}")


class SarifRun:
    """One run of a tool: its results, and the rules and folders that they refer to."""

    def __init__(self, run: Any, root: str = "") -> None:
        """`root` is where the repository was checked out on the tool's machine."""
        self.tool = text_at(run, "tool", "driver", "name")
        self.open_results = [result for result in list_at(run, "results") if _is_open(result)]
        self._paths = ReportedPaths(root, run)
        parts = [value_at(run, "tool", "driver"), *list_at(run, "tool", "extensions")]
        self._lists = [list_at(part, "rules") for part in parts]
        self._by_name: dict[str, Any] = {}
        for rules in self._lists:
            for rule in rules:
                self._by_name.setdefault(text_at(rule, "id"), rule)

    def read(self, result: Any) -> ToolResult:
        """Return one of the results."""
        rule, name = self._rule(result)
        physical = (value_at(location, "physicalLocation") for location in list_at(result, "locations"))
        location = next((location for location in physical if location), None)
        message = (
            _message(value_at(result, "message"), rule)
            or _message(value_at(rule, "shortDescription"), rule)
            or _message(value_at(rule, "fullDescription"), rule)
        )
        place = self._paths.location(
            value_at(location, "artifactLocation"),
            as_line_number(value_at(location, "region", "startLine")),
            as_line_number(value_at(location, "region", "endLine")),
        )
        return ToolResult(name[:MAX_RULE], (message or name)[:MAX_MESSAGE], place, _level(result, rule))

    def _rule(self, result: Any) -> tuple[Any, str]:
        """Return the description of the result's rule, None if there is none, and its name."""
        name = text_at(result, "ruleId") or text_at(result, "rule", "id")
        rule = self._by_name.get(name) or self._by_name.get(name.rpartition("/")[0])
        if not rule:
            extension = value_at(result, "rule", "toolComponent", "index")
            rules = _item_at(self._lists, extension + 1 if _is_index(extension) else 0)
            rule = _item_at(rules or [], result.get("ruleIndex", value_at(result, "rule", "index")))
        return rule, name or text_at(rule, "id")


def _is_open(result: Any) -> bool:
    """Whether a result is one, and neither passed, suppressed nor gone."""
    if not isinstance(result, dict) or text_at(result, "kind") in _CLOSED_KINDS:
        return False
    suppressions = list_at(result, "suppressions")
    is_suppressed = suppressions and all(
        (text_at(suppression, "status") or "accepted") == "accepted" for suppression in suppressions
    )
    return not is_suppressed and value_at(result, "baselineState") != "absent"


def _level(result: Any, rule: Any) -> str:
    is_undecided = text_at(result, "kind") in {"open", "review"}
    default = "none" if is_undecided else text_at(rule, "defaultConfiguration", "level")
    level = text_at(result, "level") or default
    return level if level in _LEVELS else "warning"


def _message(message: Any, rule: Any) -> str:
    """Return a message's own text, or the rule's text of that id with the arguments filled in."""
    template = value_at(rule, "messageStrings", text_at(message, "id"))
    texts = (text_at(source, form) for source in (message, template) for form in ("text", "markdown"))
    text = next(filter(None, texts), "")[:_LONGEST_MESSAGE]
    # A text may name an argument hundreds of times.
    arguments = [text_at(argument)[:_LONGEST_MESSAGE] for argument in list_at(message, "arguments")]
    if arguments:
        text = _SLOT.sub(lambda slot: str(_item_at(arguments, int(slot[1]), slot[0])), text)
    return _LINK.sub(lambda link: str(link[1]), text[:_LONGEST_MESSAGE]).strip()


def as_line_number(value: object) -> int | None:
    """Return the value if it can be a line."""
    return value if _is_index(value) and 0 < value < 2**31 else None


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _item_at(items: list[Any], index: object, missing: Any = None) -> Any:
    return items[index] if _is_index(index) and index < len(items) else missing


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


class ReportedPaths:
    """Resolves the files that a report names, as a run of SARIF describes them, to locations."""

    def __init__(self, root: str = "", run: Any = None) -> None:
        """`root` is where the repository was checked out on the tool's machine."""
        self._bases = value_at(run, "originalUriBaseIds")
        self._artifacts = list_at(run, "artifacts")
        folders = list(self._bases.values()) if isinstance(self._bases, dict) else []
        folders += [value_at(call, "workingDirectory") for call in list_at(run, "invocations")]
        folders += [value_at(source, "mappedTo") for source in list_at(run, "versionControlProvenance")]
        own = {_folder(text_at(folder, "uri")) for folder in folders} - {""}
        # The caller knows where the repository is; a log's own roots may be folders of it.
        self._roots = [*filter(None, [_folder(root)]), *sorted(own, key=len)[:_MOST_ROOTS]]

    def location(self, file: Any, line: int | None = None, end_line: int | None = None) -> Location | None:
        """Return the place in a file, given by its address or as SARIF's artifact location.

        None for a file that is not known to be in the repository.
        """
        path = self._path({"uri": file} if isinstance(file, str) else file)
        if not path or path.startswith("/"):  # a path on the tool's own machine
            return None
        return Location(path, line, end_line if line and end_line and end_line > line else None)

    def _path(self, location: Any) -> str | None:
        if not value_at(location, "uri"):
            location = value_at(_item_at(self._artifacts, value_at(location, "index")), "location")
        uri = text_at(location, "uri")
        if not uri or len(uri) > _LONGEST:
            return None
        if absolute := _absolute(uri):
            return _clean(self._relative(absolute))
        if _SCHEME.match(uri):
            return None
        return _clean(self._prefix(location) + unquote(uri).replace("\\", "/"))

    def _prefix(self, location: Any) -> str:
        prefix = ""
        for _ in range(_DEEPEST):
            location = value_at(self._bases, text_at(location, "uriBaseId"))
            uri = text_at(location, "uri")
            if not uri or len(uri) > _LONGEST or _absolute(uri) or _SCHEME.match(uri):
                break
            prefix = unquote(uri).rstrip("/") + "/" + prefix
        return prefix

    def _relative(self, path: str) -> str:
        if root := next(filter(path.startswith, self._roots), ""):
            return path.removeprefix(root)
        runner = _RUNNER.match(path)
        return path[runner.end() :] if runner else path


def _folder(uri: str) -> str:
    """Return the path of a folder on the tool's machine, with one slash at its end; empty if it is none."""
    path = _absolute(uri)
    return path.rstrip("/") + "/" if path else ""


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
