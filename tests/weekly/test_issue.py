"""The weekly issue and its comment: the model's texts from the model's numbers, and the rarer cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from inline_snapshot import snapshot

from bot.gates.config import AuthorNaming
from bot.history.model import Ratio, Week
from bot.history.patterns import Tally, Trend, UntaggedShare
from bot.history.rates import FollowedShares, FollowRate
from bot.lessons.model import LessonQuery, build_report
from bot.markdown.escape import parse_marker
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import Validator
from bot.values import Repository
from bot.weekly.issue import ISSUE_LABEL, ISSUE_TITLE, render_weekly_issue
from bot.weekly.recommendations import WeeklyContext
from bot.weekly.summary import AuthorWeek, GateWeek, UncountedReviews, WeeklySummary, WeekQuery
from bot.weekly.text import fold_whole_week, link_whole_week, week_in_marker
from tests.history.record_builders import GATES, NOW
from tests.live_markdown import live_references

HERE = Repository(1, "acme", "knowledge", 9)
RABBIT = Validator("app:5", "coderabbitai[bot]", bot=True)
PAGE = WeeklyContext(GATES, GitHubLinks(), build_report((), GATES, LessonQuery(NOW, lambda _: False)))
JUDGED = (20, 24, 19, 26, 25, 22, 27, 30, 26, 24, 28, 31)
REJECTED = (12, 14, 11, 13, 12, 9, 11, 12, 10, 8, 10, 9)
TOTALS = tuple(
    (Week(2026, number), Tally(*both, 0))
    for number, both in enumerate(zip(JUDGED, REJECTED, strict=True), start=35)
)
MODEL = WeeklySummary(
    query=WeekQuery(HERE, Week(2026, 46), UTC),
    now=Tally(31, 9, 17),
    before=Tally(28, 10, 12),
    trend=Trend.IMPROVING,
    later_iterations=(2, 2, 2, 3, 3),
    gates=(
        GateWeek("date_errors", 5, 7, 4, 0),
        GateWeek("title_overclaims", 4, 2, 2, 2),
        GateWeek("broken_wiki_links", 3, 3, 1, 0),
        GateWeek("scope_error", 1, 0, 1, 0),
    ),
    only_blocker={"date_errors": 3, "scope_error": 1},
    followed=FollowedShares(Ratio(10, 12), Ratio(1, 3)),
    not_broken=("near_duplicate", "opsec_internal_deal_terms"),
    weeks=TOTALS,
    authors=(
        AuthorWeek(
            "rio-agent[bot]",
            1,
            Tally(9, 3, 4),
            Trend.IMPROVING,
            (("date_errors", 3), ("title_overclaims", 2)),
        ),
        AuthorWeek("clay-agent[bot]", 1, Tally(8, 3, 3), Trend.STABLE, (("broken_wiki_links", 2),)),
        AuthorWeek(None, 11, Tally(14, 3, 10), Trend.STABLE),
    ),
    uncounted=UncountedReviews({RABBIT: 6}, by_people=2, people=1),
)


def told(week=MODEL, page=PAGE, **changes):
    return render_weekly_issue(replace(week, **changes), page)


def paragraph(issue, start):
    """The paragraph that starts so."""
    (found,) = (part for part in issue.body.split("\n\n") if part.startswith(start))
    return found


def test_the_description_is_the_model_for_its_own_numbers():
    assert told().body == snapshot("""\
<!-- WEEKLY-SUMMARY: {"v": 1, "repository": "acme/knowledge", "week": "2026-W46", "from": "2026-11-09", "to": "2026-11-15", "total_prs": 31, "rejected_prs": 9, "approval_rate": 0.71, "first_pass_prs": 17, "trend": "improving", "previous": {"total_prs": 28, "rejected_prs": 10, "approval_rate": 0.643}, "issue_breakdown": {"date_errors": 5, "title_overclaims": 4, "broken_wiki_links": 3, "scope_error": 1}} -->

## Week 46 · 9–15 November 2026

**31 pull requests reviewed: 22 accepted, 9 rejected.** 71% accepted, 7 points more than the week before (64% of 28). 17 were accepted at the first review; the other 5 accepted ones took 2.4 iterations on average.

### Worth doing

