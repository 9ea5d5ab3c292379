"""Failed gates and the feedback made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.feedback.brief import Brief, find_reported_test
from bot.findings.entries import entry_keys
from bot.findings.ledger import verdict_order
from bot.findings.model import Finding, is_blocking
from bot.findings.turns import Turn
from bot.gates.config import DocumentPolicy, GroundingRules, shipped_scoring
from bot.gates.model import Gate, Gates
from bot.grounding.items import ItemGrounding
from bot.iterations.model import Iteration
from bot.iterations.progress import Progress
from bot.iterations.selection import SelectionReport
from bot.markdown.escape import code_span
from bot.pull_request.effects import Effect, StoreCommand
from bot.pull_request.model import (
    FindingStatus,
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
    """The outcome of its claims; None if it claims nothing that can be verified."""
    origin: Provenance = field(default_factory=Provenance)
    """Its source, account, permission and text hash."""
    blocks: bool = True
    """Whether it blocks by itself; another one of the same tag may."""

    @property
    def failing_test(self) -> tuple[str, str]:
        """The test that a check reports as failed, and the first line of its error; empty for none."""
        item = self.item
        if not self.validator.check:
            return "", ""
        title = (item.evidence or "").removesuffix(item.words).rstrip(": ")
        test = item.part[1] if item.part and item.part[0] == "test" else find_reported_test(f"FAILED {title}")
        error = item.words.removeprefix(f"{test}: ").strip().partition("\n")[0].strip()
        return test, "" if error in {test, title} else error


@dataclass(frozen=True, slots=True)
class FailedGate:
    """A failed gate with all items about it."""

    tag: str | None
    gate: Gate | None
    blocking: bool
    findings: tuple[GateItem, ...]
    status: FindingStatus = FindingStatus.NEW
    nearest: str | None = None
    recurrence: str = ""
    """In how many of the author's last pull requests it failed before."""
    regression: str = ""
    """Where it was fixed before it came back."""
    appeal: str = ""
    """Who appealed against it, and why; not decided yet."""

    @property
    def name(self) -> str:
        """The gate's name; the tag of an unknown gate; without a tag the tool's rule, label or aspect."""
        if self.gate:
            return self.gate.gate
        item = self.findings[0].item
        return self.tag or item.rule or (item.label or item.aspect or "Review comment").capitalize()

    @property
    def places(self) -> tuple[Location, ...]:
        """The items' locations, each once, in order."""
        return tuple(dict.fromkeys(finding.item.place for finding in self.findings if finding.item.place))

    @property
    def ids(self) -> tuple[str, ...]:
        """The short ids of its findings: `f4`."""
        return tuple(finding.item.finding for finding in self.findings)

    @property
    def id(self) -> str:
        """The first of them, which commands take where there is no tag."""
        return self.ids[0]

    @property
    def label(self) -> str:
        """What commands and lists call it: the tag, else the finding's id, else its name."""
        return self.tag or self.id or self.name

    @property
    def confidence(self) -> float | None:
        """The confidence of an inferred tag; None if the tag was stated."""
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
    changes: Mapping[str, Sequence[str]]
    """What became of the entries since the previous iteration, in words."""
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
    closed: Mapping[FindingStatus, int] = field(default_factory=dict)
    """How many entries were fixed, withdrawn and dismissed since the last rejection."""
    turn: Turn = Turn.AUTHOR
    """Who has to act next."""
    pending: tuple[str, ...] = ()
    """Checks and reviewers that have not reported at this head yet."""
    awaited: tuple[Finding, ...] = ()
    """What the author still has to change or answer."""
    repeated: tuple[str, ...] = ()
    """The blocking findings that stay open so often that a person has to decide, by tag or id."""
    progress: Progress | None = None
    """The scores of all iterations."""
    grounding: GroundingRules = field(default_factory=GroundingRules)
    """How sources are written."""
    notes: tuple[str, ...] = ()
    """Single lines below the entries: to reviewers, about the author's claims, about the config."""
    report: SelectionReport | None = None
    """The selection report, once it is closed after more than one iteration."""
    weights: Mapping[str, float] = field(default_factory=lambda: shipped_scoring().weights.severities)
    """Weight of an item by severity."""
    is_agent: bool = False
    """Whether the author is an agent."""
    document: DocumentPolicy = DocumentPolicy.ALWAYS
    """Whose comments carry the document."""

    @property
    def blocking(self) -> tuple[FailedGate, ...]:
        """The failed gates that block."""
        return tuple(gate for gate in self.gates if gate.blocking)

    @property
    def blocking_tags(self) -> tuple[str, ...]:
        """Their tags."""
        return tuple(gate.tag for gate in self.blocking if gate.tag)

    @property
    def warnings(self) -> tuple[FailedGate, ...]:
        """The failed gates that do not block."""
        return tuple(gate for gate in self.gates if not gate.blocking)

    @property
    def findings(self) -> tuple[GateItem, ...]:
        """The findings of all failed gates."""
        return tuple(finding for gate in self.gates for finding in gate.findings)

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
        """The validator: the newest that rejects, else that rejected before; people come first."""
        rejected = [v for v in self.pull_request.verdicts if v.counted and v.stance is Stance.REJECTS]
        verdicts = self.rejecting or sorted(rejected, key=verdict_order) or self.iteration.standing
        # The sort is stable, so that the newest of the first kind is last.
        ranked = sorted(
            verdicts, key=lambda verdict: (not verdict.validator.check, not verdict.validator.bot)
        )
        return ranked[-1].validator.name if ranked else ""

    @property
    def names(self) -> dict[str, str]:
        """What the standing validators are called, by key: two checks of one name by their Apps as well."""
        validators = {verdict.validator.key: verdict.validator for verdict in self.iteration.standing}
        times = Counter(validator.name for validator in validators.values())
        return {
            key: f"{code_span(validator.name)} of {code_span(validator.app)}"
            if validator.app and times[validator.name] > 1
            else code_span(validator.name)
            for key, validator in validators.items()
        }

    @property
    def is_formally_rejected(self) -> bool:
        """Whether somebody requests changes, so that even warnings alone keep it rejected."""
        return any(verdict.is_formal or verdict.by_line for verdict in self.rejecting)

    @property
    def pushed_since(self) -> str:
        """The head that was pushed after the reviewed one; empty if the reviewed one is the newest."""
        head = self.pull_request.head
        return head if self.pull_request.open and head != self.iteration.head else ""


