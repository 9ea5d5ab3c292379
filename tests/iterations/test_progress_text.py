"""The fold about the iterations, and which of them is worth restoring."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from bot.feedback.progress_text import count_open_entries, quality_summary
from bot.iterations.model import Iteration
from bot.iterations.scoring import Score, ScoredIteration, Trajectory, build_trajectory
from bot.iterations.selection import RestorePlan, differing_files, plan_restore, restore_commands
from bot.pull_request.checks import CheckResult
from bot.pull_request.diff import Diff, FileDiff
from bot.pull_request.model import Item, Revision
from bot.values import Location
from tests.builders import BOB
from tests.feedback.comment_builders import CommentStory, make_files
from tests.findings.ledger_builders import inline, sha
from tests.iterations.iteration_builders import (
    BAND,
    EXAMPLE_ITERATIONS,
    GATES,
    SCORING,
    head,
    make_item,
    make_iteration,
    make_scored_iteration,
    make_unscored_iteration,
)

CART, API, NEW = "src/cart.py", "src/api.py", "src/new.py"
PASSED = (CheckResult("unit", "success", is_test=True),)


def item(tag: str, path: str | None = None) -> Item:
    return Item(tag, f"about {tag}", Location(path) if path else None)


def two_iterations(
    before: tuple[Item, ...], after: tuple[Item, ...], *added: FileDiff, **facts
) -> CommentStory:
    """Two iterations that differ in the cart, the second one with these files added."""
    story = CommentStory()
    story.push_files("b", *make_files(f"{CART}@1"), checks=PASSED).reject(*before)
    story.push_files("c", *make_files(f"{CART}@2"), *added, checks=PASSED)
    return story.reject(*after, **facts)


def summary(story: CommentStory) -> str:
    line = next(line for line in story.comment().splitlines() if "<summary>Progress" in line)
    return line.removeprefix("<details><summary>").removesuffix("</summary>")


WORSE = (item("tests_missing", CART), item("lint_errors", CART), item("error_handling_missing", CART))


def test_an_iteration_with_fewer_blocking_entries_can_be_restored():  # rows 60, 64, 88, 97, 98
    story = two_iterations((item("tests_missing", CART),), WORSE)
    assert summary(story) == "Progress: 1 → 3 blocking. Restoring iteration 1 would leave 1"
    assert f"git fetch origin {sha('b')}\n" in story.comment()


def test_what_is_in_a_new_file_stays_with_it():
    after = (*WORSE, item("docs_missing", NEW), item("type_errors", NEW))
    story = two_iterations((), after, *make_files(f"{NEW}@1", status="added"))
    assert "`src/new.py`, added since, stays" in story.comment()
    assert f"-- {CART}\n" in story.comment()


def test_what_was_fixed_since_would_be_open_again():
    story = two_iterations((item("type_errors", CART),), WORSE)
    assert summary(story) == "Progress: 1 → 3 blocking. Restoring iteration 1 would leave 1"
    assert "\n\n`type_errors` would be open again.\n" in story.comment()


@pytest.mark.parametrize(
    "story",
    [
        two_iterations(WORSE, WORSE[:1]),  # it got better
        two_iterations(WORSE[:1], (item("lint_errors", CART),)),  # as many as before
        two_iterations(WORSE[:1], (item("lint_errors", API), item("type_errors", API))),  # elsewhere
        two_iterations(WORSE[:1], WORSE, who=BOB),  # not reviewed by the same people
        two_iterations(WORSE[:1], WORSE).change(open=False),
    ],
)
def test_nobody_is_sent_back_where_that_is_no_gain(story):
    assert "git restore" not in story.comment()


def test_an_iteration_that_github_no_longer_has_is_not_offered():
    story = two_iterations(WORSE[:1], WORSE)
    revisions = [replace(r, gone=r.head == sha("b")) for r in story.pull_request.revisions]
    assert "git restore" not in story.change(revisions=tuple(revisions)).comment()


def test_there_is_no_fold_before_the_second_iteration():  # row 59
    assert "Progress" not in CommentStory().reject("tests_missing").comment()


@pytest.mark.parametrize(("line", "leaves"), [(9, "1"), (15, "")])
def test_restoring_is_not_offered_for_lines_that_were_there_before(line, leaves):
    story = CommentStory().reject("tests_missing").push("b", {9: "changed"})
    story.reject("tests_missing", inline(1, line))
    offer = f". Restoring iteration 1 would leave {leaves}" if leaves else ""
    assert summary(story) == f"Progress: 1 → 2 blocking{offer}"


def test_without_a_score_the_fold_still_shows_what_was_open():
    story = CommentStory().reject("tests_missing").push("b", {9: "x"}).reject("tests_missing", "lint_errors")
    story.change(revisions=tuple(Revision(r.head, r.seen_at) for r in story.pull_request.revisions))
    assert "<summary>Progress: 1 → 2 blocking</summary>" in story.comment()


def test_a_long_history_shows_the_last_five_and_the_best():  # row 52
    story = CommentStory()
    for number, letter in enumerate("bcdef012"):
        story.push_files(letter, *make_files(f"{CART}@{number}"), checks=PASSED)
        story.reject(*([item("naming_unclear", CART)] if number == 1 else WORSE[: 1 + number % 2]))
    rows = [line.split()[1] for line in story.comment().splitlines() if line[:4].strip("| ").isdigit()]
    assert rows == ["2", "4", "5", "6", "7", "8"]
    assert summary(story).startswith("Progress: … → ")


def test_the_documents_own_trajectory():  # row 62
    way = build_trajectory(EXAMPLE_ITERATIONS, 3, GATES, SCORING.weights, BAND)
    assert quality_summary(way) == "Quality 0.72 → 0.85 → 0.83: iteration 2 scored higher than the last one"


@pytest.mark.parametrize(
    ("scores", "present", "expected"),
    [
        ((0.65, 0.9), 2, "Quality 0.65 → 0.90: the last iteration is the best"),
        ((0.65, 0.9, 0.68), 2, "Quality 0.65 → 0.90 → 0.68: iteration 2, the current one, is the best"),
        ((0.9, 0.9), 2, "Quality 0.90 → 0.90: no iteration scored higher than iteration 1"),
        ((0.69, None), 2, "Quality 0.69 → –: iteration 1 is the best that was scored"),
        ((None, None), 2, "2 iterations, none of them scored"),
        (
            (0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67),
            7,
            "Quality … → 0.63 → 0.64 → 0.65 → 0.66 → 0.67: the last iteration is the best",
        ),
    ],
)
def test_the_summary_says_the_result(scores, present, expected):
    scored = tuple(make_scored_iteration(number, score) for number, score in enumerate(scores, 1))
    assert quality_summary(Trajectory(scored, present)) == expected


def test_how_many_entries_are_open():
    twice = make_iteration(1, "a", [make_item("date_errors"), make_item("date_errors")])
    assert count_open_entries(twice, GATES) == "1 blocking"
    assert count_open_entries(Iteration(1, head("a"), make_iteration().reviewed_at, ()), GATES) == "nothing"


# Restoring


def files(*paths_and_blobs, status="modified") -> Diff:
    return Diff(tuple(FileDiff(path, blob=blob, status=status) for path, blob in paths_and_blobs))


def at(number: int, diff: Diff | None) -> ScoredIteration:
    return replace(make_unscored_iteration(number, "ab"[number - 1], diff=diff), score=Score(0.5, ()))


RANGES = ((head("b"), head("a")), (head("a"), head("b")))
"""Neither merge base is known."""


def test_the_files_that_differ():
    earlier, present = files(("a", "1"), ("b", "1"), ("c", "1")), files(("a", "1"), ("b", "2"), ("d", "1"))
    assert differing_files(earlier, present) == ("b", "c", "d")


def test_a_file_that_one_iteration_removed_differs():
    assert differing_files(files(("a", None), status="removed"), files(("a", None))) == ("a",)


def test_a_new_file_is_kept_and_one_that_was_deleted_then_goes():
    gone = FileDiff("old", status="removed")
    earlier = Diff((*files(("both", "1")).files, gone))
    present = Diff((*files(("both", "2"), ("base", "3")).files, FileDiff("new", status="added", blob="1")))
    assert plan_restore(at(1, earlier), at(2, present)) == RestorePlan(
        restored=("both", "old", "base"), kept=("new",), removed=("old",), ranges=RANGES
    )


def test_a_renamed_file_comes_back_under_its_old_name():
    renamed = FileDiff("to", status="renamed", previous_path="from", blob="1")
    plan = plan_restore(at(1, files(("a", "1"))), at(2, Diff((*files(("a", "2")).files, renamed))))
    assert plan == RestorePlan(restored=("a", "from"), kept=("to",), ranges=RANGES)


def test_where_github_did_not_list_every_file_the_rest_is_left_to_git():
    many = [(f"{number}.md", "1") for number in range(300)]
    plan = plan_restore(at(1, files(("a", "1"))), at(2, files(*many)))
    assert not plan.is_complete
    assert "299.md" not in restore_commands("c0ffee", plan)


@pytest.mark.parametrize(
    ("earlier", "present"),
    [(files(("a", "1")), files(("a", "1"))), (None, files(("a", "1"))), (files(("a", "1")), None)],
)
def test_there_is_nothing_to_restore(earlier, present):
    assert plan_restore(at(1, earlier), at(2, present)) is None


@pytest.mark.parametrize(
    ("path", "argument"),
    [
        ("docs/a b.md", "'docs/a b.md'"),
        ("$(reboot).md", "'$(reboot).md'"),
        ("it's.md", "'it'\"'\"'s.md'"),
        ("a[1].md", "':(literal)a[1].md'"),
        (":top", "':(literal):top'"),
        ("-rf", "-rf"),
    ],
)
def test_a_file_name_is_only_a_name(path, argument):  # row 88
    assert restore_commands("c0ffee", RestorePlan((path,))) == (
        f"git fetch origin c0ffee\ngit restore --source=FETCH_HEAD --staged --worktree -- {argument}"
    )


@pytest.mark.parametrize("path", ["a\nb", "<!-- REJECTION: {} -->", "```"])
def test_a_name_that_can_t_be_shown_is_left_to_git(path):
    assert path not in restore_commands("c0ffee", RestorePlan((path,), ranges=RANGES))


def git(directory, *arguments: str, script: str = "") -> str:
    command = ["bash", "-ec", script] if script else ["git", *arguments]
    # Our own commands on a directory of the test: nothing in them is foreign.
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout  # noqa: S603


@pytest.fixture
def checkout(tmp_path):
    """A clone whose branch has an earlier head, and a function that commits files on it."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--initial-branch=main", str(origin))
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    for name, value in (("user.name", "t"), ("user.email", "t@example.org"), ("commit.gpgsign", "false")):
        git(clone, "config", name, value)
    return clone


