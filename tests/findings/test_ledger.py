"""What becomes of a finding, rule by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.findings.ledger import build_ledger, standing_verdicts
from bot.findings.model import MAX_FINDINGS
from bot.pull_request.model import Item, Stance, Validator
from bot.values import Location
from tests.builders import ALICE, BOB, RIO, at_minute
from tests.findings.ledger_builders import CART, Story, inline, prose, sha

TAG, OTHER = "date_errors", "title_overclaims"


def test_a_first_report_is_new_and_stays_new_until_the_next_review():
    assert Story().reject(TAG).statuses() == {TAG: "new"}


def test_a_second_review_of_the_same_head_adds_to_the_first():
    assert Story().reject(TAG).reject(OTHER).statuses() == {TAG: "new", OTHER: "new"}


def test_a_report_that_is_repeated_at_a_later_head_is_open():
    assert Story().reject(TAG).push("b", {5: "x"}).reject(TAG).statuses() == {TAG: "open"}


def test_a_tagged_body_finding_that_a_later_review_leaves_out_is_fixed():
    story = Story().reject(TAG, OTHER).push("b", {5: "x"}).reject(OTHER)
    assert story.statuses() == {TAG: "fixed", OTHER: "open"}


def test_an_approval_of_a_later_head_fixes_what_its_validator_reported():
    story = Story().reject(TAG).reject(OTHER, who=BOB).push("b", {5: "x"}).approve()
    assert story.statuses() == {TAG: "fixed", OTHER: "changed"}


def test_an_approval_without_a_push_withdraws():
    assert Story().reject(TAG).approve().statuses() == {TAG: "withdrawn"}


def test_somebody_elses_approval_closes_nothing():
    assert Story().reject(TAG).approve(who=BOB).statuses() == {TAG: "new"}


def test_what_comes_back_after_it_was_fixed_has_regressed():
    story = Story().reject(TAG).push("b", {5: "x"}).reject(OTHER).push("c", {6: "y"}).reject(TAG)
    assert story.statuses() == {TAG: "regressed", OTHER: "fixed"}


def test_a_withdrawn_finding_that_is_reported_at_a_later_head_is_open():
    assert Story().reject(TAG).approve().push("b").reject(TAG).statuses() == {TAG: "open"}


@pytest.mark.parametrize(("changed", "status"), [({5: "x"}, "changed"), ({9: "x"}, "new")])
def test_a_push_that_changes_its_lines_changes_an_inline_finding(changed, status):
    assert Story().reject(inline(1, line=5)).push("b", changed).statuses() == {"wrong here": status}


def test_a_finding_in_a_file_without_a_line_is_changed_with_the_file():
    story = Story().reject(Item(TAG, place=Location(CART)))
    assert story.push("b", {9: "x"}).statuses() == {TAG: "changed"}


def test_a_finding_without_a_location_is_changed_by_any_push():
    assert Story().reject(prose("wrong approach")).push("b", {1: "x"}).statuses() == {
        "wrong approach": "changed"
    }


def test_pushing_the_reported_head_again_makes_a_changed_finding_new_again():
    story = Story().reject(inline(1)).push("b", {5: "x"}).push("a")
    assert story.statuses() == {"wrong here": "new"}


def test_an_inline_finding_stays_open_through_a_later_rejection_while_its_lines_are_unchanged():
    story = Story().reject(inline(1)).push("b", {9: "x"}).reject(OTHER)
    assert story.statuses() == {"wrong here": "open", OTHER: "new"}


def test_an_inline_finding_whose_lines_changed_is_fixed_when_a_later_rejection_leaves_it_out():
    story = Story().reject(inline(1)).push("b", {5: "x"}).reject(OTHER)
    assert story.statuses() == {"wrong here": "fixed", OTHER: "new"}


def test_a_body_remark_that_a_later_rejection_leaves_out_is_changed_not_fixed():
    story = Story().reject(prose("wrong approach")).push("b").reject(OTHER)
    assert story.statuses() == {"wrong approach": "changed", OTHER: "new"}


def test_still_keeps_an_earlier_remark_open():
    item = prose("wrong approach", place=Location(CART, 5))
    story = Story().reject(item).push("b", {9: "x"}).reject(OTHER, repeats=True)
    assert story.statuses() == {"wrong approach": "open", OTHER: "new"}


def test_still_reports_an_earlier_remark_again_whatever_was_pushed():
    story = Story().reject(prose("wrong approach"), TAG).push("b", {5: "x"}).reject(OTHER, repeats=True)
    assert story.statuses() == {"wrong approach": "open", TAG: "fixed", OTHER: "new"}


def test_a_rejection_that_says_nothing_but_still_repeats_all_that_was_open():
    story = Story().reject(TAG, prose("wrong approach"), inline(1)).approve(who=BOB)
    story.push("b", {5: "x"}).reject(repeats=True)
    assert story.statuses() == {TAG: "open", "wrong approach": "open", "wrong here": "open"}
    assert [len(v.items) for v in standing_verdicts(build_ledger(story.pull_request))] == [0, 3]


def test_a_remark_in_the_same_words_is_the_same_finding():
    item = prose("wrong approach", place=Location(CART, 5))
    story = Story().reject(item).push("b", {9: "x"}).reject(replace(item, words="Wrong  approach."))
    assert list(story.statuses().values()) == ["open"]


@pytest.mark.parametrize(
    ("by", "role", "pushed", "status"),
    [
        (ALICE, None, True, "fixed"),
        (ALICE, None, False, "withdrawn"),
        (BOB, "write", True, "fixed"),
        (BOB, "write", False, "withdrawn"),
        (BOB, "read", True, "new"),
        (RIO, None, False, "changed"),
        (RIO, "admin", True, "changed"),
    ],
)
def test_a_resolved_thread_means_what_its_resolver_may_say(by, role, pushed, status):
    story = Story().reject(inline(1))
    if pushed:
        story.push("b", {9: "x"})
    assert story.resolve(1, by, role).statuses() == {"wrong here": status}


def test_a_thread_that_was_opened_again_closes_nothing():
    story = Story().reject(inline(1)).resolve(1, ALICE).resolve(1, ALICE, resolved=False)
    assert story.statuses() == {"wrong here": "new"}


def test_a_dismissed_review_withdraws_its_findings_and_no_others():
    story = Story().reject(TAG).reject(OTHER).change_verdict(0, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: "withdrawn", OTHER: "new"}


def test_dismissing_the_newest_review_of_a_validator_leaves_nothing_open_that_rejects_no_more():
    story = Story().reject(TAG, inline(1)).reject(OTHER).reject(TAG, who=BOB)
    story.verdict(Stance.SILENT, inline(2, 9, "scope_error")).change_verdict(1, lifted_at=at_minute(50))
    found = [(f.validator.name, f.status.value) for f in build_ledger(story.pull_request).findings]
    assert found == [("alice", "withdrawn")] * 3 + [("bob", "new"), ("alice", "withdrawn")]


@pytest.mark.parametrize(("facts", "status"), [({"by_line": True}, "new"), ({}, "withdrawn")])
def test_a_line_that_is_edited_out_leaves_what_was_said_before(facts, status):
    story = Story().reject(TAG).reject(OTHER, **facts).change_verdict(1, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: status, OTHER: "withdrawn"}
    assert [len(v.items) for v in standing_verdicts(build_ledger(story.pull_request))] == [1] * bool(facts)


def test_a_deleted_comment_brings_back_nothing_that_it_had_replaced():
    first, second = (f"comment:{number}" for number in (1, 2))
    story = Story().reject(TAG, id=first).reject(OTHER, id=second).change_verdict(1, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: "new", OTHER: "withdrawn"}
    story = Story().reject(TAG, id=first).reject(TAG, id=second).change_verdict(1, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: "new"}, "the first one says so still"
    assert story.change_verdict(0, lifted_at=at_minute(51)).statuses() == {TAG: "withdrawn"}
    story = Story().reject(TAG, id=first).push("b").reject(OTHER, id=second)
    story.change_verdict(1, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: "fixed", OTHER: "withdrawn"}
    assert standing_verdicts(build_ledger(story.pull_request)) == ()


def test_a_comment_that_rejects_without_a_tag_stands():
    gone = Item(TAG, removed_at=at_minute(50))
    for items in ((), (gone,)):
        story = Story().reject(*items, id="comment:1")
        (stands,) = standing_verdicts(build_ledger(story.pull_request))
        assert (stands.stance, stands.items) == (Stance.REJECTS, ())


def test_a_dismissed_approval_opens_and_closes_nothing():
    story = Story().reject(TAG).push("b").approve().change_verdict(1, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: "fixed"}
    assert standing_verdicts(build_ledger(story.pull_request)) == ()


def test_what_is_edited_out_of_a_review_is_withdrawn():
    gone = Item(TAG, removed_at=at_minute(50))
    assert Story().reject(gone, OTHER).statuses() == {TAG: "withdrawn", OTHER: "new"}


@pytest.mark.parametrize(
    ("before", "now", "statuses"),
    [
        (inline(1), inline(1, tag=TAG), {TAG: "new"}),
        (inline(1, tag=TAG), inline(1), {"wrong here": "new"}),
        (inline(1, tag=TAG), inline(1, tag=OTHER), {TAG: "withdrawn", OTHER: "new"}),
        (prose("the cache is slow"), prose("The cache is slow!"), {"The cache is slow!": "new"}),
    ],
)
def test_what_is_edited_into_other_words_stays(before, now, statuses):
    story = Story().reject(now, replace(before, removed_at=at_minute(50)))
    assert story.statuses() == statuses
    assert [item.words for v in standing_verdicts(build_ledger(story.pull_request)) for item in v.items] == [
        now.words
    ]


def test_a_maintainers_dismissal_holds_at_that_head_and_ends_at_a_later_report():
    story = Story().reject(TAG, OTHER).dismiss(TAG)
    assert story.statuses() == {TAG: "dismissed", OTHER: "new"}
    assert story.reject(TAG).statuses()[TAG] == "dismissed"
    assert story.push("b").reject(TAG, OTHER).statuses() == {TAG: "open", OTHER: "open"}


def test_a_dismissal_that_is_read_before_the_push_it_followed_is_about_the_pushed_head():
    story = Story().reject(TAG).push("b").dismiss(TAG, where="a").reject(TAG)
    assert story.statuses() == {TAG: "dismissed"}


def test_a_finding_can_be_dismissed_by_its_short_id():
    story = Story().reject(prose("first"), prose("second"))
    ledger = build_ledger(story.pull_request)
    story.pull_request = replace(story.pull_request, findings=ledger.records())
    assert story.dismiss("f2").statuses() == {"first": "new", "second": "dismissed"}


def test_a_verdict_whose_findings_were_all_dismissed_rejects_no_more():
    story = Story().reject(TAG).dismiss(TAG)
    assert standing_verdicts(build_ledger(story.pull_request)) == ()


def test_a_dismissal_at_a_head_stays_with_that_head_after_a_push_back():
    story = Story().reject(TAG).dismiss(TAG).push("b").push("a")
    assert story.statuses() == {TAG: "dismissed"}


def test_a_check_without_a_result_at_the_new_head_leaves_its_finding_changed():
    failure = Item("tests_failing", "assert 1 == 2")
    story = Story().check(failure).push("b")
    assert story.statuses() == {"tests_failing": "changed"}
    assert story.check(failure).statuses() == {"tests_failing": "open"}
    assert story.push("c").check().statuses() == {"tests_failing": "fixed"}


def test_a_check_that_passes_on_a_rerun_of_the_same_head_withdraws():
    failure = Item("tests_failing", "assert 1 == 2", removed_at=at_minute(9))
    validator = Validator("check:ci", "ci", bot=True, check=True)
    story = Story().approve(validator=validator, id="check:ci@a")
    story.change_verdict(0, items=(failure,))
    assert story.statuses() == {"tests_failing": "withdrawn"}


def test_a_head_that_comes_back_brings_the_results_of_its_checks():
    failure = Item("tests_failing", "assert 1 == 2")
    story = Story().check(failure).push("b").check().push("a")
    assert story.statuses() == {"tests_failing": "regressed"}
    assert story.push("b").statuses() == {"tests_failing": "fixed"}
    dismissed = Story().check(failure).dismiss("tests_failing").push("b").push("a")
    assert dismissed.statuses() == {"tests_failing": "dismissed"}


def test_another_failing_test_is_another_finding():
    first = Item("tests_failing", "one", part=("test", "test_one"))
    second = Item("tests_failing", "two", part=("test", "test_two"))
    story = Story().check(first).push("b").check(second)
    found = build_ledger(story.pull_request).findings
    assert [(f.item.words, f.status.value) for f in found] == [("one", "fixed"), ("two", "new")]


@pytest.mark.parametrize(("pushed", "status"), [(True, "fixed"), (False, "withdrawn")])
def test_what_the_next_validation_of_the_same_tool_leaves_out_is_gone(pushed, status):
    validator = Validator("validation:1:ruff", "ruff", bot=True, check=True)
    story = Story().reject(TAG, OTHER, validator=validator)
    if pushed:
        story.push("b")
    assert story.reject(OTHER, validator=validator).statuses()[TAG] == status


@pytest.mark.parametrize(("pushed", "status"), [(True, "fixed"), (False, "withdrawn")])
def test_a_label_that_a_validator_removes_is_closed(pushed, status):
    validator = Validator(f"label:{TAG}", "alice")
    story = Story().reject(TAG, validator=validator, id=f"label:{TAG}")
    if pushed:
        story.push("b")
    story.change_verdict(0, lifted_at=at_minute(50))
    assert story.statuses() == {TAG: status}


def test_a_late_review_of_an_older_head_touches_nothing_reported_later():
    story = Story().reject(TAG).push("b", {5: "x"}).reject(OTHER).approve(where="a")
    assert story.statuses() == {TAG: "fixed", OTHER: "new"}
    ledger = build_ledger(story.pull_request)
    assert [v.stance.value for v in standing_verdicts(ledger)] == ["rejects"]


def test_a_late_rejection_of_a_head_before_the_approved_one_leaves_nothing_open():
    story = Story().push("b").approve().reject("date_errors", inline(1), prose("unclear"), where="a")
    assert story.statuses() == {"date_errors": "fixed", "wrong here": "fixed", "unclear": "fixed"}
    (finding, *_) = build_ledger(story.pull_request).findings
    assert [(change.status.value, change.head, change.by) for change in finding.changes] == [
        ("new", sha("a"), "alice"),
        ("fixed", sha("b"), "alice"),
    ]


def test_a_late_rejection_stays_open_beside_a_rejection_of_a_later_head():
    story = Story().push("b").reject("scope_error").reject("date_errors", where="a")
    assert story.statuses() == {"scope_error": "new", "date_errors": "changed"}


@pytest.mark.parametrize("late", [2, 4])
@pytest.mark.parametrize(
    ("at_the_later_head", "status"), [((), "fixed"), (("test_b",), "fixed"), (None, "changed")]
)
def test_a_check_that_ends_at_a_head_that_was_left_counts_for_that_head(late, at_the_later_head, status):
    failure = {
        test: Item("tests_failing", f"{test} failed", part=("test", test)) for test in ("test_a", "test_b")
    }
    story = Story().push("b", minute=1)
    story.check(failure["test_a"], where="a", minute=late)
    if at_the_later_head is not None:
        story.check(*(failure[test] for test in at_the_later_head), suite=2, minute=3)
    first = next(f for f in build_ledger(story.pull_request).findings if f.item.part == ("test", "test_a"))
    assert (first.status.value, first.head) == (status, sha("a"))


def test_a_review_after_a_push_back_replaces_bodies_like_any_later_push():
    story = Story().reject(TAG).push("b", {5: "x"}).reject(OTHER).push("a").reject(TAG)
    assert story.statuses() == {TAG: "regressed", OTHER: "fixed"}


def test_two_validators_with_one_tag_are_two_findings_and_each_closes_its_own():
    story = Story().reject(TAG).reject(TAG, who=BOB).push("b").approve()
    found = build_ledger(story.pull_request).findings
    assert [(f.validator.name, f.status.value) for f in found] == [("alice", "fixed"), ("bob", "changed")]


def test_a_tag_in_the_body_and_inline_is_one_finding():
    story = Story().reject(Item(TAG), inline(7, tag=TAG))
    assert len(build_ledger(story.pull_request).findings) == 1


def test_two_lines_with_one_tag_are_two_findings_that_are_carried_apart():
    far = Item(TAG, "far", Location(CART, 15))
    near = Item(TAG, "near", Location(CART, 5))
    story = Story().reject(near, far).push("b", {5: "x"}).reject(replace(far, words="far again"))
    found = build_ledger(story.pull_request).findings
    assert [(f.item.words, f.status.value) for f in found] == [("near", "fixed"), ("far again", "open")]


def test_a_new_thread_with_the_same_tag_and_line_goes_on_with_the_closed_finding():
    story = Story().reject(inline(1, tag=TAG)).push("b", {9: "x"}).resolve(1, ALICE)
    story.push("c", {10: "y"}).reject(inline(2, tag=TAG))
    assert [f.status.value for f in build_ledger(story.pull_request).findings] == ["regressed"]


def test_a_bare_tag_repeats_every_open_finding_with_it():
    places = Item(TAG, "one", Location(CART, 3)), Item(TAG, "two", Location(CART, 8))
    story = Story().reject(*places).push("b", {12: "x"}).reject(TAG)
    found = build_ledger(story.pull_request).findings
    assert [(f.item.words, f.status.value) for f in found] == [("one", "open"), ("two", "open")]


def test_a_command_adds_and_replaces_nothing():
    story = Story().reject(TAG).push("b").reject(OTHER, id="command:comment:9/0")
    assert story.statuses() == {TAG: "changed", OTHER: "new"}


def test_ids_stay_when_an_earlier_review_arrives_late():
    story = Story().reject(OTHER, minute=9)
    first = build_ledger(story.pull_request)
    story.pull_request = replace(story.pull_request, findings=first.records())
    story.reject(TAG, minute=5, who=BOB)
    assert {f.id: f.item.tag for f in build_ledger(story.pull_request).findings} == {"f1": OTHER, "f2": TAG}


def test_a_silent_comment_adds_its_tags_only_while_its_authors_rejection_stands():
    remark = Item(OTHER)
    rejected = Story().reject(TAG)
    rejected.verdict(Stance.SILENT, remark)
    assert rejected.statuses() == {TAG: "new", OTHER: "new"}
    approved = Story().reject(TAG).approve()
    approved.verdict(Stance.SILENT, remark)
    assert approved.statuses() == {TAG: "withdrawn"}
    dismissed = Story().reject(TAG)
    dismissed.change_verdict(0, lifted_at=dismissed.pull_request.verdicts[0].at)
    dismissed.verdict(Stance.SILENT, remark)
    assert dismissed.statuses() == {TAG: "withdrawn"}


def test_an_app_that_only_advises_rejects_while_one_of_its_findings_blocks():
    story = Story().reject(inline(1, blocks=False), advisory=True)
    assert standing_verdicts(build_ledger(story.pull_request)) == ()
    story.reject(inline(2, line=9, blocks=True), advisory=True)
    assert len(standing_verdicts(build_ledger(story.pull_request))) == 1


def test_the_warnings_of_an_app_count_while_somebody_else_rejects():
    story = Story().reject(inline(1, blocks=False), advisory=True, who=BOB).reject(TAG)
    alice, bob = standing_verdicts(build_ledger(story.pull_request))
    assert (alice.validator.name, alice.stance) == ("alice", Stance.REJECTS)
    assert (bob.validator.name, bob.stance) == ("bob", Stance.SILENT)
    assert [item.comment_id for item in bob.items] == [1]
    assert [v.stance for v in standing_verdicts(build_ledger(story.approve().pull_request))] == [
        Stance.APPROVES
    ]


def test_beyond_the_limit_closed_findings_go_first():
    story = Story().reject(*(prose(f"old {number}") for number in range(100))).approve().push("b")
    story.reject(*(prose(f"new {number}") for number in range(MAX_FINDINGS)))
    ledger = build_ledger(story.pull_request)
    assert (len(ledger.findings), len(ledger.open), ledger.omitted) == (MAX_FINDINGS, MAX_FINDINGS, 100)


def test_however_many_findings_were_closed_the_newest_are_listed():
    story = Story()
    for number in range(6):
        story.reject(*(prose(f"round {number} remark {part}") for part in range(300))).approve()
    story.reject(*(prose(f"last remark {part}") for part in range(300)))
    ledger = build_ledger(story.pull_request)
    assert {finding.item.words.split()[0] for finding in ledger.open} == {"last"}
    assert (len(ledger.findings), len(ledger.open), ledger.omitted) == (MAX_FINDINGS, 300, 1_600)


def test_the_history_says_who_changed_the_status_when_and_where():
    story = Story().reject(TAG).push("b").approve()
    steps = build_ledger(story.pull_request).findings[0].changes
    assert [(s.status.value, s.by, s.head[0], s.at) for s in steps] == [
        ("new", "alice", "a", at_minute(2)),
        ("fixed", "alice", "b", at_minute(4)),
    ]


def test_a_review_from_before_the_bot_was_installed_is_about_an_earlier_head():
    story = Story().reject(TAG).push("b", {5: "x"}).reject(OTHER)
    story.pull_request = replace(
        story.pull_request,
        heads=story.pull_request.heads[1:],
        revisions=story.pull_request.revisions[1:],
    )
    assert story.statuses() == {TAG: "fixed", OTHER: "new"}
