"""What a week was like: from records to numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.gates.config import AuthorNaming, AuthorRules
from bot.history.model import Ratio, Week, parse_week, week_containing
from bot.history.outcomes import TagFix, find_fixes
from bot.history.patterns import Tally, Trend
from bot.history.rates import FollowedShares
from bot.pull_request.model import Validator
from bot.values import Repository
from bot.weekly.schedule import WeeklySchedule
from bot.weekly.summary import (
    AuthorWeek,
    GateWeek,
    UncountedReviews,
    WeekQuery,
    summarize_week,
    summary_needed_since,
)
from tests.history.record_builders import (
    BOB,
    CLAY,
    GATES,
    NOW,
    days_ago,
    make_approval,
    make_record,
    make_rejection,
)

HERE = Repository(1, "acme", "knowledge", 9)
# NOW is Sunday noon, so the week reaches six and a half days back.
ASK = WeekQuery(HERE, Week(2026, 46), UTC)


def of(*stories, **asked):
    return summarize_week(stories, GATES, replace(ASK, **asked))


def test_a_gate_beside_a_blocker_without_a_tag_is_not_the_only_one():
    story = make_record(1, make_rejection(3, "date_errors", None), closed=2)
    assert of(story).only_blocker == {}


def test_a_gate_beside_a_rejection_that_names_nothing_is_not_the_only_blocker():
    also = make_rejection(2, by="bob")
    assert of(make_record(1, make_rejection(3, "date_errors"), also, closed=1)).only_blocker == {}
    more = make_rejection(3, "date_errors", more=2)
    assert of(make_record(1, more, closed=2)).only_blocker == {}


def test_a_rejection_whose_findings_are_fixed_leaves_the_other_gate_the_only_blocker():
    fixed = make_rejection(4, "scope_error", by="bob")
    later = make_rejection(3, "date_errors", by="bob", head="b")
    story = make_record(1, fixed, later, closed=2)
    assert of(story).only_blocker == {"date_errors": 1}


def test_a_week_and_the_one_before():
    week = of(
        make_record(1, make_rejection(3, "date_errors"), closed=2),
        make_record(
            2,
            make_rejection(4, "date_errors"),
            make_rejection(3, "date_errors", head="b"),
            make_approval(1, head="c"),
            merged=1,
        ),
        make_record(3, make_approval(2), merged=1),
        make_record(4, merged=1),
        make_record(5, make_rejection(9, "date_errors", "scope_error"), closed=8),
    )
    assert (week.now, week.before, week.merged_unreviewed) == (Tally(4, 1, 2), Tally(1, 1, 0), 1)
    assert week.later_iterations == (3,)
    assert week.gates == (GateWeek("date_errors", 2, 1, 0, 0),)
    assert week.only_blocker == {"date_errors": 1}
    assert week.weeks[-2:] == ((Week(2026, 45), Tally(1, 1, 0)), (Week(2026, 46), Tally(4, 1, 2)))
    assert len(week.weeks) == 12
    assert week.weeks[0] == (Week(2026, 35), Tally(0, 0, 0))


@pytest.mark.parametrize(
    ("verdicts", "fixed"),
    [
        ((make_rejection(4, "date_errors"), make_approval(3, head="b")), 1),
        ((make_rejection(4, "date_errors"), make_rejection(3, "scope_error", head="b")), 1),
        (
            (
                make_rejection(4, "date_errors"),
                make_rejection(3, "date_errors", head="b"),
                make_approval(2, head="c"),
            ),
            0,
        ),
        ((make_rejection(4, "date_errors"), make_approval(3)), 0),
        ((make_rejection(4, "date_errors"), make_approval(3, head="b", by="carol")), 0),
        (
            (
                make_rejection(4, "date_errors"),
                make_approval(3, head="b", by="carol"),
                make_approval(2, head="b"),
            ),
            1,
        ),
        ((make_rejection(4, "date_errors"),), 0),
        ((make_rejection(4, "date_errors", lifted_at=days_ago(3.5)), make_approval(3, head="b")), 0),
    ],
)
def test_fixed_by_the_next_iteration(verdicts, fixed):
    (gate,) = (gate for gate in of(make_record(1, *verdicts)).gates if gate.tag == "date_errors")
    assert gate.fixed_next == fixed


def test_a_fix_names_the_revision_where_no_validator_names_the_tag_any_more():
    story = make_record(
        7,
        make_rejection(5, "date_errors"),
        make_rejection(4, "date_errors", by="carol"),
        make_approval(3, head="b"),
        make_approval(2, head="c", by="carol"),
    )
    assert find_fixes(story, NOW) == (TagFix("date_errors", 7, "c" * 40, days_ago(2)),)


def test_overturned():
    story = make_record(1, make_rejection(4, "date_errors", "scope_error"), overturned=((3, "date_errors"),))
    assert of(story).gates == (GateWeek("date_errors", 1, 0, 0, 1), GateWeek("scope_error", 1, 0, 0, 0))


def test_feedback_followed_with_and_without_a_location():  # row 35
    stories = (
        make_record(
            1,
            make_rejection(4, "date_errors", "scope_error", placed=True),
            make_rejection(3, "scope_error", head="b"),
        ),
        make_record(2, make_rejection(4, "date_errors"), make_approval(3, head="b")),
        make_record(3, make_rejection(4, "date_errors", placed=True)),
        make_record(4, make_rejection(4, "date_errors"), make_approval(3)),
        make_record(5, make_rejection(4, "date_errors"), overturned=((3, "date_errors"),)),
    )
    # What waits for its validator, was withdrawn or dismissed counts neither way.
    assert of(*stories).followed == FollowedShares(Ratio(1, 2), Ratio(1, 1), withdrawn=1, dismissed=1)


def test_gates_that_nobody_broke_for_eight_weeks():
    old = make_record(1, make_rejection(57, "near_duplicate"), closed=57)
    recent = make_record(
        2, make_rejection(40, *(tag for tag in GATES.tags if tag not in {"near_duplicate", "scope_error"}))
    )
    # Nobody ever broke `scope_error`: that may as well be a gate that this repository has no use for.
    assert of(old, recent).not_broken == ("near_duplicate",)
    assert of(recent).not_broken == ()


def test_reviews_that_did_not_count():
    rabbit = Validator("app:5", "rabbit[bot]", bot=True)
    stories = [make_record(n, make_rejection(3, "date_errors", by="dora", counted=False)) for n in range(3)]
    stories.append(make_record(8, replace(make_rejection(3, "x_y", counted=False), validator=rabbit)))
    stories.append(
        make_record(9, make_approval(3, by="eve", counted=False), make_rejection(9, by="fay", counted=False))
    )
    assert of(*stories).uncounted == UncountedReviews({rabbit: 1}, by_people=3, people=1)


def test_agents_are_named_and_people_counted():
    stories = (
        make_record(1, make_approval(3)),
        make_record(2, make_rejection(3, "date_errors")),
        make_record(3, make_approval(2), author=BOB),
        make_record(4, make_approval(2), author=replace(BOB, id=504, login="eve")),
        make_record(5, make_approval(2), author=CLAY),
    )
    agents = (
        AuthorWeek("rio-agent[bot]", 1, Tally(2, 1, 1), Trend.NO_DATA, (("date_errors", 1),)),
        AuthorWeek("clay-agent[bot]", 1, Tally(1, 0, 1), Trend.NO_DATA),
    )
    assert of(*stories).authors == (*agents, AuthorWeek(None, 2, Tally(2, 0, 2), Trend.NO_DATA))
    assert of(*stories, naming=AuthorNaming.NONE).authors == ()
    assert [line.login for line in of(*stories, naming=AuthorNaming.ALL).authors] == [
        "rio-agent[bot]",
        "bob",
        "clay-agent[bot]",
        "eve",
    ]
    assert [line.login for line in of(*stories, agents=AuthorRules(("Bob",))).authors] == [
        "rio-agent[bot]",
        "bob",
        "clay-agent[bot]",
        None,
    ]


def test_the_trend_of_people_is_that_of_all_of_them():
    now = [make_record(n, make_approval(3), author=replace(BOB, id=600 + n)) for n in range(5)]
    before = [
        make_record(10 + n, make_rejection(9, "date_errors"), author=replace(BOB, id=700 + n), closed=9)
        for n in range(5)
    ]
    (people,) = of(*now, *before).authors
    assert people == AuthorWeek(None, 5, Tally(5, 0, 5), Trend.IMPROVING)


def test_a_running_week_ends_now():
    story = make_record(1, make_rejection(3, "date_errors"), make_approval(1, head="b"))
    assert of(story, as_of=days_ago(2)).now == Tally(1, 1, 0)
    assert of(make_record(1, make_approval(2)), as_of=days_ago(2)).now == Tally(1, 0, 1)


def test_records_are_needed_from_twelve_weeks_and_the_time_to_die_ago():
    assert summary_needed_since(ASK) == Week(2026, 35).window(UTC).start - timedelta(days=14)


# Weeks


def test_a_week_starts_at_midnight_of_the_repositorys_own_clock():
    berlin = ZoneInfo("Europe/Berlin")
    window = Week(2026, 46).window(berlin)
    assert window.start.isoformat() == "2026-11-08T23:00:00+00:00"
    assert week_containing(window.start, berlin) == Week(2026, 46)
    assert week_containing(window.start, UTC) == Week(2026, 45)
    story = make_record(1, replace(make_approval(1), at=window.start))
    assert of(story, zone=berlin).now.total == 1
    assert of(story).now.total == 0


def test_a_week_in_which_the_clocks_change():
    berlin = ZoneInfo("Europe/Berlin")
    span = Week(2026, 43).window(berlin)
    assert span.end - span.start == timedelta(days=7, hours=1)
    assert span.end == Week(2026, 44).window(berlin).start


def test_weeks_over_the_turn_of_the_year():
    assert Week(2026, 1).back(1) == Week(2025, 52)
    assert Week(2027, 1).back(1) == Week(2026, 53)
    assert str(Week(2026, 1)) == "2026-W01"


@pytest.mark.parametrize(
    ("name", "week"),
    [("2026-W46", Week(2026, 46)), ("2025-W53", None), ("2026-W00", None), ("0000-W01", None), ("W46", None)],
)
def test_the_name_of_a_week(name, week):
    assert parse_week(name) == week


def test_the_summary_is_due_on_monday_at_nine():
    schedule = WeeklySchedule(ZoneInfo("UTC"), 0, time(9))
    monday = schedule.due_at(Week(2026, 46))
    assert monday.isoformat() == "2026-11-16T09:00:00+00:00"
    assert schedule.latest_due(monday) == Week(2026, 46)
    assert schedule.latest_due(monday - timedelta(seconds=1)) == Week(2026, 45)
    assert schedule.latest_due(monday + timedelta(days=20)) == Week(2026, 48)


def test_on_the_day_and_in_the_time_zone_that_the_repository_wants():
    schedule = WeeklySchedule(ZoneInfo("Asia/Tokyo"), 4, time(18, 30))
    assert schedule.due_at(Week(2026, 46)).isoformat() == "2026-11-20T09:30:00+00:00"
    assert schedule.latest_due(days_ago(0)) == Week(2026, 45)
