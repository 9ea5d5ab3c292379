"""Repositories and installations come, change their names, and go; what is stored follows."""

import pytest
from sqlalchemy import select, update

from bot.pull_request.model import PullRequest
from bot.store.codec import decode
from bot.store.deliveries import load_parked
from bot.store.repositories import TRANSFER_GRACE, find_active_repositories, find_repository
from bot.store.schema import (
    delivery_table,
    former_owner_table,
    history_table,
    lane_table,
    metadata,
    outbox_table,
    pull_request_table,
    repository_table,
)

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
    await journey.wait_until_idle()
    return knowledge, other


async def rows(journey, table, *columns):
    database = journey.bot.store.database
    chosen = [table.c[name] for name in columns]
    return sorted(tuple(row) for row in await database.read(lambda t: t.execute(select(*chosen)).all()))


async def a_day_passes(journey):
    """The losses are a day older than they were, and the hourly sweep comes by."""
    store = journey.bot.store
    older = update(former_owner_table).values(at=former_owner_table.c.at - TRANSFER_GRACE - 1)
    await store.database.write(lambda transaction: transaction.execute(older))
    await store.sweep()


async def about(journey):
    """The repositories about which anything is left, by table."""
    left = {
        name: {value for row in await rows(journey, table, "repository_id") for value in row}
        for name, table in metadata.tables.items()
        if "repository_id" in table.c and table is not former_owner_table
    }
    return {name: ids for name, ids in left.items() if ids}


async def test_uninstalling_deletes_all_of_that_installation_and_nothing_else(journey, judged):
    knowledge, other = judged
    journey.github.uninstall("acme")
    await journey.wait_until_idle()
    assert await journey.bot.store.read(find_repository, knowledge.id) is None
    await a_day_passes(journey)
    left = await about(journey)
    assert left == {name: {other.id} for name in ("pull_request", "record") if left[name]}
    assert await rows(journey, repository_table, "id") == [(other.id,)]
    told = await rows(journey, delivery_table, "lane", "body")
    assert {body for key, body in told if key.startswith(f"pr:{knowledge.id}:")} == {b"{}"}


async def test_a_repository_that_the_app_is_shut_out_of_is_forgotten(journey, judged):
    knowledge, other = judged
    journey.github.remove_from_installation(knowledge)
    await journey.wait_until_idle()
    assert [
        where.id for where in await journey.bot.store.read(find_active_repositories, knowledge.created_at)
    ] == [other.id]
    await a_day_passes(journey)
    assert await rows(journey, history_table, "repository_id") == [(other.id,)]


async def test_a_late_delivery_brings_nothing_back_of_an_uninstalled_owner(journey, judged):
    _, other = judged
    before = list(journey.github.deliveries.all)
    journey.github.uninstall("acme")
    await journey.wait_until_idle()
    await a_day_passes(journey)
    for each in before:
        journey.github.deliveries.redeliver(each, guid=f"again {each.guid}")
    await journey.wait_until_idle()
    assert await rows(journey, repository_table, "id") == [(other.id,)]
    assert set(await rows(journey, history_table, "repository_id")) == {(other.id,)}


async def test_a_repository_that_comes_back_has_its_open_pull_requests_checked(journey, knowledge, pull):
    config = {".github/whetstone.yml": "version: 1\ncheck:\n  enabled: true\n"}
    journey.github.commit_to_default_branch(knowledge, config)
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.remove_from_installation(knowledge)
    await journey.wait_until_idle()
    unseen = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    journey.github.add_to_installation(knowledge)
    await journey.wait_until_idle()
    assert {run.head_sha for run in knowledge.check_runs.values()} >= {unseen.head_sha}


