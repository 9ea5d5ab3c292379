"""From no credentials to a tested App, clicked through in a real browser."""

import asyncio
import os
import stat
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from bot.adapters.github.manifest import Order
from bot.adapters.web.setup.guests import Guests
from bot.adapters.web.setup.registering import Registering
from bot.settings import load
from bot.standin import Standin
from tests.judges.judge import Judge

# One browser for all of them: it takes longer to start than a test.
pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).parents[2]


@pytest_asyncio.fixture(loop_scope="session")
async def github():
    """A GitHub whose pages are on the same host, as on an enterprise server; what is asked is judged."""
    judge = Judge()
    async with Standin(enterprise=True) as standin:
        standin.observers.append(judge.exchange)
        yield standin
    assert [each for each in judge.violations if "favicon" not in each] == []


@asynccontextmanager
async def serving(github, where, *arguments, **environment):
    """`whetstone serve --setup`; gives the process and the lines that it prints first."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", "--setup", "--port", "0", *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=where,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "GITHUB_API_URL": github.api_url,
            **environment,
        },
    )  # fmt: skip
    try:
        lines = [(await asyncio.wait_for(process.stdout.readline(), 120)).decode() for _ in range(2)]
        yield process, lines
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


def address(lines) -> str:
    return lines[0].split()[-1].removesuffix("/setup")


async def line_with(process, what) -> str:
    async with asyncio.timeout(120):
        while what not in (line := (await process.stdout.readline()).decode()):
            assert line, "the server ended"
    return line


async def test_from_the_first_click_to_a_delivery_that_arrives(github, page, picture, tmp_path):
    github.account("acme", "Organization")
    async with serving(github, tmp_path) as (process, lines):
        await page.goto(f"{address(lines)}/setup")
        proposed = await page.input_value("#public_url")
        await page.fill("#public_url", "https://whetstone.acme.example")
        await picture("setup-register", page.locator("main"))
        await page.fill("#public_url", proposed)
        await page.get_by_label("an organisation").check()
        await page.fill("#owner", "acme")
        await page.click("#register")
        await page.wait_for_selector("#create")
        assert await page.input_value("input[name=name]") == "whetstone-acme"
        await page.click("#create")
        assert await page.inner_text("#login") == "whetstone-acme[bot]"
        await line_with(process, "Listening")

        kept = tmp_path / ".env"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        settings = load({}, kept)
        assert (settings.app_id, settings.webhook_secrets) == (github.app.id, (github.deliveries.secret,))
        assert settings.api_url == github.api_url

        await page.click("#next")
        assert await page.inner_text("#accounts") == "nowhere yet"
        async with page.expect_popup() as opening:
            await page.click("#install")
        popup = await opening.value
        await popup.click("#install")
        await popup.wait_for_selector("text=Installed on acme")
        await popup.close()
        await page.reload()
        assert await page.inner_text("#accounts") == "acme"
        await page.click("#test")
        await page.wait_for_selector("#outcome")
        assert await page.inner_text("#outcome") == "GitHub sent ping, and this server took it: 200 OK."
        await picture("setup-tested", page.locator("main"))


async def begun(github, page, lines) -> str:
    """The set-up up to GitHub's page; returns the way back with the code, not yet gone."""
    await page.goto(f"{address(lines)}/setup")
    await page.fill("#owner", "carla")
    await page.click("#register")
    await page.wait_for_selector("#create")
    fields = await page.eval_on_selector_all("input", "all => all.map(each => [each.name, each.value])")
    address_of_form = f"{github.web_url}/settings/apps/manifest"
    answer = await page.request.post(address_of_form, form=dict(fields), max_redirects=0)
    return answer.headers["location"]


