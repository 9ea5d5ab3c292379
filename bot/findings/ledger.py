"""Replay what validators, maintainers and the author did, and decide the status of every finding.

The ledger is derived: the verdicts, pushes, resolved threads and rulings are recorded by GitHub's ids and
times, and `build_ledger` replays them in the order of those times. So it does not matter in which order the
events arrived, and no status can disagree with what was reported. Stored are only the numbers of the findings
and, for heads whose files are no longer kept, their last status (`FindingRecord`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from bot.findings.line_tracking import TrackedFile, track_file, was_touched
from bot.findings.model import MAX_FINDINGS, Finding, Ledger
from bot.pull_request.model import (
    UNREADABLE,
    FindingStatus,
    HeadSpan,
    Item,
    PullRequest,
    Revision,
    Ruling,
    RulingAction,
    Stance,
    StatusChange,
    ThreadState,
    Validator,
    Verdict,
    hash_text,
)
from bot.pull_request.record import add_head, is_validator_key_of, known_heads
from bot.values import Location

_WRITERS = frozenset({"write", "maintain", "admin"})


def build_ledger(pull_request: PullRequest) -> Ledger:
    """Replay everything recorded."""
    return build_ledgers(pull_request, ())[-1]


def build_ledgers(
    pull_request: PullRequest, ends: Sequence[tuple[str | datetime, str]]
) -> tuple[Ledger, ...]:
    """Replay everything once; return the ledger at each of these ends, in order, and the last one.

    An end is the id of a verdict or a time, and a head: the ledger is as it was just before, about that head.
    A time alone would not do, since GitHub's times have whole seconds and an agent's next review can follow
    within one.
    """
    replay = _Replay(pull_request)
    ledgers: list[Ledger] = []
    for at, _, _, act in sorted(_acts(pull_request), key=lambda act: act[:3]):
        while len(ledgers) < len(ends) and _is_end(ends[len(ledgers)][0], at, act):
            ledgers.append(replay.ledger(ends[len(ledgers)][1]))
        replay.apply(act)
    ledgers += [replay.ledger(head) for _, head in ends[len(ledgers) :]]
    return (*ledgers, replay.ledger())


def _is_end(end: str | datetime, at: datetime, act: _Act) -> bool:
    if isinstance(end, datetime):
        return at >= end
    return isinstance(act, Verdict) and act.id == end


def verdict_order(verdict: Verdict) -> tuple[datetime, int, str]:
    """Sort verdicts by time; GitHub's times have whole seconds, and of two ids the higher came later."""
    digits = verdict.id[len(verdict.id.rstrip("0123456789")) :]
    return verdict.at, int(digits or 0), verdict.id


def standing_verdicts(ledger: Ledger, located: Ledger | None = None) -> tuple[Verdict, ...]:
    """Return the verdicts in force, oldest first, each with its validator's open findings as its items.

    Items stand in the order in which they were last reported, with the locations of `located`: the same
    findings about the head that is to be shown.

    A verdict whose findings were all dismissed is no longer in force, and an advisory one rejects only while
    one of its findings blocks; while somebody else rejects, it comes last and only adds its warnings. The
    newest verdict that was lifted does not bring back an older one.
    """
    places = {finding.number: finding.item.place for finding in (located or ledger).findings}
    standing = [
        standing for verdict in ledger.newest if (standing := _with_open_findings(verdict, ledger, places))
    ]
    is_rejected = any(verdict.stance is Stance.REJECTS for verdict in standing)
    warning = [verdict for verdict in standing if verdict.stance is Stance.SILENT]
    deciding = [verdict for verdict in standing if verdict.stance is not Stance.SILENT]
    return (*deciding, *(warning if is_rejected else ()))


