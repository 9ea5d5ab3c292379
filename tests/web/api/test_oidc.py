"""Whose OIDC token is believed, and how often the issuer is asked for its keys."""

import base64
import json
import time

import pytest

from bot.fakegithub.apps import new_key_pair
from bot.github.model import WorkflowClaims
from bot.web.api.oidc import KEYS_MAX_AGE, REFETCH_SECONDS, is_oidc_token, open_verifier
from bot.web.responses import ApiError
from tests.journeys.oidc_issuer import run_issuer

SERVER = "https://whetstone.example"
CLAIMS = {
    "aud": SERVER,
    "repository": "acme/knowledge",
    "repository_id": "7",
    "run_id": "99",
    "workflow": "CI",
    "workflow_ref": "acme/knowledge/.github/workflows/ci.yml@refs/pull/7/merge",
    "job_workflow_ref": "acme/shared/.github/workflows/lint.yml@refs/heads/main",
}


@pytest.fixture
async def issuer():
    async with run_issuer() as issuer:
        issuer.claims = CLAIMS
        yield issuer


@pytest.fixture
async def verifier(issuer, timer):
    async with open_verifier(issuer.url, SERVER, timer=timer) as verifier:
        yield verifier


async def refusal(verifier, token) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        await verifier.verify(token)
    return caught.value.status, caught.value.detail.removeprefix("The OIDC token is refused: ")


async def test_a_token_of_the_issuer_for_this_server_is_believed(issuer, verifier):
    assert await verifier.verify(issuer.sign()) == WorkflowClaims(
        7,
        "acme/knowledge",
        99,
        "CI",
        (
            "acme/knowledge/.github/workflows/ci.yml@refs/pull/7/merge",
            "acme/shared/.github/workflows/lint.yml@refs/heads/main",
        ),
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "https://other.example"}, f"its audience is not {SERVER}."),
        ({"aud": None}, 'Token is missing the "aud" claim.'),
        ({"iss": "https://other.example"}, "its issuer is not "),
        ({"exp": int(time.time()) - 60}, "it has expired; request a new one."),
        ({"exp": None}, 'Token is missing the "exp" claim.'),
        ({"nbf": int(time.time()) + 3600}, "The token is not yet valid (nbf)."),
        ({"run_id": None}, 'Token is missing the "run_id" claim.'),
        ({"run_id": "../../user"}, "repository_id and run_id must be numbers."),
        ({"repository_id": "-7"}, "repository_id and run_id must be numbers."),
    ],
)
async def test_a_token_with_a_wrong_claim_is_refused_with_the_reason(issuer, verifier, changes, reason):
    status, detail = await refusal(verifier, issuer.sign(**changes))
    assert (status, detail[: len(reason)]) == (401, reason)


async def test_a_token_signed_by_somebody_else_is_refused(issuer, verifier):
    status, detail = await refusal(verifier, issuer.sign(key=new_key_pair().private_pem))
    assert (status, detail) == (401, "Signature verification failed.")


async def test_a_token_whose_claims_were_changed_is_refused(issuer, verifier):
    head, _, signature = issuer.sign().split(".")
    forged = base64.urlsafe_b64encode(json.dumps({**CLAIMS, "iss": issuer.url, "exp": 2**40}).encode())
    token = f"{head}.{forged.rstrip(b'=').decode()}.{signature}"
    assert await refusal(verifier, token) == (401, "Signature verification failed.")


async def test_only_rs256_counts_whatever_a_token_says_of_itself(issuer, verifier):
    expected = (401, "it is not signed with RS256 and a named key.")
    assert await refusal(verifier, issuer.sign(key="s" * 64, algorithm="HS256")) == expected
    assert await refusal(verifier, issuer.sign(key="", algorithm="none")) == expected
    assert issuer.reads == 0


async def test_the_keys_are_read_once_and_kept_an_hour(issuer, verifier, timer):
    for _ in range(3):
        await verifier.verify(issuer.sign())
    assert issuer.reads == 1
    timer.now += KEYS_MAX_AGE + 1
    await verifier.verify(issuer.sign())
    assert issuer.reads == 2


async def test_unknown_keys_make_the_issuer_be_asked_once_a_minute_and_a_new_key_is_found(
    issuer, verifier, timer
):
    await verifier.verify(issuer.sign())
    issuer.keys["second"] = new_key_pair()
    for _ in range(5):
        assert await refusal(verifier, issuer.sign("second")) == (401, f"{issuer.url} has no such key.")
    assert issuer.reads == 1
    timer.now += REFETCH_SECONDS
    assert (await verifier.verify(issuer.sign("second"))).run_id == 99
    assert issuer.reads == 2


async def test_a_key_that_the_issuer_withdrew_ends_within_the_hour(issuer, verifier, timer):
    token = issuer.sign()
    await verifier.verify(token)
    issuer.keys = {"second": new_key_pair()}
    timer.now += KEYS_MAX_AGE + 1
    assert await refusal(verifier, token) == (401, f"{issuer.url} has no such key.")


async def test_while_the_issuer_is_away_the_caller_is_asked_to_wait(issuer, verifier, timer):
    issuer.is_away = True
    expected = (503, f"The keys of {issuer.url} can't be read right now; try again in a minute.")
    assert [await refusal(verifier, issuer.sign()) for _ in range(2)] == [expected] * 2
    assert issuer.reads == 1
    issuer.is_away = False
    timer.now += REFETCH_SECONDS
    assert (await verifier.verify(issuer.sign())).run_id == 99


async def test_a_server_without_an_address_takes_no_such_token(issuer):
    async with open_verifier(issuer.url, None) as verifier:
        status, detail = await refusal(verifier, issuer.sign())
    assert (status, "PUBLIC_URL is not set" in detail, issuer.reads) == (401, True, 0)


@pytest.mark.parametrize(
    "token", ["ghp_" + "a" * 36, "ghs_1.2.3", "eyJ.a", "eyJa.b.c d", "eyJ" + "a.b.c" * 4000]
)
def test_other_tokens_are_not_mistaken_for_one(token):
    assert not is_oidc_token(token)
