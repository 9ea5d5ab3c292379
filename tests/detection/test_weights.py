"""What training learnt, and what it says of words."""

from __future__ import annotations

import pytest

from bot.detection.evidence import gather_evidence
from bot.detection.rules import LearnedWeights, pack_weights, unpack_weights
from bot.detection.scores import word_features
from bot.detection.words import Sentence

ROWS = {
    "#bias": (0, 0, 0, 0, 100),
    "test": (50, 100, -25, 0, 0),
    "{fail}": (100, 200, 300, 400, -500),
    "test {fail}": (1, 0, 0, 0, 0),
    "^ test": (0, 0, 0, 7, 0),
    "{fail} ?": (0, 0, -900, 0, 0),
    "^ all test": (0, 3, 0, 0, 0),
    "all test {fail}": (0, 0, 5, 0, 0),
    "test {fail} ?": (0, 0, 0, 11, 0),
}
KINDS = {"fails": "{fail}", "breaks": "{fail}"}


def said(*spoken: str, asks: bool = False) -> list[Sentence]:
    return [Sentence(tuple(text.split()), asks) for text in spoken]


@pytest.mark.parametrize("row", [(0, 0, 0, 0, 0), (125, -125, 1, -1, 9999), (-1, 0, 0, 0, -1)])
def test_what_was_packed_is_unpacked_again(row):
    assert unpack_weights(pack_weights(row)) == row


def test_a_sum_of_packed_weights_holds_the_sums():
    total = sum(pack_weights((number, -number * 100, 300, 0, -50)) for number in range(1000))
    assert unpack_weights(total) == (499500, -49950000, 300000, 0, -50000)


@pytest.mark.parametrize(
    ("sentences", "weighed"),
    [
        (said("test fails"), ((151, 300, 275, 407, -500), 4)),
        (said("tests break"), ((50, 100, -25, 7, 0), 2)),
        (said("test breaks", asks=True), ((151, 300, -625, 418, -500), 6)),
        (said("all test fails"), ((151, 303, 280, 400, -500), 5)),
        (said("all test"), ((50, 103, -25, 0, 0), 2)),
        (said("all", "test fails"), ((151, 300, 275, 407, -500), 4)),  # a row does not go on in the next
        (said("test fails", "test breaks"), ((151, 300, 275, 407, -500), 4)),  # said twice counts once
        ([], ((0, 0, 0, 0, 0), 0)),
    ],
)
def test_words_count_by_stem_kind_and_up_to_three_in_a_row(sentences, weighed):
    total, many = LearnedWeights(ROWS, KINDS).weigh(sentences)
    assert (unpack_weights(total), many) == weighed


def test_the_most_telling_words_come_first():
    learnt = LearnedWeights(ROWS, KINDS)
    assert learnt.telling(said("test fails unheard"), 0, 5) == ("fails", "test", "test fails")
    assert learnt.telling(said("test fails unheard"), 0, 1) == ("fails",)


def test_three_words_in_a_row_are_told_as_they_were_said():
    rows = {"test {fail} now": (9, 0, 0, 0, 0), "why now ?": (0, 9, 0, 0, 0), "now": (1, 1, 0, 0, 0)}
    learnt = LearnedWeights(rows, KINDS)
    assert learnt.telling(said("the test breaks now"), 0, 5) == ("test breaks now", "now")
    assert learnt.telling(said("oh why now", asks=True), 1, 5) == ("why now", "now")


def test_words_that_speak_against_a_type_are_not_told():
    assert LearnedWeights(ROWS, KINDS).telling(said("test"), 2, 5) == ()


@pytest.mark.parametrize(
    "text", ["The tests don't pass on Windows.", "Nice work! Could you add a test?", "`a`"]
)
def test_every_name_that_training_gives_a_text_is_found_in_it_again(text, rules):
    sentences = gather_evidence(text, rules).sentences
    kinds = rules.learnt.kinds
    rows = {name: (1 << number, 0, 0, 0, 0) for number, name in enumerate(word_features(sentences, kinds))}
    total, many = LearnedWeights(rows, kinds).weigh(sentences)
    assert (unpack_weights(total)[0], many) == ((1 << len(rows)) - 1, len(rows))


def test_words_that_were_never_seen_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("bot.detection.rules.MAX_CACHED_WORDS", 10)
    learnt = LearnedWeights(ROWS, KINDS)
    for number in range(100):
        learnt.weigh(said(f"word{number} test"))
    assert len(learnt._seen) <= 10
    assert learnt.weigh(said("test fails")) == LearnedWeights(ROWS, KINDS).weigh(said("test fails"))


def test_what_weighs_alike_still_counts_each():
    rows = dict.fromkeys(("a", "b", "a b", "b $"), (1, 0, 0, 0, 0))
    total, many = LearnedWeights(rows, {}).weigh(said("a b"))
    assert (unpack_weights(total), many) == ((4, 0, 0, 0, 0), 4)


@pytest.mark.parametrize(
    ("rows", "kinds", "spoken", "many"),
    [
        (ROWS, KINDS, "unheard", 0),
        ({"fail": (1, 0, 0, 0, 0), "fail now": (2, 0, 0, 0, 0)}, {"fails": "{fail}"}, "fails now", 1),
    ],
)
def test_only_what_was_learnt_counts(rows, kinds, spoken, many):
    assert LearnedWeights(rows, kinds).weigh(said(spoken))[1] == many


def test_how_a_sentence_ends_is_told_too():
    rows = {"why ?": (9, 0, 0, 0, 0), "why $": (0, 9, 0, 0, 0)}
    told = [LearnedWeights(rows, {}).telling(said("oh why", asks=asks), 0, 5) for asks in (True, False)]
    assert told == [("why",), ()]


def test_a_repositorys_own_rules_share_what_was_compiled(rules):
    own = rules.extended((), threshold=0.9, rounds=1)
    assert (own.lexicon is rules.lexicon, own.pasted is rules.pasted, own.learnt is rules.learnt) == (
        True,
        True,
        True,
    )
    assert (own.threshold, own.max_refinement_iterations, rules.threshold) == (0.9, 1, 0.6)
