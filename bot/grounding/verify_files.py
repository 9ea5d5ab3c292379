"""Verify claims about files: existence, contents, locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot import regex
from bot.definitions import Definition
from bot.gates.config import GroundingTool
from bot.grounding.model import (
    Claim,
    ClaimForm,
    ClaimOutcome,
    ClaimResult,
    contradicted_result,
    unverifiable_result,
    verified_result,
)
from bot.markdown.scan import has_word
from bot.paths import MAX_FILE_SIZE, differs_in_looks_only, is_inside_repository, is_secret_path, nearest_path
from bot.pull_request.facts import EntryKind, FileText, Observations, TreeEntry, UnreadableFile


@dataclass(frozen=True, slots=True)
class LocatedEntry:
    """The file or folder that was meant."""

    path: str
    entry: TreeEntry | None
    """None where GitHub showed the file without the tree around it."""


def locate_path(path: str, seen: Observations) -> LocatedEntry | ClaimResult:  # noqa: PLR0911  one answer a case
    """The thing at the path, by its full path or by the only one that ends so; else what that shows."""
    bare = path.rstrip("/").removeprefix("./")
    if not is_inside_repository(bare):
        return unverifiable_result("that is no path of this repository")
    if entry := seen.entry(bare):
        return LocatedEntry(bare, entry)
    if isinstance(seen.files.get(bare), FileText):
        return LocatedEntry(bare, None)
    if seen.tree is None and bare not in seen.absent:
        return unverifiable_result("the files were not listed")
    if seen.tree and not seen.tree.truncated:
        endings = [each for each in seen.tree.entries if each.endswith(f"/{bare}")]
        if "." not in bare:  # people say README for README.md
            endings += [each for each in seen.tree.entries if each.startswith(f"{bare}.") and "/" not in each]
        if len(endings) == 1:
            return LocatedEntry(endings[0], seen.tree.entries[endings[0]])
        if endings:
            return unverifiable_result(f"{len(endings)} files have that name", GroundingTool.TREE)
    if not seen.knows_absent(bare):
        return unverifiable_result("the repository has more files than GitHub lists", GroundingTool.TREE)
    return _absent(bare, seen)


def unreadable_reason(path: str, entry: TreeEntry | None) -> str:
    """Why the file at the path is not read; empty where it may be."""
    if is_secret_path(path):
        return "a file that may hold secrets, which is never read"
    if entry is None:
        return ""
    match entry.kind:
        case EntryKind.FOLDER:
            return "a directory"
        case EntryKind.SUBMODULE:
            return "a submodule, whose files are in another repository"
        case EntryKind.SYMLINK:
            return "a symbolic link, which is not followed"
        case EntryKind.FILE:
            return "over 1 MB, and not read" if entry.size > MAX_FILE_SIZE else ""


def located_text(path: str, seen: Observations) -> tuple[str, FileText] | ClaimResult:
    """The file that was meant, with its lines; else what that shows."""
    found = locate_path(path, seen)
    if isinstance(found, ClaimResult):
        return found
    if why := unreadable_reason(found.path, found.entry):
        return unverifiable_result(f"`{found.path}` is {why}", GroundingTool.TREE, found.path)
    text = seen.files.get(found.path)
    if text is None:
        return unverifiable_result("the file was not read")
    if isinstance(text, UnreadableFile):
        return unverifiable_result(f"`{found.path}` is {text.reason}", GroundingTool.CONTENTS, found.path)
    return found.path, text


def _absent(path: str, seen: Observations) -> ClaimResult:
    nearest = nearest_path(path, seen.tree.entries.keys()) if seen.tree else None
    note = "that file is not in the repository"
    if nearest and differs_in_looks_only(path, nearest):
        note += ": it has letters of another alphabet"
    return contradicted_result(GroundingTool.TREE, note, nearest)


_LONGEST = 80
"""Characters of what a claim is about that a note repeats."""


@dataclass(frozen=True, slots=True)
class CommentAnchor:
    """The line that a comment was written at, as it read then."""

    text: str
    line: int | None = None
    before: tuple[str, ...] = ()


def verify_existence(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether the path is there."""
    found = locate_path(claim.path or "", seen)
    if isinstance(found, LocatedEntry):
        if claim.holds:
            return verified_result(GroundingTool.TREE, found.path)
        if found.path != (claim.path or "").rstrip("/"):
            return unverifiable_result(f"there is `{found.path}`", GroundingTool.TREE, found.path)
        return contradicted_result(
            GroundingTool.TREE, f"`{found.path}` is in the repository", path=found.path
        )
    if not claim.holds and found.outcome is ClaimOutcome.CONTRADICTED:
        return verified_result(GroundingTool.TREE)
    return found


