"""`whetstone export` where there is nothing to write, or no way to write it."""

import pytest

from bot import cli


@pytest.fixture(autouse=True)
def _store(monkeypatch, sqlite_url, tmp_path):
    monkeypatch.setenv("DATABASE_URL", sqlite_url)
    monkeypatch.chdir(tmp_path)


def test_a_pull_request_that_nobody_judged_has_nothing_to_export(capsys, tmp_path):
    assert cli.run_command_line(["export", "acme/knowledge", "7", str(tmp_path / "out")]) == 1
    assert (
        capsys.readouterr().err
        == "whetstone export: no reviewed iteration is recorded for acme/knowledge#7\n"
    )
    assert not (tmp_path / "out").exists()


def test_what_is_no_repository_is_wrong_use(capsys):
    assert cli.run_command_line(["export", "acme", "7", "out"]) == 2
    assert capsys.readouterr().err == "whetstone export: 'acme' is not a repository; write it as OWNER/REPO\n"
