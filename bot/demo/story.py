"""Play the demo's story on the fake GitHub: months of pull requests, then one rejected step by step."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

from bot import app
from bot.fakegithub.model import PullRequest, Repository, Role
from bot.fakegithub.pull_actions import InlineDraft, PullRequestOptions
from bot.fakegithub.registration import new_key_pair
from bot.fakegithub.server import FakeGitHub
from bot.fakegithub.world import AppRegistration
from bot.settings import Settings

StoryEnd = Literal["merged", "closed", "open"]

STRANGER_LOGIN = "lint-helper[bot]"
"""An App that reviews here, and that nobody made a validator."""

_GIVE_UP_RATES = (0.75, 0.3)
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
    """The day of the week on which it is opened."""
    dismissed_tag: str = ""
    """The tag that a maintainer dismisses the morning after."""
    has_stranger: bool = False
    """Whether the App that is no validator requests changes, too."""


@dataclass(frozen=True, slots=True)
class StoryAuthor:
    """An author: the tags that they are rejected for, and how often, at first and at last."""

    login: str
    tags: tuple[str, ...]
    first_risk: float
    last_risk: float


STORY_AUTHORS = (
    StoryAuthor("rio-agent[bot]", ("date_errors", "title_overclaims", "broken_wiki_links"), 0.9, 0.35),
    StoryAuthor("clay-agent[bot]", ("scope_error", "factual_discrepancy", "date_errors"), 0.65, 0.4),
    StoryAuthor("maya", ("title_overclaims", "broken_wiki_links"), 0.45, 0.4),
    StoryAuthor("jonas", ("body_too_thin", "confidence_miscalibration"), 0.4, 0.4),
)

LAST_WEEK = (
    StoryPullRequest("rio-agent[bot]", "alice", (("date_errors",),), "closed"),
    StoryPullRequest("clay-agent[bot]", "bob", (("date_errors",),), "open", day=1, has_stranger=True),
    StoryPullRequest(
        "maya", "bob", (("title_overclaims",),), dismissed_tag="title_overclaims", has_stranger=True
    ),
    StoryPullRequest(
        "jonas",
        "alice",
        (("title_overclaims", "broken_wiki_links"), ("title_overclaims",)),
        has_stranger=True,
    ),
    StoryPullRequest("rio-agent[bot]", "alice", (("date_errors", "broken_wiki_links"),), day=1),
    StoryPullRequest("clay-agent[bot]", "alice", day=2),
    StoryPullRequest("maya", "bob", day=2),
)
"""The week that the demo's summary is about: one with recommendations in it."""


def random_weeks(random: Random, weeks: int, per_week: int) -> tuple[tuple[StoryPullRequest, ...], ...]:
    """Make up every week's pull requests, by authors who get better."""
    return tuple(
        _random_week(random, week, per_week + random.randrange(-1, 2), week / max(1, weeks - 1))
        for week in range(weeks)
    )


def _random_week(random: Random, week: int, count: int, progress: float) -> tuple[StoryPullRequest, ...]:
    authors = [STORY_AUTHORS[(week + index) % len(STORY_AUTHORS) if index else 0] for index in range(count)]
    return tuple(_random_pull(random, author, index % 3, progress) for index, author in enumerate(authors))


def _random_pull(random: Random, author: StoryAuthor, day: int, progress: float) -> StoryPullRequest:
    risk = _between(author.first_risk, author.last_risk, progress)
    rejections: list[tuple[str, ...]] = []
    end: StoryEnd = "merged"
    while end == "merged" and len(rejections) < 2 and random.random() < risk:
        rejections.append(tuple(random.sample(author.tags, random.choice((1, 1, 2)))))
        end = "closed" if random.random() < _between(*_GIVE_UP_RATES, progress) else "merged"
    return StoryPullRequest(author.login, random.choice(("alice", "bob")), tuple(rejections), end, day)


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
_COMMENTS = {
    "date_errors": (7, "month 13 is out of range"),
    "title_overclaims": (9, "one experiment does not prove it"),
    "broken_wiki_links": (11, "there is no such file in the index"),
    "factual_discrepancy": (11, "the source says 34 %, not 43 %"),
    "scope_error": (9, "this holds for binary markets only"),
    "body_too_thin": (11, "the body repeats the title"),
    "confidence_miscalibration": (5, "one source can't be likely"),
}
"""The line of the page that a tag is about, and the comment there."""

