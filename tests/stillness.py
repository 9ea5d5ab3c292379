"""Did the machine stand still while a test ran? Then its failure says nothing, and it runs once more.

A shared machine may hold up every process for a minute. Each wait of a test, and each time-out of
the bot under test, has run out by the time that it goes on. Nothing else is ever tried twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from _pytest.runner import runtestprotocol

LOOK_EVERY = 0.1
STANDSTILL = 2.0
"""Seconds without a look: no test of ours keeps a thread from running for so long."""


class Watch:
    """A thread that notices when it was not let run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked = clock()
        self._stood_still_until = float("-inf")
        self._changing = threading.Lock()
        self._is_over = threading.Event()

    def start(self) -> None:
        """Look from now on, until told to end."""
        threading.Thread(target=self._look_again_and_again, name="stillness", daemon=True).start()

    def end(self) -> None:
        """Look no more."""
        self._is_over.set()

    def look(self) -> float:
        """The time; a standstill that lasted until now is noted."""
        with self._changing:
            now = self._clock()
            if now - self._looked >= STANDSTILL:
                self._stood_still_until = now
            self._looked = now
            return now

    def stood_still_after(self, look: float) -> bool:
        """Whether there was a standstill since this look."""
        self.look()
        return self._stood_still_until > look

    def _look_again_and_again(self) -> None:
        while not self._is_over.wait(LOOK_EVERY):
            self.look()


_watch = Watch()


def pytest_configure(config: pytest.Config) -> None:
    """Watch whoever runs the tests."""
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        return  # this process only hands them out
    _watch.start()


def pytest_unconfigure() -> None:
    """There is nothing left to watch."""
    _watch.end()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test; once more, if it failed and the machine stood still meanwhile."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    begun = _watch.look()  # what held up the start or another test does not count
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports) and _watch.stood_still_after(begun):
        item._initrequest()  # its fixtures anew
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        reports[-1].sections.append(("Stillness", "The machine stood still; this is the second run."))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
