"""Which tags are still held against a pull request, once dismissals and appeals are heard?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.domain.iterations import Iteration, current, in_order, iterations, standing
from bot.domain.memory import Overturned
from bot.domain.model import PullRequest, Stance, Verdict
from bot.domain.ruling import Act, Ruling


def in_force(pull_request: PullRequest) -> tuple[Iteration, ...]:
    """The judged revisions without what was dismissed by then.

    A dismissal is bound to the revision that was seen: it holds there and from then on, and leaves what
    earlier iterations were found to be.
    """
    known = iterations(pull_request)
    dismissals = _dismissals(pull_request)
    present = current(pull_request, known)
    return tuple(
        _heard(each, [one for one in dismissals if each == present or _reaches(one, each)]) for each in known
    )


def for_memory(pull_request: PullRequest) -> PullRequest:
    """A verdict that lost its last item is lifted; what was said still counts as broken, and overturned."""
    dismissals = _dismissals(pull_request)
    return replace(
        pull_request, verdicts=tuple(_lifted(verdict, dismissals) for verdict in pull_request.verdicts)
    )


def overturned(pull_request: PullRequest) -> tuple[Overturned, ...]:
    """The tags that a maintainer found wrongly given, and when."""
    return tuple(Overturned(ruling.tag, ruling.at) for ruling in _dismissals(pull_request))


def open_appeals(pull_request: PullRequest) -> dict[str, Ruling]:
    """The newest appeal against each tag that no maintainer has decided on since."""
    found: dict[str, Ruling] = {}
    for ruling in sorted(pull_request.rulings, key=lambda one: one.at):
        if ruling.act is Act.APPEAL:
            found[ruling.tag] = ruling
        else:
            found.pop(ruling.tag, None)
    return found


def dismissed_now(pull_request: PullRequest) -> tuple[Ruling, ...]:
    """The dismissals of what validators still say, the newest of each tag, oldest first."""
    said = [verdict for verdict in standing(pull_request.verdicts) if verdict.stance is Stance.REJECTS]
    newest = {ruling.tag: ruling for ruling in _dismissals(pull_request)}
    return tuple(
        ruling
        for ruling in sorted(newest.values(), key=lambda one: one.at)
        if any(_names(verdict, ruling, pull_request.verdicts) for verdict in said)
    )


def _names(verdict: Verdict, ruling: Ruling, spoken: Sequence[Verdict]) -> bool:
    """Whether the verdict says what the ruling is about.

    A command adds tags to what its giver had said, less what was dismissed by then: that is said still.
    """
    by = verdict.validator.key
    judging = (each for each in spoken if each.counted and each.stance is not Stance.SILENT)
    theirs = [each for each in judging if each.validator.key == by and each.at <= verdict.at]
    for each in reversed(in_order(theirs)):
        rejects = each.stance is Stance.REJECTS
        names = rejects and any(item.tag == ruling.tag for item in each.items)
        if each.at <= ruling.at:
            return names
        if names or not rejects or not each.id.startswith("command:"):
            return False
    return False


def _dismissals(pull_request: PullRequest) -> tuple[Ruling, ...]:
    found = (ruling for ruling in pull_request.rulings if ruling.act is Act.DISMISS)
    return tuple(sorted(found, key=lambda one: one.at))


def _reaches(ruling: Ruling, past: Iteration) -> bool:
    return ruling.head == past.head or ruling.at < past.judged_at


def _heard(iteration: Iteration, dismissals: Sequence[Ruling]) -> Iteration:
    left = (_without(verdict, dismissals) for verdict in iteration.standing)
    return replace(iteration, standing=tuple(verdict for verdict in left if verdict))


def _without(verdict: Verdict, dismissals: Sequence[Ruling]) -> Verdict | None:
    """The verdict with what is left of it; None where that is nothing."""
    gone = _gone(verdict, dismissals)
    left = tuple(item for item in verdict.items if item.tag not in gone)
    return replace(verdict, items=left) if left or verdict.more or not gone else None


def _lifted(verdict: Verdict, dismissals: Sequence[Ruling]) -> Verdict:
    gone = _gone(verdict, dismissals)
    if not gone or verdict.lifted_at or verdict.more or any(item.tag not in gone for item in verdict.items):
        return verdict
    return replace(verdict, lifted_at=max(gone.values()))


def _gone(verdict: Verdict, dismissals: Sequence[Ruling]) -> dict[str, datetime]:
    """Its tags that were dismissed, and when: whoever names a tag again after that is heard again."""
    if verdict.stance is not Stance.REJECTS:
        return {}
    named = {item.tag for item in verdict.items}
    later = [one for one in dismissals if one.tag in named and verdict.at <= one.at]
    return {ruling.tag: ruling.at for ruling in reversed(later)}
