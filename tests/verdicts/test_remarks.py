"""The phrases of remarks, the formats of Apps, and what only a whole review decides."""

from dataclasses import replace

import pytest

from bot.gates.problems import RuleFileError
from bot.pull_request.model import Item
from bot.values import Account, Location
from bot.verdicts.phrases import (
    is_hedged,
    parse_phrases,
    repeats_earlier,
    shipped_phrases,
    split_words,
    states_something,
)
from bot.verdicts.remarks import read_inline_comment, settle_blocking
from bot.verdicts.reviewers import (
    AppRemark,
    find_format,
    is_severe,
    parse_reviewers,
    read_app_comment,
    shipped_reviewers,
)
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    KNOWLEDGE_BASE,
    RULES,
    at_minute,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
)

PHRASES = shipped_phrases()
RABBIT = Account(50, "coderabbitai[bot]", bot=True)
HERE = Location("src/app.py", 4, 9)


def examples(*names):
    return [
        pytest.param(phrase, id=" ".join(phrase.words))
        for name in names
        for phrase in getattr(PHRASES, name).phrases
    ]


ALL = (
    "pointing",
    "thanks",
    "praise",
    "reservations",
    "footers",
    "rest",
    "hedges",
    "concessions",
    "harms",
    "repeats",
)


@pytest.mark.parametrize("phrase", examples(*ALL))
def test_a_phrase_stands_in_its_example(phrase):
    words = split_words(phrase.example)
    starts = range(len(words) - len(phrase.words) + 1)
    assert any(tuple(words[start : start + len(phrase.words)]) == phrase.words for start in starts)


@pytest.mark.parametrize("phrase", examples("pointing", "thanks", "praise", "footers"))
def test_a_sentence_that_points_thanks_or_praises_states_nothing(phrase):
    assert not states_something(phrase.example)


@pytest.mark.parametrize("phrase", examples("reservations"))
def test_praise_that_is_taken_back_states_something(phrase):
    assert states_something(phrase.example)


@pytest.mark.parametrize("phrase", examples("rest"))
def test_before_praise_of_the_rest_a_remark_is_one(phrase):
    _, _, rest = phrase.example.partition(", ")
    assert states_something(phrase.example)
    assert not states_something(rest)
    assert not states_something(f"A few things, {rest}")


@pytest.mark.parametrize("phrase", examples("hedges", "concessions"))
def test_a_hedged_remark_is_recognised(phrase):
    assert is_hedged(phrase.example)


@pytest.mark.parametrize("phrase", examples("harms"))
def test_a_hedge_with_harm_behind_it_is_none(phrase):
    assert not is_hedged(phrase.example)


@pytest.mark.parametrize("phrase", examples("repeats"))
def test_a_review_that_says_so_repeats_the_earlier_one(phrase):
    assert repeats_earlier(phrase.example)


@pytest.mark.parametrize(
    "body", ["The date is wrong.", "> still wrong\n\nThe link is dead.", "`still`", "Still good.", ""]
)
def test_a_review_that_does_not_say_so_repeats_nothing(body):
    assert not repeats_earlier(body)


def test_a_broken_list_of_phrases_is_reported_with_its_line():
    with pytest.raises(RuleFileError, match=r"phrases.yml:1:1: the file is missing "):
        parse_phrases(b"phrases: 1\nfillers: a b\n", "phrases.yml")


APPS = [(app, *example) for app in shipped_reviewers() for example in app.examples]


@pytest.mark.parametrize(("app", "comment", "words", "severity", "suggestion"), APPS)
def test_the_comment_of_an_app_is_read_without_its_scaffolding(app, comment, words, severity, suggestion):
    assert read_app_comment(comment, app) == AppRemark(words, severity, suggestion)


def test_every_app_of_the_contract_has_a_format():
    names = {app.name for app in shipped_reviewers()}
    assert names >= {"CodeRabbit", "GitHub Copilot", "Cursor Bugbot", "Greptile", "Sourcery", "Codex"}


