"""Parse the arguments of each slash command."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot import regex
from bot.gates.model import is_tag
from bot.markdown.escape import code_span, one_line
from bot.values import Location


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """`/feedback-history`: an author's record; whoever opened the pull request where no login is given."""

    login: str | None = None
    hours: int | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class HelpRequest:
    """`/feedback-help`: which commands there are."""


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """`/feedback-explain`: what a gate wants."""

    tag: str


@dataclass(frozen=True, slots=True)
class RejectRequest:
    """`/feedback-reject`: a verdict, or an appeal refused."""

    tags: tuple[str, ...]
    place: Location | None = None
    reason: str | None = None


class IterationChoice(StrEnum):
    """Which iteration, where it is not given by number."""

    BEST = "best"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class SelectRequest:
    """`/feedback-select`: this iteration is the result."""

    choice: IterationChoice | int
    reason: str


@dataclass(frozen=True, slots=True)
class DismissRequest:
    """`/feedback-dismiss`: the tag does not hold, or an appeal is upheld."""

    tag: str
    reason: str


@dataclass(frozen=True, slots=True)
class AppealRequest:
    """`/feedback-appeal`: the tag is wrong, a maintainer should look."""

    tag: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """`/feedback-export`: where one's own data can be had."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """`/feedback-forget`: delete one's own data; unconfirmed, only say what would go."""

    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentError:
    """What is wrong with the words behind a command, as a sentence without its full stop."""

    what: str


CommandRequest = (
    HistoryRequest
    | HelpRequest
    | ExplainRequest
    | RejectRequest
    | SelectRequest
    | DismissRequest
    | AppealRequest
    | ExportRequest
    | ForgetRequest
)


MAX_HISTORY_HOURS = 24 * 3650
"""The longest period: ten years."""
MAX_REJECTED_TAGS = 20
"""Of one `/feedback-reject`."""

_REASON = regex.Regex(r"(?:^|\s)reason:", ignore_case=True)
_LONGEST_REASON = 500
_WORD = regex.Regex(r"`([^`]+)`|([^\s,`]+)")
_LOGIN = regex.Regex(r"@([a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?(?:\[bot\])?)", ignore_case=True)
_PERIOD = regex.Regex(r"(\d{1,6})([hdw])", ignore_case=True)
_PLACE = regex.Regex(r"(?P<path>[^:]+)(?::(?P<line>\d{1,7})(?:-(?P<end>\d{1,7}))?)?")
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True)
class ArgumentText:
    """The words before `reason:`, and the reason."""

    given: tuple[str, ...]
    reason: str | None


def split_arguments(text: str) -> ArgumentText:
    """The line behind a command's name, taken apart; code spans and commas are only dress."""
    found = _REASON.search(text)
    before, after = (text[: found.start()], text[found.end() :]) if found else (text, "")
    reason = one_line(after)[:_LONGEST_REASON]
    return ArgumentText(tuple(word[1] or word[2] for word in _WORD.finditer(before)), reason or None)


def parse_history(given: ArgumentText) -> HistoryRequest | ArgumentError:
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
            return ArgumentError(_not_history(word))
    return HistoryRequest(login, hours, tag)


def parse_help(given: ArgumentText) -> HelpRequest | ArgumentError:
    """No words."""
    return _nothing_more(given.given) or HelpRequest()


def parse_explain(given: ArgumentText) -> ExplainRequest | ArgumentError:
    """One tag."""
    tag = _one_tag(given)
    return tag if isinstance(tag, ArgumentError) else ExplainRequest(tag)


def parse_reject(given: ArgumentText) -> RejectRequest | ArgumentError:
    """Tags, and at most one place."""
    tags = tuple(dict.fromkeys(word.lower() for word in given.given if is_tag(word.lower())))
    others = [word for word in given.given if not is_tag(word.lower())]
    if not tags:
        return ArgumentError("a tag is missing")
    if len(tags) > MAX_REJECTED_TAGS:
        return ArgumentError(f"{len(tags)} tags are too many, at most {MAX_REJECTED_TAGS} are read")
    if not others:
        return RejectRequest(tags, None, given.reason)
    place = _place(others[0])
    if place is None or len(others) > 1:
        return ArgumentError(f"{code_span(others[-1], 60)} is no tag and no place")
    return RejectRequest(tags, place, given.reason)


def parse_select(given: ArgumentText) -> SelectRequest | ArgumentError:
    """Which iteration, and why."""
    word = given.given[0].lower() if given.given else ""
    choice = int(word) if word.isascii() and word.isdigit() and len(word) <= 4 else word
    if isinstance(choice, str) and choice not in set(IterationChoice):
        return ArgumentError("say which iteration: `best`, `final` or its number")
    if mistake := _nothing_more(given.given[1:]) or _reason_missing(given):
        return mistake
    return SelectRequest(choice if isinstance(choice, int) else IterationChoice(choice), given.reason or "")


def parse_dismiss(given: ArgumentText) -> DismissRequest | ArgumentError:
    """One tag, and why."""
    tag = _one_tag(given)
    if isinstance(tag, ArgumentError):
        return tag
    return _reason_missing(given) or DismissRequest(tag, given.reason or "")


def parse_appeal(given: ArgumentText) -> AppealRequest | ArgumentError:
    """One tag, and why."""
    tag = _one_tag(given)
    if isinstance(tag, ArgumentError):
        return tag
    return _reason_missing(given) or AppealRequest(tag, given.reason or "")


def parse_export(given: ArgumentText) -> ExportRequest | ArgumentError:
    """No words."""
    return _nothing_more(given.given) or ExportRequest()


def parse_forget(given: ArgumentText) -> ForgetRequest | ArgumentError:
    """Nothing, or `confirm`."""
    if [word.lower() for word in given.given] == ["confirm"]:
        return ForgetRequest(confirmed=True)
    return _nothing_more(given.given) or ForgetRequest()


def _one_tag(given: ArgumentText) -> str | ArgumentError:
    if not given.given:
        return ArgumentError("a tag is missing")
    tag = given.given[0].lower()
    if not is_tag(tag):
        return ArgumentError(
            f"{code_span(given.given[0], 60)} is no tag, which is two or more words joined by `_`"
        )
    return _nothing_more(given.given[1:]) or tag


def _nothing_more(left: tuple[str, ...]) -> ArgumentError | None:
    return ArgumentError(f"{code_span(left[0], 60)} is not understood") if left else None


def _reason_missing(given: ArgumentText) -> ArgumentError | None:
    return None if given.reason else ArgumentError("a reason is missing")


def _hours(word: str) -> int | None:
    found = _PERIOD.fullmatch(word)
    hours = int(found[1]) * _HOURS[found[2].lower()] if found else 0
    return hours if 0 < hours <= MAX_HISTORY_HOURS else None


def _not_history(word: str) -> str:
    shown = code_span(word, 60)
    if _LOGIN.fullmatch(word) or _hours(word) or is_tag(word.lower()):
        return f"{shown} is one too many: a login, a period and a tag are read, each once"
    if word[0].isdigit():
        return f"{shown} is no period: hours, days or weeks up to ten years, such as `24h`, `30d` or `6w`"
    return f"{shown} is no login with `@`, no period and no tag"


def _place(word: str) -> Location | None:
    found = _PLACE.fullmatch(word)
    if found is None or not any(sign in word for sign in "./:"):
        return None
    if found["line"] is None:
        return Location(found["path"])
    line = int(found["line"])
    end = int(found["end"] or line)
    if not 0 < line <= end:
        return None
    return Location(found["path"], line, end if end > line else None)
