"""Lessons from the history: which, in what order, about which folder, and in which words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from inline_snapshot import snapshot

from bot.history.model import Ratio
from bot.lessons.effect import Adoption, Outcome
from bot.lessons.model import LessonQuery, build_report, folders_of, main_folder
from bot.lessons.text import format_summary, render_reply, render_section, report_json
from bot.markdown.links import GitHubLinks
from bot.pull_request.model import WrittenBy
from tests.builders import REPOSITORY
from tests.history.record_builders import (
    BOB,
    GATES,
    NOW,
    RIO,
    days_ago,
    make_approval,
    make_record,
    make_rejection,
)

QUERY = LessonQuery(NOW, may_name=lambda account: account.bot)
WEB = GitHubLinks()


def rejected(number: int, *tags: str, ago: float = 5, author=RIO, **facts):
    return make_record(number, make_rejection(ago, *tags, placed=True), author=author, **facts)


def accepted(number: int, ago: float = 5, author=RIO, **facts):
    return make_record(number, make_approval(ago), author=author, **facts)


HISTORY = [
    rejected(1, "date_errors", ago=9),
    rejected(2, "title_overclaims", "scope_error", ago=8),
    rejected(3, "title_overclaims", "scope_error", ago=7),
    rejected(4, "title_overclaims", "date_errors", ago=6),
    rejected(5, "date_errors", ago=4, author=BOB),
    accepted(6),
    rejected(7, "near_duplicate"),
    rejected(8, "date_errors", ago=100),
]


def test_lessons_are_ordered_by_the_rejections_they_would_have_prevented():
    report = build_report(HISTORY, GATES, QUERY)
    assert [(lesson.tag, lesson.prevented, lesson.broken, lesson.numbers) for lesson in report.lessons] == [
        ("date_errors", 2, Ratio(3, 7), (4, 1)),
        ("title_overclaims", 0, Ratio(3, 7), (4, 3, 2)),
        ("scope_error", 0, Ratio(2, 7), (3, 2)),
    ]


def test_a_lesson_would_not_have_prevented_a_rejection_beside_one_that_names_nothing():
    also = make_record(9, make_rejection(3, "date_errors"), make_rejection(2, by="bob"))
    report = build_report([*HISTORY, also], GATES, QUERY)
    assert (report.lessons[0].tag, report.lessons[0].prevented) == ("date_errors", 2)


def test_the_section_says_what_to_do_what_happened_and_where():
    section = render_section(build_report(HISTORY, GATES, replace(QUERY, most=2)), REPOSITORY, WEB)
    assert section == snapshot("""\
<!-- whetstone:lessons -->
## What reviews here keep asking for

Check these before you push. Counts are of the pull requests reviewed 23 August–15 November 2026.

