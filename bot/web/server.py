"""Build and serve the aiohttp application, with `/healthz` and `/readyz`."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from bot.web.responses import json_response, problem_response
from bot.web.webhook import MAX_BODY

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_IPV6_CLIENT = 64
"""Bits of an address that tell one client from another: everybody has the rest to choose from."""


def client_address(peer: str, forwarded: Sequence[str], trusted: Sequence[Network]) -> str:
    """The nearest address that is not a trusted proxy's; of an IPv6 address its network of 64 bits.

    Every proxy adds the address that it sees at the right end of `X-Forwarded-For`, so only what stands
    right of the first untrusted one was written by proxies; what stands left of it anybody can make up.
    """
    if not forwarded:
        return _peer_address(peer)
    address = _parse_address(peer)
    hops = [hop for line in forwarded for hop in line.split(",")]
    while address and hops and any(address in network for network in trusted):
        hop = _parse_address(hops.pop())
        if hop is None:
            break
        address = hop
    return _client_name(address, peer)


@lru_cache(maxsize=1024)
def _peer_address(peer: str) -> str:
    # A connection brings many requests, and parsing its address takes a tenth of the time of one.
    return _client_name(_parse_address(peer), peer)


def _client_name(address: Address | None, peer: str) -> str:
    if isinstance(address, ipaddress.IPv6Address):
        address = ipaddress.IPv6Network((address, _IPV6_CLIENT), strict=False).network_address
    return str(address or peer)


def remote_is_client(trusted: Sequence[Network]) -> Middleware:
    """A middleware after which `request.remote` is the client's address."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        peer = request.remote or ""
        client = client_address(peer, request.headers.getall("X-Forwarded-For", ()), trusted)
        return await handler(request if client == peer else request.clone(remote=client))

    return middleware


def _parse_address(text: str) -> Address | None:
    """Parse an address, which some proxies write with a port; None if it is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


SHUTDOWN_TIMEOUT = 1.0
"""Seconds that requests under way get at the end; the worker has had its own by then."""

REQUEST_TIMEOUT = 15.0
"""Seconds that a connection may last without a whole request."""
MAX_CONNECTIONS = 4096
"""Connections at once, where the system allows the process twice as many descriptors."""

log = logging.getLogger("whetstone.web")


def build_application(
    routes: Iterable[web.AbstractRouteDef], trusted_proxies: Sequence[Network] = ()
) -> web.Application:
    """Build an application of these routes that answers errors as problem+json."""
    app = web.Application(
        client_max_size=MAX_BODY, middlewares=[_answer_errors, remote_is_client(trusted_proxies)]
    )
    app.add_routes(routes)
    return app


@asynccontextmanager
async def serve_application(
    app: web.Application, host: str, port: int, *, idle_timeout: float = REQUEST_TIMEOUT
) -> AsyncIterator[tuple[str, int]]:
    """Listen while the block runs; yields the address, with the port that the system chose."""
    # Signatures are over the bytes as sent, so nothing is unpacked on the way.
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_protocol,
        auto_decompress=False,
        shutdown_timeout=SHUTDOWN_TIMEOUT,
        keepalive_timeout=idle_timeout,
    )
    await runner.setup()
    try:
        async with await asyncio.get_running_loop().create_server(
            _protocol_factory(runner), host, port
        ) as listener:
            address = listener.sockets[0].getsockname()
            yield str(address[0]), int(address[1])
    finally:
        await runner.cleanup()


def _protocol_factory(runner: web.AppRunner) -> Callable[[], asyncio.Protocol]:
    """Make protocols that close a connection on which no request comes."""
    server = runner.server
    if server is None:
        raise RuntimeError("the runner is not set up")
    limit = min(MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)

    def create() -> asyncio.Protocol:
        protocol = server()
        # Else the time for the next request is watched only from the second one on.
        protocol.keep_alive(val=True)
        if len(server.connections) >= limit:
            asyncio.get_running_loop().call_soon(protocol.force_close)
        return protocol

    return create


def _is_own_error(record: logging.LogRecord) -> bool:
    # What is no HTTP is answered 400; a stranger's nonsense is not worth a traceback.
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


_protocol = logging.getLogger("whetstone.web.protocol")
_protocol.addFilter(_is_own_error)


@web.middleware
async def _answer_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        response = problem_response(error.status, _DETAILS.get(error.status, error.reason))
        response.headers.update({k: v for k, v in error.headers.items() if k == "Allow"})
        return response
    except Exception:  # any error: the caller gets one form of answer, and the log the traceback
        log.exception("a request failed", extra={"method": request.method, "path": request.path})
        return problem_response(500, "Internal error. See the server's log.")


_DETAILS = {
    404: "There is no such page.",
    405: "This URL does not support this method.",
    413: "The request is too large.",
}


ReadinessCheck = Callable[[], Awaitable[tuple[bool, dict[str, Any]]]]
"""Whether work can be done, and the state of each part."""


def health_routes(check: ReadinessCheck) -> list[web.RouteDef]:
    """The routes of the two probes."""

    async def healthz(_: web.Request) -> web.Response:
        return json_response(200, {"status": "ok"})

    async def readyz(_: web.Request) -> web.Response:
        is_ready, details = await check()
        status = "ready" if is_ready else "not ready"
        return json_response(200 if is_ready else 503, {"status": status, **details})

    return [web.get("/healthz", healthz), web.get("/readyz", readyz)]
