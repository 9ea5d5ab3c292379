"""What is read of a pull request, its reviews and its comments?"""

from dataclasses import replace

import pytest

from bot.inbox.parse import parse_event
from bot.pull_request.events import (
    CommentEvent,
    InlineCommentEvent,
    LabelEvent,
    PullRequestEvent,
    ReviewEvent,
    ReviewState,
)
from bot.values import GHOST, Account
from tests.inbox.payload_builders import (
    COMMENT_PAYLOAD,
    INLINE_COMMENT_PAYLOAD,
    INLINE_COMMENT_SNAPSHOT,
    PULL_REQUEST_PAYLOAD,
    PULL_REQUEST_SNAPSHOT,
    REPOSITORY,
    REVIEW_PAYLOAD,
    REVIEW_SNAPSHOT,
    time_at,
)
from tests.judges.samples import samples
from tests.schema_documents import replace_value


def test_a_push_is_seen_with_its_head_and_githubs_time():
    assert parse_event("pull_request", PULL_REQUEST_PAYLOAD) == PullRequestEvent(
        "synchronize", PULL_REQUEST_SNAPSHOT, fork=True
    )


def test_a_review_is_seen():
    assert parse_event("pull_request_review", REVIEW_PAYLOAD) == ReviewEvent(
        "submitted", PULL_REQUEST_SNAPSHOT, REVIEW_SNAPSHOT
    )


def test_an_inline_comment_is_seen_at_its_place():
    assert parse_event("pull_request_review_comment", INLINE_COMMENT_PAYLOAD) == InlineCommentEvent(
        "created", PULL_REQUEST_SNAPSHOT, INLINE_COMMENT_SNAPSHOT
    )


def test_a_comment_on_a_whole_file_has_no_line_that_its_hunk_could_give():
    nowhere = replace_value(
        replace_value(INLINE_COMMENT_PAYLOAD, "comment.line", None), "comment.start_line", None
    )
    seen = parse_event("pull_request_review_comment", replace_value(nowhere, "comment.subject_type", "file"))
    assert seen.comment == replace(INLINE_COMMENT_SNAPSHOT, line=None, start_line=None, diff_hunk="")


@pytest.mark.parametrize("now", [None, 40])
def test_a_comment_is_at_the_line_it_was_written_about_wherever_github_shows_it_now(now):
    payload = INLINE_COMMENT_PAYLOAD
    for name in ("line", "start_line"):
        payload = replace_value(payload, f"comment.original_{name}", payload["comment"].get(name))
        payload = replace_value(payload, f"comment.{name}", now)
    assert parse_event("pull_request_review_comment", payload).comment == INLINE_COMMENT_SNAPSHOT


def test_a_deleted_comment_of_our_own_comes_through():
    assert parse_event("issue_comment", COMMENT_PAYLOAD) == CommentEvent(
        action="deleted",
        repository=REPOSITORY,
        number=3,
        comment_id=71,
        author=Account(99, "whetstone[bot]", bot=True),
        sender=Account(12, "bob"),
        body="<!-- REJECTION: {} -->",
        created_at=time_at(10),
        updated_at=time_at(10, 30),
        url="https://github.example/c/71",
    )


@pytest.mark.parametrize("state", ["changes_requested", "CHANGES_REQUESTED", "Changes_Requested"])
def test_a_review_state_counts_in_any_case(state):
    seen = parse_event("pull_request_review", replace_value(REVIEW_PAYLOAD, "review.state", state))
    assert seen.review.state is ReviewState.CHANGES_REQUESTED


@pytest.mark.parametrize(
    ("event", "payload", "path", "author"),
    [
        ("pull_request", PULL_REQUEST_PAYLOAD, "pull_request.user", lambda seen: seen.pull_request.author),
        ("pull_request_review", REVIEW_PAYLOAD, "review.user", lambda seen: seen.review.author),
        (
            "pull_request_review_comment",
            INLINE_COMMENT_PAYLOAD,
            "comment.user",
            lambda seen: seen.comment.author,
        ),
        ("issue_comment", COMMENT_PAYLOAD, "comment.user", lambda seen: seen.author),
        ("issue_comment", COMMENT_PAYLOAD, "sender", lambda seen: seen.sender),
    ],
)
def test_a_deleted_account_is_the_ghost(event, payload, path, author):
    assert author(parse_event(event, replace_value(payload, path, None))) == GHOST


@pytest.mark.parametrize("body", [None, ..., 5])
def test_a_review_without_words_has_an_empty_body(body):
    assert (
        parse_event("pull_request_review", replace_value(REVIEW_PAYLOAD, "review.body", body)).review.body
        == ""
    )


def test_text_is_kept_as_a_database_can_keep_it():
    seen = parse_event("pull_request_review", replace_value(REVIEW_PAYLOAD, "review.body", "a\0b\ud800c"))
    assert seen.review.body == "a\ufffdb?c"


@pytest.mark.parametrize(
    ("path", "value"),
    [("comment.line", None), ("comment.line", ...), ("comment.side", "LEFT"), ("comment.line", "5")],
)
def test_a_line_that_is_not_at_the_head_is_no_line(path, value):
    assert (
        parse_event(
            "pull_request_review_comment", replace_value(INLINE_COMMENT_PAYLOAD, path, value)
        ).comment.line
        is None
    )


def test_a_range_that_starts_on_the_old_side_has_no_start():
    seen = parse_event(
        "pull_request_review_comment", replace_value(INLINE_COMMENT_PAYLOAD, "comment.start_side", "LEFT")
    )
    assert (seen.comment.start_line, seen.comment.line) == (None, 5)


def test_a_merge_is_known_by_its_time_where_the_flag_is_missing():
    merged = replace_value(PULL_REQUEST_PAYLOAD, "pull_request.merged_at", "2026-03-02T12:00:00Z")
    merged = replace_value(merged, "pull_request.state", "closed")
    seen = parse_event(
        "pull_request", replace_value(merged, "pull_request.closed_at", "2026-03-02T12:00:00Z")
    ).pull_request
    assert (seen.merged, seen.open, seen.closed_at) == (True, False, time_at(12))


def test_a_delivery_without_an_installation_is_still_read():
    assert (
        parse_event(
            "pull_request", replace_value(PULL_REQUEST_PAYLOAD, "installation", ...)
        ).pull_request.repository.installation_id
        == 0
    )


def test_a_resolved_thread_names_the_comment_that_started_it():
    found = [
        parse_event(each.event, each.payload) for each in samples() if each.event.endswith("review_thread")
    ]
    assert {seen.action for seen in found} == {"resolved", "unresolved"}
    assert all(seen.comment_id for seen in found)


def test_a_label_is_seen_with_who_put_it_there():
    labeled = {**PULL_REQUEST_PAYLOAD, "action": "labeled", "label": {"name": "gate:date_errors"}}
    assert parse_event("pull_request", labeled) == LabelEvent(
        "labeled", PULL_REQUEST_SNAPSHOT, "gate:date_errors", Account(12, "bob"), ""
    )
