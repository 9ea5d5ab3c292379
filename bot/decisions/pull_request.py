"""What should the thread of a pull request show now?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from bot.decisions.announcements import announcements, escalated, waits_for_a_person, with_hearing
from bot.decisions.briefing import detected, judged_briefs, with_brief
from bot.decisions.context import texts_of, with_context
from bot.decisions.fixing import with_fixes
from bot.decisions.record import with_truth
from bot.decisions.remarks import with_remarks
from bot.decisions.revisions import with_revisions
from bot.decisions.selection import report_on
from bot.decisions.tracking import with_tracking
from bot.decisions.verdicts import with_reviews
from bot.decisions.voices import with_voices
from bot.domain import comment as comments
from bot.domain import iterations as judged
from bot.domain.choices import When
from bot.domain.comment import Site
from bot.domain.course import course
from bot.domain.detection import Detection
from bot.domain.document import Json, document, items_of
from bot.domain.effects import Effect, ShowComment, Withdraw
from bot.domain.escape import json_text
from bot.domain.facts import Facts, Moment
from bot.domain.feedback import FailedGate, Feedback, failed_gates, last_open, only_placed_block
from bot.domain.forgetting import without_reviewers
from bot.domain.gates import Aspect
from bot.domain.grounding.gates import with_outcomes
from bot.domain.grounding.hint import hint_to_reviewers
from bot.domain.grounding.log import with_grounding
from bot.domain.iterations import Iteration, Situation
from bot.domain.memos import Document, Memo
from bot.domain.model import Asked, PullRequest, Stance, Sticky
from bot.domain.rules import Rules
from bot.domain.rulings import in_force


@dataclass(frozen=True, slots=True)
class Decision:
    """The pull request as now known, what to do about it, and why."""

    pull_request: PullRequest
    effects: tuple[Effect, ...]
    because: str
    memos: tuple[Memo, ...] = ()
    """The document that the comment carries a copy of."""
    feedback: Feedback | None = None
    """What is wrong now; None before the first verdict."""
    body: str | None = None
    """The comment's text, where one was rendered."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is wrong with a pull request, before any of it is put into words."""

    pull_request: PullRequest
    feedback: Feedback | None = None
    detection: Detection | None = None
    """What kind of feedback the validators' words are."""
    is_comment_due: bool = False
    because: str = ""
    """Why no comment is due, where none is."""


def decide(pull_request: PullRequest, facts: Facts, rules: Rules, moment: Moment, site: Site) -> Decision:
    """The one comment that the thread should show, given everything recorded and read."""
    known = merge_facts(pull_request, facts, rules, moment.now)
    return conclude(assess(known, facts, rules, moment, site), rules, moment, site)


def merge_facts(pull_request: PullRequest, facts: Facts, rules: Rules, now: datetime) -> PullRequest:
    """Merge everything that was read into what is known; a turn does it step by step, as it reads."""
    known = merge_verdicts(pull_request, facts, rules, now)
    known = with_revisions(known, facts.revisions)
    return merge_texts(pull_request, with_grounding(known, facts, rules, now), facts)


def merge_verdicts(pull_request: PullRequest, facts: Facts, rules: Rules, now: datetime) -> PullRequest:
    """Merge what validators said: reviews, and everything they say in other ways."""
    known = with_truth(pull_request, facts.pull_request) if facts.pull_request else pull_request
    known = with_voices(with_reviews(known, facts, rules, now), facts, rules)
    return with_hearing(known, facts)


def merge_texts(before: PullRequest, known: PullRequest, facts: Facts) -> PullRequest:
    """Merge what follows from the files that were read: certain fixes, and the lines around a place."""
    known = without_reviewers(with_fixes(before, known, texts_of(facts)), facts.forgotten)
    known = with_context(before, known, facts)
    return replace(known, framework=facts.framework) if facts.framework is not None else known


