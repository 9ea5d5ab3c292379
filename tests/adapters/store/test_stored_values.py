"""What version 0.1 stored keeps its meaning: `written_by_0_1` was made by that version and never changes."""

import gzip
import json
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from bot.adapters.store import open_store
from bot.adapters.store.codec import EFFECTS, decode, decode_effect, encode, encode_effect, encode_record
from bot.adapters.store.outbox import owed
from bot.decisions.selection import report_of
from bot.domain import bundle
from bot.domain.comment import Site
from bot.domain.effects import Effect
from bot.domain.history import history, needed_since
from bot.domain.history_text import history_text
from bot.domain.history_words import Setting
from bot.domain.judged import judged
from bot.domain.links import Web
from bot.domain.memory import Record, last_hours, reaches_back
from bot.domain.model import PullRequest
from bot.domain.patterns import all_patterns
from bot.engine.commands import ask_of
from bot.engine.weeks import Weeks
from bot.wiring.rule_parts import kept_rules

WRITTEN = Path(__file__).with_name("written_by_0_1")
VALUES = json.loads((WRITTEN / "values.json").read_text("utf-8"))
SHOWN = json.loads((WRITTEN / "shown.json").read_text("utf-8"))
NOW = datetime.fromisoformat(SHOWN["now"])
HOURS = 24 * 60


@pytest.fixture
async def old_store(tmp_path):
    """The store of a bot that ran on version 0.1, opened by this one."""
    file = tmp_path / "bot.db"
    file.touch(mode=0o600)
    file.write_bytes(gzip.decompress((WRITTEN / "store.db.gz").read_bytes()))
    async with open_store(f"sqlite:///{file}", worker=True) as store:
        yield store


async def known_repository(store):
    return await store.memory.repository_named("acme/knowledge")


def test_every_effect_has_a_stored_name():
    assert set(EFFECTS.values()) == set(get_args(Effect))


@pytest.mark.parametrize("kind", sorted(EFFECTS))
def test_an_effect_that_0_1_stored_is_read_without_loss(kind):
    effect = decode_effect(json.dumps(VALUES[kind]))
    assert json.loads(encode_effect(effect)) == VALUES[kind]


def test_a_pull_request_that_0_1_stored_is_read_without_loss():
    # Every field was set when it was stored, so none may be back at its default.
    pull_request = decode(json.dumps(VALUES["PullRequest"]), PullRequest)
    assert json.loads(encode_record(pull_request)) == VALUES["PullRequest"]
    lost = [
        field.name
        for field in fields(PullRequest)
        if field.name != "sticky" and getattr(pull_request, field.name) == field.default
    ]
    assert lost == ["open"]  # its default is true, and so was the stored one


def test_a_record_that_0_1_stored_is_read_without_loss():
    assert json.loads(encode(decode(json.dumps(VALUES["Record"]), Record))) == VALUES["Record"]


async def test_effects_waiting_in_the_outbox_of_0_1_can_be_sent(old_store):
    rows = await old_store._database.read(lambda transaction: owed(transaction, ["pr:1:999"]))
    assert [type(row.effect) for row in rows] == [EFFECTS[kind] for kind in sorted(EFFECTS)]


async def test_history_and_patterns_of_0_1_show_the_same_numbers(old_store):
    where = await known_repository(old_store)
    rules = await kept_rules(old_store, where)
    author = await old_store.memory.author(where.id, "rio-agent[bot]", shared=False)
    ask = ask_of(author.login, rules, NOW, HOURS)
    records, fixes = await old_store.memory.authored(where.id, needed_since(ask), author.id, shared=False)
    shown = history(records, rules.gates, ask, fixes)
    assert shown.patterns.as_json() == SHOWN["history"]
    text = history_text(shown, Setting(where, rules.gates, Web(), is_default=False, is_terminal=True))
    assert text == SHOWN["history_text"]

    window, dead_after = last_hours(HOURS, NOW), timedelta(days=rules.history.dead_after_days)
    every = await old_store.memory.records(where.id, reaches_back(window.before, dead_after), shared=False)
    now, before = (judged(every, each, dead_after) for each in (window, window.before))
    found = all_patterns(now, before, rules.gates, HOURS)
    assert {login: patterns.as_json() for login, patterns in found.items()} == SHOWN["patterns"]


async def test_the_week_of_0_1_reads_the_same(old_store):
    where = await known_repository(old_store)
    rules = await kept_rules(old_store, where)
    told = await Weeks(old_store.memory, None, Site(Web())).told(where, rules, None, NOW)
    assert told.issue.body == SHOWN["weekly"]


async def test_iterations_of_0_1_are_exported_as_before(old_store):
    where = await known_repository(old_store)
    known = await old_store.load(f"pr:{where.id}:{SHOWN['pull_request']}")
    report = report_of(known, await kept_rules(old_store, where))
    assert bundle.files(report, where, tracked=known.tracked) == SHOWN["export"]
