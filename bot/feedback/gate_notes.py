"""Notes on gates: grounding outcomes, recurrences, appeals, and the hint to reviewers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.findings.model import Finding
from bot.gates.config import ClaimType, GroundingRules, GroundingTool, HintAudience, RepositoryRules
from bot.grounding.items import ItemGrounding, ground_item, source_suffix
from bot.grounding.log import author_claims, grounding_item_key
from bot.grounding.model import ClaimOutcome, Requirement
from bot.history.model import HistoryRecord, build_history_record
from bot.history.outcomes import latest_fixes
from bot.iterations.model import Iteration, list_iterations, open_appeals
from bot.markdown.escape import code_span
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import FindingStatus, GroundedClaim, PullRequest, Stance, Verdict
from bot.verdicts.clarity import MissingPart, item_clarity, names_nothing, write_hint

RECURRENCE_WINDOW = 5
"""Number of the author's last pull requests to look at, this one included."""
RECURRENCE_THRESHOLD = 3
"""Number of these from which on a recurrence is shown."""


def recurrence_text(
    tag: str,
    pull_request: PullRequest,
    records: Iterable[HistoryRecord],
    web: GitHubLinks,
    *,
    names_others: bool,
) -> str:
    """Say how often the tag recurred, and which commit fixed it last; empty below the threshold.

    Other pull requests are named only if that exposes nobody.
    """
    reviewed = [record for record in records if any(verdict.counted for verdict in record.verdicts)]
    latest = sorted(reviewed, key=lambda record: (record.created_at, record.number))[-RECURRENCE_WINDOW:]
    breaking = [record.number for record in latest if any(finding.tag == tag for finding in record.findings)]
    earlier = [number for number in breaking if number != pull_request.number]
    if len(breaking) < RECURRENCE_THRESHOLD or len(earlier) == len(breaking):
        return ""
    count = f"in {len(breaking)} of the last {len(latest)} pull requests"
    if not names_others:
        return count
    repository = pull_request.repository
    recent = f"{count}, most recently {web.other_pull(repository, earlier[-1])}"
    others = [record for record in reviewed if record.number != pull_request.number]
    fix = latest_fixes(others, max(record.last_active for record in others)).get(tag)
    if fix is None:
        return recent
    commit = web.other_commit(repository, fix.head)
    if fix.number == earlier[-1]:
        return f"{recent}, fixed there by {commit}"
    return f"{recent}; fixed by {commit} in {web.other_pull(repository, fix.number)}"


def add_gate_notes(feedback: Feedback, recent: Sequence[HistoryRecord], web: GitHubLinks) -> Feedback:
    """Add appeals, regressions and recurrences to the entries."""
    pull_request = feedback.pull_request
    others = [record for record in recent if record.number != pull_request.number]
    records = (*others, build_history_record(pull_request, feedback.iteration.ledger))
    appeals = open_appeals(pull_request, feedback.iteration.ledger)
    findings = {finding.id: finding for finding in feedback.iteration.ledger.open}
    names_others = feedback.is_agent or pull_request.repository.private

    def annotate(gate: FailedGate) -> FailedGate:
        names = (gate.tag, *gate.ids)
        appeal = next((appeals[name] for name in names if name in appeals), None)
        reported = [findings[name] for name in names if name in findings]
        return replace(
            gate,
            appeal=f"by {code_span(appeal.by)}, {code_span(appeal.reason)}" if appeal else "",
            regression=_regression_text(reported, pull_request),
            recurrence=recurrence_text(gate.tag, pull_request, records, web, names_others=names_others)
            if gate.tag
            else "",
        )

    return replace(feedback, gates=tuple(map(annotate, feedback.gates)))


