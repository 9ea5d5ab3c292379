"""Does every payload end as a value, whatever is in it?"""

import json

from hypothesis import given
from hypothesis import strategies as st

from bot.inbox.parse import SUBSCRIBED_EVENTS, parse_event
from bot.pull_request.events import (
    CheckEvent,
    Event,
    IgnoredEvent,
    InlineCommentEvent,
    InstallationEvent,
    LabelEvent,
    PullRequestEvent,
    RepositoryEvent,
    ReviewEvent,
    ReviewThreadEvent,
)
from tests.inbox.payload_builders import (
    CHECK_RUN_PAYLOAD,
    COMMENT_PAYLOAD,
    INLINE_COMMENT_PAYLOAD,
    PULL_REQUEST_PAYLOAD,
    PUSH_PAYLOAD,
    REVIEW_PAYLOAD,
    STATUS_PAYLOAD,
    VALIDATION_PAYLOAD,
)
from tests.judges.samples import samples
from tests.schema_documents import replace_value

READ = [sample for sample in samples() if sample.event in SUBSCRIBED_EVENTS]
PULL_REQUEST_ACTIONS = (
    "pull_request is processed for closed, converted_to_draft, edited, labeled, opened, ready_for_review, "
    "reopened, review_requested, synchronize, unlabeled only"
)


def test_every_published_sample_is_read_or_ignored():
    assert {type(parse_event(sample.event, sample.payload)) for sample in samples()} == {
        PullRequestEvent,
        ReviewEvent,
        InlineCommentEvent,
        LabelEvent,
        CheckEvent,
        ReviewThreadEvent,
        RepositoryEvent,
        InstallationEvent,
        IgnoredEvent,  # the comments among them stand on issues, and no push touches our config
    }


def test_every_published_sample_of_a_read_action_on_a_pull_request_is_seen():
    ignored = {
        parse_event(sample.event, sample.payload).reason
        for sample in READ
        if not isinstance(parse_event(sample.event, sample.payload), Event)
    }
    assert ignored == {
        "a comment on an issue, not on a pull request",
        "a push that deletes the branch",
        "a push that does not change the config",
        "check_run is processed for completed, created only",
        "repository is processed for deleted, edited, privatized, publicized, renamed, transferred only",
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
BASES = [
    ("whetstone", VALIDATION_PAYLOAD),
    ("status", STATUS_PAYLOAD),
    ("push", PUSH_PAYLOAD),
    ("check_run", CHECK_RUN_PAYLOAD),
    ("pull_request", PULL_REQUEST_PAYLOAD),
    ("pull_request_review", REVIEW_PAYLOAD),
    ("pull_request_review_comment", INLINE_COMMENT_PAYLOAD),
    ("issue_comment", COMMENT_PAYLOAD),
]


@given(data=st.data(), base=st.sampled_from(BASES))
def test_no_mangled_payload_raises(data, base):
    event, payload = base
    for _ in range(data.draw(st.integers(1, 3))):
        way = data.draw(st.sampled_from(sorted(paths(payload))))
        payload = replace_value(payload, way, data.draw(JSON | st.just(...)))
    found = parse_event(event, payload)
    assert isinstance(found, Event | IgnoredEvent)
    assert json.dumps(repr(found)).encode()


@given(event=st.sampled_from(sorted(SUBSCRIBED_EVENTS)), payload=JSON)
def test_no_payload_at_all_raises(event, payload):
    assert isinstance(parse_event(event, payload), IgnoredEvent)
