"""What does a check that the config maps say?"""

from dataclasses import replace
from itertools import permutations

import pytest

from bot.findings.ledger import build_ledger, standing_verdicts
from bot.gates.config import CheckRule, ValidatorRules
from bot.pull_request.checks import CheckAnnotation
from bot.pull_request.events import CheckEvent
from bot.pull_request.model import UNREADABLE, Item, Stance
from bot.values import Location
from bot.verdicts.checks import (
    MAX_RUNS_KEPT,
    is_mapped_check,
    merge_check,
    needs_log,
    record_triggers,
    unread_suites,
)
from bot.verdicts.signals import as_signal
from tests.builders import HEADS, ME, REPOSITORY, at_minute, make_pull_request
from tests.verdicts.signal_builders import MAPPED, verdicts_from


def check(name="validate", conclusion="failure", **changes) -> CheckEvent:
    seen = CheckEvent(
        REPOSITORY, HEADS[0], name, conclusion, at_minute(5), "https://ci/1", run_id=9, title="1 mistake"
    )
    return replace(seen, **changes)


def test_a_failed_check_is_a_verdict_with_its_provenance():
    (verdict,) = verdicts_from(check())
    assert (verdict.id, verdict.validator.key, verdict.validator.check) == (
        f"check:validate@{HEADS[0]}#0/{int(at_minute(5).timestamp())}-9",
        "check:validate",
        True,
    )
    assert (verdict.stance, verdict.head, verdict.url, verdict.permission) == (
        Stance.REJECTS,
        HEADS[0],
        "https://ci/1",
        "config",
    )
    said = "1 mistake"
    assert verdict.items == (Item("date_errors", said, url="https://ci/1", evidence=said, metric=said),)


def test_annotations_give_tags_by_their_text_and_places():
    found = (
        CheckAnnotation("a.md", 3, 3, "Wiki link leads nowhere", "links"),
        CheckAnnotation("a.md", 5, 7, "month 13"),
        CheckAnnotation("a.md", 9, 9, "fine", level="notice"),
    )
    (verdict,) = verdicts_from(check(), annotations={9: found})
    assert [(item.tag, item.place, item.evidence) for item in verdict.items] == [
        ("date_errors", Location("a.md", 5, 7), "month 13"),
        ("broken_wiki_links", Location("a.md", 3), "links: Wiki link leads nowhere"),
    ]


def test_what_another_check_printed_stays():
    (first,), (other,) = (verdicts_from(check(output="1 != 2")), verdicts_from(check("tests", output="boom")))
    known = make_pull_request(head=HEADS[1], verdicts=(first, other))
    again = check(head=HEADS[1], at=at_minute(9), output="1 != 3")
    assert [each.said for each in verdicts_from(again, known=known)] == ["", "boom", "1 != 3"]


def test_what_a_failed_check_printed_is_kept_for_its_newest_head_only():  # row 196
    (first,) = verdicts_from(check(output="expected 11 but got 13"))
    assert first.said == "expected 11 but got 13"
    known = make_pull_request(head=HEADS[1], verdicts=(first,))
    again = check(head=HEADS[1], at=at_minute(9), output="expected 11 but got 12")
    assert [each.said for each in verdicts_from(again, known=known)] == ["", "expected 11 but got 12"]
    late = check(head=HEADS[2], at=at_minute(9), output="late")
    assert [each.said for each in verdicts_from(late, known=known)] == ["expected 11 but got 13", "late"]
    assert [each.said for each in verdicts_from(check(conclusion="success", output="fine"))] == [""]


FOUND = CheckAnnotation("a.md", 5, 5, "This is a wrong date.", "frontmatter")
NOTICE = CheckAnnotation("a.md", 6, 6, "This is a broken wiki link.", level="notice")


@pytest.mark.parametrize(
    ("seen", "tags"),
    [
        (check("notes", output="There is a wrong date."), [("date_errors", None)]),
        (check("notes", title="A wrong date"), [("date_errors", None)]),
        (check("notes", annotations=2), [("date_errors", Location("a.md", 5))]),
        (check("notes", output="> broken wiki link\n\n`wrong date`, and no wrong date"), [(None, None)]),
        (check("notes", "success", output="There is a wrong date."), []),
    ],
)
def test_a_failed_check_without_a_mapped_tag_is_a_finding_that_may_look_like_a_gate(seen, tags):
    noted = replace(MAPPED, validators=ValidatorRules(checks=(CheckRule("notes"),)))
    found = (FOUND, NOTICE) if seen.annotations else ()
    (verdict,) = verdicts_from(seen, rules=noted, annotations={9: found})
    assert [(item.looks_like, item.place) for item in verdict.items] == tags
    assert {item.tag for item in verdict.items} <= {None}


