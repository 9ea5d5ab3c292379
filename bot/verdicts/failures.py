"""Read what a failed check printed: the failing test, the location, the error, expected and actual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bot import regex
from bot.logging import PRIVATE_KEY, Redaction
from bot.values import Location
from bot.verdicts.locations import repository_location

MAX_LOG = 64 * 1024
"""Characters at the end of a job's log that are read."""
_MAX_LINES = 4_000
_LONGEST_LINE = 400
_LONGEST_VALUE = 120

_redact = Redaction()
_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\"'<>|,]{1,200}\.[A-Za-z][A-Za-z0-9]{0,9})"
_LINE = r"(?P<line>[1-9][0-9]{0,6})"
_COLOURS = regex.Regex(r"\x1b\[[0-9;]*[A-Za-z]|^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,20}Z ?")
_EXCEPTION = r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Failure|Panic|Interrupt|Warning|Exit)\b|Failed\b)"


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """The first failure that a check reports; what the runner does not say is empty."""

    test: str = ""
    location: Location | None = None
    error: str = ""
    expected: str = ""
    actual: str = ""
    url: str = ""

    @property
    def comparison(self) -> str:
        """`expected 2, got 3`, where the runner says both."""
        return f"expected {self.expected}, got {self.actual}" if self.expected and self.actual else ""

    @property
    def part(self) -> tuple[str, str] | None:
        """The failing test, by which the same failure is recognised at another head."""
        return ("test", self.test) if self.test else None

    @property
    def summary(self) -> str:
        """One line: the test, and the comparison or the first line of the error."""
        return ": ".join(filter(None, (self.test, self.comparison or self.error)))


def tail_of_log(log: str) -> str:
    """Return the end of a job's log in whole lines, without colours, times and secrets."""
    tail = log[-MAX_LOG:]
    if len(log) > MAX_LOG:
        tail = tail.partition("\n")[2]
    lines = (_COLOURS.sub("", line) for line in tail.splitlines()[-_MAX_LINES:])
    return _redact(PRIVATE_KEY.sub("", "\n".join(lines)))


def read_failure(text: str, url: str = "") -> CheckFailure | None:
    """Return the first failure that a test runner, compiler or linter printed; None if there is none."""
    failure = CheckFailure(url=url)
    heading = title = ""
    for line in _lines(text):
        if title and not failure.test and (named := _TITLED.match(line)):
            failure = replace(failure, test=f"{title} {named['test']}")
        numbered = _NUMBERED.match(line)
        title = numbered["test"].strip() if numbered else ""
        if stylish := _STYLISH.match(line):
            if heading and not failure.location:
                failure = replace(
                    failure,
                    location=repository_location(heading, stylish["line"]),
                    error=failure.error or _value(stylish["error"]),
                )
            continue
        heading = line.strip() if _FILE_ALONE.fullmatch(line.strip()) else heading
        failure = _read_line(line, failure)
    return failure if failure.test or failure.location or failure.error else None


def _lines(text: str) -> Iterator[str]:
    for line in text[-MAX_LOG:].splitlines()[-_MAX_LINES:]:
        plain = _COLOURS.sub("", line[: 2 * _LONGEST_LINE])
        yield plain.removeprefix("##[error]").rstrip()[:_LONGEST_LINE]


def _read_line(line: str, failure: CheckFailure) -> CheckFailure:
    if not failure.test or "::" not in failure.test:
        failure = _read_test(line, failure)
    if frame := _FRAME.match(line):
        # Of a trace the last frame of the project, until the error itself was printed.
        location = repository_location(frame["path"], frame["line"]) if not failure.error else None
        return replace(failure, location=location) if location else failure
    for pattern in _ERRORS:
        match = pattern.match(line)
        if match is None or _NO_ERROR.search(line):
            continue
        groups = match.groupdict()
        location = repository_location(groups["path"], groups["line"]) if groups.get("path") else None
        error = _value(groups.get("error") or "")
        return _read_values(
            line,
            replace(
                failure,
                location=failure.location
                if failure.location and failure.location.line
                else location or failure.location,
                error=failure.error or error,
            ),
        )
    if not failure.location or not failure.location.line:
        for pattern in _LOCATIONS:
            match = pattern.match(line)
            location = repository_location(match["path"], match["line"]) if match else None
            if location and not _is_class_file(location.path):
                return replace(failure, location=location)
    return _read_values(line, failure)


