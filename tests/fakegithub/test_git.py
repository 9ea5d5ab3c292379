from __future__ import annotations

import base64

import pytest

from bot.fakegithub.git import Submodule, Symlink
from bot.fakegithub.pulls import PullRequestOptions

REPO = "/repos/acme/kb"


@pytest.fixture
def tree(fake_github):
    files = {
        "README.md": "hello\n",
        "docs/a.md": "one\ntwo\nthree\n",
        "docs/deep/b.md": "b\n",
        "link": Symlink("docs/a.md"),
        "dangling": Symlink("gone.md"),
        "lib": Submodule("1" * 40),
        "large.bin": b"x" * 1_000_001,
    }
    return fake_github.repository("acme/kb", files=files)


@pytest.fixture
def reader(caller, fake_github, tree):
    return caller(fake_github.installation_token(tree.owner))


async def test_names_are_those_that_git_gives(reader):
    # printf 'hello\n' | git hash-object --stdin
    found = (await reader("GET", f"{REPO}/contents/README.md")).body
    assert found["sha"] == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert base64.b64decode(found["content"]) == b"hello\n"


async def test_a_folder_lists_what_is_in_it(reader):
    listed = (await reader("GET", f"{REPO}/contents/docs")).body
    assert [(each["name"], each["type"]) for each in listed] == [("a.md", "file"), ("deep", "dir")]
    root = (await reader("GET", f"{REPO}/contents/")).body
    assert {each["name"]: each["type"] for each in root}["lib"] == "file"


async def test_a_symlink_shows_its_target_where_that_is_here(reader):
    followed = (await reader("GET", f"{REPO}/contents/link")).body
    assert (followed["type"], base64.b64decode(followed["content"])) == ("file", b"one\ntwo\nthree\n")
    dangling = (await reader("GET", f"{REPO}/contents/dangling")).body
    assert (dangling["type"], dangling["target"]) == ("symlink", "gone.md")


async def test_a_submodule_says_where_it_is_from(reader):
    found = (await reader("GET", f"{REPO}/contents/lib")).body
    assert (found["type"], found["sha"]) == ("submodule", "1" * 40)


async def test_a_file_over_a_megabyte_comes_without_its_content(reader):
    listed = (await reader("GET", f"{REPO}/contents/large.bin")).body
    assert (listed["content"], listed["encoding"], listed["size"]) == ("", "none", 1_000_001)


@pytest.mark.parametrize(
    ("path", "status"), [("gone.md", 404), ("README.md?ref=gone", 404), ("docs/none/x.md", 404)]
)
async def test_what_is_not_there_is_not_found(reader, path, status):
    assert (await reader("GET", f"{REPO}/contents/{path}")).status == status


