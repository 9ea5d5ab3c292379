"""Collect what a brief is written from: comments, annotations, verified facts, the framework.

Hardly anything is read for a brief alone: annotations are read with the check's event, claims when the
comment is about to be written; only for an error without a framework is a manifest read, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from bot import regex
from bot.detection.detector import SECOND_CUE_BONUS, Detection, detect
from bot.detection.load import brief_actions, detection_rules
from bot.detection.rules import MAX_CONFIDENCE, DetectionRules, FeedbackType
from bot.feedback.brief import Brief, BriefFacts, OpenItem, refine_brief
from bot.feedback.model import FailedGate, Feedback
from bot.gates.config import ClaimType, RepositoryRules
from bot.gates.packs import load_rules
from bot.grounding.manifests import manifest_versions, normalize_package
from bot.grounding.model import ClaimOutcome
from bot.iterations.model import current_iteration
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import has_visible_text, mask_hidden
from bot.pull_request.model import Item, PostedBrief, PullRequest, Stance

# A framework's own name is ASCII.
_INSTALLED = regex.Regex(
    r"(?:site-packages|dist-packages|node_modules)/((?:@[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.-]+)/"
)
_SUFFIX = regex.Regex(r"\w\.(py|jsx?|mjs|tsx?|rs|go|java|kt)\b")


@cache
def _framework_rules() -> Any:
    return load_rules("frameworks")


def framework_in_trace(text: str) -> str:
    """Return the framework whose own files the trace goes through; empty for none."""
    packages = {normalize_package(name) for name in _INSTALLED.findall(text)}
    if not packages:
        return ""
    return next((name for package, name in _framework_rules()["packages"].items() if package in packages), "")


def framework_manifests(text: str) -> tuple[str, ...]:
    """Return the manifests that can name the framework of the code in the text, the likeliest first."""
    suffix = _SUFFIX.search(text)
    return tuple(_framework_rules()["manifests"][suffix[1]]) if suffix else ()


def framework_in_manifests(files: Mapping[str, str]) -> str:
    """Return the framework that these manifests require, with its version as written; empty for none."""
    for path, text in files.items():
        versions = manifest_versions(path, text) or {}
        for package, name in _framework_rules()["packages"].items():
            if package in versions:
                return f"{name} {' or '.join(sorted(versions[package]))}".strip()
    return ""


MAX_WORDS_READ = 6_000
"""Characters of comments, and of output, that a brief is written from."""

_COMMENT = regex.Regex(r"(?s)<!--.*?(?:-->|\z)")
_FAILS = regex.Regex(r"(?i)\b(?:fail\w*|broken?|red|errors?)\b")


def collect_brief_inputs(
    feedback: Feedback, comment_text: str
) -> tuple[tuple[tuple[OpenItem, ...], BriefFacts], ...]:
    """Collect the inputs of each round, the cheapest first."""
    facts = _event_facts(feedback, comment_text)
    annotations = (
        item.evidence or item.words for item in feedback.iteration.open_items if _is_annotation(item)
    )
    annotated = replace(facts, annotations=tuple(dict.fromkeys(annotations)))
    return (
        (_items(feedback, annotated=False), facts),
        (_items(feedback, annotated=True), annotated),
        (
            tuple(
                _item(gate, [finding.item for finding in gate.findings], feedback) for gate in feedback.gates
            ),
            _add_observations(annotated, feedback),
        ),
    )


def failed_tools(feedback: Feedback, *, is_log: bool = False) -> tuple[str, ...]:
    """Return the names of the rejecting checks, or of the tools whose submitted logs reject it."""
    tools = (verdict.validator for verdict in feedback.rejecting)
    return tuple(dict.fromkeys(tool.name for tool in tools if tool.check and tool.is_log is is_log))


def failed_output(feedback: Feedback) -> str:
    """Return the output of the failed checks, the newest first."""
    printed = (verdict.said for verdict in reversed(feedback.rejecting) if verdict.validator.check)
    return "\n\n".join(output for output in printed if output)[:MAX_WORDS_READ]


def _event_facts(feedback: Feedback, comment_text: str) -> BriefFacts:
    output = failed_output(feedback)
    items = feedback.iteration.open_items
    evidence = (item.evidence for item in items if item.evidence and not _is_annotation(item))
    tests = (finding.failing_test for finding in feedback.findings)
    return BriefFacts(
        contact=feedback.source,
        comment_text=_without_tags(comment_text, feedback),
        output=_COMMENT.sub(" ", output),
        checks=failed_tools(feedback),
        logs=failed_tools(feedback, is_log=True),
        framework=framework_in_trace(f"{output}\n{comment_text}"),
        observed=tuple(dict.fromkeys(evidence)),
        failing_test=next((test for test in tests if test[0]), ("", "")),
        only_checks=all(verdict.validator.check for verdict in feedback.rejecting),
    )


def _add_observations(facts: BriefFacts, feedback: Feedback) -> BriefFacts:
    """Add what was observed at the head: verified claims and failed checks."""
    confirmed = [
        finding.grounding.decisive
        for finding in feedback.findings
        if finding.grounding and finding.grounding.confirmed and not finding.validator.check
    ]
    failed_checks = (
        claim.check
        for claim in confirmed
        if claim.type == ClaimType.TEST_RESULTS and _FAILS.search(claim.claim)
    )
    return replace(
        facts,
        checks=tuple(dict.fromkeys((*facts.checks, *(check for check in failed_checks if check)))),
        framework=facts.framework or feedback.pull_request.framework or "",
        observed=tuple(dict.fromkeys((*facts.observed, *(claim.source for claim in confirmed)))),
    )


def _items(feedback: Feedback, *, annotated: bool) -> tuple[OpenItem, ...]:
    """Return the open items as the verdicts state them."""
    stated = [item for item in feedback.iteration.open_items if annotated or not _is_annotation(item)]
    return tuple(
        _item(
            gate,
            [item for item in stated if (item.tag == gate.tag if gate.tag else item.finding in gate.ids)],
            feedback,
        )
        for gate in feedback.gates
    )


def _item(gate: FailedGate, items: Sequence[Item], feedback: Feedback) -> OpenItem:
    with_words = next((item for item in items if item.words), None)
    # A location that was contradicted at this head is left out.
    contradicted = {
        entry.claim
        for entry in feedback.pull_request.grounding
        if entry.head == feedback.iteration.head and entry.outcome == ClaimOutcome.CONTRADICTED
    }
    locations = (item.place for item in items if item.place and str(item.place)[:200] not in contradicted)
    fix = (with_words and with_words.action) or (gate.gate.fix if gate.gate else "")
    proposals = (item.suggestion or item.action for item in items)
    return OpenItem(
        name=gate.name,
        text=with_words.words if with_words else "",
        fix=fix,
        locations=tuple(dict.fromkeys(locations)),
        is_blocking=gate.blocking,
        suggestion=next((item.suggestion for item in items if item.suggestion), None),
        proposals=tuple(dict.fromkeys(text for text in proposals if text)),
    )


def _is_annotation(item: Item) -> bool:
    return item.origin is not None and item.origin.way == "annotation"


def _without_tags(comment_text: str, feedback: Feedback) -> str:
    """Remove tags and hidden comments: a tag such as `flaky_test` is not the name of a test."""
    text = mask_hidden(_COMMENT.sub(" ", comment_text), SpanKind.QUOTE)
    for tag in feedback.issues:
        if tag in text:
            text = regex.Regex(rf"\[?({regex.escape(tag)})\]?:?[ \t]*").sub(_remove_unless_part, text)
    return text


def _remove_unless_part(match: regex.RegexMatch) -> str:
    """Remove a tag, unless it is part of a longer word."""
    start, end = match.span(1)
    is_part = any(map(regex.is_word, (match.string[start - 1 : start], match.string[end : end + 1])))
    return str(match[0]) if is_part else ""


MAX_BRIEFS = 50
"""Rounds of briefs that a pull request stores."""
LOG_CONFIDENCE = 0.7
"""Confidence in a submitted tool log: half for the log, and a specific test's boost for its rule."""