@pytest.mark.parametrize(
    ("again", "bodies"),
    [("date_errors", 1), ("scope_error", 2)],
    ids=["no worse: edited", "worse: superseded"],
)
async def test_after_a_reinstall_the_comment_of_before_is_taken_up(journey, judged, pull, again, bodies):
    knowledge, _ = judged
    journey.github.uninstall("acme")
    await journey.wait_until_idle()
    journey.github.add_to_installation(knowledge)
    await journey.wait_until_idle()
    journey.advance_clock(600)
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.submit_review(pull, "alice", REJECT, f"<!-- ISSUES: {again} -->")
    await journey.wait_until_idle()
    assert [marker["issues"] for marker in journey.markers(pull)] == [[again]]
    ours = [body for body in journey.comments(pull) if "ANSWER" not in body]
    assert len(ours) == bodies
    assert ours[0].startswith("Superseded by ") == (bodies == 2)


async def test_an_owner_is_answered_though_nobody_said_that_the_app_is_back(journey, judged, pull):
    knowledge, _ = judged
    journey.github.uninstall("acme")
    await journey.wait_until_idle()
    journey.github.hold()
    journey.github.add_to_installation(knowledge)
    journey.github.release(lambda _: [])
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    assert journey.markers(pull)[-1]["issues"] == ["scope_error"]


async def test_what_happened_before_the_app_was_shut_out_lets_it_in_nowhere(journey, judged):
    knowledge, _ = judged
    before = list(journey.github.deliveries.all)
    journey.github.remove_from_installation(knowledge)
    await journey.wait_until_idle()
    for each in before:
        journey.github.deliveries.redeliver(each, guid=f"again {each.guid}")
    await journey.wait_until_idle()
    assert await rows(journey, former_owner_table, "repository_id") == [(knowledge.id,)]
    assert await journey.bot.store.read(find_repository, knowledge.id) is None


@pytest.mark.parametrize("erased", [False, True])
async def test_a_repository_is_answered_though_nobody_said_that_it_was_let_in_again(
    journey, judged, pull, erased
):
    knowledge, _ = judged
    journey.github.remove_from_installation(knowledge)
    await journey.wait_until_idle()
    if erased:
        await a_day_passes(journey)
    journey.github.hold()
    journey.github.add_to_installation(knowledge)
    journey.github.release(lambda _: [])
    journey.advance_clock(660)
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    assert journey.markers(pull)[-1]["issues"] == ["scope_error"]
    assert await rows(journey, former_owner_table, "repository_id") == []


async def test_a_renamed_repository_keeps_its_memory(journey, judged):
    knowledge, _ = judged
    journey.github.rename_repository(knowledge, "wisdom")
    await journey.wait_until_idle()
    found = await journey.bot.store.read(find_repository, "acme/Wisdom")
    assert (found.id, await journey.bot.store.read(find_repository, "acme/knowledge")) == (
        knowledge.id,
        None,
    )


async def test_a_transferred_repository_keeps_its_memory_under_its_new_owner(journey, judged, pull):
    knowledge, other = judged
    journey.github.transfer_repository(knowledge, "other")
    await journey.wait_until_idle()
    found = await journey.bot.store.read(find_repository, "other/knowledge")
    installed = journey.github.installation_of(knowledge)
    assert (found.id, found.owner, found.installation_id) == (knowledge.id, "other", installed.id)
    assert await journey.bot.store.read(find_repository, "acme/knowledge") is None
    assert await rows(journey, history_table, "repository_id", "installation_id") == sorted(
        [(knowledge.id, installed.id), (other.id, installed.id)]
    )
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    assert journey.markers(pull)[-1]["iteration"] == 2


MOVING = ("review", "removed", "deleted", "transferred")


