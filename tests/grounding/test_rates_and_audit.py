"""The four rates of a validator's week, and whether the log still holds."""

from dataclasses import replace

from bot.gates.config import shipped_claim_rules
from bot.grounding.audit import (
    failed_checks,
    first_observations,
    grounding_rates,
    grounding_report,
    sum_rates,
)
from bot.pull_request.model import GroundedClaim
from tests.builders import at_minute

HEAD = "a" * 40


def entry(outcome: str, **changes) -> GroundedClaim:
    known = GroundedClaim(
        validator="user:1",
        name="alice",
        verdict="review:3",
        item="",
        type="file_contents",
        requirement="mandatory",
        claim="src/a.py contains `x`",
        outcome=outcome,
        head=HEAD,
        at=at_minute(0),
        tool="contents",
        path="src/a.py",
    )
    return replace(known, **changes)


WEEK = [
    *[entry("verified")] * 11,
    *[entry("contradicted")] * 3,
    *[entry("unverifiable", tool="check runs")] * 2,
    *[entry("unverifiable", tool="")] * 4,
    *[entry("unverifiable", requirement="recommended")] * 7,
]


# rows 144–147
def test_a_week_in_which_the_four_rates_differ():
    week = grounding_rates(WEEK).figures
    assert (
        week["grounding_rate"],
        week["hallucination_rate"],
        week["verification_success_rate"],
        week["false_claim_rate"],
    ) == (0.55, 0.3, 0.688, 0.214)
    assert week["ungrounded_rate"] == week["hallucination_rate"] == 0.3


def test_nobody_has_a_rate_of_nothing():
    nothing = grounding_rates([]).figures
    assert (nothing["grounding_rate"], nothing["false_claim_rate"]) == (None, None)


# row 134
def test_an_entry_with_a_source_at_the_head_passes():
    failed = failed_checks(entry("verified"), HEAD, shipped_claim_rules())
    assert failed == []


def test_the_audit_fails_when_the_head_moves():
    failed = failed_checks(entry("verified"), "b" * 40, shipped_claim_rules())
    assert failed == ["observation_timestamp_recent"]


def test_a_claim_without_a_source_fails():
    failed = failed_checks(entry("verified", tool=""), HEAD, shipped_claim_rules())
    assert "claim_has_source_reference" in failed


def test_a_source_that_does_not_say_which_file_does_not_match():
    failed = failed_checks(entry("verified", path=None), HEAD, shipped_claim_rules())
    assert failed == ["source_matches_observation"]


def test_behaviour_that_was_seen_in_a_file_goes_beyond_the_observation():
    failed = failed_checks(entry("verified", type="code_behavior"), HEAD, shipped_claim_rules())
    assert failed == ["no_extrapolation_beyond_observation"]


def test_what_could_not_be_looked_up_claims_nothing_and_passes():
    failed = failed_checks(entry("unverifiable", tool=""), HEAD, shipped_claim_rules())
    assert failed == []


# rows 148, 149
def test_the_report_names_what_fails_and_the_log_has_every_claim():
    log = [entry("verified"), entry("verified", head="b" * 40)]
    report = grounding_report(log, HEAD, shipped_claim_rules())
    audit = report["audit"]
    assert (audit["claims"], audit["passed"], len(audit["failed"])) == (2, 1, 1)
    assert [line["source"] for line in report["log"]] == ["contents @ aaaaaaa", "contents @ bbbbbbb"]


def test_what_the_author_fixed_after_it_was_confirmed_is_no_false_claim():
    fixed = entry("contradicted", head="b" * 40)
    assert (
        grounding_rates(first_observations([entry("verified"), fixed])).figures
        == grounding_rates([entry("verified")]).figures
    )


def test_a_claim_that_was_looked_up_only_later_counts_then():
    assert (
        grounding_rates(first_observations([entry("unverifiable", tool=""), entry("verified")])).verified == 1
    )


def test_rates_of_several_are_those_of_all_their_claims():
    other = [entry("contradicted", validator="app:9")]
    assert sum_rates([grounding_rates(WEEK), grounding_rates(other)]) == grounding_rates([*WEEK, *other])
