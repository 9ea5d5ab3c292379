"""What docs/agents.md, the skill and server.json tell an agent works as it stands there."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml
from mcp import Client, StdioServerParameters, stdio_client

from bot.cli import COMMANDS
from bot.fakegithub.reviews import InlineDraft
from tests import forks

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
SETTINGS = {"GH_TOKEN", "GITHUB_API_URL", "WHETSTONE_LOGIN", "WHETSTONE_URL"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = ["get_feedback", "wait_for_verdict", "get_history", "explain_gate", "lint_feedback"]


def fences(info):
    return re.findall(rf"^```{info}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


async def tools_of(command, arguments, environment):
    """The tools of an MCP server that is started like this."""
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **environment}
    parameters = StdioServerParameters(command=command, args=arguments, env=env)
    async with Client(stdio_client(parameters)) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


async def test_the_loop_of_the_document_runs_until_the_pull_request_is_accepted(agent, monkeypatch):
    (loop,) = fences("python")
    assert len(loop.splitlines()) == 10
    for name, value in {**agent.environment, "WHETSTONE_URL": agent.server_url}.items():
        monkeypatch.setenv(name, value)
    fixed, pushes = [], []

    async def review():
        pushes.append(agent.github.push(agent.pull, {"claims/first.md": f"# Draft {len(pushes)}\n"}))
        if len(pushes) <= 2:
            line = InlineDraft("claims/first.md", "[date_errors] month 13 is out of range", line=1)
            await agent.reject("", [line])
        else:
            await agent.approve()
        return agent.pull.head_sha

    def push():
        return asyncio.run_coroutine_threadsafe(review(), agent.loop).result(60)

    names = {"push": push, "fix": lambda finding: fixed.append((finding.tag, finding.location))}
    printed = []
    code = compile(loop.replace("212", str(agent.pull.number)), "docs/agents.md", "exec")
    await asyncio.to_thread(exec, code, {**names, "print": lambda *words: printed.append(words)})
    assert fixed == [("date_errors", "claims/first.md:1")] * 2
    assert printed == [("done", printed[0][1])]
    assert "#issuecomment-" in printed[0][1]


CONFIGURATIONS = [
    *(json.loads(text)["mcpServers"] for text in fences("json mcp")),
    *(tomllib.loads(text)["mcp_servers"] for text in fences("toml mcp")),
]


@pytest.mark.parametrize("servers", CONFIGURATIONS)
async def test_the_configuration_of_every_agent_starts_the_server(servers):
    (server,) = servers.values()
    assert {"GH_TOKEN"} <= set(server["env"]) <= SETTINGS
    assert await tools_of(server["command"], server["args"], server["env"]) == TOOLS


def test_four_agents_are_told_how_to_start_it():
    assert len(CONFIGURATIONS) == 4
    agents = ("Claude Code", "Cursor", "GitHub Copilot", "Codex")
    assert [name for name in agents if f"**{name}**" not in PAGE] == []


def test_the_tools_of_the_document_are_those_of_the_server():
    assert re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE) == TOOLS


SKILL = ROOT / "skills" / "whetstone" / "SKILL.md"


def test_the_skill_has_the_form_that_agents_look_for():
    _, front, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(front)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", about["name"])
    assert (about["name"], set(about)) == (
        SKILL.parent.name,
        {"name", "description", "license", "compatibility"},
    )
    assert 1 <= len(about["description"]) <= 1024
    assert 1 <= len(about["compatibility"]) <= 500
    assert len(body.splitlines()) < 60


@pytest.mark.parametrize("line", re.findall(r"^ +whetstone (.*)$", SKILL.read_text("utf-8"), re.MULTILINE))
async def test_every_command_of_the_skill_works(agent, line):
    await agent.reject()
    line = line.replace("OWNER/REPO N", f"acme/knowledge {agent.pull.number}")
    line = line.replace("$(git rev-parse HEAD)", agent.pull.head_sha)
    code, printed, _ = await run(
        f"{shlex.join(forks.python())} -m bot {line}",
        {**agent.environment, "WHETSTONE_LOGIN": "whetstone[bot]"},
    )
    assert (code, json.loads(printed)["next"]) == (0, "fix")


async def run(line, environment):
    process = await asyncio.create_subprocess_shell(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
    )
    printed, warned = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode, printed.decode(), warned.decode()


# The form of the MCP registry, as far as it is used here.
ARGUMENT = {
    "type": "object",
    "required": ["type", "value"],
    "properties": {"type": {"enum": ["named", "positional"]}, "name": {"pattern": "^--"}, "value": {}},
    "additionalProperties": False,
}
VARIABLE = {
    "type": "object",
    "required": ["name", "description"],
    "properties": {
        "name": {"pattern": "^[A-Z_]+$"},
        "description": {"type": "string"},
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
        "placeholder": {"type": "string"},
        "default": {"type": "string"},
    },
    "additionalProperties": False,
}
SERVER = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"type": "string", "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string"},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "registryType": {"const": "pypi"},
                    "registryBaseUrl": {"const": "https://pypi.org"},
                    "identifier": {"type": "string"},
                    "version": {"type": "string"},
                    "runtimeHint": {"const": "uvx"},
                    "runtimeArguments": {"type": "array", "items": ARGUMENT},
                    "packageArguments": {"type": "array", "items": ARGUMENT},
                    "transport": {"const": {"type": "stdio"}},
                    "environmentVariables": {"type": "array", "items": VARIABLE},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}


def test_the_registry_is_told_how_this_version_is_started():
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    jsonschema.validate(server, SERVER)
    (package,) = server["packages"]
    assert (server["version"], package["version"]) == (PROJECT["version"], PROJECT["version"])
    # uvx runs the script of the package's own name.
    assert package["identifier"] == PROJECT["name"]
    assert PROJECT["scripts"][package["identifier"]] == PROJECT["scripts"]["whetstone"]
    assert [package["runtimeArguments"][0]["value"]] == PROJECT["optional-dependencies"]["mcp"]
    assert [argument["value"] for argument in package["packageArguments"]] == ["mcp"]
    assert "mcp" in COMMANDS
    assert {variable["name"] for variable in package["environmentVariables"]} == SETTINGS
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


async def test_the_demo_prints_lines_for_agents_that_work_against_it(tmp_path):
    process = await asyncio.create_subprocess_exec(
        *forks.python(), "-m", "bot", "demo", "--port", "0", "--weeks", "0",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    try:
        await asyncio.wait_for(process.stdout.readuntil(b"in another terminal:\n"), 120)
        comment, mcp = [(await process.stdout.readline()).decode() for _ in range(2)]
        code, printed, _ = await run(comment, {})
        told = json.loads(printed)
        assert (code, told["next"], told["marker"]["iteration"]) == (0, "fix", 3)
        words = shlex.split(mcp)
        environment = dict(word.split("=", 1) for word in words if "=" in word)
        command, *arguments = words[len(environment) :]
        assert await tools_of(command, arguments, {"PYTHONPATH": str(ROOT), **environment}) == TOOLS
    finally:
        process.kill()
        await process.communicate()
