"""Pull requests told as short stories: minutes, heads, who said what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.domain.model import Account, Item, PullRequest, Repository, Revision, Stance, Validator, Verdict

START = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)
ACME = Repository(id=7, owner="acme", name="knowledge", installation_id=1)
AUTHOR = Account(id=501, login="scribe-bot", bot=True)


def minute(number: float) -> datetime:
    return START + timedelta(minutes=number)


def head(letter: str) -> str:
    return letter * 40


def person(name: str = "alice") -> Validator:
    return Validator(key=f"user:{name}", name=name)


def check(name: str = "validate") -> Validator:
    return Validator(key=f"check:{name}", name=name, check=True)


def said(at, who, stance, where="a", tags=(), **facts) -> Verdict:
    validator = who if isinstance(who, Validator) else person(who)
    items = facts.pop("items", tuple(Item(tag=tag) for tag in tags))
    facts.setdefault("id", f"review:{int(at * 10)}")
    sha = None if where is None else head(where)
    return Verdict(validator=validator, stance=stance, at=minute(at), head=sha, items=items, **facts)


def rejects(at, who="alice", where="a", tags=("date_errors",), **facts) -> Verdict:
    return said(at, who, Stance.REJECTS, where, tags, **facts)


def approves(at, who="alice", where="a", **facts) -> Verdict:
    return said(at, who, Stance.APPROVES, where, **facts)


def pull_request(*verdicts, pushes=(), at_head="a", **facts) -> PullRequest:
    """A pull request; `pushes` are (minute, letter)."""
    return PullRequest(
        repository=ACME,
        number=212,
        author=AUTHOR,
        title="Claim: futarchy resists manipulation",
        base="main",
        head=head(at_head),
        created_at=minute(0),
        updated_at=minute(600),
        revisions=tuple(Revision(head(letter), minute(at)) for at, letter in pushes),
        verdicts=verdicts,
        **facts,
    )
