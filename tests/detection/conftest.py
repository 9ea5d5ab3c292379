"""The rules that ship with the product, loaded once."""

from __future__ import annotations

import pytest

from bot.detection.load import shipped_detection_rules


@pytest.fixture(scope="session")
def rules():
    return shipped_detection_rules()
