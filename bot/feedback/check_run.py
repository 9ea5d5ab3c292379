"""Decide check runs, suggestions and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bot.feedback import document as documents
from bot.feedback import render as comments
from bot.feedback.document import item_issue_text
from bot.feedback.model import Decision, Feedback
from bot.feedback.status_text import TURN_TEXT, feedback_heading
from bot.gates.config import CheckPolicy, RepositoryRules
from bot.gates.problems import RuleFileProblem
from bot.gates.rule_book import ConfigReport
from bot.markdown.escape import code_span, escape_mentions, render_marker, truncate
from bot.markdown.links import LinkContext
from bot.markdown.scan import runs
from bot.pull_request.checks import (
    CONFIG_CHECK_NAME,
    GATES_CHECK_NAME,
    MAX_ANNOTATIONS,
    CheckAnnotation,
    CheckRunText,
)
from bot.pull_request.diff import Suggestion
from bot.pull_request.effects import (
    REJECTED_LABEL,
    TURN_LABELS,
    WARNINGS_LABEL,
    Effect,
    PostSuggestions,
    ShowCheckRun,
    ShowLabel,
)
from bot.pull_request.facts import Facts
from bot.pull_request.model import PullRequest, hash_text
from bot.values import Conclusion


def render_config_check(report: ConfigReport, head: str, *, in_force: bool) -> CheckRunText:
    """Render the check run: every problem at its line and column, as many as GitHub takes.

    `in_force` says that it is the default branch's own version, not one that is proposed.
    """
    annotations = tuple(_config_annotation(problem) for problem in report.problems[:MAX_ANNOTATIONS])
    return CheckRunText(
        name=CONFIG_CHECK_NAME,
        head=head,
        conclusion=report.conclusion,
        title=_config_title(report),
        summary=_config_summary(report, in_force=in_force),
        places=_hash(repr(annotations)),
        annotations=annotations,
    )


def _config_annotation(problem: RuleFileProblem) -> CheckAnnotation:
    return CheckAnnotation(
        path=problem.file,
        line=max(1, problem.line),
        end_line=max(1, problem.line),
        message=f"{problem.what}; {problem.allowed}",
        column=max(1, problem.column),
    )


def _config_title(report: ConfigReport) -> str:
    if report.conclusion is Conclusion.NEUTRAL:
        return "The config was removed"
    if report.conclusion is Conclusion.SUCCESS:
        return f"The config is valid: {report.gates} gates"
    count = len(report.problems)
    return f"The config has {count} error{'' if count == 1 else 's'}"


def _config_summary(report: ConfigReport, *, in_force: bool) -> str:
    path = code_span(report.path)
    if report.conclusion is Conclusion.NEUTRAL:
        return f"Without {path}, the owner's config and the defaults apply."
    if report.conclusion is Conclusion.SUCCESS:
        return f"Once {path} is on the default branch, {report.gates} gates are in force."
    lines = [f"- {code_span(str(problem), 300)}" for problem in report.problems[:MAX_ANNOTATIONS]]
    if omitted := len(report.problems) - len(lines):
        lines.append(f"- and {omitted} more")
    consequence = (
        "The last valid version stays in force. If there is none, the defaults apply."
        if in_force
        else "It is not applied. If it is merged as it is, the last valid version stays in force."
    )
    return "\n".join([*lines, "", consequence])


def shows_degradation(feedback: Feedback | None) -> bool:
    """Whether the current rejected iteration is flagged as worse than the one before."""
    if feedback is None or feedback.progress is None:
        return False
    return bool(choose_label(feedback)) and feedback.progress.present.is_flagged


def choose_label(feedback: Feedback | None) -> str:
    """Return the label that matches the comment's heading; empty if nothing is wrong."""
    if feedback is None or not feedback.rejecting or feedback.pull_request.merged:
        return ""
    is_rejected = feedback.blocking or feedback.is_formally_rejected
    return REJECTED_LABEL if is_rejected else WARNINGS_LABEL if feedback.gates else ""


