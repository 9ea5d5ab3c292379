"""How does GitHub write a pull request, its files, reviews and inline comments?"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from bot.standin import diff
from bot.standin.model import PullRequest, Repository, Review, ReviewComment, node_id
from bot.standin.shapes.accounts import Json, optional_stamp, stamp, user, user_or_null
from bot.standin.shapes.issues import issue_url, rollup
from bot.standin.shapes.repositories import association, label, page_url, repository, repository_url
from bot.standin.world import World


def pull_url(world: World, pull: PullRequest) -> str:
    """The pull request's address in the API."""
    return f"{repository_url(world, pull.repository)}/pulls/{pull.number}"


def pull_page(world: World, pull: PullRequest) -> str:
    """The pull request's address for people."""
    return f"{page_url(world, pull.repository)}/pull/{pull.number}"


def simple_pull(world: World, pull: PullRequest) -> Json:
    """A pull request as lists and most payloads have it."""
    api, page = pull_url(world, pull), pull_page(world, pull)
    return {
        "id": pull.pull_id,
        "node_id": node_id("PR", pull.pull_id),
        "url": api,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url(world, pull),
        "number": pull.number,
        "state": pull.state,
        "locked": pull.locked,
        "title": pull.title,
        "user": user(world, pull.user),
        "body": pull.body,
        "created_at": stamp(pull.created_at),
        "updated_at": stamp(pull.updated_at),
        "closed_at": optional_stamp(pull.closed_at),
        "merged_at": optional_stamp(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": [label(world, pull.repository, each) for each in pull.labels],
        "milestone": None,
        "draft": pull.draft,
        "head": _end(world, pull.head_repository, pull.head_ref, pull.head_sha, pull),
        "base": _end(world, pull.repository, pull.base_ref, pull.base_sha, pull),
        "author_association": association(pull.repository, pull.user),
        "auto_merge": None,
        "active_lock_reason": None,
    } | _links(world, pull)


def pull_request(world: World, pull: PullRequest) -> Json:
    """A pull request in full."""
    changed = pull_changes(pull)
    comments = pull.repository.comments.values()
    return simple_pull(world, pull) | {
        "merged": pull.merged,
        "mergeable": None if pull.merged else True,
        "rebaseable": None if pull.merged else True,
        "mergeable_state": "unknown" if pull.merged else "clean",
        "merged_by": user_or_null(world, pull.merged_by),
        "comments": sum(each.issue is pull for each in comments),
        "review_comments": sum(len(each.comments) for each in pull.reviews.values()),
        "maintainer_can_modify": False,
        "commits": len(pull.repository.objects.between(pull.base_sha, pull.head_sha)),
        "additions": sum(each.additions for each in changed),
        "deletions": sum(each.deletions for each in changed),
        "changed_files": len(changed),
    }


def pull_changes(pull: PullRequest) -> tuple[diff.FileChange, ...]:
    """What the pull request changes against the commit it branched off from."""
    objects = pull.repository.objects
    base = objects.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    return diff.changes(objects, base, pull.head_sha)


def file_change(world: World, made: Repository, sha: str, change: diff.FileChange) -> Json:
    """One file of a diff."""
    path = quote(change.path)
    api = repository_url(world, made)
    written: dict[str, Any] = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page_url(world, made)}/blob/{sha}/{path}",
        "raw_url": f"{page_url(world, made)}/raw/{sha}/{path}",
        "contents_url": f"{api}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        written["patch"] = change.patch
    if change.previous is not None:
        written["previous_filename"] = change.previous
    return written


def review(world: World, made: Review) -> Json:
    """A review, as the API answers it: its state is in upper case."""
    page = f"{pull_page(world, made.pull)}#pullrequestreview-{made.id}"
    written: Json = {
        "id": made.id,
        "node_id": made.node_id,
        "user": user_or_null(world, made.user),
        "body": made.body,
        "state": made.state,
        "html_url": page,
        "pull_request_url": pull_url(world, made.pull),
        "author_association": association(made.pull.repository, made.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url(world, made.pull)}},
        "commit_id": made.commit_id,
    }
    if made.submitted_at is not None:
        written["submitted_at"] = stamp(made.submitted_at)
    return written


def review_comment(world: World, made: ReviewComment) -> Json:
    """An inline comment; outdated, it has lost its line but keeps the original one."""
    pull = made.review.pull
    api = f"{repository_url(world, pull.repository)}/pulls/comments/{made.id}"
    page = f"{pull_page(world, pull)}#discussion_r{made.id}"
    on_line = made.subject_type == "line"
    start_side = made.side if made.start_line is not None else None
    written: Json = {
        "id": made.id,
        "node_id": made.node_id,
        "url": api,
        "html_url": page,
        "pull_request_url": pull_url(world, pull),
        "pull_request_review_id": made.review.id,
        "user": user_or_null(world, made.user),
        "body": made.body,
        "path": made.path,
        "diff_hunk": made.diff_hunk,
        "commit_id": made.commit_id if made.outdated else pull.head_sha,
        "original_commit_id": made.commit_id,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "author_association": association(pull.repository, made.user),
        "subject_type": made.subject_type,
        "side": made.side,
        "start_side": start_side if on_line else None,
        "line": None if made.outdated or not on_line else made.line,
        "start_line": None if made.outdated or not on_line else made.start_line,
        "original_line": made.line if on_line else 1,
        "original_start_line": made.start_line if on_line else None,
        "position": None if made.outdated else made.position,
        "original_position": made.position,
        "reactions": rollup(f"{api}/reactions", made.reactions),
        "_links": {
            "self": {"href": api},
            "html": {"href": page},
            "pull_request": {"href": pull_url(world, pull)},
        },
    }
    if made.in_reply_to is not None:
        written["in_reply_to_id"] = made.in_reply_to.id
    return written


def _end(world: World, made: Repository | None, ref: str, sha: str, pull: PullRequest) -> Json:
    """The head or the base; a deleted fork leaves the head without a repository."""
    owner = made.owner if made is not None else pull.user
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(world, owner),
        "repo": None if made is None else repository(world, made),
    }


def _links(world: World, pull: PullRequest) -> Json:
    api, issue = pull_url(world, pull), issue_url(world, pull)
    repository_api = repository_url(world, pull.repository)
    addresses = {
        "self": api,
        "html": pull_page(world, pull),
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{api}/comments",
        "review_comment": f"{repository_api}/pulls/comments{{/number}}",
        "commits": f"{api}/commits",
        "statuses": f"{repository_api}/statuses/{pull.head_sha}",
    }
    named = {f"{name}_url": addresses[name] for name in list(addresses)[3:]}
    return named | {"_links": {name: {"href": address} for name, address in addresses.items()}}
