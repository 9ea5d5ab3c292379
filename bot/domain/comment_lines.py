"""What does a comment say first: how bad it is, where we are, and what is next?"""

from __future__ import annotations

from bot.domain import document as documents
from bot.domain import quality_fold
from bot.domain.escape import code_span
from bot.domain.feedback import Feedback
from bot.domain.links import Web
from bot.domain.model import Stance, Validator, Verdict
from bot.domain.phrasing import counted, joined


def heading(blocking: int, warnings: int) -> str:
    """How bad it is, in one line."""
    if blocking:
        tail = f", {counted(warnings, 'warning')}" if warnings else ""
        return f"**Rejected** — {counted(blocking, 'blocking issue')}{tail}"
    if warnings:
        return f"**Warnings** — {counted(warnings, 'non-blocking issue')}"
    return "**Rejected** — no issue named"


def without_blocking(feedback: Feedback) -> str:
    """Who requests changes, where nothing that they name blocks."""
    if feedback.blocking:
        return ""
    who = _all_of([_validator(verdict.validator) for verdict in feedback.rejecting])
    verb = "requests" if len(feedback.rejecting) == 1 else "request"
    what = "a blocking gate" if feedback.gates else "a gate"
    return f"{who} {verb} changes without naming {what}."


def where_we_are(feedback: Feedback, web: Web) -> str:
    """The iteration, who judged it, and what became of the issues since the one before."""
    iteration = feedback.iteration
    here = [verdict for verdict in iteration.standing if verdict.head in {iteration.head, None}]
    at, by = at_head(feedback, web), _judged_by(feedback, here)
    line = f"Iteration {documents.of_budget(feedback)} at {at}, {by}."
    if earlier := [verdict for verdict in feedback.rejecting if here and verdict not in here]:
        names = _all_of([_validator(verdict.validator) for verdict in earlier])
        line += f" The earlier verdict of {names} still stands."
    if feedback.previous:
        changes = feedback.changes
        line += (
            f" Since iteration {feedback.previous.number}: {len(changes.fixed)} fixed, "
            f"{len(changes.still_open)} still open, {len(changes.new)} new."
        )
    return line


def next_step(feedback: Feedback) -> str:
    """What to do, in at most two sentences."""
    if feedback.verdict == "escalate":
        return f"**Next**: stop, a person decides: {why_escalated(feedback)}."
    blocking = len(feedback.blocking)
    if not feedback.gates:
        return f"**Next**: ask {code_span(feedback.source)} what to change."
    if not blocking:
        what = "the warning" if len(feedback.gates) == 1 else f"the {len(feedback.gates)} warnings"
        return f"**Next**: mend {what}, or ask {code_span(feedback.source)} what else blocks."
    what = "the blocking issue" if blocking == 1 else f"the {blocking} blocking issues in this order"
    return f"**Next**: fix {what}{_then_checks(feedback)}.{_shorter(feedback)}"


def why_escalated(feedback: Feedback) -> str:
    """Why a person has to decide."""
    if feedback.iteration.number >= feedback.max_iterations:
        return f"all {feedback.max_iterations} iterations are used up"
    tags = _all_of([code_span(tag) for tag in feedback.repeated])
    return f"{tags} {'keeps' if len(feedback.repeated) == 1 else 'keep'} coming back"


def at_head(feedback: Feedback, web: Web) -> str:
    """The head that was judged, linked."""
    return web.commit(feedback.pull_request.repository, feedback.iteration.head)


def _judged_by(feedback: Feedback, here: list[Verdict]) -> str:
    """Who judged this revision, and who of them approves."""
    approving = [verdict for verdict in here if verdict.stance is Stance.APPROVES]
    others = [verdict for verdict in here if verdict not in approving]
    judges = _all_of([_validator(verdict.validator) for verdict in others or approving or feedback.rejecting])
    verb = "approves" if len(approving) == 1 else "approve"
    if not approving:
        return f"judged by {judges}"
    names = _all_of([_validator(verdict.validator) for verdict in approving])
    return f"judged by {judges}; {names} {verb}" if others else f"judged by {judges}, who {verb}"


def _shorter(feedback: Feedback) -> str:
    course, tags = feedback.course, [gate.tag for gate in feedback.blocking]
    way = quality_fold.shorter_way(course.trajectory, course.gates, tags) if course else ""
    return f" {way}" if way else ""


def _then_checks(feedback: Feedback) -> str:
    tools = [verdict.validator for verdict in feedback.rejecting if verdict.validator.check]
    checks = _all_of([code_span(tool.name) for tool in tools if not tool.is_log])
    logs = _all_of([code_span(tool.name) for tool in tools if tool.is_log])
    todo = [f"make {checks} pass"] if checks else []
    todo += [f"hand in a clean log of {logs}"] if logs else []
    return f", then {' and '.join(todo)}" if todo else ""


def _validator(validator: Validator) -> str:
    name = code_span(validator.name)
    if validator.is_log:
        return f"the log of {name}"
    return f"the check {name}" if validator.check else name


def _all_of(names: list[str]) -> str:
    unique = tuple(dict.fromkeys(names))
    return joined(unique) if unique else ""
