"""Endpoints of Apps, installations, the webhook config and deliveries."""

from __future__ import annotations

from datetime import timedelta

from bot.fakegithub.calls import (
    ANYBODY,
    APP_ONLY,
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    cut_page,
    page_answer,
    page_size,
    requires_read,
)
from bot.fakegithub.deliveries import WebhookDelivery
from bot.fakegithub.model import ApiRefusal, Installation, Repository, forbidden_refusal, not_found_refusal
from bot.fakegithub.shapes import (
    ShapeJson,
    app_json,
    format_time,
    installation_json,
    public_user_json,
    repository_json,
)
from bot.fakegithub.tokens import InstallationCaller, UserCaller


def get_app(call: ApiCall) -> ApiAnswer:
    """The App that the JWT belongs to."""
    living = sum(not each.deleted for each in call.github.installations.values())
    return ApiAnswer(app_json(call.github, call.github.app) | {"installations_count": living})


def list_installations(call: ApiCall) -> ApiAnswer:
    """Where the App is installed."""
    living = [each for each in call.github.installations.values() if not each.deleted]
    return page_answer(call, living, lambda each: installation_json(call.github, each))


def get_installation(call: ApiCall) -> ApiAnswer:
    """One installation."""
    return ApiAnswer(installation_json(call.github, _installation(call)))


def get_repository_installation(call: ApiCall) -> ApiAnswer:
    """The installation that covers a repository."""
    found = call.github.installation_of(call.repository)
    if found is None:
        raise not_found_refusal()
    return ApiAnswer(installation_json(call.github, found))


def create_token(call: ApiCall) -> ApiAnswer:
    """A token for one installation, narrowed where asked."""
    installed = _installation(call)
    if installed.suspended_at is not None:
        raise ApiRefusal(403, "This installation has been suspended")
    asked = call.fields
    names, ids = asked.get("repositories"), asked.get("repository_ids")
    chosen = tuple(
        each for each in installed.repositories if each.name in (names or ()) or each.id in (ids or ())
    )
    if len(chosen) < len(names or ()) + len(ids or ()):
        raise ApiRefusal(422, "There is at least one repository that does not exist or is not accessible")
    permissions = asked.get("permissions")
    if permissions and any(
        installed.permissions.get(name) not in {level, "write"} for name, level in permissions.items()
    ):
        raise ApiRefusal(422, "The permissions requested are not granted to this installation.")
    made = call.github.tokens.for_installation(installed, chosen if names or ids else None, permissions)
    written = {
        "token": made.token,
        "expires_at": format_time(made.expires_at),
        "permissions": permissions or dict(installed.permissions),
        "repository_selection": "selected",
    }
    return ApiAnswer(written, status=201)


def list_repositories(call: ApiCall) -> ApiAnswer:
    """What the installation token may touch."""
    covered = _covered(call)
    shown, headers = cut_page(call, covered)
    written = [repository_json(call.github, each) for each in shown]
    body = {"total_count": len(covered), "repositories": written, "repository_selection": "selected"}
    return ApiAnswer(body, headers=headers)


def _covered(call: ApiCall) -> list[Repository]:
    if isinstance(call.caller, InstallationCaller):
        return [each for each in call.caller.installation.repositories if call.caller.covers(each)]
    if isinstance(call.caller, UserCaller) and call.caller.account.type == "Bot":
        # Another App's token: it is installed where its bot is a collaborator.
        bot = call.caller.account.id
        return [each for each in call.github.repositories.values() if bot in each.collaborators]
    raise forbidden_refusal()


def get_user(call: ApiCall) -> ApiAnswer:
    """An account by its login."""
    found = call.github.find_account(call.params["username"])
    if found is None or found.deleted:
        raise not_found_refusal()
    return ApiAnswer(public_user_json(call.github, found))


def get_me(call: ApiCall) -> ApiAnswer:
    """The account that a personal token belongs to; a bot has only its App's, which is refused this."""
    if not isinstance(call.caller, UserCaller) or call.caller.account.type == "Bot":
        raise forbidden_refusal()
    return ApiAnswer(public_user_json(call.github, call.caller.account))


def get_rate_limit(call: ApiCall) -> ApiAnswer:
    """What the caller has left; asking is free."""
    budget = call.github.limits.of(call.caller.budget).written()
    return ApiAnswer({"resources": {"core": budget, "search": budget, "graphql": budget}, "rate": budget})