def _with_open_findings(
    verdict: Verdict, ledger: Ledger, places: Mapping[int, Location | None]
) -> Verdict | None:
    if verdict.id in ledger.lifted:
        return None
    if verdict.stance is not Stance.REJECTS:
        return replace(verdict, items=())
    own = sorted(ledger.of(verdict.validator.key), key=lambda finding: finding.order)
    items = tuple(
        replace(finding.item, place=places[finding.number], finding=finding.id, status=finding.status)
        for finding in own
        if finding.is_open
    )
    # The history stores no head with a finding.
    was_dismissed = any(
        finding.status is FindingStatus.DISMISSED and finding.head in {verdict.head, ""} for finding in own
    )
    # What a comment says was replaced by another one, which was deleted since.
    was_replaced = verdict.id.startswith("comment:") and any(not item.removed_at for item in verdict.items)
    if not items and (was_dismissed or was_replaced) and not verdict.more:
        return None
    if verdict.advisory and not any(item.blocks for item in items):
        return replace(verdict, items=items, stance=Stance.SILENT) if items else None
    return replace(verdict, items=items)


class HeadOrder:
    """The order of the pushes: "later" means pushed later, also for a head that came back."""

    def __init__(self, pull_request: PullRequest) -> None:
        spans = known_heads(pull_request)
        # Reviews from before the bot first saw the pull request are about heads that no push told of.
        for verdict in sorted(pull_request.verdicts, key=verdict_order, reverse=True):
            is_earlier = spans and verdict.at < spans[0].first
            if is_earlier and verdict.head and all(span.head != verdict.head for span in spans):
                spans = add_head(spans, verdict.head, verdict.at)
        self._spans = spans

    def position(self, head: str | None, at: datetime) -> int:
        """Return the position of a head in the order of the pushes, as seen at that time."""
        same_head = [index for index, span in enumerate(self._spans) if span.head == head]
        if same_head:
            # In the second in which a head came back, what is said about it was most likely said before.
            return max((index for index in same_head if self._spans[index].first < at), default=same_head[0])
        return self.position_at(at)

    def position_of(self, verdict: Verdict) -> int:
        """Return the position of the head that a verdict is about."""
        return self.position(verdict.head, verdict.at)

    def position_at(self, at: datetime) -> int:
        """Return the position of the branch at that time."""
        return max((index for index, span in enumerate(self._spans) if span.first <= at), default=0)

    def head(self, position: int) -> str:
        """Return the head at a position."""
        return self._spans[position].head if self._spans else ""

    @property
    def last(self) -> int:
        """The position of the newest push."""
        return max(len(self._spans) - 1, 0)


_Act = Verdict | HeadSpan | tuple[str, Verdict] | tuple[str, Verdict, Item] | ThreadState | Ruling


def _acts(pull_request: PullRequest) -> Iterator[tuple[datetime, int, tuple[int, str], _Act]]:
    """Yield what happened, with its time; within a second, reports come before what closes them."""
    yield from _returns(pull_request)
    for verdict in pull_request.verdicts:
        if not verdict.counted:
            continue
        order = verdict_order(verdict)[1:]
        yield verdict.at, 1, order, verdict
        if verdict.lifted_at:
            yield max(verdict.lifted_at, verdict.at), 2, order, ("lifted", verdict)
        for item in verdict.items:
            if item.removed_at:
                yield max(item.removed_at, verdict.at), 2, order, ("removed", verdict, item)
    for thread in pull_request.conversation.threads:
        if thread.resolved:
            yield thread.at, 3, (thread.comment_id, ""), thread
    for ruling in pull_request.rulings:
        if ruling.act is RulingAction.DISMISS:
            yield ruling.at, 4, (0, ruling.key), ruling


def _returns(pull_request: PullRequest) -> Iterator[tuple[datetime, int, tuple[int, str], _Act]]:
    """Yield when the branch came back to an earlier head."""
    seen: set[str] = set()
    for span in known_heads(pull_request):
        if span.head in seen:
            yield span.first, 0, (0, span.head), span
        seen.add(span.head)


