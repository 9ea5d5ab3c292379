"""Repositories and installations come, change their names, and go; what is stored follows."""

import pytest
from sqlalchemy import select

from bot.adapters.store.codec import decode
from bot.adapters.store.memory_schema import record, repository
from bot.adapters.store.schema import metadata, pull_request
from bot.domain.model import PullRequest

REJECT = "CHANGES_REQUESTED"
DATE = "<!-- ISSUES: date_errors -->"


@pytest.fixture
async def judged(journey, knowledge, pull):
    """Rejected pull requests in two repositories of two owners."""
    other = journey.github.repository("other/wiki", collaborators={"alice": "write"})
    theirs = journey.github.open_pull_request(other, "rio-agent[bot]")
    for each in (pull, theirs):
        journey.github.submit_review(each, "alice", REJECT, DATE)
    journey.github.comment(pull, "alice", "/feedback-help")
    await journey.settled()
    return knowledge, other


async def rows(journey, table, *columns):
    database = journey.bot.store._database
    chosen = [table.c[name] for name in columns]
    return sorted(tuple(row) for row in await database.read(lambda t: t.execute(select(*chosen)).all()))


async def test_uninstalling_deletes_all_of_that_installation_and_nothing_else(journey, judged):
    _, other = judged
    journey.github.uninstall("acme")
    await journey.settled()
    left = {
        name: {value for row in await rows(journey, table, "repository_id") for value in row}
        for name, table in metadata.tables.items()
        if "repository_id" in table.c
    }
    assert {name: ids for name, ids in left.items() if ids} == {
        name: {other.id} for name in ("pull_request", "record") if left[name]
    }
    assert await rows(journey, repository, "id") == [(other.id,)]


async def test_a_repository_that_the_app_is_shut_out_of_is_forgotten(journey, judged):
    knowledge, other = judged
    journey.github.remove_from_installation(knowledge)
    await journey.settled()
    assert await rows(journey, record, "repository_id") == [(other.id,)]


async def test_a_renamed_repository_keeps_its_memory(journey, judged):
    knowledge, _ = judged
    journey.github.rename_repository(knowledge, "wisdom")
    await journey.settled()
    found = await journey.bot.store.memory.repository_named("acme/Wisdom")
    assert (found.id, await journey.bot.store.memory.repository_named("acme/knowledge")) == (
        knowledge.id,
        None,
    )


async def test_a_transferred_repository_keeps_its_memory_under_its_new_owner(journey, judged, pull):
    knowledge, other = judged
    journey.github.transfer_repository(knowledge, "other")
    await journey.settled()
    found = await journey.bot.store.memory.repository_named("other/knowledge")
    installed = journey.github.installation_of(knowledge)
    assert (found.id, found.owner, found.installation_id) == (knowledge.id, "other", installed.id)
    assert await journey.bot.store.memory.repository_named("acme/knowledge") is None
    assert await rows(journey, record, "repository_id", "installation_id") == sorted(
        [(knowledge.id, installed.id), (other.id, installed.id)]
    )
    journey.later()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.settled()
    assert journey.markers(pull)[-1]["iteration"] == 2


async def test_a_repository_that_moved_away_is_not_forgotten_with_its_former_installation(journey, judged):
    knowledge, other = judged
    former = journey.github.installation_of(knowledge)
    journey.github.transfer_repository(knowledge, "other")
    await journey.settled()
    journey.github.remove_from_installation(knowledge, former)
    await journey.settled()
    journey.github.uninstall("acme")
    await journey.settled()
    assert await rows(journey, record, "repository_id") == sorted([(knowledge.id,), (other.id,)])


@pytest.mark.parametrize(
    ("change", "known"),
    [
        (lambda github, where: github.rename_repository(where, "wisdom"), ("acme", "wisdom", False)),
        (lambda github, where: github.transfer_repository(where, "other"), ("other", "knowledge", False)),
        (lambda github, where: github.set_private(where), ("acme", "knowledge", True)),
    ],
    ids=["renamed", "transferred", "made private"],
)
async def test_what_is_known_of_a_pull_request_names_its_repository_as_it_is_now(
    journey, judged, change, known
):
    knowledge, _ = judged
    change(journey.github, knowledge)
    await journey.settled()
    stored = await rows(journey, pull_request, "repository_id", "record")
    seen = next(decode(text, PullRequest) for where, text in stored if where == knowledge.id).repository
    assert (seen.owner, seen.name, seen.private) == known
    assert seen.installation_id == journey.github.installation_of(knowledge).id


async def test_a_deleted_repository_is_forgotten(journey, judged):
    knowledge, other = judged
    journey.github.delete_repository(knowledge)
    await journey.settled()
    left = {
        value
        for table in metadata.tables.values()
        if "repository_id" in table.c
        for row in await rows(journey, table, "repository_id")
        for value in row
    }
    assert (left, await rows(journey, repository, "id")) == ({other.id}, [(other.id,)])


async def test_an_author_who_deleted_their_account_still_gets_feedback(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.settled()
    journey.github.delete_account("dave")
    journey.later()
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.settled()
    assert journey.markers(pull)[-1]["issues"] == ["scope_error"]


async def test_a_repository_made_private_has_private_rows(journey, judged):
    knowledge, other = judged
    journey.github.set_private(knowledge)
    await journey.settled()
    assert await rows(journey, record, "repository_id", "private") == sorted(
        [(knowledge.id, True), (other.id, False)]
    )


async def test_an_agent_that_changed_its_login_keeps_its_record(journey, judged, pull):  # noqa: ARG001  it makes the past
    journey.github.rename_account("rio-agent[bot]", "rio-two[bot]")
    journey.later()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.comment(pull, "alice", "/feedback-history @rio-two")
    await journey.settled()
    assert (
        '"agent": "rio-two[bot]"' in journey.comments(pull)[-1]
        or '"agent":"rio-two[bot]"' in journey.comments(pull)[-1]
    )
    assert "1 pull request" in journey.comments(pull)[-1]


async def test_forgetting_an_author_keeps_the_numbers_without_the_name(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.settled()
    journey.github.comment(pull, "dave", "/feedback-forget confirm")
    await journey.settled()
    journey.later()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    await journey.settled()
    assert await rows(journey, record, "author_id", "login") == [(0, "ghost")]
    assert "Deleted for `dave` in this repository: 1 pull request" in journey.comments(pull)[-1]
