"""Which verdict does a label amount to? `gate:TAG` rejects for this tag until it is taken off."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.events import LabelSeen
from bot.domain.gates import is_tag, normalize_tag
from bot.domain.model import Item, PullRequest, Stance, Validator, Verdict
from bot.domain.origin import hash_of

PREFIX = "gate:"


def tag_of(label: str) -> str | None:
    """The tag that the label names; None for every other label."""
    if not label.lower().startswith(PREFIX):
        return None
    tag = normalize_tag(label[len(PREFIX) :])
    return tag if is_tag(tag) else None


def with_label(
    pull_request: PullRequest, seen: LabelSeen, role: str | None, *, counted: bool
) -> tuple[Verdict, ...]:
    """The verdicts after a label was put on or taken off; an older event changes nothing."""
    tag, at = tag_of(seen.label), seen.pull_request.updated_at
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    known = verdicts.get(f"label:{tag}")
    if tag is None or (known and known.at > at):
        return pull_request.verdicts
    if seen.action == "labeled":
        verdicts[f"label:{tag}"] = _verdict(tag, seen, role, counted=counted)
    elif known:
        verdicts[known.id] = replace(known, lifted_at=known.lifted_at or at)
    else:
        # GitHub may tell of this before it tells that the label was put on.
        gone = _verdict(tag, seen, role, counted=False)
        verdicts[gone.id] = replace(gone, stance=Stance.SILENT, items=(), lifted_at=at)
    return tuple(verdicts.values())


def _verdict(tag: str, seen: LabelSeen, role: str | None, *, counted: bool) -> Verdict:
    return Verdict(
        id=f"label:{tag}",
        # Each label stands for itself: a second one must not replace the first of the same person.
        validator=Validator(f"label:{tag}", seen.sender.login, bot=seen.sender.bot),
        stance=Stance.REJECTS,
        at=seen.pull_request.updated_at,
        head=seen.pull_request.head,
        items=(Item(tag, url=seen.url),),
        url=seen.url,
        counted=counted,
        permission=role,
        body_hash=hash_of(seen.label),
        account_id=seen.sender.id,
    )
