"""Derive lessons from the history: which gates are broken again and again, where, and at what cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import PurePosixPath

from bot.gates.model import Gate, Gates
from bot.history.model import FindingHistory, HistoryRecord, Ratio
from bot.history.outcomes import TagFix, has_rejected, latest_fixes, review_verdicts
from bot.history.patterns import rank
from bot.lessons.agents import merge_marks
from bot.lessons.effect import Adoption, Effect, Outcome, instruction_of, measure_effect
from bot.pull_request.model import FindingStatus, WrittenBy
from bot.values import Account

LESSON_WINDOW = timedelta(weeks=12)
"""The pull requests that lessons are drawn from: those reviewed since then."""
MAX_LESSONS = 10
MIN_BROKEN = 2
"""Pull requests that have to break a gate before it is a lesson: one may be chance."""
MIN_AGENT_PULL_REQUESTS = 5
"""Signed pull requests below which an agent has no figures: they would be one person's."""
MAX_EVIDENCE = 5
MAX_PATHS = 20
FOLDER_SHARE = 0.7
"""The share of a gate's pull requests in one folder from which the lesson may be about that folder."""
FOLDER_EXCESS = 3
"""How many times the other gates' share that has to be: a folder where everything is broken is no news."""
MIN_LOCATED = 3

_OVERTURNED = frozenset({FindingStatus.WITHDRAWN, FindingStatus.DISMISSED})

