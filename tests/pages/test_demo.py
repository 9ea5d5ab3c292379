"""The demo's page, every button of it clicked in a real browser."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import expect

from bot.standin.page.markdown import rendered

expect.set_options(timeout=60_000)

ROOT = Path(__file__).parents[2]
MINE = "#thread article.bot"


@asynccontextmanager
async def demo(where, *arguments):
    """`whetstone demo` with its page; gives the process and the page's address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", "--port", "0", *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=where,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(where)},
    )  # fmt: skip
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), 120)).decode()
        yield process, next(word for word in line.split() if word.startswith("http"))
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_visitor_can_do_everything_and_sees_the_bot_answer(page, picture, tmp_path):
    weeks = "12" if os.environ.get("WHETSTONE_PICTURES") else "2"
    async with demo(tmp_path, "--weeks", weeks) as (process, address):
        await page.goto(address)
        comment = page.locator(MINE).last
        await expect(comment).to_contain_text("3 blocking issues, 1 warning")
        await picture("demo")
        await picture("comment", comment)

        await page.click("#push")
        await expect(page.locator("#thread .push")).to_have_count(4)
        await page.uncheck("#tags input[value=frontmatter_schema]")
        await page.check("#tags input[value=scope_error]")
        await page.fill("#text", "one experiment proves nothing")
        await page.click("#reject")
        await expect(page.locator(MINE).last).to_contain_text("Scope qualification")
        await expect(page.locator(MINE).last).to_contain_text("one experiment proves nothing")
        await expect(page.locator("#thread details.minimised").first).to_be_visible()

        await page.fill("#text", "Thank you.")
        await page.click("#comment")
        await expect(page.locator("#thread article").last).to_contain_text("Thank you.")

        await page.click("#help")
        await expect(page.locator(MINE).last).to_contain_text("/feedback-explain")
        await page.select_option("#who", "rio-agent[bot]")
        await page.click("#history")
        await expect(page.locator(MINE).last).to_contain_text("Feedback history")
        await picture("history", page.locator(MINE).last)
        await page.select_option("#who", "alice")

        await page.click("#push")
        await page.click("#approve")
        await expect(page.locator(MINE).filter(has_text="Resolved")).to_have_count(1)
        await page.click("#merge")
        await expect(page.locator("#thread .state")).to_have_text("merged")
        await page.click("#merge")
        await expect(page.locator("#said")).to_have_text("There is nothing to do.")

        await page.fill("#text", "A claim by hand")
        await page.click("#open")
        await expect(page.locator("#thread h1")).to_contain_text("A claim by hand")
        await page.get_by_role("button", name="Weekly feedback summary").click()
        await expect(page.locator("#thread h3").first).to_contain_text("Week")
        assert await page.locator("#thread svg.chart rect").count() == 12
        await picture("weekly")
        await page.locator("#threads button").last.click()
        await expect(page.locator("#thread h1")).to_contain_text("#1")
        assert await page.locator("#traffic li").count() > 5

        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 120) == 0
        await expect(page.locator("#said")).to_have_text("The demo has ended.")
    assert [each.name for each in tmp_path.iterdir()] == []


@pytest.mark.asyncio(loop_scope="session")
async def test_ctrl_c_in_the_middle_of_the_story_leaves_nothing_behind(tmp_path):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", "--port", "0",
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        # Whoever runs the tests in the background has SIGINT ignored, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert b"go by" in await asyncio.wait_for(process.stderr.readline(), 120)
    process.send_signal(signal.SIGINT)
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
    assert [line for line in said.splitlines() if line.startswith("# ")] == [
        "# comment on a rejected pull request",
        "# `/feedback-history`",
        "# weekly summary issue",
    ]
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
        ("a\n  - Fix: `b_c`", "<p>a</p>\n<ul><li>Fix: <code>b_c</code></li></ul>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
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
            '<table><thead><tr><th class="left">A</th><th class="right">B</th></tr></thead><tbody><tr><td class="left"><code>x|y</code></td><td class="right">2</td></tr></tbody></table>',
        ),
        ("```json\n<b>\n```", '<pre class="code" data-kind="json"><code>&lt;b&gt;</code></pre>'),
        (
            "<details><summary>2 *a*</summary>\n\nb\n\n</details>",
            "<details><summary>2 *a*</summary>\n<p>b</p>\n</details>",
        ),
    ],
)
def test_a_comment_looks_as_on_github_and_nothing_foreign_is_live(text, shown):
    assert rendered(text) == shown


def test_the_weekly_chart_is_drawn():
    chart = "```mermaid\nxychart-beta\n    x-axis [W1, W2]\n    bar [1, 2]\n    line [3, 4]\n```"
    assert rendered(chart).count("<rect") == 2
