"""Apps: installations, tokens, and the list of webhook deliveries."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.fakegithub.calls import (
    ANYBODY,
    APP_ONLY,
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    cut_page,
    page_size,
    requires_read,
    show_page,
)
from bot.fakegithub.deliveries import WebhookDelivery
from bot.fakegithub.model import ApiRefusal, Installation, Repository, forbidden_refusal, not_found_refusal
from bot.fakegithub.shapes import (
    ShapeJson,
    app_json,
    fields,
    format_time,
    installation_json,
    public_user_json,
    repository_json,
)
from bot.fakegithub.tokens import InstallationCaller, UserCaller


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An RSA key pair as PEM text: the bot holds the private half, GitHub the public one."""

    private_pem: str = field(repr=False)
    public_pem: str


def new_key_pair() -> KeyPair:
    """A fresh key pair, made for one demo or one test run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return KeyPair(private.decode(), public.decode())


def get_app(call: ApiCall) -> ApiAnswer:
    """The App that the JWT belongs to."""
    return ApiAnswer(app_json(call.github, call.github.app) | {"installations_count": len(_active(call))})


def get_repository_installation(call: ApiCall) -> ApiAnswer:
    """The installation that covers a repository."""
    installation = call.github.installation_of(call.repository)
    if installation is None:
        raise not_found_refusal()
    return ApiAnswer(installation_json(call.github, installation))


def create_token(call: ApiCall) -> ApiAnswer:
    """A token for one installation, or for some of its repositories."""
    installed = _installation(call)
    if installed.suspended_at is not None:
        raise ApiRefusal(403, "This installation has been suspended")
    ids = call.fields.get("repository_ids", ())
    chosen = tuple(repository for repository in installed.repositories if repository.id in ids)
    if len(chosen) < len(ids):
        raise ApiRefusal(422, "There is at least one repository that does not exist or is not accessible")
    token = call.github.tokens.for_installation(installed, chosen or None)
    content = {
        "token": token.token,
        "expires_at": format_time(token.expires_at),
        "permissions": dict(installed.permissions),
        "repository_selection": "selected",
    }
    return ApiAnswer(content, status=201)


def list_repositories(call: ApiCall) -> ApiAnswer:
    """What the installation token may touch."""
    repositories = _accessible(call)
    page, headers = cut_page(call, repositories)
    shapes = [repository_json(call.github, repository) for repository in page]
    body = {"total_count": len(repositories), "repositories": shapes, "repository_selection": "selected"}
    return ApiAnswer(body, headers=headers)


def _accessible(call: ApiCall) -> list[Repository]:
    if isinstance(call.caller, InstallationCaller):
        return [
            repository
            for repository in call.caller.installation.repositories
            if call.caller.covers(repository)
        ]
    if isinstance(call.caller, UserCaller) and call.caller.account.type == "Bot":
        # Another App's token: it is installed where its bot is a collaborator.
        bot = call.caller.account.id
        return [
            repository for repository in call.github.repositories.values() if bot in repository.collaborators
        ]
    raise forbidden_refusal()


def get_user(call: ApiCall) -> ApiAnswer:
    """An account by its login."""
    account = call.github.find_account(call.params["username"])
    if account is None or account.deleted:
        raise not_found_refusal()
    return ApiAnswer(public_user_json(call.github, account))


def get_me(call: ApiCall) -> ApiAnswer:
    """The account that a personal token belongs to; a bot has only its App's, which is refused this."""
    if not isinstance(call.caller, UserCaller) or call.caller.account.type == "Bot":
        raise forbidden_refusal()
    return ApiAnswer(public_user_json(call.github, call.caller.account))


def get_rate_limit(call: ApiCall) -> ApiAnswer:
    """What the caller has left; asking is free."""
    budget = call.github.limits.of(call.caller.budget).as_json()
    return ApiAnswer({"resources": {"core": budget, "search": budget, "graphql": budget}, "rate": budget})


