"""Scores, escalation, selection and tracking, as the decision makes them."""

from dataclasses import replace

import pytest

from bot.decisions.pull_request import decide, feedback_on
from bot.decisions.record import record
from bot.decisions.revisions import MOST_FILES, MOST_LISTED, MOST_PATCH, MOST_READS, unread, with_revisions
from bot.decisions.selection import Asker, report_of, select_by_command, selection_report_of
from bot.domain.announcement import Announce, Kind
from bot.domain.check_result import CheckResult
from bot.domain.commands.asked import Choice as Asked
from bot.domain.commands.asked import SelectAsked
from bot.domain.diff import FileDiff
from bot.domain.document import summary
from bot.domain.effects import ShowComment, Withdraw
from bot.domain.escape import read_marker
from bot.domain.events import CheckSeen, ReviewState, ThreadSeen
from bot.domain.facts import Facts
from bot.domain.follow_rates import followed_items, kept, rates
from bot.domain.memory import record_of
from bot.domain.model import Account, Escalation, Revision
from bot.domain.override import Audit, Choice
from bot.domain.rules import Escalate, Iterations
from bot.domain.tracked import By, Tracking
from tests.builders import (
    ALICE,
    BOB,
    HEADS,
    ID,
    ME,
    REPOSITORY,
    RULES,
    SITE,
    at,
    facts,
    inline,
    moment,
    pull_request,
    review,
    snapshot,
    sticky,
)

PAGE = "claims/futarchy.md"
LEO = Account(44, "leo[bot]", bot=True)
LEO_COUNTS = replace(RULES, validators=replace(RULES.validators, apps=("leo",)))


def issues(*tags: str) -> str:
    return f"<!-- ISSUES: {', '.join(tags)} -->"


def patch(*lines: str) -> str:
    return "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


def page(*lines: str, path: str = PAGE) -> FileDiff:
    text = patch(*lines)
    return FileDiff(path, added=len(lines), status="added", blob=f"blob {text}", patch=text)


def head(number: int, **read) -> Revision:
    """The head of this iteration, ten minutes after the one before."""
    return Revision(HEADS[number - 1], at(10 * number), **read)


def judged(*heads: Revision, **changes):
    return pull_request(head=heads[-1].head, revisions=heads, **changes)


def said(number: int, *tags: str, **changes):
    """Alice's review of this iteration's head."""
    state = ReviewState.CHANGES_REQUESTED if tags else ReviewState.APPROVED
    facts_of = {"state": state, "head": HEADS[number - 1], "submitted_at": at(10 * number + 1)}
    return review(10 * number + 1, issues(*tags) if tags else "", **{**facts_of, **changes})


def decided(known, read, rules=RULES, identity=ID):
    return decide(known, read, rules, moment(90, identity), SITE)


def after(known, *reviews, rules=RULES):
    """The pull request with these reviews in it, and its comment written."""
    decision = decided(known, facts(*reviews), rules)
    shown = [effect for effect in decision.effects if isinstance(effect, ShowComment)]
    written = [
        sticky(fingerprint=each.fingerprint, issues=each.issues, blocking=each.blocking) for each in shown
    ]
    return replace(decision.pull_request, sticky=written[-1] if written else known.sticky)


def told(decision) -> list[Announce]:
    return [effect for effect in decision.effects if isinstance(effect, Announce)]


def course(known, rules=RULES):
    return feedback_on(known, rules, moment()).course


# What is read of a head, and kept


def test_the_first_iteration_reads_nothing():
    assert unread(after(judged(head(1)), said(1, "date_errors"))) == ()


def test_from_the_second_iteration_on_every_judged_head_is_read():  # row 59
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    assert [each.head for each in unread(known)] == list(HEADS[:2])


def test_a_head_that_nobody_judged_is_not_read():
    known = after(judged(head(1), head(2), head(3)), said(1, "date_errors"), said(3, "date_errors"))
    assert [each.head for each in unread(known)] == [HEADS[0], HEADS[2]]


def test_what_was_never_rejected_is_not_read():
    known = after(judged(head(1), head(2)), said(1), said(2))
    assert unread(known) == ()


