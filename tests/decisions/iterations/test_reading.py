"""What is read of a head, and how much of it is kept?"""

import pytest

from bot.decisions.revisions import MOST_FILES, MOST_LISTED, MOST_PATCH, MOST_READS, unread, with_revisions
from bot.domain.diff import FileDiff
from bot.domain.model import Revision
from tests.builders import HEADS, at, pull_request
from tests.decisions.iterations.story import PAGE, after, head, judged, said


def test_the_first_iteration_reads_nothing():
    assert unread(after(judged(head(1)), said(1, "date_errors"))) == ()


def test_from_the_second_iteration_on_every_judged_head_is_read():  # row 59
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    assert [each.head for each in unread(known)] == list(HEADS[:2])


def test_a_head_that_nobody_judged_is_not_read():
    known = after(judged(head(1), head(2), head(3)), said(1, "date_errors"), said(3, "date_errors"))
    assert [each.head for each in unread(known)] == [HEADS[0], HEADS[2]]


def test_what_was_never_rejected_is_not_read():
    known = after(judged(head(1), head(2)), said(1), said(2))
    assert unread(known) == ()


@pytest.mark.parametrize(
    "read", [{"files": ()}, {"gone": True}, {"reads": MOST_READS}], ids=["read", "gone", "tried often"]
)
def test_a_head_is_not_read_again(read):
    known = after(judged(head(1, **read), head(2, **read)), said(1, "date_errors"), said(2, "date_errors"))
    assert unread(known) == ()


def test_a_judged_head_that_no_event_had_shown_is_stored_when_it_is_read():
    known = after(judged(head(2)), said(1, "date_errors"), said(2, "date_errors"))
    kept = with_revisions(known, [Revision(HEADS[0], at(11), tree="t", files=())])
    assert [(each.head, each.tree) for each in kept.revisions] == [(HEADS[0], "t"), (HEADS[1], None)]


def test_what_is_kept_of_a_pull_request_has_bounds():  # row 84
    many = tuple(FileDiff(f"f{number}.md", blob="b") for number in range(MOST_FILES + 5))
    heads = [Revision(f"{number:040}", at(number), files=many) for number in range(MOST_LISTED + 5)]
    kept = with_revisions(pull_request(revisions=()), heads).revisions
    assert [each.files is None for each in kept].count(True) == 5
    assert {len(each.files) for each in kept if each.files is not None} == {MOST_FILES}


def test_the_patches_of_the_newest_heads_are_kept_first():
    heavy = (FileDiff(PAGE, blob="b", patch="+" * (MOST_PATCH // 2)),)
    heads = [Revision(f"{number:040}", at(number), files=heavy) for number in range(4)]
    kept = with_revisions(pull_request(revisions=()), heads).revisions
    assert [each.files[0].patch is not None for each in kept] == [False, False, True, True]
