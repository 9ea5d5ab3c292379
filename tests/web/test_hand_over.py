"""Where a command looks for the server that runs already, and where a person finds it."""

import pytest
from yarl import URL

from bot.resources import server_url
from bot.web.webhook import local_webhook_url


@pytest.mark.parametrize(
    ("host", "reached_at"),
    [
        ("", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104  nobody listens on it here
        ("127.0.0.1", "127.0.0.1"),
        ("10.0.0.7", "10.0.0.7"),
        ("::", "::1"),
        ("::1", "::1"),
        ("0:0:0:0:0:0:0:0", "::1"),
        ("2001:db8::7", "2001:db8::7"),
        ("localhost", "localhost"),
        ("whetstone.internal", "whetstone.internal"),
    ],
)
def test_the_server_is_reached_whatever_it_listens_on(host, reached_at):
    url = URL(local_webhook_url(host, 8080))
    assert (url.scheme, url.host, url.port, url.path) == ("http", reached_at, 8080, "/webhook")


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://0.0.0.0:8080"),  # noqa: S104  nobody listens on it here
        ("::", "http://[::]:8080"),
        ("::1", "http://[::1]:8080"),
    ],
)
def test_the_address_that_a_server_prints_can_be_opened(host, address):
    shown = server_url(host, 8080)
    assert (shown, URL(shown).host, URL(shown).port) == (address, host, 8080)
