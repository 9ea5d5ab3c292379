"""Builders of history records; times are in days before `NOW`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.gates.packs import load_pack
from bot.history.model import HistoryRecord, replay_record
from bot.pull_request.model import Item, OverturnedTag, Stance, Validator, Verdict
from bot.values import Account, Location

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RIO = Account(501, "rio-agent[bot]", bot=True)
CLAY = Account(502, "clay-agent[bot]", bot=True)
BOB = Account(503, "bob")


def days_ago(number: float) -> datetime:
    return NOW - timedelta(days=number)


def make_verdict(ago, stance, tags=(), *, by="alice", head="a", placed=False, **facts) -> Verdict:
    place = Location("claims/x.md", 5) if placed else None
    items = tuple(Item(tag, place=place, url=f"u{ago}-{tag}") for tag in tags)
    facts.setdefault("id", f"review:{by}{ago}")
    return Verdict(
        validator=Validator(f"user:{by}", by),
        stance=stance,
        at=days_ago(ago),
        head=head * 40 if len(head) == 1 else head,
        items=items,
        **facts,
    )


def make_rejection(ago, *tags, **facts) -> Verdict:
    return make_verdict(ago, Stance.REJECTS, tags, **facts)


def make_approval(ago, **facts) -> Verdict:
    return make_verdict(ago, Stance.APPROVES, **facts)


def make_record(
    number, *verdicts, author=RIO, pushed=(), closed=None, merged=None, overturned=(), **facts
) -> HistoryRecord:
    """`pushed`, `closed` and `merged` are days ago; `overturned` are (days ago, tag)."""
    ended = merged if merged is not None else closed
    first = max((*pushed, *((NOW - verdict.at) / timedelta(days=1) for verdict in verdicts), ended or 0))
    record = HistoryRecord(
        number=number,
        author=author,
        created_at=days_ago(first),
        pushed_at=tuple(days_ago(ago) for ago in pushed),
        verdicts=verdicts,
        closed_at=None if ended is None else days_ago(ended),
        merged=merged is not None,
        overturned=tuple(OverturnedTag(tag, days_ago(ago)) for ago, tag in overturned),
        **facts,
    )
    return replay_record(record)


GATES = load_pack(Path(__file__).parents[2] / "rules" / "knowledge-base.yml")
