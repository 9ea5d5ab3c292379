"""No sentence of a reviewer keeps the process busy: each is read in a child process with 2 s of CPU."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
READ = """
import resource, sys
from bot.domain.grounding.claims import find
text = sys.stdin.read()
resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
print([claim.type.value for claim in find(text)])
"""
HEX = "11bd71901bbe5b1630ceea73d27597364c9af683"


def claims_read(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", READ], input=text, capture_output=True, text=True, cwd=ROOT, check=False
    )


@pytest.mark.parametrize(
    "text",
    [
        f"Use actions/checkout@{HEX} instead of v4.",
        f"actions/checkout@{HEX} is not pinned, it is installed!",
        f"The manifest requires left-pad 1{HEX * 10} !",
        "It uses pkg@1" + "1a" * 30_000 + "_ here.",
        "It uses pkg@1" + ".1" * 30_000 + "_ here.",
        "1-" * 32_000,
        "v1.x " * 13_000,
    ],
)
def test_a_version_of_any_length_is_read_at_once(text):
    done = claims_read(text)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pinned_version_is_still_a_claim():
    assert claims_read("lodash@4.17.21 is installed.").stdout.strip() == "['dependency_versions']"
