"""A repository's own rules, from its file on GitHub to what the bot does."""

import re
from pathlib import Path

import pytest

from bot.fakegithub.pulls import PullRequestOptions
from bot.gates.rule_book import CONFIG_FILE

VALIDATORS = Path(__file__).parents[2] / "docs" / "validators.md"
REJECT = "CHANGES_REQUESTED"
DATE = "<!-- ISSUES: date_errors -->"
OWN_GATE = """\
version: 1
gates:
  house_style:
    gate: House style
    description: It is not written as we write here
    fix: Write it as the guide says.
    severity: blocking
    auto_fixable: false
"""
BROKEN = "version: 1\ncomment:\n  enabled: perhaps\n  colour: red\n"


def blocking(harness, pull) -> list[list[str]]:
    return [marker["blocking"] for marker in harness.markers(pull)]


def configure(harness, repository, text, path=CONFIG_FILE):
    harness.github.commit_to_default_branch(repository, {path: text})


def runs(repository, name="whetstone/config"):
    return [run for run in repository.check_runs.values() if run.name == name]


async def rejected(harness, pull, tags="house_style", by="alice"):
    harness.advance_clock()
    harness.github.submit_review(pull, by, REJECT, f"<!-- ISSUES: {tags} -->")
    await harness.wait_until_idle()


async def test_the_config_of_the_default_branch_is_in_force(harness, knowledge, pull):  # row 153
    configure(harness, knowledge, OWN_GATE)
    async with harness.run_bot():
        await rejected(harness, pull)
        assert blocking(harness, pull) == [["house_style"]]


async def test_the_owners_config_holds_for_all_and_the_repositorys_lies_over_it(harness, knowledge, pull):
    home = harness.github.repository("acme/.github")
    configure(harness, home, OWN_GATE)
    configure(harness, knowledge, "version: 1\ngates:\n  house_style:\n    severity: warning\n")
    other = harness.github.repository("acme/other", collaborators={"alice": "write"})
    elsewhere = harness.github.open_pull_request(other, "rio-agent[bot]")
    async with harness.run_bot():
        await rejected(harness, pull)
        await rejected(harness, elsewhere)
        assert (blocking(harness, pull), blocking(harness, elsewhere)) == ([[]], [["house_style"]])


async def test_an_owners_file_outside_the_installation_counts_as_none(harness, pull):
    home = harness.github.repository("acme/.github", installed=False)
    configure(harness, home, OWN_GATE)
    async with harness.run_bot():
        await rejected(harness, pull)
        assert blocking(harness, pull) == [[]]


async def test_a_file_is_read_at_most_once_a_minute(harness, pull):
    async with harness.run_bot():
        await rejected(harness, pull)
        harness.github.push(pull, {"a.md": "# More\n"})
        await rejected(harness, pull, "date_errors")
        assert len(harness.github.asked("GET", f"*/knowledge/contents/{CONFIG_FILE}")) == 1
        assert len(harness.github.asked("GET", f"*/.github/contents/{CONFIG_FILE}")) == 1


async def test_a_broken_file_leaves_the_last_good_one_in_force_also_after_a_restart(harness, knowledge, pull):
    configure(harness, knowledge, OWN_GATE)
    async with harness.run_bot():
        await harness.wait_until_idle()
        await rejected(harness, pull, "date_errors")
    configure(harness, knowledge, BROKEN)
    async with harness.run_bot():
        await rejected(harness, pull)
        assert blocking(harness, pull) == [["date_errors", "house_style"]]


async def test_a_broken_file_is_told_of_once_on_the_default_branch(harness, knowledge, pull):
    configure(harness, knowledge, BROKEN)
    for _ in range(2):
        async with harness.run_bot():
            await rejected(harness, pull, "date_errors")
            await harness.wait_until_idle()
    (run,) = runs(knowledge)
    assert run.head_sha == knowledge.branches["main"]
    assert (run.conclusion, run.title) == ("failure", "The config has 2 errors")
    assert "The last valid version stays in force" in run.summary
    configure(harness, knowledge, BROKEN + "weekly: 3\n")
    async with harness.run_bot():
        await rejected(harness, pull, "date_errors")
        await harness.wait_until_idle()
    assert len(runs(knowledge)) == 2


