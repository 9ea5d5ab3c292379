"""What `/feedback-explain` says about a gate."""

from __future__ import annotations

from bot.domain.escape import code_span, own_code, quiet
from bot.domain.gates import Gate, Gates
from bot.domain.links import Web
from bot.domain.model import Repository

_LONG = 300  # characters of an example
_TAGS = 60  # in the list of all gates


def explain_text(tag: str, gates: Gates, repository: Repository, web: Web, *, may_appeal: bool = True) -> str:
    """The gate with its fix and examples, or the nearest one there is."""
    gate = gates.get(tag)
    if gate is None:
        return _unknown(tag, gates)
    parts = (
        f"**{quiet(gate.gate)}** {code_span(tag)} — {_weight(gate)}",
        quiet(gate.description),
        f"Fix: {quiet(gate.fix)}",
        _examples(gate),
        _guide(gate, repository, web),
        _footer(tag, may_appeal=may_appeal),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _weight(gate: Gate) -> str:
    weight = "blocking" if gate.is_blocking else "a warning, not blocking"
    return f"{weight}, auto-fixable" if gate.auto_fixable else weight


def _examples(gate: Gate) -> str:
    return "\n".join(
        f"- Not {own_code(example.bad, _LONG)}\n  but {own_code(example.good, _LONG)}"
        for example in gate.examples
    )


def _guide(gate: Gate, repository: Repository, web: Web) -> str:
    if not gate.guide:
        return ""
    return f"More: [{code_span(gate.guide)}]({web.guide_url(repository, gate.guide)})"


def _footer(tag: str, *, may_appeal: bool) -> str:
    wrong = f"Wrong here: {code_span(f'/feedback-appeal {tag} reason: …')} · " if may_appeal else ""
    often = f"{'how' if may_appeal else 'How'} often: {code_span(f'/feedback-history {tag}')}"
    return f"<sub>{wrong}{often} · all commands: `/feedback-help`</sub>"


def _unknown(tag: str, gates: Gates) -> str:
    near = gates.nearest(tag)
    meant = f" Did you mean {code_span(near)}?" if near else ""
    more = f" and {len(gates) - _TAGS} more" if len(gates) > _TAGS else ""
    known = ", ".join(code_span(each) for each in gates.tags[:_TAGS])
    listed = f"\n\nThe gates here: {known}{more}" if known else ""
    return f"No gate has the tag {code_span(tag)}.{meant}{listed}\n"