_SUMMARY_HOUR = timedelta(hours=9)
"""On Mondays the summary of the week before is posted at this hour."""
_WEEK = timedelta(weeks=1)
STORY_DAYS = 5
"""Days of a week on which something happens."""


@dataclass(slots=True)
class StoryClock:
    """A clock that is behind the real one until the story has caught up."""

    behind: timedelta = timedelta(0)

    def now(self) -> datetime:
        """The time of the story."""
        return datetime.now(UTC) - self.behind

    def go_to(self, moment: datetime) -> None:
        """Continue the story at this moment, never backwards and never ahead of the real time."""
        self.behind = max(timedelta(0), min(self.behind, datetime.now(UTC) - moment))


def story_weeks(now: datetime, weeks: int) -> tuple[datetime, ...]:
    """The first moments of the weeks up to the last summary's, and of those that ended since then."""
    last_week = _monday(now) - _WEEK
    summarised = _monday(now - _SUMMARY_HOUR) - _WEEK
    past = tuple(summarised - back * _WEEK for back in reversed(range(weeks)))
    return (*past, *((last_week,) if past and summarised < last_week else ()))


def claim_page(title: str, day: datetime, body: str, *, wrong: bool = False) -> str:
    """A page of the repository; `wrong` gives it an impossible date."""
    created = f"{day:%Y}-13-01" if wrong else f"{day:%Y-%m-%d}"
    return (
        f"---\ntype: claim\ndomain: markets\ndescription: {title}\nconfidence: likely\n"
        f"source: sources/reader.md\ncreated: {created}\n---\n# {title}\n\n{body}\n"
    )


@dataclass(slots=True)
class StoryMonths:
    """Some months of pull requests, week by week; those that are open share each day."""

    github: FakeGitHub
    repository: Repository
    clock: StoryClock
    weeks: tuple[datetime, ...]
    summarised: datetime | None = None
    """The week that the summary is about."""
    per_week: int = 4
    random: Random = field(default_factory=lambda: Random(213))  # noqa: S311  a story, not a secret

    def play(self) -> Iterator[datetime]:
        """Play the weeks; yields the moments at which the bot should catch up."""
        for monday, pulls in zip(
            self.weeks, random_weeks(self.random, len(self.weeks), self.per_week), strict=True
        ):
            yield from self._week(monday, LAST_WEEK if monday == self.summarised else pulls)

    def _week(self, monday: datetime, pulls: tuple[StoryPullRequest, ...]) -> Iterator[datetime]:
        """Push in the morning and review in the afternoon, so that the bot reads its rules once."""
        lives = [(pull.day, self._play_pull(pull)) for pull in pulls]
        for day in range(STORY_DAYS):
            for hour in (9, 14):
                minute = self.random.randrange(5, 50)
                self.clock.go_to(monday + timedelta(days=day, hours=hour, minutes=minute))
                lives = [(start, life) for start, life in lives if day < start or next(life, False) is None]
            yield self.clock.now()

    def _play_pull(self, story: StoryPullRequest) -> Iterator[None]:
        """Play one pull request; a pause lasts until the afternoon, or until the next morning."""
        pull, path = self._open(story)
        yield
        for number, tags in enumerate(story.rejections, 1):
            self._reject(pull, path, story, tags)
            yield
            if story.dismissed_tag:
                command = f"/feedback-dismiss {story.dismissed_tag} reason: three experiments agree"
                self.github.comment(pull, _other(story.reviewer), command)
            elif number == len(story.rejections) and story.end != "merged":
                if story.end == "closed":
                    self.github.close(pull, by=story.author)
                return
            else:
                page = claim_page(
                    pull.title, self.clock.now(), f"One study says so, and study {number} agrees."
                )
                self.github.push(pull, {path: page}, message="Address the review")
            yield
        self.github.submit_review(pull, story.reviewer, "APPROVED", "Good.")
        self.clock.go_to(self.clock.now() + timedelta(seconds=5))
        self.github.merge(pull, by=story.reviewer)

    def _open(self, story: StoryPullRequest) -> tuple[PullRequest, str]:
        title, path = self._claim()
        wrong = any("date_errors" in tags for tags in story.rejections)
        text = claim_page(title, self.clock.now(), "One study says so.", wrong=wrong)
        options = PullRequestOptions(title=title, files={path: text})
        return self.github.open_pull_request(self.repository, story.author, options), path

    def _reject(self, pull: PullRequest, path: str, story: StoryPullRequest, tags: tuple[str, ...]) -> None:
        if story.has_stranger and not pull.reviews:
            self.github.submit_review(pull, STRANGER_LOGIN, "CHANGES_REQUESTED", "Two lines are too long.")
        comments = [InlineDraft(path, f"[{tag}] {_COMMENTS[tag][1]}", line=_COMMENTS[tag][0]) for tag in tags]
        self.github.submit_review(pull, story.reviewer, "CHANGES_REQUESTED", "Not yet.", comments)

    def _claim(self) -> tuple[str, str]:
        words = (self.random.choice(_SUBJECTS), self.random.choice(_VERBS), self.random.choice(_OBJECTS))
        title = " ".join(words)
        title = title[0].upper() + title[1:]
        return title, f"claims/{len(self.repository.threads) + 1:03d}-{'-'.join(words[0].split()[-2:])}.md"


