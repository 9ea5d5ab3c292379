"""From where a request comes: by the connection, and by what trusted proxies say, from right to left."""

from ipaddress import ip_network

import pytest
from aiohttp import web

from bot.web.server import build_application, client_address

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("192.0.2.1/32"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.7", [], "203.0.113.7"),
        # Only a trusted proxy is believed.
        ("203.0.113.7", ["198.51.100.1"], "203.0.113.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        # From right to left, past every trusted one, no further.
        ("10.0.0.1", ["198.51.100.1, 203.0.113.7, 192.0.2.1,10.2.3.4"], "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.1", "203.0.113.7", "10.2.3.4"], "203.0.113.7"),
        ("10.0.0.1", ["10.0.0.9, 10.0.0.8"], "10.0.0.9"),
        # What is no address ends the search: whatever stands left of it is worth nothing.
        ("10.0.0.1", ["203.0.113.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.7, <script>, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["203.0.113.7,"], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        # As some proxies write it.
        ("10.0.0.1", ["203.0.113.7:51234"], "203.0.113.7"),
        ("10.0.0.1", ["[2001:db8:1:2:3::4]:443"], "2001:db8:1:2::"),
        ("::ffff:10.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        # One client has a whole network of 64 bits.
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::"),
        ("fd00::1", ["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::"),
        # A Unix socket has no address.
        ("", ["203.0.113.7"], ""),
    ],
)
def test_the_client_is_the_nearest_address_that_is_no_trusted_proxys(peer, forwarded, client):
    assert client_address(peer, forwarded, TRUSTED) == client


async def test_a_request_tells_its_client_and_keeps_its_body(aiohttp_client):
    async def echo(request: web.Request) -> web.Response:
        body = await request.read()
        return web.json_response([request.remote, len(body), request.match_info["name"]])

    trusted = (ip_network("127.0.0.1/32"),)
    client = await aiohttp_client(build_application([web.post("/{name}", echo)], trusted))
    headers = {"X-Forwarded-For": "203.0.113.7"}
    async with client.post("/echo", data=b"x" * 900_000, headers=headers) as response:
        assert await response.json() == ["203.0.113.7", 900_000, "echo"]
