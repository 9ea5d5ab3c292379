"""How are people, times and kinds of events shown in a thread?"""

from __future__ import annotations

import html
from datetime import datetime, timedelta

from bot.standin.model import Account

_COLOURS = 6
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def name(who: Account | None) -> str:
    """The login in bold; a bot's without its suffix, and labelled."""
    if who is None:
        return "<strong>ghost</strong>"
    shown = html.escape(who.login.removesuffix("[bot]"))
    badge = ' <span class="label">bot</span>' if who.type == "Bot" else ""
    return f"<strong>{shown}</strong>{badge}"


def avatar(who: Account, *, small: bool = False) -> str:
    """A letter in a colour of its own: a circle for a person, a square for a bot."""
    colour = sum(who.login.encode()) % _COLOURS
    classes = f"avatar c{colour}{' square' if who.type == 'Bot' else ''}{' small' if small else ''}"
    return f'<span class="{classes}" aria-hidden="true">{html.escape(who.login[:1].upper())}</span>'


def icon(kind: str) -> str:
    """A drawing that the page defines once."""
    return f'<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-{kind}"/></svg>'


def ago(at: datetime, now: datetime) -> str:
    """`now`, `3 hours ago`, `last week`, `on 3 Oct`."""
    past = now - at
    if past < _MINUTE:
        return "now"
    for unit, word, limit in ((_MINUTE, "minute", _HOUR), (_HOUR, "hour", _DAY), (_DAY, "day", 30 * _DAY)):
        if past < limit:
            count = past // unit
            return f"{count} {word}{'' if count == 1 else 's'} ago"
    return f"on {at.day} {at:%b}" + ("" if at.year == now.year else f" {at.year}")
