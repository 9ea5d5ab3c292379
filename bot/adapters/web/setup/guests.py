"""Who may set this server up: somebody at this machine, or whoever knows the console's one-time code."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiohttp import web

from bot.adapters.web.setup import pages

Handler = Callable[[web.Request, str], Awaitable[web.Response]]
"""An answer to a guest with this session."""

COOKIE = "whetstone-setup"
_LIFE = timedelta(hours=1)
"""GitHub's own code is good for as long."""
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_PROXIES = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


def came_from_here(peer: str | None, headers: Mapping[str, str]) -> bool:
    """Whether the browser runs on this machine; what a proxy passes on does not count as that."""
    if any(name in headers for name in _PROXIES):
        return False
    # nginx as it comes adds no header and changes `Host` to ours, but it never passes this one on.
    if headers.get("Connection", "").lower() != "keep-alive":
        return False
    # By the name too: another site's script could have its own name lead to this machine.
    name = headers.get("Host", "").rpartition(":")[0] or headers.get("Host", "")
    try:
        return name in _LOCAL_NAMES and ipaddress.ip_address(peer or "").is_loopback
    except ValueError:
        return False


def _token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(slots=True)
class Guests:
    """The sessions that were let in, and the states under which they went to GitHub."""

    now: Callable[[], datetime]
    code: str = field(default_factory=lambda: secrets.token_hex(8))
    """Printed on the console; good once."""
    _sessions: dict[str, datetime] = field(default_factory=dict)
    _states: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def only(self, handler: Handler) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The handler for those who were let in; a form must be one of ours besides."""

        async def answer(request: web.Request) -> web.Response:
            local = self.is_local(request)
            session = self.admit(request.cookies.get(COOKIE), request.query.get("key"), local=local)
            if session is None:
                return pages.page("Who is there?", pages.asking(), status=403)
            if request.method == "POST":
                token = str((await request.post()).get("token", ""))
                if not self.is_own_form(session, token):
                    return pages.page(
                        "That did not work", pages.stopped("This form is not from here."), status=403
                    )
            response = await handler(request, session)
            response.set_cookie(COOKIE, session, httponly=True, samesite="Lax", path="/setup")
            return response

        return answer

    def is_local(self, request: web.Request) -> bool:
        """Whether the browser runs on this machine."""
        return came_from_here(request.remote, request.headers)

    def admit(self, cookie: str | None, code: str | None, *, local: bool) -> str | None:
        """The session of a guest who may go on, new or known; None for a stranger."""
        if cookie and self._is_known(cookie):
            return cookie
        if not local and not self._spend(code or ""):
            return None
        session = _token()
        self._sessions[session] = self.now() + _LIFE
        return session

    def leave(self, session: str) -> str:
        """The state under which this guest goes to GitHub."""
        state = _token()
        self._states[state] = (session, self.now() + _LIFE)
        return state

    def come_back(self, session: str, state: str) -> bool:
        """Whether this guest left under this state; a state is good once, and for an hour."""
        owner, until = self._states.pop(state, ("", self.now()))
        return hmac.compare_digest(owner.encode(), session.encode()) and self.now() < until

    def form_token(self, session: str) -> str:
        """What a form of this guest carries, so that no other site can send it."""
        return hmac.digest(session.encode(), b"form", "sha256").hex()

    def is_own_form(self, session: str, token: str) -> bool:
        """Whether the form was ours."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode("utf-8", "replace"))

    def _is_known(self, session: str) -> bool:
        return self.now() < self._sessions.get(session, self.now())

    def _spend(self, code: str) -> bool:
        right = bool(self.code) and hmac.compare_digest(self.code.encode(), code.encode("utf-8", "replace"))
        if right:
            self.code = ""
        return right
