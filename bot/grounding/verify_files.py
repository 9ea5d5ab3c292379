"""Verify claims about files: existence, contents, locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot import regex
from bot.definitions import Definition
from bot.grounding.model import UNREAD, Claim, ClaimForm, ClaimOutcome, ClaimResult, in_file, in_tree
from bot.markdown.format import format_count
from bot.markdown.scan import has_word
from bot.paths import MAX_FILE_SIZE, differs_in_looks_only, is_inside_repository, is_secret_path, nearest_path
from bot.pull_request.facts import EntryKind, FileText, Observations, TreeEntry, UnreadableFile


@dataclass(frozen=True, slots=True)
class LocatedEntry:
    """The file or folder at a path."""

    path: str
    entry: TreeEntry | None
    """None where GitHub showed the file without the tree around it."""


def locate_path(path: str, seen: Observations) -> LocatedEntry | ClaimResult:  # noqa: PLR0911  one answer a case
    """Find a file by its full path, or by the only path that ends so; otherwise return what that shows."""
    bare = path.rstrip("/").removeprefix("./")
    if not is_inside_repository(bare):
        return UNREAD.unverifiable("that is not a path in this repository")
    if entry := seen.entry(bare):
        return LocatedEntry(bare, entry)
    if isinstance(seen.files.get(bare), FileText):
        return LocatedEntry(bare, None)
    if seen.tree is None and bare not in seen.absent:
        return UNREAD.unverifiable("the files were not listed")
    if seen.tree and not seen.tree.truncated:
        entries = seen.tree.entries
        paths = [other for other in entries if other.endswith(f"/{bare}")]
        if "." not in bare:  # people say README for README.md
            paths += [other for other in entries if other.startswith(f"{bare}.") and "/" not in other]
        if len(paths) == 1:
            return LocatedEntry(paths[0], entries[paths[0]])
        if paths:
            return in_tree().unverifiable(f"{len(paths)} files have that name")
    if not seen.knows_absent(bare):
        return in_tree().unverifiable("the repository has more files than GitHub lists")
    return _absent(bare, seen)


def unreadable_reason(path: str, entry: TreeEntry | None) -> str:
    """Return why the file at the path is not read; empty if it may be."""
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
            return "larger than 1 MB" if entry.size > MAX_FILE_SIZE else ""


def located_text(path: str, seen: Observations) -> tuple[str, FileText] | ClaimResult:
    """Return the file's full path and text; otherwise what that shows."""
    located = locate_path(path, seen)
    if isinstance(located, ClaimResult):
        return located
    if reason := unreadable_reason(located.path, located.entry):
        return in_tree(located.path).unverifiable(f"`{located.path}` is {reason}")
    text = seen.files.get(located.path)
    if text is None:
        return UNREAD.unverifiable("the file was not read")
    if isinstance(text, UnreadableFile):
        return in_file(located.path).unverifiable(f"`{located.path}` is {text.reason}")
    return located.path, text


def _absent(path: str, seen: Observations) -> ClaimResult:
    nearest = nearest_path(path, seen.tree.entries.keys()) if seen.tree else None
    note = "that file is not in the repository"
    if nearest and differs_in_looks_only(path, nearest):
        note += ": it has letters of another alphabet"
    return in_tree().contradicted(note, nearest)


_LONGEST = 80
"""Characters of a claim's subject that a note repeats."""


@dataclass(frozen=True, slots=True)
class CommentAnchor:
    """The line that a comment was written at, as it read then."""

    text: str
    line: int | None = None
    before: tuple[str, ...] = ()


