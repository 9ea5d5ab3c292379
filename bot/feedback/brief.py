"""Write the brief for the next revision: imperative steps made of observed facts.

A brief is made of the actions of the detected type, most important first; an action whose fact was not
observed costs no line. It is scored from 0 to 10; below 7 the next round goes by more of what was read, but
there are no more rounds than the rules allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot import regex
from bot.detection.detector import Detection
from bot.detection.rules import BriefActions, FeedbackType
from bot.markdown.blocks import SpanKind
from bot.markdown.escape import code_span, truncate
from bot.markdown.format import join_words
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
    proposals: tuple[str, ...] = ()
    """The changes that validators propose, each once."""


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
    observed: tuple[str, ...] = ()
    """Other observations of the failure: evidence of a document, verified claims."""
    failing_test: tuple[str, str] = ("", "")
    """The test that a check reports at a line, and the first line of its error."""
    only_checks: bool = False
    """No person or agent rejects it: there is output to read, and nobody to ask."""
    output: str = ""
    """What the failed checks printed."""

    @property
    def has_trace(self) -> bool:
        """Whether a trace names a line of the project's own code."""
        text = f"{self.output}\n{self.comment_text}"
        frames = (frame[1] or frame[2] for frame in _FRAME.finditer(text))
        return any(not _INSTALLED.search(path) for path in frames)

    @property
    def test(self) -> str:
        """The name of the failed test: of several in the output, one that is reported as failed."""
        reported = self.failing_test[0] or find_reported_test(self.output)
        return reported or find_failing_test(self.comment_text)

    @property
    def error(self) -> str:
        """The error, from the output or else from the comment."""
        return find_error_message(self.output) or find_quoted_error(self.comment_text)

    def first(self, reader: Callable[[str], str]) -> str:
        """Apply the reader to the output, or else to the comment: a program is more exact."""
        return reader(self.output) or reader(self.comment_text)


@dataclass(frozen=True, slots=True)
class Step:
    """One imperative step."""

    text: str
    headline: str = ""
    """The step in a few words, where it says what to do first."""
    is_tied: bool = True
    """Whether it says something about an open item, beyond the name of a check or a framework."""
    action: str = ""
    """The name of its action in document 004."""
    template: str = ""
    """That document's own template."""


def _reproduce_error(items: tuple[OpenItem, ...], facts: BriefFacts) -> Step | None:
    error = facts.error or next(iter(facts.annotations), "")
    if not error:
        return None
    return Step(
        f"Reproduce the error first: {_code(error)}{_first_location(items)}",
        f"reproduce {_code(error)} first",
    )


def _keep_framework(_: tuple[OpenItem, ...], facts: BriefFacts) -> Step | None:
    return Step(f"Keep it working with {_code(facts.framework)}") if facts.framework else None


def _pass_test(_: tuple[OpenItem, ...], facts: BriefFacts) -> Step | None:
    names = [facts.test] if facts.test else [*facts.checks, *facts.logs][:MAX_SLOT_LOCATIONS]
    if not names:
        return None
    goal = f"make {join_words(list(map(_code, names)))} pass"
    reason = _failure_reason(facts)
    text = f"M{goal[1:]}{f': {reason}' if reason else ''}"
    return Step(text, goal, is_tied=bool(reason or facts.test))


def _failure_reason(facts: BriefFacts) -> str:
    """Return what was expected and what came instead; else the error, or the first annotation."""
    if expected := facts.first(find_expectation):
        return _shorten(expected)
    error = facts.failing_test[1] or find_error_message(facts.output) or next(iter(facts.annotations), "")
    return _code(error) if error else ""


def _match_expectation(items: tuple[OpenItem, ...], facts: BriefFacts) -> Step | None:
    """Write the expected result, unless the step about the test has it already."""
    expected = "" if _pass_test(items, facts) else facts.first(find_expectation)
    return Step(f"Produce the expected result: {_shorten(expected)}") if expected else None


def _confirm_by_check(_: tuple[OpenItem, ...], facts: BriefFacts) -> Step | None:
    """Name the check that proves it, unless the step about the test has named it already."""
    checks = list(map(_code, facts.checks[:MAX_SLOT_LOCATIONS])) if facts.test else []
    return Step(f"Confirm it with {join_words(checks)}") if checks else None


def _do_as_asked(_: tuple[OpenItem, ...], facts: BriefFacts) -> Step | None:
    """Write what the validator asks for, where they wrote it as an instruction."""
    intent = find_intent(facts.comment_text)
    if not intent.lower().startswith("please "):
        return None
    order = " ".join(intent[len("please ") :].split())
    return Step(truncate(f"{order[:1].upper()}{order[1:]}", MAX_SLOT_LENGTH)) if order else None


def _narrow_scope(items: tuple[OpenItem, ...], _: BriefFacts) -> Step | None:
    blocking = [item for item in items if item.is_blocking and item.locations] or items
    locations = dict.fromkeys(str(location) for item in blocking for location in item.locations)
    shown = join_words([_shorten(location) for location in tuple(locations)[:MAX_SLOT_LOCATIONS]])
    return Step(f"Work only on {shown}") if shown else None


def _choose_alternative(items: tuple[OpenItem, ...], _: BriefFacts) -> Step | None:
    """Name the alternatives, only where validators gave at least two for the same thing."""
    proposals = next((item.proposals for item in items if len(item.proposals) > 1), ())
    shown = join_words(list(map(_code, proposals[:MAX_ALTERNATIVES])), "or")
    return Step(f"Choose one: {shown}") if shown else None