1. **Date accuracy** is auto-fixable and was the only blocking issue in 3 of the 9 rejected pull requests: check it before review (pre-commit hook, agent instructions).
2. **Title precision** was overturned in 2 of 4 cases: its wording may be too strict. [The gate](https://github.com/acme/knowledge/blob/main/.github/whetstone.yml)
3. 6 reviews by `coderabbitai[bot]` were not counted: it is not among this repository's validators. To count them, add `validators: {apps: [coderabbitai]}`

### Gates

| Gate | This week | Week before | Fixed by the next iteration | Overturned |
|---|--:|--:|--:|--:|
| Date accuracy `date_errors` | 5 | 7 | 4 of 5 | 0 |
| Title precision `title_overclaims` | 4 | 2 | 2 of 4 | 2 |
| Wiki link validity `broken_wiki_links` (warning) | 3 | 3 | 1 of 3 | 0 |
| Scope qualification `scope_error` | 1 | 0 | 1 of 1 | 0 |

Feedback with a location was addressed in 83% of cases (10 of 12), without one in 1 of 3. Not broken for 8 weeks: `near_duplicate`, `opsec_internal_deal_terms`.

### Twelve weeks

```mermaid
---
config:
  xyChart:
    width: 820
    height: 260
  themeVariables:
    xyChart:
      plotColorPalette: "#cf222e, #0969da"
---
xychart-beta
    title "Rejected pull requests (bars) of all reviewed (line)"
    x-axis [W35, W36, W37, W38, W39, W40, W41, W42, W43, W44, W45, W46]
    y-axis "Pull requests" 0 --> 40
    bar [12, 14, 11, 13, 12, 9, 11, 12, 10, 8, 10, 9]
    line [20, 24, 19, 26, 25, 22, 27, 30, 26, 24, 28, 31]
```

<details><summary>The same as a table</summary>

| Week | W35 | W36 | W37 | W38 | W39 | W40 | W41 | W42 | W43 | W44 | W45 | W46 |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| Reviewed | 20 | 24 | 19 | 26 | 25 | 22 | 27 | 30 | 26 | 24 | 28 | 31 |
| Rejected | 12 | 14 | 11 | 13 | 12 | 9 | 11 | 12 | 10 | 8 | 10 | 9 |

</details>

### Authors

| Author | Reviewed | Rejected | First-pass | Most broken | vs last week |
|---|--:|--:|--:|---|---|
| `rio-agent[bot]` | 9 | 3 | 4 | `date_errors` 3, `title_overclaims` 2 | improving |
| `clay-agent[bot]` | 8 | 3 | 3 | `broken_wiki_links` 2 | stable |
| 11 people | 14 | 3 | 10 | – | stable |

<sub>Reviewed: at least one validator gave a verdict. People are counted, not named; agents are named (`weekly.authors`). Close this issue to stop the summary, reopen it to resume. One author: `/feedback-history @login` on a pull request.</sub>
""")


def test_the_comment_is_the_model_for_its_own_numbers():
    assert told().comment == snapshot("""\
<!-- WEEKLY-SUMMARY: {"v": 1, "repository": "acme/knowledge", "week": "2026-W46", "total_prs": 31, "rejected_prs": 9, "approval_rate": 0.71, "trend": "improving"} -->

**Week 46**: 31 pull requests reviewed, 9 rejected, 71% accepted (7 points more than the week before).

Most broken: Date accuracy (5), Title precision (4), Wiki link validity (3). Worth doing: check dates before review; that alone would have prevented 3 rejections.
""")


def test_there_is_one_issue_with_one_label():
    assert (ISSUE_TITLE, ISSUE_LABEL) == ("Weekly feedback summary", "feedback-summary")


@pytest.mark.parametrize("page", [PAGE, replace(PAGE, web=GitHubLinks("https://git.example.org"))])
def test_nothing_in_it_is_live(page):
    issue = told(page=page)
    assert live_references(issue.body) == []
    assert live_references(issue.comment) == []


def test_both_carry_a_marker():
    issue = told()
    assert parse_marker("WEEKLY-SUMMARY", issue.body)["previous"] == {
        "total_prs": 28,
        "rejected_prs": 10,
        "approval_rate": 0.643,
    }
    assert parse_marker("WEEKLY-SUMMARY", issue.comment)["week"] == "2026-W46"


@pytest.mark.parametrize(
    ("total", "unjudged", "minimum", "is_told"),
    [(3, 0, 3, True), (2, 0, 3, False), (9, 7, 3, False), (1, 0, 1, True), (0, 0, 1, False)],
)
def test_too_little_says_nothing(total, unjudged, minimum, is_told):
    week = replace(MODEL, now=Tally(total, 0, total), merged_unreviewed=unjudged)
    assert (render_weekly_issue(week, PAGE, minimum) is not None) is is_told


CRITIC = Validator("user:9", "critic")  # an agent with a user account


@pytest.mark.parametrize(
    ("uncounted", "line"),
    [
        (
            UncountedReviews({RABBIT: 1}, by_people=2, people=2),
            "1 review by `coderabbitai[bot]` was not counted: it is not among this repository's validators. To count them, add `validators: {apps: [coderabbitai]}`",
        ),
        (
            UncountedReviews({RABBIT: 6, CRITIC: 2}, by_people=3, people=2),
            "6 reviews by `coderabbitai[bot]`, 2 by `critic` and 3 by 2 people were not counted: they are not among this repository's validators. To count them, add `validators: {apps: [coderabbitai], users: [critic]}`",
        ),
        (
            UncountedReviews({}, by_people=3, people=1),
            "3 reviews by 1 person were not counted: they are not among this repository's validators.",
        ),
    ],
)
def test_apps_whose_reviews_do_not_count_get_the_lines_to_add_and_people_are_only_counted(uncounted, line):
    assert f"\n3. {line}\n" in told(uncounted=uncounted).body


def test_at_most_three_things_are_worth_doing_and_a_doubled_gate_comes_last():
    assert "was broken in 4" not in told().body
    assert (
        "\n3. **Title precision** was broken in 4 pull requests, after 2 the week before: "
        in told(uncounted=UncountedReviews()).body
    )


def test_nothing_worth_doing():
    issue = told(gates=MODEL.gates[2:], only_blocker={}, uncounted=UncountedReviews(by_people=2, people=1))
    assert "Worth doing" not in issue.body
    assert issue.comment.endswith("\n\nMost broken: Wiki link validity (3), Scope qualification (1).\n")


@pytest.mark.parametrize(
    ("changes", "short"),
    [
        (
            {"only_blocker": {"date_errors": 1, "scope_error": 4}},
            "Title precision was overturned in 2 of 4 cases",
        ),
        ({"only_blocker": {}, "gates": MODEL.gates[:1]}, "6 reviews by `coderabbitai[bot]` were not counted"),
        (
            {
                "only_blocker": {},
                "uncounted": UncountedReviews(),
                "gates": (GateWeek("scope_error", 6, 3, 0, 0),),
            },
            "Scope qualification went from 3 to 6",
        ),
    ],
)
def test_the_comment_names_the_first_thing_to_do(changes, short):
    assert told(**changes).comment.endswith(f" Worth doing: {short}.\n")


def test_the_comment_leads_to_the_description_and_holds_its_own_week_once_that_moved_on():
    issue = told()
    linked = link_whole_week(issue.comment, "https://github.com/acme/knowledge/issues/3")
    folded = fold_whole_week(linked, issue.body)
    assert (
        linked == issue.comment.rstrip() + " [The whole week](https://github.com/acme/knowledge/issues/3).\n"
    )
    whole_week = issue.body.split("\n", 1)[1].strip()
    assert folded == (
        f"{issue.comment.rstrip()}\n\n<details><summary>The whole week</summary>\n\n{whole_week}\n\n</details>\n"
    )
    assert (fold_whole_week(folded, issue.body), week_in_marker(folded)) == (folded, "2026-W46")


@pytest.mark.parametrize(
    ("gate", "is_told"),
    [
        (GateWeek("scope_error", 2, 0, 0, 1), True),
        (GateWeek("scope_error", 3, 0, 0, 1), False),
        (GateWeek("scope_error", 1, 0, 0, 1), False),
    ],
)
def test_half_of_at_least_two_overturned(gate, is_told):
    assert ("was overturned" in told(gates=(gate,)).body) is is_told


def test_a_gate_is_linked_only_where_the_repository_has_a_config():
    assert "[The gate]" not in told(page=replace(PAGE, has_config=False)).body


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"before": Tally(0, 0, 0)}, "71% accepted; none was reviewed the week before. 17 were"),
        (
            {"now": Tally(3, 1, 1), "later_iterations": (2,)},
            "1 was accepted at the first review; the other accepted one took 2 iterations.",
        ),
        ({"now": Tally(3, 1, 2), "later_iterations": ()}, "2 were accepted at the first review."),
        (
            {"now": Tally(3, 1, 0), "later_iterations": (1, 1)},
            "None was accepted at the first review; the 2 accepted ones needed no new revision.",
        ),
        (
            {"now": Tally(3, 2, 0), "later_iterations": (1,)},
            "None was accepted at the first review; the accepted one needed no new revision.",
        ),
        (
            {"now": Tally(3, 1, 0), "later_iterations": (1, 2)},
            "None was accepted at the first review; the 2 accepted ones took 1.5 iterations on average.",
        ),
    ],
)
def test_the_result_in_words(changes, said):
    assert said in paragraph(told(**changes), "**")


def test_a_week_without_a_broken_gate():
    issue = told(
        gates=(),
        only_blocker={},
        uncounted=UncountedReviews(),
        not_broken=GATES.tags,
        followed=FollowedShares(),
    )
    assert "### Gates\n\nNo gate was broken. Not broken for 8 weeks: `frontmatter_schema`, " in issue.body
    assert " and 7 more.\n" in issue.body
    assert issue.comment.endswith("\n\nNo gate was broken.\n")


def test_findings_without_a_tag_are_a_share_with_the_likeliest_gates():
    issue = told(untagged=UntaggedShare(Ratio(7, 20), ("scope_error", "date_errors")))
    share = "7 of 20 findings had no tag; most look like Scope qualification, Date accuracy."
    assert f"\n\n{share} Feedback with a location was" in issue.body


def test_a_first_week_has_nothing_to_compare_with():
    assert "71% accepted; none was reviewed the week before.\n" in told(before=Tally(0, 0, 0)).comment


@pytest.mark.parametrize(
    ("followed", "said"),
    [
        (
            FollowedShares(Ratio(10, 12)),
            "Feedback with a location was addressed in 83% of cases (10 of 12). Not",
        ),
        (FollowedShares(Ratio(), Ratio(1, 3)), "Feedback was addressed in 1 of 3; none had a location. Not"),
    ],
)
def test_what_feedback_came_to(followed, said):
    assert f"\n\n{said}" in told(followed=followed).body


@pytest.mark.parametrize(
    ("measured", "improved", "clarity", "said"),
    [
        (
            9,
            7,
            0.854,
            "1 of 3. Quality rose after feedback in 78% of cases (7 of 9); the feedback scored 0.85 for clarity (1 is the best). Not",
        ),
        (0, 0, 1.0, "1 of 3. The feedback scored 1.00 for clarity (1 is the best). Not"),
        (2, 1, None, "1 of 3. Quality rose after feedback in 1 of 2. Not"),
        (0, 0, None, "1 of 3. Not"),
    ],
)
def test_whether_feedback_helped_and_was_clear(measured, improved, clarity, said):
    tracked = FollowRate(Ratio(improved, measured), clarity)
    assert said in told(tracked=tracked).body


def test_merged_without_a_verdict_is_said():
    assert (
        "gave a verdict; 4 merged without one counted as accepted. People" in told(merged_unreviewed=4).body
    )


def test_authors_as_the_repository_wants_them():
    nobody = told(query=replace(MODEL.query, naming=AuthorNaming.NONE), authors=())
    assert "### Authors" not in nobody.body
    assert "Authors are not shown (`weekly.authors`)." in nobody.body
    everybody = told(
        query=replace(MODEL.query, naming=AuthorNaming.ALL),
        authors=(AuthorWeek("bob", 1, Tally(1, 0, 1), Trend.NO_DATA),),
    )
    assert "| `bob` | 1 | 0 | 1 | – | too few |" in everybody.body
    assert "All authors are named (`weekly.authors`)." in everybody.body
    assert "| 1 person | " in told(authors=(AuthorWeek(None, 1, Tally(1, 0, 1), Trend.NO_DATA),)).body


def test_long_tables_are_cut_and_counted():
    gates = tuple(GateWeek(f"tag_{number}", 3, 0, 0, 0) for number in range(25))
    authors = tuple(AuthorWeek(f"bot-{number}", 1, Tally(1, 0, 1), Trend.STABLE) for number in range(21))
    issue = told(gates=gates, authors=authors)
    assert "\n\nAnd 5 more gates. Feedback with" in issue.body
    assert "\n\nAnd 1 more author.\n" in issue.body
    assert len(issue.body) < 60_000


def test_a_running_week_says_so():
    query = replace(MODEL.query, as_of=datetime(2026, 11, 12, 9, tzinfo=UTC))
    issue = told(query=query)
    assert "## Week 46 so far · 9–12 November 2026" in issue.body
    assert parse_marker("WEEKLY-SUMMARY", issue.body)["to"] == "2026-11-12"


@pytest.mark.parametrize(
    ("week", "days"),
    [
        (Week(2026, 44), "## Week 44 · 26 October–1 November 2026"),
        (Week(2026, 1), "## Week 1 · 29 December 2025–4 January 2026"),
    ],
)
def test_a_week_over_the_end_of_a_month_or_year(week, days):
    assert f"\n\n{days}\n\n" in told(query=replace(MODEL.query, week=week)).body


@pytest.mark.parametrize(("most", "top"), [(0, 10), (9, 10), (10, 10), (31, 40), (310, 400), (1000, 1000)])
def test_the_axis_ends_at_a_round_number(most, top):
    last = (Week(2026, 46), Tally(most, 0, 0))
    weeks = (*TOTALS[:-1], last) if most > 30 else (last,)
    assert f'    y-axis "Pull requests" 0 --> {top}\n' in told(weeks=weeks).body