async def test_a_state_that_was_never_given_out_registers_nothing(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        back = await begun(github, page, lines)
        answer = await page.goto(back.partition("state=")[0] + "state=forged")
        assert answer.status == 403
        assert "belongs to no set-up" in await page.inner_text(".wrong")
        assert not (tmp_path / ".env").exists()
        await page.click("#again")
        await page.wait_for_selector("#register")


async def test_a_code_that_is_too_old_is_told_and_the_set_up_can_begin_again(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        back = await begun(github, page, lines)
        github.manifest_codes.clear()
        answer = await page.goto(back)
        assert answer.status == 410
        assert "good once, and for an hour" in await page.inner_text(".wrong")
        assert not (tmp_path / ".env").exists()


async def test_a_second_click_keeps_the_first_app(github, page, tmp_path):
    async with serving(github, tmp_path) as (process, lines):
        back = await begun(github, page, lines)
        await page.goto(back)
        assert await page.inner_text("#login") == "whetstone-carla[bot]"
        await line_with(process, "Listening")
        kept = (tmp_path / ".env").read_bytes()
        await page.goto(back)
        assert await page.inner_text("#login") == "whetstone-carla[bot]"
        assert (tmp_path / ".env").read_bytes() == kept


async def test_a_stranger_needs_the_key_of_the_console_and_it_is_good_once(github, tmp_path):
    far = {"X-Forwarded-For": "203.0.113.7"}
    async with serving(github, tmp_path) as (_, lines):
        where, key = f"{address(lines)}/setup", lines[1].strip().rpartition("=")[2]
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as owner, aiohttp.ClientSession() as stranger:
            statuses = [
                (await owner.get(where, headers=far)).status,
                (await owner.get(where, headers=far, params={"key": "guess"})).status,
                (await owner.get(where, headers=far, params={"key": key})).status,
                (await owner.get(where, headers=far)).status,
                (await stranger.get(where, headers=far, params={"key": key})).status,
                (await stranger.get(where, headers={"Host": "rebound.example"})).status,
                # What nginx makes of a stranger's request where nothing is configured but `proxy_pass`.
                (await stranger.get(where, headers={"Connection": "close"})).status,
                (await stranger.get(where)).status,
                (await stranger.get(where, headers={"Connection": "keep-alive"})).status,
            ]
    assert statuses == [403, 403, 200, 200, 403, 403, 403, 403, 200]


async def test_a_form_of_another_site_is_refused(github, tmp_path):
    async with serving(github, tmp_path) as (_, lines), aiohttp.ClientSession() as session:
        form = {"owner": "acme", "public_url": "https://bot.example", "token": "guess"}
        answer = await session.post(f"{address(lines)}/setup/register", data=form)
        assert answer.status == 403


async def test_wrong_input_is_said_at_the_form(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        await page.goto(f"{address(lines)}/setup")
        await page.fill("#owner", "no login!")
        await page.click("#register")
        assert await page.inner_text(".wrong") == "the account is not a login of GitHub"
        assert await page.input_value("#owner") == "no login!"


@pytest.mark.parametrize(
    ("address", "web", "good"),
    [
        ("http://127.0.0.1:8080", "https://github.com", False),
        ("https://localhost", "https://github.com", False),
        ("http://bot.localhost:1", "https://github.com", False),
        ("http://[::1]:8080", "https://github.com", False),
        ("http://0.0.0.0:8080", "https://github.com", False),
        ("https://whetstone.example.org", "https://github.com", True),
        ("http://10.0.0.7:8080", "https://github.example.org", True),
        # A GitHub on this very machine, as the stand-in is one.
        ("http://127.0.0.1:8080", "http://127.0.0.1:4000", True),
    ],
)
async def test_an_address_that_leads_github_to_itself_is_neither_proposed_nor_taken(address, web, good):
    told = ("GitHub can't reach this address: it leads every machine to itself",)
    assert Order("acme", organisation=True, public_url=address).problems(web) == (() if good else told)
    registering = Registering(Guests(lambda: datetime.now(UTC)), web, None, None)
    assert registering._proposed(address) == (address if good else "")


async def test_credentials_in_the_environment_would_win_over_the_file_so_they_are_named(github, tmp_path):
    async with serving(github, tmp_path, GITHUB_APP_ID="7") as (process, _):
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 2
    assert said == (
        "whetstone serve: GITHUB_APP_ID of the environment would win over .env; set all or none\n"
    )


async def test_what_else_stands_in_the_file_stays(tmp_path):
    from bot.adapters.web.setup.keeping import keep

    path = tmp_path / ".env"
    path.write_text(
        '# mine\nPORT=9000\nGITHUB_PRIVATE_KEY="old\nkey"\nexport GITHUB_APP_ID=1\nLOG_LEVEL=DEBUG'
    )
    keep(path, {"GITHUB_APP_ID": "2", "GITHUB_PRIVATE_KEY": 'a\n$b\\c"d\n'})
    from bot.settings.dotenv import read

    assert read(path).values == {
        "PORT": "9000",
        "LOG_LEVEL": "DEBUG",
        "GITHUB_APP_ID": "2",
        "GITHUB_PRIVATE_KEY": 'a\n$b\\c"d\n',
    }
    assert path.read_text().startswith("# mine\nPORT=9000\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
