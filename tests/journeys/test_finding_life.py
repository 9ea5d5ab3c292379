"""The contract's section on findings, bullet by bullet, over real HTTP; `test_findings.py` has the rest."""

from __future__ import annotations

import json

import aiohttp
import pytest

from bot.fakegithub.checks import CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.findings.ledger import build_ledger
from bot.gates.rule_book import CONFIG_FILE
from bot.markdown.escape import parse_marker
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
from tests.journeys.submitted_documents import make_document, make_sarif_log

pytestmark = ON_ONE_STORE

BOTH = "<!-- ISSUES: date_errors, scope_error -->"
RABBIT = "coderabbitai[bot]"


@pytest.fixture
def pull(harness, knowledge):
    """A pull request by an agent that adds a file of thirty lines."""
    files = {CART: text(), "src/other.py": "one = 1\n"}
    return harness.github.open_pull_request(knowledge, "rio-agent[bot]", PullRequestOptions(files=files))


async def push(journey, pull, **changed: str) -> None:
    await settle(journey)
    journey.github.push(pull, {CART: text(**changed)})
    await settle(journey)


async def findings(journey, pull) -> list[tuple[str, str, str]]:
    """Each finding with its speaker: what it says, and its status."""
    ledger = build_ledger(await recorded(journey, pull))
    return [(f.validator.name, f.item.tag or f.item.words, f.status.value) for f in ledger.findings]


def body(journey, pull) -> str:
    """The comment that holds the marker."""
    return next(text for text in reversed(journey.comments(pull)) if parse_marker("REJECTION", text))


async def open_entries(journey, pull) -> tuple[int, int]:
    await settle(journey)
    return tuple(journey.markers(pull)[-1]["open"].values())


async def test_what_becomes_a_finding_and_what_does_not(journey, knowledge, pull):
    """Prose beside a tag is context; alone it is a finding; what points, thanks or answers is none."""
    document = json.dumps(make_document())
    review(
        journey, pull, REJECT, "[scope_error] It claims too much.\n\nThe cache is never emptied after a run."
    )
    assert list(await statuses(journey, pull)) == ["scope_error"]
    other = journey.github.open_pull_request(knowledge, "dave", PullRequestOptions(files={CART: text()}))
    said = (
        "Thanks for this!\n\nThe cache is never emptied after a run, so that memory grows.\n\n/feedback-help"
    )
    submitted = review(journey, other, REJECT, said, (5, "praise: good name"), (9, "this hides the KeyError"))
    await settle(journey)
    journey.github.reply(list(submitted.comments)[-1], "alice", "And the ValueError is hidden as well here.")
    assert [words for _, words, _ in await findings(journey, other)] == [
        "The cache is never emptied after a run, so that memory grows.",
        "this hides the KeyError",
    ]
    third = journey.github.open_pull_request(knowledge, "dave", PullRequestOptions(files={CART: text()}))
    review(journey, third, REJECT, "A few things, see inline:", (5, "this hides the KeyError"))
    await settle(journey)
    review(journey, third, REJECT, f"```json\n{document}\n```", by="bob")
    assert await statuses(journey, third) == {"this hides the KeyError": "new", "date_errors": "new"}


