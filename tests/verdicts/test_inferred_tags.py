"""Which gate do plain words mean, and when is nothing inferred?"""

from dataclasses import replace

import pytest

from bot.findings.model import is_blocking
from bot.gates.config import DetectionConfig, RepositoryRules
from bot.gates.model import Gates
from bot.gates.packs import load_pack
from bot.gates.repository_config import load_config, merge_rules
from bot.pull_request.model import Item
from bot.values import Location
from bot.verdicts.tags import infer_tags
from tests.builders import (
    KNOWLEDGE_BASE,
    RULES,
    RULES_DIRECTORY,
    decide,
    make_facts,
    make_pull_request,
    make_review,
)

UNDERSTANDING = replace(RULES, detection=DetectionConfig())


def inferred(body, rules=UNDERSTANDING):
    """The tag that a remark looks like, and how surely."""
    return [(i.looks_like, i.inferred) for i in infer_tags((Item(None, body),), rules) if i.looks_like]


def test_a_plain_remark_looks_like_a_gate_and_keeps_its_own_name_and_severity():
    review = make_review(3, "The frontmatter is missing.")
    (verdict,) = decide(make_pull_request(), make_facts(review), UNDERSTANDING).pull_request.verdicts
    (item,) = verdict.items
    assert (item.tag, item.looks_like, item.inferred) == (None, "frontmatter_schema", 0.6)
    assert is_blocking(item, UNDERSTANDING.gates)


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("The frontmatter is missing.", ["frontmatter_schema"]),
        ("~~The frontmatter is missing.~~ Sorry.", []),
        ("There is no broken wiki link here.", []),
        ("You fixed the broken wiki link.", []),
        ("> broken wiki link\n\nI disagree.", []),
        ("`broken wiki link`", []),
        ("Not good: there is a broken wiki link.", ["broken_wiki_links"]),
        ("The wrong date was fixed.", []),
        ("Is this a wrong date? If the date is wrong, tell me.", []),
        ("The wrong date was fixed, but the title is too short.", ["title_too_few_words"]),
        ("Can you fix the wrong date?", ["date_errors"]),
        ("Is this a wrong date? And the frontmatter is missing.", ["frontmatter_schema"]),
        ("The title is fixed\nThe date is wrong", ["date_errors"]),
        ("The wrong date in `a.md` was fixed.\n\n> The date is wrong", []),
    ],
)
def test_plain_words_mean_a_gate_by_its_phrases(body, tags):
    assert inferred(body) == [(tag, 0.6) for tag in tags]


def test_what_is_over_adds_nothing_to_what_is_stated():
    assert inferred("The wrong date in a.md was fixed. The date is wrong in b.md.") == [("date_errors", 0.6)]
    assert inferred("There is a wrong date in a.md. The date is wrong in b.md.") == [("date_errors", 0.7)]


def test_a_fault_that_is_repeated_without_end_is_only_surer():
    assert inferred("The date is wrong. " * 300 + "The frontmatter is missing.") == [("date_errors", 0.95)]


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("The tests are missing.", ["date_errors"]),
        ("Can you add what is not there: tests are missing.", ["date_errors"]),
        ("Test is missing!", ["date_errors"]),
        ("Are you sure that tests are missing?", []),
        ("I don't think that tests are missing.", []),
        ("If tests are missing, say why.", []),
    ],
)
def test_a_gates_expression_is_understood_like_its_words(body, tags):
    gate = replace(KNOWLEDGE_BASE.get("date_errors"), phrases=("/tests? (is|are) missing/",))
    rules = replace(UNDERSTANDING, gates=Gates((gate,)))
    assert inferred(body, rules) == [(tag, 0.6) for tag in tags]


def test_a_phrase_that_is_a_negation_is_not_taken_as_denied():
    gate = replace(KNOWLEDGE_BASE.get("date_errors"), phrases=("/no changelog (line|entry)/", "not dated"))
    rules = replace(UNDERSTANDING, gates=Gates((gate,)))
    assert inferred("There is no changelog entry.", rules) == [("date_errors", 0.6)]
    assert inferred("The page is not dated.", rules) == [("date_errors", 0.6)]


def test_an_expression_that_takes_in_whole_sentences_is_found():
    gate = replace(KNOWLEDGE_BASE.get("date_errors"), phrases=("/month 13.*February 30/", "/(?s)№.+/"))
    rules = replace(UNDERSTANDING, gates=Gates((gate,)))
    assert inferred("There is a month 13. And a February 30.", rules) == [("date_errors", 0.6)]
    assert inferred(f"№{' so on.' * 1000}", rules) == [("date_errors", 0.6)]


