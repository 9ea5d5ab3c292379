"""Set-up pages: register the App by manifest, install it, send a test event (`/setup`)."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
from aiohttp import web

from bot.github.app_api import (
    GitHubAppApi,
    Registration,
    RegistrationRequest,
    build_manifest,
    is_loopback,
    is_webhook_relay,
    manifest_form_url,
)
from bot.github.errors import GitHubError, NotFound, describe_connection_error
from bot.github.model import DeliveryAttempt
from bot.web.api.access import RateLimiter
from bot.web.responses import page_response


def render_setup_page(
    template: str, title: str, *, step: int = 0, form_to: str = "", status: int = 200, **context: Any
) -> web.Response:
    """Render a page of the set-up; its forms go here or to `form_to` only."""
    return page_response(template, {"title": title, "step": step, **context}, status=status, form_to=form_to)


def _stopped(text: str, status: int, step: int = 0) -> web.Response:
    """Say what went wrong, with the way back to the start."""
    return render_setup_page("stopped.html", "Something went wrong", step=step, status=status, text=text)


SetupHandler = Callable[[web.Request, str], Awaitable[web.Response]]
"""Answers a request of this session."""

SESSION_COOKIE = "whetstone-setup"
WRONG_KEYS = 10
"""Attempts per minute and address; beyond that even the page that asks for the key is not shown."""
_LIFETIME = timedelta(hours=1)
"""GitHub's own code is valid for as long."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class SetupSessions:
    """The session that the key opened, and the states under which it went to GitHub.

    Where a request comes from proves nothing: behind a TCP forward everybody comes from this machine.
    """

    now: Callable[[], datetime]
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    """Printed on the console; empty once it has opened a session."""
    _session: str = ""
    _open_until: datetime = _NEVER
    _states: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    _wrong_keys: RateLimiter = field(default_factory=lambda: RateLimiter(WRONG_KEYS))

    def require_session(self, handler: SetupHandler) -> Callable[[web.Request], Awaitable[web.Response]]:
        """Wrap the handler: only the open session gets to it, and only with forms of these pages."""

        async def answer(request: web.Request) -> web.Response:
            session = request.cookies.get(SESSION_COOKIE, "")
            if not self._is_open(session):
                return self._enter(request)
            if "key" in request.query:
                return _redirect_without_key()
            if request.method == "POST":
                token = str((await request.post()).get("token", ""))
                if not _are_same(self.form_token(session), token):
                    return _stopped(
                        "This form was not sent from this page. Reload the page and try again.", 403
                    )
            return await handler(request, session)

        return answer

    def new_state(self, session: str) -> str:
        """Return a new state under which this session goes to GitHub."""
        state = secrets.token_urlsafe(32)
        self._states[state] = (session, self.now() + _LIFETIME)
        return state

    def resume(self, session: str, state: str) -> bool:
        """Whether this session went to GitHub under this state; a state is valid once, and for an hour."""
        owner, until = self._states.pop(state, ("", self.now()))
        return _are_same(owner, session) and self.now() < until

    def form_token(self, session: str) -> str:
        """Return what a form of this session carries, so that no other site can send it."""
        return hmac.digest(session.encode(), b"form", "sha256").hex()

    def _is_open(self, session: str) -> bool:
        return bool(session) and _are_same(self._session, session) and self.now() < self._open_until

    def _enter(self, request: web.Request) -> web.Response:
        key = request.query.get("key")
        # Compared before wrong keys are counted: nobody guesses 128 bits, so a stranger behind the same
        # address must not be able to lock out the owner of the key.
        if key is not None and self.key and _are_same(self.key, key):
            return self._create_session()
        if key is not None and (wait := self._wrong_keys.spend(request.remote or "")):
            return _too_many(wait)
        return render_setup_page("key.html", "Enter the set-up key", status=403, is_used=not self.key)

    def _create_session(self) -> web.Response:
        self.key, self._session = "", secrets.token_urlsafe(32)
        self._open_until = self.now() + _LIFETIME
        response = _redirect_without_key()
        # Lax, because GitHub's pages send the browser back here, and Strict would leave the cookie out.
        response.set_cookie(SESSION_COOKIE, self._session, httponly=True, samesite="Lax", path="/setup")
        return response


