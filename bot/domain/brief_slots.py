"""What is observed that can fill the slots of the actions' templates?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.domain import regex
from bot.domain.model import Place
from bot.domain.prose import Kind, cover, mask

LONGEST = 200
"""Characters of an observation that a line shows."""
MOST_PLACES = 3
MOST_ALTERNATIVES = 3


@dataclass(frozen=True, slots=True)
class OpenItem:
    """What is open, as a brief needs it: the gate's words, the validator's words, and the places."""

    name: str
    words: str = ""
    fix: str = ""
    """What the gate registry says to do, or the validator; a brief invents nothing."""
    places: tuple[Place, ...] = ()
    is_blocking: bool = True
    suggestion: str | None = None
    expects: str = ""
    """What the gate asks for, where a check or a linter's log shows at a line that it is not so."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was observed besides the items."""

    asked: str
    """Who can be asked: the validator that speaks."""
    said: str = ""
    """The validator's words."""
    checks: tuple[str, ...] = ()
    """Names of the checks that failed at this head."""
    logs: tuple[str, ...] = ()
    """Names of the tools that found something, by logs that were handed in."""
    framework: str = ""
    """The framework that the trace or the manifest names."""
    annotations: tuple[str, ...] = ()
    """What the failed checks say of single lines."""
    titles: tuple[str, ...] = ()
    """What they call that: the test, or the rule."""
    seen: tuple[str, ...] = ()
    """Where else the failure was seen: evidence of a document, claims that were looked up."""
    only_checks: bool = False
    """No person or agent rejects it: there is output to read, and nobody to ask."""
    output: str = ""
    """What the failed checks printed."""

    @property
    def has_evidence(self) -> bool:
        """Whether anything shows the failure: an error, a failed check, an annotation, a look at the file."""
        shown = self.checks or self.logs or self.annotations or self.seen
        return bool(shown or self.error or self.first(expected))

    @property
    def has_trace(self) -> bool:
        """Whether a trace names a line of the project's own code."""
        shown = f"{self.output}\n{self.said}"
        frames = (frame[1] or frame[2] for frame in _FRAME.finditer(shown))
        return any(not _INSTALLED.search(path) for path in frames)

    @property
    def has_proof(self) -> bool:
        """Whether it is known what has to pass."""
        return bool(self.checks or self.logs or self.test)

    @property
    def test(self) -> str:
        """The name of the test that failed: of many that are printed, one that is reported as failed."""
        return reported_test(self.output) or failing_test(self.said)

    @property
    def error(self) -> str:
        """The error that was met, by what was printed or else by what was said."""
        return error_message(self.output) or said_error(self.said)

    def first(self, reader: Callable[[str], str]) -> str:
        """What is read from the output, or else from the words: a program says it more exactly."""
        return reader(self.output) or reader(self.said)


def slots(items: tuple[OpenItem, ...], known: Known) -> Mapping[str, str]:
    """Return a value for each slot that an observation fills, blocking items first."""
    ordered = sorted(items, key=lambda item: not item.is_blocking)
    blocking = [item for item in ordered if item.is_blocking] or ordered
    first = ordered[0] if ordered else OpenItem("")
    found = {
        "error_message": _short(known.error or next(iter(known.annotations), "")),
        "detected_framework": _short(known.framework),
        "test_description": _what_must_pass(known),
        "expected_behavior": _short(
            known.first(expected) or next(filter(None, (item.expects for item in ordered)), "")
        ),
        "clarification_prompt": _short(intent(known.said)),
        "narrowed_scope": _scope(blocking) or _scope(ordered),
        "alternatives": _alternatives(blocking),
        "gap_description": _short(first.words or first.name),
        "constraint": _short(first.fix),
        "issue": _short(first.name),
    }
    return {slot: value for slot, value in found.items() if value}


def has_slots(template: str) -> bool:
    """Whether the template says anything of this pull request, or is advice for any."""
    return _SLOT.search(template) is not None


def filled(template: str, values: Mapping[str, str]) -> str | None:
    """Fill the template's slots, or return None where one of them has no value."""
    wanted = _SLOT.findall(template)
    if any(slot not in values for slot in wanted):
        return None
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def error_message(text: str) -> str:
    """Return the line in which a program says what went wrong; of a trace that is the last one."""
    lines = [line.strip() for line in text.splitlines() if _ERROR.search(line)]
    return lines[-1].strip("` ") if lines else ""


