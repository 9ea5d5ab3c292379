"""Recommend what to change, from the numbers of a week."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.gates.model import Gates, gate_display_name
from bot.gates.rule_book import CONFIG_FILE
from bot.markdown.escape import code_span, escape_mentions
from bot.markdown.format import format_count, format_out_of, join_words
from bot.markdown.links import GitHubLinks, format_login
from bot.values import Location
from bot.weekly.summary import GateWeek, WeeklySummary

MAX_RECOMMENDATIONS = 3
"""At most so many."""
CONFIG_DOCS = Location(CONFIG_FILE)
"""Where a repository keeps its rules."""

_ALONE = 2  # times that an auto-fixable gate was the only blocker
_CASES = 2  # of a gate before half of them overturned says something
_REVIEWS = 3  # of one account that were not counted
_BEFORE = 2  # cases the week before; from 1 to 2 is chance


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A line for the description, and the same in short for the comment."""

    line: str
    short: str


@dataclass(frozen=True, slots=True)
class WeeklyContext:
    """What the lines name and link to."""

    gates: Gates
    web: GitHubLinks
    has_config: bool = True
    """The repository has a config of its own, which can be linked to."""
    tells_how: bool = True
    """Say which lines of the config would make an account's reviews count."""


def recommend(week: WeeklySummary, page: WeeklyContext) -> tuple[Recommendation, ...]:
    """At most three things, the surest first."""
    return tuple(_recommendations(week, page))[:MAX_RECOMMENDATIONS]


def _recommendations(week: WeeklySummary, page: WeeklyContext) -> Iterator[Recommendation]:
    yield from _check_first(week, page)
    yield from _too_strict(week, page)
    yield from _not_counted(week, page)
    yield from _doubled(week, page)


def _check_first(week: WeeklySummary, page: WeeklyContext) -> Iterator[Recommendation]:
    alone = {
        tag: times
        for tag, times in week.only_blocker.items()
        if times >= _ALONE and (gate := page.gates.get(tag)) and gate.auto_fixable
    }
    if alone:
        tag = max(sorted(alone), key=lambda tag: alone[tag])
        name, times = gate_display_name(tag, page.gates), alone[tag]
        subject, spared = _subject(tag, page.gates), format_count(times, "rejection")
        cost = format_out_of(times, week.now.rejected, "rejected pull request")
        yield Recommendation(
            f"**{name}** is auto-fixable and was the only blocking issue in {cost}: check it before review "
            "(a pre-commit hook, the agents' instructions).",
            f"check {subject} before review, it alone would have spared {spared}",
        )


def _subject(tag: str, gates: Gates) -> str:
    gate = gates.get(tag)
    return escape_mentions(gate.subject) if gate and gate.subject else gate_display_name(tag, gates)


def _too_strict(week: WeeklySummary, page: WeeklyContext) -> Iterator[Recommendation]:
    found = [gate for gate in week.gates if gate.broken >= _CASES and 2 * gate.overturned >= gate.broken]
    if found:
        worst = max(found, key=lambda gate: gate.overturned)
        cases = f"was overturned in {worst.overturned} of {format_count(worst.broken, 'case')}"
        name, repository = gate_display_name(worst.tag, page.gates), week.ask.repository
        address = page.web.blob_url(repository, repository.default_branch, CONFIG_DOCS)
        link = f" [The gate]({address})" if page.has_config else ""
        yield Recommendation(f"**{name}** {cases}: its wording may be too strict.{link}", f"{name} {cases}")


def _not_counted(week: WeeklySummary, page: WeeklyContext) -> Iterator[Recommendation]:
    found = {login: reviews for login, reviews in week.uncounted.items() if reviews >= _REVIEWS}
    if found:
        shown = dict(tuple(found.items())[:MAX_RECOMMENDATIONS])
        told = [f"{reviews} by {format_login(login)}" for login, reviews in shown.items()]
        told[0] = told[0].replace(" by ", " reviews by ", 1)
        who = "it is" if len(shown) == 1 else "they are"
        reviews = f"{join_words(told)} were not counted"
        lines = f" To count: {code_span(_lines(tuple(shown)))}" if page.tells_how else ""
        yield Recommendation(f"{reviews}: {who} not among this repository's validators.{lines}", reviews)


def _lines(logins: tuple[str, ...]) -> str:
    """What to write in the config, on one line."""
    apps = [login.removesuffix("[bot]") for login in logins if login.endswith("[bot]")]
    users = [login for login in logins if not login.endswith("[bot]")]
    sections = [
        f"{kind}: [{', '.join(names)}]" for kind, names in (("apps", apps), ("users", users)) if names
    ]
    return f"validators: {{{', '.join(sections)}}}"


def _doubled(week: WeeklySummary, page: WeeklyContext) -> Iterator[Recommendation]:
    found = [gate for gate in week.gates if gate.before >= _BEFORE and gate.broken >= 2 * gate.before]
    if found:
        most: GateWeek = max(found, key=lambda gate: gate.broken)
        name = gate_display_name(most.tag, page.gates)
        yield Recommendation(
            f"**{name}** was broken in {format_count(most.broken, 'pull request')}, after {most.before} "
            "the week before: look at what they have in common.",
            f"{name} went from {most.before} to {most.broken}",
        )