MayName = Callable[[Account], bool]
"""Whether the pull requests of this author are named as evidence."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One pull request that broke a gate."""

    record: HistoryRecord
    at: datetime
    paths: tuple[str, ...]
    is_only_blocker: bool
    is_inferred: bool
    """No validator stated the tag: it was read from plain words."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One gate that is broken again and again: what to do, what happened, and whether the lesson helps."""

    gate: Gate
    instruction: str
    """What to do before a push: one imperative sentence."""
    broken: Ratio
    """The pull requests that broke it, of all reviewed."""
    prevented: int
    """The pull requests in which nothing else blocked."""
    inferred: int = 0
    numbers: tuple[int, ...] = ()
    """Pull requests that show it and may be named, newest first."""
    is_latest_named: bool = True
    """The first of them is the latest of all that broke it."""
    folder: str | None = None
    """Where it is broken at least 70% of the time, and other gates clearly less."""
    paths: tuple[str, ...] = ()
    """The files that the reviews of these pull requests named, the newest first."""
    fix: TagFix | None = None
    """The last commit that fixed it, where its pull request may be named."""
    effect: Effect | None = None
    """Measured where the instruction stands in a file of the repository."""

    @property
    def tag(self) -> str:
        """The gate's tag."""
        return self.gate.tag


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """What the pull requests signed by one agent broke: counts without logins, and no rates.

    Commits are read only where a pull request was rejected and changed, so accepted ones are missing here.
    """

    mark: WrittenBy
    pull_requests: int
    tags: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LessonReport:
    """The lessons of a repository, or of one author in it."""

    lessons: tuple[Lesson, ...]
    until: datetime
    """The end of the time in which reviews count."""
    removals: tuple[Lesson, ...] = ()
    """Those in an instruction file that were measured and had no effect."""
    reviewed: int = 0
    agent: str | None = None
    figures: tuple[AgentFigures, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Count the lessons whose effect had this outcome."""
        effects = (lesson.effect for lesson in self.lessons)
        return sum(effect is not None and effect.outcome is outcome for effect in effects)

    @property
    def unadopted(self) -> tuple[Lesson, ...]:
        """The lessons that no instruction file contains yet."""
        return tuple(lesson for lesson in self.lessons if lesson.effect is None)


@dataclass(frozen=True, slots=True)
class LessonQuery:
    """Whose lessons, from which time on, and how many."""

    now: datetime
    may_name: MayName
    author: Account | None = None
    """Whose pull requests count; None for everybody's."""
    most: int = MAX_LESSONS
    least: int = MIN_BROKEN

    @property
    def since(self) -> datetime:
        """From when on reviewed pull requests count."""
        return self.now - LESSON_WINDOW


def build_report(
    records: Sequence[HistoryRecord],
    gates: Gates,
    query: LessonQuery,
    adopted: Mapping[str, Adoption] | None = None,
) -> LessonReport:
    """Derive the lessons; one in an instruction file is kept, whatever its rank, unless it has no effect."""
    reviewed = [record for record in records if review_verdicts(record, query.now)]
    recent = [record for record in reviewed if review_verdicts(record, query.now)[-1].at >= query.since]
    breaches = find_breaches(recent, gates)
    located = ([finding.path for finding in record.findings if finding.path] for record in recent)
    folders = [folders_of(paths) for paths in located if paths]
    fixes = latest_fixes((record for record in recent if query.may_name(record.author)), query.now)
    effects = _measure_effects(adopted or {}, reviewed, gates)
    lessons = [
        replace(
            _lesson(gate, breaches.get(gate.tag, ()), len(recent), folders, query.may_name),
            fix=fixes.get(gate.tag),
            effect=effects.get(gate.tag),
        )
        for gate in gates
        if gate.tag in effects or len(breaches.get(gate.tag, ())) >= query.least
    ]
    lessons.sort(key=lambda lesson: (-lesson.prevented, -lesson.broken.part, lesson.tag))
    kept = [one for one in lessons if one.effect is None or one.effect.outcome is not Outcome.NO_EFFECT]
    held = [lesson for lesson in kept if lesson.effect is not None][: query.most]
    offered = [lesson for lesson in kept if lesson.effect is None][: query.most - len(held)]
    return LessonReport(
        lessons=tuple(lesson for lesson in kept if lesson in held or lesson in offered),
        until=query.now,
        removals=tuple(lesson for lesson in lessons if lesson not in kept),
        reviewed=len(recent),
        agent=query.author.login if query.author else None,
        figures=() if query.author else _agent_figures(recent, gates),
    )


def find_breaches(records: Iterable[HistoryRecord], gates: Gates) -> dict[str, tuple[Breach, ...]]:
    """Return the pull requests that broke each gate, newest first; overturned findings count nowhere."""
    breaches: dict[str, list[Breach]] = {}
    for record in records:
        findings = [finding for finding in record.findings if finding.status not in _OVERTURNED]
        blocking = {_key(finding) for finding in findings if finding.blocks_under(gates)}
        unnamed = any(
            has_rejected(verdict, record) and record.names_nothing(verdict)
            for verdict in record.verdicts
            if verdict.counted
        )
        for tag in dict.fromkeys(map(_key, findings)):
            if tag not in gates:
                continue
            mine = [finding for finding in findings if _key(finding) == tag]
            breach = Breach(
                record,
                max(finding.reported_at for finding in mine),
                tuple(finding.path for finding in mine if finding.path),
                is_only_blocker=blocking == {tag} and not unnamed,
                is_inferred=all(finding.tag is None for finding in mine),
            )
            breaches.setdefault(tag, []).append(breach)
    return {
        tag: tuple(sorted(found, key=lambda breach: (breach.at, breach.record.number), reverse=True))
        for tag, found in breaches.items()
    }


def main_folder(mine: Sequence[frozenset[str]], every: Sequence[frozenset[str]]) -> str | None:
    """Return the deepest folder with 70% of a gate's pull requests, and three times the others' share.

    Given are the folders that the gate's findings, and all findings, of each pull request are in. None
    where there are too few to compare.
    """
    others = len(every) - len(mine)
    if len(mine) < MIN_LOCATED or others <= 0:
        return None
    counts, usual = Counter(chain.from_iterable(mine)), Counter(chain.from_iterable(every))
    main = [
        folder
        for folder, count in counts.items()
        if (share := count / len(mine)) >= FOLDER_SHARE
        and share >= FOLDER_EXCESS * (usual[folder] - count) / others
    ]
    return max(main, key=lambda folder: (folder.count("/"), folder), default=None)


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders that contain any of the files, without the root."""
    return frozenset(str(folder) for path in paths for folder in PurePosixPath(path).parents if folder.name)


def _lesson(
    gate: Gate, breaches: Sequence[Breach], reviewed: int, every: Sequence[frozenset[str]], may_name: MayName
) -> Lesson:
    named = [breach.record.number for breach in breaches if may_name(breach.record.author)]
    # The files of a finding say little about what changed: a lock file is missing in a change of code.
    paths = [finding.path for breach in breaches for finding in breach.record.findings if finding.path]
    folders = [folders_of(breach.paths) for breach in breaches if breach.paths]
    return Lesson(
        gate=gate,
        instruction=instruction_of(gate),
        broken=Ratio(len(breaches), reviewed),
        prevented=sum(breach.is_only_blocker for breach in breaches),
        inferred=sum(breach.is_inferred for breach in breaches),
        numbers=tuple(named[:MAX_EVIDENCE]),
        is_latest_named=bool(named) and named[0] == breaches[0].record.number,
        folder=main_folder(folders, every),
        paths=tuple(dict.fromkeys(paths))[:MAX_PATHS],
    )


def _measure_effects(
    adopted: Mapping[str, Adoption], reviewed: Sequence[HistoryRecord], gates: Gates
) -> dict[str, Effect]:
    breaches = find_breaches(reviewed, gates) if adopted else {}
    effects = {}
    for tag, adoption in adopted.items():
        broken = {breach.record.number for breach in breaches.get(tag, ())}
        opened = [(record.created_at, record.number in broken) for record in reviewed]
        effects[tag] = measure_effect(adoption, opened)
    return effects


def _agent_figures(records: Sequence[HistoryRecord], gates: Gates) -> tuple[AgentFigures, ...]:
    signed: dict[WrittenBy, list[HistoryRecord]] = {}
    for record in records:
        for mark in merge_marks(record.written_by):
            signed.setdefault(mark, []).append(record)
    figures = []
    for mark, theirs in signed.items():
        if len(theirs) >= MIN_AGENT_PULL_REQUESTS:
            tags = {tag: len(breaches) for tag, breaches in find_breaches(theirs, gates).items()}
            figures.append(AgentFigures(mark, len(theirs), rank(tags)))
    return tuple(sorted(figures, key=lambda one: (-one.pull_requests, one.mark.agent, one.mark.model or "")))


def _key(finding: FindingHistory) -> str:
    return finding.tag or finding.looks_like or finding.id
