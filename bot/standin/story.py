"""What could have happened in a repository over some months? Made up, the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from bot.standin.acts.pulls import Opening
from bot.standin.acts.reviews import Inline

if TYPE_CHECKING:
    from bot.standin.model import PullRequest, Repository
    from bot.standin.server import Standin

_SUBJECTS = (
    "market depth", "a thin order book", "a liquidity subsidy", "a decision market", "the forecast horizon",
    "crowd size", "an expert panel", "the base rate", "the scoring rule", "price discovery",
    "the question's wording", "the resolution source", "hedging demand", "trader fatigue",
)  # fmt: skip
_VERBS = ("narrows", "delays", "predicts", "limits", "follows", "outweighs")
_OBJECTS = (
    "manipulation",
    "calibration error",
    "the first quote",
    "participation",
    "the long tail",
    "consensus",
)
_WORDS = {
    "date_errors": "month 13 is out of range",
    "title_overclaims": "one experiment does not prove it",
    "broken_wiki_links": "there is no such file in the index",
    "factual_discrepancy": "the source says 34 %, not 43 %",
    "scope_error": "this holds for binary markets only",
    "body_too_thin": "the body repeats the title",
    "confidence_miscalibration": "one source can't be likely",
}


_GIVEN_UP = 0.4
"""How often an author closes a pull request after a rejection."""


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who opens pull requests: what they trip over, and how often, at first and at last."""

    login: str
    weak: tuple[str, ...]
    first: float
    last: float


AUTHORS = (
    Author("rio-agent[bot]", ("date_errors", "title_overclaims", "broken_wiki_links"), 0.8, 0.35),
    Author("clay-agent[bot]", ("scope_error", "factual_discrepancy", "date_errors"), 0.5, 0.5),
    Author("maya", ("title_overclaims", "broken_wiki_links"), 0.45, 0.4),
    Author("jonas", ("body_too_thin", "confidence_miscalibration"), 0.4, 0.4),
)


@dataclass(slots=True)
class Time:
    """A clock that is behind the real one until the story has caught up."""

    behind: timedelta = timedelta(0)

    def now(self) -> datetime:
        """The time of the story."""
        return datetime.now(UTC) - self.behind

    def go_to(self, moment: datetime) -> None:
        """The story goes on at this moment, never backwards and never ahead of the real time."""
        self.behind = max(timedelta(0), min(self.behind, datetime.now(UTC) - moment))


@dataclass(slots=True)
class Months:
    """Some months of pull requests, one after the other."""

    github: Standin
    repository: Repository
    time: Time
    weeks: int = 12
    a_week: int = 5
    chance: Random = field(default_factory=lambda: Random(12))  # noqa: S311  a story, not a secret

    def play(self) -> Iterator[datetime]:
        """Let it happen; every moment that is given is one at which the bot should have caught up."""
        start = self.time.now()
        for week in range(self.weeks):
            monday = start + timedelta(weeks=week)
            for at in range(self.a_week + self.chance.randrange(-1, 2)):
                author = AUTHORS[(week + at) % len(AUTHORS) if at else 0]
                moment = monday + timedelta(days=at, hours=self.chance.randrange(1, 8))
                yield from self._pull_request(author, moment, week / max(1, self.weeks - 1))

    def _pull_request(self, author: Author, moment: datetime, progress: float) -> Iterator[datetime]:
        self.time.go_to(moment)
        title, path = self._claim()
        opening = Opening(title=title, files={path: _page(title, "2026-13-01")})
        pull = self.github.open_pull_request(self.repository, author.login, opening)
        reviewer = self.chance.choice(("alice", "bob"))
        rounds = 0
        while rounds < 2 and self.chance.random() < author.first + (author.last - author.first) * progress:
            rounds += 1
            self._later(hours=self.chance.randrange(1, 6))
            self._reject(pull, path, reviewer, author)
            yield self.time.now()
            self._later(hours=self.chance.randrange(1, 12))
            if self.chance.random() < _GIVEN_UP:
                self.github.close(pull, by=author.login)
                yield self.time.now()
                return
            self.github.push(pull, {path: _page(title, f"2026-1{rounds}-01")}, message="Address the review")
        self._later(hours=self.chance.randrange(1, 5))
        self.github.submit_review(pull, reviewer, "APPROVED", "Good.")
        self._later(minutes=5)
        self.github.merge(pull, by=reviewer)
        yield self.time.now()

    def _reject(self, pull: PullRequest, path: str, reviewer: str, author: Author) -> None:
        tags = self.chance.sample(author.weak, self.chance.choice((1, 1, 2)))
        places = [Inline(path, f"[{tag}] {_WORDS[tag]}", line=at) for at, tag in enumerate(tags, 7)]
        self.github.submit_review(pull, reviewer, "CHANGES_REQUESTED", "Not yet.", places)

    def _claim(self) -> tuple[str, str]:
        words = (self.chance.choice(_SUBJECTS), self.chance.choice(_VERBS), self.chance.choice(_OBJECTS))
        title = " ".join(words).capitalize()
        return title, f"claims/{len(self.repository.threads) + 1:03d}-{'-'.join(words[0].split()[-2:])}.md"

    def _later(self, **by: float) -> None:
        self.time.go_to(self.time.now() + timedelta(**by))


def _page(title: str, created: str) -> str:
    return (
        f"---\ntype: claim\ndomain: markets\ndescription: {title}\nconfidence: likely\n"
        f"source: sources/reader.md\ncreated: {created}\n---\n# {title}\n\nOne study says so.\n"
    )
