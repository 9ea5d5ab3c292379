"""The published schemas, and what a validator's author is told about a document that differs."""

import copy
import json
from functools import reduce
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from bot.adapters import schemas

FEEDBACK = "actionable-feedback"
EXAMPLE = yaml.safe_load((Path(__file__).parent / "worked_example.yaml").read_text("utf-8"))
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


def changed(document, path, value):
    """The document with another value at this place; `...` takes the place out."""
    result = copy.deepcopy(document)
    *way, last = path
    parent = reduce(lambda node, part: node[part], way, result)
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return result


def told(name, document):
    return [str(violation) for violation in schemas.violations(name, document)]


def item(*path):
    return ("feedback_items", 0, *path)


@pytest.mark.parametrize("name", [FEEDBACK, "rejection", "tool-grounding"])
def test_a_published_schema_is_a_schema_of_draft_2020_12(name):
    schema = schemas.load(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert name in schemas.names()


def test_the_schemas_have_the_names_of_their_documents():  # rows 1, 105
    feedback, grounding = schemas.load(FEEDBACK), schemas.load("tool-grounding")
    assert (feedback["$id"], feedback["title"]) == (
        "https://aiwg.io/schemas/actionable-feedback/v1",
        "Actionable Feedback Schema",
    )
    assert grounding["$id"] == "https://aiwg.io/schemas/tool-grounding/v1"


def test_a_name_that_is_not_published_says_which_are():
    with pytest.raises(LookupError, match=r"there is no schema '../../app'; one of actionable-feedback, "):
        schemas.text("../../app")


def test_the_worked_example_of_the_document_is_valid_and_published():  # row 45
    assert told(FEEDBACK, EXAMPLE) == []
    assert schemas.load(FEEDBACK)["examples"] == [EXAMPLE]


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("iteration", "phase"), "initial refinement final"),  # row 9
        (("target", "type"), "code document artifact configuration test schema"),  # row 11
        (("overall_assessment", "verdict"), "accept refine reject escalate"),  # row 18
        (
            item("aspect"),
            (
                "correctness completeness clarity consistency efficiency security style documentation testability"
                " maintainability"
            ),
        ),  # row 26
        (item("severity"), "critical major minor suggestion"),  # row 27
        (item("location", "type"), "line range function section element path"),  # row 32
    ],
)
def test_a_closed_set_has_exactly_the_documents_values(path, values):
    assert [told(FEEDBACK, changed(EXAMPLE, path, value)) for value in values.split()] == [[]] * len(
        values.split()
    )
    assert told(FEEDBACK, changed(EXAMPLE, path, "other")) == [
        f'{schemas.pointer(path)} is "other"; write one of {", ".join(values.split())}'
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("id",), "a UUID such as 7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10"),  # row 3
        (("timestamp",), "a time with its zone such as 2026-11-15T10:42:07Z"),  # row 3
        (("iteration",), "an object with number, max, phase"),  # row 3
        (("target",), "an object with type, path"),  # row 3
        (("feedback_items",), "a list of at least 1 entry"),  # row 3
        (("overall_assessment",), "an object with score, verdict, summary"),  # row 3
        (("iteration", "number"), "a whole number, at least 1"),  # row 6
        (("iteration", "max"), "a whole number, at least 1"),  # row 6
        (("iteration", "phase"), "one of initial, refinement, final"),  # row 6
        (("target", "path"), "text"),  # row 10
        (("overall_assessment", "score"), "a number, 0 to 1"),  # row 16
        (("overall_assessment", "summary"), "text of 50 to 500 characters"),  # row 16
        (item("issue"), "text of 20 to 500 characters"),  # row 25
        (item("location"), "an object with type, reference"),  # rows 25, 31
        (item("location", "reference"), "text"),  # row 31
        (item("suggestion"), "an object with action, rationale"),  # rows 25, 36
        (item("suggestion", "action"), "text of 20 to 1000 characters"),  # row 36
        (item("suggestion", "rationale"), "text of 20 to 500 characters"),  # row 36
    ],
)
def test_what_the_document_requires_is_missed(path, expected):
    assert told(FEEDBACK, changed(EXAMPLE, path, ...)) == [
        f"{schemas.pointer(path)} is missing; write {expected}"
    ]


