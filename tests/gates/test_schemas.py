"""Which schemas are published, and what do the marker's and grounding's say?"""

import pytest
from jsonschema import Draft202012Validator

from bot.gates import schemas
from tests.schema_documents import replace_value, violations_of

FEEDBACK = "actionable-feedback"
MARKER = {
    "issues": ["date_errors", "broken_wiki_links"],
    "source": "alice",
    "ts": "2026-11-15T10:42:07+00:00",
    "v": 1,
    "id": "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10",
    "verdict": "refine",
    "blocking": ["date_errors"],
    "head": "9f2c1e47a1d0b6c85e3f2a9947d1c0be5a6f7d83",
    "iteration": 3,
    "max_iterations": 5,
    "best": {"iteration": 2, "head": "4d10c9a2e6b7f8035c1d9e4a7b60f2c3d8e9a1b4"},
}
GROUNDING = {"version": "1.0.0", "grounding_rules": {}, "verification_protocol": {}}


@pytest.mark.parametrize("name", [FEEDBACK, "rejection", "tool-grounding"])
def test_a_published_schema_is_a_schema_of_draft_2020_12(name):
    schema = schemas.load_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert name in schemas.schema_names()


def test_the_schemas_have_the_names_of_their_documents():  # rows 1, 105
    feedback, grounding = schemas.load_schema(FEEDBACK), schemas.load_schema("tool-grounding")
    assert (feedback["$id"], feedback["title"]) == (
        "https://aiwg.io/schemas/actionable-feedback/v1",
        "Actionable Feedback Schema",
    )
    assert grounding["$id"] == "https://aiwg.io/schemas/tool-grounding/v1"


def test_a_name_that_is_not_published_says_which_are():
    with pytest.raises(LookupError, match=r"unknown schema '../../app'; use one of actionable-feedback, "):
        schemas.schema_text("../../app")


def test_a_pointer_escapes_its_own_signs():
    assert schemas.json_pointer(("a/b", 0, "c~d")) == "/a~1b/0/c~0d"


def test_the_marker_is_published():
    assert violations_of("rejection", MARKER) == []
    assert (
        violations_of("rejection", {"issues": [], "source": "validator", "ts": "2026-11-15T10:42:07Z"}) == []
    )  # row 170


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("issues",), ..., "/issues is missing; write a list"),
        (("issues",), ["date_errors", "date_errors"], "/issues contains duplicates; list each value once"),
        (("v",), 2, "/v is 2; write 1"),
        (("verdict",), "no", '/verdict is "no"; write one of accept, refine, reject, escalate'),
        (("iteration",), 0, "/iteration is 0; write an integer of at least 1"),
        (("best",), {"iteration": 1}, "/best/head is missing; write a string that matches"),
        (("head",), "9f2c1e4", '/head is "9f2c1e4"; write a string that matches'),
        (("more",), "3", '/more is "3"; write an integer of at least 1'),
    ],
)
def test_a_marker_of_another_form_is_told(path, value, words):
    first, *others = violations_of("rejection", replace_value(MARKER, path, value))
    assert (first[: len(words)], others) == (words, [])


def test_the_grounding_rules_want_a_version_and_two_parts():  # rows 105, 106
    assert violations_of("tool-grounding", GROUNDING) == []
    assert violations_of("tool-grounding", {"version": "1.0"}) == [
        "/grounding_rules is missing; write an object",
        "/verification_protocol is missing; write an object",
        '/version is "1.0"; write a string that matches ^\\d+\\.\\d+\\.\\d+$',
    ]


def test_the_defaults_of_grounding_are_those_of_the_document():  # rows 106 to 125
    schema = schemas.load_schema("tool-grounding")
    rules = schema["$defs"]["GroundingRules"]["properties"]
    protocol = schema["$defs"]["VerificationProtocol"]["properties"]
    assert schema["properties"]["version"]["default"] == "1.0.0"
    assert {name: len(rule["default"]) for name, rule in rules.items()} == {
        "mandatory_grounding": 10,
        "recommended_grounding": 4,
        "grounding_not_required": 4,
    }
    assert {
        f"{part}.{name}": rule["default"]
        for part, whole in protocol.items()
        for name, rule in whole["properties"].items()
    } == {
        "before_claim.check_required": True,
        "before_claim.verification_steps": [
            "Identify claim type",
            "Determine if grounding required",
            "Select appropriate verification tool",
            "Execute verification action",
            "Wait for observation",
            "Make claim based on observation",
        ],
        "claim_format.include_source": True,
        "claim_format.include_timestamp": False,
        "claim_format.format_template": "[Claim] (Source: [tool/observation])",
        "on_verification_failure.actions": [
            "Do not make the claim",
            "Report verification failure",
            "Suggest alternative approach",
        ],
        "on_verification_failure.allow_unverified_claim": False,
    }


def test_the_claim_types_name_their_tools():  # rows 126 to 132
    types = schemas.load_schema("tool-grounding")["$defs"]["ClaimTypes"]["properties"]
    tools = {
        f"{group}.{name}": rule["properties"]["required_tool"]["default"]
        for group, whole in types.items()
        for name, rule in whole["properties"].items()
    }
    assert tools == {
        "file_claims.existence": "Glob",
        "file_claims.content": "Read",
        "file_claims.location": "Grep",
        "code_claims.behavior": "Bash (test runner)",
        "code_claims.syntax": "Bash (type checker/linter)",
        "state_claims.git_state": "Bash (git commands)",
        "state_claims.dependency_state": "Read (package.json) or Bash (npm list)",
    }
