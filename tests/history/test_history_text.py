"""The reply to `/feedback-history`: the model's text from the model's facts, and the rarer cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from inline_snapshot import snapshot

from bot.gates.model import Gates
from bot.history.outcomes import TagFix
from bot.history.patterns import HistoryQuery, build_history, choose_period, history_needed_since
from bot.history.text import HistoryContext, render_history
from bot.markdown.escape import parse_marker
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import Item, ItemOutcome
from bot.values import Repository
from tests.history.record_builders import GATES, NOW, days_ago, make_approval, make_record, make_rejection
from tests.live_markdown import live_references

HERE = Repository(1, "acme", "knowledge", 9)
SETTING = HistoryContext(HERE, GATES, GitHubLinks())
ASK = HistoryQuery("rio-agent[bot]", NOW, UTC)


def on(day, month=11):
    """Days before the fifteenth of November, at the same hour."""
    return (NOW - datetime(2026, month, day, 12, tzinfo=UTC)) / timedelta(days=1)


def model_story():
    """The month that the model shows."""
    octo = 10
    before = [
        make_record(n, make_rejection(on(12, octo) + n / 10, "scope_error"), closed=on(12, octo))
        for n in range(8)
    ]
    before += [
        make_record(n, make_approval(on(10, octo) + n / 10), merged=on(10, octo)) for n in range(8, 15)
    ]
    return [
        *before,
        make_record(193, make_approval(on(19, octo)), merged=on(20, octo)),
        make_record(194, make_approval(on(20, octo)), merged=on(21, octo)),
        make_record(195, make_rejection(on(20, octo), "date_errors"), closed=on(21, octo)),
        make_record(
            196, make_rejection(on(21, octo), "date_errors", "broken_wiki_links"), closed=on(22, octo)
        ),
        make_record(
            197, make_rejection(on(22, octo), "date_errors", "broken_wiki_links"), closed=on(23, octo)
        ),
        make_record(
            198,
            make_rejection(on(28, octo), "factual_discrepancy", "title_overclaims"),
            make_approval(on(30, octo), head="b3c9d10"),
            merged=on(30, octo),
        ),
        make_record(199, make_rejection(on(29, octo), "title_overclaims"), closed=on(30, octo)),
        make_record(200, make_approval(on(28, octo)), merged=on(28, octo)),
        make_record(201, make_approval(on(1)), merged=on(1)),
        make_record(
            205, make_rejection(on(2), "title_overclaims"), make_approval(on(3), head="e01f3d9"), merged=on(3)
        ),
        make_record(
            207, make_rejection(on(4), "date_errors"), make_approval(on(5), head="5555555"), merged=on(5)
        ),
        make_record(209, make_rejection(on(6), "broken_wiki_links"), make_approval(on(7)), merged=on(7)),
        make_record(
            211, make_rejection(on(10), "date_errors"), make_approval(on(12), head="77ab0c1"), merged=on(12)
        ),
        make_record(212, make_rejection(on(15), "date_errors", "title_overclaims")),
    ]


def reply(*stories, setting=SETTING, **asked):
    return render_history(build_history(stories, setting.gates, replace(ASK, **asked)), setting)


def paragraphs(text):
    """Without marker and footer."""
    return text.strip().split("\n\n")[1:-1]


def test_the_model_is_the_reply_to_its_own_facts():  # rows 151, 191
    text = reply(*model_story(), hours=720)
    assert text == snapshot("""\
<!-- FEEDBACK-HISTORY: {"v": 1, "agent": "rio-agent[bot]", "period_hours": 720, "total_prs": 14, "rejected_prs": 5, "approval_rate": 0.643, "first_pass_prs": 4, "trend": "improving", "issue_breakdown": {"date_errors": 6, "title_overclaims": 4, "broken_wiki_links": 3, "factual_discrepancy": 1}} -->

**Feedback history** — `rio-agent[bot]`, this repository, last 30 days

14 pull requests: 9 accepted, 5 rejected. That is 64% accepted, 17 points more than in the 30 days before (47% of 15): **improving**. 4 were accepted at the first review.

