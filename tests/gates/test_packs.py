"""The packs that come with the product."""

from __future__ import annotations

import re

import pytest

from bot.gates.model import Aspect, Gate, Severity, find_tag_phrases
from bot.gates.packs import load_pack, load_packs, parse_pack, rules_directory
from bot.gates.problems import RuleFileError
from bot.gates.repository_config import load_config, merge_rules
from bot.gates.rule_files import is_checked
from tests.gates.broken_packs import GATE

PACKS = load_packs(rules_directory())
KNOWLEDGE_BASE, CODE_REVIEW = PACKS["knowledge-base"], PACKS["code-review"]
ALL = [*KNOWLEDGE_BASE, *CODE_REVIEW]
BLOCKING, WARNING = Severity.BLOCKING, Severity.WARNING

VAGUE = re.compile(
    r"\b(could be better|needs improvement|consider|might want to|should probably|think about|maybe|perhaps|you might)\b"
)

# tag: gate, description, fix, severity, auto_fixable, aspect
TWELVE = {
    "frontmatter_schema": (  # row 154
        "Schema compliance",
        "Missing or invalid YAML frontmatter fields",
        (
            "Ensure all 6 required fields: type, domain, description, confidence, source, created. "
            "Use exact field names (not source_archive, not claim)."
        ),
        BLOCKING,
        True,
        Aspect.COMPLETENESS,
    ),
    "broken_wiki_links": (  # row 155
        "Wiki link validity",
        "[[wiki links]] reference files that don't exist in the KB",
        (
            "Only link to files listed in the KB index. If a claim doesn't exist yet, "
            "omit the link or use `<!-- claim pending: … -->`."
        ),
        WARNING,
        True,
        Aspect.CONSISTENCY,
    ),
    "title_overclaims": (  # row 156
        "Title precision",
        "Title asserts more than the evidence supports",
        (
            "Scope the title to match the evidence strength. Single source = "
            "'X suggests Y' not 'X proves Y'. Name the specific mechanism."
        ),
        BLOCKING,
        False,
        Aspect.CORRECTNESS,
    ),
    "confidence_miscalibration": (  # row 157
        "Confidence calibration",
        "Confidence level doesn't match evidence strength",
        (
            "Single source = experimental max. 3+ corroborating sources with data = likely. "
            "Pitch rhetoric or self-reported metrics = speculative. "
            "proven requires multiple independent confirmations."
        ),
        BLOCKING,
        False,
        Aspect.CORRECTNESS,
    ),
    "date_errors": (  # row 158
        "Date accuracy",
        "Invalid or incorrect date format in created field",
        "created = extraction date (today), not source publication date. Format: YYYY-MM-DD.",
        BLOCKING,
        True,
        Aspect.CORRECTNESS,
    ),
    "factual_discrepancy": (  # row 159
        "Factual accuracy",
        "Claim contains factual errors or misrepresents source material",
        (
            "Re-read the source. Verify specific numbers, names, dates. "
            "If source X quotes source Y, attribute to Y."
        ),
        BLOCKING,
        False,
        Aspect.CORRECTNESS,
    ),
    "near_duplicate": (  # row 160
        "Duplicate check",
        "Substantially similar claim already exists in KB",
        (
            "Check KB index before extracting. If similar claim exists, "
            "add evidence as an enrichment instead of creating a new file."
        ),
        WARNING,
        False,
        Aspect.CONSISTENCY,
    ),
    "scope_error": (  # row 161
        "Scope qualification",
        "Claim uses unscoped universals or is too vague to disagree with",
        (
            "Specify: structural vs functional, micro vs macro, causal vs correlational. "
            "Replace 'always/never/the fundamental' with scoped language."
        ),
        BLOCKING,
        False,
        Aspect.CLARITY,
    ),
    "opsec_internal_deal_terms": (  # row 162
        "OPSEC",
        "Claim contains internal deal terms",  # whose: the companies' names are the repository's config
        (
            "Never extract specific dollar amounts, valuations, equity percentages, "
            "or deal terms of your own companies. General market data is fine."
        ),
        BLOCKING,
        False,
        Aspect.SECURITY,
    ),
    "body_too_thin": (  # row 163
        "Evidence quality",
        "Claim body lacks substantive argument or evidence",
        (
            "The body must explain WHY the claim is supported with specific data, "
            "quotes, or studies from the source. A body that restates the title is not enough."
        ),
        BLOCKING,
        False,
        Aspect.COMPLETENESS,
    ),
    "title_too_few_words": (  # row 164
        "Title precision",
        "Title is too short to be a specific, disagreeable proposition",
        (
            "Minimum 4 words. Name the specific mechanism and outcome. "
            "Bad: 'futarchy works'. Good: 'futarchy is manipulation-resistant because "
            "attack attempts create profitable opportunities for defenders'."
        ),
        BLOCKING,
        False,
        Aspect.CLARITY,
    ),
    "title_not_proposition": (  # row 165
        "Title precision",
        "Title reads as a label, not an arguable proposition",
        (
            "The title must contain a verb and read as a complete sentence. "
            "Test: 'This note argues that [title]' must work grammatically."
        ),
        BLOCKING,
        False,
        Aspect.CLARITY,
    ),
}


