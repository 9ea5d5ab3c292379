"""Notes on gates: grounding outcomes, recurrences, appeals, and the hint to reviewers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.feedback.render import render_appeal
from bot.gates.config import ClaimType, GroundingRules, GroundingTool, HintAudience, RepositoryRules
from bot.grounding.items import ItemGrounding, ground_item
from bot.grounding.log import grounding_item_key
from bot.grounding.model import ClaimOutcome, Requirement
from bot.history.model import HistoryRecord, build_history_record
from bot.history.outcomes import TagFix, latest_fixes
from bot.iterations.model import (
    Iteration,
    list_iterations,
    open_appeals,
)
from bot.markdown.escape import code_span
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import GroundedClaim, Stance, Verdict
from bot.values import Repository
from bot.verdicts import quality

RECURRENCE_WINDOW = 5
"""Number of the author's last pull requests to look at, this one included."""
RECURRENCE_THRESHOLD = 3
"""Number of these from which on a recurrence is shown."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A tag that came back, its earlier pull request, and the commit that fixed it last."""

    tag: str
    times: int
    looked_at: int
    earlier: int
    fix: TagFix | None = None


def find_recurrence(
    tag: str, number: int, records: Iterable[HistoryRecord], now: datetime
) -> Recurrence | None:
    """Return the tag's recurrence in this pull request; None below the threshold."""
    reviewed = [record for record in records if any(verdict.counted for verdict in record.verdicts)]
    latest = sorted(reviewed, key=lambda record: (record.created_at, record.number))[-RECURRENCE_WINDOW:]
    breaking = [record for record in latest if _has_tag(record, tag)]
    earlier = [record for record in breaking if record.number != number]
    if len(breaking) < RECURRENCE_THRESHOLD or len(earlier) == len(breaking):
        return None
    fix = latest_fixes((record for record in reviewed if record.number != number), now).get(tag)
    return Recurrence(tag, len(breaking), len(latest), earlier[-1].number, fix)


def render_recurrence(recurrence: Recurrence, repository: Repository, web: GitHubLinks) -> str:
    """Render the text after `Again:`."""
    count = f"in {recurrence.times} of the last {recurrence.looked_at} pull requests"
    last = f"last in {web.other_pull(repository, recurrence.earlier)}"
    if recurrence.fix is None:
        return f"{count}, {last}"
    commit = web.other_commit(repository, recurrence.fix.head)
    if recurrence.fix.number == recurrence.earlier:
        return f"{count}, {last}, fixed there by {commit}"
    return f"{count}, {last}; fixed by {commit} in {web.other_pull(repository, recurrence.fix.number)}"


def _has_tag(record: HistoryRecord, tag: str) -> bool:
    return any(finding.tag == tag for finding in record.findings)


def add_gate_notes(feedback: Feedback, recent: Sequence[HistoryRecord], web: GitHubLinks) -> Feedback:
    """Add appeals and recurrences to the gates."""
    pull_request = feedback.pull_request
    others = [record for record in recent if record.number != pull_request.number]
    records = (*others, build_history_record(pull_request))
    appeals = open_appeals(pull_request)
    iterations = list_iterations(pull_request)[: feedback.iteration.number]

    def annotate(gate: FailedGate) -> FailedGate:
        if not gate.tag:
            return gate
        appeal = appeals.get(gate.tag)
        return replace(
            gate,
            appeal=render_appeal(appeal) if appeal else "",
            recurrence="; ".join(
                said
                for said in (
                    _open_since(gate.tag, iterations),
                    _recurrence_text(gate.tag, feedback, records, web),
                )
                if said
            ),
        )

    return replace(feedback, gates=tuple(map(annotate, feedback.gates)))


def _recurrence_text(tag: str, feedback: Feedback, records: Sequence[HistoryRecord], web: GitHubLinks) -> str:
    pull_request = feedback.pull_request
    # GitHub's clock may be ahead of ours.
    now = max(feedback.at, *(record.last_active for record in records))
    recurrence = find_recurrence(tag, pull_request.number, records, now)
    return render_recurrence(recurrence, pull_request.repository, web) if recurrence else ""


def _open_since(tag: str, iterations: Sequence[Iteration]) -> str:
    """Name the iteration since which the tag is open without a break, where that is not the last one."""
    first = len(iterations)
    while first > 0 and tag in iterations[first - 1].tags:
        first -= 1
    return f"open since iteration {iterations[first].number}" if first < len(iterations) - 1 else ""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add_grounding_outcomes(
    gates: tuple[FailedGate, ...], log: Sequence[GroundedClaim], head: str, rules: GroundingRules
) -> tuple[FailedGate, ...]:
    """Add the grounding outcome of every item, each at its verified location."""
    if not rules.enabled:
        return gates
    return tuple(
        replace(gate, findings=tuple(_add_outcome(finding, log, head, rules) for finding in gate.findings))
        for gate in gates
    )


def _add_outcome(
    finding: GateItem, log: Sequence[GroundedClaim], head: str, rules: GroundingRules
) -> GateItem:
    if finding.validator.check:
        # A log that somebody handed in is their word: no check of GitHub's shows it.
        is_observed = finding.origin.way != "validation"
        return replace(finding, grounding=_check_grounding(finding, head)) if is_observed else finding
    grounding = ground_item(
        log, grounding_item_key(finding.validator.key, finding.item), head, finding.item.place
    )
    if grounding is None:
        return finding
    item = replace(finding.item, place=grounding.place) if grounding.place else finding.item
    if grounding.shows_only_a_file:
        return replace(finding, item=item)
    is_allowed = rules.allow_unverified_claim and grounding.outcome is ClaimOutcome.UNVERIFIABLE
    return replace(finding, item=item, grounding=replace(grounding, allowed=is_allowed))


def _check_grounding(finding: GateItem, head: str) -> ItemGrounding:
    """Return the outcome of a check's item: it is its own observation."""
    return ItemGrounding(
        GroundedClaim(
            validator=finding.validator.key,
            name=finding.validator.name,
            verdict="",
            item="",
            type=ClaimType.TEST_RESULTS.value,
            requirement=Requirement.MANDATORY.value,
            claim=finding.item.words[:200],
            outcome=ClaimOutcome.VERIFIED.value,
            head=head,
            at=_EPOCH,
            tool=GroundingTool.CHECKS.value,
            check=finding.validator.name,
        ),
        finding.item.place,
    )


def render_reviewer_hint(verdicts: Sequence[Verdict], rules: RepositoryRules) -> str:
    """Render one line for reviewers in the hint's audience: what to write instead; empty for nothing."""
    hints = []
    for verdict in verdicts:
        problems = quality.wording_problems("\n".join(item.words for item in verdict.items))
        if (
            problems
            and verdict.stance is Stance.REJECTS
            and not verdict.validator.check
            and _is_audience(verdict, rules)
        ):
            hints.append(f"To {code_span(verdict.validator.name)}: {quality.quality_hint(problems)}.")
    return " ".join(hints[:3])


def _is_audience(verdict: Verdict, rules: RepositoryRules) -> bool:
    match rules.quality.tell:
        case HintAudience.OFF:
            return False
        case HintAudience.ALL:
            return True
        case HintAudience.AGENTS:
            return rules.authors.is_agent(verdict.validator.name, bot=verdict.validator.bot)