@pytest.mark.parametrize(("threshold", "tags"), [(0.7, ["date_errors"]), (0.8, [])])
def test_a_tag_less_sure_than_the_threshold_is_not_inferred(threshold, tags):
    rules = replace(UNDERSTANDING, detection=replace(UNDERSTANDING.detection, threshold=threshold))
    said = "There is a wrong date in a.md. The date is wrong in b.md. The frontmatter is missing."
    assert [tag for tag, _ in inferred(said, rules)] == tags


def test_a_stated_tag_leaves_nothing_to_infer():
    review = make_review(3, "[date_errors] There is a broken wiki link.")
    (verdict,) = decide(make_pull_request(), make_facts(review), UNDERSTANDING).pull_request.verdicts
    assert [(item.tag, item.looks_like) for item in verdict.items] == [("date_errors", None)]


def test_inference_can_be_switched_off():
    rules = replace(UNDERSTANDING, detection=replace(RULES.detection, enabled=False))
    assert inferred("There is a broken wiki link.", rules) == []


def test_nothing_is_inferred_where_no_rules_say_how_words_are_understood():
    assert inferred("There is a broken wiki link.", RULES) == []


CODE_REVIEW = load_pack(RULES_DIRECTORY / "code-review.yml")
SHIPPED = RepositoryRules(gates=KNOWLEDGE_BASE.merged(CODE_REVIEW))


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("This is an SQL injection.", ["security_vulnerability"]),
        ("SQL injection: none", []),
        ("The old code had a race condition, now gone", []),
        ("Should we worry about a race condition?", []),
        ("The build is red.", ["build_failing"]),
        ("- SQL injection: none found\n- XSS: no", []),
        ("I found no SQL injection here.", []),
        ("The query is safe, so SQL injection is not a problem.", []),
        ("The tests failed before your change too.", []),
        ("The tests failed on main already.", []),
        ("The build failed last week.", []),
        ("The tests fail at this head.", ["tests_failing"]),
        ("Please fix the failing tests.", ["tests_failing"]),
        ("You fixed the failing tests.", []),
        ("The merge conflict was resolved.", []),
        ("The memory leak is gone.", []),
        ("Generated by Copilot", []),
        ("Reviewed by a tool that finds dead code.", []),
        ("Great error handling!", []),
        ("Nice, the edge cases are covered.", []),
        ("The error handling looks good.", []),
        ("If there is a race condition, say so.", []),
        ("Is this a breaking change?", []),
        ("Can you update the changelog?", ["changelog_missing"]),
        ("There is a race condition between the two writers.", ["logic_error"]),
        ("The new dependency is fine.", []),
        ("It meets the acceptance criteria.", []),
        ("The frontmatter is missing.", []),
    ],
)
def test_only_what_is_stated_infers_and_only_from_the_code_review_pack(body, tags):
    assert [tag for tag, _ in inferred(body, SHIPPED)] == tags


def test_an_untagged_finding_gets_the_tag_that_its_words_look_like_and_keeps_the_rest():
    failing = Item(None, "The tests fail at this head.", Location("a.py", 4), blocks=False, label="nit")
    named, other, denied = infer_tags(
        (failing, Item(None, "The name is long."), Item(None, "SQL injection: none")), SHIPPED
    )
    assert named == replace(failing, looks_like="tests_failing", inferred=0.6)
    assert (other.looks_like, denied.looks_like) == (None, None)


def test_a_stated_tag_is_not_inferred_again():
    stated = Item("docs_missing", "The tests fail.")
    assert infer_tags((stated,), SHIPPED) == (stated,)


def test_a_pack_that_the_config_names_infers():
    rules = replace(SHIPPED, inferring=("knowledge-base",))
    remark = "The frontmatter is missing. The tests fail."
    assert [tag for tag, _ in inferred(remark, rules)] == ["frontmatter_schema"]


def test_a_config_that_names_packs_lets_them_infer():
    packs = {"knowledge-base": KNOWLEDGE_BASE, "code-review": CODE_REVIEW}
    named = load_config("version: 1\nextends: [knowledge-base]\n", "whetstone.yml", packs)
    assert merge_rules(packs).inferring == ("code-review",)
    assert merge_rules(packs, None, named).inferring == ("knowledge-base",)
