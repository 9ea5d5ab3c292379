"""The status page in a real Chromium: readable in light and dark, on a wide and a narrow screen, without a script."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import expect

from bot import app
from bot.store.lanes import pause_installation
from bot.store.model import ReconcileOutcome, TurnResult
from bot.store.outbox import spend_write
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.journeys.harness import Harness
from tests.store.store_builders import claim_one, make_delivery


async def fill(url):
    """A store with something in every part of the page."""
    now = datetime.now(UTC)
    async with open_store(url, worker=True) as store:
        parked = {
            "72d3162e-cc78-11e3-81ab-4c9367dc0958": "Forbidden: acme/knowledge",
            "9b1c7a40-1f7e-11ef-8a55-2a3b4c5d6e7f": "GitHubUnavailable: 502",
        }
        for name, error in parked.items():
            await store.accept(make_delivery(name, received_at=now))
            claim = await claim_one(store)
            await apply_turn(store, claim, TurnResult(None, (), (), parked=((name, error),)))
            await store.release(claim)
        await store.accept(make_delivery("d1", received_at=now - timedelta(minutes=4)))
        for _ in range(3):
            await store.write(spend_write, 4711, 0)
        await store.write(pause_installation, 4712, now + timedelta(hours=5, minutes=30))
        await store.begin_reconcile(every=600)
        await store.end_reconcile(ReconcileOutcome(is_complete=True))


@pytest.mark.asyncio(loop_scope="session")
async def test_the_page_is_readable_in_light_and_dark_wide_and_narrow(page, picture, sqlite_url):
    await fill(sqlite_url)
    settings = replace(Harness(sqlite_url).settings, api_url="http://127.0.0.1:9")
    async with app.run_instance(settings, work=False) as bot:
        await page.goto("http://{}:{}/".format(*bot.address))
        await expect(page.locator("p.error")).to_contain_text("2 parked deliveries.")
        await expect(page.locator("dd").first).to_have_text("1")
        await expect(page.locator("tr", has_text="4711")).to_contain_text("3 of 80")
        await expect(page.locator("tr", has_text="4712")).to_contain_text("for 5 hours")
        await picture("status", page.locator("main"))
        grounds = []
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            grounds.append(
                await page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")
            )
        assert grounds == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]
        await page.set_viewport_size({"width": 380, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") == 380
