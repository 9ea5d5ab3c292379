"""Tags, gates, and the words that mean them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.gates.model import Aspect, Gate, Gates, PhraseError, Severity, check_phrase, find_tag_phrases, is_tag


def gate(tag: str, *phrases: str, **changes) -> Gate:
    facts = {
        "gate": "A gate",
        "description": "Something is wrong here",
        "fix": "Do something about it now",
        "severity": Severity.BLOCKING,
    }
    return Gate(tag, phrases=phrases, **(facts | changes))


KNOWN = Gates(
    tuple(map(gate, ("date_errors", "broken_wiki_links", "tests_missing", "tests_failing", "code_style")))
)


@pytest.mark.parametrize(
    "text", ["date_errors", "a_b", "title_too_few_words", "http2_errors", "error_404", f"a_{'b' * 62}"]
)
def test_two_or_more_words_joined_by_an_underscore_are_a_tag(text):
    assert is_tag(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "date",
        "Date_errors",
        "date-errors",
        "date errors",
        "_date",
        "date_",
        "date__errors",
        "1_2",
        "date_errörs",
        "date_errors\n",
        " date_errors",
        f"a_{'b' * 63}",
        "٣_٤",
    ],
)
def test_anything_else_is_no_tag(text):
    assert not is_tag(text)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("date_error", "date_errors"),
        ("date_erorrs", "date_errors"),
        ("errors_date", "date_errors"),
        ("missing_tests", "tests_missing"),
        ("failing_test", "tests_failing"),
        ("broken_links", "broken_wiki_links"),
        ("unit_tests_missing", "tests_missing"),
        ("code_stlye", "code_style"),
    ],
)
def test_the_nearest_tag_is_the_one_that_was_meant(written, meant):
    assert KNOWN.nearest(written) == meant


@pytest.mark.parametrize("written", ["date_format", "style", "errors", "foo_bar", "docs_missing", "x" * 5000])
def test_a_tag_that_is_not_truly_near_suggests_nothing(written):
    assert KNOWN.nearest(written) is None


def test_gates_keep_their_order_and_are_found_by_tag():
    assert KNOWN.tags == ("date_errors", "broken_wiki_links", "tests_missing", "tests_failing", "code_style")
    assert KNOWN.get("code_style") == gate("code_style")
    assert KNOWN.get("made_up_tag") is None


def test_a_tag_names_one_gate():
    with pytest.raises(ValueError, match="same tag"):
        Gates((gate("date_errors"), gate("date_errors")))


def test_gates_laid_over_others_replace_in_place_and_add_at_the_end():
    changed, new = gate("tests_missing", gate="Coverage"), gate("own_rule")
    merged = KNOWN.merged(Gates((new, changed)))
    assert merged.tags == (*KNOWN.tags, "own_rule")
    assert merged.get("tests_missing") == changed


def test_a_gate_that_is_off_is_gone():
    assert KNOWN.without(["tests_missing", "code_style", "unknown_tag"]).tags == (
        "date_errors",
        "broken_wiki_links",
        "tests_failing",
    )


def test_without_a_priority_blocking_comes_before_warning():
    first, second = gate("date_errors"), gate("code_style", severity=Severity.WARNING)
    assert (first.priority, second.priority) == (3, 7)
    assert gate("code_style", priority=1).priority == 1


def test_the_ten_aspects_are_the_schemas():  # row 26
    assert list(Aspect) == [
        "correctness",
        "completeness",
        "clarity",
        "consistency",
        "efficiency",
        "security",
        "style",
        "documentation",
        "testability",
        "maintainability",
    ]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("wrong date", "The Wrong  Date again"),
        ("wrong date", "wrong\ndate"),
        ("doesn't compile", "it doesn’t compile"),
        ("n+1 query", "an N+1 query, as before"),
        ("für später", "das ist Für später."),
        ("/tests? (is|are) missing/", "Tests are missing"),
        ("wrong date", "(wrong date)"),
    ],
)
def test_a_phrase_is_found_in_any_case_and_spacing(phrase, text):
    assert [tag for tag, _, _ in find_tag_phrases(text, Gates((gate("date_errors", phrase),)))] == [
        "date_errors"
    ]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("add test", "padd test"),
        ("add test", "add tests"),
        ("add test", "add_test"),
        ("add test", "add testé"),
        ("add test", "éadd test"),
        ("add test", "add: test"),
        ("/x*/", "nothing of it"),
        ("a.b", "acb"),
    ],
)
def test_part_of_a_word_or_other_signs_are_not_the_phrase(phrase, text):
    assert find_tag_phrases(text, Gates((gate("date_errors", phrase),))) == ()


def test_every_place_is_given_from_left_to_right():
    gates = Gates((gate("date_errors", "wrong date"), gate("code_style", "style guide", "/not idiomatic/")))
    text = "não: not idiomatic, wrong date; see the style guide. Wrong date!"
    assert find_tag_phrases(text, gates) == (
        ("code_style", 5, 18),
        ("date_errors", 20, 30),
        ("code_style", 40, 51),
        ("date_errors", 53, 63),
    )


def test_gates_without_phrases_find_nothing():
    assert find_tag_phrases("wrong date", KNOWN) == ()


def test_half_a_surrogate_pair_is_a_character_like_any_other():
    assert find_tag_phrases("\ud800 wrong date", Gates((gate("date_errors", "wrong date"),))) == (
        ("date_errors", 2, 12),
    )


def test_more_phrases_than_one_search_can_hold_are_all_found():
    many = tuple(f"{number} {'ſé' * 80}" for number in range(1300))
    assert find_tag_phrases(f"x {many[1299]} y", Gates((gate("code_style", *many),))) == (
        ("code_style", 2, 2 + len(many[1299])),
    )


@pytest.mark.parametrize("phrase", ["/(?=a)/", r"/(a)\1/", "/a(/", "/((a{100}){100}){100}/", r"/\p{Nope}/"])
def test_an_expression_that_is_not_linear_or_not_one_is_refused(phrase):
    with pytest.raises(PhraseError):
        check_phrase(phrase)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["wrong", "date", "x", "é", " ", "\n", "-", "漢"]), max_size=12).map("".join))
def test_what_is_found_is_the_phrase_as_whole_words(text):
    for _, start, end in find_tag_phrases(text, Gates((gate("date_errors", "wrong date"),))):
        assert text[start:end].split() == ["wrong", "date"]
        assert not text[start - 1 : start].isalnum()
        assert not text[end : end + 1].isalnum()


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_can_be_searched(text):
    assert find_tag_phrases(text + " wrong date", Gates((gate("date_errors", "wrong date"),)))[-1:] == (
        ("date_errors", len(text) + 1, len(text) + 11),
    )
