"""A harness for the commands that work beside a server."""

import pytest

from tests.journeys.harness import KEYS, SECRET, Harness


@pytest.fixture
def harness(sqlite_url, monkeypatch):
    """A harness that the commands find by their environment."""
    monkeypatch.setenv("DATABASE_URL", sqlite_url)
    monkeypatch.setenv("GITHUB_PRIVATE_KEY", KEYS.private_pem)
    monkeypatch.setenv("GITHUB_WEBHOOK_SECRET", SECRET)
    place = Harness(sqlite_url)
    monkeypatch.setenv("GITHUB_APP_ID", str(place.github.app.id))
    return place
