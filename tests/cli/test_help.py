"""`whetstone --help` and the examples of the commands."""

import argparse
import os
import pty
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from bot.cli import COMMANDS, GROUPS, run_command_line
from tests import forks

ROOT = Path(__file__).parents[2]
OFFLINE = ("check-config", "detect", "lint-feedback", "parse", "receive", "render")
DOCUMENT = ROOT / "tests" / "gates" / "worked_example.yaml"


def test_the_help_lists_every_command_in_its_group(capsys):
    assert run_command_line(["--help"]) == 0
    shown = capsys.readouterr().out
    assert list(GROUPS) == snapshot(["Run it", "For agents", "For validators", "Reports", "Operations"])
    for title, commands in GROUPS.items():
        group = shown.partition(f"\n{title}\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in group.splitlines()] == [command.name for command in commands]


def test_the_help_fits_a_terminal_of_80_columns(capsys):
    run_command_line(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("  ") and len(line) > 80] == []


def test_the_help_is_coloured_on_a_terminal_and_plain_in_a_pipe():
    assert ("\x1b[1mOperations" in help_on_terminal(), "\x1b" in help_on_terminal(NO_COLOR="1")) == (
        True,
        False,
    )
    piped = subprocess.run([sys.executable, "-m", "bot", "--help"], cwd=ROOT, capture_output=True, check=True)
    assert b"\x1b" not in piped.stdout


def help_on_terminal(**environment):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "--help"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        stdout=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
        process.wait(timeout=60)
    os.close(ours)
    return shown.decode()


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux reports a closed terminal so
        return b""


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_is_a_valid_command_line(name):
    words = shlex.split(COMMANDS[name].example.rpartition("|")[2].partition(" >")[0])
    parser = argparse.ArgumentParser(exit_on_error=False)
    COMMANDS[name].arguments(parser)
    parser.parse_args(words[words.index("whetstone") + 2 :])


@pytest.mark.parametrize("name", OFFLINE)
def test_an_example_runs_as_it_is_printed(name, tmp_path):
    """With the files that it names; `gh` is a script that prints a comment."""
    tools = tmp_path / "bin"
    tools.mkdir()
    script(tools / "whetstone", f'exec {shlex.join(forks.python())} -m bot "$@"')
    script(tools / "gh", r"""printf '```json\n{"id": 7}\n```\n'""")
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "whetstone.yml").write_text("version: 1\n")
    shutil.copy(DOCUMENT, tmp_path / "feedback.yml")
    (tmp_path / "review.json").write_text("{}")
    done = subprocess.run(  # noqa: S603  the examples are our own
        [shutil.which("sh"), "-c", COMMANDS[name].example],
        cwd=tmp_path,
        env={"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


def script(path, command):
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)
