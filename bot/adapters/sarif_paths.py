"""Which file of the repository a SARIF log means, whatever root the tool counted from."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote

from bot.adapters.sarif_parts import listed, obj, text
from bot.domain import regex

_SCHEME = regex.Pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HOST = regex.Pattern(r"file:(?://[^/]*)?", ignore_case=True)
_DRIVE = regex.Pattern(r"[A-Za-z]:[\\/]")
_LONGEST = 1024
_DEEPEST = 5
_MOST_ROOTS = 100
"""Each result is compared with every root; a real log has a few."""
# Where GitHub's runners check a repository out: tools that know no root (ruff) name the whole path.
_RUNNER = regex.Pattern(
    r"/(?:home/runner/work/[^/]+/[^/]+|github/workspace|__w/[^/]+/[^/]+)/|/[A-Za-z]:/a/[^/]+/[^/]+/"
)


class Roots:
    """The folders that the places of one run are counted from."""

    def __init__(self, run: dict[str, Any]) -> None:
        self._bases = {name: obj(base) for name, base in obj(run.get("originalUriBaseIds")).items()}
        self._artifacts = listed(run.get("artifacts"))
        stated = [obj(one).get("workingDirectory") for one in listed(run.get("invocations"))]
        stated += [obj(one).get("mappedTo") for one in listed(run.get("versionControlProvenance"))]
        known = [_absolute(text(obj(one).get("uri"))) for one in (*self._bases.values(), *stated)]
        self._known = sorted({root.rstrip("/") + "/" for root in known if root}, key=len)[:_MOST_ROOTS]

    def path(self, location: dict[str, Any]) -> str | None:
        """The file in the repository; with a leading `/` where the log does not say what it is in."""
        location = self._whole(location)
        uri = text(location.get("uri"))
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
        return obj(obj(self._artifacts[index]).get("location"))

    def _prefix(self, location: dict[str, Any]) -> str:
        prefix = ""
        for _ in range(_DEEPEST):
            location = self._bases.get(text(location.get("uriBaseId")), {})
            uri = text(location.get("uri"))
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
