"""Play some months of pull requests on the fake GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Literal

from bot.fakegithub.pull_actions import InlineDraft, PullRequestOptions

if TYPE_CHECKING:
    from bot.fakegithub.model import PullRequest, Repository
    from bot.fakegithub.server import FakeGitHub


StoryEnd = Literal["merged", "closed", "open"]

STRANGER_LOGIN = "lint-helper[bot]"
"""An App that reviews here, and that nobody made a validator."""

_GIVEN_UP = (0.75, 0.3)
"""How often an author closes a pull request after a rejection, at first and at last."""


@dataclass(frozen=True, slots=True)
class StoryPullRequest:
    """One pull request from its opening to its end."""

    author: str
    reviewer: str
    rejections: tuple[tuple[str, ...], ...] = ()
    """The tags of each rejection, in their order."""
    end: StoryEnd = "merged"
    day: int = 0
    """Of the week, on which it is opened."""
    overturned: str = ""
    """The tag that a maintainer dismisses the morning after."""
    stranger: bool = False
    """The App that is no validator requests changes, too."""


@dataclass(frozen=True, slots=True)
class StoryAuthor:
    """Somebody who opens pull requests: what they trip over, and how often, at first and at last."""

    login: str
    weak: tuple[str, ...]
    first: float
    last: float


STORY_AUTHORS = (
    StoryAuthor("rio-agent[bot]", ("date_errors", "title_overclaims", "broken_wiki_links"), 0.9, 0.35),
    StoryAuthor("clay-agent[bot]", ("scope_error", "factual_discrepancy", "date_errors"), 0.65, 0.4),
    StoryAuthor("maya", ("title_overclaims", "broken_wiki_links"), 0.45, 0.4),
    StoryAuthor("jonas", ("body_too_thin", "confidence_miscalibration"), 0.4, 0.4),
)

LAST_WEEK = (
    StoryPullRequest("rio-agent[bot]", "alice", (("date_errors",),), "closed"),
    StoryPullRequest("clay-agent[bot]", "bob", (("date_errors",),), "open", day=1, stranger=True),
    StoryPullRequest("maya", "bob", (("title_overclaims",),), overturned="title_overclaims", stranger=True),
    StoryPullRequest(
        "jonas", "alice", (("title_overclaims", "broken_wiki_links"), ("title_overclaims",)), stranger=True
    ),
    StoryPullRequest("rio-agent[bot]", "alice", (("date_errors", "broken_wiki_links"),), day=1),
    StoryPullRequest("clay-agent[bot]", "alice", day=2),
    StoryPullRequest("maya", "bob", day=2),
)
"""The week that the summary of the demo is about: one with something worth doing in it."""


def random_weeks(chance: Random, weeks: int, a_week: int) -> tuple[tuple[StoryPullRequest, ...], ...]:
    """Every week's pull requests, by authors who get better."""
    return tuple(
        _week(chance, week, a_week + chance.randrange(-1, 2), week / max(1, weeks - 1))
        for week in range(weeks)
    )


def _week(chance: Random, week: int, many: int, progress: float) -> tuple[StoryPullRequest, ...]:
    authors = [STORY_AUTHORS[(week + at) % len(STORY_AUTHORS) if at else 0] for at in range(many)]
    return tuple(_course(chance, author, at % 3, progress) for at, author in enumerate(authors))


def _course(chance: Random, author: StoryAuthor, day: int, progress: float) -> StoryPullRequest:
    risk = _between(author.first, author.last, progress)
    rejections: list[tuple[str, ...]] = []
    end: StoryEnd = "merged"
    while end == "merged" and len(rejections) < 2 and chance.random() < risk:
        rejections.append(tuple(chance.sample(author.weak, chance.choice((1, 1, 2)))))
        end = "closed" if chance.random() < _between(*_GIVEN_UP, progress) else "merged"
    return StoryPullRequest(author.login, chance.choice(("alice", "bob")), tuple(rejections), end, day)


def _between(first: float, last: float, progress: float) -> float:
    return first + (last - first) * progress


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
    "date_errors": (7, "month 13 is out of range"),
    "title_overclaims": (9, "one experiment does not prove it"),
    "broken_wiki_links": (11, "there is no such file in the index"),
    "factual_discrepancy": (11, "the source says 34 %, not 43 %"),
    "scope_error": (9, "this holds for binary markets only"),
    "body_too_thin": (11, "the body repeats the title"),
    "confidence_miscalibration": (5, "one source can't be likely"),
}
"""Where in the page a tag is seen, and what is said of it."""

_TELLS = timedelta(hours=9)
"""On Mondays the week before is told at this hour."""
_WEEK = timedelta(weeks=1)
STORY_DAYS = 5
"""Of a week, on which something happens."""


