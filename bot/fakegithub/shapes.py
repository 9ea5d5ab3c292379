"""JSON of accounts, Apps, repositories and reactions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from bot.fakegithub.model import Account, App, Installation, Reaction, Repository
from bot.fakegithub.world import World

ShapeJson = dict[str, Any]

_GHOST = 10137  # the account that GitHub shows in place of a deleted one


def format_time(moment: datetime) -> str:
    """A time as GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def fields(thing: object, *names: str) -> ShapeJson:
    """These attributes under their own names; a time as GitHub writes it."""
    values = {name: getattr(thing, name) for name in names}
    return {
        name: format_time(value) if isinstance(value, datetime) else value for name, value in values.items()
    }


def addresses(api: str, *names: str) -> ShapeJson:
    """The addresses below another one: `commits_url` for `commits`."""
    return {f"{name.partition('{')[0]}_url": f"{api}/{name}" for name in names}


def user_json(world: World, account: Account) -> ShapeJson:
    """An account in short; a deleted one is the ghost."""
    if account.deleted:
        return _short(world, Account(_GHOST, "ghost", "User", account.created_at))
    return _short(world, account)


def optional_user_json(world: World, account: Account | None) -> ShapeJson | None:
    """An account in short, or null if it was deleted."""
    return None if account is None or account.deleted else _short(world, account)


def public_user_json(world: World, account: Account) -> ShapeJson:
    """An account in full, as everybody sees it."""
    empty = ("name", "company", "location", "email", "hireable", "bio", "twitter_username")
    counts = ("public_repos", "public_gists", "followers", "following")
    created = format_time(account.created_at)
    times = {"created_at": created, "updated_at": created}
    return user_json(world, account) | dict.fromkeys(empty) | dict.fromkeys(counts, 0) | {"blog": ""} | times


def _short(world: World, account: Account) -> ShapeJson:
    name = quote(account.login)
    api = f"{world.api_url}/users/{name}"
    page = f"apps/{account.login.removesuffix('[bot]')}" if account.type == "Bot" else name
    return (
        fields(account, "login", "id", "node_id", "type")
        | addresses(api, *_USER_PATHS)
        | {
            "avatar_url": avatar_url(account),
            "gravatar_id": "",
            "url": api,
            "html_url": f"{world.web_url}/{page}",
            "organizations_url": f"{api}/orgs",
            "user_view_type": "public",
            "site_admin": False,
        }
    )


def avatar_url(account: Account) -> str:
    """Where an account's picture is."""
    return f"https://avatars.githubusercontent.com/u/{account.id}?v=4"


_USER_PATHS = (
    *("followers", "following{/other_user}", "gists{/gist_id}", "starred{/owner}{/repo}", "subscriptions"),
    *("repos", "events{/privacy}", "received_events"),
)


def app_json(world: World, app: App) -> ShapeJson:
    """An App, as in `performed_via_github_app`."""
    return fields(app, "id", "slug", "node_id", "name", "created_at") | {
        "client_id": f"Iv23li{app.id:014d}",
        "owner": user_json(world, app.owner),
        "description": None,
        "external_url": f"https://{app.slug}.example",
        "html_url": f"{world.web_url}/apps/{app.slug}",
        "updated_at": format_time(app.created_at),
        "permissions": dict(app.permissions),
        "events": list(app.events),
    }


def installation_json(world: World, installation: Installation) -> ShapeJson:
    """An installation of the App."""
    api = f"{world.api_url}/app/installations/{installation.id}"
    return fields(installation, "id", "created_at", "suspended_at") | {
        "client_id": f"Iv23li{installation.app.id:014d}",
        "account": user_json(world, installation.account),
        "repository_selection": "selected",
        "access_tokens_url": f"{api}/access_tokens",
        "repositories_url": f"{world.api_url}/installation/repositories",
        "html_url": f"{world.web_url}/settings/installations/{installation.id}",
        "app_id": installation.app.id,
        "app_slug": installation.app.slug,
        "target_id": installation.account.id,
        "target_type": installation.account.type,
        "permissions": dict(installation.permissions),
        "events": list(installation.events),
        "updated_at": format_time(installation.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": optional_user_json(world, installation.suspended_by),
    }


_REPOSITORY_PATHS = (
    *("assignees{/user}", "branches{/branch}", "collaborators{/collaborator}", "comments{/number}"),
    *("commits{/sha}", "contributors", "deployments", "downloads", "events", "forks", "hooks"),
    *("issues{/number}", "keys{/key_id}", "labels{/name}", "languages", "merges", "milestones{/number}"),
    *("notifications{?since,all,participating}", "pulls{/number}", "releases{/id}", "stargazers"),
    *("subscribers", "subscription", "tags", "teams"),
)

_OTHER_PATHS = {
    "archive_url": "/{archive_format}{/ref}",
    "blobs_url": "/git/blobs{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "statuses_url": "/statuses/{sha}",
    "trees_url": "/git/trees{/sha}",
}

_FIXED: dict[str, Any] = (
    dict.fromkeys(("description", "homepage", "language", "license", "mirror_url"))
    | dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers", "watchers_count"), 0)
    | dict.fromkeys(("disabled", "is_template", "web_commit_signoff_required"), False)
    | dict.fromkeys(("has_projects", "has_wiki", "has_pages", "has_discussions"), False)
    | {"allow_forking": True, "topics": [], "size": 12, "has_issues": True, "has_downloads": True}
)


def repository_url(world: World, repository: Repository) -> str:
    """The repository's address in the API."""
    return f"{world.api_url}/repos/{repository.full_name}"


def page_url(world: World, repository: Repository) -> str:
    """The repository's address for people."""
    return f"{world.web_url}/{repository.full_name}"


def repository_json(world: World, repository: Repository) -> ShapeJson:
    """A repository as it appears in payloads and pull requests."""
    api, page = repository_url(world, repository), page_url(world, repository)
    open_issues = sum(thread.state == "open" for thread in repository.threads.values())
    host, created = world.web_url.partition("://")[2], format_time(repository.created_at)
    return (
        short_repository_json(repository)
        | fields(repository, "archived", "default_branch")
        | {
            "owner": user_json(world, repository.owner),
            "html_url": page,
            "url": api,
            "fork": repository.fork_of is not None,
            "visibility": "private" if repository.private else "public",
            "open_issues": open_issues,
            "open_issues_count": open_issues,
            "git_url": f"git://{host}/{repository.full_name}.git",
            "ssh_url": f"git@{host}:{repository.full_name}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
        }
        | dict.fromkeys(("created_at", "updated_at", "pushed_at"), created)
        | _FIXED
        | addresses(api, *_REPOSITORY_PATHS)
        | {key: api + path for key, path in _OTHER_PATHS.items()}
    )


def short_repository_json(repository: Repository) -> ShapeJson:
    """A repository as an installation lists it."""
    return fields(repository, "id", "node_id", "name", "full_name", "private")


def author_association(repository: Repository, account: Account) -> str:
    """How an account belongs to a repository, in GitHub's word."""
    if account is repository.owner:
        return "OWNER"
    if account.id in repository.collaborators:
        return "MEMBER" if repository.owner.type == "Organization" else "COLLABORATOR"
    return "NONE"


THREAD_FIELDS = (*("number", "state", "title", "body", "locked"), *("created_at", "updated_at", "closed_at"))

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def reactions_json(url: str, reactions: Sequence[Reaction]) -> ShapeJson:
    """How many reactions of each kind there are."""
    contents = [reaction.content for reaction in reactions]
    return {"url": url, "total_count": len(contents)} | {
        content: contents.count(content) for content in REACTIONS
    }
