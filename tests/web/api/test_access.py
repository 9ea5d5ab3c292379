"""Who gets into the API: by GitHub's word, asked once, and never written down."""

import asyncio
import logging
from ipaddress import ip_network

import pytest

PROBE = "/api/v1/repos/acme/knowledge/probe"
PROBLEM = "application/problem+json"


async def test_a_reader_gets_in_with_their_own_role(api, token):
    status, _, content, _ = await api.ask(PROBE, token("carol"))
    assert (status, content) == (200, {"login": "carol", "role": "read", "at": ["acme/knowledge", 5]})


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Basic YWxpY2U6eA==", "Bearer x", "Bearer " + "€" * 30, "Bearer ghp_" + "0" * 36]
)
async def test_no_token_or_an_unknown_one_is_401(api, header):
    status, kind, content, headers = await api.ask(PROBE, **({"Authorization": header} if header else {}))
    assert (status, kind, content["status"]) == (401, PROBLEM, 401)
    assert headers["WWW-Authenticate"] == "Bearer"


async def test_a_private_repository_does_not_exist_for_strangers(api, token):
    stranger = token("stranger")
    hidden = await api.ask(PROBE, stranger)
    nowhere = await api.ask("/api/v1/repos/acme/nowhere/probe", stranger)
    assert hidden[:3] == nowhere[:3]
    assert hidden[:2] == (404, PROBLEM)


async def test_a_repository_in_which_the_app_never_was_is_404(api, github, token):
    github.repository("acme/elsewhere", installed=False)
    assert (await api.ask("/api/v1/repos/acme/elsewhere/probe", token("carol")))[0] == 404


@pytest.mark.parametrize(
    "names",
    [
        "../user",
        "%2e%2e/user",
        "%2E%2E/user",
        ".%2e/user",
        "./user",
        "acme/..",
        "acme/%2e%2e",
        "acme/.",
        "acme/..%2f..%2fuser",
        "acme%2f..%2f../user",
        "acme/knowledge%2f..%2f..",
        "acme/knowledge%3fa",
        "acme/knowledge%00",
        "acme/%ff",
        "ac.me/knowledge",
        "acme/kn%C3%B6wledge",
        f"{'a' * 40}/knowledge",
        f"acme/{'a' * 101}",
    ],
)
async def test_a_name_that_github_does_not_allow_is_404_and_github_is_not_asked(api, github, token, names):
    for path in (f"/api/v1/repos/{names}/probe", f"/api/v1/repos/{names}/authors/carol/probe"):
        status, kind, _, _ = await api.ask(path, token("carol"))
        assert (status, kind) == (404, PROBLEM)
    assert github.asked() == []


@pytest.mark.parametrize(
    "login", ["%2e%2e", "..%2fcarol", "car%2eol", "[bot]", "carol[bot][bot]", "%E2%82%AC"]
)
async def test_a_login_that_github_does_not_allow_is_404_and_github_is_not_asked(api, github, token, login):
    status, kind, _, _ = await api.ask(f"/api/v1/repos/acme/knowledge/authors/{login}/probe", token("carol"))
    assert (status, kind, github.asked()) == (404, PROBLEM, [])


@pytest.mark.parametrize("login", ["rio-agent[bot]", "carol_acme", "octo-", "rio%5Bbot%5D"])
async def test_logins_of_apps_and_of_managed_users_are_names(api, token, login):
    path = f"/api/v1/repos/acme/knowledge/authors/{login}/probe"
    assert (await api.ask(path, token("carol")))[0] == 200


async def test_a_former_name_leads_to_the_repository(api, github, knowledge, token):
    carol = token("carol")
    github.rename_repository(knowledge, "wisdom")
    _, _, content, _ = await api.ask(PROBE, carol)
    assert content["at"] == ["acme/wisdom", 5]


