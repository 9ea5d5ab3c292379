import asyncio
import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from bot.fakegithub.apps import new_key_pair
from bot.github.auth import AppKey, TokenCache
from bot.github.client import connect_github
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound
from bot.github.transport import InstallationToken

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ASKED = ("POST", "*/access_tokens")


def test_the_app_signs_a_minute_back_for_nine_minutes(keys):
    signed = AppKey(4242, keys.private_pem).sign_jwt(NOW)
    claims = jwt.decode(
        signed, keys.public_pem, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
    )
    issued = int(NOW.timestamp()) - 60
    assert claims == {"iss": "4242", "iat": issued, "exp": issued + 540}


def test_a_key_is_not_shown(keys):
    assert repr(AppKey(4242, keys.private_pem)) == "AppKey(app_id=4242)"


async def test_fifty_at_once_ask_for_one_token(client, fake_github, pull, repository):
    await asyncio.gather(*(client.reviews(repository, pull.number) for _ in range(50)))
    assert len(fake_github.asked(*ASKED)) == 1


async def test_fifty_at_once_share_one_failure(client, fake_github, pull, repository):
    fake_github.fail(*ASKED, status=502)
    asked = (client.reviews(repository, pull.number) for _ in range(50))
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {GitHubUnavailable}
    assert len(fake_github.asked(*ASKED)) == 1


async def test_a_token_is_never_used_in_its_last_five_minutes(client, fake_github, clock, pull, repository):
    counts = []
    for minutes in (0, 44, 12):
        clock.advance(minutes=minutes)
        await client.reviews(repository, pull.number)
        counts.append(len(fake_github.asked(*ASKED)))
    assert counts == [1, 1, 2]


async def test_nobody_waits_for_the_next_token_while_the_last_one_is_good():
    ends = iter((NOW + timedelta(minutes=10), NOW + timedelta(hours=1)))
    may_answer = asyncio.Event()
    may_answer.set()

    async def fetch(_scope):
        await may_answer.wait()
        return InstallationToken("a token", next(ends))

    tokens = TokenCache(fetch, lambda: NOW)
    first = await tokens.get((1, 0))
    may_answer.clear()
    assert await tokens.get((1, 0)) is first
    may_answer.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    assert (await tokens.get((1, 0))).expires_at == NOW + timedelta(hours=1)


async def test_each_installation_has_its_own(client, fake_github, pull, repository):
    await client.reviews(repository, pull.number)
    there = fake_github.repository("other/kb")
    elsewhere = fake_github.installation_of(there)
    found = fake_github.open_pull_request(there, "rio-agent[bot]")
    other = replace(repository, id=there.id, owner="other", installation_id=elsewhere.id)
    await client.reviews(other, found.number)
    assert [exchange.params["installation_id"] for exchange in fake_github.asked(*ASKED)] == [
        str(repository.installation_id),
        str(elsewhere.id),
    ]


async def test_a_token_is_for_one_repository_and_names_no_permissions(client, fake_github, pull, repository):
    await client.reviews(repository, pull.number)
    assert [each.body for each in fake_github.asked(*ASKED)] == [{"repository_ids": [repository.id]}]


@pytest.mark.parametrize("private", [False, True])
async def test_nothing_is_written_to_a_repository_that_has_taken_over_the_name(
    client, fake_github, pull, repository, private
):
    fake_github.rename_repository(pull.repository, "renamed")
    taken = fake_github.open_pull_request(
        fake_github.repository("acme/kb", private=private), "rio-agent[bot]"
    )
    with pytest.raises((Forbidden, NotFound)):
        await client.create_comment(repository, pull.number, "words of another thread")
    assert fake_github.comments_of(taken) == []


async def test_a_repository_that_the_installation_lost_is_gone(client, pull, repository):
    with pytest.raises(NotFound, match="no such repository"):
        await client.reviews(replace(repository, id=99), pull.number)


