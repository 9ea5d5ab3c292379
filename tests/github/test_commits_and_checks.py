import pytest

from bot.fakegithub.checks import Annotation as Found
from bot.fakegithub.checks import CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.github.errors import Forbidden, ValidationFailed
from bot.pull_request.checks import CheckAnnotation, CheckRunText
from bot.pull_request.diff import Suggestion
from bot.values import Conclusion
from tests.judges.judge import Judge

HEAD = "f" * 40


@pytest.fixture(autouse=True)
def judged(fake_github):
    judge = Judge()
    judge.watch(fake_github)
    yield
    assert judge.violations == []


def said(head, **changes):
    values = {"conclusion": Conclusion.FAILURE, "title": "2 mistakes", "summary": "See below."} | changes
    return CheckRunText("whetstone/gates", head, places="p1", **values)


async def test_a_file_is_read_as_it_is_at_a_ref(client, fake_github, place, repository):
    first = place.branches["main"]
    fake_github.commit_to_default_branch(place, {"a dir/ü?#.md": b"\xff\x00text"})
    assert await client.file(repository, "a dir/ü?#.md") == b"\xff\x00text"
    assert await client.file(repository, "a dir/ü?#.md", first) is None
    assert await client.file(repository, "README.md", first) == b"# kb\n"
    assert await client.file(repository, "a dir") is None


async def test_a_file_that_did_not_change_costs_nothing_of_the_limit(client, fake_github, repository):
    await client.file(repository, "README.md")
    await client.file(repository, "README.md")
    asked = fake_github.asked("GET", "*/contents/README.md")
    assert [exchange.status for exchange in asked] == [200, 304]


async def test_a_file_too_large_for_github_to_show_is_refused(client, fake_github, repository):
    body = {"type": "file", "encoding": "none", "content": ""}
    fake_github.fail("GET", "*/contents/*", status=200, body=body)
    with pytest.raises(ValidationFailed, match="too large"):
        await client.file(repository, "README.md")


async def test_the_app_knows_where_it_is_installed(client, fake_github, place):  # noqa: ARG001  it is there
    fake_github.repository("acme/.github", installed=False)
    assert (await client.covers("acme", "kb"), await client.covers("acme", ".github")) == (True, False)


async def test_the_newest_commit_of_the_default_branch_is_its_head(client, fake_github, place, repository):
    made = fake_github.commit_to_default_branch(place, {"a.md": "a"})
    assert await client.branch_head(repository) == made.sha


@pytest.mark.parametrize("fork", [False, True])
async def test_pull_requests_are_found_by_their_head(client, fake_github, place, repository, fork):
    pull = fake_github.open_pull_request(place, "dora", PullRequestOptions(fork=fork))
    first = pull.head_sha
    fake_github.open_pull_request(place, "eve")
    fake_github.push(pull, {"a.md": "more"})
    found = await client.pull_requests_at(repository, pull.head_sha)
    assert [each.number for each in found] == [pull.number]
    assert await client.pull_requests_at(repository, first) == ()


async def test_a_commit_that_the_base_does_not_show_is_looked_for_among_the_open_ones(
    client, fake_github, pull, repository
):
    fake_github.fail("GET", "*/commits/*/pulls", status=422)
    found = await client.pull_requests_at(repository, pull.head_sha)
    assert [each.number for each in found] == [pull.number]


async def test_it_is_looked_for_page_by_page_until_it_is_found(client, fake_github, place, pull, repository):
    fake_github.push(pull, {"a.md": "more"})
    for _ in range(310):
        fake_github.open_pull_request(place, "eve")
    fake_github.fail("GET", "*/commits/*/pulls", status=422)
    found = await client.pull_requests_at(repository, pull.head_sha)
    assert [each.number for each in found] == [pull.number]
    assert len(fake_github.asked("GET", "/repos/acme/kb/pulls")) == 4


async def test_annotations_are_read_with_their_places(client, fake_github, pull, repository):
    output = CheckOutput("x", "y", None, (Found("a.py", 3, 5, "failure", "boom", "E1"),))
    run = fake_github.check(pull, "lint", "failure", output)
    assert await client.annotations(repository, run.id) == (CheckAnnotation("a.py", 3, 5, "boom", "E1"),)


async def test_a_secret_that_an_annotation_shows_is_not_kept(client, fake_github, pull, repository):
    secret = "ghp_" + "a" * 36
    shown = Found("a.py", 3, 3, "failure", f"the token {secret} was refused", f"E1 {secret}")
    run = fake_github.check(pull, "lint", "failure", CheckOutput("x", "y", None, (shown,)))
    (read,) = await client.annotations(repository, run.id)
    assert (read.message, read.title) == ("the token [hidden] was refused", "E1 [hidden]")


async def test_a_check_run_is_created_found_and_updated_without_its_annotations(
    client, fake_github, place, pull, repository
):
    text = said(pull.head_sha, annotations=(CheckAnnotation("a.py", 3, 3, "boom", "E1", column=7),))
    assert await client.check_run(repository, pull.head_sha, "whetstone/gates") is None
    made = await client.create_check_run(repository, text, "https://github.com/x")
    fake_github.check(pull, "whetstone/gates", "success")  # another App's of the same name
    assert await client.check_run(repository, pull.head_sha, "whetstone/gates") == made
    changed = said(pull.head_sha, conclusion=Conclusion.SUCCESS, title="Fine")
    assert await client.update_check_run(repository, made.id, changed) == made
    run = place.check_runs[made.id]
    assert (run.conclusion, run.title, run.external_id, run.details_url) == (
        "success",
        "Fine",
        "p1",
        "https://github.com/x",
    )
    assert [(one.start_line, one.start_column, one.message) for one in run.annotations] == [(3, 7, "boom")]


async def test_a_check_without_the_permission_is_refused_with_its_name(
    client, fake_github, place, repository
):
    fake_github.installation_of(place).permissions["checks"] = "read"
    with pytest.raises(Forbidden) as refused:
        await client.create_check_run(repository, said(place.branches["main"]))
    assert refused.value.permission == "checks=write"


async def test_the_changed_files_come_with_their_patches(client, pull, repository):
    files = await client.changed_files(repository, pull.number)
    assert list(files) == ["claims/first.md"]
    assert files["claims/first.md"].startswith("@@ -0,0 +1,3 @@")


async def test_a_review_of_ours_carries_suggestions_and_judges_nothing(client, fake_github, pull, repository):
    suggestion = Suggestion("claims/first.md", 1, "```suggestion\n# Better\n```")
    await client.create_review(repository, pull.number, pull.head_sha, "Fixes.", (suggestion,))
    (review,) = pull.reviews.values()
    assert (review.user, review.state, review.body) == (fake_github.app.bot, "COMMENTED", "Fixes.")
    assert [(one.path, one.line) for one in review.comments] == [("claims/first.md", 1)]


async def test_a_line_outside_the_diff_is_refused(client, pull, repository):
    with pytest.raises(ValidationFailed):
        await client.create_review(
            repository, pull.number, pull.head_sha, "Fixes.", (Suggestion("README.md", 1, "x"),)
        )
