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
from bot.iterations.model import current_iteration
from bot.pull_request.facts import Observations
from bot.pull_request.model import PullRequest

logger = logging.getLogger("pipeline.grounding")


async def observe_revision(
    pull_request: PullRequest, pending: Sequence[PendingClaim], rules: RepositoryRules, github: GitHub
) -> Observations | None:
    """Read what the claims need of their revision, within the budget of each verdict; None before any."""
    iteration = current_iteration(pull_request)
    if iteration is None:
        return None
    reader = _RevisionReader(pull_request, github, Observations(iteration.head))
    _log("thought", claims=len(pending), pull_request=pull_request.name)
    for claims in _by_verdict(pending):
        await reader.observe(claims, rules.grounding.reads)
    _log("observation", reads=len(reader.done), pull_request=pull_request.name)
    return reader.seen


def _log(phase: str, **facts: str | int) -> None:
    """Log one phase: which claims need grounding, what is read for them, what was seen."""
    logger.info("grounding", extra={"phase": phase, **facts})


def _by_verdict(pending: Iterable[PendingClaim]) -> list[list[Claim]]:
    """Group the claims by verdict; those of its items before those of its other sentences."""
    groups: dict[str, list[PendingClaim]] = {}
    for claim in pending:
        groups.setdefault(claim.verdict.id, []).append(claim)
    return [
        [claim.claim for claim in sorted(group, key=lambda claim: not claim.item)]
        for group in groups.values()
    ]


class _RevisionReader:
    """One revision, and what has been read of it so far."""

    def __init__(self, pull_request: PullRequest, github: GitHub, seen: Observations) -> None:
        self.seen = seen
        self._pull_request = pull_request
        self._github = github
        self.done: list[PlannedRead] = []

    async def observe(self, claims: Sequence[Claim], budget: int) -> None:
        """Read until no other read would show more, or the budget is used up."""
        for _ in range(budget):
            read = plan_next_read(claims, self.seen, self.done)
            if read is None:
                return
            self.done.append(read)
            _log("action", read=read.kind.value, pull_request=self._pull_request.name)
            try:
                self.seen = await self._read(read)
            except (Forbidden, NotFound, ValidationFailed, GitHubUnavailable) as error:
                # A claim that can't be looked up is unverifiable; the rejection does not wait for it.
                logger.warning("grounding read failed", extra={"read": read.kind.value, "error": str(error)})

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
                annotations = await self._github.annotations(repository, read.run)
                return replace(
                    seen,
                    checks=tuple(
                        replace(run, annotations=annotations) if run.id == read.run else run
                        for run in seen.checks or ()
                    ),
                )
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
