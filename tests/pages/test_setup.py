"""From no credentials to a tested App, clicked through in a real browser."""

import asyncio
import os
import stat
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from bot.github.app_api import RegistrationRequest
from bot.settings import load_settings
from bot.web.setup import RegistrationPages, SetupSessions
from tests import forks
from tests.judges.judge import Judge
from tests.scripted_github import ScriptedGitHub

# One browser for all of them: it takes longer to start than a test.
pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).parents[2]


@pytest_asyncio.fixture(loop_scope="session")
async def github():
    """A GitHub with its own pages, as an enterprise server has them; what is asked is judged.

    To a browser `localhost` is another site than `127.0.0.1`, where the bot is: cookies have to survive that.
    """
    judge = Judge()
    async with ScriptedGitHub(enterprise=True) as fake_github:
        fake_github.observers.append(judge.exchange)
        for name in ("api_url", "graphql_url", "web_url"):
            setattr(fake_github, name, getattr(fake_github, name).replace("127.0.0.1", "localhost"))
        yield fake_github
    assert [each for each in judge.violations if "favicon" not in each] == []


@asynccontextmanager
async def serving(github, where, *arguments, **environment):
    """`whetstone serve --setup`; gives the process and the lines that it prints first."""
    process = await asyncio.create_subprocess_exec(
        *forks.python(), "-m", "bot", "serve", "--setup", "--port", "0", *arguments,
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


def link(lines) -> str:
    """The address with the key, as the console shows it."""
    return lines[0].split()[-1]


async def line_with(process, what) -> str:
    async with asyncio.timeout(120):
        while what not in (line := (await process.stdout.readline()).decode()):
            assert line, "the server ended"
    return line


async def test_from_the_first_click_to_a_delivery_that_arrives(github, page, picture, tmp_path):
    github.account("acme", "Organization")
    async with serving(github, tmp_path) as (process, lines):
        await page.goto(link(lines))
        assert page.url == link(lines).partition("?")[0]
        proposed = await page.input_value("#public_url")
        await page.fill("#owner", "acme")
        await page.fill("#public_url", "https://whetstone.acme.example")
        await picture("setup-register", page.locator("main"))
        await page.fill("#public_url", proposed)
        await page.get_by_label("An organisation").check()
        await page.fill("#owner", "acme")
        await page.click("#register")
        await page.wait_for_selector("#create")
        assert await page.input_value("input[name=name]") == "whetstone-acme"
        await page.click("#create")
        assert await page.inner_text("#login") == "whetstone-acme[bot]"
        await line_with(process, "Listening")

        kept = tmp_path / ".env"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        settings = load_settings({}, kept)
        assert (settings.app_id, settings.webhook_secrets) == (github.app.id, (github.deliveries.secret,))
        assert settings.api_url == github.api_url

        await page.click("#next")
        assert await page.inner_text("#accounts") == "no account yet"
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
        assert await page.inner_text("#outcome") == (
            "GitHub sent a ping event, and this server accepted it: 200 OK."
        )


async def begun(github, page, lines) -> str:
    """The set-up up to GitHub's page; returns the way back with the code, not yet gone."""
    await page.goto(link(lines))
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
        assert "belongs to another set-up" in await page.inner_text(".error")
        assert not (tmp_path / ".env").exists()
        await page.click("#again")
        await page.wait_for_selector("#register")


async def test_a_code_that_is_too_old_is_told_and_the_set_up_can_begin_again(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        back = await begun(github, page, lines)
        github.manifest_codes.clear()
        answer = await page.goto(back)
        assert answer.status == 410
        assert "it can be used once, within an hour" in await page.inner_text(".error")
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


@asynccontextmanager
async def forwarded(url):
    """A TCP forward to the server, as `ssh -R` and socat make one; gives the address of its other end."""

    async def carry(reader, writer):
        with suppress(ConnectionError):
            while chunk := await reader.read(65536):
                writer.write(chunk)
        writer.close()

    async def connected(reader, writer):
        there = await asyncio.open_connection(url.host, url.port)
        await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield str(url.with_port(server.sockets[0].getsockname()[1]))


@pytest.mark.parametrize(
    "named",
    [{}, {"CF-Connecting-IP": "203.0.113.7"}, {"Host": "localhost"}, {"Host": "rebound.example"}],
    ids=["a forward", "a tunnel", "a local name", "another name"],
)
async def test_nobody_gets_in_without_the_key_wherever_they_seem_to_come_from(github, tmp_path, named):
    headers = {"Connection": "keep-alive", **named}
    async with (
        serving(github, tmp_path) as (_, lines),
        forwarded(URL(link(lines)).with_query(None)) as outside,
        aiohttp.ClientSession() as stranger,
    ):
        form = {"owner": "mallory", "public_url": "https://mallory.example"}
        here = str(URL(link(lines)).with_query(None))
        for where in (here, outside):
            statuses = [
                (await stranger.get(where, headers=headers)).status,
                (await stranger.post(f"{where}/register", headers=headers, data=form)).status,
                (await stranger.get(f"{where}/callback?code=a&state=b", headers=headers)).status,
            ]
            assert statuses == [403, 403, 403]


async def test_through_a_forward_the_link_opens_the_page_and_github_leads_back_to_it(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines), forwarded(URL(link(lines))) as outside:
        await page.goto(outside)
        await page.fill("#owner", "carla")
        await page.click("#register")
        await page.click("#create")
        assert await page.inner_text("#login") == "whetstone-carla[bot]"
        assert page.url.startswith(outside.partition("?")[0] + "/callback?")


async def test_the_key_opens_one_browser_and_is_left_nowhere(github, tmp_path):
    async with serving(github, tmp_path) as (process, lines):
        where, key = link(lines).split("?key=")
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as owner, aiohttp.ClientSession() as another:
            opened = await owner.get(link(lines), allow_redirects=False)
            cookie = opened.cookies["whetstone-setup"]
            shown, again = await owner.get(where), await owner.get(link(lines))
            refused = await another.get(link(lines))
            told = await refused.text()
        process.terminate()
        printed = b"".join(await process.communicate()).decode()
    assert (opened.status, opened.headers["Location"], opened.headers["Referrer-Policy"]) == (
        303,
        "/setup",
        "no-referrer",
    )
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/setup")
    assert (shown.status, again.status, str(again.url), refused.status) == (200, 200, where, 403)
    assert "This key has been used" in told
    assert [text for text in (printed, cookie.value, await shown.text()) if key in text] == []


async def test_a_wrong_key_is_asked_for_again_and_the_right_one_still_opens(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        where, key = link(lines).split("?key=")
        await page.goto(where)
        await page.fill("#key", "a guess")
        await page.click("#enter")
        await page.fill("#key", key)
        await page.click("#enter")
        await page.wait_for_selector("#register")
        assert page.url == where


async def test_guesses_are_limited_but_shut_out_nobody_who_has_the_key(github, tmp_path):
    async with serving(github, tmp_path) as (_, lines), aiohttp.ClientSession() as session:
        where = link(lines).partition("?")[0]
        answers = [await session.get(where, params={"key": f"guess-{number}"}) for number in range(12)]
        right = await session.get(link(lines), allow_redirects=False)
    assert [each.status for each in answers] == [403] * 10 + [429] * 2
    assert (int(answers[-1].headers["Retry-After"]) in range(1, 61), right.status) == (True, 303)


async def test_a_form_of_another_site_is_refused(github, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            opened = await session.get(link(lines))
            form = {"owner": "acme", "public_url": "https://bot.example", "token": "guess"}
            answer = await session.post(f"{opened.url}/register", data=form)
            assert (opened.status, answer.status) == (200, 403)


async def test_wrong_input_is_said_at_the_form(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        await page.goto(link(lines))
        await page.fill("#owner", "no login!")
        await page.click("#register")
        assert await page.inner_text(".error") == "'no login!' is not a GitHub login."
        assert await page.input_value("#owner") == "no login!"


@pytest.mark.parametrize(
    ("url", "web", "reason"),
    [
        ("http://127.0.0.1:8080", "https://github.com", "it is a loopback address"),
        ("https://localhost", "https://github.com", "it is a loopback address"),
        ("http://bot.localhost:1", "https://github.com", "it is a loopback address"),
        ("http://[::1]:8080", "https://github.com", "it is a loopback address"),
        ("http://0.0.0.0:8080", "https://github.com", "it is a loopback address"),
        ("http://0.0.0.0:8080", "https://github.example.org", "it is a loopback address"),
        ("https://192.168.1.20", "https://github.com", "it is a private address"),
        ("http://10.0.0.7:8080", "https://acme.ghe.com", "it is a private address"),
        ("https://[fd00::7]", "https://github.com", "it is a private address"),
        ("https://169.254.1.1", "https://github.com", "it is a private address"),
        ("https://buildserver", "https://github.com", "it is a private address"),
        ("https://bot.internal", "https://github.com", "it is a private address"),
        ("http://whetstone.example.org", "https://github.com", "Use https://."),
        ("whetstone.example.org", "https://github.com", "Enter a full URL"),
        ("https://whetstone.example.org", "https://github.com", None),
        ("https://smee.io/abc", "https://github.com", None),
        ("http://10.0.0.7:8080", "https://github.example.org", None),
        # A GitHub on this very machine, as the fake GitHub is one.
        ("http://127.0.0.1:8080", "http://127.0.0.1:4000", None),
    ],
)
async def test_a_url_that_github_could_not_deliver_to_is_refused_with_the_reason(url, web, reason):
    problems = RegistrationRequest("acme", organisation=True, public_url=url).problems(web)
    assert (len(problems), reason is None or reason in problems[0]) == (int(reason is not None), True)


async def test_the_form_proposes_the_address_in_use_only_where_github_could_use_it():
    sessions = SetupSessions(lambda: datetime.now(UTC))
    proposals = [
        RegistrationPages(sessions, web, None, None)._propose_url(url)
        for url, web in (
            ("http://127.0.0.1:8080", "https://github.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:4000"),
            ("https://whetstone.example.org", "https://github.com"),
        )
    ]
    assert proposals == ["", "http://127.0.0.1:8080", "https://whetstone.example.org"]


async def test_a_relay_gets_the_deliveries_at_its_own_url():
    relayed = RegistrationRequest("acme", organisation=True, public_url="https://smee.io/abc")
    direct = RegistrationRequest("acme", organisation=True, public_url="https://bot.example")
    assert (relayed.webhook_url, direct.webhook_url) == ("https://smee.io/abc", "https://bot.example/webhook")


@pytest_asyncio.fixture(loop_scope="session")
async def another_server():
    """Starts an HTTP server that has nothing to do with the bot; returns its URL."""
    servers = []

    async def start():
        servers.append(TestServer(web.Application()))
        await servers[-1].start_server()
        return str(servers[-1].make_url("")).rstrip("/")

    yield start
    for server in servers:
        await server.close()


async def test_a_url_that_does_not_reach_this_server_is_found_before_the_app_is_registered(
    github, page, tmp_path, another_server
):
    async with serving(github, tmp_path) as (_, lines):
        await page.goto(link(lines))
        await page.fill("#owner", "carla")
        await page.fill("#public_url", "http://127.0.0.1:9")
        await page.click("#register")
        assert await page.inner_text(".error") == (
            "http://127.0.0.1:9 could not be reached: nothing is listening on 127.0.0.1:9."
        )
        another = await another_server()
        await page.fill("#public_url", another)
        await page.click("#register")
        assert await page.inner_text(".error") == (f"{another} is another server, which responded with 404.")
        assert github.manifest_codes == {}
        await page.check("#skip_check")
        await page.click("#register")
        await page.wait_for_selector("#create")


async def test_the_page_says_how_to_get_deliveries_to_a_machine_behind_a_firewall(github, page, tmp_path):
    async with serving(github, tmp_path) as (_, lines):
        await page.goto(link(lines))
        assert not await page.is_visible("text=cloudflared")
        await page.click("#tunnel summary")
        help_text = await page.inner_text("#tunnel")
        port = URL(link(lines)).port
    for part in (
        f"127.0.0.1:{port}",
        f"cloudflared tunnel --url http://127.0.0.1:{port}",
        "--host 0.0.0.0",
        "smee.io",
    ):
        assert part in help_text


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_fits_a_desktop_and_a_phone(github, page, tmp_path, width, scheme):
    await page.set_viewport_size({"width": width, "height": 844})
    await page.emulate_media(color_scheme=scheme)
    async with serving(github, tmp_path) as (_, lines):
        await page.goto(link(lines))
        await page.click("#tunnel summary")
        await page.fill("#owner", "carla")
        await page.fill("#public_url", "http://127.0.0.1:9")
        await page.click("#register")
        await page.wait_for_selector("#skip_check")
        if folder := os.environ.get("WHETSTONE_SCREENSHOTS"):
            await page.screenshot(path=Path(folder) / f"setup-{width}-{scheme}.png", full_page=True)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_credentials_in_the_environment_would_win_over_the_file_so_they_are_named(github, tmp_path):
    async with serving(github, tmp_path, GITHUB_APP_ID="7") as (process, _):
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 2
    assert said == (
        "whetstone serve: GITHUB_APP_ID in the environment would override the new .env; "
        "unset them, or set all the credentials and start without --setup\n"
    )


async def test_what_else_stands_in_the_file_stays(tmp_path):
    from bot.settings import save_dotenv

    path = tmp_path / ".env"
    path.write_text(
        '# mine\nPORT=9000\nGITHUB_PRIVATE_KEY="old\nkey"\nexport GITHUB_APP_ID=1\nLOG_LEVEL=DEBUG'
    )
    save_dotenv(path, {"GITHUB_APP_ID": "2", "GITHUB_PRIVATE_KEY": 'a\n$b\\c"d\n'})
    from bot.settings import read_dotenv

    assert read_dotenv(path).values == {
        "PORT": "9000",
        "LOG_LEVEL": "DEBUG",
        "GITHUB_APP_ID": "2",
        "GITHUB_PRIVATE_KEY": 'a\n$b\\c"d\n',
    }
    assert path.read_text().startswith("# mine\nPORT=9000\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
