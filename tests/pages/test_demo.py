"""The demo's page, every button of it clicked in a real browser."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.async_api import expect

from bot.demo.markdown import format_ago, render_markdown
from bot.demo.story import story_weeks

expect.set_options(timeout=60_000)

ROOT = Path(__file__).parents[2]
MINE = "#thread article.bot"


HEADINGS = ["# comment on a rejected pull request", "# `/feedback-history`", "# weekly summary issue"]


def headings(said) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("# ")]


@asynccontextmanager
async def demo(where, *arguments):
    """`whetstone demo` with its page; gives the process, what it printed and the page's address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", "--port", "0", *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=where,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(where)},
    )  # fmt: skip
    try:
        said = (await asyncio.wait_for(process.stdout.readuntil(b"The threads are at "), 120)).decode()
        line = (await process.stdout.readline()).decode()
        yield process, said, line.split()[0]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def expect_in_order(page) -> None:
    """A push is shown after what was said about the revision before it, also within a second."""
    entries = page.locator("#thread .push, #thread article.bot, #thread .event.review")
    kinds = [await each.get_attribute("class") for each in await entries.all()]
    round_ = ["event push", "event review bad", "bot"]
    assert kinds == [*round_, *round_, *round_[:2], "bot rejection", "bot"]


async def expect_links_to_stay_here(page, address) -> None:
    """A place leads to its line of the file, a comparison to what changed, and the way back to the thread."""
    mine = page.locator(MINE).nth(2)
    await mine.get_by_role("link", name="futarchy-manipulation.md:7").click()
    await expect(page.locator("#L7.fresh")).to_contain_text("created: 2026-13-01")
    await page.go_back()
    await mine.get_by_text("Quality 0.68").click()
    await mine.get_by_role("link", name="What changed from 2 to 3").click()
    await expect(page.locator("#thread .removed")).to_have_count(2)
    await page.go_back()
    await page.locator("#thread .minimised").first.click()
    await page.get_by_role("link", name="a newer comment").first.click()
    await expect(page.locator("#thread .fresh")).to_have_count(1)
    assert page.url.startswith(f"{address}acme/knowledge/pull/")
    await page.goto(f"{address}acme/knowledge/blob/0000000/no/such.md")
    await expect(page.locator("#thread h1")).to_have_text("There is no such page in this demo.")
    await page.goto(address)
    await expect(mine).to_contain_text("3 blocking issues, 1 warning")


async def expect_to_fit_a_phone(page) -> None:
    """List, thread and form below each other, and nothing to be moved sideways."""
    await page.set_viewport_size({"width": 390, "height": 844})
    boxes = [await page.locator(part).bounding_box() for part in ("nav", "main", "aside")]
    assert [(box["x"], box["width"]) for box in boxes] == [(0, 390)] * 3
    assert [above["y"] + above["height"] <= below["y"] for above, below in pairwise(boxes)] == [True, True]
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    await page.set_viewport_size({"width": 1360, "height": 860})


async def reject(page) -> None:
    """Two tags, each at its line; the bot's answer comes into view."""
    await page.uncheck("#tags input[value=confidence_miscalibration]")
    await page.check("#tags input[value=broken_wiki_links]")
    await page.check("#tags input[value=scope_error]")
    await page.fill("#text", "one experiment proves nothing")
    await page.click("#reject")
    await expect(page.locator(MINE).last).to_contain_text("Scope qualification")
    await expect(page.locator(MINE).last).to_contain_text("one experiment proves nothing")
    await expect(page.locator(MINE).last).to_contain_text("futarchy-manipulation.md:9")
    await expect(page.locator("#thread .minimised")).to_have_count(3)
    await expect(page.locator(MINE).last).to_be_in_viewport()


