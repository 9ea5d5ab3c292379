"""`POST /webhook`: whether a delivery is GitHub's, is for us, and is safe on disk."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiohttp import web

from bot.adapters.payloads.fields import Json, optional_integer
from bot.adapters.web.answers import answer, problem
from bot.adapters.web.echoes import is_echo
from bot.adapters.web.glance import glance
from bot.adapters.web.lanes import lane
from bot.adapters.web.room import Room, Taken
from bot.ports import Acceptance, Delivery, Inbox, StoreUnavailable

MAX_BODY = 25 * 1024 * 1024
ROOM = 64 * 1024 * 1024
"""Bytes at once of bodies whose signature is not checked yet: a stranger's fill no more."""
_DELIVERY_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")


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
    patience: float = 10
    """Seconds for a body to come in; GitHub itself gives up after ten."""
    room: Room = field(default_factory=lambda: Room(ROOM))

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
            with self.room.taken() as taken:
                body = await _body(request, self.patience, taken)
                self._check_signature(body, headers.get("X-Hub-Signature-256", ""))
            event = _event(headers)
            if event not in self.events:
                return _ignored()
            return await self._keep(_delivery_id(headers), event, _object(body), body)
        except _Refused as refused:
            return problem(refused.status, refused.detail)

    def _check_signature(self, body: bytes, signature: str) -> None:
        # Bytes, because comparing a str with letters outside ASCII raises.
        given = signature.encode("utf-8", "surrogateescape")
        matches = [
            hmac.compare_digest(b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode(), given)
            for secret in self.secrets
        ]
        if not any(matches):
            raise _Refused(401, "X-Hub-Signature-256 does not sign this body with our secret.")

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


class _Refused(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def _too_large() -> _Refused:
    # A new one each time: a single one would keep every request that it refused.
    return _Refused(413, "The payload is larger than 25 MiB.")


async def _body(request: web.Request, patience: float, taken: Taken) -> bytes:
    if (request.content_length or 0) > MAX_BODY:
        raise _too_large()
    try:
        if request.content.is_eof():
            # As most bodies do, it has come in with its head: there is nothing to wait for.
            return _fitting(request.content.read_nowait(), 0, taken)
        body = bytearray()
        async with asyncio.timeout(patience):
            async for chunk in request.content.iter_any():
                body += _fitting(chunk, len(body), taken)
            return bytes(body)
    except TimeoutError:
        raise _Refused(408, "The body did not come in time.") from None
    except (ConnectionError, web.RequestPayloadError):
        raise _Refused(400, "The body was cut off.") from None


def _fitting(chunk: bytes, before: int, taken: Taken) -> bytes:
    if before + len(chunk) > MAX_BODY:
        raise _too_large()
    if not taken.more(len(chunk)):
        raise _Refused(503, "Too much comes in at once; deliver this again later.")
    return chunk


def _event(headers: Mapping[str, str]) -> str:
    event = headers.get("X-GitHub-Event", "").strip()
    if not event:
        raise _Refused(400, "The header X-GitHub-Event is missing.")
    return event


def _delivery_id(headers: Mapping[str, str]) -> str:
    delivery_id = headers.get("X-GitHub-Delivery", "")
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise _Refused(400, "The header X-GitHub-Delivery is missing or malformed.")
    return delivery_id


def _object(body: bytes) -> Json:
    payload = glance(body)
    if payload is None:
        raise _Refused(400, "The body is not a JSON object; set the webhook to application/json.")
    return payload


def _ignored() -> web.Response:
    return answer(200, {"status": "ignored"})