@dataclass(slots=True)
class _Entry:
    """A finding while the acts are replayed."""

    validator: Validator
    item: Item
    keys: list[str]
    first_position: int
    position: int
    """The position that it was last reported at."""
    head: str
    verdict_id: str
    reported_at: datetime
    status: FindingStatus = FindingStatus.NEW
    changes: list[StatusChange] = field(default_factory=list)
    comment_ids: set[int] = field(default_factory=set)
    closed_position: int = -1
    order: int = 0
    is_left_out: bool = False
    """A later rejection of its validator does not mention it again."""
    is_resolved_by_author: bool = False

    @property
    def is_open(self) -> bool:
        return self.status.is_open


class _Replay:
    def __init__(self, pull_request: PullRequest) -> None:
        self._pull_request = pull_request
        self._order = HeadOrder(pull_request)
        self._lines = _LineTracker(pull_request.revisions)
        self._entries: list[_Entry] = []
        self._dropped: list[_Entry] = []
        self._newest: dict[str, tuple[int, Verdict]] = {}
        """Validator's key → position and newest verdict: by the head that it is about, then by time."""
        self._earlier: dict[str, list[tuple[int, Verdict]]] = {}
        """All that were the newest one."""
        self._lifted: set[str] = set()
        self._reviewed_position = 0
        self._reports = 0
        self._checked_heads: dict[str, set[str]] = {}
        self._runs: dict[tuple[str, str | None], dict[int, _Run]] = {}
        """Validator's key and head → the newest run of each check suite that counts."""
        self._numbers = {key: record.number for record in pull_request.findings for key in record.keys}
        self._records = {record.number: record for record in pull_request.findings}

    def apply(self, act: _Act) -> None:
        match act:
            case Verdict():
                self._apply_verdict(act)
            case HeadSpan():
                self._apply_return(act)
            case ("lifted", Verdict() as verdict):
                self._apply_lifted(verdict)
            case ("removed", Verdict() as verdict, Item() as item):
                self._apply_removed(verdict, item)
            case ThreadState():
                self._apply_resolved(act)
            case Ruling():
                self._apply_dismissal(act)

    def _apply_return(self, span: HeadSpan) -> None:
        """Apply the results of a head that the branch came back to: its checks need not run again."""
        position = self._order.position_at(span.first)
        runs = [
            run for (_, head), suites in self._runs.items() if head == span.head for run in suites.values()
        ]
        for run in runs:
            self._apply_verdict(replace(run.verdict, at=span.first), position)

    def _apply_verdict(self, verdict: Verdict, position: int | None = None) -> None:
        position = self._order.position_of(verdict) if position is None else position
        key = verdict.validator.key
        standing = self._newest.get(key)
        if verdict.stance is Stance.SILENT:
            # Tagged remarks of a comment count while their author's rejection stands.
            if standing and standing[1].stance is Stance.REJECTS and standing[1].id not in self._lifted:
                self._report(verdict, position)
            return
        failing = self._failing_runs(verdict)
        if failing is None:
            return  # a newer suite of the same event has reported already
        # A dismissed verdict on a later head no longer stands in the way of a late one.
        if standing is None or standing[0] <= position or standing[1].id in self._lifted:
            passes_alone = bool(failing) and verdict.stance is Stance.APPROVES
            self._newest[key] = (position, failing[-1].verdict if passes_alone else verdict)
            self._earlier.setdefault(key, []).append(self._newest[key])
        self._reviewed_position = max(self._reviewed_position, position)
        self._drop_oldest()
        if verdict.validator.check and verdict.head:
            self._checked_heads.setdefault(key, set()).add(verdict.head)
        own = [entry for entry in self._entries if entry.validator.key == key]
        reported = self._report(verdict, position)
        if key.startswith("check:"):
            self._runs[key, verdict.head][verdict.suite] = _Run(verdict, reported)
        kept = reported.union(*(run.reported for run in failing))
        # What was reported about a later head stays as it is.
        left_out = [e for e in own if e.is_open and id(e) not in kept and e.position <= position]
        for entry in left_out:
            if verdict.stance is Stance.APPROVES:
                self._close(entry, _closing_status(entry, position), verdict, position)
            elif not verdict.id.startswith("command:"):
                self._leave_out(entry, verdict, position)
        self._close_late(reported, verdict)

    def _close_late(self, reported: set[int], verdict: Verdict) -> None:
        """Close what is reported about a head after its validator passed or checked all of a later one."""
        position, later = self._newest[verdict.validator.key]
        is_complete = verdict.validator.key.startswith(("validation:", "check:"))
        for entry in self._entries:
            is_of_earlier = entry.is_open and id(entry) in reported and entry.position < position
            if is_of_earlier and (is_complete or later.stance is Stance.APPROVES):
                self._close(entry, FindingStatus.FIXED, verdict, position)

    def _failing_runs(self, verdict: Verdict) -> list[_Run] | None:
        """Return the runs of the same check in other suites that still fail; None if this one is replaced.

        Within one App a newer suite of the same event replaces an older one; all others count side by side.
        """
        if not verdict.validator.key.startswith("check:"):
            return []
        runs = self._runs.setdefault((verdict.validator.key, verdict.head), {})
        if any(_replaces(run.verdict, verdict) for run in runs.values()):
            return None
        for run in [run for run in runs.values() if _replaces(verdict, run.verdict)]:
            del runs[run.verdict.suite]
        return [
            run
            for suite, run in runs.items()
            if suite != verdict.suite and run.verdict.stance is Stance.REJECTS
        ]

    def _leave_out(self, entry: _Entry, verdict: Verdict, position: int) -> None:
        """Apply that a rejection does not mention a finding of the same validator again."""
        is_later = position > entry.position
        if verdict.validator.key.startswith(("validation:", "check:")):
            # A validation or a run is complete: what it does not report is no longer there.
            self._close(entry, _closing_status(entry, position), verdict, position)
        elif not is_later:
            return  # at the same head, a further review adds
        elif verdict.repeats and (not verdict.items or _is_untagged_prose(entry)):
            self._repeat(entry, self._carried(entry, verdict.head or ""), verdict, position)
        elif entry.comment_ids:
            if self._has_changed(entry, verdict.head or self._order.head(position)):
                self._close(entry, FindingStatus.FIXED, verdict, position)
        elif _is_untagged_prose(entry):
            entry.is_left_out = True
        else:
            self._close(entry, FindingStatus.FIXED, verdict, position)

    def _report(self, verdict: Verdict, position: int) -> set[int]:
        """Apply the items of a verdict; return which entries they belong to."""
        reported: set[int] = set()
        gone: set[int] = set()
        # What was edited out came before what is there now, which may say the same in other words.
        for item in sorted(verdict.items, key=lambda item: item.removed_at is None):
            said = reported if item.removed_at is None else gone
            self._reports += 1
            matches = self._match(item, verdict, position, said)
            if not matches:
                matches = [self._add(item, verdict, position)]
            else:
                for entry in matches:
                    self._repeat(entry, item, verdict, position)
            said.update(map(id, matches))
        return reported | gone

    def _drop_oldest(self) -> None:
        """Drop the findings that are not listed in the end, once there are too many to compare with."""
        if len(self._entries) >= 2 * MAX_FINDINGS:
            kept = _limit(self._entries)
            listed = set(map(id, kept))
            # Runs refer to them by identity, which nothing else may get.
            self._dropped += [entry for entry in self._entries if id(entry) not in listed]
            self._entries = kept

    def _add(self, item: Item, verdict: Verdict, position: int) -> _Entry:
        entry = _Entry(
            validator=verdict.validator,
            item=item,
            keys=[report_key(verdict, item)],
            first_position=position,
            position=position,
            head=verdict.head or self._order.head(position),
            verdict_id=verdict.id,
            reported_at=verdict.at,
            order=self._reports,
            comment_ids={item.comment_id} if item.comment_id else set(),
        )
        self._entries.append(entry)
        self._record_change(entry, FindingStatus.NEW, verdict.at, entry.head, verdict.validator.name)
        return entry

    def _repeat(self, entry: _Entry, item: Item, verdict: Verdict, position: int) -> None:
        """Apply that a finding is reported again."""
        if position < entry.closed_position and not entry.is_open:
            return  # a late report about a head from before it was closed
        was = entry.status
        # What was dismissed at a check's head stays so there, also once the branch comes back to it.
        is_same_result = verdict.validator.check and verdict.head == self._order.head(entry.closed_position)
        if was is FindingStatus.FIXED:
            entry.status = FindingStatus.REGRESSED
        elif (
            was is FindingStatus.WITHDRAWN
            or (was is FindingStatus.DISMISSED and position > entry.closed_position and not is_same_result)
            or (entry.is_open and position > entry.position)
        ):
            entry.status = FindingStatus.OPEN
        key = report_key(verdict, item)
        if key not in entry.keys:
            entry.keys.append(key)
        if item.comment_id:
            entry.comment_ids.add(item.comment_id)
        if position < entry.position:
            return
        head = verdict.head or self._order.head(position)
        # A bare mention of the tag says less than the report before it.
        is_bare = not (item.place or item.words) and bool(entry.item.place or entry.item.words)
        entry.item, entry.head = self._carried(entry, head) if is_bare else item, head
        if entry.verdict_id != verdict.id:
            entry.order = self._reports  # the first mention in a review counts
        entry.position, entry.verdict_id, entry.reported_at = position, verdict.id, verdict.at
        entry.is_left_out = entry.is_resolved_by_author = False
        if entry.status is not was:
            self._record_change(entry, entry.status, verdict.at, entry.head, verdict.validator.name)

    def _match(self, item: Item, verdict: Verdict, position: int, reported: set[int]) -> list[_Entry]:
        """Return the findings that an item reports again: at most one, but every one of a bare tag."""
        own = [entry for entry in self._entries if entry.validator.key == verdict.validator.key]
        head = verdict.head or self._order.head(position)
        if item.comment_id:
            same_thread = [entry for entry in own if item.comment_id in entry.comment_ids]
            return [
                entry for entry in same_thread if _same_subject(entry.item, item)
            ] or self._continued_by_thread(item, own, head, reported)
        if verdict.validator.key.startswith("check:") and item.part and item.part[0] == "test":
            same_test = [entry for entry in own if (entry.item.tag, entry.item.part) == (item.tag, item.part)]
            if same_test:
                return same_test[:1]
        if item.tag is None or item.inferred is not None:
            words = normalize_words(item)
            same_words = [
                entry
                for entry in own
                if not entry.comment_ids
                and id(entry) not in reported
                and normalize_words(entry.item) == words
                and _same_subject(entry.item, item)
            ]
            # A tool has one sentence for all locations of a rule; a person can repeat one about another file.
            is_tool = verdict.validator.check or verdict.validator.key.startswith("validation:")
            same_path = [entry for entry in same_words if _path(entry.item) == _path(item)]
            nearest = sorted(same_path, key=lambda entry: self._distance(entry, item, head))
            return (nearest or ([] if is_tool else same_words))[:1]
        candidates = [
            entry for entry in own if entry.item.tag == item.tag and _same_subject(entry.item, item)
        ]
        if item.place is None:
            if is_open := [entry for entry in candidates if entry.is_open]:
                # In one review, two texts with one tag are two findings.
                return [entry for entry in is_open if id(entry) not in reported or not item.words]
            return candidates[-1:]
        fresh = [entry for entry in candidates if id(entry) not in reported]
        same_path = [
            entry for entry in fresh if entry.item.place and entry.item.place.path == item.place.path
        ]
        nearest = sorted(same_path, key=lambda entry: self._distance(entry, item, head))
        return nearest[:1] or [entry for entry in fresh if entry.item.place is None][:1]

    def _continued_by_thread(
        self, item: Item, own: Sequence[_Entry], head: str, reported: set[int]
    ) -> list[_Entry]:
        """Return the finding that a new thread goes on with: closed at the same line, or a bare tag's."""
        if item.tag is None:
            return []
        same_tag = [entry for entry in own if entry.item.tag == item.tag]
        closed = [
            entry
            for entry in same_tag
            if not entry.is_open
            and id(entry) not in reported
            and entry.item.place
            and item.place
            and entry.item.place.path == item.place.path
            and self._distance(entry, item, head) == 0
        ]
        bare = [entry for entry in same_tag if entry.is_open and not (entry.item.place or entry.item.words)]
        return closed[-1:] or bare[:1]

    def _distance(self, entry: _Entry, item: Item, head: str) -> int:
        place, now = self._carried(entry, head).place, item.place
        if place is None or now is None or place.line is None or now.line is None:
            return 0
        return abs(place.line - now.line)

    def _apply_lifted(self, verdict: Verdict) -> None:
        """Apply that a review was dismissed, a comment deleted, or a label removed.

        Where that ends the rejection of its validator, nothing that they said before counts any more. A
        comment that was deleted, or a line that was edited out, only leaves what they said before it.
        """
        lifted_at, key = verdict.lifted_at or verdict.at, verdict.validator.key
        self._lifted.add(verdict.id)
        position = self._order.position_at(lifted_at)
        ends_rejection = verdict.stance is Stance.REJECTS and self._newest[key][1].id == verdict.id
        earlier: list[tuple[int, Verdict]] = []
        if ends_rejection and (verdict.by_line or verdict.id.startswith("comment:")):
            earlier = [entry for entry in self._earlier[key] if entry[1].id not in self._lifted]
            ends_rejection = not earlier or earlier[-1][1].stance is not Stance.REJECTS
            self._newest[key] = earlier[-1] if earlier else self._newest[key]
        for entry in self._entries:
            is_own = entry.verdict_id == verdict.id or (ends_rejection and entry.validator.key == key)
            if not is_own or not entry.is_open:
                continue
            others = (other.id for _, other in reversed(earlier))
            said = (name for name in others if any(known.startswith(f"{name}:") for known in entry.keys))
            if not ends_rejection and (reporter := next(said, "")):
                entry.verdict_id = reporter
                continue
            is_label = verdict.id.startswith("label:")
            status = _closing_status(entry, position) if is_label else FindingStatus.WITHDRAWN
            self._close_at(entry, status, lifted_at, position, verdict.validator.name)

    def _apply_removed(self, verdict: Verdict, item: Item) -> None:
        """Apply that an item was edited out or deleted."""
        key, removed_at = report_key(verdict, item), item.removed_at or verdict.at
        position = self._order.position_at(removed_at)
        present = {report_key(verdict, other) for other in verdict.items if not other.removed_at}
        for entry in self._entries:
            is_gone = key in entry.keys and present.isdisjoint(entry.keys)
            if is_gone and entry.verdict_id == verdict.id and entry.is_open:
                self._close_at(entry, FindingStatus.WITHDRAWN, removed_at, position, verdict.validator.name)

    def _apply_resolved(self, thread: ThreadState) -> None:
        """Apply that a thread was resolved: by its validator or a maintainer, or by the author."""
        position = self._order.position_at(thread.at)
        is_author = thread.by_id == self._pull_request.author.id
        for entry in self._entries:
            if thread.comment_id not in entry.comment_ids or not entry.is_open:
                continue
            if is_author:
                entry.is_resolved_by_author = True
            elif is_validator_key_of(entry.validator.key, thread.by_id) or thread.role in _WRITERS:
                self._close_at(entry, _closing_status(entry, position), thread.at, position, thread.by)

    def _apply_dismissal(self, ruling: Ruling) -> None:
        """Apply `/feedback-dismiss`, bound to the head of its time; its push may be recorded later."""
        position = self._order.position_at(ruling.at)
        for entry in self._entries:
            number = self._stored_number(entry)
            names = {entry.item.tag, f"f{number}" if number else None}
            if ruling.tag in names and entry.is_open and entry.position <= position:
                self._close_at(entry, FindingStatus.DISMISSED, ruling.at, position, ruling.by)

    def _close(self, entry: _Entry, status: FindingStatus, verdict: Verdict, position: int) -> None:
        self._close_at(entry, status, verdict.at, position, verdict.validator.name)

    def _close_at(self, entry: _Entry, status: FindingStatus, at: datetime, position: int, by: str) -> None:
        entry.status, entry.closed_position = status, position
        self._record_change(entry, status, at, self._order.head(position), by)

    @staticmethod
    def _record_change(entry: _Entry, status: FindingStatus, at: datetime, head: str, by: str) -> None:
        entry.changes.append(StatusChange(status, at, head, by))

    def _has_changed(self, entry: _Entry, head: str) -> bool:
        """Whether the lines of a finding differ between the head that it was reported at and another."""
        changed = self._lines.has_changed(entry.item.place, entry.head, head)
        if changed is None:
            stored = self._records.get(self._stored_number(entry) or 0)
            return stored is not None and stored.status is FindingStatus.CHANGED
        return changed

    def _carried(self, entry: _Entry, head: str) -> Item:
        place = self._lines.carry(entry.item.place, entry.head, head)
        return entry.item if place == entry.item.place else replace(entry.item, place=place)

    def _stored_number(self, entry: _Entry) -> int | None:
        return next((self._numbers[key] for key in entry.keys if key in self._numbers), None)

    def ledger(self, head: str = "") -> Ledger:
        """Return the findings with numbers, status and location, as of this head or the newest one."""
        kept = _limit(self._entries)
        numbers = self._number(kept)
        head = head or self._order.head(self._order.last)
        findings = [self._finding(entry, number, head) for entry, number in zip(kept, numbers, strict=True)]
        newest = (verdict for _, verdict in self._newest.values())
        return Ledger(
            tuple(sorted(findings, key=lambda finding: finding.number)),
            len(self._dropped) + len(self._entries) - len(kept),
            tuple(sorted(newest, key=verdict_order)),
            frozenset(self._lifted),
        )

    def _number(self, entries: Sequence[_Entry]) -> list[int]:
        """Number the findings: those that had a number keep it."""
        given: list[int | None] = []
        for entry in entries:
            number = self._stored_number(entry)
            given.append(None if number in given else number)
        following = max((*self._records, 0)) + 1
        numbers: list[int] = []
        for number in given:
            numbers.append(following if number is None else number)
            following += number is None
        return numbers

    def _finding(self, entry: _Entry, number: int, head: str) -> Finding:
        return Finding(
            number=number,
            keys=tuple(entry.keys[-20:]),
            validator=entry.validator,
            item=self._carried(entry, head),
            status=self._present_status(entry, head),
            changes=tuple(entry.changes[-20:]),
            first_head=self._order.head(entry.first_position),
            head=entry.head,
            verdict_id=entry.verdict_id,
            reported_at=entry.reported_at,
            order=entry.order,
        )

    def _present_status(self, entry: _Entry, head: str) -> FindingStatus:
        if not entry.is_open:
            return entry.status
        if entry.is_left_out or entry.is_resolved_by_author or self._is_unchecked(entry, head):
            return FindingStatus.CHANGED
        is_later = head != entry.head
        if is_later and not entry.validator.check and self._has_changed(entry, head):
            return FindingStatus.CHANGED
        if entry.status is FindingStatus.NEW and entry.first_position < self._reviewed_position:
            return FindingStatus.OPEN
        return entry.status

    def _is_unchecked(self, entry: _Entry, head: str) -> bool:
        """Whether a check that failed has no result yet at this head."""
        key = entry.validator.key
        return key.startswith("check:") and head not in self._checked_heads.get(key, {head})


