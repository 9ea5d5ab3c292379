"""How does a command hand its job to a server that runs already?"""

from __future__ import annotations

import hmac
import ipaddress

import aiohttp

from bot.ports import Delivery, StoreUnavailable

_SECONDS = 15


async def hand_over(delivery: Delivery, secret: bytes, host: str, port: int) -> bool:
    """Whether a server took the delivery; False where none listens there."""
    signature = hmac.digest(secret, delivery.body, "sha256").hex()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.id,
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    address = door_of(host, port)
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(address, data=delivery.body, headers=headers) as answer,
        ):
            if answer.status in {200, 202}:
                return True
            raise StoreUnavailable(f"{address} answers {answer.status}; is it another program's port?")
    except (aiohttp.ClientConnectorError, ConnectionError):
        return False
    except (aiohttp.ClientError, TimeoutError) as error:
        raise StoreUnavailable(f"{address}: {type(error).__name__}") from error


def door_of(host: str, port: int) -> str:
    """Where a server that listens on this host takes deliveries from this machine."""
    try:
        listens = ipaddress.ip_address(host or "0.0.0.0")  # noqa: S104  nobody listens on it here
    except ValueError:
        return f"http://{host}:{port}/webhook"
    # A server that listens everywhere is reached here, too.
    local = {4: "127.0.0.1", 6: "::1"}[listens.version] if listens.is_unspecified else host
    return f"http://{f'[{local}]' if listens.version == 6 else local}:{port}/webhook"
