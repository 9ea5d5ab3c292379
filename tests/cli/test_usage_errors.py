"""What a person is told who asks for what can't be: one line, with what to change."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from bot import app
from bot.cli import COMMANDS, run_command_line
from bot.cli.doctor import CheckState, diagnose_store
from bot.resources import CannotStart
from bot.settings import Settings

POSTGRES_AWAY = "postgresql://whetstone:hidden@127.0.0.1:9/whetstone"
READING = [
    ["history", "acme/knowledge"],
    ["history", "acme/knowledge", "rio-agent"],
    ["history", "rio_acme/knowledge"],  # the login of an account that an enterprise manages
    ["weekly", "acme/knowledge", "--dry-run"],
    ["export", "acme/knowledge", "7", "out"],
    ["parked", "--retry", "x"],
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory, where nothing is set."""
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "GH_TOKEN", "GITHUB_TOKEN", "GITHUB_API_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("demo --port 99999", "demo: --port must be an integer from 0 to 65535, not '99999'"),
        ("demo --weeks -1", "demo: --weeks must be an integer from 0 to 52, not '-1'"),
        ("serve --port 99999", "serve: --port must be an integer from 0 to 65535, not '99999'"),
        ("serve --port web", "serve: --port must be an integer from 0 to 65535, not 'web'"),
        (
            "reconcile --days 0",
            "reconcile: --days must be a number above 0 and at most 30, not '0'",
        ),
        (
            "reconcile --days nan",
            "reconcile: --days must be a number above 0 and at most 30, not 'nan'",
        ),
        ("comment acme/kb -1 --login w", "comment: N must be an integer of 1 or more, not '-1'"),
        ("export acme/kb 0 out", "export: N must be an integer of 1 or more, not '0'"),
        (
            "history acme/kb --hours 0",
            "history: --hours must be an integer from 1 to 87600, not '0'",
        ),
    ],
)
def test_a_number_out_of_its_bounds_is_refused_with_them_before_anything_happens(here, capsys, typed, said):
    name = typed.split()[0]
    with pytest.raises(SystemExit) as left:
        run_command_line(typed.split())
    assert (left.value.code, capsys.readouterr().err) == (
        2,
        f"whetstone {said} (see whetstone {name} --help)\n",
    )
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["history", "weekly"])
def test_what_is_no_repository_is_told_apart_from_one_that_is_not_known(here, capsys, name):
    assert run_command_line([name, "knowledge"]) == 2
    assert (
        capsys.readouterr().err
        == f"whetstone {name}: 'knowledge' is not a repository; write it as OWNER/REPO\n"
    )
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("typed", READING, ids=" ".join)
def test_reading_where_nothing_was_stored_makes_no_store(here, capsys, typed):
    assert run_command_line(typed) == 2
    assert capsys.readouterr().err == (
        f"whetstone {typed[0]}: no store exists yet at sqlite:///data/whetstone.db (DATABASE_URL); "
        "whetstone serve creates it on first start\n"
    )
    assert list(here.iterdir()) == []


def test_nothing_is_parked_where_nothing_was_stored(here, capsys):
    assert run_command_line(["parked"]) == 0
    assert capsys.readouterr().out.startswith("No parked deliveries: no store exists yet at sqlite:")
    assert (run_command_line(["parked", "--json"]), capsys.readouterr().out) == (0, "")
    assert list(here.iterdir()) == []


async def test_doctor_does_not_praise_a_store_that_is_not_there(here):
    (found,) = await diagnose_store(None)
    assert (found.subject, found.state) == ("store", CheckState.NOTE)
    assert found.message.startswith("no store exists yet at sqlite:///data/whetstone.db")
    assert list(here.iterdir()) == []


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("typed", [*READING, ["parked"]], ids=" ".join)
def test_a_store_that_is_away_is_named_with_its_setting_and_without_its_password(capsys, monkeypatch, typed):
    monkeypatch.setenv("DATABASE_URL", POSTGRES_AWAY)
    assert run_command_line(typed) == 1
    assert capsys.readouterr().err == (
        f"whetstone {typed[0]}: can't open the store postgresql://whetstone:***@127.0.0.1:9/whetstone "
        "(DATABASE_URL): connection refused\n"
    )


@pytest.fixture
def readable_path(sqlite_url):
    """The file of a store that every user of the machine can read."""
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    path.chmod(0o644)
    return path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("typed", [*READING, ["parked"]], ids=" ".join)
def test_a_store_that_every_user_can_read_is_refused_in_one_line(capsys, monkeypatch, readable_path, typed):
    path = readable_path
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{path}")
    assert run_command_line(typed) == 2
    assert capsys.readouterr().err == (
        f"whetstone {typed[0]}: every user of this machine can read {path}; run: chmod 600 {path}*\n"
    )


async def test_a_server_refuses_a_store_that_every_user_can_read(readable_path):
    url = f"sqlite:///{readable_path}"
    settings = Settings(app_id=1, private_key="k", webhook_secrets=("s",), database_url=url, port=0)
    with pytest.raises(CannotStart, match="chmod 600 "):
        async with app.run_instance(settings):
            raise AssertionError


@pytest.mark.parametrize(
    ("database", "said"),
    [
        (POSTGRES_AWAY, "(DATABASE_URL): connection refused"),
        ("sqlite:////proc/nowhere/w.db", "(DATABASE_URL): /proc/nowhere: No such file or directory"),
    ],
)
async def test_a_server_whose_store_is_away_says_which_setting_names_it(database, said):
    settings = Settings(app_id=1, private_key="k", webhook_secrets=("s",), database_url=database, port=0)
    with pytest.raises(CannotStart) as reason:
        async with app.run_instance(settings):
            raise AssertionError
    assert said in str(reason.value)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("127.0.0.1", "port {port} is in use by another program; set PORT (or --port) to a free one"),
        ("203.0.113.7", "203.0.113.7 is not an address of this machine"),
    ],
)
async def test_a_port_that_is_taken_is_named_with_its_setting(host, said):
    from bot.resources import listen

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotStart) as reason:
            async with listen(web.Application(), host, port):
                raise AssertionError
    assert str(reason.value).startswith(said.format(port=port))


def test_the_version_can_be_asked_for(capsys):
    assert run_command_line(["--version"]) == 0
    assert capsys.readouterr().out == "whetstone 0.1.0\n"


def test_the_version_is_told_without_loading_any_command():
    asked = "import sys; from bot.cli import run_command_line\ntry: run_command_line(['--version'])\nfinally: print('bot.app' in sys.modules or 'bot.resources' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout == "whetstone 0.1.0\nFalse\n"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_example_can_be_pasted_into_any_shell(name):
    import shlex

    words = shlex.split(COMMANDS[name].example, posix=False)
    assert [word for word in words if "[" in word and not word.startswith("'")] == []
