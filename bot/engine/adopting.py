"""Which comment of ours stands in a thread of which nothing is known? After a reinstall there may be one."""

from __future__ import annotations

from datetime import datetime

from bot.domain.comment_marker import MARKER
from bot.domain.effects import ShowComment
from bot.domain.escape import read_marker
from bot.domain.model import Sticky
from bot.ports import FoundComment, GitHub


async def left_behind(github: GitHub, effect: ShowComment, now: datetime) -> Sticky | None:
    """The newest comment of ours with a marker, but for what an attempt of this very effect posted."""
    found = await github.own_comments(effect.repository, effect.number, f"<!-- {MARKER}: ")
    ours = (_sticky(each, now) for each in found)
    others = [each for each in ours if each and each.marker_id != effect.marker_id]
    return max(others, key=lambda each: each.comment_id, default=None)


def is_worse(effect: ShowComment, before: Sticky | None) -> bool:
    """Whether something blocks that did not before: worth a new notification."""
    return before is None or bool(set(effect.blocking) - set(before.blocking))


def _sticky(found: FoundComment, now: datetime) -> Sticky | None:
    data = read_marker(MARKER, found.body.partition("\n")[0])
    if data is None:
        return None
    return Sticky(
        comment_id=found.posted.id,
        node_id=found.posted.node_id,
        url=found.posted.url,
        marker_id=str(data.get("id", "")),
        fingerprint="",
        issues=_tags(data.get("issues")),
        blocking=_tags(data.get("blocking")),
        written_at=now,
    )


def _tags(said: object) -> tuple[str, ...]:
    return tuple(map(str, said)) if isinstance(said, list) else ()
