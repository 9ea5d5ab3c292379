"""What is the author told to do next, in the light of what the validator said in plain words?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bot.decisions.readings import MOST_READ, failed_checks, failed_logs, output_of, readings
from bot.domain.brief import LogEntry, Refinement, refined
from bot.domain.detection import SECOND_CUE, Detection, DetectionRules, FeedbackType, detect
from bot.domain.feedback import Feedback
from bot.domain.model import Briefed, PullRequest, Stance
from bot.domain.rules import Rules

MOST_KEPT = 50
"""Rounds of briefs that a pull request remembers."""
LOGGED = 0.7
"""How sure a tool's log is that was handed in: half for the log, and a specific test's boost for its rule."""

_FAILURES = frozenset({FeedbackType.RUNTIME_ERROR, FeedbackType.VERIFICATION_FAILURE})


def detected(feedback: Feedback, rules: Rules) -> Detection | None:
    """What kind of feedback the validators' words are; None where nobody rejects or nothing is to be read."""
    if rules.understanding is None or not rules.detection.enabled or not feedback.rejecting:
        return None
    return _detected(feedback, _said(feedback), rules.understanding)


def with_brief(feedback: Feedback, detection: Detection | None, rules: Rules) -> Feedback:
    """The feedback with its brief, which the pull request remembers; without where nothing was understood."""
    known = replace(feedback.pull_request, briefs=judged_briefs(feedback))
    feedback = replace(feedback, pull_request=known)
    if detection is None or rules.understanding is None:
        return feedback
    rounds = refined(detection, readings(feedback, _said(feedback)), rules.understanding)
    if not rounds:
        return feedback
    kept = _kept(feedback, tuple(_told(feedback, rounds, detection)))
    return replace(feedback, brief=rounds[-1].brief, pull_request=replace(known, briefs=kept))


def judged_briefs(feedback: Feedback) -> tuple[Briefed, ...]:
    """Earlier briefs, their success filled in by this iteration's verdict.

    A dismissal accepts nothing, and who has not looked at this revision refuses nothing of it.
    """
    now = feedback.iteration.number
    accepted = not feedback.rejecting
    if accepted and not any(verdict.stance is Stance.APPROVES for verdict in feedback.iteration.standing):
        return feedback.pull_request.briefs
    if not accepted and not _is_new(feedback):
        return feedback.pull_request.briefs
    return tuple(
        replace(told, success=accepted)
        if told.success is None and (told.iteration < now or (accepted and told.iteration == now))
        else told
        for told in feedback.pull_request.briefs
    )


def _is_new(feedback: Feedback) -> bool:
    """Say whether anybody who rejects it has judged this revision, and not only an earlier one."""
    return any(verdict.head == feedback.iteration.head for verdict in feedback.rejecting)


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
            round=told.round,
        )
        for told in pull_request.briefs
    )


def _detected(feedback: Feedback, said: str, rules: DetectionRules) -> Detection:
    """What kind of feedback it is; a check that failed says so itself, whatever people say beside it."""
    formally = any(verdict.is_formal for verdict in feedback.rejecting)
    found = detect(said, rules, "changes_requested" if formally else None)
    if words := _failed(feedback, rules):
        sure = found.confidence if formally else LOGGED
        shown = replace(found, words=words, confidence=sure, is_shown=sure >= rules.threshold)
        return _as(FeedbackType.VERIFICATION_FAILURE, shown, rules)
    if formally and found.type is not FeedbackType.USER_REJECTION and not _is_borne_out(found, rules):
        return _as(FeedbackType.USER_REJECTION, replace(found, words=()), rules)
    return found


def _is_borne_out(found: Detection, rules: DetectionRules) -> bool:
    """Say whether the words are sure enough to make a failure of a refusal, which is a sign of its own."""
    return round(found.prose_confidence + SECOND_CUE, 2) >= rules.threshold


def _failed(feedback: Feedback, rules: DetectionRules) -> tuple[str, ...]:
    """What failed by itself, without anybody's words, and what of the output tells so."""
    checks = (f"check {name} failed" for name in failed_checks(feedback))
    failed = (*checks, *(f"log of {name}" for name in failed_logs(feedback)))
    printed = detect(output_of(feedback), rules) if failed else None
    return (*failed, *printed.words) if printed and printed.type in _FAILURES else failed


def _as(kind: FeedbackType, found: Detection, rules: DetectionRules) -> Detection:
    actions = tuple(action.name for action in rules.actions.get(kind, ()))
    return replace(found, type=kind, actions=actions, signals=())


def _told(feedback: Feedback, rounds: tuple[Refinement, ...], detection: Detection) -> Iterator[Briefed]:
    """One entry a round, each refining the one before; only the last was posted."""
    before = _before(feedback)
    for refinement in rounds:
        lines = refinement.brief.lines
        told = Briefed(
            at=feedback.at,
            iteration=feedback.iteration.number,
            feedback_type=refinement.brief.feedback_type.value,
            signal=", ".join(detection.words) or "changes requested",
            actions=tuple(line.action for line in lines),
            text="\n".join(line.text for line in lines),
            before=before,
            success=None if refinement == rounds[-1] else False,
            round=refinement.round,
        )
        before = told.text
        yield told


def _kept(feedback: Feedback, told: tuple[Briefed, ...]) -> tuple[Briefed, ...]:
    """What is remembered: the same brief is one, until the next verdict accepted what came of it."""
    known = feedback.pull_request.briefs
    if known and not _is_new(feedback):
        return known
    same = _unsettled(feedback)
    if [(old.round, old.text, old.actions) for old in same] == [
        (new.round, new.text, new.actions) for new in told
    ]:
        return known
    return (*(old for old in known if not any(old is one for one in same)), *told)[-MOST_KEPT:]


def _unsettled(feedback: Feedback) -> tuple[Briefed, ...]:
    """This iteration's rounds since it was last accepted: a revision may be rejected again after that."""
    told = [old for old in feedback.pull_request.briefs if old.iteration == feedback.iteration.number]
    accepted = [number for number, old in enumerate(told, 1) if old.success]
    return tuple(told[accepted[-1] if accepted else 0 :])


def _before(feedback: Feedback) -> str:
    now = feedback.iteration.number
    earlier = [
        old
        for old in feedback.pull_request.briefs
        if old.iteration < now or (old.success and old.iteration == now)
    ]
    return earlier[-1].text if earlier else feedback.pull_request.title


def _said(feedback: Feedback) -> str:
    """The newest rejecting validator's words, then what the others and the checks' titles and notes say."""
    spoken = (verdict for verdict in reversed(feedback.rejecting) if not verdict.validator.check)
    words = [verdict.said for verdict in spoken if verdict.said]
    words += [
        finding.item.words for gate in feedback.gates for finding in gate.findings if finding.item.words
    ]
    return "\n\n".join(dict.fromkeys(words))[:MOST_READ]
