"""What the words behind a command mean, or what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain import regex
from bot.domain.commands.asked import (
    AppealAsked,
    Choice,
    DismissAsked,
    ExplainAsked,
    ExportAsked,
    ForgetAsked,
    HelpAsked,
    HistoryAsked,
    Mistake,
    RejectAsked,
    SelectAsked,
)
from bot.domain.escape import code_span, one_line
from bot.domain.gates import is_tag
from bot.domain.model import Place

MOST_HOURS = 24 * 3650
"""The longest period: ten years."""
MOST_TAGS = 20
"""Of one `/feedback-reject`."""

_REASON = regex.Pattern(r"(?:^|\s)reason:", ignore_case=True)
_LONGEST_REASON = 500
_WORD = regex.Pattern(r"`([^`]+)`|([^\s,`]+)")
_LOGIN = regex.Pattern(r"@([a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?(?:\[bot\])?)", ignore_case=True)
_PERIOD = regex.Pattern(r"(\d{1,6})([hdw])", ignore_case=True)
_PLACE = regex.Pattern(r"(?P<path>[^:]+)(?::(?P<line>\d{1,7})(?:-(?P<end>\d{1,7}))?)?")
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True)
class Words:
    """The words before `reason:`, and the reason."""

    given: tuple[str, ...]
    reason: str | None


def words(text: str) -> Words:
    """The line behind a command's name, taken apart; code spans and commas are only dress."""
    found = _REASON.search(text)
    before, after = (text[: found.start()], text[found.end() :]) if found else (text, "")
    reason = one_line(after)[:_LONGEST_REASON]
    return Words(tuple(word[1] or word[2] for word in _WORD.finditer(before)), reason or None)


def history(given: Words) -> HistoryAsked | Mistake:
    """Login, period and tag in any order, each at most once."""
    login: str | None = None
    hours: int | None = None
    tag: str | None = None
    for word in given.given:
        if login is None and (found := _LOGIN.fullmatch(word)):
            login = found[1]
        elif hours is None and (period := _hours(word)):
            hours = period
        elif tag is None and is_tag(word.lower()):
            tag = word.lower()
        else:
            return Mistake(_not_history(word))
    return HistoryAsked(login, hours, tag)


def help_(given: Words) -> HelpAsked | Mistake:
    """No words."""
    return _nothing_more(given.given) or HelpAsked()


def explain(given: Words) -> ExplainAsked | Mistake:
    """One tag."""
    tag = _one_tag(given)
    return tag if isinstance(tag, Mistake) else ExplainAsked(tag)


def reject(given: Words) -> RejectAsked | Mistake:
    """Tags, and at most one place."""
    tags = tuple(dict.fromkeys(word.lower() for word in given.given if is_tag(word.lower())))
    others = [word for word in given.given if not is_tag(word.lower())]
    if not tags:
        return Mistake("a tag is missing")
    if len(tags) > MOST_TAGS:
        return Mistake(f"{len(tags)} tags are too many, at most {MOST_TAGS} are read")
    if not others:
        return RejectAsked(tags, None, given.reason)
    place = _place(others[0])
    if place is None or len(others) > 1:
        return Mistake(f"{code_span(others[-1], 60)} is no tag and no place")
    return RejectAsked(tags, place, given.reason)


def select(given: Words) -> SelectAsked | Mistake:
    """Which iteration, and why."""
    word = given.given[0].lower() if given.given else ""
    choice = int(word) if word.isascii() and word.isdigit() and len(word) <= 4 else word
    if isinstance(choice, str) and choice not in set(Choice):
        return Mistake("say which iteration: `best`, `final` or its number")
    if mistake := _nothing_more(given.given[1:]) or _reason_missing(given):
        return mistake
    return SelectAsked(choice if isinstance(choice, int) else Choice(choice), given.reason or "")


def dismiss(given: Words) -> DismissAsked | Mistake:
    """One tag, and why."""
    tag = _one_tag(given)
    if isinstance(tag, Mistake):
        return tag
    return _reason_missing(given) or DismissAsked(tag, given.reason or "")


def appeal(given: Words) -> AppealAsked | Mistake:
    """One tag, and why."""
    tag = _one_tag(given)
    if isinstance(tag, Mistake):
        return tag
    return _reason_missing(given) or AppealAsked(tag, given.reason or "")


def export(given: Words) -> ExportAsked | Mistake:
    """No words."""
    return _nothing_more(given.given) or ExportAsked()


def forget(given: Words) -> ForgetAsked | Mistake:
    """Nothing, or `confirm`."""
    if [word.lower() for word in given.given] == ["confirm"]:
        return ForgetAsked(confirmed=True)
    return _nothing_more(given.given) or ForgetAsked()


def _one_tag(given: Words) -> str | Mistake:
    if not given.given:
        return Mistake("a tag is missing")
    tag = given.given[0].lower()
    if not is_tag(tag):
        return Mistake(f"{code_span(given.given[0], 60)} is no tag, which is two or more words joined by `_`")
    return _nothing_more(given.given[1:]) or tag


def _nothing_more(left: tuple[str, ...]) -> Mistake | None:
    return Mistake(f"{code_span(left[0], 60)} is not understood") if left else None


def _reason_missing(given: Words) -> Mistake | None:
    return None if given.reason else Mistake("a reason is missing")


def _hours(word: str) -> int | None:
    found = _PERIOD.fullmatch(word)
    hours = int(found[1]) * _HOURS[found[2].lower()] if found else 0
    return hours if 0 < hours <= MOST_HOURS else None


def _not_history(word: str) -> str:
    shown = code_span(word, 60)
    if _LOGIN.fullmatch(word) or _hours(word) or is_tag(word.lower()):
        return f"{shown} is one too many: a login, a period and a tag are read, each once"
    if word[0].isdigit():
        return f"{shown} is no period: hours, days or weeks up to ten years, such as `24h`, `30d` or `6w`"
    return f"{shown} is no login with `@`, no period and no tag"


def _place(word: str) -> Place | None:
    found = _PLACE.fullmatch(word)
    if found is None or not any(sign in word for sign in "./:"):
        return None
    if found["line"] is None:
        return Place(found["path"])
    line = int(found["line"])
    end = int(found["end"] or line)
    if not 0 < line <= end:
        return None
    return Place(found["path"], line, end if end > line else None)
