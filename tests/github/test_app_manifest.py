from pathlib import Path

import yaml

from bot.inbox.parse import SUBSCRIBED_EVENTS

MANIFEST = yaml.safe_load((Path(__file__).parents[2] / "app.yml").read_text(encoding="utf-8"))


def test_the_app_is_told_exactly_what_is_read():
    assert sorted(MANIFEST["default_events"]) == sorted(SUBSCRIBED_EVENTS)


def test_the_app_may_do_the_least_that_works():
    assert MANIFEST["default_permissions"] == {
        "metadata": "read",
        "pull_requests": "write",
        "issues": "write",
        "checks": "write",
        "statuses": "read",
        "actions": "read",
        "contents": "read",
    }
