"""Does the comment parse back, whatever a validator's document says?"""

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.feedback.marker import FEEDBACK_MARKER
from bot.gates import schemas
from bot.markdown.escape import parse_marker
from bot.pull_request.effects import StoreDocument
from bot.pull_request.model import Item
from bot.values import Location
from tests.builders import RULES, decide, make_facts, make_pull_request, make_review
from tests.live_markdown import live_references

TAGS = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){1,2}", fullmatch=True)
WORDS = st.text(max_size=300)
ITEMS = st.builds(
    Item,
    tag=st.none() | TAGS | st.sampled_from([gate.tag for gate in RULES.gates]),
    words=WORDS,
    place=st.none()
    | st.builds(Location, st.text(min_size=1, max_size=40), st.none() | st.integers(1, 10**6)),
    suggestion=st.none() | WORDS,
    aspect=st.none() | st.sampled_from(["clarity", "security", "style"]),
    severity=st.none() | st.sampled_from(["critical", "major", "minor", "suggestion"]),
    action=st.none() | WORDS,
    rationale=st.none() | WORDS,
    evidence=st.none() | WORDS,
    score=st.none() | st.floats(0, 1),
    part=st.none() | st.tuples(st.sampled_from(["function", "section", "element"]), WORDS),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=30), WORDS)
def test_any_document_and_any_text_give_a_comment_that_parses_back(items, body):
    said = replace(make_review(3, body), documents=tuple(items))
    decision = decide(make_pull_request(), make_facts(said))
    (effect,) = decision.effects
    found = parse_marker(FEEDBACK_MARKER, effect.body)
    assert len(effect.body) <= 20_000
    assert effect.body.count("<!-- REJECTION: ") == 1
    assert found["issues"] == list(effect.issues)[: len(found["issues"])]
    assert len(found["issues"]) + found.get("more", 0) == len(effect.issues)
    assert live_references(effect.body, "https://github.com/acme/knowledge/pull/212") == []
    (whole,) = [memo for memo in decision.store_commands if isinstance(memo, StoreDocument)]
    assert schemas.find_violations("actionable-feedback", json.loads(whole.body)) == ()
