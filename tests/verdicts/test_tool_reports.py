"""Reports of real tools are read, and what is wrong with a report is told at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.gates.config import RepositoryRules, ToolRule, ValidatorRules
from bot.pull_request.events import ToolResult
from bot.values import Location
from bot.verdicts.tool_reports import (
    MAX_RESULTS,
    MAX_XML_DEPTH,
    MappingSummary,
    ReportError,
    ReportFormat,
    ToolReport,
    read_report,
    summarize_mapping,
)
from tests.journeys.submitted_documents import make_document

REPORTS = Path(__file__).with_name("reports")


def run_tool(folder, *command) -> bytes:
    tool = Path(sys.executable).with_name(command[0])
    return subprocess.run([tool, *command[1:]], cwd=folder, capture_output=True, check=False).stdout  # noqa: S603 - our own tools


@pytest.fixture
def linted(tmp_path):
    """A folder with an unused import and an undefined name in one file."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "unused.py").write_text("import os\n\nprint(undefined)\n")
    return tmp_path


@pytest.mark.parametrize(
    ("form", "content_type", "level"),
    [
        ("sarif", "", "error"),
        ("sarif", "application/sarif+json", "error"),
        ("rdjson", "", "warning"),
        ("junit", "", "error"),
        ("junit", "application/xml", "error"),
    ],
)
def test_ruff_says_the_same_in_every_form(linted, form, content_type, level):
    command = ("ruff", "check", "--isolated", "--no-cache", "--select", "F", "--output-format", form, ".")
    report = read_report(run_tool(linted, *command), content_type, root=str(linted))
    assert report == ToolReport(
        ReportFormat(form),
        "ruff",
        (
            ToolResult("F401", "`os` imported but unused", Location("src/unused.py", 1), level),
            ToolResult("F821", "Undefined name `undefined`", Location("src/unused.py", 3), level),
        ),
    )


def test_a_clean_report_of_ruff_still_names_it(tmp_path):
    command = ("ruff", "check", "--isolated", "--no-cache", "--output-format")
    (tmp_path / "fine.py").write_text("")
    assert [read_report(run_tool(tmp_path, *command, form, ".")) for form in ("sarif", "rdjson")] == [
        ToolReport(ReportFormat.SARIF, "ruff"),
        ToolReport(ReportFormat.RDJSON, "ruff"),
    ]


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_the_failed_tests_of_pytest_are_read_with_their_lines(tmp_path, family):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sums.py").write_text(
        "def test_sum():\n    assert 1 + 1 == 3\n\n\ndef test_fine():\n    pass\n"
    )
    # Without a root of its own, pytest takes one from a configuration file in any folder above.
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        f"junit_family={family}",
        "--junitxml=report.xml",
        "--rootdir=.",
    )
    run_tool(tmp_path, "pytest", *options, "tests")
    assert read_report((tmp_path / "report.xml").read_bytes()) == ToolReport(
        ReportFormat.JUNIT,
        "pytest tests",
        (
            ToolResult(
                "tests.test_sums.test_sum",
                "tests.test_sums.test_sum failed: assert (1 + 1) == 3",
                Location("tests/test_sums.py", 2),
                "error",
            ),
        ),
    )


def test_what_eslint_wrote_on_a_runner_is_read():
    assert read_report((REPORTS / "eslint.sarif").read_bytes()) == ToolReport(
        ReportFormat.SARIF,
        "ESLint",
        (
            ToolResult(
                "no-unused-vars",
                "'unused' is assigned a value but never used.",
                Location("src/compare.mjs", 1),
                "error",
            ),
            ToolResult(
                "eqeqeq", "Expected '===' and instead saw '=='.", Location("src/compare.mjs", 4), "warning"
            ),
        ),
    )


def test_rdjsonl_is_read_line_by_line():
    lines = (
        '{"message": "odd", "location": {"path": "a.md", "range": {"start": {"line": 3}, "end": {"line": 4}}},'
        ' "severity": "ERROR", "source": {"name": "vale"}, "code": {"value": "Odd"}}\n\n'
        '{"message": "even"}\n'
    )
    expected = ToolReport(
        ReportFormat.RDJSONL,
        "vale",
        (ToolResult("Odd", "odd", Location("a.md", 3, 4), "error"), ToolResult("", "even")),
    )
    assert read_report(lines.encode()) == expected
    assert read_report(lines.splitlines()[0].encode()).results == expected.results[:1]
    assert read_report(b"", "application/jsonl") == ToolReport(ReportFormat.RDJSONL, "rdjsonl")


def test_the_short_form_is_its_senders_own_verdict():
    findings = [
        {"tag": "date_errors", "path": "claims/a.md", "line": 4, "message": "No such month"},
        {"message": "Say why", "severity": "suggestion"},
    ]
    assert read_report(json.dumps({"findings": findings}).encode()) == ToolReport(
        ReportFormat.SHORT,
        "",
        (
            ToolResult("", "No such month", Location("claims/a.md", 4), "error", "date_errors"),
            ToolResult("", "Say why", None, "suggestion"),
        ),
    )


