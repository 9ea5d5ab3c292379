"""What do the pages of the set-up look like?"""

from __future__ import annotations

import html
import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
STEPS = ("Register", "Install", "Test")


def page(title: str, body: str, *, step: int = 0, form_to: str = "", status: int = 200) -> web.Response:
    """A whole page that loads nothing from anywhere, and whose forms go only where they should."""
    nonce = secrets.token_urlsafe(12)
    steps = "".join(f"<li{_step(at, step)}>{at}. {name}</li>" for at, name in enumerate(STEPS, 1))
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


def register_form(token: str, given: Mapping[str, str], problems: Iterable[str] = ()) -> str:
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


def hand_over(address: str, manifest: Mapping[str, Any]) -> str:
    """The form that carries the manifest to GitHub; a click where scripts are off."""
    return f"""
<p class="lead">GitHub asks you to confirm the name of the App.</p>
<form id="manifest" method="post" action="{html.escape(address)}">
<input type="hidden" name="manifest" value="{html.escape(json.dumps(manifest))}">
<button>Go on to GitHub</button></form>
<script nonce="{{nonce}}">document.getElementById("manifest").submit()</script>"""


def going_on(login: str) -> str:
    """Shown while the server starts again with its new credentials."""
    return f"""
<p class="fine">Registered. The App writes as <code id="login">{html.escape(login)}</code>; its key is in
<code>.env</code>.</p>
<p>The server starts with it now. <a class="button" id="next" href="/setup">Go on: install it</a></p>"""


def installing(login: str, install_url: str, accounts: Iterable[str], token: str, outcome: str = "") -> str:
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


def outcome(text: str, *, good: bool) -> str:
    """What came of the test event."""
    return f'<p id="outcome" class="{"fine" if good else "wrong"}">{html.escape(text)}</p>'


def stopped(text: str) -> str:
    """What went wrong, and the way back to the start."""
    return (
        f'<p class="wrong">{html.escape(text)}</p><a class="button" id="again" href="/setup">Start again</a>'
    )


def asking(*, is_used: bool) -> str:
    """The form for the key, which only the console shows."""
    used = """
<p class="wrong">The key was used already. For a new one, restart <code>whetstone serve --setup</code>.</p>"""
    return f"""
<p class="lead">The console of this server shows a link with a key, which opens this page in one
browser.</p>{used if is_used else ""}
<form method="get" action="/setup"><label for="key">Key</label>
<input type="text" id="key" name="key" required autocomplete="off">
<button id="enter">Go on</button></form>"""
