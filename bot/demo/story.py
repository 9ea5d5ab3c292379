"""Play a story on the fake GitHub, and what is clicked on the demo's page."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle, product
from random import Random

import msgspec

from bot import app
from bot.demo.stories import Chapter, Edit, Ending, PastAuthor, PastPullRequest, Remark, Routine, Story
from bot.fakegithub.apps import new_key_pair
from bot.fakegithub.issues import Issue
from bot.fakegithub.model import ApiRefusal, Repository, Role
from bot.fakegithub.pulls import PullRequest, PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.fakegithub.server import FakeGitHub
from bot.fakegithub.world import AppRegistration
from bot.settings import Settings

STORY_PEOPLE: dict[str, Role] = {"alice": "maintain", "bob": "write", "maya": "write", "jonas": "write"}
_STRANGER_LOGIN = "lint-helper[bot]"
"""An App that reviews here, and that nobody made a validator."""

_GIVE_UP_RATES = (0.75, 0.3)
"""How often an author closes a pull request after a rejection, at first and at last."""


def random_weeks(
    random: Random, authors: Sequence[PastAuthor], weeks: int, per_week: int
) -> tuple[tuple[PastPullRequest, ...], ...]:
    """Make up every week's pull requests, by authors who get better."""
    return tuple(
        _random_week(random, authors, week, per_week + random.randrange(-1, 2), week / max(1, weeks - 1))
        for week in range(weeks)
    )


def _random_week(
    random: Random, authors: Sequence[PastAuthor], week: int, count: int, progress: float
) -> tuple[PastPullRequest, ...]:
    chosen = [authors[(week + index) % len(authors) if index else 0] for index in range(count)]
    return tuple(_random_pull(random, author, index % 3, progress) for index, author in enumerate(chosen))


def _random_pull(random: Random, author: PastAuthor, day: int, progress: float) -> PastPullRequest:
    risk = _between(author.first_risk, author.last_risk, progress)
    rejections: list[tuple[str, ...]] = []
    end: Ending = "merged"
    while end == "merged" and len(rejections) < 2 and random.random() < risk:
        rejections.append(tuple(random.sample(author.tags, random.choice((1, 1, 2)))))
        end = "closed" if random.random() < _between(*_GIVE_UP_RATES, progress) else "merged"
    return PastPullRequest(author.login, random.choice(("alice", "bob")), tuple(rejections), end, day)


def _between(first: float, last: float, progress: float) -> float:
    return first + (last - first) * progress


_SUMMARY_HOUR = timedelta(hours=9)
"""On Mondays the summary of the week before is posted at this hour."""
_WEEK = timedelta(weeks=1)
_PACE = timedelta(minutes=20)
"""A chapter lasts so long, with the review in its middle: GitHub's times are in seconds."""
STORY_LENGTH = timedelta(hours=2)
"""The longest time that the chapters take."""
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


def routine_file(routine: Routine, title: str, now: datetime, *, flawed: bool, revision: int = 0) -> str:
    """The text of a past pull request's file, as opened or as revised for the nth time."""
    flaw = routine.flaw if flawed else _date(routine.fixed, now)
    result = routine.results[revision > 0].replace("{n}", str(revision))
    return routine.text.format(title=title, flaw=flaw, result=result)


def state_tags(
    routine: Routine, path: str, text: str, tags: Sequence[str], words: str = ""
) -> tuple[list[str], list[InlineDraft]]:
    """A review's items and inline comments with these tags: each at the line that it is about, if any."""
    items, comments = [], []
    for tag in tags:
        start, remark = routine.remarks.get(tag, ("", ""))
        stated = f"[{tag}] {words or remark}".strip()
        if start is None or not text:
            items.append(f"- {stated}")
        else:
            comments.append(InlineDraft(path, stated, line=line_number(text, start)))
    return items, comments


def line_number(text: str, start: str) -> int:
    """The number of the last line that begins so; of the last line where none does."""
    lines = text.splitlines()
    return max(
        (number for number, line in enumerate(lines, 1) if start and line.startswith(start)),
        default=len(lines),
    )


def _date(text: str, now: datetime) -> str:
    return text.replace("{today}", f"{now:%Y-%m-%d}")


