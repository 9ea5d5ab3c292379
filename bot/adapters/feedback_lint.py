"""Everything that is wrong with a feedback file: its form against the schema, its words against the rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from bot.adapters.feedback_files import FeedbackFile
from bot.adapters.parsed import Path
from bot.adapters.schemas import MOST, Violation, pointer, violations
from bot.domain.lint import Lint
from bot.domain.quality import FeedbackText, Field, Finding, Level, Rule, findings, is_place, ungrounded

SCHEMA = "schema"
"""The rule that the published schema stands for, but for its lengths."""

_LENGTHS = {"minLength": Rule.TOO_SHORT, "maxLength": Rule.TOO_LONG}
_PATHS: dict[Field, Path] = {
    Field.ISSUE: ("issue",),
    Field.ACTION: ("suggestion", "action"),
    Field.RATIONALE: ("suggestion", "rationale"),
    Field.PLACE: ("location", "reference"),
}
_SUMMARY: Path = ("overall_assessment", "summary")


def lint(file: FeedbackFile) -> tuple[Lint, ...]:
    """Every finding at once, from top to bottom; of a hopeless file only so many as a person would read."""
    broken = violations("actionable-feedback", file.value)
    found = [_of_schema(file, violation) for violation in broken]
    found += [
        _of_words(file, path, finding)
        for path, finding in islice(_worded(file.value), MOST)
        if not any(_covers(violation, path, finding) for violation in broken)
    ]
    return tuple(sorted(found, key=lambda one: (one.position, one.level)))


def _of_schema(file: FeedbackFile, broken: Violation) -> Lint:
    name = str(broken.path[-1]) if broken.path else "the document"
    return Lint(
        Level.ERROR,
        _LENGTHS.get(broken.keyword, SCHEMA),
        broken.pointer,
        file.position(broken.path),
        f"{name} {broken.found}" if not name.isdigit() else f"entry {name} {broken.found}",
        broken.expected,
    )


def _of_words(file: FeedbackFile, path: Path, found: Finding) -> Lint:
    place = file.words(path, found.start, found.end) if found.end else file.position(path)
    return Lint(found.level, found.rule, pointer(path), place, found.message, found.instead)


def _covers(broken: Violation, path: Path, found: Finding) -> bool:
    """Whether the schema has already said so: the text is missing, no text, or has the same wrong length."""
    if path[: len(broken.path)] != broken.path:
        return False
    return broken.keyword not in _LENGTHS or _LENGTHS[broken.keyword] is found.rule


def _worded(value: Any) -> Iterator[tuple[Path, Finding]]:
    items = _at(value, ("feedback_items",))
    for number, item in enumerate(items if isinstance(items, list) else []):
        for found in findings(_item(item)):
            yield ("feedback_items", number, *_PATHS[found.field]), found
    for found in ungrounded(_text(value, _SUMMARY)):
        yield _SUMMARY, found


def _item(item: Any) -> FeedbackText:
    return FeedbackText(
        issue=_text(item, _PATHS[Field.ISSUE]),
        action=_text(item, _PATHS[Field.ACTION]),
        rationale=_text(item, _PATHS[Field.RATIONALE]),
        has_place=is_place(_text(item, ("location", "type")), _text(item, _PATHS[Field.PLACE])),
        blocking=_blocks(item),
    )


def _blocks(item: Any) -> bool:
    stated = _at(item, ("blocking",))
    return stated if isinstance(stated, bool) else _at(item, ("severity",)) in ("critical", "major")


def _text(value: Any, path: Path) -> str:
    found = _at(value, path)
    return found if isinstance(found, str) else ""


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value
