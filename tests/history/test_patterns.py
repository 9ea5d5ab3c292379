"""An author's record: exactly the keys of rows 180 to 188, and numbers that a slow second opinion agrees with."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.gates.model import Gates
from bot.history.model import HistoryRecord, earliest_activity, replay_record, window_of_last_hours
from bot.history.outcomes import outcomes_in_window
from bot.history.patterns import (
    Tally,
    Trend,
    compare_rates,
    compute_all_patterns,
    compute_patterns,
    count_outcomes,
)
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.values import Account
from tests.history.record_builders import (
    BOB,
    CLAY,
    GATES,
    NOW,
    RIO,
    make_approval,
    make_record,
    make_rejection,
)

HOURS = 168


def of(*stories, author=RIO, hours=HOURS):
    window = window_of_last_hours(hours, NOW)
    mine = [story for story in stories if story.author.id == author.id]
    return compute_patterns(
        outcomes_in_window(mine, window), outcomes_in_window(mine, window.before), GATES, author.login, hours
    )


def test_no_pull_request_gives_the_empty_record():  # rows 180, 183, 186, 188
    assert of().as_json() == {
        "agent": "rio-agent[bot]",
        "period_hours": 168,
        "total_prs": 0,
        "rejected_prs": 0,
        "approval_rate": None,
        "first_pass_prs": 0,
        "top_issues": [],
        "issue_breakdown": {},
        "trend": "no_data",
    }


def test_a_record():  # rows 181, 182, 184, 185
    stories = (
        make_record(1, make_rejection(1, "date_errors", "date_errors", "no_such_gate")),
        make_record(
            2,
            make_rejection(3, "date_errors"),
            make_rejection(2, "date_errors", head="b"),
            make_approval(1, head="c"),
        ),
        make_record(3, make_approval(2), merged=1),
    )
    assert of(*stories).as_json() == {
        "agent": "rio-agent[bot]",
        "period_hours": 168,
        "total_prs": 3,
        "rejected_prs": 1,
        "approval_rate": 0.667,
        "first_pass_prs": 1,
        "top_issues": [
            {
                "tag": "date_errors",
                "count": 2,
                "pct": 66.7,
                "gate": "Date accuracy",
                "fix": GATES.get("date_errors").fix,
                "auto_fixable": True,
            },
            {
                "tag": "no_such_gate",
                "count": 1,
                "pct": 33.3,
                "gate": "no_such_gate",
                "fix": "See the repository's quality gates.",
                "auto_fixable": False,
            },
        ],
        "issue_breakdown": {"date_errors": 2, "no_such_gate": 1},
        "trend": "no_data",
    }


def test_five_issues_come_with_guidance():  # row 185
    found = of(make_record(1, make_rejection(1, *GATES.tags)))
    assert len(found.issue_breakdown) == 12
    assert len(found.as_json()["top_issues"]) == 5


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        ((10, 4), (10, 5), Trend.IMPROVING),
        ((20, 9), (20, 10), Trend.STABLE),
        ((20, 10), (20, 9), Trend.STABLE),
        ((100, 44), (100, 50), Trend.IMPROVING),
        ((100, 56), (100, 50), Trend.WORSENING),
        ((4, 0), (100, 50), Trend.NO_DATA),
        ((100, 0), (4, 4), Trend.NO_DATA),
        ((5, 0), (5, 0), Trend.STABLE),
    ],
)
def test_more_than_five_points_make_a_trend(now, before, said):  # row 187
    assert compare_rates(Tally(*now, 0), Tally(*before, 0)) is said


def test_every_author_has_a_record_under_the_present_login():  # row 189
    renamed = Account(RIO.id, "rio-next[bot]", bot=True)
    stories = [
        make_record(1, make_approval(3), author=RIO),
        make_record(2, make_approval(1), author=renamed),
        make_record(3, make_rejection(2, "date_errors"), author=BOB),
        make_record(4, make_approval(20), author=CLAY),
    ]
    window = window_of_last_hours(HOURS, NOW)
    found = compute_all_patterns(
        outcomes_in_window(stories, window), outcomes_in_window(stories, window.before), GATES, HOURS
    )
    assert {login: record.tally.total for login, record in found.items()} == {"rio-next[bot]": 2, "bob": 1}
    assert found["bob"].agent == "bob"


# A slow second opinion: the day-by-day replay of generated histories.

DAY = timedelta(days=1)
TAGS = ("date_errors", "scope_error", "near_duplicate", "odd_tag")
LENGTH = 60
event = st.tuples(
    st.integers(0, LENGTH),
    st.one_of(
        st.tuples(
            st.just("review"),
            st.sampled_from("ab"),
            st.sampled_from((Stance.REJECTS, Stance.SILENT)),
            st.frozensets(st.sampled_from(TAGS)),
            st.booleans(),
        ),
        st.tuples(
            st.just("review"),
            st.sampled_from("ab"),
            st.just(Stance.APPROVES),
            st.just(frozenset()),
            st.booleans(),
        ),
        st.tuples(st.just("push")),
        st.tuples(st.just("dismiss"), st.sampled_from("ab")),
        st.tuples(st.just("merge")),
        st.tuples(st.just("close")),
    ),
)


def in_order(events):
    """By day; what is said at the same moment as a dismissal comes before it, as in the ledger."""
    return sorted(events, key=lambda event: (event[0], event[1][0] == "dismiss"))


histories = st.lists(st.lists(event, max_size=9).map(in_order), max_size=9)


def day(number):
    return NOW - (LENGTH - number) * DAY


def told(number, events) -> HistoryRecord:
    """The history as the store would have it: what came after the end did not happen."""
    verdicts, pushed, closed, merged = [], [day(0)], None, False
    for at, (kind, *rest) in events:
        if kind == "review":
            validator, stance, tags, counted = rest
            items = tuple(Item(tag) for tag in sorted(tags))
            said = Validator(validator, validator)
            verdicts.append(
                Verdict(
                    f"review:{len(verdicts)}", said, stance, day(at), f"{len(pushed)}", items, counted=counted
                )
            )
        elif kind == "push":
            pushed.append(day(at))
        elif kind == "dismiss" and (found := _newest(verdicts, rest[0])) is not None:
            verdicts[found] = _lifted(verdicts[found], day(at))
        elif kind in {"merge", "close"}:
            closed, merged = day(at), kind == "merge"
            break
    return replay_record(HistoryRecord(number, RIO, day(0), tuple(pushed), tuple(verdicts), closed, merged))


def _newest(verdicts, validator):
    mine = [
        index
        for index, verdict in enumerate(verdicts)
        if verdict.validator.key == validator and verdict.counted and verdict.stance is not Stance.SILENT
    ]
    return mine[-1] if mine and verdicts[mine[-1]].lifted_at is None else None


def _lifted(verdict, at):
    return Verdict(
        verdict.id,
        verdict.validator,
        verdict.stance,
        verdict.at,
        verdict.head,
        verdict.items,
        lifted_at=at,
    )


def replayed(events, last):
    """State at the end of each day up to `last`: (open tags by rejecting validator, closed, active, named)."""
    rejects, newest, opened = {}, {}, {"a": {}, "b": {}}
    closed, ever, pushed, pushes, days, dead = None, False, 0, 0, [], False
    for today in range(last + 1):
        active, named = False, set()
        for number, (_, (kind, *rest)) in enumerate(events):
            if events[number][0] != today or closed is not None:
                continue
            if kind == "review":
                validator, stance, tags, counted = rest
                if not counted or (stance is Stance.SILENT and not rejects.get(validator)):
                    continue
                if stance is Stance.SILENT:
                    opened[validator] |= dict.fromkeys(tags, (pushes, number))
                else:
                    active, rejects[validator], newest[validator] = True, stance is Stance.REJECTS, number
                    ever = ever or stance is Stance.REJECTS
                    # The same head adds, a later one replaces, and an approval closes.
                    left = {
                        tag: reported
                        for tag, reported in opened[validator].items()
                        if stance is Stance.REJECTS and reported[0] == pushes
                    }
                    opened[validator] = left | dict.fromkeys(tags, (pushes, number))
                named |= set(tags)
            elif kind == "push":
                pushed, pushes = today, pushes + 1
            elif kind == "dismiss":
                lifted = newest.pop(rest[0], None)
                rejects.pop(rest[0], None)
                opened[rest[0]] = {
                    tag: reported for tag, reported in opened[rest[0]].items() if reported[1] != lifted
                }
            else:
                closed = kind
                active = active or kind == "merge"
        rejecting = [set(opened[validator]) for validator in "ab" if rejects.get(validator)]
        is_dead = closed is None and bool(rejecting) and today - pushed >= 14
        days.append((active or (is_dead and not dead), named, rejecting, ever, closed))
        dead = is_dead
    return days


def slowly(histories_, first, last):
    """(total, rejected, first pass, breakdown) of the days `first` to `last`, the last included."""
    total = rejected = first_pass = 0
    counts = Counter()
    for events in histories_:
        days = replayed(events, last)
        if not any(active for active, *_ in days[max(first, 0) :]):
            continue
        _, _, rejecting, ever, _ = days[-1]
        total += 1
        rejected += bool(rejecting)
        first_pass += not rejecting and not ever
        counts.update(set().union(*(named for _, named, *_ in days[max(first, 0) :]), *rejecting))
    return total, rejected, first_pass, dict(counts)


def slow_trend(now, before):
    if now[0] < 5 or before[0] < 5:
        return "no_data"
    change = Fraction(now[1], now[0]) - Fraction(before[1], before[0])
    if change < Fraction(-5, 100):
        return "improving"
    return "worsening" if change > Fraction(5, 100) else "stable"


@settings(max_examples=150, deadline=None)
@given(histories, st.integers(1, 28))
def test_the_numbers_agree_with_a_day_by_day_replay(stories, length):
    now = slowly(stories, LENGTH - length + 1, LENGTH)
    before = slowly(stories, LENGTH - 2 * length + 1, LENGTH - length)
    found = of(*(told(number, events) for number, events in enumerate(stories, 1)), hours=24 * length)
    assert (
        found.tally.total,
        found.tally.rejected,
        found.tally.first_pass,
        dict(found.issue_breakdown),
    ) == now
    assert found.trend == slow_trend(now, before)
    assert found.as_json()["approval_rate"] == (round((now[0] - now[1]) / now[0], 3) if now[0] else None)
    assert all(0 < issue["pct"] <= 100 for issue in found.top_issues)


@settings(max_examples=100, deadline=None)
@given(histories, st.integers(1, 28))
def test_a_store_may_leave_out_what_was_last_active_too_long_ago(stories, length):
    window = window_of_last_hours(24 * length, NOW)
    records = [told(number, events) for number, events in enumerate(stories, 1)]
    recent = [kept for kept in records if kept.last_active >= earliest_activity(window)]
    assert outcomes_in_window(recent, window) == outcomes_in_window(records, window)


def test_gates_may_be_unknown_altogether():
    rows = outcomes_in_window(
        [make_record(1, make_rejection(1, "date_errors"))], window_of_last_hours(HOURS, NOW)
    )
    assert compute_patterns(rows, (), Gates(), "x", HOURS).top_issues[0]["gate"] == "date_errors"
    assert count_outcomes(rows) == Tally(1, 1, 0)