def _redirect_without_key() -> web.Response:
    """Redirect to the same page without the key: it must stay neither in the address bar nor in a Referer."""
    headers = {"Location": "/setup", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return web.Response(status=303, headers=headers)


def _too_many(wait: float) -> web.Response:
    seconds = str(max(1, round(wait)))
    text = f"Too many wrong keys from this address. Try again in {seconds} s."
    response = _stopped(text, 429)
    response.headers["Retry-After"] = seconds
    return response


def _are_same(first: str, second: str) -> bool:
    # Bytes, because comparing a str with letters outside ASCII raises.
    return hmac.compare_digest(first.encode("utf-8", "replace"), second.encode("utf-8", "replace"))


log = logging.getLogger("whetstone.setup")

_NOT_SAVED = (OSError, ValueError, RuntimeError)
"""A full or locked disk, text that can't be encoded, a link that leads to itself."""


@dataclass(slots=True)
class RegistrationPages:
    """The pages from the form to the stored key; `registration` is set once the App is registered."""

    sessions: SetupSessions
    web_url: str
    convert: Callable[[str], Awaitable[Registration]]
    save: Callable[[Registration, RegistrationRequest], None]
    public_url: str = ""
    check_writable: Callable[[], None] = lambda: None
    """Raises what would keep `save` from saving."""
    registration: asyncio.Future[Registration] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    check_seconds: float = 10
    """How long the public URL may take to answer."""
    _requests: dict[str, RegistrationRequest] = field(default_factory=dict)
    _check_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def routes(self) -> list[web.RouteDef]:
        """Routes of the form, the way to GitHub, and the way back."""
        return [
            web.get("/", _redirect_to_setup),
            web.get("/setup", self.sessions.require_session(self.form)),
            web.post("/setup/register", self.sessions.require_session(self.register)),
            web.get("/setup/callback", self.sessions.require_session(self.callback)),
            web.get("/setup/check", self.check),
        ]

    async def form(self, request: web.Request, session: str) -> web.Response:
        """Show the form that registers the App."""
        if self.registration.done():
            return self._registered(self.registration.result())
        public_url = self.public_url or self._propose_url(str(request.url.origin()))
        return self._form(request, session, {"public_url": public_url})

    async def register(self, request: web.Request, session: str) -> web.Response:
        """Show the page that sends the manifest to GitHub."""
        form = {name: str(value).strip() for name, value in (await request.post()).items()}
        order = RegistrationRequest(
            form.get("owner", ""),
            form.get("kind") == "organisation",
            form.get("public_url", "").rstrip("/"),
        )
        if problems := order.problems(self.web_url) or self._save_problems():
            return self._form(request, session, form, problems)
        if not form.get("skip_check") and (problem := await self._check_public_url(order.public_url)):
            return self._form(request, session, form, (problem,), may_skip=True)
        state = self.sessions.new_state(session)
        self._requests[state] = order
        # The browser comes back to the address that it uses now: only there its cookie is known. No proxy
        # changes `Origin`, as it may change `Host`.
        origin = request.headers.get("Origin", "null")
        back = order.public_url if origin == "null" else origin
        return render_setup_page(
            "manifest.html",
            "Continue on GitHub",
            step=1,
            form_to=self.web_url,
            action=manifest_form_url(self.web_url, order, state),
            manifest=json.dumps(build_manifest(order, f"{back}/setup/callback")),
        )

    async def callback(self, request: web.Request, session: str) -> web.Response:
        """Turn GitHub's code into credentials; a state and a code are valid once."""
        if self.registration.done():
            return self._registered(self.registration.result())
        state = request.query.get("state", "")
        if not self.sessions.resume(session, state):
            text = "This link from GitHub has expired, or belongs to another set-up. Start again."
            return _stopped(text, 403, step=1)
        order = self._requests.pop(state)
        try:
            registration = await self.convert(request.query.get("code", ""))
            self.save(registration, order)
        except NotFound as error:
            return _stopped(f"{error}.", 410, step=1)
        except GitHubError as error:
            return _stopped(f"GitHub did not return the App: {error}.", 502, step=1)
        except _NOT_SAVED as error:
            text = f"The credentials could not be saved: {_reason(error)}. Delete the App and start again."
            return _stopped(text, 500, step=1)
        if not self.registration.done():
            self.registration.set_result(registration)
        log.info("the App is registered", extra={"app": registration.slug, "owner": registration.owner})
        return self._registered(registration)

    async def check(self, request: web.Request) -> web.Response:
        """Prove that a request reached this process: sign the nonce in it. Anyone may ask."""
        return web.Response(text=self._sign(request.query.get("nonce", "")[:100]))

    def _sign(self, nonce: str) -> str:
        return hmac.digest(self._check_key, nonce.encode("utf-8", "replace"), "sha256").hex()

    async def _check_public_url(self, url: str) -> str:
        """Why this server can't be reached at its public URL; empty if it can."""
        if is_webhook_relay(url):  # it forwards webhooks, not pages
            return ""
        nonce = secrets.token_hex(16)
        timeout = aiohttp.ClientTimeout(total=self.check_seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
                session.get(f"{url}/setup/check", params={"nonce": nonce}, allow_redirects=False) as response,
            ):
                text = await response.content.read(100)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            return f"{url} could not be reached: {describe_connection_error(error)}."
        if _are_same(text.decode("utf-8", "replace"), self._sign(nonce)):
            return ""
        return f"{url} is another server, which responded with {response.status}."

    def _save_problems(self) -> tuple[str, ...]:
        """Find out beforehand whether GitHub's answer would be lost: it shows the key of an App once."""
        try:
            self.check_writable()
        except _NOT_SAVED as error:
            return (f"The credentials could not be saved: {_reason(error)}.",)
        return ()

    def _propose_url(self, seen: str) -> str:
        """Return the address that the browser used, where GitHub could use it, too."""
        return "" if is_loopback(seen) and not is_loopback(self.web_url) else seen

    def _form(
        self,
        request: web.Request,
        session: str,
        form: Mapping[str, str],
        problems: Sequence[str] = (),
        *,
        may_skip: bool = False,
    ) -> web.Response:
        host, port = _listening_address(request)
        return render_setup_page(
            "register.html",
            "Set up Whetstone",
            step=1,
            status=422 if problems else 200,
            token=self.sessions.form_token(session),
            form={"kind": "person", "owner": "", "public_url": "", **form},
            problems=problems,
            may_skip=may_skip,
            host=host,
            port=port,
            is_local=is_loopback(f"//[{host}]" if ":" in host else f"//{host}"),
        )

    def _registered(self, registration: Registration) -> web.Response:
        """Shown while the server starts again with its new credentials."""
        login = f"{registration.slug}[bot]"
        return render_setup_page("registered.html", "The App is registered", step=1, login=login)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _listening_address(request: web.Request) -> tuple[str, int]:
    """The address and port at which this request arrived."""
    transport = request.transport
    name = transport.get_extra_info("sockname") if transport else None
    return (name[0], name[1]) if name else ("127.0.0.1", 8080)


async def _redirect_to_setup(_: web.Request) -> web.Response:
    return web.Response(status=302, headers={"Location": "/setup"})


_DELIVERIES_KEPT = timedelta(days=3)
"""GitHub's list of deliveries reaches back as far."""


@dataclass(frozen=True, slots=True)
class RedeliveryOutcome:
    """The result of a test event, as the page says it."""

    text: str
    is_ok: bool = False


@dataclass(frozen=True, slots=True)
class InstallationPages:
    """The last two steps: install, and send a test event."""

    sessions: SetupSessions
    open_app_api: Callable[[], AbstractAsyncContextManager[GitHubAppApi]]
    now: Callable[[], datetime]
    polls: int = 20
    pause: float = 0.5
    """Seconds between two reads of GitHub's list."""

    def routes(self) -> list[web.RouteDef]:
        """Routes of the page and its button, and of a reload of the last step."""
        return [
            web.get("/setup", self.sessions.require_session(self.show)),
            web.get("/setup/callback", self.sessions.require_session(self.show)),
            web.post("/setup/test", self.sessions.require_session(self.test)),
        ]

    async def show(self, _: web.Request, session: str) -> web.Response:
        """Show the App, where it is installed, and the two buttons."""
        return await self._page(session)

    async def test(self, _: web.Request, session: str) -> web.Response:
        """Have GitHub send a delivery again, and show the page with the result."""
        try:
            async with self.open_app_api() as github:
                outcome = await self._redeliver(github)
        except GitHubError as error:
            outcome = RedeliveryOutcome(f"GitHub did not accept the request: {error}.")
        return await self._page(session, outcome)

    async def _page(self, session: str, outcome: RedeliveryOutcome | None = None) -> web.Response:
        try:
            async with self.open_app_api() as github:
                app, installations = await github.app(), await github.installations()
        except GitHubError as error:
            return _stopped(f"GitHub did not respond as expected: {error}.", 502, step=2)
        return render_setup_page(
            "install.html",
            "Install and test the App",
            step=3 if installations else 2,
            login=app.login,
            install_url=f"{app.url}/installations/new",
            accounts=[installation.account for installation in installations],
            token=self.sessions.form_token(session),
            outcome=outcome,
        )

    async def _redeliver(self, github: GitHubAppApi) -> RedeliveryOutcome:
        since = self.now() - _DELIVERIES_KEPT
        sent = await github.deliveries(since)
        # GitHub pings every new App once; that is the one event without any meaning.
        pings = (delivery for delivery in sent if delivery.event == "ping")
        chosen = next(pings, next(iter(sent), None))
        if chosen is None:
            return RedeliveryOutcome("There is no delivery to resend yet. Install the App first.")
        await github.redeliver(chosen.id)
        for _ in range(self.polls):
            await asyncio.sleep(self.pause)
            for delivery in await github.deliveries(since):
                if delivery.guid == chosen.guid and delivery.id > sent[0].id:
                    return _outcome_of(delivery)
        return RedeliveryOutcome(
            "GitHub has not resent the delivery yet. Check again in a minute with whetstone doctor."
        )


def _outcome_of(delivery: DeliveryAttempt) -> RedeliveryOutcome:
    event, status = delivery.event, delivery.status
    if delivery.ok:
        return RedeliveryOutcome(
            f"GitHub sent a {event} event, and this server accepted it: {status}.", is_ok=True
        )
    return RedeliveryOutcome(
        f"GitHub sent a {event} event, but it failed: {status}. "
        "Check that the webhook URL reaches this server from the internet."
    )
