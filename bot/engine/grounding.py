"""What must be seen of a revision to say which claims about it are so? As little as the budget allows."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.domain import iterations
from bot.domain.check_runs import Annotation
from bot.domain.grounding.claim import Claim
from bot.domain.grounding.observations import CheckRun, Observations
from bot.domain.grounding.plan import Kind, Read, next_read
from bot.domain.grounding.statements import Asked
from bot.domain.model import PullRequest
from bot.domain.rules import Rules
from bot.ports import Forbidden, GitHub, Gone, Refused, Unavailable

logger = logging.getLogger("pipeline.grounding")


async def observe(
    pull_request: PullRequest, asked: Sequence[Asked], rules: Rules, github: GitHub
) -> Observations | None:
    """What the claims' revision shows, with at most so many reads a verdict; None before any judgement."""
    present = iterations.current(pull_request)
    if present is None:
        return None
    looking = _Looking(pull_request, github, Observations(present.head))
    _log("thought", claims=len(asked), pull_request=pull_request.name)
    for claims in _by_verdict(asked):
        await looking.look(claims, rules.grounding.reads)
    _log("observation", reads=looking.reads, pull_request=pull_request.name)
    return looking.seen


def _log(phase: str, **facts: str | int) -> None:
    """One line a phase: which claims need grounding, what is read for them, what was seen."""
    logger.info("grounding", extra={"phase": phase, **facts})


def _by_verdict(asked: Iterable[Asked]) -> list[list[Claim]]:
    """The claims of each verdict; those of its items before those of its other sentences."""
    found: dict[str, list[Asked]] = {}
    for each in asked:
        found.setdefault(each.verdict.id, []).append(each)
    return [[each.claim for each in sorted(group, key=lambda one: not one.item)] for group in found.values()]


class _Looking:
    """One revision, and what has been read of it so far."""

    def __init__(self, pull_request: PullRequest, github: GitHub, seen: Observations) -> None:
        self.seen = seen
        self._pull_request = pull_request
        self._github = github
        self._done: list[Read] = []

    @property
    def reads(self) -> int:
        """How many reads were made."""
        return len(self._done)

    async def look(self, claims: Sequence[Claim], budget: int) -> None:
        """Read until nothing more would tell, or the budget is used up."""
        for _ in range(budget):
            read = next_read(claims, self.seen, self._done)
            if read is None:
                return
            self._done.append(read)
            _log("action", read=read.kind.value, pull_request=self._pull_request.name)
            try:
                self.seen = await self._read(read)
            except (Forbidden, Gone, Refused, Unavailable) as error:
                # A claim that can't be looked up is said to be so; the rejection is not held up for it.
                logger.warning(
                    "a read for grounding failed", extra={"read": read.kind.value, "error": str(error)}
                )

    async def _read(self, read: Read) -> Observations:
        seen, repository, head = self.seen, self._pull_request.repository, self.seen.head
        match read.kind:
            case Kind.TREE:
                return replace(seen, tree=await self._github.tree(repository, head))
            case Kind.FILE:
                return await self._file(read)
            case Kind.CHECKS:
                return replace(seen, checks=await self._github.check_runs(repository, head))
            case Kind.ANNOTATIONS:
                found = await self._github.annotations(repository, read.run)
                return replace(seen, checks=_annotated(seen.checks or (), read.run, found))
            case Kind.BRANCH:
                return replace(
                    seen, branch=await self._github.branch_state(repository, self._pull_request.number)
                )
            case Kind.COMPARISON:
                behind = await self._github.behind_by(repository, self._pull_request.base, head)
                return replace(seen, branch=seen.branch and replace(seen.branch, behind_by=behind))

    async def _file(self, read: Read) -> Observations:
        seen = self.seen
        text = await self._github.text(
            self._pull_request.repository, seen.head, read.path, read.blob, names=read.names
        )
        if text is None:
            return replace(seen, absent=seen.absent | {read.path})
        return replace(seen, files={**seen.files, read.path: text})


def _annotated(
    runs: tuple[CheckRun, ...], identity: int, found: tuple[Annotation, ...]
) -> tuple[CheckRun, ...]:
    return tuple(replace(run, annotations=found) if run.id == identity else run for run in runs)
