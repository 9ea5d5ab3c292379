"""`whetstone demo`: run the whole story on a local GitHub."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

from bot.cli import terminal
from bot.cli.common import integer_between, load_pack_or_file, port_number
from bot.demo.page import DemoPage
from bot.demo.story import (
    ACCEPTED_CHAPTERS,
    REJECTED_CHAPTERS,
    STORY_DAYS,
    STORY_PEOPLE,
    StoryClock,
    StoryMonths,
    open_demo,
    story_weeks,
    tell_story,
)
from bot.fakegithub.model import PullRequest, Repository
from bot.fakegithub.server import FakeGitHub

_PAGE_LOGINS = ("alice", "bob", "maya", "rio-agent[bot]")
"""The accounts to act as on the page."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--once", action="store_true", help="print the story and exit")
    parser.add_argument("--port", type=port_number, default=8080, help="where the page is served (8080)")
    parser.add_argument(
        "--weeks", type=integer_between(0, 52), default=12, help="how long the repository's past is (12)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    try:
        asyncio.run(_demo(arguments.weeks, arguments.port, once=arguments.once))
    except asyncio.CancelledError:
        return 130
    return 0


async def _demo(week_count: int, port: int, *, once: bool) -> None:
    if task := asyncio.current_task():
        _on_termination(task.cancel)
    weeks = story_weeks(datetime.now(UTC), week_count)
    clock = StoryClock(datetime.now(UTC) - weeks[0] if weeks else timedelta(0))
    async with open_demo(clock) as (github, settle):
        repository = github.repository("acme/knowledge", collaborators=STORY_PEOPLE)
        page = DemoPage(github, _PAGE_LOGINS, load_pack_or_file("knowledge-base").tags)
        months = StoryMonths(github, repository, clock, weeks, weeks[week_count - 1] if weeks else None)
        label = f"{week_count} week{'' if week_count == 1 else 's'} of pull requests go by"
        for _ in terminal.track_progress(months.play(), label, total=STORY_DAYS * len(weeks)):
            await settle()
        clock.go_to(datetime.now(UTC))
        # Somebody may go on from here on the page: there the pull request stays open.
        chapters = (*REJECTED_CHAPTERS, *ACCEPTED_CHAPTERS) if once else REJECTED_CHAPTERS
        async for text in tell_story(github, repository, settle, chapters):
            print(text)
        if not once:
            await _serve_page(page, port, agent_lines(github, repository))


async def _serve_page(page: DemoPage, port: int, lines: tuple[str, ...]) -> None:
    async with _listen(page, port) as address:
        print(f"The threads are at {address} (Ctrl-C ends the demo and leaves nothing behind)")
        print("As its agent sees the last pull request, in another terminal:")
        print(*lines, sep="\n", flush=True)
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
        _on_termination(stop.set)
        await stop.wait()


def agent_lines(github: FakeGitHub, repository: Repository) -> tuple[str, ...]:
    """The commands with which an agent reads its pull request in this demo, each complete in one line."""
    number = max(number for number, thread in repository.threads.items() if isinstance(thread, PullRequest))
    settings = {
        "GH_TOKEN": github.user_token(repository.threads[number].user.login),
        "GITHUB_API_URL": github.api_url,
        "WHETSTONE_URL": (github.webhook_url or "").removesuffix("/webhook"),
    }
    environment = " ".join(f"{name}={value}" for name, value in settings.items())
    command = f"{environment} {shlex.quote(sys.executable)} -m bot"
    missing = "" if importlib.util.find_spec("mcp") else "  # after make setup, which installs the extra mcp"
    return (f"  {command} comment {repository.full_name} {number} --json", f"  {command} mcp{missing}")


def _on_termination(callback: Callable[[], object]) -> None:
    """Have a closed terminal or a kill end the demo as Ctrl-C does: nothing is left behind."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(name) is not signal.SIG_IGN:  # as under nohup
            asyncio.get_running_loop().add_signal_handler(name, callback)


@asynccontextmanager
async def _listen(page: DemoPage, port: int) -> AsyncIterator[str]:
    """Serve the page at this port, or at any other where it is in use."""
    async with AsyncExitStack() as stack:
        try:
            address = await stack.enter_async_context(page.serve(port=port))
        except OSError:
            print(f"Port {port} is in use, so the page takes another.", file=sys.stderr)
            address = await stack.enter_async_context(page.serve())
        yield address