async def test_an_installations_token_reads_as_its_app(api, github, knowledge):
    made = github.tokens.for_installation(github.installation_of(knowledge))
    _, _, content, _ = await api.ask(PROBE, made.token)
    assert (content["login"], content["role"]) == (github.app.bot.login, "read")


async def test_where_github_does_not_say_whose_token_it_is_the_caller_is_nobody(api, github, knowledge):
    made = github.tokens.for_installation(github.installation_of(knowledge))
    github.fail("POST", "*/graphql", status=502)
    status, _, content, _ = await api.ask(PROBE, made.token)
    assert (status, content["login"]) == (200, None)


@pytest.mark.parametrize(
    ("private", "scopes", "expected"),
    [
        (True, ("repo", "gist"), "write"),
        (True, ("public_repo",), "read"),
        (False, ("public_repo",), "write"),
        (False, ("read:user",), "read"),
        (False, (), "read"),
        (False, None, "write"),
    ],
)
async def test_a_token_may_no_more_than_its_scopes(api, github, private, scopes, expected):
    github.find_repository("acme/knowledge").private = private
    made = github.tokens.for_user(github.account("alice"), scopes)
    _, _, content, _ = await api.ask(PROBE, made.token)
    assert (content["login"], content["role"]) == ("alice", expected)


async def test_where_github_names_no_owner_of_a_token_it_has_no_role_either(api, github):
    made = github.tokens.for_user(github.account("alice"), None)
    github.fail("GET", "/user", status=403)
    read, wrote = await api.ask(PROBE, made.token), await api.ask(PROBE, made.token, "POST")
    assert (read[2]["login"], read[2]["role"], wrote[0]) == (None, "read", 403)


async def test_writing_needs_the_role(api, token):
    carol = await api.ask(PROBE, token("carol"), "POST")
    alice = await api.ask(PROBE, token("alice"), "POST")
    assert (carol[:2], alice[0]) == ((403, PROBLEM), 200)


async def test_github_is_asked_once_in_five_minutes(api, github, token, timer):
    carol = token("carol")
    await asyncio.gather(*(api.ask(PROBE, carol) for _ in range(5)))
    timer.now += 299
    await api.ask(PROBE, carol)
    assert len(github.asked("GET", "/repos/*")) == 1
    timer.now += 2
    await api.ask(PROBE, carol)
    assert len(github.asked("GET", "/repos/*")) == 2


async def test_an_unknown_token_is_asked_about_once(api, github):
    for _ in range(3):
        await api.ask(PROBE, "ghp_" + "0" * 36)
    assert len(github.asked("GET", "/repos/*")) == 1


async def test_too_many_calls_with_one_token_wait(api, token, timer):
    carol = token("carol")
    statuses = {(await api.ask(PROBE, carol))[0] for _ in range(120)}
    status, kind, _, headers = await api.ask(PROBE, carol)
    assert (statuses, status, kind, headers["Retry-After"]) == ({200}, 429, PROBLEM, "60")
    assert (await api.ask(PROBE, token("alice")))[0] == 200
    timer.now += 61
    assert (await api.ask(PROBE, carol))[0] == 200


async def test_guessing_tokens_is_stopped_before_github_shuts_us_out(api, github):
    statuses = [(await api.ask(PROBE, f"ghp_{number:036}"))[0] for number in range(40)]
    assert (statuses.count(401), statuses.count(429)) == (30, 10)
    assert len(github.asked("GET", "/repos/*")) == 30


async def test_guessing_many_at_once_is_stopped_as_well(api, github):
    answers = await asyncio.gather(*(api.ask(PROBE, f"ghp_{number:036}") for number in range(60)))
    assert {each[0] for each in answers} == {401, 429}
    assert len(github.asked("GET", "/repos/*")) == 30


