"""Notes on gates: grounding outcomes, recurrences, appeals, and the hint to reviewers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.findings.model import Finding
from bot.gates.config import ClaimType, GroundingRules, GroundingTool, HintAudience, RepositoryRules
from bot.grounding.items import ItemGrounding, ground_item, source_suffix
from bot.grounding.log import author_claims, grounding_item_key
from bot.grounding.model import ClaimOutcome, Requirement
from bot.history.model import HistoryRecord, build_history_record
from bot.history.outcomes import TagFix, latest_fixes
from bot.iterations.model import Iteration, list_iterations, open_appeals
from bot.markdown.escape import code_span
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import FindingStatus, GroundedClaim, PullRequest, Ruling, Stance, Verdict
from bot.values import Repository
from bot.verdicts.clarity import MissingPart, item_clarity, names_nothing, write_hint

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


def render_recurrence(
    recurrence: Recurrence, repository: Repository, web: GitHubLinks, *, names_others: bool
) -> str:
    """Render how often the tag recurred; other pull requests are named only if that exposes nobody."""
    count = f"in {recurrence.times} of the last {recurrence.looked_at} pull requests"
    if not names_others:
        return count
    latest = f"most recently {web.other_pull(repository, recurrence.earlier)}"
    if recurrence.fix is None:
        return f"{count}, {latest}"
    commit = web.other_commit(repository, recurrence.fix.head)
    if recurrence.fix.number == recurrence.earlier:
        return f"{count}, {latest}, fixed there by {commit}"
    return f"{count}, {latest}; fixed by {commit} in {web.other_pull(repository, recurrence.fix.number)}"


def _has_tag(record: HistoryRecord, tag: str) -> bool:
    return any(finding.tag == tag for finding in record.findings)


def add_gate_notes(feedback: Feedback, recent: Sequence[HistoryRecord], web: GitHubLinks) -> Feedback:
    """Add appeals, regressions and recurrences to the entries."""
    pull_request = feedback.pull_request
    others = [record for record in recent if record.number != pull_request.number]
    records = (*others, build_history_record(pull_request, feedback.iteration.ledger))
    appeals = open_appeals(pull_request, feedback.iteration.ledger)
    findings = {finding.id: finding for finding in feedback.iteration.ledger.open}

    def annotate(gate: FailedGate) -> FailedGate:
        names = (gate.tag, *(finding.item.finding for finding in gate.findings))
        appeal = next((appeals[name] for name in names if name in appeals), None)
        reported = [findings[name] for name in names if name in findings]
        return replace(
            gate,
            appeal=_appeal_text(appeal) if appeal else "",
            regression=_regression_text(reported, pull_request),
            recurrence=_recurrence_text(gate.tag, feedback, records, web) if gate.tag else "",
        )

    return replace(feedback, gates=tuple(map(annotate, feedback.gates)))


def _appeal_text(ruling: Ruling) -> str:
    return f"by {code_span(ruling.by)}, {code_span(ruling.reason)}"


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


def _recurrence_text(tag: str, feedback: Feedback, records: Sequence[HistoryRecord], web: GitHubLinks) -> str:
    repository = feedback.pull_request.repository
    # GitHub's clock may be ahead of ours.
    now = max(feedback.at, *(record.last_active for record in records))
    recurrence = find_recurrence(tag, feedback.pull_request.number, records, now)
    names_others = feedback.is_agent or repository.private
    return render_recurrence(recurrence, repository, web, names_others=names_others) if recurrence else ""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add_grounding_outcomes(
    gates: tuple[FailedGate, ...], log: Sequence[GroundedClaim], iteration: Iteration, rules: GroundingRules
) -> tuple[FailedGate, ...]:
    """Add the grounding outcome of every item, each at its verified location."""
    if not rules.enabled:
        return gates
    heads = {finding.id: finding.head for finding in iteration.ledger.open}

    def ground(finding: GateItem) -> GateItem:
        if finding.validator.check:
            return _ground_check(finding, heads.get(finding.item.finding, iteration.head))
        return _add_outcome(finding, log, iteration.head, rules)

    return tuple(replace(gate, findings=tuple(map(ground, gate.findings))) for gate in gates)


def _ground_check(finding: GateItem, head: str) -> GateItem:
    # A log that somebody handed in is their word: no check of GitHub's shows it.
    is_observed = finding.origin.way != "validation"
    return replace(finding, grounding=_check_grounding(finding, head)) if is_observed else finding


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
    return tuple(
        line
        for line in (
            render_reviewer_hint(pull_request, standing, rules),
            _contradicted_claim(pull_request, head),
            *(_kept_label(verdict) for verdict in standing if verdict.unlabelled_by),
            rules.config_problem,
        )
        if line
    )


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
    label = code_span(verdict.id.replace("label:", "gate:", 1))
    remover = code_span(verdict.unlabelled_by)
    return f"{remover} removed the label {label}, but is not a validator here, so it still counts."


def render_reviewer_hint(
    pull_request: PullRequest, standing: Sequence[Verdict], rules: RepositoryRules
) -> str:
    """Render one line for reviewers in the hint's audience: what is missing; empty for nothing."""
    # Whatever was fixed since is no longer among a standing verdict's items.
    empty = {verdict.id for verdict in pull_request.verdicts if names_nothing(verdict)}
    hints = [
        f"To {code_span(verdict.validator.name)}: {hint}"
        for verdict in standing
        if verdict.stance is Stance.REJECTS
        and not verdict.validator.check
        and _is_audience(verdict, rules)
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


def _is_audience(verdict: Verdict, rules: RepositoryRules) -> bool:
    match rules.quality.tell:
        case HintAudience.OFF:
            return False
        case HintAudience.ALL:
            return True
        case HintAudience.AGENTS:
            return rules.authors.is_agent(verdict.validator.name, bot=verdict.validator.bot)
