"""A real Chromium, and pages that anyone may look at afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

IMAGES = Path(__file__).parents[2] / "docs" / "images"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    assert CHROMIUM, "these tests drive Debian's chromium: make setup installs it where it may"
    async with async_playwright() as playwright:
        # Without its sandbox only for root, who could not start it otherwise.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        await started.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser) -> AsyncIterator[Page]:
    """A page whose every mistake fails the test."""
    context = await browser.new_context(
        viewport={"width": 1360, "height": 860},
        color_scheme="light",
        device_scale_factor=2 if os.environ.get("WHETSTONE_PICTURES") else 1,
    )
    context.set_default_timeout(15_000)
    opened = await context.new_page()
    troubles: list[str] = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("console", lambda message: message.type == "error" and troubles.append(message.text))
    yield opened
    await context.close()
    told_by_design = ("favicon", "status of 4", "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE")
    assert [each for each in troubles if not any(part in each for part in told_by_design)] == []


@pytest.fixture
def picture(page):
    """Keep a picture for the documents, only when asked: WHETSTONE_PICTURES=1."""

    async def take(name: str, part=None) -> None:
        if os.environ.get("WHETSTONE_PICTURES"):
            IMAGES.mkdir(parents=True, exist_ok=True)
            # As wide as GitHub's own comments are; a part of the page whole, although it scrolls inside itself.
            await page.set_viewport_size({"width": 1500, "height": 2600 if part else 900})
            await page.wait_for_timeout(1_500)  # what is still on its way would replace the part
            await (part or page).screenshot(path=IMAGES / f"{name}.png", animations="disabled")
            await page.set_viewport_size({"width": 1360, "height": 860})

    return take