@dataclass(frozen=True, slots=True)
class _Run:
    """The newest run of a check in one suite, and the findings that it reports."""

    verdict: Verdict
    reported: set[int]


def _replaces(newer: Verdict, older: Verdict) -> bool:
    is_same_event = newer.trigger == older.trigger and newer.trigger not in {"", UNREADABLE}
    return is_same_event and newer.suite > older.suite


def _closing_status(entry: _Entry, position: int) -> FindingStatus:
    """Return what closing means: fixed at a later head; without one, nothing was fixed."""
    return FindingStatus.FIXED if position > entry.position else FindingStatus.WITHDRAWN


def _is_untagged_prose(entry: _Entry) -> bool:
    return not entry.comment_ids and (entry.item.tag is None or entry.item.inferred is not None)


def _limit(entries: Sequence[_Entry]) -> list[_Entry]:
    """Keep as many findings as are stored: closed ones go first, the longest closed before the others."""
    if len(entries) <= MAX_FINDINGS:
        return list(entries)
    ranked = sorted(
        entries, key=lambda entry: (not entry.is_open, -(entry.changes[-1].at.timestamp()), entry.keys[0])
    )
    kept = {id(entry) for entry in ranked[:MAX_FINDINGS]}
    return [entry for entry in entries if id(entry) in kept]