async def test_a_tree_can_be_deep_and_can_be_cut_short(reader, tree):
    flat = (await reader("GET", f"{REPO}/git/trees/main")).body
    assert [each["path"] for each in flat["tree"]] == [
        "README.md",
        "dangling",
        "docs",
        "large.bin",
        "lib",
        "link",
    ]
    deep = (await reader("GET", f"{REPO}/git/trees/main?recursive=1")).body
    assert [each["path"] for each in deep["tree"] if each["type"] == "blob"][2:4] == [
        "docs/a.md",
        "docs/deep/b.md",
    ]
    tree.truncate_trees = True
    cut = (await reader("GET", f"{REPO}/git/trees/main?recursive=1")).body
    assert (cut["truncated"], len(cut["tree"])) == (True, len(deep["tree"]) // 2)


async def test_a_pull_request_lists_its_files_with_patches(reader, fake_github, tree):
    changes = {
        "docs/a.md": "one\nTWO\nthree\n",
        "docs/new.md": "new",
        "README.md": None,
        "docs/deep/b.md": None,
        "docs/c.md": "b\n",
    }
    fake_github.open_pull_request(tree, "bob", PullRequestOptions(files=changes))
    files = (await reader("GET", f"{REPO}/pulls/1/files")).body
    assert [(each["filename"], each["status"], each["additions"], each["deletions"]) for each in files] == [
        ("README.md", "removed", 0, 1),
        ("docs/a.md", "modified", 1, 1),
        ("docs/c.md", "renamed", 0, 0),
        ("docs/new.md", "added", 1, 0),
    ]
    assert files[1]["patch"] == "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three"
    assert files[3]["patch"] == "@@ -0,0 +1 @@\n+new\n\\ No newline at end of file"
    assert files[2]["previous_filename"] == "docs/deep/b.md"


async def test_a_comparison_counts_from_where_the_branches_parted(reader, fake_github, tree):
    pull = fake_github.open_pull_request(tree, "bob", PullRequestOptions(files={"docs/new.md": "new\n"}))
    fake_github.push(pull, {"docs/new.md": "newer\n"})
    fake_github.commit_to_default_branch(tree, {"README.md": "changed\n"})
    found = (await reader("GET", f"{REPO}/compare/main...{pull.head_ref}")).body
    assert (found["status"], found["ahead_by"], found["behind_by"]) == ("diverged", 2, 1)
    assert [each["filename"] for each in found["files"]] == ["docs/new.md"]
    same = (await reader("GET", f"{REPO}/compare/main...main")).body
    assert (same["status"], same["files"]) == ("identical", [])


async def test_what_was_force_pushed_away_is_still_read_by_its_sha(reader, fake_github, tree):
    message = "Add a claim\n\nReviewed-in: #1\nCo-authored-by: Ann <ann@example.com>"
    files = {"docs/c.md": "first\n"}
    pull = fake_github.open_pull_request(tree, "bob", PullRequestOptions(files=files, message=message))
    before, base = pull.head_sha, tree.branches["main"]
    rebased = tree.objects.commit(
        {"docs/c.md": "second\n"}, parents=(base,), message=message, login="bob", at=fake_github.now()
    )
    fake_github.force_push(pull, rebased.sha)
    old = (await reader("GET", f"{REPO}/contents/docs/c.md", params={"ref": before})).body
    assert base64.b64decode(old["content"]) == b"first\n"
    compared = (await reader("GET", f"{REPO}/compare/{before}...{rebased.sha}")).body
    assert (compared["status"], compared["ahead_by"], compared["behind_by"]) == ("diverged", 1, 1)
    assert [(each["sha"], each["commit"]["message"]) for each in compared["commits"]] == [
        (rebased.sha, message)
    ]


async def test_a_commit_leads_to_its_pull_request_also_from_a_fork(reader, fake_github, tree):
    pull = fake_github.open_pull_request(tree, "bob", PullRequestOptions(fork=True))
    first = pull.head_sha
    fake_github.push(pull, {"docs/new.md": "newer\n"})
    for sha in (first, pull.head_sha):
        found = (await reader("GET", f"{REPO}/commits/{sha}/pulls")).body
        assert [(each["number"], each["head"]["repo"]["full_name"]) for each in found] == [(1, "bob/kb")]


async def test_an_unknown_commit_is_refused(reader):
    assert (await reader("GET", f"{REPO}/commits/{'0' * 40}/pulls")).status == 422


async def test_a_merge_keeps_what_went_into_the_base_meanwhile(fake_github, tree):
    pull = fake_github.open_pull_request(
        tree, "bob", PullRequestOptions(files={"docs/new.md": "new\n", "link": None})
    )
    fake_github.commit_to_default_branch(tree, {"README.md": "changed\n"})
    made = fake_github.merge(pull, by="acme")
    assert tree.objects.content(made.sha, "README.md") == b"changed\n"
    assert tree.objects.content(made.sha, "docs/new.md") == b"new\n"
    assert ("link" in made.files, "lib" in made.files) == (False, True)
    assert (pull.merged, pull.state) == (True, "closed")
