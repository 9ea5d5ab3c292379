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
from tests.changed_document import changed
from tests.inbox.payload_builders import (
    COMMENTED,
    INLINE,
    INLINE_COMMENT,
    PULL,
    REPOSITORY,
    REVIEW,
    REVIEWED,
    SNAPSHOT,
    at,
)
from tests.judges.samples import samples


def test_a_push_is_seen_with_its_head_and_githubs_time():
    assert parse_event("pull_request", PULL) == PullRequestEvent("synchronize", SNAPSHOT, fork=True)


def test_a_review_is_seen():
    assert parse_event("pull_request_review", REVIEWED) == ReviewEvent("submitted", SNAPSHOT, REVIEW)


def test_an_inline_comment_is_seen_at_its_place():
    assert parse_event("pull_request_review_comment", INLINE) == InlineCommentEvent(
        "created", SNAPSHOT, INLINE_COMMENT
    )


def test_a_comment_on_a_whole_file_has_no_line_that_its_hunk_could_give():
    nowhere = changed(changed(INLINE, "comment.line", None), "comment.start_line", None)
    seen = parse_event("pull_request_review_comment", changed(nowhere, "comment.subject_type", "file"))
    assert seen.comment == replace(INLINE_COMMENT, line=None, start_line=None, diff_hunk="")


def test_a_deleted_comment_of_our_own_comes_through():
    assert parse_event("issue_comment", COMMENTED) == CommentEvent(
        action="deleted",
        repository=REPOSITORY,
        number=3,
        comment_id=71,
        author=Account(99, "whetstone[bot]", bot=True),
        sender=Account(12, "bob"),
        body="<!-- REJECTION: {} -->",
        created_at=at(10),
        updated_at=at(10, 30),
        url="https://github.example/c/71",
    )


@pytest.mark.parametrize("state", ["changes_requested", "CHANGES_REQUESTED", "Changes_Requested"])
def test_a_review_state_counts_in_any_case(state):
    seen = parse_event("pull_request_review", changed(REVIEWED, "review.state", state))
    assert seen.review.state is ReviewState.CHANGES_REQUESTED


@pytest.mark.parametrize(
    ("event", "payload", "path", "author"),
    [
        ("pull_request", PULL, "pull_request.user", lambda seen: seen.pull_request.author),
        ("pull_request_review", REVIEWED, "review.user", lambda seen: seen.review.author),
        ("pull_request_review_comment", INLINE, "comment.user", lambda seen: seen.comment.author),
        ("issue_comment", COMMENTED, "comment.user", lambda seen: seen.author),
        ("issue_comment", COMMENTED, "sender", lambda seen: seen.sender),
    ],
)
def test_a_deleted_account_is_the_ghost(event, payload, path, author):
    assert author(parse_event(event, changed(payload, path, None))) == GHOST


@pytest.mark.parametrize("body", [None, ..., 5])
def test_a_review_without_words_has_an_empty_body(body):
    assert parse_event("pull_request_review", changed(REVIEWED, "review.body", body)).review.body == ""


def test_text_is_kept_as_a_database_can_keep_it():
    seen = parse_event("pull_request_review", changed(REVIEWED, "review.body", "a\0b\ud800c"))
    assert seen.review.body == "a\ufffdb?c"


@pytest.mark.parametrize(
    ("path", "value"),
    [("comment.line", None), ("comment.line", ...), ("comment.side", "LEFT"), ("comment.line", "5")],
)
def test_a_line_that_is_not_at_the_head_is_no_line(path, value):
    assert parse_event("pull_request_review_comment", changed(INLINE, path, value)).comment.line is None


def test_a_range_that_starts_on_the_old_side_has_no_start():
    seen = parse_event("pull_request_review_comment", changed(INLINE, "comment.start_side", "LEFT"))
    assert (seen.comment.start_line, seen.comment.line) == (None, 5)


def test_a_merge_is_known_by_its_time_where_the_flag_is_missing():
    merged = changed(PULL, "pull_request.merged_at", "2026-03-02T12:00:00Z")
    merged = changed(merged, "pull_request.state", "closed")
    seen = parse_event(
        "pull_request", changed(merged, "pull_request.closed_at", "2026-03-02T12:00:00Z")
    ).pull_request
    assert (seen.merged, seen.open, seen.closed_at) == (True, False, at(12))


def test_a_delivery_without_an_installation_is_still_read():
    assert (
        parse_event(
            "pull_request", changed(PULL, "installation", ...)
        ).pull_request.repository.installation_id
        == 0
    )


def test_a_resolved_thread_names_its_comments():
    found = [
        parse_event(each.event, each.payload) for each in samples() if each.event.endswith("review_thread")
    ]
    assert {seen.action for seen in found} == {"resolved", "unresolved"}
    assert all(url.startswith("https://") for seen in found for url in seen.urls)
    assert all(seen.urls for seen in found)


def test_a_label_is_seen_with_who_put_it_there():
    labeled = {**PULL, "action": "labeled", "label": {"name": "gate:date_errors"}}
    assert parse_event("pull_request", labeled) == LabelEvent(
        "labeled", SNAPSHOT, "gate:date_errors", Account(12, "bob"), ""
    )
