"""A command that writes hands its job to the running server, and does it itself where none runs."""

from __future__ import annotations

import asyncio

from bot.cli import run_command_line
from bot.store.deliveries import load_parked
from bot.store.lanes import count_queue

DATE = "<!-- ISSUES: date_errors -->"


async def given_up(town) -> object:
    """A pull request whose rejection was parked, because GitHub forbade what it needs."""
    where = town.github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = town.github.open_pull_request(where, "rio-agent[bot]")
    await town.settled()
    town.github.fail(
        "GET", "*/reviews", status=403, body={"message": "Resource not accessible by integration"}
    )
    town.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await town.settled()
    return pull


async def asks(bot) -> int:
    """How many jobs came in by the door."""
    counted = (await bot.store.read(count_queue)).deliveries
    return sum(number for (event, _), number in counted.items() if event == "whetstone")


async def test_the_running_server_queues_again_what_was_parked(town, monkeypatch, capsys):
    async with town.github, town.running() as bot:
        pull = await given_up(town)
        monkeypatch.setenv("PORT", str(bot.address[1]))
        monkeypatch.setenv("GITHUB_API_URL", town.github.api_url)
        code = await asyncio.to_thread(run_command_line, ["parked", "--retry", "all"])
        await town.settled()
        assert (code, capsys.readouterr().out) == (0, "1 queued again.\n")
        assert [marker["issues"] for marker in town.markers(pull)] == [["date_errors"]]
        assert (await bot.store.read(load_parked), await asks(bot)) == ((), 1)


async def test_without_a_server_the_command_queues_it_itself(town, monkeypatch, capsys, unused_tcp_port):
    async with town.github:
        async with town.running():
            pull = await given_up(town)
        monkeypatch.setenv("PORT", str(unused_tcp_port))
        monkeypatch.setenv("GITHUB_API_URL", town.github.api_url)
        code = await asyncio.to_thread(run_command_line, ["parked", "--retry", "all"])
        assert (code, capsys.readouterr().out, town.markers(pull)) == (0, "1 queued again.\n", [])
        async with town.running():
            await town.settled()
        assert [marker["issues"] for marker in town.markers(pull)] == [["date_errors"]]
