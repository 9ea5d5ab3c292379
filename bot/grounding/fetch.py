"""Read from GitHub what pending claims need, within the budget."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.gates.config import RepositoryRules
from bot.github.client import GitHub
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, ValidationFailed
from bot.grounding.log import PendingClaim, PlannedRead, ReadKind, plan_next_read
from bot.grounding.model import Claim
from bot.iterations import model as iterations_model
from bot.pull_request.checks import CheckAnnotation
from bot.pull_request.facts import Observations, ObservedCheckRun
from bot.pull_request.model import PullRequest

logger = logging.getLogger("pipeline.grounding")


async def observe_revision(
    pull_request: PullRequest, asked: Sequence[PendingClaim], rules: RepositoryRules, github: GitHub
) -> Observations | None:
    """What the claims' revision shows, with at most so many reads a verdict; None before any judgement."""
    present = iterations_model.current_iteration(pull_request)
    if present is None:
        return None
    looking = _RevisionReader(pull_request, github, Observations(present.head))
    _log("thought", claims=len(asked), pull_request=pull_request.name)
    for claims in _by_verdict(asked):
        await looking.look(claims, rules.grounding.reads)
    _log("observation", reads=looking.reads, pull_request=pull_request.name)
    return looking.seen


def _log(phase: str, **facts: str | int) -> None:
    """One line a phase: which claims need grounding, what is read for them, what was seen."""
    logger.info("grounding", extra={"phase": phase, **facts})


def _by_verdict(asked: Iterable[PendingClaim]) -> list[list[Claim]]:
    """The claims of each verdict; those of its items before those of its other sentences."""
    found: dict[str, list[PendingClaim]] = {}
    for each in asked:
        found.setdefault(each.verdict.id, []).append(each)
    return [[each.claim for each in sorted(group, key=lambda one: not one.item)] for group in found.values()]


class _RevisionReader:
    """One revision, and what has been read of it so far."""

    def __init__(self, pull_request: PullRequest, github: GitHub, seen: Observations) -> None:
        self.seen = seen
        self._pull_request = pull_request
        self._github = github
        self._done: list[PlannedRead] = []

    @property
    def reads(self) -> int:
        """How many reads were made."""
        return len(self._done)

    async def look(self, claims: Sequence[Claim], budget: int) -> None:
        """Read until nothing more would tell, or the budget is used up."""
        for _ in range(budget):
            read = plan_next_read(claims, self.seen, self._done)
            if read is None:
                return
            self._done.append(read)
            _log("action", read=read.kind.value, pull_request=self._pull_request.name)
            try:
                self.seen = await self._read(read)
            except (Forbidden, NotFound, ValidationFailed, GitHubUnavailable) as error:
                # A claim that can't be looked up is said to be so; the rejection is not held up for it.
                logger.warning(
                    "a read for grounding failed", extra={"read": read.kind.value, "error": str(error)}
                )

    async def _read(self, read: PlannedRead) -> Observations:
        seen, repository, head = self.seen, self._pull_request.repository, self.seen.head
        match read.kind:
            case ReadKind.TREE:
                return replace(seen, tree=await self._github.tree(repository, head))
            case ReadKind.FILE:
                return await self._file(read)
            case ReadKind.CHECKS:
                return replace(seen, checks=await self._github.check_runs(repository, head))
            case ReadKind.ANNOTATIONS:
                found = await self._github.annotations(repository, read.run)
                return replace(seen, checks=_annotated(seen.checks or (), read.run, found))
            case ReadKind.BRANCH:
                return replace(
                    seen, branch=await self._github.branch_state(repository, self._pull_request.number)
                )
            case ReadKind.COMPARISON:
                behind = await self._github.behind_by(repository, self._pull_request.base, head)
                return replace(seen, branch=seen.branch and replace(seen.branch, behind_by=behind))

    async def _file(self, read: PlannedRead) -> Observations:
        seen = self.seen
        text = await self._github.text(
            self._pull_request.repository, seen.head, read.path, read.blob, names=read.names
        )
        if text is None:
            return replace(seen, absent=seen.absent | {read.path})
        return replace(seen, files={**seen.files, read.path: text})


def _annotated(
    runs: tuple[ObservedCheckRun, ...], identity: int, found: tuple[CheckAnnotation, ...]
) -> tuple[ObservedCheckRun, ...]:
    return tuple(replace(run, annotations=found) if run.id == identity else run for run in runs)
