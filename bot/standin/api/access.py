"""May this caller do this here?"""

from __future__ import annotations

from bot.standin.api.call import Needs
from bot.standin.model import ROLES, Repository
from bot.standin.refusal import Refused, not_accessible, not_found
from bot.standin.tokens import AppCaller, Caller, InstallationCaller, UserCaller

_SUSPENDED = "This installation has been suspended"
_ARCHIVED = "Repository was archived so is read-only."


def check(caller: Caller, needs: Needs, where: Repository | None) -> None:
    """Raise GitHub's refusal where the caller may not."""
    if needs.app:
        if not isinstance(caller, AppCaller):
            raise Refused(401, "A JSON web token could not be decoded")
        return
    if isinstance(caller, AppCaller) and needs.permissions:
        raise Refused(403, "Resource not accessible by integration")
    if isinstance(caller, InstallationCaller):
        _installation(caller, needs, where)
    elif where is not None:
        _person(caller, needs, where)
    if where is not None and where.archived and needs.level == "write":
        raise Refused(403, _ARCHIVED)


def _installation(caller: InstallationCaller, needs: Needs, where: Repository | None) -> None:
    if caller.installation.suspended_at is not None:
        raise Refused(403, _SUSPENDED)
    if where is not None and not caller.covers(where):
        if where.private:
            raise not_found()
        if needs.level == "write":
            raise not_accessible()
        return
    if needs.permissions and not any(
        _is_enough(caller.level(each), needs.level) for each in needs.permissions
    ):
        raise not_accessible()


def _is_enough(granted: str | None, wanted: str) -> bool:
    return granted == "write" or (granted == "read" and wanted == "read")


def _person(caller: Caller, needs: Needs, where: Repository) -> None:
    """What GitHub asks of people: to see the repository; to comment, no more; for the rest, to write."""
    role = where.role(caller.account) if isinstance(caller, UserCaller) else None
    if where.private and role is None:
        raise not_found()
    if needs.level == "read":
        return
    if not isinstance(caller, UserCaller):
        raise Refused(401, "Requires authentication")
    commenting = "issues" in needs.permissions or "pull_requests" in needs.permissions
    if not commenting and (role is None or ROLES.index(role) < ROLES.index("write")):
        raise Refused(403, "Must have write access to this repository.")