def test_a_document_is_kept_whole():
    document = make_document()
    assert read_report(json.dumps(document).encode()) == ToolReport(ReportFormat.DOCUMENT, document=document)


def test_a_byte_order_mark_is_ignored():
    assert read_report(b'\xef\xbb\xbf{"findings": []}').format is ReportFormat.SHORT
    assert read_report(b'\xef\xbb\xbf<testsuites name="a"/>').format is ReportFormat.JUNIT


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (b"{", ["line 1, column 2 is not JSON: Expecting property name enclosed in double quotes"]),
        (b'{"version": "1.0", "runs": [{}]}', ["/runs/0/tool is missing", '/version is "1.0"']),
        (b'{"version": "2.1.0", "runs": 3}', ["/runs is 3"]),
        (b'{"diagnostics": [{}, 3]}', ["/diagnostics/0/message is missing", "/diagnostics/1 is 3"]),
        (
            b'{"message": "a"}\n{"severity": "BAD"}\nno\n',
            ["line 3 is not JSON", "line 2: /message is missing", 'line 2: /severity is "BAD"'],
        ),
        (b'{"findings": [{"message": "a", "line": 3}]}', ["/findings/0/path is missing"]),
        (b'{"findings": [{"message": "a", "tag": "x"}]}', ['/findings/0/tag is "x"']),
        (b"<html/>", ["line 1 is <html>; JUnit XML starts with <testsuites>"]),
        (
            b"<testsuites>\n<testcase/>\n</testsuite>",
            ["line 2 is a <testcase> without a name", "line 3, column 3 is not XML: mismatched tag"],
        ),
        (b"[]", ["the report is in an unknown fo"]),
        (b'{"data": 1}', ["the report is in an unknown fo"]),
    ],
)
def test_everything_that_is_wrong_is_told_with_its_place(body, problems):
    with pytest.raises(ReportError) as caught:
        read_report(body)
    told = [str(problem) for problem in caught.value.problems]
    assert len(told) == len(problems)
    assert [line[: len(expected)] for line, expected in zip(told, problems, strict=True)] == problems


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE a [<!ENTITY b "c">]><testsuites name="&b;"/>',
        b'<!DOCTYPE testsuites SYSTEM "file:///etc/passwd"><testsuites/>',
    ],
)
def test_xml_with_a_document_type_is_refused_before_any_entity_is_read(body):
    with pytest.raises(ReportError, match="has a document type"):
        read_report(body)


def test_xml_is_read_to_a_depth():
    nested = b"<testsuite>" * MAX_XML_DEPTH + b"</testsuite>" * MAX_XML_DEPTH
    assert read_report(nested).results == ()
    with pytest.raises(ReportError, match=f"nested more than {MAX_XML_DEPTH} levels deep"):
        read_report(b"<testsuites>" + nested + b"</testsuites>")


@pytest.mark.parametrize(
    "body",
    [
        b"<testsuites>" + b'<testcase name="a"><error/></testcase>' * (MAX_RESULTS + 7) + b"</testsuites>",
        b'{"diagnostics": [' + b",".join([b'{"message": "a"}'] * (MAX_RESULTS + 7)) + b"]}",
        b'{"message": "a"}\n' * (MAX_RESULTS + 7),
    ],
    ids=["junit", "rdjson", "rdjsonl"],
)
def test_results_beyond_the_limit_are_counted(body):
    report = read_report(body)
    assert (len(report.results), report.more) == (MAX_RESULTS, 7)


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("src/a.py", "", "src/a.py"),
        ("./src/a.py", "", "src/a.py"),
        ("/builds/acme/shop/src/a.py", "", None),
        ("/builds/acme/shop/src/a.py", "/builds/acme/shop", "src/a.py"),
        ("/builds/acme/shop/src/a.py", "/builds/acme/shop/", "src/a.py"),
        ("/builds/acme/shopping/a.py", "/builds/acme/shop", None),
        ("/home/runner/work/shop/shop/src/a.py", "", "src/a.py"),
        ("D:\\a\\shop\\shop\\src\\a.py", "", "src/a.py"),
        ("C:\\jobs\\7\\src\\a.py", "C:\\jobs\\7", "src/a.py"),
        ("../other/a.py", "", None),
    ],
)
def test_a_path_is_the_repositorys_wherever_the_tool_ran(path, root, expected):
    body = json.dumps({"diagnostics": [{"message": "a", "location": {"path": path}}]})
    (result,) = read_report(body.encode(), root=root).results
    assert (result.place.path if result.place else None) == expected


def test_what_was_mapped_is_counted_and_the_rules_without_a_tag_are_named():
    rules = RepositoryRules(validators=ValidatorRules(rules=(ToolRule("/^E5/", "code_style"),)))
    results = tuple(ToolResult(rule, "a") for rule in ("E501", "F401", "F401", "", "E502"))
    own = ToolResult("", "a", tag="date_errors")
    report = ToolReport(ReportFormat.SARIF, "ruff", (*results, own), more=3)
    assert summarize_mapping(report, rules) == MappingSummary(9, 3, ("F401",))
