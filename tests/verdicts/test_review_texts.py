"""What does the bot make of reviews as people write them?"""

import pytest

from bot.pull_request.model import Item
from bot.values import Location
from bot.verdicts.remarks import read_inline_comment, read_review_body
from tests.builders import KNOWLEDGE_BASE, make_inline_comment
from tests.verdicts.review_texts import BODIES, INLINE

SEVERITIES = {True: "blocks", False: "warns", None: "gate"}


def kind(item: Item) -> str:
    return "/".join(filter(None, (item.tag, item.label))) or "-"


def shown(item: Item) -> str:
    part = f" {item.part[1]}" if item.part else ""
    return f"{kind(item)} {SEVERITIES[item.blocks]} {item.place or '-'}{part}: {item.words}"


@pytest.mark.parametrize("body", BODIES)
def test_a_body_gives_these_findings(body):
    items = read_review_body(body, KNOWLEDGE_BASE, url="u", repository="acme/knowledge").items
    assert sorted(map(shown, items)) == sorted(BODIES[body])
    assert {item.url for item in items} <= {"u"}


@pytest.mark.parametrize("body", [body for body in BODIES if "\n" in body])
def test_a_body_as_a_browser_sends_it_gives_the_same(body):
    crlf = body.replace("\n", "\r\n")
    items = read_review_body(crlf, KNOWLEDGE_BASE, url="u", repository="acme/knowledge").items
    assert sorted(map(shown, items)) == sorted(BODIES[body])


@pytest.mark.parametrize("body", INLINE)
def test_an_inline_comment_gives_these_findings(body):
    items = read_inline_comment(make_inline_comment(7, 3, body), KNOWLEDGE_BASE)
    found = [
        f"{kind(item)} {SEVERITIES[item.blocks]}: {item.words}{' ' if item.words and item.suggestion else ''}"
        f"{f'+ {item.suggestion}' if item.suggestion else ''}"
        for item in items
    ]
    assert found == INLINE[body]
    assert {(item.comment_id, item.place) for item in items} <= {(7, Location("claims/futarchy.md", 5))}


def test_the_table_has_at_least_120_texts():
    assert len(BODIES) + len(INLINE) >= 120
