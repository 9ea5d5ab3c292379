"""Limits on JSON that others wrote, checked on its bytes before anything is built from it."""

from __future__ import annotations

from itertools import accumulate

MAX_DEPTH = 100
"""Levels of nesting; a SARIF log has about twenty."""
MAX_VALUES = 1_000_000
"""Values and keys: about 90 MB once decoded. A SARIF log of 10 MiB has hardly more even without spaces."""

_CHUNK = 65_536
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class TooComplex(Exception):
    """The JSON is nested too deep or has too many values; says which in one line."""


def check_json(data: bytes, *, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES) -> None:
    """Raise `TooComplex` where decoding would build more than this; the time is linear, whatever the bytes.

    Nothing is said about bytes that are no JSON: a decoder stops at the first error, and up to there the
    counts hold.
    """
    depth, values, in_string, rest = 0, 1, 0, b""
    for start in range(0, len(data), _CHUNK):
        chunk = rest + data[start : start + _CHUNK]
        # A backslash without the character that it escapes waits for the next chunk.
        half = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2
        chunk, rest = chunk[: len(chunk) - half], chunk[len(chunk) - half :]
        parts = chunk.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[in_string::2])
        in_string = (in_string + len(parts) - 1) % 2
        # Every value but the first follows a comma, a colon or an opening bracket, and a key is one more.
        values += sum(map(outside.count, (b",", b":", b"[", b"{")))
        if values > max_values:
            raise TooComplex(f"more than {max_values:,} values")
        brackets = outside.translate(None, _NOT_BRACKETS)
        depths = list(accumulate(map(_STEPS.__getitem__, brackets), initial=depth))
        if max(depths) > max_depth:
            raise TooComplex(f"nested more than {max_depth} levels deep")
        depth = depths[-1]
        if min(depths) < 0:
            return  # a bracket too many: no decoder reads on
