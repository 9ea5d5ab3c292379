from __future__ import annotations

from collections import Counter

from tests.judges.samples import samples


def test_all_published_samples_are_here():
    events = Counter(each.event for each in samples())
    assert (events.total(), len(events)) == (329, 58)
    assert events["pull_request_review"] == 4


def test_no_sample_requests_changes_so_tests_must_derive_one():
    states = {each.payload["review"]["state"] for each in samples() if each.event == "pull_request_review"}
    assert "changes_requested" not in states
