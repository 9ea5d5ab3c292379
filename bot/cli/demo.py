"""`whetstone demo`: run the whole story on a local GitHub."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

from bot import app
from bot.cli import CliCommand, terminal
from bot.cli.common import integer_between, load_pack_or_file, port_number
from bot.demo.page import DemoPage
from bot.demo.story import STORY_DAYS, StoryClock, StoryMonths, story_weeks
from bot.fakegithub.model import Issue, PullRequest, Repository, Role
from bot.fakegithub.pull_actions import InlineDraft, PullRequestOptions
from bot.fakegithub.registration import new_key_pair
from bot.fakegithub.server import FakeGitHub
from bot.fakegithub.world import AppRegistration
from bot.settings import Settings

Chapter = tuple[str, Callable[[FakeGitHub, PullRequest], None]]
"""What happens to a pull request, in words and in fact."""

Settle = Callable[[], Awaitable[None]]
"""Waits until everybody has done what there was to do."""

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
_PEOPLE: dict[str, Role] = {"alice": "maintain", "bob": "write", "maya": "write", "jonas": "write"}
_VISITORS = ("alice", "bob", "maya", "rio-agent[bot]")
"""As whom a visitor of the page may act."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="print the story and exit")
    parser.add_argument("--port", type=port_number, default=8080, help="where the page is served (8080)")
    parser.add_argument(
        "--weeks", type=integer_between(0, 52), default=12, help="how long the repository's past is (12)"
    )


def _run(arguments: argparse.Namespace) -> int:
    try:
        asyncio.run(_told(arguments))
    except asyncio.CancelledError:
        return 130
    return 0


async def _told(arguments: argparse.Namespace) -> None:
    if task := asyncio.current_task():
        _at_the_end(task.cancel)
    weeks = story_weeks(datetime.now(UTC), arguments.weeks)
    time = StoryClock(datetime.now(UTC) - weeks[0] if weeks else timedelta(0))
    async with _town(time) as (github, settle):
        repository = github.repository("acme/knowledge", collaborators=_PEOPLE)
        site = DemoPage(github, _VISITORS, load_pack_or_file("knowledge-base").tags)
        months = StoryMonths(github, repository, time, weeks, weeks[arguments.weeks - 1] if weeks else None)
        what = f"{arguments.weeks} week{'' if arguments.weeks == 1 else 's'} of pull requests go by"
        for _ in terminal.track_progress(months.play(), what, total=STORY_DAYS * len(weeks)):
            await settle()
        time.go_to(datetime.now(UTC))
        # The page is for somebody who wants to go on from here: its pull request stays open.
        await _story(
            github, repository, settle, _REJECTED if not arguments.once else (*_REJECTED, *_ACCEPTED)
        )
        if not arguments.once:
            await _shown(site, arguments.port)


async def _story(
    github: FakeGitHub, repository: Repository, settle: Settle, chapters: tuple[Chapter, ...]
) -> None:
    """The three things that the bot posts, each under its heading."""
    pull = _opened(github, repository)
    print("# comment on a rejected pull request\n")
    for chapter, act in chapters:
        act(github, pull)
        await settle()
        print(f"## {chapter}\n")
        for number, comment in enumerate(github.comments_of(pull), 1):
            folded = f" (minimised: {comment.minimized})" if comment.minimized else ""
            print(f"--- comment {number} of the thread by {comment.user.login}{folded}\n{comment.body}")
    print("# `/feedback-history`\n")
    # Not by the agent itself: one is answered once a minute, and the page's visitor may ask as it next.
    github.comment(pull, "alice", "/feedback-history")
    await settle()
    print(
        f"--- the reply to alice, about the author of the pull request\n{github.comments_of(pull)[-1].body}"
    )
    print("# weekly summary issue\n")
    told = (each for each in repository.threads.values() if _tells_weeks(each))
    for issue in told:
        print(f"--- the description\n{issue.body}")
        for comment in github.comments_of(issue)[-1:]:
            print(f"--- the last week's comment\n{comment.body}")
        return
    print("No week is over yet, so there is none (--weeks).")


def _tells_weeks(thread: Issue) -> bool:
    return any(label.name == "feedback-summary" for label in thread.labels)


