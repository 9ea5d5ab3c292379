"""How is it said that a claim was not confirmed, and what would confirm it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.choices import ClaimType
from bot.domain.escape import code_span
from bot.domain.grounding.catalogue import DEFAULTS, ClaimRule
from bot.domain.grounding.grounded import Grounded
from bot.domain.grounding.items import ItemGrounding
from bot.domain.grounding.result import Outcome, Tool
from bot.domain.rules import Grounding

MOST_ALSO = 2
"""How many more wrong claims of an item are named."""


def not_confirmed(
    entry: Grounded, rules: Mapping[ClaimType, ClaimRule] = DEFAULTS, also: Sequence[Grounded] = ()
) -> str:
    """Why the claim is not repeated as a fact, with the nearest name, or with what would verify it."""
    text = f"{_why(entry)}."
    if entry.nearest:
        text = f"{text} Nearest name: {code_span(entry.nearest, 200)}"
    elif entry.outcome == Outcome.UNVERIFIABLE:
        text = f"{text} Would verify it: {rules[ClaimType(entry.type)].would_verify}."
    if not also:
        return text
    named = "; ".join(map(_why_also, also[:MOST_ALSO]))
    rest = f"; and {len(also) - MOST_ALSO} more" if len(also) > MOST_ALSO else ""
    return f"{text.removesuffix('.')}. Also: {named}{rest}."


def source(entry: Grounded) -> str:
    """` (Source: tree @ 9f2c1e4)`, or nothing where nothing was looked at."""
    if not entry.tool:
        return ""
    seen = f"check {code_span(entry.check)}" if entry.check else entry.tool
    if entry.tool == Tool.CONTENTS and entry.path:
        seen = code_span(entry.path, 200)
    return f" (Source: {seen} @ {entry.head[:7]})"


def sourced(claim: str, grounding: ItemGrounding | None, said: str, rules: Grounding) -> str:
    """The claim with its source in the form that the config gives; without one where it was not confirmed."""
    if grounding is not None and grounding.allowed:
        return f"{claim} (not verified)"
    if not rules.include_source or (grounding is not None and grounding.doubted):
        return claim
    seen = _seen(grounding) if grounding else said
    if rules.include_timestamp and grounding:
        seen += f", {grounding.decisive.at.isoformat(timespec='minutes')}"
    form = rules.format_template
    if "[Claim]" not in form:
        form = f"[Claim] ({form})"
    return form.replace("[tool/observation]", seen, 1).replace("[Claim]", claim, 1)


def _seen(grounding: ItemGrounding) -> str:
    entry = grounding.decisive
    if entry.check:
        return f"check {code_span(entry.check)} @ {entry.head[:7]}"
    elsewhere = grounding.place is None or entry.path != grounding.place.path
    if entry.tool == Tool.CONTENTS and entry.path and elsewhere:
        where = f"{entry.path}:{entry.line}" if entry.line else entry.path
        return f"{code_span(where, 200)} @ {entry.head[:7]}"
    return entry.source


def _why(entry: Grounded) -> str:
    return f"{_safe(entry.note or 'nothing shows it')}{source(entry)}"


def _why_also(entry: Grounded) -> str:
    """The same where another claim was spoken of before: "that file" would be the wrong one."""
    named = code_span(entry.path, 200) if entry.path else "that file"
    return _why(entry).replace("that file", named, 1)


def _safe(note: str) -> str:
    """A note of ours; what it quotes of the repository stays in code."""
    if "`" not in note:
        return note
    before, _, rest = note.partition("`")
    quoted, _, after = rest.rpartition("`")
    return f"{before}{code_span(quoted)}{after}" if quoted else note
