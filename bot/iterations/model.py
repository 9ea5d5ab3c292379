"""Reviewed revisions in order, their standing verdicts, and the rulings on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.gates.config import EscalationRules
from bot.pull_request.model import Item, OverturnedTag, PullRequest, Ruling, RulingAction, Stance, Verdict


class IterationOutcome(StrEnum):
    """What the author should do with the verdict."""

    ACCEPT = "accept"
    REFINE = "refine"
    REJECT = "reject"
    ESCALATE = "escalate"


class Phase(StrEnum):
    """How far along the budget of iterations a pull request is."""

    INITIAL = "initial"
    REFINEMENT = "refinement"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Iteration:
    """A reviewed revision, with the standing verdicts at its end."""

    number: int
    head: str
    reviewed_at: datetime
    standing: tuple[Verdict, ...]

    @property
    def rejecting(self) -> tuple[Verdict, ...]:
        """The standing verdicts that reject, oldest first."""
        return tuple(verdict for verdict in self.standing if verdict.stance is Stance.REJECTS)

    @property
    def is_rejected(self) -> bool:
        """Whether any standing verdict rejects."""
        return bool(self.rejecting)

    @property
    def open_items(self) -> tuple[Item, ...]:
        """The items of the rejecting verdicts, the oldest verdict first."""
        return open_items(self.standing)

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


@dataclass(frozen=True, slots=True)
class GateChanges:
    """Changes of failed gates from one iteration to the next."""

    fixed: tuple[str, ...] = ()
    still_open: tuple[str, ...] = ()
    new: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that decide an outcome."""

    is_rejected: bool
    has_blocking: bool
    """Some open item blocks."""
    number: int
    maximum: int
    has_repeated: bool = False
    """A blocking tag was open too often in the last iterations."""
    has_critical: bool = False
    """Some open item is critical."""
    is_fixable: bool = True
    """Some open item has an auto-fixable gate or a suggestion."""


def standing_verdicts(
    verdicts: Sequence[Verdict], at: datetime | None = None, head: str | None = None
) -> tuple[Verdict, ...]:
    """Return each validator's newest counted verdict at that time, oldest first, without lifted ones.

    An older verdict does not come back when the newest is lifted. With `head`, a check's result on that
    revision is not replaced by one that came in late for another.
    """
    newest: dict[str, Verdict] = {}
    for verdict in _counted_verdicts(verdicts):
        if at is not None and verdict.at > at:
            continue
        earlier = newest.get(verdict.validator.key)
        if earlier is None or not _is_late_check(verdict, earlier, head):
            newest[verdict.validator.key] = verdict
    return sort_verdicts(verdict for verdict in newest.values() if not _is_lifted(verdict, at))


def open_items(verdicts: Sequence[Verdict]) -> tuple[Item, ...]:
    """Return the items of the rejecting verdicts."""
    return tuple(item for verdict in verdicts if verdict.stance is Stance.REJECTS for item in verdict.items)


def list_iterations(pull_request: PullRequest) -> tuple[Iteration, ...]:
    """Return the reviewed revisions in order of their first verdict, numbered from 1.

    A revision keeps its number when the branch is forced back to it. Its state is what validators stated
    about it, however late, and for those who did not, what they had said before the next iteration began;
    a verdict that was lifted only after the next push still stood. For the current iteration it is what
    stands now.
    """
    reviewed = _reviewed_heads(pull_request)
    current_head = _current_head(pull_request)
    return tuple(
        Iteration(
            number,
            head,
            at,
            standing_verdicts(pull_request.verdicts, head=head)
            if head == current_head
            else _state_at_end(pull_request, head, _iteration_end(pull_request, reviewed, number)),
        )
        for number, (head, at) in enumerate(reviewed, start=1)
    )


def current_iteration(
    pull_request: PullRequest, iterations: Sequence[Iteration] | None = None
) -> Iteration | None:
    """Return the iteration that the pull request is in; None before the first verdict.

    It is the one of the current head where that was reviewed (even after a force-push back to it, and even
    where a verdict on an earlier head came in later); while the current head waits for its review, it is
    the one that was reviewed last.
    """
    head = _current_head(pull_request)
    iterations = list_iterations(pull_request) if iterations is None else iterations
    return next((iteration for iteration in iterations if iteration.head == head), None)


def previous_iteration(iterations: Sequence[Iteration], present: Iteration) -> Iteration | None:
    """Return the iteration to compare the current one with: the latest of the others."""
    return next((iteration for iteration in reversed(iterations) if iteration.number != present.number), None)


def compare_iterations(before: Iteration | None, after: Iteration) -> GateChanges:
    """Return which gates were fixed, stayed open, or are new."""
    previous_keys = () if before is None else before.keys
    return GateChanges(
        fixed=tuple(key for key in previous_keys if key not in after.keys),
        still_open=tuple(key for key in after.keys if key in previous_keys),
        new=tuple(key for key in after.keys if key not in previous_keys),
    )