async def expect_the_week(page) -> None:
    await page.get_by_role("link", name="Weekly feedback summary").click()
    await expect(page.locator("#thread h3").first).to_contain_text("Week")
    assert await page.locator("#thread h4:has-text('Worth doing') + ol > li").count() == 3
    assert await page.locator("#thread svg.chart rect").count() == 12
    await expect(page.locator("#push")).to_be_disabled()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_visitor_can_do_everything_and_sees_the_bot_answer(page, picture, tmp_path):
    weeks = "12" if os.environ.get("WHETSTONE_PICTURES") else "2"
    async with demo(tmp_path, "--weeks", weeks) as (process, said, address):
        assert headings(said) == HEADINGS
        await page.goto(address)
        await expect(page.locator(MINE).nth(2)).to_contain_text("3 blocking issues, 1 warning")
        await expect(page.locator(MINE).nth(2)).to_be_in_viewport()
        await expect_in_order(page)
        await picture("demo")
        await picture("comment", page.locator(MINE).nth(2))

        await expect_links_to_stay_here(page, address)
        await expect_to_fit_a_phone(page)
        await page.click("#push")
        await expect(page.locator("#thread .push")).to_have_count(4)
        await reject(page)

        await page.click("#comment")
        await expect(page.locator("#status")).to_have_text("Say something first.")
        await page.fill("#text", "Thank you.")
        await page.click("#comment")
        await expect(page.locator("#thread article").last).to_contain_text("Thank you.")

        await page.click("#help")
        await expect(page.locator(MINE).last).to_contain_text("/feedback-explain")
        await page.select_option("#who", "rio-agent[bot]")
        await page.click("#approve")
        await expect(page.locator("#status")).to_contain_text("Nobody reviews their own pull request")
        await page.click("#history")
        await expect(page.locator(MINE).last).to_contain_text("Feedback history")
        await picture("history", page.locator(MINE).last)
        await page.select_option("#who", "alice")

        await page.click("#push")
        await page.click("#approve")
        await expect(page.locator(MINE).filter(has_text="Resolved")).to_have_count(1)
        await page.click("#merge")
        await expect(page.locator("#thread .state")).to_have_text("Merged")
        await expect(page.locator("#merge")).to_be_disabled()

        await page.fill("#text", "A claim by hand")
        await page.click("#open")
        await expect(page.locator("#thread h1")).to_contain_text("A claim by hand")
        await expect_the_week(page)
        await picture("weekly", page.locator("#thread article").first)
        await page.locator("#threads a").last.click()
        await expect(page.locator("#thread h1")).to_contain_text("#1")
        assert await page.locator("#wire li").count() > 5

        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 120) == 0
        await expect(page.locator("#status")).to_have_text("The demo has ended.")
    assert [each.name for each in tmp_path.iterdir()] == []


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
async def test_ended_in_the_middle_of_the_story_it_leaves_nothing_behind(tmp_path, ended_by):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", "--port", "0",
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        # Whoever runs the tests in the background has some of them ignored, and children inherit that.
        preexec_fn=partial(signal.signal, ended_by, signal.SIG_DFL),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert b"go by" in await asyncio.wait_for(process.stderr.readline(), 120)
    process.send_signal(ended_by)
    _, said = await asyncio.wait_for(process.communicate(), 120)
    assert (process.returncode, said) == (130, b"")
    assert [each.name for each in tmp_path.iterdir()] == []


