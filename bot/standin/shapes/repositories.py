"""How does GitHub write a repository, and somebody's role in it?"""

from __future__ import annotations

from typing import Any

from bot.standin.model import ROLES, Account, Label, Repository, Role, node_id
from bot.standin.shapes.accounts import Json, stamp, user
from bot.standin.world import World

_PATHS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_FIXED: dict[str, Any] = {
    "description": None,
    "homepage": None,
    "language": None,
    "license": None,
    "mirror_url": None,
    "disabled": False,
    "is_template": False,
    "allow_forking": True,
    "web_commit_signoff_required": False,
    "topics": [],
    "forks": 0,
    "forks_count": 0,
    "stargazers_count": 0,
    "watchers": 0,
    "watchers_count": 0,
    "size": 12,
    "has_issues": True,
    "has_projects": False,
    "has_downloads": True,
    "has_wiki": False,
    "has_pages": False,
    "has_discussions": False,
}


def repository_url(world: World, made: Repository) -> str:
    """The repository's address in the API."""
    return f"{world.api_url}/repos/{made.full_name}"


def page_url(world: World, made: Repository) -> str:
    """The repository's address for people."""
    return f"{world.web_url}/{made.full_name}"


def repository(world: World, made: Repository) -> Json:
    """A repository as it stands in payloads and pull requests."""
    api, page = repository_url(world, made), page_url(world, made)
    open_issues = sum(each.state == "open" for each in made.threads.values())
    host = world.web_url.partition("://")[2]
    return (
        {
            "id": made.id,
            "node_id": node_id("R", made.id),
            "name": made.name,
            "full_name": made.full_name,
            "private": made.private,
            "owner": user(world, made.owner),
            "html_url": page,
            "url": api,
            "fork": made.fork_of is not None,
            "archived": made.archived,
            "visibility": "private" if made.private else "public",
            "default_branch": made.default_branch,
            "open_issues": open_issues,
            "open_issues_count": open_issues,
            "git_url": f"git://{host}/{made.full_name}.git",
            "ssh_url": f"git@{host}:{made.full_name}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            "created_at": stamp(made.created_at),
            "updated_at": stamp(made.created_at),
            "pushed_at": stamp(made.created_at),
        }
        | _FIXED
        | {key: api + path for key, path in _PATHS.items()}
    )


def full_repository(world: World, made: Repository, caller: Account | None) -> Json:
    """A repository on its own, with what the caller may do in it."""
    role = made.role(caller) if caller is not None else None
    if role is None and not made.private:
        role = "read"
    return repository(world, made) | {
        "network_count": 0,
        "subscribers_count": 0,
        # The flags are a user's: of an App's token they say nothing.
        "permissions": permissions(None if caller is not None and caller.type == "Bot" else role),
    }


def permissions(role: Role | None) -> dict[str, bool]:
    """What a role allows, as GitHub's five flags."""
    rank = -1 if role is None else ROLES.index(role)
    return {
        "admin": rank >= 4,
        "maintain": rank >= 3,
        "push": rank >= 2,
        "triage": rank >= 1,
        "pull": rank >= 0,
    }


def collaborator_permission(world: World, made: Repository, account: Account) -> Json:
    """Somebody's permission here; `permission` knows four words only, `role_name` all of them."""
    role = made.role(account) or (None if made.private else "read")
    folded = {"maintain": "write", "triage": "read"}.get(role or "none", role or "none")
    return {
        "permission": folded,
        "role_name": role or "none",
        "user": user(world, account) | {"permissions": permissions(role), "role_name": role or "none"},
    }


def label(world: World, made: Repository, one: Label) -> Json:
    """A label."""
    return {
        "id": one.id,
        "node_id": node_id("LA", one.id),
        "url": f"{repository_url(world, made)}/labels/{one.name.replace(' ', '%20')}",
        "name": one.name,
        "color": one.color,
        "default": False,
        "description": one.description,
    }


def association(made: Repository, account: Account) -> str:
    """How an account belongs to a repository, in GitHub's word."""
    if account is made.owner:
        return "OWNER"
    if account.id in made.collaborators:
        return "MEMBER" if made.owner.type == "Organization" else "COLLABORATOR"
    return "NONE"