async def test_severity_comes_from_the_document_the_label_the_gate_or_the_words(journey, knowledge, pull):
    review(
        journey,
        pull,
        REJECT,
        "[near_duplicate] This was said before.",
        (3, "issue: this hides the KeyError"),
        (5, "suggestion (blocking): compute it once before the loop"),
        (7, "issue (non-blocking): the name is too long for this"),
        (9, "nitpick: tmp2 says nothing"),
        (11, "maybe a set is better suited here"),
        (13, "why is this sorted?"),
        (15, "[date_errors] month 13 is out of range"),
        (17, "the total is wrong for an empty cart"),
        (19, "question: is this used?"),
        (21, "thought: a cache would help one day"),
    )
    assert await open_entries(journey, pull) == (4, 5)
    alone = journey.github.open_pull_request(
        knowledge, "rio-agent[bot]", PullRequestOptions(files={CART: text()})
    )
    review(journey, alone, REJECT, "", (9, "nitpick: tmp2 says nothing"), (13, "why is this sorted?"))
    assert await open_entries(journey, alone) == (2, 0), "nothing else blocks, so the rejection's findings do"
    tagged = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    review(journey, tagged, REJECT, "[near_duplicate] This was said before.")
    assert await open_entries(journey, tagged) == (0, 1)
    assert "**Rejected** — no blocking issue, 1 warning" in body(journey, tagged)
    assert journey.markers(tagged)[0]["turn"] == "author", "where nothing blocks, any finding is the author's"
    minor = make_document()
    minor["feedback_items"][0]["severity"] = "minor"
    documented = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    review(journey, documented, REJECT, f"```json\n{json.dumps(minor)}\n```")
    assert await open_entries(journey, documented) == (0, 1), "a document's own value wins over the gate's"


async def test_heading_document_and_api_agree_where_a_rejection_names_only_minor_issues(journey, pull):
    minor = make_document()
    minor["feedback_items"][0]["severity"] = "minor"
    del minor["feedback_items"][0]["tag"]
    review(journey, pull, REJECT, f"```json\n{json.dumps(minor)}\n```")
    assert await open_entries(journey, pull) == (1, 0), "nothing else blocks"
    (document,) = await documents(journey, pull)
    (listed,) = (await asked(journey, pull, "findings"))["findings"]
    (item,) = document["feedback_items"]
    assert (item["blocking"], listed["blocking"], item["severity"]) == (True, True, "minor")


async def test_every_label_of_conventional_comments_has_its_severity(journey, pull):
    labelled = {
        "issue": (True, "this hides the KeyError"),
        "todo": (True, "the cache must be emptied"),
        "chore": (True, "the changelog has no entry"),
        "nit (blocking)": (True, "the class is called tmp"),
        "suggestion": (False, "a set finds it faster"),
        "nitpick": (False, "tmp2 says nothing"),
        "nit": (False, "tmp3 says nothing"),
        "typo": (False, "it is spelled receive"),
        "polish": (False, "the lines are not sorted"),
        "todo (non-blocking)": (False, "the constant has no unit"),
        "issue (if-minor)": (False, "the argument has no type"),
        "question": (None, "who calls this function"),
        "thought": (None, "a cache would help one day"),
        "note": (None, "this was moved from the other file"),
        "praise": (None, "this is a good name"),
    }
    remarks = [
        (line, f"{label}: {words}") for line, (label, (_, words)) in enumerate(labelled.items(), start=3)
    ]
    review(journey, pull, REJECT, "", *remarks)
    await settle(journey)
    listed = await asked(journey, pull, "findings")
    assert {finding["words"]: finding["blocking"] for finding in listed["findings"]} == {
        words: blocks for blocks, words in labelled.values() if blocks is not None
    }
    assert journey.markers(pull)[0]["open"] == {"blocking": 4, "warnings": 7}


async def test_a_later_head_replaces_bodies_and_leaves_unchanged_threads_open(journey, pull):
    remark = "- the cache is never emptied after a run"
    located = "- src/other.py has no tests at all"
    review(
        journey, pull, REJECT, f"{BOTH}\n\n{remark}\n{located}", (5, "hides the error"), (20, "is too slow")
    )
    await push(journey, pull, line5="other = 0")
    assert await findings(journey, pull) == [
        ("alice", "date_errors", "changed"),
        ("alice", "scope_error", "changed"),
        ("alice", "the cache is never emptied after a run", "changed"),
        ("alice", "src/other.py has no tests at all", "new"),
        ("alice", "hides the error", "changed"),
        ("alice", "is too slow", "new"),
    ]
    review(journey, pull, COMMENT, "I am still looking at this.", by="alice")
    review(journey, pull, APPROVE, by="bob")
    assert (await statuses(journey, pull))["is too slow"] == "open", "neither closes anything"
    review(journey, pull, REJECT, f"{DATE}\n\nStill, as above.")
    assert await findings(journey, pull) == [
        ("alice", "date_errors", "open"),
        ("alice", "scope_error", "fixed"),
        ("alice", "the cache is never emptied after a run", "open"),
        ("alice", "src/other.py has no tests at all", "open"),
        ("alice", "hides the error", "fixed"),
        ("alice", "is too slow", "open"),
    ]
    await push(journey, pull, line5="other = 0", line25="more = 1")
    review(journey, pull, REJECT, f"{SCOPE}\n\n{remark.upper()}.")
    assert await findings(journey, pull) == [
        ("alice", "date_errors", "fixed"),
        ("alice", "scope_error", "regressed"),
        ("alice", "THE CACHE IS NEVER EMPTIED AFTER A RUN.", "open"),
        ("alice", "src/other.py has no tests at all", "changed"),
        ("alice", "hides the error", "fixed"),
        ("alice", "is too slow", "open"),
    ]
    assert "1 regressed" in body(journey, pull)


