"""How was each verdict put, in numbers: how much of what it claims is so, and how many items are vague?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bot.domain import quality
from bot.domain.grounding.rates import GroundingRates, first_seen, rates
from bot.domain.model import PullRequest, Verdict


@dataclass(frozen=True, slots=True)
class Stated:
    """Of one verdict; nobody's words, and no name but the verdict's id."""

    verdict: str
    claims: GroundingRates
    items: int = 0
    """Items with words of their own."""
    vague: int = 0
    """Those whose words can't be acted on or checked."""


def stated(pull_request: PullRequest) -> tuple[Stated, ...]:
    """What is remembered of how each verdict was put; nothing of a check, which has no choice of words."""
    log = first_seen(pull_request.grounding)
    found = (
        _of_verdict(verdict, rates(entry for entry in log if entry.verdict == verdict.id))
        for verdict in pull_request.verdicts
        if verdict.counted and not verdict.validator.check
    )
    return tuple(each for each in found if each.claims.claims or each.items)


def _of_verdict(verdict: Verdict, claims: GroundingRates) -> Stated:
    words = [item.words for item in verdict.items if item.words.strip()]
    return Stated(verdict.id, claims, len(words), sum(map(_is_vague, words)))


@lru_cache(1024)  # the same words are asked about at every turn
def _is_vague(words: str) -> bool:
    return bool(quality.wording(words))
