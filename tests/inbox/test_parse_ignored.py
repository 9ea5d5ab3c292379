"""What is ignored, and for which reason?"""

import json

import pytest

from bot.inbox.parse import parse_delivery, parse_event
from bot.pull_request.events import IgnoredEvent, ReviewEvent
from bot.store.model import Delivery
from tests.inbox.payload_builders import (
    COMMENT_PAYLOAD,
    PULL_REQUEST_PAYLOAD,
    PULL_REQUEST_SNAPSHOT,
    REVIEW_PAYLOAD,
    REVIEW_SNAPSHOT,
    time_at,
)
from tests.schema_documents import replace_value


@pytest.mark.parametrize(
    ("event", "payload", "reason"),
    [
        ("gollum", PULL_REQUEST_PAYLOAD, "gollum is not processed"),
        ("push", PULL_REQUEST_PAYLOAD, "push: after is not a text"),
        (
            "whetstone",
            {"lane": "x"},
            "whetstone is processed for backfill, config_broken, head, heads, past, retry, validation, weekly only",
        ),
        (
            "pull_request_review",
            replace_value(REVIEW_PAYLOAD, "action", "yawned"),
            "pull_request_review is processed for dismissed, edited, submitted only",
        ),
        (
            "pull_request_review",
            replace_value(REVIEW_PAYLOAD, "action", ["submitted"]),
            "pull_request_review is processed for dismissed, edited, submitted only",
        ),
        (
            "issue_comment",
            replace_value(COMMENT_PAYLOAD, "issue.pull_request", None),
            "a comment on an issue, not on a pull request",
        ),
        (
            "pull_request",
            replace_value(PULL_REQUEST_PAYLOAD, "pull_request.head", None),
            "pull_request: head.sha is not a text",
        ),
        (
            "pull_request",
            replace_value(PULL_REQUEST_PAYLOAD, "pull_request", []),
            "pull_request: pull_request is not an object",
        ),
        (
            "pull_request",
            replace_value(PULL_REQUEST_PAYLOAD, "pull_request.number", 3.5),
            "pull_request: number is not a number",
        ),
        (
            "pull_request",
            replace_value(PULL_REQUEST_PAYLOAD, "pull_request.created_at", "yesterday"),
            "pull_request: created_at is not a time",
        ),
        (
            "pull_request",
            replace_value(PULL_REQUEST_PAYLOAD, "repository.id", 2**63),
            "pull_request: repository.id is not a number",
        ),
        (
            "pull_request_review",
            replace_value(REVIEW_PAYLOAD, "review.state", "pending"),
            "the review has not been submitted",
        ),
        (
            "pull_request_review",
            replace_value(REVIEW_PAYLOAD, "review.state", "shrugged"),
            "pull_request_review: review.state is not a known state",
        ),
        (
            "pull_request_review",
            replace_value(REVIEW_PAYLOAD, "review.submitted_at", None),
            "pull_request_review: review.submitted_at is not a time",
        ),
    ],
)
def test_what_says_nothing_is_ignored_with_its_reason(event, payload, reason):
    assert parse_event(event, payload) == IgnoredEvent(reason)


def test_a_time_at_the_end_of_the_calendar_is_no_time():
    odd = replace_value(PULL_REQUEST_PAYLOAD, "pull_request.created_at", "0001-01-01T00:00:00+14:00")
    assert parse_event("pull_request", odd) == IgnoredEvent("pull_request: created_at is not a time")


def test_a_payload_that_is_no_object_is_ignored():
    assert isinstance(parse_event("pull_request", ["action"]), IgnoredEvent)


def test_a_kept_delivery_is_read_from_its_bytes():
    body = json.dumps(REVIEW_PAYLOAD).encode()
    delivery = Delivery("d-1", "pull_request_review", "pr:7:3", 9, body, time_at(10))
    assert parse_delivery(delivery) == ReviewEvent("submitted", PULL_REQUEST_SNAPSHOT, REVIEW_SNAPSHOT)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000])
def test_a_kept_delivery_that_is_no_json_is_ignored(body):
    delivery = Delivery("d-1", "pull_request", "pr:7:3", 9, body, time_at(10))
    assert parse_delivery(delivery) == IgnoredEvent("pull_request: the body is not JSON")
