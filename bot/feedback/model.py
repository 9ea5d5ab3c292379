"""Failed gates and the feedback made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.feedback.brief import Brief
from bot.gates.config import GroundingRules, shipped_scoring
from bot.gates.model import Gate, Gates
from bot.grounding.items import ItemGrounding
from bot.iterations.model import GateChanges, Iteration, open_items, sort_verdicts, standing_verdicts
from bot.iterations.progress import Progress
from bot.iterations.selection import SelectionReport
from bot.pull_request.effects import Effect, StoreCommand
from bot.pull_request.model import (
    BLOCKING_SEVERITIES,
    Item,
    Provenance,
    PullRequest,
    Stance,
    Validator,
    Verdict,
)
from bot.values import Location

STATED_CONFIDENCE = 0.95
"""Confidence in what a validator states by a formal state or a tag."""


@dataclass(frozen=True, slots=True)
class GateItem:
    """One item together with its validator."""

    item: Item
    validator: Validator
    grounding: ItemGrounding | None = None
    """The outcome of its claims; None where it claims nothing that can be verified."""
    origin: Provenance = field(default_factory=Provenance)
    """Its source, account, permission and text hash."""


@dataclass(frozen=True, slots=True)
class FailedGate:
    """A failed gate with all items about it."""

    tag: str | None
    gate: Gate | None
    blocking: bool
    findings: tuple[GateItem, ...]
    status: str = "new"
    nearest: str | None = None
    recurrence: str = ""
    """Where its author failed it before, or since when it is open."""
    appeal: str = ""
    """Who appealed against it, and why; not decided yet."""

    @property
    def name(self) -> str:
        """The gate's name; the tag of an unknown gate; without a tag the tool's rule, or the aspect."""
        if self.gate:
            return self.gate.gate
        item = self.findings[0].item
        return self.tag or item.rule or (item.aspect or "correctness").capitalize()

    @property
    def places(self) -> tuple[Location, ...]:
        """The items' locations, each once, in order."""
        return tuple(dict.fromkeys(finding.item.place for finding in self.findings if finding.item.place))

    @property
    def confidence(self) -> float | None:
        """The confidence of an inferred tag; None where the tag was stated."""
        stated = [finding for finding in self.findings if finding.item.inferred is None]
        return None if stated else max(finding.item.inferred or 0.0 for finding in self.findings)

    @property
    def is_auto_fixable(self) -> bool:
        """Whether the gate can be fixed automatically."""
        return self.gate is not None and self.gate.auto_fixable


@dataclass(frozen=True, slots=True)
class Feedback:
    """Everything that the comment and the document say, before it is rendered."""

    id: str
    at: datetime
    pull_request: PullRequest
    iteration: Iteration
    previous: Iteration | None
    changes: GateChanges
    gates: tuple[FailedGate, ...]
    """Blocking ones first, by priority."""
    issues: tuple[str, ...]
    """The tags in the order given."""
    more: int
    verdict: str
    max_iterations: int
    best: Iteration
    score: float
    """Quality of this iteration from 0 to 1; it only ranks the author's own revisions."""
    brief: Brief | None = None
    """The brief for the next revision."""
    previously_open_count: int = 0
    """Number of issues open the last time that any were: those that a resolution resolves."""
    repeated: tuple[str, ...] = ()
    """The blocking tags that came back so often that a person has to decide."""
    progress: Progress | None = None
    """The scores of all iterations."""
    grounding: GroundingRules = field(default_factory=GroundingRules)
    """How sources are written."""
    hint: str = ""
    """One line to the reviewers about wording that can't be acted on."""
    report: SelectionReport | None = None
    """The selection report, once it is closed after more than one iteration."""
    weights: Mapping[str, float] = field(default_factory=lambda: shipped_scoring().weights.severities)
    """Weight of an item by severity."""

    @property
    def blocking(self) -> tuple[FailedGate, ...]:
        """The failed gates that block."""
        return tuple(gate for gate in self.gates if gate.blocking)

    @property
    def warnings(self) -> tuple[FailedGate, ...]:
        """The failed gates that do not block."""
        return tuple(gate for gate in self.gates if not gate.blocking)

    @property
    def confidence(self) -> float:
        """The average confidence over the gates."""
        sure = [STATED_CONFIDENCE if gate.confidence is None else gate.confidence for gate in self.gates]
        return round(sum(sure) / len(sure), 2) if sure else STATED_CONFIDENCE

    @property
    def rejecting(self) -> tuple[Verdict, ...]:
        """The standing verdicts that reject, oldest first."""
        return self.iteration.rejecting

    @property
    def source(self) -> str:
        """The validator: the newest that rejects, else that rejected before; a person before a check."""
        verdicts = self.rejecting or self._formerly_rejecting or self.iteration.standing
        people = [verdict for verdict in verdicts if not verdict.validator.check]
        newest = (people or list(verdicts))[-1:]
        return newest[0].validator.name if newest else "validator"

    @property
    def _formerly_rejecting(self) -> tuple[Verdict, ...]:
        """The standing verdicts of those who rejected an earlier revision."""
        rejected = {v.validator.key for v in self.pull_request.verdicts if v.stance is Stance.REJECTS}
        return tuple(verdict for verdict in self.iteration.standing if verdict.validator.key in rejected)


