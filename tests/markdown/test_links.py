"""Our links open what they name and touch no other thread."""

import pytest

from bot.markdown.links import GitHubLinks, format_login, short_sha
from bot.values import Location, Repository
from tests.live_markdown import live_references

HERE = Repository(1, "acme", "knowledge", 9)
SHA = "9f2c1e47a1d0b6c85e3f2a9947d1c0be5a6f7d83"
WEB = GitHubLinks("https://github.com")
ELSEWHERE = GitHubLinks("https://git.example.org/")


@pytest.mark.parametrize(
    ("place", "link"),
    [
        (Location("a/b.md", 5), f"[`a/b.md:5`](https://github.com/acme/knowledge/blob/{SHA}/a/b.md#L5)"),
        (Location("a/b.md", 5, 5), f"[`a/b.md:5`](https://github.com/acme/knowledge/blob/{SHA}/a/b.md#L5)"),
        (
            Location("a/b.md", 5, 9),
            f"[`a/b.md:5-9`](https://github.com/acme/knowledge/blob/{SHA}/a/b.md#L5-L9)",
        ),
        (Location("b.md"), f"[`b.md`](https://github.com/acme/knowledge/blob/{SHA}/b.md)"),
        (
            Location("a b#c?(d)`é.md"),
            f"[``a b#c?(d)`é.md``](https://github.com/acme/knowledge/blob/{SHA}/a%20b%23c%3F%28d%29%60%C3%A9.md)",
        ),
        (Location("../../../settings"), "`../../../settings`"),
        (Location("/etc/passwd"), "`/etc/passwd`"),
        (Location(""), "` `"),
    ],
)
def test_a_place_is_linked_at_the_revision(place, link):
    assert WEB.blob(HERE, SHA, place) == link


def test_the_head_is_linked_directly():
    assert WEB.commit(HERE, SHA) == f"[`9f2c1e4`](https://github.com/acme/knowledge/commit/{SHA})"
    assert ELSEWHERE.commit(HERE, SHA) == f"[`9f2c1e4`](https://git.example.org/acme/knowledge/commit/{SHA})"


def test_other_threads_are_reached_through_the_redirect():
    assert WEB.other_pull(HERE, 212) == "[212](https://redirect.github.com/acme/knowledge/pull/212)"
    assert (
        WEB.other_commit(HERE, SHA) == f"[`9f2c1e4`](https://redirect.github.com/acme/knowledge/commit/{SHA})"
    )
    assert WEB.compare(HERE, "4d10c9a2e6", SHA, "What changed") == (
        "[What changed](https://redirect.github.com/acme/knowledge/compare/4d10c9a..9f2c1e4)"
    )


def test_on_another_host_other_threads_are_named_in_code():
    assert ELSEWHERE.other_pull(HERE, 212) == "`212`"
    assert ELSEWHERE.other_commit(HERE, SHA) == "`9f2c1e4`"
    assert ELSEWHERE.compare(HERE, "4d10c9a2e6", SHA, "What changed") == "What changed (`4d10c9a..9f2c1e4`)"


@pytest.mark.parametrize("web", [WEB, ELSEWHERE])
def test_no_link_is_live(web):
    text = " ".join(
        (
            web.blob(HERE, SHA, Location("@bob/#1 .md", 3)),
            web.commit(HERE, SHA),
            web.other_pull(HERE, 7),
            web.other_commit(HERE, SHA),
            web.compare(HERE, SHA, SHA, "What changed"),
            format_login("rio-agent[bot]"),
        )
    )
    assert live_references(text) == []


def test_a_person_is_written_in_code():
    assert format_login("alice") == "`alice`"
    assert short_sha(SHA) == "9f2c1e4"
