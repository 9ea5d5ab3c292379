"""`whetstone lint-feedback`, as a validator's author meets it."""

import io
import json
import sys
from pathlib import Path

import pytest

from bot import cli
from bot.verdicts.tool_reports import read_report

EXAMPLE = Path(__file__).parents[1] / "gates" / "worked_example.yaml"
BAD = """\
id: fb-001-example
timestamp: "2026-01-25T15:00:00Z"
iteration: {number: 2, max: 5, phase: refinement}
target: {type: code, path: src/auth/validate.ts}
feedback_items:
  - aspect: security
    severity: major
    issue: Code could be better
    location: {type: path, reference: .}
    suggestion:
      action: >
        You might
        improve this, perhaps
      rationale: This should work because it is typical
  - aspect: clarity
    severity: minor
    issue: needs improvement
    location: {type: line, reference: 42}
    suggestion:
      action: Better names everywhere in here
overall_assessment:
  score: 0.4
  verdict: refine
  summary: The error is likely in the parser, so it needs another look before acceptance.
"""
FOUND = [
    ("error", "schema", "/id", 1, 5),
    ("error", "vague-wording", "/feedback_items/0/issue", 8, 17),
    ("error", "no-place", "/feedback_items/0/location/reference", 9, 39),
    ("error", "advisory-wording", "/feedback_items/0/suggestion/action", 12, 9),
    ("error", "advisory-wording", "/feedback_items/0/suggestion/action", 13, 23),
    ("error", "ungrounded-wording", "/feedback_items/0/suggestion/rationale", 14, 23),
    ("error", "too-short", "/feedback_items/1/issue", 17, 12),
    ("error", "vague-wording", "/feedback_items/1/issue", 17, 12),
    ("error", "schema", "/feedback_items/1/location/reference", 18, 39),
    ("error", "schema", "/feedback_items/1/suggestion/rationale", 20, 7),
    ("note", "no-concrete-action", "/feedback_items/1/suggestion/action", 20, 15),
    ("error", "ungrounded-wording", "/overall_assessment/summary", 24, 16),
]


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    def run(text, *options, name="review.yml"):
        monkeypatch.chdir(tmp_path)
        if text is not None:
            Path(name).write_text(text, "utf-8")
        code = cli.run_command_line(["lint-feedback", name, *options])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_worked_example_of_the_document_has_no_finding(lint):  # row 45
    assert lint(EXAMPLE.read_text("utf-8")) == (0, "review.yml: 0 errors, 0 notes\n", "")


def test_every_finding_is_told_at_once_with_its_place(lint):
    code, out, _ = lint(BAD, "--format", "json")
    told = json.loads(out)
    assert (code, told["file"], told["errors"], told["notes"]) == (1, "review.yml", 11, 1)
    assert [
        tuple(one[key] for key in ("level", "rule", "pointer", "line", "column")) for one in told["findings"]
    ] == FOUND


def test_a_line_of_text_says_where_what_and_what_to_write_instead(lint):  # rows 46, 141
    code, out, _ = lint(BAD)
    lines = out.splitlines()
    assert (code, len(lines), lines[-1]) == (1, 13, "review.yml: 11 errors, 1 note")
    assert lines[1] == (
        "review.yml:8:17: error: `could be better` is vague; name what is wrong and what happens because of it"
        " [vague-wording] /feedback_items/0/issue"
    )
    assert lines[5] == (
        "review.yml:14:23: error: `should work because` states an assumption as a fact; write “The test passes"
        " (npm test output: 'PASS')”; run tests to verify behavior"
        " [ungrounded-wording] /feedback_items/0/suggestion/rationale"
    )


def test_sarif_says_the_same(lint):
    code, out, _ = lint(BAD, "--format", "sarif")
    (run,) = json.loads(out)["runs"]
    regions = [one["locations"][0]["physicalLocation"]["region"] for one in run["results"]]
    assert code == 1
    assert [(one.level, one.rule, str(one.place)) for one in read_report(out.encode()).results] == [
        (level, rule, f"review.yml:{line}") for level, rule, _, line, _ in FOUND
    ]
    assert [region["startColumn"] for region in regions] == [column for *_, column in FOUND]


def test_json_is_linted_like_yaml(lint):
    document = json.dumps({"feedback_items": []}, indent=1)
    code, out, _ = lint(document, "--format", "json", name="review.json")
    told = json.loads(out)["findings"]
    assert (code, {one["rule"] for one in told}, len(told)) == (1, {"schema"}, 6)
    assert told[-1] == {  # row 15
        "level": "error",
        "rule": "schema",
        "pointer": "/feedback_items",
        "line": 2,
        "column": 20,
        "message": "feedback_items has 0 entries",
        "instead": "write a list of at least 1 entry",
    }


def test_notes_alone_are_no_failure(lint):  # rows 47, 49
    text = EXAMPLE.read_text("utf-8").replace(
        "Missing validation for token expiration timestamp", "Not my favourite approach to this"
    )
    code, out, _ = lint(text)
    assert (code, [line.split(" [")[1].split("]")[0] for line in out.splitlines()[:-1]]) == (
        0,
        ["no-specific-problem", "no-observable-effect"],
    )


def test_a_document_comes_from_stdin_too(lint, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EXAMPLE.read_bytes())))
    assert lint(None, name="-") == (0, "stdin: 0 errors, 0 notes\n", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "review.yml: No such file or directory"),
        ("", "review.yml: empty; write an actionable-feedback document in JSON or YAML"),
        ("a: [", "review.yml:1:5: did not find expected node content"),
        ("a: &b 1\nc: *b", "review.yml:2:4: aliases are not supported; write the value out"),
    ],
)
def test_what_can_not_be_read_is_a_usage_error(lint, text, words):
    assert lint(text) == (2, "", f"whetstone lint-feedback: {words}\n")


def test_a_folder_is_no_file(lint):
    assert lint(None, name=".") == (2, "", "whetstone lint-feedback: .: Is a directory\n")


def test_an_unknown_format_is_a_usage_error(lint):
    with pytest.raises(SystemExit) as ended:
        lint("a: 1", "--format", "xml")
    assert ended.value.code == 2


def test_the_command_has_help_with_an_example(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.run_command_line(["lint-feedback", "--help"])
    assert (
        ended.value.code,
        "whetstone lint-feedback feedback.yml --format sarif" in capsys.readouterr().out,
    ) == (0, True)
