"""What becomes of every finding, from the webhook to the ledger, over real HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.app import run_instance
from bot.fakegithub.checks import CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.findings.ledger import build_ledger
from bot.gates.rule_book import CONFIG_FILE
from bot.inbox.internal_deliveries import revisit_delivery
from bot.inbox.parse import parse_delivery
from bot.inbox.processor import LaneProcessor
from bot.inbox.retry import RetryLater
from bot.store.lanes import lane_due_at
from tests.journeys.finding_stories import (
    APPROVE,
    CART,
    COMMENT,
    DATE,
    REJECT,
    SCOPE,
    asked,
    first_comment,
    recorded,
    review,
    settle,
    statuses,
    text,
)
from tests.journeys.harness import ON_ONE_STORE

pytestmark = ON_ONE_STORE


@pytest.fixture
def pull(harness, knowledge):
    """A pull request by an agent that adds a file of thirty lines."""
    return harness.github.open_pull_request(
        knowledge, "rio-agent[bot]", PullRequestOptions(files={CART: text()})
    )


@pytest.fixture
def people_pull(harness, knowledge):
    """The same by a person."""
    return harness.github.open_pull_request(knowledge, "dave", PullRequestOptions(files={CART: text()}))


async def test_a_second_review_of_the_same_head_keeps_the_blockers_of_the_first(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, pull, REJECT, SCOPE)
    assert await statuses(journey, pull) == {"date_errors": "new", "scope_error": "new"}
    assert journey.markers(pull)[0]["issues"] == ["date_errors", "scope_error"]


async def test_an_approval_without_a_push_withdraws_and_fixes_nothing(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, pull, APPROVE)
    assert await statuses(journey, pull) == {"date_errors": "withdrawn"}
    assert "1 withdrawn" in journey.comments(pull)[-1]
    assert "fixed" not in journey.comments(pull)[-1]


async def test_an_approval_of_a_later_head_fixes(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    journey.github.push(pull, {CART: text(line5="better = 5")})
    await settle(journey)
    review(journey, pull, APPROVE)
    assert await statuses(journey, pull) == {"date_errors": "fixed"}


async def test_an_issue_that_comes_back_has_regressed(journey, pull):
    for body in (DATE, SCOPE, DATE):
        review(journey, pull, REJECT, body)
        await settle(journey)
        journey.github.push(pull, {CART: text(line5=f"again = {len(body)}", line6=body)})
        await settle(journey)
    assert (await statuses(journey, pull))["scope_error"] == "fixed"
    ledger = build_ledger(await recorded(journey, pull))
    steps = [change.status.value for change in ledger.findings[0].changes]
    assert steps == ["new", "fixed", "regressed"]


async def test_every_untagged_remark_of_a_rejection_is_a_finding(journey, pull):
    body = "Thanks for this!\n\n- total() is called twice for every item\n- the cache is never emptied"
    review(journey, pull, REJECT, body, (5, "this hides the KeyError"), (9, "nit: tmp2 says nothing"))
    assert await statuses(journey, pull) == {
        "total() is called twice for every item": "new",
        "the cache is never emptied": "new",
        "this hides the KeyError": "new",
        "tmp2 says nothing": "new",
    }
    marker = journey.markers(pull)[0]
    assert (marker["issues"], marker["verdict"]) == ([], "refine")


@pytest.mark.parametrize(("line", "status"), [("line5", "changed"), ("line25", "new")])
async def test_a_push_changes_only_the_findings_whose_lines_it_touches(journey, pull, line, status):
    review(journey, pull, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    journey.github.push(pull, {CART: text(**{line: "other = 0"})})
    assert await statuses(journey, pull) == {"this hides the KeyError": status}


async def test_a_force_push_back_brings_the_finding_and_the_iterations_back_as_they_were(journey, pull):
    review(journey, pull, REJECT, DATE, (5, "this hides the KeyError"))
    await settle(journey)
    first = pull.head_sha
    journey.github.push(pull, {CART: text(line5="other = 0")})
    await settle(journey)
    review(journey, pull, REJECT, SCOPE)
    before = await recorded(journey, pull)
    journey.github.force_push(pull, first)
    after = await recorded(journey, pull)
    assert after.scores == before.scores != ()
    assert journey.markers(pull)[-1]["iteration"] == 1
    review(journey, pull, REJECT, DATE)
    found = await statuses(journey, pull)
    assert (found["date_errors"], found["scope_error"]) == ("regressed", "fixed")
    assert (await recorded(journey, pull)).scores == before.scores


async def test_a_dismissal_survives_a_push_and_the_way_back(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    first = pull.head_sha
    journey.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: dates are right")
    await settle(journey)
    journey.github.push(pull, {CART: text(line5="other = 0")})
    await settle(journey)
    journey.github.force_push(pull, first)
    assert await statuses(journey, pull) == {"date_errors": "dismissed"}
    assert journey.markers(pull)[-1]["source"] == "alice"


@pytest.mark.parametrize(
    ("by", "pushed", "status"),
    [
        ("alice", True, "fixed"),
        ("alice", False, "withdrawn"),
        ("bob", True, "fixed"),
        ("carol", True, "new"),
        ("rio-agent[bot]", False, "changed"),
    ],
)
async def test_a_resolved_thread_counts_by_who_resolved_it(journey, pull, by, pushed, status):
    submitted = review(journey, pull, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    if pushed:
        journey.github.push(pull, {CART: text(line25="other = 0")})
        await settle(journey)
    journey.github.resolve_thread(first_comment(submitted), by=by)
    assert await statuses(journey, pull) == {"this hides the KeyError": status}


async def test_a_reopened_thread_is_open_again(journey, pull):
    submitted = review(journey, pull, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    comment = first_comment(submitted)
    journey.github.resolve_thread(comment, by="alice")
    assert await statuses(journey, pull) == {"this hides the KeyError": "withdrawn"}
    journey.github.resolve_thread(comment, by="alice", resolved=False)
    assert await statuses(journey, pull) == {"this hides the KeyError": "new"}


async def test_what_is_edited_out_or_deleted_is_withdrawn_and_what_is_added_is_new(journey, pull):
    submitted = review(journey, pull, REJECT, DATE, (5, "this hides the KeyError"))
    await settle(journey)
    journey.github.edit_review(submitted, SCOPE)
    journey.github.delete_review_comment(first_comment(submitted))
    assert await statuses(journey, pull) == {
        "date_errors": "withdrawn",
        "this hides the KeyError": "withdrawn",
        "scope_error": "new",
    }


async def test_a_remark_that_is_edited_stays_the_same_finding(journey, pull):
    submitted = review(journey, pull, REJECT, "- the cache is never emptied", (5, "this hides the KeyError"))
    await settle(journey)
    journey.github.edit_review(submitted, "- The cache is *never* emptied!")
    journey.github.edit_review_comment(first_comment(submitted), "[date_errors] this hides the KeyError")
    await settle(journey)
    listed = await asked(journey, pull, "findings")
    assert [(each["id"], each["status"], each["tag"]) for each in listed["findings"]] == [
        ("f1", "new", None),
        ("f2", "new", "date_errors"),
    ]
    assert journey.markers(pull)[0]["issues"] == ["date_errors"]
    assert journey.markers(pull)[0]["open"] == {"blocking": 2, "warnings": 0}


async def test_a_review_dismissed_on_github_withdraws_its_own_findings_alone(journey, pull):
    submitted = review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, pull, REJECT, SCOPE, by="bob")
    await settle(journey)
    journey.github.dismiss_review(submitted, by="bob")
    assert await statuses(journey, pull) == {"date_errors": "withdrawn", "scope_error": "new"}


async def test_an_approval_with_remarks_makes_no_findings(journey, pull):
    review(journey, pull, APPROVE, "Looks good, just rename tmp2.", (9, "tmp2 says nothing"))
    assert await statuses(journey, pull) == {}
    assert journey.comments(pull) == []


async def test_a_comment_adds_its_tags_while_its_authors_rejection_stands(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, pull, COMMENT, "and one more", (9, "[scope_error] too wide"), (12, "hm, interesting"))
    assert await statuses(journey, pull) == {"date_errors": "new", "scope_error": "new"}


async def test_an_app_that_is_named_rejects_only_while_one_of_its_findings_blocks(harness, knowledge, pull):
    config = "version: 1\nvalidators:\n  apps:\n    coderabbitai: {blocking: high}\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        review(
            harness, pull, COMMENT, "", (5, "_🧹 Nitpick_\n\nPrefer a comprehension."), by="coderabbitai[bot]"
        )
        assert list((await statuses(harness, pull)).values()) == ["new"]
        assert harness.comments(pull) == []
        severe = "_⚠️ Potential issue_ | _🔴 Critical_\n\n**The total is read before it is set.**"
        review(harness, pull, COMMENT, "", (9, severe), by="coderabbitai[bot]")
        await settle(harness)
        assert harness.markers(pull)[0]["open"] == {"blocking": 1, "warnings": 1}


async def test_only_a_validator_lifts_a_label(journey, pull):
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await settle(journey)
    journey.github.remove_label(pull, "gate:date_errors", by="rio-agent[bot]")
    assert await statuses(journey, pull) == {"date_errors": "new"}
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await settle(journey)
    journey.github.remove_label(pull, "gate:date_errors", by="bob")
    assert await statuses(journey, pull) == {"date_errors": "withdrawn"}


async def test_a_label_that_its_author_puts_back_stays_a_validators_to_remove(journey, pull):
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await settle(journey)
    journey.github.remove_label(pull, "gate:date_errors", by="rio-agent[bot]")
    await settle(journey)
    journey.github.add_label(pull, "gate:date_errors", by="rio-agent[bot]")
    assert await statuses(journey, pull) == {"date_errors": "new"}
    assert "removed the label" not in journey.comments(pull)[0]
    journey.github.remove_label(pull, "gate:date_errors", by="bob")
    assert await statuses(journey, pull) == {"date_errors": "withdrawn"}
    assert journey.markers(pull)[0]["verdict"] == "accept"


async def test_whose_turn_it_is_follows_what_everybody_did(journey, pull):
    submitted = review(journey, pull, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "author"
    journey.github.reply(first_comment(submitted), "rio-agent[bot]", "It is handled above.")
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "reviewer"
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "author"
    journey.github.request_review(pull, "alice", by="rio-agent[bot]")
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "reviewer"
    review(journey, pull, APPROVE)
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "maintainer"
    journey.github.merge(pull, by="bob")
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "nobody"
    assert "**Next**" not in journey.comments(pull)[-1]


async def test_a_draft_is_its_authors_turn(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    journey.github.request_review(pull, "alice", by="rio-agent[bot]")
    journey.github.set_draft(pull, draft=True)
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "author"


async def test_a_running_check_is_pending_and_waited_for(harness, knowledge, pull):
    config = "version: 1\nextends: [code-review]\nvalidators:\n  checks:\n    ci / test: [tests_failing]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        harness.github.check(pull, "ci / test", "failure")
        await settle(harness)
        assert (harness.markers(pull)[0]["turn"], harness.markers(pull)[0]["pending"]) == ("author", [])
        harness.github.push(pull, {CART: text(line5="other = 0")})
        await settle(harness)
        assert (harness.markers(pull)[0]["turn"], harness.markers(pull)[0]["pending"]) == (
            "checks",
            ["ci / test"],
        )
        run = harness.github.start_check_run(pull.repository, pull.head_sha, "ci / test")
        await settle(harness)
        assert harness.markers(pull)[0]["pending"] == ["ci / test"]
        harness.github.complete_check_run(run, "success")
        await settle(harness)
        assert (harness.markers(pull)[0]["turn"], harness.markers(pull)[0]["pending"]) == ("maintainer", [])
    assert await _stored_statuses(harness, pull) == {"tests_failing": "fixed"}


async def test_a_check_that_fails_is_the_authors_turn_also_where_it_only_warns(harness, knowledge, pull):
    config = "version: 1\nvalidators:\n  checks:\n    lint: [near_duplicate]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        harness.github.check(pull, "lint", "failure")
        submitted = review(harness, pull, REJECT, "", (5, "this hides the KeyError"))
        await settle(harness)
        harness.github.reply(first_comment(submitted), "rio-agent[bot]", "It is handled above.")
        await settle(harness)
        assert harness.markers(pull)[-1]["open"] == {"blocking": 1, "warnings": 1}
        assert harness.markers(pull)[-1]["turn"] == "author"
        assert "**Next** (author): make `lint` pass and push once." in harness.comments(pull)[-1]
        harness.github.push(pull, {CART: text(line25="other = 0")})
        harness.github.check(pull, "lint", "success")
        await settle(harness)
        assert harness.markers(pull)[-1]["turn"] == "reviewer"


async def test_checks_of_two_apps_with_one_name_are_told_apart_everywhere(harness, knowledge, pull):
    config = "version: 1\nextends: [code-review]\ncheck: {when: always}\nvalidators:\n  checks:\n    test: [tests_failing]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        first = pull.head_sha
        harness.github.check(pull, "test", "failure", app="jenkins")
        running = harness.github.start_check_run(pull.repository, first, "test", app="buildkite")
        await settle(harness)
        assert (harness.markers(pull)[0]["turn"], harness.markers(pull)[0]["pending"]) == ("author", ["test"])
        harness.github.complete_check_run(running, "failure")
        await settle(harness)
        assert harness.markers(pull)[0]["pending"] == []
        harness.github.push(pull, {CART: text(line5="other = 0")})
        harness.github.check(pull, "test", "success", app="buildkite")
        await settle(harness)
        # What another App reports under the same name says nothing about the one that failed.
        assert (harness.markers(pull)[0]["turn"], harness.markers(pull)[0]["pending"]) == ("checks", ["test"])
        shown = harness.comments(pull)[0]
        assert (
            "reviewed by `test` of `buildkite`. The earlier rejection by `test` of `jenkins` still" in shown
        )
        assert f"(Source: check `test` of `jenkins` @ {first[:7]})" in shown
        assert f'"source": "check run test @ {first[:7]}"' in shown
        assert "| correctness 0.00, 0 of 2 checks passed |" in shown
        assert "| correctness 0.60, 1 of 1 check passed |" in shown
        assert own_check(pull) == ("failure", "Rejected — 1 blocking issue (waiting for checks)")
        listed = await asked(harness, pull, "findings")
        assert [finding["status"] for finding in listed["findings"]] == ["changed", "fixed"]
        assert (listed["turn"], listed["pending"]) == ("checks", ["test"])
        progress = (await asked(harness, pull, "feedback"))["iteration_history"]
        assert [iteration["quality_score"] for iteration in progress] == [0.45, 0.69]
        harness.github.check(pull, "test", "success", app="jenkins")
        await settle(harness)
        assert (harness.markers(pull)[0]["turn"], harness.markers(pull)[0]["pending"]) == ("maintainer", [])
        assert own_check(pull) == ("success", "Nothing rejects this pull request")


def own_check(pull) -> tuple[str, str]:
    """Conclusion and title of the bot's newest check run."""
    runs = [run for run in pull.repository.check_runs.values() if run.name == "whetstone/gates"]
    return runs[-1].conclusion, runs[-1].title


async def _stored_statuses(harness, pull):
    async with harness.run_bot():
        return await statuses(harness, pull)


async def test_a_push_alone_changes_neither_head_nor_id_of_the_marker_but_is_told(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    before = journey.markers(pull)[0]
    journey.github.push(pull, {CART: text(line5="other = 0")})
    await settle(journey)
    after = journey.markers(pull)[0]
    assert (after["head"], after["id"], after["iteration"]) == (before["head"], before["id"], 1)
    assert f"`{pull.head_sha[:7]}`" in journey.comments(pull)[0]
    assert len(journey.comments(pull)) == 1


async def test_a_persons_plain_review_gets_a_comment_only_where_that_adds_something(
    journey, knowledge, people_pull
):
    review(journey, people_pull, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    assert len(journey.comments(people_pull)) == 1, "the repository's first rejection is answered"
    other = journey.github.open_pull_request(knowledge, "dave", PullRequestOptions(files={CART: text()}))
    review(journey, other, REJECT, "", (5, "this hides the KeyError"))
    assert list((await statuses(journey, other)).values()) == ["new"]
    assert journey.comments(other) == []
    journey.github.comment(other, "dave", "/feedback")
    await settle(journey)
    assert len(journey.comments(other)) == 1


async def test_a_second_source_makes_a_comment_useful(journey, people_pull, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, people_pull, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    assert journey.comments(people_pull) == []
    review(journey, people_pull, REJECT, "", (9, "tmp2 must go"), by="bob")
    await settle(journey)
    assert journey.markers(people_pull)[0]["open"]["blocking"] == 2


async def test_an_agent_is_told_of_a_new_blocking_issue_once_a_head(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, pull, REJECT, SCOPE)
    await settle(journey)
    assert len(journey.comments(pull)) == 1, "everything about one head is edited in place"
    journey.github.push(pull, {CART: text(line5="other = 0")})
    review(journey, pull, REJECT, "<!-- ISSUES: date_errors, title_overclaims -->")
    await settle(journey)
    old, _ = journey.comments(pull)
    assert old.startswith("Superseded by")
    review(journey, pull, REJECT, "<!-- ISSUES: near_duplicate -->", by="bob")
    await settle(journey)
    assert len(journey.comments(pull)) == 2


async def test_the_same_untagged_finding_left_alone_three_times_asks_for_a_person(journey, pull):
    review(journey, pull, REJECT, "", (5, "this hides the KeyError"))
    for number in (1, 2):
        await settle(journey)
        journey.github.push(pull, {CART: text(line25=f"other = {number}")})
        review(journey, pull, REJECT, "", (10 + number, f"and here is another thing, number {number}"))
    await settle(journey)
    assert journey.markers(pull)[-1]["verdict"] == "escalate"
    assert journey.markers(pull)[-1]["turn"] == "maintainer"


async def test_links_lead_to_the_lines_of_the_reviewed_head_after_a_push(harness, knowledge, pull):
    config = "version: 1\ngrounding: {enabled: false}\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        review(harness, pull, REJECT, "", (9, "[date_errors] month 13"))
        await settle(harness)
        reviewed = pull.head_sha
        harness.github.push(pull, {CART: f"zero = 0\n{text()}"})
        await settle(harness)
        shown = harness.comments(pull)[0]
        assert (
            f"[`{CART}:9`](https://github.com/acme/knowledge/blob/{reviewed}/{CART}#L9) `month 13`" in shown
        )
        assert f'"path": "{CART}", "line": 9' in shown
        (finding,) = (await asked(harness, pull, "findings"))["findings"]
        assert finding["location"]["line"] == 10, "where it is now"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param("- nitpick: the cache is never emptied after a run", id="warned"),
        pytest.param("- the names are too long in every file", id="left out"),
    ],
)
async def test_a_finding_that_did_not_block_or_was_left_out_in_between_is_not_yet_the_third(
    journey, pull, second
):
    cache = "- the cache is never emptied after a run"
    for number, body in enumerate((cache, f"{second}\n- iteration two has another error", cache, cache)):
        if number == 3:
            assert journey.markers(pull)[-1]["verdict"] == "refine"
        await settle(journey)
        journey.github.push(pull, {CART: text(line25=f"other = {number}")})
        await settle(journey)
        review(journey, pull, REJECT, body)
        await settle(journey)
    assert journey.markers(pull)[-1]["verdict"] == "escalate"


async def test_an_app_that_usually_reports_is_waited_for_and_given_up_on_after_a_quarter_of_an_hour(
    harness, knowledge, pull
):
    config = "version: 1\nvalidators:\n  apps: [coderabbitai]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot() as bot:
        review(harness, pull, COMMENT, "", (9, "Consider a set here."), by="coderabbitai[bot]")
        review(harness, pull, REJECT, DATE)
        await settle(harness)
        assert harness.markers(pull)[0]["pending"] == []
        harness.github.push(pull, {CART: text(line5="other = 0")})
        await settle(harness)
        assert harness.markers(pull)[0]["pending"] == ["coderabbitai[bot]"]
        lane = f"revisit:{pull.repository.id}:{pull.number}"
        waiting = await bot.store.read(lane_due_at, lane)
        assert 14 * 60 < (waiting - harness.clock()).total_seconds() < 16 * 60
        record = await recorded(harness, pull)
    harness.advance_clock(16 * 60)
    async with run_instance(harness.settings, clock=harness.clock) as instance:
        harness.bot = instance
        due = parse_delivery(revisit_delivery(record, harness.clock(), harness.clock()))
        await LaneProcessor(instance.store, None, None, None, harness.clock)._revisit("revisit", (due,))
        await harness.wait_until_idle()
        assert harness.markers(pull)[0]["pending"] == []


async def test_it_is_too_early_to_give_up_on_an_app(harness, pull):
    async with harness.run_bot() as bot:
        review(harness, pull, REJECT, DATE)
        record = await recorded(harness, pull)
        due = parse_delivery(
            revisit_delivery(record, harness.clock() + timedelta(minutes=9), harness.clock())
        )
        with pytest.raises(RetryLater) as early:
            await LaneProcessor(bot.store, None, None, None, harness.clock)._revisit("revisit", (due,))
        assert 8 * 60 < early.value.seconds < 10 * 60


CHECKED = "version: 1\nextends: [code-review]\nvalidators:\n  checks:\n    ci / test: [tests_failing]\n"


@pytest.fixture
async def checked(harness, knowledge):
    """The bot where the config maps a check."""
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CHECKED})
    async with harness.run_bot():
        yield harness


def failing(name: str) -> CheckOutput:
    """What pytest prints about a failing test."""
    text = f"E       assert 90 == 100\ntests/test_cart.py:41: AssertionError\nFAILED tests/test_cart.py::{name} - assert 90 == 100\n"
    return CheckOutput("1 failed", text)


async def run_check(journey, pull, conclusion, output=None, **how):
    run = journey.github.check(pull, "ci / test", conclusion, output, **how)
    await settle(journey)
    return run


def event_reads(journey) -> int:
    return len(journey.github.asked("GET", "*/actions/runs"))


async def test_a_newer_suite_of_the_same_event_replaces_an_older_one(checked, pull):
    pushed = checked.github.start_workflow(pull, event="push")
    opened, labelled = (checked.github.start_workflow(pull) for _ in range(2))
    await run_check(checked, pull, "failure", failing("test_total"), workflow=opened)
    assert event_reads(checked) == 0, "one suite leaves nothing to decide"
    await run_check(checked, pull, "success", workflow=labelled)
    assert list((await statuses(checked, pull)).values()) == ["withdrawn"]
    assert checked.markers(pull)[0]["verdict"] == "accept"
    assert event_reads(checked) == 2
    await run_check(checked, pull, "failure", failing("test_total"), workflow=pushed)
    assert checked.markers(pull)[0]["issues"] == ["tests_failing"], "another event counts beside it"
    assert event_reads(checked) == 3
    await run_check(checked, pull, "success", workflow=labelled)
    assert checked.markers(pull)[0]["issues"] == ["tests_failing"]
    assert event_reads(checked) == 3, "what was read is not read again"
    await run_check(checked, pull, "success", workflow=pushed)
    assert checked.markers(pull)[0]["verdict"] == "accept"


async def test_suites_whose_event_cannot_be_read_count_side_by_side(checked, pull):
    installed = checked.github.installation_of(pull.repository)
    installed.permissions = {
        name: level for name, level in installed.permissions.items() if name != "actions"
    }
    first, second = (checked.github.start_workflow(pull) for _ in range(2))
    await run_check(checked, pull, "failure", failing("test_total"), workflow=first)
    await run_check(checked, pull, "success", workflow=second)
    await run_check(checked, pull, "success", workflow=second)
    assert list((await statuses(checked, pull)).values()) == ["new"]
    await run_check(checked, pull, "success", workflow=first)
    assert list((await statuses(checked, pull)).values()) == ["withdrawn"]


async def test_apps_and_statuses_with_a_check_of_one_name_each_count(checked, knowledge, pull):
    await run_check(checked, pull, "failure", failing("test_total"))
    await run_check(checked, pull, "success", app="other-ci")
    checked.github.set_status(knowledge, pull.head_sha, "ci / test", "success")
    assert list((await statuses(checked, pull)).values()) == ["new"], "no status lifts a check run"
    assert checked.markers(pull)[0]["issues"] == ["tests_failing"]
    checked.github.set_status(knowledge, pull.head_sha, "ci / test", "failure", by="legacy[bot]")
    await settle(checked)
    await run_check(checked, pull, "success")
    assert checked.markers(pull)[0]["issues"] == ["tests_failing"], "and no check run lifts a status"
    checked.github.set_status(knowledge, pull.head_sha, "ci / test", "success", by="legacy[bot]")
    await settle(checked)
    assert checked.markers(pull)[0]["verdict"] == "accept"


