import pytest

from bot.inbox.parse import lane_of_payload

REPOSITORY = {"id": 7}


@pytest.mark.parametrize(
    ("event", "payload", "name"),
    [
        ("pull_request", {"repository": REPOSITORY, "pull_request": {"number": 3}}, "pr:7:3"),
        ("pull_request_review", {"repository": REPOSITORY, "pull_request": {"number": 3}}, "pr:7:3"),
        ("pull_request_review_comment", {"repository": REPOSITORY, "pull_request": {"number": 3}}, "pr:7:3"),
        (
            "issue_comment",
            {"repository": REPOSITORY, "issue": {"number": 3, "pull_request": {"url": "u"}}},
            "pr:7:3",
        ),
        ("issue_comment", {"repository": REPOSITORY, "issue": {"number": 3}}, "issue:7:3"),
        (
            "issue_comment",
            {"repository": REPOSITORY, "issue": {"number": 3, "pull_request": None}},
            "issue:7:3",
        ),
        ("check_run", {"repository": REPOSITORY, "check_run": {"head_sha": "abc"}}, "commit:7:abc"),
        ("check_suite", {"repository": REPOSITORY, "check_suite": {"head_sha": "abc"}}, "commit:7:abc"),
        ("status", {"repository": REPOSITORY, "sha": "abc"}, "commit:7:abc"),
        ("installation", {"installation": {"id": 9}}, "installation:9"),
        ("installation_repositories", {"installation": {"id": 9}}, "installation:9"),
        ("whetstone", {"lane": "weekly:7:2026-W10"}, "weekly:7:2026-W10"),
    ],
)
def test_each_event_has_its_lane(event, payload, name):
    assert lane_of_payload(event, payload) == name


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("push", {"repository": REPOSITORY}),
        ("pull_request", {"repository": REPOSITORY}),
        ("pull_request", {"repository": REPOSITORY, "pull_request": {"number": True}}),
        ("pull_request", {"repository": {"id": 2**63}, "pull_request": {"number": 1}}),
        ("pull_request", {"repository": {"id": -7}, "pull_request": {"number": 1}}),
        ("pull_request", {"repository": [], "pull_request": "3"}),
        ("status", {"repository": REPOSITORY, "sha": ""}),
        ("whetstone", {"lane": "x" * 201}),
        ("whetstone", {"lane": 5}),
    ],
)
def test_an_odd_payload_has_none(event, payload):
    assert lane_of_payload(event, payload) is None
