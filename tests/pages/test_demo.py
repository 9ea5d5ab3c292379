"""The demo's page, every button of it clicked in a real browser."""

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import expect

from bot.demo.page import format_ago, render_markdown
from bot.demo.story import story_weeks
from tests import forks

expect.set_options(timeout=60_000)

ROOT = Path(__file__).parents[2]
MINE = "#thread article.bot"


HEADINGS = ["# comment on a rejected pull request", "# `/feedback-history`", "# weekly summary issue"]


def headings(printed) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("# ")]


@asynccontextmanager
async def demo(where, *arguments):
    """`whetstone demo` with its page; gives the process, the page's address, and what will be printed."""
    process = await asyncio.create_subprocess_exec(
        *forks.python(), "-m", "bot", "demo", "--port", "0", *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=where,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(where)},
    )  # fmt: skip
    try:
        first = (await asyncio.wait_for(process.stdout.readline(), 120)).decode()
        assert first.startswith("The page is at http://127.0.0.1:")

        async def printed() -> tuple[str, list[str]]:
            """The story, and the lines for an agent."""
            story = await asyncio.wait_for(process.stdout.readuntil(b"in another terminal:\n"), 120)
            return story.decode(), [(await process.stdout.readline()).decode().strip() for _ in range(2)]

        yield process, first.split()[4], printed
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def expect_in_order(page) -> None:
    """A push is shown after what was posted about the revision before it, also within a second."""
    entries = page.locator("#thread .push, #thread article.bot, #thread .event.review")
    kinds = [await each.get_attribute("class") for each in await entries.all()]
    rejected = ["event push", "event review bad"]
    assert kinds == [*rejected, "bot", *rejected, *rejected, "bot rejection", "bot"]


async def expect_links_to_stay_here(page, address) -> None:
    """A location leads to its line of the file, a comparison to what changed, and the way back to the thread."""
    mine = page.locator(MINE).nth(1)
    await mine.get_by_role("link", name="tests/test_cart.py:9").click()
    await expect(page.locator("#L9.fresh")).to_contain_text('"SPRING") == 1003')
    await page.go_back()
    await mine.get_by_text("Progress: 4 → 1 → 3 blocking").click()
    await mine.get_by_role("link", name="Changes from 2 to 3").click()
    await expect(page.locator("#thread .removed")).to_have_count(1)
    await page.go_back()
    await page.locator("#thread .minimised").first.click()
    await page.get_by_role("link", name="a newer comment").first.click()
    await expect(page.locator("#thread .fresh")).to_have_count(1)
    assert page.url.startswith(f"{address}acme/shop/pull/")
    await page.goto(f"{address}acme/shop/blob/0000000/no/such.py")
    await expect(page.locator("#thread h1")).to_have_text("There is no such page in this demo.")
    await page.goto(address)
    await expect(mine).to_contain_text("3 blocking issues")


async def expect_to_fit_a_phone(page) -> None:
    """The next click and all others are in a bar at the bottom, and nothing has to be moved sideways."""
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.evaluate("scrollTo(0, 0)")
    await expect(page.locator("#guide .next button")).to_be_in_viewport(ratio=1)
    assert await page.locator("#guide button:visible").all_inner_texts() == ["Push a fix", "More"]
    await expect(page.locator("#reject")).to_be_hidden()
    await page.click("#more")
    await expect(page.locator("#reject")).to_be_in_viewport(ratio=1)
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    await page.click("#more")
    await page.set_viewport_size({"width": 1360, "height": 860})


async def take_step(page, name: str) -> None:
    """One button is marked as the next; no other of the guide can be clicked."""
    await expect(page.locator("#guide .next button")).to_have_text(name)
    assert await page.locator("#guide button[data-act]:enabled").all_inner_texts() == [name]
    await page.click("#guide .next button")


async def follow_the_guide(page, picture) -> None:
    await take_step(page, "Push a fix")
    await expect(page.locator("#thread .push")).to_have_count(4)
    await expect(page.locator(MINE).nth(1)).to_contain_text("alice to review again")
    await take_step(page, "Approve")
    await expect(page.locator(MINE).filter(has_text="Resolved")).to_contain_text("3 fixed")
    await take_step(page, "/feedback-history")
    await expect(page.locator(MINE).last).to_contain_text("Feedback history")
    await picture("history", page.locator(MINE).last, varies=True)
    await take_step(page, "Open another")
    await expect(page.locator("#thread .meta")).to_contain_text("1 commit")
    await expect(page.locator("#reject.next")).to_be_visible()


