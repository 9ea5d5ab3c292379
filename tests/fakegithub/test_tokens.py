from __future__ import annotations

import jwt
import pytest

from bot.fakegithub.apps import new_key_pair


@pytest.mark.usefixtures("repository")
async def test_the_app_finds_itself_and_its_installation_by_its_jwt(caller, app_jwt):
    app = caller(app_jwt())
    assert (await app("GET", "/app")).body["slug"] == "whetstone"
    found = await app("GET", "/app/installations")
    assert [each["account"]["login"] for each in found.body] == ["acme"]
    assert (await app("GET", "/repos/acme/kb/installation")).body["id"] == found.body[0]["id"]


async def test_a_token_of_an_installation_opens_its_repositories(caller, app_jwt, repository, fake_github):
    installation = fake_github.installation_of(repository)
    made = await caller(app_jwt())("POST", f"/app/installations/{installation.id}/access_tokens")
    assert made.status == 201
    assert made.body["expires_at"] == "2026-11-16T10:00:00Z"
    listed = await caller(made.body["token"])("GET", "/installation/repositories")
    assert [each["full_name"] for each in listed.body["repositories"]] == ["acme/kb"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"iss": "1"}, "Integration not found"),
        ({"iat": 1794819600 + 30}, "Issued at"),
        ({"exp": 1794819600 - 1}, "Expiration time"),
        ({"exp": 1794819600 + 700}, "too far in the future"),
        ({"iat": None}, "could not be decoded"),
    ],
)
async def test_a_jwt_that_is_not_right_is_refused(caller, app_jwt, changes, says):
    refused = await caller(app_jwt(**changes))("GET", "/app")
    assert refused.status == 401
    assert says in refused.body["message"]


async def test_a_jwt_signed_with_another_key_is_refused(caller, clock, fake_github):
    now = int(clock().timestamp())
    claims = {"iss": str(fake_github.app.id), "iat": now, "exp": now + 60}
    forged = jwt.encode(claims, new_key_pair().private_pem, algorithm="RS256")
    assert (await caller(forged)("GET", "/app")).status == 401


async def test_a_token_ends_after_an_hour(bot, clock):
    assert (await bot("GET", "/repos/acme/kb")).status == 200
    clock.advance(minutes=60)
    assert (await bot("GET", "/repos/acme/kb")).status == 401


async def test_a_revoked_token_is_refused(bot, fake_github):
    fake_github.revoke_tokens()
    refused = await bot("GET", "/repos/acme/kb")
    assert (refused.status, refused.body["message"]) == (401, "Bad credentials")


async def test_a_missing_permission_is_named_the_way_github_does(caller, fake_github, pull):
    del fake_github.installation_of(pull.repository).permissions["pull_requests"]
    del fake_github.installation_of(pull.repository).permissions["issues"]
    refused = await caller(fake_github.installation_token("acme"))("GET", "/repos/acme/kb/pulls/1")
    assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")


async def test_a_suspended_installation_gets_nothing(bot, fake_github, caller, app_jwt, repository):
    installation = fake_github.installation_of(repository)
    fake_github.suspend("acme")
    assert (await bot("GET", "/repos/acme/kb")).status == 403
    asked = await caller(app_jwt())("POST", f"/app/installations/{installation.id}/access_tokens")
    assert asked.status == 403


async def test_an_uninstalled_app_is_told_nothing_any_more(bot, fake_github, caller, app_jwt, repository):
    installation = fake_github.installation_of(repository)
    fake_github.uninstall("acme")
    assert (await bot("GET", "/repos/acme/kb")).status == 401
    path = f"/app/installations/{installation.id}/access_tokens"
    assert (await caller(app_jwt())("POST", path)).status == 404


async def test_another_owners_private_repository_is_not_there(bot, fake_github):
    fake_github.repository("else/secret", private=True)
    fake_github.repository("else/open")
    assert (await bot("GET", "/repos/else/secret")).status == 404
    assert (await bot("GET", "/repos/else/open")).status == 200
    refused = await bot("POST", "/repos/else/open/issues", json={"title": "Hello"})
    assert refused.status == 403


async def test_a_person_sees_what_their_role_allows(caller, fake_github):
    fake_github.repository("acme/hidden", private=True, collaborators={"rita": "read"})
    rita, stranger = caller(fake_github.user_token("rita")), caller(fake_github.user_token("sam"))
    seen = await rita("GET", "/repos/acme/hidden")
    assert seen.body["permissions"] == {
        "admin": False,
        "maintain": False,
        "push": False,
        "triage": False,
        "pull": True,
    }
    assert (await stranger("GET", "/repos/acme/hidden")).status == 404
    assert (await caller()("GET", "/repos/acme/hidden")).status == 404


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        ("alice", "write", "write"),
        ("carol", "write", "maintain"),
        ("tim", "read", "triage"),
        ("rita", "read", "read"),
        ("acme", "admin", "admin"),
        ("bob", "read", "read"),
    ],
)
@pytest.mark.usefixtures("pull")
async def test_permission_folds_the_roles_into_four_words(bot, login, permission, role):
    found = (await bot("GET", f"/repos/acme/kb/collaborators/{login}/permission")).body
    assert (found["permission"], found["role_name"]) == (permission, role)


async def test_a_bot_has_no_permission_to_ask_for(bot, fake_github):
    fake_github.account("helper[bot]")
    refused = await bot("GET", "/repos/acme/kb/collaborators/helper[bot]/permission")
    assert (refused.status, refused.body["message"]) == (404, "helper[bot] is not a user")
