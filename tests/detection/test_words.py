"""How a person's words are read."""

from __future__ import annotations

import pytest

from bot.detection import words
from bot.detection.words import split_sentences
from bot.markdown.spans import cover_pieces


def read(body: str) -> list[str]:
    """Each sentence as its words; a question ends with a question mark."""
    return [" ".join((*one.words, *("?" * one.asks))) for one in split_sentences(body, cover_pieces(body))]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Looks good. Ship it!", ["looks good", "ship it"]),
        ("I don't think so.", ["i do not think so"]),
        ("I don’t, I CAN'T, I won't", ["i do not , i can not , i will not"]),
        ("That's what I'd do", ["that is what i would do"]),
        ("doesnt work", ["does not work"]),
        ("IMHO wrong", ["wrong"]),
        ("It is n't right, n’t it", ["it is not right , not it"]),
        ("cannot  read\tthis    or that dont", ["can not read this or that do not"]),
        (f"{'go ' * 101}on", ["go " * 99 + "go", "go on"]),
        ("Does it fail? It does.", ["does it fail ?", "it does"]),
        ("use `a` here", ["use <code> here"]),
        ("see https://a.b/c", ["see <url>"]),
        ("see https://travis-ci.org/a/b/builds/1", ["see <ci>"]),
        ("[the log](https://ci.a.b/job/3) says no", ["the log <ci> says no"]),
        ("ACK 0280274368e2", ["ack <commit>"]),
        ("@alice +1", ["<who> <up>"]),
        ("-1 from me :+1:", ["<down> from me <up>"]),
        ("-1. Not by -1.5 or so, +1.", ["<down>", "not by <number> or so , <up>"]),
        ("`parse_url` and parse_url and a::b and a.py", ["<code> and <name> and <name> and <name>"]),
        ("in 1.70 and 42", ["in <number> and <number>"]),
        ("Failures: 0. Fixed in 3. Done", ["failures : zero", "fixed in <number>", "done"]),
        ("since 1.2, or 4,", ["since <number> , or <number> ,"]),
        ("~~not this~~ but that, not ~~~ this", ["but that , not this"]),
        ("about ~~5 minutes. It fails. Now ~~10", ["about <number> minutes", "it fails", "now <number>"]),
        ("~~done\n\nIt fails.\n\n~~also", ["done", "it fails", "also"]),
        ("about ~~ 5 ~~ so", ["about <number> so"]),
        ("one\n\ntwo\n- three\n- four", ["one", "two", "three", "four"]),
        ("memory.If", ["memory", "if"]),
        ("a:\n\n```\nb\n```\nc", ["a :", "<block>", "c"]),
        ("> quoted words\n\nmine", ["mine"]),
        ("> quoted words\nan answer right below", ["an answer right below"]),
        ("<!-- hidden --> seen", ["seen"]),
        ("No. No. No?", ["no", "no ?"]),
        ("", []),
        ("...", []),
        ("go " * 199 + "on", ["go " * 99 + "go", "go " * 99 + "on"]),
        ("go " * 100 + "on?", ["go " * 99 + "go", "on ?"]),
        ("see ![a](b)", ["see <url>"]),
    ],
)
def test_a_body_is_read_sentence_by_sentence(body, said):
    assert read(body) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("go on, then", ["go on , then"]),
        ("(see below)", ["see below ,"]),
        ("no.", ["no"]),
        ("no.Go.", ["no", "go"]),
        ("why?!", ["why ?"]),
        ("memory.If so", ["memory", "if so"]),
        ("well - no", ["well , no"]),
        ("well -", ["well"]),
        ("non-`null` -- or `x`--`y`", ["non <code> , or <code> , <code>"]),
        (f"{'no ' * 100}, yes", ["no " * 99 + "no", "yes"]),
        ("one\n\ntwo\n- three\n2. four\n# five\nsix", ["one", "two", "three", "four", "five six"]),
        ("what, why?\n\nno", ["what , why ?", "no"]),
    ],
)
def test_what_stands_between_two_blanks_is_read_alike_the_first_time_and_again(body, said, monkeypatch):
    monkeypatch.setattr(words, "_CHUNKS", words._Chunks())
    assert [read(body), read(body)] == [said, said]


def test_what_was_read_before_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(words, "_CHUNKS", words._Chunks())
    monkeypatch.setattr(words, "MOST_CHUNKS", 10)
    for number in range(100):
        assert read(f"It is x{number}. Then (y{number})") == ["it is <name>", "then , <name> ,"]
    assert sum(map(len, (words._CHUNKS.plain, words._CHUNKS.last, words._CHUNKS._others))) <= 10
    read("x" * 1000)
    assert "x" * 1000 not in words._CHUNKS.plain


@pytest.mark.parametrize("long", ["x" * 10_000, "xé" * 5000, f"{'x' * 10_000},", f"don't-{'x' * 10_000}"])
def test_of_a_word_without_end_only_the_beginning_is_kept(long):
    kept = [word for sentence in read(f"No {long} here") for word in sentence.split()]
    assert max(map(len, kept)) == words.LONGEST_CHUNK