def find_failed_gates(standing: tuple[Verdict, ...], gates: Gates) -> tuple[FailedGate, ...]:
    """Return the gates that the standing verdicts name: blocking first, by priority, then as stated."""
    reported = [
        GateItem(item, verdict.validator, origin=verdict.origin_of(item), blocks=is_blocking(item, gates))
        for verdict in standing
        for item in verdict.items
    ]
    by_tag: dict[str, list[GateItem]] = {}
    keys = entry_keys([(each.validator.key, each.item, each.item.key) for each in reported])
    for key, finding in zip(keys, reported, strict=True):
        by_tag.setdefault(key, []).append(finding)
    failed = [_build_failed_gate(tag, tuple(findings), gates) for tag, findings in by_tag.items()]
    return tuple(sorted(failed, key=_rank))


def demote_unlocated(failed: tuple[FailedGate, ...]) -> tuple[FailedGate, ...]:
    """Apply strict mode: a gate without a location does not block."""
    strict = (replace(gate, blocking=gate.blocking and bool(gate.places)) for gate in failed)
    return tuple(sorted(strict, key=_rank))


def _build_failed_gate(key: str, findings: tuple[GateItem, ...], gates: Gates) -> FailedGate:
    tag = None if key.startswith(":") else key
    gate = gates.get(tag) if tag else None
    statuses = {finding.item.status for finding in findings}
    return FailedGate(
        tag=tag,
        gate=gate,
        blocking=any(finding.blocks for finding in findings),
        findings=findings,
        status=next((status for status in _ENTRY_STATUSES if status in statuses), FindingStatus.NEW),
        nearest=gates.nearest(tag) if tag and gate is None else None,
    )


_ENTRY_STATUSES = (FindingStatus.REGRESSED, FindingStatus.OPEN, FindingStatus.NEW, FindingStatus.CHANGED)
"""The status of an entry with several findings: regressed comes first, then what was not changed."""


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
