"""SARIF: what linters write is understood, and what we write is SARIF."""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from bot.feedback.lint import LintProblem, render_sarif
from bot.pull_request.documents import TextPosition
from bot.pull_request.events import ToolResult
from bot.values import Location
from bot.verdicts.quality import ProblemLevel, QualityRule
from bot.verdicts.sarif import MAX_MESSAGE, SarifRun
from bot.verdicts.tool_reports import ReportError, ReportFormat, ToolReport, read_report


def log(*results, **run):
    tool = run.pop("tool", {"driver": {"name": "lint", "rules": run.pop("rules", [])}})
    return {"version": "2.1.0", "runs": [{"tool": tool, "results": list(results), **run}]}


def place(uri, region=None, **more):
    return [
        {"physicalLocation": {"artifactLocation": {"uri": uri, **more}, "region": region or {"startLine": 3}}}
    ]


def read(data) -> ToolReport:
    return read_report(json.dumps(data).encode())


def only(data) -> ToolResult:
    (result,) = read(data).results
    return result


def path_of(location, **run):
    found = only(
        log({"ruleId": "R1", "locations": [{"physicalLocation": {"artifactLocation": location}}]}, **run)
    )
    return found.place.path if found.place else None


def test_a_result_has_rule_message_place_and_level():
    rule = {"id": "R1", "shortDescription": {"text": "About it"}}
    region = {"startLine": 4, "endLine": 6, "startColumn": 2}
    found = {
        "ruleId": "R1",
        "level": "note",
        "message": {"text": "Too long"},
        "locations": place("src/a.py", region),
    }
    report = read(log(found, rules=[rule]))
    assert (report.tool, report.results) == (
        "lint",
        (ToolResult("R1", "Too long", Location("src/a.py", 4, 6), "note"),),
    )


@pytest.mark.parametrize(
    "result",
    [
        {"ruleId": "R2"},
        {"ruleId": "R2/sub"},
        {"rule": {"id": "R2"}},
        {"ruleIndex": 1},
        {"rule": {"index": 1}},
    ],
)
def test_a_rule_is_found_however_the_result_names_it(result):
    rules = [{"id": "R1"}, {"id": "R2", "defaultConfiguration": {"level": "error"}}]
    found = only(log(result, rules=rules))
    assert (found.rule.partition("/")[0], found.level) == ("R2", "error")


def test_a_rule_of_a_plug_in_is_found():
    tool = {"driver": {"name": "lint"}, "extensions": [{"rules": [{"id": "X"}, {"id": "Y"}]}]}
    assert only(log({"rule": {"index": 1, "toolComponent": {"index": 0}}}, tool=tool)).rule == "Y"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"text": "Plain"}, "Plain"),
        ({"markdown": "`x` is unused"}, "`x` is unused"),
        ({"id": "default", "arguments": ["x", "y"]}, "x shadows y {2}"),
        ({"text": "{0} is unused", "arguments": ["x"]}, "x is unused"),
        ({"text": "from [a source](1) to [a sink](2)"}, "from a source to a sink"),
        ({}, "About it"),
        (None, "About it"),
        (["?"], "About it"),
    ],
)
def test_a_message_is_read_in_every_form(message, words):
    rule = {"id": "R1", "messageStrings": {"default": {"text": "{0} shadows {1} {2}"}}}
    rule["fullDescription"] = {"text": "About it"}
    assert only(log({"ruleId": "R1", "message": message}, rules=[rule])).message == words


def test_a_message_is_never_endless():
    assert len(only(log({"message": {"text": "x" * 100_000}})).message) == MAX_MESSAGE


@pytest.mark.parametrize(
    ("result", "level"),
    [
        ({"level": "error"}, "error"),
        ({}, "warning"),
        ({"level": "fatal"}, "warning"),
        ({"level": ["error"]}, "warning"),
        ({"kind": "review"}, "none"),
        ({"kind": "fail", "level": "none"}, "none"),
    ],
)
def test_the_level_is_the_tools_or_a_warning(result, level):
    assert only(log(result)).level == level


