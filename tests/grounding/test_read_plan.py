"""Which reads are made, and which never."""

from dataclasses import replace

from bot.gates.config import ClaimType
from bot.grounding.claims import find_claims
from bot.grounding.log import PlannedRead, ReadKind, plan_next_read
from bot.grounding.model import Claim, ClaimForm
from bot.pull_request.facts import Observations, Tree
from tests.grounding.small_repository import CHECKS, HEAD, make_observations


def place(path: str, line: int) -> Claim:
    return Claim(ClaimType.FILE_LOCATION, f"{path}:{line}", path, line, form=ClaimForm.PLACE)


def reads(claims, most: int = 20, everything: Observations | None = None) -> list[PlannedRead]:
    """The reads that are made one after the other, each of them answered."""
    whole = everything or make_observations()
    now, done = Observations(HEAD), []
    while len(done) < most and (read := plan_next_read(claims, now, done)):
        done.append(read)
        match read.kind:
            case ReadKind.TREE:
                now = replace(now, tree=whole.tree)
            case ReadKind.FILE if read.path in whole.files:
                now = replace(now, files={**now.files, read.path: whole.files[read.path]})
            case ReadKind.FILE:
                now = replace(now, absent=now.absent | {read.path})
            case ReadKind.CHECKS:
                now = replace(now, checks=tuple(replace(run, annotations=()) for run in CHECKS))
            case _:
                pass
    return done


def test_twenty_places_in_three_files_cost_four_reads():
    claims = [
        place(path, line) for line in range(1, 8) for path in ("src/auth.py", "web/cart.ts", "README.md")
    ][:20]
    assert [read.kind for read in reads(claims)] == [
        ReadKind.TREE,
        ReadKind.FILE,
        ReadKind.FILE,
        ReadKind.FILE,
    ]


def test_the_file_with_most_claims_is_read_first():
    claims = [place("README.md", 1), place("src/auth.py", 1), place("src/auth.py", 2)]
    assert [read.path for read in reads(claims)] == ["", "src/auth.py", "README.md"]


def test_a_name_asks_for_the_names_of_its_file():
    assert [read.names for read in reads(find_claims("src/auth.py:parse_token() swallows errors."))] == [
        False,
        True,
    ]


def test_that_a_file_is_there_costs_the_tree_alone():
    assert reads(find_claims("It repeats docs/guide/setup.md in the second half.")) == [
        PlannedRead(ReadKind.TREE)
    ]


def test_secrets_binaries_links_submodules_and_large_files_are_never_read():
    texts = (
        "secrets/.env contains `KEY=1`.",
        "latest.md contains `x`.",
        "vendor/lib contains `x`.",
        "data/huge.csv has `x`.",
    )
    assert reads([claim for text in texts for claim in find_claims(text)]) == [PlannedRead(ReadKind.TREE)]


def test_a_path_outside_the_repository_costs_nothing():
    assert reads(find_claims("`../etc/passwd.txt` contains `root`.")) == []


def test_a_path_that_the_list_was_too_short_for_is_asked_for_by_itself():
    short = replace(make_observations(), tree=Tree({}, truncated=True))
    claims = find_claims("src/auth.py contains `TTL = 60`.")
    assert reads(claims, everything=short) == [
        PlannedRead(ReadKind.TREE),
        PlannedRead(ReadKind.FILE, "src/auth.py"),
    ]


def test_a_secrets_file_is_not_asked_for_by_itself_either():
    short = replace(make_observations(), tree=Tree({}, truncated=True))
    assert reads(find_claims("secrets/.env contains `KEY=1`."), everything=short) == [
        PlannedRead(ReadKind.TREE)
    ]


def test_checks_are_read_once_and_annotations_where_words_are_wanted():
    assert [read.kind for read in reads(find_claims("The tests fail."))] == [ReadKind.CHECKS]
    assert [read.kind for read in reads(find_claims("It fails with `KeyError: 'user'`."))] == [
        ReadKind.CHECKS,
        ReadKind.ANNOTATIONS,
    ]


def test_a_package_is_looked_for_in_the_outermost_manifests():
    found = [read.path for read in reads(find_claims("`jest` is pinned to 28.0.0."))]
    manifests = {"go.mod", "package.json", "pom.xml", "pyproject.toml", "requirements.txt"}
    assert (found[0], set(found[1:]) - manifests) == ("", set())


def test_the_branch_is_compared_only_where_that_is_claimed():
    assert [read.kind for read in reads(find_claims("The branch has conflicts."))] == [ReadKind.BRANCH]
    assert [read.kind for read in reads(find_claims("The branch is behind main."))] == [
        ReadKind.BRANCH,
        ReadKind.COMPARISON,
    ]
