"""`whetstone mcp` in a process of its own, as the SDK's own client sees it."""

import asyncio
import json
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from bot.fakegithub.reviews import InlineDraft
from tests import forks

ROOT = Path(__file__).parents[2]
PLACE = {"repository": "acme/knowledge"}


@asynccontextmanager
async def connected(environment):
    """A client of `whetstone mcp` with these settings."""
    parameters = StdioServerParameters(
        command=forks.python()[0],
        args=[*forks.python()[1:], "-m", "bot", "mcp"],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **environment},
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


def by_thread(agent):
    """A client whose server reads the thread on GitHub."""
    return connected({**agent.environment, "WHETSTONE_LOGIN": "whetstone[bot]"})


def by_server(agent):
    """A client whose server asks the App's server."""
    return connected({**agent.environment, "WHETSTONE_URL": agent.server_url})


async def call(client, tool, **arguments):
    """The structured answer; an error's text where it failed."""
    result = await client.call_tool(tool, {**arguments})
    return result.content[0].text if result.is_error else result.structured_content


async def test_there_are_five_tools_with_the_arguments_of_the_documents(agent):
    async with by_thread(agent) as client:
        tools = {
            tool.name: list(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools
        }
        assert tools == {
            "get_feedback": ["repository", "pull_request"],
            "wait_for_verdict": ["repository", "pull_request", "head", "timeout"],
            "get_history": ["repository", "author"],
            "explain_gate": ["repository", "tag"],
            "lint_feedback": ["text"],
        }


async def test_every_tool_is_described_for_a_model_and_only_reads(agent):
    async with by_thread(agent) as client:
        tools = (await client.list_tools()).tools
        assert all(40 < len(tool.description) < 400 for tool in tools)
        assert all(tool.annotations.read_only_hint for tool in tools)
        assert all(
            "description" in field for tool in tools for field in tool.input_schema["properties"].values()
        )
        assert "push once" in client.instructions


@pytest.mark.parametrize("setting", ["WHETSTONE_LOGIN", "WHETSTONE_URL"])
async def test_an_agent_reads_fixes_pushes_and_waits(agent, setting):
    await agent.reject(
        inline=[InlineDraft("claims/first.md", "[date_errors] month 13 is out of range", line=1)]
    )
    value = agent.server_url if setting == "WHETSTONE_URL" else "whetstone[bot]"
    async with connected({**agent.environment, setting: value}) as client:
        told = await call(client, "get_feedback", **PLACE, pull_request=agent.pull.number)
        assert (told["next_step"], told["verdict"], told["head"]) == ("fix", "refine", agent.pull.head_sha)
        (finding,) = told["findings"]
        assert (finding["tag"], finding["path"], finding["line"], finding["words"]) == (
            "date_errors",
            "claims/first.md",
            1,
            "month 13 is out of range",
        )
        agent.github.push(agent.pull, {"claims/first.md": "# Better\n"})
        head = agent.pull.head_sha
        waiting = asyncio.create_task(
            call(client, "wait_for_verdict", **PLACE, pull_request=agent.pull.number, head=head)
        )
        await agent.github.until(lambda: len(agent.github.asked("GET", "*/comments*")) >= 3)
        assert not waiting.done()
        await agent.approve()
        told = await waiting
        assert (told["next_step"], told["timed_out"], told["findings"]) == ("done", False, [])


async def test_waiting_in_vain_says_so_and_what_to_do(agent):
    async with by_thread(agent) as client:
        told = await call(
            client, "wait_for_verdict", **PLACE, pull_request=agent.pull.number, head="f" * 40, timeout=0.1
        )
        assert (told["timed_out"], told["next_step"]) == (True, "wait")
        assert told["instruction"].startswith("There is no feedback yet.")


async def test_progress_is_reported_while_waiting(agent):
    async with by_thread(agent) as client:
        seconds = []

        async def on_progress(progress, total, _message):
            seconds.append((progress, total))

        await client.call_tool(
            "wait_for_verdict",
            {**PLACE, "pull_request": agent.pull.number, "head": "f" * 40, "timeout": 0.5},
            progress_callback=on_progress,
        )
        assert seconds[0][1] == 0.5


async def test_the_server_ends_with_its_client_also_while_a_call_waits(agent):
    """Without the SDK's client, which kills a server that does not end by itself."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "mcp"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "WHETSTONE_LOGIN": "whetstone[bot]"}
        | agent.environment,
    )
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    waiting = {**PLACE, "pull_request": agent.pull.number, "head": "f" * 40}
    for message in (
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "wait_for_verdict", "arguments": waiting}},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    try:
        await agent.github.until(lambda: len(agent.github.asked("GET", "*/comments*")) >= 2)
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_history_and_gates_come_from_the_server(agent):
    async with by_server(agent) as client:
        config = "version: 1\ngates:\n  own_rule:\n    gate: Own rule\n    description: A rule of this repository\n    fix: Follow the rule of this repository.\n    severity: warning\n    auto_fixable: false\n"
        agent.github.commit_to_default_branch(agent.knowledge, {".github/whetstone.yml": config})
        await agent.reject()
        history = await call(client, "get_history", **PLACE, author="rio-agent[bot]")
        assert (history["agent"], history["issue_breakdown"]) == ("rio-agent[bot]", {"date_errors": 1})
        assert list(await call(client, "get_history", **PLACE)) == ["rio-agent[bot]"]
        gate = await call(client, "explain_gate", **PLACE, tag="own_rule")
        assert (gate["gate"], gate["severity"], gate["source"]) == (
            "Own rule",
            "warning",
            "the gates in force in acme/knowledge",
        )


async def test_without_a_server_gates_are_the_shipped_ones_and_there_is_no_history(agent):
    async with by_thread(agent) as client:
        gate = await call(client, "explain_gate", **PLACE, tag="date_errors")
        assert (gate["gate"], gate["auto_fixable"]) == ("Date accuracy", True)
        assert gate["source"] == "the shipped packs; the repository may have changed it"
        assert "did you mean date_errors?" in await call(client, "explain_gate", **PLACE, tag="date_error")
        assert "set WHETSTONE_URL to its address" in await call(client, "get_history", **PLACE)


async def test_feedback_is_linted_before_it_is_given(agent):
    async with by_thread(agent) as client:
        report = await call(client, "lint_feedback", text=json.dumps({"feedback_items": []}))
        assert report["actionable"] is False
        assert {"level", "line", "message", "instead"} <= set(report["problems"][0])
        assert "text:1:2" in await call(client, "lint_feedback", text="{")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"repository": "knowledge", "pull_request": 1}, "repository"),
        ({"repository": "acme/knowledge", "pull_request": 0}, "pull_request"),
        ({"repository": "acme/knowledge"}, "pull_request"),
    ],
)
async def test_wrong_arguments_are_named(agent, arguments, what):
    async with by_thread(agent) as client:
        assert what in await call(client, "get_feedback", **arguments)


async def test_what_github_refuses_is_told_to_the_model(agent):
    environment = {**agent.environment, "GH_TOKEN": "wrong", "WHETSTONE_LOGIN": "whetstone[bot]"}
    async with connected(environment) as client:
        told = await call(client, "get_feedback", **PLACE, pull_request=1)
    assert "responded with 401: Bad credentials; GH_TOKEN is not valid" in told


def whetstone_mcp(**environment):
    run = subprocess.run(  # noqa: S603  our own command
        [sys.executable, *environment.pop("flags", ()), "-m", "bot", "mcp"],
        input=b"",
        capture_output=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **environment},
        timeout=120,
    )
    return run.returncode, run.stderr.decode()


def test_missing_settings_are_named_at_once():
    assert whetstone_mcp() == (
        2,
        "whetstone mcp: set WHETSTONE_LOGIN to the App's login, or WHETSTONE_URL to the address of its server\n",
    )


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError('no mcp', name='mcp')")
    code, said = whetstone_mcp(PYTHONPATH=f"{tmp_path}:{ROOT}", WHETSTONE_LOGIN="whetstone[bot]")
    assert (code, said) == (
        2,
        "whetstone mcp: the extra mcp is not installed (mcp is missing): pip install 'whetstone-bot[mcp]'\n",
    )
