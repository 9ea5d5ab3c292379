"""What an operator and an agent are told, each command run as they type it."""

import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from bot.cli.doctor import (
    CheckState,
    DoctorResult,
    check_blocked_writes,
    check_clock,
    check_installation,
    check_registration,
    check_server_version,
    check_uncounted,
    check_webhook,
)
from bot.github.model import (
    AppInfo,
    AppInstallation,
    DeliveryAttempt,
    RequiredPermissions,
    WebhookConfig,
)
from bot.inbox.reconcile import failed_deliveries
from bot.pull_request.model import PullRequest, Stance, Validator, Verdict
from bot.store.model import BlockedWrites
from bot.values import Account, Repository
from tests import forks

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
WANTED = RequiredPermissions({"metadata": "read", "pull_requests": "write"}, ("pull_request",))


@pytest.fixture
async def github(fake_github_server):
    return await fake_github_server(webhook_secret="s")


@pytest.fixture
def whetstone(github, keys, tmp_path):
    """The command in a process of its own, set up for this GitHub."""
    import asyncio

    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "GITHUB_APP_ID": "4242",
        "GITHUB_PRIVATE_KEY": keys.private_pem,
        "GITHUB_WEBHOOK_SECRET": "s",
        "GITHUB_API_URL": github.api_url,
        "PUBLIC_URL": "https://bot.example",
    }

    async def run(*arguments, **changed):
        process = await asyncio.create_subprocess_exec(
            *(*forks.python(), "-m", "bot", *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={name: value for name, value in {**environment, **changed}.items() if value is not None},
        )
        said, warned = await asyncio.wait_for(process.communicate(), 120)
        return process.returncode, said.decode(), warned.decode()

    return run


def states(said):
    return [(found["subject"], found["state"]) for found in map(json.loads, said.splitlines())]


async def test_a_healthy_deployment_is_fine_in_every_respect(github, whetstone):
    github.repository("acme/kb")
    github.webhook_url = "https://bot.example/webhook"
    github.app.events = tuple(_events())
    code, said, warned = await whetstone("doctor", "acme/kb", "--json")
    assert (code, warned) == (0, "")
    assert states(said) == [
        *(
            (subject, "ok")
            for subject in (
                "settings",
                "reach",
                "clock",
                "key",
                "permissions",
                "events",
                "installation",
                "webhook",
                "deliveries",
            )
        ),
        ("store", "note"),  # nothing was ever stored here
    ]


async def test_every_problem_is_reported_with_its_fix(github, whetstone):
    repository = github.repository("acme/kb")
    github.installation_of(repository).permissions["pull_requests"] = "read"
    github.webhook_url = "https://old.example/webhook"
    code, said, _ = await whetstone("doctor", "--json")
    wrong = [found for found in map(json.loads, said.splitlines()) if found["state"] == "error"]
    assert code == 1
    assert [found["subject"] for found in wrong] == ["installation", "webhook"]
    assert wrong[0]["message"] == "the installation on acme lacks pull_requests: write"
    assert all(found["fix"] for found in wrong)


async def test_a_key_of_another_app_is_told_from_a_network_that_is_away(whetstone):
    _, said, _ = await whetstone("doctor", "--json", GITHUB_APP_ID="7")
    assert states(said)[:4] == [
        ("settings", "ok"),
        ("reach", "ok"),
        ("clock", "ok"),
        ("key", "error"),
    ]
    _, said, _ = await whetstone("doctor", "--json", GITHUB_API_URL="http://127.0.0.1:9")
    assert states(said)[:2] == [("settings", "ok"), ("reach", "error")]


async def test_without_settings_each_missing_one_is_a_finding_and_the_store_is_still_looked_at(whetstone):
    code, said, _ = await whetstone("doctor", GITHUB_APP_ID=None, GITHUB_WEBHOOK_SECRET=None)
    lines = [line.split("\t") for line in said.splitlines()]
    assert code == 1
    assert [(state, subject, what) for state, subject, what, _ in lines] == [
        ("error", "settings", "GITHUB_APP_ID is not set"),
        ("error", "settings", "GITHUB_WEBHOOK_SECRET is not set"),
        (
            "note",
            "store",
            (
                "no store exists yet at sqlite:///data/whetstone.db (DATABASE_URL); "
                "whetstone serve creates it on first start"
            ),
        ),
    ]


async def test_a_repository_is_written_as_owner_and_name(whetstone):
    assert await whetstone("doctor", "knowledge") == (
        2,
        "",
        "whetstone doctor: 'knowledge' is not a repository; write it as OWNER/REPO\n",
    )


async def test_reconcile_has_sent_again_what_nobody_took_and_nothing_else(github, whetstone):
    repository = github.repository("acme/kb")
    github.webhook_url = "http://127.0.0.1:9/webhook"
    github.open_pull_request(repository, "bob")
    await github.delivered()
    lost = github.deliveries.all[-1]
    code, said, _ = await whetstone("reconcile", "--dry-run", "--json")
    assert (code, [json.loads(line)["delivery"] for line in said.splitlines()]) == (0, [lost.guid])
    code, said, _ = await whetstone("reconcile")
    assert (code, said.split("\t")[0], said.split("\t")[-1]) == (0, lost.guid, "redelivered\n")
    assert [(each.guid, each.redelivery) for each in github.deliveries.all[-2:]] == [
        (lost.guid, False),
        (lost.guid, True),
    ]


async def test_reconcile_is_content_where_everything_arrived(whetstone):
    assert await whetstone("reconcile") == (
        0,
        "No failed deliveries.\n",
        "",
    )


def test_a_delivery_that_a_later_attempt_brought_is_not_missing():
    sent = [
        DeliveryAttempt(4, "b", "pull_request", NOW, ok=False, status="timed out"),
        DeliveryAttempt(3, "a", "pull_request", NOW, ok=True, status="202 OK"),
        DeliveryAttempt(2, "b", "pull_request", NOW, ok=False, status="503 Service Unavailable"),
        DeliveryAttempt(1, "a", "pull_request", NOW, ok=False, status="timed out"),
    ]
    assert failed_deliveries(sent) == (sent[0],)


@pytest.mark.parametrize(
    ("ahead", "state"), [(0.4, "ok"), (-20, "note"), (120, "error"), (-300, "error"), (None, "note")]
)
def test_a_clock_that_is_off_is_told_before_github_refuses(ahead, state):
    assert check_clock(ahead).state == state


def test_permissions_are_compared_with_the_manifest_both_ways():
    short = AppInfo("w", "https://github.com/apps/w", {"metadata": "read"}, ())
    assert [(f.subject, f.message) for f in check_registration(short, WANTED)] == [
        ("permissions", "the App lacks pull_requests: write"),
        ("events", "the App is not subscribed to pull_request"),
    ]
    rich = AppInfo("w", "u", {**WANTED.permissions, "contents": "write"}, WANTED.events)
    assert (
        check_registration(rich, WANTED)[0].message
        == "the App has more permissions than it needs: contents: write"
    )


def test_a_suspended_installation_is_wrong_whatever_it_was_granted():
    found = check_installation(
        AppInstallation(1, "acme", "u", WANTED.permissions, (), suspended=True), WANTED
    )
    assert found == (
        DoctorResult(
            "installation", CheckState.ERROR, "the installation on acme is suspended", "un-suspend it at u"
        ),
    )


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        (WebhookConfig(""), "the App has no webhook URL"),
        (
            WebhookConfig("https://a.example/hook"),
            "the webhook URL https://a.example/hook is not this server's",
        ),
        (WebhookConfig("https://a.example/webhook", json=False), "the webhook sends form data"),
        (WebhookConfig("https://a.example/webhook", has_secret=False), "the webhook has no secret"),
        (
            WebhookConfig("https://a.example/webhook", checks_certificate=False),
            "the webhook does not verify this server's certificate",
        ),
    ],
)
def test_a_webhook_that_would_not_work_is_told(hook, what):
    found = check_webhook(hook, "https://a.example")
    assert [(each.state, each.message) for each in found] == [(CheckState.ERROR, what)]


