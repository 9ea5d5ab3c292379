"""Decide what a pull request's thread should show."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.detection.detector import Detection
from bot.feedback import render as comments
from bot.feedback.announcements import (
    decide_announcements,
    escalate,
    is_awaiting_maintainer,
    record_maintainer_answer,
)
from bot.feedback.brief_inputs import add_brief, detect_feedback_type, resolve_brief_outcomes
from bot.feedback.build import build_feedback, track_followup
from bot.feedback.document import DocumentJson, build_document, document_items
from bot.feedback.gate_notes import add_gate_notes
from bot.feedback.model import Decision, Feedback
from bot.gates.config import CommentPolicy, RepositoryRules
from bot.grounding.log import record_grounding
from bot.history.model import HistoryRecord
from bot.iterations import model as judged
from bot.iterations.model import Iteration
from bot.markdown.escape import html_safe_json
from bot.markdown.links import LinkContext
from bot.pull_request.effects import CancelWrite, ShowComment, StoreDocument
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import FeedbackIdentity, PullRequest, StickyComment
from bot.pull_request.record import merge_revisions, merge_snapshot, remove_forgotten_reviewers
from bot.verdicts.item_context import add_context, add_fixes, files_at_head
from bot.verdicts.reviews import merge_reviews
from bot.verdicts.signals import merge_signals


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is wrong with a pull request, before any of it is put into words."""

    pull_request: PullRequest
    feedback: Feedback | None = None
    detection: Detection | None = None
    """What kind of feedback the validators' words are."""
    is_comment_due: bool = False
    reason: str = ""
    """Why no comment is due, where none is."""


def decide_pull_request(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, moment: DecisionTime, site: LinkContext
) -> Decision:
    """Decide the one comment that the thread should show, from everything recorded and read."""
    known = merge_facts(pull_request, facts, rules, moment.now)
    return conclude(assess(known, rules, moment), rules, moment, site)


def merge_facts(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, now: datetime
) -> PullRequest:
    """Merge everything that was read into what is known; a turn does it step by step, as it reads."""
    known = merge_verdicts(pull_request, facts, rules, now)
    known = merge_revisions(known, facts.revisions)
    return merge_texts(pull_request, record_grounding(known, facts, rules, now), facts)


def merge_verdicts(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, now: datetime
) -> PullRequest:
    """Merge what validators said: reviews, and everything they say in other ways."""
    known = merge_snapshot(pull_request, facts.pull_request) if facts.pull_request else pull_request
    known = merge_signals(merge_reviews(known, facts, rules, now), facts, rules)
    return record_maintainer_answer(known, facts)


def merge_texts(before: PullRequest, known: PullRequest, facts: Facts) -> PullRequest:
    """Merge what follows from the files that were read: certain fixes, and the lines around a place."""
    known = remove_forgotten_reviewers(add_fixes(before, known, files_at_head(facts)), facts.forgotten)
    known = add_context(before, known, facts)
    return replace(known, framework=facts.framework) if facts.framework is not None else known


def assess(
    known: PullRequest, rules: RepositoryRules, moment: DecisionTime, detection: Detection | None = None
) -> Assessment:
    """Work out what is wrong and what the author is told next; nothing is rendered.

    `detection` is what kind of feedback the validators' words are, where this turn has detected it already.
    """
    feedback = build_feedback(known, rules, moment)
    if feedback is None:
        return Assessment(known, reason="no validator has judged it yet")
    if reason := _silence_reason(known, feedback.iteration, rules):
        # What nobody was shown is no advice.
        feedback = replace(feedback, pull_request=replace(known, briefs=resolve_brief_outcomes(feedback)))
    else:
        detection = detection or detect_feedback_type(feedback, rules)
        feedback = add_brief(feedback, detection, rules)
    feedback = replace(feedback, pull_request=track_followup(feedback))
    return Assessment(feedback.pull_request, feedback, detection, reason is None, reason or "")


def is_comment_due(pull_request: PullRequest, rules: RepositoryRules) -> bool:
    """Whether the thread shows a comment about these verdicts, so that their claims are worth a look."""
    present = judged.current_iteration(pull_request)
    return present is not None and _silence_reason(pull_request, present, rules) is None


