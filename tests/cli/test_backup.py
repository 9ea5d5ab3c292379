"""`whetstone backup` and `whetstone restore` as an operator types them."""

import asyncio
import stat
import subprocess
from pathlib import Path

import pytest

from bot.store.deliveries import load_delivery
from bot.store.store import open_store
from tests import forks
from tests.store.store_builders import make_delivery

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def filled(store_url):
    """A store of either kind with one delivery."""
    async with open_store(store_url, worker=False) as store:
        await store.accept(make_delivery("d1"))
    return store_url


@pytest.fixture
def whetstone(tmp_path):
    async def run(*arguments, url, given=b""):
        process = await asyncio.create_subprocess_exec(
            *(*forks.python(), "-m", "bot", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "DATABASE_URL": url},
        )
        printed, warned = await asyncio.wait_for(process.communicate(given), 120)
        return process.returncode, printed, warned.decode()

    return run


async def test_a_backup_is_restored_into_a_new_store(filled, whetstone, tmp_path):
    code, _, said = await whetstone("backup", "copy.backup", url=filled)
    assert (code, "rows of" in said) == (0, True)
    assert stat.S_IMODE((tmp_path / "copy.backup").stat().st_mode) == 0o600
    new = f"sqlite:///{tmp_path}/new/store.db"
    code, printed, warned = await whetstone("restore", "copy.backup", url=new)
    assert (code, warned, b"tables were restored" in printed) == (0, "", True)
    async with open_store(new, worker=False) as store:
        assert (await store.read(load_delivery, "d1")).delivery.id == "d1"


async def test_a_backup_goes_through_a_pipe(filled, whetstone, tmp_path):
    code, packed, _ = await whetstone("backup", "-", url=filled)
    assert code == 0
    code, _, warned = await whetstone("restore", "-", url=f"sqlite:///{tmp_path}/new.db", given=packed)
    assert (code, warned) == (0, "")


async def test_an_existing_file_is_kept(filled, whetstone, tmp_path):
    (tmp_path / "copy.backup").write_text("mine")
    code, _, warned = await whetstone("backup", "copy.backup", url=filled)
    assert (code, warned) == (2, "whetstone backup: copy.backup exists; give another name\n")
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.backup"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("backup", "missing/copy"), "missing/copy can't be written: No such file or directory"),
        (("restore", "missing"), "missing: No such file or directory"),
        (("restore", "text"), "text: the file is not a valid backup: Not a gzipped file (b'no')"),
    ],
)
async def test_what_can_not_be_done_is_said_in_one_line(sqlite_url, whetstone, tmp_path, arguments, what):
    (tmp_path / "text").write_text("no backup")
    code, _, warned = await whetstone(*arguments, url=sqlite_url)
    assert (code, warned.startswith(f"whetstone {arguments[0]}: {what}"), warned.count("\n")) == (2, True, 1)


async def test_nothing_is_restored_over_something_or_under_a_running_server(filled, whetstone):
    assert (await whetstone("backup", "copy.backup", url=filled))[0] == 0
    code, _, warned = await whetstone("restore", "copy.backup", url=filled)
    assert (code, "the store is not empty" in warned) == (2, True)


async def test_a_store_in_use_is_not_restored_into(sqlite_url, whetstone):
    assert (await whetstone("backup", "copy.backup", url=sqlite_url))[0] == 0
    async with open_store(sqlite_url, worker=True):
        code, _, warned = await whetstone("restore", "copy.backup", url=sqlite_url)
    assert (code, "already uses" in warned) == (2, True)


async def test_without_a_store_there_is_nothing_to_back_up(whetstone, tmp_path):
    code, _, warned = await whetstone("backup", "copy.backup", url=f"sqlite:///{tmp_path}/none.db")
    assert (code, "no store exists yet" in warned) == (2, True)
    assert list(tmp_path.glob("copy*")) == []
