"""What is a validator's author told about a feedback document that differs from its schema?"""

import copy
import json
from pathlib import Path

import pytest
import yaml

from bot.gates import schemas
from tests.schema_documents import replace_value, violations_of

FEEDBACK = "actionable-feedback"
EXAMPLE = yaml.safe_load((Path(__file__).parent / "worked_example.yaml").read_text("utf-8"))


def item(*path):
    return ("feedback_items", 0, *path)


def test_the_worked_example_of_the_document_is_valid_and_published():  # row 45
    assert violations_of(FEEDBACK, EXAMPLE) == []
    assert schemas.load_schema(FEEDBACK)["examples"] == [EXAMPLE]


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
    assert [violations_of(FEEDBACK, replace_value(EXAMPLE, path, value)) for value in values.split()] == [
        []
    ] * len(values.split())
    assert violations_of(FEEDBACK, replace_value(EXAMPLE, path, "other")) == [
        f'{schemas.json_pointer(path)} is "other"; write one of {", ".join(values.split())}'
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("id",), "a UUID, such as 7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10"),  # row 3
        (("timestamp",), "a time with a UTC offset, such as 2026-11-15T10:42:07Z"),  # row 3
        (("iteration",), "an object with number, max, phase"),  # row 3
        (("target",), "an object with type, path"),  # row 3
        (("feedback_items",), "a list of at least 1 entry"),  # row 3
        (("overall_assessment",), "an object with score, verdict, summary"),  # row 3
        (("iteration", "number"), "an integer of at least 1"),  # row 6
        (("iteration", "max"), "an integer of at least 1"),  # row 6
        (("iteration", "phase"), "one of initial, refinement, final"),  # row 6
        (("target", "path"), "a string"),  # row 10
        (("overall_assessment", "score"), "a number from 0 to 1"),  # row 16
        (("overall_assessment", "summary"), "a string of 50 to 500 characters"),  # row 16
        (item("issue"), "a string of 20 to 500 characters"),  # row 25
        (item("location"), "an object with type, reference"),  # rows 25, 31
        (item("location", "reference"), "a string"),  # row 31
        (item("suggestion"), "an object with action, rationale"),  # rows 25, 36
        (item("suggestion", "action"), "a string of 20 to 1000 characters"),  # row 36
        (item("suggestion", "rationale"), "a string of 20 to 500 characters"),  # row 36
    ],
)
def test_what_the_document_requires_is_missed(path, expected):
    assert violations_of(FEEDBACK, replace_value(EXAMPLE, path, ...)) == [
        f"{schemas.json_pointer(path)} is missing; write {expected}"
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
    assert violations_of(FEEDBACK, replace_value(EXAMPLE, path, ...)) == []


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
    assert [violations_of(FEEDBACK, replace_value(EXAMPLE, path, value)) for value in fits] == [[]] * len(
        fits
    )
    assert [len(violations_of(FEEDBACK, replace_value(EXAMPLE, path, value))) for value in differs] == [
        1
    ] * len(differs)


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
    assert violations_of(FEEDBACK, document) == []


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
    assert len(violations_of(FEEDBACK, replace_value(EXAMPLE, path, value))) == 1


def test_all_violations_are_told_at_once_in_the_order_of_their_places():
    document = replace_value(
        replace_value(EXAMPLE, item("severity"), "high\x1b[2J"),
        ("feedback_items", 1, "location", "reference"),
        42,
    )
    assert violations_of(FEEDBACK, replace_value(document, ("iteration", "max"), ...)) == [
        '/feedback_items/0/severity is "high\\u001b[2J"; write one of critical, major, minor, suggestion',
        '/feedback_items/1/location/reference is 42; put it in quotes: "42"',
        "/iteration/max is missing; write an integer of at least 1",
    ]


def test_what_is_no_object_at_all_is_told_once():
    assert violations_of(FEEDBACK, []) == [
        (
            "the document is a list; write an object with id, timestamp, iteration, target, feedback_items,"
            " overall_assessment"
        )
    ]


def test_a_hopeless_value_is_told_only_so_much():
    assert (
        len(schemas.find_violations(FEEDBACK, EXAMPLE | {"feedback_items": [{}] * 5000}))
        == schemas.MAX_VIOLATIONS
    )


def test_the_bad_and_good_strings_stand_in_the_schema_for_whoever_writes_one():  # rows 30, 38
    properties = schemas.load_schema(FEEDBACK)["$defs"]["FeedbackItem"]["properties"]
    words = json.dumps([properties["issue"], properties["suggestion"]["properties"]["action"]])
    assert [text in words for text in ("Code could be better", "Consider improving this", "Array.map()")] == [
        True
    ] * 3