@dataclass(slots=True)
class StoryMonths:
    """Some months of pull requests, week by week; those that are open share each day."""

    github: FakeGitHub
    repository: Repository
    story: Story
    clock: StoryClock
    weeks: tuple[datetime, ...]
    summarised: datetime | None = None
    """The week that the summary is about."""
    per_week: int = 4
    random: Random = field(default_factory=lambda: Random(213))  # noqa: S311  a story, not a secret
    _titles: Iterator[str] = field(default_factory=lambda: iter(()))

    def play(self) -> Iterator[datetime]:
        """Play the weeks; yields the moments at which the bot should catch up."""
        routine = self.story.routine
        weeks = random_weeks(self.random, routine.authors, len(self.weeks), self.per_week)
        titles = [" ".join(words).capitalize() for words in product(*routine.words)]
        self.random.shuffle(titles)
        self._titles = cycle(titles)
        for monday, pulls in zip(self.weeks, weeks, strict=True):
            yield from self._week(monday, routine.last_week if monday == self.summarised else pulls)

    def _week(self, monday: datetime, pulls: tuple[PastPullRequest, ...]) -> Iterator[datetime]:
        """Push in the morning and review in the afternoon, so that the bot reads its rules once."""
        lives = [(pull.day, self._play_pull(pull)) for pull in pulls]
        for day in range(STORY_DAYS):
            for hour in (9, 14):
                minute = self.random.randrange(5, 50)
                self.clock.go_to(monday + timedelta(days=day, hours=hour, minutes=minute))
                lives = [(start, life) for start, life in lives if day < start or next(life, False) is None]
            yield self.clock.now()

    def _play_pull(self, past: PastPullRequest) -> Iterator[None]:
        """Play one pull request; a pause lasts until the afternoon, or until the next morning."""
        routine = self.story.routine
        title = next(self._titles)
        number = len(self.repository.threads) + 1
        path = routine.path.format(number=number, slug=title.lower().replace(" ", "_"))
        flawed = any(routine.flaw_tag in tags for tags in past.rejections)
        text = routine_file(routine, title, self.clock.now(), flawed=flawed)
        options = PullRequestOptions(title=title, files={path: text})
        pull = self.github.open_pull_request(self.repository, past.author, options)
        yield
        for revision, tags in enumerate(past.rejections, 1):
            self._reject(pull, path, past, tags)
            yield
            if past.dismissed_tag:
                command = f"/feedback-dismiss {past.dismissed_tag} reason: {routine.dismissal}"
                self.github.comment(pull, _other(past.reviewer), command)
            elif revision == len(past.rejections) and past.end != "merged":
                if past.end == "closed":
                    self.github.close(pull, by=past.author)
                return
            else:
                text = routine_file(routine, title, self.clock.now(), flawed=False, revision=revision)
                self.github.push(pull, {path: text}, message="Address the review")
            yield
        self.github.submit_review(pull, past.reviewer, "APPROVED", "Good.")
        self.clock.go_to(self.clock.now() + timedelta(seconds=5))
        self.github.merge(pull, by=past.reviewer)

    def _reject(self, pull: PullRequest, path: str, past: PastPullRequest, tags: tuple[str, ...]) -> None:
        if past.has_stranger and not pull.reviews:
            self.github.submit_review(pull, _STRANGER_LOGIN, "CHANGES_REQUESTED", "Two lines are too long.")
        items, comments = state_tags(self.story.routine, path, head_text(pull, path), tags)
        body = "\n".join(("Not yet.\n", *items)).strip()
        self.github.submit_review(pull, past.reviewer, "CHANGES_REQUESTED", body, comments)


def _monday(moment: datetime) -> datetime:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start - timedelta(days=start.weekday())


def _other(reviewer: str) -> str:
    return "alice" if reviewer == "bob" else "bob"


Settle = Callable[[], Awaitable[None]]
"""Waits until the bot has processed everything."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of the story as printed: a heading, or one text that the bot posted."""

    text: str
    title: str = ""
    """Where the bot posted the text."""
    level: int = 0
    """The level of a heading; 0 for a post."""
    is_current: bool = True
    """Whether it is the newest of its kind: not a superseded comment."""


