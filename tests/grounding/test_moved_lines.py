"""Where an inline comment stands now."""

from dataclasses import replace

import pytest

from bot.gates.config import ClaimType
from bot.grounding.claims import find_claims
from bot.grounding.model import Claim, ClaimForm
from bot.grounding.verify import VerificationContext, verify_claim
from bot.grounding.verify_files import CommentAnchor
from bot.pull_request.facts import EntryKind, FileText, Observations, Tree, TreeEntry
from tests.grounding.small_repository import HEAD, make_observations

PATH = "src/a.py"


def showing(*lines: str) -> Observations:
    tree = Tree({PATH: TreeEntry(EntryKind.FILE, "b" * 40, 10)})
    return Observations(HEAD, tree, {PATH: FileText(lines)})


def place(line: int | None, end: int | None = None) -> Claim:
    return Claim(ClaimType.FILE_LOCATION, "src/a.py", PATH, line, end, form=ClaimForm.PLACE)


def found(claim, observed, anchor=None):
    result = verify_claim(claim, observed, VerificationContext(anchor=anchor))
    return result.outcome.value, result.line, result.end_line, result.moved_from


PADDED = showing(*["#"] * 56, "x = compute()", "y = 2")


def test_a_line_that_still_reads_the_same_is_confirmed():
    assert found(place(57), PADDED, CommentAnchor("x = compute()", 57)) == ("verified", 57, None, None)


def test_a_line_that_moved_is_found_again():
    assert found(place(42), PADDED, CommentAnchor("x = compute()", 42)) == ("verified", 57, None, 42)


def test_a_line_that_github_moved_along_says_where_it_was():
    assert found(place(57), PADDED, CommentAnchor("x = compute()", 42)) == ("verified", 57, None, 42)


def test_an_outdated_comment_without_a_line_is_found_again():
    assert found(place(None), PADDED, CommentAnchor("x = compute()", 42)) == ("verified", 57, None, 42)


def test_several_lines_move_together():
    assert found(place(40, 42), PADDED, CommentAnchor("x = compute()", 42)) == ("verified", 55, 57, 42)


def test_a_line_that_is_gone_is_not_confirmed():
    assert found(place(3), PADDED, CommentAnchor("z = 9", 3)) == ("unverifiable", None, None, None)


def test_a_line_that_is_there_several_times_is_told_apart_by_the_lines_before():
    observed = showing("def a():", "    return 1", "def b():", "    return 1")
    assert found(place(9), observed, CommentAnchor("    return 1", 9, ("def b():",))) == (
        "verified",
        4,
        None,
        9,
    )
    assert found(place(9), observed, CommentAnchor("    return 1", 9))[0] == "unverifiable"


@pytest.mark.parametrize(
    ("line", "end", "outcome"), [(2, None, "verified"), (3, None, "contradicted"), (2, 9, "contradicted")]
)
def test_without_the_line_s_text_the_file_must_have_the_lines(line, end, outcome):
    assert found(place(line, end), showing("a", "b"))[0] == outcome


def test_a_word_that_was_right_at_the_head_the_validator_saw_is_found_again():
    (claim,) = find_claims("`MAX_TRIES` is at src/auth.py:40.")
    result = verify_claim(claim, make_observations(), VerificationContext(reviewed_head="0" * 40))
    assert (result.outcome.value, result.line, result.moved_from) == ("verified", 5, 40)


def test_a_file_of_a_hundred_thousand_lines_is_searched_in_time():
    lines = tuple(f"row {number}" for number in range(100_000))
    observed = showing(*lines)
    assert found(place(5), observed, CommentAnchor("row 99998", 5)) == ("verified", 99_999, None, 5)


def test_a_directory_has_no_lines():
    claim = replace(place(5), path="src")
    assert found(claim, make_observations())[0] == "unverifiable"


def test_a_place_in_a_submodule_a_symlink_or_a_binary_file_is_not_confirmed():
    outcomes = {
        found(replace(place(5), path=path), make_observations())[0]
        for path in ("vendor/lib", "latest.md", "logo.png")
    }
    assert outcomes == {"unverifiable"}