def last_open_gates(pull_request: PullRequest) -> tuple[str, ...]:
    """Return the gates that were open the last time that any were: tags, and items without one."""
    verdicts = sort_verdicts(pull_request.verdicts)
    for count in range(len(verdicts), 0, -1):
        for moment in _lift_times(verdicts, count):
            standing = [_restore_lifted(verdict, moment) for verdict in verdicts[:count]]
            if items := open_items(standing_verdicts(standing)):
                return tuple(dict.fromkeys(item.key for item in items))
    return ()


def _lift_times(verdicts: Sequence[Verdict], count: int) -> list[datetime]:
    """Return when verdicts were lifted after the first `count` and before the next, the latest first."""
    since = verdicts[count - 1].at
    until = verdicts[count].at if count < len(verdicts) else None
    lifted = {verdict.lifted_at for verdict in verdicts[:count] if verdict.lifted_at}
    times = (at for at in lifted if at >= since and (until is None or at < until))
    return [*sorted(times, reverse=True), since - timedelta.resolution]


def _restore_lifted(verdict: Verdict, moment: datetime) -> Verdict:
    was_standing = verdict.lifted_at is not None and verdict.lifted_at > moment
    return replace(verdict, lifted_at=None) if was_standing else verdict


def find_failed_gates(
    standing: tuple[Verdict, ...], gates: Gates, before: frozenset[str]
) -> tuple[FailedGate, ...]:
    """Return the gates that the rejecting verdicts name: blocking first, by priority, then as stated."""
    by_tag: dict[str, list[GateItem]] = {}
    for verdict in standing:
        if verdict.stance is Stance.REJECTS:
            for item in verdict.items:
                by_tag.setdefault(item.key, []).append(
                    GateItem(item, verdict.validator, origin=verdict.origin_of(item))
                )
    failed = [_build_failed_gate(tag, tuple(findings), gates, before) for tag, findings in by_tag.items()]
    return tuple(sorted(failed, key=_rank))


def demote_unlocated(failed: tuple[FailedGate, ...]) -> tuple[FailedGate, ...]:
    """Apply strict mode: a gate without a location does not block."""
    strict = (replace(gate, blocking=gate.blocking and bool(gate.places)) for gate in failed)
    return tuple(sorted(strict, key=_rank))


def _build_failed_gate(
    tag: str, findings: tuple[GateItem, ...], gates: Gates, before: frozenset[str]
) -> FailedGate:
    if tag.startswith(":"):
        blocking = any(finding.item.severity in BLOCKING_SEVERITIES for finding in findings)
        return FailedGate(None, None, blocking, findings, "open" if tag in before else "new")
    gate = gates.get(tag)
    stated = any(finding.item.inferred is None for finding in findings)
    return FailedGate(
        tag=tag,
        gate=gate,
        blocking=gate is not None and gate.is_blocking and stated,
        findings=_drop_bare_mentions(findings),
        status="open" if tag in before else "new",
        nearest=None if gate else gates.nearest(tag),
    )


def _drop_bare_mentions(findings: tuple[GateItem, ...]) -> tuple[GateItem, ...]:
    """Drop bare mentions where another item has a location or text."""
    telling = tuple(finding for finding in findings if finding.item.place or finding.item.words)
    return telling or findings[:1]


def _rank(failed: FailedGate) -> tuple[bool, int]:
    return (not failed.blocking, failed.gate.priority if failed.gate else 10)


@dataclass(frozen=True, slots=True)
class Decision:
    """The updated pull request, the effects, and the reason."""

    pull_request: PullRequest
    effects: tuple[Effect, ...]
    reason: str
    store_commands: tuple[StoreCommand, ...] = ()
    """What to store besides the pull request, such as the whole document."""
    feedback: Feedback | None = None
    """What is wrong now; None before the first verdict."""
    body: str | None = None
    """The comment's text, where one was rendered."""
