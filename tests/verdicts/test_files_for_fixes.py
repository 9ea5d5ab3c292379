"""Which files are read for a certain fix, and which items get one?"""

from dataclasses import replace

import pytest

from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.values import Location
from bot.verdicts.item_context import MAX_FIX_FILES, add_fixes, file_key, files_for_fixes
from tests.builders import HEADS, at_minute, make_pull_request

PAGE = "claims/first.md"
TEXT = "---\ntype: claim\ncreated: 2026/11/14\n---\n"
FILES = {file_key(HEADS[0], PAGE): TEXT}
RIGHT = "created: 2026-11-14"
WRONG = Item("date_errors", "the form is wrong", Location(PAGE, 3))


def verdict(*items: Item, **changes) -> Verdict:
    said = Verdict("review:3", Validator("user:1", "alice"), Stance.REJECTS, at_minute(3), HEADS[0], items)
    return replace(said, **changes)


def judged(*items: Item, **changes):
    return make_pull_request(verdicts=(verdict(*items, **changes),))


def suggested(before, after, files=FILES) -> list[str | None]:
    return [item.suggestion for item in add_fixes(before, after, files).verdicts[0].items]


def test_the_file_of_a_new_item_with_a_certain_fix_is_read_at_the_head_that_was_judged():
    assert files_for_fixes(make_pull_request(), judged(WRONG)) == ((HEADS[0], PAGE),)


def test_a_file_is_read_once_however_many_items_point_at_it():
    assert files_for_fixes(make_pull_request(), judged(WRONG, replace(WRONG, words="wrong"))) == (
        (HEADS[0], PAGE),
    )


def test_no_more_than_so_many_files_are_read_in_one_turn():
    many = [replace(WRONG, place=Location(f"claims/{number}.md", 3)) for number in range(MAX_FIX_FILES + 3)]
    wanted = [path for _, path in files_for_fixes(make_pull_request(), judged(*many))]
    assert (len(wanted), wanted) == (5, [f"claims/{number}.md" for number in range(5)])


@pytest.mark.parametrize(
    "changes",
    [
        {"head": None},
        {"counted": False},
        {"stance": Stance.APPROVES},
        {"lifted_at": at_minute(4)},
    ],
)
def test_nothing_is_read_for_a_verdict_that_does_not_reject_a_known_head(changes):
    assert files_for_fixes(make_pull_request(), judged(WRONG, **changes)) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"tag": "scope_error"},
        {"tag": None},
        {"place": None},
        {"suggestion": "created: 2026-11-13"},
        {"inferred": 0.7},
    ],
)
def test_an_item_without_a_certain_fix_of_its_own_is_left_as_it_is(changes):
    other = replace(WRONG, **changes)
    assert files_for_fixes(make_pull_request(), judged(other)) == ()
    assert suggested(make_pull_request(), judged(other, WRONG)) == [other.suggestion, RIGHT]


def test_an_item_that_was_known_before_is_not_read_for_again():
    assert files_for_fixes(judged(WRONG), judged(WRONG)) == ()
    assert files_for_fixes(judged(WRONG), judged(WRONG, id="review:9")) == ((HEADS[0], PAGE),)


def test_a_fix_that_was_known_stays_without_its_file():
    before = judged(replace(WRONG, suggestion=RIGHT))
    assert suggested(before, judged(WRONG), files={}) == [RIGHT]
    assert suggested(judged(WRONG), judged(WRONG), files={}) == [None]


def test_the_file_that_is_read_now_says_more_than_what_was_known():
    before = judged(replace(WRONG, suggestion="created: 2026-11-13"))
    assert suggested(before, judged(WRONG)) == [RIGHT]


def test_a_file_in_which_nothing_is_wrong_gives_no_fix():
    right = {file_key(HEADS[0], PAGE): TEXT.replace("2026/11/14", "2026-11-15")}
    assert suggested(make_pull_request(), judged(WRONG), right) == [None]
