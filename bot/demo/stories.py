"""The demo's stories: what they consist of, and the two in `code.yml` and `knowledge-base.yml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

STORY_NAMES = ("code", "knowledge-base")
Ending = Literal["merged", "closed", "open"]


@dataclass(frozen=True, slots=True)
class Edit:
    """The text to replace in a file (empty: append), and the new text; `{today}` is the story's date."""

    path: str
    new: str
    old: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """An inline comment on the first line of the file that contains `line`."""

    path: str
    line: str
    text: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """One revision of the story's pull request: what is pushed, what the checks and the reviewer say."""

    heading: str
    message: str = ""
    edits: tuple[Edit, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    """The checks that fail, and what each of them prints; all others pass."""
    review: str = "CHANGES_REQUESTED"
    body: str = ""
    remarks: tuple[Remark, ...] = ()
    is_merge: bool = False
    """Whether it is merged, with no review before that."""


@dataclass(frozen=True, slots=True)
class PastPullRequest:
    """A pull request of the past weeks: the tags of each of its rejections, and how it ended."""

    author: str
    reviewer: str
    rejections: tuple[tuple[str, ...], ...] = ()
    end: Ending = "merged"
    day: int = 0
    """The day of the week on which it is opened."""
    dismissed_tag: str = ""
    """The tag that a maintainer dismisses the morning after."""
    has_stranger: bool = False
    """Whether an App that is not a validator requests changes, too."""


@dataclass(frozen=True, slots=True)
class PastAuthor:
    """An author: the tags that they are rejected for, and how often, at first and at last."""

    login: str
    tags: tuple[str, ...]
    first_risk: float
    last_risk: float


@dataclass(frozen=True, slots=True)
class Routine:
    """The pull requests of the past weeks: one new file each, from these parts."""

    path: str
    text: str
    """The file's text; `{flaw}` and `{result}` are what a revision changes."""
    flaw_tag: str
    flaw: str
    fixed: str
    results: tuple[str, str]
    """The last line as opened, and as revised for the nth time (`{n}`)."""
    words: tuple[tuple[str, ...], ...]
    """A title is one of each."""
    remarks: Mapping[str, tuple[str | None, str]]
    """How the line begins that a tag is about (empty: the last line; None: no line), and what is said."""
    dismissal: str
    authors: tuple[PastAuthor, ...]
    last_week: tuple[PastPullRequest, ...]
    """The week that the summary is about, chosen so that it has recommendations."""


@dataclass(frozen=True, slots=True)
class Story:
    """A repository, its past, and one pull request that is rejected step by step."""

    repository: str
    pack: str
    files: Mapping[str, str]
    checks: tuple[str, ...]
    title: str
    description: str
    rejected: tuple[Chapter, ...]
    accepted: tuple[Chapter, ...]
    routine: Routine
    note: str
    """The line that a revision adds where it has nothing else to change."""
    author: str = "rio-agent[bot]"


@cache
def load_story(name: str) -> Story:
    """Return the story of this name."""
    return msgspec.yaml.decode(Path(__file__).with_name(f"{name}.yml").read_bytes(), type=Story)
