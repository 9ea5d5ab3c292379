"""Which tags are still held against a pull request, once dismissals and appeals are heard?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bot.domain.iterations import standing
from bot.domain.memory import Overturned
from bot.domain.model import PullRequest, Stance, Verdict
from bot.domain.ruling import Act, Ruling


def in_force(pull_request: PullRequest) -> PullRequest:
    """The pull request without dismissed items; a verdict that loses its last one is lifted."""
    dismissals = _dismissals(pull_request)
    if not dismissals:
        return pull_request
    return replace(
        pull_request,
        verdicts=tuple(_without(verdict, dismissals, keep=False) for verdict in pull_request.verdicts),
    )


def for_memory(pull_request: PullRequest) -> PullRequest:
    """As `in_force`, but what was said is still there: it counts as broken, and as overturned."""
    dismissals = _dismissals(pull_request)
    verdicts = tuple(_without(verdict, dismissals, keep=True) for verdict in pull_request.verdicts)
    return replace(pull_request, verdicts=verdicts)


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
    """The dismissals of what validators still say, one a tag, oldest first."""
    said = [verdict for verdict in standing(pull_request.verdicts) if verdict.stance is Stance.REJECTS]
    return tuple(
        ruling
        for ruling in _dismissals(pull_request)
        if any(v.at <= ruling.at and any(item.tag == ruling.tag for item in v.items) for v in said)
    )


def _dismissals(pull_request: PullRequest) -> tuple[Ruling, ...]:
    newest = {ruling.tag: ruling for ruling in pull_request.rulings if ruling.act is Act.DISMISS}
    return tuple(sorted(newest.values(), key=lambda one: one.at))


def _without(verdict: Verdict, dismissals: Iterable[Ruling], *, keep: bool) -> Verdict:
    """A dismissal is about what was said up to then: whoever names the tag again is heard again."""
    gone = {ruling.tag: ruling.at for ruling in dismissals if verdict.at <= ruling.at}
    left = tuple(item for item in verdict.items if item.tag not in gone)
    if verdict.stance is not Stance.REJECTS or len(left) == len(verdict.items):
        return verdict
    lifted = verdict.lifted_at or (None if left or verdict.more else max(gone.values()))
    return replace(verdict, items=verdict.items if keep else left, lifted_at=lifted)
