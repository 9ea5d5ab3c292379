"""JSON of accounts, repositories, issues and comments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from bot.fakegithub.model import (
    ROLES,
    Account,
    App,
    Installation,
    Issue,
    IssueComment,
    Label,
    PullRequest,
    Reaction,
    Repository,
    Role,
    node_id,
)
from bot.fakegithub.world import World

ShapeJson = dict[str, Any]

_GHOST = 10137  # the account that GitHub shows in place of a deleted one


def format_time(moment: datetime) -> str:
    """A time as GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def format_optional_time(moment: datetime | None) -> str | None:
    """A time, or null."""
    return None if moment is None else format_time(moment)


def user_json(world: World, account: Account) -> ShapeJson:
    """An account in short; a deleted one is the ghost."""
    if account.deleted:
        return _short(world, Account(_GHOST, "ghost", "User", account.created_at))
    return _short(world, account)


def optional_user_json(world: World, account: Account | None) -> ShapeJson | None:
    """An account in short, or null where it was deleted."""
    return None if account is None or account.deleted else _short(world, account)


def public_user_json(world: World, account: Account) -> ShapeJson:
    """An account in full, as everybody sees it."""
    return user_json(world, account) | {
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
        "created_at": format_time(account.created_at),
        "updated_at": format_time(account.created_at),
    }


def app_json(world: World, app: App) -> ShapeJson:
    """An App, as in `performed_via_github_app`."""
    return {
        "id": app.id,
        "client_id": f"Iv23li{app.id:014d}",
        "slug": app.slug,
        "node_id": app.node_id,
        "owner": user_json(world, app.owner),
        "name": app.name,
        "description": None,
        "external_url": f"https://{app.slug}.example",
        "html_url": f"{world.web_url}/apps/{app.slug}",
        "created_at": format_time(app.created_at),
        "updated_at": format_time(app.created_at),
        "permissions": dict(app.permissions),
        "events": list(app.events),
    }


