import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import accepted_events
from bot.github.payloads import get_integer
from bot.inbox.parse import lane_of_payload
from bot.web.webhook import is_own_event, parse_envelope
from tests.judges.samples import samples

APP = 4242


def asked(event, payload):
    """All that the webhook wants to know."""
    return (
        lane_of_payload(event, payload),
        is_own_event(payload, APP),
        get_integer(payload, "installation.id"),
    )


def test_a_glance_at_githubs_samples_says_what_the_whole_says():
    read = [each for each in samples() if each.event in accepted_events()]
    glances = [asked(each.event, parse_envelope(json.dumps(each.payload).encode())) for each in read]
    assert glances == [asked(each.event, each.payload) for each in read]


@pytest.mark.parametrize(
    ("links", "lane"), [({"url": "https://api.github.com/repos/a/b/pulls/3"}, "pr:7:3"), (None, "issue:7:3")]
)
def test_a_comment_on_a_pull_request_is_in_its_lane(links, lane):
    payload = {"repository": {"id": 7}, "issue": {"number": 3, "pull_request": links}}
    assert lane_of_payload("issue_comment", parse_envelope(json.dumps(payload).encode())) == lane


def test_a_glance_builds_nothing_that_is_not_asked_for():
    body = (
        b'{"action":"edited","pull_request":{"number":3,"title":"long"},"changes":{},"repository":{"id":7}}'
    )
    assert parse_envelope(body) == {
        "action": "edited",
        "pull_request": {"number": 3},
        "repository": {"id": 7},
    }


def test_a_comment_on_a_pull_request_is_in_its_lane_whatever_the_issue_says_of_it():
    payload = {"issue": {"number": 3, "pull_request": {"url": "https://x"}}, "repository": {"id": 7}}
    assert asked("issue_comment", parse_envelope(json.dumps(payload).encode())) == ("pr:7:3", False, None)


VALUES = st.recursive(
    st.sampled_from([None, True, 0, 7, APP, 2.5, "", "created", "abc"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["id", "number", "user", "app", "performed_via_github_app", "pull_request", "head_sha", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
FIELDS = ["action", "repository", "installation", "sender", "pull_request", "issue", "comment", "check_run"]
FIELDS += ["check_suite", "sha", "after", "lane", "x"]


@given(
    st.sampled_from(sorted(accepted_events())), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6)
)
def test_a_glance_at_any_object_says_what_the_whole_says(event, payload):
    assert asked(event, parse_envelope(json.dumps(payload).encode())) == asked(event, payload)


@pytest.mark.parametrize(
    "body",
    [b'{"x":{"y":"\xff"}}', b'{"x":[1,]}', b'{"x":"\\ud800"}', b'{"sender":[],"x":"\xff"}', b"[]", b"7", b""],
)
def test_what_is_passed_over_must_be_json_too(body):
    assert parse_envelope(body) is None
