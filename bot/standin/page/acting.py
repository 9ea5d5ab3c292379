"""What can a visitor of the page do?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.standin.acts.pulls import Opening
from bot.standin.acts.reviews import Inline
from bot.standin.model import Issue, PullRequest
from bot.standin.refusal import Refused

if TYPE_CHECKING:
    from bot.standin.server import Standin

_LONGEST = 5_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What a visitor asked for."""

    act: str
    who: str
    text: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Wish:
        """The wish in what the page sent."""
        tags = asked.get("tags", ())
        return cls(
            str(asked.get("act")),
            _text(asked, "who"),
            _text(asked, "text"),
            tuple(map(str, tags)) if isinstance(tags, list) else (),
        )


class Mistake(Exception):
    """What can't be done, in words for the visitor."""


def act(github: Standin, number: int, asked: Mapping[str, Any]) -> Issue:
    """Do what was asked in the thread; returns the thread to show next."""
    thread = next(
        (
            each
            for where in github.repositories.values()
            for each in where.threads.values()
            if each.number == number
        ),
        None,
    )
    if thread is None:
        raise Mistake("There is no such thread.")
    wish = Wish.of(asked)
    if not github.find_account(wish.who):
        raise Mistake("There is nobody of that name.")
    try:
        return _done(github, thread, wish)
    except Refused as refusal:
        raise Mistake(refusal.message) from refusal


def _done(github: Standin, thread: Issue, wish: Wish) -> Issue:
    if wish.act == "comment" and wish.text:
        github.comment(thread, wish.who, wish.text)
    elif not isinstance(thread, PullRequest):
        raise Mistake("That works on a pull request only.")
    elif wish.act == "open":
        opening = Opening(title=wish.text or "Add a claim")
        return github.open_pull_request(thread.repository, wish.who, opening)
    else:
        _judged(github, thread, wish)
    return thread


def _judged(github: Standin, pull: PullRequest, wish: Wish) -> None:
    match wish.act:
        case "reject":
            _reject(github, pull, wish)
        case "approve":
            github.submit_review(pull, wish.who, "APPROVED", wish.text)
        case "push":
            github.push(pull, {_page(pull): _revised(pull)}, message=wish.text or "Address the review")
        case "merge" if pull.state == "open":
            github.merge(pull, by=wish.who)
        case _:
            raise Mistake("There is nothing to do.")


def _reject(github: Standin, pull: PullRequest, wish: Wish) -> None:
    """Each tag at a line of its own, as far as the file has lines."""
    path = _page(pull)
    lines = len((pull.repository.objects.content(pull.head_sha, path) or b"").splitlines())
    words = wish.text or "see the gate"
    places = [Inline(path, f"[{tag}] {words}", line=at) for at, tag in enumerate(wish.tags[:lines], 1)]
    rest = ", ".join(wish.tags[lines:])
    body = f"<!-- ISSUES: {rest} -->" if rest else wish.text or "Not yet."
    github.submit_review(pull, wish.who, "CHANGES_REQUESTED", body, places)


def _page(pull: PullRequest) -> str:
    """The file that the pull request is about."""
    objects = pull.repository.objects
    head, base = objects.commits[pull.head_sha].files, objects.commits[pull.base_sha].files
    return next(iter(sorted(path for path in head if head[path] != base.get(path))), "claims/first.md")


def _revised(pull: PullRequest) -> str:
    before = (pull.repository.objects.content(pull.head_sha, _page(pull)) or b"").decode("utf-8", "replace")
    return f"{before.rstrip()}\n\nRevised after the review.\n"


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name, "")
    return value.strip()[:_LONGEST] if isinstance(value, str) else ""
