"""`POST /webhook`: whether a delivery is GitHub's, is for us, and is safe on disk."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiohttp import web

from bot.adapters.payloads.fields import Json, optional_integer
from bot.adapters.web.answers import answer, problem
from bot.adapters.web.api.refusals import Refusal
from bot.adapters.web.bodies import PATIENCE, BodyBudget
from bot.adapters.web.echoes import is_echo
from bot.adapters.web.glance import glance
from bot.adapters.web.lanes import lane
from bot.domain import regex
from bot.ports import Acceptance, Delivery, Inbox, StoreUnavailable

MAX_BODY = 25 * 1024 * 1024
_DELIVERY_ID = regex.Pattern(r"[A-Za-z0-9._:-]{1,100}")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Door:
    """Where deliveries come in: whose signature counts, which events are read, who keeps them."""

    inbox: Inbox
    secrets: tuple[bytes, ...]
    events: frozenset[str]
    app_id: int = 0
    """Our own App: what it wrote itself comes back as an event, and says nothing new."""
    now: Callable[[], datetime] = _now
    patience: float = PATIENCE
    """Seconds for a body to come in."""
    bodies: BodyBudget = field(default_factory=BodyBudget)

    def __post_init__(self) -> None:
        """No secret, or an empty one, would let anybody in."""
        if not self.secrets or not all(self.secrets):
            raise ValueError("a webhook secret is needed")

    def routes(self) -> list[web.RouteDef]:
        """The one route of the door."""
        return [web.post("/webhook", self.receive)]

    async def receive(self, request: web.Request) -> web.Response:
        """The contract's checks, in the contract's order; 202 only when the delivery is safe."""
        headers = request.headers
        try:
            async with self.bodies.body(request, MAX_BODY, patience=self.patience) as body:
                self._check_signature(body, headers.get("X-Hub-Signature-256", ""))
            event = _event(headers)
            if event not in self.events:
                return _ignored()
            return await self._keep(_delivery_id(headers), event, _object(body), body)
        except Refusal as refusal:
            return refusal.answer()

    def _check_signature(self, body: bytes, signature: str) -> None:
        # Bytes, because comparing a str with letters outside ASCII raises.
        given = signature.encode("utf-8", "surrogateescape")
        matches = [
            hmac.compare_digest(b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode(), given)
            for secret in self.secrets
        ]
        if not any(matches):
            raise Refusal(401, "X-Hub-Signature-256 does not sign this body with our secret.")

    async def _keep(self, delivery_id: str, event: str, payload: Json, body: bytes) -> web.Response:
        name = lane(event, payload)
        if name is None or is_echo(payload, self.app_id):
            return _ignored()
        installation = optional_integer(payload, "installation.id") or 0
        delivery = Delivery(delivery_id, event, name, installation, body, self.now())
        try:
            acceptance = await self.inbox.accept(delivery)
        except StoreUnavailable:
            return problem(503, "The store is away; deliver this again later.")
        return answer(202 if acceptance is Acceptance.QUEUED else 200, {"status": acceptance.value})


def _event(headers: Mapping[str, str]) -> str:
    event = headers.get("X-GitHub-Event", "").strip()
    if not event:
        raise Refusal(400, "The header X-GitHub-Event is missing.")
    return event


def _delivery_id(headers: Mapping[str, str]) -> str:
    delivery_id = headers.get("X-GitHub-Delivery", "")
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise Refusal(400, "The header X-GitHub-Delivery is missing or malformed.")
    return delivery_id


def _object(body: bytes) -> Json:
    payload = glance(body)
    if payload is None:
        raise Refusal(400, "The body is not a JSON object; set the webhook to application/json.")
    return payload


def _ignored() -> web.Response:
    return answer(200, {"status": "ignored"})
