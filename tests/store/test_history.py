"""What the store remembers of many pull requests equals what a brute-force look at all of them finds."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from bot.history.forget import count_stored, export_person
from bot.history.model import StoredCounts, build_history_record, week_containing
from bot.history.outcomes import latest_fixes
from bot.history.patterns import HistoryQuery, build_history, history_needed_since
from bot.history.store import find_author, load_author, load_documents, load_records
from bot.pull_request.effects import ForgetPerson, StoreDocument
from bot.pull_request.model import (
    FollowUp,
    Item,
    ItemOutcome,
    OverrideAudit,
    Revision,
    Ruling,
    RulingAction,
    SelectionChoice,
    SelectionOverride,
    Stance,
    TrackedIteration,
    Validator,
    Verdict,
)
from bot.store.model import TurnResult
from bot.store.pull_requests import load_pull_request
from bot.turn.store import apply_turn
from bot.values import Account, Repository
from bot.weekly.summary import WeekQuery, summarize_week
from bot.weekly.summary import summary_needed_since as week_needs
from tests.builders import KNOWLEDGE_BASE, START, make_pull_request
from tests.store.store_builders import claim_one, make_delivery

AUTHORS = tuple(Account(500 + number, f"agent-{number}[bot]", bot=True) for number in range(3))
HERE, THERE = Repository(77, "acme", "knowledge", 5), Repository(78, "acme", "secret", 5, private=True)
ELSEWHERE = Repository(79, "other", "wiki", 6)
TAGS = ("date_errors", "scope_error", "near_duplicate", "my_unknown_tag")


def generated(number, chance, where=HERE):
    """A pull request with a past of its own."""
    opened = START - timedelta(days=chance.uniform(0, 260))
    heads = [f"{chance.getrandbits(160):040x}" for _ in range(3)]
    verdicts, at = [], opened
    for index in range(chance.randrange(4)):
        at += timedelta(hours=chance.uniform(1, 90))
        rejects = chance.random() < 0.6
        tags = chance.sample(TAGS, chance.randrange(3)) if rejects else ()
        verdicts.append(
            Verdict(
                f"review:{number}{index}",
                Validator(f"user:{chance.randrange(2)}", "alice"),
                Stance.REJECTS if rejects else Stance.APPROVES,
                at,
                heads[min(index, 2)],
                tuple(Item(tag, words="some words", url=f"u{number}{tag}") for tag in tags),
                counted=chance.random() < 0.9,
            )
        )
    closed = at + timedelta(hours=1) if chance.random() < 0.6 else None
    return make_pull_request(
        repository=where,
        number=number,
        author=chance.choice(AUTHORS),
        head=heads[-1],
        created_at=opened,
        updated_at=at,
        open=closed is None,
        merged=closed is not None and chance.random() < 0.7,
        closed_at=closed,
        revisions=tuple(Revision(head, opened + timedelta(hours=5 * n)) for n, head in enumerate(heads)),
        verdicts=tuple(verdicts),
    )


async def kept(store, *pulls, store_commands=()):
    """Each of them through a turn of its own."""
    for known in pulls:
        lane = f"pr:{known.repository.id}:{known.number}"
        await store.accept(
            make_delivery(f"d-{lane}-{random.random()}", lane, known.repository.installation_id)
        )
        claim = await claim_one(store)
        await apply_turn(
            store, claim, TurnResult(known, (), tuple(one.id for one in claim.deliveries), (), store_commands)
        )
        await store.release(claim)


def counts(record):
    return bool(record.verdicts) or record.merged


@pytest.mark.parametrize("seed", range(2))
async def test_histories_and_weeks_equal_those_of_all_records(store, seed):
    chance = random.Random(seed)
    pulls = [generated(number, chance) for number in range(1, 17)]
    others = [generated(number, chance, where) for number in (1, 2, 3) for where in (THERE, ELSEWHERE)]
    await kept(store, *pulls, *others)
    everything = [record for record in map(build_history_record, pulls) if counts(record)]
    for author in AUTHORS:
        mine = [record for record in everything if record.author == author]
        for hours in (None, 24 * 7, 24 * 60):
            ask = HistoryQuery(author.login, START, UTC, hours)
            found, fixes = await store.read(load_author, HERE.id, history_needed_since(ask), author.id)
            assert build_history(found, KNOWLEDGE_BASE, ask, fixes) == build_history(
                mine, KNOWLEDGE_BASE, ask, latest_fixes(mine, START + timedelta(days=400))
            )
    ask = WeekQuery(HERE, week_containing(START, UTC).back(1), UTC)
    found = await store.read(load_records, HERE.id, week_needs(ask))
    assert summarize_week(found, KNOWLEDGE_BASE, ask) == summarize_week(everything, KNOWLEDGE_BASE, ask)


async def test_a_record_has_nobodys_words(store):
    known = generated(1, random.Random(3))
    said = Verdict(
        "review:9",
        Validator("user:1", "alice"),
        Stance.REJECTS,
        START,
        known.head,
        (Item("date_errors", words="these are private words", context_before="secret"),),
        said="these are private words",
    )
    await kept(store, replace(known, verdicts=(said,)))
    (found,) = await store.read(load_records, HERE.id, START - timedelta(days=900))
    assert [item.words + item.context_before for verdict in found.verdicts for item in verdict.items] == [""]
    assert "private" not in repr(found)


async def test_a_reviewer_gets_the_numbers_of_their_verdicts_and_has_them_forgotten(store):
    words = (Item("date_errors", words="this is bad"), Item("scope_error", words="fix it somehow"))
    said, another = (
        Verdict(f"review:{who}", Validator(f"user:{who}", name), Stance.REJECTS, START, "abc", items)
        for who, name, items in ((1, "alice", words), (2, "bob", words[:1]))
    )
    await kept(store, replace(generated(1, random.Random(3)), verdicts=(said, another)))
    (given,) = (await store.read(export_person, HERE.id, 1))["verdicts"]
    (before,) = await store.read(load_records, HERE.id, START - timedelta(days=900))
    assert (given["stated"]["items"], given["stated"]["vague"]) == (2, before.stated[0].vague)
    assert given["stated"]["claims"]["claims"] == 0
    assert [item["words"] for item in given["items"]] == ["this is bad", "fix it somehow"]
    await kept(
        store,
        generated(2, random.Random(1), THERE),
        store_commands=(ForgetPerson(HERE.id, 1, "alice", START, "k"),),
    )
    (after,) = await store.read(load_records, HERE.id, START - timedelta(days=900))
    assert [each.verdict for each in after.stated] == ["review:2"]
    assert (await store.read(export_person, HERE.id, 1))["verdicts"] == []


@pytest.mark.parametrize(
    ("voice", "left"),
    [
        (Validator("label:date_errors", "carol"), Validator("label:date_errors", "ghost")),
        (Validator("validation:8", "carol"), None),
        (
            Validator("validation:8:ruff", "ruff", bot=True, check=True),
            None,
        ),
        (
            Validator("check:ci/legal", "ci/legal", bot=True, check=True),
            Validator("check:ci/legal", "ci/legal", bot=True, check=True),
        ),
    ],
    ids=["label", "over HTTP", "linter over HTTP", "status"],
)
async def test_whatever_way_somebody_judged_is_theirs_to_see_and_to_have_forgotten(store, voice, left):
    said = Verdict("x:1", voice, Stance.REJECTS, START, "abc", (Item("date_errors"),), account_id=8)
    other = replace(said, id="x:2", validator=Validator("user:80", "dora"), account_id=80)
    closed = replace(
        generated(1, random.Random(3)), verdicts=(said, other), open=False, closed_at=START, merged=False
    )
    await kept(store, closed)
    exported = await store.read(export_person, HERE.id, 8)
    assert [each["id"] for each in exported["verdicts"]] == ["x:1"]
    assert (await store.read(count_stored, HERE.id, 8)).verdicts == 1
    await kept(
        store,
        generated(2, random.Random(1), THERE),
        store_commands=(ForgetPerson(HERE.id, 8, "carol", START, "k"),),
    )
    (found,) = await store.read(load_records, HERE.id, START - timedelta(days=900))
    known = await store.read(load_pull_request, f"pr:{HERE.id}:1")
    for one in (found, known):
        assert one.verdicts[1].validator == other.validator
        assert left is None or one.verdicts[0].validator == left
        assert (one.verdicts[0].account, one.verdicts[0].account_id) == ("", 0)
        assert "carol" not in repr(one)
        assert "validation:8" not in repr(one)
    assert await store.read(count_stored, HERE.id, 8) == StoredCounts()


async def test_an_author_is_found_by_any_spelling_of_the_login(store):
    known = generated(1, random.Random(3))
    await kept(store, replace(known, author=Account(9, "Rio_Agent[bot]", bot=True), merged=True))
    found = [
        await store.read(find_author, HERE.id, login)
        for login in ("Rio_Agent", "rio_agent[BOT]", "rioXagent[bot]")
    ]
    assert [account and account.id for account in found] == [9, 9, None]


async def test_only_the_newest_documents_are_kept(store):
    known = generated(1, random.Random(3))
    for number in range(25):
        at = START + timedelta(minutes=number)
        await kept(store, known, store_commands=(StoreDocument(f"doc-{number}", at, f'{{"n": {number}}}'),))
    found = await store.read(load_documents, f"pr:{HERE.id}:1")
    assert [one["n"] for one in found] == list(range(24, 4, -1))


async def test_forgetting_keeps_the_counts_and_drops_the_person(store):
    chance = random.Random(5)
    pulls = [replace(generated(number, chance), author=AUTHORS[0]) for number in range(1, 9)]
    await kept(store, *pulls)
    before = await store.read(load_records, HERE.id, START - timedelta(days=900))
    memo = ForgetPerson(HERE.id, AUTHORS[0].id, AUTHORS[0].login, START, "comment:1/0")
    await kept(store, generated(100, chance, THERE), store_commands=(memo,))
    after = await store.read(load_records, HERE.id, START - timedelta(days=900))
    nobody = [replace(record, author=Account(0, "ghost")) for record in before]
    assert sorted(after, key=lambda one: one.number) == sorted(nobody, key=lambda one: one.number)
    assert await store.read(count_stored, HERE.id, AUTHORS[0].id) == StoredCounts()
    assert AUTHORS[0].login not in repr(await store.read(export_person, HERE.id, AUTHORS[0].id))


@pytest.mark.parametrize("closes", ["before", "after"])
async def test_what_a_forgotten_reviewer_said_is_in_no_document_once_it_is_closed(store, closes):
    said, another = (
        Verdict(f"review:{who}", Validator(f"user:{who}", name), Stance.REJECTS, START, "abc")
        for who, name in ((1, "alice"), (2, "bob"))
    )
    known = replace(generated(1, random.Random(3)), verdicts=(said, another), open=True, closed_at=None)
    closed = replace(known, open=False, closed_at=START)
    hers, his = {"by": "alice", "issue": "her words"}, {"by": "bob", "issue": "his words"}
    documents = [{"brief": "her words", "feedback_items": items} for items in ([hers, his], [hers], [his])]
    told = tuple(StoreDocument(f"doc-{n}", START, json.dumps(one)) for n, one in enumerate(documents))
    forget = ForgetPerson(HERE.id, 1, "alice", START, "k")
    await kept(store, known, store_commands=told)
    if closes == "before":
        await kept(store, closed)
    await kept(store, generated(2, random.Random(1), THERE), store_commands=(forget,))
    if closes == "after":
        await kept(store, closed)
    found = await store.read(load_documents, f"pr:{HERE.id}:1")
    assert [one["feedback_items"] for one in found] == [[his], [his]]
    assert [one.get("brief") for one in found] in ([None, "her words"], ["her words", None])


async def test_a_forgotten_validators_last_word_is_still_their_last(store):
    chance = random.Random(7)
    pulls = [generated(number, chance) for number in range(1, 13)]
    await kept(store, *pulls)
    ask = WeekQuery(HERE, week_containing(START, UTC).back(1), UTC)
    before = await store.read(load_records, HERE.id, week_needs(ask))
    await kept(
        store,
        generated(100, chance, THERE),
        store_commands=(ForgetPerson(HERE.id, 1, "alice", START, "k/0"),),
    )
    after = await store.read(load_records, HERE.id, week_needs(ask))
    assert (
        summarize_week(after, KNOWLEDGE_BASE, ask).weeks == summarize_week(before, KNOWLEDGE_BASE, ask).weeks
    )
    assert "user:1'" not in repr(after)


async def test_a_dismissal_is_logged_and_overturns(store):
    known = generated(1, random.Random(3))
    said = Verdict(
        "review:9", Validator("user:1", "alice"), Stance.REJECTS, START, known.head, (Item("date_errors"),)
    )
    ruling = Ruling(
        RulingAction.DISMISS,
        "date_errors",
        2,
        "bob",
        START + timedelta(hours=1),
        known.head,
        "it is right",
        "c/0",
    )
    for _ in range(2):
        await kept(store, replace(known, verdicts=(said,), rulings=(ruling,)))
    (found,) = await store.read(load_records, HERE.id, START - timedelta(days=900))
    exported = await store.read(export_person, HERE.id, 2)
    (finding,) = found.findings
    assert (finding.tag, finding.status.value, finding.changes[-1].at) == (
        "date_errors",
        "dismissed",
        ruling.at,
    )
    assert found.rejecting_at(ruling.at) == ()
    assert [one["reason"] for one in exported["rulings"]] == ["it is right"]


async def test_what_a_forgotten_maintainer_decided_has_nobodys_name(store):
    at = START - timedelta(days=1)
    known = make_pull_request(repository=HERE, number=1, author=AUTHORS[0], open=False, closed_at=at)
    ruling = Ruling(RulingAction.DISMISS, "date_errors", 9, "bob", at, known.head, "bob's words", "c/0")
    override = SelectionOverride(SelectionChoice.USE_BEST, "bob", "bob's words", at, known.head, by_id=9)
    older = OverrideAudit("bob", at, "bob's words", known.head, SelectionChoice.USE_BEST, 1, 2)
    another = OverrideAudit("carol", at, "carol's words", known.head, SelectionChoice.USE_BEST, 2, 1, by_id=8)
    seen = ItemOutcome(at, "user:500", "user:9", "date_errors", placed=True, followed=True)
    tracked = TrackedIteration(1, known.head, FollowUp(followed=True, delta=0.1, clarity=1.0), (seen,))
    known = replace(
        known, rulings=(ruling,), override=override, audits=(older, another), tracked=(tracked,), merged=True
    )
    await kept(store, known)
    await kept(
        store,
        generated(2, random.Random(1), THERE),
        store_commands=(ForgetPerson(HERE.id, 9, "bob", START, "k/0"),),
    )
    found = await store.read(load_pull_request, f"pr:{HERE.id}:1")
    assert (found.override.choice, found.override.by, found.override.reason) == (
        SelectionChoice.USE_BEST,
        "ghost",
        "",
    )
    assert found.audits == (replace(older, by="ghost", reason=""), another)
    assert (found.rulings[0].tag, found.rulings[0].by, found.rulings[0].reason) == (
        "date_errors",
        "ghost",
        "",
    )
    assert found.tracked[0].observations == (replace(seen, reviewer=""),)
    await kept(store, known)
    assert (await store.read(export_person, HERE.id, 9))["rulings"] == []
    assert "bob" not in repr(replace(await store.read(load_pull_request, f"pr:{HERE.id}:1"), audits=()))
