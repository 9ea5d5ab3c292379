"""Is a file there, does it say so, and does the thing stand where it is said to?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain import regex
from bot.domain.grounding.claim import Claim, Form
from bot.domain.grounding.locate import Found, locate, text_of
from bot.domain.grounding.observations import Definition, EntryKind, Observations, Text
from bot.domain.grounding.result import Outcome, Result, Tool, contradicted, unverifiable, verified
from bot.domain.scan import has_word

_LONGEST = 80
"""Characters of what a claim is about that a note repeats."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The line that a comment was written at, as it read then."""

    text: str
    line: int | None = None
    before: tuple[str, ...] = ()


def existence(claim: Claim, seen: Observations) -> Result:
    """Whether the path is there."""
    found = locate(claim.path or "", seen)
    if isinstance(found, Found):
        if claim.holds:
            return verified(Tool.TREE, found.path)
        if found.path != (claim.path or "").rstrip("/"):
            return unverifiable(f"there is `{found.path}`", Tool.TREE, found.path)
        return contradicted(Tool.TREE, f"`{found.path}` is in the repository", path=found.path)
    if not claim.holds and found.outcome is Outcome.CONTRADICTED:
        return verified(Tool.TREE)
    return found


def contents(claim: Claim, seen: Observations) -> Result:  # noqa: PLR0911  one answer a case
    """Whether the file, or the line of it, has the words."""
    found = text_of(claim.path or "", seen)
    if isinstance(found, Result):
        return found
    path, text = found
    if claim.form is Form.EMPTY:
        empty = not any(line.strip() for line in text.lines)
        return verified(Tool.CONTENTS, path) if empty == claim.holds else _otherwise(path, empty)
    if claim.line and claim.line > len(text.lines):
        return contradicted(Tool.CONTENTS, f"the file has {_count(len(text.lines))}", path=path)
    hits = _hits(claim, text)
    if claim.line:
        return _on_line(claim, path, hits)
    loose = claim.subject if claim.form is Form.STATED else claim.subject.split("(")[0]
    if not claim.holds:
        if hits or _loose(loose, text.lines):
            return contradicted(Tool.CONTENTS, f"{_subject(claim)} is there{_at(hits)}", path=path)
        return verified(Tool.CONTENTS, path)
    if hits and claim.form is Form.CALLED and text.definitions is None:
        return unverifiable(f"{_subject(claim)} can not be told from a definition", Tool.CONTENTS, path)
    if hits:
        return verified(Tool.CONTENTS, path, hits[0])
    if _loose(loose, text.lines):
        return unverifiable(f"{_subject(claim)} is there only in another form", Tool.CONTENTS, path)
    return contradicted(Tool.CONTENTS, f"the file does not have {_subject(claim)}", path=path)


def location(claim: Claim, seen: Observations) -> Result:
    """Whether the thing stands at the place; a name without a line is resolved to its lines."""
    if claim.form in {Form.NAMED, Form.PLACE}:
        return place(claim, seen)
    found = text_of(claim.path or "", seen)
    if isinstance(found, Result):
        return found
    path, text = found
    if claim.form is Form.DEFINED:
        return _defined(claim, path, text)
    return _on_line(claim, path, _word_lines(claim.subject.removesuffix("()"), text.lines))


def place(claim: Claim, seen: Observations, anchor: Anchor | None = None) -> Result:
    """Whether the lines are there; a line that moved is found again by its text."""
    found = text_of(claim.path or "", seen)
    if isinstance(found, Result):
        if claim.line is None and anchor is None:
            return existence(claim, seen)
        return found
    path, text = found
    if anchor and anchor.text.strip():
        return _anchored(claim, path, text.lines, anchor)
    last = claim.end_line or claim.line or 0
    if last > len(text.lines):
        return contradicted(Tool.CONTENTS, f"the file has {_count(len(text.lines))}", path=path)
    if claim.line and claim.end_line and claim.end_line < claim.line:
        return contradicted(Tool.CONTENTS, "the last line is before the first", path=path)
    return verified(Tool.CONTENTS if claim.line else Tool.TREE, path, claim.line, claim.end_line)


