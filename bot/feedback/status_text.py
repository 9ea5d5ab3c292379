"""Render the comment's first lines: the heading, whose turn it is and what to do, and where we are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.feedback.document import format_changes, format_iteration_budget
from bot.feedback.model import Feedback
from bot.findings.entries import group_entries
from bot.findings.turns import Turn
from bot.iterations.model import current_dismissals, open_appeals
from bot.markdown.escape import code_span
from bot.markdown.format import format_count, join_words
from bot.markdown.links import GitHubLinks, format_login, short_sha
from bot.pull_request.model import FindingStatus, Stance, Verdict

_MAX_REASON = 120  # characters of a reason
_MAX_NAMES = 5  # of checks and reviewers in a sentence
_CLOSED_STATUSES = (FindingStatus.FIXED, FindingStatus.WITHDRAWN, FindingStatus.DISMISSED)

TURN_TEXT = {
    Turn.AUTHOR: "author's turn",
    Turn.REVIEWER: "reviewer's turn",
    Turn.CHECKS: "waiting for checks",
    Turn.MAINTAINER: "maintainer's turn",
    Turn.NOBODY: "",
}
"""Whose turn it is, as a title says it."""


def rejection_heading(blocking: int, warnings: int, *, is_formal: bool = True) -> str:
    """Return the heading while something is open; without a formal rejection, warnings alone only warn."""
    if warnings and not blocking and not is_formal:
        return f"**Warnings** — {format_count(warnings, 'non-blocking issue')}"
    tail = f", {format_count(warnings, 'warning')}" if warnings else ""
    count = format_count(blocking, "blocking issue") if blocking else "no blocking issue"
    return f"**Rejected** — {count}{tail}"


def feedback_heading(feedback: Feedback) -> str:
    """Return the heading of an open pull request that is rejected."""
    return rejection_heading(
        len(feedback.blocking), len(feedback.warnings), is_formal=feedback.is_formally_rejected
    )


def closing_heading(feedback: Feedback, web: GitHubLinks) -> str:
    """Return the heading once nothing rejects it, or it was merged or closed."""
    pull_request = feedback.pull_request
    counts = [
        f"{feedback.closed[status]} {status.value}"
        for status in _CLOSED_STATUSES
        if feedback.closed.get(status)
    ]
    if feedback.rejecting:
        counts += [f"{format_count(len(feedback.blocking), 'blocking issue')} open"] * bool(feedback.blocking)
        counts += [f"{format_count(len(feedback.warnings), 'warning')} open"] * bool(feedback.warnings)
    rest = "nothing was open" if not pull_request.open else "nothing rejects it any more"
    word = "Resolved" if pull_request.open else "Merged" if pull_request.merged else "Closed"
    head = web.commit(pull_request.repository, feedback.iteration.head)
    return f"**{word}** — {', '.join(counts) or rest}, at {head}, iteration {feedback.iteration.number}"


def next_line(feedback: Feedback) -> str:
    """Return whose turn it is and what to do, in at most two sentences; empty once it is closed."""
    match feedback.turn:
        case Turn.NOBODY:
            return ""
        case Turn.MAINTAINER:
            sentences = _maintainer_text(feedback)
        case Turn.AUTHOR:
            sentences = _author_text(feedback)
        case Turn.CHECKS:
            sentences = (_pending_text(feedback),)
        case Turn.REVIEWER:
            sentences = _reviewer_text(feedback)
    return f"**Next** ({feedback.turn}): {' '.join(filter(None, sentences))}"


def short_next_line(feedback: Feedback, reviewer: str) -> str:
    """Return the line where one person's threads are all that is open."""
    if feedback.turn is not Turn.AUTHOR:
        return next_line(feedback)
    return f"**Next** (author): change or answer these, then re-request a review from {code_span(reviewer)}."


def where_line(feedback: Feedback, web: GitHubLinks) -> str:
    """Name the iteration, its reviewers, the changes since the one before, and a push since."""
    iteration = feedback.iteration
    current = [verdict for verdict in iteration.standing if verdict.head in {iteration.head, None}]
    head = web.commit(feedback.pull_request.repository, iteration.head)
    parts = [
        f"Iteration {format_iteration_budget(feedback)} at {head}, {_reviewers_text(feedback, current)}."
    ]
    if earlier := _names(feedback, [v for v in feedback.rejecting if current and v not in current]):
        verb = "stands" if len(earlier) == 1 else "stand"
        parts.append(f"The earlier rejection by {join_words(earlier)} still {verb}.")
    if feedback.previous and (changes := format_changes(feedback.changes)):
        parts.append(f"Since iteration {feedback.previous.number}: {changes}.")
    return " ".join(filter(None, (*parts, pushed_since_text(feedback))))


def pushed_since_text(feedback: Feedback) -> str:
    """Name the push that is not reviewed yet; empty if there is none."""
    if not feedback.pushed_since:
        return ""
    head = code_span(short_sha(feedback.pushed_since))
    return f"{head} was pushed since; not reviewed yet."


def rulings_line(feedback: Feedback) -> str:
    """Name what was dismissed, by whom and why."""
    rulings = current_dismissals(feedback.pull_request, feedback.iteration.ledger)
    dismissed = [
        f"{code_span(ruling.tag)} by {format_login(ruling.by)} at {code_span(short_sha(ruling.head))} "
        f"({code_span(ruling.reason, _MAX_REASON)})"
        for ruling in rulings
    ]
    return f"Dismissed: {join_words(dismissed)}." if dismissed else ""