def _read_test(line: str, failure: CheckFailure) -> CheckFailure:
    for pattern in _TESTS:
        match = pattern.match(line)
        if match is None:
            continue
        groups = match.groupdict()
        test = groups["test"].strip(" :").rstrip(".")
        if failure.test and not test.endswith(f"::{failure.test}"):
            return failure  # another test; of the same one the full id is better
        path = groups.get("path") or test.partition("::")[0] if "::" in test else groups.get("path") or ""
        location = failure.location or (repository_location(path, groups.get("line")) if path else None)
        error = failure.error or _value(groups.get("error") or "")
        return replace(failure, test=test, location=location, error=error)
    return failure


def _read_values(line: str, failure: CheckFailure) -> CheckFailure:
    """Add expected and actual values where the line states them as such."""
    if failure.expected and failure.actual:
        return failure
    for pattern in _BOTH:
        if match := pattern.search(line):
            return replace(failure, expected=_value(match["expected"]), actual=_value(match["actual"]))
    if not failure.expected and (match := _EXPECTED.match(line)):
        return replace(failure, expected=_value(match["expected"]))
    if failure.expected and (match := _ACTUAL.match(line)):
        return replace(failure, actual=_value(match["actual"]))
    return failure


def _is_class_file(path: str) -> bool:
    """Whether a frame names a file without its folder, as the JVM does: it can't be located."""
    return "/" not in path and path.endswith((".java", ".kt", ".scala", ".groovy"))


def _value(text: str) -> str:
    folded = " ".join(text.split()).strip()
    limit = _LONGEST_VALUE * 2
    return folded if len(folded) <= limit else f"{folded[: limit - 1].rstrip()}…"


