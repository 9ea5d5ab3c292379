"""Reviewed revisions in order, their standing verdicts, and the rulings on them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise

from bot.findings.entries import group_entries
from bot.findings.ledger import HeadOrder, build_ledgers, standing_verdicts, verdict_order
from bot.findings.model import Finding, Ledger, is_blocking
from bot.gates.config import EscalationRules
from bot.gates.model import Gates
from bot.pull_request.model import (
    FindingStatus,
    Item,
    PullRequest,
    Ruling,
    RulingAction,
    Stance,
    Verdict,
)


class IterationOutcome(StrEnum):
    """What the author should do with the verdict."""

    ACCEPT = "accept"
    REFINE = "refine"
    REJECT = "reject"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Iteration:
    """A reviewed revision, with the standing verdicts at its end."""

    number: int
    head: str
    reviewed_at: datetime
    standing: tuple[Verdict, ...]
    """Each with the open findings of its validator as its items."""
    ledger: Ledger = field(default_factory=Ledger)
    """All findings at its end."""
    rejecting: tuple[Verdict, ...] = field(init=False, repr=False, compare=False)
    """The standing verdicts that reject, oldest first."""

    def __post_init__(self) -> None:
        """Find the verdicts that reject: they are asked for dozens of times."""
        rejecting = tuple(verdict for verdict in self.standing if verdict.stance is Stance.REJECTS)
        object.__setattr__(self, "rejecting", rejecting)

    @property
    def is_rejected(self) -> bool:
        """Whether any standing verdict rejects."""
        return bool(self.rejecting)

    @property
    def open_items(self) -> tuple[Item, ...]:
        """The items of the rejecting verdicts, the oldest verdict first."""
        return tuple(item for verdict in self.rejecting for item in verdict.items)

    @property
    def is_rejected_without_items(self) -> bool:
        """Whether it is rejected without any item."""
        return self.is_rejected and not self.open_items

    @property
    def keys(self) -> tuple[str, ...]:
        """The gates of the open items, with a tag or without, each once, in order."""
        return tuple(dict.fromkeys(item.key for item in self.open_items))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the open items, each once, in order."""
        return tuple(dict.fromkeys(item.tag for item in self.open_items if item.tag is not None))


def list_iterations(pull_request: PullRequest) -> tuple[Iteration, ...]:
    """Return the reviewed revisions in order of their first verdict, numbered from 1.

    A past iteration is as it was when the next one began; what comes later changes nothing about it, not even
    a push that brings its head back.
    """
    return _replay_iterations(pull_request)[0]


def current_iteration(pull_request: PullRequest) -> Iteration | None:
    """Return the pull request's current iteration; None before the first verdict.

    It is the one of the current head where that was reviewed (with the same number after a push that brings
    the head back, and even where a verdict on an earlier head came in later); while the current head waits
    for its review, it is the one that was reviewed last.
    """
    return _replay_iterations(pull_request)[1]


_Replay = tuple[tuple[Iteration, ...], Iteration | None]
# A turn asks several times before anything changes; with 16 lanes at a time, one asks before the others do.
_recent: deque[tuple[PullRequest, _Replay]] = deque(maxlen=4)


def _replay_iterations(pull_request: PullRequest) -> _Replay:
    replay = next((replay for known, replay in tuple(_recent) if known == pull_request), None)
    if replay is None:
        replay = _replay_all(pull_request)
        _recent.append((pull_request, replay))
    return replay


def _replay_all(pull_request: PullRequest) -> _Replay:
    reviewed = _reviewed_heads(pull_request)
    ends: list[tuple[str | datetime, str]] = [
        (verdict.id, head) for (head, _), (_, verdict) in pairwise(reviewed)
    ]
    current = _current_head(pull_request)
    if reviewed and reviewed[-1][0] != current:
        ends.append((_came_back_at(pull_request, reviewed[-1][1].at), reviewed[-1][0]))
    if current and current != pull_request.head:
        # A push since changes statuses; what is said stays about the lines of the head that was reviewed.
        *past, located, present = build_ledgers(pull_request, [*ends, (_NEVER, current)])
    else:
        *past, present = build_ledgers(pull_request, ends)
        located = present
    standing = standing_verdicts(present, located)
    at_ends = [*((standing_verdicts(ledger), ledger) for ledger in past), (standing, present)]
    iterations = tuple(
        Iteration(number, head, verdict.at, *at_end)
        for number, ((head, verdict), at_end) in enumerate(zip(reviewed, at_ends, strict=False), start=1)
    )
    iteration = next((iteration for iteration in iterations if iteration.head == current), None)
    if iteration is None or iteration.ledger is present:
        return iterations, iteration
    return iterations, replace(iteration, standing=standing, ledger=present)


_NEVER = datetime.max.replace(tzinfo=UTC)


def previous_iteration(iterations: Sequence[Iteration], present: Iteration) -> Iteration | None:
    """Return the iteration to compare the current one with: the latest of the others."""
    return next((iteration for iteration in reversed(iterations) if iteration.number != present.number), None)