@pytest.mark.parametrize(
    "read", [{"files": ()}, {"gone": True}, {"reads": MOST_READS}], ids=["read", "gone", "tried often"]
)
def test_a_head_is_not_read_again(read):
    known = after(judged(head(1, **read), head(2, **read)), said(1, "date_errors"), said(2, "date_errors"))
    assert unread(known) == ()


def test_a_judged_head_that_no_event_had_shown_is_stored_when_it_is_read():
    known = after(judged(head(2)), said(1, "date_errors"), said(2, "date_errors"))
    kept = with_revisions(known, [Revision(HEADS[0], at(11), tree="t", files=())])
    assert [(each.head, each.tree) for each in kept.revisions] == [(HEADS[0], "t"), (HEADS[1], None)]


def test_what_is_kept_of_a_pull_request_has_bounds():  # row 84
    many = tuple(FileDiff(f"f{number}.md", blob="b") for number in range(MOST_FILES + 5))
    heads = [Revision(f"{number:040}", at(number), files=many) for number in range(MOST_LISTED + 5)]
    kept = with_revisions(pull_request(revisions=()), heads).revisions
    assert [each.files is None for each in kept].count(True) == 5
    assert {len(each.files) for each in kept if each.files is not None} == {MOST_FILES}


def test_the_patches_of_the_newest_heads_are_kept_first():
    heavy = (FileDiff(PAGE, blob="b", patch="+" * (MOST_PATCH // 2)),)
    heads = [Revision(f"{number:040}", at(number), files=heavy) for number in range(4)]
    kept = with_revisions(pull_request(revisions=()), heads).revisions
    assert [each.files[0].patch is not None for each in kept] == [False, False, True, True]


def ended(name: str, conclusion: str, number: int = 1) -> CheckSeen:
    return CheckSeen(REPOSITORY, HEADS[number - 1], name, conclusion, at(50), "")


def test_a_check_that_ends_changes_the_score_of_its_own_iteration():  # row 85
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    before = [each.quality for each in course(known).trajectory.scored]
    late = record(record(known, ended("build", "success"), at(51)), ended("lint", "failure"), at(51))
    assert before == [0.8333, 0.8333]
    assert [each.quality for each in course(late).trajectory.scored] == [0.7222, 0.8333]


def test_a_check_that_is_run_again_replaces_its_first_result():
    known = record(after(judged(head(1)), said(1, "date_errors")), ended("build", "failure"), at(51))
    again = record(known, ended("build", "success"), at(52))
    assert again.revisions[0].checks == (CheckResult("build", "success"),)


def test_a_check_of_a_foreign_head_is_not_kept():
    known = after(judged(head(1)), said(1, "date_errors"))
    assert record(known, ended("build", "failure", 7), at(51)) == known


def test_a_failed_test_check_makes_it_incorrect():  # row 79
    known = record(after(judged(head(1)), said(1)), ended("unit-tests", "failure"), at(51))
    assert feedback_on(known, RULES, moment()).score == 0.3889


def test_our_own_check_never_counts():
    known = record(after(judged(head(1)), said(1)), ended("whetstone/gates", "failure"), at(51))
    assert feedback_on(known, RULES, moment()).score == 1.0


def test_nothing_observed_is_left_out_of_the_score():  # row 82
    known = after(judged(head(1)), said(1, "date_errors"))
    score = course(known).trajectory.final.score
    assert [dimension.value for dimension in score.unobserved] == ["validation", "efficiency"]


# The best of them


def test_equal_iterations_keep_the_earlier_one():  # row 66 # row 69
    known = judged(head(1), head(2))
    body = decided(known, facts(said(1, "date_errors"), said(2, "title_overclaims"))).effects[0].body
    assert read_marker("REJECTION", body)["best"] == {"iteration": 1, "head": HEADS[0]}
    assert "<summary>Quality 0.83 → 0.83: as good as iteration 1, none was better</summary>" in body


def test_a_force_push_back_to_the_best_makes_it_the_present_one():
    known = after(
        judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors", "title_overclaims")
    )
    back = replace(known, head=HEADS[0])
    again = said(1, "date_errors", id=50, submitted_at=at(50))
    reviews = (said(1, "date_errors"), said(2, "date_errors", "title_overclaims"), again)
    body = decided(back, facts(*reviews)).effects[0].body
    assert read_marker("REJECTION", body)["iteration"] == 1
    assert "<summary>Quality 0.83 → 0.67: iteration 1, the present one, is the best</summary>" in body


def test_a_rebase_without_change_offers_no_way_back():
    same = (page("one"),)
    heads = (head(1, files=same, base="m1"), head(2, files=same, base="m2"))
    read = facts(said(1, "date_errors"), said(2, "date_errors", "title_overclaims"))
    body = decided(judged(*heads), read).effects[0].body
    assert "iteration 1 scored higher with the same files</summary>" in body
    assert "Shorter" not in body


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (("title_overclaims",), ("date_errors", "title_overclaims"), "only the second of them was open"),
        (("near_duplicate",), ("date_errors", "title_overclaims"), "none of them was open"),
        (("near_duplicate",), ("date_errors",), "it was not open"),
        (("scope_error",), ("date_errors", "title_overclaims"), "only 1 blocking issue was open"),
        (
            ("date_errors", "scope_error"),
            ("date_errors", "scope_error", "title_overclaims", "factual_discrepancy"),
            "only 2 of them were open",
        ),
    ],
)
def test_the_next_line_names_the_shorter_way(first, second, words):
    body = decided(judged(head(1), head(2)), facts(said(1, *first), said(2, *second))).effects[0].body
    assert f" Shorter: go back to iteration 1 (below), where {words}." in body


def test_an_open_gate_tells_since_when_and_how_often_elsewhere():
    elsewhere = tuple(
        record_of(
            pull_request(number=number, verdicts=after(judged(head(1)), said(1, "date_errors")).verdicts)
        )
        for number in (60, 61)
    )
    reviews = (said(1, "date_errors"), said(2, "date_errors"))
    read = replace(facts(*reviews), recent=elsewhere)
    body = decided(judged(head(1), head(2)), read).effects[0].body
    assert "  - Again: open since iteration 1; in 3 of the last 3 pull requests, last in [61](" in body


# A person decides


def third_time(rules=RULES, by=ALICE, **changes):
    known = judged(head(1), head(2), head(3), **changes)
    reviews = [said(number, "date_errors", author=by) for number in (1, 2, 3)]
    return decided(known, facts(*reviews), rules)


def test_an_escalation_is_told_once_in_a_comment_of_its_own():  # row 8 # row 56
    (told_once,) = told(third_time())
    assert told_once == Announce(
        REPOSITORY,
        212,
        Kind.ESCALATION,
        f"{ID}:escalation",
        f'<!-- ESCALATION: {{"id": "{ID}:escalation", "ts": "2026-11-15T11:30:00+00:00", "v": 1, '
        f'"head": "{HEADS[2]}", "iteration": 3, "max_iterations": 5}} -->\n\n'
        "**Stop, a person decides** — `date_errors` keeps coming back, "
        "and 1 blocking issue is open at `3333333`: `date_errors`.\n\n"
        "If you are an agent: push nothing more until a person with `write` access has answered here, "
        "or the feedback comment says **Resolved**.\n\n"
        "If you are that person: approve it, close it, or say what to change. "
        "Iteration 1 scored highest: `/feedback-select best reason: …` selects it.\n",
    )
    again = decided(third_time().pull_request, Facts(ME), identity="another")
    assert told(again) == []


def test_the_budget_used_up_escalates_too():  # row 9
    rules = replace(RULES, iterations=Iterations(max=2))
    known = judged(head(1), head(2))
    decision = decided(known, facts(said(1, "date_errors"), said(2, "scope_error")), rules)
    assert "all 2 iterations are used up, and 1 blocking issue is open" in told(decision)[0].body


def test_a_team_is_mentioned_only_where_the_config_names_one():
    rules = replace(RULES, iterations=Iterations(escalate=Escalate(mention="acme/reviewers")))
    assert told(third_time(rules))[0].body.endswith("\n\n@acme/reviewers\n")
    assert "@" not in told(third_time())[0].body


def test_escalation_can_be_switched_off():
    rules = replace(RULES, iterations=Iterations(escalate=Escalate(enabled=False)))
    decision = third_time(rules)
    assert (told(decision), decision.pull_request.escalation) == ([], None)


def test_the_configs_own_window_decides_what_comes_back_too_often():
    rules = replace(RULES, iterations=Iterations(escalate=Escalate(repeats=2, window=2)))
    known = judged(head(1), head(2))
    decision = decided(known, facts(said(1, "date_errors"), said(2, "date_errors")), rules)
    assert len(told(decision)) == 1


def escalated_by_a_bot(*more):
    """Escalated by the verdicts of a bot, with the comment written; then further reviews."""
    reviews = [said(number, "date_errors", author=LEO) for number in (1, 2, 3)]
    known = after(judged(head(1), head(2), head(3)), *reviews, rules=LEO_COUNTS)
    moved = replace(known, head=HEADS[3], revisions=(*known.revisions, head(4)))
    return moved, facts(*reviews, *more)


def test_until_a_person_speaks_a_worse_verdict_only_edits():
    worse = said(4, "date_errors", "scope_error", author=LEO)
    known, read = escalated_by_a_bot(worse)
    (effect,) = decided(known, read, LEO_COUNTS).effects
    assert (effect.issues, effect.anew) == (("date_errors", "scope_error"), False)


def test_once_a_person_with_write_has_judged_a_worse_verdict_is_posted_anew():
    known, read = escalated_by_a_bot(said(4, "date_errors", "scope_error", author=BOB))
    decision = decided(known, read, LEO_COUNTS)
    assert (decision.effects[0].anew, decision.pull_request.escalation.heard_at) == (True, at(41))


def test_a_plain_comment_of_a_person_with_write_is_an_answer():
    known, _ = escalated_by_a_bot()
    heard = decided(known, Facts(ME, heard_at=at(60)), LEO_COUNTS).pull_request.escalation
    assert heard == Escalation(at(31), HEADS[2], heard_at=at(60))


# On close


def three(*last: str):
    """Two blocking issues, then one warning, then whatever is given."""
    known = judged(head(1), head(2), head(3))
    reviews = (said(1, "date_errors", "scope_error"), said(2, "near_duplicate"), said(3, *last))
    return after(known, *reviews)


def closed(known, **changes):
    return replace(known, open=False, closed_at=at(80), updated_at=at(80), **changes)


def test_on_close_the_report_is_folded_into_the_comment():  # row 67 # row 72 # row 89
    decision = decided(closed(three("date_errors"), merged=True), Facts(ME))
    (effect,) = decision.effects
    folded = effect.body.split("<details>")[1]
    assert folded.startswith(
        "<summary>Quality 0.77 → 0.96 → 0.83: iteration 2 was the best</summary>\n\n"
        "## Output Selection Report\n\n**Loop ID**: acme/knowledge#212\n**Total Iterations**: 3\n"
        "**Selected Iteration**: 2\n\n### Quality Scores\n"
    )
    assert (effect.anew, "| 2 | 96% | ✓ SELECTED |" in folded, "| 3 | 83% | (final) |" in folded) == (
        False,
        True,
        True,
    )


def test_one_iteration_has_no_report():
    known = closed(after(judged(head(1)), said(1, "date_errors")))
    assert all("Output Selection Report" not in effect.body for effect in decided(known, Facts(ME)).effects)


def test_a_best_that_was_left_unmerged_is_reported_in_a_comment_of_its_own_once():  # row 70 # row 71
    decision = decided(closed(three("date_errors")), Facts(ME))
    (announced,) = told(decision)
    assert (announced.kind, "**Selected Iteration**: 2" in announced.body) == (Kind.SELECTION, True)
    assert told(decided(decision.pull_request, Facts(ME))) == []


def test_a_merge_and_a_best_end_are_reported_in_the_fold_only():
    assert told(decided(closed(three("date_errors"), merged=True), Facts(ME))) == []
    assert told(decided(closed(three()), Facts(ME))) == []


def test_reopened_the_fold_shows_the_way_again():
    known = decided(closed(three("date_errors")), Facts(ME)).pull_request
    reopened = replace(known, open=True, closed_at=None)
    body = decided(reopened, Facts(ME)).effects[0]
    assert body == Withdraw("comment") or "Output Selection Report" not in body.body


def test_the_report_says_which_revision_github_no_longer_has():
    known = judged(head(1, files=(page("one"),), gone=True), head(2))
    report = selection_report_of(after(known, said(1, "date_errors"), said(2)), RULES)
    assert "iteration 1 `1111111` is gone from GitHub, its hashes are kept" in report


def test_nothing_judged_has_no_report():
    assert selection_report_of(pull_request(), RULES) is None


# A person selects


def selected(known, choice, reason="the second is what we want", seen=HEADS[2]):
    return select_by_command(known, SelectAsked(choice, reason), Asker("bob", at(70), seen), RULES)


def test_a_person_selects_an_iteration_with_a_reason():  # row 73 # row 74 # row 75
    done = selected(three("date_errors"), 1)
    assert done.pull_request.audits == (
        Audit("bob", at(70), "the second is what we want", HEADS[2], Choice.USE_SPECIFIC, before=2, after=1),
    )
    assert done.reply.startswith(
        "`bob` selects iteration 1 instead of 2, at `3333333`: `the second is what we want`\n\n"
        "## Output Selection Report\n"
    )


@pytest.mark.parametrize(("choice", "number"), [(Asked.BEST, 2), (Asked.FINAL, 3), (3, 3)])
def test_best_final_and_a_number_can_be_selected(choice, number):
    report = report_of(selected(three("date_errors"), choice).pull_request, RULES)
    assert report.selection.selected.number == number


def test_a_selection_holds_for_the_head_that_was_seen():
    known = selected(three("date_errors"), 1).pull_request
    moved = after(
        replace(known, head=HEADS[3], revisions=(*known.revisions, head(4))),
        said(1, "date_errors", "scope_error"),
        said(2, "near_duplicate"),
        said(3, "date_errors"),
        said(4, "date_errors"),
    )
    selection = report_of(moved, RULES).selection
    assert (selection.selected.number, selection.outdated.by) == (2, "bob")


def test_an_iteration_that_does_not_exist_is_refused():
    known = three("date_errors")
    done = selected(known, 7)
    assert (done.pull_request, done.reply) == (
        known,
        "Name `best`, `final` or an iteration from 1 to 3.\n",
    )


def test_a_selection_without_a_reason_is_refused():  # row 76
    known = three("date_errors")
    assert selected(known, Asked.BEST, " ").pull_request == known


def test_before_the_first_judgement_there_is_nothing_to_select():
    known = pull_request()
    assert selected(known, Asked.BEST).pull_request == known


def test_a_selection_of_a_head_that_was_left_is_not_taken():
    known = three("date_errors")
    done = selected(known, Asked.BEST, seen=HEADS[1])
    assert done.pull_request == known
    assert done.reply == (
        "Not selected: it was asked for at `2222222`, and the head is `3333333` by now. "
        "Ask again if it holds.\n"
    )


def test_the_comment_names_who_selected_and_why():
    known = selected(three("date_errors"), 1, "the first is @simple").pull_request
    body = decided(known, Facts(ME)).effects[0].body
    assert "\n\n`bob` selected iteration 1: `the first is @simple`\n\n" in body


def test_whoever_selected_the_final_one_is_not_told_that_it_was_not_the_best():
    known = selected(three("date_errors"), Asked.FINAL).pull_request
    assert told(decided(closed(known), Facts(ME))) == []


# Was it followed


LINES = ("type: claim", "domain: markets", "source: x", "one more", "created: 2026-13-01")


def two_iterations(*lines, base="m1"):
    """An item at line 5 of the page in iteration 1, and what the page has in iteration 2."""
    heads = (
        head(1, files=(page(*LINES),), base="m1"),
        head(2, files=(page(*lines),), base=base),
    )
    comment = inline(71, 11, "[date_errors] month 13 is out of range")
    read = replace(
        facts(said(1, "scope_error"), said(2, "scope_error", "date_errors")), inline_comments=(comment,)
    )
    return decided(judged(*heads), read).pull_request


def followed(known) -> dict:
    return {each.tag: each.followed for each in known.tracked[0].observations}


def test_an_item_whose_lines_changed_was_followed():  # row 21
    mended = two_iterations(*LINES[:4], "created: 2026-11-15")
    assert followed(mended) == {"scope_error": False, "date_errors": True}


def test_the_week_is_told_which_placed_items_were_followed():  # row 35
    mended = two_iterations(*LINES[:4], "created: 2026-11-15")
    assert followed_items(mended) == (inline(71, 11, "").url,)
    assert followed_items(two_iterations("first", *LINES)) == ()


def test_an_item_whose_lines_only_moved_was_not():
    assert followed(two_iterations("first", *LINES))["date_errors"] is False


def test_an_item_is_followed_over_a_rebase_too():
    mended = two_iterations(*LINES[:4], "created: 2026-11-15", base="m2")
    kept = two_iterations("first", *LINES, base="m2")
    assert (followed(mended)["date_errors"], followed(kept)["date_errors"]) == (True, False)


def test_improvement_and_clarity_are_kept_with_the_iteration():  # row 22 # row 23 # row 24
    known = three("date_errors")
    assert [each.tracking for each in known.tracked] == [
        Tracking(followed=True, delta=0.1916, clarity=0.6),
        Tracking(followed=True, delta=-0.125, clarity=0.6),
    ]


def test_the_same_turn_twice_tracks_the_same():
    known = three("date_errors")
    assert decided(known, Facts(ME)).pull_request.tracked == known.tracked


def test_the_rates_tell_what_has_a_place_from_what_has_none():  # row 53 # row 54
    known = [two_iterations(*LINES[:4], "created: 2026-11-15"), two_iterations("first", *LINES)]
    found = {rate.key: (rate.items, rate.follow_rate) for rate in rates(kept(known), By.PLACE)}
    assert found == {"with a place": (2, 0.5), "without a place": (2, 0.0)}
    assert (len(kept(known, since=at(21))), kept(known, since=at(22))) == (4, ())


def thread(action: str) -> ThreadSeen:
    return ThreadSeen(action, snapshot(), (inline(71, 11, "").url,))


def test_an_item_whose_thread_was_resolved_was_followed():
    known = two_iterations(*LINES)
    resolved = record(known, thread("resolved"), at(60))
    again = decided(resolved, Facts(ME)).pull_request
    assert (followed(known)["date_errors"], followed(again)["date_errors"]) == (False, True)
    reopened = record(again, thread("unresolved"), at(61))
    assert followed(decided(reopened, Facts(ME)).pull_request)["date_errors"] is False


# New feedback has a new id


def identity(decision) -> str:
    return next(effect.marker_id for effect in decision.effects if isinstance(effect, ShowComment))


def test_another_score_alone_is_no_new_feedback():
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    late = record(known, ended("build", "failure", 2), at(51))
    assert identity(decided(late, Facts(ME), identity="another")) == ID
    assert identity(decided(closed(known), Facts(ME), identity="another")) == ID


def test_another_verdict_is_new_feedback():
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    more = facts(
        said(1, "date_errors"), said(2, "date_errors"), review(60, issues("scope_error"), author=BOB)
    )
    assert identity(decided(known, more, identity="another")) == "another"


def test_the_turn_that_escalates_posts_that_one_comment_and_edits_the_other():
    reviews = (said(1, "date_errors"), said(2, "date_errors"))
    known = after(judged(head(1), head(2), head(3)), *reviews)
    decision = decided(known, facts(*reviews, said(3, "date_errors", "scope_error")))
    effect, told_once = decision.effects
    assert (effect.anew, effect.blocking) == (False, ("date_errors", "scope_error"))
    assert told_once.kind is Kind.ESCALATION


@pytest.mark.parametrize(
    "tags", [("near_duplicate",), ("date_errors",), tuple(f"no_gate_{n}" for n in range(40))]
)
def test_the_summary_of_a_document_has_50_to_500_characters(tags):  # row 19
    small = replace(REPOSITORY, owner="a", name="b")
    first = after(judged(head(1), repository=small, number=1), said(1, *tags))
    second = after(judged(head(1), head(2), repository=small, number=1), said(1, *tags), said(2, *tags))
    summaries = [summary(feedback_on(known, RULES, moment())) for known in (first, second)]
    assert all(50 <= len(text) <= 500 for text in summaries)


def test_of_one_iteration_there_is_nothing_to_select():
    known = after(judged(head(1)), said(1, "date_errors"))
    asker = Asker("bob", at(50), HEADS[0], BOB.id)
    done = select_by_command(known, SelectAsked(Asked.BEST, "it is"), asker, RULES)
    assert (done.pull_request, done.reply) == (
        known,
        "Only one iteration was judged, so there is nothing to select from.\n",
    )
    assert selection_report_of(known, RULES) is None
