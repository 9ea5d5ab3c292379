"""Set-up pages: register the App by manifest, install it, send a test event (`/setup`)."""

from __future__ import annotations

import asyncio
import hmac
import html
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.github.app_api import (
    GitHubAppApi,
    Registration,
    RegistrationRequest,
    build_manifest,
    is_loopback,
    manifest_form_url,
)
from bot.github.errors import GitHubError, NotFound
from bot.github.model import DeliveryAttempt
from bot.web.api.access import RateLimiter

_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
SETUP_STEPS = ("Register", "Install", "Test")


def render_setup_page(
    title: str, body: str, *, step: int = 0, form_to: str = "", status: int = 200
) -> web.Response:
    """A whole page that loads nothing from anywhere, and whose forms go only where they should."""
    nonce = secrets.token_urlsafe(12)
    steps = "".join(f"<li{_step(at, step)}>{at}. {name}</li>" for at, name in enumerate(SETUP_STEPS, 1))
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)} · Whetstone</title>"
        f'<meta name="viewport" content="width=device-width"><style nonce="{nonce}">{_STYLE}</style>'
        f"<main><h1>{html.escape(title)}</h1>"
        f"{f'<ol class=steps>{steps}</ol>' if step else ''}{body.replace('{nonce}', nonce)}</main></html>"
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; "
        f"form-action 'self' {form_to}; frame-ancestors 'none'; base-uri 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        # Not `no-referrer`: with that, a form would not say from which origin it comes.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(text=text, content_type="text/html", status=status, headers=headers)


def _step(at: int, now: int) -> str:
    if at == now:
        return ' class="now" aria-current="step"'
    return ' class="done"' if at < now else ""


def render_register_form(token: str, given: Mapping[str, str], problems: Iterable[str] = ()) -> str:
    """The one form: whose App, and where this server is."""
    wrong = "".join(f'<p class="wrong">{html.escape(each)}</p>' for each in problems)
    organisation = given.get("kind") == "organisation"
    owner, address = html.escape(given.get("owner", "")), html.escape(given.get("public_url", ""))
    return f"""
<p class="lead">One button registers a GitHub App of your own with the least permissions that work, and keeps
its key in <code>.env</code> here. Nothing leaves this machine but the registration itself.</p>{wrong}
<form method="post" action="/setup/register">
<input type="hidden" name="token" value="{html.escape(token)}">
<fieldset>
<label><input type="radio" name="kind" value="person" {"" if organisation else "checked"}> my account</label>
<label><input type="radio" name="kind" value="organisation" {"checked" if organisation else ""}>
an organisation</label>
</fieldset>
<label for="owner">Its login</label>
<input type="text" id="owner" name="owner" required maxlength="39" value="{owner}">
<small>The App will be called <code>whetstone-&lt;login&gt;</code>: names are unique on GitHub.</small>
<label for="public_url">Address under which GitHub reaches this server</label>
<input type="url" id="public_url" name="public_url" required value="{address}"
placeholder="https://whetstone.example.org">
<small>Over HTTPS, from outside: the name of this server or of the proxy before it. Deliveries go to
<code>/webhook</code> below it.</small>
<button id="register">Register the App on GitHub</button>
</form>"""


def render_manifest_form(address: str, manifest: Mapping[str, Any]) -> str:
    """The form that carries the manifest to GitHub; a click where scripts are off."""
    return f"""
<p class="lead">GitHub asks you to confirm the name of the App.</p>
<form id="manifest" method="post" action="{html.escape(address)}">
<input type="hidden" name="manifest" value="{html.escape(json.dumps(manifest))}">
<button>Go on to GitHub</button></form>
<script nonce="{{nonce}}">document.getElementById("manifest").submit()</script>"""


