import json

import pytest

from bot.markdown.spans import has_visible_text
from bot.pull_request.model import Item, Stance
from bot.values import Location
from bot.verdicts.remarks import read_review_body
from bot.verdicts.tags import MAX_TAGS, TextVerdict, parse_hidden_tags, parse_tags
from tests.builders import KNOWLEDGE_BASE

PLACE = Location("claims/futarchy.md", 5)


def tags(body: str, place: Location | None = None) -> list[str | None]:
    return [item.tag for item in parse_tags(body, KNOWLEDGE_BASE, place=place).items]


def test_an_issues_list_names_its_tags_in_order_known_or_not():
    assert tags("<!-- ISSUES: title_overclaims, made_up_tag, date_errors -->") == [
        "title_overclaims",
        "made_up_tag",
        "date_errors",
    ]


def test_a_known_tag_in_brackets_brings_the_words_of_its_line():
    said = parse_tags(
        "Please look:\n- [date_errors] month 13 is out of range\nThanks", KNOWLEDGE_BASE, url="u"
    )
    assert said == TextVerdict(items=(Item("date_errors", "month 13 is out of range", url="u"),))


@pytest.mark.parametrize(
    "body",
    [
        "`[date_errors]`",
        "```\n[date_errors]\n```",
        "> [date_errors] you said",
        "[date_errors](https://example.org)",
        "[date_errors][ref]\n\n[ref]: https://example.org",
        "![date_errors](x.png)",
        "- [x] done",
        "- [ ] [date_errors] to be looked at",
        "1. [x] [date_errors] looked at",
        "<!-- [date_errors] -->",
        "[made_up_tag]",
        "date_errors",
    ],
)
def test_brackets_in_code_quotes_links_images_tasks_and_unknown_words_are_no_tags(body):
    assert tags(body) == []


def test_a_tag_beside_a_list_of_tasks_counts():
    assert tags("- [ ] [scope_error] later\n- [date_errors] now\n\n[near_duplicate] too") == [
        "date_errors",
        "near_duplicate",
    ]


@pytest.mark.parametrize(
    "body", ["[DATE_ERRORS] month 13", "<!-- ISSUES: Date_Errors -->", "<!-- ISSUES: DATE_ERRORS -->"]
)
def test_tags_are_read_in_any_case(body):
    assert tags(body) == ["date_errors"]


def test_a_list_of_tags_may_take_two_lines():
    assert tags("<!-- ISSUES: date_errors,\n  scope_error\nnear_duplicate -->") == [
        "date_errors",
        "scope_error",
        "near_duplicate",
    ]


def test_hidden_lists_in_code_or_quotes_are_only_talked_about():
    assert tags("`<!-- ISSUES: date_errors -->`\n\n> <!-- ISSUES: scope_error -->") == []


def test_a_rejection_block_of_a_validator_counts_and_a_broken_one_does_not():
    block = json.dumps({"issues": ["scope_error", 7, None], "source": "x"})
    assert tags(f"<!-- REJECTION: {block} -->\n<!-- REJECTION: {{oops -->") == ["scope_error"]


def test_an_inline_comment_gives_each_tag_its_place_its_words_and_its_suggestion():
    body = "[date_errors] month 13\n```suggestion\ncreated: 2026-11-15\n```\n> earlier words"
    assert parse_tags(body, KNOWLEDGE_BASE, place=PLACE).items == (
        Item("date_errors", "month 13", PLACE, suggestion="created: 2026-11-15", offered=True),
    )


def test_a_tag_named_bare_and_again_with_a_place_is_one_item_at_its_first_position():
    body = "<!-- ISSUES: scope_error, date_errors -->\n[date_errors] too early\n[scope_error] always"
    assert [(item.tag, item.words) for item in parse_tags(body, KNOWLEDGE_BASE).items] == [
        ("scope_error", "always"),
        ("date_errors", "too early"),
    ]


@pytest.mark.parametrize(
    ("body", "stance"),
    [
        ("<!-- VERDICT:LEO:REQUEST_CHANGES -->", Stance.REJECTS),
        ("fine\n<!-- VERDICT:LEO:REQUEST_CHANGES -->\n<!-- VERDICT:LEO:APPROVE -->", Stance.APPROVES),
        ("see <!-- VERDICT:LEO:APPROVE --> inside a line", None),
        ("<!-- VERDICT:LEO:APPROVE --> and more", None),
        ("<!--\nVERDICT:LEO:APPROVE -->", None),
        ("a page break\x0cabove it\r\n  <!-- VERDICT:LEO:APPROVE -->\r\nbelow", Stance.APPROVES),
        ("> <!-- VERDICT:LEO:APPROVE -->", None),
        ("```\n<!-- VERDICT:LEO:APPROVE -->\n```", None),
        ("<!-- VERDICT:LEO:MAYBE -->", None),
        ("", None),
    ],
)
def test_the_last_verdict_on_a_line_of_its_own_wins(body, stance):
    assert parse_tags(body, KNOWLEDGE_BASE).stance is stance


def test_ten_thousand_tags_are_counted_not_kept():
    flood = ", ".join(f"tag_number{number}" for number in range(10_000))
    said = parse_tags(f"<!-- ISSUES: {flood} -->", KNOWLEDGE_BASE)
    assert (len(said.items), said.more) == (MAX_TAGS, 10_000 - MAX_TAGS)


def test_names_written_with_blanks_or_capitals_are_still_understood():
    assert tags("<!-- ISSUES: Date Errors, scope-error, , ???, x -->") == ["date_errors", "scope_error"]


def test_a_tag_that_begins_two_lines_is_stated_twice():
    body = "[date_errors] month 13 in claims/a.md\n[date_errors] month 14 in claims/b.md"
    items = parse_tags(body, KNOWLEDGE_BASE).items
    assert [(item.words, item.place) for item in items] == [
        ("month 13 in claims/a.md", Location("claims/a.md")),
        ("month 14 in claims/b.md", Location("claims/b.md")),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<!-- ISSUES: date_errors -->",
        " <!-- ISSUES: date_errors, scope_error -->\r\n<!-- VERDICT:alice:REQUEST_CHANGES -->\n",
        '<!-- REJECTION: {"issues": ["date_errors"]} -->\n\n<!-- [scope_error] not said -->',
        "<!-- ISSUES: date_errors",
    ],
)
def test_hidden_comments_alone_state_what_the_whole_body_states(body):
    assert not has_visible_text(body)
    assert parse_hidden_tags(body, url="u") == read_review_body(body, KNOWLEDGE_BASE, url="u")
