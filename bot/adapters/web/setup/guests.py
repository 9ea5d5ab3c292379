"""Who may set this server up: the browser session that the console's key opened, wherever it runs."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from aiohttp import web

from bot.adapters.web.api.limits import PerMinute
from bot.adapters.web.setup import pages

Handler = Callable[[web.Request, str], Awaitable[web.Response]]
"""An answer to a guest with this session."""

COOKIE = "whetstone-setup"
WRONG_KEYS = 10
"""A minute and address; beyond that even the page that asks for the key is not shown."""
_LIFE = timedelta(hours=1)
"""GitHub's own code is good for as long."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Guests:
    """The session that the key opened, and the states under which it went to GitHub.

    Where a request comes from proves nothing: behind a TCP forward everybody comes from this machine.
    """

    now: Callable[[], datetime]
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    """Printed on the console; empty once it has opened a session."""
    _session: str = ""
    _open_until: datetime = _NEVER
    _states: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    _wrong: PerMinute = field(default_factory=lambda: PerMinute(WRONG_KEYS))

    def only(self, handler: Handler) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The handler for the session that was opened; a form must be one of ours besides."""

        async def answer(request: web.Request) -> web.Response:
            session = request.cookies.get(COOKIE, "")
            if not self._is_open(session):
                return self._enter(request)
            if "key" in request.query:
                return _to_setup()
            if request.method == "POST":
                token = str((await request.post()).get("token", ""))
                if not self.is_own_form(session, token):
                    return pages.page(
                        "That did not work", pages.stopped("This form is not from here."), status=403
                    )
            return await handler(request, session)

        return answer

    def leave(self, session: str) -> str:
        """The state under which this guest goes to GitHub."""
        state = secrets.token_urlsafe(32)
        self._states[state] = (session, self.now() + _LIFE)
        return state

    def come_back(self, session: str, state: str) -> bool:
        """Whether this guest left under this state; a state is good once, and for an hour."""
        owner, until = self._states.pop(state, ("", self.now()))
        return _are_same(owner, session) and self.now() < until

    def form_token(self, session: str) -> str:
        """What a form of this guest carries, so that no other site can send it."""
        return hmac.digest(session.encode(), b"form", "sha256").hex()

    def is_own_form(self, session: str, token: str) -> bool:
        """Whether the form was ours."""
        return _are_same(self.form_token(session), token)

    def _is_open(self, session: str) -> bool:
        return bool(session) and _are_same(self._session, session) and self.now() < self._open_until

    def _enter(self, request: web.Request) -> web.Response:
        key = request.query.get("key")
        # Compared before wrong keys are counted: nobody guesses 128 bits, so a stranger behind the same
        # address must not be able to shut out who has the key.
        if key is not None and self.key and _are_same(self.key, key):
            return self._opened()
        if key is not None and (wait := self._wrong.spend(request.remote or "")):
            return _too_many(wait)
        return pages.page("Key needed", pages.asking(is_used=not self.key), status=403)

    def _opened(self) -> web.Response:
        self.key, self._session = "", secrets.token_urlsafe(32)
        self._open_until = self.now() + _LIFE
        response = _to_setup()
        # Lax, because GitHub's pages send the browser back here, and Strict would leave the cookie out.
        response.set_cookie(COOKIE, self._session, httponly=True, samesite="Lax", path="/setup")
        return response


def _to_setup() -> web.Response:
    """The same page without the key: it must stay neither in the address bar nor in a Referer."""
    headers = {"Location": "/setup", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return web.Response(status=303, headers=headers)


def _too_many(wait: float) -> web.Response:
    seconds = str(max(1, round(wait)))
    text = f"Too many wrong keys came from this address; wait {seconds} s."
    response = pages.page("That did not work", pages.stopped(text), status=429)
    response.headers["Retry-After"] = seconds
    return response


def _are_same(one: str, other: str) -> bool:
    # Bytes, because comparing a str with letters outside ASCII raises.
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
