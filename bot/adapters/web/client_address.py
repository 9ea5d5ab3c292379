"""Tell from which address a request comes, also behind the reverse proxies that the operator trusts."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_IPV6_CLIENT = 64
"""Bits of an address that tell one client from another: everybody has the rest to choose from."""


def client_address(peer: str, forwarded: Iterable[str], trusted: Sequence[Network]) -> str:
    """The nearest address that is not a trusted proxy's; of an IPv6 address its network of 64 bits.

    Every proxy adds the address that it sees at the right end of `X-Forwarded-For`, so only what stands
    right of the first untrusted one was written by proxies; what stands left of it anybody can make up.
    """
    address = _parse(peer)
    hops = [hop for line in forwarded for hop in line.split(",")]
    while address and hops and any(address in network for network in trusted):
        hop = _parse(hops.pop())
        if hop is None:
            break
        address = hop
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


def _parse(text: str) -> Address | None:
    """The address, which some proxies write with a port; None where it is none."""
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
