"""What becomes of a pull request in the story: who opens it, what is said, and how it ends?"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

End = Literal["merged", "closed", "open"]

STRANGER = "lint-helper[bot]"
"""An App that reviews here, and that nobody made a validator."""

_GIVEN_UP = (0.75, 0.3)
"""How often an author closes a pull request after a rejection, at first and at last."""


@dataclass(frozen=True, slots=True)
class Course:
    """One pull request from its opening to its end."""

    author: str
    reviewer: str
    rejections: tuple[tuple[str, ...], ...] = ()
    """The tags of each rejection, in their order."""
    end: End = "merged"
    day: int = 0
    """Of the week, on which it is opened."""
    overturned: str = ""
    """The tag that a maintainer dismisses the morning after."""
    stranger: bool = False
    """The App that is no validator requests changes, too."""


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who opens pull requests: what they trip over, and how often, at first and at last."""

    login: str
    weak: tuple[str, ...]
    first: float
    last: float


AUTHORS = (
    Author("rio-agent[bot]", ("date_errors", "title_overclaims", "broken_wiki_links"), 0.9, 0.35),
    Author("clay-agent[bot]", ("scope_error", "factual_discrepancy", "date_errors"), 0.65, 0.4),
    Author("maya", ("title_overclaims", "broken_wiki_links"), 0.45, 0.4),
    Author("jonas", ("body_too_thin", "confidence_miscalibration"), 0.4, 0.4),
)

TOLD_WEEK = (
    Course("rio-agent[bot]", "alice", (("date_errors",),), "closed"),
    Course("clay-agent[bot]", "bob", (("date_errors",),), "open", day=1, stranger=True),
    Course("maya", "bob", (("title_overclaims",),), overturned="title_overclaims", stranger=True),
    Course(
        "jonas", "alice", (("title_overclaims", "broken_wiki_links"), ("title_overclaims",)), stranger=True
    ),
    Course("rio-agent[bot]", "alice", (("date_errors", "broken_wiki_links"),), day=1),
    Course("clay-agent[bot]", "alice", day=2),
    Course("maya", "bob", day=2),
)
"""The week that the summary of the demo is about: one with something worth doing in it."""


def by_chance(chance: Random, weeks: int, a_week: int) -> tuple[tuple[Course, ...], ...]:
    """Every week's pull requests, by authors who get better."""
    return tuple(
        _week(chance, week, a_week + chance.randrange(-1, 2), week / max(1, weeks - 1))
        for week in range(weeks)
    )


def _week(chance: Random, week: int, many: int, progress: float) -> tuple[Course, ...]:
    authors = [AUTHORS[(week + at) % len(AUTHORS) if at else 0] for at in range(many)]
    return tuple(_course(chance, author, at % 3, progress) for at, author in enumerate(authors))


def _course(chance: Random, author: Author, day: int, progress: float) -> Course:
    risk = _between(author.first, author.last, progress)
    rejections: list[tuple[str, ...]] = []
    end: End = "merged"
    while end == "merged" and len(rejections) < 2 and chance.random() < risk:
        rejections.append(tuple(chance.sample(author.weak, chance.choice((1, 1, 2)))))
        end = "closed" if chance.random() < _between(*_GIVEN_UP, progress) else "merged"
    return Course(author.login, chance.choice(("alice", "bob")), tuple(rejections), end, day)


def _between(first: float, last: float, progress: float) -> float:
    return first + (last - first) * progress