def _monday(moment: datetime) -> datetime:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start - timedelta(days=start.weekday())


def _other(reviewer: str) -> str:
    return "alice" if reviewer == "bob" else "bob"


Chapter = tuple[str, Callable[[FakeGitHub, PullRequest], None]]
"""A heading, and what happens to the pull request."""

Settle = Callable[[], Awaitable[None]]
"""Waits until the bot has processed everything."""

STORY_PEOPLE: dict[str, Role] = {"alice": "maintain", "bob": "write", "maya": "write", "jonas": "write"}

_PAGE = "claims/markets/futarchy-manipulation.md"
_DRAFT = """---
type: claim
domain: markets
description: What one experiment says about manipulation
confidence: likely
source: sources/hanson-2013.md
created: {created}
---
# {title}

Attackers moved the price by {share} %.
"""
_ARGUMENT = """
In all 24 markets of the experiment other traders had undone that within a day.
"""
_CLAIM = "Futarchy proves that markets resist"
_WRONG_DATE = "2026-13-01"


async def tell_story(
    github: FakeGitHub, repository: Repository, settle: Settle, chapters: tuple[Chapter, ...]
) -> AsyncIterator[str]:
    """Play the chapters; yields what the bot posted: its comments, an author's history, the week."""
    pull = _open_futarchy(github, repository)
    yield "# comment on a rejected pull request\n"
    for heading, act in chapters:
        act(github, pull)
        await settle()
        yield f"## {heading}\n"
        for number, comment in enumerate(github.comments_of(pull), 1):
            folded = f" (minimised: {comment.minimized})" if comment.minimized else ""
            yield f"--- comment {number} of the thread by {comment.user.login}{folded}\n{comment.body}"
    yield "# `/feedback-history`\n"
    # Not by the agent itself: one is answered once a minute, and somebody may ask as it on the page next.
    github.comment(pull, "alice", "/feedback-history")
    await settle()
    reply = github.comments_of(pull)[-1].body
    yield f"--- the reply to alice, about the author of the pull request\n{reply}"
    yield "# weekly summary issue\n"
    for issue in repository.threads.values():
        if any(label.name == "feedback-summary" for label in issue.labels):
            yield f"--- the description\n{issue.body}"
            for comment in github.comments_of(issue)[-1:]:
                yield f"--- the last week's comment\n{comment.body}"
            return
    yield "No week is over yet, so there is none (--weeks)."


def _open_futarchy(github: FakeGitHub, repository: Repository) -> PullRequest:
    options = PullRequestOptions(
        title="Futarchy proves that markets resist manipulation",
        body="A claim from `sources/hanson-2013.md`, on what the experiment with 24 markets shows.",
        files={_PAGE: _draft(_WRONG_DATE)},
    )
    return github.open_pull_request(repository, "rio-agent[bot]", options)


