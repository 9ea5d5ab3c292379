"""Print tables and progress on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from bot import regex
from bot.cli import UsageError

if TYPE_CHECKING:
    from rich.text import Text

Row = TypeVar("Row")

STYLES: Mapping[str, str] = {
    "ok": "green",
    "note": "yellow",
    "error": "bold red",
    "improving": "green",
    "worsening": "red",
}
"""How a state is coloured, by the cell's text."""


def is_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty()


def prompt_for_input(what: str) -> None:
    """Tell a person at a terminal what to type, since nothing else would be seen."""
    if sys.stdin is None:
        raise UsageError(f"standard input is closed; expected {what}")
    if sys.stdin.isatty():
        print(f"Type or paste {what}, then press Ctrl-D.", file=sys.stderr, flush=True)


def track_progress(items: Iterable[Row], what: str, total: int | None = None) -> Iterator[Row]:
    """Yield the items with a progress bar on a terminal, and one line elsewhere."""
    if not sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr, flush=True)
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int | None, str], None]]:
    """Yield a function that shows a job's progress: a bar on a terminal, elsewhere each new note."""
    if not sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr, flush=True)
        last = ""

        def print_note(_done: int, _total: int | None, note: str) -> None:
            nonlocal last
            if note not in {"", last}:
                print(note, file=sys.stderr, flush=True)
            last = note

        yield print_note
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)

        def show(done: int, total: int | None, note: str) -> None:
            progress.update(
                task, completed=done, total=total, description=f"{what}: {note}" if note else what
            )

        yield show


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print the rows as a table on a terminal; in a pipe as tab-separated lines."""
    if not is_terminal():
        for row in rows:
            print("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings, box=None, pad_edge=False, header_style="dim")
    for row in rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    Console().print(table)


_TITLE_STYLES: Mapping[str, str] = {
    "[BLOCK]": "bold red",
    "[WARN]": "bold yellow",
    "Rejected": "bold red",
    "Resolved": "bold green",
    "Merged": "bold green",
}
"""How bold text is coloured, by its first word."""
# A code span that contains backticks stands between two or three of them.
_SPAN = regex.Regex(
    r"\*\*(?P<bold>[^*]+)\*\*|```\s?(?P<triple>.+?)\s?```|``\s?(?P<double>.+?)\s?``|`(?P<code>[^`]+)`"
)


def print_markdown(text: str) -> None:
    """Print Markdown with colours on a terminal, and as it is in a pipe."""
    if not is_terminal():
        print(text)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for block in text.split("\n\n"):
        if block.startswith("|"):
            headings, _, *rows = [
                [cell.strip() for cell in line.strip("|").replace("**", "").replace("`", "").split("|")]
                for line in block.splitlines()
            ]
            print_table(headings, rows)
        else:
            console.print(_style_spans(block))
        console.print()


def _style_spans(block: str) -> Text:
    from rich.text import Text

    if block.startswith("#"):
        return Text(block.lstrip("# "), style="bold underline" if block.startswith("# ") else "bold")
    styled, end = Text(), 0
    for span in _SPAN.finditer(block):
        styled.append(block[end : span.start()])
        if bold := span["bold"]:
            styled.append(bold, _TITLE_STYLES.get(bold.split()[0], "bold"))
        else:
            styled.append(span["code"] or span["double"] or span["triple"], "cyan")
        end = span.end()
    return styled.append(block[end:])