def commit(checkout, texts: dict[str, str], branch: str = "topic") -> str:
    for path, text in texts.items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_text(text)
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "more")
    git(checkout, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
    return git(checkout, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize("count", [2, 40, 400])
def test_the_commands_restore_any_number_of_files_and_nothing_of_the_base(checkout, count):
    names = [f"some/directory/with a longer name/file [{number}].txt" for number in range(count)]
    base = commit(checkout, {"base.txt": "one", "gone.txt": "one"}, branch="base")
    (checkout / "gone.txt").unlink()
    earlier = commit(checkout, dict.fromkeys(names, "earlier"))
    git(checkout, "checkout", "-q", base)
    later_base = commit(checkout, {"base.txt": "two", "base [new].txt": "two"}, branch="base")
    git(checkout, "checkout", "-q", earlier)
    git(checkout, "merge", "-q", later_base)
    later = {**dict.fromkeys(names, "later"), "new.txt": "new", "gone.txt": "back"}
    present = commit(checkout, later)
    ranges = ((base, earlier), (later_base, present))
    plan = RestorePlan((*names, "gone.txt"), kept=("new.txt",), removed=("gone.txt",), ranges=ranges)
    git(checkout, script=restore_commands(earlier, plan))
    assert {(checkout / name).read_text() for name in names} == {"earlier"}
    assert not (checkout / "gone.txt").exists()
    assert [(checkout / name).read_text() for name in ("new.txt", "base.txt", "base [new].txt")] == [
        "new",
        "two",
        "two",
    ]


def test_a_list_of_files_stays_short_in_the_comment():
    paths = tuple(f"directory/{number}/file.py" for number in range(3_000))
    many = RestorePlan(paths, ranges=(("ba5e1", "c0ffee"), ("ba5e2", "decade")))
    assert restore_commands("c0ffee", many) == snapshot("""\
git fetch origin c0ffee
{
  git diff --name-only --no-renames -z ba5e1 c0ffee | xargs -0 git --literal-pathspecs diff --name-only --no-renames -z FETCH_HEAD HEAD --
  git diff --name-only --no-renames -z ba5e2 decade | xargs -0 git --literal-pathspecs diff --name-only --no-renames -z --diff-filter=a FETCH_HEAD HEAD --
} | git --literal-pathspecs restore --source=FETCH_HEAD --staged --worktree --pathspec-from-file=- --pathspec-file-nul\
""")