def test_accounts_that_reject_without_counting_are_named_with_the_lines_to_add():
    said = [
        Verdict("review:1", Validator("user:2", "dora"), Stance.REJECTS, NOW, None, counted=False),
        Verdict(
            "review:2", Validator("user:3", "rabbit[bot]", bot=True), Stance.REJECTS, NOW, None, counted=False
        ),
        Verdict(
            "review:3", Validator("user:3", "rabbit[bot]", bot=True), Stance.REJECTS, NOW, None, counted=False
        ),
        Verdict("review:4", Validator("user:4", "alice"), Stance.REJECTS, NOW, None),
        Verdict("review:5", Validator("user:5", "eve"), Stance.APPROVES, NOW, None, counted=False),
    ]
    pull = PullRequest(
        Repository(1, "acme", "kb", 1), 1, Account(9, "bob"), "T", "main", "a" * 40,
        NOW - timedelta(days=1), NOW, verdicts=tuple(said),
    )  # fmt: skip
    assert [(f.message, f.fix) for f in check_uncounted([pull])] == snapshot(
        [
            (
                "rabbit[bot] is not a validator: 2 rejecting reviews not counted",
                "to count rabbit[bot], add to .github/whetstone.yml: validators: {apps: [rabbit]}",
            ),
            (
                "dora is not a validator: 1 rejecting review not counted",
                "to count dora, add to .github/whetstone.yml: validators: {users: [dora]}",
            ),
        ]
    )
    counted = replace(pull, verdicts=(said[3],))
    assert [f.message for f in check_uncounted([counted])] == ["every rejecting review was counted"]
    assert [(f.state, f.message) for f in check_uncounted([])] == [
        (CheckState.NOTE, "no reviews are recorded yet")
    ]


def _events():
    from bot.github.app_api import required_permissions

    return required_permissions().events


@pytest.mark.parametrize(
    ("version", "noted"), [(None, False), (14, True), (16, True), (17, False), (18, False)]
)
def test_a_postgresql_that_ends_no_transaction_is_named_with_the_version_to_move_to(version, noted):
    found = check_server_version(version, 17)
    assert [(each.subject, each.state, "PostgreSQL 17 or newer" in each.fix) for each in found] == (
        [("store", CheckState.NOTE, True)] if noted else []
    )
    assert all(each.message.startswith(f"PostgreSQL {version} has no transaction timeout") for each in found)


def test_writes_that_wait_are_named_with_the_permission_that_is_missing():
    waiting = (
        BlockedWrites("acme/kb", "comment", "pull_requests=write", 1),
        BlockedWrites("acme/kb", "check", "checks=write", 3),
        BlockedWrites("acme/kb", "comment pr:1:7", "", 1),
    )
    assert [each.message for each in check_blocked_writes(waiting)] == snapshot(
        [
            "1 comment write is blocked in acme/kb: the App lacks pull_requests=write",
            "3 check writes are blocked in acme/kb: the App lacks checks=write",
            "1 comment write is blocked in acme/kb",
        ]
    )
    assert {
        (each.state, each.fix.startswith("ask an owner to accept")) for each in check_blocked_writes(waiting)
    } == {(CheckState.ERROR, True)}
