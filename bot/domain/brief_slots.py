"""What is observed that can fill the slots of the actions' templates?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.model import Place

LONGEST = 200
"""Characters of an observation that a line shows."""
MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class OpenItem:
    """What is open, as a brief needs it: the gate's words, the validator's words, and the place."""

    name: str
    words: str = ""
    fix: str = ""
    place: Place | None = None
    is_blocking: bool = True
    suggestion: str | None = None
    alternatives: tuple[str, ...] = ()
    """What the gate registry gives as good examples; a brief invents none."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was observed besides the items; `None` where a round has not read it yet."""

    asked: str
    """Who can be asked: the validator that speaks."""
    said: str = ""
    """The validator's words, or the output of the failed check."""
    checks: tuple[str, ...] = ()
    """Names of the checks that failed at this head."""
    framework: str = ""
    """The framework that the manifest names."""
    annotations: tuple[str, ...] | None = None
    resolved: tuple[Place, ...] | None = None

    @property
    def has_evidence(self) -> bool:
        """Whether anything shows the failure: an error, a failed check, an annotation."""
        return bool(self.checks or self.annotations or error_message(self.said) or expected(self.said))

    @property
    def has_proof(self) -> bool:
        """Whether it is known what has to pass."""
        return bool(self.checks or failing_test(self.said))


def slots(items: tuple[OpenItem, ...], known: Known) -> Mapping[str, str]:
    """Return a value for each slot that an observation fills, blocking items first."""
    ordered = sorted(items, key=lambda item: not item.is_blocking)
    first = ordered[0] if ordered else None
    found = {
        "error_message": error_message(known.said) or next(iter(known.annotations or ()), ""),
        "detected_framework": known.framework,
        "test_description": _what_must_pass(known),
        "expected_behavior": expected(known.said) or (first.fix if first else ""),
        "clarification_prompt": _intent(known.said),
        "narrowed_scope": _scope(ordered, known),
        "alternatives": "; ".join(example for item in ordered for example in item.alternatives),
        "gap_description": first.words or first.name if first else "",
        "constraint": first.fix if first else "",
        "issue": first.name if first else "",
    }
    return {slot: _short(value) for slot, value in found.items() if value.strip()}


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


def failing_test(text: str) -> str:
    """Return the name of the test that the text speaks of."""
    match = _TEST.search(text)
    return match[0].strip("`") if match else ""


def expected(text: str) -> str:
    """Return the part of the text that sets what was wanted against what came."""
    match = _EXPECTED.search(text)
    return match[0].strip() if match else ""


_SLOT = re.compile(r"\{(\w+)\}")
_ERROR = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception)\b:? ?\S|(?i:segmentation fault|core dumped|panicked at|\bpanic: "
    r"|fatal error|\berror: |\berror c\d{4}|exit(?:ed)? (?:with )?(?:code|status) [1-9]|undefined reference"
    r"|assertion .{0,80} failed)"
)
_TEST = re.compile(
    r"\btest_\w{3,80}|\b\w{1,80}_tests?\b|\b[\w/]{1,120}\.(?:spec|test)\.\w{1,4}"
    r"|\b[A-Z]\w{0,60}Test\b(?:\.\w{1,60})?"
)
_EXPECTED = re.compile(
    r"(?i)\bexpected:? [^\n]{1,120}?\b(?:but |instead |, )?(?:got|was|actual:?|received|found)\b"
    r":? ?[^\n]{0,80}"
)
_INTENT = re.compile(
    r"(?i)\b(?:i meant|i wanted|i asked for|what i (?:want|need)|i(?: would|['’]d) (?:rather|prefer)"
    r"|should (?:be|use|go|live|stay|rather)|please (?:use|keep|move|make|do))\b[^.!?\n]{3,160}"
)


def _what_must_pass(known: Known) -> str:
    test = failing_test(known.said)
    if not known.checks:
        return test
    named = ", ".join(f"check {check}" for check in known.checks[:MOST_PLACES])
    return f"{named} ({test})" if test else named


def _intent(text: str) -> str:
    match = _INTENT.search(text)
    return match[0].strip() if match else ""


def _scope(items: list[OpenItem], known: Known) -> str:
    places = [str(item.place) for item in items if item.place and item.is_blocking]
    places += [str(place) for place in known.resolved or ()]
    return ", ".join(tuple(dict.fromkeys(places))[:MOST_PLACES])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
