"""History records, time windows and weeks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from bot import regex
from bot.findings.ledger import build_ledger, standing_verdicts, verdict_order
from bot.findings.model import Finding, Ledger, is_blocking
from bot.gates.model import Gates
from bot.grounding.audit import GroundingRates, first_observations, grounding_rates
from bot.pull_request.model import (
    FindingStatus,
    HeadSpan,
    Item,
    ItemOutcome,
    OverturnedTag,
    PullRequest,
    Ruling,
    RulingAction,
    Stance,
    StatusChange,
    Validator,
    Verdict,
    WrittenBy,
)
from bot.pull_request.record import add_head, known_heads
from bot.values import Account, Location, Repository
from bot.verdicts.clarity import item_clarity, names_nothing


@dataclass(frozen=True, slots=True)
class Ratio:
    """A count and its total."""

    part: int = 0
    whole: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[bool]) -> Ratio:
        """Count the true ones among all."""
        counted = tuple(outcomes)
        return cls(sum(counted), len(counted))

    @property
    def rate(self) -> float | None:
        """The share, with three decimals; None of nothing."""
        return round(self.part / self.whole, 3) if self.whole else None


@dataclass(frozen=True, slots=True)
class AdviceRecord:
    """One brief: how the feedback was understood, the actions it asked for, and its success.

    Without actions it is no brief but an approval that still asked for something.
    """

    at: datetime
    feedback_type: str
    actions: tuple[str, ...] = ()
    success: bool | None = None
    """Whether the next verdict accepted; None while there is none."""


def collect_advice(pull_request: PullRequest) -> tuple[AdviceRecord, ...]:
    """Record each posted brief, oldest first: the last of its rounds."""
    briefs = pull_request.briefs
    return tuple(
        AdviceRecord(brief.at, brief.feedback_type, brief.actions, brief.success)
        for brief, following in zip(briefs, (*briefs[1:], None), strict=False)
        if following is None or following.iteration != brief.iteration or following.round <= brief.round
    )


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How much is stored about a person in a repository."""

    pull_requests: int = 0
    verdicts: int = 0
    commands: int = 0


@dataclass(frozen=True, slots=True)
class ReviewStats:
    """The claims and vague items of one verdict; no text, and no name but the verdict's id."""

    verdict: str
    claims: GroundingRates
    items: int = 0
    """Items with a text; a rejection without any item counts as one."""
    vague: int = 0
    """The unclear ones: they don't tell the author what to do."""


def compute_review_stats(pull_request: PullRequest) -> tuple[ReviewStats, ...]:
    """Compute the statistics of each counted verdict; none for a check, whose texts no person wrote."""
    log = first_observations(pull_request.grounding) if pull_request.grounding else ()
    stats = []
    for verdict in pull_request.verdicts:
        if verdict.counted and not verdict.validator.check:
            own = [entry for entry in log if entry.verdict == verdict.id]
            claims = grounding_rates(own) if own else GroundingRates()
            unclear = [not item_clarity(item).clear for item in verdict.items if item.words.strip()]
            if names_nothing(verdict):
                unclear = [True]
            if claims.claims or unclear:
                stats.append(ReviewStats(verdict.id, claims, len(unclear), sum(unclear)))
    return tuple(stats)


INACTIVE_AFTER = timedelta(days=14)
"""An open, rejected pull request without a push for this long is inactive; that day is its activity."""

MAX_ITEM_OUTCOMES = 100
"""Item outcomes that are kept of a pull request, the newest."""

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class FindingHistory:
    """The outcome of one finding: no words, and no name except its validator's key."""

    number: int
    validator: str
    tag: str | None
    status: FindingStatus
    """The latest one."""
    changes: tuple[StatusChange, ...]
    """Without the names of those who made them."""
    reported_at: datetime
    """When it was last reported."""
    looks_like: str | None = None
    """The tag that its plain words suggest."""
    severity: str | None = None
    blocks: bool | None = None
    path: str | None = None

    @property
    def id(self) -> str:
        """The short id: `f4`."""
        return f"f{self.number}"

    def last_report(self, window: TimeWindow) -> datetime | None:
        """Return when it was last reported in the window; None if it was not."""
        times = (*(change.at for change in self.changes if change.status.is_open), self.reported_at)
        return max((at for at in times if at in window), default=None)

    def status_at(self, at: datetime) -> FindingStatus | None:
        """Return the status at that time; None before the first report."""
        if at >= self.changes[-1].at:
            return self.status
        return next((change.status for change in reversed(self.changes) if change.at <= at), None)

    def blocks_under(self, gates: Gates) -> bool:
        """Whether it blocks, by its own words or by its gate."""
        return is_blocking(self._item, gates)

    @property
    def _item(self) -> Item:
        place = Location(self.path) if self.path else None
        return Item(self.tag, place=place, severity=self.severity, blocks=self.blocks)

    def as_finding(self, status: FindingStatus) -> Finding:
        """Return it as the ledger has it."""
        validator = Validator(self.validator, "")
        return Finding(
            self.number, (), validator, self._item, status, self.changes, "", "", "", self.reported_at
        )


