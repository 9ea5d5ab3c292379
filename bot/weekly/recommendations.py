"""Recommend what to change, from the numbers of a week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.gates.model import Gates, gate_display_name
from bot.gates.rule_book import CONFIG_FILE
from bot.lessons.model import LessonReport
from bot.lessons.text import format_prevented
from bot.markdown.escape import code_span, escape_mentions
from bot.markdown.format import format_count, format_out_of, format_people, join_words
from bot.markdown.links import GitHubLinks, format_login
from bot.pull_request.model import Validator
from bot.values import Location
from bot.weekly.summary import WeeklySummary

MAX_RECOMMENDATIONS = 3
CONFIG_LOCATION = Location(CONFIG_FILE)

_MIN_ONLY_BLOCKER = 2  # times that an auto-fixable gate was the only blocker
_MIN_CASES = 2  # of a gate before half of them overturned says something
_MIN_BY_PEOPLE = 3  # reviews by people that were not counted: anybody may review in public
_MIN_BEFORE = 2  # cases the week before; from 1 to 2 is chance


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A line for the description, and the same in short for the comment."""

    line: str
    short: str


@dataclass(frozen=True, slots=True)
class WeeklyContext:
    """The gates that the summary names, and where its links lead."""

    gates: Gates
    web: GitHubLinks
    lessons: LessonReport
    has_config: bool = True
    """The repository has a config, which can be linked to."""


def recommend(summary: WeeklySummary, context: WeeklyContext) -> tuple[Recommendation, ...]:
    """Return at most three recommendations, the surest first."""
    candidates = (
        _check_first(summary, context),
        _too_strict(summary, context),
        _not_counted(summary),
        _doubled(summary, context),
        _lessons(context),
    )
    return tuple(filter(None, candidates))[:MAX_RECOMMENDATIONS]


def _lessons(context: WeeklyContext) -> Recommendation | None:
    """Offer the section for agents' instructions, which `render_lessons` folds into the description."""
    prevented = format_prevented(context.lessons)
    if not prevented:
        return None
    count = format_count(len(context.lessons.unadopted), "lesson")
    cost = f"would have prevented {prevented} in 12 weeks"
    return Recommendation(
        f"{count} of past reviews {cost}: copy the section *Lessons for agents* below into `AGENTS.md`.",
        f"copy the lessons for agents into `AGENTS.md`; they {cost}",
    )


def _check_first(summary: WeeklySummary, context: WeeklyContext) -> Recommendation | None:
    alone = {
        tag: times
        for tag, times in summary.only_blocker.items()
        if times >= _MIN_ONLY_BLOCKER and (gate := context.gates.get(tag)) and gate.auto_fixable
    }
    if not alone:
        return None
    tag = max(sorted(alone), key=lambda tag: alone[tag])
    name, times = gate_display_name(tag, context.gates), alone[tag]
    subject, spared = _subject(tag, context.gates), format_count(times, "rejection")
    cost = format_out_of(times, summary.now.rejected, "rejected pull request")
    told = "*Lessons for agents* below" if context.lessons.lessons else "agent instructions"
    return Recommendation(
        f"**{name}** is auto-fixable and was the only blocking issue in {cost}: check it before review "
        f"(pre-commit hook, {told}).",
        f"check {subject} before review; that alone would have prevented {spared}",
    )


def _subject(tag: str, gates: Gates) -> str:
    gate = gates.get(tag)
    return escape_mentions(gate.subject) if gate and gate.subject else gate_display_name(tag, gates)


def _too_strict(summary: WeeklySummary, context: WeeklyContext) -> Recommendation | None:
    gates = [
        gate for gate in summary.gates if gate.broken >= _MIN_CASES and 2 * gate.overturned >= gate.broken
    ]
    if not gates:
        return None
    worst = max(gates, key=lambda gate: gate.overturned)
    cases = f"was overturned in {worst.overturned} of {format_count(worst.broken, 'case')}"
    name, repository = gate_display_name(worst.tag, context.gates), summary.query.repository
    address = context.web.blob_url(repository, repository.default_branch, CONFIG_LOCATION)
    link = f" [The gate]({address})" if context.has_config else ""
    return Recommendation(f"**{name}** {cases}: its wording may be too strict.{link}", f"{name} {cases}")


def _not_counted(summary: WeeklySummary) -> Recommendation | None:
    """Name the Apps and agents whose reviews did not count; people are only counted."""
    uncounted = summary.uncounted
    named = list(uncounted.named.items())[:MAX_RECOMMENDATIONS]
    counts = [(reviews, format_login(reviewer.name)) for reviewer, reviews in named]
    if uncounted.by_people >= _MIN_BY_PEOPLE:
        counts.append((uncounted.by_people, format_people(uncounted.people)))
    if not counts:
        return None
    parts = [f"{reviews} by {who}" for reviews, who in counts]
    first = counts[0][0]
    parts[0] = f"{format_count(first, 'review')} by {counts[0][1]}"
    reviews = f"{join_words(parts)} {'was' if len(counts) == first == 1 else 'were'} not counted"
    who = "it is" if len(counts) == len(named) == 1 else "they are"
    lines = (
        f" To count them, add {code_span(_config_lines([reviewer for reviewer, _ in named]))}"
        if named
        else ""
    )
    return Recommendation(f"{reviews}: {who} not among this repository's validators.{lines}", reviews)


def _config_lines(reviewers: Sequence[Validator]) -> str:
    """Return the config, on one line, that makes the reviews of these Apps and agents count."""
    apps = [reviewer.name.removesuffix("[bot]") for reviewer in reviewers if reviewer.bot]
    users = [reviewer.name for reviewer in reviewers if not reviewer.bot]
    sections = [
        f"{kind}: [{', '.join(names)}]" for kind, names in (("apps", apps), ("users", users)) if names
    ]
    return f"validators: {{{', '.join(sections)}}}"


def _doubled(summary: WeeklySummary, context: WeeklyContext) -> Recommendation | None:
    gates = [gate for gate in summary.gates if gate.before >= _MIN_BEFORE and gate.broken >= 2 * gate.before]
    if not gates:
        return None
    most = max(gates, key=lambda gate: gate.broken)
    name = gate_display_name(most.tag, context.gates)
    return Recommendation(
        f"**{name}** was broken in {format_count(most.broken, 'pull request')}, after {most.before} "
        "the week before: look at what they have in common.",
        f"{name} went from {most.before} to {most.broken}",
    )
