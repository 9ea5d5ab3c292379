"""What does GitHub tell the App about itself, its installations and its deliveries?"""

from __future__ import annotations

from bot.standin.api.call import BY_ANYBODY, BY_APP, REPO, Answer, Call, Route, reads
from bot.standin.api.paging import cut, page
from bot.standin.model import Installation, Repository
from bot.standin.refusal import Refused, not_accessible, not_found
from bot.standin.shapes.accounts import app, installation, public_user, stamp
from bot.standin.shapes.repositories import repository
from bot.standin.tokens import InstallationCaller, UserCaller


def get_app(call: Call) -> Answer:
    """The App that the JWT belongs to."""
    living = sum(not each.deleted for each in call.github.installations.values())
    return Answer(app(call.github, call.github.app) | {"installations_count": living})


def list_installations(call: Call) -> Answer:
    """Where the App is installed."""
    living = [each for each in call.github.installations.values() if not each.deleted]
    return page(call, living, lambda each: installation(call.github, each))


def get_installation(call: Call) -> Answer:
    """One installation."""
    return Answer(installation(call.github, _installation(call)))


def get_repository_installation(call: Call) -> Answer:
    """The installation that covers a repository."""
    found = call.github.installation_of(call.repository)
    if found is None:
        raise not_found()
    return Answer(installation(call.github, found))


def create_token(call: Call) -> Answer:
    """A token for one installation, narrowed where asked."""
    installed = _installation(call)
    if installed.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    asked = call.fields
    names, ids = asked.get("repositories"), asked.get("repository_ids")
    chosen = tuple(
        each for each in installed.repositories if each.name in (names or ()) or each.id in (ids or ())
    )
    if len(chosen) < len(names or ()) + len(ids or ()):
        raise Refused(422, "There is at least one repository that does not exist or is not accessible")
    permissions = asked.get("permissions")
    if permissions and any(
        installed.permissions.get(name) not in {level, "write"} for name, level in permissions.items()
    ):
        raise Refused(422, "The permissions requested are not granted to this installation.")
    made = call.github.tokens.for_installation(installed, chosen if names or ids else None, permissions)
    written = {
        "token": made.token,
        "expires_at": stamp(made.expires_at),
        "permissions": permissions or dict(installed.permissions),
        "repository_selection": "selected",
    }
    return Answer(written, status=201)


def list_repositories(call: Call) -> Answer:
    """What the installation token may touch."""
    covered = _covered(call)
    shown, headers = cut(call, covered)
    written = [repository(call.github, each) for each in shown]
    body = {"total_count": len(covered), "repositories": written, "repository_selection": "selected"}
    return Answer(body, headers=headers)


def _covered(call: Call) -> list[Repository]:
    if isinstance(call.caller, InstallationCaller):
        return [each for each in call.caller.installation.repositories if call.caller.covers(each)]
    if isinstance(call.caller, UserCaller) and call.caller.account.type == "Bot":
        # Another App's token: it is installed where its bot is a collaborator.
        bot = call.caller.account.id
        return [each for each in call.github.repositories.values() if bot in each.collaborators]
    raise not_accessible()


def get_user(call: Call) -> Answer:
    """An account by its login."""
    found = call.github.find_account(call.params["username"])
    if found is None or found.deleted:
        raise not_found()
    return Answer(public_user(call.github, found))


def get_me(call: Call) -> Answer:
    """The account that a personal token belongs to; a bot has only its App's, which is refused this."""
    if not isinstance(call.caller, UserCaller) or call.caller.account.type == "Bot":
        raise not_accessible()
    return Answer(public_user(call.github, call.caller.account))


def get_rate_limit(call: Call) -> Answer:
    """What the caller has left; asking is free."""
    budget = call.github.limits.of(call.caller.budget).written()
    return Answer({"resources": {"core": budget, "search": budget, "graphql": budget}, "rate": budget})


def convert_manifest(call: Call) -> Answer:
    """A new App's credentials for the code that its maker was given; a code is good once."""
    private_pem = call.github.manifest_codes.pop(call.params["code"], None)
    if private_pem is None:
        raise not_found()
    made = call.github.app
    credentials = {
        "client_id": f"Iv23li{made.id:014d}",
        "client_secret": "made-up-client-secret",
        "webhook_secret": call.github.deliveries.secret,
        "pem": private_pem,
    }
    return Answer(app(call.github, made) | credentials, status=201)


def _installation(call: Call) -> Installation:
    found = call.github.installations.get(call.number("installation_id"))
    if found is None or found.deleted:
        raise not_found()
    return found


ROUTES = (
    Route("GET", "/app", get_app, BY_APP),
    Route("GET", "/app/installations", list_installations, BY_APP),
    Route("GET", "/app/installations/{installation_id}", get_installation, BY_APP),
    Route("POST", "/app/installations/{installation_id}/access_tokens", create_token, BY_APP),
    Route("GET", f"{REPO}/installation", get_repository_installation, BY_APP),
    Route("GET", "/installation/repositories", list_repositories, reads("metadata")),
    Route("GET", "/users/{username}", get_user, BY_ANYBODY),
    Route("GET", "/user", get_me, BY_ANYBODY),
    Route("GET", "/rate_limit", get_rate_limit, BY_ANYBODY),
    Route("POST", "/app-manifests/{code}/conversions", convert_manifest, BY_ANYBODY),
)
