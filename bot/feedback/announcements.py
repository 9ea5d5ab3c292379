"""Decide and render escalations and selection announcements."""

from __future__ import annotations

from dataclasses import replace

from bot.feedback.model import Feedback
from bot.feedback.status_text import escalation_reason
from bot.gates.config import RepositoryRules
from bot.iterations.model import IterationOutcome
from bot.iterations.selection import render_selection_report
from bot.markdown.escape import code_span, render_marker
from bot.markdown.format import format_count
from bot.markdown.links import short_sha
from bot.pull_request.effects import Announce, AnnouncementKind, CloseAnnouncement
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import Escalation, PullRequest

MAX_ANNOUNCED_TAGS = 10

_STOP = (
    "If you are an agent: push nothing more until a person with `write` access has answered here, "
    "or the feedback comment says **Resolved**."
)


def render_escalation(feedback: Feedback, identity: str, reason: str, mention: str | None = None) -> str:
    """Render the request to an agent to stop and to a person to decide; only a given team is mentioned."""
    names = [code_span(gate.label) for gate in feedback.blocking]
    state = f"at {code_span(short_sha(feedback.iteration.head))}"
    if names:
        more = len(names) - MAX_ANNOUNCED_TAGS
        listed = ", ".join(names[:MAX_ANNOUNCED_TAGS]) + (f" and {more} more" if more > 0 else "")
        verb = "is" if len(names) == 1 else "are"
        state = f"and {format_count(len(names), 'blocking issue')} {verb} open {state}: {listed}"
    parts = [
        render_marker(AnnouncementKind.ESCALATION, _marker(feedback, identity)),
        f"**Stop: needs a human decision** — {reason}{',' if names else ''} {state}.",
        _STOP,
        f"If you are that person: approve it, close it, or say what to change.{_best_hint(feedback)}",
        f"@{mention}" if mention else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _marker(feedback: Feedback, identity: str) -> dict[str, object]:
    return {
        "id": identity,
        "ts": feedback.at.isoformat(timespec="seconds"),
        "v": 1,
        "head": feedback.iteration.head,
        "iteration": feedback.iteration.number,
        "max_iterations": feedback.max_iterations,
    }


def _best_hint(feedback: Feedback) -> str:
    """Name the best iteration, if it is not the current one."""
    best, progress = feedback.best, feedback.progress
    if progress is None or best.number == feedback.iteration.number:
        return ""
    if progress.quality is not None and (progress.quality_of(best) or 0.0) <= progress.quality:
        return ""
    return f" Iteration {best.number} scored highest: `/feedback-select best reason: …` selects it."


def record_maintainer_answer(pull_request: PullRequest, facts: Facts) -> PullRequest:
    """Record when a person with `write` first answered the escalation."""
    escalation = pull_request.escalation
    if escalation is None or escalation.heard_at is not None:
        return pull_request
    verdict_times = [
        verdict.at
        for verdict in pull_request.verdicts
        if verdict.counted and not (verdict.validator.bot or verdict.validator.check)
    ]
    answers = [
        at for at in (*verdict_times, facts.maintainer_answered_at) if at is not None and at > escalation.at
    ]
    if not answers:
        return pull_request
    return replace(pull_request, escalation=replace(escalation, heard_at=min(answers)))


def is_awaiting_maintainer(pull_request: PullRequest) -> bool:
    """Whether nothing new may be posted: a person was asked to decide, and none has answered."""
    return pull_request.escalation is not None and pull_request.escalation.heard_at is None


def escalate(feedback: Feedback, rules: RepositoryRules) -> PullRequest:
    """Escalate the pull request, if that is due for the first time."""
    pull_request = feedback.pull_request
    is_due = (
        feedback.is_agent
        and feedback.verdict == IterationOutcome.ESCALATE
        and pull_request.open
        and pull_request.escalation is None
    )
    if not (is_due and rules.iterations.escalate.enabled and rules.comment.enabled):
        return pull_request
    # GitHub's own time, so that later answers can be recognised by GitHub's times alone.
    at = max(verdict.at for verdict in feedback.iteration.standing)
    return replace(pull_request, escalation=Escalation(at, feedback.iteration.head))


def close_announcements(
    pull_request: PullRequest,
) -> tuple[tuple[CloseAnnouncement, ...], PullRequest]:
    """Close the comments that ask for a decision, once the pull request is merged or closed.

    A selection report that was posted on an earlier close is closed by the merge.
    """
    if pull_request.open:
        return (), pull_request
    closing: list[CloseAnnouncement] = []
    where = pull_request.repository, pull_request.number
    body = f"No longer open: the pull request was {'merged' if pull_request.merged else 'closed'}.\n"
    escalation = pull_request.escalation
    if escalation and not escalation.is_closed:
        closing.append(CloseAnnouncement(*where, AnnouncementKind.ESCALATION, escalation.at, body))
        pull_request = replace(pull_request, escalation=replace(escalation, is_closed=True))
    if pull_request.merged and pull_request.reported:
        closing.append(CloseAnnouncement(*where, AnnouncementKind.SELECTION, pull_request.created_at, body))
        pull_request = replace(pull_request, reported=None)
    return tuple(closing), pull_request


def decide_announcements(
    before: PullRequest, feedback: Feedback, rules: RepositoryRules, moment: DecisionTime
) -> tuple[tuple[Announce | CloseAnnouncement, ...], PullRequest]:
    """Decide the comments beside the sticky one, and return the pull request that records them."""
    closing, pull_request = close_announcements(feedback.pull_request)
    announcements: list[Announce | CloseAnnouncement] = list(closing)
    where = pull_request.repository, pull_request.number
    if before.escalation is None and pull_request.escalation is not None:
        identity, kind = f"{moment.id}:escalation", AnnouncementKind.ESCALATION
        mention = rules.iterations.escalate.mention
        text = render_escalation(feedback, identity, escalation_reason(feedback), mention)
        announcements.append(Announce(*where, kind, identity, text))
    if _is_report_due(feedback) and rules.comment.enabled and feedback.report:
        identity, kind = f"{moment.id}:selection", AnnouncementKind.SELECTION
        marker = render_marker(kind, _marker(feedback, identity))
        text = f"{marker}\n\n{render_selection_report(feedback.report)}"
        if pull_request.reported == pull_request.head:
            announcements.append(CloseAnnouncement(*where, kind, pull_request.created_at, text))
        else:
            announcements.append(Announce(*where, kind, identity, text))
        selected = feedback.report.selection.selected.number
        pull_request = replace(pull_request, reported=pull_request.head, reported_iteration=selected)
    return tuple(announcements), pull_request


def _is_report_due(feedback: Feedback) -> bool:
    """Whether it was closed unmerged below its best iteration, or somebody selected another one since."""
    pull_request, report = feedback.pull_request, feedback.report
    if report is None or pull_request.open or pull_request.merged or pull_request.sticky is None:
        return False
    selected, final = report.selection.selected, report.selection.final
    if pull_request.reported == pull_request.head:
        return report.selection.override is not None and selected.number != pull_request.reported_iteration
    return (final.quality or 0.0) < (selected.quality or 0.0)