def verify_contents(claim: Claim, seen: Observations) -> ClaimResult:  # noqa: PLR0911  one answer a case
    """Whether the file, or the line of it, has the words."""
    found = located_text(claim.path or "", seen)
    if isinstance(found, ClaimResult):
        return found
    path, text = found
    if claim.form is ClaimForm.EMPTY:
        empty = not any(line.strip() for line in text.lines)
        return (
            verified_result(GroundingTool.CONTENTS, path) if empty == claim.holds else _otherwise(path, empty)
        )
    if claim.line and claim.line > len(text.lines):
        return contradicted_result(
            GroundingTool.CONTENTS, f"the file has {_count(len(text.lines))}", path=path
        )
    hits = _hits(claim, text)
    if claim.line:
        return _on_line(claim, path, hits)
    loose = claim.subject if claim.form is ClaimForm.STATED else claim.subject.split("(")[0]
    if not claim.holds:
        if hits or _loose(loose, text.lines):
            return contradicted_result(
                GroundingTool.CONTENTS, f"{_subject(claim)} is there{_at(hits)}", path=path
            )
        return verified_result(GroundingTool.CONTENTS, path)
    if hits and claim.form is ClaimForm.CALLED and text.definitions is None:
        return unverifiable_result(
            f"{_subject(claim)} can not be told from a definition", GroundingTool.CONTENTS, path
        )
    if hits:
        return verified_result(GroundingTool.CONTENTS, path, hits[0])
    if _loose(loose, text.lines):
        return unverifiable_result(
            f"{_subject(claim)} is there only in another form", GroundingTool.CONTENTS, path
        )
    return contradicted_result(GroundingTool.CONTENTS, f"the file does not have {_subject(claim)}", path=path)