def assess(known: PullRequest, facts: Facts, rules: Rules, moment: Moment, site: Site) -> Assessment:
    """Work out what is wrong and what the author is told next; nothing is rendered."""
    feedback = feedback_on(known, rules, moment)
    if feedback is None:
        return Assessment(known, because="no validator has judged it yet")
    feedback = with_remarks(feedback, facts.recent, site.web)
    detection = None
    if reason := _silent(known, feedback.iteration, rules):
        # What nobody was shown is no advice.
        feedback = replace(feedback, pull_request=replace(known, briefs=judged_briefs(feedback)))
    else:
        detection = facts.detection or detected(feedback, rules)
        feedback = with_brief(feedback, detection, rules)
    feedback = replace(feedback, pull_request=with_tracking(feedback))
    return Assessment(feedback.pull_request, feedback, detection, reason is None, reason or "")


def is_comment_due(pull_request: PullRequest, rules: Rules) -> bool:
    """Whether the thread shows a comment about these verdicts, so that their claims are worth a look."""
    present = judged.current(pull_request)
    return present is not None and _silent(pull_request, present, rules) is None


def conclude(assessment: Assessment, rules: Rules, moment: Moment, site: Site) -> Decision:
    """Decide what the thread should show, and render it."""
    feedback = assessment.feedback
    if feedback is None:
        return _quiet(assessment)
    whole = document(feedback, site.schema)
    feedback = _under_its_id(feedback, whole)
    if not assessment.is_comment_due:
        return replace(_quiet(assessment), pull_request=feedback.pull_request, feedback=feedback)
    whole["id"] = feedback.id
    before = feedback.pull_request
    feedback = replace(feedback, pull_request=escalated(feedback, rules))
    said, known = announcements(before, feedback, rules, moment)
    body = comments.render(feedback, site, whole)
    fingerprint = _fingerprint(body, feedback)
    sticky = known.sticky
    if sticky and sticky.fingerprint == fingerprint:
        same = "the comment says so already"
        return Decision(known, (Withdraw("comment"), *said), same, feedback=feedback, body=body)
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
    memos = (Document(feedback.id, feedback.at, json_text(whole)),) if feedback.gates else ()
    because = "the verdicts changed what the comment says"
    return Decision(known, (effect, *said), because, memos, feedback, body)


def feedback_on(pull_request: PullRequest, rules: Rules, moment: Moment) -> Feedback | None:
    """What is wrong now, or None before the first judgement."""
    known = in_force(pull_request)
    present = judged.current(pull_request, known)
    if present is None:
        return None
    previous = judged.previous(known, present)
    went = course(pull_request, known, present, rules)
    gates = failed_gates(present.standing, rules.gates, frozenset(previous.keys if previous else ()))
    gates = only_placed_block(gates) if rules.quality.strict else gates
    gates = with_outcomes(gates, pull_request.grounding, present.head, rules.grounding)
    repeated = _repeated(known[: present.number], gates, rules)
    return Feedback(
        id=moment.id,
        at=moment.now,
        pull_request=pull_request,
        iteration=present,
        previous=previous,
        changes=judged.changes(previous, present),
        gates=gates,
        issues=present.tags,
        more=sum(verdict.more for verdict in present.standing),
        verdict=_outcome(present, gates, rules, repeated=bool(repeated)),
        max_iterations=rules.iterations.max,
        best=went.best.snapshot.iteration,
        score=_score(went.quality, present),
        was_open=len(last_open(pull_request)),
        grounding=rules.grounding,
        hint=hint_to_reviewers(present.standing, rules),
        repeated=repeated,
        course=went,
        weights=rules.scoring.weights.severities,
        report=None if pull_request.open or len(known) < 2 else report_on(pull_request, went, rules),
    )