def convert_manifest(call: ApiCall) -> ApiAnswer:
    """A new App's credentials for the code that its maker was given; a code is good once."""
    private_pem = call.github.manifest_codes.pop(call.params["code"], None)
    if private_pem is None:
        raise not_found_refusal()
    app = call.github.app
    credentials = {
        "client_id": f"Iv23li{app.id:014d}",
        "client_secret": "made-up-client-secret",
        "webhook_secret": call.github.deliveries.secret,
        "pem": private_pem,
    }
    return ApiAnswer(app_json(call.github, app) | credentials, status=201)


def _active(call: ApiCall) -> dict[int, Installation]:
    """Where the App is installed."""
    return {item.id: item for item in call.github.installations.values() if not item.deleted}


list_installations = show_page(lambda call: _active(call).values(), installation_json)


def _installation(call: ApiCall) -> Installation:
    return call.find(_active(call), "installation_id")


def get_webhook_config(call: ApiCall) -> ApiAnswer:
    """Where deliveries go; the secret is shown as stars."""
    deliveries = call.github.deliveries
    secret = "********" if deliveries.secret else ""
    config = {"content_type": "json", "insecure_ssl": "0", "secret": secret, "url": deliveries.url or ""}
    return ApiAnswer(config)


_DELIVERIES_KEPT = timedelta(days=3)


def list_deliveries(call: ApiCall) -> ApiAnswer:
    """The webhooks of the last days, newest first; a cursor leads to the next page."""
    size = page_size(call)
    deliveries = list(reversed(_sent(call)))
    cursor = call.query.get("cursor")
    if cursor is not None:
        if not cursor.removeprefix("v1_").isdecimal():
            raise ApiRefusal(400, "Invalid cursor")
        deliveries = [delivery for delivery in deliveries if delivery.id < int(cursor.removeprefix("v1_"))]
    page = deliveries[:size]
    headers = {}
    if len(deliveries) > size:
        address = f"{call.url}?per_page={size}&cursor=v1_{page[-1].id}"
        headers = {"Link": f'<{address}>; rel="next"'}
    return ApiAnswer([_item(delivery) for delivery in page], headers=headers)


def redeliver(call: ApiCall) -> ApiAnswer:
    """Send a webhook again, with the same GUID."""
    call.github.deliveries.redeliver(_delivery(call))
    return ApiAnswer({}, status=202)


def _sent(call: ApiCall) -> list[WebhookDelivery]:
    """Those that were sent and are not too old."""
    since = call.github.now() - _DELIVERIES_KEPT
    return [
        delivery
        for delivery in call.github.deliveries
        if delivery.status_code is not None and delivery.delivered_at >= since
    ]


def _delivery(call: ApiCall) -> WebhookDelivery:
    return call.find({delivery.id: delivery for delivery in _sent(call)}, "delivery_id")


def _item(delivery: WebhookDelivery) -> ShapeJson:
    same = ("id", "guid", "delivered_at", "redelivery", "duration", "status", "event", "action")
    return fields(delivery, *same) | {
        "status_code": delivery.status_code or 0,
        "installation_id": delivery.payload.get("installation", {}).get("id"),
        "repository_id": delivery.payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


_DELIVERIES = "/app/hook/deliveries"
APP_ROUTES = (
    Route("GET", "/app", get_app, APP_ONLY),
    Route("GET", "/app/installations", list_installations, APP_ONLY),
    Route("POST", "/app/installations/{installation_id}/access_tokens", create_token, APP_ONLY),
    Route("GET", f"{REPO_ROUTE}/installation", get_repository_installation, APP_ONLY),
    Route("GET", "/installation/repositories", list_repositories, requires_read("metadata")),
    Route("GET", "/users/{username}", get_user, ANYBODY),
    Route("GET", "/user", get_me, ANYBODY),
    Route("GET", "/rate_limit", get_rate_limit, ANYBODY),
    Route("POST", "/app-manifests/{code}/conversions", convert_manifest, ANYBODY),
    Route("GET", _DELIVERIES, list_deliveries, APP_ONLY),
    Route("POST", f"{_DELIVERIES}/{{delivery_id}}/attempts", redeliver, APP_ONLY),
    Route("GET", "/app/hook/config", get_webhook_config, APP_ONLY),
)
