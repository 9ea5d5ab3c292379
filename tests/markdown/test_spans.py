"""What of a person's Markdown is their own words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.markdown.blocks import Fence, SpanKind
from bot.markdown.spans import (
    HtmlComment,
    cover_pieces,
    find_comments,
    find_fences,
    has_visible_text,
    mask_hidden,
)


def kinds(body: str) -> list[tuple[str, str]]:
    """Everything that is not plain text, as (kind, what stands there)."""
    return [
        (kind.value, body[start:end]) for kind, start, end in cover_pieces(body) if kind is not SpanKind.TEXT
    ]


def test_plain_words_are_one_span():
    assert cover_pieces("Looks good.\nShip it.") == [(SpanKind.TEXT, 0, 20)]


def test_an_empty_body_has_no_spans():
    assert cover_pieces("") == []


def test_spans_have_the_offsets_of_the_body_whatever_ends_its_lines():
    body = "first\r\n\r\n`code` here\r\n> quoted"
    assert kinds(body) == [("code", "`code`"), ("quote", "> quoted")]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("use `a`", [("code", "`a`")]),
        ("use ``a ` b``", [("code", "``a ` b``")]),
        ("a `b\nc` d", [("code", "`b\nc`")]),
        ("lonely ` tick", []),
        ("two `` and one `", []),
        (r"escaped \`a\`", []),
        ("`a\n\nb`", []),
        ("# head `a\ntext b`", []),
        ("<code>a [b] c</code> d", [("code", "<code>a [b] c</code>")]),
        ("`<!-- a -->`", [("code", "`<!-- a -->`")]),
    ],
)
def test_code_spans_end_at_as_many_backticks_as_they_began_with(body, found):
    assert kinds(body) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("```\na\n```\nb", ["```\na\n```"]),
        ("````md\n```\na\n```\n````\nb", ["````md\n```\na\n```\n````"]),
        ("~~~\n```\n~~~\nb", ["~~~\n```\n~~~"]),
        ("```\nnever closed\n\nstill", ["```\nnever closed\n\nstill"]),
        ("``` a`b\nno fence", []),
        ("text\n```\na\n```", ["```\na\n```"]),
        ("- item\n  ```\n  a\n  ```\n- next", ["```\n  a\n  ```"]),
        ("- item\n  ```\n  a\nout of the list", ["```\n  a"]),
        ("- item\n  ```\n  a\n      ```\n  b\n  ```\nc", ["```\n  a\n      ```\n  b\n  ```"]),
        ("text\n\n    indented\n\nback", ["indented"]),
        ("text\n    goes on", []),
        ("\tindented by a tab", ["indented by a tab"]),
        ("- item\n\n    still the item", []),
        ("- item\n\n      indented in the item", ["indented in the item"]),
        ("<pre>\na [b]\n</pre>\nc", ["<pre>\na [b]\n</pre>"]),
    ],
)
def test_code_blocks(body, found):
    assert kinds(body) == [("fence", text) for text in found]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("> a\n> b\n\nc", ["> a\n> b"]),
        ("> a\r\n> b\nlazy\n> c", ["> a\r\n> b", "lazy", "> c"]),
        ("> a\nlazy\n\nc", ["> a", "lazy"]),
        ("> a\n- own list", ["> a"]),
        ("> ```\n> a\nown words", ["> ```\n> a"]),
        ("> ```\nown\n> b\nlazy", ["> ```", "> b", "lazy"]),  # the fence ended with the first quote
        ("> # head\nown words", ["> # head"]),
        (">> nested `a`\n\nb", [">> nested `a`"]),
        ("- > in a list\n\nb", ["> in a list"]),
        ("text\n> interrupts", ["> interrupts"]),
        ("a > b", []),
    ],
)
def test_quotes_are_whole_lines_and_what_follows_lazily(body, found):
    assert kinds(body) == [("quote", text) for text in found]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("[a](b)", [("link", "[a](b)")]),
        ('[a](<b c> "t")', [("link", '[a](<b c> "t")')]),
        ("[a](b_(c))", [("link", "[a](b_(c))")]),
        ("[`a`](b)", [("link", "[`a`](b)")]),
        ("![a](b)", [("image", "![a](b)")]),
        ("[![a](b)](c)", [("link", "[![a](b)](c)")]),
        ("[a [b](c)](d)", [("link", "[b](c)")]),
        ("[date_errors][broken_wiki_links]", []),
        ("[date_errors]: is about time", []),
        (
            "[a][b] [b] [B ][] [c]\n\n[b]: http://d",
            [("link", t) for t in ("[a][b]", "[b]", "[B ][]", "[b]: http://d")],
        ),
        ("[a [b](c)] [d](e)", [("link", "[b](c)"), ("link", "[d](e)")]),
        ("[[a]](b)", [("link", "[[a]](b)")]),
        ("[b][ ] c\n\n[b]: http://d", [("link", "[b][ ]"), ("link", "[b]: http://d")]),
        ("[[b]] c\n\n[b]: http://d", [("link", "[b]"), ("link", "[b]: http://d")]),
        (
            "![p [q [b]] r](c)\n\n[b]: http://d",
            [("image", "![p [q [b]] r](c)"), ("link", "[b]: http://d")],
        ),
        ("[a] (b)", []),
        (r"\[a](b)", []),
        ("[a](b", []),
    ],
)
def test_links_images_and_references(body, found):
    assert kinds(body) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("see https://a.b/c.", [("url", "https://a.b/c")]),
        ("(see https://a.b/c_(d))", [("url", "https://a.b/c_(d)")]),
        ("<https://a.b>", [("url", "<https://a.b>")]),
        ("www.a.b, yes", [("url", "www.a.b")]),
        ("WWW.A.B, yes", [("url", "WWW.A.B")]),
        ("HTTPS://A.B and Ftp://c", [("url", "HTTPS://A.B"), ("url", "Ftp://c")]),
        ("awww.a and `b`", [("code", "`b`")]),
        ("see https://, no", []),
        ("www. yes", []),
        ("a <!--> b", [("comment", "<!-->")]),
        ("<br> a </b>", [("html", "<br>"), ("html", "</b>")]),
        ("a < b and c > d", []),
        ("a <!-- b --> c", [("comment", "<!-- b -->")]),
        ("<!-- a\n\nb --> c", [("comment", "<!-- a\n\nb -->")]),
        ("a <!-- b\n\nc -->", []),
        ("<!-- never closed\n\nb", [("comment", "<!-- never closed\n\nb")]),
        ("- [ ] a\n- [x] b\n- [y] c", [("task", "[ ]"), ("task", "[x]")]),
    ],
)
def test_addresses_tags_comments_and_tasks(body, found):
    assert kinds(body) == found


def test_masked_text_keeps_its_length_and_lines():
    body = "a `b` c\r\n> d\r\n\r\ne"
    assert mask_hidden(body, SpanKind.CODE, SpanKind.QUOTE) == "a     c\r\n   \r\n\r\ne"


def test_masking_nothing_changes_nothing():
    assert mask_hidden("a `b` <!-- c -->", SpanKind.QUOTE) == "a `b` <!-- c -->"


def test_fences_give_info_text_and_the_start_of_their_first_line():
    body = 'text\n\n- item\n\n  ```json extra\n  {"a": 1}\n\n    deep\n  ```\n~~~\nopen\n'
    assert find_fences(body) == (
        Fence("json extra", '{"a": 1}\n\n  deep\n', body.index("  ```json")),
        Fence("", "open\n", body.index("~~~")),
    )


def test_fences_in_quotes_and_comments_do_not_count():
    assert find_fences("> ```\n> a\n> ```\n\n<!--\n```\nb\n```\n-->\n") == ()


def test_an_empty_fence_has_no_text():
    assert find_fences("```\n```\n") == (Fence("", "", 0),)


def test_comments_outside_code_and_quotes():
    body = "<!-- a -->\n`<!-- b -->`\n> <!-- c -->\n\n```\n<!-- d -->\n```\nx <!-- e\n f --> <!---->"
    at = body.index("<!-- e")
    assert find_comments(body) == (
        HtmlComment(" a ", 0, 10),
        HtmlComment(" e\n f ", at, at + 13),
        HtmlComment("", len(body) - 7, len(body)),
    )


def test_a_comment_that_never_ends_hides_the_rest_but_says_nothing():
    body = "<!-- ISSUES: a_b"
    assert (find_comments(body), mask_hidden(body, SpanKind.COMMENT).strip()) == ((), "")


PIECES = [
    "`",
    "``",
    "```",
    "~~~",
    "[",
    "]",
    "(",
    ")",
    "!",
    "<",
    ">",
    "<!--",
    "-->",
    "\\",
    "- ",
    "1. ",
    "    ",
]
PIECES += [
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "a",
    "\0",
    "\u202e",
    "é",
    "https://a.b",
    "[x]",
    "<b>",
    "[a]: b",
    "#",
    "=",
    "---",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_spans_cover_any_body_without_gap_or_overlap(body):
    assert "".join(body[start:end] for _, start, end in cover_pieces(body)) == body


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_masking_everything_leaves_only_line_breaks(body):
    hidden = mask_hidden(body, *(kind for kind in SpanKind if kind is not SpanKind.TEXT))
    assert len(hidden) == len(body)
    assert [c for c in hidden if c in "\r\n"] == [c for c in body if c in "\r\n"]


INLINE = [
    "a",
    "@b ",
    "\n",
    "\n\n",
    "`",
    "``",
    "[a](b)",
    "<b>",
    "<!--",
    "-->",
    "https://x.y ",
    "www.a.b",
    " ",
    "\\",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(INLINE), max_size=20).map("".join))
def test_paragraphs_are_read_alike_whatever_lines_stand_before_them(body):
    """A first line of one blank changes nothing, but keeps the shorter way from being taken."""
    after = [(kind, start - 2, end - 2) for kind, start, end in cover_pieces(f" \n{body}")]
    assert [piece for piece in after if piece[0] is not SpanKind.TEXT] == [
        piece for piece in cover_pieces(body) if piece[0] is not SpanKind.TEXT
    ]


HOSTILE = [
    "`",
    "``` ",
    "`` ` ",
    "[",
    "]",
    "[[]",
    "](",
    "[a](b",
    "![a](",
    "<!--",
    "a <!--",
    "<a ",
    "<code>",
    "- ",
    "> ",
    "\\",
]
HOSTILE += [
    "- a\n",
    "> a\n",
    "```\n",
    "[a]: b\n",
    "https://a)",
    ").",
    "1. ",
    "\t",
    "\r",
    "\0",
    "~~~a\n",
    "![[",
    "<a@",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_bodies_are_read_to_the_end(piece):
    body = (piece * 65536)[:65536]
    assert cover_pieces(body)[-1][2] == 65536


@given(st.text("`` a\nb.", max_size=40))
def test_ticks_that_stand_alone_are_paired_as_all_others_are(body):
    """Code is found by pairs where nothing else is marked up; a `<` behind it makes it be read sign by sign."""
    alone, beside = (
        [one for one in cover_pieces(text) if one[0] is SpanKind.CODE] for text in (body, f"{body}<")
    )
    assert alone == beside


@pytest.mark.parametrize(
    ("body", "is_visible"),
    [
        ("", False),
        (" \n", False),
        ("<!-- a -->\n<!-- b -->", False),
        ("<!-- a --> and <!-- b -->", True),
        ("`<!-- a -->`", True),
        ("<!--> a -->", True),
        ("    <!-- a -->", True),
        ("> <!-- a -->", True),
    ],
)
def test_hidden_comments_are_not_visible_text(body, is_visible):
    assert has_visible_text(body) is is_visible
