"""The events of one pull request, in whatever order GitHub delivers them, end in the same findings."""

from __future__ import annotations

import random

import pytest

from bot.fakegithub.checks import CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.gates.rule_book import CONFIG_FILE
from tests.journeys.finding_stories import (
    APPROVE,
    CART,
    COMMENT,
    DATE,
    REJECT,
    SCOPE,
    asked,
    review,
    settle,
    text,
)

CONFIG = """\
version: 1
extends: [knowledge-base, code-review]
validators:
  checks:
    ci / test: [tests_failing]
    ci / lint: [lint_errors]
    ci / types: [type_errors]
"""


def reviewed(harness, pull):
    """A first round, of which an edit and a command are answered as they come; return the review."""
    failed = CheckOutput("1 failed", "E  assert 1 == 2")
    yield harness.github.check(pull, "ci / test", "failure", failed)
    submitted = review(
        harness, pull, REJECT, f"{DATE}\n{SCOPE}", (5, "this hides the KeyError"), (20, "too slow")
    )
    yield submitted
    yield review(harness, pull, REJECT, "[near_duplicate] It was said before.", by="bob")
    yield harness.github.edit_review(submitted, DATE)
    yield harness.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: the dates are right")


def continued(harness, pull):
    """Pushes, checks, a label, a reply, threads, a comment, a rejection, a dismissed review, a force-push, an approval."""
    github, first = harness.github, pull.head_sha
    by_alice, by_bob = pull.reviews.values()
    hiding, slow = by_alice.comments
    left = github.start_check_run(pull.repository, first, "ci / lint")
    yield github.push(pull, {CART: text(line5="other = 0")})
    yield github.check(pull, "ci / test", "success")
    yield github.complete_check_run(left, "failure", CheckOutput("1 problem", "E501 the line is too long"))
    yield github.set_status(pull.repository, first, "ci / types", "failure")
    yield github.add_label(pull, "gate:broken_wiki_links", by="alice")
    yield github.remove_label(pull, "gate:broken_wiki_links", by="rio-agent[bot]")
    yield github.reply(slow, "rio-agent[bot]", "It is handled now.")
    yield github.resolve_thread(slow, by="rio-agent[bot]")
    yield review(harness, pull, COMMENT, "and one more", (9, "[title_overclaims] only one study"))
    yield github.resolve_thread(hiding, by="alice")
    yield review(harness, pull, REJECT, "- the cache is never emptied after a run")
    yield github.add_label(pull, "gate:broken_wiki_links", by="bob")
    yield github.push(pull, {CART: text(line5="other = 1")})
    yield github.remove_label(pull, "gate:broken_wiki_links", by="bob")
    yield github.check(pull, "ci / test", "failure", CheckOutput("1 failed", "E  assert 3 == 4"))
    yield github.dismiss_review(by_bob, by="alice")
    yield github.force_push(pull, first)
    yield review(harness, pull, APPROVE, by="bob")
    yield review(harness, pull, REJECT, "[scope_error] It is about too much.")


async def findings(harness, pull):
    """What the API tells, without what names the pull request, a time or a head."""
    listed = await asked(harness, pull, "findings")
    told = [
        (
            finding["tag"] or finding["words"],
            finding["status"],
            finding["by"],
            finding["blocking"],
            [(change["status"], change["by"]) for change in finding["history"]],
        )
        for finding in listed["findings"]
    ]
    return sorted(told), (listed["turn"], listed["pending"], listed["iteration"])


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_any_order_of_arrival_ends_in_the_same_findings(harness, knowledge, seed):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    in_order, shuffled = (
        harness.github.open_pull_request(
            # Two heads of their own: a check belongs to a commit.
            knowledge,
            "rio-agent[bot]",
            PullRequestOptions(files={CART: text(), "notes.md": name}),
        )
        for name in ("in order", "shuffled")
    )
    async with harness.run_bot():
        for pull in (in_order, shuffled):
            for _ in reviewed(harness, pull):
                await settle(harness)
        for _ in continued(harness, in_order):
            await settle(harness)
        harness.github.hold()
        for _ in continued(harness, shuffled):
            harness.advance_clock()
        chance = random.Random(seed)
        harness.github.release(lambda held: chance.sample(held, len(held)))
        await settle(harness)
        expected = await findings(harness, in_order)
        assert await findings(harness, shuffled) == expected
        assert {(said, status) for said, status, *_ in expected[0]} == {
            ("date_errors", "dismissed"),
            ("near_duplicate", "withdrawn"),
            ("scope_error", "open"),
            ("tests_failing", "open"),
            ("broken_wiki_links", "fixed"),
            ("lint_errors", "open"),
            ("type_errors", "open"),
            ("the cache is never emptied after a run", "changed"),
            ("this hides the KeyError", "fixed"),
            ("title_overclaims", "open"),
            ("too slow", "changed"),
        }
