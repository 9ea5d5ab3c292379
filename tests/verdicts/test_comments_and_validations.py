"""What does a plain comment, or what was handed in, say?"""

from dataclasses import replace

import pytest

from bot.feedback.model import find_failed_gates
from bot.findings.ledger import build_ledger, standing_verdicts
from bot.gates.config import ToolRule, UnmappedResults
from bot.pull_request.events import CommentEvent, PullRequestEvent, ToolResult, ValidationEvent
from bot.pull_request.model import Item, Revision, Stance
from bot.pull_request.record import date_comments, record_event
from bot.values import Location
from bot.verdicts.reviews import MAX_REMOVED, keep_removed
from bot.verdicts.signals import as_signal
from tests.builders import ALICE, BOB, HEADS, ME, REPOSITORY, at_minute, make_pull_request, make_snapshot
from tests.verdicts.signal_builders import LEO, MAPPED, verdicts_from


def comment(body, author=LEO, **changes) -> CommentEvent:
    seen = CommentEvent(
        "created", REPOSITORY, 212, 81, author, author, body, at_minute(5), at_minute(5), "https://c/81"
    )
    return replace(seen, **changes)


def standing_after(*events, **changes):
    """The verdicts that are in force after these events."""
    return standing_verdicts(build_ledger(make_pull_request(verdicts=verdicts_from(*events, **changes))))


@pytest.mark.parametrize(
    ("body", "stance", "tags"),
    [
        ("<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: a_b -->", Stance.REJECTS, ["a_b"]),
        ("<!-- VERDICT:LEO:APPROVE -->", Stance.APPROVES, []),
        ("<!-- ISSUES: date_errors -->", Stance.REJECTS, ["date_errors"]),
        ("<!-- ISSUES: near_duplicate -->", Stance.SILENT, ["near_duplicate"]),
        ("<!-- ISSUES: not_known -->", Stance.SILENT, ["not_known"]),
        ('<!-- REJECTION: {"issues": ["scope_error"]} -->', Stance.REJECTS, ["scope_error"]),
    ],
)
def test_a_named_validators_comment_counts_by_its_codes(body, stance, tags):
    (verdict,) = verdicts_from(comment(body))
    assert (verdict.stance, [item.tag for item in verdict.items]) == (stance, tags)
    assert (verdict.permission, verdict.url, len(verdict.body_hash)) == ("config", "https://c/81", 64)


REJECTS = "<!-- VERDICT:LEO:REQUEST_CHANGES -->"
WRONG = "The created field has a wrong date, and there is a broken wiki link."


@pytest.mark.parametrize(
    ("body", "looks_like"),
    [
        (f"{REJECTS}\n{WRONG}", ["date_errors"]),
        (f"{REJECTS}\n<!-- ISSUES: scope_error -->\n{WRONG}", []),
        (f"{REJECTS}\n> {WRONG}\n\n`a wrong date`", []),
        (f"{REJECTS}\nThere is no wrong date.", []),
        (f"<!-- VERDICT:LEO:APPROVE -->\n{WRONG}", []),
        (f"<!-- ISSUES: near_duplicate -->\n{WRONG}", []),
    ],
)
def test_plain_words_look_like_a_gate_where_the_comment_rejects_without_a_tag(body, looks_like):
    (verdict,) = verdicts_from(comment(body))
    assert [item.looks_like for item in verdict.items if item.looks_like] == looks_like
    assert not any(item.tag for item in verdict.items if item.looks_like)
    assert verdict.said == body


def test_plain_words_are_no_verdict_by_themselves():
    assert as_signal(comment(WRONG), make_pull_request(), MAPPED, ME) is None


def test_a_comment_that_is_told_before_the_push_it_followed_is_about_the_pushed_head():
    pull_request = make_pull_request(updated_at=at_minute(1))
    told = replace(pull_request, verdicts=verdicts_from(comment(REJECTS), known=pull_request))
    pushed = PullRequestEvent("synchronize", make_snapshot(head=HEADS[1], updated_at=at_minute(3)))
    assert [verdict.head for verdict in date_comments(told).verdicts] == [HEADS[0]]
    later = record_event(told, pushed, at_minute(6))
    assert [verdict.head for verdict in date_comments(later).verdicts] == [HEADS[1]]


