"""Which rules hold, from files that come, change, break and go."""

from datetime import timedelta

import pytest

from bot.gates.packs import load_packs, rules_directory
from bot.gates.rule_book import CONFIG_FILE, MISNAMED_CONFIG_FILE, StoredConfig
from bot.github.errors import Forbidden, GitHubUnavailable, RateLimited, ValidationFailed
from bot.turn.rule_book import LiveRuleBook
from bot.values import Conclusion, Repository
from tests.builders import REPOSITORY, START
from tests.clock import Clock

PACKS = load_packs(rules_directory())
SILENT = b"version: 1\ncomment:\n  enabled: false\n"
BROKEN = b"version: 1\ncolour: red\n"
HOME = "acme/.github"
OWN = "acme/knowledge"


class Files:
    """Files by repository and ref; an error in place of a text is raised."""

    def __init__(self, **files) -> None:
        self.files = files
        self.asked: list[str] = []
        self.is_covered = True
        self.misnamed: bytes | None = None

    async def file(self, repository, path, ref=None):
        if path == MISNAMED_CONFIG_FILE:
            return self.misnamed
        assert path == CONFIG_FILE
        self.asked.append(repository.full_name)
        found = self.files.get(ref or repository.full_name)
        if isinstance(found, Exception):
            raise found
        return found

    async def covers(self, owner, name):
        assert f"{owner}/{name}" == HOME
        return self.is_covered


class Memory:
    """What is kept, and what was told."""

    def __init__(self) -> None:
        self.kept: dict[str, StoredConfig] = {}
        self.told: list[tuple[str, str]] = []

    async def config(self, key):
        return self.kept.get(key)

    async def keep_config(self, key, installation_id, kept):
        assert installation_id == REPOSITORY.installation_id
        self.kept[key] = kept

    async def report(self, repository, version):
        self.told.append((repository.full_name, version[:6]))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory():
    return Memory()


def book(files, memory, clock):
    return LiveRuleBook(PACKS, files, memory, memory, clock)


async def comments(rule_book, repository=REPOSITORY) -> bool:
    return (await rule_book.rules(repository)).comment.enabled


async def test_without_any_file_the_defaults_hold(memory, clock):
    files = Files()
    assert await comments(book(files, memory, clock))
    assert (files.asked, memory.kept) == ([HOME, OWN], {})


async def test_a_file_is_asked_for_once_a_minute(memory, clock):
    files = Files()
    rules = book(files, memory, clock)
    assert await comments(rules)
    files.files[OWN] = SILENT
    clock.advance(59)
    assert await comments(rules)
    clock.advance(2)
    assert not await comments(rules)
    assert files.asked == [HOME, OWN] * 2


async def test_a_limit_that_was_met_is_heeded_for_the_whole_installation(memory, clock):
    until = START + timedelta(seconds=90)
    files = Files(**{OWN: RateLimited(until)})
    rules = book(files, memory, clock)
    for repository in (REPOSITORY, Repository(78, "acme", "other", installation_id=5)):
        with pytest.raises(RateLimited) as limit:
            await rules.rules(repository)
        assert limit.value.until == until
    assert files.asked == [HOME, OWN]
    files.files.clear()
    clock.advance(90)
    assert await comments(rules)


async def test_two_repositories_of_an_owner_share_its_file(memory, clock):
    files = Files(**{HOME: SILENT})
    rules = book(files, memory, clock)
    other = Repository(78, "acme", "other", installation_id=5)
    assert not await comments(rules)
    assert not await comments(rules, other)
    assert files.asked.count(HOME) == 1


async def test_an_owners_file_outside_the_installation_is_none(memory, clock):
    files = Files(**{HOME: SILENT})
    files.is_covered = False
    assert await comments(book(files, memory, clock))


@pytest.mark.parametrize("error", [Forbidden("no")])
async def test_a_file_that_may_not_be_read_is_none(memory, clock, error):
    assert await comments(book(Files(**{OWN: error, HOME: error}), memory, clock))


async def test_a_broken_file_leaves_the_last_good_one_and_is_told_of_once(memory, clock):
    files = Files(**{OWN: SILENT})
    assert not await comments(book(files, memory, clock))
    files.files[OWN] = BROKEN
    for _ in range(2):  # the second one after a restart
        assert not await comments(book(files, memory, clock))
    assert [name for name, _ in memory.told] == [OWN]
    files.files[OWN] = BROKEN + b"more: 1\n"
    assert not await comments(book(files, memory, clock))
    assert len(memory.told) == 2


async def test_a_version_that_breaks_again_after_having_been_mended_is_told_of_again(memory, clock):
    files = Files(**{OWN: BROKEN})
    await comments(book(files, memory, clock))
    files.files[OWN] = SILENT
    await comments(book(files, memory, clock))
    files.files[OWN] = BROKEN
    await comments(book(files, memory, clock))
    assert len(memory.told) == 2


async def test_a_removed_file_is_no_broken_one(memory, clock):
    files = Files(**{OWN: SILENT})
    await comments(book(files, memory, clock))
    del files.files[OWN]
    assert await comments(book(files, memory, clock))


async def test_a_file_too_large_to_be_read_is_broken(memory, clock):
    files = Files(**{OWN: ValidationFailed("the file is too large to be read")})
    assert await comments(book(files, memory, clock))
    assert [name for name, _ in memory.told] == [OWN]


async def test_while_github_is_away_nothing_has_changed(memory, clock):
    files = Files(**{OWN: SILENT})
    rules = book(files, memory, clock)
    assert not await comments(rules)
    files.files[OWN] = files.files[HOME] = GitHubUnavailable("away")
    clock.advance(61)
    assert not await comments(rules)


@pytest.mark.parametrize("error", [GitHubUnavailable("away"), RateLimited(START)])
async def test_before_anything_is_known_the_turn_waits_for_github(memory, clock, error):
    with pytest.raises(type(error)):
        await comments(book(Files(**{OWN: error}), memory, clock))


async def test_a_file_that_rests_on_the_owners_is_judged_with_it(memory, clock):
    gate = b"version: 1\ngates:\n  house_style:\n    severity: warning\n"
    whole = (
        gate
        + b"    gate: House style\n    description: It is not written as here\n    fix: Write it as the guide says.\n    auto_fixable: false\n"
    )
    files = Files(**{HOME: whole, "head": gate})
    assert (await book(files, memory, clock).check_head(REPOSITORY, "head")).conclusion is Conclusion.SUCCESS
    del files.files[HOME]
    assert (await book(files, memory, clock).check_head(REPOSITORY, "head")).conclusion is Conclusion.FAILURE


@pytest.mark.parametrize(
    ("proposed", "conclusion"),
    [
        (SILENT, None),
        (None, Conclusion.NEUTRAL),
        (BROKEN, Conclusion.FAILURE),
        (b"version: 1\n", Conclusion.SUCCESS),
    ],
)
async def test_a_proposal_is_reported_on_where_it_differs(memory, clock, proposed, conclusion):
    rules = book(Files(**{OWN: SILENT, "head": proposed}), memory, clock)
    report = await rules.check_head(REPOSITORY, "head")
    assert (report and report.conclusion) == conclusion
    assert not await comments(rules)
