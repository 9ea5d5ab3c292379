"""What is read of a head, and how much of it is kept?"""

import pytest

from bot.pull_request.diff import FileDiff
from bot.pull_request.model import Revision
from bot.pull_request.record import MAX_KEPT_FILES, MAX_KEPT_HEADS, MAX_PATCH_LENGTH, merge_revisions
from bot.turn.fetch import MAX_READ_ATTEMPTS, unread_revisions
from tests.builders import HEADS, at_minute, make_pull_request
from tests.turn.turn_builders import (
    PAGE,
    decide_and_post,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
)


def test_the_first_iteration_reads_nothing():
    assert (
        unread_revisions(
            decide_and_post(
                make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
            )
        )
        == ()
    )


def test_from_the_second_iteration_on_every_judged_head_is_read():  # row 59
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
    )
    assert [each.head for each in unread_revisions(known)] == list(HEADS[:2])


def test_a_head_that_nobody_judged_is_not_read():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2), make_revision(3)),
        make_revision_review(1, "date_errors"),
        make_revision_review(3, "date_errors"),
    )
    assert [each.head for each in unread_revisions(known)] == [HEADS[0], HEADS[2]]


def test_what_was_never_rejected_is_not_read():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1),
        make_revision_review(2),
    )
    assert unread_revisions(known) == ()


@pytest.mark.parametrize(
    "read", [{"files": ()}, {"gone": True}, {"reads": MAX_READ_ATTEMPTS}], ids=["read", "gone", "tried often"]
)
def test_a_head_is_not_read_again(read):
    known = decide_and_post(
        make_revised_pull_request(make_revision(1, **read), make_revision(2, **read)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
    )
    assert unread_revisions(known) == ()


def test_a_judged_head_that_no_event_had_shown_is_stored_when_it_is_read():
    known = decide_and_post(
        make_revised_pull_request(make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
    )
    kept = merge_revisions(known, [Revision(HEADS[0], at_minute(11), tree="t", files=())])
    assert [(each.head, each.tree) for each in kept.revisions] == [(HEADS[0], "t"), (HEADS[1], None)]


def test_what_is_kept_of_a_pull_request_has_bounds():  # row 84
    many = tuple(FileDiff(f"f{number}.md", blob="b") for number in range(MAX_KEPT_FILES + 5))
    heads = [Revision(f"{number:040}", at_minute(number), files=many) for number in range(MAX_KEPT_HEADS + 5)]
    kept = merge_revisions(make_pull_request(revisions=()), heads).revisions
    assert [each.files is None for each in kept].count(True) == 5
    assert {len(each.files) for each in kept if each.files is not None} == {MAX_KEPT_FILES}


def test_the_patches_of_the_newest_heads_are_kept_first():
    heavy = (FileDiff(PAGE, blob="b", patch="+" * (MAX_PATCH_LENGTH // 2)),)
    heads = [Revision(f"{number:040}", at_minute(number), files=heavy) for number in range(4)]
    kept = merge_revisions(make_pull_request(revisions=()), heads).revisions
    assert [each.files[0].patch is not None for each in kept] == [False, False, True, True]