async def test_a_broken_file_before_any_good_one_leaves_the_defaults(harness, knowledge, pull):
    configure(harness, knowledge, BROKEN)
    async with harness.run_bot():
        await rejected(harness, pull, "date_errors")
        assert blocking(harness, pull) == [["date_errors"]]


async def test_a_pull_request_that_breaks_the_config_gets_a_check_with_the_exact_places(journey, knowledge):
    pull = journey.github.open_pull_request(
        knowledge, "alice", PullRequestOptions(files={CONFIG_FILE: BROKEN})
    )
    await journey.wait_until_idle()
    (run,) = runs(knowledge)
    assert (run.head_sha, run.conclusion) == (pull.head_sha, "failure")
    assert [(each.path, each.start_line, each.start_column) for each in run.annotations] == [
        (CONFIG_FILE, 3, 12),
        (CONFIG_FILE, 4, 3),
    ]
    assert run.annotations[0].message == 'comment.enabled is "perhaps"; use true or false'
    journey.advance_clock()
    journey.github.push(pull, {"a.md": "# Something else\n"})
    await journey.wait_until_idle()
    assert [(each.head_sha, each.conclusion) for each in runs(knowledge)][1:] == [(pull.head_sha, "failure")]


@pytest.mark.parametrize("fork", [False, True])
async def test_a_push_that_mends_the_proposal_gets_a_check_of_its_own(journey, knowledge, fork):
    pull = journey.github.open_pull_request(
        knowledge, "dora", PullRequestOptions(files={CONFIG_FILE: BROKEN}, fork=fork)
    )
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.push(pull, {CONFIG_FILE: OWN_GATE})
    await journey.wait_until_idle()
    assert [(run.head_sha == pull.head_sha, run.conclusion) for run in runs(knowledge)] == [
        (False, "failure"),
        (True, "success"),
    ]


async def test_a_proposed_config_is_never_applied(journey, knowledge):
    pull = journey.github.open_pull_request(
        knowledge, "rio-agent[bot]", PullRequestOptions(files={CONFIG_FILE: OWN_GATE})
    )
    await rejected(journey, pull)
    assert blocking(journey, pull) == [[]]
    assert [run.conclusion for run in runs(knowledge)] == ["success"]


async def test_a_pull_request_that_leaves_the_config_alone_gets_no_check(harness, knowledge):
    configure(harness, knowledge, OWN_GATE)
    async with harness.run_bot():
        old = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        configure(harness, knowledge, OWN_GATE + "comment:\n  when: always\n")
        await harness.wait_until_idle()
        harness.github.push(old, {"a.md": "# More\n"})
        await harness.wait_until_idle()
        assert runs(knowledge) == []


def documented() -> str:
    """The config of the documents that has a cue of its own."""
    examples = re.findall(r"(?ms)^```yaml config\n(.*?)^```$", VALIDATORS.read_text("utf-8"))
    return next(each for each in examples if "cues:" in each)


@pytest.mark.parametrize(
    ("config", "words", "kind"),
    [
        (documented(), "The importer goes kaputt.", "runtime_error"),
        (
            documented().replace("threshold: 0.5", "enabled: true"),
            "The importer goes kaputt.",
            "runtime_error",
        ),
        (
            documented().replace("threshold: 0.5", "threshold: 0.7"),
            "The importer goes kaputt.",
            "user_rejection",
        ),
        (
            documented().replace("threshold: 0.5", "threshold: 0.7"),
            "The importer goes kaputt, it crashes on start.",
            "runtime_error",
        ),
    ],
    ids=["threshold 0.5", "one cue beside a refusal", "one cue and a higher threshold", "a second cue"],
)
async def test_an_own_cue_shows_with_the_documented_threshold_a_refusal_or_a_second_cue(
    harness, pull, config, words, kind
):
    configure(harness, pull.repository, config)
    async with harness.run_bot():
        harness.github.submit_review(pull, "alice", REJECT, f"{words}\n{DATE}")
        await harness.wait_until_idle()
        (body,) = harness.comments(pull)
    explained = " ".join(VALIDATORS.read_text("utf-8").split())
    assert (f'"feedback_type": "{kind}"' in body, words in explained) == (True, True)
