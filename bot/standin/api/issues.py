"""What does GitHub tell about threads and their comments, and what may be written there?"""

from __future__ import annotations

from datetime import UTC, datetime

from bot.standin.api.call import REPO, Answer, Call, Route, reads, writes
from bot.standin.api.paging import page
from bot.standin.model import Issue, IssueComment, PullRequest
from bot.standin.refusal import Refused, invalid, not_accessible, not_found
from bot.standin.shapes.issues import comment, issue, reaction
from bot.standin.shapes.repositories import label
from bot.standin.tokens import InstallationCaller

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def list_issues(call: Call) -> Answer:
    """Issues and pull requests by state, labels and creator, newest first."""
    state, creator = call.query.get("state", "open"), call.query.get("creator")
    labels = {each for each in call.query.get("labels", "").split(",") if each}
    since = call.since() or _LONG_AGO
    found = [
        each
        for each in call.repository.threads.values()
        if state in {"all", each.state}
        and (creator is None or each.user.login.casefold() == creator.casefold())
        and labels <= {one.name for one in each.labels}
        and each.updated_at >= since
    ]
    ascending = call.query.get("direction") == "asc"
    found.sort(key=lambda each: each.number, reverse=not ascending)
    return page(call, found, lambda each: issue(call.github, each))


def get_issue(call: Call) -> Answer:
    """One issue."""
    return Answer(issue(call.github, call.thread))


def create_issue(call: Call) -> Answer:
    """A new issue."""
    names = [each if isinstance(each, str) else each["name"] for each in call.fields.get("labels", ())]
    labels = tuple(call.github.label(call.repository, each) for each in names)
    title = call.text("title", "Issue")
    made = call.github.open_issue(call.repository, call.actor, title, call.fields.get("body"), labels)
    return Answer(issue(call.github, made), status=201)


def edit_issue(call: Call) -> Answer:
    """Other words, labels or another state."""
    thread, asked = call.thread, call.fields
    call.github.edit_issue(thread, call.actor, title=asked.get("title"), body=asked.get("body"))
    if "labels" in asked:
        thread.labels = [call.github.label(call.repository, each) for each in asked["labels"]]
    wanted = asked.get("state", thread.state)
    if wanted == "closed" and thread.state == "open":
        call.github.close(thread, by=call.actor)
    elif wanted == "open" and thread.state == "closed":
        call.github.reopen(thread, by=call.actor)
    return Answer(issue(call.github, thread))


def list_comments(call: Call) -> Answer:
    """The comments of a thread, oldest first; `since` looks at the last change."""
    since = call.since() or _LONG_AGO
    found = [each for each in call.github.comments_of(call.thread) if each.updated_at >= since]
    return page(call, found, lambda each: comment(call.github, each))


def list_all_comments(call: Call) -> Answer:
    """The comments of all threads."""
    since = call.since() or _LONG_AGO
    found = [each for each in call.repository.comments.values() if each.updated_at >= since]
    if call.query.get("sort") == "updated":
        found.sort(key=lambda each: each.updated_at)
    if call.query.get("direction") == "desc":
        found.reverse()
    return page(call, found, lambda each: comment(call.github, each))


def create_comment(call: Call) -> Answer:
    """A new comment."""
    _may_write(call, call.thread)
    made = call.github.comment(call.thread, call.actor, call.text("body", "IssueComment"))
    written = comment(call.github, made)
    return Answer(written, status=201, headers={"Location": written["url"]})


def get_comment(call: Call) -> Answer:
    """One comment."""
    return Answer(comment(call.github, _comment(call)))


def edit_comment(call: Call) -> Answer:
    """Another text for a comment of the caller's own."""
    found = _comment(call)
    _own(call, found)
    call.github.edit_comment(found, call.text("body", "IssueComment"), by=call.actor)
    return Answer(comment(call.github, found))


def delete_comment(call: Call) -> Answer:
    """Remove a comment."""
    found = _comment(call)
    _own(call, found)
    call.github.delete_comment(found, by=call.actor)
    return Answer(status=204)


