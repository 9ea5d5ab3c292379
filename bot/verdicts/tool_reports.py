"""Read what tools report: SARIF, rdjson, JUnit XML, feedback documents and the short form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from io import BytesIO
from typing import Any, assert_never
from xml.parsers import expat

import msgspec

from bot import regex
from bot.gates import schemas
from bot.gates.config import RepositoryRules, ToolRule, UnmappedResults, ValidatorRules
from bot.gates.model import matches_name
from bot.gates.schemas import list_at, text_at, value_at
from bot.pull_request.documents import MAX_DOCUMENT_SIZE, parse_document_items
from bot.pull_request.events import ToolResult
from bot.pull_request.model import BLOCKING_SEVERITIES, Item
from bot.values import Location
from bot.verdicts.sarif import MAX_MESSAGE, MAX_RULE, ReportedPaths, SarifRun, as_line_number

MAX_RESULTS = 1000
"""Results that are kept of a report; the rest is counted."""
_MAX_TOOL = 100
_MAX_LINE = 65_536
"""Bytes of a line of rdjsonl; reviewdog's own have a few hundred."""
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class ReportFormat(StrEnum):
    """The form of a report."""

    DOCUMENT = "actionable-feedback"
    SARIF = "sarif"
    RDJSON = "rdjson"
    RDJSONL = "rdjsonl"
    JUNIT = "junit"
    SHORT = "findings"


_BY_CONTENT_TYPE: Mapping[str, ReportFormat] = {
    "application/sarif+json": ReportFormat.SARIF,
    "application/jsonl": ReportFormat.RDJSONL,
    "application/x-ndjson": ReportFormat.RDJSONL,
    "application/xml": ReportFormat.JUNIT,
    "text/xml": ReportFormat.JUNIT,
}
_BY_KEY: Mapping[str, ReportFormat] = {
    "feedback_items": ReportFormat.DOCUMENT,
    "runs": ReportFormat.SARIF,
    "diagnostics": ReportFormat.RDJSON,
    "findings": ReportFormat.SHORT,
    "message": ReportFormat.RDJSONL,
}
_EXPECTED = (
    "is in an unknown format; send an actionable-feedback document (`feedback_items`), SARIF 2.1.0 (`runs`),"
    " rdjson (`diagnostics`), rdjsonl, JUnit XML, or the short form (`findings`)"
)


@dataclass(frozen=True, slots=True)
class ReportProblem:
    """What is wrong with a report, and where: at a JSON pointer, or in a line."""

    where: str
    what: str

    def __str__(self) -> str:
        """The location, if there is one, and what is wrong there."""
        return f"{self.where or 'the report'} {self.what}"


class ReportError(Exception):
    """The report can't be read; has every problem."""

    def __init__(self, *problems: ReportProblem) -> None:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        super().__init__("; ".join(map(str, problems[:5])) + more)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ToolReport:
    """What a report says, whatever its form."""

    format: ReportFormat
    tool: str = ""
    """Empty where the report is its sender's own verdict."""
    results: tuple[ToolResult, ...] = ()
    more: int = 0
    """Results beyond those that are kept."""
    document: Any = None
    """The feedback document, as parsed from JSON."""


