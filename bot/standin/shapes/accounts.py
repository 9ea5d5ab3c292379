"""How does GitHub write an account, an App or an installation?"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

from bot.standin.model import Account, App, Installation
from bot.standin.world import World

Json = dict[str, Any]

_GHOST = 10137  # the account that GitHub shows in place of a deleted one


def stamp(moment: datetime) -> str:
    """A time as GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def optional_stamp(moment: datetime | None) -> str | None:
    """A time, or null."""
    return None if moment is None else stamp(moment)


def user(world: World, account: Account) -> Json:
    """An account in short; a deleted one is the ghost."""
    if account.deleted:
        return _short(world, Account(_GHOST, "ghost", "User", account.created_at))
    return _short(world, account)


def user_or_null(world: World, account: Account | None) -> Json | None:
    """An account in short, or null where it was deleted."""
    return None if account is None or account.deleted else _short(world, account)


def public_user(world: World, account: Account) -> Json:
    """An account in full, as everybody sees it."""
    return user(world, account) | {
        "name": None,
        "company": None,
        "blog": "",
        "location": None,
        "email": None,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": 0,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": stamp(account.created_at),
        "updated_at": stamp(account.created_at),
    }


def app(world: World, made: App) -> Json:
    """An App, as in `performed_via_github_app`."""
    return {
        "id": made.id,
        "client_id": f"Iv23li{made.id:014d}",
        "slug": made.slug,
        "node_id": made.node_id,
        "owner": user(world, made.owner),
        "name": made.name,
        "description": None,
        "external_url": f"https://{made.slug}.example",
        "html_url": f"{world.web_url}/apps/{made.slug}",
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
        "permissions": dict(made.permissions),
        "events": list(made.events),
    }


def installation(world: World, made: Installation) -> Json:
    """An installation of the App."""
    api = f"{world.api_url}/app/installations/{made.id}"
    return {
        "id": made.id,
        "client_id": f"Iv23li{made.app.id:014d}",
        "account": user(world, made.account),
        "repository_selection": "selected",
        "access_tokens_url": f"{api}/access_tokens",
        "repositories_url": f"{world.api_url}/installation/repositories",
        "html_url": f"{world.web_url}/settings/installations/{made.id}",
        "app_id": made.app.id,
        "app_slug": made.app.slug,
        "target_id": made.account.id,
        "target_type": made.account.type,
        "permissions": dict(made.permissions),
        "events": list(made.events),
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user_or_null(world, made.suspended_by),
        "suspended_at": optional_stamp(made.suspended_at),
    }


def _short(world: World, account: Account) -> Json:
    name = quote(account.login)
    api = f"{world.api_url}/users/{name}"
    page = f"apps/{account.login.removesuffix('[bot]')}" if account.type == "Bot" else name
    return {
        "login": account.login,
        "id": account.id,
        "node_id": account.node_id,
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{world.web_url}/{page}",
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }
