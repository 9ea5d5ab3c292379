from dataclasses import replace

import pytest

from bot.feedback.marker import FEEDBACK_MARKER
from bot.findings.ledger import build_ledger
from bot.gates.config import CommentPolicy, CommentRules, RepostPolicy
from bot.markdown.escape import parse_marker
from bot.pull_request.effects import Announce, CancelWrite, ShowComment
from bot.pull_request.events import PullRequestEvent, ReviewState
from bot.pull_request.facts import Facts
from bot.pull_request.model import Item, Revision, Stance
from bot.pull_request.record import record_event
from bot.values import Account, Location
from tests.builders import (
    ALICE,
    BOB,
    FEEDBACK_ID,
    HEADS,
    ME,
    RIO,
    RULES,
    apply_posted_comment,
    at_minute,
    decide,
    make_decision_time,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
    make_snapshot,
)

NOTHING = (CancelWrite("comment"),)
APPROVED = ReviewState.APPROVED
BAD_DATE = "<!-- ISSUES: date_errors -->"
TWO = "<!-- ISSUES: scope_error, near_duplicate -->"


def shown(known, read, rules=RULES) -> ShowComment:
    (effect,) = decide(known, read, rules).effects
    assert isinstance(effect, ShowComment)
    return effect


def marker(known, read) -> dict:
    return parse_marker(FEEDBACK_MARKER, shown(known, read).body)


def after(known, read, minutes=42):
    """The pull request once the comment that was decided has been written."""
    return apply_posted_comment(decide(known, read, time=make_decision_time(minutes)))


def test_a_rejection_with_a_tag_is_answered_with_the_marker():
    assert marker(make_pull_request(), make_facts(make_review(3, BAD_DATE))) == {
        "issues": ["date_errors"],
        "source": "alice",
        "ts": "2026-11-15T10:42:00+00:00",
        "v": 1,
        "id": FEEDBACK_ID,
        "verdict": "refine",
        "blocking": ["date_errors"],
        "head": HEADS[0],
        "iteration": 1,
        "max_iterations": 5,
        "best": {"iteration": 1, "head": HEADS[0]},
        "open": {"blocking": 1, "warnings": 0},
        "turn": "author",
        "pending": [],
    }


@pytest.mark.parametrize(("action", "adopts"), [("opened", False), ("synchronize", True), ("reopened", True)])
def test_only_where_we_missed_the_opening_a_comment_of_ours_is_looked_for_first(action, adopts):
    known = record_event(None, PullRequestEvent(action, make_snapshot()), at_minute(0))
    again = record_event(
        known, PullRequestEvent("edited", make_snapshot(updated_at=at_minute(1))), at_minute(1)
    )
    first = shown(again, make_facts(make_review(3, BAD_DATE)))
    later = shown(after(again, make_facts(make_review(3, BAD_DATE))), make_facts(make_review(3, TWO)))
    assert (first.adopts, later.adopts) == (adopts, False)


def test_a_persons_pull_request_rejected_without_a_tag_is_recorded_and_not_answered():
    read = make_facts(make_review(3, "This is not what we want."))
    decision = decide(make_pull_request(author=BOB), read)
    assert (decision.effects, len(decision.pull_request.verdicts)) == (NOTHING, 1)


def test_an_agents_pull_request_rejected_without_a_tag_is_answered():
    data = marker(make_pull_request(), make_facts(make_review(3, "This is not what we want.")))
    assert (data["issues"], data["open"]) == ([], {"blocking": 1, "warnings": 0})


@pytest.mark.parametrize("role", [None, "read", "triage", "none", "something custom"])
def test_whoever_may_not_write_is_recorded_but_rejects_nothing(role):
    decision = decide(make_pull_request(), make_facts(make_review(3, BAD_DATE), roles={ALICE.id: role}))
    assert decision.effects == NOTHING
    assert [verdict.counted for verdict in decision.pull_request.verdicts] == [False]


@pytest.mark.parametrize("role", ["write", "maintain", "admin"])
def test_whoever_may_write_is_a_validator(role):
    assert shown(
        make_pull_request(), make_facts(make_review(3, BAD_DATE), roles={ALICE.id: role})
    ).issues == ("date_errors",)


def test_a_named_app_is_a_validator_without_any_role():
    validator = Account(44, "leo[bot]", bot=True)
    rules = replace(RULES, validators=replace(RULES.validators, apps=("leo",)))
    said = make_review(3, BAD_DATE, author=validator)
    assert shown(make_pull_request(), make_facts(said, roles={}), rules).issues == ("date_errors",)


@pytest.mark.parametrize("account", [ME, RIO])
def test_neither_the_bot_nor_the_author_judges_the_pull_request(account):
    said = make_review(3, f"<!-- VERDICT:X:REQUEST_CHANGES -->\n{BAD_DATE}", author=account)
    assert decide(make_pull_request(), make_facts(said, roles={account.id: "admin"})).effects == NOTHING


def test_the_same_verdict_twice_changes_nothing():
    read = make_facts(make_review(3, BAD_DATE))
    decision = decide(after(make_pull_request(), read), read, time=make_decision_time(50, "another-id"))
    assert (decision.effects, decision.reason) == (NOTHING, "the comment is up to date")


def test_equal_or_better_is_edited_in_place():
    known = after(
        make_pull_request(), make_facts(make_review(3, "<!-- ISSUES: date_errors, scope_error -->"))
    )
    effect = shown(known, make_facts(make_review(3, "x"), make_review(4, BAD_DATE)))
    assert (effect.anew, effect.issues) == (False, ("date_errors",))


def after_push(known, minute: int):
    """The pull request after a push of the second head."""
    pushed = PullRequestEvent("synchronize", make_snapshot(head=HEADS[1], updated_at=at_minute(minute)))
    return record_event(known, pushed, at_minute(minute))


BOTH = "<!-- ISSUES: date_errors, scope_error -->"


@pytest.mark.parametrize(
    ("policy", "author", "reposted"),
    [
        (RepostPolicy.AGENTS, RIO, True),
        (RepostPolicy.AGENTS, BOB, False),
        (RepostPolicy.ALWAYS, BOB, True),
        (RepostPolicy.NEVER, RIO, False),
    ],
)
def test_a_new_blocking_tag_at_a_later_head_is_reposted_for_an_agent(policy, author, reposted):
    rules = replace(RULES, comment=replace(RULES.comment, repost=policy))
    first = make_review(3, BAD_DATE)
    known = after_push(after(make_pull_request(author=author), make_facts(first)), 4)
    known = replace(known, author=author)
    assert shown(known, make_facts(first, make_review(5, BOTH, head=HEADS[1])), rules).anew is reposted


def test_a_new_blocking_tag_at_the_same_head_is_edited_in_place():
    known = after(make_pull_request(), make_facts(make_review(3, BAD_DATE)))
    assert not shown(known, make_facts(make_review(3, BAD_DATE), make_review(4, BOTH))).anew


def test_a_comment_is_reposted_at_most_once_a_head():
    first, second = make_review(3, BAD_DATE), make_review(5, BOTH, head=HEADS[1])
    known = after_push(after(make_pull_request(), make_facts(first)), 4)
    known = after(known, make_facts(first, second))
    third = make_review(6, "<!-- ISSUES: title_overclaims -->", head=HEADS[1])
    effect = shown(known, make_facts(first, second, third))
    assert (effect.anew, len(effect.blocking)) == (False, 3)


def test_a_new_warning_is_edited_in_place():
    known = after(make_pull_request(), make_facts(make_review(3, BAD_DATE)))
    assert not shown(known, make_facts(make_review(4, "<!-- ISSUES: date_errors, near_duplicate -->"))).anew


def test_one_of_two_rejecting_reviewers_approving_does_not_resolve_it():
    both = (make_review(3, BAD_DATE), make_review(4, "<!-- ISSUES: scope_error -->", author=BOB))
    known = after(make_pull_request(), make_facts(*both))
    effect = shown(known, make_facts(*both, make_review(5, state=APPROVED)))
    assert (effect.issues, "**Resolved**" in effect.body) == (("scope_error",), False)


def test_it_is_resolved_when_the_last_rejecting_reviewer_approves():
    known = after(
        make_pull_request(), make_facts(make_review(3, "<!-- ISSUES: date_errors, near_duplicate -->"))
    )
    known = replace(known, head=HEADS[1], revisions=(*known.revisions, Revision(HEADS[1], at_minute(4))))
    effect = shown(
        known,
        make_facts(
            make_review(3, "<!-- ISSUES: date_errors, near_duplicate -->"),
            make_review(5, state=APPROVED, head=HEADS[1]),
        ),
    )
    data = parse_marker(FEEDBACK_MARKER, effect.body)
    assert effect.body.splitlines()[2] == (
        "**Resolved** — 2 fixed, at "
        f"[`2222222`](https://github.com/acme/knowledge/commit/{HEADS[1]}), iteration 2"
    )
    assert (data["issues"], data["blocking"], data["verdict"]) == ([], [], "accept")


@pytest.mark.parametrize(
    ("before", "gone"),
    [
        ((make_review(3, TWO), make_review(4, BAD_DATE, author=BOB)), "3 withdrawn,"),
        ((make_review(3, "No."), make_review(4, "No.", author=BOB)), "nothing rejects it any more,"),
        (
            (
                make_review(3, TWO),
                make_review(4, author=BOB, documents=(Item(None, "It leaks", severity="major"),)),
            ),
            "3 withdrawn,",
        ),
    ],
)
def test_a_resolution_counts_what_was_closed_since_the_last_rejection(before, gone):
    always = replace(RULES, comment=CommentRules(when=CommentPolicy.ALWAYS))
    first, second = before
    dismissed = replace(first, state=ReviewState.DISMISSED)
    known = apply_posted_comment(
        decide(make_pull_request(), make_facts(*before), always, make_decision_time(5))
    )
    known = apply_posted_comment(decide(known, make_facts(dismissed, second), always, make_decision_time(6)))
    approved = make_review(7, state=APPROVED, author=BOB)
    body = shown(known, make_facts(dismissed, second, approved), always).body
    assert body.splitlines()[2].startswith(f"**Resolved** — {gone} at ")


def test_a_document_has_at_least_one_item_so_an_approval_makes_none():  # row 15
    rejected = make_review(3, BAD_DATE)
    known = after(make_pull_request(), make_facts(rejected))
    before, now = (
        decide(make_pull_request(), make_facts(rejected)),
        decide(known, make_facts(rejected, make_review(5, state=APPROVED))),
    )
    assert [len(decision.store_commands) for decision in (before, now)] == [1, 0]


def test_a_second_approval_leaves_the_resolved_comment_alone():
    rejected = make_review(3, BAD_DATE)
    known = after(make_pull_request(), make_facts(rejected))
    known = after(known, make_facts(rejected, make_review(5, state=APPROVED)))
    assert (
        decide(
            known,
            make_facts(rejected, make_review(5, state=APPROVED), make_review(6, state=APPROVED, author=BOB)),
        ).effects
        == NOTHING
    )


def test_somebody_elses_approval_lifts_nothing():
    known = after(make_pull_request(), make_facts(make_review(3, BAD_DATE)))
    effect = shown(known, make_facts(make_review(3, BAD_DATE), make_review(4, state=APPROVED, author=BOB)))
    assert effect.blocking == ("date_errors",)
    assert "**Rejected** — 1 blocking issue" in effect.body
    assert "reviewed by `alice`; `bob` approves." in effect.body


def test_a_dismissed_review_is_gone_and_an_older_one_does_not_come_back():
    said = (make_review(3, "<!-- ISSUES: scope_error -->"), make_review(4, BAD_DATE))
    known = after(make_pull_request(), make_facts(*said))
    dismissed = make_facts(said[0], replace(said[1], state=ReviewState.DISMISSED))
    assert "**Resolved**" in shown(known, dismissed).body


def test_an_approval_of_a_pull_request_that_was_never_rejected_is_not_answered():
    assert decide(make_pull_request(), make_facts(make_review(3, state=APPROVED))).effects == NOTHING


def test_a_comment_review_with_a_verdict_line_rejects():
    said = make_review(3, f"<!-- VERDICT:LEO:REQUEST_CHANGES -->\n{BAD_DATE}", state=ReviewState.COMMENTED)
    assert shown(make_pull_request(), make_facts(said)).issues == ("date_errors",)


def test_a_comment_review_without_a_verdict_line_is_only_talk():
    said = make_review(3, BAD_DATE, state=ReviewState.COMMENTED)
    assert decide(make_pull_request(), make_facts(said)).effects == NOTHING


def test_a_rejection_with_warnings_alone_says_whom_to_ask_for_a_review():
    body = shown(make_pull_request(), make_facts(make_review(3, "<!-- ISSUES: near_duplicate -->"))).body
    heading, following = body.split("\n\n")[1:3]
    assert heading == "**Rejected** — no blocking issue, 1 warning"
    assert following.startswith("**Next** (author): ")
    assert "review from `alice`" in following


def test_a_deleted_comment_stays_deleted_until_the_next_verdict():
    known = after(make_pull_request(), make_facts(make_review(3, BAD_DATE)))
    known = replace(known, sticky=replace(known.sticky, deleted_at=at_minute(10)))
    assert decide(known, make_facts(make_review(3, BAD_DATE))).effects == NOTHING
    again = shown(
        known, make_facts(make_review(3, BAD_DATE), make_review(11, "<!-- ISSUES: scope_error -->"))
    )
    assert (again.issues, again.anew) == (("date_errors", "scope_error"), False)


def test_a_closed_pull_request_gets_no_first_comment():
    assert decide(make_pull_request(open=False), make_facts(make_review(3, BAD_DATE))).effects == NOTHING


def test_comments_switched_off_are_not_written():
    rules = replace(RULES, comment=CommentRules(enabled=False))
    assert decide(make_pull_request(), make_facts(make_review(3, BAD_DATE)), rules).effects == NOTHING


def test_an_event_without_new_reads_decides_on_what_is_recorded():
    known = after(make_pull_request(), make_facts(make_review(3, BAD_DATE)))
    assert decide(known, Facts(ME)).effects == NOTHING


def test_places_are_linked_at_the_judged_head():
    body = shown(
        make_pull_request(),
        make_facts(
            make_review(3), comments=(make_inline_comment(71, 3, "[date_errors] month 13 is out of range"),)
        ),
    ).body
    assert (
        f"  - Where: [`claims/futarchy.md:5`](https://github.com/acme/knowledge/blob/{HEADS[0]}/claims/futarchy.md#L5)"
        " `month 13 is out of range` (Source: review by `alice` @ 1111111)"
    ) in body.splitlines()


def test_somebody_elses_reply_in_a_review_thread_is_not_the_validators_word():
    reply = make_inline_comment(72, 3, "[scope_error] I would say", author=BOB)
    effect = shown(make_pull_request(), make_facts(make_review(3, BAD_DATE), comments=(reply,)))
    assert effect.issues == ("date_errors",)


def test_the_third_time_in_a_row_a_person_decides():
    heads = HEADS[:3]
    said = [make_review(number + 3, BAD_DATE, head=head) for number, head in enumerate(heads)]
    known = make_pull_request(
        head=heads[2], revisions=tuple(Revision(head, at_minute(i)) for i, head in enumerate(heads))
    )
    effect, told = decide(known, make_facts(*said)).effects
    assert isinstance(told, Announce)
    assert parse_marker(FEEDBACK_MARKER, effect.body)["verdict"] == "escalate"
    assert parse_marker(FEEDBACK_MARKER, effect.body)["turn"] == "maintainer"
    assert "**Next** (maintainer): needs a human decision: `date_errors` keeps coming back." in effect.body


def test_a_strangers_review_is_recorded_without_their_words():
    (said,) = decide(
        make_pull_request(), make_facts(make_review(3, BAD_DATE), roles={ALICE.id: "read"})
    ).pull_request.verdicts
    assert (said.stance, said.counted, said.items) == (Stance.REJECTS, False, ())


def test_words_that_were_not_counted_are_heard_once_their_author_may_judge():
    known = decide(
        make_pull_request(), make_facts(make_review(3, BAD_DATE), roles={ALICE.id: "read"})
    ).pull_request
    assert shown(known, make_facts(make_review(3, BAD_DATE))).issues == ("date_errors",)


def test_a_verdict_line_that_is_taken_out_again_no_longer_rejects():
    said = make_review(3, f"<!-- VERDICT:LEO:REQUEST_CHANGES -->\n{BAD_DATE}", state=ReviewState.COMMENTED)
    known = after(make_pull_request(), make_facts(said))
    assert marker(known, make_facts(replace(said, body="never mind")))["verdict"] == "accept"
    again = decide(known, make_facts(replace(said, body="never mind"))).pull_request
    assert shown(replace(again, sticky=None), make_facts(said)).issues == ("date_errors",)


def test_each_thing_said_without_a_tag_is_an_issue_of_its_own():
    said = (
        Item(None, "tmp2 says nothing", severity="suggestion", place=Location("a.py", 3)),
        Item(None, "SQL can be injected", severity="critical", place=Location("a.py", 7)),
        Item(None, "the retry never ends", severity="major", place=Location("a.py", 30)),
        Item(None, "the retry never ends", severity="major", place=Location("b.py", 3)),
    )
    first = make_review(3, documents=said)
    decision = decide(make_pull_request(), make_facts(first))
    (effect,) = decision.effects
    assert "**Rejected** — 3 blocking issues, 1 warning" in effect.body
    assert effect.body.index("`SQL can be injected`") < effect.body.index("`tmp2 says nothing`")
    known = after_push(apply_posted_comment(decision), 10)
    moved = replace(said[1], place=Location("a.py", 9))
    again = make_review(13, documents=(moved, said[3]), head=HEADS[1])
    findings = build_ledger(decide(known, make_facts(first, again)).pull_request).findings
    assert [(finding.id, finding.status.value, str(finding.item.place)) for finding in findings] == [
        ("f1", "changed", "a.py:3"),
        ("f2", "open", "a.py:9"),
        ("f3", "changed", "a.py:30"),
        ("f4", "open", "b.py:3"),
    ]
