"""What stands in a revision, as the fake GitHub answers."""

import pytest

from bot.definitions import Definition
from bot.fakegithub.checks import Annotation, CheckOutput
from bot.fakegithub.git import Submodule, Symlink
from bot.fakegithub.pulls import PullRequestOptions
from bot.pull_request.facts import BranchState, EntryKind, FileText, TreeEntry, UnreadableFile

FILES = {
    "README.md": "# Hello\n",
    "src/a.py": "def f():\n    return 1\n",
    "windows.txt": "one\r\ntwo",
    "logo.png": b"\x89PNG\0\0",
    "latin.txt": b"caf\xe9\n",
    "big.bin": b"x" * 1_000_001,
    "lfs.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
    "link": Symlink("README.md"),
    "lib": Submodule("1" * 40),
}


@pytest.fixture
def place(fake_github):
    return fake_github.repository("acme/kb", collaborators={"alice": "write"}, files=FILES)


@pytest.fixture
def head(place):
    return place.branches["main"]


async def read(client, repository, head, path, **how):
    entry = (await client.tree(repository, head)).entries[path]
    return await client.text(repository, head, path, entry.sha, **how)


async def test_a_tree_has_every_path_with_its_kind(client, repository, head):
    tree = await client.tree(repository, head)
    kinds = {path: entry.kind for path, entry in tree.entries.items()}
    assert (kinds["src"], kinds["src/a.py"], kinds["link"], kinds["lib"]) == (
        EntryKind.FOLDER,
        EntryKind.FILE,
        EntryKind.SYMLINK,
        EntryKind.SUBMODULE,
    )
    assert (tree.truncated, tree.entries["big.bin"].size) == (False, 1_000_001)
    assert isinstance(tree.entries["README.md"], TreeEntry)


async def test_a_file_comes_with_its_lines_and_its_names(client, repository, head):
    assert await read(client, repository, head, "windows.txt") == FileText(("one", "two"))
    assert await read(client, repository, head, "src/a.py", names=True) == FileText(
        ("def f():", "    return 1"), (Definition("f", 1, 2, 1),)
    )


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("logo.png", "a binary file"),
        ("latin.txt", "a binary file"),
        ("lfs.bin", "stored in Git LFS"),
        ("big.bin", "larger than 1 MB"),
    ],
)
async def test_what_is_no_text_is_not_read(client, repository, head, path, why):
    assert await read(client, repository, head, path) == UnreadableFile(why)


async def test_a_tree_and_a_blob_are_asked_for_once(client, fake_github, repository, head):
    await read(client, repository, head, "README.md")
    before = len(fake_github.requests)
    await read(client, repository, head, "README.md")
    assert fake_github.requests[before:] == []


async def test_without_the_tree_a_file_is_asked_for_by_its_path(client, repository, head):
    assert await client.text(repository, head, "src/a.py", None) == FileText(("def f():", "    return 1"))
    assert await client.text(repository, head, "src/gone.py", None) is None
    assert await client.text(repository, head, "src", None) is None
    assert await client.text(repository, head, "big.bin", None) == UnreadableFile("larger than 1 MB")


async def test_checks_come_with_what_they_printed(client, fake_github, place, repository):
    pull = fake_github.open_pull_request(place, "bob")
    found = Annotation("src/a.py", 1, 1, "failure", "boom")
    fake_github.check(pull, "tests", "failure", CheckOutput("1 failed", "see below", None, (found,)))
    fake_github.start_check_run(place, pull.head_sha, "slow")
    runs = {run.name: run for run in await client.check_runs(repository, pull.head_sha)}
    assert (runs["tests"].has_failed, runs["tests"].output, runs["tests"].annotations_count) == (
        True,
        "1 failed\nsee below",
        1,
    )
    assert (runs["slow"].conclusion, runs["slow"].ours) == (None, False)


async def test_a_branch_is_shown_with_what_it_lacks(client, fake_github, place, repository):
    pull = fake_github.open_pull_request(place, "bob", PullRequestOptions(files={"new.md": "new\n"}))
    fake_github.commit_to_default_branch(place, {"later.md": "later\n"})
    state = await client.branch_state(repository, pull.number)
    assert state == BranchState(pull.head_sha, mergeable=True, draft=False, commits=1)
    assert await client.behind_by(repository, "main", pull.head_sha) == 1