def _silent(pull_request: PullRequest, present: Iteration, rules: Rules) -> str | None:
    """Why nothing is to be written, if so."""
    sticky = pull_request.sticky
    if not rules.comment.enabled:
        return "comments are switched off"
    if sticky and sticky.deleted_at and not _spoken_since(pull_request, present, sticky):
        return "somebody deleted the comment, and no verdict is newer"
    if sticky and not sticky.deleted_at:
        return None
    rejecting = [verdict for verdict in present.standing if verdict.stance is Stance.REJECTS]
    if not rejecting:
        return "nothing rejects it"
    if rules.comment.when is When.TAGGED and not any(verdict.items for verdict in rejecting):
        return "it is rejected without a tag"
    return None if pull_request.open else "it is closed"


def _spoken_since(pull_request: PullRequest, present: Iteration, sticky: Sticky) -> bool:
    if waits_for_a_person(pull_request):
        return False
    return any(verdict.at > (sticky.deleted_at or verdict.at) for verdict in present.standing)


def _is_worse(feedback: Feedback, sticky: Sticky | None) -> bool:
    """A blocking tag that the comment did not have: worth a new notification."""
    if sticky is None or sticky.deleted_at or not feedback.pull_request.open:
        return False
    if waits_for_a_person(feedback.pull_request):
        return False
    return bool(set(_blocking_tags(feedback)) - set(sticky.blocking))


def _blocking_tags(feedback: Feedback) -> tuple[str, ...]:
    return tuple(gate.tag for gate in feedback.blocking if gate.tag)


def _quiet(assessment: Assessment) -> Decision:
    """Nothing to show, and nothing that was about to be shown is wanted any more."""
    return Decision(assessment.pull_request, (Withdraw("comment"),), assessment.because)


def _repeated(known: tuple[Iteration, ...], gates: tuple[FailedGate, ...], rules: Rules) -> tuple[str, ...]:
    blocking = frozenset(gate.tag for gate in gates if gate.blocking and gate.tag)
    escalate = rules.iterations.escalate
    return judged.repeated(known, blocking, escalate.repeats, escalate.window)


def _outcome(present: Iteration, gates: tuple[FailedGate, ...], rules: Rules, *, repeated: bool) -> str:
    findings = [(finding, gate) for gate in gates for finding in gate.findings]
    return judged.verdict(
        Situation(
            rejected=present.rejected,
            blocking=any(gate.blocking for gate in gates),
            number=present.number,
            maximum=rules.iterations.max,
            repeated=repeated,
            critical=any(
                _is_critical(gate) or finding.item.severity == "critical" for finding, gate in findings
            ),
            fixable=any(gate.is_auto_fixable or finding.item.suggestion for finding, gate in findings),
        )
    ).value


def _is_critical(gate: FailedGate) -> bool:
    return gate.blocking and gate.gate is not None and gate.gate.aspect is Aspect.SECURITY


def _score(quality: float | None, present: Iteration) -> float:
    """The document must have a number, also where nothing was observed: then only the verdict is known."""
    return quality if quality is not None else float(not present.rejected)


def _under_its_id(feedback: Feedback, whole: Json) -> Feedback:
    """The feedback with the id of what it repeats: other scores and times alone ask nothing new."""
    # Another wording around the same items is no new feedback, though its hash is another.
    items = [{name: each[name] for name in each if name != "provenance"} for each in items_of(whole)]
    asked = {"target": whole["target"], "feedback_items": items}
    text = json_text([asked, feedback.verdict, feedback.iteration.number, feedback.more])
    what = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    before = feedback.pull_request.asked
    identity = before.id if before and before.what == what else feedback.id
    known = replace(feedback.pull_request, asked=Asked(identity, what))
    return replace(feedback, id=identity, pull_request=known)


def _fingerprint(body: str, feedback: Feedback) -> str:
    """The same for two texts that differ only in the identity and time of the feedback."""
    same = body.replace(feedback.id, "").replace(feedback.at.isoformat(), "")
    same = same.replace(feedback.at.isoformat(timespec="seconds"), "")
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()