def _finish_gap(items: tuple[OpenItem, ...], _: BriefFacts) -> Step | None:
    return Step(f"Finish what is left: {items[0].name}{_first_location(items[:1])}") if items else None


def _apply_fix(items: tuple[OpenItem, ...], _: BriefFacts) -> Step | None:
    return Step(_shorten(items[0].fix)) if items and items[0].fix else None


def _change_nothing_else(items: tuple[OpenItem, ...], _: BriefFacts) -> Step | None:
    is_last = len(items) == 1
    return Step(f"Change nothing else: {items[0].name} is all that is open") if is_last else None


def _first_location(items: Sequence[OpenItem]) -> str:
    location = next((str(location) for item in items for location in item.locations), "")
    return f" at {_shorten(location)}" if location else ""


def _code(text: str) -> str:
    return code_span(text, MAX_SLOT_LENGTH)


_STEP_WRITERS: Mapping[str, Callable[[tuple[OpenItem, ...], BriefFacts], Step | None]] = {
    "add_context": _reproduce_error,
    "add_constraint": _keep_framework,
    "add_test_context": _pass_test,
    "specify_behavior": _match_expectation,
    "request_validation": _confirm_by_check,
    "request_clarification": _do_as_asked,
    "narrow_scope": _narrow_scope,
    "offer_alternatives": _choose_alternative,
    "focus_on_gap": _finish_gap,
    "add_targeted_constraint": _apply_fix,
    "request_incremental_fix": _change_nothing_else,
}
"""The step of every action; `request_approach` is general advice without a fact, and costs no line."""


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


def _shorten(text: str) -> str:
    return truncate(" ".join(text.split()), MAX_SLOT_LENGTH)


GOOD_SCORE = 7
"""The score from which a brief is posted as it is."""
MAX_BRIEF_LINES = 5
_CLARIFICATION = "To clarify the goal: {clarification_prompt}"
BRIEF_POINTS = 2
"""Points for each of the five criteria of a good brief."""


@dataclass(frozen=True, slots=True)
class Brief:
    """The instructions for the next revision, and their score."""

    feedback_type: FeedbackType
    confidence: float
    score: int
    lines: tuple[Step, ...]
    round: int = 1
    """The round that it was written in; each reads more than the one before."""
    open_question: str = ""
    """The first criterion of a good brief that it does not meet."""

    def as_document(self) -> dict[str, Any]:
        """Return the brief as part of the actionable-feedback document."""
        return {
            "feedback_type": self.feedback_type.value,
            "confidence": self.confidence,
            "score": self.score,
            "lines": [
                {"action": line.action, "text": line.text, "template": line.template} for line in self.lines
            ],
        }


def write_brief(
    detection: Detection, items: tuple[OpenItem, ...], facts: BriefFacts, actions: BriefActions
) -> Brief | None:
    """Write the steps of the actions from the facts; None if nothing was detected or shown."""
    if detection.type is None or not detection.is_shown:
        return None
    ordered = tuple(sorted(items, key=lambda item: not item.is_blocking))
    steps = [
        replace(step, action=action.name, template=action.template)
        for action in actions.get(detection.type, ())
        if action.name in _STEP_WRITERS and (step := _STEP_WRITERS[action.name](ordered, facts))
    ]
    lines = tuple(steps[:MAX_BRIEF_LINES])
    is_specific = bool(items) and bool(lines) and all(step.is_tied for step in lines)
    marks = _marks(items, facts)
    score = BRIEF_POINTS * (sum(marks.values()) + is_specific)
    question = next((mark for mark, is_met in marks.items() if not is_met), "")
    return Brief(detection.type, detection.confidence, score, lines, open_question=question)


def refine_brief(
    detection: Detection,
    inputs_by_round: Sequence[tuple[tuple[OpenItem, ...], BriefFacts]],
    actions: BriefActions,
    most_rounds: int,
) -> tuple[Brief, ...]:
    """Return the rounds' briefs up to the first good brief; where none is good, the last one asks a question.

    A round with the same inputs as the one before is skipped.
    """
    briefs: list[Brief] = []
    last: tuple[tuple[OpenItem, ...], BriefFacts] | None = None
    for number, inputs in enumerate(inputs_by_round[:most_rounds], 1):
        if inputs == last:
            continue
        brief = write_brief(detection, *inputs, actions)
        if brief is None:
            return ()
        briefs.append(replace(brief, round=number))
        last = inputs
        if brief.score >= GOOD_SCORE:
            return tuple(briefs)
    return (*briefs[:-1], _add_question(briefs[-1], last[1])) if last else ()


def _marks(items: tuple[OpenItem, ...], facts: BriefFacts) -> Mapping[str, bool]:
    """Return the criteria of a good brief, each as the question that it leaves open."""
    return {
        "which place?": facts.has_trace or any(item.locations for item in items),
        "what should change?": any(item.fix or item.suggestion for item in items),
        "what shows the problem?": any(
            (
                facts.checks,
                facts.logs,
                facts.annotations,
                facts.observed,
                facts.error,
                facts.first(find_expectation),
            )
        ),
        "which check or test proves it?": any((facts.checks, facts.logs, facts.test)),
    }


def _add_question(brief: Brief, facts: BriefFacts) -> Brief:
    """Replace the last line by a question about what is missing most."""
    instruction = f"Read the output of `{facts.contact}`" if facts.only_checks else f"Ask `{facts.contact}`"
    question = f"{instruction}: {brief.open_question}"
    line = Step(question, action="request_clarification", template=_CLARIFICATION)
    return replace(brief, lines=(*brief.lines[: MAX_BRIEF_LINES - 1], line))
