"""How is a call about a repository named, and its path filled?"""

from __future__ import annotations

from typing import Any

from bot.adapters.github.errors import Asked
from bot.adapters.payloads.fields import Odd, identifier, word
from bot.domain.model import Repository
from bot.ports import PostedComment, Unavailable

REPO = "/repos/{owner}/{repo}"


def asked_in(repository: Repository, method: str, path: str, permission: str) -> Asked:
    """What is asked of a repository, without the parameters of its path."""
    what = f"{method} {path.partition('?')[0]} in {repository.full_name}"
    return Asked(what, permission, repository.installation_id, repository.id)


def names_of(repository: Repository) -> dict[str, str | int]:
    """What fills the gaps of `REPO`."""
    return {"owner": repository.owner, "repo": repository.name}


def has_dot_segment(text: str) -> bool:
    """Whether a path with this text in it leads to another endpoint: clients and servers resolve `..`."""
    return any(part in {".", ".."} for part in text.split("/"))


def posted_comment(answer: Any) -> PostedComment:
    """A comment of ours as GitHub has it now."""
    try:
        return PostedComment(identifier(answer, "id"), word(answer, "node_id"), word(answer, "html_url"))
    except Odd as error:
        raise Unavailable(f"GitHub's comment can't be read: {error}") from error
