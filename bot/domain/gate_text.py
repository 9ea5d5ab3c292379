"""How does one broken gate read in the thread? At most four lines under its name."""

from __future__ import annotations

from bot.domain import document as documents
from bot.domain.escape import code_span, quiet
from bot.domain.feedback import FailedGate, Finding


def gate_block(failed: FailedGate, where: str = "") -> str:
    """Name, what is wrong, the fix with its tag, then where it is and what to write if that is known."""
    icon = "BLOCK" if failed.blocking else "WARN"
    what = quiet(failed.gate.description) if failed.gate else _unknown(failed)
    auto = " (auto-fixable)" if failed.is_auto_fixable else ""
    name = quiet(failed.name) if failed.gate or not failed.tag else code_span(failed.tag)
    lines = [f"**[{icon}] {name}**: {what}{auto}", f"  - Fix: {_fix(failed)}"]
    if where:
        lines.append(f"  - Where: {where}")
    if write := _write(failed):
        lines.append(f"  - Write: {write}")
    return "\n".join(lines)


def where(failed: FailedGate, places: list[str], head: str) -> str:
    """The places, the validator's words, and whose words they are; empty where nothing more was said."""
    finding = next((finding for finding in failed.findings if finding.item.words), failed.findings[0])
    if not places and not finding.item.words:
        return ""
    words = f" — {code_span(finding.item.words)}" if finding.item.words else ""
    return f"{', '.join(places) or 'no place given'}{words} (Source: {_origin(finding)} @ {head[:7]})"


def _origin(finding: Finding) -> str:
    return f"{'check' if finding.by.check else 'review by'} {code_span(finding.by.name)}"


def _unknown(failed: FailedGate) -> str:
    if not failed.tag:
        return quiet(documents.issue_text(failed.findings[0], failed))
    near = f"; the nearest known tag is {code_span(failed.nearest)}" if failed.nearest else ""
    return f"no gate of this repository has this tag{near}"


def _fix(failed: FailedGate) -> str:
    fix = quiet(failed.gate.fix) if failed.gate else documents.GENERIC_FIX
    if not failed.tag:
        return quiet(failed.findings[0].item.action or fix)
    tag = code_span(failed.tag)
    guide = failed.gate.guide if failed.gate else None
    inferred = f" (understood from plain words, confidence {failed.inferred:.2f})" if failed.inferred else ""
    return f"{fix} {f'[{tag}]({guide})' if guide else tag}{inferred}"


def _write(failed: FailedGate) -> str:
    given = next((finding.item.suggestion for finding in failed.findings if finding.item.suggestion), None)
    return code_span(given) if given else ""