def compare_iterations(before: Iteration | None, after: Iteration) -> dict[str, list[str]]:
    """Return how the entries changed, in the words of the comment; only open ones are new or regressed."""
    open_before = {} if before is None else group_entries(before.ledger.open)
    open_now, closed = group_entries(after.ledger.open), group_entries(after.ledger.findings)
    gone = {key: _statuses(closed[key]) for key in open_before if key not in open_now and key in closed}
    started = {key: _statuses(findings) for key, findings in open_now.items() if key not in open_before}
    dismissed = [key for key, statuses in gone.items() if FindingStatus.DISMISSED in statuses]
    fixed = [key for key, statuses in gone.items() if FindingStatus.FIXED in statuses]
    regressed = [key for key, statuses in started.items() if FindingStatus.REGRESSED in statuses]
    return {
        "fixed": fixed,
        "still open": [key for key in open_now if key in open_before],
        "new": [key for key in started if key not in regressed],
        "regressed": regressed,
        "withdrawn": [key for key, statuses in gone.items() if statuses == {FindingStatus.WITHDRAWN}],
        "dismissed": [key for key in dismissed if key not in fixed],
    }


def count_closed(iteration: Iteration, last: Verdict | None) -> Counter[FindingStatus]:
    """Count the entries that were closed since the last rejection, by what they became.

    What that rejection itself left out was closed by it, not since.
    """
    order = (FindingStatus.FIXED, FindingStatus.DISMISSED, FindingStatus.WITHDRAWN)
    closed = [
        finding
        for finding in iteration.ledger.findings
        if finding.closed_at is not None
        and last is not None
        and (
            finding.closed_at > last.at
            or (finding.closed_at == last.at and finding.changes[-1].by != last.validator.name)
        )
    ]
    statuses = [_statuses(findings) for findings in group_entries(closed).values()]
    return Counter(next(status for status in order if status in found) for found in statuses)


def _statuses(findings: Iterable[Finding]) -> set[FindingStatus]:
    return {finding.status for finding in findings}


def repeated_findings(
    iterations: Sequence[Iteration], blocking: Collection[str], gates: Gates, rules: EscalationRules
) -> tuple[Finding, ...]:
    """Return the blocking findings that blocked often enough in the last iterations, and still do.

    An iteration counts where the finding was reported or left unchanged. What a push changed waits for its
    reviewer, and is not repeated before that.
    """
    recent = iterations[-rules.window :]
    times = Counter(
        finding.number
        for iteration in recent
        for finding in iteration.ledger.open
        if is_blocking(finding.item, gates)
        and (finding.head == iteration.head or finding.status is not FindingStatus.CHANGED)
    )
    return tuple(
        finding
        for finding in (recent[-1].ledger.open if recent else ())
        if finding.id in blocking
        and finding.status is not FindingStatus.CHANGED
        and times[finding.number] >= rules.repeats
    )


def iteration_phase(number: int, maximum: int, *, closed: bool) -> str:
    """Return the phase: `final` at the end of the budget or on close, even for the first iteration."""
    if closed or number >= maximum:
        return "final"
    return "initial" if number == 1 else "refinement"


def _reviewed_heads(pull_request: PullRequest) -> tuple[tuple[str, Verdict], ...]:
    """Return each reviewed head with its first verdict."""
    first: dict[str, Verdict] = {}
    for verdict in _counted_verdicts(pull_request):
        first.setdefault(_head_of(pull_request, verdict), verdict)
    return tuple(first.items())


def _counted_verdicts(pull_request: PullRequest) -> tuple[Verdict, ...]:
    counted = (v for v in pull_request.verdicts if v.counted and v.stance is not Stance.SILENT)
    return tuple(sorted(counted, key=verdict_order))


def _head_of(pull_request: PullRequest, verdict: Verdict) -> str:
    return pull_request.head_at(verdict.at) if verdict.head is None else verdict.head


def _current_head(pull_request: PullRequest) -> str | None:
    """Return the present head where it was reviewed, else the one of those reviewed that was pushed last."""
    verdicts = _counted_verdicts(pull_request)
    if any(_head_of(pull_request, verdict) == pull_request.head for verdict in verdicts):
        return pull_request.head
    order = HeadOrder(pull_request)
    newest = max(reversed(verdicts), key=order.position_of, default=None)
    return None if newest is None else _head_of(pull_request, newest)


def _came_back_at(pull_request: PullRequest, began: datetime) -> datetime:
    """Return when the last iteration ended because the branch went back to an earlier head."""
    head = _current_head(pull_request)
    returned = (span.first for span in pull_request.heads if span.head == head and span.first >= began)
    return next(returned, pull_request.updated_at)


def open_appeals(pull_request: PullRequest, ledger: Ledger) -> dict[str, Ruling]:
    """Return the newest appeal against each tag or finding that no maintainer has decided on since.

    A finding has two names, its id and its tag; a ruling on all that an appeal is about decides it.
    """
    appeals: dict[str, Ruling] = {}
    for ruling in sorted(pull_request.rulings, key=lambda ruling: ruling.at):
        if ruling.act is RulingAction.APPEAL:
            appeals[ruling.tag] = ruling
            continue
        decided = {finding.id for finding in ledger.find(ruling.tag)}
        for name in tuple(appeals):
            subjects = {finding.id for finding in ledger.find(name)}
            if name == ruling.tag or (subjects and subjects <= decided):
                del appeals[name]
    return appeals


def current_dismissals(pull_request: PullRequest, ledger: Ledger) -> tuple[Ruling, ...]:
    """Return the rulings behind the findings that are dismissed now, the newest of each tag, oldest first."""
    dismissed = [finding for finding in ledger.findings if finding.status is FindingStatus.DISMISSED]
    names = {name for finding in dismissed for name in (finding.id, finding.item.tag)}
    rulings = sorted(pull_request.rulings, key=lambda ruling: ruling.at)
    dismissals = [ruling for ruling in rulings if ruling.act is RulingAction.DISMISS and ruling.tag in names]
    newest = {ruling.tag: ruling for ruling in dismissals}
    return tuple(sorted(newest.values(), key=lambda ruling: ruling.at))
