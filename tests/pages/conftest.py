"""A real Chromium, and pages that anyone may look at afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

IMAGES = Path(__file__).parents[2] / "docs" / "images"
TEXTS = IMAGES / "texts.json"
"""What the pictures show, by name."""
TAKES_PICTURES = bool(os.environ.get("WHETSTONE_PICTURES"))
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
        device_scale_factor=2 if TAKES_PICTURES else 1,
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
    """Check that a picture of the documents shows what the page says today; `make screenshots` takes it."""

    async def take(name: str, part=None, *, text=None, varies: bool = False) -> None:
        shown = picture_text(await (text or part).inner_text())
        recorded = json.loads(TEXTS.read_text(encoding="utf-8"))
        if not TAKES_PICTURES:
            is_same = has_same_words(recorded[name], shown) if varies else recorded[name] == shown
            assert is_same, f"docs/images/{name}.png is stale: make screenshots\n{recorded[name]}\n{shown}"
            return
        # A comment is as wide as GitHub's own are, and whole, although it scrolls inside the page.
        size = {"width": 1500, "height": 2600} if part else {"width": 1280, "height": 800}
        await page.set_viewport_size(size)
        await page.wait_for_timeout(1_500)  # what is still on its way would replace the part
        taken = await (part or page).screenshot(animations="disabled")
        (IMAGES / f"{name}.png").write_bytes(await with_few_colours(page, taken))
        await page.set_viewport_size({"width": 1360, "height": 860})
        texts = json.dumps(dict(sorted({**recorded, name: shown}.items())), indent=1, ensure_ascii=False)
        TEXTS.write_text(f"{texts}\n", encoding="utf-8")

    return take


QUANTIZE = """async taken => {
    const bitmap = await createImageBitmap(await (await fetch(taken)).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const {data, width, height} = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const colour = at => data[at] << 16 | data[at + 1] << 8 | data[at + 2];
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) counts.set(colour(at), (counts.get(colour(at)) || 0) + 1);
    const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(entry => entry[0]);
    const far = (a, b) => [16, 8, 0].reduce((sum, by) => sum + ((a >> by & 255) - (b >> by & 255)) ** 2, 0);
    const nearest = new Map(palette.map((colour, index) => [colour, index]));
    for (const other of counts.keys()) if (!nearest.has(other)) nearest.set(other, palette.reduce(
        (best, colour, index) => far(colour, other) < far(palette[best], other) ? index : best, 0));
    let pixels = "";
    for (let at = 0; at < data.length; at += 4) pixels += String.fromCharCode(nearest.get(colour(at)));
    return {width, height, palette, pixels: btoa(pixels)};
}"""
"""Reduces a picture to its 256 most frequent colours, which are nearly all that a page of text has."""


async def with_few_colours(page: Page, taken: bytes) -> bytes:
    """The PNG with a palette, a third of the size."""
    async with await page.context.new_page() as helper:
        data = f"data:image/png;base64,{b64encode(taken).decode()}"
        few = await helper.evaluate(QUANTIZE, data)
    width, pixels = few["width"], b64decode(few["pixels"])
    rows = b"".join(b"\0" + pixels[start : start + width] for start in range(0, len(pixels), width))
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, few["height"], 8, 3, 0, 0, 0),
        b"PLTE": b"".join(colour.to_bytes(3, "big") for colour in few["palette"]),
        b"IDAT": zlib.compress(rows, 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks.items()
    )


def picture_text(text: str) -> list[str]:
    """The lines of a picture, without what differs each time: commits, numbers, days and quick edits."""
    months = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
    text = re.sub(r"\b(?=[a-f]*\d)[0-9a-f]{7}\b", "COMMIT", text)
    text = re.sub(rf"\b\d+( ({months})\w*)?( \d{{4}})?–\d+ ({months})\w*( \d{{4}})?", "DAYS", text)
    text = re.sub(rf"\b\d+ ({months})\b", "DAY", text)
    lines = (line.strip().removesuffix(" · edited") for line in text.splitlines())
    return [re.sub(r"\d+", "0", line) for line in lines if line]


def has_same_words(recorded: list[str], shown: list[str]) -> bool:
    """Whether four of five words are the same: what the past weeks hold depends on the day."""
    before, now = (
        {word for line in lines for word in re.findall(r"[a-z_]{4,}", line.lower())}
        for lines in (recorded, shown)
    )
    return len(before & now) >= 0.8 * len(before | now)
