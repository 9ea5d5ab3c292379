"""How are the new App's credentials kept: in `.env`, readable by its owner alone?"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

_ASSIGNMENT = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*"
    r"(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\n]*)[^\n]*(?:\n|\Z)",
    re.MULTILINE,
)


def keep(path: Path, values: Mapping[str, str]) -> None:
    """The file with these values; what else it sets stays, and nobody ever sees half of it."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    kept = _ASSIGNMENT.sub(lambda found: "" if found["name"] in values else found[0], before)
    if kept and not kept.endswith("\n"):
        kept += "\n"
    text = kept + "".join(f"{name}={_quoted(value)}\n" for name, value in values.items())
    # mkstemp's file is for its owner alone from the first moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".env-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("$", "\\$")
    return f'"{escaped}"'