def test_a_comment_from_before_the_first_known_head_keeps_the_head_it_was_recorded_with():
    before = make_pull_request(revisions=(Revision(HEADS[0], at_minute(6)),), updated_at=at_minute(6))
    told = replace(before, verdicts=verdicts_from(comment(REJECTS), known=before))
    pushed = PullRequestEvent("synchronize", make_snapshot(head=HEADS[1], updated_at=at_minute(8)))
    later = record_event(told, pushed, at_minute(9))
    assert [verdict.head for verdict in date_comments(later).verdicts] == [HEADS[0]]


def test_inference_from_a_comment_can_be_switched_off():
    rules = replace(MAPPED, detection=replace(MAPPED.detection, enabled=False))
    (verdict,) = verdicts_from(comment(f"{REJECTS}\n{WRONG}"), rules=rules)
    assert [(item.words, item.tag, item.looks_like) for item in verdict.items] == [(WRONG, None, None)]


def test_a_comment_that_does_not_count_is_not_listened_to():
    (verdict,) = verdicts_from(comment(f"{REJECTS}\n{WRONG}"), known=make_pull_request(author=LEO))
    assert (verdict.counted, verdict.items, verdict.said) == (False, (), "")


def test_the_words_of_a_deleted_comment_are_not_kept():
    rejects = comment(f"{REJECTS}\n{WRONG}")
    (verdict,) = verdicts_from(rejects, replace(rejects, action="deleted", updated_at=at_minute(9)))
    assert (verdict.lifted_at, verdict.said, verdict.body_hash) == (at_minute(9), "", "")


def test_an_older_version_of_a_comment_that_is_told_late_changes_nothing():
    rejects = "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: a_b -->"
    edited = comment("<!-- VERDICT:LEO:APPROVE -->", action="edited", updated_at=at_minute(9))
    (verdict,) = verdicts_from(edited, comment(rejects))
    assert verdict.stance is Stance.APPROVES
    taken_back = comment("never mind", action="edited", updated_at=at_minute(12))
    (verdict,) = verdicts_from(comment(rejects), taken_back, edited)
    assert verdict.lifted_at == at_minute(12)


@pytest.mark.parametrize("sender", [LEO, BOB])
def test_a_comment_whose_deletion_is_told_first_does_not_stand(sender):
    rejects = "<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- ISSUES: a_b -->"
    deleted = comment(rejects, action="deleted", sender=sender)
    assert as_signal(deleted, make_pull_request(), MAPPED, ME) is deleted
    late = verdicts_from(deleted, comment(rejects))
    assert [(each.stance, each.items, each.lifted_at) for each in late] == [(Stance.SILENT, (), at_minute(5))]


def test_an_app_that_can_not_be_told_from_others_lifts_no_rejection():
    rejects = ValidationEvent(
        "1", REPOSITORY, 212, None, "write", at_minute(5), HEADS[0], items=(Item("date_errors"),)
    )
    accepts = replace(rejects, id="2", at=at_minute(6), items=(), accepts=True)
    stances = [verdict.stance for verdict in standing_after(rejects, accepts)]
    assert stances == [Stance.REJECTS, Stance.APPROVES]
    log = replace(rejects, tool="ruff", items=())
    clean = replace(log, id="2", at=at_minute(6))
    assert len({verdict.validator.key for verdict in verdicts_from(log, clean)}) == 2


LOG = ValidationEvent("1", REPOSITORY, 212, ALICE, "write", at_minute(5), HEADS[0], tool="ruff")
UNMAPPED = replace(LOG, findings=(ToolResult("E999", "syntax error", level="error"), ToolResult("W1", "odd")))


def treating_unmapped_as(unmapped):
    return replace(MAPPED, validators=replace(MAPPED.validators, unmapped=UnmappedResults(unmapped)))


def test_findings_that_the_config_ignores_are_no_consent():
    rules = treating_unmapped_as("ignore")
    assert [(each.stance, each.counted) for each in verdicts_from(UNMAPPED, rules=rules)] == [
        (Stance.APPROVES, False)
    ]
    assert [(each.stance, each.counted) for each in verdicts_from(LOG, rules=rules)] == [
        (Stance.APPROVES, True)
    ]


