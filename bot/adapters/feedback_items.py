"""Which items does a feedback document hold? Read from the fences of a comment, or from a posted body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.adapters import feedback_files
from bot.domain import prose, regex
from bot.domain.gates import Aspect, is_tag
from bot.domain.lint import UnreadableFeedback
from bot.domain.model import Item, Place

MOST = 100
"""Items that are taken of one document."""
SEVERITIES = frozenset({"critical", "major", "minor", "suggestion"})

_KEY = "feedback_items"
_LANGUAGES = frozenset({"json", "yaml", "yml"})
_LINES = regex.Pattern(r"L?(\d{1,7})(?:\s*[-–]\s*L?(\d{1,7}))?")
_PATH_AND_PLACE = regex.Pattern(r"(?P<path>[^\s:]+\.[^\s:]+|[^\s:]+/[^\s:]+):(?P<place>.+)")
_PARTS = frozenset({"function", "section", "element"})
_LONGEST = 1000
_LONGEST_PART = 200


def items_in(body: str, url: str = "") -> tuple[Item, ...]:
    """The items of every document that stands in a `json` or `yaml` fence; a fence with none gives none."""
    if _KEY not in body:
        return ()
    return tuple(
        item
        for fence in prose.fences(body)
        if _KEY in fence.text
        and fence.info.lower().split()[:1]
        and fence.info.lower().split()[0] in _LANGUAGES
        for item in items_of(_value(fence.text, fence.info.lower().split()[0]), url)
    )


def items_of(document: Any, url: str = "") -> tuple[Item, ...]:
    """The document's items, whatever else is wrong with it; one that says nothing is left out."""
    found = document.get(_KEY) if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(found, list):
        return ()
    target = _text(document.get("target"), "path")
    path = target if _is_path(target) else ""
    return tuple(item for each in found[:MOST] if (item := _item(each, path, url)))


def _value(text: str, language: str) -> Any:
    name = "feedback.json" if language == "json" else "feedback.yml"
    try:
        return feedback_files.read(text.encode("utf-8", "replace"), name).value
    except UnreadableFeedback:
        return None


def _item(tree: Any, path: str, url: str) -> Item | None:
    words, tag = _text(tree, "issue")[:500], _text(tree, "tag").strip().lower()
    if not words and not is_tag(tag):
        return None
    suggestion, location, evidence = (_part(tree, key) for key in ("suggestion", "location", "evidence"))
    aspect, severity = _text(tree, "aspect"), _text(tree, "severity")
    return Item(
        tag=tag if is_tag(tag) else None,
        words=words,
        place=_place(location, path),
        url=url,
        suggestion=_text(suggestion, "example")[:_LONGEST] or None,
        aspect=aspect if aspect in set(Aspect) else None,
        severity=severity if severity in SEVERITIES else None,
        action=_text(suggestion, "action")[:_LONGEST] or None,
        rationale=_text(suggestion, "rationale")[:500] or None,
        context_before=_text(location, "context_before")[:500],
        context_after=_text(location, "context_after")[:500],
        evidence=_text(evidence, "test_result")[:500] or None,
        metric=_text(evidence, "metric")[:500] or None,
        reference=_text(evidence, "reference")[:500] or None,
        score=_score(tree),
        part=_inside(location),
    )


def _place(location: Any, target: str) -> Place | None:
    """The place in the document's own words, or in our further keys `path`, `line` and `end_line`."""
    reference, path = _text(location, "reference").strip(), _text(location, "path") or target
    if inside := _PATH_AND_PLACE.fullmatch(reference):
        path, reference = inside["path"], inside["place"].strip()
    elif _text(location, "type") == "path" and _is_path(reference):
        path, reference = reference, ""
    line, end = _number(location, "line"), _number(location, "end_line")
    if line is None and (lines := _LINES.fullmatch(reference)):
        line, end = int(lines[1]), int(lines[2]) if lines[2] else None
    if not _is_path(path):
        return None
    return Place(path, line or None, end if line and end and end > line else None)


def _inside(location: Any) -> tuple[str, str] | None:
    """The function, section or element that the document names in place of lines."""
    kind, reference = _text(location, "type"), _text(location, "reference").strip()
    if kind not in _PARTS:
        return None
    inside = _PATH_AND_PLACE.fullmatch(reference)
    named = (inside["place"] if inside else reference).strip()[:_LONGEST_PART]
    return (kind, named) if named and not _LINES.fullmatch(named) else None


def _score(tree: Any) -> float | None:
    value = _part(tree, "score")
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if fits else None


def _is_path(text: str) -> bool:
    """Whether it names a file; `.` and `owner/repo#7` are the whole pull request."""
    return text not in {"", "."} and "#" not in text and "\n" not in text and len(text) <= 500


def _part(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, Mapping) else None


def _text(tree: Any, key: str) -> str:
    value = _part(tree, key)
    return value if isinstance(value, str) else ""


def _number(tree: Any, key: str) -> int | None:
    value = _part(tree, key)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**7
    return value if fits else None