async def test_a_rejection_that_only_says_still_keeps_all_open_and_is_the_authors_turn(journey, pull):
    review(journey, pull, REJECT, f"{DATE}\n\n- the cache is never emptied", (5, "hides the error"))
    await push(journey, pull, line5="other = 0")
    assert journey.markers(pull)[-1]["turn"] == "reviewer"
    review(journey, pull, REJECT, "My comments were not addressed, still the same as before.")
    await settle(journey)
    listed = await asked(journey, pull, "findings")
    assert [finding["status"] for finding in listed["findings"]] == ["open"] * 3
    assert (listed["turn"], journey.markers(pull)[-1]["turn"]) == ("author", "author")
    assert journey.markers(pull)[-1]["open"] == {"blocking": 3, "warnings": 0}


async def test_findings_are_recognised_by_thread_tag_line_and_words(journey, pull):
    """A tag in `ISSUES` and inline is one; lines are carried; a new thread continues a closed finding."""
    submitted = review(
        journey, pull, REJECT, DATE, (9, "[date_errors] month 13"), (20, "[date_errors] day 40")
    )
    assert [said for _, said, _ in await findings(journey, pull)] == ["date_errors", "date_errors"]
    month, _ = submitted.comments
    journey.github.edit_review_comment(month, "[date_errors] month 13 is out of range")
    journey.github.resolve_thread(month, by="alice")
    assert [status for *_, status in await findings(journey, pull)] == ["withdrawn", "new"]
    lines = text().splitlines()
    journey.github.push(pull, {CART: "\n".join(["zero = 0", "half = 0.5", *lines]) + "\n"})
    await settle(journey)
    review(journey, pull, REJECT, "", (11, "[date_errors] month 13 again"))
    assert [status for *_, status in await findings(journey, pull)] == ["open", "open"], "withdrawn before"
    ledger = build_ledger(await recorded(journey, pull))
    assert [(f.id, f.item.place.line) for f in ledger.findings] == [("f1", 11), ("f2", 22)]


