"""The weeks as a Mermaid chart and as a table with the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.domain.summary import WeekTotal

_FRONT = """---
config:
  xyChart:
    width: 820
    height: 260
  themeVariables:
    xyChart:
      plotColorPalette: "#cf222e, #0969da"
---"""


def chart(weeks: Sequence[WeekTotal]) -> str:
    """Bars for the rejected, a line for all that were judged; size and colours are set for both themes."""
    judged = [week.judged for week in weeks]
    return "\n".join(
        (
            _FRONT,
            "xychart-beta",
            '    title "Rejected pull requests (bars) of all judged (line)"',
            f"    x-axis [{', '.join(_name(week) for week in weeks)}]",
            f'    y-axis "Pull requests" 0 --> {_top(max(judged, default=0))}',
            f"    bar [{', '.join(str(week.rejected) for week in weeks)}]",
            f"    line [{', '.join(map(str, judged))}]",
        )
    )


def chart_table(weeks: Sequence[WeekTotal]) -> str:
    """The chart's numbers for whoever can't see it."""
    return "\n".join(
        (
            _row("Week", (_name(week) for week in weeks)),
            f"|---|{'--:|' * len(weeks)}",
            _row("Judged", (str(week.judged) for week in weeks)),
            _row("Rejected", (str(week.rejected) for week in weeks)),
        )
    )


def _name(total: WeekTotal) -> str:
    return f"W{total.week.number:02}"


def _top(most: int) -> int:
    """The axis ends at a round number that holds the highest point."""
    step: int = 10 ** max(len(str(most)) - 1, 1)
    return max(-(-most // step), 1) * step


def _row(name: str, cells: Iterable[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"
