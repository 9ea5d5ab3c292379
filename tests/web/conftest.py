import hashlib
import hmac
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

import aiohttp
import pytest
from aiohttp.test_utils import TestClient

from bot.inbox.parse import SUBSCRIBED_EVENTS
from bot.store.model import Acceptance, Delivery, StoreUnavailable
from bot.web import server
from bot.web.server import build_application, serve_application
from bot.web.webhook import WebhookHandler

SECRETS = (b"new secret", b"old secret")
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class Kept:
    """An inbox that keeps in a list; it can be away, or be ill."""

    deliveries: list[Delivery] = field(default_factory=list)
    away: bool = False
    bug: Exception | None = None

    async def accept(self, delivery):
        if self.away:
            raise StoreUnavailable
        if self.bug:
            raise self.bug
        known = any(delivery.id == other.id for other in self.deliveries)
        if not known:
            self.deliveries.append(delivery)
        return Acceptance.DUPLICATE if known else Acceptance.QUEUED


@dataclass
class Probe:
    is_ready: bool = True

    async def ready(self):
        return self.is_ready, {"store": self.is_ready}


@dataclass(frozen=True)
class Answer:
    status: int
    content: dict
    content_type: str
    headers: dict


@dataclass
class Caller:
    """Posts webhooks as GitHub does, or worse."""

    client: TestClient | aiohttp.ClientSession

    async def post(self, body, *, event="pull_request", delivery="d-1", signature=None, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        names = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery,
            "X-Hub-Signature-256": sign(body) if signature is None else signature,
            **headers,
        }
        return await self.send(body, {name: value for name, value in names.items() if value != ""})

    async def send(self, data, headers):
        data = io.BytesIO(data) if isinstance(data, bytes) else data
        async with self.client.post("/webhook", data=data, headers=headers) as response:
            return await shown(response)

    async def ask(self, path, method="GET"):
        async with self.client.request(method, path) as response:
            return await shown(response)


async def shown(response):
    content = await response.json(content_type=None) if response.method != "HEAD" else {}
    return Answer(response.status, content, response.content_type, dict(response.headers))


def sign(body, secret=SECRETS[0]):
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


@pytest.fixture
def inbox():
    return Kept()


@pytest.fixture
def probe():
    return Probe()


@pytest.fixture
def application(inbox, probe):
    handler = WebhookHandler(inbox, SECRETS, SUBSCRIBED_EVENTS | {"whetstone"}, now=lambda: NOW)
    return build_application([*handler.routes(), *server.health_routes(probe.ready)])


@pytest.fixture
async def github(application, aiohttp_client):
    return Caller(await aiohttp_client(application))


@pytest.fixture
async def address(application):
    """Where the application listens with the product's limits of time and size, for requests in raw bytes."""
    async with serve_application(application, "127.0.0.1", 0) as address:
        yield address