SUGGESTION_MARKER = "SUGGESTIONS"
MAX_SUGGESTIONS = 20


def add_check_effects(
    decision: Decision, facts: Facts, rules: RepositoryRules, site: LinkContext
) -> Decision:
    """Add check runs, suggestions and labels to the decision."""
    pull_request, effects = decision.pull_request, list(decision.effects)
    if facts.config:
        text = render_config_check(facts.config, pull_request.head, in_force=False)
        effects.append(ShowCheckRun(pull_request.repository, text))
        pull_request = replace(pull_request, proposes=True)
        decision = replace(decision, pull_request=pull_request)
    policy = rules.check.when
    if pull_request.check and policy is CheckPolicy.NEVER:
        pull_request = replace(pull_request, check="")  # whoever switches it on again owes every head a run
        decision = replace(decision, pull_request=pull_request)
    feedback = decision.feedback
    if _is_check_due(decision, policy):
        lines = _summary_lines(decision, site)
        pull_request, more = _add_gates_check(pull_request, feedback, lines, policy)
        effects += more
    if rules.comment.suggestions and feedback and pull_request.open:
        pull_request, more = _add_suggestions(pull_request, feedback)
        effects += more
    labels = rules.comment.enabled and rules.comment.labels
    # Once it is closed, the labels that it has are updated, and no more are added.
    if (labels and pull_request.open) or pull_request.labelled:
        pull_request, more = _add_labels(pull_request, feedback if labels else None)
        effects += more
    return replace(decision, pull_request=pull_request, effects=tuple(effects))


def _is_check_due(decision: Decision, policy: CheckPolicy) -> bool:
    """Whether the head gets the check run: always, or only where a rejection gets no comment.

    One that the head has already stays true: when a comment follows, and once it is merged or closed.
    """
    feedback, pull_request = decision.feedback, decision.pull_request
    if policy is CheckPolicy.NEVER or pull_request.check.endswith(f"@{pull_request.head}"):
        return policy is not CheckPolicy.NEVER
    if not pull_request.open or policy is CheckPolicy.ALWAYS:
        return pull_request.open
    return feedback is not None and bool(feedback.rejecting) and decision.body is None


