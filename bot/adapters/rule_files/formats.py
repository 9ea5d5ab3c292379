"""What a JSON Schema's `format` asks of a text: the rules that a pattern can't say."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.phrases import PhraseError, check_phrase

Complaint = tuple[str, str]  # what is wrong, as the end of a sentence; what is allowed


def complaint(name: str | None, text: str) -> Complaint | None:
    """What is wrong with the text in this format, or None."""
    check = _FORMATS.get(name or "")
    return check(text) if check else None


def _phrase(text: str) -> Complaint | None:
    try:
        check_phrase(text)
    except PhraseError as refused:
        return (
            f"is not a regular expression of RE2 ({refused})",
            "leave out look-around, back-references and long repeats",
        )
    return None


def _time_zone(text: str) -> Complaint | None:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f'is "{text}", which is no time zone', "use an IANA name, as in UTC or Europe/Berlin"
    return None


_FORMATS: dict[str, Callable[[str], Complaint | None]] = {"phrase": _phrase, "time-zone": _time_zone}
