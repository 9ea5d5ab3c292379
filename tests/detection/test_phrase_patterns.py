"""The language of phrases."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.detection.automaton import MAX_REPETITIONS, Lexicon, PhrasePatternError, compile_phrase

LISTS = {"fails": ("fail", "fails")}


def found(phrase: str, sentence: str) -> list[str]:
    """What of the sentence the phrase is found in."""
    words = tuple(sentence.split())
    return [" ".join(words[start:end]) for _, start, end in Lexicon([(0, phrase)], LISTS).find(words)]


@pytest.mark.parametrize(
    ("phrase", "sentence", "where"),
    [
        ("not needed", "this is not needed here", ["not needed"]),
        ("don't", "i do not know", ["do not"]),
        ("(a|b c) d", "a d b c d", ["a d", "b c d"]),
        ("(a|) b", "a b", ["a b", "b"]),
        ("a (b|c (d|e)) f", "a c e f", ["a c e f"]),
        ("{fails} now", "it fails now", ["fails now"]),
        ("fail*", "failing failure", ["failing", "failure"]),
        ("a .. b", "a x y b", ["a x y b"]),
        ("a .. b", "a x y z b", []),
        ("a ... b", "a 1 2 3 4 5 b", ["a 1 2 3 4 5 b"]),
        ("a .. b", "a , b", ["a , b"]),
        ("^ no", "no", ["no"]),
        ("^ no", "say no", []),
        ("^ no", "<who> , no", ["no"]),
        ("done $", "all done", ["done"]),
        ("no ,", "no , thanks", ["no ,"]),
        ("a b", "a , b", ["a , b"]),
        ("<ci>", "see <ci>", ["<ci>"]),
        ("a (b|)", "a , c", ["a"]),  # a pause ends no phrase a second time
        ("go ..", "go , x y z", ["go", "go , x", "go , x y"]),  # nor is it one of the words between
        ("^ so", "so", []),  # a sentence of fillers begins behind them
    ],
)
def test_where_a_phrase_stands(phrase, sentence, where):
    assert found(phrase, sentence) == where


def test_several_cues_are_found_in_one_walk():
    lexicon = Lexicon([(0, "tests fail"), (1, "fail"), (2, "pass")], {})
    assert lexicon.find(("the", "tests", "fail")) == [(0, 1, 3), (1, 2, 3)]


@pytest.mark.parametrize(
    ("phrase", "why"),
    [
        ("(a", "'(' has no ')' after it"),
        ("a)", "')' has no '(' before it"),
        ("a | b", "'|' is not a word here"),
        ("{nothing}", "there is no list {nothing}"),
        ("(a|)", "the phrase has no word that must be there"),
        ("a?", "'?' is not a word here"),
        ("((((((a))))))", "choices stand more than 5 deep in each other"),
    ],
)
def test_a_phrase_that_is_none_says_why(phrase, why):
    with pytest.raises(PhrasePatternError) as refused:
        compile_phrase(phrase, 0, LISTS)
    assert str(refused.value) == why


def remembered(lexicon: Lexicon) -> int:
    """How many states are held, by whichever word one comes to them."""
    waiting, held = [*lexicon._states.begun.values()], {}
    while waiting:
        state = waiting.pop()
        if state and id(state) not in held:
            held[id(state)] = state
            waiting += state[0].values()
    return len(held)


def test_what_follows_what_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("bot.detection.automaton.MAX_CACHED_STEPS", 10)
    words = [first + second for first in "abcdef" for second in "ghijkl"]
    lexicon = Lexicon([(number, f"go .. {word}") for number, word in enumerate(words)], {})
    for number, word in enumerate(words):
        assert lexicon.find(("go", word, word)) == [(number, 0, 2), (number, 0, 3)]
    assert remembered(lexicon) <= 20
    for _ in range(3):
        lexicon.find(("go", "ag"))
    assert remembered(lexicon) > 0  # what comes again is remembered, whatever was forgotten before


def test_what_a_sentence_led_to_is_not_worked_out_again():
    lexicon = Lexicon([(0, "go .. stop"), (1, "go on")], {})
    sentence = ("go", "on", ",", "then", "stop")
    lexicon.find(sentence)
    steps = lexicon._states._steps
    lexicon.find(sentence)
    assert (steps > 0, lexicon._states._steps) == (True, steps)


def test_words_of_no_phrase_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("bot.detection.automaton.MAX_CLASS_WORDS", 10)
    lexicon = Lexicon([(0, "a b")], {})
    for number in range(100):
        assert lexicon.find((f"word{number}", "a", "b")) == [(0, 1, 3)]
    assert len(lexicon._classes._known) <= len(lexicon._classes._named) + 10


def test_a_word_may_begin_as_several_phrases_want_it():
    assert Lexicon([(0, "fa*"), (1, "fail*")], {}).find(("failing",)) == [(0, 0, 1), (1, 0, 1)]


def test_the_end_of_a_sentence_is_no_word():
    assert Lexicon([(0, "done $")], {}).find(("all", "done")) == [(0, 1, 2)]


def test_in_a_long_sentence_a_word_begins_phrases_a_few_times():
    assert len(Lexicon([(0, "a")], {}).find(("a", "x") * 20)) == MAX_REPETITIONS


def test_a_sentence_of_nothing_but_beginnings_is_given_up_in_time():
    """Its end is no more looked at; a sentence that a person wrote never comes so far."""
    lexicon = Lexicon([(0, "go ... stop"), (1, "up ... down"), (2, "done")], {})
    assert [cue for cue, _, _ in lexicon.find((*("go", "up") * 5, "done"))] == [2]
    assert lexicon.find((*("a", "go", "b", "up", "c") * 5, "done")) == [(2, 25, 26)]
    many = Lexicon([(number, f"{word} ... stop") for number, word in enumerate("abcdefghijklmnopqrst")], {})
    words = (*"abcdefghijklmnopqrst" * 5, "stop")
    assert many.find(words) == []
    assert many.find(words[-5:]) == [(16, 0, 5), (17, 1, 5), (18, 2, 5), (19, 3, 5)]


def test_threads_that_read_at_once_find_the_same(monkeypatch):
    monkeypatch.setattr("bot.detection.automaton.MAX_CACHED_STEPS", 20)
    monkeypatch.setattr("bot.detection.automaton.MAX_CLASS_WORDS", 5)
    phrases = [(0, "a .. b"), (1, "b (c|d) ... a"), (2, "{fails}")]
    lexicon = Lexicon(phrases, LISTS)
    sentences = [tuple(f"a x{n} b c x{n % 7} fails y{n} a".split()) for n in range(2000)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = [*threads.map(lexicon.find, sentences)]
    finally:
        sys.setswitchinterval(interval)
    assert found == [Lexicon(phrases, LISTS).find(sentences[0])] * len(sentences)