def _anchored(claim: Claim, path: str, lines: Sequence[str], anchor: Anchor) -> Result:
    wanted, last = anchor.text.strip(), claim.end_line or claim.line
    span = last - claim.line if last and claim.line else 0
    if last and last <= len(lines) and lines[last - 1].strip() == wanted:
        return _moved(verified(Tool.CONTENTS, path, claim.line, claim.end_line), anchor, last)
    same = [number for number, line in enumerate(lines, 1) if line.strip() == wanted]
    at = _only(same, lines, anchor)
    if at is None:
        what = "is not there any more" if not same else "is there several times"
        return unverifiable(f"the line that was commented on {what}", Tool.CONTENTS, path)
    start = max(at - span, 1)
    return _moved(verified(Tool.CONTENTS, path, start, at if span else None), anchor, at, last)


def _moved(result: Result, anchor: Anchor, at: int, last: int | None = None) -> Result:
    was = anchor.line or last
    return replace(result, moved_from=was) if was and was != at else result


def _only(same: list[int], lines: Sequence[str], anchor: Anchor) -> int | None:
    """The one line that reads the same, told apart by the lines before it where several do."""
    if len(same) <= 1:
        return same[0] if same and len(anchor.text.strip()) >= 3 else None
    before = tuple(line.strip() for line in anchor.before)
    size = len(before)
    alike = [
        at
        for at in same
        if size and tuple(line.strip() for line in lines[max(at - 1 - size, 0) : at - 1]) == before
    ]
    return alike[0] if len(alike) == 1 else None


def _defined(claim: Claim, path: str, text: Text) -> Result:
    name = claim.subject.split("(")[0].strip("#` ").strip()
    known = [each for each in text.definitions or () if _is_named(each, name)]
    if claim.line is None or not claim.holds:
        return _named_in(claim, path, name, known, text)
    at = [each for each in known if (each.first_line or each.line) <= claim.line <= each.line]
    if at:
        return verified(Tool.CONTENTS, path, at[0].line, at[0].end_line)
    if known:
        lines = ", ".join(str(each.line) for each in known[:3])
        note = f"{_subject(claim)} is defined at line {lines}, not at {_lines(claim)}"
        return replace(contradicted(Tool.CONTENTS, note, path=path), line=known[0].line)
    return _named_in(claim, path, name, known, text)


def _named_in(claim: Claim, path: str, name: str, known: list[Definition], text: Text) -> Result:
    if known and claim.holds:
        if len(known) > 1:
            lines = " and ".join(str(each.line) for each in known[:3])
            return replace(verified(Tool.CONTENTS, path), note=f"defined at lines {lines}")
        return verified(Tool.CONTENTS, path, known[0].line, known[0].end_line)
    if known:
        note = f"{_subject(claim)} is defined at line {known[0].line}"
        return contradicted(Tool.CONTENTS, note, path=path)
    if not _word_lines(_leaf(name), text.lines):
        if claim.holds:
            return contradicted(Tool.CONTENTS, f"the file does not have {_subject(claim)}", path=path)
        return verified(Tool.CONTENTS, path)
    return unverifiable(f"{_subject(claim)} is there, a definition was not found", Tool.CONTENTS, path)


def _is_named(definition: Definition, name: str) -> bool:
    if definition.name == name or slug(definition.name) == name:
        return True
    wanted, held = _parts(name), definition.name.replace("::", ".").split(".")
    return held[-len(wanted) :] == wanted


def slug(heading: str) -> str:
    """A heading as GitHub's links name it."""
    kept = (sign for sign in heading.lower() if regex.is_word(sign) or sign in "- ")
    return "".join(kept).replace(" ", "-")


def _leaf(name: str) -> str:
    return _parts(name)[-1]