async def reject(page) -> None:
    """Two tags, each at its line, on a pull request that one can review; the bot's answer comes into view."""
    await page.uncheck("#tags input[value=error_handling_missing]")
    await page.check("#tags input[value=hardcoded_value]")
    await page.check("#tags input[value=tests_missing]")
    await page.fill("#text", "this needs a second look")
    await page.click("#reject")
    await expect(page.locator(MINE).last).to_contain_text("Test coverage")
    await expect(page.locator(MINE).last).to_contain_text("this needs a second look")
    await expect(page.locator(MINE).last).to_contain_text(re.compile(r"src/\w+_\d+\.py:6"))
    await expect(page.locator(MINE).last).to_be_in_viewport()


async def expect_the_week(page) -> None:
    await page.get_by_role("link", name="Weekly feedback summary").click()
    await expect(page.locator("#thread h3").first).to_contain_text("Week")
    # The description: the weeks before are folded into their comments.
    last_week = page.locator("#thread article").first
    assert await last_week.locator("h4:has-text('Worth doing') + ol > li").count() == 3
    assert await last_week.locator("svg.chart rect").count() == 12
    await expect(page.locator("#push")).to_be_disabled()


@pytest.mark.asyncio(loop_scope="session")
async def test_everything_on_the_page_can_be_done_and_the_bot_answers(page, picture, tmp_path):
    async with demo(tmp_path) as (process, address, printed):
        # Opened at once, it waits for the story and then shows its pull request.
        await page.goto(address)
        story, lines = await printed()
        assert headings(story) == HEADINGS
        await expect(page.locator(MINE).nth(1)).to_contain_text("3 blocking issues")
        await expect(page.locator(MINE).nth(1)).to_contain_text("Regressed: fixed in iteration 2")
        await expect(page.locator(MINE).nth(1)).to_be_in_viewport()
        assert await page.locator("#agent code").all_inner_texts() == lines
        await expect_in_order(page)
        await (
            page.locator(MINE)
            .nth(1)
            .evaluate("e => { e.style.scrollMarginTop = '16px'; e.scrollIntoView() }")
        )
        await picture("demo", text=page.locator("#guide"))
        await picture("comment", page.locator(MINE).nth(1))

        await expect_links_to_stay_here(page, address)
        await expect_to_fit_a_phone(page)
        await follow_the_guide(page, picture)
        await reject(page)

        await page.click("#comment")
        await expect(page.locator("#status")).to_have_text("Write something first.")
        await page.fill("#text", "Thank you.")
        await page.click("#comment")
        await expect(page.locator("#thread article").last).to_contain_text("Thank you.")

        await page.click("#help")
        await expect(page.locator(MINE).last).to_contain_text("/feedback-explain")
        await page.select_option("#who", "rio-agent[bot]")
        await page.click("#approve")
        await expect(page.locator("#status")).to_contain_text("review your own pull request")
        await page.click("#history")
        await expect(page.locator(MINE).last).to_contain_text("Feedback history")
        await page.select_option("#who", "alice")

        await page.click("#push")
        await expect(page.locator("#thread .push")).to_have_count(2)
        await page.click("#approve")
        await expect(page.locator(MINE).filter(has_text="Resolved")).to_have_count(1)
        await page.click("#merge")
        await expect(page.locator("#thread .state")).to_have_text("Merged")
        await expect(page.locator("#merge")).to_be_disabled()

        await page.fill("#text", "A change by hand")
        await page.select_option("#who", "rio-agent[bot]")
        await page.click("#open")
        await expect(page.locator("#thread h1")).to_contain_text("A change by hand")
        # Not by the one who asked: they could not review it.
        await expect(page.locator("#thread .meta")).to_contain_text("clay-agent")
        await expect_the_week(page)
        await picture("weekly", page.locator("#thread article").first, varies=True)
        await page.locator("#threads a").last.click()
        await expect(page.locator("#thread h1")).to_contain_text("#1")
        assert await page.locator("#wire li").count() > 5

        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 120) == 0
        await expect(page.locator("#status")).to_have_text("The demo has ended.")
    assert [each.name for each in tmp_path.iterdir()] == []


