"""Which iteration's output is selected, by whom, and how it compares with the final one."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.override import Audit, Choice, Override
from bot.domain.trajectory import Scored, Trajectory, delta


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a selection is not taken, in words for the one who asked."""

    because: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best iteration against the final one."""

    best_iteration: int
    final_iteration: int
    delta: float | None
    """Final less best: never above 0."""
    decision: Choice


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected iteration, what the rule alone would have selected, and the override if one holds."""

    selected: Scored
    automatic: Scored
    final: Scored
    comparison: Comparison
    override: Override | None = None
    outdated: Override | None = None
    """An override of a head that the pull request has left."""

    @property
    def audit(self) -> Audit | None:
        """From what to what, where a person decided."""
        made = self.override
        if made is None:
            return None
        before, after = self.automatic.number, self.selected.number
        return Audit(made.by, made.at, made.reason, made.head, made.choice, before, after, made.by_id)


def asked(word: str, trajectory: Trajectory, reason: str) -> tuple[Choice, int | None] | Refused:
    """Return what `best`, `final` or a number asks for, or why that can't be done."""
    if not reason.strip():
        return Refused("Give a reason: `/feedback-select best reason: …`")
    known = {"best": Choice.USE_BEST, "final": Choice.USE_FINAL}
    if word.lower() in known:
        return known[word.lower()], None
    numbers = [scored.number for scored in trajectory.scored]
    if word in map(str, numbers):
        return Choice.USE_SPECIFIC, int(word)
    last = numbers[-1] if numbers else 0
    return Refused(f"Name `best`, `final` or an iteration from 1 to {last}.")


def select(trajectory: Trajectory, override: Override | None = None, head: str | None = None) -> Selection:
    """Return the selection: the highest score whatever its place, unless a person decided at this head.

    `head` is the pull request's present one, where that is not the final iteration's.
    """
    final = trajectory.final
    best = trajectory.best or final
    holds = override is not None and override.head == (head or final.head)
    made = override if holds else None
    return Selection(
        selected=_chosen(trajectory, made, best),
        automatic=best,
        final=final,
        comparison=Comparison(
            best_iteration=best.number,
            final_iteration=final.number,
            delta=delta(best, final),
            decision=made.choice if made else _decision(best, final),
        ),
        override=made,
        outdated=None if holds else override,
    )


def _decision(best: Scored, final: Scored) -> Choice:
    return Choice.USE_FINAL if best.number == final.number else Choice.USE_BEST


def _chosen(trajectory: Trajectory, override: Override | None, best: Scored) -> Scored:
    if override is None or override.choice is Choice.USE_BEST:
        return best
    if override.choice is Choice.USE_FINAL:
        return trajectory.final
    return next((each for each in trajectory.scored if each.number == override.iteration), best)
