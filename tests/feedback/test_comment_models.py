"""The comment reads as its models do: a rejection, several threads of one person, and the end."""

from inline_snapshot import snapshot

from bot.pull_request.checks import CheckResult
from bot.pull_request.model import Item
from bot.values import Location
from tests.feedback.comment_builders import (
    CODERABBIT,
    CommentStory,
    make_files,
    make_remark,
    make_test_failure,
)

PASSED = CheckResult("ci / test", "success", is_test=True)
FAILED = CheckResult("ci / test", "failure", is_test=True)
CART, DISCOUNT, TESTS = "src/cart.py", "src/discount.py", "tests/test_cart.py"
QUADRATIC = "total() is called twice per item, that is quadratic for large carts"


def tell_story() -> CommentStory:
    """Three iterations: three issues, then one, then four and a warning."""
    story = CommentStory()
    failure = make_test_failure("test_total_with_discount", TESTS, 41, "assert 90 == 100")
    error_handling = make_remark(
        1, CART, 88, "bare except hides the KeyError from price()", "error_handling_missing"
    )
    story.push_files("b", *make_files(f"{CART}@1", f"{TESTS}@1"), checks=(FAILED,))
    docs = Item("docs_missing", "the README says nothing about it")
    untested = Item("tests_missing", "nothing tests price()", Location(CART))
    story.reject(docs, untested, Item("lint_errors", "unused import", Location(CART, 1)))
    story.reject(validator=CODERABBIT, advisory=True)
    story.check(failure)
    story.push_files("c", *make_files(f"{CART}@2", f"{TESTS}@2"), checks=(PASSED,))
    story.reject(error_handling, docs)
    story.reject(validator=CODERABBIT, advisory=True)
    story.check()
    added = make_files(f"{DISCOUNT}@1", status="added")
    story.push_files("d", *make_files(f"{CART}@3", f"{TESTS}@3"), *added, checks=(FAILED,))
    story.reject(
        error_handling,
        Item("tests_missing", "src/discount.py has no tests", Location(DISCOUNT)),
        make_remark(2, CART, 61, f"{QUADRATIC}; compute it once before the loop"),
        make_remark(3, CART, 12, "nit: tmp2", "naming_unclear"),
    )
    story.reject(make_remark(4, CART, 61, QUADRATIC, blocks=True), validator=CODERABBIT, advisory=True)
    story.check(failure)
    return story


def test_a_rejection_reads_as_its_model():
    assert tell_story().visible() == snapshot("""\
**Rejected** — 4 blocking issues, 1 warning

**Next** (author): make `test_total_with_discount` pass, fix the other 3 below in this order, and push once. Every reviewer and check has reported.

Iteration 3 of 5 at [`ddddddd`](https://github.com/acme/knowledge/commit/dddddddddddddddddddddddddddddddddddddddd), reviewed by `alice`, `coderabbitai[bot]` and `ci / test`. Since iteration 2: 1 fixed, 1 still open, 3 new, 1 regressed.

**[BLOCK] Tests**: At least one test fails at this revision
  - Fix: Make `test_total_with_discount` pass: `assert 90 == 100`. `tests_failing`
  - Where: [`tests/test_cart.py:41`](https://github.com/acme/knowledge/blob/dddddddddddddddddddddddddddddddddddddddd/tests/test_cart.py#L41), [run](https://github.com/acme/knowledge/actions/runs/311/job/8812) (Source: check `ci / test` @ ddddddd)
  - Regressed: fixed in iteration 2

**[BLOCK] Error handling**: A failure is ignored, or reaches the user as a crash
  - Fix: Catch the specific error where it can be handled, let all others propagate, and test the failing case. `error_handling_missing`
  - Where: [`src/cart.py:88`](https://github.com/acme/knowledge/blob/dddddddddddddddddddddddddddddddddddddddd/src/cart.py#L88) `bare except hides the KeyError from price()` (Source: review by `alice` @ ddddddd)

**[BLOCK] Test coverage**: Changed behaviour has no test that would fail without the change
  - Fix: Add a test that fails on the base branch and passes here: one for the usual case, and one for each edge case that the change affects. `tests_missing`
  - Where: [`src/discount.py`](https://github.com/acme/knowledge/blob/dddddddddddddddddddddddddddddddddddddddd/src/discount.py) `src/discount.py has no tests` (Source: review by `alice` @ ddddddd)

**[BLOCK] Review comment**: `total() is called twice per item, that is quadratic for large carts; compute it once before the loop`
  - Fix: Change it, or reply in [the thread](https://github.com/acme/knowledge/pull/212#discussion_r2). `f7`
  - Where: [`src/cart.py:61`](https://github.com/acme/knowledge/blob/dddddddddddddddddddddddddddddddddddddddd/src/cart.py#L61) (Source: reviews by `alice` and `coderabbitai[bot]` @ ddddddd)

<details><summary>1 warning, not blocking: Names</summary>

**[WARN] Names**: A name does not say what the thing is or does
  - Fix: Rename it to the term that the domain or the surrounding code uses: a verb for a function, a statement for a boolean. `naming_unclear`
  - Where: [`src/cart.py:12`](https://github.com/acme/knowledge/blob/dddddddddddddddddddddddddddddddddddddddd/src/cart.py#L12) `nit: tmp2` (Source: review by `alice` @ ddddddd)

</details>

<details><summary>Progress: 3 → 1 → 4 blocking. Restoring iteration 2 would leave 2</summary>

| Iteration | Quality | Open | Decided by |
|---|---|---|---|
| 1 [`bbbbbbb`](https://redirect.github.com/acme/knowledge/commit/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb) | 0.28 | 3 blocking, 1 warning | correctness 0.00, 0 of 1 check passed |
| 2 [`ccccccc`](https://redirect.github.com/acme/knowledge/commit/cccccccccccccccccccccccccccccccccccccccc) | **0.69** | 1 blocking, 1 warning | correctness 0.60, 1 of 1 check passed |
| 3 [`ddddddd`](https://redirect.github.com/acme/knowledge/commit/dddddddddddddddddddddddddddddddddddddddd) | 0.34 | 4 blocking, 1 warning | correctness 0.00, 0 of 1 check passed |

[Changes from 2 to 3](https://redirect.github.com/acme/knowledge/compare/ccccccc..ddddddd). To restore the files of iteration 2 on your branch without rewriting history:

```sh
git fetch origin cccccccccccccccccccccccccccccccccccccccc
git restore --source=FETCH_HEAD --staged --worktree -- src/cart.py tests/test_cart.py
```

`src/discount.py`, added since, stays, and so does `tests_missing`.

</details>

<sub>Disagree? `/feedback-appeal f7 reason: …` · More about a gate: `/feedback-explain tests_missing` · Your history: `/feedback-history`</sub>
""")


