"""A test that fails while the machine stands still is tried once more; no other is."""

import subprocess
import sys
from pathlib import Path

from tests.stillness import STANDSTILL, Watch

ROOT = Path(__file__).parent.parent
# The first run is held up as a whole, as by a machine that stops; a helper lets it go on.
HELD_UP = f"""
import os, signal, subprocess

def test_waits(request):
    seen = request.config.rootpath / "seen"
    first = not seen.exists()
    seen.touch()
    if first and {{held}}:
        subprocess.Popen(["sh", "-c", f"sleep {STANDSTILL + 0.2}; kill -CONT {{{{os.getpid()}}}}"])
        os.kill(os.getpid(), signal.SIGSTOP)
    assert not first
"""


def outcome(directory, held) -> str:
    (directory / "test_it.py").write_text(HELD_UP.format(held=held))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.stillness",
        "-q",
        "--rootdir",
        directory,
        directory,
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603  our own
    return run.stdout.splitlines()[-1].split(" in ")[0]


def test_what_failed_while_the_machine_stood_still_is_tried_once_more(tmp_path):
    assert outcome(tmp_path, held=True) == "1 passed"


def test_what_failed_by_itself_has_failed(tmp_path):
    assert outcome(tmp_path, held=False) == "1 failed"


def test_a_standstill_counts_for_the_test_that_lived_through_it():
    now = [0.0]
    watch = Watch(lambda: now[0])
    begun = watch.look()
    now[0] = STANDSTILL
    assert watch.stood_still_after(begun)
    now[0] += 0.5
    assert watch.stood_still_after(begun)


def test_what_held_up_the_start_or_another_test_does_not_count():
    now = [0.0]
    watch = Watch(lambda: now[0])
    now[0] = STANDSTILL
    begun = watch.look()
    now[0] += 0.5
    assert not watch.stood_still_after(begun)
