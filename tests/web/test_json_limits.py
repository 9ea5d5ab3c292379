import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.bodies import TooComplex, check_json

STRINGS = st.text(alphabet='a"\\[]{},:\n é😀', max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=30,
)


def depth_of(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


def count_of(value):
    """Values and keys; an empty list or object counts twice."""
    if isinstance(value, dict):
        return 1 + (sum(1 + count_of(each) for each in value.values()) or 1)
    if isinstance(value, list):
        return 1 + (sum(map(count_of, value)) or 1)
    return 1


@given(VALUES, st.booleans())
def test_depth_and_number_are_counted_exactly_and_strings_hold_nothing(value, spaced):
    data = json.dumps(value, indent=2 if spaced else None, ensure_ascii=False).encode()
    depth, count = depth_of(value), count_of(value)
    check_json(data, max_depth=depth, max_values=count)
    with pytest.raises(TooComplex, match=f"more than {count - 1} values"):
        check_json(data, max_values=count - 1)
    if depth:
        with pytest.raises(TooComplex, match=f"nested more than {depth - 1} levels deep"):
            check_json(data, max_depth=depth - 1)


@pytest.mark.parametrize("before", range(65_524, 65_540))
def test_a_string_that_is_cut_anywhere_is_still_a_string(before):
    """Long documents are read in pieces; an escape may lie across two of them."""
    data = json.dumps([" " * (before - 2), '\\\\"[[[[{{,,,::', "\\", [1]]).encode()
    check_json(data, max_depth=2, max_values=6)
    with pytest.raises(TooComplex):
        check_json(data, max_depth=1)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 101, "nested more than 100 levels deep"),
        (b'{"a":' * 101, "nested more than 100 levels deep"),
        (b"[" + b"[]," * 500_000, "more than 1,000,000 values"),
        (b"[" + b"1," * 1_000_000, "more than 1,000,000 values"),
    ],
)
def test_bombs_are_refused(data, words):
    with pytest.raises(TooComplex) as caught:
        check_json(data)
    assert str(caught.value) == words


@pytest.mark.parametrize("data", [b"", b"]" * 100_000, b'"' * 100_001, b"\\" * 100_001, b"\xff"])
def test_what_is_no_json_is_left_to_the_decoder(data):
    check_json(data)
