"""Apps: installations, tokens, and the list of webhook deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.fakegithub.calls import ANYBODY, APP_ONLY, ApiAnswer, ApiCall, Route, requires_read
from bot.fakegithub.deliveries import WebhookDelivery
from bot.fakegithub.model import (
    ApiRefusal,
    Json,
    Repository,
    fields,
    forbidden_refusal,
    not_found_refusal,
    show,
)


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


def _create_token(call: ApiCall) -> Json:
    """Create a token for one installation, or for some of its repositories."""
    active = {item.id: item for item in call.github.active_installations}
    installed = call.find(active, "installation_id")
    if installed.suspended_at is not None:
        raise ApiRefusal(403, "This installation has been suspended")
    ids = call.fields.get("repository_ids", ())
    chosen = tuple(repository for repository in installed.repositories if repository.id in ids)
    if len(chosen) < len(ids):
        raise ApiRefusal(422, "There is at least one repository that does not exist or is not accessible")
    token = call.github.tokens.for_installation(installed, chosen or None)
    content = fields(token, "token expires_at") | fields(installed, "permissions")
    return content | {"repository_selection": "selected"}


def _list_repositories(call: ApiCall) -> ApiAnswer:
    """What the token may touch."""
    repositories = _accessible(call)
    page, headers = call.cut_page(repositories)
    body = {"total_count": len(repositories), "repositories": show(page), "repository_selection": "selected"}
    return ApiAnswer(body, headers=headers)


def _accessible(call: ApiCall) -> Sequence[Repository]:
    if call.caller.installation is not None:
        return [item for item in call.caller.installation.repositories if call.caller.covers(item)]
    if (bot := call.caller.person) is not None and bot.type == "Bot":
        # Another App's token: it is installed where its bot is a collaborator.
        return [item for item in call.github.repositories.values() if bot.id in item.collaborators]
    raise forbidden_refusal()


def _get_user(call: ApiCall) -> Json:
    account = call.github.find_account(call.params["username"])
    if account is None or account.deleted:
        raise not_found_refusal()
    return account.in_full


def _get_me(call: ApiCall) -> Json:
    """The account that a personal token belongs to; a bot has only its App's, which is refused this."""
    if (person := call.caller.person) is None or person.type == "Bot":
        raise forbidden_refusal()
    return person.in_full


def _get_rate_limit(call: ApiCall) -> Json:
    """What the caller has left; asking is free."""
    budget = call.github.budget(call.caller.budget).as_json()
    return {"resources": {"core": budget, "search": budget, "graphql": budget}, "rate": budget}


_DELIVERIES_KEPT = timedelta(days=3)


def _list_deliveries(call: ApiCall) -> ApiAnswer:
    """The webhooks of the last days, newest first; a cursor leads to the next page."""
    size, cursor = call.page_size, call.query.get("cursor", "").removeprefix("v1_")
    if cursor and not cursor.isdecimal():
        raise ApiRefusal(400, "Invalid cursor")
    deliveries = [item for item in reversed(_sent(call)) if not cursor or item.id < int(cursor)]
    page = deliveries[:size]
    headers = {}
    if len(deliveries) > size:
        headers["Link"] = f'<{call.url}?per_page={size}&cursor=v1_{page[-1].id}>; rel="next"'
    return ApiAnswer([delivery_json(delivery) for delivery in page], headers=headers)


def _redeliver(call: ApiCall) -> Json:
    """Send a webhook again, with the same GUID."""
    sent = {delivery.id: delivery for delivery in _sent(call)}
    call.github.deliveries.redeliver(call.find(sent, "delivery_id"))
    return {}


def _sent(call: ApiCall) -> list[WebhookDelivery]:
    """Those that were sent and are not too old."""
    since = call.github.now() - _DELIVERIES_KEPT
    return [
        item
        for item in call.github.deliveries.all
        if item.status_code is not None and item.delivered_at >= since
    ]


def delivery_json(delivery: WebhookDelivery) -> Json:
    """A webhook as the App's list of deliveries has it."""
    names = "id guid delivered_at redelivery duration status event action"
    return fields(delivery, names) | {
        "status_code": delivery.status_code or 0,
        "installation_id": delivery.payload.get("installation", {}).get("id"),
        "repository_id": delivery.payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


_DELIVERIES = "/app/hook/deliveries"
APP_ROUTES = (
    Route("GET", "/app", APP_ONLY, lambda call: call.github.app),
    Route("GET", "/app/installations", APP_ONLY, lambda call: call.github.active_installations),
    Route("POST", "/app/installations/{installation_id}/access_tokens", APP_ONLY, _create_token, 201),
    Route("GET", "/installation/repositories", requires_read("metadata"), _list_repositories),
    Route("GET", "/users/{username}", ANYBODY, _get_user),
    Route("GET", "/user", ANYBODY, _get_me),
    Route("GET", "/rate_limit", ANYBODY, _get_rate_limit),
    Route("GET", _DELIVERIES, APP_ONLY, _list_deliveries),
    Route("POST", f"{_DELIVERIES}/{{delivery_id}}/attempts", APP_ONLY, _redeliver, 202),
)
