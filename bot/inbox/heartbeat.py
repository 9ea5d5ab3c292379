"""The process's heartbeat, and a watchdog for a blocked event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from types import FrameType, TracebackType
from typing import Any

from bot.store.model import LaneClaim


@dataclass(frozen=True, slots=True)
class HeartbeatSettings:
    """How often an instance records its heartbeat, and how long it counts as alive."""

    interval: float = 2.0
    late_after: float = 15.0
    """A process whose last recorded heartbeat is older writes nothing: it may have lost its lanes."""
    lease: float = 30.0
    """Seconds without a heartbeat after which other instances may claim its lanes."""


def monotonic_clock(clocks: Any) -> Callable[[], float]:
    """A clock that only grows, and if possible also while the machine is suspended."""
    if hasattr(clocks, "CLOCK_BOOTTIME"):
        return partial(clocks.clock_gettime, clocks.CLOCK_BOOTTIME)
    monotonic: Callable[[], float] = clocks.monotonic
    return monotonic


TICK_EVERY = 0.5
"""Seconds between two ticks."""
STANDSTILL = 3.0
"""Seconds without a tick after which the process was stopped, or its event loop blocked."""
AFTERMATH = 10.0
"""Seconds after a standstill in which what timed out meanwhile fails."""


@dataclass(slots=True)
class Heartbeat:
    """The last heartbeat that the store has certainly recorded, and whether the process kept running."""

    settings: HeartbeatSettings = HeartbeatSettings()
    now: Callable[[], float] = field(default_factory=lambda: monotonic_clock(time))
    _recorded: float = -inf
    _ticked: float = inf
    _stood_still_until: float = -inf

    def record(self, asked: float) -> None:
        """The store has recorded a heartbeat that was sent at this time, not when its answer came."""
        self._recorded = asked

    @property
    def age(self) -> float:
        """Seconds since the last recorded heartbeat."""
        return self.now() - self._recorded

    def is_fresh(self) -> bool:
        """Whether a write may start: another instance has to wait longer than the write takes."""
        return self.age <= self.settings.late_after

    def tick(self) -> float:
        """Record that the process runs; returns the seconds of a standstill that just ended, else 0."""
        now = self.now()
        still, self._ticked = now - self._ticked, now
        if still <= STANDSTILL:
            return 0.0
        self._stood_still_until = now
        return still

    def is_after_standstill(self) -> bool:
        """Whether timeouts are due to a standstill that has just ended, or that no tick has ended yet."""
        now = self.now()
        return now - self._ticked > STANDSTILL or now - self._stood_still_until <= AFTERMATH


EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h, so that a supervisor's log tells it from other exits."""
REPORT_SECONDS = 5.0
"""How long to wait for the log: what blocks the loop may hold the log's lock."""
YIELD_SECONDS = 0.05

logger = logging.getLogger("whetstone.watchdog")

InProgressDeliveries = Callable[[asyncio.Task[Any] | None], Sequence[LaneClaim]]
"""The claims that a task of the event loop processes."""


@dataclass(frozen=True, slots=True)
class WatchdogLimits:
    """How long the event loop may be blocked, in seconds."""

    look_every: float = 1.0
    log_after: float = 5.0
    exit_after: float = 60.0


class LoopBlocked(Exception):
    """The event loop has not run for too long; its traceback is where it is blocked."""


@dataclass(slots=True)
class Watchdog:
    """A thread that asks the event loop for a sign of life every second.

    Only time in which the thread itself ran is counted. So a process that was stopped (SIGSTOP, a
    frozen container, a suspended machine) is not taken for one whose loop is blocked.
    """

    limits: WatchdogLimits
    in_progress: InProgressDeliveries
    on_stall: Callable[[], None]
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _loop_thread: int = field(init=False)
    _answered_at: float = field(init=False)
    _has_answered: bool = True
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the running event loop while the block runs."""
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()
        self._answered_at = time.monotonic()
        thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        thread.start()
        try:
            with self._interrupting():
                yield
        finally:
            self._ended.set()

    def _watch(self) -> None:
        looked, blocked, is_logged = time.monotonic(), 0.0, False
        while not self._ended.wait(self.limits.look_every):
            now = time.monotonic()
            # No more than two looks' worth: in the rest of the time the whole process did not run.
            passed, looked = min(now - looked, 2 * self.limits.look_every), now
            if self._has_answered:
                if is_logged:
                    logger.warning("the event loop resumed after %.0f s", blocked)
                blocked, is_logged, self._has_answered = 0.0, False, False
                try:
                    self._loop.call_soon_threadsafe(self._answer)
                except RuntimeError:  # closed since the process began to stop
                    return
                continue
            blocked += passed
            if blocked >= self.limits.exit_after:
                try:
                    self._report(f"the event loop was blocked for {blocked:.0f} s; exiting")
                finally:
                    os._exit(EXIT_CODE)
            if blocked >= self.limits.log_after and not is_logged:
                is_logged = True
                self.on_stall()
                self._report(f"the event loop has been blocked for {blocked:.0f} s")

    def _answer(self) -> None:
        self._has_answered, self._answered_at = True, time.monotonic()

    def _report(self, message: str) -> None:
        """Log what the loop is working on and where, without waiting for the log for ever."""
        claims = self.in_progress(asyncio.current_task(self._loop))
        facts = {
            "lanes": [claim.lane for claim in claims],
            "deliveries": [delivery.id for claim in claims for delivery in claim.deliveries],
        }
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001  documented, despite its name
        error = LoopBlocked(message).with_traceback(_traceback(frame))
        thread = threading.Thread(
            target=logger.critical, args=(message,), kwargs={"extra": facts, "exc_info": error}, daemon=True
        )
        thread.start()
        thread.join(REPORT_SECONDS)

    @contextmanager
    def _interrupting(self) -> Iterator[None]:
        """Have a blocked main thread let this one run.

        A match of a backtracking pattern keeps the interpreter's lock until it ends, so no other thread
        gets to run. But it lets signal handlers run, and a handler that sleeps gives the lock away.
        """
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            yield
            return
        before = signal.signal(signal.SIGALRM, self._yield)
        signal.setitimer(signal.ITIMER_REAL, self.limits.look_every, self.limits.look_every)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _yield(self, _signal: int, _frame: FrameType | None) -> None:
        if time.monotonic() - self._answered_at > 2 * self.limits.look_every:
            time.sleep(YIELD_SECONDS)


def _traceback(frame: FrameType | None) -> TracebackType | None:
    """The frames of a running thread, as if it had raised an exception there."""
    made = None
    while frame:
        made = TracebackType(made, frame, frame.f_lasti, frame.f_lineno or 0)  # None between lines
        frame = frame.f_back
    return made
