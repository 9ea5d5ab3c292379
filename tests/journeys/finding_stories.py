"""Reviews of one file and what became of their findings, for journeys about the ledger."""

from __future__ import annotations

import aiohttp

from bot.fakegithub.reviews import InlineDraft
from bot.findings.ledger import build_ledger
from bot.store.pull_requests import load_newest_pull_requests

REJECT, APPROVE, COMMENT = "CHANGES_REQUESTED", "APPROVED", "COMMENTED"
DATE, SCOPE = "<!-- ISSUES: date_errors -->", "<!-- ISSUES: scope_error -->"
CART = "src/cart.py"
LINES = [f"line_{number} = {number}" for number in range(1, 31)]


def text(**changed: str) -> str:
    lines = list(LINES)
    for name, line in changed.items():
        lines[int(name.removeprefix("line")) - 1] = line
    return "\n".join(lines) + "\n"


async def settle(journey) -> None:
    """Wait until the bot is done, and let GitHub's clock go on, whose times have whole seconds."""
    await journey.wait_until_idle()
    journey.advance_clock()


async def recorded(journey, pull):
    await settle(journey)
    records = await journey.bot.store.read(load_newest_pull_requests, ("acme", "knowledge"))
    return next(record for record in records if record.number == pull.number)


async def statuses(journey, pull) -> dict[str, str]:
    ledger = build_ledger(await recorded(journey, pull))
    return {finding.item.tag or finding.item.words: finding.status.value for finding in ledger.findings}


def review(journey, pull, state, body="", *inline, by="alice"):
    drafts = [InlineDraft(CART, words, line=line) for line, words in inline]
    return journey.github.submit_review(pull, by, state, body, drafts)


def first_comment(submitted):
    return next(
        iter(submitted.comments.values() if isinstance(submitted.comments, dict) else submitted.comments)
    )


async def asked(journey, pull, what: str) -> dict:
    """What the API answers about the pull request."""
    token = journey.github.tokens.for_user(journey.github.account("alice"), ("repo",)).token
    host, port = journey.bot.address
    url = f"http://{host}:{port}/api/v1/repos/acme/knowledge/pulls/{pull.number}/{what}"
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return await answer.json()
