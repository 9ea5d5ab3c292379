"""Payloads as GitHub sends them, made short, and the values that they mean."""

from datetime import UTC, datetime

from bot.pull_request.events import InlineCommentSnapshot, PullRequestSnapshot, ReviewSnapshot, ReviewState
from bot.values import Account, Repository


def time_at(hour, minute=0):
    return datetime(2026, 3, 2, hour, minute, tzinfo=UTC)


REPOSITORY = Repository(7, "octo", "notes", 9, private=True, default_branch="trunk")
ALICE = Account(11, "alice")
PULL_REQUEST_PAYLOAD = {
    "action": "synchronize",
    "installation": {"id": 9},
    "repository": {
        "id": 7,
        "name": "notes",
        "owner": {"login": "octo"},
        "private": True,
        "default_branch": "trunk",
    },
    "sender": {"id": 12, "login": "bob", "type": "User"},
    "pull_request": {
        "number": 3,
        "user": {"id": 13, "login": "robo[bot]", "type": "Bot"},
        "title": "Add a claim",
        "state": "open",
        "draft": False,
        "base": {"ref": "trunk"},
        "head": {"sha": "abc", "repo": None},
        "created_at": "2026-03-02T08:00:00Z",
        "updated_at": "2026-03-02T11:00:00+02:00",
        "closed_at": None,
        "merged_at": None,
    },
}
PULL_REQUEST_SNAPSHOT = PullRequestSnapshot(
    repository=REPOSITORY,
    number=3,
    author=Account(13, "robo[bot]", bot=True),
    title="Add a claim",
    base="trunk",
    head="abc",
    created_at=time_at(8),
    updated_at=time_at(9),
    open=True,
    merged=False,
    draft=False,
    closed_at=None,
)
REVIEW_PAYLOAD = {
    **PULL_REQUEST_PAYLOAD,
    "action": "submitted",
    "review": {
        "id": 81,
        "user": {"id": 11, "login": "alice", "type": "User"},
        "state": "changes_requested",
        "body": "[date_errors]",
        "submitted_at": "2026-03-02T10:00:00Z",
        "commit_id": "abc",
        "html_url": "https://github.example/r/81",
    },
}
REVIEW_SNAPSHOT = ReviewSnapshot(
    id=81,
    author=ALICE,
    state=ReviewState.CHANGES_REQUESTED,
    body="[date_errors]",
    submitted_at=time_at(10),
    head="abc",
    url="https://github.example/r/81",
)
INLINE_COMMENT_PAYLOAD = {
    **PULL_REQUEST_PAYLOAD,
    "action": "created",
    "comment": {
        "id": 91,
        "pull_request_review_id": 81,
        "user": {"id": 11, "login": "alice", "type": "User"},
        "body": "wrong year",
        "path": "a.md",
        "line": 5,
        "side": "RIGHT",
        "start_line": 4,
        "start_side": "RIGHT",
        "diff_hunk": "@@ -1 +1 @@",
        "created_at": "2026-03-02T10:30:00Z",
        "html_url": "https://github.example/c/91",
    },
}
INLINE_COMMENT_SNAPSHOT = InlineCommentSnapshot(
    id=91,
    review_id=81,
    author=ALICE,
    body="wrong year",
    path="a.md",
    line=5,
    start_line=4,
    diff_hunk="@@ -1 +1 @@",
    created_at=time_at(10, 30),
    url="https://github.example/c/91",
)
COMMENT_PAYLOAD = {
    "action": "deleted",
    "installation": {"id": 9},
    "repository": PULL_REQUEST_PAYLOAD["repository"],
    "sender": PULL_REQUEST_PAYLOAD["sender"],
    "issue": {"number": 3, "pull_request": {"url": "https://api.github.example/pulls/3"}},
    "comment": {
        "id": 71,
        "user": {"id": 99, "login": "whetstone[bot]", "type": "Bot"},
        "body": "<!-- REJECTION: {} -->",
        "created_at": "2026-03-02T10:00:00Z",
        "updated_at": "2026-03-02T10:30:00Z",
        "html_url": "https://github.example/c/71",
    },
}
STATUS_PAYLOAD = {
    "repository": PULL_REQUEST_PAYLOAD["repository"],
    "installation": PULL_REQUEST_PAYLOAD["installation"],
    "sha": "abc",
    "context": "lint",
    "state": "failure",
    "description": "2 mistakes",
    "created_at": "2026-03-02T08:00:00Z",
    "updated_at": "2026-03-02T08:00:00Z",
    "target_url": None,
    "sender": {"id": 12, "login": "bob", "type": "User"},
}
PUSH_PAYLOAD = {
    "repository": PULL_REQUEST_PAYLOAD["repository"],
    "installation": PULL_REQUEST_PAYLOAD["installation"],
    "ref": "refs/heads/change",
    "after": "abc",
    "commits": [{"added": [], "removed": [], "modified": [".github/whetstone.yml"]}],
}
CHECK_RUN_PAYLOAD = {
    "action": "completed",
    "repository": PULL_REQUEST_PAYLOAD["repository"],
    "installation": PULL_REQUEST_PAYLOAD["installation"],
    "check_run": {
        "id": 9,
        "name": "validate",
        "head_sha": "abc",
        "conclusion": "failure",
        "completed_at": "2026-03-02T08:00:00Z",
        "html_url": "https://github.example/runs/9",
        "app": {"slug": "ci"},
        "output": {"title": "1 mistake", "annotations_count": 1},
        "pull_requests": [
            {"number": 3, "base": {"repo": {"id": 7}}},
            {"number": 4, "base": {"repo": {"id": 8}}},
        ],
    },
}
VALIDATION_PAYLOAD = {
    "action": "validation",
    "lane": "pr:7:3",
    "repository": PULL_REQUEST_PAYLOAD["repository"],
    "installation": PULL_REQUEST_PAYLOAD["installation"],
    "number": 3,
    "id": "validation:1",
    "at": "2026-03-02T08:00:00Z",
    "author": {"id": 11, "login": "alice", "type": "User"},
    "role": "write",
    "head": None,
    "content": {
        "body_hash": "h",
        "document": None,
        "tool": "ruff",
        "findings": [
            {"rule": "E501", "message": "too long", "place": {"path": "a.py", "line": 3, "end_line": 5}},
        ],
    },
}
