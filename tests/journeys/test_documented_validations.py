"""Every example of `docs/validators.md` is handed in to the real server, and does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import aiohttp
import pytest
import yaml

from bot.gates.rule_book import CONFIG_FILE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "validators.md").read_text(encoding="utf-8")


def examples(info) -> list[str]:
    fences = re.findall(r"^```([^\n`]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for kind, text in fences if kind == info]


CONFIG = next(text for text in examples("yaml config") if "unmapped" in text)
EXPECTED = {
    "runs": [(None, "F401", "src/app.py", 1, False)],
    "diagnostics": [(None, "Passive", "docs/guide.md", 12, False)],
    "Too long": [(None, "Passive", "docs/guide.md", None, False), (None, None, None, None, False)],
    "testsuites": [("tests_missing", None, "tests/test_sums.py", 4, True)],
    "findings": [("tests_missing", None, "src/app.py", 4, True), (None, None, None, None, False)],
    "feedback_items": [("tests_missing", None, "src/app.py", 4, True)],
}
"""By a word that only this example has: tag, rule, path, line and whether it blocks, of each finding."""
REPORTS = [*examples("json report"), *examples("jsonl report"), *examples("xml report")]


@pytest.fixture
def store_url(sqlite_url):
    return sqlite_url


@pytest.mark.parametrize("word", EXPECTED)
async def test_an_example_is_applied_as_the_page_says(harness, knowledge, pull, word):
    (report,) = [text for text in REPORTS if f'"{word}"' in text or f"<{word} " in text]
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    headers = {"Authorization": f"Bearer {harness.github.user_token('alice')}"}
    async with harness.run_bot() as bot, aiohttp.ClientSession(headers=headers) as session:
        harness.advance_clock()
        harness.github.push(pull, {"src/app.py": "import os\n"})
        await harness.wait_until_idle()
        url = "http://{}:{}".format(*bot.address)
        path = f"/api/v1/repos/acme/knowledge/pulls/{pull.number}/validations"
        async with session.post(url + path, data=report.encode()) as response:
            assert response.status == 202, await response.text()
            accepted = await response.json()
        await harness.wait_until_idle()
        async with session.get(url + accepted["status_url"]) as response:
            status = await response.json()
    keys = ("tag", "rule", "path", "line", "blocking")
    assert status["status"] == "applied", status
    assert [tuple(finding[key] for key in keys) for finding in status["findings"]] == EXPECTED[word]


def test_every_example_is_tried():
    assert len(REPORTS) == len(EXPECTED)


def test_the_workflow_names_inputs_that_the_action_has():
    (workflow,) = map(yaml.safe_load, examples("yaml workflow"))
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["permissions"]["id-token"] == "write"
    given = job["steps"][-1]["with"]
    needed = {name for name, about in action["inputs"].items() if about.get("required")}
    assert needed <= set(given) <= set(action["inputs"])
    listed = PAGE.partition("Inputs: ")[2].partition("\n\n")[0]
    assert re.findall(r"`([a-z-]+)`", listed) == [*action["inputs"], *action["outputs"]]
