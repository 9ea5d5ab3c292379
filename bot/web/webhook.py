"""Verify, deduplicate and durably queue GitHub deliveries (`POST /webhook`)."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict

import aiohttp
import msgspec
from aiohttp import web

from bot import regex
from bot.github.payloads import JsonObject, get_integer, get_path
from bot.inbox.parse import lane_of_payload
from bot.store.model import Acceptance, Delivery, StoreUnavailable
from bot.store.store import Store
from bot.web.bodies import BODY_TIMEOUT, BodyBudget
from bot.web.responses import ApiError, json_response, problem_response


def is_own_event(payload: JsonObject, app_id: int) -> bool:
    """Whether the App itself caused the event; a change of its comment by somebody else is news."""
    if not app_id or get_path(payload, "action") not in _WRITE_ACTIONS:
        return False
    if "check_run" in payload:
        return bool(get_path(payload, "check_run.app.id") == app_id)
    subject = "comment" if "comment" in payload else "issue"
    if get_path(payload, f"{subject}.performed_via_github_app.id") != app_id:
        return False
    return bool(get_path(payload, f"{subject}.user.id") == get_path(payload, "sender.id"))


_WRITE_ACTIONS = ("created", "edited", "opened", "completed")


def parse_envelope(body: bytes) -> JsonObject | None:
    """Parse the fields of the payload that the webhook needs; None if the body is not a JSON object."""
    try:
        str(body, "utf-8")  # the decoder does not check strings that it skips
        try:
            return _decode_envelope(body)
        except msgspec.ValidationError:
            # JSON, with a value of a type that GitHub does not send: slower, and of any shape.
            payload = _decode_any(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


class _Part(TypedDict, total=False):
    """What is read of an object in the payload; the rest is skipped, and costs no memory."""

    head_sha: Any
    id: Any
    number: Any
    pull_request: Any
    app: _Part | None
    performed_via_github_app: _Part | None
    user: _Part | None


class _Envelope(TypedDict, total=False):
    action: Any
    after: Any
    lane: Any
    sha: Any
    check_run: _Part | None
    check_suite: _Part | None
    comment: _Part | None
    installation: _Part | None
    issue: _Part | None
    pull_request: _Part | None
    repository: _Part | None
    sender: _Part | None


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_any = msgspec.json.Decoder().decode


_HAND_OVER_TIMEOUT = 15


async def hand_over_delivery(delivery: Delivery, secret: bytes, host: str, port: int) -> bool:
    """Post a delivery to a local server; returns False if none listens there."""
    signature = hmac.digest(secret, delivery.body, "sha256").hex()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.id,
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    address = local_webhook_url(host, port)
    timeout = aiohttp.ClientTimeout(total=_HAND_OVER_TIMEOUT)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(address, data=delivery.body, headers=headers) as response,
        ):
            if response.status in {200, 202}:
                return True
            raise StoreUnavailable(
                f"{address} responded with {response.status}; is it another program's port?"
            )
    except (aiohttp.ClientConnectorError, ConnectionError):
        return False
    except (aiohttp.ClientError, TimeoutError) as error:
        raise StoreUnavailable(f"{address}: {type(error).__name__}") from error


def local_webhook_url(host: str, port: int) -> str:
    """The webhook URL of a server that listens on this host, as seen from this machine."""
    try:
        listening = ipaddress.ip_address(host or "0.0.0.0")  # noqa: S104  nobody listens on it here
    except ValueError:
        return f"http://{host}:{port}/webhook"
    # A server that listens everywhere is reached here, too.
    local = {4: "127.0.0.1", 6: "::1"}[listening.version] if listening.is_unspecified else host
    return f"http://{f'[{local}]' if listening.version == 6 else local}:{port}/webhook"


MAX_BODY = 25 * 1024 * 1024
_DELIVERY_ID = regex.Regex(r"[A-Za-z0-9._:-]{1,100}")


@dataclass(frozen=True, slots=True)
class WebhookHandler:
    """Verifies deliveries, drops those that are not needed, and queues the rest."""

    inbox: Store
    secrets: tuple[bytes, ...]
    events: frozenset[str]
    app_id: int = 0
    """The id of this App: events of its own writes say nothing new."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    body_timeout: float = BODY_TIMEOUT
    """Seconds for a body to come in."""
    bodies: BodyBudget = field(default_factory=BodyBudget)

    def __post_init__(self) -> None:
        """Refuse no secret or an empty one: it would accept any delivery."""
        if not self.secrets or not all(self.secrets):
            raise ValueError("a webhook secret is required")

    def routes(self) -> list[web.RouteDef]:
        """The route of the webhook."""
        return [web.post("/webhook", self.handle)]

    async def handle(self, request: web.Request) -> web.Response:
        """Check size, signature, event, delivery id and body, in this order; 202 only once it is stored."""
        headers = request.headers
        try:
            async with self.bodies.body(request, MAX_BODY, seconds=self.body_timeout) as body:
                self._check_signature(body, headers.get("X-Hub-Signature-256", ""))
            event = _event(headers)
            if event not in self.events:
                return _ignored()
            return await self._queue(_delivery_id(headers), event, _parse_object(body), body)
        except ApiError as refusal:
            return refusal.response()

    def _check_signature(self, body: bytes, signature: str) -> None:
        # Bytes, because comparing a str with letters outside ASCII raises.
        received = signature.encode("utf-8", "surrogateescape")
        matches = [
            hmac.compare_digest(b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode(), received)
            for secret in self.secrets
        ]
        if not any(matches):
            raise ApiError(401, "The signature in X-Hub-Signature-256 does not match.")

    async def _queue(self, delivery_id: str, event: str, payload: JsonObject, body: bytes) -> web.Response:
        lane = lane_of_payload(event, payload)
        if lane is None or is_own_event(payload, self.app_id):
            return _ignored()
        installation = get_integer(payload, "installation.id") or 0
        delivery = Delivery(delivery_id, event, lane, installation, body, self.now())
        try:
            acceptance = await self.inbox.accept(delivery)
        except StoreUnavailable:
            return problem_response(503, "The store is unavailable. Redeliver this later.")
        return json_response(202 if acceptance is Acceptance.QUEUED else 200, {"status": acceptance.value})


def _event(headers: Mapping[str, str]) -> str:
    event = headers.get("X-GitHub-Event", "").strip()
    if not event:
        raise ApiError(400, "The header X-GitHub-Event is missing.")
    return event


def _delivery_id(headers: Mapping[str, str]) -> str:
    delivery_id = headers.get("X-GitHub-Delivery", "")
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise ApiError(400, "The header X-GitHub-Delivery is missing or malformed.")
    return delivery_id


def _parse_object(body: bytes) -> JsonObject:
    payload = parse_envelope(body)
    if payload is None:
        raise ApiError(
            400, "The body is not a JSON object. Set the webhook's content type to application/json."
        )
    return payload


def _ignored() -> web.Response:
    return json_response(200, {"status": "ignored"})