def render_restarting(login: str) -> str:
    """Shown while the server starts again with its new credentials."""
    return f"""
<p class="fine">Registered. The App writes as <code id="login">{html.escape(login)}</code>; its key is in
<code>.env</code>.</p>
<p>The server starts with it now. <a class="button" id="next" href="/setup">Go on: install it</a></p>"""


def render_install(
    login: str, install_url: str, accounts: Iterable[str], token: str, outcome: str = ""
) -> str:
    """Install it, then try it."""
    known = list(accounts)
    where = ", ".join(f"<code>{html.escape(each)}</code>" for each in known) or "nowhere yet"
    return f"""
<p class="lead">The App writes as <code id="login">{html.escape(login)}</code>.</p>
<p>Installed on: <span id="accounts">{where}</span></p>
<div class="row"><a class="button{" quiet" if known else ""}" id="install" href="{html.escape(install_url)}"
target="_blank" rel="noopener">Install it{" elsewhere, too" if known else ""}</a>
<form method="post" action="/setup/test"><input type="hidden" name="token" value="{html.escape(token)}">
<button id="test">Send a test event</button></form></div>{outcome}"""


def render_outcome(text: str, *, good: bool) -> str:
    """What came of the test event."""
    return f'<p id="outcome" class="{"fine" if good else "wrong"}">{html.escape(text)}</p>'


def render_stopped(text: str) -> str:
    """What went wrong, and the way back to the start."""
    return (
        f'<p class="wrong">{html.escape(text)}</p><a class="button" id="again" href="/setup">Start again</a>'
    )


def render_key_prompt(*, is_used: bool) -> str:
    """The form for the key, which only the console shows."""
    used = """
<p class="wrong">The key was used already. For a new one, restart <code>whetstone serve --setup</code>.</p>"""
    return f"""
<p class="lead">The console of this server shows a link with a key, which opens this page in one
browser.</p>{used if is_used else ""}
<form method="get" action="/setup"><label for="key">Key</label>
<input type="text" id="key" name="key" required autocomplete="off">
<button id="enter">Go on</button></form>"""


SetupHandler = Callable[[web.Request, str], Awaitable[web.Response]]
"""An answer to a guest with this session."""

