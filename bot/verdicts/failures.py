"""Read what a failed check printed: the failing test, the location, the error, expected and actual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from bot import regex
from bot.gates.packs import load_rules
from bot.logging import PRIVATE_KEY, Redaction
from bot.values import Location
from bot.verdicts.locations import repository_location

MAX_LOG = 64 * 1024
"""Characters at the end of a job's log that are read."""
_MAX_LINES = 4_000
_LONGEST_LINE = 400
_LONGEST_VALUE = 120

_redact = Redaction()
_COLOURS = regex.Regex(r"\x1b\[[0-9;]*[A-Za-z]|^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,20}Z ?")
_PARTS = {
    "<PATH>": r"(?P<path>(?:[A-Za-z]:)?[^\s:()\"'<>|,]{1,200}\.[A-Za-z][A-Za-z0-9]{0,9})",
    "<LINE>": r"(?P<line>[1-9][0-9]{0,6})",
    "<EXCEPTION>": r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Failure|Panic|Interrupt|Warning|Exit)\b|Failed\b)",
}
"""The parts that patterns of `rules/runners.yml` have in common."""


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
    for pattern in _patterns("errors"):
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
        for pattern in _patterns("locations"):
            match = pattern.match(line)
            location = repository_location(match["path"], match["line"]) if match else None
            if location and not _is_class_file(location.path):
                return replace(failure, location=location)
    return _read_values(line, failure)


def _read_test(line: str, failure: CheckFailure) -> CheckFailure:
    for pattern in _patterns("tests"):
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
    for pattern in _patterns("comparisons"):
        if match := pattern.search(line):
            return replace(failure, expected=_value(match["expected"]), actual=_value(match["actual"]))
    if not failure.expected and (match := _EXPECTED.match(line)):
        return replace(failure, expected=_value(match["expected"]))
    if failure.expected and (match := _ACTUAL.match(line)):
        return replace(failure, actual=_value(match["actual"]))
    return failure


@cache
def _patterns(name: str) -> tuple[regex.Regex, ...]:
    """Return the patterns of a section of `rules/runners.yml`."""
    patterns = [runner["pattern"] for runner in load_rules("runners")[name]]
    for part, meaning in _PARTS.items():
        patterns = [pattern.replace(part, meaning) for pattern in patterns]
    return tuple(map(regex.Regex, patterns))


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
_NO_ERROR = regex.Regex(
    r"exit(?:ed)? (?:with )?(?:exit )?(?:code|status) [0-9]|(?i:[0-9]+ error|could not compile|aborting due)"
)
_EXPECTED = regex.Regex(r"\s*(?:E\s+)?(?i:expected) {0,3}: {0,8}(?P<expected>\S.{0,200})$")
_ACTUAL = regex.Regex(r"\s*(?:E\s+)?(?i:received|actual|got) {0,3}: {0,8}(?P<actual>\S.{0,200})$")
