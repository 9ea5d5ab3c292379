"""Which advice was accepted afterwards, across pull requests, and how the weekly issue tells it."""

from dataclasses import fields

from bot.history.model import AdviceRecord, Ratio, build_history_record, window_of_last_hours
from bot.history.rates import AdviceRates, advice_rates, advice_rates_by_author
from bot.pull_request.model import PostedBrief
from bot.weekly.summary import WeekQuery, summarize_week
from bot.weekly.text import render_advice
from tests.builders import START, make_pull_request
from tests.history.record_builders import BOB, GATES, NOW, RIO, days_ago, make_record, make_rejection
from tests.weekly.test_issue import MODEL

WEEK = window_of_last_hours(168, NOW)


def brief(ago, *actions, success=None, kind="user_rejection"):
    return AdviceRecord(days_ago(ago), kind, actions, success)


def advised(number, *briefs, author=RIO):
    return make_record(number, make_rejection(1, "date_errors"), author=author, advice=briefs)


def tried(action, accepted, rejected):
    fates = [True] * accepted + [False] * rejected
    return [advised(number, brief(2, action, success=fate)) for number, fate in enumerate(fates, 1)]


def test_a_brief_is_remembered_without_its_words():  # row 244
    told = PostedBrief(
        START, 1, "user_rejection", "no way", ("narrow_scope",), "Do less.", "Title", success=True
    )
    (kept,) = build_history_record(make_pull_request(briefs=(told,))).advice
    assert kept == AdviceRecord(START, "user_rejection", ("narrow_scope",), success=True)
    assert [each.name for each in fields(kept)] == ["at", "feedback_type", "actions", "success"]


def test_kinds_of_feedback_are_counted_across_pull_requests():  # row 244
    records = [
        advised(1, brief(3, "narrow_scope"), brief(2, "narrow_scope")),
        advised(2, brief(2, "narrow_scope"), brief(1, "add_test_context", kind="verification_failure")),
        advised(3, brief(9, "narrow_scope")),
    ]
    found = advice_rates(records, WEEK)
    assert (found.pull_requests, found.briefs) == (2, 4)
    assert found.types == {
        "user_rejection": {"briefs": 3, "pull_requests": 2},
        "verification_failure": {"briefs": 1, "pull_requests": 1},
    }


def test_an_approval_with_remarks_is_counted_as_partial_success_and_not_as_a_brief():  # row 198
    records = [
        advised(1, brief(3, "narrow_scope", success=False), brief(2, success=True, kind="partial_success")),
        advised(2, brief(2, success=True, kind="partial_success"), author=BOB),
    ]
    found = advice_rates(records, WEEK)
    assert (found.pull_requests, found.briefs, found.accepted) == (1, 1, Ratio(0, 1))
    assert found.types == {
        "partial_success": {"briefs": 2, "pull_requests": 2},
        "user_rejection": {"briefs": 1, "pull_requests": 1},
    }
    assert [author.login for author, _ in advice_rates_by_author(records, WEEK)] == [BOB.login, RIO.login]


def test_each_author_has_a_view_of_their_own():  # row 244
    records = [
        advised(1, brief(2, "narrow_scope", success=True)),
        advised(2, brief(2, "narrow_scope", success=False), author=BOB),
        advised(3, author=BOB),
    ]
    found = [
        (author.login, rates.pull_requests, rates.accepted)
        for author, rates in advice_rates_by_author(records, WEEK)
    ]
    assert found == [("bob", 1, Ratio(0, 1)), ("rio-agent[bot]", 1, Ratio(1, 1))]


def test_whoever_was_not_advised_has_no_view():
    assert advice_rates_by_author([advised(1), advised(2, brief(8, "narrow_scope"), author=BOB)], WEEK) == ()


def test_each_action_is_counted_by_what_came_of_it():  # row 245
    records = [
        advised(1, brief(3, "narrow_scope", success=False)),
        advised(2, brief(3, "narrow_scope", "offer_alternatives", success=True)),
        advised(3, brief(3, "narrow_scope", success=True), brief(2, "clarify_requirements")),
    ]
    found = advice_rates(records, WEEK).figures
    assert (found["judged"], found["accepted"]) == (3, 2)
    assert found["actions"] == {
        "narrow_scope": {"judged": 3, "accepted": 2, "rate": 0.667},
        "offer_alternatives": {"judged": 1, "accepted": 1, "rate": 1.0},
    }


def test_an_action_that_seldom_helps_is_reported_from_five_judged_on():  # row 246
    records = [
        *tried("narrow_scope", 2, 3),
        *tried("add_test_context", 1, 4),
        *tried("offer_alternatives", 3, 3),
        *tried("specify_behavior", 0, 4),
    ]
    assert advice_rates(records, WEEK).low_figures == [
        {"action": "add_test_context", "judged": 5, "accepted": 1, "rate": 0.2},
        {"action": "narrow_scope", "judged": 5, "accepted": 2, "rate": 0.4},
    ]


def test_the_weekly_issue_tells_in_a_line_what_came_of_the_briefs():  # row 245
    found = advice_rates(tried("narrow_scope", 4, 2), WEEK)
    assert render_advice(found) == ("Briefs: 4 of 6 (67%) were accepted at the next verdict.",)


def test_the_weekly_issue_names_what_a_person_should_look_at():  # row 246
    (line,) = render_advice(advice_rates(tried("narrow_scope", 1, 4), WEEK))
    assert line == (
        "Briefs: 1 of 5 (20%) were accepted at the next verdict. "
        "A person should look at what seldom helps: `narrow_scope` (1 of 5)."
    )


def test_under_five_judged_briefs_the_weekly_issue_says_nothing():
    few = advice_rates([*tried("narrow_scope", 2, 2), advised(9, brief(1, "narrow_scope"))], WEEK)
    assert (render_advice(few), render_advice(AdviceRates())) == ((), ())


def test_the_summary_of_a_week_counts_its_briefs():  # row 245
    ask = WeekQuery(MODEL.query.repository, MODEL.query.week, MODEL.query.zone)
    inside, outside = ask.window.start, ask.window.end
    briefs = tuple(
        AdviceRecord(at, "user_rejection", ("narrow_scope",), success=True) for at in (inside, outside)
    )
    found = summarize_week([advised(1, *briefs)], GATES, ask)
    assert found.advice.actions == {"narrow_scope": Ratio(1, 1)}