def verify_existence(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that the path exists."""
    located = locate_path(claim.path or "", seen)
    if isinstance(located, ClaimResult):
        is_absent = located.outcome is ClaimOutcome.CONTRADICTED
        return in_tree().verified() if is_absent and not claim.holds else located
    path = located.path
    if claim.holds:
        return in_tree(path).verified()
    if path != (claim.path or "").rstrip("/"):
        return in_tree(path).unverifiable(f"there is `{path}`")
    return in_tree(path).contradicted(f"`{path}` is in the repository")


def verify_contents(claim: Claim, seen: Observations) -> ClaimResult:  # noqa: PLR0911  one answer a case
    """Verify that the file, or a line of it, has the text."""
    located = located_text(claim.path or "", seen)
    if isinstance(located, ClaimResult):
        return located
    path, text = located
    if claim.form is ClaimForm.EMPTY:
        return _verify_empty(claim, path, text)
    if claim.line and claim.line > len(text.lines):
        return in_file(path).contradicted(f"the file has {format_count(len(text.lines), 'line')}")
    hits = _hits(claim, text)
    if claim.line:
        return _on_line(claim, path, hits)
    loose = claim.subject if claim.form is ClaimForm.STATED else claim.subject.split("(")[0]
    if not claim.holds:
        if hits or _loose(loose, text.lines):
            return in_file(path).contradicted(f"{_subject(claim)} is there{_at(hits)}")
        return in_file(path).verified()
    if hits and claim.form is ClaimForm.CALLED and text.definitions is None:
        return in_file(path).unverifiable(f"{_subject(claim)} can't be told apart from a definition")
    if hits:
        return in_file(path).verified(hits[0])
    if _loose(loose, text.lines):
        return in_file(path).unverifiable(f"{_subject(claim)} occurs only in a different form")
    return in_file(path).contradicted(f"the file does not have {_subject(claim)}")


def _verify_empty(claim: Claim, path: str, text: FileText) -> ClaimResult:
    is_empty = not any(line.strip() for line in text.lines)
    note = "the file is empty" if is_empty else "the file has text"
    return in_file(path).decided(is_empty == claim.holds, note)


def verify_location(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that something is at a location; a definition without a line is resolved to its lines."""
    if claim.form in {ClaimForm.NAMED, ClaimForm.PLACE}:
        return verify_lines(claim, seen)
    located = located_text(claim.path or "", seen)
    if isinstance(located, ClaimResult):
        return located
    path, text = located
    if claim.form is ClaimForm.DEFINED:
        return _verify_defined(claim, path, text)
    return _on_line(claim, path, _word_lines(claim.subject.removesuffix("()"), text.lines))


def verify_lines(claim: Claim, seen: Observations, anchor: CommentAnchor | None = None) -> ClaimResult:
    """Verify that the lines exist; one that moved is found again by its text, a named part by its name."""
    located = located_text(claim.path or "", seen)
    if isinstance(located, ClaimResult):
        return verify_existence(claim, seen) if claim.line is None and anchor is None else located
    path, text = located
    if anchor and anchor.text.strip():
        return _verify_anchored(claim, path, text.lines, anchor)
    last = claim.end_line or claim.line or 0
    if last > len(text.lines):
        return in_file(path).contradicted(f"the file has {format_count(len(text.lines), 'line')}")
    if claim.line and claim.end_line and claim.end_line < claim.line:
        return in_file(path).contradicted("the last line is before the first")
    if claim.subject and len(definitions := _definitions(claim.subject, text)) == 1:
        return in_file(path).verified(definitions[0].line, definitions[0].end_line)
    source = in_file(path) if claim.line else in_tree(path)
    return source.verified(claim.line, claim.end_line)


def _verify_anchored(claim: Claim, path: str, lines: Sequence[str], anchor: CommentAnchor) -> ClaimResult:
    wanted, last = anchor.text.strip(), claim.end_line or claim.line
    span = last - claim.line if last and claim.line else 0
    if last and last <= len(lines) and lines[last - 1].strip() == wanted:
        return _moved(in_file(path).verified(claim.line, claim.end_line), anchor, last)
    same = [number for number, line in enumerate(lines, 1) if line.strip() == wanted]
    at = _only(same, lines, anchor)
    if at is None:
        what = "is no longer there" if not same else "occurs several times"
        return in_file(path).unverifiable(f"the line that was commented on {what}")
    start = max(at - span, 1)
    return _moved(in_file(path).verified(start, at if span else None), anchor, at, last)


def _moved(result: ClaimResult, anchor: CommentAnchor, at: int, last: int | None = None) -> ClaimResult:
    was = anchor.line or last
    return replace(result, moved_from=was) if was and was != at else result


def _only(same: list[int], lines: Sequence[str], anchor: CommentAnchor) -> int | None:
    """Return the only line with the same text; of several, the one with the same lines before it."""
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


def _verify_defined(claim: Claim, path: str, text: FileText) -> ClaimResult:
    name, definitions = _bare_name(claim.subject), _definitions(claim.subject, text)
    if not definitions or claim.line is None or not claim.holds:
        return _verify_defined_anywhere(claim, path, name, definitions, text)
    at_line = [one for one in definitions if (one.first_line or one.line) <= claim.line <= one.line]
    if at_line:
        return in_file(path).verified(at_line[0].line, at_line[0].end_line)
    lines = ", ".join(str(one.line) for one in definitions[:3])
    note = f"{_subject(claim)} is defined at line {lines}, not at {_lines(claim)}"
    return replace(in_file(path).contradicted(note), line=definitions[0].line)


def _verify_defined_anywhere(
    claim: Claim, path: str, name: str, definitions: list[Definition], text: FileText
) -> ClaimResult:
    if definitions and claim.holds:
        if len(definitions) > 1:
            lines = " and ".join(str(one.line) for one in definitions[:3])
            return replace(in_file(path).verified(), note=f"defined at lines {lines}")
        return in_file(path).verified(definitions[0].line, definitions[0].end_line)
    if definitions:
        note = f"{_subject(claim)} is defined at line {definitions[0].line}"
        return in_file(path).contradicted(note)
    if not _word_lines(_name_parts(name)[-1], text.lines):
        return in_file(path).decided(not claim.holds, f"the file does not have {_subject(claim)}")
    return in_file(path).unverifiable(f"{_subject(claim)} is there, but no definition was found")


def _bare_name(subject: str) -> str:
    return subject.split("(", maxsplit=1)[0].strip("#` ").strip()


def _definitions(subject: str, text: FileText) -> list[Definition]:
    name = _bare_name(subject)
    return [definition for definition in text.definitions or () if _is_named(definition, name)]


def _is_named(definition: Definition, name: str) -> bool:
    if definition.name == name or heading_slug(definition.name) == name:
        return True
    wanted, held = _name_parts(name), definition.name.replace("::", ".").split(".")
    return held[-len(wanted) :] == wanted


def heading_slug(heading: str) -> str:
    """Return a heading's anchor in GitHub's links."""
    kept = (sign for sign in heading.lower() if regex.is_word(sign) or sign in "- ")
    return "".join(kept).replace(" ", "-")


def _name_parts(name: str) -> list[str]:
    return name.replace("::", ".").replace("#", ".").split(".")


def _hits(claim: Claim, text: FileText) -> list[int]:
    if claim.form is ClaimForm.CALLED:
        call = regex.Regex(rf"(?:^|[^\w.]){regex.escape(claim.subject.split('(')[0])}\s*\(")
        defined = {definition.line for definition in text.definitions or ()}
        return [n for n, line in enumerate(text.lines, 1) if call.search(_code(line)) and n not in defined]
    if claim.form is ClaimForm.IMPORTED:
        return [number for number, line in enumerate(text.lines, 1) if _imports(line, claim.subject)]
    return _word_lines(claim.subject, text.lines)


def _imports(line: str, name: str) -> bool:
    start = _IMPORT.match(line) if name in line else None
    return start is not None and has_word(line, name, start.end())


_IMPORT = regex.Regex(r"\s*(?:import|from|use|#include|const|let|var|require)\b")
_NOT_CODE = regex.Regex(r"\"[^\"]*\"|'[^']*'|(?:#|//).*$")


def _code(line: str) -> str:
    """Return the line without strings and comments."""
    return _NOT_CODE.sub("", line)


def _word_lines(words: str, lines: Sequence[str]) -> list[int]:
    """Return the lines that have the words, not as part of a longer word or number."""
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
        return in_file(path).verified(claim.line, claim.end_line)
    if there:
        return in_file(path).contradicted(f"line {there[0]} has {_subject(claim)}")
    if not claim.holds:
        return in_file(path).verified(claim.line, claim.end_line)
    note = f"the file does not have {_subject(claim)}"
    if hits:
        at = ", ".join(map(str, hits[:3]))
        note = f"{_subject(claim)} is at line {at}, not at {_lines(claim)}"
    return replace(in_file(path).contradicted(note), line=hits[0] if len(hits) == 1 else None)


def _subject(claim: Claim) -> str:
    """Return the claim's subject as code: a note may be far from the text that it answers."""
    return f"`{' '.join(claim.subject.split())[:_LONGEST]}`" if claim.subject.strip() else "that"


def _lines(claim: Claim) -> str:
    if claim.end_line and claim.end_line != claim.line:
        return f"lines {claim.line} to {claim.end_line}"
    return f"line {claim.line}"


def _at(hits: list[int]) -> str:
    return f", at line {hits[0]}" if hits else ""
