"""Read the comments of review Apps: title, severity, suggestion, and what is scaffolding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import msgspec

from bot import regex
from bot.gates.packs import load_rules
from bot.markdown.prose import read_prose
from bot.verdicts.tags import find_suggestion

SEVERITY_ORDER = ("critical", "major", "minor", "suggestion")
"""The severities of a feedback document, worst first."""
THRESHOLDS = {"critical": "critical", "high": "major", "medium": "minor", "low": "suggestion"}
"""The names that a config may use for the severity from which an App's findings block."""
_HEAD = 300
"""Characters at the head of a comment in which its severity stands."""
_LABEL = regex.Regex(
    r"^[\s*_]{0,6}(?:\S{1,4} )?(?:\[[A-Za-z]+\]|Bug:|[a-z]+(?: \([\w.:, -]{1,120}\))?:)[*_]{0,3}\s*"
)
_FOLD = regex.Regex(r"<details\b([^<>]*)>|</details>", ignore_case=True)
_LINK_TEXT = regex.Regex(r"\[([^\]\n]{1,300})\]\([^)\s]{1,500}\)")


@dataclass(frozen=True, slots=True)
class SeverityMark:
    """A text at the head of a comment, and the severity that it gives."""

    text: str
    severity: str


@dataclass(frozen=True, slots=True)
class ReviewerFormat:
    """How one App writes its inline comments."""

    logins: tuple[str, ...]
    severities: tuple[SeverityMark, ...] = ()
    head: str = ""
    """A sign by which a first line is recognised that holds nothing but marks."""
    scaffolding: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AppRemark:
    """What a comment of an App says."""

    words: str
    severity: str | None = None
    suggestion: str | None = None


@cache
def shipped_reviewers() -> Mapping[str, ReviewerFormat]:
    """Return the formats that come with the product, by the name of their App."""
    return msgspec.convert(load_rules("reviewers")["apps"], dict[str, ReviewerFormat])


def find_format(login: str, *, bot: bool) -> ReviewerFormat | None:
    """Return how this account writes, if it is an App whose format is known."""
    name = login.lower().removesuffix("[bot]")
    formats = shipped_reviewers().values() if bot else ()
    return next((app for app in formats if name in map(str.lower, app.logins)), None)


def is_severe(severity: str | None, threshold: str) -> bool:
    """Whether a severity is at least that of a config's threshold, such as `high`."""
    if severity not in SEVERITY_ORDER:
        return False
    least = THRESHOLDS.get(threshold, threshold)
    return SEVERITY_ORDER.index(severity) <= SEVERITY_ORDER.index(least)


def read_app_comment(body: str, app: ReviewerFormat) -> AppRemark | None:
    """Return what the comment says without its scaffolding; None if that is nothing."""
    head = body[:_HEAD].partition("```")[0].lower()
    severity = next((mark.severity for mark in app.severities if mark.text.lower() in head), None)
    suggestion = find_suggestion(body)
    unfolded = _without_folds(body).replace("<h3>", "### ").replace("&nbsp;", " ")
    visible = read_prose(unfolded)
    lines = [_LINK_TEXT.sub(lambda link: str(link[1]), line).strip() for line in visible.split("\n")]
    kept = [line for index, line in enumerate(lines) if not _is_scaffolding(line, app, first=index == 0)]
    words = _join(kept)
    if label := _LABEL.match(words):
        words = words[label.end() :].strip()
    if not words and suggestion is None:
        return None
    return AppRemark(words, severity, suggestion)


def _is_scaffolding(line: str, app: ReviewerFormat, *, first: bool) -> bool:
    bare = line.strip("*_#> ")
    if not any(map(str.isalnum, bare)):
        return bool(bare)
    if first and app.head and app.head in line:
        return True
    is_mark = any(bare.lower() == mark.text.lower() for mark in app.severities)
    # A first line of one mark and an emoji, such as `_🧹 Nitpick_`.
    is_marked = (
        first
        and len(bare.split()) <= 4
        and any(mark.text in bare for mark in app.severities)
        and line[:1] == "_"
    )
    return is_mark or is_marked or any(map(bare.startswith, app.scaffolding))


def _join(lines: Iterable[str]) -> str:
    """Join the lines of each paragraph, and the paragraphs to sentences; a title is a paragraph."""
    paragraphs: list[str] = []
    is_open = False
    for line in lines:
        is_title = line.startswith("#") or (line.startswith("**") and line.endswith("**"))
        text = " ".join(line.strip("# ").split())
        text = text.strip("*_ ") if is_title else text
        if text and is_open and not is_title:
            paragraphs[-1] += f" {text}"
        elif text:
            paragraphs.append(text)
        is_open = bool(text) and not is_title
    ended = [text if text.endswith((".", "!", "?", ":")) else f"{text}." for text in paragraphs[:-1]]
    return " ".join((*ended, *paragraphs[-1:]))


def _without_folds(body: str) -> str:
    """Return the body without its folded parts, however they are nested; what is unfolded at first stays."""
    parts: list[str] = []
    folds: list[bool] = []  # of each element that is open, whether it hides
    hidden = done = 0
    for tag in _FOLD.finditer(body):
        if not hidden:
            parts.append(body[done : tag.start()])
        if tag[1] is not None:
            folds.append("open" not in tag[1].lower())
            hidden += folds[-1]
        elif folds:
            hidden -= folds.pop()
        done = tag.end()
    return "".join((*parts, "" if hidden else body[done:]))
