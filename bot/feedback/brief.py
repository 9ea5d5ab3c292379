"""Write the brief for the next revision from action templates.

A brief is made of the actions of the detected type, most important first. It is scored from 0 to 10; below
7 the next round goes by more of what was read, but there are no more rounds than the rules allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot import regex
from bot.detection.detector import Detection
from bot.detection.rules import DetectionRules, FeedbackType
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import cover_pieces, mask_hidden
from bot.values import Location

MAX_SLOT_LENGTH = 200
"""Characters of an observation that a line shows."""
MAX_SLOT_LOCATIONS = 3
MAX_ALTERNATIVES = 3


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An open item as a brief needs it: the gate's text, the validator's text, and the locations."""

    name: str
    text: str = ""
    fix: str = ""
    """The fix from the gate or the validator; a brief invents nothing."""
    locations: tuple[Location, ...] = ()
    is_blocking: bool = True
    suggestion: str | None = None
    expects: str = ""
    """What the gate requires, where a check or a tool's log shows at a line that it is not met."""


@dataclass(frozen=True, slots=True)
class BriefFacts:
    """What was observed besides the items."""

    contact: str
    """The validator who can be asked."""
    comment_text: str = ""
    """The validator's text."""
    checks: tuple[str, ...] = ()
    """Names of the checks that failed at this head."""
    logs: tuple[str, ...] = ()
    """Names of the tools whose submitted logs have findings."""
    framework: str = ""
    """The framework that the trace or the manifest names."""
    annotations: tuple[str, ...] = ()
    """The annotations of failed checks."""
    titles: tuple[str, ...] = ()
    """The titles of the annotations: the test, or the rule."""
    observed: tuple[str, ...] = ()
    """Other observations of the failure: evidence of a document, verified claims."""
    only_checks: bool = False
    """No person or agent rejects it: there is output to read, and nobody to ask."""
    output: str = ""
    """What the failed checks printed."""

    @property
    def has_evidence(self) -> bool:
        """Whether anything shows the failure: an error, a failed check, an annotation, an observation."""
        is_shown = self.checks or self.logs or self.annotations or self.observed
        return bool(is_shown or self.error or self.first(find_expectation))

    @property
    def has_trace(self) -> bool:
        """Whether a trace names a line of the project's own code."""
        text = f"{self.output}\n{self.comment_text}"
        frames = (frame[1] or frame[2] for frame in _FRAME.finditer(text))
        return any(not _INSTALLED.search(path) for path in frames)

    @property
    def has_proof(self) -> bool:
        """Whether it is known which check or test has to pass."""
        return bool(self.checks or self.logs or self.test)

    @property
    def test(self) -> str:
        """The name of the failed test: of several in the output, one that is reported as failed."""
        return find_reported_test(self.output) or find_failing_test(self.comment_text)

    @property
    def error(self) -> str:
        """The error, from the output or else from the comment."""
        return find_error_message(self.output) or find_quoted_error(self.comment_text)

    def first(self, reader: Callable[[str], str]) -> str:
        """Apply the reader to the output, or else to the comment: a program is more exact."""
        return reader(self.output) or reader(self.comment_text)


def fill_slots(items: tuple[OpenItem, ...], facts: BriefFacts) -> Mapping[str, str]:
    """Return a value for each slot that an observation fills, blocking items first."""
    ordered = sorted(items, key=lambda item: not item.is_blocking)
    blocking = [item for item in ordered if item.is_blocking] or ordered
    first = ordered[0] if ordered else OpenItem("")
    values = {
        "error_message": _shorten(facts.error or next(iter(facts.annotations), "")),
        "detected_framework": _shorten(facts.framework),
        "test_description": _what_must_pass(facts),
        "expected_behavior": _shorten(
            facts.first(find_expectation) or next(filter(None, (item.expects for item in ordered)), "")
        ),
        "clarification_prompt": _shorten(find_intent(facts.comment_text)),
        "narrowed_scope": _scope(blocking) or _scope(ordered),
        "alternatives": _alternatives(blocking),
        "gap_description": _shorten(first.text or first.name),
        "constraint": _shorten(first.fix),
        "issue": _shorten(first.name),
    }
    return {slot: value for slot, value in values.items() if value}


def has_slots(template: str) -> bool:
    """Whether the template is specific to a pull request, not general advice."""
    return _SLOT.search(template) is not None


def fill_template(template: str, values: Mapping[str, str]) -> str | None:
    """Fill the template's slots, or return None where one of them has no value."""
    slots = _SLOT.findall(template)
    if any(slot not in values for slot in slots):
        return None
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def find_error_message(text: str) -> str:
    """Return the line that states a program's error; of a trace that is the last one."""
    lines = [line.strip() for line in text.splitlines() if _ERROR.search(line)]
    return lines[-1].strip("` ") if lines else ""