@pytest.mark.parametrize(
    "result",
    [
        {"kind": "pass"},
        {"kind": "notApplicable"},
        {"kind": "informational"},
        {"baselineState": "absent"},
        {"suppressions": [{"kind": "inSource"}]},
        {"suppressions": [{"kind": "external", "status": "accepted"}]},
    ],
)
def test_what_passed_is_suppressed_or_gone_is_left_out(result):
    assert (read(log(result)).results, read(log(result)).more) == ((), 0)


def test_a_suppression_that_was_refused_hides_nothing():
    assert only(log({"suppressions": [{"status": "rejected"}]}))


@pytest.mark.parametrize(
    ("region", "lines"),
    [
        ({"startLine": 3}, (3, None)),
        ({"startLine": 3, "endLine": 3}, (3, None)),
        ({"startLine": 3, "endLine": 5}, (3, 5)),
        ({"charOffset": 100}, (None, None)),
        ({"startLine": 0, "startColumn": 2}, (None, None)),
        ({"startLine": "3"}, (None, None)),
        ({"startLine": True}, (None, None)),
        ({"startLine": 10**30}, (None, None)),
        ([], (3, None)),
    ],
)
def test_a_region_counts_only_in_lines(region, lines):
    found = only(log({"locations": place("a.py", region)}))
    assert found.place == Location("a.py", *lines)


