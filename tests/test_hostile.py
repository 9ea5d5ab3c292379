"""No text keeps the process busy: each is read in a child process that ends where one takes too much CPU."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.grounding.claims import find_claims
from tests.hostile import GROUPS, cases, expected_seconds, repeated, seconds

ROOT = Path(__file__).parents[1]


def read_in_child(group: str, todo: list[tuple[str, str]]) -> list[str]:
    """What became of the cases, up to the one that ended the process."""
    asked = "".join(f"{json.dumps([group, *case])}\n" for case in todo)
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile"],
        input=asked,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def failures(group: str) -> list[str]:
    """The cases that took too long or raised."""
    todo, failed = list(cases(group)), []
    while todo:
        answers = read_in_child(group, todo)
        assert answers or len(todo) < len(list(cases(group))), "the child process did not start"
        failed += [
            f"{case}: {answer}" for case, answer in zip(todo, answers, strict=False) if answer != "read"
        ]
        failed += [f"{case}: ended the process" for case in todo[len(answers) : len(answers) + 1]]
        todo = todo[len(answers) + 1 :]
    return failed


@pytest.mark.parametrize("group", GROUPS)
def test_64_kb_of_any_shape_are_read_in_a_bounded_time(group):
    assert failures(group) == []


def test_a_pinned_version_is_still_a_claim():
    assert [claim.type.value for claim in find_claims("lodash@4.17.21 is installed.")] == [
        "dependency_versions"
    ]


@pytest.mark.parametrize(("power", "is_slow"), [(1, False), (2, True)])
def test_a_reader_that_would_take_too_long_is_foreseen_by_what_short_texts_take(power, is_slow):
    def read(text):
        for _ in range(20_000 + len(text) ** power // 2):  # whatever the text, a part is the same
            pass

    assert (expected_seconds(read, repeated("a"), seconds(read, "a")) > 4) is is_slow
