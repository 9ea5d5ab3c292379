"""What GitHub knows of the time before we were told of anything, and how much may be asked of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.adapters.github.asking import REPO, names_of
from bot.adapters.github.callers import Callers
from bot.adapters.github.errors import Asked
from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Odd, optional_integer
from bot.domain.model import Repository
from bot.domain.snapshots import PullRequestSnapshot
from bot.ports import Budget, Gone, PullRequestPage, Unavailable

PAGE = 50
"""Pull requests that are brought in at once: the daily work waits for no more than these."""
# The last changed first: whatever changes meanwhile comes again, and nothing is passed over.
_FIRST = f"{REPO}/pulls?state=all&sort=updated&direction=desc&per_page={PAGE}"
# The oldest first: what is opened meanwhile comes last, and has events of its own.
_OPEN = f"{REPO}/pulls?state=open&sort=created&direction=asc&per_page=100"
_REPOSITORIES = "/installation/repositories?per_page=100"


class ArchiveCalls:
    """The calls of a backfill."""

    _callers: Callers

    async def repository(self, owner: str, name: str, installation_id: int) -> Repository:
        """A repository as this installation sees it."""
        asked = Asked(f"GET {REPO} of {owner}/{name}", "metadata=read", installation_id)
        tree = await self._callers.as_installation(asked, lambda api: api.get(REPO, owner=owner, repo=name))
        try:
            return things.repository({"repository": tree, "installation": {"id": installation_id}})
        except Odd as error:
            raise Unavailable(f"GitHub's repository can't be read: {error}") from error

    async def pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """The pull requests of this page, or of the first one, the last changed first."""
        return await self._pulls_page(repository, page or _FIRST, given=bool(page))

    async def open_pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """The open pull requests of this page, or of the first one, the oldest first."""
        return await self._pulls_page(repository, page or _OPEN, given=bool(page))

    async def repositories_page(self, installation_id: int, page: str) -> tuple[tuple[Repository, ...], str]:
        """The repositories of an installation on this page, or on the first one, and the next page."""
        asked = Asked("GET /installation/repositories", "metadata=read", installation_id)
        found, following = await self._callers.as_installation(
            asked, lambda api: api.named_page(page or _REPOSITORIES, "repositories")
        )
        where = {"installation": {"id": installation_id}}
        read = (_repository({"repository": tree, **where}) for tree in found)
        return tuple(each for each in read if each), following or ""

    async def _pulls_page(self, repository: Repository, page: str, *, given: bool) -> PullRequestPage:
        asked = Asked(
            f"GET {REPO}/pulls of {repository.full_name}",
            "pull_requests=read",
            repository.installation_id,
            repository.id,
        )
        names = {} if given else names_of(repository)
        found, following, last = await self._callers.as_installation(
            asked, lambda api: api.page(page, **names)
        )
        read = (_pull(repository, tree) for tree in found)
        total = len(found) if following is None and not given else last and last * PAGE
        return PullRequestPage(tuple(each for each in read if each), following or "", total)

    async def budget(self, repository: Repository) -> Budget | None:
        """What the installation may still ask in this hour; asking this counts for nothing."""
        asked = Asked("GET /rate_limit", "", repository.installation_id, repository.id)
        try:
            told = await self._callers.as_installation(asked, lambda api: api.get("/rate_limit"))
        except Gone:  # a server of one's own that counts nothing
            return None
        left, limit = (optional_integer(told, f"resources.core.{name}") for name in ("remaining", "limit"))
        resets = optional_integer(told, "resources.core.reset")
        if left is None or not limit or resets is None:
            return None
        return Budget(left, limit, datetime.fromtimestamp(min(resets, 2**40), UTC))


def _repository(tree: Any) -> Repository | None:
    try:
        return things.repository(tree)
    except Odd:
        return None


def _pull(repository: Repository, tree: Any) -> PullRequestSnapshot | None:
    try:
        return things.pull_request_of(repository, tree)
    except Odd:
        return None
