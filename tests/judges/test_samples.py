from __future__ import annotations

from collections import Counter

from tests.judges.judge import _payload_validator, _quick, _webhook_name, description
from tests.judges.samples import samples


def test_all_published_samples_are_here():
    events = Counter(each.event for each in samples())
    assert (events.total(), len(events)) == (329, 58)
    assert events["pull_request_review"] == 4


def test_no_sample_requests_changes_so_tests_must_derive_one():
    states = {each.payload["review"]["state"] for each in samples() if each.event == "pull_request_review"}
    assert "changes_requested" not in states


def test_what_fits_at_a_first_look_fits_a_thorough_one():
    seen = []
    for each in {one.event: one for one in samples()}.values():
        for payload in (each.payload, *(without(each.payload, name) for name in each.payload)):
            name = _webhook_name(each.event, payload)
            schema = description()["x-webhooks"].get(name)
            if schema is not None:
                fits = not list(_payload_validator(name).iter_errors(payload))
                seen.append((_quick().fits(schema, payload), fits))
    assert (True, False) not in seen
    assert {(True, True), (False, False)} <= set(seen)


def without(payload, name):
    return {key: value for key, value in payload.items() if key != name}