def test_the_knowledge_base_has_the_twelve_gates_word_for_word():  # rows 153, 166, 167
    assert {
        gate.tag: (gate.gate, gate.description, gate.fix, gate.severity, gate.auto_fixable, gate.aspect)
        for gate in KNOWLEDGE_BASE
    } == TWELVE


@pytest.mark.parametrize(
    "tag",
    [
        "tests_failing",
        "tests_missing",
        "build_failing",
        "lint_errors",
        "type_errors",
        "security_vulnerability",
        "secret_leaked",
        "docs_missing",
        "breaking_change",
        "change_too_large",
        "title_unclear",
        "description_unclear",
        "merge_conflict",
        "dependency_risk",
        "performance_regression",
        "duplicated_code",
        "code_style",
        "generated_file_edited",
    ],
)
def test_the_pack_for_code_has_a_gate_for_what_every_repository_needs(tag):
    assert tag in CODE_REVIEW


def test_the_packs_share_no_tag():
    assert sorted({gate.tag for gate in ALL}) == sorted(gate.tag for gate in ALL)


def test_a_tag_of_one_gate_is_never_taken_for_a_slip_of_another():
    both = KNOWLEDGE_BASE.merged(CODE_REVIEW)
    assert {gate.tag: both.without([gate.tag]).nearest(gate.tag) for gate in ALL} == dict.fromkeys(both.tags)


@pytest.mark.parametrize("gate", ALL, ids=lambda gate: gate.tag)
def test_every_tag_has_a_route_to_a_next_step(gate: Gate):
    assert 20 <= len(gate.fix) <= 1000, "long enough for the document's action"
    assert 20 <= len(gate.description) <= 500, "long enough for the document's rationale"
    assert len(gate.fix.split()) >= 8
    assert gate.fix.rstrip("`").endswith(".")
    assert not VAGUE.search(gate.fix.lower())
    assert gate.examples
    assert all(example.bad != example.good for example in gate.examples)


@pytest.mark.parametrize("gate", CODE_REVIEW, ids=lambda gate: gate.tag)
def test_a_fix_for_code_begins_with_what_to_do(gate: Gate):
    first = re.split(r"\W", gate.fix)[0]
    assert first in {
        *("Add", "Call", "Catch", "Delete", "Document", "Fetch", "Fix", "Follow", "Keep", "List", "Look"),
        *("Make", "Measure", "Move", "Open", "Remove", "Rename", "Return", "Revert", "Revoke", "Run", "Say"),
        *("Sign", "Split", "Stop", "Use", "Validate", "Write"),
    }


@pytest.mark.parametrize("gate", ALL, ids=lambda gate: gate.tag)
def test_a_gates_plain_phrases_lead_to_it(gate: Gate):
    plain = [phrase for phrase in gate.phrases if not phrase.startswith("/")]
    assert plain
    for phrase in plain:
        tags = {
            tag
            for tag, _, _ in find_tag_phrases(f"Well: {phrase.upper()}.", KNOWLEDGE_BASE.merged(CODE_REVIEW))
        }
        assert gate.tag in tags