def escalation_reason(feedback: Feedback) -> str:
    """Return why a person has to decide."""
    if feedback.is_agent and feedback.iteration.number >= feedback.max_iterations:
        return f"the budget of {format_count(feedback.max_iterations, 'iteration')} is used up"
    names = join_words([code_span(name) for name in feedback.repeated])
    return f"{names} {'keeps' if len(feedback.repeated) == 1 else 'keep'} coming back"


def _maintainer_text(feedback: Feedback) -> tuple[str, ...]:
    if feedback.verdict == "escalate":
        return (f"needs a human decision: {escalation_reason(feedback)}.",)
    if not feedback.rejecting:
        return "merge it; nothing rejects it any more.", _pending_text(feedback)
    names = {name for gate in feedback.gates for name in (gate.tag, *gate.ids)}
    appeals = open_appeals(feedback.pull_request, feedback.iteration.ledger)
    appealed = [name for name in appeals if name in names]
    if not appealed:
        return ("needs a human decision.",)
    name = appealed[0]
    return (
        f"decide the appeal against {join_words(list(map(code_span, appealed)))}.",
        f"`/feedback-dismiss {name} reason: …` upholds it, `/feedback-reject {name} reason: …` refuses it.",
    )


def _author_text(feedback: Feedback) -> tuple[str, ...]:
    count = len(group_entries(feedback.awaited))
    if not count:
        return "mark it ready for review.", _pending_text(feedback)
    if feedback.blocking:
        return f"{_fix_steps(feedback, count)}.", _reported_text(feedback)
    what = "the warning" if count == 1 else f"the {count} warnings"
    reviewers = join_words(_names(feedback, _rejecting_people(feedback)))
    then = f", then re-request a review from {reviewers}" if reviewers else " and push once"
    return f"change or answer {what} below{then}.", _pending_text(feedback)


def _fix_steps(feedback: Feedback, count: int) -> str:
    """Return the steps: the brief's first one, the rest of the issues, and one push."""
    lines = feedback.brief.lines if feedback.brief else ()
    first = lines[0].headline if lines else ""
    by_check = any(finding.validator.check for finding in feedback.awaited)
    # A check that has no result yet may pass: there is nothing to do about its test.
    is_running = not by_check and any(verdict.validator.check for verdict in feedback.rejecting)
    if not first or is_running:
        one, many = "the blocking issue below", f"the {count} blocking issues below in this order"
        what = _unchanged_names(feedback) or (one if count == 1 else many)
        return f"fix {what} and push once"
    rest = count - 1 if by_check else count
    if not rest:
        return f"{first} and push once"
    other = "other " if by_check else ""
    what = f"the {other}issue below" if rest == 1 else f"the {other}{rest} below in this order"
    return f"{first}, fix {what}, and push once"


def _unchanged_names(feedback: Feedback) -> str:
    """Name what is left to fix, if other blocking entries below were changed or answered already."""
    awaited = tuple(group_entries(feedback.awaited))
    is_part = len(awaited) < len(feedback.blocking)
    names = join_words([code_span(name) for name in awaited])
    return f"{names} below" if is_part and len(awaited) <= _MAX_NAMES else ""


def _reviewer_text(feedback: Feedback) -> tuple[str, ...]:
    reviewers = join_words(_names(feedback, _rejecting_people(feedback) or feedback.rejecting))
    if not feedback.gates:
        text = f"{reviewers} requested changes but named none: ask what to change."
    else:
        text = f"{reviewers} to review again: every blocking finding was changed or answered."
    return text, _pending_text(feedback)


def _rejecting_people(feedback: Feedback) -> list[Verdict]:
    return [verdict for verdict in feedback.rejecting if not verdict.validator.check]


def _reported_text(feedback: Feedback) -> str:
    """Say who has not reported yet, or that all have, if there are several to wait for."""
    if feedback.pending:
        return _pending_text(feedback)
    reported = {verdict.validator.key for verdict in feedback.iteration.standing}
    return "Every reviewer and check has reported." if len(reported) > 1 and not feedback.pushed_since else ""


def _pending_text(feedback: Feedback) -> str:
    """Name the checks that still run and the reviewers that have not reported; empty for none."""
    if not feedback.pending:
        return ""
    verdicts = feedback.pull_request.verdicts
    apps = {verdict.validator.name for verdict in verdicts if not verdict.validator.check}
    names = [code_span(name) for name in feedback.pending[:_MAX_NAMES]]
    if more := len(feedback.pending) - len(names):
        names.append(f"{more} more")
    one = len(feedback.pending) == 1
    if any(name in apps for name in feedback.pending):
        state = "has not reported yet" if one else "have not reported yet"
    else:
        state = "is still running" if one else "are still running"
    return f"{join_words(names)} {state}: wait for {'it' if one else 'them'}."


def _reviewers_text(feedback: Feedback, current: Sequence[Verdict]) -> str:
    """Name the reviewers of this revision, and who of them approves."""
    people = [v for v in current if v.stance is Stance.APPROVES and not v.validator.check]
    approving = join_words(_names(feedback, people))
    others = join_words(_names(feedback, [v for v in current if v not in people]))
    verb = "approves" if len(people) == 1 else "approve"
    if not approving:
        return f"reviewed by {others or join_words(_names(feedback, feedback.rejecting))}"
    return f"reviewed by {others}; {approving} {verb}" if others else f"reviewed by {approving}, who {verb}"


def _names(feedback: Feedback, verdicts: Iterable[Verdict]) -> list[str]:
    """Name the validators, people before checks."""
    names, ordered = feedback.names, sorted(verdicts, key=lambda verdict: verdict.validator.check)
    return list(dict.fromkeys(names[verdict.validator.key] for verdict in ordered))
