"""What do the broken gates look like once their items' claims were looked up?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.domain.choices import ClaimType
from bot.domain.feedback import FailedGate, Finding
from bot.domain.grounding.claim import Requirement
from bot.domain.grounding.grounded import Grounded
from bot.domain.grounding.items import ItemGrounding, item_grounding
from bot.domain.grounding.result import Outcome, Tool
from bot.domain.grounding.statements import item_key
from bot.domain.rules import Grounding

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def with_outcomes(
    gates: tuple[FailedGate, ...], log: Sequence[Grounded], head: str, rules: Grounding
) -> tuple[FailedGate, ...]:
    """The gates with the outcome of every item, each item at the place where it was found."""
    if not rules.enabled:
        return gates
    return tuple(
        replace(gate, findings=tuple(_with(finding, log, head, rules) for finding in gate.findings))
        for gate in gates
    )


def _with(finding: Finding, log: Sequence[Grounded], head: str, rules: Grounding) -> Finding:
    if finding.by.check:
        # A log that somebody handed in is their word: no check of GitHub's shows it.
        seen = finding.origin.way != "validation"
        return replace(finding, grounding=_by_check(finding, head)) if seen else finding
    found = item_grounding(log, item_key(finding.by.key, finding.item), head, finding.item.place)
    if found is None:
        return finding
    item = replace(finding.item, place=found.place) if found.place else finding.item
    if found.shows_only_a_file:
        return replace(finding, item=item)
    kept = rules.allow_unverified_claim and found.outcome is Outcome.UNVERIFIABLE
    return replace(finding, item=item, grounding=replace(found, allowed=kept))


def _by_check(finding: Finding, head: str) -> ItemGrounding:
    """What a check says is its own observation."""
    return ItemGrounding(
        Grounded(
            validator=finding.by.key,
            name=finding.by.name,
            verdict="",
            item="",
            type=ClaimType.TEST_RESULTS.value,
            requirement=Requirement.MANDATORY.value,
            claim=finding.item.words[:200],
            outcome=Outcome.VERIFIED.value,
            head=head,
            at=_LONG_AGO,
            tool=Tool.CHECKS.value,
            check=finding.by.name,
        ),
        finding.item.place,
    )