def test_an_annotation_of_a_check_with_two_tags_is_given_to_neither():
    (verdict,) = verdicts_from(check("tests"), annotations={9: (CheckAnnotation("a.py", 1, 1, "boom"),)})
    assert [(item.tag, item.place) for item in verdict.items] == [
        ("body_too_thin", None),
        ("scope_error", None),
    ]


def played(*seen, triggers=None):
    """What the ledger makes of these checks, in every order of arrival."""
    outcomes = []
    for order in permutations(seen):
        pull_request = make_pull_request()
        for event in order:
            pull_request = replace(pull_request, verdicts=merge_check(pull_request, event, (), MAPPED))
        pull_request = record_triggers(pull_request, triggers or {})
        ledger = build_ledger(pull_request)
        statuses = [finding.status.value for finding in ledger.findings]
        outcomes.append((statuses, [verdict.stance.value for verdict in standing_verdicts(ledger)]))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    return outcomes[0]


def test_the_newest_run_of_a_check_counts_in_whatever_order_they_are_told():
    failed, passed = check(), check(conclusion="success", at=at_minute(9), run_id=10)
    assert played(failed, passed) == (["withdrawn"], ["approves"])
    assert played(failed, passed, check(at=at_minute(12), run_id=11)) == (["open"], ["rejects"])


def test_of_a_check_that_runs_again_and_again_the_newest_runs_are_kept():
    pull_request = make_pull_request()
    for number in range(MAX_RUNS_KEPT + 5):
        event = check(at=at_minute(number), run_id=number + 1)
        pull_request = replace(pull_request, verdicts=merge_check(pull_request, event, (), MAPPED))
    assert [verdict.at for verdict in pull_request.verdicts] == [
        at_minute(5 + n) for n in range(MAX_RUNS_KEPT)
    ]


@pytest.mark.parametrize(
    ("seen", "mapped"),
    [
        (check(), True),
        (check("tests / unit"), True),
        (check("build"), False),
        (check(app="whetstone"), False),
        (check(conclusion="cancelled"), False),
        (check(conclusion="stale"), False),
        (check(conclusion="skipped"), True),
    ],
)
def test_only_checks_that_the_config_maps_count_and_never_our_own(seen, mapped):
    assert is_mapped_check(seen, MAPPED, ME) is mapped
    assert (as_signal(seen, make_pull_request(), MAPPED, ME) is not None) is mapped


ACTIONS = {"app": "github-actions", "account": "github-actions[bot]", "title": "", "run_id": 9}
EXIT_CODE = CheckAnnotation(".github", 12, 12, "Process completed with exit code 1.")
PYTEST = "E       assert 3 == 2\ntests/test_a.py:12: AssertionError\nFAILED tests/test_a.py::test_login - assert 3 == 2\n"


def test_the_exit_code_of_a_step_is_no_location():
    (verdict,) = verdicts_from(check(), annotations={9: (EXIT_CODE,)})
    assert [item.place for item in verdict.items] == [None]


def test_annotations_of_level_failure_count_before_all_others():
    warned = CheckAnnotation("a.md", 3, 3, "a long line", level="warning")
    failed = CheckAnnotation("a.md", 5, 5, "month 13")
    (verdict,) = verdicts_from(check(), annotations={9: (warned, failed)})
    assert [item.place for item in verdict.items] == [Location("a.md", 5)]
    (verdict,) = verdicts_from(check(), annotations={9: (warned, EXIT_CODE)})
    assert [item.place for item in verdict.items] == [Location("a.md", 3)]


def test_without_annotations_the_output_says_what_failed_and_where():
    (verdict,) = verdicts_from(check(output=PYTEST))
    (item,) = verdict.items
    assert (item.words, item.place, item.evidence, item.url) == (
        "tests/test_a.py::test_login: assert 3 == 2",
        Location("tests/test_a.py", 12),
        "tests/test_a.py::test_login: assert 3 == 2",
        "https://ci/1",
    )


def test_without_output_the_log_of_the_job_says_it():
    seen = check(**ACTIONS)
    assert needs_log(seen, (EXIT_CODE,))
    (verdict,) = merge_check(make_pull_request(), seen, (EXIT_CODE,), MAPPED, log=PYTEST)
    (item,) = verdict.items
    assert (item.words, item.place) == (
        "tests/test_a.py::test_login: assert 3 == 2",
        Location("tests/test_a.py", 12),
    )


