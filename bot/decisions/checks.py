"""What do our check runs and suggestions say beside the comment?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from bot.decisions.pull_request import Decision
from bot.domain import comment as comments
from bot.domain import document as documents
from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.check_runs import GATES, MOST_ANNOTATIONS, Annotation, CheckText, Conclusion
from bot.domain.comment import Site
from bot.domain.comment_lines import heading
from bot.domain.config_check import config_check
from bot.domain.document import issue_text
from bot.domain.effects import Effect
from bot.domain.escape import cut, marker, quiet
from bot.domain.facts import Facts
from bot.domain.feedback import Feedback
from bot.domain.label_effects import ShowLabel, is_degraded, label_for
from bot.domain.model import PullRequest
from bot.domain.rules import Rules
from bot.domain.suggestions import Suggestion

MARKER = "SUGGESTIONS"
MOST_SUGGESTIONS = 20


def add_check_effects(decision: Decision, facts: Facts, rules: Rules, site: Site) -> Decision:
    """The decision with the check runs and suggestions that belong to it."""
    known, effects = decision.pull_request, list(decision.effects)
    if facts.config:
        said = config_check(facts.config, known.head, in_force=False)
        effects.append(ShowCheck(known.repository, said))
        known = replace(known, proposes=True)
        decision = replace(decision, pull_request=known)
    if known.check and not rules.check.enabled:
        known = replace(known, check="")  # whoever switches it on again owes every head a run
        decision = replace(decision, pull_request=known)
    labels = rules.comment.enabled and rules.comment.labels
    wanted = rules.check.enabled or rules.comment.suggestions or labels or known.labelled
    if not known.open or not wanted:
        return replace(decision, effects=tuple(effects))
    feedback = decision.feedback
    if rules.check.enabled:
        known, more = _with_check(known, feedback, _first_lines(decision, site))
        effects += more
    if rules.comment.suggestions and feedback:
        known, more = _with_suggestions(known, feedback)
        effects += more
    known, more = _with_labels(known, feedback if labels else None)
    effects += more
    return replace(decision, pull_request=known, effects=tuple(effects))


def mark_budgeted(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """The effects of a turn that only catches up on check runs, whose writes were allowed one by one."""
    return tuple(
        replace(effect, counted=True) if isinstance(effect, ShowCheck) else effect for effect in effects
    )


def gates_check(pull_request: PullRequest, feedback: Feedback | None, lines: str) -> CheckText:
    """The check run on the present head; success until somebody says otherwise."""
    if feedback is None or not feedback.rejecting:
        title = "Nothing rejects this pull request"
        return CheckText(GATES, pull_request.head, Conclusion.SUCCESS, title, lines or title)
    annotations = _annotations(feedback) if feedback.iteration.head == pull_request.head else ()
    return CheckText(
        name=GATES,
        head=pull_request.head,
        conclusion=_conclusion(feedback),
        title=heading(len(feedback.blocking), len(feedback.warnings)).replace("**", ""),
        summary=lines,
        places=_hash(repr(annotations)) if annotations else "",
        annotations=annotations,
    )


def _with_check(
    known: PullRequest, feedback: Feedback | None, lines: str
) -> tuple[PullRequest, tuple[Effect, ...]]:
    said = gates_check(known, feedback, lines)
    fingerprint = _hash(repr(said))
    if known.check == fingerprint:
        return known, ()
    return replace(known, check=fingerprint), (ShowCheck(known.repository, said, links=True),)


def _conclusion(feedback: Feedback) -> Conclusion:
    """The verdict in GitHub's words: what does not block only warns."""
    if not feedback.blocking:
        return Conclusion.NEUTRAL
    return Conclusion.ACTION_REQUIRED if feedback.verdict == "escalate" else Conclusion.FAILURE


def _first_lines(decision: Decision, site: Site) -> str:
    """The comment's first lines: all before the first gate or fold, without the marker."""
    feedback = decision.feedback
    if feedback is None:
        return ""
    first: list[str] = []
    body = decision.body or comments.render(feedback, site, documents.document(feedback, site.schema))
    for block in body.split("\n\n")[1:]:
        if block.startswith(("**[", "<details", "and ")):
            break
        first.append(block.strip())
    return "\n\n".join(first)


def _annotations(feedback: Feedback) -> tuple[Annotation, ...]:
    """The places at which something is wrong, the blocking ones first."""
    found = dict.fromkeys(
        Annotation(
            path=finding.item.place.path,
            line=finding.item.place.line,
            end_line=finding.item.place.end_line or finding.item.place.line,
            message=cut(issue_text(finding, gate), 1000),
            title=cut(f"{gate.name}: {gate.tag}" if gate.gate and gate.tag else gate.name, 200),
            level="failure" if gate.blocking else "warning",
        )
        for gate in feedback.gates
        for finding in gate.findings
        if finding.item.place and finding.item.place.line
    )
    return tuple(found)[:MOST_ANNOTATIONS]


def _with_suggestions(known: PullRequest, feedback: Feedback) -> tuple[PullRequest, tuple[Effect, ...]]:
    """One review a head, with what nobody has offered there yet."""
    head = known.head
    if known.suggested == head or feedback.iteration.head != head:
        return known, ()
    found = dict.fromkeys(
        Suggestion(
            place.path, place.line, _suggestion_body(gate.name, gate.tag or "", finding.item.suggestion)
        )
        for gate in feedback.gates
        if gate.is_auto_fixable
        for finding in gate.findings
        if (place := finding.item.place) and place.line and not place.end_line
        if finding.item.suggestion and not finding.item.offered
    )
    if not found:
        return known, ()
    suggestions = tuple(found)[:MOST_SUGGESTIONS]
    body = f"{marker(MARKER, {'head': head, 'v': 1})}\n\nFixes that follow from the file itself, one a line."
    effect = Suggest(known.repository, known.number, head, body, suggestions)
    return replace(known, suggested=head), (effect,)


def _with_labels(known: PullRequest, feedback: Feedback | None) -> tuple[PullRequest, tuple[Effect, ...]]:
    effect = ShowLabel(known.repository, known.number, label_for(feedback), is_degraded(feedback))
    labelled = ", ".join(effect.labels)
    return (known, ()) if known.labelled == labelled else (replace(known, labelled=labelled), (effect,))


def _suggestion_body(gate: str, tag: str, line: str) -> str:
    fence = "`" * max(3, _longest_run(line) + 1)
    return f"{quiet(gate)} (`{tag}`)\n\n{fence}suggestion\n{line}\n{fence}"


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
