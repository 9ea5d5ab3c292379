"""Which pull requests count in a window, and as what."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.history.model import build_history_record, earliest_activity, window_of_last_hours
from bot.history.outcomes import PullRequestOutcome, PullRequestState, find_fixes, outcomes_in_window
from bot.pull_request.model import Item, PullRequest, Revision, Stance
from bot.values import Location, Repository
from tests.history.record_builders import (
    NOW,
    RIO,
    days_ago,
    make_approval,
    make_record,
    make_rejection,
    make_verdict,
)

WEEK = window_of_last_hours(168, NOW)


def open_tags(outcome):
    """The tags for which it is rejected, each once."""
    return tuple(dict.fromkeys(finding.tag for finding in outcome.open_findings if finding.tag))


def row(story):
    """The one pull request that counts this week."""
    (found,) = outcomes_in_window([story], WEEK)
    return found


def test_a_rejected_pull_request():
    story = make_record(7, make_rejection(2, "date_errors", "scope_error"), pushed=(3,))
    assert row(story) == PullRequestOutcome(
        number=7,
        author=RIO,
        at=days_ago(2),
        state=PullRequestState.OPEN,
        rejected=True,
        first_pass=False,
        is_reviewed=True,
        findings=story.findings,
        open_findings=story.findings,
        iterations=1,
    )


def test_accepted_after_a_rejection_is_not_first_pass():
    story = make_record(7, make_rejection(3, "date_errors"), make_approval(2, head="b"), merged=1)
    assert row(story) == PullRequestOutcome(
        number=7,
        author=RIO,
        at=days_ago(1),
        state=PullRequestState.MERGED,
        rejected=False,
        first_pass=False,
        is_reviewed=True,
        findings=story.findings,
        open_findings=(),
        iterations=2,
    )


def test_merged_without_a_verdict_counts_as_accepted():
    found = row(make_record(7, merged=1))
    assert (found.rejected, found.first_pass, found.is_reviewed, found.iterations) == (False, True, False, 0)


def test_withdrawn_without_a_rejection_is_not_rejected():
    found = row(make_record(7, make_approval(2), closed=1))
    assert (found.state, found.rejected) == (PullRequestState.CLOSED, False)


def test_closed_while_rejected_stays_rejected_though_the_review_is_dismissed_later():
    found = row(make_record(7, make_rejection(3, "date_errors", lifted_at=days_ago(1)), closed=2))
    assert (found.rejected, open_tags(found)) == (True, ("date_errors",))


def test_closing_unmerged_is_no_activity_of_its_own():
    assert outcomes_in_window([make_record(7, make_rejection(9, "date_errors"), closed=2)], WEEK) == ()


def test_a_comment_without_a_verdict_is_no_judgement():
    assert outcomes_in_window([make_record(7, make_verdict(2, Stance.SILENT, ("date_errors",)))], WEEK) == ()


def test_a_review_that_does_not_count_is_no_judgement():
    assert outcomes_in_window([make_record(7, make_rejection(2, "date_errors", counted=False))], WEEK) == ()


def test_one_of_two_rejecting_validators_approves():
    story = make_record(
        7,
        make_rejection(3, "date_errors"),
        make_rejection(2, "scope_error", by="carol"),
        make_approval(1, by="alice", head="b"),
    )
    assert (row(story).rejected, open_tags(row(story))) == (True, ("scope_error",))


def test_becoming_dead_is_activity_on_that_day():  # row 182
    found = row(make_record(7, make_rejection(16, "date_errors"), pushed=(17,)))
    assert (found.at, found.rejected, found.tags) == (days_ago(3), True, ("date_errors",))


def test_a_push_keeps_it_alive():
    assert outcomes_in_window([make_record(7, make_rejection(16, "date_errors"), pushed=(17, 5))], WEEK) == ()


def test_what_is_closed_or_approved_does_not_die():
    assert (
        outcomes_in_window([make_record(7, make_rejection(16, "date_errors"), pushed=(17,), closed=4)], WEEK)
        == ()
    )
    assert outcomes_in_window([make_record(7, make_approval(16), pushed=(17,))], WEEK) == ()


def test_days_without_a_push_can_be_configured():
    story = make_record(7, make_rejection(9, "date_errors"), pushed=(10,))
    assert outcomes_in_window([story], WEEK, timedelta(days=5))[0].at == days_ago(5)
    assert earliest_activity(WEEK, timedelta(days=5)) == WEEK.start - timedelta(days=5)


def test_tags_of_earlier_weeks_count_only_while_they_stand():
    fixed = make_record(7, make_rejection(9, "date_errors"), make_approval(2, head="b"))
    left = make_record(8, make_rejection(9, "date_errors"), make_approval(2, by="carol"))
    assert row(fixed).tags == ()
    assert row(left).tags == ("date_errors",)


def test_what_happened_after_the_window_is_not_seen():
    story = make_record(7, make_rejection(8, "date_errors"), make_approval(2, head="b"), merged=1)
    (before,) = outcomes_in_window([story], WEEK.before)
    assert (before.state, before.rejected, open_tags(before)) == (
        PullRequestState.OPEN,
        True,
        ("date_errors",),
    )


def test_an_overturned_tag_is_broken_but_no_longer_open():
    story = make_record(7, make_rejection(3, "date_errors", "scope_error"), overturned=((2, "date_errors"),))
    assert (row(story).tags, open_tags(row(story))) == (("date_errors", "scope_error"), ("scope_error",))


@pytest.mark.parametrize(("head", "is_open"), [("a", False), ("b", True)])
def test_an_overturned_tag_is_open_again_only_where_a_later_head_has_it(head, is_open):
    story = make_record(
        7,
        make_rejection(3, "date_errors"),
        make_rejection(1, "date_errors", head=head),
        overturned=((2, "date_errors"),),
    )
    assert (row(story).rejected, open_tags(row(story))) == (is_open, ("date_errors",) if is_open else ())


def test_a_second_review_of_the_same_head_adds():
    story = make_record(7, make_rejection(3, "date_errors"), make_rejection(2, "scope_error"))
    assert open_tags(row(story)) == ("date_errors", "scope_error")


def test_approving_without_a_push_fixes_nothing():
    story = make_record(7, make_rejection(3, "date_errors"), make_approval(2))
    assert (row(story).rejected, find_fixes(story, NOW)) == (False, ())
    assert [finding.status.value for finding in story.findings] == ["withdrawn"]


def test_this_very_instant_belongs_to_the_window_and_its_start_to_the_one_before():
    assert row(make_record(7, make_approval(0))).at == NOW
    assert outcomes_in_window([make_record(7, make_approval(7))], WEEK) == ()
    assert len(outcomes_in_window([make_record(7, make_approval(7))], WEEK.before)) == 1


def test_the_latest_activity_comes_first():
    stories = [
        make_record(7, make_approval(3)),
        make_record(9, make_approval(1)),
        make_record(8, make_approval(1)),
    ]
    assert [found.number for found in outcomes_in_window(stories, WEEK)] == [9, 8, 7]


def test_the_memory_keeps_tags_and_places_but_nobodys_words():
    item = Item(
        "date_errors", words="secret words", place=Location("a.md", 5), url="u", context_before="before"
    )
    pull_request = PullRequest(
        repository=Repository(1, "acme", "knowledge", 9),
        number=7,
        author=RIO,
        title="A title",
        base="main",
        head="c" * 40,
        created_at=days_ago(5),
        updated_at=NOW,
        revisions=(Revision("b" * 40, days_ago(4)), Revision("c" * 40, days_ago(1))),
        verdicts=(
            replace(make_rejection(2), head=None, items=(item, Item(None, "secret too", blocks=False))),
        ),
    )
    kept = build_history_record(pull_request)
    assert "secret" not in repr(kept)
    assert kept.verdicts[0].items == (Item("date_errors", place=Location("a.md", 5), url="u"),)
    assert [(finding.tag, finding.path, finding.blocks) for finding in kept.findings] == [
        ("date_errors", "a.md", None),
        (None, None, False),
    ]
    assert [change.by for finding in kept.findings for change in finding.changes] == ["", ""]
    assert kept.verdicts[0].head == "b" * 40
    assert kept.pushed_at == (days_ago(4), days_ago(1))
    assert kept.last_active == days_ago(1)
