"""The pages of GitHub's manifest flow, on which the tests register and install the App."""

from __future__ import annotations

import html
import json
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from aiohttp import web

from bot.fakegithub.apps import new_key_pair

if TYPE_CHECKING:
    from tests.scripted_github import ScriptedGitHub


_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1>{body}</html>'
)


def registration_routes(github: ScriptedGitHub) -> list[web.RouteDef]:
    """The pages of GitHub's manifest flow, and of the installation after it."""
    pages = _Pages(github)
    return [
        web.post("/settings/apps/new", pages.confirm),
        web.post("/organizations/{owner}/settings/apps/new", pages.confirm),
        web.post("/settings/apps/manifest", pages.create),
        web.get("/apps/{slug}", pages.about),
        web.get("/apps/{slug}/installations/new", pages.about),
        web.post("/apps/{slug}/installations/new", pages.install),
    ]


class _Pages:
    def __init__(self, github: ScriptedGitHub) -> None:
        self._github = github

    async def confirm(self, request: web.Request) -> web.Response:
        form = await request.post()
        manifest = str(form.get("manifest", ""))
        try:
            name = str(json.loads(manifest)["name"])
        except (ValueError, KeyError, TypeError):
            return _page("Invalid manifest", "<p>The manifest can't be read.</p>", status=422)
        hidden = {
            "manifest": manifest,
            "state": request.query.get("state", ""),
            "owner": request.match_info.get("owner", "the-person"),
        }
        fields = "".join(
            f'<input type="hidden" name="{key}" value="{html.escape(value)}">'
            for key, value in hidden.items()
        )
        return _page(
            "Register GitHub App",
            f'<form method="post" action="/settings/apps/manifest">{fields}'
            f'<input name="name" value="{html.escape(name)}"> '
            f'<button id="create">Create GitHub App</button></form>',
        )

    async def create(self, request: web.Request) -> web.Response:
        form = await request.post()
        manifest: dict[str, Any] = json.loads(str(form["manifest"]))
        self._register(str(form["name"]), str(form["owner"]), manifest)
        code = secrets.token_hex(20)
        keys = new_key_pair()
        self._github.app.public_pem = keys.public_pem
        self._github.manifest_codes[code] = keys.private_pem
        query = urlencode({"code": code, "state": str(form["state"])})
        return web.Response(status=302, headers={"Location": f"{manifest['redirect_url']}?{query}"})

    async def about(self, request: web.Request) -> web.Response:
        slug = html.escape(request.match_info["slug"])
        action = f"/apps/{slug}/installations/new"
        return _page(
            f"Install {slug}",
            f'<form method="post" action="{action}"><button id="install">Install</button></form>',
        )

    async def install(self, _: web.Request) -> web.Response:
        owner = self._github.app.owner
        self._github.install(owner)
        for repository in self._github.repositories.values():
            if repository.owner is owner:
                self._github.add_to_installation(repository)
        return _page("Installed", f"<p>Installed on {html.escape(owner.login)}.</p>")

    def _register(self, name: str, owner: str, manifest: dict[str, Any]) -> None:
        github, app = self._github, self._github.app
        app.name, app.slug = name, name.lower().replace(" ", "-")
        app.owner = github.find_account(owner) or github.account(owner)
        app.bot.login = f"{app.slug}[bot]"
        app.permissions, app.events = manifest["default_permissions"], tuple(manifest["default_events"])
        github.deliveries.secret = secrets.token_hex(20)
        github.webhook_url = manifest["hook_attributes"]["url"]
        hook = {"type": "App", "id": app.id + 1, "active": True, "events": list(app.events), "app_id": app.id}
        github.deliveries.emit(
            "ping", {"zen": "Keep it logically awesome.", "hook_id": app.id + 1, "hook": hook}
        )


def _page(title: str, body: str, status: int = 200) -> web.Response:
    text = _PAGE.format(title=html.escape(title), body=body)
    return web.Response(text=text, content_type="text/html", status=status)
