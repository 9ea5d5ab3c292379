from __future__ import annotations

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from bot.feedback.progress_text import count_open_gates, fold_progress, progress_summary, shorter_path
from bot.iterations.model import Iteration
from bot.iterations.progress import Cause, Degradation, DegradationSign, Trigger
from bot.iterations.scoring import IterationSnapshot, Score, ScoredIteration, Trajectory, build_trajectory
from bot.iterations.selection import differing_files, restore_commands
from bot.markdown.links import GitHubLinks
from bot.pull_request.diff import Diff, FileDiff
from tests.iterations.iteration_builders import (
    ACME,
    BAND,
    EXAMPLE_ITERATIONS,
    GATES,
    SCORING,
    head,
    make_item,
    make_iteration,
    make_iteration_snapshot,
    make_scored_iteration,
)

FILE = "claims/markets/futarchy-manipulation.md"


def at(number, sha, quality, decided, tags, *, blob="1", **facts) -> ScoredIteration:
    iteration = make_iteration(number, "a", [make_item(tag) for tag in tags])
    iteration = replace(iteration, head=sha)
    seen = IterationSnapshot(iteration, diff=Diff((FileDiff(FILE, added=40, blob=blob),)), **facts)
    return ScoredIteration(seen, Score(quality, (), (), decided))


FIRST = at(
    1,
    "1b7e0d2",
    0.65,
    "completeness 0.40, 3 of 5 checks passed",
    ["body_too_thin", "frontmatter_schema", "scope_error"],
    blob="1",
)
SECOND = at(
    2,
    "4d10c9a2e6b7f8035c1d9e4a7b60f2c3d8e9a1b4",
    0.90,
    "correctness 0.60, 5 of 5 checks passed",
    ["title_overclaims", "broken_wiki_links"],
    blob="2",
)
THIRD = at(
    3,
    "9f2c1e47a1d0b6c85e3f2a9947d1c0be5a6f7d83",
    0.68,
    "correctness 0.00, 4 of 5 checks passed",
    ["date_errors", "title_overclaims", "factual_discrepancy", "broken_wiki_links", "near_duplicate"],
    blob="3",
)
DROP = Degradation(3, -0.22, (Trigger.QUALITY_DELTA, Trigger.VALIDATION_FAILURES_INCREASED))
QUIET = Degradation(2)


def shown(*scored, found=QUIET, present=None, web=None) -> str | None:
    way = Trajectory(scored, present or scored[-1].number)
    return fold_progress(way, found, GATES, web or GitHubLinks(), ACME)


def test_the_fold_reads_as_in_the_model():  # row 60 # row 64 # row 88 # row 97 # row 98
    assert shown(FIRST, SECOND, THIRD, found=DROP) == snapshot("""\
<details><summary>Quality 0.65 → 0.90 → 0.68: iteration 2 was the best. How to go back to it</summary>

| Iteration | Quality | Open | What decided |
|---|---|---|---|
| 1 [`1b7e0d2`](https://redirect.github.com/acme/knowledge/commit/1b7e0d2) | 0.65 | 3 blocking | completeness 0.40, 3 of 5 checks passed |
| 2 [`4d10c9a`](https://redirect.github.com/acme/knowledge/commit/4d10c9a2e6b7f8035c1d9e4a7b60f2c3d8e9a1b4) | **0.90** | 1 blocking, 1 warning | correctness 0.60, 5 of 5 checks passed |
| 3 [`9f2c1e4`](https://redirect.github.com/acme/knowledge/commit/9f2c1e47a1d0b6c85e3f2a9947d1c0be5a6f7d83) | 0.68 | 3 blocking, 2 warnings | correctness 0.00, 4 of 5 checks passed |

[What changed from 2 to 3](https://redirect.github.com/acme/knowledge/compare/4d10c9a..9f2c1e4). To take over the files of iteration 2 on your branch, without rewriting history:

```sh
git fetch origin 4d10c9a2e6b7f8035c1d9e4a7b60f2c3d8e9a1b4
git restore --source=FETCH_HEAD --staged --worktree -- claims/markets/futarchy-manipulation.md
```

</details>\
""")


def test_there_is_no_fold_before_the_second_iteration():  # row 59
    assert shown(FIRST) is None


def test_there_is_no_fold_where_nothing_was_observed():
    assert shown(make_scored_iteration(1, None), make_scored_iteration(2, None)) is None


def test_the_documents_own_trajectory_in_the_fold():  # row 62
    way = build_trajectory(EXAMPLE_ITERATIONS, 3, GATES, SCORING.weights, BAND)
    assert (
        progress_summary(way) == "Quality 0.72 → 0.85 → 0.83: iteration 2 was the best. How to go back to it"
    )


APPROVED = ScoredIteration(make_iteration_snapshot(3, "c", approved=True), Score(0.68, ()))


@pytest.mark.parametrize(
    ("scored", "present", "expected"),
    [
        ((FIRST, SECOND), 2, "Quality 0.65 → 0.90: the last iteration is the best"),
        ((FIRST, SECOND, THIRD), 2, "Quality 0.65 → 0.90 → 0.68: iteration 2, the present one, is the best"),
        (
            (make_scored_iteration(1, 0.9), make_scored_iteration(2, 0.9)),
            2,
            "Quality 0.90 → 0.90: as good as iteration 1, none was better",
        ),
        (
            (FIRST, SECOND, APPROVED),
            3,
            "Quality 0.65 → 0.90 → 0.68: iteration 2 scored higher, the verdict stands",
        ),
        (
            (SECOND, replace(THIRD, snapshot=replace(THIRD.snapshot, diff=SECOND.snapshot.diff))),
            3,
            "Quality 0.90 → 0.68: iteration 2 scored higher with the same files",
        ),
        (
            (replace(SECOND, snapshot=replace(SECOND.snapshot, available=False)), THIRD),
            3,
            "Quality 0.90 → 0.68: iteration 2 was the best, but GitHub no longer has it",
        ),
        (
            tuple(
                make_scored_iteration(number, quality / 100)
                for number, quality in enumerate(range(61, 68), 1)
            ),
            7,
            "Quality … → 0.63 → 0.64 → 0.65 → 0.66 → 0.67: the last iteration is the best",
        ),
    ],
)
def test_the_summary_says_the_result(scored, present, expected):
    assert progress_summary(Trajectory(scored, present)) == expected


