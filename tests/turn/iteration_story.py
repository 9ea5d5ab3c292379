"""A pull request over several iterations, and what the decision makes of it."""

from dataclasses import replace

from bot.pull_request.diff import FileDiff
from bot.pull_request.effects import Announce
from bot.pull_request.events import CheckEvent, ReviewState
from bot.pull_request.model import Revision
from tests import builders
from tests.builders import (
    HEADS,
    ID,
    REPOSITORY,
    RULES,
    at,
    facts,
    issues,
    moment,
    pull_request,
    review,
    written,
)

PAGE = "claims/futarchy.md"


def patch(*lines: str) -> str:
    return "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


def page(*lines: str, path: str = PAGE) -> FileDiff:
    text = patch(*lines)
    return FileDiff(path, added=len(lines), status="added", blob=f"blob {text}", patch=text)


def head(number: int, **read) -> Revision:
    """The head of this iteration, ten minutes after the one before."""
    return Revision(HEADS[number - 1], at(10 * number), **read)


def judged(*heads: Revision, **changes):
    return pull_request(head=heads[-1].head, revisions=heads, **changes)


def said(number: int, *tags: str, **changes):
    """Alice's review of this iteration's head."""
    state = ReviewState.CHANGES_REQUESTED if tags else ReviewState.APPROVED
    facts_of = {"state": state, "head": HEADS[number - 1], "submitted_at": at(10 * number + 1)}
    return review(10 * number + 1, issues(*tags) if tags else "", **{**facts_of, **changes})


def decided(known, read, rules=RULES, identity=ID):
    return builders.decided(known, read, rules, moment(90, identity))


def after(known, *reviews, rules=RULES):
    """The pull request with these reviews in it, and its comment written."""
    return written(decided(known, facts(*reviews), rules))


def told(decision) -> list[Announce]:
    return [effect for effect in decision.effects if isinstance(effect, Announce)]


def ended(name: str, conclusion: str, number: int = 1) -> CheckEvent:
    return CheckEvent(REPOSITORY, HEADS[number - 1], name, conclusion, at(50), "")


def three(*last: str):
    """Two blocking issues, then one warning, then whatever is given."""
    known = judged(head(1), head(2), head(3))
    reviews = (said(1, "date_errors", "scope_error"), said(2, "near_duplicate"), said(3, *last))
    return after(known, *reviews)


def closed(known, **changes):
    return replace(known, open=False, closed_at=at(80), updated_at=at(80), **changes)
