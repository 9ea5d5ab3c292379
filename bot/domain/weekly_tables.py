"""The tables of the weekly issue: gates and authors."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.advice import Share
from bot.domain.authors import AuthorWeek
from bot.domain.escape import code_span, table_cell
from bot.domain.gates import Gates
from bot.domain.links import person
from bot.domain.patterns import Trend
from bot.domain.phrasing import counted, gate_with_tag, percent
from bot.domain.summary import QUIET_WEEKS, GateWeek, Summary

ROWS = 20
"""Of a table; the rest is counted."""

_TAGS = 5  # named in one sentence
_ENOUGH = 5  # cases from which a percentage says more than the two numbers


def gate_section(week: Summary, gates: Gates) -> tuple[str, ...]:
    """How the gates fared, and what feedback came to."""
    quiet = _not_broken(week.not_broken)
    if not week.gates:
        return ("### Gates", " ".join(filter(None, ("No gate was broken.", quiet))))
    head = (
        "| Gate | This week | Week before | Fixed by the next iteration | Overturned |\n|---|--:|--:|--:|--:|"
    )
    rows = "\n".join((head, *(_gate_row(gate, gates) for gate in week.gates[:ROWS])))
    left = week.gates[ROWS:]
    more = f"And {counted(len(left), 'more gate')}." if left else ""
    return ("### Gates", rows, " ".join(filter(None, (more, _followed(week), _helped(week), quiet))))


def author_section(authors: Sequence[AuthorWeek]) -> tuple[str, ...]:
    """How the authors fared; nothing where they are not shown."""
    if not authors:
        return ()
    head = "| Author | Judged | Rejected | First review | Against the week before |\n|---|--:|--:|--:|---|"
    left = len(authors) - ROWS
    more = f"\n\nAnd {counted(left, 'more author')}." if left > 0 else ""
    return ("### Authors", "\n".join((head, *map(_author_row, authors[:ROWS]))) + more)


def _gate_row(gate: GateWeek, gates: Gates) -> str:
    name = table_cell(gate_with_tag(gate.tag, gates))
    fixed = f"{gate.fixed_next} of {gate.broken}"
    return f"| {name} | {gate.broken} | {gate.before} | {fixed} | {gate.overturned} |"


def _followed(week: Summary) -> str:
    placed, unplaced = week.followed.with_place, week.followed.without_place
    if placed.whole and unplaced.whole:
        without = f", without a place in {_cases(unplaced)}"
        return f"Feedback that named a place was followed in {_cases(placed)}{without}."
    if placed.whole:
        return f"Feedback that named a place was followed in {_cases(placed)}."
    return f"Feedback was followed in {_cases(unplaced)}; none named a place." if unplaced.whole else ""


def _helped(week: Summary) -> str:
    """Whether it helped and was clear; nothing where no iteration has told."""
    seen = week.tracked
    if seen is None:
        return ""
    rose = (
        f"quality rose after feedback in {_cases(Share(seen.improved, seen.measured))}"
        if seen.measured
        else ""
    )
    clear = "" if seen.mean_clarity is None else _clear(seen.mean_clarity)
    told = "; ".join(filter(None, (rose, clear)))
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _clear(score: float) -> str:
    return f"the feedback scored {score:.2f} for clarity (1 is the best)"


def _cases(share: Share) -> str:
    numbers = f"{share.part} of {share.whole}"
    return numbers if share.whole < _ENOUGH else f"{percent(share.part, share.whole)}% of cases ({numbers})"


def _not_broken(tags: Sequence[str]) -> str:
    if not tags:
        return ""
    more = f" and {len(tags) - _TAGS} more" if len(tags) > _TAGS else ""
    return f"Not broken for {QUIET_WEEKS} weeks: {', '.join(map(code_span, tags[:_TAGS]))}{more}."


def _author_row(author: AuthorWeek) -> str:
    people = "1 person" if author.people == 1 else f"{author.people} people"
    name = table_cell(person(author.login)) if author.login else people
    tally = author.tally
    against = "too few" if author.trend is Trend.NO_DATA else author.trend.value
    return f"| {name} | {tally.total} | {tally.rejected} | {tally.first_pass} | {against} |"