def installation_json(world: World, installation: Installation) -> ShapeJson:
    """An installation of the App."""
    api = f"{world.api_url}/app/installations/{installation.id}"
    return {
        "id": installation.id,
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
        "created_at": format_time(installation.created_at),
        "updated_at": format_time(installation.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": optional_user_json(world, installation.suspended_by),
        "suspended_at": format_optional_time(installation.suspended_at),
    }


def _short(world: World, account: Account) -> ShapeJson:
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


def repository_url(world: World, repository: Repository) -> str:
    """The repository's address in the API."""
    return f"{world.api_url}/repos/{repository.full_name}"


def page_url(world: World, repository: Repository) -> str:
    """The repository's address for people."""
    return f"{world.web_url}/{repository.full_name}"


def repository_json(world: World, repository: Repository) -> ShapeJson:
    """A repository as it stands in payloads and pull requests."""
    api, page = repository_url(world, repository), page_url(world, repository)
    open_issues = sum(thread.state == "open" for thread in repository.threads.values())
    host = world.web_url.partition("://")[2]
    return (
        {
            "id": repository.id,
            "node_id": node_id("R", repository.id),
            "name": repository.name,
            "full_name": repository.full_name,
            "private": repository.private,
            "owner": user_json(world, repository.owner),
            "html_url": page,
            "url": api,
            "fork": repository.fork_of is not None,
            "archived": repository.archived,
            "visibility": "private" if repository.private else "public",
            "default_branch": repository.default_branch,
            "open_issues": open_issues,
            "open_issues_count": open_issues,
            "git_url": f"git://{host}/{repository.full_name}.git",
            "ssh_url": f"git@{host}:{repository.full_name}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            "created_at": format_time(repository.created_at),
            "updated_at": format_time(repository.created_at),
            "pushed_at": format_time(repository.created_at),
        }
        | _FIXED
        | {key: api + path for key, path in _PATHS.items()}
    )


def full_repository_json(world: World, repository: Repository, caller: Account | None) -> ShapeJson:
    """A repository on its own, with what the caller may do in it."""
    role = repository.role(caller) if caller is not None else None
    if role is None and not repository.private:
        role = "read"
    return repository_json(world, repository) | {
        "network_count": 0,
        "subscribers_count": 0,
        # The flags are a user's: of an App's token they say nothing.
        "permissions": permissions_json(None if caller is not None and caller.type == "Bot" else role),
    }


def permissions_json(role: Role | None) -> dict[str, bool]:
    """What a role allows, as GitHub's five flags."""
    rank = -1 if role is None else ROLES.index(role)
    return {
        "admin": rank >= 4,
        "maintain": rank >= 3,
        "push": rank >= 2,
        "triage": rank >= 1,
        "pull": rank >= 0,
    }


def collaborator_permission_json(world: World, repository: Repository, account: Account) -> ShapeJson:
    """An account's permission; `permission` has four values only, `role_name` all of them."""
    role = repository.role(account) or (None if repository.private else "read")
    folded = {"maintain": "write", "triage": "read"}.get(role or "none", role or "none")
    return {
        "permission": folded,
        "role_name": role or "none",
        "user": user_json(world, account)
        | {"permissions": permissions_json(role), "role_name": role or "none"},
    }


def label_json(world: World, repository: Repository, label: Label) -> ShapeJson:
    """A label."""
    return {
        "id": label.id,
        "node_id": node_id("LA", label.id),
        "url": f"{repository_url(world, repository)}/labels/{label.name.replace(' ', '%20')}",
        "name": label.name,
        "color": label.color,
        "default": False,
        "description": label.description,
    }


def author_association(repository: Repository, account: Account) -> str:
    """How an account belongs to a repository, in GitHub's word."""
    if account is repository.owner:
        return "OWNER"
    if account.id in repository.collaborators:
        return "MEMBER" if repository.owner.type == "Organization" else "COLLABORATOR"
    return "NONE"


_CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def issue_url(world: World, issue: Issue) -> str:
    """The thread's address as an issue."""
    return f"{repository_url(world, issue.repository)}/issues/{issue.number}"


def issue_json(world: World, issue: Issue) -> ShapeJson:
    """An issue, or a pull request seen as one."""
    api = issue_url(world, issue)
    kind = "pull" if isinstance(issue, PullRequest) else "issues"
    comments = sum(comment.issue is issue for comment in issue.repository.comments.values())
    return {
        "id": issue.id,
        "node_id": node_id("PR" if isinstance(issue, PullRequest) else "I", issue.id),
        "url": api,
        "repository_url": repository_url(world, issue.repository),
        "labels_url": f"{api}/labels{{/name}}",
        "comments_url": f"{api}/comments",
        "events_url": f"{api}/events",
        "timeline_url": f"{api}/timeline",
        "html_url": f"{page_url(world, issue.repository)}/{kind}/{issue.number}",
        "number": issue.number,
        "state": issue.state,
        "state_reason": issue.state_reason,
        "title": issue.title,
        "body": issue.body,
        "user": optional_user_json(world, issue.user),
        "labels": [label_json(world, issue.repository, label) for label in issue.labels],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": issue.locked,
        "active_lock_reason": None,
        "comments": comments,
        "closed_at": format_optional_time(issue.closed_at),
        "closed_by": optional_user_json(world, issue.closed_by),
        "created_at": format_time(issue.created_at),
        "updated_at": format_time(issue.updated_at),
        "author_association": author_association(issue.repository, issue.user),
        "performed_via_github_app": app_json(world, world.app) if issue.via_app else None,
        "reactions": reactions_json(f"{api}/reactions", ()),
    } | _pull_part(world, issue)


def comment_json(world: World, comment: IssueComment) -> ShapeJson:
    """A comment in a thread."""
    repository = comment.issue.repository
    api = f"{repository_url(world, repository)}/issues/comments/{comment.id}"
    kind = "pull" if isinstance(comment.issue, PullRequest) else "issues"
    page = f"{page_url(world, repository)}/{kind}/{comment.issue.number}"
    return {
        "id": comment.id,
        "node_id": comment.node_id,
        "url": api,
        "html_url": f"{page}#issuecomment-{comment.id}",
        "issue_url": issue_url(world, comment.issue),
        "user": optional_user_json(world, comment.user),
        "body": comment.body,
        "created_at": format_time(comment.created_at),
        "updated_at": format_time(comment.updated_at),
        "author_association": author_association(repository, comment.user),
        "performed_via_github_app": app_json(world, world.app) if comment.via_app else None,
        "reactions": reactions_json(f"{api}/reactions", comment.reactions),
    }


def reaction_json(world: World, reaction: Reaction) -> ShapeJson:
    """One reaction."""
    return {
        "id": reaction.id,
        "node_id": node_id("REA", reaction.id),
        "user": optional_user_json(world, reaction.user),
        "content": reaction.content,
        "created_at": format_time(reaction.created_at),
    }


def reactions_json(url: str, reactions: Sequence[Reaction]) -> ShapeJson:
    """How many reactions of each kind there are."""
    contents = [reaction.content for reaction in reactions]
    return {"url": url, "total_count": len(contents)} | {
        content: contents.count(content) for content in _CONTENTS
    }


def _pull_part(world: World, issue: Issue) -> ShapeJson:
    if not isinstance(issue, PullRequest):
        return {}
    page = f"{page_url(world, issue.repository)}/pull/{issue.number}"
    return {
        "draft": issue.draft,
        "pull_request": {
            "url": f"{repository_url(world, issue.repository)}/pulls/{issue.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": format_optional_time(issue.merged_at),
        },
    }
