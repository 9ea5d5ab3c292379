"""What is read of checks, pushes, installations and what was handed in?"""

from datetime import UTC, datetime

import pytest

from bot.github.payloads import repository_payload
from bot.inbox.parse import parse_event
from bot.pull_request.events import (
    BackfillStep,
    CheckBackfillStep,
    CheckEvent,
    ConfigPushEvent,
    IgnoredEvent,
    InstallationEvent,
    ToolResult,
    ValidationEvent,
)
from bot.pull_request.model import hash_text
from bot.values import Location, Repository
from tests.inbox.payload_builders import (
    ALICE,
    CHECK_RUN_PAYLOAD,
    PUSH_PAYLOAD,
    REPOSITORY,
    STATUS_PAYLOAD,
    VALIDATION_PAYLOAD,
    time_at,
)


def test_an_installation_names_the_repositories_that_it_gains_and_loses():
    short = {"id": 77, "full_name": "acme/knowledge", "private": True}
    gained = Repository(77, "acme", "knowledge", 5, private=True, default_branch="")
    told = {"installation": {"id": 5}, "action": "added", "repositories_added": [short, {"id": 78}, None]}
    new = {"installation": {"id": 5}, "action": "created", "repositories": [short]}
    lost = {"installation": {"id": 5}, "action": "removed", "repositories_removed": [short]}
    again = {"installation": {"id": 5}, "action": "unsuspend"}
    more = {"installation": {"id": 5}, "action": "new_permissions_accepted"}
    assert [
        parse_event("installation", again),
        parse_event("installation", more),
        parse_event("installation_repositories", told),
        parse_event("installation", new),
        parse_event("installation_repositories", lost),
    ] == [
        InstallationEvent("unsuspend", 5),
        InstallationEvent("new_permissions_accepted", 5),
        InstallationEvent("added", 5, added=(gained,)),
        InstallationEvent("created", 5, added=(gained,)),
        InstallationEvent("removed", 5, removed=(77,)),
    ]


def test_a_check_is_seen_with_the_pull_requests_of_this_repository():
    assert parse_event("check_run", CHECK_RUN_PAYLOAD) == CheckEvent(
        repository=REPOSITORY,
        head="abc",
        name="validate",
        conclusion="failure",
        at=time_at(8),
        url="https://github.example/runs/9",
        run_id=9,
        app="ci",
        title="1 mistake",
        annotations=1,
        numbers=(3,),
        account="ci[bot]",
        body_hash=hash_text("1 mistake", "", ""),
    )


def printed(summary, text=None):
    said = {**CHECK_RUN_PAYLOAD["check_run"]["output"], "summary": summary, "text": text}
    return parse_event(
        "check_run", {**CHECK_RUN_PAYLOAD, "check_run": {**CHECK_RUN_PAYLOAD["check_run"], "output": said}}
    ).output


def test_a_check_is_seen_with_both_ends_of_what_it_printed():
    log = "\n".join(f"line {number}" for number in range(9_999))
    assert printed("2 failed", "ValueError: month 13") == "2 failed\nValueError: month 13"
    first, last = printed(log).split("\n…\n")
    assert (first.startswith("line 0\nline 1\n"), last.endswith("\nline 9998")) == (True, True)
    assert {*first.split("\n"), *last.split("\n")} <= {*log.split("\n")}
    assert [len(printed("x y " * 3_000)) > 1_900, len(printed(log, log)) <= 4_001] == [True, True]


KEY = "-----BEGIN PRIVATE KEY-----\n" + "MIIE\n" * 999


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("token ghp_abcdef is wrong", "token [hidden] is wrong"),
        (f"{KEY}-----END PRIVATE KEY-----\nfailed", "\nfailed"),
        (f"failed\n{KEY}", "failed\n"),
        ("x" * 9_999, "\n…\n"),  # of one word without end nothing: half a secret is not known as one
        (f"{'a ' * 990}ghp_{'b' * 40} {'c ' * 480}", f"{'a ' * 499}\n…\n{'c ' * 480}"),
        (f"{'a ' * 990}https://me:{'b' * 40}@c {'d ' * 480}", f"{'a ' * 499}\n…\n{'d ' * 480}"),
        (f"{'a ' * 490}https://me:{'b' * 40}@c{' d' * 990}", f"{'a ' * 490}\n…\n{'d ' * 498}d"),
    ],
)
def test_no_secret_is_kept_of_what_a_check_printed(text, kept):
    assert printed(text) == kept


def test_no_secret_is_kept_of_what_a_check_is_called():
    titled = {**CHECK_RUN_PAYLOAD["check_run"], "output": {"title": "token ghp_abcdef is wrong"}}
    seen = (
        parse_event("check_run", {**CHECK_RUN_PAYLOAD, "check_run": titled}),
        parse_event("status", {**STATUS_PAYLOAD, "description": "token ghp_abcdef is wrong"}),
    )
    assert [each.title for each in seen] == ["token [hidden] is wrong"] * 2


def test_a_status_is_seen_as_a_check_without_annotations():
    assert parse_event("status", STATUS_PAYLOAD) == CheckEvent(
        REPOSITORY,
        "abc",
        "lint",
        "failure",
        time_at(8),
        "",
        title="2 mistakes",
        account="bob",
        account_id=12,
        body_hash=hash_text("2 mistakes"),
    )


def test_a_push_is_seen_only_where_it_touches_the_config():
    assert parse_event("push", PUSH_PAYLOAD) == ConfigPushEvent(REPOSITORY, "abc")
    merged = {**PUSH_PAYLOAD, "ref": "refs/heads/trunk"}
    assert parse_event("push", merged) == ConfigPushEvent(REPOSITORY, "abc", in_force=True)
    elsewhere = {**PUSH_PAYLOAD, "commits": [{"added": ["README.md"], "removed": [], "modified": []}]}
    assert parse_event("push", elsewhere) == IgnoredEvent("a push that does not change the config")


def test_what_was_handed_in_is_seen_with_its_findings():
    assert parse_event("whetstone", VALIDATION_PAYLOAD) == ValidationEvent(
        id="validation:1",
        repository=REPOSITORY,
        number=3,
        author=ALICE,
        role="write",
        at=time_at(8),
        tool="ruff",
        findings=(ToolResult("E501", "too long", Location("a.py", 3, 5), ""),),
        body_hash="h",
    )


def test_a_step_that_an_earlier_version_queued_is_read():
    step = {"step": 2, "page": "https://api/next", "since": "2026-11-09T10:00:00+00:00"}
    backfill = {"action": "backfill", "run": "r1", "read": 7, "total": None, "closing": True}
    heads = {"action": "heads", "head": "abc", "fresh": 1, "owners": False}
    since = datetime(2026, 11, 9, 10, tzinfo=UTC)
    assert [
        parse_event("whetstone", {**repository_payload(REPOSITORY), "lane": "x", **step, **kind})
        for kind in (backfill, heads, {"action": "backfill", "run": 7})
    ] == [
        BackfillStep(REPOSITORY, "r1", 2, "https://api/next", 7, None, since, closing=True),
        CheckBackfillStep(REPOSITORY, "abc", since, 2, "https://api/next", fresh=1),
        IgnoredEvent("whetstone: the step is not valid: Expected `str`, got `int` - at `$.run`"),
    ]