def _regression_text(findings: Sequence[Finding], pull_request: PullRequest) -> str:
    """Name the iteration in which a finding that came back was fixed."""
    fixes = [
        change
        for finding in findings
        if finding.status is FindingStatus.REGRESSED
        for change in finding.changes
        if change.status is FindingStatus.FIXED
    ]
    if not fixes:
        return ""
    head = fixes[-1].head
    iterations = {iteration.head: iteration.number for iteration in list_iterations(pull_request)}
    return f"fixed {f'in iteration {iterations[head]}' if head in iterations else f'at `{head[:7]}`'}"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add_grounding_outcomes(
    gates: tuple[FailedGate, ...], log: Sequence[GroundedClaim], iteration: Iteration, rules: GroundingRules
) -> tuple[FailedGate, ...]:
    """Add the grounding outcome of every item, each at its verified location."""
    if not rules.enabled:
        return gates
    heads = {finding.id: finding.head for finding in iteration.ledger.open}

    def ground(finding: GateItem) -> GateItem:
        if not finding.validator.check:
            return _add_outcome(finding, log, iteration.head, rules) if log else finding
        # A log that somebody handed in is their word: no check of GitHub's shows it.
        if finding.origin.way == "validation":
            return finding
        head = heads.get(finding.item.finding, iteration.head)
        return replace(finding, grounding=_check_grounding(finding, head))

    return tuple(replace(gate, findings=tuple(map(ground, gate.findings))) for gate in gates)


def _add_outcome(
    finding: GateItem, log: Sequence[GroundedClaim], head: str, rules: GroundingRules
) -> GateItem:
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
    """Return the outcome of a check's item: it is its own observation, at the head where it was reported."""
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


def render_notes(
    pull_request: PullRequest, standing: Sequence[Verdict], head: str, rules: RepositoryRules
) -> tuple[str, ...]:
    """Render the single lines below the entries: what reviewers, author and maintainers should know."""
    lines = (
        render_reviewer_hint(pull_request, standing, rules),
        _contradicted_claim(pull_request, head) if pull_request.grounding else "",
        *(_kept_label(verdict) for verdict in standing if verdict.unlabelled_by),
        rules.config_problem,
    )
    return tuple(filter(None, lines))


def _contradicted_claim(pull_request: PullRequest, head: str) -> str:
    """Name the first claim of the description that the repository or its checks contradict."""
    claims = author_claims(pull_request, head)
    wrong = next((entry for entry in claims if entry.outcome == ClaimOutcome.CONTRADICTED), None)
    if wrong is None:
        return ""
    note = f": {wrong.note}" if wrong.note else ""
    return (
        f"The description says {code_span(wrong.claim)}, which is not the case{note}{source_suffix(wrong)}."
    )


def _kept_label(verdict: Verdict) -> str:
    label = code_span(verdict.id.replace("label:", "gate:", 1).partition("@")[0])
    remover = code_span(verdict.unlabelled_by)
    return f"{remover} removed the label {label}, but is not a validator here, so it still counts."


def render_reviewer_hint(
    pull_request: PullRequest, standing: Sequence[Verdict], rules: RepositoryRules
) -> str:
    """Render one line for reviewers in the hint's audience: what is missing; empty for nothing."""
    if rules.quality.tell is HintAudience.OFF:
        return ""
    # Whatever was fixed since is no longer among a standing verdict's items.
    empty = {verdict.id for verdict in pull_request.verdicts if names_nothing(verdict)}
    hints = [
        f"To {code_span(verdict.validator.name)}: {hint}"
        for verdict in standing
        if verdict.stance is Stance.REJECTS
        and not verdict.validator.check
        and (
            rules.quality.tell is HintAudience.ALL
            or rules.authors.is_agent(verdict.validator.name, bot=verdict.validator.bot)
        )
        and (hint := _clarity_hint(verdict, is_empty=verdict.id in empty))
    ]
    return " ".join(hints[:3])


def _clarity_hint(verdict: Verdict, *, is_empty: bool) -> str:
    """Say how much of a rejection is unclear, and what to add; empty if it is clear."""
    if is_empty and not verdict.items:
        return f"this rejection names nothing to change. {write_hint(MissingPart)}"
    unclear = [result for result in map(item_clarity, verdict.items) if not result.clear]
    if not unclear:
        return ""
    many = len(verdict.items)
    which = f"{len(unclear)} of {many} remarks" if many > 1 else "this remark"
    verb = "are" if len(unclear) > 1 else "is"
    return f"{which} {verb} unclear. {write_hint(part for result in unclear for part in result.missing)}"
