"""What is the author told to do next, in the light of what the validator said in plain words?"""

from __future__ import annotations

from dataclasses import replace

from bot.domain.brief import Known, LogEntry, OpenItem, refined
from bot.domain.detection import FeedbackType, detect
from bot.domain.feedback import FailedGate, Feedback
from bot.domain.model import Briefed, PullRequest
from bot.domain.rules import Rules

MOST_KEPT = 50


def with_brief(feedback: Feedback, rules: Rules) -> Feedback:
    """The feedback with its brief, which the pull request remembers; without where nothing was understood."""
    known = replace(feedback.pull_request, briefs=_judged(feedback))
    feedback = replace(feedback, pull_request=known)
    said = _said(feedback)
    if rules.understanding is None or not rules.detection.enabled or not feedback.rejecting:
        return feedback
    detection = detect(said, rules.understanding, "changes_requested")
    refinement = refined(detection, _items(feedback), _known(feedback, said), rules.understanding)
    if refinement is None:
        return feedback
    kept = _kept(
        feedback,
        Briefed(
            at=feedback.at,
            iteration=feedback.iteration.number,
            feedback_type=refinement.brief.feedback_type.value,
            signal=", ".join(detection.words) or "changes requested",
            actions=tuple(line.action for line in refinement.brief.lines),
            text="\n".join(line.text for line in refinement.brief.lines),
            before=_before(feedback),
        ),
    )
    return replace(feedback, brief=refinement.brief, pull_request=replace(known, briefs=kept))


def feedback_log(pull_request: PullRequest) -> tuple[LogEntry, ...]:
    """The briefs with the source document's fields, oldest first."""
    return tuple(
        LogEntry(
            timestamp=told.at,
            original_prompt=told.before,
            feedback_type=FeedbackType(told.feedback_type),
            feedback_signal=told.signal,
            actions_applied=told.actions,
            refined_prompt=told.text,
            iteration=told.iteration,
            success=told.success,
        )
        for told in pull_request.briefs
    )


def _judged(feedback: Feedback) -> tuple[Briefed, ...]:
    """Earlier briefs, their success filled in by this iteration's verdict."""
    now = feedback.iteration.number
    accepted = not feedback.rejecting
    return tuple(
        replace(told, success=accepted)
        if told.success is None and (told.iteration < now or (accepted and told.iteration == now))
        else told
        for told in feedback.pull_request.briefs
    )


def _kept(feedback: Feedback, told: Briefed) -> tuple[Briefed, ...]:
    before = tuple(old for old in feedback.pull_request.briefs if old.iteration != told.iteration)
    same = next((old for old in feedback.pull_request.briefs if old.iteration == told.iteration), None)
    if same and (same.text, same.actions) == (told.text, told.actions):
        return feedback.pull_request.briefs
    return (*before, told)[-MOST_KEPT:]


def _before(feedback: Feedback) -> str:
    earlier = [old for old in feedback.pull_request.briefs if old.iteration < feedback.iteration.number]
    return earlier[-1].text if earlier else feedback.pull_request.title


def _said(feedback: Feedback) -> str:
    """The newest rejecting validator's words, then what the others and the failed checks say."""
    words = [verdict.said for verdict in reversed(feedback.rejecting) if verdict.said]
    words += [
        finding.item.words for gate in feedback.gates for finding in gate.findings if finding.item.words
    ]
    return "\n\n".join(dict.fromkeys(words))[:6_000]


def _items(feedback: Feedback) -> tuple[OpenItem, ...]:
    return tuple(_item(gate) for gate in feedback.gates)


def _item(gate: FailedGate) -> OpenItem:
    finding = next((each for each in gate.findings if each.item.words), gate.findings[0])
    return OpenItem(
        name=gate.name,
        words=finding.item.words,
        fix=finding.item.action or (gate.gate.fix if gate.gate else ""),
        place=gate.places[0] if gate.places else None,
        is_blocking=gate.blocking,
        suggestion=finding.item.suggestion,
        alternatives=tuple(example.good for example in gate.gate.examples) if gate.gate else (),
    )


def _known(feedback: Feedback, said: str) -> Known:
    failed = [verdict for verdict in feedback.rejecting if verdict.validator.check]
    annotations = [item.words for verdict in failed for item in verdict.items if item.words]
    places = [place for gate in feedback.gates for place in gate.places]
    return Known(
        asked=feedback.source,
        said=said,
        checks=tuple(dict.fromkeys(verdict.validator.name for verdict in failed)),
        annotations=tuple(annotations),
        resolved=tuple(places),
    )
