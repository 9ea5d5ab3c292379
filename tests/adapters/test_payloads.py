import copy
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.payloads import EVENTS, parse, read
from bot.domain.events import (
    CheckSeen,
    CommentSeen,
    ConfigBroken,
    ConfigPushed,
    Ignored,
    InlineComment,
    InlineCommentSeen,
    InstallationSeen,
    LabelSeen,
    PullRequestSeen,
    PullRequestSnapshot,
    RepositoryChanged,
    Review,
    ReviewSeen,
    ReviewState,
    ThreadSeen,
    ToolFinding,
    ValidationSeen,
    WeekDue,
)
from bot.domain.model import GHOST, Account, Place, Repository
from bot.domain.origin import hash_of
from bot.ports import Delivery
from tests.judges.samples import samples

READ = [sample for sample in samples() if sample.event in EVENTS]
PULL_REQUEST_ACTIONS = (
    "pull_request is read for closed, converted_to_draft, edited, labeled, opened, ready_for_review, "
    "reopened, synchronize, unlabeled only"
)
SEEN = (
    PullRequestSeen
    | ReviewSeen
    | InlineCommentSeen
    | CommentSeen
    | LabelSeen
    | CheckSeen
    | ConfigPushed
    | ThreadSeen
    | RepositoryChanged
    | ValidationSeen
    | ConfigBroken
    | WeekDue
)


def at(hour, minute=0):
    return datetime(2026, 3, 2, hour, minute, tzinfo=UTC)


def changed(payload, path, value):
    """The payload with one field set, or taken away where the value is `...`."""
    result = copy.deepcopy(payload)
    *way, last = path.split(".") if isinstance(path, str) else path
    node = result
    for step in way:
        node = node[step]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return result