def mark_budgeted(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Mark the check runs of a backfill as budgeted: each write was allowed before."""
    return tuple(
        replace(effect, counted=True) if isinstance(effect, ShowCheckRun) else effect for effect in effects
    )


def render_gates_check(
    pull_request: PullRequest,
    feedback: Feedback | None,
    lines: str,
    policy: CheckPolicy = CheckPolicy.ALWAYS,
) -> CheckRunText:
    """Render the check run on the current head; success until something rejects it."""
    if feedback is None or not feedback.rejecting:
        title = "Nothing rejects this pull request"
        return CheckRunText(GATES_CHECK_NAME, pull_request.head, Conclusion.SUCCESS, title, lines or title)
    annotations = _annotations(feedback) if feedback.iteration.head == pull_request.head else ()
    turn = TURN_TEXT[feedback.turn]
    return CheckRunText(
        name=GATES_CHECK_NAME,
        head=pull_request.head,
        conclusion=_conclusion(feedback, policy),
        title=f"{feedback_heading(feedback).replace('**', '')}{f' ({turn})' if turn else ''}",
        summary=lines,
        places=_hash(repr(annotations)) if annotations else "",
        annotations=annotations,
    )


def _add_gates_check(
    pull_request: PullRequest, feedback: Feedback | None, lines: str, policy: CheckPolicy
) -> tuple[PullRequest, tuple[Effect, ...]]:
    text = render_gates_check(pull_request, feedback, lines, policy)
    fingerprint = f"{_hash(repr(text))}@{pull_request.head}"
    if pull_request.check == fingerprint:
        return pull_request, ()
    return replace(pull_request, check=fingerprint), (
        ShowCheckRun(pull_request.repository, text, links=True),
    )


def _conclusion(feedback: Feedback, policy: CheckPolicy) -> Conclusion:
    """Return the check run's conclusion: what does not block only warns, and one instead of a comment too."""
    if not feedback.blocking or policy is CheckPolicy.INSTEAD:
        return Conclusion.NEUTRAL
    return Conclusion.ACTION_REQUIRED if feedback.verdict == "escalate" else Conclusion.FAILURE


def _summary_lines(decision: Decision, site: LinkContext) -> str:
    """Return the comment's first lines: all before the first gate or fold, without the marker."""
    feedback = decision.feedback
    if feedback is None:
        return ""
    blocks: list[str] = []
    body = decision.body or comments.render_comment(
        feedback, site, documents.build_document(feedback, site.schema)
    )
    for block in body.split("\n\n")[1:]:
        if block.startswith(("**[", "<details", "and ")):
            break
        blocks.append(block.strip())
    return "\n\n".join(blocks)


def _annotations(feedback: Feedback) -> tuple[CheckAnnotation, ...]:
    """Return the located items as annotations, the blocking ones first."""
    annotations = dict.fromkeys(
        CheckAnnotation(
            path=finding.item.place.path,
            line=finding.item.place.line,
            end_line=finding.item.place.end_line or finding.item.place.line,
            message=truncate(item_issue_text(finding, gate), 1000),
            title=truncate(f"{gate.name}: {gate.tag}" if gate.gate and gate.tag else gate.name, 200),
            level="failure" if gate.blocking else "warning",
        )
        for gate in feedback.gates
        for finding in gate.findings
        if finding.item.place and finding.item.place.line
    )
    return tuple(annotations)[:MAX_ANNOTATIONS]


def _add_suggestions(pull_request: PullRequest, feedback: Feedback) -> tuple[PullRequest, tuple[Effect, ...]]:
    """Add one review per head, with the suggestions that were not offered yet."""
    head = pull_request.head
    if pull_request.suggested == head or feedback.iteration.head != head:
        return pull_request, ()
    # What was reported at an earlier head was offered there, and stands in its own thread.
    reported = {finding.id for finding in feedback.iteration.ledger.open if finding.head == head}
    by_location = dict.fromkeys(
        Suggestion(
            location.path, location.line, _suggestion_body(gate.name, gate.tag or "", finding.item.suggestion)
        )
        for gate in feedback.gates
        if gate.is_auto_fixable
        for finding in gate.findings
        if (location := finding.item.place) and location.line and not location.end_line
        if finding.item.suggestion and not finding.item.offered and finding.item.finding in reported
    )
    if not by_location:
        return pull_request, ()
    suggestions = tuple(by_location)[:MAX_SUGGESTIONS]
    marker = render_marker(SUGGESTION_MARKER, {"head": head, "v": 1})
    body = f"{marker}\n\nFixes that follow from the file itself, one for each line."
    effect = PostSuggestions(pull_request.repository, pull_request.number, head, body, suggestions)
    return replace(pull_request, suggested=head), (effect,)


def _add_labels(
    pull_request: PullRequest, feedback: Feedback | None
) -> tuple[PullRequest, tuple[Effect, ...]]:
    effect = ShowLabel(
        pull_request.repository,
        pull_request.number,
        choose_label(feedback),
        shows_degradation(feedback),
        turn=TURN_LABELS.get(feedback.turn, "") if feedback else "",
    )
    labelled = ", ".join(effect.labels)
    return (
        (pull_request, ())
        if pull_request.labelled == labelled
        else (replace(pull_request, labelled=labelled), (effect,))
    )


def _suggestion_body(gate: str, tag: str, line: str) -> str:
    fence = "`" * max([3, *(end - start + 1 for start, end in runs("`", line, 0, len(line)))])
    return f"{escape_mentions(gate)} (`{tag}`)\n\n{fence}suggestion\n{line}\n{fence}"


def _hash(text: str) -> str:
    return hash_text(text)[:32]
