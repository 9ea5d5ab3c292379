"""The rules that ship with the product, loaded once."""

from __future__ import annotations

import pytest

from bot.detection.load import load_shipped_detection


@pytest.fixture(scope="session")
def rules():
    return load_shipped_detection()
