"""Which file of the revision does a written path mean?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.grounding.observations import Entry, EntryKind, Observations, Text, Unread
from bot.domain.grounding.paths import LARGEST_FILE, differs_in_looks_only, is_inside, is_secret, nearest_path
from bot.domain.grounding.result import Result, Tool, contradicted, unverifiable


@dataclass(frozen=True, slots=True)
class Found:
    """The file or folder that was meant."""

    path: str
    entry: Entry | None
    """None where GitHub showed the file without the tree around it."""


def locate(path: str, seen: Observations) -> Found | Result:  # noqa: PLR0911  one answer a case
    """The thing at the path, by its full path or by the only one that ends so; else what that shows."""
    bare = path.rstrip("/").removeprefix("./")
    if not is_inside(bare):
        return unverifiable("that is no path of this repository")
    if entry := seen.entry(bare):
        return Found(bare, entry)
    if isinstance(seen.files.get(bare), Text):
        return Found(bare, None)
    if seen.tree is None and bare not in seen.absent:
        return unverifiable("the files were not listed")
    if seen.tree and not seen.tree.truncated:
        endings = [each for each in seen.tree.entries if each.endswith(f"/{bare}")]
        if "." not in bare:  # people say README for README.md
            endings += [each for each in seen.tree.entries if each.startswith(f"{bare}.") and "/" not in each]
        if len(endings) == 1:
            return Found(endings[0], seen.tree.entries[endings[0]])
        if endings:
            return unverifiable(f"{len(endings)} files have that name", Tool.TREE)
    if not seen.knows_absent(bare):
        return unverifiable("the repository has more files than GitHub lists", Tool.TREE)
    return _absent(bare, seen)


def readable(path: str, entry: Entry | None) -> str:
    """Why the file at the path is not read; empty where it may be."""
    if is_secret(path):
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
            return "over 1 MB, and not read" if entry.size > LARGEST_FILE else ""


def text_of(path: str, seen: Observations) -> tuple[str, Text] | Result:
    """The file that was meant, with its lines; else what that shows."""
    found = locate(path, seen)
    if isinstance(found, Result):
        return found
    if why := readable(found.path, found.entry):
        return unverifiable(f"`{found.path}` is {why}", Tool.TREE, found.path)
    text = seen.files.get(found.path)
    if text is None:
        return unverifiable("the file was not read")
    if isinstance(text, Unread):
        return unverifiable(f"`{found.path}` is {text.why}", Tool.CONTENTS, found.path)
    return found.path, text


def _absent(path: str, seen: Observations) -> Result:
    nearest = nearest_path(path, seen.tree.entries.keys()) if seen.tree else None
    note = "that file is not in the repository"
    if nearest and differs_in_looks_only(path, nearest):
        note += ": it has letters of another alphabet"
    return contradicted(Tool.TREE, note, nearest)
