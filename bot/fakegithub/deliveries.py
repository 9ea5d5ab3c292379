"""Send signed webhooks and record requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from bot.fakegithub.world import World

GITHUB_WAITS = 10.0
"""Seconds until it gives an answer up."""
_NO_ANSWER = "failed to connect to host"


@dataclass(slots=True, eq=False)
class WebhookDelivery:
    """One webhook; `status_code` is None until the response, 0 if there is none."""

    id: int
    guid: str
    event: str
    payload: Mapping[str, Any]
    body: bytes
    headers: dict[str, str]
    delivered_at: datetime
    redelivery: bool = False
    status_code: int | None = None
    status: str = "pending"
    duration: float = 0.0
    answer: str = ""

    @property
    def action(self) -> str | None:
        """The payload's action, where its event has one."""
        action = self.payload.get("action")
        return action if isinstance(action, str) else None


@dataclass(slots=True, eq=False)
class WebhookSender:
    """All webhooks, oldest first, and the one sender that works through them."""

    world: World
    secret: str
    all: list[WebhookDelivery] = field(default_factory=list)
    in_flight: int = 1
    patience: float = GITHUB_WAITS
    observers: list[Callable[[WebhookDelivery], None]] = field(default_factory=list)
    _open: int = 0
    _queue: asyncio.Queue[WebhookDelivery] = field(default_factory=asyncio.Queue)
    _senders: list[asyncio.Task[None]] = field(default_factory=list)
    _session: aiohttp.ClientSession | None = None

    def __iter__(self) -> Iterator[WebhookDelivery]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def emit(self, event: str, payload: Mapping[str, Any]) -> WebhookDelivery:
        """Record a webhook and send it."""
        body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
        delivery = self._delivery(str(uuid.uuid4()), event, payload, body)
        for observer in self.observers:
            observer(delivery)
        self._enqueue(delivery)
        return delivery

    def redeliver(self, delivery: WebhookDelivery, *, guid: str | None = None) -> WebhookDelivery:
        """Send the same webhook again, as GitHub does it: with the same GUID."""
        again = self._delivery(guid or delivery.guid, delivery.event, delivery.payload, delivery.body)
        again.redelivery = True
        self._enqueue(again)
        return again

    @property
    def is_idle(self) -> bool:
        """Whether every webhook was answered."""
        return self._open == 0

    async def start(self) -> None:
        """Begin to send."""
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self.patience))
        self._senders = [asyncio.create_task(self._send_all()) for _ in range(self.in_flight)]

    async def stop(self) -> None:
        """Send no more."""
        for sender in self._senders:
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender
        if self._session is not None:
            await self._session.close()
        self._senders, self._session = [], None

    def _delivery(self, guid: str, event: str, payload: Mapping[str, Any], body: bytes) -> WebhookDelivery:
        headers, now = self._headers(guid, event, body), self.world.now()
        delivery = WebhookDelivery(self.world.new_id(), guid, event, payload, body, headers, now)
        self.all.append(delivery)
        return delivery

    def _headers(self, guid: str, event: str, body: bytes) -> dict[str, str]:
        key = self.secret.encode()
        return {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/5741d4c",
            "X-GitHub-Delivery": guid,
            "X-GitHub-Event": event,
            "X-GitHub-Hook-ID": str(self.world.app.id + 1),
            "X-GitHub-Hook-Installation-Target-ID": str(self.world.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": "sha1=" + hmac.new(key, body, hashlib.sha1).hexdigest(),
            "X-Hub-Signature-256": "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest(),
        }

    def _enqueue(self, delivery: WebhookDelivery) -> None:
        if self.world.webhook_url is not None:
            self._open += 1
            self._queue.put_nowait(delivery)
        self.world.changed()

    async def _send_all(self) -> None:
        while True:
            delivery = await self._queue.get()
            try:
                await self._send(delivery)
            finally:
                self._open -= 1
            self.world.changed()

    async def _send(self, delivery: WebhookDelivery) -> None:
        url, started = self.world.webhook_url, time.monotonic()
        if self._session is None or url is None:
            return
        delivery.delivered_at = self.world.now()
        try:
            async with self._session.post(url, data=delivery.body, headers=delivery.headers) as answer:
                delivery.answer = await answer.text()
                delivery.status_code = answer.status
                delivery.status = "OK" if answer.ok else (answer.reason or "Invalid HTTP Response")
        except TimeoutError:
            delivery.status_code, delivery.status = 0, "timed out"
        except aiohttp.ClientError:
            delivery.status_code, delivery.status = 0, _NO_ANSWER
        delivery.duration = round(time.monotonic() - started, 2)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; status 0 if the connection was dropped without one.

    `route` is GitHub's path template with `params` for its gaps, both empty for an unknown path;
    `is_fault` marks an answer that was ordered by a test rather than given by the endpoint.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    status: int
    answer: Any
    answer_headers: Mapping[str, str]
    route: str = ""
    params: Mapping[str, str] | None = None
    is_fault: bool = False


ExchangeObserver = Callable[[Exchange], None]