@dataclass(slots=True)
class StoryPlayer:
    """Plays the story's pull request chapter by chapter, and has the bot asked about it afterwards."""

    github: FakeGitHub
    repository: Repository
    story: Story
    clock: StoryClock
    settle: Settle

    async def play(self, *, to_the_end: bool) -> AsyncIterator[Passage]:
        """Yield what the bot posted: its comments, an author's history, the week."""
        yield Passage("comment on a rejected pull request", level=1)
        chapters = (*self.story.rejected, *(self.story.accepted if to_the_end else ()))
        self.clock.go_to(datetime.now(UTC) - len(chapters) * _PACE)
        pull = self._open(self.story.rejected[0].edits)
        for left, chapter in zip(range(len(chapters), 0, -1), chapters, strict=True):
            self.clock.go_to(datetime.now(UTC) - left * _PACE)
            self._play(pull, chapter)
            await self.settle()
            yield Passage(chapter.heading, level=2)
            for passage in self._comments(pull):
                yield passage
        yield Passage("`/feedback-history`", level=1)
        self.clock.go_to(datetime.now(UTC))
        # Not by the agent itself: one is answered once a minute, and somebody may ask as it on the page next.
        self.github.comment(pull, "alice", "/feedback-history")
        await self.settle()
        reply = self.github.comments_of(pull)[-1].body
        yield Passage(reply, "the reply to alice, about the author of the pull request")
        yield Passage("weekly summary issue", level=1)
        for passage in self._weekly():
            yield passage

    def _open(self, edits: Sequence[Edit]) -> PullRequest:
        head = self.repository.branches[self.repository.default_branch]
        options = PullRequestOptions(
            title=self.story.title,
            body=self.story.description,
            files=edit_files(self.repository, head, edits, self.github.now()),
        )
        return self.github.open_pull_request(self.repository, self.story.author, options)

    def _play(self, pull: PullRequest, chapter: Chapter) -> None:
        if chapter.is_merge:
            self.github.merge(pull, by="bob")
            return
        if chapter.message:
            files = edit_files(self.repository, pull.head_sha, chapter.edits, self.github.now())
            self.github.push(pull, files, message=chapter.message)
        run_checks(self.github, pull, self.story, chapter.failed)
        self.clock.go_to(self.clock.now() + _PACE / 2)
        comments = [self._draft(pull, remark) for remark in chapter.remarks]
        self.github.submit_review(pull, "alice", chapter.review, chapter.body, comments)

    def _draft(self, pull: PullRequest, remark: Remark) -> InlineDraft:
        lines = enumerate(head_text(pull, remark.path).splitlines(), 1)
        return InlineDraft(
            remark.path, remark.text, line=next(number for number, line in lines if remark.line in line)
        )

    def _comments(self, pull: PullRequest) -> Iterator[Passage]:
        for number, comment in enumerate(self.github.comments_of(pull), 1):
            folded = f" (minimised: {comment.minimized})" if comment.minimized else ""
            title = f"comment {number} of the thread by {comment.user.login}{folded}"
            yield Passage(comment.body, title, is_current=not comment.minimized)

    def _weekly(self) -> Iterator[Passage]:
        for issue in self.repository.threads.values():
            if any(label.name == "feedback-summary" for label in issue.labels):
                yield Passage(issue.body or "", "the description")
                for comment in self.github.comments_of(issue)[-1:]:
                    yield Passage(comment.body, "the last week's comment", is_current=False)
                return
        yield Passage("No week is over yet, so there is no summary (--weeks).")


def run_checks(
    github: FakeGitHub, pull: PullRequest, story: Story, failed: Mapping[str, str] | None = None
) -> None:
    """Run the story's checks on the head, in one workflow; those that `failed` names print that and fail."""
    workflow = github.start_workflow(pull)
    for name in story.checks:
        conclusion = "failure" if failed and name in failed else "success"
        github.check(pull, name, conclusion, workflow=workflow, log=(failed or {}).get(name))


def head_text(pull: PullRequest, path: str) -> str:
    """The text of a file at the pull request's head."""
    return _text(pull.repository, pull.head_sha, path)


def edit_files(repository: Repository, sha: str, edits: Sequence[Edit], now: datetime) -> dict[str, str]:
    """The files that these edits change, with their new text."""
    texts = {edit.path: _text(repository, sha, edit.path) for edit in edits}
    edited = dict(texts)
    for edit in edits:
        text, new = edited[edit.path], _date(edit.new, now)
        edited[edit.path] = text.replace(_date(edit.old, now), new, 1) if edit.old else text + new
    return {path: text for path, text in edited.items() if text != texts[path]}


def _text(repository: Repository, sha: str, path: str) -> str:
    return (repository.objects.content(sha, path) or b"").decode("utf-8", "replace")


