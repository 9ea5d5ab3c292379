"""The rules that ship with the product, loaded once."""

from __future__ import annotations

import pytest

from bot.adapters.detection_rules import shipped


@pytest.fixture(scope="session")
def rules():
    return shipped()