def _check(github: FakeGitHub, pull: PullRequest, failed: int) -> None:
    """Complete five checks, of which the first `failed` fail."""
    for number, name in enumerate(("validate", "links", "frontmatter", "spelling", "build")):
        github.check(pull, name, "failure" if number < failed else "success")


def _reject_first(github: FakeGitHub, pull: PullRequest) -> None:
    _check(github, pull, failed=2)
    github.submit_review(
        pull,
        "alice",
        "CHANGES_REQUESTED",
        "Not yet.",
        [
            InlineDraft(_PAGE, "[date_errors] month 13 is out of range", line=7),
            InlineDraft(_PAGE, "[body_too_thin] one sentence is no argument", line=11),
        ],
    )


def _reject_better(github: FakeGitHub, pull: PullRequest) -> None:
    page = _draft(_today(github)) + _ARGUMENT
    github.push(pull, {_PAGE: page}, message="Use the day of the extraction, say why it holds")
    _check(github, pull, failed=0)
    comment = InlineDraft(_PAGE, "[title_overclaims] proves, from one experiment with 24 markets", line=9)
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "Nearly.", [comment])


def _reject_worse(github: FakeGitHub, pull: PullRequest) -> None:
    page = _draft(_WRONG_DATE, share=43) + _ARGUMENT
    github.push(pull, {_PAGE: page}, message="Take the numbers from the draft")
    _check(github, pull, failed=1)
    discrepancy = (
        "[factual_discrepancy] 43 % should be 34 %\n```suggestion\nAttackers moved the price by 34 %.\n```"
    )
    comments = [
        InlineDraft(_PAGE, discrepancy, line=11),
        InlineDraft(_PAGE, "[date_errors] month 13 is back", line=7),
        InlineDraft(_PAGE, "[title_overclaims] it still says proves", line=9),
    ]
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: near_duplicate -->", comments)


def _approve(github: FakeGitHub, pull: PullRequest) -> None:
    page = _draft(_today(github), title="One experiment suggests resistance") + _ARGUMENT
    github.push(pull, {_PAGE: page}, message="Claim what the experiment shows")
    _check(github, pull, failed=0)
    github.submit_review(pull, "alice", "APPROVED", "Good now.")


def _merge(github: FakeGitHub, pull: PullRequest) -> None:
    github.merge(pull, by="bob")


def _draft(created: str, title: str = _CLAIM, share: int = 34) -> str:
    return _DRAFT.format(created=created, title=title, share=share)


def _today(github: FakeGitHub) -> str:
    return f"{github.now():%Y-%m-%d}"


REJECTED_CHAPTERS: tuple[Chapter, ...] = (
    ("alice requests changes: two blocking issues", _reject_first),
    ("rio-agent pushes; date and argument are good now, the title is not", _reject_better),
    ("rio-agent pushes again; it got worse, so the comment is posted anew", _reject_worse),
)
ACCEPTED_CHAPTERS: tuple[Chapter, ...] = (
    ("rio-agent mends everything, alice approves", _approve),
    ("bob merges it; which iteration was the best is folded into the comment", _merge),
)


@asynccontextmanager
async def open_demo(clock: StoryClock) -> AsyncIterator[tuple[FakeGitHub, Settle]]:
    """Run the fake GitHub with the real bot beside it, on a store that is deleted afterwards."""
    keys = new_key_pair()
    registration = AppRegistration(public_pem=keys.public_pem)
    with tempfile.TemporaryDirectory(prefix="whetstone-demo-") as folder:
        async with FakeGitHub(registration, clock=clock.now) as github:
            settings = Settings(
                app_id=registration.id,
                private_key=keys.private_pem,
                webhook_secrets=(registration.webhook_secret,),
                api_url=github.api_url,
                graphql_url=github.graphql_url,
                database_url=f"sqlite:///{folder}/demo.db",
                port=0,
            )
            async with app.run_instance(settings, clock=clock.now, store_clock=clock.now) as bot:
                github.webhook_url = "http://{}:{}/webhook".format(*(bot.address or ("", 0)))

                async def settle() -> None:
                    await github.until(lambda: github.deliveries.is_idle)
                    if bot.weekly_scheduler:  # the story's time runs faster than the clock looks at it
                        await bot.weekly_scheduler.tick()
                    await bot.wait_until_idle()

                yield github, settle
