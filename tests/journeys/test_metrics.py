"""What an operator reads off `/metrics`, and what nobody without the token does."""

from dataclasses import replace

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot import app

DATE = "<!-- ISSUES: date_errors -->"
TOKEN = "made-up-metrics-token"


@pytest.fixture
async def metrics(harness, pull):
    """Ask for the metrics after one rejection; gives the samples by name and labels."""
    async with (
        app.run_instance(replace(harness.settings, metrics_token=TOKEN)) as bot,
        aiohttp.ClientSession() as session,
    ):
        host, port = bot.address
        harness.github.webhook_url = f"http://{host}:{port}/webhook"
        harness.bot = bot
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await harness.wait_until_idle()

        async def ask(token=None):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with session.get(f"http://{host}:{port}/metrics", headers=headers) as answer:
                assert answer.status == 200
                families = text_string_to_metric_families(await answer.text())
                return {
                    (sample.name, tuple(sorted(sample.labels.items()))): sample.value
                    for family in families
                    for sample in family.samples
                }

        yield ask


async def test_the_queue_the_turns_and_the_calls_are_counted(metrics):
    seen = await metrics()
    posted = ("whetstone_github_calls_total", (("method", "POST"), ("status", "201")))
    done = [value for (name, _), value in seen.items() if name == "whetstone_deliveries"]
    assert (seen[posted] >= 1, sum(done) >= 1) == (True, True)
    assert seen["whetstone_turns_total", (("outcome", "done"),)] >= 1
    assert (seen["whetstone_lanes_due", ()], seen["whetstone_parked", ()]) == (0, 0)
    assert seen["whetstone_outbox", (("state", "ready"),)] == 0
    assert seen["whetstone_latency_seconds_count", ()] >= 1


# rows 152, 190
async def test_broken_gates_are_counted_and_named_only_with_the_token(metrics, harness, pull):
    anybody, wrong, operator = await metrics(), await metrics("another-token"), await metrics(TOKEN)
    named = (
        "whetstone_author_rejections",
        (("author", "rio-agent[bot]"), ("repository", "acme/knowledge"), ("tag", "date_errors")),
    )
    assert [seen["whetstone_rejections", (("tag", "date_errors"),)] for seen in (anybody, wrong)] == [1, 1]
    assert [named in seen for seen in (anybody, wrong, operator)] == [False, False, True]
    assert "acme" not in repr(anybody) + repr(wrong)
    assert harness.markers(pull)[0]["issues"] == ["date_errors"]


# row 53
async def test_findings_are_counted_by_status_and_people_named_only_with_the_token(metrics, harness, pull):
    harness.advance_clock()
    harness.github.push(pull, {"claims/first.md": "# Second\n"})
    harness.advance_clock()
    harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: scope_error -->")
    await harness.wait_until_idle()
    anybody, operator = await metrics(), await metrics(TOKEN)
    fixed, new, withdrawn = (
        (("location", "no"), ("status", status), ("tag", tag))
        for tag, status in (("date_errors", "fixed"), ("scope_error", "new"), ("scope_error", "withdrawn"))
    )
    reviewer = (("repository", "acme/knowledge"), ("reviewer", "alice"), ("status", "fixed"))
    author = (("author", "rio-agent[bot]"), ("repository", "acme/knowledge"), ("status", "fixed"))
    assert [seen["whetstone_findings", fixed] for seen in (anybody, operator)] == [1, 1]
    assert anybody["whetstone_findings", new] == 1
    assert ("whetstone_findings", withdrawn) not in anybody
    assert operator["whetstone_reviewer_findings", reviewer] == 1
    assert 0 <= anybody["whetstone_feedback_improvement_rate", ()] <= 1
    assert 0 < anybody["whetstone_feedback_clarity_score", ()] <= 1
    assert operator["whetstone_author_findings", author] == 1
    assert not any(name.endswith(("author_findings", "reviewer_findings")) for name, _ in anybody)


async def test_verdicts_that_do_not_count_and_unknown_tags_are_counted(metrics, harness, pull):
    harness.advance_clock()
    harness.github.submit_review(pull, "carol", "CHANGES_REQUESTED", "<!-- ISSUES: near_duplicate -->")
    harness.github.submit_review(pull, "bob", "CHANGES_REQUESTED", "<!-- ISSUES: date_error -->")
    await harness.wait_until_idle()
    anybody, operator = await metrics(), await metrics(TOKEN)
    named = (("account", "carol"), ("repository", "acme/knowledge"), ("stance", "rejects"))
    rejections, named_rejections = (
        {labels[0][1]: n for (name, labels), n in seen.items() if name == "whetstone_rejections"}
        for seen in (anybody, operator)
    )
    assert anybody["whetstone_uncounted_verdicts", (("stance", "rejects"),)] == 1
    assert operator["whetstone_account_uncounted_verdicts", named] == 1
    assert rejections == {"date_errors": 1, "other": 1}
    assert named_rejections == {"date_errors": 1, "date_error": 1}
    assert "carol" not in repr(anybody) + harness.comments(pull)[-1]


OWN_GATES = """version: 1
gates:
  project_nightingale:
    gate: Secret project
    description: The launch is not public
    fix: Leave the project out of it.
    severity: blocking
    auto_fixable: false
"""


async def test_a_repositorys_own_tags_are_for_the_operator_alone(metrics, harness, knowledge, pull):
    harness.github.commit_to_default_branch(knowledge, {".github/whetstone.yml": OWN_GATES})
    await harness.wait_until_idle()
    harness.advance_clock()
    tags = "<!-- ISSUES: project_nightingale, not_even_configured, date_errors -->"
    harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", tags)
    await harness.wait_until_idle()
    assert "Secret project" in harness.comments(pull)[-1]
    harness.advance_clock()
    harness.github.push(pull, {"claims/first.md": "# Second\n"})
    harness.advance_clock()
    harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: scope_error -->")
    await harness.wait_until_idle()
    anybody, operator = await metrics(), await metrics(TOKEN)

    def rejected(seen, tag):
        return seen.get(("whetstone_rejections", (("tag", tag),)))

    def fixed(seen, tag):
        return seen.get(("whetstone_findings", (("location", "no"), ("status", "fixed"), ("tag", tag))))

    assert [rejected(anybody, tag) for tag in ("date_errors", "scope_error", "other")] == [1, 1, 2]
    assert (rejected(operator, "project_nightingale"), rejected(operator, "other")) == (1, None)
    assert (fixed(anybody, "other"), fixed(operator, "project_nightingale")) == (2, 1)
    assert [each for each in ("nightingale", "configured") if each in repr(anybody)] == []
