"""How a selection reads: the Output Selection Report, in the document's headings, every tick computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.domain.degradation import Degradation
from bot.domain.escape import code_span
from bot.domain.links import person, short
from bot.domain.scoring import counted_checks
from bot.domain.selection import Selection
from bot.domain.trajectory import Scored, Trajectory, percents

MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the report says."""

    name: str
    """`owner/repo#7`, the document's loop id."""
    trajectory: Trajectory
    selection: Selection
    degradations: tuple[Degradation, ...]
    """One for each iteration from the second on."""
    threshold: float
    merged: bool = False

    @property
    def scored(self) -> tuple[Scored, ...]:
        """The iterations in order."""
        return self.trajectory.scored

    def percent(self, scored: Scored) -> str:
        """The score of an iteration as every part of the report writes it."""
        return dict(zip((each.number for each in self.scored), percents(self.scored), strict=True))[
            scored.number
        ]


def render(report: Report) -> str:
    """Return the report as Markdown; it is advice, and says so."""
    selected = report.selection.selected.number
    parts = [
        "## Output Selection Report",
        "\n".join(
            (
                f"**Loop ID**: {report.name}",
                f"**Total Iterations**: {len(report.scored)}",
                f"**Selected Iteration**: {selected}",
            )
        ),
        "### Quality Scores",
        _scores(report),
        "### Selection Rationale",
        f"Iteration {selected} selected because:\n" + _bullets(rationale(report)),
        "### Artifacts Applied",
        _artifacts(report),
        "### Validation Checklist",
        "\n".join(f"- [{'x' if done else ' '}] {text}" for done, text in checklist(report)),
    ]
    return "\n\n".join(parts) + "\n"


def rationale(report: Report) -> tuple[str, ...]:
    """Return why this iteration was selected, the comparison last."""
    return tuple(_reasons(report))


def checklist(report: Report) -> tuple[tuple[bool, str], ...]:
    """Return the document's seven points, each with whether it holds here."""
    gone = [each for each in report.scored if not _is_kept(each)]
    unscored = [each.number for each in report.scored if each.score is None]
    made = report.selection.override
    worse = [str(found.iteration) for found in report.degradations if found.flagged]
    looked = len(report.degradations) == len(report.scored) - 1
    return (
        (not gone, _with("All iteration outputs preserved", _missing(gone))),
        (not unscored, _with("Quality score calculated for each iteration", _listed("not for", unscored))),
        (_is_maintained(report.trajectory), "Best tracker maintained throughout"),
        (
            report.selection.selected.number == report.selection.automatic.number,
            _with("Selection based on quality, not recency", f"{person(made.by)} decided" if made else ""),
        ),
        (bool(rationale(report)), "Selection decision logged with rationale"),
        (len(report.scored) > 1, "Override option available if needed (`/feedback-select`)"),
        (looked, _with("Degradation patterns detected", _listed("in iteration", worse) or "none")),
    )


def _scores(report: Report) -> str:
    rows = ["| Iteration | Quality | Status |", "|-----------|---------|--------|"]
    for scored in report.scored:
        words = [
            "✓ SELECTED" if scored.number == report.selection.selected.number else "",
            "(final)" if scored.number == report.selection.final.number else "",
        ]
        status = " ".join(word for word in words if word)
        rows.append(f"| {scored.number} | {report.percent(scored)} | {status} |".replace("|  |", "| |"))
    return "\n".join(rows)


def _reasons(report: Report) -> Iterator[str]:
    selection, selected, final = report.selection, report.selection.selected, report.selection.final
    if made := selection.override:
        yield f"{person(made.by)} {_decided(selection)}: {code_span(made.reason)}"
    elif selected.score is None:
        yield "No iteration could be scored, so the final one stands"
    elif selected.number != final.number:
        yield f"Highest quality score ({report.percent(selected)} vs {report.percent(final)} final)"
    else:
        yield f"Highest quality score ({report.percent(selected)}), and the final iteration"
    if old := selection.outdated:
        yield f"The selection of {person(old.by)} was for {code_span(short(old.head))}, no longer the head"
    yield from (
        f"Quality degraded in iteration {each.iteration}" for each in report.degradations if each.degraded
    )
    yield from _checks(selected)
    if selected.quality is not None and selected.quality < report.threshold:
        yield f"Below the threshold for acceptance ({report.threshold:.0%}); the score overrules nobody"
    yield _compared(report)


def _decided(selection: Selection) -> str:
    automatic = selection.automatic.number
    same = selection.selected.number == automatic
    return "confirmed it" if same else f"selected it instead of iteration {automatic}"


def _checks(selected: Scored) -> Iterator[str]:
    checks = counted_checks(selected.snapshot.checks)
    failed = sum(check.failed for check in checks)
    if checks:
        yield (
            f"{failed} of {len(checks)} validation checks failed"
            if failed
            else "All validation checks passed"
        )


def _compared(report: Report) -> str:
    compared, selection = report.selection.comparison, report.selection
    change = "–" if compared.delta is None else _points(compared.delta * 100)
    return (
        f"best_iteration: {compared.best_iteration} ({report.percent(selection.automatic)}), "
        f"final_iteration: {compared.final_iteration} ({report.percent(selection.final)}), "
        f"delta: {change}, decision: {compared.decision}"
    )


def _points(change: float) -> str:
    return f"{change:+.4g} point{'' if abs(change) == 1 else 's'}" if change else "0 points"


def _artifacts(report: Report) -> str:
    selected, final = report.selection.selected, report.selection.final
    files = selected.snapshot.diff.files if selected.snapshot.diff else ()
    lines = [
        f"- {code_span(file.path, 200)} (from iteration {selected.number})" for file in files[:MOST_FILES]
    ]
    if len(files) > MOST_FILES:
        lines.append(f"- and {len(files) - MOST_FILES} more")
    if selected.number == final.number:
        state = "They are what was merged." if report.merged else "They are what the branch has."
    else:
        state = "Not applied: the selection is advice, and nothing is written to the branch."
    return "\n".join([*(lines or ["- the files are not known"]), "", state])


def _bullets(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _is_kept(scored: Scored) -> bool:
    return scored.snapshot.available and scored.snapshot.diff is not None


def _missing(gone: list[Scored]) -> str:
    return ", ".join(
        f"iteration {each.number} {code_span(short(each.head))} is gone from GitHub, its hashes are kept"
        if each.snapshot.diff is not None
        else f"the files of iteration {each.number} {code_span(short(each.head))} are not known"
        for each in gone
    )


def _is_maintained(trajectory: Trajectory) -> bool:
    """Whether after every iteration the tracked best was the highest of those so far."""
    known = {each.number: each.quality for each in trajectory.scored}
    return all(
        number is not None
        and known[number] == max(quality for quality in list(known.values())[:count] if quality is not None)
        for count, number in enumerate(trajectory.trail, 1)
    )


def _with(text: str, remark: str) -> str:
    return f"{text}: {remark}" if remark else text


def _listed(lead: str, numbers: list[str] | list[int]) -> str:
    return f"{lead} {', '.join(map(str, numbers))}" if numbers else ""
