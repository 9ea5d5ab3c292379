"""How soon a server answers its health check under JSON bombs, and stops in the middle of a hanging write."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks._servers import APP, DATE_ERROR, serving, whetstone
from bot.fakegithub.pulls import PullRequest
from tests.journeys.json_bombs import BOMBS_AT_ONCE, JSON_BOMBS, HealthProbe, peak_memory, throw_bombs
from tests.scripted_github import ScriptedGitHub


def main() -> None:
    """Print a line for each bomb, and one for the stop; SQLite, because neither comes to the store."""
    print(f"{f'{BOMBS_AT_ONCE} bombs at once':34}{'/healthz, slowest ms':>22}{'answers':>9}{'peak MB':>9}")
    for name in JSON_BOMBS:
        slowest, answers, memory = asyncio.run(bombed(name))
        print(f"{name:34}{slowest * 1000:>22.0f}{answers:>9}{memory:>9}", flush=True)
    print(f"\nfrom SIGTERM in a hanging write to the exit: {asyncio.run(stopped()):.1f} s")


async def bombed(name: str) -> tuple[float, int, int]:
    """The slowest health check in seconds, how many were answered, and the peak memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            ScriptedGitHub(APP) as github,
            serving(github, whetstone(), f"sqlite:///{folder}/b.db") as server,
        ):
            pull = await rejected_pull_request(github)
            api = server.url.replace(
                "/webhook", f"/api/v1/repos/acme/knowledge/pulls/{pull.number}/validations"
            )
            health = HealthProbe(urlsplit(server.url).port)
            with health.running():
                await throw_bombs(name, api, github.user_token("alice"))
            return max(health.seconds), len(health.seconds), peak_memory(server.process.pid)


async def stopped() -> float:
    """Seconds from SIGTERM to the exit, while GitHub does not answer a write."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            ScriptedGitHub(APP) as github,
            serving(github, whetstone(), f"sqlite:///{folder}/b.db") as server,
        ):
            fault = github.hang("POST", "/repos/acme/knowledge/issues/*/comments", times=1)
            review_pull_request(github)
            await github.until(lambda: fault.met)
            start = time.perf_counter()
            server.process.terminate()
            await server.process.wait()
            return time.perf_counter() - start


async def rejected_pull_request(github: ScriptedGitHub) -> PullRequest:
    """A pull request that has its comment: the server knows the repository."""
    pull = review_pull_request(github)
    await github.until(lambda: github.comments_of(pull))
    return pull


def review_pull_request(github: ScriptedGitHub) -> PullRequest:
    repository = github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = github.open_pull_request(repository, "rio-agent[bot]")
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE_ERROR)
    return pull
