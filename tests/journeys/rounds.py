"""Rounds of judging and pushing, and what the comment says of them."""

from tests.builders import issues
from tests.journeys.submitted_documents import PAGE

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"


async def judge(town, pull, *tags, by="alice"):
    """A review of the present head, and all that follows from it."""
    town.later()
    town.github.submit_review(pull, by, REJECT if tags else APPROVE, issues(*tags) if tags else "")
    await town.settled()


def push(town, pull, text, path=PAGE) -> str:
    town.later()
    return town.github.push(pull, {path: text}).sha


def fold(body: str) -> str:
    return next((part for part in body.split("<details>") if part.startswith("<summary>Quality")), "")


def sticky(town, pull) -> str:
    """The one comment with the marker."""
    return next(body for body in town.comments(pull) if body.startswith("<!-- REJECTION: "))


def summary(town, pull) -> str:
    """The result that the comment's fold tells in its one line."""
    return fold(sticky(town, pull)).partition("</summary>")[0].removeprefix("<summary>")