@pytest.mark.parametrize(
    ("location", "run", "path"),
    [
        ({"uri": "src/a%20b.py"}, {}, "src/a b.py"),
        ({"uri": "./src/../src/a.py"}, {}, "src/a.py"),
        ({"uri": "src\\a.py"}, {}, "src/a.py"),
        ({"uri": "a.py", "uriBaseId": "%SRCROOT%"}, {}, "a.py"),
        (
            {"uri": "a.py", "uriBaseId": "SRC"},
            {
                "originalUriBaseIds": {
                    "SRC": {"uri": "src/", "uriBaseId": "TOP"},
                    "TOP": {"uri": "file:///w/"},
                }
            },
            "src/a.py",
        ),
        (
            {"uri": "a.py", "uriBaseId": "X"},
            {"originalUriBaseIds": {"X": {"uri": "x/", "uriBaseId": "X"}}},
            "x/" * 5 + "a.py",
        ),
        ({"index": 0}, {"artifacts": [{"location": {"uri": "src/a.py"}}]}, "src/a.py"),
        ({"index": 7}, {"artifacts": []}, None),
        ({"uri": "file:///w/src/a.py"}, {"originalUriBaseIds": {"R": {"uri": "file:///w"}}}, "src/a.py"),
        (
            {"uri": "file:///w/src/a.py"},
            {"invocations": [{"workingDirectory": {"uri": "file:///w/"}}]},
            "src/a.py",
        ),
        (
            {"uri": "file:///w/src/a.py"},
            {"versionControlProvenance": [{"mappedTo": {"uri": "file:///w/"}}]},
            "src/a.py",
        ),
        ({"uri": "file:///home/runner/work/app/app/src/a.py"}, {}, "src/a.py"),
        ({"uri": "/github/workspace/src/a.py"}, {}, "src/a.py"),
        ({"uri": "file:///D:/a/app/app/src/a.py"}, {}, "src/a.py"),
        ({"uri": "C:\\code\\a.py"}, {}, None),
        ({"uri": "file:///somewhere/a.py"}, {}, None),
        ({"uri": "file://host/share/a.py"}, {}, None),
        ({"uri": "../../etc/passwd"}, {}, None),
        ({"uri": "src/%2e%2e/%2e%2e/etc/passwd"}, {}, None),
        ({"uri": "https://example.org/a.py"}, {}, None),
        ({"uri": "http://[::1"}, {}, None),
        ({"uri": "a%00.py"}, {}, None),
        ({"uri": "a" * 2000}, {}, None),
        ({"uri": 7}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_path_is_the_one_in_the_repository(location, run, path):
    assert path_of(location, **run) == path


@pytest.mark.parametrize(
    "run",
    [
        {},
        {"results": None},
        {"artifacts": 1, "invocations": [2], "originalUriBaseIds": 3, "versionControlProvenance": [None]},
        {"tool": {"driver": {"name": "lint", "rules": 3}, "extensions": [4]}},
    ],
)
def test_a_run_without_results_is_empty(run):
    tool = {"driver": {"name": "lint"}}
    assert read({"version": "2.1.0", "runs": [{"tool": tool, **run}]}) == ToolReport(
        ReportFormat.SARIF, "lint"
    )


def test_of_many_results_the_first_thousand_are_kept_and_the_rest_counted():
    # Only those are checked: the others are counted where they are results at all.
    report = read(log(*[{"ruleId": f"R{number}"} for number in range(1005)], "no object"))
    assert (len(report.results), report.results[-1].rule, report.more) == (1000, "R999", 5)


def test_half_of_a_surrogate_pair_is_no_text():
    with pytest.raises(ReportError, match="is not JSON"):
        read(log({"message": {"text": "half \ud800 pair"}}))


def test_an_argument_that_is_named_often_makes_no_text_of_gigabytes():
    found = {"message": {"text": "{0}" * 600, "arguments": ["a" * 5_000_000]}}
    tracemalloc.start()
    try:
        message = SarifRun({}).read(found).message
        assert (message, tracemalloc.get_traced_memory()[1] < 50_000_000) == ("a" * MAX_MESSAGE, True)
    finally:
        tracemalloc.stop()


def test_a_long_root_is_not_put_before_every_path():
    base = {"ROOT": {"uri": "a" * 5_000_000 + "/"}}
    assert path_of({"uri": "app.py", "uriBaseId": "ROOT"}, originalUriBaseIds=base) == "app.py"


def test_our_own_findings_are_a_log_that_can_be_read():
    findings = [
        LintProblem(ProblemLevel.ERROR, "schema", "/id", TextPosition(1, 5), "id is missing", "write a UUID"),
        LintProblem(
            ProblemLevel.NOTE,
            QualityRule.NO_EFFECT,
            "/feedback_items/0/issue",
            TextPosition(9, 3),
            "no effect",
            "say it",
        ),
    ]
    assert read(json.loads(render_sarif(findings, "reviews/a b.json"))).results == (
        ToolResult("schema", "id is missing; write a UUID", Location("reviews/a b.json", 1), "error"),
        ToolResult("no-observable-effect", "no effect; say it", Location("reviews/a b.json", 9), "note"),
    )


def test_our_log_describes_every_rule_and_points_to_it():
    written = json.loads(
        render_sarif(
            [LintProblem(ProblemLevel.NOTE, QualityRule.NO_ACTION, "/x", TextPosition(1, 1), "a", "b")],
            "/f.json",
        )
    )
    (run,) = written["runs"]
    rules = run["tool"]["driver"]["rules"]
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == 1
    assert [rule["id"] for rule in rules] == ["schema", *QualityRule]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "no-concrete-action"
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "/x"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///f.json"}


def test_what_zizmor_writes_is_understood(tmp_path):
    workflow = tmp_path / ".github/workflows/ci.yml"
    workflow.parent.mkdir(parents=True)
    steps = "    steps:\n      - uses: actions/checkout@v4\n"
    workflow.write_text(f"on: push\njobs:\n  a:\n    runs-on: x\n{steps}")
    command = [Path(sys.executable).with_name("zizmor"), "--offline", "--quiet", "--format", "sarif", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)  # noqa: S603 - our own linter
    report = read_report(done.stdout)
    found = {(one.rule, str(one.place)) for one in report.results}
    assert report.tool == "zizmor"
    assert ("zizmor/unpinned-uses", ".github/workflows/ci.yml:6") in found
