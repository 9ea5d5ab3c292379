"""However many authors and tags a repository has, the number of its series has a bound."""

from collections import Counter

from bot.adapters.metrics import MOST_A_REPOSITORY, bounded


def test_the_authors_with_the_most_are_named_so_many_a_repository():  # row 190
    broken = Counter(
        {(where, f"a{n}", "date_errors"): n for where in ("acme/x", "acme/y") for n in range(1, 61)}
    )
    expected = {(where, f"a{n}", "date_errors") for where in ("acme/x", "acme/y") for n in range(11, 61)}
    assert {key for key, _ in bounded(broken.items())} == expected


def test_a_review_with_ten_thousand_tags_makes_no_more_series_than_one_with_fifty():
    bomb = Counter({("acme/x", "rio", f"my_tag_{n}"): 1 for n in range(10_000)})
    bomb["acme/x", "rio", "date_errors"] = 2
    shown = bounded(bomb.items())
    assert (len(shown), (("acme/x", "rio", "date_errors"), 2) in shown) == (MOST_A_REPOSITORY, True)
