"""What became of an item's lines, told by the diffs of two heads against their base."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.findings.line_tracking import (
    UNCHANGED_FILE,
    LineMap,
    TrackedFile,
    track_file,
    was_touched,
)
from bot.pull_request.diff import MAX_LISTED_FILES, FileDiff
from bot.pull_request.model import Revision
from bot.values import Location
from tests.builders import at_minute

PAGE = "page.md"
TEXTS = st.lists(st.sampled_from("abcdef"), max_size=14)


def patch(base, now) -> str:
    lines = list(difflib.unified_diff(base, now, lineterm="", n=2))[2:]
    return "\n".join(lines)


def file(base, now, **changes) -> FileDiff:
    facts = {"blob": f"blob:{''.join(now)}", "patch": patch(base, now)}
    return FileDiff(PAGE, **{**facts, **changes})


def revision(*files, base="m1") -> Revision:
    return Revision("a" * 40, at_minute(1), base=base, files=files)


def between(base, old, new, new_base=None) -> TrackedFile:
    """The page's way from one head to the next; a head that has the base's text does not list it."""
    other = base if new_base is None else new_base
    was = revision(*([file(base, old)] if old != base else []))
    now = revision(*([file(other, new)] if new != other else []), base="m1" if new_base is None else "m2")
    return track_file(PAGE, was, now)


@given(TEXTS, TEXTS, TEXTS)
def test_a_line_that_is_said_to_be_kept_is_the_same_line(base, old, new):
    found = between(base, old, new)
    if found.lines is not None:
        places = [(line, found.lines.new_line(line)) for line in range(1, len(old) + 1)]
        kept = [(line, place) for line, place in places if place is not None]
        assert all(old[line - 1] == new[place - 1] for line, place in kept)
        assert [place for _, place in kept] == sorted({place for _, place in kept})


@given(TEXTS, TEXTS)
def test_the_same_text_twice_is_untouched(base, text):
    assert between(base, text, text) == UNCHANGED_FILE


BASE = ["one", "two", "three", "four", "five", "six", "seven", "eight"]


@pytest.mark.parametrize(
    ("old", "new", "line", "changed"),
    [
        ([*BASE, "added"], [*BASE, "mended"], 9, True),
        ([*BASE, "added"], ["first", *BASE, "added"], 9, False),
        ([*BASE, "added"], [*BASE], 9, True),
        ([*BASE, "added"], [*BASE[:2], "2b", *BASE[2:], "added"], 1, False),
        (["zero", *BASE], ["zero", "one", "TWO", *BASE[2:]], 3, True),
        (["zero", *BASE], ["zero", "one", "TWO", *BASE[2:]], 8, False),
        (BASE, [*BASE[:-1], "EIGHT"], 8, True),
        (BASE, [*BASE[:-1], "EIGHT"], 2, False),
    ],
)
def test_an_items_line_is_followed_into_the_next_head(old, new, line, changed):
    assert was_touched(Location(PAGE, line), between(BASE, old, new)) is changed


@pytest.mark.parametrize(
    ("new", "changed"), [(["top", *BASE, "added"], False), (["top", *BASE, "mended"], True)]
)
def test_an_added_line_is_followed_over_a_rebase(new, changed):
    found = between(BASE, [*BASE, "added"], new, new_base=["top", *BASE])
    assert was_touched(Location(PAGE, 9), found) is changed
    assert was_touched(Location(PAGE, 2), found) is False


@pytest.mark.parametrize("new_base", [None, ["top", *BASE]])
def test_other_line_ends_are_no_change(new_base):
    old, onto = [*BASE, "added\r", "more"], new_base or BASE
    found = between(BASE, old, [*onto, "added", "more"], new_base=new_base)
    assert was_touched(Location(PAGE, 9, 10), found) is False


def test_a_line_beside_an_added_one_is_known_by_its_text_over_a_rebase():
    old, onto = [*BASE[:4], "added", *BASE[4:]], ["top", *BASE]
    found = between(BASE, old, ["top", *old], new_base=onto)
    assert [was_touched(Location(PAGE, line), found) for line in (4, 5, 6)] == [False, False, False]


def test_a_range_that_ends_below_what_a_rebase_shows_is_unchanged():
    old, onto = [*BASE[:2], "old", *BASE[3:]], ["1", *BASE[1:]]
    found = between(BASE, old, ["1", "two", "old", *BASE[3:]], new_base=onto)
    assert was_touched(Location(PAGE, 4, 7), found) is False


def test_a_file_that_is_gone_is_changed_everywhere():
    gone = revision(file(BASE, [], status="removed", blob="x"))
    found = track_file(PAGE, revision(file(BASE, [*BASE, "x"])), gone)
    assert found == TrackedFile(has_changed=True, lines=LineMap())


def test_without_a_patch_only_the_file_is_known_to_have_changed():
    before, after = revision(file(BASE, ["a"], patch=None)), revision(file(BASE, ["b"], patch=None))
    found = track_file(PAGE, before, after)
    assert (was_touched(Location(PAGE), found), was_touched(Location(PAGE, 2), found)) == (True, None)


def test_a_renamed_file_is_found_again():
    moved = FileDiff(
        "new.md", status="renamed", blob="b", previous_path=PAGE, patch=patch(BASE, ["0", *BASE])
    )
    found = track_file(PAGE, revision(), revision(moved))
    assert (found.has_changed, found.lines.new_line(2)) == (True, 3)


def test_a_file_that_may_have_been_left_out_of_a_long_list_is_not_known():
    many = revision(*(FileDiff(f"{number}.md", blob="b") for number in range(MAX_LISTED_FILES)))
    assert track_file(PAGE, many, revision()) is None


def test_a_head_that_was_not_read_tells_nothing():
    assert track_file(PAGE, Revision("a" * 40, at_minute(1)), revision()) is None


def test_a_line_far_down_is_not_looked_for():
    deep = "@@ -200000,1 +200000,2 @@\n x\n+y"
    after = revision(FileDiff(PAGE, blob="b", patch=deep))
    assert track_file(PAGE, revision(), after) == TrackedFile(has_changed=True)