@pytest.mark.parametrize(
    ("unmapped", "expected"),
    [
        ("warn", [("E999", "minor", False), ("W1", "minor", False)]),
        ("block", [("E999", "major", True), ("W1", "minor", False)]),
    ],
)
def test_a_rule_without_a_tag_is_a_warning_unless_the_config_lets_errors_block(unmapped, expected):
    (verdict,) = verdicts_from(UNMAPPED, rules=treating_unmapped_as(unmapped))
    assert [(item.rule, item.severity, item.blocks) for item in verdict.items] == expected
    assert [item.tag for item in verdict.items] == [None, None]


def test_the_results_of_one_rule_without_a_tag_are_one_entry():
    twice = (ToolResult("W1", "odd", Location("a.py", 1)), ToolResult("W1", "odder", Location("b.py", 2)))
    (verdict,) = verdicts_from(replace(LOG, findings=(*twice, ToolResult("W2", "odd"))))
    (first, second) = find_failed_gates((verdict,), MAPPED.gates)
    assert (first.name, first.blocking, first.places) == (
        "W1",
        False,
        (Location("a.py", 1), Location("b.py", 2)),
    )
    assert (second.name, second.places) == ("W2", ())


def test_a_log_without_what_it_rejected_for_lifts_its_rejection():
    rules = replace(MAPPED, validators=replace(MAPPED.validators, rules=(ToolRule("F401", "date_errors"),)))
    rules = replace(rules, validators=replace(rules.validators, unmapped=UnmappedResults.IGNORE))
    bad = ToolResult("F401", "unused"), ToolResult("E999", "syntax error")
    log = ValidationEvent(
        "1", REPOSITORY, 212, ALICE, "write", at_minute(5), HEADS[0], tool="ruff", findings=bad
    )
    better = replace(log, id="2", at=at_minute(6), findings=bad[1:])
    stood = standing_after(log, better, rules=rules)
    assert [(each.stance, each.counted) for each in stood] == [(Stance.APPROVES, True)]


def test_a_commit_that_was_never_the_head_is_no_revision_of_its_own():
    # A pipeline on a pull request checks out what GitHub would merge, which nobody pushed.
    known = make_pull_request(
        head=HEADS[1], revisions=(Revision(HEADS[0], at_minute(0)), Revision(HEADS[1], at_minute(3)))
    )
    seen = ValidationEvent(
        "1", REPOSITORY, 212, ALICE, "write", at_minute(5), "f" * 40, items=(Item("date_errors"),)
    )
    told = [replace(seen, head=head) for head in ("f" * 40, HEADS[0])]
    assert [verdicts_from(one, known=known)[0].head for one in told] == [HEADS[1], HEADS[0]]
    assert [record_event(known, one, at_minute(5)).unsure for one in told] == [True, False]


def test_a_critical_item_without_a_tag_rejects_in_a_comment_too():
    item = Item(None, "The lock is never released", aspect="correctness", severity="critical")
    (verdict,) = verdicts_from(comment("See below.", documents=(item,)))
    assert (verdict.stance, verdict.items) == (Stance.REJECTS, (item,))


@pytest.mark.parametrize(
    "seen",
    [
        comment("[date_errors] is only a word here"),
        comment("<!-- ISSUES: date_errors -->", author=ALICE),
        comment("<!-- ISSUES: date_errors -->", sender=BOB),
        comment("Thank you."),
        comment("Thank you.", action="deleted"),
        comment("<!-- ISSUES: date_errors -->", author=ALICE, action="deleted"),
    ],
)
def test_other_comments_say_nothing(seen):
    assert as_signal(seen, make_pull_request(), MAPPED, ME) is None


def test_a_named_author_does_not_judge_their_own_pull_request():
    known = make_pull_request(author=LEO)
    assert [verdict.counted for verdict in verdicts_from(comment("<!-- ISSUES: a_b -->"), known=known)] == [
        False
    ]


def test_of_what_was_edited_out_of_a_comment_the_last_items_are_kept():
    items = ()
    for number in range(MAX_REMOVED + 50):
        items = keep_removed(items, (Item(f"tag_{number}"),), at_minute(number))
    present, *removed = items
    assert (present.tag, present.removed_at) == (f"tag_{MAX_REMOVED + 49}", None)
    assert [item.tag for item in removed] == [f"tag_{number}" for number in range(49, MAX_REMOVED + 49)]