def find_quoted_error(text: str) -> str:
    """Return the error that a comment shows as code, or else repeats as a program prints it."""
    code = "\n".join(text[start:end] for kind, start, end in cover_pieces(text) if kind in _SHOWN)
    if error := find_error_message(code):
        return error
    own = mask_hidden(text, SpanKind.QUOTE, SpanKind.COMMENT, *_SHOWN)
    printed = [
        line.strip() for line in own.splitlines() if _PRINTED.search(line) and not _SETTLED.search(line)
    ]
    return printed[-1] if printed else ""


def find_reported_test(text: str) -> str:
    """Return the name of the first test that a test runner reports as failed."""
    for match in _REPORTED.finditer(text):
        name = next(filter(None, match.groups()))
        if not name.strip(" "):  # only what introduces it: the name itself must look like a test's
            name = _test_ahead(text[match.end() : match.end() + _LONGEST_NAME])
        if name:
            return str(name.strip("`"))
    return ""


def _test_ahead(text: str) -> str:
    """Return the word at the start of the text, up to a bracket, if it can be a test."""
    word = text.split(maxsplit=1)[0] if text[:1].strip() else ""
    name = word.partition("(")[0].partition(")")[0]
    return name if len(name) > 2 and any(map(word.__contains__, _OF_TESTS)) else ""


def find_failing_test(text: str) -> str:
    """Return the name of the test that the text reports or describes as failed."""
    if reported := find_reported_test(text):
        return reported
    clauses = _CLAUSE_END.split(mask_hidden(text, SpanKind.QUOTE, SpanKind.FENCE, SpanKind.COMMENT))
    matches = (_TEST.search(clause) for clause in clauses if _FAILING.search(clause))
    return next((match[0].strip("`") for match in matches if match), "")


def find_expectation(text: str) -> str:
    """Return the part of the text that compares the expected with the actual result."""
    candidates = (match[0].strip() for match in _EXPECTED.finditer(text))
    return next(
        (
            candidate
            for candidate in candidates
            if not _is_opinion(candidate) or len(_VALUE.findall(candidate)) > 1
        ),
        "",
    )


def _is_opinion(text: str) -> bool:
    lowered = text.lower()
    return any(not lowered.endswith("but ", 0, match.start()) for match in _WAS.finditer(lowered))


def find_intent(text: str) -> str:
    """Return the whole sentence in which the validator states what was wanted: half of it misleads."""
    visible = mask_hidden(text, SpanKind.QUOTE, SpanKind.FENCE, SpanKind.COMMENT)
    match = next((candidate for candidate in _INTENT.finditer(visible) if not candidate["praise"]), None)
    if match is None:
        return ""
    ends = list(_sentence_ends(visible))
    start = max((end for end in ends if end <= match.start()), default=0)
    stop = min((end for end in ends if end > match.start()), default=len(visible))
    return _LIST_MARK.sub("", text[start:stop].strip()).rstrip(".! ")


_SLOT = regex.Regex(r"\{(\w+)\}")
_GAVE_UP = (
    r"(?i:segmentation fault|core dumped|panicked at|\bpanic: |fatal error|\berror: |\berror c\d{4}"
    r"|exit(?:ed)? (?:with )?(?:code|status) [1-9]|undefined reference|assertion .{0,80} failed)"
)
_ERROR = regex.Regex(rf"\b[A-Z]\w*(?:Error|Exception)\b:? ?\S|{_GAVE_UP}")
_PRINTED = regex.Regex(rf"\b[A-Z]\w*(?:Error|Exception): ?\S|{_GAVE_UP}")
"""Stricter than for a program's output: people mention errors by name as well."""
_SHOWN = (SpanKind.FENCE, SpanKind.CODE)
_SETTLED = regex.Regex(r"(?i)\b(?:no more|no longer|not any ?more|without|fixed|gone|never)\b")
_FAILING = regex.Regex(
    r"(?i)\b(?:fail\w*|red|breaks?|broken?|crash\w*|tim(?:es?|ed|ing) out|errors?|so (?:is|does)|same for"
    r"|(?:not|n't|n’t|no longer|make\b.{0,80}) (?:pass|passes|passing))\b"
)
_CLAUSE_END = regex.Regex(
    r"[.!?;](?:\s|$)|,|\n\s*\n|\b(?:but|because|since|while|whereas|although|though|after|when)\b"
)
_WAS = regex.Regex(r"\bwas\b")
_VALUE = regex.Regex(r"[`\"'‘“<][^`\"'’”>]+[`\"'’”>]|\d[\d.,]*")
_LONGEST_NAME = 150
_OF_TESTS = ("test", "Test", "spec", "Spec", "::")
_REPORTED = regex.Regex(  # as test runners say it
    r"(?m)^\W{0,8}FAIL(?:ED)?:?( +)"  # FAILED a.py::test_b
    r"|^[ \t]{0,8}test (\S{3,150}) \.\.\. FAILED"
    r"|^[ \t]{0,8}(\S{1,100}::\S{1,100}) FAILED\b"
    r"|^[ \t]{0,8}(\w[\w.]{2,}) > [^\n]{1,120} FAILED\b"  # BetaTest > sums FAILED
    r"|<<< FAIL(?:URE|ED)!(?: -+)? in (\S{3,150})"
    r"|^\[ERROR\] {1,4}([\w.]*Test[\w.]*)"
)
_TEST = regex.Regex(
    r"\btest_\w{3,}|\b\w+_tests?\b|\b[\w/]+\.(?:spec|test)\.\w{1,4}|\b[A-Z]\w*Test\b(?:\.\w+)?"
)
_EXPECTED = regex.Regex(
    r"(?i)\bexpected:? [^\n]{1,120}?\b(?:but |instead |, )?(?:got|was|actual:?|received|found)\b"
    r":? ?[^\n]{0,80}"
    r"|\bexpected:? [^\n]{1,120}\n\s{0,20}(?:but got|got|actual|received|found):? [^\n]{1,80}"
)
_INTENT = regex.Regex(
    r"(?i)(?P<praise>\bshould be (?:fine|ok|okay|good|enough|easy)\b)"
    r"|\b(?:i meant|i wanted|i asked for|what i (?:want|need)|i(?: would|['’]d) (?:rather|prefer)"
    r"|should (?:be|use|go|live|stay|rather)"
    r"|please (?:use|keep|move|make|do))\b[^\n]{3}"
)
_FRAME = regex.Regex(
    r'(?m)^[ \t]*File "([^"\n]{1,200})", line \d|^[ \t]*at (?:[^(\n]{0,120}\()?([^\s()]{1,200}\.\w{1,4}):\d'
)
_INSTALLED = regex.Regex(r"site-packages|dist-packages|node_modules|/lib/python\d|^node:|^<")
_SENTENCE_END = regex.Regex(r"(?P<abbreviation>\b(?:[eE]\.g|[iI]\.e|[cC]f|vs)\.)|(?P<sign>[.!?])(?:\s|$)|\n")


def _sentence_ends(text: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text):
        position = match.start()
        behind_number = match["sign"] == "." and text[position - 1 : position].isdecimal()
        if match["sign"] and (not behind_number or _is_end_behind_number(text, position)):
            yield position + 1
        if match[0].endswith("\n"):
            yield match.end()


def _is_end_behind_number(text: str, position: int) -> bool:
    """Whether a sentence begins behind the dot, and its number is not that of a list in the text."""
    listed = (
        text[position - 2 : position - 1] == " "
        and text[max(position - 3, 0) : position - 2] in _BEFORE_LISTED
    )
    following = position + 1
    while text[following : following + 1].isspace():
        following += 1
    return not listed and "A" <= text[following : following + 1] <= "Z"


_BEFORE_LISTED = tuple(":;,.!?")
_LIST_MARK = regex.Regex(r"^(?:[-*+>]|\d{1,9}[.)])\s+")


def _what_must_pass(facts: BriefFacts) -> str:
    test = facts.test
    tools = (*(f"check {check}" for check in facts.checks), *facts.logs)
    named = ", ".join(tools[:MAX_SLOT_LOCATIONS])
    titles = ", ".join(facts.titles[:MAX_SLOT_LOCATIONS]) or find_error_message(facts.output)
    failure = test or _shorten(titles)
    return f"{named} ({failure})" if named and failure else named or test


def _scope(items: Sequence[OpenItem]) -> str:
    locations = dict.fromkeys(str(location) for item in items for location in item.locations)
    return ", ".join(tuple(locations)[:MAX_SLOT_LOCATIONS])


def _alternatives(items: Sequence[OpenItem]) -> str:
    """List the items' fixes, each once."""
    fixes = dict.fromkeys(_shorten(item.fix).rstrip(".") for item in items if item.fix)
    return "; ".join(tuple(fixes)[:MAX_ALTERNATIVES])


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SLOT_LENGTH else f"{line[: MAX_SLOT_LENGTH - 1].rstrip()}…"


