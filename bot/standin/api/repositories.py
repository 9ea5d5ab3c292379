"""What does GitHub tell about a repository and the people in it?"""

from __future__ import annotations

from bot.standin.api.call import REPO, Answer, Call, Route, reads, writes
from bot.standin.api.paging import page
from bot.standin.refusal import Refused, not_found
from bot.standin.shapes.repositories import collaborator_permission, full_repository, label


def get_repository(call: Call) -> Answer:
    """One repository."""
    return Answer(full_repository(call.github, call.repository, call.account))


def get_permission(call: Call) -> Answer:
    """What somebody may do here."""
    found = call.github.find_account(call.params["username"])
    if found is None or found.deleted:
        raise not_found()
    if found.type == "Bot":
        raise Refused(404, f"{found.login} is not a user")
    return Answer(collaborator_permission(call.github, call.repository, found))


def list_labels(call: Call) -> Answer:
    """The repository's labels."""
    where = call.repository
    return page(call, where.labels.values(), lambda each: label(call.github, where, each))


def get_label(call: Call) -> Answer:
    """One label."""
    found = call.repository.labels.get(call.params["name"])
    if found is None:
        raise not_found()
    return Answer(label(call.github, call.repository, found))


def create_label(call: Call) -> Answer:
    """A new label."""
    name = call.text("name", "Label")
    if name in call.repository.labels:
        errors = [{"resource": "Label", "code": "already_exists", "field": "name"}]
        raise Refused(422, "Validation Failed", errors=errors)
    made = call.github.label(call.repository, name, color=call.fields.get("color") or "ededed")
    made.description = call.fields.get("description")
    return Answer(label(call.github, call.repository, made), status=201)


ROUTES = (
    Route("GET", REPO, get_repository, reads("metadata")),
    Route("GET", f"{REPO}/collaborators/{{username}}/permission", get_permission, reads("metadata")),
    Route("GET", f"{REPO}/labels", list_labels, reads("issues", "pull_requests")),
    Route("POST", f"{REPO}/labels", create_label, writes("issues", "pull_requests")),
    Route("GET", f"{REPO}/labels/{{name}}", get_label, reads("issues", "pull_requests")),
)
