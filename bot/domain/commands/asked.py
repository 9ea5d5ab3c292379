"""What a slash command asks for, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.model import Place


@dataclass(frozen=True, slots=True)
class HistoryAsked:
    """`/feedback-history`: an author's record; whoever opened the pull request where no login is given."""

    login: str | None = None
    hours: int | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class HelpAsked:
    """`/feedback-help`: which commands there are."""


@dataclass(frozen=True, slots=True)
class ExplainAsked:
    """`/feedback-explain`: what a gate wants."""

    tag: str


@dataclass(frozen=True, slots=True)
class RejectAsked:
    """`/feedback-reject`: a verdict, or an appeal refused."""

    tags: tuple[str, ...]
    place: Place | None = None
    reason: str | None = None


class Choice(StrEnum):
    """Which iteration, where it is not given by number."""

    BEST = "best"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class SelectAsked:
    """`/feedback-select`: this iteration is the result."""

    choice: Choice | int
    reason: str


@dataclass(frozen=True, slots=True)
class DismissAsked:
    """`/feedback-dismiss`: the tag does not hold, or an appeal is upheld."""

    tag: str
    reason: str


@dataclass(frozen=True, slots=True)
class AppealAsked:
    """`/feedback-appeal`: the tag is wrong, a maintainer should look."""

    tag: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExportAsked:
    """`/feedback-export`: where one's own data can be had."""


@dataclass(frozen=True, slots=True)
class ForgetAsked:
    """`/feedback-forget`: delete one's own data; unconfirmed, only say what would go."""

    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with the words behind a command, as a sentence without its full stop."""

    what: str


Asked = (
    HistoryAsked
    | HelpAsked
    | ExplainAsked
    | RejectAsked
    | SelectAsked
    | DismissAsked
    | AppealAsked
    | ExportAsked
    | ForgetAsked
)
