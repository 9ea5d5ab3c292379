"""Decide check runs, suggestions and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bot.feedback import document as documents
from bot.feedback import render as comments
from bot.feedback.document import item_issue_text
from bot.feedback.model import Decision, Feedback
from bot.feedback.status_text import TURN_TEXT, feedback_heading
from bot.gates.config import CheckPolicy, RepositoryRules
from bot.gates.rule_book import ConfigReport
from bot.markdown.escape import code_span, escape_mentions, render_marker, truncate
from bot.markdown.format import format_count
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
    annotations = tuple(
        CheckAnnotation(
            path=problem.file,
            line=max(1, problem.line),
            end_line=max(1, problem.line),
            message=f"{problem.what}; {problem.allowed}",
            column=max(1, problem.column),
        )
        for problem in report.problems[:MAX_ANNOTATIONS]
    )
    return CheckRunText(
        CONFIG_CHECK_NAME,
        head,
        report.conclusion,
        *_config_texts(report, in_force=in_force),
        places=_hash(repr(annotations)),
        annotations=annotations,
    )


def _config_texts(report: ConfigReport, *, in_force: bool) -> tuple[str, str]:
    """Return the title and the summary."""
    path = code_span(report.path)
    if report.conclusion is Conclusion.NEUTRAL:
        return "The config was removed", f"Without {path}, the owner's config and the defaults apply."
    if report.conclusion is Conclusion.SUCCESS:
        summary = f"Once {path} is on the default branch, {report.gates} gates are in force."
        return f"The config is valid: {report.gates} gates", summary
    lines = [f"- {code_span(str(problem), 300)}" for problem in report.problems[:MAX_ANNOTATIONS]]
    if omitted := len(report.problems) - len(lines):
        lines.append(f"- and {omitted} more")
    consequence = (
        "The last valid version stays in force. If there is none, the defaults apply."
        if in_force
        else "It is not applied. If it is merged as it is, the last valid version stays in force."
    )
    title = f"The config has {format_count(len(report.problems), 'error')}"
    return title, "\n".join([*lines, "", consequence])


def _choose_label(feedback: Feedback | None) -> str:
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
    policy = rules.check.when
    if facts.config:
        text = render_config_check(facts.config, decision.pull_request.head, in_force=False)
        decision = _add(decision, ShowCheckRun(decision.pull_request.repository, text), proposes=True)
    if decision.pull_request.check and policy is CheckPolicy.NEVER:
        decision = _add(decision, check="")  # once it is on again, every head is due a run
    if _is_check_due(decision, policy):
        decision = _add_gates_check(decision, policy, site)
    pull_request = decision.pull_request
    if rules.comment.suggestions and pull_request.open:
        decision = _add_suggestions(decision)
    has_labels = rules.comment.enabled and rules.comment.labels
    # Once it is closed, the labels that it has are updated, and no more are added.
    if pull_request.labelled or (has_labels and pull_request.open):
        decision = _add_labels(decision, decision.feedback if has_labels else None)
    return decision


def _add(decision: Decision, *effects: Effect, **recorded: Any) -> Decision:
    """Add effects, and what the pull request records about them."""
    pull_request = replace(decision.pull_request, **recorded)
    return replace(decision, pull_request=pull_request, effects=(*decision.effects, *effects))


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


def _add_gates_check(decision: Decision, policy: CheckPolicy, site: LinkContext) -> Decision:
    pull_request = decision.pull_request
    text = render_gates_check(pull_request, decision.feedback, _summary_lines(decision, site), policy)
    fingerprint = f"{_hash(repr(text))}@{pull_request.head}"
    if pull_request.check == fingerprint:
        return decision
    return _add(decision, ShowCheckRun(pull_request.repository, text, links=True), check=fingerprint)


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


def _add_suggestions(decision: Decision) -> Decision:
    """Add one review per head, with the suggestions that were not offered yet."""
    pull_request, feedback = decision.pull_request, decision.feedback
    head = pull_request.head
    if feedback is None or pull_request.suggested == head or feedback.iteration.head != head:
        return decision
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
        return decision
    suggestions = tuple(by_location)[:MAX_SUGGESTIONS]
    marker = render_marker(SUGGESTION_MARKER, {"head": head, "v": 1})
    body = f"{marker}\n\nFixes that follow from the file itself, one for each line."
    effect = PostSuggestions(pull_request.repository, pull_request.number, head, body, suggestions)
    return _add(decision, effect, suggested=head)


def _add_labels(decision: Decision, feedback: Feedback | None) -> Decision:
    pull_request, label = decision.pull_request, _choose_label(feedback)
    effect = ShowLabel(
        pull_request.repository,
        pull_request.number,
        label,
        # Whether the current rejected iteration is flagged as worse than the one before.
        bool(label and feedback and feedback.progress and feedback.progress.present.is_flagged),
        turn=TURN_LABELS.get(feedback.turn, "") if feedback else "",
    )
    labelled = ", ".join(effect.labels)
    return decision if pull_request.labelled == labelled else _add(decision, effect, labelled=labelled)


def _suggestion_body(gate: str, tag: str, line: str) -> str:
    fence = "`" * max([3, *(end - start + 1 for start, end in runs("`", line, 0, len(line)))])
    return f"{escape_mentions(gate)} (`{tag}`)\n\n{fence}suggestion\n{line}\n{fence}"


def _hash(text: str) -> str:
    return hash_text(text)[:32]