@dataclass(frozen=True, slots=True)
class HistoryRecord:
    """What the history keeps of a pull request: who reviewed what and when, without any text."""

    number: int
    author: Account
    created_at: datetime
    pushed_at: tuple[datetime, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    closed_at: datetime | None = None
    merged: bool = False
    findings: tuple[FindingHistory, ...] = ()
    heads: tuple[HeadSpan, ...] = ()
    """When the branch was at the heads that were reviewed."""
    overturned: tuple[OverturnedTag, ...] = ()
    """The dismissed tags of a record that an earlier version stored; now the findings say so."""
    observed: tuple[ItemOutcome, ...] = ()
    """The outcomes of the items that the next iteration showed, without names."""
    stated: tuple[ReviewStats, ...] = ()
    advice: tuple[AdviceRecord, ...] = ()
    """The actions that its author was advised to take, and whether they were accepted."""
    repository: str = ""
    """`owner/name` of another repository that shares its history; empty for the repository itself."""
    written_by: tuple[WrittenBy, ...] = ()
    """The coding agents that signed it; its author stays who opened it."""

    @property
    def key(self) -> tuple[str, int]:
        """Which pull request it is, among those of several repositories."""
        return self.repository, self.number

    @property
    def last_active(self) -> datetime:
        """When it was last reviewed, pushed to or closed; the store selects records by it."""
        moments = [self.created_at, *self.pushed_at, *(verdict.at for verdict in self.verdicts)]
        moments += [finding.changes[-1].at for finding in self.findings]
        return max(moments if self.closed_at is None else [*moments, self.closed_at])

    def names_nothing(self, rejection: Verdict) -> bool:
        """Whether a rejection stands for no finding that is kept, or for more of them."""
        return rejection.more > 0 or rejection.validator.key not in {
            finding.validator for finding in self.findings
        }

    def rejecting_at(self, at: datetime) -> tuple[Verdict, ...]:
        """Return the verdicts that rejected it at that time, each with its open findings as its items."""
        if not any(verdict.stance is Stance.REJECTS and verdict.at <= at for verdict in self.verdicts):
            return ()
        findings = tuple(
            finding.as_finding(status) for finding in self.findings if (status := finding.status_at(at))
        )
        # The verdicts of that time, with the findings as they were found to be: the record has no lines.
        verdicts = tuple(
            replace(
                verdict,
                items=(),
                lifted_at=verdict.lifted_at if verdict.lifted_at and verdict.lifted_at <= at else None,
            )
            for verdict in self.verdicts
            if verdict.at <= at
        )
        ledger = replace(build_ledger(_as_pull_request(self, verdicts)), findings=findings)
        return tuple(verdict for verdict in standing_verdicts(ledger) if verdict.stance is Stance.REJECTS)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A span of time; the start is inside, the end is not."""

    start: datetime
    end: datetime

    def __contains__(self, moment: datetime) -> bool:
        """Whether the moment lies in it."""
        return self.start <= moment < self.end

    @property
    def last(self) -> datetime:
        """Its last instant."""
        return self.end - _INSTANT

    @property
    def before(self) -> TimeWindow:
        """The span of the same length that ends where this one starts."""
        return TimeWindow(self.start - (self.end - self.start), self.start)


def window_of_last_hours(hours: int, now: datetime) -> TimeWindow:
    """Return the window of the hours up to and including this instant."""
    end = window_end_including(now)
    return TimeWindow(end - timedelta(hours=hours), end)


def window_end_including(now: datetime) -> datetime:
    """Return the end of a window whose last instant is now."""
    return now + _INSTANT


def earliest_activity(window: TimeWindow, inactive_after: timedelta = INACTIVE_AFTER) -> datetime:
    """Return the `last_active` before which no record counts in the window."""
    return window.start - inactive_after


def build_history_record(pull_request: PullRequest, ledger: Ledger | None = None) -> HistoryRecord:
    """Build the record: verdicts, and the outcomes of the findings; no text.

    `ledger` holds the pull request's findings, if they are known already.
    """
    verdicts = tuple(
        _without_text(verdict, pull_request) for verdict in sorted(pull_request.verdicts, key=verdict_order)
    )
    reviewed = {verdict.head for verdict in verdicts}
    signatures = (mark for revision in pull_request.revisions for mark in revision.written_by)
    return HistoryRecord(
        number=pull_request.number,
        author=pull_request.author,
        created_at=pull_request.created_at,
        pushed_at=tuple(revision.seen_at for revision in pull_request.revisions),
        verdicts=verdicts,
        closed_at=None if pull_request.open else pull_request.closed_at,
        merged=pull_request.merged,
        findings=_finding_histories(ledger or build_ledger(pull_request)),
        heads=tuple(span for span in known_heads(pull_request) if span.head in reviewed),
        observed=_item_outcomes(pull_request),
        advice=collect_advice(pull_request),
        stated=compute_review_stats(pull_request),
        written_by=tuple(dict.fromkeys((*pull_request.written_by, *signatures))),
    )


def replay_record(record: HistoryRecord) -> HistoryRecord:
    """Return the record with its findings: an earlier version stored verdicts only."""
    if record.findings or not record.verdicts:
        return record
    ledger = build_ledger(_as_pull_request(record, record.verdicts))
    return replace(record, findings=_finding_histories(ledger))


def _as_pull_request(record: HistoryRecord, verdicts: tuple[Verdict, ...]) -> PullRequest:
    """Return what the rules of the ledger need."""
    heads = record.heads
    if not heads:
        for verdict in sorted(verdicts, key=verdict_order):
            heads = add_head(heads, verdict.head or "", verdict.at)
    return PullRequest(
        repository=_NOWHERE,
        number=record.number,
        author=record.author,
        title="",
        base="",
        head=heads[-1].head if heads else "",
        created_at=record.created_at,
        updated_at=record.created_at,
        verdicts=verdicts,
        heads=heads,
        rulings=tuple(
            Ruling(RulingAction.DISMISS, tag.tag, 0, "", tag.at, "", "", "") for tag in record.overturned
        ),
    )


_NOWHERE = Repository(0, "", "", 0)


def _finding_histories(ledger: Ledger) -> tuple[FindingHistory, ...]:
    return tuple(
        FindingHistory(
            number=finding.number,
            validator=finding.validator.key,
            tag=finding.item.tag if finding.item.inferred is None else None,
            status=finding.status,
            changes=tuple(replace(change, by="") for change in finding.changes),
            reported_at=finding.reported_at,
            looks_like=finding.item.looks_like or (finding.item.tag if finding.item.inferred else None),
            severity=finding.item.severity,
            blocks=finding.item.blocks,
            path=finding.item.place.path if finding.item.place else None,
        )
        for finding in ledger.findings
    )


def _item_outcomes(pull_request: PullRequest) -> tuple[ItemOutcome, ...]:
    outcomes = [
        replace(outcome, author="", reviewer="", url="")
        for tracked in pull_request.tracked
        for outcome in tracked.observations
    ]
    return tuple(outcomes[-MAX_ITEM_OUTCOMES:])


def _without_text(verdict: Verdict, pull_request: PullRequest) -> Verdict:
    items = tuple(Item(item.tag, place=item.place, url=item.url) for item in verdict.items if item.tag)
    head = verdict.head or _head_at(pull_request, verdict.at)
    return replace(verdict, items=items, head=head, said="")


def _head_at(pull_request: PullRequest, at: datetime) -> str:
    earlier = [revision for revision in pull_request.revisions if revision.seen_at <= at]
    return earlier[-1].head if earlier else pull_request.head


_NAME = regex.Regex(r"(\d{4})-W(\d{2})")


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """An ISO week: Monday to Sunday, the first one holds the year's first Thursday."""

    year: int
    number: int

    def __str__(self) -> str:
        """`2026-W46`."""
        return f"{self.year}-W{self.number:02}"

    @property
    def monday(self) -> date:
        """Its first day."""
        return date.fromisocalendar(self.year, self.number, 1)

    @property
    def sunday(self) -> date:
        """Its last day."""
        return date.fromisocalendar(self.year, self.number, 7)

    def back(self, weeks: int) -> Week:
        """Return the week that is this many weeks earlier."""
        return _of_day(self.monday - timedelta(weeks=weeks))

    def window(self, zone: tzinfo) -> TimeWindow:
        """The week from midnight to midnight in a zone, an hour longer or shorter when clocks change."""
        return TimeWindow(_midnight(self.monday, zone), _midnight(self.monday + timedelta(weeks=1), zone))


def week_containing(moment: datetime, zone: tzinfo) -> Week:
    """Return the week at this moment in a time zone."""
    return _of_day(moment.astimezone(zone).date())


def parse_week(name: str) -> Week | None:
    """Parse a week's name such as `2026-W46`; None for anything else."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    try:
        date.fromisocalendar(int(match[1]), int(match[2]), 1)
    except ValueError:  # the year has no such week
        return None
    return Week(int(match[1]), int(match[2]))


def _of_day(day: date) -> Week:
    year, number, _ = day.isocalendar()
    return Week(year, number)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
