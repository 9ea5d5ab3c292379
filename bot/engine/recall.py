"""What of the past does this turn need: the author's last records, or a pull request never seen before?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.decisions.orders import texts_in
from bot.decisions.record import record
from bot.domain.events import Event, PullRequestSeen
from bot.domain.facts import Facts
from bot.domain.memory import Record
from bot.domain.model import GHOST, PullRequest
from bot.ports import GitHub, Memory

RECENT = 12
"""Records of an author: five of them are looked at, some of the latest may not have been judged."""


async def recent_records(known: PullRequest, facts: Facts, memory: Memory) -> tuple[Record, ...]:
    """The author's latest records, where a verdict can have changed."""
    if known.author == GHOST or (facts.reviews is None and not known.verdicts):
        return ()
    return await memory.newest(known.repository.id, known.author.id, RECENT)


async def first_seen(events: Sequence[Event], github: GitHub) -> PullRequest | None:
    """The pull request that was commented on, as GitHub shows it, where nothing is known of it yet."""
    text = next(texts_in(events), None)
    if text is None:
        return None
    seen = await github.pull_request(text.repository, text.number)
    return record(None, PullRequestSeen("seen", seen), seen.updated_at)
