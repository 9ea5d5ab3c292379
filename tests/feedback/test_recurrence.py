"""The same gate, broken for the third time in the last five pull requests."""

import pytest

from bot.feedback.gate_notes import recurrence_text
from bot.markdown.links import GitHubLinks
from tests.builders import RIO, make_pull_request
from tests.feedback.comment_builders import CAROL, CommentStory
from tests.history.record_builders import make_approval, make_record, make_rejection
from tests.live_markdown import live_references

OWN_HOST = GitHubLinks("https://git.example.org")
BROKEN, FINE = ("date_errors",), ()


def last(*broken, tag="date_errors"):
    """The author's pull requests, oldest first; the last one is the present one."""
    count = len(broken)
    stories = [
        make_record(200 + n, make_rejection(count - n, *tags) if tags else make_approval(count - n))
        for n, tags in enumerate(broken)
    ]
    return recurrence(200 + count - 1, stories, tag=tag)


def recurrence(number, stories, web=OWN_HOST, *, tag="date_errors", names_others=True):
    present = make_pull_request(number=number)
    return recurrence_text(tag, present, stories, web, names_others=names_others)


@pytest.mark.parametrize(
    ("broken", "times"),
    [
        ((BROKEN, BROKEN, BROKEN), 3),
        ((BROKEN, FINE, BROKEN, FINE, BROKEN), 3),
        ((BROKEN, BROKEN, BROKEN, BROKEN, BROKEN, BROKEN), 5),
        ((BROKEN, FINE, FINE, BROKEN, FINE, BROKEN), None),
        ((BROKEN, BROKEN), None),
        ((BROKEN, BROKEN, BROKEN, FINE), None),
    ],
)
def test_the_third_time_in_five_is_said(broken, times):
    expected = f"in {times} of the last {min(5, len(broken))} pull requests, most recently `"
    assert last(*broken).startswith(expected) if times else last(*broken) == ""


def test_the_earlier_one_and_the_last_fix_are_named():
    stories = [
        make_record(7, make_rejection(9, "date_errors"), make_approval(8, head="b"), merged=8),
        make_record(8, make_rejection(6, "date_errors"), make_approval(5, head="77ab0c1"), merged=5),
        make_record(9, make_rejection(1, "date_errors")),
    ]
    text = recurrence(9, stories, GitHubLinks())
    assert text == (
        "in 3 of the last 3 pull requests, most recently [8](https://redirect.github.com/acme/knowledge/pull/8), "
        "fixed there by [`77ab0c1`](https://redirect.github.com/acme/knowledge/commit/77ab0c1)"
    )
    assert live_references(text) == []


def test_what_was_never_fixed_says_nothing_of_a_fix():
    assert last(BROKEN, BROKEN, BROKEN) == "in 3 of the last 3 pull requests, most recently `201`"


def test_a_fix_in_another_pull_request_is_named_with_it():
    stories = [
        make_record(5, make_approval(12)),
        make_record(6, make_approval(11)),
        make_record(7, make_rejection(9, "date_errors"), make_approval(8, head="77ab0c1"), merged=8),
        make_record(8, make_rejection(6, "date_errors"), closed=5),
        make_record(9, make_rejection(1, "date_errors")),
    ]
    assert recurrence(9, stories) == (
        "in 3 of the last 5 pull requests, most recently `8`; fixed by `77ab0c1` in `7`"
    )


@pytest.mark.parametrize(
    ("author", "private", "names_others"),
    [(CAROL, False, False), (CAROL, True, True), (RIO, False, True), (RIO, True, True)],
)
def test_other_pull_requests_of_a_person_are_not_named_in_public(author, private, names_others):
    story = CommentStory(author=author, private=private).reject("tests_missing")
    earlier = [make_record(number, make_rejection(9 - number, "tests_missing")) for number in (7, 8)]
    line = next(line for line in story.comment(earlier).splitlines() if line.startswith("  - Recurring"))
    counted = "  - Recurring: in 3 of the last 3 pull requests"
    named = f"{counted}, most recently [8](https://redirect.github.com/acme/knowledge/pull/8)"
    assert line == (named if names_others else counted)
