"""How a person's words are read."""

from __future__ import annotations

import pytest

from bot.domain.detection.words import sentences
from bot.domain.prose import cover


def read(body: str) -> list[str]:
    """Each sentence as its words; a question ends with a question mark."""
    return [" ".join((*one.words, *("?" * one.asks))) for one in sentences(body, cover(body))]


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
        (f"{'go ' * 101}on", ["go " * 100 + "go", "on"]),
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
        ("one\n\ntwo\n- three\n- four", ["one", "two", "three", "four"]),
        ("memory.If", ["memory", "if"]),
        ("a:\n\n```\nb\n```\nc", ["a :", "<block>", "c"]),
        ("> quoted words\n\nmine", ["mine"]),
        ("> quoted words\nan answer right below", ["an answer right below"]),
        ("<!-- hidden --> seen", ["seen"]),
        ("No. No. No?", ["no", "no ?"]),
        ("", []),
        ("...", []),
    ],
)
def test_a_body_is_read_sentence_by_sentence(body, said):
    assert read(body) == said