def repeated_tags(
    iterations: Sequence[Iteration], blocking: Collection[str], rules: EscalationRules
) -> tuple[str, ...]:
    """Return the blocking tags that are open now, and were open often enough in the last iterations."""
    recent = iterations[-rules.window :]
    return tuple(
        tag
        for tag in (recent[-1].tags if recent else ())
        if tag in blocking and sum(tag in iteration.tags for iteration in recent) >= rules.repeats
    )


def decide_outcome(situation: Situation) -> IterationOutcome:
    """Return the first outcome that applies; a pull request that nothing rejects is always accepted."""
    if not situation.is_rejected and not situation.has_blocking:
        # Otherwise an approval of the last iteration in the budget would be escalated.
        return IterationOutcome.ACCEPT
    if situation.number >= situation.maximum or situation.has_repeated:
        return IterationOutcome.ESCALATE
    if situation.has_critical and not situation.is_fixable:
        return IterationOutcome.REJECT
    return IterationOutcome.REFINE


def iteration_phase(number: int, maximum: int, *, closed: bool) -> Phase:
    """Return the phase: `final` at the end of the budget or on close, even for the first iteration."""
    if closed or number >= maximum:
        return Phase.FINAL
    return Phase.INITIAL if number == 1 else Phase.REFINEMENT


