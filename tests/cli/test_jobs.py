"""A command that writes hands its job to the running server, and does it itself where none runs."""

from __future__ import annotations

import asyncio

from bot.cli import run_command_line
from bot.store.deliveries import load_parked
from bot.store.lanes import count_queue

DATE = "<!-- ISSUES: date_errors -->"


async def given_up(harness) -> object:
    """A pull request whose rejection was parked, because GitHub forbade what it needs."""
    where = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = harness.github.open_pull_request(where, "rio-agent[bot]")
    await harness.wait_until_idle()
    harness.github.fail(
        "GET", "*/reviews", status=403, body={"message": "Resource not accessible by integration"}
    )
    harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await harness.wait_until_idle()
    return pull


async def asks(bot) -> int:
    """How many jobs came in by the door."""
    counted = (await bot.store.read(count_queue)).deliveries
    return sum(number for (event, _), number in counted.items() if event == "whetstone")


async def test_the_running_server_queues_again_what_was_parked(harness, monkeypatch, capsys):
    async with harness.github, harness.run_bot() as bot:
        pull = await given_up(harness)
        monkeypatch.setenv("PORT", str(bot.address[1]))
        monkeypatch.setenv("GITHUB_API_URL", harness.github.api_url)
        code = await asyncio.to_thread(run_command_line, ["parked", "--retry", "all"])
        await harness.wait_until_idle()
        assert (code, capsys.readouterr().out) == (0, "1 queued again.\n")
        assert [marker["issues"] for marker in harness.markers(pull)] == [["date_errors"]]
        assert (await bot.store.read(load_parked), await asks(bot)) == ((), 1)


async def test_without_a_server_the_command_queues_it_itself(harness, monkeypatch, capsys, unused_tcp_port):
    async with harness.github:
        async with harness.run_bot():
            pull = await given_up(harness)
        monkeypatch.setenv("PORT", str(unused_tcp_port))
        monkeypatch.setenv("GITHUB_API_URL", harness.github.api_url)
        code = await asyncio.to_thread(run_command_line, ["parked", "--retry", "all"])
        assert (code, capsys.readouterr().out, harness.markers(pull)) == (0, "1 queued again.\n", [])
        async with harness.run_bot():
            await harness.wait_until_idle()
        assert [marker["issues"] for marker in harness.markers(pull)] == [["date_errors"]]