@pytest.mark.asyncio(loop_scope="session")
async def test_a_pull_request_that_was_merged_by_hand_leaves_the_last_step(page, tmp_path):
    async with demo(tmp_path, "--weeks", "0", "--story", "knowledge-base") as (_, address, printed):
        await printed()
        await page.goto(address)
        await expect(page.locator("#guide .next button")).to_have_text("Push a fix")
        await page.click("#merge")
        await take_step(page, "/feedback-history")
        await expect(page.locator("#guide .next button")).to_have_text("Open another")
        await page.goto("about:blank")


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
    assert b"Playing" in await asyncio.wait_for(process.stderr.readline(), 120)
    process.send_signal(ended_by)
    _, said = await asyncio.wait_for(process.communicate(), 120)
    assert (process.returncode, said) == (130, b"")
    assert [each.name for each in tmp_path.iterdir()] == []


def run_once(where, *arguments) -> str:
    run = subprocess.run(  # noqa: S603  our own command
        [*forks.python(), "-m", "bot", "demo", "--once", "--weeks", "2", *arguments],
        capture_output=True,
        check=True,
        cwd=where,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(where)},
        timeout=120,
    )
    assert [each.name for each in where.iterdir()] == []
    return run.stdout.decode()


def chapters(printed: str) -> list[str]:
    """The first line of each comment, and what each says to have regressed."""
    return [line for line in printed.splitlines() if line.startswith(("**Re", "**Merged", "  - Regressed"))]


def test_once_sums_the_story_up_under_three_headings_and_ends(tmp_path):
    printed = run_once(tmp_path)
    assert headings(printed) == HEADINGS
    assert [re.sub(r"`\w{7}`", "`…`", line) for line in chapters(printed)] == [
        "**Rejected** — 4 blocking issues, 1 warning",
        "**Rejected** — 1 blocking issue",
        "**Rejected** — 3 blocking issues",
        "  - Regressed: fixed in iteration 2",
        "**Resolved** — 3 fixed, at `…`, iteration 4",
        "**Merged** — 3 fixed, at `…`, iteration 4",
    ]
    assert "`tests/test_cart.py::test_spring_discount` pass: `AssertionError: assert 1005 == 1003`" in printed
    assert "\n### Worth doing\n\n1. **Lock file** is auto-fixable" in printed
    assert "check it before review (pre-commit hook, *Lessons for agents* below)." in printed
    # Markers, folds, addresses and colours are left out: somebody reads this.
    assert [text for text in ("<!--", "<details>", "](http", "\x1b", "```") if text in printed] == []


def test_raw_prints_the_comments_as_posted(tmp_path):
    printed = run_once(tmp_path, "--raw", "--story", "knowledge-base")
    assert headings(printed) == HEADINGS
    markers = ("REJECTION", "FEEDBACK-HISTORY", "WEEKLY-SUMMARY")
    assert [marker for marker in markers if f"<!-- {marker}: " not in printed] == []
    assert "Since iteration 1: 2 fixed, 1 new." in printed
    assert "  - Regressed: fixed in iteration 2\n" in printed
    assert "\n### Worth doing\n\n1. **Date accuracy** is auto-fixable" in printed
    report = printed.partition("## Output Selection Report")[2]
    assert "- Highest quality score (100%), and the final iteration\n" in report.partition("\n## ")[0]


def test_on_a_terminal_the_summary_has_colours(tmp_path):
    printed = run_on_terminal(
        [sys.executable, "-m", "bot", "demo", "--once", "--weeks", "0"],
        {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "TERM": "xterm"},
    )
    assert "\x1b[1;31mRejected\x1b[0m" in printed
    assert "\x1b[1;31m[BLOCK] Tests\x1b[0m" in printed
    assert "\x1b[1;32mMerged\x1b[0m" in printed
    assert "**" not in printed


def run_on_terminal(command, environment) -> str:
    """Run the command with a terminal as its standard output."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(  # noqa: S603  our own command
        command, stdout=terminal, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(terminal)
        chunks = []
        # Linux ends a terminal with an error.
        with suppress(OSError):
            while chunk := os.read(controller, 65_536):
                chunks.append(chunk)
    os.close(controller)
    assert process.returncode == 0
    return b"".join(chunks).decode()


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
