"""The detector's rules and weights are loaded with the first plain words that a process sees."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.forks import ROOT

SCRIPT = """
import asyncio, sys, tempfile
from benchmarks._servers import APP, settings_of
from bot.app import run_instance
from bot.settings import load_settings
from tests.scripted_github import ScriptedGitHub

opened = []
sys.addaudithook(lambda event, arguments: event == "open" and opened.append(str(arguments[0])))

async def main(body):
    with tempfile.TemporaryDirectory() as folder:
        async with ScriptedGitHub(APP) as github:
            settings = load_settings(settings_of(github, f"sqlite:///{folder}/whetstone.db"))
            async with run_instance(settings) as instance:
                host, port = instance.address
                github.webhook_url = f"http://{host}:{port}/webhook"
                repository = github.repository("acme/knowledge", collaborators={"alice": "write"})
                pull = github.open_pull_request(repository, "rio-agent[bot]")
                github.submit_review(pull, "alice", "CHANGES_REQUESTED", body)
                await github.delivered()
                await instance.wait_until_idle()
                print(len(github.comments_of(pull)), any("detection-model" in path for path in opened))

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("body", "is_loaded"),
    [("<!-- ISSUES: date_errors -->", False), ("[date_errors] The build is broken.", True)],
)
def test_a_fresh_process_loads_the_detector_only_for_plain_words(body, is_loaded):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), body]
    result = subprocess.run(  # noqa: S603  our own code
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.stdout, result.stderr[-2000:]) == (f"1 {is_loaded}\n", "")
