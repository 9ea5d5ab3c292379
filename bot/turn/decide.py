"""Decide what a pull request's thread should show: merge the facts, assess them, conclude once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.detection.detector import Detection
from bot.feedback.announcements import (
    decide_announcements,
    escalate,
    is_awaiting_maintainer,
    record_maintainer_answer,
)
from bot.feedback.brief_inputs import (
    add_brief,
    detect_feedback_type,
    record_brief_outcomes,
    record_partial_success,
)
from bot.feedback.build import build_feedback, track_followup
from bot.feedback.document import build_document
from bot.feedback.gate_notes import add_gate_notes
from bot.feedback.model import Decision, Feedback
from bot.feedback.render import render_comment
from bot.gates.config import CommentPolicy, RepositoryRules, RepostPolicy
from bot.grounding.log import record_grounding
from bot.history.model import HistoryRecord
from bot.iterations.model import Iteration, current_iteration
from bot.markdown.escape import html_safe_json
from bot.markdown.links import LinkContext
from bot.pull_request.effects import CancelWrite, ShowComment, StoreDocument
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import FeedbackIdentity, FindingStatus, PullRequest, StickyComment, hash_text
from bot.pull_request.record import (
    date_comments,
    merge_revisions,
    merge_snapshot,
    record_resolver_roles,
    remove_forgotten_reviewers,
)
from bot.verdicts.checks import record_triggers
from bot.verdicts.item_context import add_context, add_fixes, files_at_head
from bot.verdicts.reviews import merge_reviews
from bot.verdicts.signals import merge_signals


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is wrong with a pull request, before any of it is rendered."""

    pull_request: PullRequest
    feedback: Feedback | None = None
    detection: Detection | None = None
    """The type of feedback in the validators' plain words."""
    is_comment_due: bool = False
    reason: str = ""
    """Why no comment is due, if none is."""


def decide_pull_request(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, moment: DecisionTime, site: LinkContext
) -> Decision:
    """Decide from a record and facts that are complete already, without reading anything."""
    merged = merge_facts(pull_request, facts, rules, moment.now)
    return conclude(assess(merged, rules, moment), rules, moment, site)


def merge_facts(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, now: datetime
) -> PullRequest:
    """Merge all facts into the record; a turn does it step by step, as it reads."""
    merged = record_triggers(merge_verdicts(pull_request, facts, rules, now), facts.triggers)
    merged = merge_revisions(merged, facts.revisions)
    return merge_texts(pull_request, record_grounding(merged, facts, rules, now), facts)


def merge_verdicts(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, now: datetime
) -> PullRequest:
    """Merge the verdicts of reviews and of all other sources."""
    merged = merge_snapshot(pull_request, facts.pull_request) if facts.pull_request else pull_request
    merged = merge_reviews(merged, facts, rules, now)
    merged = date_comments(merge_signals(merged, facts, rules) if facts.signals else merged)
    return record_maintainer_answer(record_resolver_roles(merged, facts.roles), facts)


def has_locations(pull_request: PullRequest) -> bool:
    """Whether any finding is at a location, of which files may say more."""
    return any(item.place for verdict in pull_request.verdicts for item in verdict.items)


def merge_texts(before: PullRequest, merged: PullRequest, facts: Facts) -> PullRequest:
    """Merge what follows from the files that were read: certain fixes, and the lines around a location."""
    if has_locations(merged):
        merged = add_context(before, add_fixes(before, merged, files_at_head(facts)), facts)
    merged = remove_forgotten_reviewers(merged, facts.forgotten)
    return replace(merged, framework=facts.framework) if facts.framework is not None else merged


def assess(
    pull_request: PullRequest,
    rules: RepositoryRules,
    moment: DecisionTime,
    detection: Detection | None = None,
    *,
    is_first: bool = False,
) -> Assessment:
    """Work out what is wrong and what the author should do next; nothing is rendered.

    `detection` is the type of feedback in the validators' plain words, if this turn has detected it already;
    `is_first` says that the repository had no comment before.
    """
    feedback = build_feedback(pull_request, rules, moment)
    if feedback is None:
        return Assessment(pull_request, reason="no validator has reviewed it yet")
    pull_request = feedback.pull_request
    if reason := _silence_reason(pull_request, feedback.iteration, rules, is_first=is_first):
        # What nobody was shown is no advice.
        feedback = record_brief_outcomes(feedback)
    else:
        detection = detection or detect_feedback_type(feedback, rules)
        feedback = add_brief(feedback, detection, rules)
    feedback = record_partial_success(feedback, rules)
    feedback = replace(feedback, pull_request=track_followup(feedback))
    return Assessment(feedback.pull_request, feedback, detection, reason is None, reason or "")


