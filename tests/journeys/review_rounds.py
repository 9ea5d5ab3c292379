"""Reviews and pushes in turn, and what the comment shows of them."""

from tests.builders import issues_marker
from tests.journeys.submitted_documents import PAGE

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"


async def review_and_wait(harness, pull, *tags, by="alice"):
    """A review of the present head, and all that follows from it."""
    harness.advance_clock()
    harness.github.submit_review(pull, by, REJECT if tags else APPROVE, issues_marker(*tags) if tags else "")
    await harness.wait_until_idle()


def push(harness, pull, text, path=PAGE) -> str:
    harness.advance_clock()
    return harness.github.push(pull, {path: text}).sha


def progress_section(body: str) -> str:
    """The fold with the iterations; once nothing rejects any more, its summary is about the quality."""
    titles = ("<summary>Progress", "<summary>Quality")
    return next((part for part in body.split("<details>") if part.startswith(titles)), "")


def sticky_comment(harness, pull) -> str:
    """The one comment with the marker."""
    return next(body for body in harness.comments(pull) if body.startswith("<!-- REJECTION: "))


def progress_summary(harness, pull) -> str:
    """The result that the comment's fold tells in its one line."""
    return (
        progress_section(sticky_comment(harness, pull)).partition("</summary>")[0].removeprefix("<summary>")
    )
