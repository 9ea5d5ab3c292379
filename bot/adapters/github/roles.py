"""What somebody may do in a repository, by the name that GitHub's settings show."""

from __future__ import annotations

from typing import Any

from bot.adapters.payloads.fields import find, optional_integer, text
from bot.domain.model import Account

_ROLES = ("admin", "maintain", "write", "triage", "read")
_FLAGS = {"admin": "admin", "maintain": "maintain", "push": "write", "triage": "triage", "pull": "read"}


def role(answer: Any, account: Account) -> str | None:
    """The role in GitHub's answer; None for none, and where the login is somebody else's by now."""
    holder = optional_integer(answer, "user.id")
    if holder is not None and holder != account.id:
        return None
    name = text(answer, "role_name")
    if name in _ROLES:
        return name
    # A role of the organisation's own making: what it is built on shows in the flags.
    flags = [meant for flag, meant in _FLAGS.items() if find(answer, f"user.permissions.{flag}") is True]
    if flags:
        return flags[0]
    # `permission` knows neither triage nor maintain, so it comes last.
    coarse = text(answer, "permission")
    return coarse if coarse in _ROLES else None