def list_reactions(call: Call) -> Answer:
    """The reactions to a comment."""
    return page(call, _comment(call).reactions, lambda each: reaction(call.github, each))


def react(call: Call) -> Answer:
    """A reaction to a comment; 200 where the caller had given it before."""
    to, content = _comment(call), call.text("content", "Reaction")
    if content not in _CONTENTS:
        raise invalid("Reaction", "content")
    before = len(to.reactions)
    made = call.github.react(to, call.actor, content)
    return Answer(reaction(call.github, made), status=201 if len(to.reactions) > before else 200)


def remove_reaction(call: Call) -> Answer:
    """Take a reaction back."""
    to, wanted = _comment(call), call.number("reaction_id")
    found = next((each for each in to.reactions if each.id == wanted), None)
    if found is None:
        raise not_found()
    to.reactions.remove(found)
    call.github.changed()
    return Answer(status=204)


def list_labels(call: Call) -> Answer:
    """The labels of a thread."""
    return page(call, call.thread.labels, lambda each: label(call.github, call.repository, each))


def add_labels(call: Call) -> Answer:
    """More labels for a thread."""
    asked = call.body if isinstance(call.body, list) else call.fields.get("labels", ())
    for each in asked:
        call.github.add_label(call.thread, each if isinstance(each, str) else each["name"], by=call.actor)
    return list_labels(call)


def remove_label(call: Call) -> Answer:
    """One label less."""
    if call.params["name"] not in {each.name for each in call.thread.labels}:
        raise Refused(404, "Label does not exist")
    call.github.remove_label(call.thread, call.params["name"], by=call.actor)
    return list_labels(call)


def _may_write(call: Call, thread: Issue) -> None:
    """For an App, a pull request's thread is open with either permission, an issue's with one."""
    if isinstance(thread, PullRequest) or not isinstance(call.caller, InstallationCaller):
        return
    if call.caller.level("issues") != "write":
        raise not_accessible()


def _comment(call: Call) -> IssueComment:
    found = call.repository.comments.get(call.number("comment_id"))
    if found is None:
        raise not_found()
    return found


def _own(call: Call, found: IssueComment) -> None:
    """A person may change their own comments; who may write to the repository, and Apps, all of them."""
    role = call.repository.role(call.actor)
    mighty = isinstance(call.caller, InstallationCaller) or role in {"write", "maintain", "admin"}
    if found.user is not call.actor and not mighty:
        raise Refused(403, "Must have admin rights to Repository.")


_ISSUE = f"{REPO}/issues/{{issue_number}}"
_COMMENT = f"{REPO}/issues/comments/{{comment_id}}"
_READ, _WRITE = reads("issues", "pull_requests"), writes("issues", "pull_requests")

ROUTES = (
    Route("GET", f"{REPO}/issues", list_issues, _READ),
    Route("POST", f"{REPO}/issues", create_issue, writes("issues")),
    Route("GET", f"{REPO}/issues/comments", list_all_comments, _READ),
    Route("GET", _COMMENT, get_comment, _READ),
    Route("PATCH", _COMMENT, edit_comment, _WRITE),
    Route("DELETE", _COMMENT, delete_comment, _WRITE),
    Route("GET", f"{_COMMENT}/reactions", list_reactions, _READ),
    Route("POST", f"{_COMMENT}/reactions", react, _WRITE),
    Route("DELETE", f"{_COMMENT}/reactions/{{reaction_id}}", remove_reaction, _WRITE),
    Route("GET", _ISSUE, get_issue, _READ),
    Route("PATCH", _ISSUE, edit_issue, _WRITE),
    Route("GET", f"{_ISSUE}/comments", list_comments, _READ),
    Route("POST", f"{_ISSUE}/comments", create_comment, _WRITE),
    Route("GET", f"{_ISSUE}/labels", list_labels, _READ),
    Route("POST", f"{_ISSUE}/labels", add_labels, _WRITE),
    Route("DELETE", f"{_ISSUE}/labels/{{name}}", remove_label, _WRITE),
)