GOOD_SCORE = 7
"""The score from which a brief is posted as it is."""
MAX_BRIEF_LINES = 5
BRIEF_POINTS = 2
"""Points for each of the five criteria of a good brief."""


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One step: the name of its action in document 004, and its text."""

    action: str
    text: str


@dataclass(frozen=True, slots=True)
class Brief:
    """The instructions for the next revision, and their score."""

    feedback_type: FeedbackType
    confidence: float
    score: int
    lines: tuple[BriefLine, ...]

    def as_document(self) -> dict[str, Any]:
        """Return the brief as part of the actionable-feedback document."""
        return {
            "feedback_type": self.feedback_type.value,
            "confidence": self.confidence,
            "score": self.score,
            "lines": [{"action": line.action, "text": line.text} for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class BriefInput:
    """The inputs of one round; the rounds are numbered by what they read."""

    round: int
    items: tuple[OpenItem, ...]
    facts: BriefFacts


@dataclass(frozen=True, slots=True)
class BriefRound:
    """A round and its brief."""

    brief: Brief
    round: int


@dataclass(frozen=True, slots=True)
class FeedbackLogEntry:
    """One round as it is logged for analysis, with the fields of document 004."""

    timestamp: datetime
    original_prompt: str
    feedback_type: FeedbackType
    feedback_signal: str
    actions_applied: tuple[str, ...]
    refined_prompt: str
    iteration: int
    success: bool | None = None
    """Whether the next verdict accepted the revision; None before, False for what was not posted."""
    round: int = 1

    def as_document(self) -> dict[str, Any]:
        """Return the entry with the field names of document 004."""
        return {
            "timestamp": self.timestamp.isoformat().replace("+00:00", "Z"),
            "original_prompt": self.original_prompt,
            "feedback_type": self.feedback_type.value,
            "feedback_signal": self.feedback_signal,
            "actions_applied": list(self.actions_applied),
            "refined_prompt": self.refined_prompt,
            "iteration": self.iteration,
            "success": self.success,
            "round": self.round,
        }


def write_brief(
    detection: Detection, items: tuple[OpenItem, ...], facts: BriefFacts, rules: DetectionRules
) -> Brief | None:
    """Fill the actions' templates from the facts; None where nothing was detected or shown."""
    if detection.type is None or not detection.is_shown:
        return None
    values = fill_slots(items, facts)
    filled = [
        (action, text)
        for action in rules.actions.get(detection.type, ())
        if (text := fill_template(action.template, values)) is not None
    ][:MAX_BRIEF_LINES]
    is_specific = bool(items) and bool(filled) and all(has_slots(action.template) for action, _ in filled)
    score = BRIEF_POINTS * (sum(_marks(items, facts).values()) + is_specific)
    return Brief(
        detection.type,
        detection.confidence,
        score,
        tuple(BriefLine(action.name, text) for action, text in filled),
    )


def refine_brief(
    detection: Detection, inputs_by_round: Sequence[BriefInput], rules: DetectionRules
) -> tuple[BriefRound, ...]:
    """Return the rounds up to the first good brief; where none is good, the last one asks a question.

    A round with the same inputs as the one before is skipped.
    """
    rounds: list[BriefRound] = []
    last: BriefInput | None = None
    for inputs in inputs_by_round[: rules.max_refinement_iterations]:
        if last and (inputs.items, inputs.facts) == (last.items, last.facts):
            continue
        brief = write_brief(detection, inputs.items, inputs.facts, rules)
        if brief is None:
            return ()
        rounds.append(BriefRound(brief, inputs.round))
        last = inputs
        if brief.score >= GOOD_SCORE:
            return tuple(rounds)
    return (*rounds[:-1], _add_question(rounds[-1], last)) if last else ()


def _marks(items: tuple[OpenItem, ...], facts: BriefFacts) -> Mapping[str, bool]:
    """Return the criteria of a good brief, each as the question that it leaves open."""
    return {
        "which place?": facts.has_trace or any(item.locations for item in items),
        "what should change?": any(item.fix or item.suggestion for item in items),
        "what shows it?": facts.has_evidence,
        "which check or test proves it?": facts.has_proof,
    }


def _add_question(refinement: BriefRound, inputs: BriefInput) -> BriefRound:
    """Replace the last line by a question about what is missing most."""
    brief, facts = refinement.brief, inputs.facts
    question = next(mark for mark, is_met in _marks(inputs.items, facts).items() if not is_met)
    instruction = f"Read the output of `{facts.contact}`" if facts.only_checks else f"Ask `{facts.contact}`"
    line = BriefLine("request_clarification", f"{instruction}: {question}")
    return replace(refinement, brief=replace(brief, lines=(*brief.lines[: MAX_BRIEF_LINES - 1], line)))
