"""What can a visitor of the page do?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import re2

from bot.standin.acts.pulls import Opening
from bot.standin.acts.reviews import Inline
from bot.standin.model import Issue, PullRequest, Repository
from bot.standin.refusal import Refused
from bot.standin.story import claim

if TYPE_CHECKING:
    from bot.standin.server import Standin

_LONGEST, _LONGEST_TITLE = 5_000, 120
_SEEN_AT = {
    "frontmatter_schema": "type:",
    "confidence_miscalibration": "confidence:",
    "date_errors": "created:",
    "title_overclaims": "# ",
    "title_too_few_words": "# ",
    "title_not_proposition": "# ",
    "scope_error": "# ",
}
"""How the line begins that a tag is put at; any other tag is about the last line."""


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
    if wish.act == "comment":
        if not wish.text:
            raise Mistake("Say something first.")
        github.comment(thread, wish.who, wish.text)
    elif wish.act == "open":
        return _opened(github, thread.repository, wish)
    elif isinstance(thread, PullRequest):
        _judged(github, thread, wish)
    else:
        raise Mistake("That works on a pull request only.")
    return thread


def _opened(github: Standin, where: Repository, wish: Wish) -> PullRequest:
    """A claim of its own, with a date that a reviewer may find fault with."""
    title = (wish.text or "One more claim about markets").splitlines()[0][:_LONGEST_TITLE]
    files = {
        f"claims/{len(where.threads) + 1:03d}.md": claim(
            title, github.now(), "One study says so.", wrong=True
        )
    }
    return github.open_pull_request(where, wish.who, Opening(title=title, files=files))


def _judged(github: Standin, pull: PullRequest, wish: Wish) -> None:
    if wish.act in {"reject", "approve"} and wish.who == pull.user.login:
        raise Mistake("Nobody reviews their own pull request: act as somebody else.")
    match wish.act:
        case "reject":
            _reject(github, pull, wish)
        case "approve":
            github.submit_review(pull, wish.who, "APPROVED", wish.text)
        case "push":
            github.push(
                pull, {_page(pull): _revised(github, pull)}, message=wish.text or "Address the review"
            )
        case "merge" if pull.state == "open":
            github.merge(pull, by=wish.who)
        case _:
            raise Mistake("There is nothing to do.")


def _reject(github: Standin, pull: PullRequest, wish: Wish) -> None:
    """Each tag at the line that it is about."""
    path = _page(pull)
    lines = _content(pull, path).splitlines()
    places = [
        Inline(path, f"[{tag}] {wish.text}".strip(), line=_line(lines, tag)) for tag in wish.tags if lines
    ]
    body = "" if places else wish.text or "Not yet."
    github.submit_review(pull, wish.who, "CHANGES_REQUESTED", body, places)


def _line(lines: list[str], tag: str) -> int:
    begins = _SEEN_AT.get(tag)
    found = (at for at, line in enumerate(lines, 1) if begins and line.startswith(begins))
    return next(found, len(lines))


def _page(pull: PullRequest) -> str:
    """The file that the pull request is about."""
    objects = pull.repository.objects
    head, base = objects.commits[pull.head_sha].files, objects.commits[pull.base_sha].files
    return next(iter(sorted(path for path in head if head[path] != base.get(path))), "claims/first.md")


_CREATED = re2.compile(r"(?m)^created: .*$")


def _revised(github: Standin, pull: PullRequest) -> str:
    """The page with a good date, and a sentence more."""
    dated = _CREATED.sub(f"created: {github.now():%Y-%m-%d}", _content(pull, _page(pull)))
    return f"{dated.rstrip()}\n\nRevised after the review.\n"


def _content(pull: PullRequest, path: str) -> str:
    return (pull.repository.objects.content(pull.head_sha, path) or b"").decode("utf-8", "replace")


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name, "")
    return value.strip()[:_LONGEST] if isinstance(value, str) else ""
