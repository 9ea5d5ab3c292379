"""Checks and statuses that speak as validators, and the check run that speaks for us."""

import pytest

from bot.fakegithub.checks import Annotation, CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.gates.rule_book import CONFIG_FILE

PAGE = "claims/first.md"
CONFIG = """\
version: 1
validators:
  checks:
    validate:
      tags: [date_errors]
      annotations:
        wiki link: broken_wiki_links
    lint: [house_style]
gates:
  house_style:
    gate: House style
    description: It is not written as we write here
    fix: Write it as the guide says.
    severity: blocking
    auto_fixable: false
"""
REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"


@pytest.fixture
async def mapped(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    async with harness.run_bot():
        yield harness


@pytest.fixture
async def checked(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG + "check:\n  enabled: true\n"})
    async with harness.run_bot():
        yield harness


def found(message="month 13 is out of range", line=1, title=None):
    return Annotation(PAGE, line, line, "failure", message, title)


def gates(repository):
    runs = [run for run in repository.check_runs.values() if run.name == "whetstone/gates"]
    return [(run.head_sha, run.conclusion) for run in runs]


async def test_a_failed_check_rejects_with_the_places_of_its_annotations(mapped, pull):
    output = CheckOutput("2 mistakes", "s", None, (found(), found("a wiki link leads nowhere", 3)))
    run = mapped.github.check(pull, "validate", "failure", output)
    await mapped.wait_until_idle()
    (body,) = mapped.comments(pull)
    assert mapped.markers(pull)[0]["issues"] == ["date_errors", "broken_wiki_links"]
    assert mapped.markers(pull)[0]["source"] == "validate"  # row 194
    assert f"/blob/{pull.head_sha}/{PAGE}#L1) `month 13 is out of range`" in body
    assert f"(Source: check `validate` @ {run.head_sha[:7]})" in body
    assert '"evidence": {"test_result": "month 13 is out of range"' in body  # row 42


async def test_a_check_that_passes_again_resolves(mapped, pull):
    mapped.github.check(pull, "validate", "failure", CheckOutput("x", "s"))
    await mapped.wait_until_idle()
    mapped.advance_clock()
    mapped.github.check(pull, "validate", "success")
    await mapped.wait_until_idle()
    assert mapped.markers(pull)[0]["verdict"] == "accept"


async def test_it_is_not_resolved_while_a_mapped_check_fails(mapped, pull):
    mapped.github.check(pull, "validate", "failure", CheckOutput("x", "s"))
    mapped.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await mapped.wait_until_idle()
    mapped.advance_clock()
    mapped.github.submit_review(pull, "alice", APPROVE)
    await mapped.wait_until_idle()
    assert mapped.markers(pull)[0]["issues"] == ["date_errors"]


async def test_a_check_on_a_pull_request_from_a_fork_is_found_by_its_head(mapped, knowledge):
    pull = mapped.github.open_pull_request(knowledge, "dora", PullRequestOptions(fork=True))
    await mapped.wait_until_idle()
    mapped.github.check(pull, "validate", "failure", CheckOutput("x", "s"))
    await mapped.wait_until_idle()
    assert mapped.markers(pull)[0]["issues"] == ["date_errors"]
    assert mapped.github.asked("GET", "*/pulls") == []  # it was told of before, so it is not looked for


async def test_what_ended_before_the_pull_request_was_opened_counts_too(mapped, knowledge):
    pushed = mapped.github.open_pull_request(knowledge, "dora", PullRequestOptions(files={PAGE: "# A\n"}))
    mapped.github.close(pushed)
    await mapped.wait_until_idle()
    mapped.advance_clock()
    mapped.github.check(pushed, "validate", "failure", CheckOutput("x", "s", None, (found(),)))
    mapped.github.set_status(knowledge, pushed.head_sha, "lint", "failure")
    await mapped.wait_until_idle()
    assert mapped.markers(pushed) == []
    mapped.advance_clock()
    mapped.github.reopen(pushed)
    await mapped.wait_until_idle()
    assert mapped.markers(pushed)[0]["blocking"] == ["date_errors", "house_style"]
    assert f"/{PAGE}#L1) `month 13 is out of range`" in mapped.comments(pushed)[0]


async def test_a_failed_status_rejects(mapped, pull, knowledge):
    mapped.github.set_status(knowledge, pull.head_sha, "lint", "failure")
    await mapped.wait_until_idle()
    assert mapped.markers(pull)[0]["blocking"] == ["house_style"]


async def test_a_check_that_no_config_maps_is_dropped_without_a_call(mapped, pull):
    await mapped.wait_until_idle()
    before = len(mapped.github.requests)
    mapped.github.check(pull, "build", "failure", CheckOutput("x", "s", None, (found(),)))
    await mapped.wait_until_idle()
    assert (mapped.github.requests[before:], mapped.comments(pull)) == ([], [])


async def test_the_same_check_delivered_again_changes_nothing(mapped, pull):
    mapped.github.check(pull, "validate", "failure", CheckOutput("x", "s"))
    await mapped.wait_until_idle()
    delivery = next(each for each in mapped.github.deliveries if each.payload.get("action") == "completed")
    again = mapped.github.redeliver(delivery)
    await mapped.wait_until_idle()
    assert (again.status_code, len(mapped.comments(pull))) == (200, 1)