def test_a_format_belongs_to_an_app_and_not_to_a_person_of_its_name():
    assert find_format("coderabbitai[bot]", bot=True).name == "CodeRabbit"
    assert find_format("coderabbitai", bot=False) is None
    assert find_format("someone[bot]", bot=True) is None


def test_an_apps_inline_comment_is_one_finding_with_its_severity_and_suggestion():
    body = (
        "_⚠️ Potential issue_ | _🔴 Critical_\n\n**Bind the parameter.**\n\nThe name goes into the query as it is.\n\n"
        "<details>\n<summary>📝 Committable suggestion</summary>\n\n```suggestion\nrun(query, name)\n```\n\n</details>"
    )
    comment = make_inline_comment(7, 3, body, author=RABBIT)
    (item,) = read_inline_comment(comment, KNOWLEDGE_BASE, app=find_format(RABBIT.login, bot=True))
    assert (item.words, item.severity, item.blocks) == (
        "Bind the parameter. The name goes into the query as it is.",
        "critical",
        True,
    )
    assert (item.suggestion, item.offered, item.comment_id) == ("run(query, name)", True, 7)


def test_of_the_body_of_a_known_app_only_tags_count():
    body = "**Actionable comments posted: 3**\n\n- one\n\n[date_errors] month 13"
    review = make_review(7, body, author=RABBIT)
    (verdict,) = merge_reviews(make_pull_request(), make_facts(review), RULES, at_minute(8)).verdicts
    assert [(item.tag, item.words) for item in verdict.items] == [("date_errors", "month 13")]


def test_the_unlabelled_remark_of_an_unknown_app_warns():
    comment = make_inline_comment(7, 3, "The lock leaks.", author=replace(RABBIT, login="other[bot]"))
    assert [item.blocks for item in read_inline_comment(comment, KNOWLEDGE_BASE)] == [False]


def test_a_reply_in_a_thread_is_no_finding():
    comment = make_inline_comment(7, 3, "The lock leaks.", in_reply_to=5)
    assert read_inline_comment(comment, KNOWLEDGE_BASE) == ()


@pytest.mark.parametrize(
    ("severity", "threshold", "severe"),
    [
        ("critical", "high", True),
        ("major", "high", True),
        ("minor", "high", False),
        ("minor", "medium", True),
        ("suggestion", "low", True),
        (None, "low", False),
    ],
)
def test_an_apps_finding_blocks_from_the_configured_severity(severity, threshold, severe):
    assert is_severe(severity, threshold) is severe


def test_a_broken_format_is_reported_with_its_line():
    with pytest.raises(
        RuleFileError, match=r"reviewers.yml:4:5: apps.Rabbit is missing severities, examples"
    ):
        parse_reviewers(b"reviewers: 1\napps:\n  # one\n    Rabbit: {logins: [a]}\n", "reviewers.yml")


WARNS = Item(None, "long name", blocks=False)
BLOCKS = Item(None, "leaks", blocks=True)


def test_a_rejection_in_which_nothing_blocks_blocks_as_a_whole():
    settled = settle_blocking((WARNS, WARNS), KNOWLEDGE_BASE, is_rejection=True)
    assert [item.blocks for item in settled] == [True, True]


@pytest.mark.parametrize(
    ("items", "is_rejection"),
    [
        ((WARNS, BLOCKS), True),
        ((WARNS,), False),
        ((WARNS, Item("near_duplicate")), True),
    ],
)
def test_a_warning_stays_one_beside_a_blocker_a_tag_or_without_a_rejection(items, is_rejection):
    assert settle_blocking(items, KNOWLEDGE_BASE, is_rejection=is_rejection) == items


def test_an_apps_unlabelled_remarks_warn_and_its_severe_ones_block():
    severe = Item(None, "leaks", severity="major", blocks=True)
    settled = settle_blocking((BLOCKS, severe), KNOWLEDGE_BASE, is_rejection=False, is_app=True)
    assert [item.blocks for item in settled] == [False, True]