REPOSITORY = Repository(7, "octo", "notes", 9, private=True, default_branch="trunk")
ALICE = Account(11, "alice")
PULL = {
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
SNAPSHOT = PullRequestSnapshot(
    repository=REPOSITORY,
    number=3,
    author=Account(13, "robo[bot]", bot=True),
    title="Add a claim",
    base="trunk",
    head="abc",
    created_at=at(8),
    updated_at=at(9),
    open=True,
    merged=False,
    draft=False,
    closed_at=None,
)
REVIEWED = {
    **PULL,
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
REVIEW = Review(
    id=81,
    author=ALICE,
    state=ReviewState.CHANGES_REQUESTED,
    body="[date_errors]",
    submitted_at=at(10),
    head="abc",
    url="https://github.example/r/81",
)
INLINE = {
    **PULL,
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
INLINE_COMMENT = InlineComment(
    id=91,
    review_id=81,
    author=ALICE,
    body="wrong year",
    path="a.md",
    line=5,
    start_line=4,
    diff_hunk="@@ -1 +1 @@",
    created_at=at(10, 30),
    url="https://github.example/c/91",
)
COMMENTED = {
    "action": "deleted",
    "installation": {"id": 9},
    "repository": PULL["repository"],
    "sender": PULL["sender"],
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


def test_a_push_is_seen_with_its_head_and_githubs_time():
    assert parse("pull_request", PULL) == PullRequestSeen("synchronize", SNAPSHOT, fork=True)


def test_a_review_is_seen():
    assert parse("pull_request_review", REVIEWED) == ReviewSeen("submitted", SNAPSHOT, REVIEW)


def test_an_inline_comment_is_seen_at_its_place():
    assert parse("pull_request_review_comment", INLINE) == InlineCommentSeen(
        "created", SNAPSHOT, INLINE_COMMENT
    )


def test_a_deleted_comment_of_our_own_comes_through():
    assert parse("issue_comment", COMMENTED) == CommentSeen(
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
    seen = parse("pull_request_review", changed(REVIEWED, "review.state", state))
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
    assert author(parse(event, changed(payload, path, None))) == GHOST


@pytest.mark.parametrize("body", [None, ..., 5])
def test_a_review_without_words_has_an_empty_body(body):
    assert parse("pull_request_review", changed(REVIEWED, "review.body", body)).review.body == ""


def test_text_is_kept_as_a_database_can_keep_it():
    seen = parse("pull_request_review", changed(REVIEWED, "review.body", "a\0b\ud800c"))
    assert seen.review.body == "a\ufffdb?c"


@pytest.mark.parametrize(
    ("path", "value"),
    [("comment.line", None), ("comment.line", ...), ("comment.side", "LEFT"), ("comment.line", "5")],
)
def test_a_line_that_is_not_at_the_head_is_no_line(path, value):
    assert parse("pull_request_review_comment", changed(INLINE, path, value)).comment.line is None


def test_a_range_that_starts_on_the_old_side_has_no_start():
    seen = parse("pull_request_review_comment", changed(INLINE, "comment.start_side", "LEFT"))
    assert (seen.comment.start_line, seen.comment.line) == (None, 5)


def test_a_merge_is_known_by_its_time_where_the_flag_is_missing():
    merged = changed(PULL, "pull_request.merged_at", "2026-03-02T12:00:00Z")
    merged = changed(merged, "pull_request.state", "closed")
    seen = parse(
        "pull_request", changed(merged, "pull_request.closed_at", "2026-03-02T12:00:00Z")
    ).pull_request
    assert (seen.merged, seen.open, seen.closed_at) == (True, False, at(12))


def test_a_delivery_without_an_installation_is_still_read():
    assert (
        parse("pull_request", changed(PULL, "installation", ...)).pull_request.repository.installation_id == 0
    )


@pytest.mark.parametrize(
    ("event", "payload", "reason"),
    [
        ("gollum", PULL, "gollum is not read"),
        ("push", PULL, "push: after is not a text"),
        (
            "whetstone",
            {"lane": "x"},
            "whetstone is read for backfill, config_broken, head, heads, past, retry, validation, weekly only",
        ),
        (
            "pull_request_review",
            changed(REVIEWED, "action", "yawned"),
            "pull_request_review is read for dismissed, edited, submitted only",
        ),
        (
            "pull_request_review",
            changed(REVIEWED, "action", ["submitted"]),
            "pull_request_review is read for dismissed, edited, submitted only",
        ),
        (
            "issue_comment",
            changed(COMMENTED, "issue.pull_request", None),
            "a comment on an issue, not on a pull request",
        ),
        ("pull_request", changed(PULL, "pull_request.head", None), "pull_request: head.sha is not a text"),
        ("pull_request", changed(PULL, "pull_request", []), "pull_request: pull_request is not an object"),
        ("pull_request", changed(PULL, "pull_request.number", 3.5), "pull_request: number is not a number"),
        (
            "pull_request",
            changed(PULL, "pull_request.created_at", "yesterday"),
            "pull_request: created_at is not a time",
        ),
        (
            "pull_request",
            changed(PULL, "repository.id", 2**63),
            "pull_request: repository.id is not a number",
        ),
        (
            "pull_request_review",
            changed(REVIEWED, "review.state", "pending"),
            "the review is not submitted yet",
        ),
        (
            "pull_request_review",
            changed(REVIEWED, "review.state", "shrugged"),
            "pull_request_review: review.state is not a state that is known",
        ),
        (
            "pull_request_review",
            changed(REVIEWED, "review.submitted_at", None),
            "pull_request_review: review.submitted_at is not a time",
        ),
    ],
)
def test_what_says_nothing_is_ignored_with_its_reason(event, payload, reason):
    assert parse(event, payload) == Ignored(reason)


def test_a_time_at_the_end_of_the_calendar_is_no_time():
    odd = changed(PULL, "pull_request.created_at", "0001-01-01T00:00:00+14:00")
    assert parse("pull_request", odd) == Ignored("pull_request: created_at is not a time")


def test_a_payload_that_is_no_object_is_ignored():
    assert isinstance(parse("pull_request", ["action"]), Ignored)


def test_a_kept_delivery_is_read_from_its_bytes():
    body = json.dumps(REVIEWED).encode()
    delivery = Delivery("d-1", "pull_request_review", "pr:7:3", 9, body, at(10))
    assert read(delivery) == ReviewSeen("submitted", SNAPSHOT, REVIEW)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000])
def test_a_kept_delivery_that_is_no_json_is_ignored(body):
    delivery = Delivery("d-1", "pull_request", "pr:7:3", 9, body, at(10))
    assert read(delivery) == Ignored("pull_request: the body is not JSON")


def test_a_resolved_thread_names_its_comments():
    found = [parse(each.event, each.payload) for each in samples() if each.event.endswith("review_thread")]
    assert {seen.action for seen in found} == {"resolved", "unresolved"}
    assert all(url.startswith("https://") for seen in found for url in seen.urls)
    assert all(seen.urls for seen in found)


def test_an_installation_names_the_repositories_that_it_gains_and_loses():
    short = {"id": 77, "full_name": "acme/knowledge", "private": True}
    gained = Repository(77, "acme", "knowledge", 5, private=True, default_branch="")
    told = {"installation": {"id": 5}, "action": "added", "repositories_added": [short, {"id": 78}, None]}
    new = {"installation": {"id": 5}, "action": "created", "repositories": [short]}
    lost = {"installation": {"id": 5}, "action": "removed", "repositories_removed": [short]}
    again = {"installation": {"id": 5}, "action": "unsuspend"}
    more = {"installation": {"id": 5}, "action": "new_permissions_accepted"}
    assert [
        parse("installation", again),
        parse("installation", more),
        parse("installation_repositories", told),
        parse("installation", new),
        parse("installation_repositories", lost),
    ] == [
        InstallationSeen("unsuspend", 5),
        InstallationSeen("new_permissions_accepted", 5),
        InstallationSeen("added", 5, added=(gained,)),
        InstallationSeen("created", 5, added=(gained,)),
        InstallationSeen("removed", 5, removed=(77,)),
    ]


def test_every_published_sample_is_read_or_ignored():
    assert {type(parse(sample.event, sample.payload)) for sample in samples()} == {
        PullRequestSeen,
        ReviewSeen,
        InlineCommentSeen,
        LabelSeen,
        CheckSeen,
        ThreadSeen,
        RepositoryChanged,
        InstallationSeen,
        Ignored,  # the comments among them stand on issues, and no push touches our config
    }


def test_every_published_sample_of_a_read_action_on_a_pull_request_is_seen():
    ignored = {
        parse(sample.event, sample.payload).reason
        for sample in READ
        if not isinstance(parse(sample.event, sample.payload), SEEN)
    }
    assert ignored == {
        "a comment on an issue, not on a pull request",
        "a push that leaves no branch",
        "a push that leaves the config alone",
        "check_run is read for completed only",
        "repository is read for deleted, edited, privatized, publicized, renamed, transferred only",
        PULL_REQUEST_ACTIONS,
    }


def paths(node, way=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*way, key)
            yield from paths(value, (*way, key))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
STATUS = {
    "repository": PULL["repository"],
    "installation": PULL["installation"],
    "sha": "abc",
    "context": "lint",
    "state": "failure",
    "description": "2 mistakes",
    "created_at": "2026-03-02T08:00:00Z",
    "updated_at": "2026-03-02T08:00:00Z",
    "target_url": None,
    "sender": {"id": 12, "login": "bob", "type": "User"},
}
PUSHED = {
    "repository": PULL["repository"],
    "installation": PULL["installation"],
    "ref": "refs/heads/change",
    "after": "abc",
    "commits": [{"added": [], "removed": [], "modified": [".github/whetstone.yml"]}],
}
CHECKED = {
    "action": "completed",
    "repository": PULL["repository"],
    "installation": PULL["installation"],
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


def test_a_check_is_seen_with_the_pull_requests_of_this_repository():
    assert parse("check_run", CHECKED) == CheckSeen(
        repository=REPOSITORY,
        head="abc",
        name="validate",
        conclusion="failure",
        at=at(8),
        url="https://github.example/runs/9",
        run_id=9,
        app="ci",
        title="1 mistake",
        annotations=1,
        numbers=(3,),
        account="ci[bot]",
        body_hash=hash_of("1 mistake", "", ""),
    )


def test_a_status_is_seen_as_a_check_without_annotations():
    assert parse("status", STATUS) == CheckSeen(
        REPOSITORY,
        "abc",
        "lint",
        "failure",
        at(8),
        "",
        title="2 mistakes",
        account="bob",
        account_id=12,
        body_hash=hash_of("2 mistakes"),
    )


def test_a_label_is_seen_with_who_put_it_there():
    labeled = {**PULL, "action": "labeled", "label": {"name": "gate:date_errors"}}
    assert parse("pull_request", labeled) == LabelSeen(
        "labeled", SNAPSHOT, "gate:date_errors", Account(12, "bob"), ""
    )


def test_a_push_is_seen_only_where_it_touches_the_config():
    assert parse("push", PUSHED) == ConfigPushed(REPOSITORY, "abc")
    merged = {**PUSHED, "ref": "refs/heads/trunk"}
    assert parse("push", merged) == ConfigPushed(REPOSITORY, "abc", in_force=True)
    elsewhere = {**PUSHED, "commits": [{"added": ["README.md"], "removed": [], "modified": []}]}
    assert parse("push", elsewhere) == Ignored("a push that leaves the config alone")


VALIDATED = {
    "action": "validation",
    "lane": "pr:7:3",
    "repository": PULL["repository"],
    "installation": PULL["installation"],
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


def test_what_was_handed_in_is_seen_with_its_findings():
    assert parse("whetstone", VALIDATED) == ValidationSeen(
        id="validation:1",
        repository=REPOSITORY,
        number=3,
        author=ALICE,
        role="write",
        at=at(8),
        tool="ruff",
        findings=(ToolFinding("E501", "too long", Place("a.py", 3, 5), ""),),
        body_hash="h",
    )


BASES = [
    ("whetstone", VALIDATED),
    ("status", STATUS),
    ("push", PUSHED),
    ("check_run", CHECKED),
    ("pull_request", PULL),
    ("pull_request_review", REVIEWED),
    ("pull_request_review_comment", INLINE),
    ("issue_comment", COMMENTED),
]


@given(data=st.data(), base=st.sampled_from(BASES))
def test_no_mangled_payload_raises(data, base):
    event, payload = base
    for _ in range(data.draw(st.integers(1, 3))):
        way = data.draw(st.sampled_from(sorted(paths(payload))))
        payload = changed(payload, way, data.draw(JSON | st.just(...)))
    found = parse(event, payload)
    assert isinstance(found, SEEN | Ignored)
    assert json.dumps(repr(found)).encode()


@given(event=st.sampled_from(sorted(EVENTS)), payload=JSON)
def test_no_payload_at_all_raises(event, payload):
    assert isinstance(parse(event, payload), Ignored)
