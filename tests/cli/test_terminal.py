"""What a list looks like to a person, and what to a program."""

import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRINTS = (
    "from bot.cli import terminal; "
    "terminal.print_table(('state', 'what'), [('error', 'a\\nb'), ('ok', 'c')]); "
    "list(terminal.track_progress([1, 2], 'Counting', total=2))"
)


def run(**how):
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    return subprocess.Popen([sys.executable, "-c", PRINTS], env=environment, **how)  # noqa: S603  our own


def test_in_a_pipe_a_row_is_one_line_parted_by_tabs():
    process = run(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said, told = process.communicate(timeout=120)
    assert (said.decode(), told.decode()) == ("error\ta b\nok\tc\n", "Counting …\n")


def test_on_a_terminal_it_is_a_table_in_colours():
    ours, theirs = pty.openpty()
    process = run(stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    assert process.wait(timeout=120) == 0
    said = os.read(ours, 65536).decode()
    os.close(ours)
    assert ("\x1b[1;31merror" in said, "\x1b[32mok" in said, "state" in said) == (True, True, True)


def test_an_option_that_does_not_exist_is_answered_with_the_one_that_was_meant():
    asked = subprocess.run(
        [sys.executable, "-m", "bot", "doctor", "--jsn"],
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        timeout=120,
    )
    assert (asked.returncode, asked.stderr.decode()) == (
        2,
        "whetstone doctor: unknown option --jsn; did you mean --json? (see whetstone doctor --help)\n",
    )