def said_error(text: str) -> str:
    """Return the error that somebody shows as code, or else repeats as a program prints it."""
    shown = "\n".join(text[start:end] for kind, start, end in cover(text) if kind in _SHOWN)
    if found := error_message(shown):
        return found
    own = mask(text, Kind.QUOTE, Kind.COMMENT, *_SHOWN)
    printed = [line.strip() for line in own.splitlines() if _PRINTED.search(line) and not _OVER.search(line)]
    return printed[-1] if printed else ""


def reported_test(text: str) -> str:
    """Return the name of the first test that a test runner reports as failed."""
    for found in _REPORTED.finditer(text):
        name = next(filter(None, found.groups()))
        if not name.strip(" "):  # only what introduces it: the name itself must look like a test's
            name = _test_ahead(text[found.end() : found.end() + _LONGEST_NAME])
        if name:
            return str(name.strip("`"))
    return ""


def _test_ahead(text: str) -> str:
    """Return the word at the start of the text, up to a bracket, if it can be a test."""
    word = text.split(maxsplit=1)[0] if text[:1].strip() else ""
    name = word.partition("(")[0].partition(")")[0]
    return name if len(name) > 2 and any(map(word.__contains__, _OF_TESTS)) else ""


def failing_test(text: str) -> str:
    """Return the name of the test that failed by the text, or that a clause of it says so of."""
    if reported := reported_test(text):
        return reported
    clauses = _CLAUSE_END.split(mask(text, Kind.QUOTE, Kind.FENCE, Kind.COMMENT))
    named = (_TEST.search(clause) for clause in clauses if _FAILING.search(clause))
    return next((match[0].strip("`") for match in named if match), "")


def expected(text: str) -> str:
    """Return the part of the text that sets what was wanted against what came."""
    found = (match[0].strip() for match in _EXPECTED.finditer(text))
    return next((one for one in found if not _is_opinion(one) or len(_VALUE.findall(one)) > 1), "")


def _is_opinion(text: str) -> bool:
    said = text.lower()
    return any(not said.endswith("but ", 0, was.start()) for was in _WAS.finditer(said))


def intent(text: str) -> str:
    """Return the sentence in which the validator says what was wanted, whole: half of one misleads."""
    own = mask(text, Kind.QUOTE, Kind.FENCE, Kind.COMMENT)
    match = next((found for found in _INTENT.finditer(own) if not found["praise"]), None)
    if match is None:
        return ""
    ends = list(_sentence_ends(own))
    start = max((end for end in ends if end <= match.start()), default=0)
    stop = min((end for end in ends if end > match.start()), default=len(own))
    return _LIST_MARK.sub("", text[start:stop].strip()).rstrip(".! ")


