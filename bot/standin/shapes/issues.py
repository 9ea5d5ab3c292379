"""How does GitHub write an issue, its comments and their reactions?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.standin.model import Issue, IssueComment, PullRequest, Reaction, node_id
from bot.standin.shapes.accounts import Json, app, optional_stamp, stamp, user_or_null
from bot.standin.shapes.repositories import association, label, page_url, repository_url
from bot.standin.world import World

_CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def issue_url(world: World, made: Issue) -> str:
    """The thread's address as an issue."""
    return f"{repository_url(world, made.repository)}/issues/{made.number}"


def issue(world: World, made: Issue) -> Json:
    """An issue, or a pull request seen as one."""
    api = issue_url(world, made)
    kind = "pull" if isinstance(made, PullRequest) else "issues"
    comments = sum(each.issue is made for each in made.repository.comments.values())
    return {
        "id": made.id,
        "node_id": node_id("PR" if isinstance(made, PullRequest) else "I", made.id),
        "url": api,
        "repository_url": repository_url(world, made.repository),
        "labels_url": f"{api}/labels{{/name}}",
        "comments_url": f"{api}/comments",
        "events_url": f"{api}/events",
        "timeline_url": f"{api}/timeline",
        "html_url": f"{page_url(world, made.repository)}/{kind}/{made.number}",
        "number": made.number,
        "state": made.state,
        "state_reason": made.state_reason,
        "title": made.title,
        "body": made.body,
        "user": user_or_null(world, made.user),
        "labels": [label(world, made.repository, each) for each in made.labels],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": made.locked,
        "active_lock_reason": None,
        "comments": comments,
        "closed_at": optional_stamp(made.closed_at),
        "closed_by": user_or_null(world, made.closed_by),
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "author_association": association(made.repository, made.user),
        "performed_via_github_app": app(world, world.app) if made.via_app else None,
        "reactions": rollup(f"{api}/reactions", ()),
    } | _pull_part(world, made)


def comment(world: World, made: IssueComment) -> Json:
    """A comment in a thread."""
    repository = made.issue.repository
    api = f"{repository_url(world, repository)}/issues/comments/{made.id}"
    kind = "pull" if isinstance(made.issue, PullRequest) else "issues"
    page = f"{page_url(world, repository)}/{kind}/{made.issue.number}"
    return {
        "id": made.id,
        "node_id": made.node_id,
        "url": api,
        "html_url": f"{page}#issuecomment-{made.id}",
        "issue_url": issue_url(world, made.issue),
        "user": user_or_null(world, made.user),
        "body": made.body,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "author_association": association(repository, made.user),
        "performed_via_github_app": app(world, world.app) if made.via_app else None,
        "reactions": rollup(f"{api}/reactions", made.reactions),
    }


def reaction(world: World, made: Reaction) -> Json:
    """One reaction."""
    return {
        "id": made.id,
        "node_id": node_id("REA", made.id),
        "user": user_or_null(world, made.user),
        "content": made.content,
        "created_at": stamp(made.created_at),
    }


def rollup(url: str, reactions: Sequence[Reaction]) -> Json:
    """How many reactions of each kind there are."""
    given = [each.content for each in reactions]
    return {"url": url, "total_count": len(given)} | {each: given.count(each) for each in _CONTENTS}


def _pull_part(world: World, made: Issue) -> Json:
    if not isinstance(made, PullRequest):
        return {}
    page = f"{page_url(world, made.repository)}/pull/{made.number}"
    return {
        "draft": made.draft,
        "pull_request": {
            "url": f"{repository_url(world, made.repository)}/pulls/{made.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": optional_stamp(made.merged_at),
        },
    }