@dataclass(slots=True)
class StoryClock:
    """A clock that is behind the real one until the story has caught up."""

    behind: timedelta = timedelta(0)

    def now(self) -> datetime:
        """The time of the story."""
        return datetime.now(UTC) - self.behind

    def go_to(self, moment: datetime) -> None:
        """The story goes on at this moment, never backwards and never ahead of the real time."""
        self.behind = max(timedelta(0), min(self.behind, datetime.now(UTC) - moment))


def story_weeks(now: datetime, weeks: int) -> tuple[datetime, ...]:
    """So many weeks up to the one that was told last, and those over since then, by their first moment."""
    this = _monday(now)
    told = _monday(now - _TELLS) - _WEEK
    past = tuple(told - back * _WEEK for back in reversed(range(weeks)))
    return (*past, *((this - _WEEK,) if past and told < this - _WEEK else ()))


def claim_page(title: str, day: datetime, body: str, *, wrong: bool = False) -> str:
    """A page of the repository; `wrong` where its date is none."""
    created = f"{day:%Y}-13-01" if wrong else f"{day:%Y-%m-%d}"
    return (
        f"---\ntype: claim\ndomain: markets\ndescription: {title}\nconfidence: likely\n"
        f"source: sources/reader.md\ncreated: {created}\n---\n# {title}\n\n{body}\n"
    )


@dataclass(slots=True)
class StoryMonths:
    """Some months of pull requests, week by week, the days of each shared by all that are open."""

    github: FakeGitHub
    repository: Repository
    time: StoryClock
    weeks: tuple[datetime, ...]
    told: datetime | None = None
    """The week that the summary is about."""
    a_week: int = 4
    chance: Random = field(default_factory=lambda: Random(213))  # noqa: S311  a story, not a secret

    def play(self) -> Iterator[datetime]:
        """Let it happen; every moment that is given is one at which the bot should have caught up."""
        for monday, courses in zip(
            self.weeks, random_weeks(self.chance, len(self.weeks), self.a_week), strict=True
        ):
            yield from self._week(monday, LAST_WEEK if monday == self.told else courses)

    def _week(self, monday: datetime, courses: tuple[StoryPullRequest, ...]) -> Iterator[datetime]:
        """Everybody pushes in the morning and reviews in the afternoon, so the bot reads its rules once."""
        lives = [(course.day, self._life(course)) for course in courses]
        for day in range(STORY_DAYS):
            for hour in (9, 14):
                minute = self.chance.randrange(5, 50)
                self.time.go_to(monday + timedelta(days=day, hours=hour, minutes=minute))
                lives = [(start, life) for start, life in lives if day < start or next(life, False) is None]
            yield self.time.now()

    def _life(self, course: StoryPullRequest) -> Iterator[None]:
        """One pull request; a pause is till the afternoon, or till the next morning."""
        pull, path = self._opened(course)
        yield
        for number, tags in enumerate(course.rejections, 1):
            self._reject(pull, path, course, tags)
            yield
            if course.overturned:
                words = f"/feedback-dismiss {course.overturned} reason: three experiments agree"
                self.github.comment(pull, _other(course.reviewer), words)
            elif number == len(course.rejections) and course.end != "merged":
                if course.end == "closed":
                    self.github.close(pull, by=course.author)
                return
            else:
                page = claim_page(
                    pull.title, self.time.now(), f"One study says so, and study {number} agrees."
                )
                self.github.push(pull, {path: page}, message="Address the review")
            yield
        self.github.submit_review(pull, course.reviewer, "APPROVED", "Good.")
        self.time.go_to(self.time.now() + timedelta(seconds=5))
        self.github.merge(pull, by=course.reviewer)

    def _opened(self, course: StoryPullRequest) -> tuple[PullRequest, str]:
        title, path = self._claim()
        wrong = any("date_errors" in tags for tags in course.rejections)
        text = claim_page(title, self.time.now(), "One study says so.", wrong=wrong)
        opening = PullRequestOptions(title=title, files={path: text})
        return self.github.open_pull_request(self.repository, course.author, opening), path

    def _reject(self, pull: PullRequest, path: str, course: StoryPullRequest, tags: tuple[str, ...]) -> None:
        if course.stranger and not pull.reviews:
            self.github.submit_review(pull, STRANGER_LOGIN, "CHANGES_REQUESTED", "Two lines are too long.")
        places = [InlineDraft(path, f"[{tag}] {_WORDS[tag][1]}", line=_WORDS[tag][0]) for tag in tags]
        self.github.submit_review(pull, course.reviewer, "CHANGES_REQUESTED", "Not yet.", places)

    def _claim(self) -> tuple[str, str]:
        words = (self.chance.choice(_SUBJECTS), self.chance.choice(_VERBS), self.chance.choice(_OBJECTS))
        title = " ".join(words)
        title = title[0].upper() + title[1:]
        return title, f"claims/{len(self.repository.threads) + 1:03d}-{'-'.join(words[0].split()[-2:])}.md"


def _monday(moment: datetime) -> datetime:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start - timedelta(days=start.weekday())


def _other(reviewer: str) -> str:
    return "alice" if reviewer == "bob" else "bob"
