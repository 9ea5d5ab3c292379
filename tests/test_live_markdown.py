"""The checker itself: it must find what GitHub would make live."""

import pytest

from tests.live_markdown import live_references


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("ask @bob", ["@bob"]),
        ("ask (@acme/editors)", ["@acme/editors"]),
        ("see #12", ["#12"]),
        ("see acme/knowledge#3 and GH-7", ["acme/knowledge#3", "GH-7"]),
        ("by 9f2c1e47a1", ["9f2c1e47a1"]),
        ("[x](https://github.com/acme/x/pull/7)", ["https://github.com/acme/x/pull/7"]),
        ("[x](/acme/x/issues/7)", ["/acme/x/issues/7"]),
        (
            "<https://github.com/acme/x/issues/7#issuecomment-1>",
            ["https://github.com/acme/x/issues/7#issuecomment-1"],
        ),
        ("&#64;bob", ["@bob"]),
        ("\\@bob", ["@bob"]),
        ("an odd ` tick, then `@bob` live", ["@bob"]),
        ("an odd `` tick, then @bob ` live", ["@bob"]),
        ("one `tick\n\nand @bob` live", ["@bob"]),
        ("\\`@bob\\`", ["@bob"]),
        ("```\n@bob\n```\n@eve", ["@eve"]),
        ("`@bob`", []),
        ("``a ` @bob``", []),
        ("<!-- @bob #12 -->", []),
        ("[212](https://redirect.github.com/acme/x/pull/212)", []),
        ("[`9f2c1e4`](https://github.com/acme/x/commit/9f2c1e47a1d0)", []),
        ("(Source: contents @ 9f2c1e4)", []),
        ("mail a@example.org", []),
        ("# Heading 1 and 1234567 and defaced", []),
    ],
)
def test_what_is_live(markdown, found):
    assert live_references(markdown) == found