_FRAME = regex.Regex(r'\s*File "(?P<path>[^"\n]{1,300})", line (?P<line>[1-9][0-9]{0,6})')
_FILE_ALONE = regex.Regex(
    r"(?:[A-Za-z]:)?[\w./\\@-]{1,200}\.(?:js|jsx|ts|tsx|mjs|cjs|vue|svelte|css|scss|md|py)"
)
_STYLISH = regex.Regex(r"\s{1,8}(?P<line>[1-9][0-9]{0,6}):[0-9]+\s{1,8}error\s{1,8}(?P<error>.{1,300})")
_NUMBERED = regex.Regex(r"\s{1,4}[0-9]{1,4}\) (?P<test>\S.{0,200})$")  # mocha
_TITLED = regex.Regex(r"\s{5,20}(?P<test>\S.{0,200}):$")
_TESTS = tuple(
    regex.Regex(pattern)
    for pattern in (
        r"FAILED (?P<test>\S{1,300}::\S[^\n]{0,200}?)(?: - (?P<error>.{1,300}))?$",  # pytest
        r"_{3,} (?P<test>(?:[A-Z]\w*\.)?test\w*(?:\[[^\]]{0,100}\])?) _{3,}$",
        r"(?P<test>\S{1,200}::\S{1,200}) FAILED\b",
        r"(?:FAIL|ERROR): (?P<test>test\w*) \([\w.]{1,200}\)",  # unittest
        r"\s*● (?P<test>[^\n]{1,250} › [^\n]{1,200})$",  # jest
        r"\s*FAIL\s+(?P<path>\S{1,200}\.[a-z]{2,4}) > (?P<test>.{1,250})$",  # vitest
        r"\s*--- FAIL: (?P<test>\S{1,200}) \(",  # go
        r"test (?P<test>\S{1,200}) \.\.\. FAILED",  # cargo
        r"thread '(?P<test>[\w:]{1,200}::[\w:]{1,200})' (?:\([0-9]{1,9}\) )?panicked at",
        r"(?:\[ERROR\] +)?(?P<test>[\w.$]{1,150}(?:Test|Tests|IT)\.\w{1,100}):[0-9]+ (?P<error>.{1,300})",
        r"\[ERROR\] +(?P<test>[\w.$]{1,150}(?:Test|Tests|IT)\.\w{1,100})\b.{0,60}<<< (?:FAILURE|ERROR)!",
        r"(?P<test>[\w.$]{1,150} > [^\n]{1,150}) FAILED$",  # gradle
        r"rspec \.?/?(?P<path>\S{1,200}_spec\.rb):(?P<line>[1-9][0-9]{0,6}) # (?P<test>.{1,200})",
        r"\s*<testcase [^>]{0,300}?\bname=\"(?P<test>[^\"]{1,200})\"[^>]{0,300}><failure",
        r"not ok [0-9]+ -? ?(?P<test>.{1,200})",  # TAP
        r"\s{0,6}[✗✘×] (?P<test>\S.{1,200}?)(?: \(?[0-9.]+ ?m?s\)?)?$",
    )
)
_ERRORS = tuple(
    regex.Regex(pattern)
    for pattern in (
        rf"E {{1,12}}(?P<error>{_EXCEPTION}.{{0,300}}|assert .{{1,300}})",  # pytest
        rf"{_PATH}:{_LINE}: (?P<error>{_EXCEPTION}.{{0,200}})$",
        rf"{_PATH}\({_LINE},[0-9]+\): error (?P<error>.{{1,300}})",  # tsc, msbuild
        rf"{_PATH}:{_LINE}:[0-9]+ - error (?P<error>.{{1,300}})",
        rf"{_PATH}:{_LINE}(?::[0-9]+)?: (?:fatal )?error: (?P<error>.{{1,300}})",  # gcc, mypy, javac
        rf"{_PATH}:{_LINE}:[0-9]+:? (?P<error>[A-Z]{{1,5}}[0-9]{{2,5}}\b.{{1,300}})",  # ruff, flake8
        rf"{_PATH}:{_LINE}:[0-9]+: (?P<error>(?:undefined|cannot|syntax error|missing|imported).{{1,250}})",
        r"(?P<error>error(?:\[E[0-9]{4}\])?: .{1,300})",  # rustc
        r"(?P<error>[A-Z]{1,5}[0-9]{3,4} (?:\[\*\] )?.{1,250})$",  # ruff
        rf"\s{{1,8}}{_PATH}:{_LINE}: (?P<error>.{{1,300}})$",  # go
        r"\s*Error: {1,12}(?P<error>\S.{1,300})$",  # testify
        (
            r"thread '[^']{1,200}' (?:\([0-9]{1,9}\) )?panicked at (?:'(?P<error>[^']{1,200})', )?"
            r"(?P<path>[^\s:]{1,200}):(?P<line>[1-9][0-9]{0,6}):[0-9]+:?$"
        ),
        r"(?P<error>assertion .{1,200} failed.{0,100})$",
        r"panic: (?P<error>.{1,300})",
        r"\s{0,12}Failure/Error: (?P<error>.{1,300})",  # rspec
        rf"\s{{0,12}}(?P<error>(?:[\w.]{{1,100}}\.)?{_EXCEPTION}(?: \[\w+\])?:? .{{1,300}})$",
    )
)
_NO_ERROR = regex.Regex(
    r"exit(?:ed)? (?:with )?(?:exit )?(?:code|status) [0-9]|(?i:[0-9]+ error|could not compile|aborting due)"
)
_LOCATIONS = tuple(
    regex.Regex(pattern)
    for pattern in (
        rf"\s*(?:❯|-->|-*>) {_PATH}:{_LINE}(?::[0-9]+)?$",
        rf"\s*(?:❯|-->) (?:[^\n]{{0,80}} )?{_PATH}:{_LINE}(?::[0-9]+)?$",
        rf"\s*at (?:[^(\n]{{0,150}}\()?(?:file://)?{_PATH}:{_LINE}(?::[0-9]+)?\)?$",
        rf"\s*Error Trace:\s{{1,20}}{_PATH}:{_LINE}$",
        rf"\s*# \./{_PATH}:{_LINE}(?::in .{{0,100}})?$",
        rf"{_PATH}:{_LINE}: in \S",
    )
)
_BOTH = tuple(
    regex.Regex(pattern)
    for pattern in (
        r"expected:? ?<(?P<expected>[^>]{1,200})> but was:? ?<(?P<actual>[^>]{1,200})>",
        (
            r"AssertionError(?: \[\w+\])?: expected (?P<actual>.{1,150}?)"
            r" to (?:be|(?:deep(?:ly)? |strictly )?equal)"
            r" (?P<expected>.{1,150}?)(?: //.*)?$"
        ),
        r"\bgot:? (?P<actual>[^,;]{1,100})[,;] ?(?:want(?:ed)?|expected):? (?P<expected>.{1,100})$",
        r"(?i:\bexpected):? (?P<expected>[^,;]{1,100}?),? (?:but )?(?:got|received):? (?P<actual>.{1,100})$",
    )
)
_EXPECTED = regex.Regex(r"\s*(?:E\s+)?(?i:expected) {0,3}: {0,8}(?P<expected>\S.{0,200})$")
_ACTUAL = regex.Regex(r"\s*(?:E\s+)?(?i:received|actual|got) {0,3}: {0,8}(?P<actual>\S.{0,200})$")
