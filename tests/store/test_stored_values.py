"""What version 0.1 stored keeps its meaning: `written_by_0_1` was made by that version and never changes."""

import gzip
import json
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from bot.history import export
from bot.history.fetch import history_query
from bot.history.model import HistoryRecord, earliest_activity, window_of_last_hours
from bot.history.outcomes import outcomes_in_window
from bot.history.patterns import build_history, compute_all_patterns, history_needed_since
from bot.history.store import find_author, load_author, load_records
from bot.history.text import HistoryContext, render_history
from bot.iterations.selection import selection_report
from bot.markdown.links import GitHubLinks, LinkContext
from bot.pull_request.effects import Effect
from bot.pull_request.model import PullRequest
from bot.store.codec import STORED_EFFECTS, decode, decode_effect, encode, encode_effect, encode_record
from bot.store.outbox import load_owed
from bot.store.pull_requests import load_pull_request
from bot.store.repositories import find_repository
from bot.store.store import open_store
from bot.turn.rule_book import stored_rules
from bot.weekly.fetch import WeeklyFetcher

WRITTEN = Path(__file__).with_name("written_by_0_1")
VALUES = json.loads((WRITTEN / "values.json").read_text("utf-8"))
SHOWN = json.loads((WRITTEN / "shown.json").read_text("utf-8"))
NOW = datetime.fromisoformat(SHOWN["now"])
HOURS = 24 * 60
EFFECTS = sorted(VALUES.keys() & STORED_EFFECTS.keys())
"""Those that version 0.1 had."""


@pytest.fixture
async def old_store(tmp_path):
    """The store of a bot that ran on version 0.1, opened by this one."""
    file = tmp_path / "bot.db"
    file.touch(mode=0o600)
    file.write_bytes(gzip.decompress((WRITTEN / "store.db.gz").read_bytes()))
    async with open_store(f"sqlite:///{file}", worker=True) as store:
        yield store


async def known_repository(store):
    return await store.read(find_repository, "acme/knowledge")


def test_every_effect_has_a_stored_name():
    assert set(STORED_EFFECTS.values()) == set(get_args(Effect))


@pytest.mark.parametrize("kind", EFFECTS)
def test_an_effect_that_0_1_stored_is_read_without_loss(kind):
    effect = decode_effect(json.dumps(VALUES[kind]))
    assert not lost_values(VALUES[kind], json.loads(encode_effect(effect)))


def test_a_pull_request_that_0_1_stored_is_read_without_loss():
    # Every field was set when it was stored, so none may be back at its default.
    pull_request = decode(json.dumps(VALUES["PullRequest"]), PullRequest)
    # Who resolved a thread was not stored, and only that decides what it means.
    assert lost_values(VALUES["PullRequest"], json.loads(encode_record(pull_request))) == ["resolved_threads"]
    unset = [
        field.name
        for field in fields(PullRequest)
        if field.name in VALUES["PullRequest"].keys() - {"sticky"}
        and getattr(pull_request, field.name) == field.default
    ]
    assert unset == ["open"]  # its default is true, and so was the stored one


def test_a_record_that_0_1_stored_is_read_without_loss():
    record = decode(json.dumps(VALUES["Record"]), HistoryRecord)
    # What was followed is now read from the findings.
    assert lost_values(VALUES["Record"], json.loads(encode(record))) == ["followed"]


def lost_values(stored, current, path=""):
    """The values that a decoded value no longer has; fields that are new since then do not matter."""
    if isinstance(stored, dict) and isinstance(current, dict):
        inside = ((key, value, current.get(key)) for key, value in stored.items())
    elif isinstance(stored, list) and isinstance(current, list) and len(stored) == len(current):
        inside = zip(range(len(stored)), stored, current, strict=True)
    else:
        return [] if stored == current else [path]
    return [lost for key, *pair in inside for lost in lost_values(*pair, f"{path}.{key}".strip("."))]


def test_an_earlier_version_ignores_what_it_does_not_know():
    newer = {**VALUES["Record"], "findings_of_tomorrow": [{"number": 1}]}
    assert decode(json.dumps(newer), HistoryRecord) == decode(json.dumps(VALUES["Record"]), HistoryRecord)
    newer = {**VALUES["PullRequest"], "ledger_of_tomorrow": {"number": 1}}
    assert decode(json.dumps(newer), PullRequest) == decode(json.dumps(VALUES["PullRequest"]), PullRequest)


def figures(text):
    """The marker, and the rows of the tables, without those that have another wording or one more column."""
    reworded = ("| Judged", "| Reviewed", "| Author", "| `rio-agent[bot]`")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(reworded)]
    return text.splitlines()[0], rows


async def test_effects_waiting_in_the_outbox_of_0_1_can_be_sent(old_store):
    rows = await old_store.database.read(lambda transaction: load_owed(transaction, ["pr:1:999"]))
    assert [type(row.effect) for row in rows] == [STORED_EFFECTS[kind] for kind in EFFECTS]


async def test_history_and_patterns_of_0_1_show_the_same_numbers(old_store):
    where = await known_repository(old_store)
    rules = await stored_rules(old_store, where)
    author = await old_store.read(find_author, where.id, "rio-agent[bot]", shared=False)
    ask = history_query(author, rules, NOW, HOURS)
    records, fixes = await old_store.read(
        load_author, where.id, history_needed_since(ask), author.id, shared=False
    )
    shown = build_history(records, rules.gates, ask, fixes)
    assert shown.patterns.as_json() == SHOWN["history"]
    text = render_history(
        shown, HistoryContext(where, rules.gates, GitHubLinks(), is_default=False, is_terminal=True)
    )
    assert figures(text) == figures(SHOWN["history_text"])

    window, inactive_after = window_of_last_hours(HOURS, NOW), timedelta(days=rules.history.dead_after_days)
    every = await old_store.read(
        load_records, where.id, earliest_activity(window.before, inactive_after), shared=False
    )
    now, before = (outcomes_in_window(every, each, inactive_after) for each in (window, window.before))
    found = compute_all_patterns(now, before, rules.gates, HOURS)
    assert {login: patterns.as_json() for login, patterns in found.items()} == SHOWN["patterns"]


async def test_the_week_of_0_1_reads_the_same(old_store):
    where = await known_repository(old_store)
    rules = await stored_rules(old_store, where)
    told = await WeeklyFetcher(old_store, None, LinkContext(GitHubLinks())).fetch_week(
        where, rules, None, NOW
    )
    assert figures(told.issue.body) == figures(SHOWN["weekly"])


async def test_iterations_of_0_1_are_exported_as_before(old_store):
    where = await known_repository(old_store)
    known = await old_store.read(load_pull_request, f"pr:{where.id}:{SHOWN['pull_request']}")
    report = selection_report(known, await stored_rules(old_store, where))
    files = export.export_files(report, where, tracked=known.tracked)
    assert files.keys() == SHOWN["export"].keys()
    for name in ("best-tracker.json", "final-output/manifest.json"):
        assert files[name] == SHOWN["export"][name]
    for name, text in SHOWN["export"].items():
        if name.startswith("iterations/"):
            assert measured(files[name]) == measured(text)


def measured(text):
    """What the rules of the score and the order of the findings do not change."""
    metrics = json.loads(text)
    kept = ("iteration", "artifacts", "timestamp", "head", "tree", "available", "unobserved", "checks")
    values = {name: dimension["value"] for name, dimension in metrics["dimensions"].items()}
    return {name: metrics[name] for name in kept}, values, sorted(metrics["open"])