def _same_subject(one: Item, other: Item) -> bool:
    """Whether two items can be about the same thing: no other tag, and no other test or rule."""
    if one.tag != other.tag and one.comment_id is None:
        return False
    if one.comment_id is not None and one.tag is not None and other.tag is not None and one.tag != other.tag:
        return False
    if one.part and other.part and one.part[0] == other.part[0] == "test":
        return one.part == other.part
    return one.rule == other.rule


def _path(item: Item) -> str | None:
    return item.place.path if item.place else None


def normalize_words(item: Item) -> str:
    """Return an item's words without case, punctuation and spacing, to recognise them again."""
    return _normalize(item.words)


@lru_cache(maxsize=4 * MAX_FINDINGS)  # every item is compared with every finding
def _normalize(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text.casefold())
    return " ".join(words.split())


def report_key(verdict: Verdict, item: Item) -> str:
    """Return the stable name of one report: its thread, or its verdict and what it says."""
    if item.comment_id:
        return f"comment:{item.comment_id}:{item.tag or ''}"
    line = f"{item.place.path}:{item.place.line}" if item.place else ""
    part = item.part[1] if item.part else ""
    text = "\0".join((item.tag or "", line, part, normalize_words(item)))
    return f"{verdict.id}:{hash_text(text)[:12]}"