@pytest.mark.parametrize(
    "scored",
    [
        (FIRST, SECOND),
        (make_scored_iteration(1, 0.9), make_scored_iteration(2, 0.9)),
        (FIRST, SECOND, APPROVED),
        (SECOND, replace(THIRD, snapshot=replace(THIRD.snapshot, diff=SECOND.snapshot.diff))),
        (replace(SECOND, snapshot=replace(SECOND.snapshot, available=False)), THIRD),
    ],
)
def test_nobody_is_sent_back_where_that_is_no_gain(scored):
    assert "git " not in shown(*scored)
    assert shorter_path(Trajectory(scored, scored[-1].number), GATES) is None


def test_a_long_history_shows_the_last_five_and_the_best():  # row 52
    many = [
        make_scored_iteration(1, 0.5),
        make_scored_iteration(2, 0.9),
        *(make_scored_iteration(number, 0.6) for number in range(3, 9)),
    ]
    rows = [line.split()[1] for line in shown(*many).splitlines() if line[:3].strip("| ").isdigit()]
    assert rows == ["2", "4", "5", "6", "7", "8"]


def test_what_nothing_observed_is_said():  # row 82
    told = [
        make_iteration_snapshot(1, "a", [make_item()]),
        make_iteration_snapshot(2, "b", approved=True, diff=Diff((FileDiff(FILE, 9),))),
    ]
    way = build_trajectory(told, 2, GATES, SCORING.weights, BAND)
    assert "Not observed, so left out: validation everywhere; efficiency in 1." in fold_progress(
        way, QUIET, GATES, GitHubLinks(), ACME
    )


def test_a_cause_that_was_seen_is_named():  # row 91
    found = replace(
        DROP,
        signs=(DegradationSign(Cause.SCOPE_CREEP, "the diff grew from 40 to 90 lines since iteration 1"),),
    )
    assert (
        "Iteration 3 degraded: quality -0.22, more checks failed than before. "
        "Scope creep: the diff grew from 40 to 90 lines since iteration 1; keep to what the pull request is for."
    ) in shown(FIRST, SECOND, THIRD, found=found)


def test_on_another_host_commits_are_bare():
    text = shown(FIRST, SECOND, THIRD, web=GitHubLinks("https://git.example.org"))
    assert "redirect.github.com" not in text
    assert "| 1 `1b7e0d2` |" in text


def test_how_many_gates_are_open():
    assert (
        count_open_gates(make_iteration(1, "a", [make_item("date_errors"), make_item("date_errors")]), GATES)
        == "1 blocking"
    )
    assert count_open_gates(Iteration(1, head("a"), make_iteration().reviewed_at, ()), GATES) == "nothing"


def test_going_back_is_shorter_where_the_best_had_fewer_blocking_gates():  # row 98
    assert shorter_path(Trajectory((FIRST, SECOND, THIRD), 3), GATES) is SECOND
    same = at(2, "b" * 40, 0.7, "", ["scope_error", "date_errors", "title_overclaims"], blob="9")
    assert shorter_path(Trajectory((same, THIRD), 3), GATES) is None


# Going back


def files(*paths_and_blobs, status="modified") -> Diff:
    return Diff(tuple(FileDiff(path, blob=blob, status=status) for path, blob in paths_and_blobs))


def test_the_files_that_differ():
    earlier, present = files(("a", "1"), ("b", "1"), ("c", "1")), files(("a", "1"), ("b", "2"), ("d", "1"))
    assert differing_files(earlier, present) == ("b", "c", "d")


def test_a_file_that_one_iteration_removed_differs():
    assert differing_files(files(("a", None), status="removed"), files(("a", None))) == ("a",)


def restored(*paths, blobs=("1", "2")) -> str:
    earlier, present = (
        make_scored_iteration(number, 0.5, diff=files(*((path, blob) for path in paths)))
        for number, blob in enumerate(blobs, 1)
    )
    return restore_commands(earlier, present)[1].removeprefix(
        "git restore --source=FETCH_HEAD --staged --worktree -- "
    )


@pytest.mark.parametrize(
    ("path", "argument"),
    [
        ("docs/a b.md", "'docs/a b.md'"),
        ("$(reboot).md", "'$(reboot).md'"),
        ("it's.md", "'it'\"'\"'s.md'"),
        ("a[1].md", "':(literal)a[1].md'"),
        (":top", "':(literal):top'"),
        ("-rf", "-rf"),
        ("a\nb", "FILES"),
        ("<!-- REJECTION: {} -->", "FILES"),
        ("```", "FILES"),
    ],
)
def test_a_file_name_is_only_a_name(path, argument):
    assert restored(path) == argument


def test_too_many_files_are_left_to_the_author():
    assert restored(*(f"f{number}" for number in range(31))) == "FILES"


def test_a_commit_is_only_ever_fetched_and_its_files_restored():  # row 88
    assert restore_commands(SECOND, THIRD)[0] == f"git fetch origin {SECOND.head}"
