"""`whetstone demo`: the whole story with no account, on a local GitHub."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot import wiring
from bot.cli import Command
from bot.settings import Settings
from bot.standin import AppFacts, Inline, Opening, Standin, new_key_pair
from bot.standin.model import PullRequest

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
_FIRST = _DRAFT.format(created="2026-13-01", title="Futarchy proves that markets resist", share=34)
_SECOND = _DRAFT.format(created="2026-11-15", title="Futarchy proves that markets resist", share=34)
_THIRD = _DRAFT.format(created="2026-13-01", title="Futarchy proves that markets resist", share=43)
_FOURTH = _DRAFT.format(created="2026-11-15", title="One experiment suggests resistance", share=34)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="print the story and exit")


def _run(arguments: argparse.Namespace) -> int:
    del arguments  # the page that stays open comes with the browser's part of the demo
    asyncio.run(_told())
    return 0


async def _told() -> None:
    async with _town() as (github, settle):
        repository = github.repository("acme/knowledge", collaborators={"alice": "maintain", "bob": "write"})
        opening = Opening(title="Futarchy proves that markets resist manipulation", files={_PAGE: _FIRST})
        pull = github.open_pull_request(repository, "rio-agent[bot]", opening)
        print("# comment on a rejected pull request\n")
        for chapter, act in (
            ("alice requests changes: two blocking issues", _reject_first),
            ("rio-agent pushes; the date is right now, the title is not", _reject_better),
            ("rio-agent pushes again; it got worse, so the comment is posted anew", _reject_worse),
            ("rio-agent mends everything, alice approves", _approve),
        ):
            act(github, pull)
            await settle()
            print(f"## {chapter}\n")
            for number, comment in enumerate(github.comments_of(pull), 1):
                folded = f" (minimised: {comment.minimized})" if comment.minimized else ""
                print(f"--- comment {number} of the thread by {comment.user.login}{folded}\n{comment.body}")


def _reject_first(github: Standin, pull: PullRequest) -> None:
    github.submit_review(
        pull,
        "alice",
        "CHANGES_REQUESTED",
        "Not yet.",
        [
            Inline(_PAGE, "[date_errors] month 13 is out of range", line=7),
            Inline(_PAGE, "[body_too_thin] one sentence is no argument", line=11),
        ],
    )


def _reject_better(github: Standin, pull: PullRequest) -> None:
    github.push(pull, {_PAGE: _SECOND})
    place = Inline(_PAGE, "[title_overclaims] proves, from one experiment with 24 markets", line=9)
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "Nearly.", [place])


def _reject_worse(github: Standin, pull: PullRequest) -> None:
    github.push(pull, {_PAGE: _THIRD})
    wrong = (
        "[factual_discrepancy] 43 % should be 34 %\n```suggestion\nAttackers moved the price by 34 %.\n```"
    )
    places = [
        Inline(_PAGE, wrong, line=11),
        Inline(_PAGE, "[date_errors] month 13 is back", line=7),
        Inline(_PAGE, "[title_overclaims] it still says proves", line=9),
    ]
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: near_duplicate -->", places)


def _approve(github: Standin, pull: PullRequest) -> None:
    github.push(pull, {_PAGE: _FOURTH})
    github.submit_review(pull, "alice", "APPROVED", "Good now.")


@asynccontextmanager
async def _town() -> AsyncIterator[tuple[Standin, Callable[[], Awaitable[None]]]]:
    """GitHub's stand-in with the real bot beside it, on a store that is gone afterwards."""
    keys = new_key_pair()
    facts = AppFacts(public_pem=keys.public_pem)
    with tempfile.TemporaryDirectory(prefix="whetstone-demo-") as folder:
        async with Standin(facts) as github:
            settings = Settings(
                app_id=facts.id,
                private_key=keys.private_pem,
                webhook_secrets=(facts.webhook_secret,),
                api_url=github.api_url,
                graphql_url=github.graphql_url,
                database_url=f"sqlite:///{folder}/demo.db",
                port=0,
            )
            async with wiring.running(settings) as bot:
                github.webhook_url = "http://{}:{}/webhook".format(*(bot.address or ("", 0)))

                async def settle() -> None:
                    await github.until(lambda: github.deliveries.is_idle)
                    await bot.settled()

                yield github, settle


COMMAND = Command(
    "demo",
    "Play the whole story on a local GitHub, with no account, and print what was posted.",
    "whetstone demo --once",
    _arguments,
    _run,
)
