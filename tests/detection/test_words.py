"""How a body is read: sentences of words in lower case, with one word for what is none."""

from __future__ import annotations

import pytest

from bot.detection import words
from bot.detection.words import Sentence, blank_struck_out, normalize_phrase, split_sentences, stem
from bot.markdown.spans import cover_pieces


def read(body: str) -> list[tuple[str, bool]]:
    return [(" ".join(said), asks) for said, asks in split_sentences(body, cover_pieces(body))]


@pytest.mark.parametrize(
    ("body", "sentences"),
    [
        ("Fine. Not fine?", [("fine", False), ("not fine", True)]),
        ("I don't, can't and won't.", [("i do not , can not and will not", False)]),
        ("It’s wrong", [("it is wrong", False)]),
        ("It dies in `a.b()`, see https://a.example/b", [("it dies in <code> , see <url>", False)]),
        ("See https://ci.example.org/builds/3", [("see <ci>", False)]),
        ("@ada see 1a2b3c4d5e and fooBar()", [("<who> see <commit> and <name>", False)]),
        ("snake_case and a.b.c", [("<name> and <name>", False)]),
        ("KeyError: 3", [("<exception> : <number>", False)]),
        ("0 failed", [("zero failed", False)]),
        ("+1", [("<up>", False)]),
        ("👎", [("<down>", False)]),
        ("A re-run and/or a rebuild", [("a re run and or a rebuild", False)]),
        ("Out of memory.If so", [("out of memory", False), ("if so", False)]),
        ("well - no", [("well , no", False)]),
        ("One, e.g. this one", [("one , this one", False)]),
        ("pls", [("please", False)]),
        ("Really ?", [("really", True)]),
        ("Really?!", [("really", True)]),
        (
            "one\n\ntwo\n- three\n2. four\n# five",
            [(one, False) for one in ("one", "two", "three", "four", "five")],
        ),
        ("A line that is\nwrapped by the editor", [("a line that is wrapped by the editor", False)]),
        ("First line\nSecond line", [("first line", False), ("second line", False)]),
        ("> quoted\n\nsaid", [("said", False)]),
        ("```\ncode\n```\nsaid", [("<block>", False), ("said", False)]),
        ("<!-- hidden -->said", [("said", False)]),
        ("~~struck out~~ said", [("said", False)]),
        ("Again. Again. Again.", [("again", False)]),
        ("", []),
        ("...", []),
    ],
)
def test_a_body_is_read_sentence_by_sentence(body, sentences):
    assert read(body) == sentences


def test_a_sentence_without_end_is_read_in_parts():
    said = split_sentences("no " * 250, cover_pieces("no " * 250))
    assert [len(sentence.words) for sentence in said] == [100, 50]  # the second hundred is the same again


def test_a_chunk_is_read_alike_the_first_time_and_again():
    body = "go on,then (see below) x/y why?! memory.If so"
    first = read(body)
    assert read(body) == first


def test_what_was_read_before_does_not_fill_the_memory():
    for number in range(words.MAX_CACHED_CHUNKS + 10):
        read(f"word{number}")
    assert len(words._CHUNKS) <= words.MAX_CACHED_CHUNKS


def test_a_chunk_without_end_is_not_kept():
    read("a" * 10_000)
    assert max(map(len, words._CHUNKS)) <= words.MAX_CHUNK


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("fails", "fail"),
        ("failing", "fail"),
        ("renamed", "renam"),
        ("rename", "renam"),
        ("is", "is"),
        ("<code>", "<code>"),
    ],
)
def test_the_forms_of_a_word_count_as_one(word, base):
    assert stem(word) == base


def test_a_phrase_is_split_as_a_body_is():
    assert normalize_phrase("Don't do it") == ["do", "not", "do", "it"]


def test_what_is_struck_out_is_blanked_in_its_place():
    assert blank_struck_out("a ~~b~~ c") == "a       c"


def test_a_sentence_is_its_words_and_whether_it_asks():
    assert split_sentences("Why?", cover_pieces("Why?")) == (Sentence(("why",), asks=True),)