_FAILURES = frozenset({FeedbackType.RUNTIME_ERROR, FeedbackType.VERIFICATION_FAILURE})


def has_plain_words(pull_request: PullRequest) -> bool:
    """Whether any verdict has words or output for the detector, besides tags."""
    return any(verdict.validator.check or has_visible_text(verdict.said) for verdict in pull_request.verdicts)


def detect_feedback_type(feedback: Feedback, rules: RepositoryRules) -> Detection | None:
    """Detect the feedback's type; None if nobody rejects it or detection is off."""
    if not rules.detection.enabled or not feedback.rejecting:
        return None
    is_formal = any(verdict.is_formal for verdict in feedback.rejecting)
    text = _rejection_text(feedback)
    is_checked = any(verdict.validator.check for verdict in feedback.rejecting)
    if not is_checked and not has_visible_text(text):
        return _formal_detection(rules.detection.threshold) if is_formal else Detection(None)
    return _detect(feedback, text, detection_rules(rules.detection), is_formal=is_formal)


def _formal_detection(threshold: float) -> Detection:
    """Say what the formal state of a review says alone, for which the detector is not even loaded."""
    is_shown = threshold <= MAX_CONFIDENCE
    return Detection(FeedbackType.USER_REJECTION, MAX_CONFIDENCE, is_shown=is_shown)


