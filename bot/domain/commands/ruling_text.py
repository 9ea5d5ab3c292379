"""What rejecting, dismissing and appealing by command is answered with, and how it shows in the comment."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.escape import code_span
from bot.domain.gates import Gates
from bot.domain.links import person, short
from bot.domain.phrasing import counted, joined
from bot.domain.ruling import Ruling

_REASON = 120  # characters of a reason at its gate


def dismissed_text(ruling: Ruling, left: Sequence[str]) -> str:
    """The tag is lifted; what is left to be mended."""
    return f"Dismissed {_what(ruling)}. {_left(left)}\n"


def appealed_text(ruling: Ruling) -> str:
    """The appeal is heard, and who decides."""
    return (
        f"Appealed against {_what(ruling)}. It is shown at its gate until a maintainer decides: "
        f"{code_span(f'/feedback-dismiss {ruling.tag} reason: …')} upholds it, "
        f"{code_span(f'/feedback-reject {ruling.tag}')} refuses it.\n"
    )


def rejected_text(
    rulings: Sequence[Ruling], appeals: Sequence[Ruling], left: Sequence[str], gates: Gates
) -> str:
    """The tags are held against the revision, which appeals that refuses, and which tags no gate has."""
    tags = joined([code_span(ruling.tag) for ruling in rulings])
    first = rulings[0]
    why = f": {code_span(first.reason, 300)}" if first.reason else ""
    said = [
        f"Rejected {code_span(short(first.head))} for {tags}{why}.",
        *(f"The appeal of {person(one.by)} against {code_span(one.tag)} is refused." for one in appeals),
        *(_no_gate(one.tag, gates) for one in rulings if one.tag not in gates),
        _left(left),
    ]
    return f"{' '.join(said)}\n"


def not_open_text(tag: str, open_tags: Sequence[str], gates: Gates) -> str:
    """The tag is not held against this pull request; which ones are."""
    near = gates.nearest(tag) if tag not in gates else None
    meant = f" Did you mean {code_span(near)}?" if near and near in open_tags else ""
    return f"{code_span(tag)} is not open here.{meant} {_left(open_tags)}\n"


def dismissed_line(rulings: Sequence[Ruling]) -> str:
    """The line of the comment that names what was dismissed, by whom and why; empty for nothing."""
    told = [
        f"{code_span(one.tag)} by {person(one.by)} at {code_span(short(one.head))} "
        f"({code_span(one.reason, _REASON)})"
        for one in rulings
    ]
    return f"Dismissed: {joined(told)}." if told else ""


def appealed_line(ruling: Ruling) -> str:
    """The words at a gate."""
    return f"Appealed: by {person(ruling.by)}, {code_span(ruling.reason, _REASON)}"


def _no_gate(tag: str, gates: Gates) -> str:
    near = gates.nearest(tag)
    meant = f" Did you mean {code_span(near)}?" if near else ""
    return f"No gate has the tag {code_span(tag)}, so it is only a warning.{meant}"


def _what(ruling: Ruling) -> str:
    return f"{code_span(ruling.tag)} at {code_span(short(ruling.head))}: {code_span(ruling.reason, 300)}"


def _left(tags: Sequence[str]) -> str:
    if not tags:
        return "No tag is open."
    return f"{counted(len(tags), 'tag')} open: {joined([code_span(tag) for tag in tags])}."
