"""Reactions, answers and the summary issue, in GitHub's words and back in ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from bot.adapters.github.asking import REPO, asked_in, names_of, posted_comment
from bot.adapters.github.callers import Callers
from bot.adapters.github.errors import Asked
from bot.adapters.payloads.fields import Odd, find, identifier, text
from bot.domain.model import Account, Repository
from bot.domain.thread_effects import Face, Where
from bot.ports import FoundComment, FoundIssue, Gone, PostedComment, Refused, Unavailable

_OLDEST = 500
_REACTIONS = {
    Where.COMMENT: f"{REPO}/issues/comments/{{comment}}/reactions",
    Where.INLINE: f"{REPO}/pulls/comments/{{comment}}/reactions",
}
_REACT = """
mutation($node: ID!, $face: ReactionContent!) {
  addReaction(input: {subjectId: $node, content: $face}) { reaction { content } }
}
"""


class ThreadCalls(ABC):
    """The calls about conversations; the client's other half lends the credentials."""

    _callers: Callers

    @abstractmethod
    async def me(self) -> Account:
        """The App's own bot account."""

    async def react(
        self, repository: Repository, where: Where, number: int, node_id: str, face: Face
    ) -> None:
        """Put our reaction on a text; a second one of the same kind is the first."""
        path = _REACTIONS.get(where)
        asked = Asked(
            f"react in {repository.full_name}",
            "pull_requests=write",
            repository.installation_id,
            repository.id,
        )
        if path is None:  # a review's body has no reactions in the REST API
            kind = face.value.upper()
            await self._callers.as_installation(
                asked, lambda api: api.mutate(_REACT, node=node_id, face=kind)
            )
            return
        names = {**names_of(repository), "comment": number}
        data = {"content": face.value}
        await self._callers.as_installation(asked, lambda api: api.write("POST", path, data, **names))

    async def reply_inline(self, repository: Repository, number: int, first: int, body: str) -> PostedComment:
        """Answer below the first comment of an inline thread."""
        path = f"{REPO}/pulls/{{number}}/comments/{{comment}}/replies"
        answer = await self._written(
            repository, "POST", path, {"body": body}, "pull_requests=write", number=number, comment=first
        )
        return posted_comment(answer)

    async def find_text(
        self, repository: Repository, number: int, mark: str, since: datetime, *, inline: bool = False
    ) -> PostedComment | None:
        """Our own comment in which this mark stands, the oldest among those written since then."""
        kind = "pulls" if inline else "issues"
        path = f"{REPO}/{kind}/{{number}}/comments?since={{since}}&per_page=100"
        at = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = await self._all(repository, path, number=number, since=at)
        ours = (await self.me()).id
        posted = [posted_comment(each) for each in _by(found, ours) if mark in text(each, "body")]
        return min(posted, key=lambda comment: comment.id, default=None)

    async def own_comments(self, repository: Repository, number: int, mark: str) -> tuple[FoundComment, ...]:
        """Our own comments in which this mark stands, oldest first, among the first 500 of the thread."""
        path = f"{REPO}/issues/{{number}}/comments?per_page=100"
        found = _by(await self._all(repository, path, _OLDEST, number=number), (await self.me()).id)
        marked = (each for each in found if mark in text(each, "body"))
        return tuple(FoundComment(posted_comment(each), text(each, "body")) for each in marked)

    async def issue(self, repository: Repository, number: int) -> FoundIssue:
        """An issue as it is now; `Gone` where somebody deleted it."""
        path = f"{REPO}/issues/{{number}}"
        asked = asked_in(repository, "GET", path, "issues=read")
        names = {**names_of(repository), "number": number}
        return _issue(await self._callers.as_installation(asked, lambda api: api.get(path, **names)))

    async def issues_labelled(self, repository: Repository, label: str) -> tuple[FoundIssue, ...]:
        """Our own issues with this label, open and closed, oldest first."""
        me = await self.me()
        path = f"{REPO}/issues?labels={{label}}&creator={{creator}}&state=all&direction=asc&per_page=100"
        found = await self._all(repository, path, label=label, creator=me.login)
        return tuple(_issue(each) for each in _by(found, me.id) if not find(each, "pull_request"))

    async def create_issue(
        self, repository: Repository, title: str, body: str, labels: tuple[str, ...]
    ) -> FoundIssue:
        """A new issue."""
        data = {"title": title, "body": body, "labels": list(labels)}
        path = f"{REPO}/issues"
        return _issue(await self._written(repository, "POST", path, data, "issues=write"))

    async def edit_issue(self, repository: Repository, number: int, body: str) -> None:
        """Another description of an issue of ours."""
        path = f"{REPO}/issues/{{number}}"
        await self._written(repository, "PATCH", path, {"body": body}, "issues=write", number=number)

    async def labels(self, repository: Repository, number: int) -> tuple[str, ...]:
        """The names of the labels of a thread."""
        path = f"{REPO}/issues/{{number}}/labels?per_page=100"
        found = await self._all(repository, path, number=number)
        return tuple(text(each, "name") for each in found)

    async def make_label(self, repository: Repository, name: str, colour: str, description: str) -> None:
        """A label of this name is in the repository; one that is there stays as it is."""
        path = f"{REPO}/labels/{{name}}"
        asked = asked_in(repository, "GET", path, "issues=read")
        gaps = {**names_of(repository), "name": name}
        try:
            await self._callers.as_installation(asked, lambda api: api.get(path, **gaps))
        except Gone:
            data = {"name": name, "color": colour, "description": description}
            with suppress(Refused):  # somebody was quicker
                await self._written(repository, "POST", f"{REPO}/labels", data, "issues=write")

    async def add_label(self, repository: Repository, number: int, name: str) -> None:
        """One label more on a thread."""
        path = f"{REPO}/issues/{{number}}/labels"
        await self._written(
            repository, "POST", path, {"labels": [name]}, "pull_requests=write", number=number
        )

    async def remove_label(self, repository: Repository, number: int, name: str) -> None:
        """One label less; `Gone` where it was not there."""
        path = f"{REPO}/issues/{{number}}/labels/{{name}}"
        asked = asked_in(repository, "DELETE", path, "pull_requests=write")
        gaps = {**names_of(repository), "number": number, "name": name}
        await self._callers.as_installation(asked, lambda api: api.remove(path, **gaps))

    async def _written(
        self, repository: Repository, method: str, path: str, data: Any, permission: str = "", **gaps: int
    ) -> Any:
        asked = asked_in(repository, method, path, permission)
        names = {**names_of(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.write(method, path, data, **names))

    async def _all(
        self, repository: Repository, path: str, limit: int | None = None, **gaps: str | int
    ) -> list[Any]:
        asked = asked_in(repository, "GET", path, "issues=read")
        names = {**names_of(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.items(path, limit, **names))


def _by(found: Iterable[Any], account_id: int) -> list[Any]:
    return [each for each in found if find(each, "user.id") == account_id]


def _issue(answer: Any) -> FoundIssue:
    try:
        number = identifier(answer, "number")
    except Odd as error:
        raise Unavailable(f"GitHub's issue can't be read: {error}") from error
    return FoundIssue(number, find(answer, "state") != "closed", text(answer, "body"))