def _counted_verdicts(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    return sort_verdicts(
        verdict for verdict in verdicts if verdict.counted and verdict.stance is not Stance.SILENT
    )


def sort_verdicts(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return the verdicts, the earliest first."""
    return tuple(sorted(verdicts, key=_sort_key))


def _sort_key(verdict: Verdict) -> tuple[datetime, int, str]:
    # GitHub's times have whole seconds; within one, the higher of two ids came later.
    digits = verdict.id[len(verdict.id.rstrip("0123456789")) :]
    return verdict.at, int(digits or 0), verdict.id


def _is_late_check(verdict: Verdict, earlier: Verdict, head: str | None) -> bool:
    return verdict.validator.check and head is not None and earlier.head == head != verdict.head


def _is_lifted(verdict: Verdict, at: datetime | None) -> bool:
    return verdict.lifted_at is not None and (at is None or verdict.lifted_at <= at)


def _reviewed_heads(pull_request: PullRequest) -> tuple[tuple[str, datetime], ...]:
    reviewed_at: dict[str, datetime] = {}
    for verdict in _counted_verdicts(pull_request.verdicts):
        reviewed_at.setdefault(_head_of(pull_request, verdict), verdict.at)
    return tuple(reviewed_at.items())


def _head_of(pull_request: PullRequest, verdict: Verdict) -> str:
    return pull_request.head_at(verdict.at) if verdict.head is None else verdict.head


def _current_head(pull_request: PullRequest) -> str | None:
    heads = [_head_of(pull_request, verdict) for verdict in _counted_verdicts(pull_request.verdicts)]
    if pull_request.head in heads:
        return pull_request.head
    return heads[-1] if heads else None


def _iteration_end(
    pull_request: PullRequest, reviewed: Sequence[tuple[str, datetime]], number: int
) -> datetime:
    """Return when a past iteration ended: at the next one, or at an earlier one that came back."""
    if number < len(reviewed):
        return reviewed[number][1]
    last_began, current_head = reviewed[-1][1], _current_head(pull_request)
    later_verdicts = (
        verdict for verdict in _counted_verdicts(pull_request.verdicts) if verdict.at > last_began
    )
    returned_at = (
        verdict.at for verdict in later_verdicts if _head_of(pull_request, verdict) == current_head
    )
    return next(returned_at, pull_request.updated_at)


def _state_at_end(pull_request: PullRequest, head: str, end: datetime) -> tuple[Verdict, ...]:
    """Return the standing verdicts at the end of a past iteration."""
    latest: dict[str, Verdict] = {}
    for verdict in _counted_verdicts(pull_request.verdicts):
        earlier = latest.get(verdict.validator.key)
        has_spoken = earlier is not None and _head_of(pull_request, earlier) == head
        if _head_of(pull_request, verdict) == head or (verdict.at < end and not has_spoken):
            latest[verdict.validator.key] = verdict
    left_at = _left_at(pull_request, head, end)
    return sort_verdicts(
        verdict
        for verdict in latest.values()
        if not _is_lifted(verdict, left_at if verdict.at < left_at else None)
    )


def _left_at(pull_request: PullRequest, head: str, end: datetime) -> datetime:
    """Return when the next revision was pushed, as far as known."""
    arrived = next((revision.seen_at for revision in pull_request.revisions if revision.head == head), None)
    if arrived is None:
        return end
    later = [revision.seen_at for revision in pull_request.revisions if revision.seen_at > arrived]
    return min((end, *later))


def iterations_after_rulings(pull_request: PullRequest) -> tuple[Iteration, ...]:
    """Return the reviewed revisions without what was dismissed by then.

    A dismissal is bound to the revision that was seen: it applies there and from then on, and leaves what
    earlier iterations were found to be.
    """
    iterations = list_iterations(pull_request)
    dismissals = _dismissals(pull_request)
    current = current_iteration(pull_request, iterations)
    return tuple(
        _apply_to_iteration(
            iteration,
            [
                ruling
                for ruling in dismissals
                if iteration == current or ruling.head == iteration.head or ruling.at < iteration.reviewed_at
            ],
        )
        for iteration in iterations
    )


def apply_dismissals(pull_request: PullRequest) -> PullRequest:
    """Lift verdicts whose items were all dismissed; their tags still count as failed, and overturned."""
    dismissals = _dismissals(pull_request)
    return replace(
        pull_request,
        verdicts=tuple(_lift_dismissed(verdict, dismissals) for verdict in pull_request.verdicts),
    )


def overturned_tags(pull_request: PullRequest) -> tuple[OverturnedTag, ...]:
    """Return the tags that a maintainer overturned, and when."""
    return tuple(OverturnedTag(ruling.tag, ruling.at) for ruling in _dismissals(pull_request))


def open_appeals(pull_request: PullRequest) -> dict[str, Ruling]:
    """Return the newest appeal against each tag that no maintainer has decided on since."""
    appeals: dict[str, Ruling] = {}
    for ruling in sorted(pull_request.rulings, key=lambda ruling: ruling.at):
        if ruling.act is RulingAction.APPEAL:
            appeals[ruling.tag] = ruling
        else:
            appeals.pop(ruling.tag, None)
    return appeals


def current_dismissals(pull_request: PullRequest) -> tuple[Ruling, ...]:
    """Return the dismissals of what validators still state, the newest of each tag, oldest first."""
    rejecting = [
        verdict for verdict in standing_verdicts(pull_request.verdicts) if verdict.stance is Stance.REJECTS
    ]
    newest = {ruling.tag: ruling for ruling in _dismissals(pull_request)}
    return tuple(
        ruling
        for ruling in sorted(newest.values(), key=lambda ruling: ruling.at)
        if any(_names_dismissed(verdict, ruling, pull_request.verdicts) for verdict in rejecting)
    )


def _names_dismissed(verdict: Verdict, ruling: Ruling, verdicts: Sequence[Verdict]) -> bool:
    """Whether the verdict states the tag of the ruling.

    A command adds tags to its author's earlier verdict, without what was dismissed: that is still stated.
    """
    key = verdict.validator.key
    counted = (
        own_verdict
        for own_verdict in verdicts
        if own_verdict.counted and own_verdict.stance is not Stance.SILENT
    )
    own = [
        own_verdict
        for own_verdict in counted
        if own_verdict.validator.key == key and own_verdict.at <= verdict.at
    ]
    for own_verdict in reversed(sort_verdicts(own)):
        rejects = own_verdict.stance is Stance.REJECTS
        names_tag = rejects and any(item.tag == ruling.tag for item in own_verdict.items)
        if own_verdict.at <= ruling.at:
            return names_tag
        if names_tag or not rejects or not own_verdict.id.startswith("command:"):
            return False
    return False


def _dismissals(pull_request: PullRequest) -> tuple[Ruling, ...]:
    dismissals = (ruling for ruling in pull_request.rulings if ruling.act is RulingAction.DISMISS)
    return tuple(sorted(dismissals, key=lambda ruling: ruling.at))


def _apply_to_iteration(iteration: Iteration, dismissals: Sequence[Ruling]) -> Iteration:
    remaining = (_remove_dismissed(verdict, dismissals) for verdict in iteration.standing)
    return replace(iteration, standing=tuple(verdict for verdict in remaining if verdict))


def _remove_dismissed(verdict: Verdict, dismissals: Sequence[Ruling]) -> Verdict | None:
    """Return the verdict without dismissed items; None where nothing is left."""
    dismissed = _dismissed_tags(verdict, dismissals)
    remaining = tuple(item for item in verdict.items if item.tag not in dismissed)
    return replace(verdict, items=remaining) if remaining or verdict.more or not dismissed else None


def _lift_dismissed(verdict: Verdict, dismissals: Sequence[Ruling]) -> Verdict:
    dismissed = _dismissed_tags(verdict, dismissals)
    if (
        not dismissed
        or verdict.lifted_at
        or verdict.more
        or any(item.tag not in dismissed for item in verdict.items)
    ):
        return verdict
    return replace(verdict, lifted_at=max(dismissed.values()))


def _dismissed_tags(verdict: Verdict, dismissals: Sequence[Ruling]) -> dict[str, datetime]:
    """Return its dismissed tags, and when; a tag that is named again after that counts again."""
    if verdict.stance is not Stance.REJECTS:
        return {}
    tags = {item.tag for item in verdict.items}
    rulings = [ruling for ruling in dismissals if ruling.tag in tags and verdict.at <= ruling.at]
    return {ruling.tag: ruling.at for ruling in reversed(rulings)}
