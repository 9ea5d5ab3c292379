"""How is a Mermaid chart drawn? The one kind that the bot writes: bars with a line over them."""

from __future__ import annotations

import html
from collections.abc import Iterator

import re2

_WIDE, _HIGH = 60, 160
_LEFT, _TOP, _BOTTOM = 34, 30, 24
_STEPS = 4


_SERIES = re2.compile(r"(?m)^\s*(bar|line) \[([^\]]*)\]")
_NAMES = re2.compile(r"x-axis \[([^\]]*)\]")
_TITLE = re2.compile(r'(?m)^\s*title "([^"]*)"')
_TOP_END = re2.compile(r"(?m)^\s*y-axis .*--> *(\d+)")


def chart(text: str) -> str:
    """The chart as a picture, or nothing where it is of another kind."""
    numbers = {kind: [float(each) for each in found.split(",")] for kind, found in _SERIES.findall(text)}
    names = _NAMES.search(text)
    if set(numbers) != {"bar", "line"} or not names:
        return ""
    title = _TITLE.search(text)
    end = _TOP_END.search(text)
    top = max(*numbers["bar"], *numbers["line"], float(end[1]) if end else 1)
    parts = [
        *_scale(top, len(numbers["bar"])),
        *_bars(numbers["bar"], top),
        f'<polyline points="{_points(numbers["line"], top)}"/>',
        *_labels(names[1].split(",")),
    ]
    wide = _LEFT + len(numbers["bar"]) * _WIDE
    told = html.escape(title[1]) if title else ""
    heading = f'<text class="title" x="{wide / 2:.0f}" y="12">{told}</text>' if told else ""
    size = f"0 0 {wide} {_TOP + _HIGH + _BOTTOM}"
    drawn = "".join(parts)
    return f'<svg class="chart" viewBox="{size}" role="img" aria-label="{told}">{heading}{drawn}</svg>'


def _height(value: float, top: float) -> float:
    return _TOP + _HIGH - value / top * _HIGH


def _scale(top: float, count: int) -> Iterator[str]:
    """Thin lines across, each with its number."""
    step = max(1, round(top / _STEPS))
    for value in range(0, int(top) + 1, step):
        at = _height(value, top)
        yield f'<path d="M{_LEFT} {at:.0f}h{count * _WIDE}"/>'
        yield f'<text class="scale" x="{_LEFT - 8}" y="{at + 4:.0f}">{value}</text>'


def _bars(values: list[float], top: float) -> Iterator[str]:
    for at, value in enumerate(values):
        high = _height(value, top)
        yield (
            f'<rect x="{_LEFT + at * _WIDE + 14}" y="{high:.0f}" width="32" '
            f'height="{_TOP + _HIGH - high:.0f}"/>'
        )


def _points(values: list[float], top: float) -> str:
    return " ".join(f"{_LEFT + at * _WIDE + 30},{_height(value, top):.0f}" for at, value in enumerate(values))


def _labels(names: list[str]) -> Iterator[str]:
    for at, name in enumerate(names):
        yield (
            f'<text x="{_LEFT + at * _WIDE + 30}" y="{_TOP + _HIGH + 18}">{html.escape(name.strip())}</text>'
        )
