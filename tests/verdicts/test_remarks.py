"""The phrases of remarks, the formats of Apps, and what only a whole review decides."""

from dataclasses import replace

import pytest

from bot.gates.packs import load_rules
from bot.gates.problems import RuleFileError
from bot.gates.rule_files import parse_rule_file
from bot.pull_request.model import Item
from bot.values import Account, Location
from bot.verdicts.phrases import (
    is_hedged,
    repeats_earlier,
    split_words,
    states_something,
)
from bot.verdicts.remarks import read_inline_comment, settle_blocking
from bot.verdicts.reviewers import (
    AppRemark,
    find_format,
    is_severe,
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

PHRASES = load_rules("phrases")
RABBIT = Account(50, "coderabbitai[bot]", bot=True)
HERE = Location("src/app.py", 4, 9)


def examples(*names):
    return [pytest.param(entry["example"], id=entry["phrase"]) for name in names for entry in PHRASES[name]]


@pytest.mark.parametrize("name", [name for name, entries in PHRASES.items() if isinstance(entries, list)])
def test_a_phrase_stands_in_its_example(name):
    phrases = [(f" {' '.join(split_words(entry['phrase']))} ", entry["example"]) for entry in PHRASES[name]]
    assert [one for one, example in phrases if one not in f" {' '.join(split_words(example))} "] == []


@pytest.mark.parametrize("example", examples("pointing", "thanks", "praise", "footers"))
def test_a_sentence_that_points_thanks_or_praises_states_nothing(example):
    assert not states_something(example)


@pytest.mark.parametrize("example", examples("reservations"))
def test_praise_that_is_taken_back_states_something(example):
    assert states_something(example)


@pytest.mark.parametrize("example", examples("rest"))
def test_before_praise_of_the_rest_a_remark_is_one(example):
    _, _, rest = example.partition(", ")
    assert states_something(example)
    assert not states_something(rest)
    assert not states_something(f"A few things, {rest}")


@pytest.mark.parametrize("example", examples("hedges", "concessions"))
def test_a_hedged_remark_is_recognised(example):
    assert is_hedged(example)


@pytest.mark.parametrize("example", examples("harms"))
def test_a_hedge_with_harm_behind_it_is_none(example):
    assert not is_hedged(example)


@pytest.mark.parametrize("example", examples("repeats"))
def test_a_review_that_says_so_repeats_the_earlier_one(example):
    assert repeats_earlier(example)


@pytest.mark.parametrize(
    "body", ["The date is wrong.", "> still wrong\n\nThe link is dead.", "`still`", "Still good.", ""]
)
def test_a_review_that_does_not_say_so_repeats_nothing(body):
    assert not repeats_earlier(body)


def test_a_broken_list_of_phrases_is_reported_with_its_line():
    with pytest.raises(RuleFileError, match=r"phrases.yml:1:1: the file is missing "):
        parse_rule_file(b"phrases: 1\nfillers: a b\n", "phrases.yml", "rules/phrases")


APPS = [
    (shipped_reviewers()[name], example)
    for name, app in load_rules("reviewers")["apps"].items()
    for example in app["examples"]
]


@pytest.mark.parametrize(("app", "example"), APPS)
def test_the_comment_of_an_app_is_read_without_its_scaffolding(app, example):
    remark = AppRemark(example["words"], example.get("severity"), example.get("suggestion"))
    assert read_app_comment(example["comment"], app) == remark


def test_every_app_of_the_contract_has_a_format():
    assert shipped_reviewers().keys() >= {
        "CodeRabbit",
        "GitHub Copilot",
        "Cursor Bugbot",
        "Greptile",
        "Sourcery",
        "Codex",
    }


def test_a_format_belongs_to_an_app_and_not_to_a_person_of_its_name():
    assert find_format("coderabbitai[bot]", bot=True) is shipped_reviewers()["CodeRabbit"]
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
        parse_rule_file(
            b"reviewers: 1\napps:\n  # one\n    Rabbit: {logins: [a]}\n", "reviewers.yml", "rules/reviewers"
        )


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
