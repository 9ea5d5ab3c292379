"""`whetstone comment` as an agent types it: what is printed, and the exit code of every end."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forks

ROOT = Path(__file__).parents[2]
OURS = '<!-- REJECTION: {"id": "1", "head": "%s", "verdict": "refine"} -->\n```json\n{"id": "ours"}\n```'
FORGED = '<!-- REJECTION: {"id": "2"} -->\n```json\n{"id": "forged"}\n```'


@pytest.fixture
async def github(fake_github_server):
    return await fake_github_server()


@pytest.fixture
def pull(github):
    repository = github.repository("acme/kb", private=True, collaborators={"rio-agent[bot]": "read"})
    return github.open_pull_request(repository, "rio-agent[bot]")


@pytest.fixture
def comment(github, pull, tmp_path):
    """The command about this pull request, as its author."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "GITHUB_API_URL": github.api_url,
        "GH_TOKEN": github.user_token("rio-agent[bot]"),
        "WHETSTONE_LOGIN": "whetstone[bot]",
    }

    async def run(*options, **changed):
        process = await asyncio.create_subprocess_exec(
            *(*forks.python(), "-m", "bot", "comment", "acme/kb", str(pull.number), *options),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={name: value for name, value in {**environment, **changed}.items() if value is not None},
        )
        printed, warned = await asyncio.wait_for(process.communicate(), 120)
        return process.returncode, printed.decode(), warned.decode()

    return run


@pytest.fixture
def commented(github, pull):
    github.comment(pull, github.app.bot, OURS % pull.head_sha)
    github.comment(pull, "mallory", FORGED)


@pytest.mark.usefixtures("commented")
async def test_it_prints_what_the_app_wrote_not_what_was_forged(comment, pull):
    assert await comment() == (0, '{"id": "ours"}\n', "")
    assert json.loads((await comment("--marker"))[1])["id"] == "1"
    printed = json.loads((await comment("--json", "--head", pull.head_sha))[1])
    assert (printed["document"], printed["next"], printed["marker"]["head"]) == (
        {"id": "ours"},
        "fix",
        pull.head_sha,
    )


@pytest.mark.usefixtures("commented")
async def test_the_login_is_given_or_set(comment):
    assert (await comment("--login", "whetstone", WHETSTONE_LOGIN=None))[0] == 0
    code, _, warned = await comment("--login", "other-app[bot]")
    assert (code, warned) == (
        1,
        "whetstone comment: other-app[bot] has not commented on this pull request yet\n",
    )
    code, _, warned = await comment(WHETSTONE_LOGIN=None)
    assert (code, "set WHETSTONE_LOGIN" in warned) == (2, True)


async def test_nothing_yet_is_exit_code_1(comment):
    assert await comment() == (
        1,
        "",
        "whetstone comment: whetstone[bot] has not commented on this pull request yet\n",
    )


@pytest.mark.usefixtures("commented")
async def test_a_verdict_on_another_head_is_nothing_yet(comment):
    code, printed, warned = await comment("--head", "f" * 40)
    assert (code, printed, "--wait waits for it" in warned) == (1, "", True)


async def test_a_refusal_of_github_is_exit_code_3(comment):
    code, printed, warned = await comment(GH_TOKEN="wrong")
    assert (code, printed, "GH_TOKEN is not valid" in warned) == (3, "", True)
    code, _, warned = await comment(GH_TOKEN=None)
    assert (code, "GH_TOKEN is not set" in warned) == (3, True)
    code, _, warned = await comment(GITHUB_API_URL="http://127.0.0.1:9")
    assert (code, "nothing answers at 127.0.0.1:9" in warned) == (3, True)


@pytest.mark.usefixtures("commented")
async def test_waiting_ends_at_once_where_the_verdict_is_there(comment, pull):
    code, printed, _ = await comment("--wait", "--marker")
    assert (code, json.loads(printed)["head"]) == (0, pull.head_sha)


async def test_waiting_ends_when_the_verdict_comes(comment, github, pull):
    waiting = asyncio.create_task(comment("--wait", "--head", pull.head_sha[:10]))
    await github.until(lambda: github.asked("GET", "*/comments*"))
    github.comment(pull, github.app.bot, OURS % pull.head_sha)
    assert await waiting == (0, '{"id": "ours"}\n', "")


@pytest.mark.usefixtures("commented")
async def test_waiting_in_vain_is_exit_code_4(comment, pull):
    code, printed, warned = await comment("--wait", "--head", "f" * 40, "--timeout", "0.1")
    assert (code, printed, warned) == (
        4,
        "",
        f"whetstone comment: there is no verdict on fffffff after 0.1 s; the newest is on {pull.head_sha[:7]}\n",
    )


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--head", "main"), "--head must be a commit SHA of at least 7 digits, not 'main'"),
        (("--timeout", "0"), "must be a number above 0"),
        (("--marker", "--json"), "not allowed with argument"),
    ],
)
async def test_wrong_use_is_named_in_one_line(comment, options, what):
    code, printed, warned = await comment(*options)
    assert (code, printed, what in warned, len(warned.splitlines())) == (2, "", True, 1)


def test_it_starts_without_the_servers_libraries():
    code = "import sys, bot.cli.comment; print([name for name in sys.argv[1:] if name in sys.modules])"
    heavy = ("aiohttp", "sqlalchemy", "jsonschema", "mcp")
    run = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, check=True)  # noqa: S603
    assert run.stdout == b"[]\n"
