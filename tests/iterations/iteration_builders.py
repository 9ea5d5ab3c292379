"""Builders of iterations: verdicts by minute and head, and their scores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.gates.config import DiffSizeBand, shipped_scoring
from bot.gates.packs import load_pack
from bot.iterations.model import Iteration
from bot.iterations.scoring import Score, ScoredIteration
from bot.pull_request.checks import CheckResult
from bot.pull_request.diff import Diff, FileDiff
from bot.pull_request.model import Item, PullRequest, Revision, Stance, Validator, Verdict
from bot.values import Account, Repository

START = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)
ACME = Repository(id=7, owner="acme", name="knowledge", installation_id=1)
AUTHOR = Account(id=501, login="scribe-bot", bot=True)


def at_minute(number: float) -> datetime:
    return START + timedelta(minutes=number)


def head(letter: str) -> str:
    return letter * 40


def make_reviewer(name: str = "alice") -> Validator:
    return Validator(key=f"user:{name}", name=name)


def make_check_validator(name: str = "validate") -> Validator:
    return Validator(key=f"check:{name}", name=name, check=True)


def make_verdict(at, who, stance, where="a", tags=(), **facts) -> Verdict:
    validator = who if isinstance(who, Validator) else make_reviewer(who)
    items = facts.pop("items", tuple(Item(tag=tag) for tag in tags))
    facts.setdefault("id", f"review:{int(at * 10)}")
    sha = None if where is None else head(where)
    return Verdict(validator=validator, stance=stance, at=at_minute(at), head=sha, items=items, **facts)


def make_rejection(at, who="alice", where="a", tags=("date_errors",), **facts) -> Verdict:
    return make_verdict(at, who, Stance.REJECTS, where, tags, **facts)


def make_approval(at, who="alice", where="a", **facts) -> Verdict:
    return make_verdict(at, who, Stance.APPROVES, where, **facts)


def make_pull_request(*verdicts, pushes=(), at_head="a", **facts) -> PullRequest:
    """A pull request; `pushes` are (minute, letter)."""
    return PullRequest(
        repository=ACME,
        number=212,
        author=AUTHOR,
        title="Claim: futarchy resists manipulation",
        base="main",
        head=head(at_head),
        created_at=at_minute(0),
        updated_at=at_minute(600),
        revisions=tuple(Revision(head(letter), at_minute(at)) for at, letter in pushes),
        verdicts=verdicts,
        **facts,
    )


SCORING = shipped_scoring()
GATES = load_pack(Path(__file__).parents[2] / "rules" / "knowledge-base.yml")
BAND = DiffSizeBand()


def make_item(tag="date_errors", **facts) -> Item:
    return Item(tag=tag, **facts)


def make_document_item(aspect: str, severity: str, number: int = 1) -> Item:
    """An item of a document, which says itself what it is about and how much it matters."""
    return Item(tag=None, aspect=aspect, severity=severity, words=f"point {number} about {aspect}")


def make_iteration(number=1, letter="a", items=(), *, approved=False) -> Iteration:
    stance = Stance.REJECTS if items and not approved else Stance.APPROVES
    verdict = make_verdict(number, "alice", stance, letter, items=tuple(items))
    return Iteration(number, head(letter), at_minute(number), (verdict,))


def make_checks(passed: int, failed: int = 0, *, is_test=False) -> tuple[CheckResult, ...]:
    good = [CheckResult(f"good-{n}", "success", is_test) for n in range(passed)]
    return (*good, *(CheckResult(f"bad-{n}", "failure", is_test) for n in range(failed)))


def make_diff(*files, lines=20) -> Diff:
    """A diff of these files, or of one with so many added lines."""
    return Diff(files or (FileDiff("claims/a.md", added=lines, blob=f"blob-{lines}"),))


def make_unscored_iteration(number=1, letter="a", items=(), *, approved=False, **facts) -> ScoredIteration:
    return ScoredIteration(make_iteration(number, letter, items, approved=approved), **facts)


def make_scored_iteration(number: int, quality: float | None, **facts) -> ScoredIteration:
    """An iteration of which only the score matters."""
    letter = "abcdef0123456789"[number - 1]
    score = None if quality is None else Score(quality, ())
    return ScoredIteration(make_iteration(number, letter), score, **facts)


def make_minor_items(aspect: str, count: int) -> list[Item]:
    """Items that weigh as much as their number; nothing blocks, so that the score has no cap."""
    return [make_document_item(aspect, "minor", number) for number in range(1, count + 1)]


EXAMPLE_ITERATIONS = (
    make_unscored_iteration(
        1,
        "a",
        [
            *make_minor_items("correctness", 4),
            *make_minor_items("completeness", 4),
            *make_minor_items("clarity", 2),
        ],
        checks=make_checks(4, 1),
        diff=make_diff(),
    ),
    make_unscored_iteration(
        2,
        "b",
        [*make_minor_items("correctness", 4), *make_minor_items("completeness", 2)],
        checks=make_checks(5),
        diff=make_diff(lines=21),
    ),
    make_unscored_iteration(
        3,
        "c",
        [*make_minor_items("correctness", 4), *make_minor_items("clarity", 1)],
        checks=make_checks(4, 1),
        diff=make_diff(lines=22),
    ),
)
"""72 %, 85 %, 83 %: from values to scores."""
