"""Was the feedback of an iteration followed, did it help, and how clear had it been?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bot.domain.carrying import carried
from bot.domain.feedback import Feedback
from bot.domain.follow_rates import observations
from bot.domain.following import Answer, answers, track
from bot.domain.gates import Gates
from bot.domain.model import PullRequest, Revision
from bot.domain.quality import FeedbackText, Finding, findings
from bot.domain.scoring import severity
from bot.domain.tracked import Tracked
from bot.domain.trajectory import Scored

MOST_TRACKED = 50

_BLOCKING = frozenset({"critical", "major"})


def with_tracking(feedback: Feedback) -> PullRequest:
    """The pull request with how the feedback of each iteration turned out in the next.

    What is known of earlier ones stays as it was told then: the patches that told it may be gone.
    """
    pull_request, course = feedback.pull_request, feedback.course
    if course is None or len(course.trajectory.scored) < 2:
        return pull_request
    known = {each.iteration: each for each in pull_request.tracked}
    pairs = list(pairwise(course.trajectory.scored))
    for before, after in pairs:
        if before.number not in known or (before, after) == pairs[-1]:
            known[before.number] = _tracked(pull_request, before, after, course.gates)
    tracked = tuple(known[number] for number in sorted(known))[-MOST_TRACKED:]
    return pull_request if tracked == pull_request.tracked else replace(pull_request, tracked=tracked)


def _tracked(pull_request: PullRequest, before: Scored, after: Scored, gates: Gates) -> Tracked:
    iteration = before.snapshot.iteration
    kept = {revision.head: revision for revision in pull_request.revisions}
    places = [item.place for item in iteration.open_items if item.place]
    old, new = (kept.get(each.head, _unknown(each)) for each in (before, after))
    found = answers(
        iteration, after.snapshot.iteration, carried(places, old, new), pull_request.resolved_threads
    )
    tracking = track(found, before, after, [_findings(answer, gates) for answer in found])
    author = f"user:{pull_request.author.id}"
    at = after.snapshot.iteration.judged_at
    return Tracked(before.number, before.head, tracking, observations(found, tracking, author, at))


def _unknown(scored: Scored) -> Revision:
    return Revision(scored.head, scored.snapshot.iteration.judged_at)


def _findings(answer: Answer, gates: Gates) -> tuple[Finding, ...]:
    """What keeps the item from being acted on, as the document shows it: the gate speaks where nobody did."""
    item = answer.item
    gate = gates.get(item.tag) if item.tag else None
    description, fix = (gate.description, gate.fix) if gate else ("", "")
    return findings(
        FeedbackText(
            issue=item.words or description,
            action=item.action or fix,
            rationale=item.rationale or description,
            has_place=item.place is not None,
            blocking=severity(item, gates) in _BLOCKING,
        )
    )