async def test_a_dismissed_failure_stays_dismissed_on_a_rerun_unless_another_test_fails(checked, pull):
    await run_check(checked, pull, "failure", failing("test_total"))
    checked.github.comment(pull, "bob", "/feedback-dismiss tests_failing reason: it is flaky")
    await settle(checked)
    assert checked.markers(pull)[0]["verdict"] == "accept"
    await run_check(checked, pull, "failure", failing("test_total"))
    assert list((await statuses(checked, pull)).values()) == ["dismissed"]
    assert checked.markers(pull)[0]["verdict"] == "accept"
    await run_check(checked, pull, "failure", failing("test_discount"))
    ledger = build_ledger(await recorded(checked, pull))
    assert [finding.status.value for finding in ledger.findings] == ["dismissed", "new"]
    body = checked.comments(pull)[0]
    assert (
        "  - Fix: Make `tests/test_cart.py::test_discount` pass: `assert 90 == 100`. `tests_failing`\n"
        in body
    )
    assert checked.markers(pull)[-1]["turn"] == "author"
    checked.github.push(pull, {CART: text(line5="other = 0")})
    await settle(checked)
    await run_check(checked, pull, "failure", failing("test_total"))
    ledger = build_ledger(await recorded(checked, pull))
    assert [finding.status.value for finding in ledger.findings] == ["open", "fixed"]


async def test_beyond_the_limit_the_findings_closed_longest_ago_go_first(journey, pull):
    for number in range(3):
        remarks = "\n".join(f"- remark {number} about part {part} of the cart" for part in range(200))
        review(journey, pull, REJECT, remarks)
        await settle(journey)
        if number < 2:
            journey.github.push(pull, {CART: text(line5=f"other = {number}")})
            review(journey, pull, APPROVE)
            await settle(journey)
    ledger = build_ledger(await recorded(journey, pull))
    assert (len(ledger.findings), len(ledger.open), ledger.omitted) == (500, 200, 100)
    assert {finding.item.words.split()[1] for finding in ledger.open} == {"2"}
    counted = {"blocking": 200, "warnings": 0}
    await journey.github.until(lambda: journey.markers(pull)[-1]["open"] == counted)
    assert journey.markers(pull)[-1]["open"] == counted
