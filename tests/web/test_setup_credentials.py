"""The new App's credentials are kept, or nobody is sent to GitHub for them."""

import re
import stat
from datetime import UTC, datetime

import pytest

from bot.github.app_api import Registration
from bot.settings import check_writable, save_dotenv
from bot.web.server import build_application
from bot.web.setup import RegistrationPages, SetupSessions

MADE = Registration(7, "whetstone-acme", "acme", "https://github.com/apps/whetstone-acme", "key", "secret")


def test_a_link_goes_on_leading_to_the_file_that_holds_them(tmp_path):
    shared, link = tmp_path / "shared.env", tmp_path / ".env"
    shared.write_text("PORT=9000\n")
    link.symlink_to(shared)
    save_dotenv(link, {"GITHUB_APP_ID": "7"})
    assert (link.is_symlink(), shared.read_text()) == (True, 'PORT=9000\nGITHUB_APP_ID="7"\n')
    assert stat.S_IMODE(shared.stat().st_mode) == 0o600


def test_a_file_that_is_not_utf_8_costs_no_key(tmp_path):
    path = tmp_path / ".env"
    path.write_bytes(b"# Ren\xe9's\r\nGITHUB_APP_ID=1\r\nPORT=9000\r\n")
    save_dotenv(path, {"GITHUB_APP_ID": "7"})
    assert path.read_bytes() == b"# Ren\xe9's\r\nPORT=9000\r\n" + b'GITHUB_APP_ID="7"\n'


def test_what_stands_behind_a_byte_order_mark_is_replaced_as_well(tmp_path):
    path = tmp_path / ".env"
    path.write_bytes(b"\xef\xbb\xbfGITHUB_APP_ID=1\n")
    save_dotenv(path, {"GITHUB_APP_ID": "7"})
    assert path.read_bytes() == b'GITHUB_APP_ID="7"\n'


@pytest.mark.parametrize("before", [None, b"PORT=9000\n"])
def test_trying_out_leaves_what_was_there_and_nothing_else(tmp_path, before):
    path = tmp_path / ".env"
    if before is not None:
        path.write_bytes(before)
    check_writable(path)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([] if before is None else [before])


def in_no_folder(path):
    path.symlink_to(path.parent / "gone" / ".env")


def a_folder(path):
    path.mkdir()


def a_link_to_itself(path):
    path.symlink_to(path)


@pytest.mark.parametrize("spoil", [in_no_folder, a_folder, a_link_to_itself])
async def test_where_nothing_can_be_kept_nobody_is_sent_to_github(setup_client, tmp_path, spoil):
    path = tmp_path / ".env"
    spoil(path)
    client = await setup_client(RegistrationPages(*parts(path), check_writable=lambda: check_writable(path)))
    status, text = await registered(client)
    assert (status, "The credentials could not be saved: " in text, "Continue on GitHub" in text) == (
        422,
        True,
        False,
    )


async def test_where_they_can_be_kept_the_way_leads_to_github(setup_client, tmp_path):
    path = tmp_path / ".env"
    client = await setup_client(RegistrationPages(*parts(path), check_writable=lambda: check_writable(path)))
    status, text = await registered(client)
    assert (status, "Continue on GitHub" in text) == (200, True)


async def test_a_key_that_can_not_be_kept_after_all_is_said(setup_client, tmp_path):
    def fail(*_):
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    registering = RegistrationPages(*parts(tmp_path / ".env"))
    registering.save = fail
    client = await setup_client(registering)
    _, text = await registered(client)
    back = {"state": re.search(r"state=([\w-]+)", text)[1], "code": "c"}
    answer = await client.get("/setup/callback", params=back)
    assert (answer.status, "surrogates not allowed" in await answer.text()) == (500, True)


def parts(path):
    async def convert(_):
        return MADE

    def kept(made, _):
        save_dotenv(path, {"GITHUB_APP_ID": str(made.app_id)})

    return SetupSessions(lambda: datetime.now(UTC)), "https://github.com", convert, kept


@pytest.fixture
def setup_client(aiohttp_client):
    """A browser that was let in to these set-up pages."""

    async def start(registering):
        client = await aiohttp_client(build_application(registering.routes()))
        await client.get("/setup", params={"key": registering.sessions.key})
        return client

    return start


async def registered(client):
    """The status and text of the page that answers the form."""
    form = await (await client.get("/setup")).text()
    token = re.search(r'name="token" value="([^"]+)"', form)[1]
    given = {"owner": "acme", "kind": "organisation", "public_url": "https://bot.example.org", "token": token}
    given["skip_check"] = "1"  # nothing is there
    answer = await client.post("/setup/register", data=given)
    return answer.status, await answer.text()