def _parts(name: str) -> list[str]:
    return name.replace("::", ".").replace("#", ".").split(".")


def _hits(claim: Claim, text: Text) -> list[int]:
    if claim.form is Form.CALLED:
        call = regex.Pattern(rf"(?:^|[^\w.]){regex.escape(claim.subject.split('(')[0])}\s*\(")
        made = {each.line for each in text.definitions or ()}
        return [n for n, line in enumerate(text.lines, 1) if call.search(_code(line)) and n not in made]
    if claim.form is Form.IMPORTED:
        return [number for number, line in enumerate(text.lines, 1) if _imports(line, claim.subject)]
    return _word_lines(claim.subject, text.lines)


def _imports(line: str, name: str) -> bool:
    start = _IMPORT.match(line) if name in line else None
    return start is not None and has_word(line, name, start.end())


_IMPORT = regex.Pattern(r"\s*(?:import|from|use|#include|const|let|var|require)\b")
_NOT_CODE = regex.Pattern(r"\"[^\"]*\"|'[^']*'|(?:#|//).*$")


def _code(line: str) -> str:
    """The line without what stands in quotes and comments."""
    return _NOT_CODE.sub("", line)


def _word_lines(words: str, lines: Sequence[str]) -> list[int]:
    """The lines that have the words, not as part of a longer word or number."""
    wanted = " ".join(words.split())
    if not wanted:
        return []
    left = r"(?:^|\W)" if regex.is_word(wanted[0]) else ""
    right = r"(?:$|\W)" if regex.is_word(wanted[-1]) else ""
    if wanted[-1].isdigit():
        right = r"(?:$|[^\w.]|\.(?:$|[^\d]))"
    expression = regex.Pattern(left + r"\s+".join(map(regex.escape, wanted.split())) + right)
    first = wanted.split()[0]
    return [number for number, line in enumerate(lines, 1) if first in line and expression.search(line)]


def _loose(words: str, lines: Sequence[str]) -> bool:
    wanted = "".join(words.split()).casefold()
    return any(wanted in "".join(line.split()).casefold() for line in lines)


def _on_line(claim: Claim, path: str, hits: list[int]) -> Result:
    first, last = claim.line or 0, claim.end_line or claim.line or 0
    there = [hit for hit in hits if first <= hit <= last]
    if there and claim.holds:
        return verified(Tool.CONTENTS, path, claim.line, claim.end_line)
    if there:
        return contradicted(Tool.CONTENTS, f"line {there[0]} has {_subject(claim)}", path=path)
    if not claim.holds:
        return verified(Tool.CONTENTS, path, claim.line, claim.end_line)
    note = f"the file does not have {_subject(claim)}"
    if hits:
        at = ", ".join(map(str, hits[:3]))
        note = f"{_subject(claim)} is at line {at}, not at {_lines(claim)}"
    return replace(contradicted(Tool.CONTENTS, note, path=path), line=hits[0] if len(hits) == 1 else None)


def _otherwise(path: str, empty: bool) -> Result:  # noqa: FBT001  a fact, not a switch
    return contradicted(Tool.CONTENTS, "the file is empty" if empty else "the file has text", path=path)


def _subject(claim: Claim) -> str:
    """What the claim is about, in code: a note may stand far from the words that it answers."""
    return f"`{' '.join(claim.subject.split())[:_LONGEST]}`" if claim.subject.strip() else "that"


def _lines(claim: Claim) -> str:
    if claim.end_line and claim.end_line != claim.line:
        return f"lines {claim.line} to {claim.end_line}"
    return f"line {claim.line}"


def _at(hits: list[int]) -> str:
    return f", at line {hits[0]}" if hits else ""


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def is_folder(path: str, seen: Observations) -> bool:
    """Whether a directory stands at the path."""
    entry = seen.entry(path.rstrip("/"))
    return entry is not None and entry.kind is EntryKind.FOLDER