def convert_manifest(call: ApiCall) -> ApiAnswer:
    """A new App's credentials for the code that its maker was given; a code is good once."""
    private_pem = call.github.manifest_codes.pop(call.params["code"], None)
    if private_pem is None:
        raise not_found_refusal()
    made = call.github.app
    credentials = {
        "client_id": f"Iv23li{made.id:014d}",
        "client_secret": "made-up-client-secret",
        "webhook_secret": call.github.deliveries.secret,
        "pem": private_pem,
    }
    return ApiAnswer(app_json(call.github, made) | credentials, status=201)


def _installation(call: ApiCall) -> Installation:
    found = call.github.installations.get(call.number("installation_id"))
    if found is None or found.deleted:
        raise not_found_refusal()
    return found


APP_ROUTES = (
    Route("GET", "/app", get_app, APP_ONLY),
    Route("GET", "/app/installations", list_installations, APP_ONLY),
    Route("GET", "/app/installations/{installation_id}", get_installation, APP_ONLY),
    Route("POST", "/app/installations/{installation_id}/access_tokens", create_token, APP_ONLY),
    Route("GET", f"{REPO_ROUTE}/installation", get_repository_installation, APP_ONLY),
    Route("GET", "/installation/repositories", list_repositories, requires_read("metadata")),
    Route("GET", "/users/{username}", get_user, ANYBODY),
    Route("GET", "/user", get_me, ANYBODY),
    Route("GET", "/rate_limit", get_rate_limit, ANYBODY),
    Route("POST", "/app-manifests/{code}/conversions", convert_manifest, ANYBODY),
)


_KEPT = timedelta(days=3)


def list_deliveries(call: ApiCall) -> ApiAnswer:
    """The webhooks of the last days, newest first; a cursor leads to the next page."""
    size = page_size(call)
    found = [each for each in reversed(_known(call)) if _has_status(each, call.query.get("status"))]
    cursor = call.query.get("cursor")
    if cursor is not None:
        if not cursor.removeprefix("v1_").isdecimal():
            raise ApiRefusal(400, "Invalid cursor")
        found = [each for each in found if each.id < int(cursor.removeprefix("v1_"))]
    shown = found[:size]
    headers = {}
    if len(found) > size:
        address = f"{call.url}?per_page={size}&cursor=v1_{shown[-1].id}"
        headers = {"Link": f'<{address}>; rel="next"'}
    return ApiAnswer([_item(each) for each in shown], headers=headers)


def get_delivery(call: ApiCall) -> ApiAnswer:
    """One webhook with its payload and the answer to it."""
    found = _delivery(call)
    parts = {
        "url": call.github.deliveries.url or "",
        "request": {"headers": dict(found.headers), "payload": dict(found.payload)},
        "response": {"headers": {}, "payload": found.answer},
    }
    return ApiAnswer(_item(found) | parts)


def redeliver(call: ApiCall) -> ApiAnswer:
    """Send a webhook again, with the same GUID."""
    call.github.deliveries.redeliver(_delivery(call))
    return ApiAnswer({}, status=202)


def _known(call: ApiCall) -> list[WebhookDelivery]:
    """Those that were sent and are not too old."""
    since = call.github.now() - _KEPT
    return [
        each for each in call.github.deliveries if each.status_code is not None and each.delivered_at >= since
    ]


def _delivery(call: ApiCall) -> WebhookDelivery:
    wanted = call.number("delivery_id")
    found = next((each for each in _known(call) if each.id == wanted), None)
    if found is None:
        raise not_found_refusal()
    return found


def _has_status(delivery: WebhookDelivery, wanted: str | None) -> bool:
    """GitHub's `failure` does not count those that nobody answered."""
    code = delivery.status_code or 0
    if wanted == "success":
        return 200 <= code < 400
    return 400 <= code < 600 if wanted == "failure" else True


def _item(delivery: WebhookDelivery) -> ShapeJson:
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": format_time(delivery.delivered_at),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code or 0,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.payload.get("installation", {}).get("id"),
        "repository_id": delivery.payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


_ONE = "/app/hook/deliveries/{delivery_id}"

DELIVERY_ROUTES = (
    Route("GET", "/app/hook/deliveries", list_deliveries, APP_ONLY),
    Route("GET", _ONE, get_delivery, APP_ONLY),
    Route("POST", f"{_ONE}/attempts", redeliver, APP_ONLY),
)


def get_webhook_config(call: ApiCall) -> ApiAnswer:
    """Where deliveries go; the secret is shown as stars."""
    return ApiAnswer(
        {
            "content_type": "json",
            "insecure_ssl": "0",
            "secret": "********" if call.github.deliveries.secret else "",
            "url": call.github.deliveries.url or "",
        }
    )


HOOK_ROUTES = (Route("GET", "/app/hook/config", get_webhook_config, APP_ONLY),)