async def test_each_validator_closes_its_own_and_a_late_review_touches_nothing_later(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    review(journey, pull, REJECT, DATE, by="bob")
    await settle(journey)
    late = review(journey, pull, "PENDING", "That was all about the first head.")
    await push(journey, pull, line5="other = 0")
    review(journey, pull, REJECT, SCOPE)
    assert await findings(journey, pull) == [
        ("alice", "date_errors", "fixed"),
        ("bob", "date_errors", "changed"),
        ("alice", "scope_error", "new"),
    ]
    journey.github.submit_pending(late, APPROVE)
    assert (await statuses(journey, pull))["scope_error"] == "new"
    assert journey.markers(pull)[-1]["issues"] == ["date_errors", "scope_error"], "in the order given"
    review(journey, pull, APPROVE, by="bob")
    assert await findings(journey, pull) == [
        ("alice", "date_errors", "fixed"),
        ("bob", "date_errors", "fixed"),
        ("alice", "scope_error", "new"),
    ]
    review(journey, pull, APPROVE)
    await settle(journey)
    assert journey.markers(pull)[-1]["verdict"] == "accept"
    assert "1 withdrawn" in body(journey, pull)


async def test_a_late_rejection_of_a_head_before_the_approved_one_rejects_nothing(journey, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    late = review(journey, pull, "PENDING", SCOPE, (5, "this hides the KeyError"))
    await push(journey, pull, line9="other = 0")
    review(journey, pull, APPROVE)
    await settle(journey)
    journey.github.submit_pending(late, REJECT)
    await settle(journey)
    listed = await asked(journey, pull, "findings")
    assert [[change["status"] for change in finding["history"]] for finding in listed["findings"]] == [
        ["new", "fixed"]
    ] * 3
    (marker,) = journey.markers(pull)
    assert (marker["verdict"], marker["issues"], marker["turn"]) == ("accept", [], "maintainer")
    assert listed["turn"] == "maintainer"
    assert "```json" not in body(journey, pull)
    assert "**Resolved** — nothing rejects it any more, at" in body(journey, pull)


async def test_what_a_validator_takes_back_is_withdrawn_at_any_head(journey, pull):
    edited = review(journey, pull, REJECT, BOTH, (9, "[title_overclaims] only one study"))
    await settle(journey)
    dismissed = review(journey, pull, REJECT, "[near_duplicate] said before", by="bob")
    await push(journey, pull, line25="other = 0")
    journey.github.edit_review(edited, DATE)
    journey.github.delete_review_comment(first_comment(edited))
    journey.github.dismiss_review(dismissed, by="alice")
    assert await statuses(journey, pull) == {
        "date_errors": "changed",
        "scope_error": "withdrawn",
        "title_overclaims": "withdrawn",
        "near_duplicate": "withdrawn",
    }
    await push(journey, pull, line26="other = 1")
    review(journey, pull, REJECT, BOTH)
    assert (await statuses(journey, pull))["scope_error"] == "open", "withdrawn and reported again"


async def test_what_rejects_no_more_after_a_dismissal_is_open_nowhere(journey, pull):
    review(journey, pull, REJECT, DATE, (5, "this hides the KeyError"))
    await settle(journey)
    newest = review(journey, pull, REJECT, SCOPE)
    await settle(journey)
    review(journey, pull, COMMENT, "", (9, "[title_overclaims] only one study"))
    await settle(journey)
    assert journey.markers(pull)[0]["open"] == {"blocking": 4, "warnings": 0}
    journey.github.dismiss_review(newest, by="bob")
    assert set((await statuses(journey, pull)).values()) == {"withdrawn"}
    listed = await asked(journey, pull, "findings")
    assert (journey.markers(pull)[0]["verdict"], listed["turn"]) == ("accept", "maintainer")
    assert "**Resolved** — " in body(journey, pull)


async def test_labels_and_commands_are_closed_by_validators_alone(journey, pull):
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await settle(journey)
    journey.github.remove_label(pull, "gate:date_errors", by="rio-agent[bot]")
    await settle(journey)
    assert "`rio-agent[bot]` removed the label `gate:date_errors`" in body(journey, pull)
    assert journey.markers(pull)[0]["issues"] == ["date_errors"]
    journey.github.comment(pull, "alice", "/feedback-reject scope_error reason: too wide")
    await push(journey, pull, line5="other = 0")
    journey.github.add_label(pull, "gate:date_errors", by="alice")
    await push(journey, pull, line5="other = 1")
    journey.github.remove_label(pull, "gate:date_errors", by="bob")
    assert await statuses(journey, pull) == {"date_errors": "fixed", "scope_error": "changed"}
    review(journey, pull, REJECT, "[near_duplicate] said before")
    assert (await statuses(journey, pull))["scope_error"] == "fixed", "its speaker left it out"


async def test_a_label_that_is_put_on_again_reports_the_same_finding_again(journey, pull):
    for number, (status, steps) in enumerate(
        [("new", ["new"]), ("regressed", ["new", "fixed", "regressed"]), ("open", [])]
    ):
        journey.github.add_label(pull, "gate:date_errors", by="alice")
        await settle(journey)
        (finding,) = (await asked(journey, pull, "findings"))["findings"]
        assert (finding["id"], finding["status"]) == ("f1", status)
        assert not steps or [change["status"] for change in finding["history"]] == steps
        if number == 0:
            await push(journey, pull, line5="other = 0")
        journey.github.remove_label(pull, "gate:date_errors", by="bob")
        await push(journey, pull, line5=f"other = {number + 1}")


async def test_a_validation_closes_what_its_next_one_leaves_out(harness, knowledge, pull):
    config = "version: 1\nvalidators:\n  sarif: {E501: date_errors, W605: scope_error}\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot() as bot, aiohttp.ClientSession() as session:
        harness.github.edit_pull_request(pull, title="Known")
        await settle(harness)

        async def hand_in(*rules):
            token = harness.github.tokens.for_user(harness.github.account("alice"), ("repo",)).token
            address = "http://{}:{}".format(*bot.address)
            path = f"/api/v1/repos/acme/knowledge/pulls/{pull.number}/validations?head={pull.head_sha}"
            headers = {"Authorization": f"Bearer {token}"}
            log = make_sarif_log(*rules)
            async with session.post(address + path, json=log, headers=headers) as answer:
                assert answer.status == 202
            return await statuses(harness, pull)

        assert await hand_in("E501", "W605") == {"date_errors": "new", "scope_error": "new"}
        assert await hand_in("W605") == {"date_errors": "withdrawn", "scope_error": "new"}
        await push(harness, pull, line5="other = 0")
        assert await hand_in("E501") == {"date_errors": "open", "scope_error": "fixed"}


async def test_a_check_has_passed_when_it_is_skipped_and_is_waited_for_after_a_push(harness, knowledge, pull):
    config = "version: 1\nextends: [code-review]\nvalidators:\n  checks:\n    ci / test: [tests_failing]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        for conclusion in ("skipped", "neutral"):
            harness.github.check(pull, "ci / test", "failure", CheckOutput("1 failed", "E  assert 1 == 2"))
            await push(harness, pull, line5=f"other = '{conclusion}'")
            assert await statuses(harness, pull) == {"tests_failing": "changed"}
            assert (harness.markers(pull)[-1]["turn"], harness.markers(pull)[-1]["pending"]) == (
                "checks",
                ["ci / test"],
            )
            harness.github.check(pull, "ci / test", conclusion)
            assert await statuses(harness, pull) == {"tests_failing": "fixed"}
            await push(harness, pull, line6=f"other = '{conclusion}'")


async def test_a_head_that_comes_back_brings_the_results_of_its_checks(harness, knowledge, pull):
    config = "version: 1\nextends: [code-review]\nvalidators:\n  checks:\n    ci / test: [tests_failing]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        first = pull.head_sha
        harness.github.check(pull, "ci / test", "failure", CheckOutput("1 failed", "E  assert 1 == 2"))
        await push(harness, pull, line5="other = 0")
        second = pull.head_sha
        harness.github.check(pull, "ci / test", "success")
        assert await statuses(harness, pull) == {"tests_failing": "fixed"}
        harness.github.force_push(pull, first)
        assert await statuses(harness, pull) == {"tests_failing": "regressed"}
        assert (harness.markers(pull)[-1]["verdict"], harness.markers(pull)[-1]["turn"]) == (
            "refine",
            "author",
        )
        harness.github.force_push(pull, second)
        assert await statuses(harness, pull) == {"tests_failing": "fixed"}
        assert harness.markers(pull)[-1]["verdict"] == "accept"


async def test_a_named_apps_review_of_a_later_head_requests_changes_again(harness, knowledge, pull):
    config = "version: 1\nvalidators:\n  apps: [coderabbitai]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    severe = "_⚠️ Potential issue_ | _🔴 Critical_\n\n**The total of the cart is read before it is set.**"
    async with harness.run_bot():
        review(harness, pull, COMMENT, "", (5, severe), (20, severe.replace("total", "price")), by=RABBIT)
        await settle(harness)
        review(harness, pull, REJECT, "", (5, "The total of the cart is read here before it is set."))
        await settle(harness)
        assert harness.markers(pull)[0]["open"]["blocking"] == 2, "the same remark of two is one entry"
        assert "(Source: reviews by `coderabbitai[bot]` and `alice` @ " in body(harness, pull)
        await push(harness, pull, line5="other = 0")
        review(harness, pull, COMMENT, "", (25, severe.replace("total", "tax")), by=RABBIT)
        assert [(by, status) for by, _, status in await findings(harness, pull)] == [
            (RABBIT, "fixed"),
            (RABBIT, "open"),
            ("alice", "changed"),
            (RABBIT, "new"),
        ]


async def test_the_warnings_of_an_app_are_shown_beside_the_rejection_of_somebody_else(
    harness, knowledge, pull
):
    config = "version: 1\nvalidators:\n  apps: [coderabbitai]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        nitpick = "_🧹 Nitpick_\n\nPrefer a comprehension."
        review(harness, pull, COMMENT, "", (9, nitpick), by=RABBIT)
        await settle(harness)
        assert harness.comments(pull) == [], "warnings of Apps alone are not answered"
        review(harness, pull, REJECT, DATE)
        await settle(harness)
        marker = harness.markers(pull)[0]
        assert (marker["open"], marker["issues"]) == ({"blocking": 1, "warnings": 1}, ["date_errors"])
        shown = body(harness, pull)
        assert "**Rejected** — 1 blocking issue, 1 warning\n" in shown
        assert "**[WARN] Review comment**: `Prefer a comprehension.`" in shown
        assert "reviewed by `alice` and `coderabbitai[bot]`." in shown
        (document,) = await documents(harness, pull)
        listed = await asked(harness, pull, "findings")
        assert {item["id"]: item["blocking"] for item in document["feedback_items"]} == {
            finding["id"]: finding["blocking"] for finding in listed["findings"]
        }
        review(harness, pull, APPROVE)
        await settle(harness)
        assert harness.markers(pull)[0]["verdict"] == "accept"


async def test_what_rejects_besides_a_formal_review(harness, knowledge, pull):
    config = "version: 1\nvalidators:\n  apps: [leo]\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot():
        review(harness, pull, COMMENT, f"{DATE}\n<!-- VERDICT:ALICE:REQUEST_CHANGES -->")
        await settle(harness)
        assert harness.markers(pull)[0]["issues"] == ["date_errors"]
        review(harness, pull, COMMENT, "<!-- VERDICT:ALICE:APPROVE -->")
        await settle(harness)
        assert harness.markers(pull)[0]["verdict"] == "accept"
        harness.github.comment(pull, "leo[bot]", SCOPE)
        await settle(harness)
        assert (harness.markers(pull)[0]["issues"], harness.markers(pull)[0]["source"]) == (
            ["scope_error"],
            "leo[bot]",
        )
        harness.github.comment(pull, "carol", DATE)
        await settle(harness)
        assert harness.markers(pull)[0]["issues"] == ["scope_error"], (
            "a plain comment is recorded, not answered"
        )


async def test_an_appeal_is_the_maintainers_turn_and_changes_no_status(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave", PullRequestOptions(files={CART: text()}))
    review(journey, pull, REJECT, BOTH)
    await settle(journey)
    journey.github.comment(pull, "dave", "/feedback-appeal f1 reason: the source has no other date")
    assert await statuses(journey, pull) == {"date_errors": "new", "scope_error": "new"}
    assert journey.markers(pull)[0]["turn"] == "maintainer"
    journey.github.comment(pull, "bob", "/feedback-reject date_errors reason: it has one on page 2")
    await settle(journey)
    assert journey.markers(pull)[0]["turn"] == "author"


@pytest.mark.parametrize(
    ("when", "counts"),
    [("useful", (0, 1, 1)), ("tagged", (0, 1, 1)), ("always", (1, 1, 1)), ("never", (0, 0, 0))],
)
async def test_when_the_bot_comments(harness, knowledge, pull, when, counts):
    """On plain words, on a tag, and on `/feedback`; else the check run alone is updated."""
    config = f"version: 1\ncomment:\n  when: {when}\n"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    plain, tagged = (
        harness.github.open_pull_request(
            knowledge, "dave", PullRequestOptions(files={CART: text(line1=name)})
        )
        for name in ("plain = 1", "tagged = 1")
    )
    async with harness.run_bot():
        review(harness, pull, REJECT, DATE)  # the repository's first rejection
        await settle(harness)
        review(harness, plain, REJECT, "", (5, "this hides the KeyError"))
        review(harness, tagged, REJECT, "[date_errors] month 13")
        await settle(harness)
        shown = [len(harness.comments(plain)), len(harness.comments(tagged))]
        runs = [run for run in knowledge.check_runs.values() if run.head_sha == plain.head_sha]
        assert [run.conclusion for run in runs] == ([] if shown[0] else ["neutral"])
        harness.github.comment(plain, "dave", "/feedback")
        await settle(harness)
        assert (*shown, len(harness.markers(plain))) == counts


async def test_an_earlier_finding_that_is_still_open_makes_a_comment_useful(journey, knowledge, pull):
    review(journey, pull, REJECT, DATE)
    await settle(journey)
    person = journey.github.open_pull_request(knowledge, "dave", PullRequestOptions(files={CART: text()}))
    review(journey, person, REJECT, "", (5, "this hides the KeyError"))
    await settle(journey)
    assert journey.comments(person) == []
    await push(journey, person, line25="other = 0")
    review(journey, person, REJECT, "", (9, "tmp2 says nothing, and nobody can guess it"))
    await settle(journey)
    assert journey.markers(person)[0]["open"] == {"blocking": 2, "warnings": 0}


async def test_fixed_withdrawn_and_dismissed_are_counted_apart_and_untagged_as_a_share(journey, knowledge):
    fixed, withdrawn, dismissed, plain = (
        journey.github.open_pull_request(
            knowledge, "rio-agent[bot]", PullRequestOptions(files={CART: text(line1=f"number = {number}")})
        )
        for number in range(4)
    )
    for pull in (fixed, withdrawn, dismissed):
        review(journey, pull, REJECT, DATE)
    review(journey, plain, REJECT, "", (5, "this hides the KeyError"))
    await push(journey, fixed, line9="other = 0")
    review(journey, fixed, APPROVE)
    review(journey, withdrawn, APPROVE)
    journey.github.comment(dismissed, "bob", "/feedback-dismiss date_errors reason: the dates are right")
    await settle(journey)
    journey.github.comment(plain, "bob", "/feedback-history")
    await settle(journey)
    reply = journey.comments(plain)[-1]
    assert "\n1 of 4 findings had no tag.\n" in reply
    assert "\nFindings fixed: 1 of 1 without one. Not counted: 1 withdrawn, 1 dismissed." in reply
    address = "http://{}:{}/metrics".format(*journey.bot.address)
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        figures = (await answer.text()).splitlines()
    for status in ("fixed", "withdrawn", "dismissed"):
        assert f'whetstone_findings{{location="no",status="{status}",tag="date_errors"}} 1.0' in figures


TAGS = [f"issue_number_{number}" for number in range(300)]


async def test_heading_marker_and_list_agree_about_300_tags(journey, pull):
    review(journey, pull, REJECT, f"<!-- ISSUES: date_errors, {', '.join(TAGS)} -->")
    await settle(journey)
    shown, marker = body(journey, pull), journey.markers(pull)[0]
    blocking, warnings = marker["open"]["blocking"], marker["open"]["warnings"]
    assert f"**Rejected** — {blocking} blocking issue, {warnings} warnings\n" in shown
    unread = len(TAGS) + 1 - blocking - warnings
    assert shown.count("[BLOCK]") + shown.count("[WARN]") == 10
    assert f"and {blocking + warnings - 10} more: " in shown
    assert f"{unread} further tags named in the review are not counted" in shown
    assert marker["more"] + len(marker["issues"]) == len(TAGS) + 1


async def test_approving_the_last_allowed_iteration_accepts(harness, knowledge, pull):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: "version: 1\niterations:\n  max: 2\n"})
    async with harness.run_bot():
        review(harness, pull, REJECT, BOTH)
        await push(harness, pull, line5="other = 0")
        review(harness, pull, APPROVE)
        await settle(harness)
        marker = harness.markers(pull)[-1]
        assert (marker["verdict"], marker["iteration"], marker["max_iterations"]) == ("accept", 2, 2)
        assert "**Resolved** — 2 fixed, at " in body(harness, pull)
        assert len(harness.comments(pull)) == 1, "nobody is asked to decide"


OWN_GATE = """\
gates:
  unsafe_call:
    gate: Unsafe call
    description: It runs code that somebody else wrote
    fix: Call the function by its name.
    severity: blocking
    auto_fixable: false
"""


async def test_a_major_finding_of_a_log_asks_to_refine(harness, knowledge, pull):
    config = f"version: 1\nvalidators:\n  sarif: {{S102: unsafe_call}}\n{OWN_GATE}"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
    async with harness.run_bot() as bot, aiohttp.ClientSession() as session:
        harness.github.edit_pull_request(pull, title="Known")
        await settle(harness)
        token = harness.github.tokens.for_user(harness.github.account("alice"), ("repo",)).token
        url = "http://{}:{}/api/v1/repos/acme/knowledge/pulls/{}/validations".format(
            *bot.address, pull.number
        )
        headers = {"Authorization": f"Bearer {token}"}
        async with session.post(url, json=make_sarif_log("S102"), headers=headers) as answer:
            assert answer.status == 202
        await settle(harness)
        assert harness.markers(pull)[0]["verdict"] == "refine"
        assert '"severity": "major"' in body(harness, pull)


async def test_two_reviewers_with_one_tag_are_both_quoted(journey, pull):
    review(journey, pull, REJECT, "", (5, "[date_errors] month 13"))
    review(journey, pull, REJECT, "", (20, "[date_errors] day 40"), by="bob")
    await settle(journey)
    shown = body(journey, pull)
    assert "**Rejected** — 1 blocking issue\n" in shown
    assert "#L5) `month 13`\n" in shown
    assert "#L20) `day 40` (Source: reviews by `alice` and `bob` @ " in shown


@pytest.mark.parametrize("author", ["dave", "rio-agent[bot]"])
async def test_a_recurrence_names_no_other_pull_request_of_a_person_in_public(journey, knowledge, author):
    for number in range(3):
        opened = journey.github.open_pull_request(
            knowledge, author, PullRequestOptions(files={CART: text(line1=f"number = {number}")})
        )
        review(journey, opened, REJECT, DATE)
        await settle(journey)
    shown = body(journey, opened)
    assert "  - Recurring: in 3 of the last 3 pull requests" in shown
    assert ("redirect.github.com/acme/knowledge/pull/" in shown) is (author != "dave")


async def test_a_force_push_back_rewrites_no_document_and_no_dismissal(journey, pull):
    first = pull.head_sha
    review(journey, pull, REJECT, BOTH)
    await settle(journey)
    journey.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: dates are right")
    await push(journey, pull, line5="other = 0")
    review(journey, pull, REJECT, "[near_duplicate] said before")
    await settle(journey)
    before = await documents(journey, pull)
    journey.github.force_push(pull, first)
    assert (await statuses(journey, pull))["date_errors"] == "dismissed"
    after = await documents(journey, pull)
    assert [document for document in after if document in before] == before
    review(journey, pull, APPROVE)
    await settle(journey)
    kept = [document for document in await documents(journey, pull) if document in before]
    assert kept == before, "a later review changes no document of an earlier iteration"


async def documents(journey, pull) -> list[dict]:
    """The documents as the API has them."""
    return (await asked(journey, pull, "feedback"))["documents"]