@pytest.mark.parametrize(
    ("said", "tags"),
    [
        ("Please add tests for the empty case.", {"tests_missing"}),
        ("The tests are missing here", {"tests_missing"}),
        ("This is not covered by any test.", {"tests_missing"}),
        ("What happens if the list is empty?", {"edge_case_missed"}),
        ("This is vulnerable to SQL injection", {"security_vulnerability"}),
        ("The diff is way too large, please split this up", {"change_too_large"}),
        ("It doesn’t compile on my machine", {"build_failing"}),
        ("Looks good to me, thank you!", set()),
    ],
)
def test_what_a_reviewer_says_leads_to_the_gate(said, tags):
    assert {tag for tag, _, _ in find_tag_phrases(said, KNOWLEDGE_BASE.merged(CODE_REVIEW))} == tags


def test_every_aspect_has_a_gate():
    assert {gate.aspect for gate in ALL} == set(Aspect)


def test_what_opens_a_door_comes_first():
    assert {gate.tag for gate in ALL if gate.priority == 1} == {
        "opsec_internal_deal_terms",
        "secret_leaked",
        "security_vulnerability",
        "build_failing",
    }


def test_a_pack_with_mistakes_is_refused_with_all_of_them(tmp_path):
    (tmp_path / "one.yml").write_text("pack: one\ngates: {style: {}}\n")
    (tmp_path / "two.yml").write_text("pack: two\nextra: 1\n")
    (tmp_path / "scoring.yml").write_text("weights: {a: *nowhere}\n")  # no pack, somebody else reads it
    with pytest.raises(RuleFileError) as refused:
        load_packs(tmp_path)
    places = [(problem.file.removeprefix(f"{tmp_path}/"), problem.line) for problem in refused.value.problems]
    assert places == [("one.yml", 2), ("one.yml", 2), ("two.yml", 1), ("two.yml", 2)]


def test_a_pack_is_read_from_any_file(tmp_path):
    path = tmp_path / "house.yml"
    path.write_text(
        "pack: house\n"
        "gates:\n"
        "  licence_missing:\n"
        "    gate: Licence\n"
        "    description: A new file has no licence header\n"
        "    fix: Put the project's header at the top of the file.\n"
        "    severity: warning\n"
        "    auto_fixable: true\n"
    )
    assert list(load_pack(path)) == [
        Gate(
            tag="licence_missing",
            gate="Licence",
            description="A new file has no licence header",
            fix="Put the project's header at the top of the file.",
            severity=WARNING,
            auto_fixable=True,
            pack="house",
        )
    ]


def test_a_gates_name_does_not_claim_that_all_is_well():
    """It is read after [BLOCK]: "[BLOCK] Tests pass: At least one test fails" contradicts itself."""
    claims = re.compile(
        r"\b(pass(es)?|no|correct|reliable|mergeable|finished|existing|valid)\b", re.IGNORECASE
    )
    assert [gate.gate for gate in ALL if claims.search(gate.gate)] == []


def test_a_repository_names_its_own_companies():  # row 162
    document = rules_directory().parent / "docs" / "writing-gates.md"
    (config,) = re.findall(
        r"```yaml config\n([^`]*opsec_internal_deal_terms[^`]*)```", document.read_text("utf-8")
    )
    rules = merge_rules(PACKS, repository=load_config(config, "whetstone.yml", PACKS))
    gate = rules.gates.get("opsec_internal_deal_terms")
    assert ("Acme" in gate.description, "Acme" in gate.fix, gate.severity) == (True, True, BLOCKING)


def test_a_priority_may_be_written_with_a_decimal_point():
    (gate,) = parse_pack((GATE + "    priority: 5.0\n").encode(), "house.yml", "house")
    assert gate.priority == 5


def test_a_shipped_pack_that_was_edited_is_checked_at_the_next_start():
    data = (rules_directory() / "code-review.yml").read_bytes()
    edited = data.replace(b"severity: blocking", b"severity: fatal", 1)
    assert (is_checked(data, "pack"), is_checked(edited, "pack")) == (True, False)
    with pytest.raises(RuleFileError, match="severity"):
        parse_pack(edited, "code-review.yml", "code-review")