async def test_who_was_known_lately_is_not_held_up_by_a_neighbour_who_guesses(api, token, timer):
    carol = token("carol")
    assert (await api.ask(PROBE, carol))[0] == 200
    timer.now += 400
    for number in range(30):
        await api.ask(PROBE, f"ghp_{number:036}")
    assert ((await api.ask(PROBE, carol))[0], (await api.ask(PROBE, token("alice")))[0]) == (200, 429)


async def test_a_new_token_that_comes_back_is_not_held_up_by_made_up_ones(api, github, token):
    alice, stale = token("alice"), "ghp_" + "9" * 36
    for number in range(30):
        await api.ask(PROBE, f"ghp_{number:036}")
    told = await api.ask(PROBE, alice)
    for number in range(30, 60):
        await api.ask(PROBE, f"ghp_{number:036}")
    assert (told[0], told[3]["Retry-After"], (await api.ask(PROBE, alice))[0]) == (429, "1", 200)
    assert [(await api.ask(PROBE, stale))[0] for _ in range(3)] == [429, 401, 401]
    assert len(github.asked("GET", "/repos/*")) == 32


async def test_tokens_that_come_back_are_limited_too(api, github):
    for _ in range(2):
        for number in range(80):
            await api.ask(PROBE, f"ghp_{number:036}")
    assert len(github.asked("GET", "/repos/*")) == 60


@pytest.mark.parametrize("trusted_proxies", [(ip_network("127.0.0.0/8"),)])
async def test_behind_a_trusted_proxy_made_up_tokens_hold_up_only_their_own_address(api, token):
    for number in range(40):
        await api.ask(PROBE, f"ghp_{number:036}", **{"X-Forwarded-For": "203.0.113.7"})
    # What stands left of the address that the proxy wrote is the stranger's invention.
    forged = await api.ask(PROBE, token("carol"), **{"X-Forwarded-For": "198.51.100.1, 203.0.113.7"})
    alice = await api.ask(PROBE, token("alice"), **{"X-Forwarded-For": "198.51.100.1"})
    assert (forged[0], alice[0]) == (429, 200)


async def test_without_a_trusted_proxy_nobody_chooses_their_own_address(api, github):
    for number in range(40):
        await api.ask(PROBE, f"ghp_{number:036}", **{"X-Forwarded-For": f"203.0.113.{number}"})
    assert len(github.asked("GET", "/repos/*")) == 30


async def test_good_tokens_use_nothing_up(api, token):
    statuses = {(await api.ask(PROBE, token(f"person-{number}")))[0] for number in range(40)}
    assert statuses == {404}


async def test_github_being_away_is_503_and_not_remembered(api, github, token):
    github.fail("GET", "/repos/acme/knowledge", status=502, times=1)
    carol = token("carol")
    away = await api.ask(PROBE, carol)
    again = await api.ask(PROBE, carol)
    assert (away[:2], again[0]) == ((503, PROBLEM), 200)


async def test_an_answer_that_is_known_is_not_sent_again(api, token):
    carol = token("carol")
    etag = (await api.ask(PROBE, carol))[3]["ETag"]
    same = await api.ask(PROBE, carol, **{"If-None-Match": etag})
    other = await api.ask(PROBE, carol, **{"If-None-Match": '"other"'})
    assert (same[0], same[2], other[0]) == (304, None, 200)


async def test_a_token_is_never_logged(api, github, token, caplog):
    caplog.set_level(logging.DEBUG)
    carol, wrong = token("carol"), "ghp_" + "7" * 36
    github.fail("GET", "/user", status=500, times=1)
    for _ in range(2):
        await api.ask(PROBE, carol)
    await api.ask(PROBE, wrong)
    assert [text for text in (carol, wrong) if text in caplog.text] == []


async def test_a_limit_that_a_call_meets_is_the_installations(api, recorded, token):
    status, _, _, headers = await api.ask("/api/v1/repos/acme/knowledge/limited", token("alice"))
    assert (status, int(headers["Retry-After"]) in range(115, 121), recorded.paused) == (503, True, [5])
