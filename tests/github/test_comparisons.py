import pytest

from bot.github.errors import NotFound, ValidationFailed
from bot.pull_request.checks import CheckResult
from bot.pull_request.diff import Comparison, FileDiff


async def test_a_head_is_read_with_its_tree_and_every_changed_file(
    client, fake_github, place, pull, repository
):
    fake_github.push(pull, {"claims/second.md": "one\ntwo\n"})
    commit = place.objects.commits[pull.head_sha]
    blobs = {path: entry.sha for path, entry in commit.files.items()}
    read = await client.comparison(repository, "main", pull.head_sha)
    assert read == Comparison(  # row 63
        base=pull.base_sha,
        tree=commit.tree_sha,
        ahead=2,
        files=(
            FileDiff(
                "claims/first.md",
                added=3,
                status="added",
                blob=blobs["claims/first.md"],
                patch="@@ -0,0 +1,3 @@\n+# A claim\n+\n+It holds.",
            ),
            FileDiff(
                "claims/second.md",
                added=2,
                status="added",
                blob=blobs["claims/second.md"],
                patch="@@ -0,0 +1,2 @@\n+one\n+two",
            ),
        ),
        messages=("Add a claim", "Address the review"),
    )


async def test_a_branch_with_a_slash_can_be_the_base(client, place, pull, repository):
    place.branches["release/2.x"] = pull.base_sha
    assert (await client.comparison(repository, "release/2.x", pull.head_sha)).ahead == 1


async def test_a_commit_that_github_no_longer_has_is_gone(client, repository):
    with pytest.raises((NotFound, ValidationFailed)):
        await client.comparison(repository, "main", "f" * 40)


async def test_check_runs_and_statuses_are_read_alike(client, fake_github, place, pull, repository):
    ended = fake_github.check(pull, "validate", "failure")
    running = fake_github.start_check_run(place, pull.head_sha, "slow")
    fake_github.set_status(place, pull.head_sha, "ci/lint", "success")
    fake_github.set_status(place, pull.head_sha, "ci/deploy", "pending")
    assert await client.check_results(repository, pull.head_sha) == (
        CheckResult("validate", "failure", app="ci", suite_id=ended.suite_id),
        CheckResult("slow", None, app="ci", suite_id=running.suite_id),
        CheckResult("ci/lint", "success", app=""),
        CheckResult("ci/deploy", None, app=""),
    )


@pytest.mark.parametrize("odd", [{}, [], {"files": None, "commits": "none"}, {"files": [{"filename": ""}]}])
async def test_an_answer_of_another_shape_is_read_as_nothing(client, fake_github, pull, repository, odd):
    fake_github.fail("GET", "*/compare/*", status=200, body=odd)
    assert await client.comparison(repository, "main", pull.head_sha) == Comparison(None, None, (), 0)