_SLOT = regex.Pattern(r"\{(\w+)\}")
_GAVE_UP = (
    r"(?i:segmentation fault|core dumped|panicked at|\bpanic: |fatal error|\berror: |\berror c\d{4}"
    r"|exit(?:ed)? (?:with )?(?:code|status) [1-9]|undefined reference|assertion .{0,80} failed)"
)
_ERROR = regex.Pattern(rf"\b[A-Z]\w*(?:Error|Exception)\b:? ?\S|{_GAVE_UP}")
_PRINTED = regex.Pattern(rf"\b[A-Z]\w*(?:Error|Exception): ?\S|{_GAVE_UP}")
"""Stricter than among what a program printed: people speak of errors by their names as well."""
_SHOWN = (Kind.FENCE, Kind.CODE)
_OVER = regex.Pattern(r"(?i)\b(?:no more|no longer|not any ?more|without|fixed|gone|never)\b")
_FAILING = regex.Pattern(
    r"(?i)\b(?:fail\w*|red|breaks?|broken?|crash\w*|tim(?:es?|ed|ing) out|errors?|so (?:is|does)|same for"
    r"|(?:not|n't|n’t|no longer|make\b.{0,80}) (?:pass|passes|passing))\b"
)
_CLAUSE_END = regex.Pattern(
    r"[.!?;](?:\s|$)|,|\n\s*\n|\b(?:but|because|since|while|whereas|although|though|after|when)\b"
)
_WAS = regex.Pattern(r"\bwas\b")
_VALUE = regex.Pattern(r"[`\"'‘“<][^`\"'’”>]+[`\"'’”>]|\d[\d.,]*")
_LONGEST_NAME = 150
_OF_TESTS = ("test", "Test", "spec", "Spec", "::")
_REPORTED = regex.Pattern(  # as test runners say it
    r"(?m)^\W{0,8}FAIL(?:ED)?:?( +)"  # FAILED a.py::test_b
    r"|^[ \t]{0,8}test (\S{3,150}) \.\.\. FAILED"
    r"|^[ \t]{0,8}(\S{1,100}::\S{1,100}) FAILED\b"
    r"|^[ \t]{0,8}(\w[\w.]{2,}) > [^\n]{1,120} FAILED\b"  # BetaTest > sums FAILED
    r"|<<< FAIL(?:URE|ED)!(?: -+)? in (\S{3,150})"
    r"|^\[ERROR\] {1,4}([\w.]*Test[\w.]*)"
)
_TEST = regex.Pattern(
    r"\btest_\w{3,}|\b\w+_tests?\b|\b[\w/]+\.(?:spec|test)\.\w{1,4}|\b[A-Z]\w*Test\b(?:\.\w+)?"
)
_EXPECTED = regex.Pattern(
    r"(?i)\bexpected:? [^\n]{1,120}?\b(?:but |instead |, )?(?:got|was|actual:?|received|found)\b"
    r":? ?[^\n]{0,80}"
    r"|\bexpected:? [^\n]{1,120}\n\s{0,20}(?:but got|got|actual|received|found):? [^\n]{1,80}"
)
_INTENT = regex.Pattern(
    r"(?i)(?P<praise>\bshould be (?:fine|ok|okay|good|enough|easy)\b)"
    r"|\b(?:i meant|i wanted|i asked for|what i (?:want|need)|i(?: would|['’]d) (?:rather|prefer)"
    r"|should (?:be|use|go|live|stay|rather)"
    r"|please (?:use|keep|move|make|do))\b[^\n]{3}"
)
_FRAME = regex.Pattern(
    r'(?m)^[ \t]*File "([^"\n]{1,200})", line \d|^[ \t]*at (?:[^(\n]{0,120}\()?([^\s()]{1,200}\.\w{1,4}):\d'
)
_INSTALLED = regex.Pattern(r"site-packages|dist-packages|node_modules|/lib/python\d|^node:|^<")
_SENTENCE_END = regex.Pattern(
    r"(?P<abbreviation>\b(?:[eE]\.g|[iI]\.e|[cC]f|vs)\.)|(?P<sign>[.!?])(?:\s|$)|\n"
)


def _sentence_ends(text: str) -> Iterator[int]:
    for found in _SENTENCE_END.finditer(text):
        at = found.start()
        behind_number = found["sign"] == "." and text[at - 1 : at].isdecimal()
        if found["sign"] and (not behind_number or _is_end_behind_number(text, at)):
            yield at + 1
        if found[0].endswith("\n"):
            yield found.end()


def _is_end_behind_number(text: str, at: int) -> bool:
    """Whether a sentence begins behind the dot, and its number is not that of a list in the text."""
    listed = text[at - 2 : at - 1] == " " and text[max(at - 3, 0) : at - 2] in _BEFORE_LISTED
    following = at + 1
    while text[following : following + 1].isspace():
        following += 1
    return not listed and "A" <= text[following : following + 1] <= "Z"


_BEFORE_LISTED = tuple(":;,.!?")
_LIST_MARK = regex.Pattern(r"^(?:[-*+>]|\d{1,9}[.)])\s+")


def _what_must_pass(known: Known) -> str:
    test = known.test
    tools = (*(f"check {check}" for check in known.checks), *known.logs)
    named = ", ".join(tools[:MOST_PLACES])
    told = ", ".join(known.titles[:MOST_PLACES]) or error_message(known.output)
    found = test or _short(told)
    return f"{named} ({found})" if named and found else named or test


def _scope(items: Sequence[OpenItem]) -> str:
    places = dict.fromkeys(str(place) for item in items for place in item.places)
    return ", ".join(tuple(places)[:MOST_PLACES])


def _alternatives(items: Sequence[OpenItem]) -> str:
    """What the registry asks for instead, item by item."""
    fixes = dict.fromkeys(_short(item.fix).rstrip(".") for item in items if item.fix)
    return "; ".join(tuple(fixes)[:MOST_ALTERNATIVES])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