def test_the_marker_of_a_rejection():
    assert tell_story().marker() == snapshot(
        {
            "issues": ["error_handling_missing", "tests_missing", "naming_unclear", "tests_failing"],
            "source": "alice",
            "ts": "2026-11-15T15:00:00+00:00",
            "v": 1,
            "id": "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10",
            "verdict": "refine",
            "blocking": ["tests_failing", "error_handling_missing", "tests_missing"],
            "head": "dddddddddddddddddddddddddddddddddddddddd",
            "iteration": 3,
            "max_iterations": 5,
            "best": {"iteration": 2, "head": "cccccccccccccccccccccccccccccccccccccccc"},
            "open": {"blocking": 4, "warnings": 1},
            "turn": "author",
            "pending": [],
        }
    )


def test_several_threads_of_one_person_are_links_only():
    story = CommentStory().reject(
        make_remark(1, CART, 61, "this is quadratic"),
        make_remark(2, CART, 88, "this hides the error"),
        make_remark(3, "src/api.py", 12, "the status is wrong"),
        make_remark(4, CART, 12, "is this used?", blocks=False),
        make_remark(5, "README.md", 4, "maybe name the default", blocks=False),
    )
    assert story.visible() == snapshot("""\
**Rejected** — 3 blocking issues, 2 warnings

**Next** (author): change or answer these, then re-request a review from `alice`.

**[BLOCK] Review comments**: 3 threads by `alice` are open
  - Fix: Change the code or reply in each: [`src/cart.py:61`](https://github.com/acme/knowledge/pull/212#discussion_r1), [`src/cart.py:88`](https://github.com/acme/knowledge/pull/212#discussion_r2), [`src/api.py:12`](https://github.com/acme/knowledge/pull/212#discussion_r3)

**[WARN] Review comments**: 2 questions or suggestions
  - Fix: Answer or ignore: [`src/cart.py:12`](https://github.com/acme/knowledge/pull/212#discussion_r4), [`README.md:4`](https://github.com/acme/knowledge/pull/212#discussion_r5)

<sub>This comment updates as you push. Disagree? Reply in the thread.</sub>
""")


def test_warnings_of_an_app_beside_the_threads_of_a_person_are_not_only_links():
    threads = make_remark(1, CART, 61, "slow"), make_remark(2, CART, 88, "hides it")
    nit = make_remark(3, CART, 9, "prefer a comprehension", blocks=False)
    story = CommentStory().reject(nit, advisory=True, validator=CODERABBIT).reject(*threads)
    assert "**[BLOCK] Review comments**" not in story.visible()
    assert "prefer a comprehension" in story.visible()