class _LineTracker:
    """Follows locations between any two heads whose files were read."""

    def __init__(self, revisions: Iterable[Revision]) -> None:
        self._revisions = {revision.head: revision for revision in revisions}
        self._files: dict[tuple[str, str, str], TrackedFile | None] = {}

    def has_changed(self, place: Location | None, old: str, new: str) -> bool | None:
        """Return whether the lines, the file or, without either, anything differs; None: not known."""
        if old == new:
            return False
        if place is None or place.path == ".":
            return self._has_any_change(old, new)
        file = self._file(place.path, old, new)
        if file is None:
            return None
        if file.has_changed and file.lines is None:
            return True  # GitHub shows no patch of a large file: all that is known is that it changed
        return was_touched(place, file)

    def carry(self, place: Location | None, old: str, new: str) -> Location | None:
        """Return where the lines are at another head; unchanged if that is not known."""
        if place is None or place.line is None or old == new:
            return place
        file = self._file(place.path, old, new)
        line = file.lines.new_line(place.line) if file and file.lines else None
        if line is None:
            return place
        last = None if place.end_line is None else place.end_line - place.line + line
        return Location(place.path, line, last)

    def _has_any_change(self, old: str, new: str) -> bool | None:
        before, after = self._revisions.get(old), self._revisions.get(new)
        if before is None or after is None or before.tree is None or after.tree is None:
            return True
        return before.tree != after.tree

    def _file(self, path: str, old: str, new: str) -> TrackedFile | None:
        key = (path, old, new)
        if key not in self._files:
            before, after = self._revisions.get(old), self._revisions.get(new)
            self._files[key] = track_file(path, before, after) if before and after else None
        return self._files[key]
