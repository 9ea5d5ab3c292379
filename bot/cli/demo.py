"""`whetstone demo`: run the whole story on a local GitHub."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime

from bot import regex
from bot.cli import terminal
from bot.cli.common import integer_between, load_pack_or_file, port_number
from bot.demo.page import DemoPage
from bot.demo.stories import STORY_NAMES, load_story
from bot.demo.story import (
    STORY_DAYS,
    STORY_LENGTH,
    STORY_PEOPLE,
    Passage,
    StoryClock,
    StoryMonths,
    StoryPlayer,
    open_demo,
    story_weeks,
)
from bot.fakegithub.model import Repository
from bot.fakegithub.pulls import PullRequest
from bot.fakegithub.server import FakeGitHub
from bot.markdown.format import format_count

_PAGE_LOGINS = ("alice", "bob", "maya", "rio-agent[bot]")
"""The accounts to act as on the page."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--once", action="store_true", help="print the story and exit, without the page")
    parser.add_argument("--raw", action="store_true", help="print the comments as posted, not a summary")
    parser.add_argument(
        "--story", choices=STORY_NAMES, default="code", help="the story to play (default: code)"
    )
    parser.add_argument("--port", type=port_number, default=8080, help="the port of the page (default: 8080)")
    parser.add_argument(
        "--weeks",
        type=integer_between(0, 52),
        default=12,
        help="weeks of history (default: 12)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    try:
        asyncio.run(_demo(arguments))
    except asyncio.CancelledError:
        return 130
    return 0


async def _demo(arguments: argparse.Namespace) -> None:
    if task := asyncio.current_task():
        _on_termination(task.cancel)
    story = load_story(arguments.story)
    weeks = story_weeks(datetime.now(UTC), arguments.weeks)
    clock = StoryClock(datetime.now(UTC) - weeks[0] if weeks else STORY_LENGTH)
    async with AsyncExitStack() as stack:
        github, settle = await stack.enter_async_context(open_demo(clock))
        repository = github.repository(story.repository, collaborators=STORY_PEOPLE, files=story.files)
        page = DemoPage(github, repository, story, _PAGE_LOGINS, load_pack_or_file(story.pack).tags)
        if not arguments.once:
            address = await _listen(stack, page, arguments.port)
            print(f"The page is at {address} (Ctrl-C ends the demo and leaves nothing behind)", flush=True)
        summarised = weeks[arguments.weeks - 1] if weeks else None
        months = StoryMonths(github, repository, story, clock, weeks, summarised)
        label = f"Playing {format_count(arguments.weeks, 'week')} of pull requests"
        for _ in terminal.track_progress(months.play(), label, total=STORY_DAYS * len(weeks)):
            await settle()
        # On the page somebody may go on from here: there the pull request stays open.
        player = StoryPlayer(github, repository, story, clock, settle)
        async for passage in player.play(to_the_end=arguments.once):
            _print_passage(passage, raw=arguments.raw)
        if not arguments.once:
            await _guide(page, agent_lines(github, repository))


async def _guide(page: DemoPage, lines: tuple[str, ...]) -> None:
    """Start the page's three steps, and serve it until the demo is ended."""
    page.start_guide(lines)
    print("To read the last pull request as its agent, run in another terminal:")
    print(*lines, sep="\n", flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    _on_termination(stop.set)
    await stop.wait()


def _print_passage(passage: Passage, *, raw: bool) -> None:
    if passage.level:
        terminal.print_markdown(f"{'#' * passage.level} {passage.text}\n")
    elif raw:
        print(f"--- {passage.title}\n{passage.text}" if passage.title else passage.text)
    elif passage.is_current:
        terminal.print_markdown(f"{summarize(passage.text)}\n")


_HIDDEN = regex.Regex(r"(?s)<!--.*?-->|<details>.*?</details>|<sub>.*?</sub>")
_LINK_ALONE = regex.Regex(r"(\.) \[[^\[\]]*\]\([^()\s]*\)|, \[run\]\([^()\s]*\)")
_LINK = regex.Regex(r"\[([^\[\]]*)\]\([^()\s]*\)")
_GAP = regex.Regex(r"\n{3,}")


def summarize(comment: str) -> str:
    """What a comment shows at first sight: without markers, folds, small print and addresses of links."""
    whole = _LINK_ALONE.sub(lambda link: link[1] or "", _HIDDEN.sub("", comment))
    visible = _LINK.sub(lambda link: str(link[1]), whole)
    sections = visible.split("\n### ")
    # A chart is a picture on GitHub, and a page of numbers here.
    shown = [section for section in sections if "```mermaid" not in section]
    return _GAP.sub("\n\n", "\n### ".join(shown)).strip()


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


async def _listen(stack: AsyncExitStack, page: DemoPage, port: int) -> str:
    """Serve the page at this port, or at any other where it is in use; returns its address."""
    try:
        return await stack.enter_async_context(page.serve(port=port))
    except OSError:
        print(f"Port {port} is in use; the page uses another one.", file=sys.stderr)
        return await stack.enter_async_context(page.serve())