def test_once_prints_the_three_things_under_their_headings_and_ends(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "bot", "demo", "--once", "--weeks", "2"],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        timeout=120,
    )
    said = run.stdout.decode()
    assert headings(said) == HEADINGS
    assert "\n### Worth doing\n\n1. **Date accuracy** is auto-fixable" in said
    markers = ("REJECTION", "FEEDBACK-HISTORY", "WEEKLY-SUMMARY")
    assert [marker for marker in markers if f"<!-- {marker}: " not in said] == []
    assert "<details><summary>Quality 0.68 → 0.90 → 0.69: iteration 2 was the best. How to go back" in said
    report = said.partition("## Output Selection Report")[2]
    assert "- Highest quality score (100%), and the final iteration\n" in report.partition("\n## ")[0]
    assert [each.name for each in tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**[BLOCK] Title**: too much", "<p><strong>[BLOCK] Title</strong>: too much</p>"),
        ("a\n  - Fix: `b_c`", "<p>a</p>\n<ul>\n<li>Fix: <code>b_c</code></li>\n</ul>"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("&lt;script&gt; &#42;", "<p>&lt;script&gt; *</p>"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        (
            "[`x`](https://h.example/a?b&c)",
            '<p><a href="https://h.example/a?b&amp;c" target="_blank" rel="noreferrer noopener"><code>x</code></a></p>',
        ),
        ("`` a`b ``", "<p><code>a`b</code></p>"),
        ("<!-- REJECTION: {} -->\n\n## Week 46", "<h3>Week 46</h3>"),
        (
            "| A | B |\n|---|--:|\n| `x\\|y` | 2 |",
            '<table>\n<thead>\n<tr>\n<th class="left">A</th>\n<th class="right">B</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td class="left"><code>x|y</code></td>\n<td class="right">2</td>\n</tr>\n</tbody>\n</table>',
        ),
        (
            "- [x] a\n- [ ] b",
            '<ul>\n<li class="task"><input type="checkbox" disabled checked> a</li>\n<li class="task"><input type="checkbox" disabled> b</li>\n</ul>',
        ),
        (
            "```suggestion\n<b>\n```",
            '<div class="suggestion">Suggested change<pre><code>&lt;b&gt;</code></pre></div>',
        ),
        ("```json\n<b>\n```", '<pre class="code" data-kind="json"><code>&lt;b&gt;</code></pre>'),
        (
            "<details><summary>2 *a*</summary>\n\nb\n\n</details>",
            "<details><summary>2 *a*</summary>\n<p>b</p>\n</details>",
        ),
        # What is foreign can't close the page's own tags, nor leave one open.
        ("</details></div>", "&lt;/div&gt;"),
        ("<details>\n\na", "<details>\n<p>a</p></details>"),
        ("<details onclick=a>", "&lt;details onclick=a&gt;"),
        ("a <!-- b --> <img src=x onerror=alert(1)>", "<p>a  &lt;img src=x onerror=alert(1)&gt;</p>"),
        (
            "![a](https://h.example/)",
            '<p>!<a href="https://h.example/" target="_blank" rel="noreferrer noopener">a</a></p>',
        ),
    ],
)
def test_a_comment_looks_as_on_github_and_nothing_foreign_is_live(text, shown):
    assert render_markdown(text) == shown


def test_the_weekly_chart_is_drawn():
    title, scale = '    title "Bars of a line"\n', '    y-axis "Pull requests" 0 --> 10\n'
    numbers = "    x-axis [W1, W2]\n    bar [1, 2]\n    line [3, 4]\n"
    drawn = render_markdown(f"```mermaid\nxychart-beta\n{title}{scale}{numbers}```")
    assert (drawn.count("<rect"), drawn.count("<polyline"), ">Bars of a line</text>" in drawn) == (2, 1, True)
    assert re.findall(r'class="scale"[^>]*>(\d+)<', drawn) == ["0", "2", "4", "6", "8", "10"]


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=29), "29 days ago"),
        (timedelta(days=31), "on 16 Oct"),
        (timedelta(days=365), "on 16 Nov 2025"),
    ],
)
def test_a_time_is_told_as_on_github(past, said):
    now = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
    assert format_ago(now - past, now) == said


@pytest.mark.parametrize(
    ("now", "weeks"),
    [
        (datetime(2026, 11, 18, 12, tzinfo=UTC), ["2026-11-02", "2026-11-09"]),
        (datetime(2026, 11, 16, 9, 0, tzinfo=UTC), ["2026-11-02", "2026-11-09"]),
        # Before the summary's hour the week that is over was not told yet.
        (datetime(2026, 11, 16, 8, 59, tzinfo=UTC), ["2026-10-26", "2026-11-02", "2026-11-09"]),
    ],
)
def test_the_storys_last_weeks_are_the_one_that_was_told_and_those_over_since(now, weeks):
    assert [f"{monday:%Y-%m-%d}" for monday in story_weeks(now, 2)] == weeks
    assert story_weeks(now, 0) == ()
