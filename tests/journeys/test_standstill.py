"""A process that is stopped for longer than its time-outs and goes on says so in one line, and works on."""

from __future__ import annotations

import asyncio
import signal

from tests.journeys.cluster import redeliver_until_accepted
from tests.journeys.server_process import run_server

DATE = "<!-- ISSUES: date_errors -->"
STOPPED_FOR = 9.0
"""Seconds: longer than a beat may be late in `short_lease`, and than a statement may take."""
SHORT_LEASE = ("tests.journeys.short_lease",)


async def test_a_process_that_was_stopped_in_the_middle_of_its_work_logs_one_line_and_goes_on(
    harness, knowledge, tmp_path
):
    github = harness.github
    pulls = [github.open_pull_request(knowledge, "rio-agent[bot]") for _ in range(24)]
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        async with run_server(harness, SHORT_LEASE) as server:
            await server.kill()
            server.stderr = stderr
            checks = len(github.asked("GET", "/app/hook/deliveries"))
            await server.start()
            # Stopped in the middle of this, it would log that it failed.
            await github.until(lambda: len(github.asked("GET", "/app/hook/deliveries")) > checks)
            github.deliveries.in_flight = 8
            for pull in pulls:
                github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
            await github.until(lambda: len(github.asked("POST", "*/comments")) >= 2)
            server.send_signal(signal.SIGSTOP)
            await asyncio.sleep(STOPPED_FOR)
            server.send_signal(signal.SIGCONT)
            await redeliver_until_accepted(harness)
            await github.until(lambda: all(harness.comments(pull) for pull in pulls))
            assert await server.kill(signal.SIGTERM) == 0
    assert [len(harness.comments(pull)) for pull in pulls] == [1] * len(pulls)
    warnings = [line for line in log.read_text().splitlines() if " INFO " not in line]
    assert [line for line in warnings if "the process was stopped or blocked for" not in line] == []
    assert warnings != []
