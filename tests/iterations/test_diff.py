from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.findings.line_tracking import LineMap, map_lines
from bot.pull_request.diff import Diff, FileDiff, Hunk, added_lines, hunks

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
PATCH = """\
@@ -1,5 +1,6 @@ a heading
 one
-two
+2
+2b
 three
 four
 five
@@ -7,2 +8,1 @@
 seven
-eight
\\ No newline at end of file"""
NEW = "one\n2\n2b\nthree\nfour\nfive\nsix\nseven\n"


def line_map(old: str, new: str) -> LineMap:
    """The lines of one text in another, and nothing after them."""
    return LineMap(map_lines(old.splitlines(), new.splitlines()))


def test_lines_are_carried_through_a_change():
    lines = line_map(OLD, NEW)
    assert [lines.new_line(line) for line in range(1, 9)] == [1, None, 4, 5, 6, 7, 8, None]


def test_the_lines_after_those_compared_all_move_by_the_same():
    lines = LineMap((1, None, 4), shift=1)
    assert [lines.new_line(line) for line in (0, 3, 4, 90)] == [None, 4, 5, 91]
    assert (lines.has_changed(3, 90), lines.has_changed(2, 90), lines.has_changed(50, 90)) == (
        False,
        True,
        False,
    )
    assert LineMap((1, None, 4), shift=2).has_changed(3, 90) is True


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1, 1, False),
        (2, 2, True),
        (3, 7, False),
        (1, 3, True),
        (8, 8, True),
        (0, 1, None),
        (3, 2, None),
    ],
)
def test_whether_lines_changed(first, last, expected):
    assert line_map(OLD, NEW).has_changed(first, last) is expected


def test_a_line_put_between_changes_the_range_around_it_but_not_its_neighbours():
    lines = line_map("one\ntwo\n", "one\nnew\ntwo\n")
    assert (lines.has_changed(1, 2), lines.has_changed(1, 1), lines.has_changed(2, 2)) == (True, False, False)


def test_a_patch_has_its_hunks_with_where_they_begin():
    first = (" one", "-two", "+2", "+2b", " three", " four", " five")
    assert tuple(hunks(PATCH)) == (Hunk(1, 1, first), Hunk(7, 8, (" seven", "-eight")))


@pytest.mark.parametrize(
    ("patch", "old", "new"),
    [
        ("@@ -2,0 +3,2 @@\n+a\n+b", 3, 3),  # the header names the line that it stands below
        ("@@ -3,2 +2,0 @@\n-a\n-b", 3, 3),
        ("@@ -0,0 +1,2 @@\n+a\n+b", 1, 1),  # a new file
        ("@@ -1,2 +0,0 @@\n-a\n-b", 1, 1),  # a deleted one
    ],
)
def test_a_hunk_with_one_side_alone_begins_at_its_first_line(patch, old, new):
    (hunk,) = hunks(patch)
    assert (hunk.old, hunk.new) == (old, new)


def test_a_line_that_looks_like_a_header_is_only_a_line():
    (hunk,) = hunks("@@ -1,2 +1,2 @@\n-@@ -9 +9 @@\n+@@ -8 +8 @@\n two")
    assert hunk.lines == ("-@@ -9 +9 @@", "+@@ -8 +8 @@", " two")


def test_a_form_feed_does_not_end_a_line():
    (hunk,) = hunks("@@ -1,2 +1,2 @@\n a\x0cb\u2028c\n d")
    assert hunk.lines == (" a\x0cb\u2028c", " d")


def test_a_rebase_that_changes_the_lines_around_leaves_these_alone():
    before = "title\n\nintro\n\nclaim\n\nend\n"
    after = "title\nnew on main\n\nintro\n\nclaim\n\nend, reworded on main\n"
    assert line_map(before, after).has_changed(5, 5) is False
    assert line_map(before, after).new_line(5) == 6


def test_a_rebase_without_change_changes_no_line():
    lines = line_map(OLD, OLD)
    assert [lines.has_changed(line, line) for line in range(1, 9)] == [False] * 8


def test_a_large_file_of_few_different_lines_is_still_compared_in_time():
    lines = [f"line {n % 7}" for n in range(40_000)]
    lines[20_000] = "the only one"
    found = LineMap(map_lines(["new", *lines], [*lines, "new"]))
    assert (found.new_line(20_002), found.new_line(20_003), found.new_line(1)) == (20_001, 20_002, None)


def test_the_added_lines_of_a_diff():
    files = (
        FileDiff("a.md", patch="@@ -1 +1,3 @@\n-old\n+new\n+\n+new"),
        FileDiff("b.png"),
        FileDiff("c.md", patch="@@ -1 +1 @@\n-old\n+other  "),
    )
    assert added_lines(Diff(files)) == {("a.md", "new"): 2, ("c.md", "other"): 1}


def test_the_size_of_a_diff():
    found = Diff((FileDiff("a", added=3, deleted=1), FileDiff("b", added=2)))
    assert found.lines == 6


WORDS = st.lists(st.sampled_from("abcd"), max_size=12).map("\n".join)


NOISE = "x\n" * 460  # so many equal lines that not every pair is tried


@given(WORDS, WORDS, st.booleans())
def test_what_survives_is_the_same_line_and_stays_in_order(old, new, noisy):
    if noisy:
        old, new = f"first\n{NOISE}{old}\n{NOISE}last", f"other\n{NOISE}{new}\n{NOISE}end"
    lines, before, after = line_map(old, new), old.splitlines(), new.splitlines()
    places = [(line, lines.new_line(line)) for line in range(1, len(before) + 1)]
    kept = [(line, now) for line, now in places if now is not None]
    assert all(before[line - 1] == after[now - 1] for line, now in kept)
    assert [now for _, now in kept] == sorted({now for _, now in kept})
