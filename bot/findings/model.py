"""A finding, and the ledger that holds all findings of one pull request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.gates.model import Gates
from bot.pull_request.model import (
    BLOCKING_SEVERITIES,
    FindingRecord,
    FindingStatus,
    Item,
    StatusChange,
    Validator,
    Verdict,
)

MAX_FINDINGS = 500
"""Findings of one pull request; beyond it, closed ones go first, the longest closed before the others."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a validator says is wrong, with its status and how it got there."""

    number: int
    keys: tuple[str, ...]
    validator: Validator
    item: Item
    """As last reported; its location is the one at the present head."""
    status: FindingStatus
    changes: tuple[StatusChange, ...]
    first_head: str
    head: str
    """The head that it was last reported at."""
    verdict_id: str
    """The verdict that reported it last."""
    reported_at: datetime
    order: int = 0
    """The last report's turn among all reports."""

    @property
    def id(self) -> str:
        """The short id: `f4`."""
        return f"f{self.number}"

    @property
    def is_open(self) -> bool:
        """Whether it still counts against the pull request."""
        return self.status.is_open

    @property
    def closed_at(self) -> datetime | None:
        """When it was closed; None while it is open."""
        return None if self.is_open or not self.changes else self.changes[-1].at


@dataclass(frozen=True, slots=True)
class Ledger:
    """All findings of one pull request, in the order in which they were first reported."""

    findings: tuple[Finding, ...] = ()
    omitted: int = 0
    """Findings that were dropped because there were too many."""
    newest: tuple[Verdict, ...] = ()
    """The newest verdict of each validator, oldest first."""
    lifted: frozenset[str] = frozenset()
    """Ids of the verdicts that were dismissed, deleted or otherwise taken back."""

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that still count."""
        return tuple(finding for finding in self.findings if finding.is_open)

    def of(self, validator_key: str) -> tuple[Finding, ...]:
        """Return the findings of one validator."""
        return tuple(finding for finding in self.findings if finding.validator.key == validator_key)

    def find(self, name: str) -> tuple[Finding, ...]:
        """Return the findings with this id or tag, as a command names them."""
        return tuple(finding for finding in self.findings if name in {finding.id, finding.item.tag})

    def records(self) -> tuple[FindingRecord, ...]:
        """Return what is stored of them."""
        return tuple(
            FindingRecord(finding.number, finding.keys, finding.status, finding.item.place, finding.head)
            for finding in self.findings
        )


def is_blocking(item: Item, gates: Gates) -> bool:
    """Whether a finding blocks: as its review settled it, else by its document, else by its gate."""
    if item.blocks is not None:
        return item.blocks
    if item.severity is not None:
        return item.severity in BLOCKING_SEVERITIES
    if item.tag is None:
        return True
    gate = gates.get(item.tag)
    return gate is not None and gate.is_blocking and item.inferred is None