**Start with Date accuracy**: it was the only blocking issue in 3 of the 5 rejected pull requests, and it is auto-fixable.

| Gate | Broken in | Last seen | Last fixed by | Fix |
|---|--:|---|---|---|
| Date accuracy `date_errors` | 6 of 14 (43%) | [212](https://redirect.github.com/acme/knowledge/pull/212), open | [`77ab0c1`](https://redirect.github.com/acme/knowledge/commit/77ab0c1) on 12 Nov | created = extraction date (today), not source publication date. |
| Title precision `title_overclaims` | 4 of 14 (29%) | [212](https://redirect.github.com/acme/knowledge/pull/212), open | [`e01f3d9`](https://redirect.github.com/acme/knowledge/commit/e01f3d9) on 3 Nov | Scope the title to match the evidence strength. |
| Wiki link validity `broken_wiki_links` (warning) | 3 of 14 (21%) | [209](https://redirect.github.com/acme/knowledge/pull/209), merged | never | Only link to files listed in the KB index. |
| Factual accuracy `factual_discrepancy` | 1 of 14 (7%) | [198](https://redirect.github.com/acme/knowledge/pull/198), merged | [`b3c9d10`](https://redirect.github.com/acme/knowledge/commit/b3c9d10) on 30 Oct | Re-read the source. |

Rejected / reviewed, per week: 19–25 Oct **3/5** · 26 Oct–1 Nov **1/4** · 2–8 Nov **0/3** · 9–15 Nov **1/2**

<sub>Other periods: `/feedback-history 90d` · one gate: `/feedback-history date_errors` · about a gate: `/feedback-explain date_errors` · your data: `/feedback-export`, `/feedback-forget`</sub>
""")


def test_nothing_in_the_reply_is_live():
    assert live_references(reply(*model_story(), hours=720)) == []
    assert live_references(reply(*model_story(), tag="date_errors")) == []
    elsewhere = replace(SETTING, web=GitHubLinks("https://git.example.org"))
    assert live_references(reply(*model_story(), setting=elsewhere)) == []
    assert "http" not in reply(*model_story(), setting=elsewhere)


def test_the_marker_gives_the_numbers():
    assert parse_marker("FEEDBACK-HISTORY", reply(*model_story(), hours=720))["issue_breakdown"] == {
        "date_errors": 6,
        "title_overclaims": 4,
        "broken_wiki_links": 3,
        "factual_discrepancy": 1,
    }


@pytest.mark.parametrize(
    ("ago", "days"),
    [((1, 2, 3, 4, 5), 7), ((1, 2, 3, 4, 8), 30), ((1, 2, 3, 4, 31), 90), ((1,), 90), ((), 90)],
)
def test_without_a_period_the_shortest_with_five_pull_requests_is_shown(ago, days):
    stories = [make_record(number, make_approval(day)) for number, day in enumerate(ago)]
    assert choose_period(stories, ASK) == 24 * days
    assert f", last {days} days\n" in reply(*stories)


def test_periods_come_from_the_configuration():
    assert choose_period([make_record(1, make_approval(1))], replace(ASK, periods=(14, 2), minimum=1)) == 48


def test_a_period_that_is_asked_for_is_shown_however_little_is_in_it():
    text = reply(make_record(1, make_approval(0.5)), hours=24)
    assert paragraphs(text) == [
        "**Feedback history** — `rio-agent[bot]`, this repository, last 24 hours",
        (
            "1 pull request: 1 accepted, 0 rejected. That is 100% accepted; in the 24 hours before there were none. "
            "1 was accepted at the first review."
        ),
    ]
    assert "Other periods: `/feedback-history 7d` · your data" in text


def test_an_empty_history():  # row 186
    assert reply() == snapshot("""\
<!-- FEEDBACK-HISTORY: {"v": 1, "agent": "rio-agent[bot]", "period_hours": 2160, "total_prs": 0, "rejected_prs": 0, "approval_rate": null, "first_pass_prs": 0, "trend": "no_data", "issue_breakdown": {}} -->

**Feedback history** — `rio-agent[bot]`, this repository, last 90 days

No pull request was reviewed or merged in this period.

<sub>Your data: `/feedback-export`, `/feedback-forget`</sub>
""")


def test_where_nothing_was_found_only_a_longer_period_is_offered():
    assert "`/feedback-history 30d`" in reply(hours=168)
    assert "Other period" not in reply(hours=24 * 90)


def test_on_a_terminal_the_hint_is_a_command_that_can_be_typed_there():
    shown = render_history(
        build_history([make_record(1, make_rejection(4, "date_errors"))], GATES, ASK),
        replace(SETTING, is_default=False, is_terminal=True),
    )
    assert shown.endswith("\n\nOther period: whetstone history acme/knowledge 'rio-agent[bot]' --hours 720\n")
    assert "/feedback-" not in shown


def test_a_quiet_time_after_a_busy_one():
    assert paragraphs(reply(make_record(1, make_rejection(10, "date_errors"), pushed=(1,)), hours=168))[
        1
    ] == (
        "No pull request was reviewed or merged in this period. "
        "In the 7 days before: 1 pull request: 0 accepted, 1 rejected."
    )


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        ("aaaar", "aaaar", "That is 80% accepted, the same as in the 7 days before (80% of 5): **stable**."),
        (
            "aarrr",
            "aaaar",
            "That is 40% accepted, 40 points less than in the 7 days before (80% of 5): **worsening**.",
        ),
        (
            "a",
            "ar",
            "That is 100% accepted, 50 points more than in the 7 days before (50% of 2): too few for a trend.",
        ),
    ],
)
def test_the_trend_in_words(now, before, said):
    stories = [
        make_record(
            10 * week + n, make_approval(at) if how == "a" else make_rejection(at, "date_errors"), closed=at
        )
        for week, (all_of_them, at) in enumerate(((now, 2), (before, 9)))
        for n, how in enumerate(all_of_them)
    ]
    assert said in reply(*stories, hours=168)


def test_start_with_what_is_broken_most_where_nothing_blocks_alone():
    stories = [make_record(n, make_rejection(2, "scope_error", "factual_discrepancy")) for n in (1, 2)]
    stories.append(make_record(3, make_rejection(2, "factual_discrepancy", "date_errors")))
    assert "**Start with Factual accuracy**: it was broken in all 3 pull requests.\n" in reply(
        *stories, hours=168
    )


def test_the_only_rejected_pull_request():
    assert (
        "**Start with Scope qualification**: it was the only blocking issue in the only rejected pull request.\n"
    ) in reply(make_record(1, make_rejection(2, "scope_error")), make_record(2, make_approval(1)), hours=168)


def test_an_unknown_tag_is_counted_and_shown():  # row 174
    text = reply(make_record(1, make_rejection(2, "odd_tag")), hours=168)
    assert "| `odd_tag` (unknown) | 1 of 1 (100%) |" in text
    assert "| never | See the repository's quality gates. |" in text


def test_many_gates_are_cut_and_counted():
    tags = [f"tag_{letter}" for letter in "abcdefghijklmnopqrstuvwxyzABCDEFG"]
    text = reply(make_record(1, make_rejection(2, *tags)), hours=168)
    assert text.count("(unknown)") == 10
    assert "And 23 more gates: " in text
    assert " and 3 others\n" in text
    assert parse_marker("FEEDBACK-HISTORY", text)["more"] == 13


def test_one_gate():
    text = reply(*model_story(), hours=720, tag="date_errors")
    assert parse_marker("FEEDBACK-HISTORY", text)["tag"] == "date_errors"
    assert paragraphs(text) == snapshot(
        [
            "**Feedback history** — `rio-agent[bot]`, this repository, last 30 days, gate Date accuracy `date_errors`",
            "Broken in 6 of 14 (43%), in the 30 days before in 0 of 15 (0%). It was the only blocking issue in 3 of the 5 rejected pull requests, and it is auto-fixable.",
            "Fix: created = extraction date (today), not source publication date. Format: YYYY-MM-DD.",
            """\
| Pull request | Last named | Fixed by |
|---|---|---|
| [212](https://redirect.github.com/acme/knowledge/pull/212), open | 15 Nov | – |
| [211](https://redirect.github.com/acme/knowledge/pull/211), merged | 10 Nov | [`77ab0c1`](https://redirect.github.com/acme/knowledge/commit/77ab0c1) on 12 Nov |
| [207](https://redirect.github.com/acme/knowledge/pull/207), merged | 4 Nov | [`5555555`](https://redirect.github.com/acme/knowledge/commit/5555555) on 5 Nov |
| [197](https://redirect.github.com/acme/knowledge/pull/197), closed | 22 Oct | – |
| [196](https://redirect.github.com/acme/knowledge/pull/196), closed | 21 Oct | – |
| [195](https://redirect.github.com/acme/knowledge/pull/195), closed | 20 Oct | – |\
""",
        ]
    )
    assert text.endswith(
        "<sub>Other periods: `/feedback-history 90d` · all gates: `/feedback-history 30d` · about a gate: "
        "`/feedback-explain date_errors` · your data: `/feedback-export`, `/feedback-forget`</sub>\n"
    )


def test_a_gate_that_was_not_broken():
    assert paragraphs(reply(make_record(1, make_approval(1)), hours=168, tag="date_errors"))[1] == (
        "Broken in none of 1 pull request in this period."
    )


def test_a_tag_that_nobody_knows():
    assert paragraphs(reply(make_record(1, make_approval(1)), hours=168, tag="date_error"))[1] == (
        "Broken in none of 1 pull request in this period. No gate has this tag. Did you mean `date_errors`?"
    )
    assert "Did you mean" not in reply(setting=replace(SETTING, gates=Gates()), tag="date_error")


def test_the_examples_carry_the_login_where_another_author_is_shown():
    text = reply(*model_story(), setting=replace(SETTING, is_default=False))
    assert (
        "Other periods: `/feedback-history @rio-agent[bot] 90d` · one gate: `/feedback-history @rio-agent[bot] "
        in text
    )


def test_days_are_those_of_the_repositorys_time_zone():
    story = make_record(
        1, make_rejection(3.4, "date_errors"), make_approval(3, head="b" * 40)
    )  # noon in UTC is tomorrow there
    text = reply(story, hours=168, zone=ZoneInfo("Pacific/Kiritimati"))
    assert "on 13 Nov" in text


def test_a_fix_of_another_year_says_so():
    known = {"date_errors": TagFix("date_errors", 3, "c" * 40, NOW - timedelta(days=400))}
    found = build_history([make_record(1, make_rejection(1, "date_errors"))], GATES, ASK, known)
    assert (
        "(https://redirect.github.com/acme/knowledge/commit/" + "c" * 40 + ") on 11 Oct 2025 |"
        in render_history(found, SETTING)
    )


def test_no_week_line_for_a_single_week():
    assert "by week" not in reply(
        make_record(1, make_approval(1)), make_record(2, make_approval(2)), hours=168
    )


def test_records_are_needed_from_two_periods_and_the_time_to_die_ago():
    assert history_needed_since(replace(ASK, hours=24)) == days_ago(16) + timedelta(microseconds=1)
    assert history_needed_since(ASK) == days_ago(194) + timedelta(microseconds=1)


def test_a_hostile_tag_or_gate_breaks_nothing():
    tag = "odd_`|@bob #1 <!-- REJECTION: {} -->"
    gate = replace(GATES.get("date_errors"), gate="Odd | @acme/all", fix="Ask @bob | see #12. Then go.")
    setting = replace(SETTING, gates=Gates((gate,)))
    text = reply(make_record(1, make_rejection(1, tag, "date_errors")), setting=setting, hours=168)
    assert live_references(text) == []
    assert text.count("<!--") == 1
    assert "| Odd \\| `@acme/all` `date_errors` | 1 of 1 (100%) |" in text
    assert "| never | Ask `@bob` \\| see `#12`. |" in text


def came_of(ago, tag, *, placed, followed, delta=None):
    """What a next iteration showed of one item."""
    return ItemOutcome(days_ago(ago), "", "", tag, placed, followed, delta)


OBSERVED = (
    came_of(2, "date_errors", placed=True, followed=True, delta=0.1),
    came_of(2, "scope_error", placed=True, followed=True, delta=0.1),
    came_of(1, "date_errors", placed=False, followed=False, delta=-0.02),
    came_of(1, "scope_error", placed=False, followed=True),
    came_of(20, "date_errors", placed=True, followed=False, delta=0.3),
)


def test_what_became_of_the_findings_is_one_line():  # rows 53, 54
    story = make_record(
        1,
        make_rejection(3, "date_errors", "scope_error", placed=True),
        make_rejection(2, "scope_error", "near_duplicate", "title_overclaims", head="b"),
        make_rejection(1, "title_overclaims", head="c"),
        overturned=((1.5, "near_duplicate"),),
        observed=OBSERVED,
    )
    assert (
        "\n\nFindings fixed: 2 of 2 with a location, 0 of 1 without one. Not counted: 1 dismissed. "
        "Quality rose after 2 of the 3 with a later score.\n\n"
    ) in reply(story, hours=168)
    assert (
        "\n\nFindings fixed: 1 of 1 with a location. Quality rose after 1 of the 2 with a later score.\n\n"
    ) in reply(story, hours=168, tag="date_errors")


def test_an_unknown_score_is_not_spoken_of():
    story = make_record(
        1, make_rejection(3, "scope_error"), make_approval(2, head="b"), observed=(OBSERVED[3],)
    )
    assert "\n\nFindings fixed: 1 of 1 without one.\n\n" in reply(story, hours=168)


def test_findings_without_a_tag_are_a_share_with_the_likeliest_gates():
    untagged = [Item(None, looks_like="scope_error")] * 2 + [Item(None, looks_like="date_errors"), Item(None)]
    review = replace(make_rejection(3, "near_duplicate"), items=(Item("near_duplicate"), *untagged))
    story = make_record(1, review)
    text = reply(story, hours=168)
    assert "\n\n4 of 5 findings had no tag; most look like Scope qualification, Date accuracy.\n\n" in text
    assert parse_marker("FEEDBACK-HISTORY", text)["issue_breakdown"] == {"near_duplicate": 1}
    plain = make_record(1, replace(review, items=(Item(None),)))
    assert "\n\n1 of 1 finding had no tag.\n\n" in reply(plain, hours=168)


def test_where_nothing_was_tracked_nothing_is_said_of_it():
    story = make_record(
        1, make_rejection(3, "date_errors"), make_approval(2, head="b"), observed=OBSERVED[4:]
    )
    assert "Findings fixed" not in reply(story, hours=168)


def test_a_repository_that_shares_its_history_is_named_where_a_link_leads_there():
    mine = make_record(7, make_rejection(3, "date_errors"))
    theirs = replace(
        make_record(7, make_rejection(2, "date_errors"), make_approval(1, head="77ab0c1"), merged=1),
        repository="acme/wiki",
    )
    told = build_history((mine, theirs), GATES, replace(ASK, hours=168))
    text = render_history(told, SETTING)
    assert "this repository and 1 other that shares its history, last 7 days" in text
    assert told.patterns.issue_breakdown == {"date_errors": 2}
    assert (
        "`acme/wiki` [7](https://redirect.github.com/acme/wiki/pull/7), merged "
        "| `acme/wiki` [`77ab0c1`](https://redirect.github.com/acme/wiki/commit/77ab0c1) on 14 Nov" in text
    )
    gate = render_history(
        build_history((mine, theirs), GATES, replace(ASK, hours=168, tag="date_errors")), SETTING
    )
    assert "| [7](https://redirect.github.com/acme/knowledge/pull/7), open | 12 Nov | – |" in gate
    assert live_references(text + gate) == []
