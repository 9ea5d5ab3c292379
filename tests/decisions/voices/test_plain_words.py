"""Which gate do plain words mean, and when is nothing inferred?"""

from dataclasses import replace

import pytest

from tests.builders import RULES, decided, facts, pull_request, review


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("The frontmatter is missing.", ["frontmatter_schema"]),
        ("There is no broken wiki link here.", []),
        ("You fixed the broken wiki link.", []),
        ("> broken wiki link\n\nI disagree.", []),
        ("`broken wiki link`", []),
        ("Not good: there is a broken wiki link.", ["broken_wiki_links"]),
    ],
)
def test_plain_words_mean_a_gate_by_its_phrases(body, tags):
    decision = decided(pull_request(), facts(review(3, body)))
    (verdict,) = decision.pull_request.verdicts
    assert [(item.tag, item.inferred) for item in verdict.items] == [(tag, 0.6) for tag in tags]


def test_a_stated_tag_leaves_nothing_to_infer():
    said = facts(review(3, "[date_errors] and a broken wiki link"))
    (verdict,) = decided(pull_request(), said).pull_request.verdicts
    assert [(item.tag, item.inferred) for item in verdict.items] == [("date_errors", None)]


def test_inference_can_be_switched_off():
    rules = replace(RULES, detection=replace(RULES.detection, enabled=False))
    said = facts(review(3, "There is a broken wiki link."))
    assert decided(pull_request(), said, rules).pull_request.verdicts[0].items == ()