def add_brief(feedback: Feedback, detection: Detection | None, rules: RepositoryRules) -> Feedback:
    """Add the brief, which the pull request records; none if nothing was detected."""
    feedback = record_brief_outcomes(feedback)
    if detection is None:
        return feedback
    inputs = collect_brief_inputs(feedback, _rejection_text(feedback))
    rounds = refine_brief(detection, inputs, brief_actions(), rules.detection.max_refinement_iterations)
    if not rounds:
        return feedback
    briefs = _merge_briefs(feedback, _round_entries(feedback, rounds, detection))
    return replace(_with_briefs(feedback, briefs), brief=rounds[-1])


def _with_briefs(feedback: Feedback, briefs: tuple[PostedBrief, ...]) -> Feedback:
    if briefs == feedback.pull_request.briefs:
        return feedback
    return replace(feedback, pull_request=replace(feedback.pull_request, briefs=briefs))


def record_brief_outcomes(feedback: Feedback) -> Feedback:
    """Record the success of the earlier briefs, by this iteration's verdict.

    A dismissal accepts nothing, and a verdict on an earlier revision rejects nothing of this one.
    """
    current = feedback.iteration.number
    accepted = not feedback.rejecting
    if accepted and not any(verdict.stance is Stance.APPROVES for verdict in feedback.iteration.standing):
        return feedback
    if not accepted and not _has_new_rejection(feedback):
        return feedback
    briefs = tuple(
        replace(brief, success=accepted)
        if brief.success is None and (brief.iteration < current or (accepted and brief.iteration == current))
        else brief
        for brief in feedback.pull_request.briefs
    )
    return _with_briefs(feedback, briefs)


def _has_new_rejection(feedback: Feedback) -> bool:
    """Whether any rejecting verdict is on this revision, and not only on an earlier one."""
    return any(verdict.head == feedback.iteration.head for verdict in feedback.rejecting)


def record_partial_success(feedback: Feedback, rules: RepositoryRules) -> Feedback:
    """Record each approval whose words still ask for something: a partial success, without a brief."""
    if not rules.detection.enabled:
        return feedback
    briefs = feedback.pull_request.briefs
    recorded = [brief.at for brief in briefs if not brief.actions]
    for verdict in feedback.iteration.standing:
        if (
            verdict.stance is not Stance.APPROVES
            or not verdict.is_formal
            or not has_visible_text(verdict.said)
        ):
            continue
        if verdict.at in recorded:
            recorded.remove(verdict.at)  # another approval may have been given in the same second
            continue
        detection = detect(verdict.said[:MAX_WORDS_READ], detection_rules(rules.detection), "approved")
        if detection.type is not None:
            entry = PostedBrief(
                at=verdict.at,
                iteration=feedback.iteration.number,
                feedback_type=detection.type.value,
                signal=", ".join(detection.words) or "approved",
                actions=(),
                text="",
                before=_previous_text(feedback),
                success=True,
            )
            briefs = (*briefs, entry)[-MAX_BRIEFS:]
    return _with_briefs(feedback, briefs)


def _detect(feedback: Feedback, comment_text: str, rules: DetectionRules, *, is_formal: bool) -> Detection:
    """Detect the type; a failed check is a verification failure, whatever people write beside it."""
    detection = detect(comment_text, rules, "changes_requested" if is_formal else None)
    if words := _failure_cues(feedback, rules):
        confidence = detection.confidence if is_formal else LOG_CONFIDENCE
        shown = replace(detection, words=words, confidence=confidence, is_shown=confidence >= rules.threshold)
        return _retype(FeedbackType.VERIFICATION_FAILURE, shown, rules)
    if (
        is_formal
        and detection.type is not FeedbackType.USER_REJECTION
        and not _is_confirmed_by_prose(detection, rules)
    ):
        return _retype(FeedbackType.USER_REJECTION, replace(detection, words=()), rules)
    return detection


def _is_confirmed_by_prose(detection: Detection, rules: DetectionRules) -> bool:
    """Whether the prose alone is sure enough to call a rejection a failure."""
    return round(detection.prose_confidence + SECOND_CUE_BONUS, 2) >= rules.threshold