def test_a_push_changes_the_links_by_one_line():
    story = CommentStory().reject(make_remark(1, CART, 61, "slow"), make_remark(2, CART, 88, "hides it"))
    before = story.visible().split("\n\n")
    story.push("c", {9: "x"})
    assert story.visible().split("\n\n") == [
        *before[:2],
        "`ccccccc` was pushed since; not reviewed yet.",
        *before[2:],
    ]


def make_accepted_story() -> CommentStory:
    story = tell_story()
    files = make_files(f"{CART}@4", f"{TESTS}@4"), make_files(f"{DISCOUNT}@2", status="added")
    story.push_files("e", *files[0], *files[1], checks=(PASSED,))
    story.approve().approve(validator=CODERABBIT)
    return story.check()


def test_what_is_resolved_waits_for_a_maintainer():
    assert make_accepted_story().visible() == snapshot("""\
**Resolved** — 5 fixed, at [`eeeeeee`](https://github.com/acme/knowledge/commit/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee), iteration 4

**Next** (maintainer): merge it; nothing rejects it any more.

<details><summary>Quality 0.28 → 0.69 → 0.34 → 1.00: the last iteration is the best</summary>

| Iteration | Quality | Open | Decided by |
|---|---|---|---|
| 1 [`bbbbbbb`](https://redirect.github.com/acme/knowledge/commit/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb) | 0.28 | 3 blocking, 1 warning | correctness 0.00, 0 of 1 check passed |
| 2 [`ccccccc`](https://redirect.github.com/acme/knowledge/commit/cccccccccccccccccccccccccccccccccccccccc) | 0.69 | 1 blocking, 1 warning | correctness 0.60, 1 of 1 check passed |
| 3 [`ddddddd`](https://redirect.github.com/acme/knowledge/commit/dddddddddddddddddddddddddddddddddddddddd) | 0.34 | 4 blocking, 1 warning | correctness 0.00, 0 of 1 check passed |
| 4 [`eeeeeee`](https://redirect.github.com/acme/knowledge/commit/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee) | **1.00** | nothing | no open item, 1 of 1 check passed |

</details>
""")


def test_what_was_merged_gets_no_advice():
    story = make_accepted_story().change(open=False, merged=True)
    assert story.visible() == snapshot("""\
**Merged** — 5 fixed, at [`eeeeeee`](https://github.com/acme/knowledge/commit/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee), iteration 4

<details><summary>Quality 0.28 → 0.69 → 0.34 → 1.00: the last iteration is the best</summary>

## Output Selection Report

**Loop ID**: acme/knowledge#212
**Total Iterations**: 4
**Selected Iteration**: 4

### Quality Scores

| Iteration | Quality | Status |
|-----------|---------|--------|
| 1 | 28% | |
| 2 | 69% | |
| 3 | 34% | |
| 4 | 100% | ✓ SELECTED (final) |

### Selection Rationale

Iteration 4 selected because:
- Highest quality score (100%), and the final iteration
- Quality degraded in iteration 3
- All validation checks passed

### Artifacts Applied

- `src/cart.py`, `tests/test_cart.py`, `src/discount.py` (from iteration 4, as merged)

</details>
""")
    assert story.marker() == snapshot(
        {
            "issues": [],
            "source": "alice",
            "ts": "2026-11-15T15:00:00+00:00",
            "v": 1,
            "id": "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10",
            "verdict": "accept",
            "blocking": [],
            "head": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
            "iteration": 4,
            "max_iterations": 5,
            "best": {"iteration": 4, "head": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"},
            "open": {"blocking": 0, "warnings": 0},
            "turn": "nobody",
            "pending": [],
        }
    )


def test_what_was_merged_while_it_was_rejected_gets_no_advice_either():
    story = tell_story().change(open=False, merged=True)
    assert story.visible().partition("\n")[0] == snapshot(
        "**Merged** — 4 blocking issues open, 1 warning open, at [`ddddddd`](https://github.com/acme/knowledge/commit/dddddddddddddddddddddddddddddddddddddddd), iteration 3"
    )
    marker = story.marker()
    assert (marker["verdict"], marker["issues"], marker["blocking"], marker["turn"]) == (
        "accept",
        [],
        [],
        "nobody",
    )
    assert "Next" not in story.comment()
    assert "  - Fix" not in story.comment()
    assert "Machine-readable" not in story.comment()


def test_what_was_closed_while_it_was_rejected_says_so():
    story = tell_story().change(open=False)
    assert story.visible().partition("\n")[0] == snapshot(
        "**Closed** — 4 blocking issues open, 1 warning open, at [`ddddddd`](https://github.com/acme/knowledge/commit/dddddddddddddddddddddddddddddddddddddddd), iteration 3"
    )
    assert (story.marker()["verdict"], story.marker()["turn"]) == ("reject", "nobody")
    assert "Next" not in story.comment()
    assert "git restore" not in story.comment()
