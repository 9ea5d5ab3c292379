"""Claims of the author, and a config that is broken on the default branch."""

from __future__ import annotations

from bot.cli.doctor import suggest_config
from bot.fakegithub.pulls import PullRequestOptions
from bot.feedback.marker import parse_document
from bot.gates.rule_book import CONFIG_FILE, MISNAMED_CONFIG_FILE
from bot.store.pull_requests import load_newest_pull_requests

REJECT = "CHANGES_REQUESTED"
DATE = "<!-- ISSUES: date_errors -->"


def open_with(harness, repository, body):
    return harness.github.open_pull_request(repository, "rio-agent[bot]", PullRequestOptions(body=body))


async def test_a_claim_of_the_description_that_is_not_so_is_told(journey, knowledge):
    pull = open_with(journey, knowledge, "The file `src/ghost.py` contains the parser.")
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    (body,) = journey.comments(pull)
    assert "The description says" in body
    assert "src/ghost.py" in body.split("The description says")[1].splitlines()[0]
    (claim,) = parse_document(body)["author_claims"]
    assert claim["outcome"] == "contradicted"


async def test_claims_of_the_description_can_be_left_alone(harness, knowledge):
    config = "version: 1\ngrounding:\n  author: false\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        pull = open_with(harness, knowledge, "The file `src/ghost.py` contains the parser.")
        harness.github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()
        assert "The description says" not in harness.comments(pull)[0]


async def test_a_broken_config_is_told_in_the_next_comment(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: "version: 1\ncommentz: {}\n"})
    async with harness.run_bot():
        pull = open_with(harness, knowledge, "")
        harness.github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()
        (body,) = harness.comments(pull)
        assert "The config is broken, so its last valid version applies: `.github/whetstone.yml:2:1" in body


async def test_a_config_under_the_wrong_name_is_told(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {MISNAMED_CONFIG_FILE: "version: 1\n"})
    async with harness.run_bot():
        pull = open_with(harness, knowledge, "")
        harness.github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()
        told = "`.github/whetstone.yaml` is ignored: rename it to `.github/whetstone.yml`."
        assert told in harness.comments(pull)[0]


async def test_a_label_that_a_stranger_removes_is_told_to_count_still(journey, pull):
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await journey.wait_until_idle()
    journey.github.remove_label(pull, "gate:date_errors", by="rio-agent[bot]")
    await journey.wait_until_idle()
    told = "`rio-agent[bot]` removed the label `gate:date_errors`, but is not a validator here"
    assert told in journey.comments(pull)[0]


async def test_the_doctor_prints_the_config_for_the_reviewers_and_checks_it_saw(journey, knowledge):
    pull = open_with(journey, knowledge, "")
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    journey.github.submit_review(pull, "carol", REJECT, "The dates are wrong.")
    await journey.wait_until_idle()
    journey.github.check(pull, "ci / unit tests", "failure")
    await journey.wait_until_idle()
    records = await journey.bot.store.read(load_newest_pull_requests, ("acme", "knowledge"))
    (result,) = suggest_config(records)
    assert result.fix.splitlines()[1:] == [
        "validators:",
        "  users: [carol]",
        "  checks:",
        '    "ci / unit tests": [tests_failing]',
    ]
