"""How the quality of a pull request went from iteration to iteration, and which was the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.domain.gates import Gates
from bot.domain.rules import Band
from bot.domain.scoring import PLACES, Score, Snapshot, counted_checks, score
from bot.domain.weights import Weights


@dataclass(frozen=True, slots=True)
class Scored:
    """An iteration with its score; None where nothing observed it."""

    snapshot: Snapshot
    score: Score | None

    @property
    def number(self) -> int:
        """The iteration's number."""
        return self.snapshot.iteration.number

    @property
    def head(self) -> str:
        """The commit that was judged."""
        return self.snapshot.iteration.head

    @property
    def quality(self) -> float | None:
        """The score's value."""
        return None if self.score is None else self.score.value

    @property
    def failed_checks(self) -> int:
        """How many checks ended badly."""
        return sum(check.failed for check in counted_checks(self.snapshot.checks))


@dataclass(frozen=True, slots=True)
class Trajectory:
    """All iterations of a pull request in order, and the number of the one that it is in."""

    scored: tuple[Scored, ...]
    present: int

    @property
    def best(self) -> Scored | None:
        """The highest score of all; of equal ones the earliest."""
        return best(self.scored)

    @property
    def final(self) -> Scored:
        """The iteration that the branch shows: the last, or one that it was forced back to."""
        return next(scored for scored in self.scored if scored.number == self.present)

    @property
    def trail(self) -> tuple[int | None, ...]:
        """The number of the best after each iteration."""
        bests = (best(self.scored[: count + 1]) for count in range(len(self.scored)))
        return tuple(None if found is None else found.number for found in bests)


def trajectory(
    snapshots: Sequence[Snapshot], present: int, gates: Gates, weights: Weights, band: Band
) -> Trajectory:
    """Return the trajectory as known now: a check that ends late changes the score of its own iteration.

    One that somebody rejects without a word on what is wrong is not known to be better than any other.
    """
    scored = (
        Scored(each, None if each.iteration.is_refused_unnamed else score(each, gates, weights, band))
        for each in snapshots
    )
    return Trajectory(tuple(scored), present)


def best(scored: Iterable[Scored]) -> Scored | None:
    """Return the running best: only a strictly greater score replaces it, so a tie keeps the earlier."""
    found: Scored | None = None
    for each in scored:
        if each.quality is not None and (found is None or each.quality > (found.quality or 0.0)):
            found = each
    return found


def delta(before: Scored | None, after: Scored) -> float | None:
    """Return how much the quality rose or fell, to four places; None where either was not observed."""
    if before is None or before.quality is None or after.quality is None:
        return None
    return round(after.quality - before.quality, PLACES)


def decimals(scored: Iterable[Scored]) -> tuple[str, ...]:
    """Return the scores in words: two places, or four where two different ones would look the same."""
    return _told([each.quality for each in scored], ("{:.2f}", "{:.4f}"))


def percents(scored: Iterable[Scored]) -> tuple[str, ...]:
    """Return the scores in percent: whole ones, or with two places where different ones would look alike."""
    values = [None if each.quality is None else each.quality * 100 for each in scored]
    return _told(values, ("{:.0f}%", "{:.2f}%"))


def _told(values: Sequence[float | None], forms: tuple[str, str]) -> tuple[str, ...]:
    short, exact = ([_one(value, form) for value in values] for form in forms)
    # Only neighbours in value can be confused; telling all of them exactly keeps the column even.
    return tuple(short if len(set(short)) == len(set(exact)) else exact)


def _one(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