@pytest.mark.parametrize(
    ("seen", "annotations"),
    [
        (check(**ACTIONS, conclusion="success"), ()),
        (check(**ACTIONS, output=PYTEST), ()),
        (check(**ACTIONS), (CheckAnnotation("a.md", 5, 5, "month 13"),)),
        (check(app="other-ci"), ()),
    ],
)
def test_a_log_is_not_read_where_it_is_not_needed(seen, annotations):
    assert not needs_log(seen, annotations)


FAILED = check(**ACTIONS, suite_id=1)
PASSED = check(**ACTIONS, suite_id=2, conclusion="success", at=at_minute(9))


def test_a_pass_in_one_suite_lifts_no_failure_in_another():
    rerun = check(**ACTIONS, suite_id=1, conclusion="success", at=at_minute(12))
    assert played(FAILED, PASSED) == (["new"], ["rejects"])
    assert played(FAILED, PASSED, rerun) == (["withdrawn"], ["approves"])


@pytest.mark.parametrize(
    ("triggers", "outcome"),
    [
        ({1: "pull_request", 2: "pull_request"}, (["withdrawn"], ["approves"])),
        ({1: "push", 2: "pull_request"}, (["new"], ["rejects"])),
        ({1: UNREADABLE, 2: UNREADABLE}, (["new"], ["rejects"])),
        ({1: "pull_request"}, (["new"], ["rejects"])),
    ],
)
def test_a_newer_suite_of_the_same_event_replaces_an_older_one(triggers, outcome):
    assert played(FAILED, PASSED, triggers=triggers) == outcome


def test_a_suite_that_was_replaced_says_nothing_more():
    late = check(**ACTIONS, suite_id=1, at=at_minute(12))
    first = check(**ACTIONS, suite_id=1, conclusion="success")
    assert played(first, PASSED, late, triggers={1: "push", 2: "push"}) == ([], ["approves"])


def test_a_failure_that_two_suites_report_is_closed_by_the_last_of_them():
    other = check(**ACTIONS, suite_id=2, at=at_minute(7))
    rerun = check(**ACTIONS, suite_id=1, conclusion="success", at=at_minute(12))
    assert played(FAILED, other, rerun) == (["new"], ["rejects"])
    assert played(FAILED, other, PASSED) == (["new"], ["rejects"])
    again = check(**ACTIONS, suite_id=2, conclusion="success", at=at_minute(15))
    assert played(FAILED, other, rerun, again) == (["withdrawn"], ["approves"])


def test_the_event_of_a_suite_is_read_only_where_it_decides():
    def unread(*seen):
        pull_request = make_pull_request()
        for event in seen:
            pull_request = replace(pull_request, verdicts=merge_check(pull_request, event, (), MAPPED))
        return unread_suites(pull_request), pull_request

    other = check("notes", **ACTIONS, suite_id=2)
    elsewhere = check(**ACTIONS, suite_id=2, head=HEADS[1])
    foreign = check(app="other-ci", suite_id=2), check(app="other-ci", suite_id=3)
    passed = replace(FAILED, conclusion="success")
    for harmless in ((FAILED,), (FAILED, other), (FAILED, elsewhere), foreign, (passed, PASSED)):
        assert unread(*harmless)[0] == ()
    suites, pull_request = unread(FAILED, PASSED)
    assert suites == (1, 2)
    assert unread_suites(record_triggers(pull_request, {1: "push"})) == (2,)
    assert unread_suites(record_triggers(pull_request, {1: "push", 2: UNREADABLE})) == ()


def test_a_passing_status_lifts_no_check_run_of_the_same_name():
    status = check(conclusion="success", at=at_minute(9), run_id=None, account="github-actions[bot]")
    assert played(FAILED, status) == (["new"], ["rejects", "approves"])


def test_two_apps_with_a_check_of_one_name_are_told_apart():
    (first,) = verdicts_from(check(**ACTIONS))
    (second,) = verdicts_from(check(app="other-ci"))
    assert first.validator.key != second.validator.key
    assert first.validator.name == second.validator.name == "validate"


def test_a_verdict_that_was_stored_without_its_app_is_replaced_by_its_next_result():
    (stored,) = verdicts_from(check())
    stored = replace(stored, account="github-actions[bot]")
    known = make_pull_request(verdicts=(stored,))
    passed = check(**ACTIONS, conclusion="success", at=at_minute(9))
    assert [verdict.stance for verdict in merge_check(known, passed, (), MAPPED)] == [Stance.APPROVES]
