"""Our labels on a pull request, where a repository asks for them."""

import pytest

from bot.gates.rule_book import CONFIG_FILE
from tests.journeys.harness import ON_ONE_STORE

pytestmark = ON_ONE_STORE

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
DATE, LINK = "<!-- ISSUES: date_errors -->", "<!-- ISSUES: broken_wiki_links -->"
REJECTED, DEGRADED = "whetstone: rejected", "whetstone: degraded"
AUTHOR, MAINTAINER = "whetstone: author's turn", "whetstone: maintainer's turn"
CONFIG = "version: 1\ncomment:\n  labels: true\n"


@pytest.fixture
async def labelling(harness, knowledge):
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    async with harness.run_bot():
        yield harness


def names(pull):
    return [label.name for label in pull.labels]


async def said(harness, pull, who, state, words=""):
    harness.advance_clock()
    harness.github.submit_review(pull, who, state, words)
    await harness.wait_until_idle()
    return names(pull)


async def test_without_being_asked_for_there_is_no_label(journey, pull):
    assert await said(journey, pull, "alice", REJECT, DATE) == []
    assert journey.github.asked("*", "*/labels*") == []


# row 179: the label that a repository may have; there are no tiers of cost here
async def test_the_label_is_in_step_with_the_comment_and_others_stay(labelling, pull):
    labelling.github.add_label(pull, "size: small", by="alice")
    assert await said(labelling, pull, "alice", REJECT, DATE) == ["size: small", REJECTED, AUTHOR]
    labelling.github.push(pull, {"claims/first.md": "# Better\n"})
    assert await said(labelling, pull, "alice", REJECT, LINK) == ["size: small", REJECTED, AUTHOR]
    assert await said(labelling, pull, "alice", APPROVE) == ["size: small", MAINTAINER]
    assert labelling.markers(pull)[0]["verdict"] == "accept"


async def test_an_iteration_that_made_it_worse_is_labelled_so_until_one_is_better(labelling, pull):  # row 97
    seen = []
    for number, words in enumerate((LINK, DATE, LINK)):
        labelling.advance_clock()
        labelling.github.push(pull, {"claims/first.md": f"# {number}\n"})
        seen.append(set(await said(labelling, pull, "alice", REJECT, words)))
    assert seen == [{REJECTED, AUTHOR}, {REJECTED, DEGRADED, AUTHOR}, {REJECTED, AUTHOR}]


async def test_a_label_that_stands_there_is_not_written_again(labelling, pull):
    await said(labelling, pull, "alice", REJECT, DATE)
    before = len(labelling.github.asked("*", "*/labels*"))
    assert await said(labelling, pull, "bob", REJECT, DATE) == [REJECTED, AUTHOR]
    assert len(labelling.github.asked("*", "*/labels*")) == before
    assert pull.repository.labels[REJECTED].color == "b60205"


async def test_the_label_goes_when_the_repository_no_longer_wants_it(harness, knowledge, pull):
    seen = []
    for config in (CONFIG, "version: 1\n"):
        harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: config})
        async with harness.run_bot():
            seen.append(await said(harness, pull, "alice", REJECT, DATE))
    assert seen == [[REJECTED, AUTHOR], []]


async def test_a_label_whose_answer_was_lost_is_looked_up_and_not_written_twice(labelling, pull):
    labelling.github.lose_answer("POST", "*/issues/*/labels")
    labelling.advance_clock()
    labelling.github.submit_review(pull, "alice", REJECT, DATE)
    await labelling.github.until(lambda: len(labelling.github.asked("GET", "*/issues/*/labels")) == 2)
    await labelling.wait_until_idle()
    assert (names(pull), len(labelling.github.asked("POST", "*/issues/*/labels"))) == (
        [REJECTED, AUTHOR],
        2,
    )