def conclude(
    assessment: Assessment,
    rules: RepositoryRules,
    moment: DecisionTime,
    site: LinkContext,
    recent_records: Sequence[HistoryRecord] = (),
) -> Decision:
    """Decide what the thread should show, and render it; `recent_records` are the author's latest."""
    feedback = assessment.feedback
    if feedback is None:
        return _no_comment(assessment)
    whole = build_document(feedback, site.schema)
    feedback = _keep_feedback_id(feedback, whole)
    if not assessment.is_comment_due:
        return replace(_no_comment(assessment), pull_request=feedback.pull_request, feedback=feedback)
    whole["id"] = feedback.id
    before = feedback.pull_request
    feedback = add_gate_notes(feedback, recent_records, site.web)
    feedback = replace(feedback, pull_request=escalate(feedback, rules))
    said, known = decide_announcements(before, feedback, rules, moment)
    body = comments.render_comment(feedback, site, whole)
    fingerprint = _fingerprint(body, feedback)
    sticky = known.sticky
    if sticky and sticky.fingerprint == fingerprint:
        same = "the comment says so already"
        return Decision(known, (CancelWrite("comment"), *said), same, feedback=feedback, body=body)
    effect = ShowComment(
        repository=known.repository,
        number=known.number,
        marker_id=feedback.id,
        body=body,
        fingerprint=fingerprint,
        issues=feedback.issues,
        blocking=_blocking_tags(feedback),
        anew=_is_worse(feedback, sticky),
        adopts=sticky is None and not known.seen_opening,
    )
    # A document has at least one item.
    store_commands = (
        (StoreDocument(feedback.id, feedback.at, html_safe_json(whole)),) if feedback.gates else ()
    )
    reason = "the verdicts changed what the comment says"
    return Decision(known, (effect, *said), reason, store_commands, feedback, body)


def _silence_reason(pull_request: PullRequest, present: Iteration, rules: RepositoryRules) -> str | None:
    """Why nothing is to be written, if so."""
    sticky = pull_request.sticky
    if not rules.comment.enabled:
        return "comments are switched off"
    if sticky and sticky.deleted_at and not _has_newer_verdict(pull_request, present, sticky):
        return "somebody deleted the comment, and no verdict is newer"
    if sticky and not sticky.deleted_at:
        return None
    if not present.rejecting:
        return "nothing rejects it"
    if rules.comment.when is CommentPolicy.TAGGED and not any(verdict.items for verdict in present.rejecting):
        return "it is rejected without a tag"
    return None if pull_request.open else "it is closed"


def _has_newer_verdict(pull_request: PullRequest, present: Iteration, sticky: StickyComment) -> bool:
    if is_awaiting_maintainer(pull_request):
        return False
    return any(verdict.at > (sticky.deleted_at or verdict.at) for verdict in present.standing)


def _is_worse(feedback: Feedback, sticky: StickyComment | None) -> bool:
    """A blocking tag that the comment did not have: worth a new notification."""
    if sticky is None or sticky.deleted_at or not feedback.pull_request.open:
        return False
    if is_awaiting_maintainer(feedback.pull_request):
        return False
    return bool(set(_blocking_tags(feedback)) - set(sticky.blocking))


def _blocking_tags(feedback: Feedback) -> tuple[str, ...]:
    return tuple(gate.tag for gate in feedback.blocking if gate.tag)


def _no_comment(assessment: Assessment) -> Decision:
    """Nothing to show, and nothing that was about to be shown is wanted any more."""
    return Decision(assessment.pull_request, (CancelWrite("comment"),), assessment.reason)


def _keep_feedback_id(feedback: Feedback, whole: DocumentJson) -> Feedback:
    """The feedback with the id of what it repeats: other scores and times alone ask nothing new."""
    # Another wording around the same items is no new feedback, though its hash is another.
    items = [{name: each[name] for name in each if name != "provenance"} for each in document_items(whole)]
    asked = {"target": whole["target"], "feedback_items": items}
    text = html_safe_json([asked, feedback.verdict, feedback.iteration.number, feedback.more])
    what = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    before = feedback.pull_request.asked
    identity = before.id if before and before.what == what else feedback.id
    known = replace(feedback.pull_request, asked=FeedbackIdentity(identity, what))
    return replace(feedback, id=identity, pull_request=known)


def _fingerprint(body: str, feedback: Feedback) -> str:
    """The same for two texts that differ only in the identity and time of the feedback."""
    same = body.replace(feedback.id, "").replace(feedback.at.isoformat(), "")
    same = same.replace(feedback.at.isoformat(timespec="seconds"), "")
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()