def _failure_cues(feedback: Feedback, rules: DetectionRules) -> tuple[str, ...]:
    """Return the failed checks and logs, and the cues of their output."""
    checks = (f"check {name} failed" for name in failed_tools(feedback))
    failed = (*checks, *(f"log of {name}" for name in failed_tools(feedback, is_log=True)))
    detection = detect(failed_output(feedback), rules) if failed else None
    return (*failed, *detection.words) if detection and detection.type in _FAILURES else failed


def _retype(kind: FeedbackType, detection: Detection, rules: DetectionRules) -> Detection:
    actions = tuple(action.name for action in rules.actions.get(kind, ()))
    return replace(detection, type=kind, actions=actions, signals=())


def _round_entries(
    feedback: Feedback, rounds: tuple[Brief, ...], detection: Detection
) -> tuple[PostedBrief, ...]:
    """Return one entry per round, each refining the one before; only the last was posted."""
    texts = ["\n".join(line.text for line in brief.lines) for brief in rounds]
    return tuple(
        PostedBrief(
            at=feedback.at,
            iteration=feedback.iteration.number,
            feedback_type=brief.feedback_type.value,
            signal=", ".join(detection.words) or "changes requested",
            actions=tuple(line.action for line in brief.lines),
            text=text,
            before=before,
            success=None if brief == rounds[-1] else False,
            round=brief.round,
        )
        for brief, text, before in zip(rounds, texts, (_previous_text(feedback), *texts), strict=False)
    )


def _merge_briefs(feedback: Feedback, rounds: tuple[PostedBrief, ...]) -> tuple[PostedBrief, ...]:
    """Merge the rounds; a repeated brief is recorded once, until the next verdict accepts the result."""
    briefs = feedback.pull_request.briefs
    if briefs and not _has_new_rejection(feedback):
        return briefs
    current = _open_rounds(feedback)
    if [(brief.round, brief.text, brief.actions) for brief in current] == [
        (posted.round, posted.text, posted.actions) for posted in rounds
    ]:
        return briefs
    return (*(brief for brief in briefs if not any(brief is other for other in current)), *rounds)[
        -MAX_BRIEFS:
    ]


def _open_rounds(feedback: Feedback) -> tuple[PostedBrief, ...]:
    """Return this iteration's rounds since it was last accepted: it may be rejected again after that."""
    current = feedback.iteration.number
    briefs = [brief for brief in feedback.pull_request.briefs if brief.actions and brief.iteration == current]
    accepted = [number for number, brief in enumerate(briefs, 1) if brief.success]
    return tuple(briefs[accepted[-1] if accepted else 0 :])


def _previous_text(feedback: Feedback) -> str:
    current = feedback.iteration.number
    earlier = [
        brief
        for brief in feedback.pull_request.briefs
        if brief.actions and (brief.iteration < current or (brief.success and brief.iteration == current))
    ]
    return earlier[-1].text if earlier else feedback.pull_request.title


def _rejection_text(feedback: Feedback) -> str:
    """Return the newest rejecting validator's text, then that of the others and of the checks."""
    rejecting = (verdict for verdict in reversed(feedback.rejecting) if not verdict.validator.check)
    texts = [verdict.said for verdict in rejecting if verdict.said]
    texts += [finding.item.words for finding in feedback.findings if finding.item.words]
    return "\n\n".join(dict.fromkeys(texts))[:MAX_WORDS_READ]


MANIFEST_ROUND = 3


def manifests_to_read(pull_request: PullRequest, rules: RepositoryRules) -> tuple[tuple[str, str], ...]:
    """Return head and path of the manifests to read, once per pull request: for a poor brief of an error."""
    brief = next((brief for brief in reversed(pull_request.briefs) if brief.actions), None)
    if brief is None or brief.feedback_type != FeedbackType.RUNTIME_ERROR:
        return ()
    current = current_iteration(pull_request)
    if current is None or pull_request.framework is not None:
        return ()
    if brief.actions[-1] != "request_clarification" or brief.iteration != current.number:
        return ()
    text = "\n".join(
        part
        for verdict in current.rejecting
        for part in (verdict.said, *(item.words for item in verdict.items))
    )
    is_allowed = rules.detection.max_refinement_iterations >= MANIFEST_ROUND and not framework_in_trace(text)
    return tuple((current.head, path) for path in framework_manifests(text)) if is_allowed else ()