@pytest.mark.parametrize(
    "order",
    [
        MOVING,
        ("removed", "deleted", "review", "transferred"),
        ("transferred", "review", "deleted", "removed"),
        ("deleted", "transferred", "removed", "review"),
    ],
    ids=" ".join,
)
async def test_a_review_on_the_day_of_the_move_is_answered_and_nothing_is_forgotten(journey, judged, order):
    knowledge, other = judged
    former_home = journey.github.installation_of(knowledge)
    second = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    await journey.wait_until_idle()
    journey.github.hold()
    journey.github.submit_review(second, "alice", REJECT, DATE)
    journey.github.transfer_repository(knowledge, "other")
    journey.github.remove_from_installation(knowledge, former_home)
    journey.github.uninstall("acme")
    journey.github.release(lambda held: sorted(held, key=lambda each: place(each, order)))
    await journey.wait_until_idle()
    # A turn that was under way when the token ended is tried again.
    sooner = update(lane_table).values(due_at=lane_table.c.due_at - 60)
    await journey.bot.store.database.write(lambda transaction: transaction.execute(sooner))
    await journey.wait_until_idle()
    await a_day_passes(journey)
    installed = journey.github.installation_of(knowledge)
    assert await rows(journey, history_table, "repository_id", "installation_id") == sorted(
        [(knowledge.id, installed.id)] * 2 + [(other.id, installed.id)]
    )
    assert [marker["issues"] for marker in journey.markers(second)] == [["date_errors"]]
    assert (await rows(journey, outbox_table, "lane"), await journey.bot.store.read(load_parked)) == ([], ())


def place(held, order):
    """Where a webhook stands in the order."""
    action = held.payload["action"]
    return order.index(action if action in order else "review")


async def test_words_that_github_refused_before_the_move_are_said_after_it(journey, judged, pull):
    knowledge, _ = judged
    before = len(journey.comments(pull))
    journey.github.fail("POST", f"/repos/{knowledge.full_name}/issues/*/comments", status=502, times=99)
    journey.github.comment(pull, "alice", "/feedback-help")
    await journey.wait_until_idle()
    assert len(await rows(journey, outbox_table, "lane")) == 1
    tried = update(outbox_table).values(sending_at=outbox_table.c.sending_at - 60)
    await journey.bot.store.database.write(lambda transaction: transaction.execute(tried))
    journey.github.transfer_repository(knowledge, "other")
    await journey.wait_until_idle()
    assert (len(journey.comments(pull)), await rows(journey, outbox_table, "lane")) == (before + 1, [])


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
    await journey.wait_until_idle()
    stored = await rows(journey, pull_request_table, "repository_id", "record")
    seen = next(decode(text, PullRequest) for where, text in stored if where == knowledge.id).repository
    assert (seen.owner, seen.name, seen.private) == known
    assert seen.installation_id == journey.github.installation_of(knowledge).id


async def test_a_deleted_repository_is_forgotten(journey, judged):
    knowledge, other = judged
    journey.github.delete_repository(knowledge)
    await journey.wait_until_idle()
    left = {which for ids in (await about(journey)).values() for which in ids}
    assert (left, await rows(journey, repository_table, "id")) == ({other.id}, [(other.id,)])


async def test_an_author_who_deleted_their_account_still_gets_feedback(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.delete_account("dave")
    journey.advance_clock()
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    assert journey.markers(pull)[-1]["issues"] == ["date_errors", "scope_error"]


async def test_a_repository_made_private_has_private_rows(journey, judged):
    knowledge, other = judged
    journey.github.set_private(knowledge)
    await journey.wait_until_idle()
    assert await rows(journey, history_table, "repository_id", "private") == sorted(
        [(knowledge.id, True), (other.id, False)]
    )


async def test_an_agent_that_changed_its_login_keeps_its_record(journey, judged, pull):  # noqa: ARG001  it makes the past
    journey.github.rename_account("rio-agent[bot]", "rio-two[bot]")
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    journey.github.comment(pull, "alice", "/feedback-history @rio-two")
    await journey.wait_until_idle()
    assert '"agent": "rio-two[bot]"' in journey.comments(pull)[-1]
    assert "1 pull request" in journey.comments(pull)[-1]


async def test_forgetting_an_author_keeps_the_numbers_without_the_name(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.comment(pull, "dave", "/feedback-forget confirm")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Again\n"})
    await journey.wait_until_idle()
    assert await rows(journey, history_table, "author_id", "login") == [(0, "ghost")]
    assert "Deleted in this repository: 1 pull request" in journey.comments(pull)[-1]
