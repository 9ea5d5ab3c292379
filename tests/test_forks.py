"""A forked process is what `python -m` would have started."""

import signal
import subprocess
import sys

import pytest

from tests import forks

COMMANDS = [["--help"], ["parse"], ["rendr"], ["check-config", "none.yml"]]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_it_prints_and_ends_like_a_process_of_its_own(arguments, tmp_path):
    runs = [
        subprocess.run(  # noqa: S603  our own command
            [*python, "-m", "bot", *arguments], input=b"hello", capture_output=True, cwd=tmp_path, check=False
        )
        for python in (forks.python(), (sys.executable,))
    ]
    forked, own = [(run.returncode, run.stdout, run.stderr) for run in runs]
    assert forked == own


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, -15), (signal.SIGINT, 130), (signal.SIGUSR1, -9), (signal.SIGKILL, -9)],
)
def test_a_signal_to_its_relay_ends_it(number, code):
    command = [*forks.python(), "-m", "bot", "parse"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:  # noqa: S603
        with pytest.raises(subprocess.TimeoutExpired):
            relay.wait(1)  # it waits for its input
        relay.send_signal(number)
        assert relay.stdout.read() == b""  # the pipe ends with the forked process
        assert relay.wait() == code