async def test_every_head_of_an_open_pull_request_has_a_check_run_at_once(checked, knowledge, pull):
    checked.github.edit_pull_request(pull, title="Another title")  # opened before the bot was there
    await checked.wait_until_idle()
    first = pull.head_sha
    checked.advance_clock()
    second = checked.github.push(pull, {PAGE: "# Better\n"}).sha
    await checked.wait_until_idle()
    assert gates(knowledge) == [(first, "success"), (second, "success")]


async def test_the_check_run_is_updated_with_the_verdict_and_links_to_the_comment(checked, knowledge, pull):
    checked.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors -->")
    await checked.wait_until_idle()
    checked.advance_clock()
    checked.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors, scope_error -->")
    await checked.wait_until_idle()
    (run,) = [run for run in knowledge.check_runs.values() if run.name == "whetstone/gates"]
    page = checked.github.comments_of(pull)[-1]
    assert (run.conclusion, run.title) == ("failure", "Rejected — 2 blocking issues (author's turn)")
    assert run.summary.startswith("**Rejected** — 2 blocking issues\n\n**Next** (author): ")
    assert "\n\nIteration 1 of 5 at " in run.summary
    assert run.summary.endswith(f"#issuecomment-{page.id})")
    assert run.details_url.endswith(f"#issuecomment-{page.id}")
    checked.advance_clock()
    checked.github.submit_review(pull, "alice", APPROVE)
    await checked.wait_until_idle()
    assert run.conclusion == "success"


async def test_new_places_on_the_same_head_are_a_new_run_of_the_same_name(checked, knowledge, pull):
    checked.github.check(pull, "validate", "failure", CheckOutput("x", "s", None, (found(),)))
    await checked.wait_until_idle()
    checked.advance_clock()
    checked.github.check(pull, "validate", "failure", CheckOutput("x", "s", None, (found(), found("too", 2))))
    await checked.wait_until_idle()
    runs = [run for run in knowledge.check_runs.values() if run.name == "whetstone/gates"]
    assert [[each.start_line for each in run.annotations] for run in runs][-2:] == [[1], [1, 2]]


async def test_warnings_alone_are_neutral(checked, knowledge, pull):  # row 166
    checked.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: near_duplicate -->")
    await checked.wait_until_idle()
    assert gates(knowledge) == [(pull.head_sha, "neutral")]


async def test_our_own_run_never_counts_as_a_validators(harness, knowledge, pull):
    config = "version: 1\ncheck:\n  enabled: true\nvalidators:\n  checks:\n    /./: [date_errors]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        harness.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
        await harness.wait_until_idle()
        harness.advance_clock()
        harness.github.submit_review(pull, "alice", APPROVE)
        await harness.wait_until_idle()
        assert (harness.markers(pull)[0]["verdict"], gates(knowledge)[-1][1]) == ("accept", "success")


async def test_without_being_asked_for_there_is_no_check_run(journey, knowledge, pull):
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors -->")
    await journey.wait_until_idle()
    assert gates(knowledge) == []


async def test_switching_it_on_gives_every_open_head_a_run_also_of_pull_requests_never_seen(
    harness, knowledge
):
    never_seen, gone = (
        harness.github.open_pull_request(
            knowledge, "rio-agent[bot]", PullRequestOptions(files={name: "# A\n"})
        )
        for name in ("a.md", "b.md")
    )
    harness.github.close(gone)
    harness.github.submit_review(never_seen, "alice", REJECT, "<!-- ISSUES: date_errors -->")
    async with harness.run_bot():
        seen = harness.github.open_pull_request(knowledge, "dave", PullRequestOptions(fork=True))
        rejected = harness.github.open_pull_request(
            knowledge, "rio-agent[bot]", PullRequestOptions(files={"c.md": "# C\n"})
        )
        harness.github.submit_review(rejected, "alice", REJECT, "<!-- ISSUES: date_errors -->")
        await harness.wait_until_idle()
        assert gates(knowledge) == []
        harness.advance_clock()
        harness.github.commit_to_default_branch(
            knowledge, {CONFIG_FILE: "version: 1\ncheck:\n  enabled: true\n"}
        )
        await harness.wait_until_idle()
        expected = [(never_seen, "failure"), (seen, "success"), (rejected, "failure")]
        assert harness.comments(never_seen) == []  # of what was said in the past the thread is not told
        assert sorted(gates(knowledge)) == sorted((pull.head_sha, said) for pull, said in expected)
        writes = len(harness.github.asked("POST", "*/check-runs"))
        harness.advance_clock()
        harness.github.commit_to_default_branch(
            knowledge, {CONFIG_FILE: "version: 1\ncheck:\n  enabled: true\ncomment:\n  when: always\n"}
        )
        await harness.wait_until_idle()
        assert len(harness.github.asked("POST", "*/check-runs")) == writes


async def test_switching_it_on_for_all_of_an_owner_reaches_their_other_repositories(harness, knowledge):
    home = harness.github.repository("acme/.github")
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    harness.github.check(pull, "validate", "failure", CheckOutput("x", "s"))
    async with harness.run_bot():
        harness.github.commit_to_default_branch(home, {CONFIG_FILE: CONFIG + "check:\n  enabled: true\n"})
        await harness.wait_until_idle()
        assert gates(knowledge) == [(pull.head_sha, "failure")]


async def test_a_repository_that_lets_the_app_in_has_a_run_at_each_open_head(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG + "check:\n  enabled: true\n"})
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    async with harness.run_bot():
        harness.github.add_to_installation(knowledge)
        await harness.wait_until_idle()
        assert gates(knowledge) == [(pull.head_sha, "success")]
