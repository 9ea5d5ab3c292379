"""How are the new App's credentials kept: in `.env`, readable by its owner alone?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from bot.domain import regex

_ASSIGNMENT = regex.Pattern(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*"
    r"(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\n]*)[^\n]*(?:\n|\z)"
)


def keep(path: Path, values: Mapping[str, str]) -> None:
    """The file with these values; what else it sets stays, and nobody ever sees half of it."""
    path = path.resolve()  # a link goes on leading to the file that others read
    # What is not UTF-8 is the reader's to name; here it must not cost the key that GitHub shows once.
    before = path.read_bytes().decode("utf-8-sig", "surrogateescape") if path.exists() else ""
    kept = _without(before, values)
    if kept and not kept.endswith("\n"):
        kept += "\n"
    text = kept + "".join(f"{name}={_quoted(value)}\n" for name, value in values.items())
    with _beside(path) as (file, name):
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
        name.replace(path)


def _without(text: str, names: Container[str]) -> str:
    """Return the text less the lines that set these names; by offsets, so that every byte else stays."""
    done, parts = 0, []
    for found in _ASSIGNMENT.finditer(text):
        if found["name"] in names:
            parts.append(text[done : found.start()])
            done = found.end()
    return "".join((*parts, text[done:]))


def try_out(path: Path) -> None:
    """Raise now what would keep the credentials from being kept later."""
    path = path.resolve()
    if path.exists():
        keep(path, {})
        return
    with _beside(path):
        pass


@contextmanager
def _beside(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file next to this one, gone at the end unless it took that one's place."""
    # mkstemp's file is for its owner alone from the first moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".env-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("$", "\\$")
    return f'"{escaped}"'