SESSION_COOKIE = "whetstone-setup"
WRONG_KEYS = 10
"""A minute and address; beyond that even the page that asks for the key is not shown."""
_LIFE = timedelta(hours=1)
"""GitHub's own code is good for as long."""
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
    _wrong: RateLimiter = field(default_factory=lambda: RateLimiter(WRONG_KEYS))

    def only(self, handler: SetupHandler) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The handler for the session that was opened; a form must be one of ours besides."""

        async def answer(request: web.Request) -> web.Response:
            session = request.cookies.get(SESSION_COOKIE, "")
            if not self._is_open(session):
                return self._enter(request)
            if "key" in request.query:
                return _to_setup()
            if request.method == "POST":
                token = str((await request.post()).get("token", ""))
                if not self.is_own_form(session, token):
                    return render_setup_page(
                        "That did not work", render_stopped("This form is not from here."), status=403
                    )
            return await handler(request, session)

        return answer

    def leave(self, session: str) -> str:
        """The state under which this guest goes to GitHub."""
        state = secrets.token_urlsafe(32)
        self._states[state] = (session, self.now() + _LIFE)
        return state

    def resume(self, session: str, state: str) -> bool:
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
        return render_setup_page("Key needed", render_key_prompt(is_used=not self.key), status=403)

    def _opened(self) -> web.Response:
        self.key, self._session = "", secrets.token_urlsafe(32)
        self._open_until = self.now() + _LIFE
        response = _to_setup()
        # Lax, because GitHub's pages send the browser back here, and Strict would leave the cookie out.
        response.set_cookie(SESSION_COOKIE, self._session, httponly=True, samesite="Lax", path="/setup")
        return response


def _to_setup() -> web.Response:
    """The same page without the key: it must stay neither in the address bar nor in a Referer."""
    headers = {"Location": "/setup", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return web.Response(status=303, headers=headers)


def _too_many(wait: float) -> web.Response:
    seconds = str(max(1, round(wait)))
    text = f"Too many wrong keys came from this address; wait {seconds} s."
    response = render_setup_page("That did not work", render_stopped(text), status=429)
    response.headers["Retry-After"] = seconds
    return response


def _are_same(one: str, other: str) -> bool:
    # Bytes, because comparing a str with letters outside ASCII raises.
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


log = logging.getLogger("whetstone.setup")

_UNKEPT = (OSError, ValueError, RuntimeError)
"""A disk that is full or locked, text that is none, a link that leads to itself."""


@dataclass(slots=True)
class RegistrationPages:
    """From the form to the stored key; `done` holds the App once it is registered."""

    guests: SetupSessions
    web_url: str
    convert: Callable[[str], Awaitable[Registration]]
    keep: Callable[[Registration, RegistrationRequest], None]
    public_url: str = ""
    try_out: Callable[[], None] = lambda: None
    """Raises what would keep `keep` from keeping."""
    done: asyncio.Future[Registration] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    _orders: dict[str, RegistrationRequest] = field(default_factory=dict)

    def routes(self) -> list[web.RouteDef]:
        """The form, the way to GitHub, and the way back."""
        return [
            web.get("/", _redirect_to_setup),
            web.get("/setup", self.guests.only(self.form)),
            web.post("/setup/register", self.guests.only(self.register)),
            web.get("/setup/callback", self.guests.only(self.callback)),
        ]

    async def form(self, request: web.Request, session: str) -> web.Response:
        """What is asked before the App can be registered."""
        if self.done.done():
            return self._registered(self.done.result())
        given = {"public_url": self.public_url or self._proposed(str(request.url.origin()))}
        return render_setup_page("Set up Whetstone", self._form(session, given), step=1)

    async def register(self, request: web.Request, session: str) -> web.Response:
        """The page that hands the manifest over to GitHub."""
        given = {name: str(value).strip() for name, value in (await request.post()).items()}
        order = RegistrationRequest(
            given.get("owner", ""),
            given.get("kind") == "organisation",
            given.get("public_url", "").rstrip("/"),
        )
        if problems := order.problems(self.web_url) or self._unkeepable():
            form = render_register_form(self.guests.form_token(session), given, problems)
            return render_setup_page("Set up Whetstone", form, step=1, status=422)
        state = self.guests.leave(session)
        self._orders[state] = order
        # The browser comes back to the address that it uses now: only there its cookie is known. No proxy
        # changes `Origin`, as it may change `Host`.
        origin = request.headers.get("Origin", "null")
        back = order.public_url if origin == "null" else origin
        content = build_manifest(order, f"{back}/setup/callback")
        address = manifest_form_url(self.web_url, order, state)
        return render_setup_page(
            "On to GitHub", render_manifest_form(address, content), step=1, form_to=self.web_url
        )

    async def callback(self, request: web.Request, session: str) -> web.Response:
        """GitHub's code turned into credentials; a state and a code are good once."""
        if self.done.done():
            return self._registered(self.done.result())
        state = request.query.get("state", "")
        if not self.guests.resume(session, state):
            return _stopped(
                "This answer of GitHub's belongs to no set-up that was begun here, or it is too old.", 403
            )
        order = self._orders.pop(state)
        try:
            made = await self.convert(request.query.get("code", ""))
            self.keep(made, order)
        except NotFound as error:
            return _stopped(f"{error}.", 410)
        except GitHubError as error:
            return _stopped(f"The App could not be fetched: {error}.", 502)
        except _UNKEPT as error:
            return _stopped(
                f"The credentials can't be kept: {_why(error)}. Delete the App and start again.", 500
            )
        if not self.done.done():
            self.done.set_result(made)
        log.info("the App is registered", extra={"app": made.slug, "owner": made.owner})
        return self._registered(made)

    def _unkeepable(self) -> tuple[str, ...]:
        """Why GitHub's answer would be lost: it shows the key of an App once."""
        try:
            self.try_out()
        except _UNKEPT as error:
            return (f"the credentials could not be kept: {_why(error)}",)
        return ()

    def _proposed(self, seen: str) -> str:
        """The address that the browser used, where GitHub could use it, too."""
        return "" if is_loopback(seen) and not is_loopback(self.web_url) else seen

    def _form(self, session: str, given: dict[str, str]) -> str:
        return render_register_form(self.guests.form_token(session), given)

    def _registered(self, made: Registration) -> web.Response:
        return render_setup_page("The App is registered", render_restarting(f"{made.slug}[bot]"), step=1)


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _stopped(text: str, status: int) -> web.Response:
    return render_setup_page("That did not work", render_stopped(text), step=1, status=status)


