"""What training learnt, packed: for each feature one whole number that holds a weight for each type and none.

Whole numbers add up the same in any order, take a fifth of the memory of five floats, and a sum over all
features is one sum. Weights are hundredths; each has 32 bits, so that no text is long enough to overflow.
"""

from __future__ import annotations

from struct import Struct

Totals = tuple[int, ...]
"""Hundredths for each of the four types in their order, and for none."""

COLUMNS = 5
_BITS = 32
_MIDDLE = 1 << (_BITS - 1)
_MASK = (1 << _BITS) - 1
_ALL = (1 << COLUMNS * _BITS) - 1
_SHIFTS = tuple(range(0, COLUMNS * _BITS, _BITS))
_COLUMNS = Struct("<5i")
_OFFSET = sum(_MIDDLE << shift for shift in _SHIFTS)


def packed(hundredths: Totals) -> int:
    """Return one number that holds these weights."""
    one, two, three, four, none = hundredths
    return one + (two << _BITS) + (three << 2 * _BITS) + (four << 3 * _BITS) + (none << 4 * _BITS)


def told_apart(packed_: int, number: int) -> int:
    """Return the weights with a number above them, so that two features are never equal."""
    return packed_ + (number << COLUMNS * _BITS)


def unpacked(total: int) -> Totals:
    """Return the hundredths that a packed number, or a sum of packed numbers, holds."""
    return _COLUMNS.unpack((total + _OFFSET & _ALL ^ _OFFSET).to_bytes(_COLUMNS.size, "little"))


def margin(total: int, column: int) -> int:
    """Return by how many hundredths one column exceeds the last."""
    biased = total + _OFFSET
    return (biased >> _SHIFTS[column] & _MASK) - (biased >> _SHIFTS[-1] & _MASK)
