"""However many authors and tags a repository has, the number of its series has a bound."""

from collections import Counter

from bot.store.lanes import QueueCounts
from bot.web.monitoring import MAX_SERIES_PER_REPOSITORY, limit_series, without_ids


def test_the_authors_with_the_most_are_named_so_many_a_repository():  # row 190
    broken = Counter(
        {(where, f"a{n}", "date_errors"): n for where in ("acme/x", "acme/y") for n in range(1, 61)}
    )
    expected = {(where, f"a{n}", "date_errors") for where in ("acme/x", "acme/y") for n in range(11, 61)}
    assert {key for key, _ in limit_series(broken.items())} == expected


def test_a_review_with_ten_thousand_tags_makes_no_more_series_than_one_with_fifty():
    bomb = Counter({("acme/x", "rio", f"my_tag_{n}"): 1 for n in range(10_000)})
    bomb["acme/x", "rio", "date_errors"] = 2
    shown = limit_series(bomb.items())
    assert (len(shown), (("acme/x", "rio", "date_errors"), 2) in shown) == (MAX_SERIES_PER_REPOSITORY, True)


def test_ids_with_the_number_of_a_repository_are_summed_without_the_token():
    crashes = {
        ("72d3162e-cc78-11e3-81ab-4c9367dc0958", "pull_request"): 3,
        ("heads:1296269:6dcb09b5:pr:4", "whetstone"): 3,
        ("weekly:1296269:2026-W10", "whetstone"): 4,
    }
    counts = QueueCounts({}, 0, 0, 0.0, {}, 0, crashes)
    assert without_ids(counts).parked_crashes == {
        ("72d3162e-cc78-11e3-81ab-4c9367dc0958", "pull_request"): 3,
        ("other", "whetstone"): 7,
    }