async def test_a_revoked_token_is_replaced_and_the_write_is_done_once(client, fake_github, pull, repository):
    await client.reviews(repository, pull.number)
    fake_github.revoke_tokens()
    await client.create_comment(repository, pull.number, "words")
    assert [comment.body for comment in fake_github.comments_of(pull)] == ["words"]
    assert len(fake_github.asked(*ASKED)) == 2


async def test_a_token_that_is_never_good_is_given_up_after_the_second(client, fake_github, pull, repository):
    fake_github.fail("GET", "*/reviews", status=401, times=9)
    with pytest.raises(GitHubUnavailable, match="401"):
        await client.reviews(repository, pull.number)
    assert len(fake_github.asked(*ASKED)) == 2


async def test_a_write_that_was_not_granted_is_tried_again_with_a_new_token(
    client, fake_github, pull, repository
):
    granted = fake_github.installation_of(pull.repository).permissions
    counts = []
    for level in ("write", "write", "read", "write"):
        granted["pull_requests"] = granted["issues"] = level
        with contextlib.suppress(Forbidden):
            await client.create_comment(repository, pull.number, "words")
        counts.append(len(fake_github.asked(*ASKED)))
    assert counts == [1, 1, 1, 2]


async def test_many_who_meet_a_revoked_token_replace_it_once(client, fake_github, pull, repository):
    await client.reviews(repository, pull.number)
    fake_github.revoke_tokens()
    await asyncio.gather(*(client.reviews(repository, pull.number) for _ in range(20)))
    assert len(fake_github.asked(*ASKED)) == 2


async def test_an_uninstalled_app_gets_no_token(client, fake_github, pull, repository):
    fake_github.uninstall("acme")
    with pytest.raises(NotFound):
        await client.reviews(repository, pull.number)


async def test_a_suspended_installation_is_forbidden(client, fake_github, pull, repository):
    fake_github.suspend("acme")
    with pytest.raises(Forbidden, match="suspended"):
        await client.reviews(repository, pull.number)


async def test_a_delivery_through_no_installation_asks_nothing(client, fake_github, pull, repository):
    with pytest.raises(Forbidden, match="no installation"):
        await client.reviews(replace(repository, installation_id=0), pull.number)
    assert fake_github.requests == []


async def test_a_wrong_key_is_said_with_what_to_check(clock, fake_github, pull, repository):
    key = AppKey(4242, new_key_pair().private_pem)
    async with connect_github(key, fake_github.api_url, fake_github.graphql_url, now=clock) as client:
        with pytest.raises(GitHubUnavailable, match="check GITHUB_APP_ID, GITHUB_PRIVATE_KEY"):
            await client.reviews(repository, pull.number)


@pytest.mark.parametrize("body", [{}, {"token": "ghs_x"}, {"token": "ghs_x", "expires_at": "never"}, []])
async def test_a_token_that_can_not_be_read_is_unavailable(client, fake_github, pull, repository, body):
    fake_github.fail(*ASKED, status=201, body=body)
    with pytest.raises(GitHubUnavailable):
        await client.reviews(repository, pull.number)


async def test_one_who_stops_waiting_leaves_the_token_to_the_others():
    gate = asyncio.Event()
    asked = []

    async def fetch(installation):
        asked.append(installation)
        await gate.wait()
        return InstallationToken("ghs_x", NOW + timedelta(hours=1))

    tokens = TokenCache(fetch, lambda: NOW)
    impatient, patient = (asyncio.create_task(tokens.get(1)) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    gate.set()
    assert ((await patient).value, asked) == ("ghs_x", [1])


async def test_a_newer_token_is_not_dropped_for_an_older_one():
    fetched = [InstallationToken(f"ghs_{n}", NOW + timedelta(hours=1)) for n in range(3)]
    coming = iter(fetched)

    async def fetch(_):
        return next(coming)

    tokens = TokenCache(fetch, lambda: NOW)
    first = await tokens.get(1)
    tokens.drop(1, first)
    second = await tokens.get(1)
    tokens.drop(1, first)
    assert await tokens.get(1) is second


def test_a_token_is_not_shown():
    assert "ghs_x" not in repr(InstallationToken("ghs_x", NOW))
