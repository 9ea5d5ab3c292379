"""When does the thread get a comment of its own? When a person must decide, or the best was left."""

from __future__ import annotations

from dataclasses import replace

from bot.domain import announcement
from bot.domain.announcement import Announce, Kind
from bot.domain.comment_lines import why_escalated
from bot.domain.facts import Facts, Moment
from bot.domain.feedback import Feedback
from bot.domain.iterations import Outcome
from bot.domain.model import Escalation, PullRequest
from bot.domain.rules import Rules


def with_hearing(pull_request: PullRequest, facts: Facts) -> PullRequest:
    """The pull request with when a person with `write` first spoke after the escalation."""
    escalation = pull_request.escalation
    if escalation is None or escalation.heard_at is not None:
        return pull_request
    spoken = [
        verdict.at
        for verdict in pull_request.verdicts
        if verdict.counted and not (verdict.validator.bot or verdict.validator.check)
    ]
    heard = [at for at in (*spoken, facts.heard_at) if at is not None and at > escalation.at]
    if not heard:
        return pull_request
    return replace(pull_request, escalation=replace(escalation, heard_at=min(heard)))


def waits_for_a_person(pull_request: PullRequest) -> bool:
    """Whether nothing new may be posted: a person was asked to decide, and none has spoken since."""
    return pull_request.escalation is not None and pull_request.escalation.heard_at is None


def escalated(feedback: Feedback, rules: Rules) -> PullRequest:
    """The pull request, escalated where that is due for the first time."""
    pull_request = feedback.pull_request
    due = feedback.verdict == Outcome.ESCALATE and pull_request.open and pull_request.escalation is None
    if not (due and rules.iterations.escalate.enabled and rules.comment.enabled):
        return pull_request
    # GitHub's own time, so that what is said later can be told by GitHub's times alone.
    at = max(verdict.at for verdict in feedback.iteration.standing)
    return replace(pull_request, escalation=Escalation(at, feedback.iteration.head))


def announcements(
    before: PullRequest, feedback: Feedback, rules: Rules, moment: Moment
) -> tuple[tuple[Announce, ...], PullRequest]:
    """What is to be said beside the sticky comment, and the pull request that remembers it."""
    pull_request = feedback.pull_request
    said: list[Announce] = []
    if before.escalation is None and pull_request.escalation is not None:
        identity = f"{moment.id}:escalation"
        mention = rules.iterations.escalate.mention
        text = announcement.escalation(feedback, identity, why_escalated(feedback), mention)
        said.append(_announce(pull_request, Kind.ESCALATION, identity, text))
    if _left_the_best(feedback) and rules.comment.enabled and feedback.report:
        identity = f"{moment.id}:selection"
        text = announcement.selection(feedback, feedback.report, identity)
        said.append(_announce(pull_request, Kind.SELECTION, identity, text))
        pull_request = replace(pull_request, reported=pull_request.head)
    return tuple(said), pull_request


def _left_the_best(feedback: Feedback) -> bool:
    """Closed, not merged, with a final iteration that scored less than the selected one."""
    pull_request, report = feedback.pull_request, feedback.report
    if report is None or pull_request.open or pull_request.merged or pull_request.sticky is None:
        return False
    selected, final = report.selection.selected, report.selection.final
    lower = (final.quality or 0.0) < (selected.quality or 0.0)
    return lower and pull_request.reported != pull_request.head


def _announce(pull_request: PullRequest, kind: Kind, identity: str, body: str) -> Announce:
    return Announce(pull_request.repository, pull_request.number, kind, identity, body)