@pytest.mark.parametrize(
    "path",
    [
        ("target", "version"),  # row 13
        ("overall_assessment", "confidence"),  # row 20
        item("score"),  # row 28
        item("location", "context_before"),  # row 34
        item("suggestion", "example"),  # row 40
        item("suggestion", "priority"),  # row 41
    ],
)
def test_the_rest_may_be_left_out(path):
    assert told(FEEDBACK, changed(EXAMPLE, path, ...)) == []


@pytest.mark.parametrize(
    ("path", "fits", "differs"),
    [
        (
            ("id",),
            ["5F0C6F0E-8A5B-4D0C-9D62-1B7A3F1C2E90"],
            ["fb-001-example", "5f0c6f0e8a5b4d0c9d621b7a3f1c2e90"],
        ),
        (
            ("timestamp",),
            ["2026-01-25t15:00:00.25+05:30", "2016-12-31T23:59:60Z"],
            ["2026-01-25", "2026-01-25T15:00:00", "2026-02-30T15:00:00Z", "2026-01-25 15:00:00Z", "soon"],
        ),
        (("iteration", "number"), [1, 99], [0, -1, 1.5, "2", True]),
        (("iteration", "max"), [1], [0]),
        (("feedback_items",), [EXAMPLE["feedback_items"][:1]], [[], {}]),
        (("overall_assessment", "score"), [0, 1, 0.5], [-0.1, 1.01, "0.5"]),
        (("overall_assessment", "confidence"), [0, 1], [1.1]),
        (("overall_assessment", "summary"), ["x" * 50, "x" * 500], ["x" * 49, "x" * 501]),
        (item("score"), [0, 1], [2]),
        (item("issue"), ["x" * 20, "x" * 500], ["x" * 19, "x" * 501]),
        (item("suggestion", "action"), ["x" * 20, "x" * 1000], ["x" * 19, "x" * 1001]),
        (item("suggestion", "rationale"), ["x" * 20, "x" * 500], ["x" * 19, "x" * 501]),
        (item("suggestion", "priority"), [1, 10], [0, 11]),
        (
            item("evidence"),
            [{"test_result": "1 failed", "metric": "71 %", "reference": "GUIDE"}],
            [{"metric": 71}],
        ),
        (("quality_tracking",), [{"feedback_followed": True, "improvement_observed": False}], [[]]),
        (
            ("quality_tracking",),
            [{"improvement_delta": -0.2, "feedback_clarity_score": 1}],
            [{"feedback_clarity_score": 1.5}, {"feedback_followed": "yes"}, {"improvement_delta": "more"}],
        ),
    ],
)  # rows 4, 5, 7, 8, 15, 17, 19 to 24, 28, 29, 37, 39, 41 to 44
def test_limits_are_those_of_the_document(path, fits, differs):
    assert [told(FEEDBACK, changed(EXAMPLE, path, value)) for value in fits] == [[]] * len(fits)
    assert [len(told(FEEDBACK, changed(EXAMPLE, path, value))) for value in differs] == [1] * len(differs)


def test_the_bots_own_keys_are_part_of_the_schema():
    own = {
        "tag": "date_errors",
        "gate": "Date accuracy",
        "blocking": True,
        "status": "open",
        "by": "check:validate",
        "inferred": False,
        "url": "https://github.com/acme/knowledge/runs/5512",
        "auto_fixable": True,
        "grounding": {
            "outcome": "contradicted",
            "source": "tree @ 9f2c1e4",
            "claim": "a exists",
            "nearest": "b",
        },
    }
    document = copy.deepcopy(EXAMPLE)
    document["feedback_items"][0] |= own
    document["feedback_items"][0]["location"] |= {"path": "src/auth/validate.ts", "line": 5, "end_line": 9}
    document["brief"] = {
        "feedback_type": None,
        "confidence": 0.9,
        "score": 8,
        "lines": [{"action": "a", "text": "b"}],
    }
    document |= {"more": 2, "$schema": "https://aiwg.io/schemas/actionable-feedback/v1", "anything": "else"}
    assert told(FEEDBACK, document) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (item("tag"), "Date Errors"),
        (item("blocking"), "yes"),
        (item("status"), "fixed"),
        (item("inferred"), 0.7),
        (item("auto_fixable"), 1),
        (item("grounding"), {"outcome": "true"}),
        (item("location", "line"), 0),
        (("brief",), {"feedback_type": "anger"}),
        (("brief",), {"lines": [{"action": "a"}]}),
        (("more",), 0),
    ],
)
def test_the_bots_own_keys_are_checked_too(path, value):
    assert len(told(FEEDBACK, changed(EXAMPLE, path, value))) == 1