def verify_location(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether the thing stands at the place; a name without a line is resolved to its lines."""
    if claim.form in {ClaimForm.NAMED, ClaimForm.PLACE}:
        return verify_lines(claim, seen)
    found = located_text(claim.path or "", seen)
    if isinstance(found, ClaimResult):
        return found
    path, text = found
    if claim.form is ClaimForm.DEFINED:
        return _defined(claim, path, text)
    return _on_line(claim, path, _word_lines(claim.subject.removesuffix("()"), text.lines))


def verify_lines(claim: Claim, seen: Observations, anchor: CommentAnchor | None = None) -> ClaimResult:
    """Whether the lines are there; a line that moved is found again by its text."""
    found = located_text(claim.path or "", seen)
    if isinstance(found, ClaimResult):
        if claim.line is None and anchor is None:
            return verify_existence(claim, seen)
        return found
    path, text = found
    if anchor and anchor.text.strip():
        return _anchored(claim, path, text.lines, anchor)
    last = claim.end_line or claim.line or 0
    if last > len(text.lines):
        return contradicted_result(
            GroundingTool.CONTENTS, f"the file has {_count(len(text.lines))}", path=path
        )
    if claim.line and claim.end_line and claim.end_line < claim.line:
        return contradicted_result(GroundingTool.CONTENTS, "the last line is before the first", path=path)
    return verified_result(
        GroundingTool.CONTENTS if claim.line else GroundingTool.TREE, path, claim.line, claim.end_line
    )


def _anchored(claim: Claim, path: str, lines: Sequence[str], anchor: CommentAnchor) -> ClaimResult:
    wanted, last = anchor.text.strip(), claim.end_line or claim.line
    span = last - claim.line if last and claim.line else 0
    if last and last <= len(lines) and lines[last - 1].strip() == wanted:
        return _moved(verified_result(GroundingTool.CONTENTS, path, claim.line, claim.end_line), anchor, last)
    same = [number for number, line in enumerate(lines, 1) if line.strip() == wanted]
    at = _only(same, lines, anchor)
    if at is None:
        what = "is not there any more" if not same else "is there several times"
        return unverifiable_result(f"the line that was commented on {what}", GroundingTool.CONTENTS, path)
    start = max(at - span, 1)
    return _moved(
        verified_result(GroundingTool.CONTENTS, path, start, at if span else None), anchor, at, last
    )


def _moved(result: ClaimResult, anchor: CommentAnchor, at: int, last: int | None = None) -> ClaimResult:
    was = anchor.line or last
    return replace(result, moved_from=was) if was and was != at else result


def _only(same: list[int], lines: Sequence[str], anchor: CommentAnchor) -> int | None:
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


def _defined(claim: Claim, path: str, text: FileText) -> ClaimResult:
    name = claim.subject.split("(")[0].strip("#` ").strip()
    known = [each for each in text.definitions or () if _is_named(each, name)]
    if claim.line is None or not claim.holds:
        return _named_in(claim, path, name, known, text)
    at = [each for each in known if (each.first_line or each.line) <= claim.line <= each.line]
    if at:
        return verified_result(GroundingTool.CONTENTS, path, at[0].line, at[0].end_line)
    if known:
        lines = ", ".join(str(each.line) for each in known[:3])
        note = f"{_subject(claim)} is defined at line {lines}, not at {_lines(claim)}"
        return replace(contradicted_result(GroundingTool.CONTENTS, note, path=path), line=known[0].line)
    return _named_in(claim, path, name, known, text)


def _named_in(claim: Claim, path: str, name: str, known: list[Definition], text: FileText) -> ClaimResult:
    if known and claim.holds:
        if len(known) > 1:
            lines = " and ".join(str(each.line) for each in known[:3])
            return replace(verified_result(GroundingTool.CONTENTS, path), note=f"defined at lines {lines}")
        return verified_result(GroundingTool.CONTENTS, path, known[0].line, known[0].end_line)
    if known:
        note = f"{_subject(claim)} is defined at line {known[0].line}"
        return contradicted_result(GroundingTool.CONTENTS, note, path=path)
    if not _word_lines(_leaf(name), text.lines):
        if claim.holds:
            return contradicted_result(
                GroundingTool.CONTENTS, f"the file does not have {_subject(claim)}", path=path
            )
        return verified_result(GroundingTool.CONTENTS, path)
    return unverifiable_result(
        f"{_subject(claim)} is there, a definition was not found", GroundingTool.CONTENTS, path
    )


def _is_named(definition: Definition, name: str) -> bool:
    if definition.name == name or heading_slug(definition.name) == name:
        return True
    wanted, held = _parts(name), definition.name.replace("::", ".").split(".")
    return held[-len(wanted) :] == wanted


def heading_slug(heading: str) -> str:
    """A heading as GitHub's links name it."""
    kept = (sign for sign in heading.lower() if regex.is_word(sign) or sign in "- ")
    return "".join(kept).replace(" ", "-")


def _leaf(name: str) -> str:
    return _parts(name)[-1]


def _parts(name: str) -> list[str]:
    return name.replace("::", ".").replace("#", ".").split(".")


def _hits(claim: Claim, text: FileText) -> list[int]:
    if claim.form is ClaimForm.CALLED:
        call = regex.Regex(rf"(?:^|[^\w.]){regex.escape(claim.subject.split('(')[0])}\s*\(")
        made = {each.line for each in text.definitions or ()}
        return [n for n, line in enumerate(text.lines, 1) if call.search(_code(line)) and n not in made]
    if claim.form is ClaimForm.IMPORTED:
        return [number for number, line in enumerate(text.lines, 1) if _imports(line, claim.subject)]
    return _word_lines(claim.subject, text.lines)


def _imports(line: str, name: str) -> bool:
    start = _IMPORT.match(line) if name in line else None
    return start is not None and has_word(line, name, start.end())


_IMPORT = regex.Regex(r"\s*(?:import|from|use|#include|const|let|var|require)\b")
_NOT_CODE = regex.Regex(r"\"[^\"]*\"|'[^']*'|(?:#|//).*$")


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
    expression = regex.Regex(left + r"\s+".join(map(regex.escape, wanted.split())) + right)
    first = wanted.split()[0]
    return [number for number, line in enumerate(lines, 1) if first in line and expression.search(line)]


def _loose(words: str, lines: Sequence[str]) -> bool:
    wanted = "".join(words.split()).casefold()
    return any(wanted in "".join(line.split()).casefold() for line in lines)


def _on_line(claim: Claim, path: str, hits: list[int]) -> ClaimResult:
    first, last = claim.line or 0, claim.end_line or claim.line or 0
    there = [hit for hit in hits if first <= hit <= last]
    if there and claim.holds:
        return verified_result(GroundingTool.CONTENTS, path, claim.line, claim.end_line)
    if there:
        return contradicted_result(
            GroundingTool.CONTENTS, f"line {there[0]} has {_subject(claim)}", path=path
        )
    if not claim.holds:
        return verified_result(GroundingTool.CONTENTS, path, claim.line, claim.end_line)
    note = f"the file does not have {_subject(claim)}"
    if hits:
        at = ", ".join(map(str, hits[:3]))
        note = f"{_subject(claim)} is at line {at}, not at {_lines(claim)}"
    return replace(
        contradicted_result(GroundingTool.CONTENTS, note, path=path), line=hits[0] if len(hits) == 1 else None
    )


def _otherwise(path: str, empty: bool) -> ClaimResult:  # noqa: FBT001  a fact, not a switch
    return contradicted_result(
        GroundingTool.CONTENTS, "the file is empty" if empty else "the file has text", path=path
    )


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
