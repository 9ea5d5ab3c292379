"""The outcome of an item's claims, and the messages about unconfirmed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.gates.config import ClaimRule, ClaimType, GroundingRules, GroundingTool
from bot.grounding.model import ClaimOutcome
from bot.markdown.escape import code_span
from bot.pull_request.model import GroundedClaim
from bot.values import Location

_WORST = {ClaimOutcome.CONTRADICTED: 0, ClaimOutcome.UNVERIFIABLE: 1, ClaimOutcome.VERIFIED: 2}
_TOOL_ORDER = {"contents": 0, "check runs": 1, "pull request": 2, "tree": 3}


@dataclass(frozen=True, slots=True)
class ItemGrounding:
    """The claim that decides about an item, and the item's location."""

    decisive: GroundedClaim
    place: Location | None = None
    moved_from: int | None = None
    allowed: bool = False
    """The config keeps a claim that could not be looked up, with a mark."""
    also: tuple[GroundedClaim, ...] = ()
    """Further contradicted claims of the item."""

    @property
    def outcome(self) -> ClaimOutcome:
        """The outcome of the deciding claim."""
        return ClaimOutcome(self.decisive.outcome)

    @property
    def confirmed(self) -> bool:
        """Whether the item may be repeated as a fact."""
        return self.outcome is ClaimOutcome.VERIFIED

    @property
    def doubted(self) -> bool:
        """Whether the gate has to say that it was not confirmed."""
        return not self.confirmed and not self.allowed

    @property
    def shows_only_a_file(self) -> bool:
        """Whether nothing was confirmed but that a file which the words mention is there."""
        seen = self.decisive
        return self.confirmed and seen.is_place and seen.tool == GroundingTool.TREE

    @property
    def source(self) -> str:
        """The source of the observation: the other file, if it is not the item's own."""
        seen = self.decisive
        elsewhere = seen.path if self.place and seen.path and seen.path != self.place.path else None
        if elsewhere and seen.tool == "contents":
            where = f"{elsewhere}:{seen.line}" if seen.line else elsewhere
            return f"{where} @ {seen.head[:7]}"
        return seen.source


def ground_item(
    log: Iterable[GroundedClaim], item: str, head: str, place: Location | None
) -> ItemGrounding | None:
    """Return the grounding of an item at this head; None if no claim of it needs any."""
    entries = [entry for entry in log if entry.item == item and entry.head == head and entry.required]
    if not entries:
        return None
    decisive = min(entries, key=_rank)
    located = _located(entries, place)
    location, moved = located or (place, None)
    wrong = {entry.note: entry for entry in entries if entry.outcome == ClaimOutcome.CONTRADICTED}
    wrong.pop(decisive.note, None)
    return ItemGrounding(decisive, location, moved, also=tuple(wrong.values()))


def _rank(entry: GroundedClaim) -> tuple[int, bool, int, int]:
    # Of equal outcomes the one about something else than the bare place tells more.
    tool = _TOOL_ORDER.get(entry.tool, 9)
    return _WORST[ClaimOutcome(entry.outcome)], entry.is_place and not entry.line, tool, -(entry.line or 0)


def _located(entries: Sequence[GroundedClaim], place: Location | None) -> tuple[Location, int | None] | None:
    """Return the item's own location, as found again, or the only location that its text names."""
    verified = [
        entry for entry in entries if entry.is_place and entry.outcome == ClaimOutcome.VERIFIED and entry.path
    ]
    own = [entry for entry in verified if place is None or entry.path == place.path]
    named = {(entry.path, entry.line) for entry in own}
    if not own or (place is None and len(named) > 1):
        return None
    lines = [entry for entry in own if entry.line is not None]
    is_vague = place is None or place.line is None
    # Words that name a file and one function in it are about the function's lines.
    first = lines[0] if is_vague and len({entry.line for entry in lines}) == 1 else own[0]
    resolved = replace(place, path=first.path or place.path) if place else Location(first.path or "")
    if first.line is not None:
        resolved = Location(first.path or "", first.line, first.end_line)
    return resolved, first.moved_from


MAX_FURTHER_DOUBTS = 2
"""Further contradicted claims of an item that are named."""


def unconfirmed_message(
    entry: GroundedClaim, rules: Mapping[ClaimType, ClaimRule], also: Sequence[GroundedClaim] = ()
) -> str:
    """Say why a claim is not confirmed, with the nearest name, or with what would verify it."""
    text = f"{_why(entry)}."
    if entry.nearest:
        text = f"{text} Nearest name: {code_span(entry.nearest, 200)}"
    elif entry.outcome == ClaimOutcome.UNVERIFIABLE:
        text = f"{text} Needed to verify it: {rules[ClaimType(entry.type)].would_verify}."
    if not also:
        return text
    named = "; ".join(map(_why_also, also[:MAX_FURTHER_DOUBTS]))
    rest = f"; and {len(also) - MAX_FURTHER_DOUBTS} more" if len(also) > MAX_FURTHER_DOUBTS else ""
    return f"{text.removesuffix('.')}. Also: {named}{rest}."


def source_suffix(entry: GroundedClaim) -> str:
    """Return ` (Source: tree @ 9f2c1e4)`, or nothing if nothing was read."""
    if not entry.tool:
        return ""
    seen = f"check {code_span(entry.check)}" if entry.check else entry.tool
    if entry.tool == GroundingTool.CONTENTS and entry.path:
        seen = code_span(entry.path, 200)
    return f" (Source: {seen} @ {entry.head[:7]})"


def claim_with_source(
    claim: str, grounding: ItemGrounding | None, reported_by: str, rules: GroundingRules
) -> str:
    """Append the source to a claim in the config's format; an unconfirmed claim gets none."""
    if grounding is not None and grounding.allowed:
        return f"{claim} (not verified)"
    if not rules.include_source or (grounding is not None and grounding.doubted):
        return claim
    seen = f"{reported_by}{_verified_with(grounding)}" if grounding else reported_by
    if rules.include_timestamp and grounding:
        seen += f", {grounding.decisive.at.isoformat(timespec='minutes')}"
    form = rules.format_template
    if "[Claim]" not in form:
        form = f"[Claim] ({form})"
    return form.replace("[tool/observation]", seen, 1).replace("[Claim]", claim, 1)


def _verified_with(grounding: ItemGrounding) -> str:
    """Name what else shows the claim: a check, or another file than the one that the location links to."""
    entry = grounding.decisive
    if entry.check:
        return "" if entry.check == entry.name else f", check {code_span(entry.check)}"
    elsewhere = grounding.place is None or entry.path != grounding.place.path
    if entry.tool == GroundingTool.CONTENTS and entry.path and elsewhere:
        return f", {code_span(f'{entry.path}:{entry.line}' if entry.line else entry.path, 200)}"
    return ""


def _why(entry: GroundedClaim) -> str:
    return f"{_safe(entry.note or 'nothing shows it')}{source_suffix(entry)}"


def _why_also(entry: GroundedClaim) -> str:
    """Say why after another claim was named: "that file" would be the wrong one."""
    named = code_span(entry.path, 200) if entry.path else "that file"
    return _why(entry).replace("that file", named, 1)


def _safe(note: str) -> str:
    """Return the note with what it quotes of the repository as code."""
    if "`" not in note:
        return note
    before, _, rest = note.partition("`")
    quoted, _, after = rest.rpartition("`")
    return f"{before}{code_span(quoted)}{after}" if quoted else note