async def _redirect_to_setup(_: web.Request) -> web.Response:
    return web.Response(status=302, headers={"Location": "/setup"})


_KEPT = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class InstallationPages:
    """The last two steps: install, and send a test event."""

    guests: SetupSessions
    open_app_api: Callable[[], AbstractAsyncContextManager[GitHubAppApi]]
    now: Callable[[], datetime]
    polls: int = 20
    pause: float = 0.5
    """Seconds between two looks at GitHub's list."""

    def routes(self) -> list[web.RouteDef]:
        """The page, its one button, and what a reload of the last step finds."""
        return [
            web.get("/setup", self.guests.only(self.show)),
            web.get("/setup/callback", self.guests.only(self.show)),
            web.post("/setup/test", self.guests.only(self.test)),
        ]

    async def show(self, _: web.Request, session: str) -> web.Response:
        """Who the App is, where it is installed, and the two buttons."""
        return await self._page(session, "")

    async def test(self, _: web.Request, session: str) -> web.Response:
        """The page with what came of a delivery that GitHub was asked for."""
        try:
            async with self.open_app_api() as github:
                outcome = await self._tried(github)
        except GitHubError as error:
            outcome = render_outcome(f"GitHub could not be asked: {error}", good=False)
        return await self._page(session, outcome)

    async def _page(self, session: str, outcome: str) -> web.Response:
        try:
            async with self.open_app_api() as github:
                app, installed = await github.app(), await github.installations()
        except GitHubError as error:
            return render_setup_page(
                "That did not work", render_stopped(f"GitHub: {error}"), step=2, status=502
            )
        body = render_install(
            app.login,
            f"{app.url}/installations/new",
            [each.account for each in installed],
            self.guests.form_token(session),
            outcome,
        )
        return render_setup_page("Install and try it", body, step=3 if installed else 2)

    async def _tried(self, github: GitHubAppApi) -> str:
        sent = await github.deliveries(self.now() - _KEPT)
        # GitHub pings every new App once; that is the one event without any meaning.
        chosen = next((each for each in sent if each.event == "ping"), next(iter(sent), None))
        if chosen is None:
            return render_outcome(
                "GitHub has sent nothing yet that it could send again: install it first.", good=False
            )
        await github.redeliver(chosen.id)
        for _ in range(self.polls):
            await asyncio.sleep(self.pause)
            again = await github.deliveries(self.now() - _KEPT)
            if found := next((e for e in again if e.guid == chosen.guid and e.id > sent[0].id), None):
                return _said(found)
        return render_outcome(
            "GitHub has not sent it yet; look again in a minute with whetstone doctor.", good=False
        )


def _said(sent: DeliveryAttempt) -> str:
    if sent.ok:
        return render_outcome(f"GitHub sent {sent.event}, and this server took it: {sent.status}.", good=True)
    return render_outcome(
        f"GitHub sent {sent.event}, but: {sent.status}. Does the webhook's address lead here from outside?",
        good=False,
    )