def test_all_violations_are_told_at_once_in_the_order_of_their_places():
    document = changed(
        changed(EXAMPLE, item("severity"), "high\x1b[2J"), ("feedback_items", 1, "location", "reference"), 42
    )
    assert told(FEEDBACK, changed(document, ("iteration", "max"), ...)) == [
        '/feedback_items/0/severity is "high\\u001b[2J"; write one of critical, major, minor, suggestion',
        '/feedback_items/1/location/reference is 42; write it in quotes: "42"',
        "/iteration/max is missing; write a whole number, at least 1",
    ]


def test_what_is_no_object_at_all_is_told_once():
    assert told(FEEDBACK, []) == [
        (
            "the document is a list; write an object with id, timestamp, iteration, target, feedback_items,"
            " overall_assessment"
        )
    ]


def test_a_hopeless_value_is_told_only_so_much():
    assert len(schemas.violations(FEEDBACK, EXAMPLE | {"feedback_items": [{}] * 5000})) == schemas.MOST


def test_a_pointer_escapes_its_own_signs():
    assert schemas.pointer(("a/b", 0, "c~d")) == "/a~1b/0/c~0d"


def test_the_marker_is_published():
    assert told("rejection", MARKER) == []
    assert (
        told("rejection", {"issues": [], "source": "validator", "ts": "2026-11-15T10:42:07Z"}) == []
    )  # row 170


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("issues",), ..., "/issues is missing; write a list"),
        (("issues",), ["date_errors", "date_errors"], "/issues says something twice; say everything once"),
        (("v",), 2, "/v is 2; write 1"),
        (("verdict",), "no", '/verdict is "no"; write one of accept, refine, reject, escalate'),
        (("iteration",), 0, "/iteration is 0; write a whole number, at least 1"),
        (("best",), {"iteration": 1}, "/best/head is missing; write text that matches"),
        (("head",), "9f2c1e4", '/head is "9f2c1e4"; write text that matches'),
        (("more",), "3", '/more is "3"; write a whole number, at least 1'),
    ],
)
def test_a_marker_of_another_form_is_told(path, value, words):
    first, *others = told("rejection", changed(MARKER, path, value))
    assert (first[: len(words)], others) == (words, [])


def test_the_grounding_rules_want_a_version_and_two_parts():  # rows 105, 106
    assert told("tool-grounding", GROUNDING) == []
    assert told("tool-grounding", {"version": "1.0"}) == [
        "/grounding_rules is missing; write an object",
        "/verification_protocol is missing; write an object",
        '/version is "1.0"; write text that matches ^\\d+\\.\\d+\\.\\d+$',
    ]


def test_the_defaults_of_grounding_are_those_of_the_document():  # rows 106 to 125
    schema = schemas.load("tool-grounding")
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
    types = schemas.load("tool-grounding")["$defs"]["ClaimTypes"]["properties"]
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


def test_the_bad_and_good_strings_stand_in_the_schema_for_whoever_writes_one():  # rows 30, 38
    properties = schemas.load(FEEDBACK)["$defs"]["FeedbackItem"]["properties"]
    words = json.dumps([properties["issue"], properties["suggestion"]["properties"]["action"]])
    assert [text in words for text in ("Code could be better", "Consider improving this", "Array.map()")] == [
        True
    ] * 3