def _opened(github: FakeGitHub, repository: Repository) -> PullRequest:
    opening = PullRequestOptions(
        title="Futarchy proves that markets resist manipulation",
        body="A claim from `sources/hanson-2013.md`, on what the experiment with 24 markets shows.",
        files={_PAGE: _draft(_WRONG_DATE)},
    )
    return github.open_pull_request(repository, "rio-agent[bot]", opening)


async def _shown(site: DemoPage, port: int) -> None:
    """The page, until somebody has seen enough."""
    async with _page_of(site, port) as address:
        print(f"The threads are at {address} (Ctrl-C ends the demo and leaves nothing behind)", flush=True)
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
        _at_the_end(stop.set)
        await stop.wait()


def _at_the_end(do: Callable[[], object]) -> None:
    """A terminal that is closed, or a kill, ends the demo as Ctrl-C does: nothing is left behind."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(name) is not signal.SIG_IGN:  # as under nohup
            asyncio.get_running_loop().add_signal_handler(name, do)


@asynccontextmanager
async def _page_of(site: DemoPage, port: int) -> AsyncIterator[str]:
    """The page at its port, or at any other where that one is taken."""
    async with AsyncExitStack() as stack:
        try:
            address = await stack.enter_async_context(site.serving(port=port))
        except OSError:
            print(f"Port {port} is in use, so the page takes another.", file=sys.stderr)
            address = await stack.enter_async_context(site.serving())
        yield address


def _check(github: FakeGitHub, pull: PullRequest, failed: int) -> None:
    """Five checks end, so many of them badly."""
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
    place = InlineDraft(_PAGE, "[title_overclaims] proves, from one experiment with 24 markets", line=9)
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "Nearly.", [place])


def _reject_worse(github: FakeGitHub, pull: PullRequest) -> None:
    page = _draft(_WRONG_DATE, share=43) + _ARGUMENT
    github.push(pull, {_PAGE: page}, message="Take the numbers from the draft")
    _check(github, pull, failed=1)
    wrong = (
        "[factual_discrepancy] 43 % should be 34 %\n```suggestion\nAttackers moved the price by 34 %.\n```"
    )
    places = [
        InlineDraft(_PAGE, wrong, line=11),
        InlineDraft(_PAGE, "[date_errors] month 13 is back", line=7),
        InlineDraft(_PAGE, "[title_overclaims] it still says proves", line=9),
    ]
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: near_duplicate -->", places)


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


_REJECTED: tuple[Chapter, ...] = (
    ("alice requests changes: two blocking issues", _reject_first),
    ("rio-agent pushes; date and argument are good now, the title is not", _reject_better),
    ("rio-agent pushes again; it got worse, so the comment is posted anew", _reject_worse),
)
_ACCEPTED: tuple[Chapter, ...] = (
    ("rio-agent mends everything, alice approves", _approve),
    ("bob merges it; which iteration was the best is folded into the comment", _merge),
)


@asynccontextmanager
async def _town(time: StoryClock) -> AsyncIterator[tuple[FakeGitHub, Settle]]:
    """GitHub's stand-in with the real bot beside it, on a store that is gone afterwards."""
    keys = new_key_pair()
    facts = AppRegistration(public_pem=keys.public_pem)
    with tempfile.TemporaryDirectory(prefix="whetstone-demo-") as folder:
        async with FakeGitHub(facts, clock=time.now) as github:
            settings = Settings(
                app_id=facts.id,
                private_key=keys.private_pem,
                webhook_secrets=(facts.webhook_secret,),
                api_url=github.api_url,
                graphql_url=github.graphql_url,
                database_url=f"sqlite:///{folder}/demo.db",
                port=0,
            )
            async with app.run_instance(settings, clock=time.now, store_clock=time.now) as bot:
                github.webhook_url = "http://{}:{}/webhook".format(*(bot.address or ("", 0)))

                async def settle() -> None:
                    await github.until(lambda: github.deliveries.is_idle)
                    if bot.weekly_scheduler:  # the story's time runs faster than the clock looks at it
                        await bot.weekly_scheduler.tick()
                    await bot.wait_until_idle()

                yield github, settle


COMMAND = CliCommand(
    "demo",
    "Play the whole story on a local GitHub, with no account, and print what was posted.",
    "whetstone demo --once",
    _arguments,
    _run,
)
