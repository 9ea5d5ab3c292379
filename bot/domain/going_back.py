"""How an author takes over the files of an earlier iteration, without rewriting history."""

from __future__ import annotations

import shlex

from bot.domain import regex
from bot.domain.diff import Diff
from bot.domain.trajectory import Scored

MOST_FILES = 30

_MAGIC = regex.Pattern(r"[*?\[\\]|^:")  # git reads these in a path as a pattern
_UNSHOWABLE = regex.Pattern(r"[\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}]|<!--|```")


def differing(earlier: Diff, present: Diff) -> tuple[str, ...]:
    """Return the files that are not the same in both; one that only the present has is removed by git."""
    paths = dict.fromkeys(file.path for file in (*earlier.files, *present.files))
    return tuple(path for path in paths if _blob(earlier, path) != _blob(present, path))


def same_files(earlier: Scored, present: Scored) -> bool:
    """Whether going back would change nothing, as after a rebase without change."""
    before, now = earlier.snapshot.diff, present.snapshot.diff
    return before is not None and now is not None and not differing(before, now)


def commands(earlier: Scored, present: Scored) -> tuple[str, ...]:
    """Return the shell lines that bring the earlier files back."""
    return (
        f"git fetch origin {earlier.head}",
        f"git restore --source=FETCH_HEAD --staged --worktree -- {_names(earlier, present)}",
    )


def _names(earlier: Scored, present: Scored) -> str:
    """Return the files as arguments; a word to replace where they are not known, too many, or unshowable."""
    before, now = earlier.snapshot.diff, present.snapshot.diff
    paths = differing(before, now) if before is not None and now is not None else ()
    if not paths or len(paths) > MOST_FILES or any(map(_UNSHOWABLE.search, paths)):
        return "FILES"
    return " ".join(map(_argument, paths))


def _blob(diff: Diff, path: str) -> tuple[str, str | None] | None:
    """Return what a file is at a revision: None where the pull request leaves it as the base has it."""
    file = diff.get(path)
    return None if file is None else ("gone" if file.status == "removed" else "file", file.blob)


def _argument(path: str) -> str:
    return shlex.quote(f":(literal){path}" if _MAGIC.search(path) else path)
