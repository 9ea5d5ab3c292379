"""How does a list look: a table in colours on a terminal, plain lines in a pipe?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

STYLES: Mapping[str, str] = {"fine": "green", "note": "yellow", "wrong": "bold red"}
"""How a state is coloured, by the cell's text."""


def is_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty()


def following(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a bar on the terminal that shows how far it is; one line where nobody looks."""
    if not sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr, flush=True)
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)


def show(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The rows as a table on a terminal; in a pipe one line each, the cells parted by tabs."""
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