_MAX_TEXT, _MAX_TITLE = 5_000, 120


class DemoAction(msgspec.Struct, frozen=True):
    """A click on the page, as the page sends it, and the user who is acting."""

    kind: str = msgspec.field(name="act")
    login: str = msgspec.field(name="who", default="")
    text: str = ""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "text", self.text.strip()[:_MAX_TEXT])


class DemoActionError(Exception):
    """An action that is not possible; the message is shown on the page."""


@dataclass(frozen=True, slots=True)
class DemoActions:
    """Performs the clicked actions in the repository of a story."""

    github: FakeGitHub
    repository: Repository
    story: Story

    def perform(self, number: int, action: DemoAction) -> Issue:
        """Perform the action in the thread; returns the thread to show next."""
        thread = self.repository.threads.get(number)
        if thread is None:
            raise DemoActionError("There is no such thread.")
        if not self.github.find_account(action.login):
            raise DemoActionError("There is no such user.")
        try:
            return self._perform(thread, action)
        except ApiRefusal as refusal:
            raise DemoActionError(refusal.message) from refusal

    def _perform(self, thread: Issue, action: DemoAction) -> Issue:
        if action.kind == "comment":
            if not action.text:
                raise DemoActionError("Write something first.")
            self.github.comment(thread, action.login, action.text)
        elif action.kind == "open":
            return self._open_pull_request(action)
        elif isinstance(thread, PullRequest):
            self._change(thread, action)
        else:
            raise DemoActionError("This works only on a pull request.")
        return thread

    def _open_pull_request(self, action: DemoAction) -> PullRequest:
        """Open a flawed pull request by another user, so that the acting user can review it."""
        routine = self.story.routine
        number = len(self.repository.threads) + 1
        usual = " ".join(words[number % len(words)] for words in routine.words).capitalize()
        title = (action.text or usual).splitlines()[0][:_MAX_TITLE]
        path = routine.path.format(number=number, slug=usual.lower().replace(" ", "_"))
        text = routine_file(routine, _one_line(title), self.github.now(), flawed=True)
        authors = (author.login for author in routine.authors if author.login != action.login)
        options = PullRequestOptions(title=title, body=f"Adds `{path}`.", files={path: text})
        return self.github.open_pull_request(self.repository, next(authors), options)

    def _change(self, pull: PullRequest, action: DemoAction) -> None:
        if action.kind in {"reject", "approve"} and action.login == pull.user.login:
            raise DemoActionError("You can't review your own pull request. Act as somebody else.")
        match action.kind:
            case "reject":
                self._reject(pull, action)
            case "approve":
                self.github.submit_review(pull, action.login, "APPROVED", action.text)
            case "push":
                self.github.push(pull, self._revision(pull), message=action.text or "Address the review")
                run_checks(self.github, pull, self.story)
            case "merge" if pull.state == "open":
                self.github.merge(pull, by=action.login)
            case _:
                raise DemoActionError("Nothing is open, so there is nothing to fix.")

    def _revision(self, pull: PullRequest) -> dict[str, str]:
        """The files of the next revision: the story's fixes where they apply, else one more line."""
        path, routine = self._path(pull), self.story.routine
        edits = (*self.story.accepted[0].edits, Edit(path, routine.fixed, routine.flaw))
        files = edit_files(self.repository, pull.head_sha, edits, self.github.now())
        return files or {path: f"{head_text(pull, path).rstrip()}\n\n{self.story.note}\n"}

    def _reject(self, pull: PullRequest, action: DemoAction) -> None:
        path = self._path(pull)
        text = head_text(pull, path)
        items, comments = state_tags(self.story.routine, path, text, action.tags, action.text)
        body = "\n".join(items) or ("" if comments else action.text or "Not yet.")
        self.github.submit_review(pull, action.login, "CHANGES_REQUESTED", body, comments)

    def _path(self, pull: PullRequest) -> str:
        """The file that the pull request is about."""
        objects = pull.repository.objects
        head, base = objects.commits[pull.head_sha].files, objects.commits[pull.base_sha].files
        changed = sorted(path for path in head if head[path] != base.get(path))
        main = self.story.rejected[0].edits[0].path
        return main if main in changed or not changed else changed[0]


def _one_line(text: str) -> str:
    """Text that is safe in the title of a file: no quotes or backslashes."""
    return text.replace("\\", "").replace('"', "'")


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
