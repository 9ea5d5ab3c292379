"""How does one broken gate read in the thread? At most four lines under its name."""

from __future__ import annotations

from bot.domain import document as documents
from bot.domain.escape import CODE_LIMIT, code_span, quiet
from bot.domain.feedback import FailedGate, Finding
from bot.domain.grounding.words import not_confirmed, sourced
from bot.domain.rules import Grounding

_MOST_ACTION = 300  # characters of what somebody says to do
_MOST_WORDS = 500  # of words that stand where a gate is described: nothing else says what is wrong


def gate_block(failed: FailedGate, where: str = "", rules: Grounding | None = None, guide: str = "") -> str:
    """Name, what is wrong, the fix with its tag, then where it is and what to write if that is known.

    The tag leads to the address of the gate's guide, where there is one.
    """
    icon = "BLOCK" if failed.blocking else "WARN"
    what = quiet(failed.gate.description) if failed.gate else _unknown(failed)
    auto = " (auto-fixable)" if failed.is_auto_fixable else ""
    name = quiet(failed.name) if failed.gate or not failed.tag else code_span(failed.tag)
    lines = [f"**[{icon}] {name}**: {what}{auto}", f"  - Fix: {_fix(failed, guide)}"]
    if where:
        lines.append(f"  - Where: {where}")
    if write := _write(failed):
        lines.append(f"  - Write: {write}")
    if failed.appealed:
        lines.append(f"  - {failed.appealed}")
    elif doubted := next((each.grounding for each in failed.findings if is_doubted(each)), None):
        catalogue = (rules or Grounding()).catalogue
        lines.append(f"  - Not confirmed: {not_confirmed(doubted.decisive, catalogue, doubted.also)}")
    elif failed.again:
        lines.append(f"  - Again: {failed.again}")
    return "\n".join(lines)


def where(
    failed: FailedGate, places: list[str], head: str, rules: Grounding | None = None, *, bare: bool = False
) -> str:
    """The places, the validator's words, and where that was seen.

    Empty where nothing more was said than the tag, unless it has to be told who said that.
    """
    finding = telling(failed)
    if not places and not (finding.item.words and failed.tag) and not bare:
        return ""
    # Without a tag there is no gate to describe it: the words stand in its place.
    words = f" — {code_span(finding.item.words)}" if finding.item.words and failed.tag else ""
    claim = f"{', '.join(places) or 'no place given'}{words}"
    return sourced(claim, finding.grounding, f"{_origin(finding)} @ {head[:7]}", rules or Grounding())


def is_doubted(finding: Finding) -> bool:
    """Whether something that the item claims was not confirmed."""
    return finding.grounding is not None and finding.grounding.doubted


def telling(failed: FailedGate) -> Finding:
    """The item whose words stand for the gate."""
    return next((finding for finding in failed.findings if finding.item.words), failed.findings[0])


def _origin(finding: Finding) -> str:
    way = "check" if finding.by.check and not finding.by.is_log else f"{finding.origin.way} by"
    return f"{way} {code_span(finding.by.name)}"


def _unknown(failed: FailedGate) -> str:
    if not failed.tag:
        return code_span(telling(failed).item.words or "nothing more was said", _MOST_WORDS)
    near = f"; the nearest known tag is {code_span(failed.nearest)}" if failed.nearest else ""
    return f"no gate of this repository has this tag{near}"


def _fix(failed: FailedGate, guide: str) -> str:
    fix = quiet(failed.gate.fix) if failed.gate else documents.GENERIC_FIX
    if not failed.tag:
        action = telling(failed).item.action
        return code_span(action, _MOST_ACTION) if action else fix
    tag = code_span(failed.tag)
    inferred = f" (understood from plain words, confidence {failed.inferred:.2f})" if failed.inferred else ""
    return f"{fix} {f'[{tag}]({guide})' if guide else tag}{inferred}"


def _write(failed: FailedGate) -> str:
    """What was suggested, or where it stands: several lines put into one, or cut, would be something else."""
    item = next((finding.item for finding in failed.findings if finding.item.suggestion), None)
    if item is None or not item.suggestion:
        return ""
    lines = len(item.suggestion.strip().splitlines())
    if lines <= 1 and len(item.suggestion.strip()) <= CODE_LIMIT:
        return code_span(item.suggestion)
    what = "the line" if lines == 1 else f"the {lines} lines"
    return (
        f"[{what} of the suggestion]({item.url})"
        if item.offered and item.url
        else f"{what} under `example` in the document"
    )