def read_report(body: bytes, content_type: str = "", root: str = "") -> ToolReport:
    """Read a report, whose format is known from its type or else its content; raise `ReportError`.

    `root` is where the repository was checked out on the tool's machine.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    form, value = _detect(body, content_type)
    paths = ReportedPaths(root)
    match form:
        case ReportFormat.JUNIT:
            return _JUnitReader(paths).read(body)
        case ReportFormat.RDJSONL:
            return _read_rdjsonl(body, paths)
        case ReportFormat.DOCUMENT:
            return _read_document(value, len(body))
        case ReportFormat.SARIF:
            return _read_sarif(value, root)
        case ReportFormat.RDJSON:
            _check("reports/rdjson", _shorten(value, "diagnostics"))
            return _rdjson_report(form, value, paths)
        case ReportFormat.SHORT:
            return _read_short_form(value, paths)
        case _:
            assert_never(form)


def _detect(body: bytes, content_type: str) -> tuple[ReportFormat, Any]:
    """Return the form of a report, and its value where it is one JSON value."""
    named = _BY_CONTENT_TYPE.get(content_type)
    if named is ReportFormat.JUNIT or (named is None and body.lstrip()[:1] == b"<"):
        return ReportFormat.JUNIT, None
    if named is ReportFormat.RDJSONL:
        return named, None
    try:
        value = msgspec.json.decode(body)
    except _NOT_JSON:
        if named is None and _starts_with_object_line(body):
            return ReportFormat.RDJSONL, None
        raise ReportError(_syntax_problem(body)) from None
    keys = value if isinstance(value, dict) else {}
    detected: ReportFormat | None = named or next(
        (form for key, form in _BY_KEY.items() if key in keys), None
    )
    if detected is None:
        raise ReportError(ReportProblem("", _EXPECTED))
    return detected, value


def _check(schema: str, value: object) -> None:
    if violations := schemas.find_violations(schema, value):
        raise ReportError(*(ReportProblem(one.pointer, f"{one.found}; {one.expected}") for one in violations))


def _shorten(value: Any, key: str) -> Any:
    """Return an object with no more entries under this key than are read: checking all takes seconds."""
    entries = value.get(key) if isinstance(value, dict) else None
    return {**value, key: entries[:MAX_RESULTS]} if isinstance(entries, list) else value


def _syntax_problem(body: bytes) -> ReportProblem:
    """Say where it stops being JSON; the quick decoder knows no line."""
    try:
        json.loads(body)
    except json.JSONDecodeError as error:
        return ReportProblem(f"line {error.lineno}, column {error.colno}", f"is not JSON: {error.msg}")
    except (UnicodeDecodeError, RecursionError) as error:
        return ReportProblem("", f"is not JSON: {type(error).__name__}")
    return ReportProblem("", "is not JSON")


def _read_document(value: Any, size: int) -> ToolReport:
    if size > MAX_DOCUMENT_SIZE:
        raise ReportError(
            ReportProblem("", f"can have at most {MAX_DOCUMENT_SIZE:,} bytes if it is a document")
        )
    _check("actionable-feedback", value)
    return ToolReport(ReportFormat.DOCUMENT, document=value)


def _read_sarif(value: Any, root: str) -> ToolReport:
    log = _shorten(value, "runs")
    if log_runs := list_at(log, "runs"):
        log = {**log, "runs": [_shorten(run, "results") for run in log_runs]}
    _check("reports/sarif", log)
    runs = [SarifRun(run, root) for run in list_at(value, "runs")]
    results = [(run, result) for run in runs for result in run.open_results]
    kept = results[:MAX_RESULTS]
    # A clean log names its tools as well: it lifts what they reported before.
    tools = {run.tool for run, _ in kept} or {run.tool for run in runs}
    tool = ", ".join(sorted(tools - {""}))[:_MAX_TOOL] or "SARIF"
    read = tuple(run.read(result) for run, result in kept)
    return ToolReport(ReportFormat.SARIF, tool, read, len(results) - len(kept))


_RDJSON_LEVELS: Mapping[object, str] = {
    "ERROR": "error",
    "WARNING": "warning",
    "INFO": "note",
    1: "error",
    2: "warning",
    3: "note",
}


def _starts_with_object_line(body: bytes) -> bool:
    first = next((line for line in BytesIO(body) if line.strip()), b"")
    try:
        return len(first) <= _MAX_LINE and isinstance(msgspec.json.decode(first), dict)
    except _NOT_JSON:
        return False


def _read_rdjsonl(body: bytes, paths: ReportedPaths) -> ToolReport:
    """Read one diagnostic a line; the problems of all lines that are read are reported."""
    problems: list[ReportProblem] = []
    diagnostics: dict[int, Any] = {}
    more = 0
    # A line at a time, and none that is long: a list of all lines would take many times the body's memory.
    for number, line in enumerate(BytesIO(body), 1):
        if not line.strip():
            continue
        if len(diagnostics) + len(problems) >= MAX_RESULTS:
            more += 1
            continue
        if len(line) > _MAX_LINE:
            problems.append(ReportProblem(f"line {number}", f"is longer than {_MAX_LINE:,} bytes"))
            continue
        try:
            diagnostics[number] = msgspec.json.decode(line)
        except _NOT_JSON:
            problems.append(ReportProblem(f"line {number}", "is not JSON; write one diagnostic per line"))
    numbers, value = list(diagnostics), {"diagnostics": list(diagnostics.values())}
    for violation in schemas.find_violations("reports/rdjson", value):
        _, index, *rest = violation.path
        where = f"line {numbers[int(index)]}" + (f": {schemas.json_pointer(rest)}" if rest else "")
        problems.append(ReportProblem(where, f"{violation.found}; {violation.expected}"))
    if problems:
        raise ReportError(*problems)
    report = _rdjson_report(ReportFormat.RDJSONL, value, paths)
    return replace(report, more=more)


def _rdjson_report(form: ReportFormat, value: dict[str, Any], paths: ReportedPaths) -> ToolReport:
    diagnostics = list_at(value, "diagnostics")
    tools = {text_at(one, "source", "name") for one in (value, *diagnostics[:MAX_RESULTS])} - {""}
    default = _RDJSON_LEVELS.get(value.get("severity"), "warning")
    results = tuple(_diagnostic(one, default, paths) for one in diagnostics[:MAX_RESULTS])
    tool = ", ".join(sorted(tools))[:_MAX_TOOL] or form.value
    return ToolReport(form, tool, results, len(diagnostics) - len(results))


def _diagnostic(diagnostic: dict[str, Any], default: str, paths: ReportedPaths) -> ToolResult:
    lines = (value_at(diagnostic, "location", "range", end, "line") for end in ("start", "end"))
    return ToolResult(
        text_at(diagnostic, "code", "value")[:MAX_RULE],
        text_at(diagnostic, "message").strip()[:MAX_MESSAGE],
        paths.location(text_at(diagnostic, "location", "path"), *map(as_line_number, lines)),
        _RDJSON_LEVELS.get(diagnostic.get("severity"), default),
    )


def _read_short_form(value: Any, paths: ReportedPaths) -> ToolReport:
    _check("reports/findings", value)
    results = tuple(
        ToolResult(
            "",
            finding["message"].strip()[:MAX_MESSAGE],
            paths.location(finding.get("path"), finding.get("line")),
            # Whoever hands in a finding by hand means it.
            finding.get("severity", "error"),
            finding.get("tag"),
        )
        for finding in value["findings"]
    )
    return ToolReport(ReportFormat.SHORT, results=results)


MAX_XML_DEPTH = 50
"""Levels of elements; a JUnit file has four, and suites may be nested."""
MAX_XML_ELEMENTS = 500_000
_TEXT_KEPT = 4_000
_ROOTS = ("testsuites", "testsuite")
_LINE_OF_OUTPUT = regex.Regex(r"(?m)^([^\s:]{1,300}):([0-9]{1,7}):(?:\s|$)")
_LINE_OF_TRACEBACK = regex.Regex(r'File "([^"\n]{1,300})", line ([0-9]{1,7})')


@dataclass(slots=True)
class _TestCase:
    """A test case while its elements are read."""

    attributes: Mapping[str, str]
    outcome: str = ""
    message: str = ""
    text: str = ""
    severity: str = ""


@dataclass(slots=True)
class _JUnitReader:
    """Collects the failed tests while expat reads; no tree is built, and no entity is ever expanded."""

    paths: ReportedPaths
    suites: list[Mapping[str, str]] = field(default_factory=list)
    problems: list[ReportProblem] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    more: int = 0
    tool: str = ""
    case: _TestCase | None = None
    depth: int = 0
    elements: int = 0
    is_in_outcome: bool = False
    parser: expat.XMLParserType = field(default_factory=expat.ParserCreate)

    def read(self, body: bytes) -> ToolReport:
        """Return the failed tests; raise `ReportError`."""
        parser = self.parser
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        # A document type is all that entities need, and no JUnit file has one.
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        try:
            parser.Parse(body, True)  # noqa: FBT003 - expat takes no keyword
        except expat.ExpatError as error:
            where = f"line {error.lineno}, column {error.offset + 1}"
            raise ReportError(
                *self.problems, ReportProblem(where, f"is not XML: {expat.ErrorString(error.code)}")
            ) from None
        if self.problems:
            raise ReportError(*self.problems)
        return ToolReport(
            ReportFormat.JUNIT, self.tool[:_MAX_TOOL] or "junit", tuple(self.results), self.more
        )

    def _refuse_document_type(self, *_declaration: object) -> None:
        raise ReportError(self._problem("has a document type; write the XML without <!DOCTYPE>"))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_XML_DEPTH:
            raise ReportError(self._problem(f"is nested more than {MAX_XML_DEPTH} levels deep"))
        if self.elements > MAX_XML_ELEMENTS:
            raise ReportError(self._problem(f"is beyond the {MAX_XML_ELEMENTS:,} elements that are allowed"))
        if self.depth == 1 and name not in _ROOTS:
            raise ReportError(self._problem(f"is <{name[:40]}>; JUnit XML starts with <testsuites>"))
        match name:
            case "testsuites" | "testsuite":
                self.tool = self.tool or attributes.get("name", "").strip()
                self.suites.append(attributes)
            case "testcase":
                if not attributes.get("name", "").strip() and len(self.problems) < MAX_RESULTS:
                    self.problems.append(self._problem("is a <testcase> without a name"))
                self.case = _TestCase(attributes)
            case "failure" | "error" if self.case and not self.case.outcome:
                self.case.outcome, self.case.message = name, attributes.get("message", "")
                self.is_in_outcome = True
            case "property" if self.case and attributes.get("name") == "severity":
                self.case.severity = attributes.get("value", "")

    def _characters(self, text: str) -> None:
        if self.is_in_outcome and self.case:
            # Test runners name the line last.
            self.case.text = (self.case.text + text)[-_TEXT_KEPT:]

    def _end(self, name: str) -> None:
        self.depth -= 1
        match name:
            case "testsuites" | "testsuite":
                self.suites.pop()
            case "failure" | "error":
                self.is_in_outcome = False
            case "testcase" if self.case:
                if self.case.outcome and len(self.results) < MAX_RESULTS:
                    self.results.append(self._result(self.case))
                elif self.case.outcome:
                    self.more += 1
                self.case = None

    def _result(self, case: _TestCase) -> ToolResult:
        name, owner = case.attributes.get("name", ""), case.attributes.get("classname", "")
        suite = self.suites[-1] if self.suites else {}
        # Linters write a file as the class, and `org.TOOL.RULE` as the name of the test.
        is_linter = "/" in owner or "\\" in owner
        rule = (
            name.removeprefix(f"{suite.get('package', '')}.") if is_linter else f"{owner}.{name}".strip(".")
        )
        message = case.message.strip() or next(iter(case.text.strip().splitlines()), "")
        return ToolResult(
            rule[:MAX_RULE],
            (message if is_linter else f"{rule} failed: {message}".removesuffix(": "))[:MAX_MESSAGE],
            self._place(case, suite.get("name", "") if is_linter else ""),
            case.severity if case.severity in {"error", "warning", "note"} else "error",
        )

    def _place(self, case: _TestCase, linted: str) -> Location | None:
        """Return where a test failed: the last line of the repository in its output, else its file."""
        named = (
            [] if linted else [*_LINE_OF_TRACEBACK.finditer(case.text), *_LINE_OF_OUTPUT.finditer(case.text)]
        )
        lines = [(case.attributes.get("file", "") or linted, case.attributes.get("line", ""))]
        lines += [(match[1], match[2]) for match in named]
        places = (self.paths.location(file, _number(line)) for file, line in reversed(lines))
        return next((place for place in places if place), None)

    def _problem(self, what: str) -> ReportProblem:
        return ReportProblem(f"line {self.parser.CurrentLineNumber}", what)


def _number(text: str) -> int | None:
    return as_line_number(int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else None


_SEVERITIES = {"error": "major", "warning": "minor", "note": "suggestion", "none": "suggestion"}


def build_items(results: Iterable[ToolResult], tool: str, rules: ValidatorRules) -> tuple[Item, ...]:
    """Return the items of a report: those with a tag first, then those that block."""
    items = [item for result in results if (item := _item(result, tool, rules))]
    return tuple(sorted(items, key=lambda item: (item.tag is None, item.severity not in BLOCKING_SEVERITIES)))


def _item(result: ToolResult, tool: str, rules: ValidatorRules) -> Item | None:
    tag = find_tag(result, rules.rules)
    severity = _SEVERITIES.get(result.level, result.level)
    item = Item(
        tag,
        words=result.message,
        place=result.place,
        severity=severity,
        evidence=f"{tool} {result.rule}: {result.message}"[:MAX_MESSAGE] if result.rule else None,
    )
    if tag or not result.rule:
        return item
    if rules.unmapped is UnmappedResults.IGNORE:
        return None
    blocks = rules.unmapped is UnmappedResults.BLOCK and severity in BLOCKING_SEVERITIES
    severity = severity if blocks or severity not in BLOCKING_SEVERITIES else "minor"
    return replace(item, severity=severity, blocks=blocks, rule=result.rule)


def find_tag(result: ToolResult, rules: Sequence[ToolRule]) -> str | None:
    """Return the tag of a result: its own, or the one that the config gives its rule."""
    if result.tag or not result.rule:
        return result.tag
    return next((rule.tag for rule in rules if matches_name(rule.rule, result.rule)), None)


@dataclass(frozen=True, slots=True)
class MappingSummary:
    """How many results a report has, how many of them have a tag, and the rules that have none."""

    results: int
    mapped: int
    unmapped: tuple[str, ...]


def summarize_mapping(report: ToolReport, rules: RepositoryRules) -> MappingSummary:
    """Say what the config makes of a report."""
    tag_of = cache(lambda rule: find_tag(ToolResult(rule, ""), rules.validators.rules))
    tags = [result.tag or tag_of(result.rule) for result in report.results]
    documented = parse_document_items(report.document) if report.document is not None else ()
    mapped = sum(tag is not None for tag in (*tags, *(item.tag for item in documented)))
    without = (result.rule for result, tag in zip(report.results, tags, strict=True) if tag is None)
    rules_without_tag = tuple(dict.fromkeys(rule for rule in without if rule))
    return MappingSummary(len(report.results) + report.more + len(documented), mapped, rules_without_tag)