- Set `created` to today's date as YYYY-MM-DD, not to the publication date of the source (`date_errors`): reported in 3 of 7 pull requests, for example in [4](https://github.com/acme/knowledge/pull/4).
- Claim no more in the title than the evidence supports: a single source suggests, it never proves (`title_overclaims`): reported in 3 of 7 pull requests, last in [4](https://github.com/acme/knowledge/pull/4).
<!-- /whetstone:lessons -->
""")


def test_an_authors_lessons_speak_to_the_author():
    query = replace(QUERY, author=RIO)
    mine = [record for record in HISTORY if record.author == RIO]
    section = render_section(build_report(mine, GATES, query), REPOSITORY, WEB)
    assert (
        "reported in 2 of your 6 pull requests, last in [4](https://github.com/acme/knowledge/pull/4)."
        in section
    )


def test_a_dismissed_or_withdrawn_finding_is_no_evidence():
    history = [
        rejected(1, "date_errors", overturned=((4, "date_errors"),)),
        rejected(2, "date_errors"),
        rejected(3, "scope_error"),
        rejected(4, "scope_error"),
    ]
    assert [lesson.tag for lesson in build_report(history, GATES, QUERY).lessons] == ["scope_error"]


def test_a_finding_in_plain_words_counts_and_is_said_to_be_one():
    untagged = rejected(1, "date_errors")
    inferred = replace(
        untagged, findings=(replace(untagged.findings[0], tag=None, looks_like="date_errors"),)
    )
    report = build_report([inferred, rejected(2, "date_errors")], GATES, QUERY)
    assert report.lessons[0].broken == Ratio(2, 2)
    assert "reported in 2 of 2 pull requests (1 in plain words)" in render_section(report, REPOSITORY, WEB)


def test_ten_lessons_at_most_and_nothing_from_one_case():
    tags = [gate.tag for gate in GATES][:12]
    history = [rejected(number, *tags) for number in (1, 2)]
    assert len(build_report(history, GATES, QUERY).lessons) == 10
    assert build_report(history[:1], GATES, QUERY).lessons == ()
    assert render_section(build_report(history[:1], GATES, QUERY), REPOSITORY, WEB) == ""


@pytest.mark.parametrize(
    ("mine", "others", "folder"),
    [
        (["db/migrations"] * 4, ["api"] * 8, "db/migrations"),
        (["db/migrations"] * 2 + ["db"] * 2, ["api"] * 8, "db"),
        (["db"] * 9 + ["api"], ["api"] * 20, "db"),
        (["db"] * 2 + ["api"], ["api"] * 20, None),
        (["src"] * 4, ["src"] * 8, None),
        (["src"] * 4, ["src"] * 4 + ["tests"] * 4, None),
        (["src/api"] * 4, ["src"] * 8, "src/api"),
        (["."] * 4, ["api"] * 8, None),
        (["db"] * 2, ["api"] * 8, None),
        (["db"] * 4, [], None),
    ],
)
def test_a_folder_is_named_where_a_gate_is_broken_more_than_others(mine, others, folder):
    own, other = ([folders_of([f"{folder}/x.py"]) for folder in folders] for folders in (mine, others))
    assert main_folder(own, [*own, *other]) == folder


ADOPTED = days_ago(40)


def adopted_history(*, broken_since: int):
    """20 pull requests before the lesson, of which 8 break the gate, and 20 since."""
    before = [rejected(n, "date_errors", ago=50) if n < 8 else accepted(n, ago=50) for n in range(20)]
    since = range(20, 40)
    return before + [
        rejected(n, "date_errors", ago=10) if n - 20 < broken_since else accepted(n, ago=10) for n in since
    ]


def measured(broken_since: int, most: int = 10):
    adopted = {"date_errors": Adoption("AGENTS.md", ADOPTED)}
    return build_report(adopted_history(broken_since=broken_since), GATES, replace(QUERY, most=most), adopted)


def test_a_lesson_that_helped_stays_and_says_so():
    report = measured(broken_since=0)
    (lesson,) = report.lessons
    assert lesson.effect.outcome is Outcome.HELPED
    assert format_summary(report) == "Lessons: 1 helped."
    assert "It helped: 8 of 20 (22–61%) before it was added, 0 of 20 (0–16%) since." in render_section(
        report, REPOSITORY, WEB
    )


def test_a_lesson_without_effect_is_proposed_for_removal():
    report = measured(broken_since=7)
    assert (report.lessons, [lesson.tag for lesson in report.removals]) == ((), ["date_errors"])
    assert format_summary(report) == "Lessons: 1 without effect."
    assert "- `date_errors` in `AGENTS.md`: 8 of 20 (22–61%) before it was added, 7 of 20" in render_reply(
        report, REPOSITORY, WEB
    )


def test_a_lesson_added_lately_is_being_measured():
    adopted = {"date_errors": Adoption("AGENTS.md", days_ago(5))}
    report = build_report(adopted_history(broken_since=7), GATES, QUERY, adopted)
    assert format_summary(report) == "Lessons: 1 being measured."
    assert "added" not in render_section(report, REPOSITORY, WEB)


def test_a_lesson_that_helped_is_never_crowded_out():
    adopted = {"date_errors": Adoption("AGENTS.md", ADOPTED)}
    history = [*adopted_history(broken_since=0), *(rejected(n, "scope_error") for n in range(50, 60))]
    report = build_report(history, GATES, replace(QUERY, most=1), adopted)
    assert [lesson.tag for lesson in report.lessons] == ["date_errors"]


def test_figures_of_agents_have_no_login_and_no_number():
    signed = [rejected(n, "date_errors", author=BOB, written_by=(WrittenBy("Codex"),)) for n in range(5)]
    few = [rejected(9, "scope_error", author=BOB, written_by=(WrittenBy("aider", "gpt-5"),))]
    content = report_json(build_report([*signed, *few], GATES, QUERY), REPOSITORY, WEB)
    assert content["agents"] == [
        {"agent": "Codex", "model": None, "pull_requests": 5, "tags": {"date_errors": 5}}
    ]
    assert (content["lessons"][0]["evidence"], content["lessons"][0]["last_fix"]) == ([], None)
    assert "bob" not in str(content)


def test_the_window_is_twelve_weeks():
    old = [rejected(n, "date_errors", ago=(timedelta(weeks=12) / timedelta(days=1)) + 1) for n in (1, 2)]
    assert build_report(old, GATES, QUERY).reviewed == 0
