"""What is left of a person after `/feedback-forget` or an uninstall: in no table, and in no byte of the files."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import ANY

import aiohttp
import pytest
from sqlalchemy import select, update

from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.store.deliveries import load_parked
from bot.store.repositories import TRANSFER_GRACE
from bot.store.schema import DONE, PARKED, delivery_table, former_owner_table, metadata

REJECT = "CHANGES_REQUESTED"
DATE = "<!-- ISSUES: date_errors -->"
WHO = "xanthippe-q"
TITLES = ("Quixotic zebras waltz at noon", "Vexed wizards jump quickly")
SAID = (
    "Sphinx of black quartz judges my vow.",
    "Jackdaws love my big sphinx.",
    "Pangrams are overrated here.",
)
TRACES = (WHO, *TITLES, *SAID)


@pytest.fixture
async def known(journey):
    """A person who opened, reviewed, commented and appealed; returns the repository and two open pull requests."""
    github = journey.github
    where = github.repository(
        "acme/knowledge", collaborators={"alice": "write", "bob": "maintain", WHO: "write"}
    )
    rejected = github.open_pull_request(where, WHO, PullRequestOptions(title=TITLES[0]))
    github.submit_review(rejected, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    github.comment(rejected, WHO, f"/feedback-appeal date_errors reason: {SAID[0]}")
    github.comment(rejected, "bob", f"/feedback-history @{WHO}")
    await journey.wait_until_idle()
    github.close(rejected)
    reviewed = github.open_pull_request(where, "rio-agent[bot]")
    github.submit_review(reviewed, WHO, REJECT, f"{DATE}\n{SAID[1]}")
    await journey.wait_until_idle()
    github.close(reviewed)
    unreviewed = github.open_pull_request(where, WHO, PullRequestOptions(title=TITLES[1]))
    github.comment(unreviewed, WHO, SAID[2])
    standing = github.open_pull_request(where, "rio-agent[bot]")
    github.submit_review(standing, WHO, REJECT, DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    return where, unreviewed, standing


async def traces(journey):
    """Where anything of the person is left: tables, and on SQLite the bytes of the files."""
    database = journey.bot.store.database
    left = set()
    for name, table in metadata.tables.items():
        rows = await database.read(lambda t, table=table: t.execute(select(table)).all())
        text = "\n".join(repr(tuple(row)) for row in rows).lower()
        left |= {(name, trace) for trace in TRACES if trace.lower() in text}
    if journey.database_url.startswith("sqlite:///"):
        for name, content in files(journey.database_url.removeprefix("sqlite:///")).items():
            left |= {(name, trace) for trace in TRACES if trace.lower().encode() in content.lower()}
    return left


def files(path):
    """The database and its write-ahead log, byte by byte."""
    return {name: Path(name).read_bytes() for name in (path, f"{path}-wal")}


async def test_after_forgetting_nothing_names_the_person_or_has_their_words(journey, known):
    _, unreviewed, _ = known
    assert {trace for _, trace in await traces(journey)} == set(TRACES)
    journey.github.comment(unreviewed, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()
    assert await traces(journey) == set()


async def test_an_open_pull_request_keeps_its_findings_without_the_reviewers_name(journey, known):
    _, unreviewed, standing = known
    assert WHO in journey.comments(standing)[0]
    journey.github.comment(unreviewed, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.submit_review(standing, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    (marker,) = journey.markers(standing)
    assert sorted(marker["issues"]) == ["date_errors", "scope_error"]
    assert WHO not in journey.comments(standing)[-1]
    assert await traces(journey) == set()


async def test_thread_api_and_export_agree_once_somebody_is_forgotten(journey, known):
    where, unreviewed, standing = known
    github = journey.github
    other = github.open_pull_request(where, "rio-agent[bot]", PullRequestOptions(files={"a.md": "# A\n"}))
    line = [InlineDraft("a.md", "[date_errors] the date is wrong", 1)]
    review = github.submit_review(other, "alice", REJECT, "<!-- ISSUES: scope_error -->", line)
    await journey.wait_until_idle()
    github.comment(other, WHO, "/feedback-dismiss scope_error reason: it is fine")
    github.resolve_thread(review.comments[0], by=WHO)
    await journey.wait_until_idle()
    paths = [
        f"/pulls/{pull.number}/{kind}" for pull in (standing, other) for kind in ("findings", "feedback")
    ]
    before = [await asked(journey, where, path) for path in paths]
    assert all(WHO in repr(content) for content in (before[0], before[1], before[2]))
    assert all(WHO in journey.comments(pull)[0] for pull in (standing, other))

    journey.advance_clock()
    github.comment(unreviewed, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()

    after = [await asked(journey, where, path) for path in paths]
    assert [WHO in repr(content) for content in after] == [False] * 4
    assert [
        [(finding["id"], finding["status"], finding["words"]) for finding in content["findings"]]
        for content in (after[0], after[2])
    ] == [
        [(finding["id"], finding["status"], finding["words"]) for finding in content["findings"]]
        for content in (before[0], before[2])
    ]
    assert not any(WHO in comment for pull in (standing, other) for comment in journey.comments(pull))
    (marker,) = journey.markers(standing)
    assert marker["issues"] == ["date_errors"]
    exported_after = await exported(journey, where, WHO, WHO)
    assert {name for name, value in exported_after.items() if value} == {"login", "id", "repository"}
    assert await traces(journey) == set()


async def test_a_forgotten_reviewer_still_lifts_their_own_rejection(journey, known):
    _, unreviewed, standing = known
    journey.github.comment(unreviewed, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.submit_review(standing, WHO, "APPROVED")
    await journey.wait_until_idle()
    assert journey.markers(standing)[0]["issues"] == []


async def test_a_forgotten_author_may_still_not_dismiss_what_rejects_their_pull_request(journey, known):
    _, unreviewed, _ = known
    journey.github.submit_review(unreviewed, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(unreviewed, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()
    journey.advance_clock(61)
    journey.github.comment(unreviewed, WHO, "/feedback-dismiss date_errors reason: because")
    await journey.wait_until_idle()
    assert journey.markers(unreviewed)[0]["issues"] == ["date_errors"]


async def test_what_waits_is_dealt_with_and_then_emptied(journey, known):
    _, unreviewed, standing = known
    journey.github.hold()
    journey.github.comment(unreviewed, WHO, "/feedback-forget confirm")
    journey.github.submit_review(standing, WHO, "APPROVED", SAID[0])
    journey.github.release()
    await journey.wait_until_idle()
    assert journey.markers(standing)[0]["issues"] == []
    database = journey.bot.store.database
    bodies = select(delivery_table.c.body).where(
        delivery_table.c.state == DONE, delivery_table.c.lane.like("pr:%")
    )
    assert set(await database.read(lambda t: t.execute(bodies).scalars().all())) == {None}


async def test_a_parked_delivery_that_names_the_person_is_deleted_and_can_come_again(journey, known):
    _, unreviewed, standing = known
    database = journey.bot.store.database
    parked = update(delivery_table).where(delivery_table.c.lane.endswith(f":{unreviewed.number}"))
    await database.write(lambda t: t.execute(parked.values(state=PARKED, error=f"KeyError: {WHO}")))
    journey.github.comment(standing, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()
    assert await journey.bot.store.read(load_parked) == ()
    assert await traces(journey) == set()
    (opened, *_) = [
        each
        for each in journey.github.deliveries.all
        if TITLES[1].encode() in each.body and each.event == "pull_request"
    ]
    journey.github.deliveries.redeliver(opened)
    await journey.wait_until_idle()
    ids = select(delivery_table.c.state).where(delivery_table.c.id == opened.guid)
    assert await database.read(lambda t: t.execute(ids).scalar()) == DONE


async def test_a_day_after_an_uninstall_nothing_names_the_person_or_has_their_words(journey, known):  # noqa: ARG001
    journey.github.uninstall("acme")
    await journey.wait_until_idle()
    store = journey.bot.store
    older = update(former_owner_table).values(at=former_owner_table.c.at - TRANSFER_GRACE - 1)
    await store.database.write(lambda transaction: transaction.execute(older))
    await store.sweep()
    assert await traces(journey) == set()


async def exported(journey, where, login, reader):
    """What is exported about somebody to the reader, who asks over HTTP."""
    return await asked(journey, where, f"/authors/{login}/export?per_page=100", reader)


async def asked(journey, where, path, reader="alice"):
    """What the API answers to the reader."""
    host, port = journey.bot.address
    token = journey.github.tokens.for_user(journey.github.account(reader)).token
    address = f"http://{host}:{port}/api/v1/repos/{where.full_name}{path}"
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
        session.get(address) as response,
    ):
        return await response.json(content_type=None)


async def test_an_export_has_titles_unreviewed_pull_requests_and_deliveries(journey, known):
    where, unreviewed, _ = known
    content = await exported(journey, where, WHO, WHO)
    assert tuple(each["title"] for each in content["pull_requests"]) == TITLES
    assert all(said in repr(content) for said in SAID)
    assert all(WHO in repr(each["body"]) for each in content["deliveries"])
    assert content["commands"] == [
        {"command": "appeal", "arguments": {"tag": "date_errors", "reason": SAID[0]}, "at": ANY}
    ]
    opened = [each["body"] for each in content["deliveries"] if each["event"] == "pull_request"]
    assert {body["pull_request"]["title"] for body in opened} >= set(TITLES)
    journey.github.comment(unreviewed, WHO, "/feedback-forget confirm")
    await journey.wait_until_idle()
    after = await exported(journey, where, WHO, WHO)
    assert {name for name, value in after.items() if value} == {"login", "id", "repository"}


async def test_a_maintainer_exports_what_is_stored_about_an_author_whom_nobody_reviewed(journey, known):
    where, *_ = known
    journey.github.open_pull_request(where, "dora", PullRequestOptions(title="Fresh"))
    await journey.wait_until_idle()
    content = await exported(journey, where, "Dora", "bob")
    assert [each["title"] for each in content["pull_requests"]] == ["Fresh"]
