"""Is this event only our own writing coming back to us?"""

from __future__ import annotations

from bot.adapters.payloads.fields import Json, find


def is_echo(payload: Json, app_id: int) -> bool:
    """Whether our App wrote the thing and did the act; somebody else changing or deleting it is news."""
    if not app_id or find(payload, "action") not in _WRITING:
        return False
    if "check_run" in payload:
        return bool(find(payload, "check_run.app.id") == app_id)
    thing = "comment" if "comment" in payload else "issue"
    if find(payload, f"{thing}.performed_via_github_app.id") != app_id:
        return False
    return bool(find(payload, f"{thing}.user.id") == find(payload, "sender.id"))


_WRITING = ("created", "edited", "opened", "completed")
# Not a set, which can't be asked for a list: a payload may have anything there.