def is_comment_due(pull_request: PullRequest, rules: RepositoryRules) -> bool:
    """Whether the thread shows a comment about these verdicts, so that their claims are looked up."""
    iteration = current_iteration(pull_request)
    return iteration is not None and _silence_reason(pull_request, iteration, rules) is None


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
    feedback = _keep_feedback_id(feedback)
    if not assessment.is_comment_due:
        return replace(_no_comment(assessment), pull_request=feedback.pull_request, feedback=feedback)
    document = build_document(feedback, site.schema)
    before = feedback.pull_request
    feedback = add_gate_notes(feedback, recent_records, site.web)
    feedback = replace(feedback, pull_request=escalate(feedback, rules))
    announcements, pull_request = decide_announcements(before, feedback, rules, moment)
    body = render_comment(feedback, site, document)
    fingerprint = _fingerprint(body, feedback)
    sticky = pull_request.sticky
    if sticky and sticky.fingerprint == fingerprint:
        reason = "the comment is up to date"
        return Decision(
            pull_request, (CancelWrite("comment"), *announcements), reason, feedback=feedback, body=body
        )
    is_reposted = _should_repost(feedback, rules)
    if is_reposted or sticky is None or sticky.deleted_at:
        pull_request = replace(pull_request, posted_head=feedback.iteration.head)
    effect = ShowComment(
        repository=pull_request.repository,
        number=pull_request.number,
        marker_id=feedback.id,
        body=body,
        fingerprint=fingerprint,
        issues=feedback.issues,
        blocking=feedback.blocking_tags,
        anew=is_reposted,
        adopts=sticky is None and not pull_request.seen_opening,
    )
    # A document has at least one item.
    store_commands = (
        (StoreDocument(feedback.id, feedback.at, html_safe_json(document)),) if feedback.gates else ()
    )
    reason = "the verdicts changed what the comment says"
    return Decision(pull_request, (effect, *announcements), reason, store_commands, feedback, body)


def _silence_reason(
    pull_request: PullRequest, iteration: Iteration, rules: RepositoryRules, *, is_first: bool = False
) -> str | None:
    """Why no comment is due; None if one is. `is_first`: the repository's first rejection."""
    sticky, requested_at = pull_request.sticky, pull_request.comment_requested_at
    if not rules.comment.enabled or rules.comment.when is CommentPolicy.NEVER:
        return "comments are turned off"
    if sticky and not sticky.deleted_at:
        return None
    if sticky and sticky.deleted_at and not _is_wanted_again(pull_request, iteration, sticky):
        return "the comment was deleted, and there is no newer verdict"
    if not iteration.is_rejected or not pull_request.open:
        return "nothing rejects it" if pull_request.open else "it is closed"
    return None if requested_at or is_first else _policy_reason(pull_request, iteration, rules)


def _policy_reason(pull_request: PullRequest, iteration: Iteration, rules: RepositoryRules) -> str | None:
    """Why the repository's policy wants no comment on this rejection; None if it wants one."""
    if rules.comment.when is CommentPolicy.TAGGED and not iteration.tags:
        return "it is rejected without a tag"
    is_useful = rules.comment.when is CommentPolicy.ALWAYS or _adds_something(pull_request, iteration, rules)
    return None if is_useful else NOTHING_TO_ADD


NOTHING_TO_ADD = "the review itself shows everything"


def _adds_something(pull_request: PullRequest, iteration: Iteration, rules: RepositoryRules) -> bool:
    """Whether a comment shows anything that is not directly above it."""
    author = pull_request.author
    sources = {verdict.validator.key for verdict in iteration.rejecting if verdict.items}
    return (
        rules.authors.is_agent(author.login, bot=author.bot)
        or bool(iteration.tags)
        or any(verdict.validator.check for verdict in iteration.rejecting)
        or len(sources) > 1
        or any(finding.first_head != iteration.head for finding in iteration.ledger.open)
    )


def _is_wanted_again(pull_request: PullRequest, iteration: Iteration, sticky: StickyComment) -> bool:
    """Whether a deleted comment is due again: on request, or after a newer verdict."""
    requested_at = pull_request.comment_requested_at
    if requested_at and sticky.deleted_at and requested_at > sticky.deleted_at:
        return True
    if is_awaiting_maintainer(pull_request):
        return False
    return any(verdict.at > (sticky.deleted_at or verdict.at) for verdict in iteration.standing)


def _should_repost(feedback: Feedback, rules: RepositoryRules) -> bool:
    """Whether a later head has a new or regressed blocking issue: worth a notification, once a head."""
    pull_request = feedback.pull_request
    sticky, author = pull_request.sticky, pull_request.author
    if sticky is None or sticky.deleted_at or not pull_request.open or is_awaiting_maintainer(pull_request):
        return False
    if rules.comment.repost is RepostPolicy.NEVER or pull_request.posted_head == feedback.iteration.head:
        return False
    is_agent = rules.authors.is_agent(author.login, bot=author.bot)
    worse = {FindingStatus.NEW, FindingStatus.REGRESSED}
    return (is_agent or rules.comment.repost is RepostPolicy.ALWAYS) and any(
        finding.item.status in worse for gate in feedback.blocking for finding in gate.findings
    )


def _no_comment(assessment: Assessment) -> Decision:
    """Show nothing, and cancel a comment that is still owed."""
    return Decision(assessment.pull_request, (CancelWrite("comment"),), assessment.reason)


def _keep_feedback_id(feedback: Feedback) -> Feedback:
    """Keep the id of feedback that is repeated: a push, other scores or another wording ask nothing new."""
    asked = [
        [gate.blocking, *((finding.item.finding, finding.item.words) for finding in gate.findings)]
        for gate in feedback.gates
    ]
    text = html_safe_json([asked, feedback.verdict, feedback.iteration.number, feedback.more])
    content_hash = hash_text(text)
    before = feedback.pull_request.asked
    # Merging or closing asks nothing of anybody.
    is_known = before is not None and (before.what == content_hash or not feedback.pull_request.open)
    identity = before.id if before and is_known else feedback.id
    pull_request = replace(feedback.pull_request, asked=FeedbackIdentity(identity, content_hash))
    return replace(feedback, id=identity, pull_request=pull_request)


def _fingerprint(body: str, feedback: Feedback) -> str:
    """A hash that ignores the id and the time of the feedback."""
    text = body.replace(feedback.id, "").replace(feedback.at.isoformat(), "")
    text = text.replace(feedback.at.isoformat(timespec="seconds"), "")
    return hash_text(text)
