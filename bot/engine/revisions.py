"""What is read of the heads that were judged: three calls a head, once."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from bot.domain.check_result import CheckResult
from bot.domain.diff import Comparison
from bot.domain.model import PullRequest, Revision
from bot.ports import Forbidden, GitHub, Gone, Refused

logger = logging.getLogger("whetstone.revisions")


async def read(pull_request: PullRequest, heads: Iterable[Revision], github: GitHub) -> tuple[Revision, ...]:
    """The heads with tree, files and checks as GitHub shows them now."""
    return tuple([await _read(pull_request, revision, github) for revision in heads])


async def _read(pull_request: PullRequest, revision: Revision, github: GitHub) -> Revision:
    tried = replace(revision, reads=revision.reads + 1)
    try:
        seen = await _compared(pull_request, revision, github)
    except (Gone, Refused):
        # The webhook of a push can be ahead of the API, so the present head is asked for again.
        return tried if revision.head == pull_request.head else replace(tried, gone=True)
    checks = await _checks(pull_request, revision, github)
    if seen is None or not seen.ahead:
        return replace(tried, checks=checks)
    return replace(tried, base=seen.base, tree=seen.tree, files=seen.files, checks=checks)


async def _compared(pull_request: PullRequest, revision: Revision, github: GitHub) -> Comparison | None:
    try:
        seen = await github.comparison(pull_request.repository, pull_request.base, revision.head)
        if not seen.ahead and revision.base:
            # It was merged meanwhile: the base has it all by now.
            seen = await github.comparison(pull_request.repository, revision.base, revision.head)
    except Forbidden as refusal:
        logger.warning("a revision can't be read", extra={"reason": str(refusal)})
        return None
    return seen


async def _checks(pull_request: PullRequest, revision: Revision, github: GitHub) -> tuple[CheckResult, ...]:
    try:
        return await github.check_results(pull_request.repository, revision.head)
    except (Forbidden, Gone, Refused) as refusal:
        logger.warning("checks can't be read", extra={"reason": str(refusal)})
        return ()
