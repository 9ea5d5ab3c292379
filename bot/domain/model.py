"""What is known about a pull request: who said what, about which revision, and where."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.check_result import CheckResult
from bot.domain.diff import FileDiff
from bot.domain.grounding.grounded import Grounded
from bot.domain.origin import Origin
from bot.domain.override import Audit, Override
from bot.domain.ruling import Ruling
from bot.domain.tracked import Tracked


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account; the id stays when the login changes."""

    id: int
    login: str
    bot: bool = False


GHOST = Account(0, "ghost")
"""What GitHub shows in place of a deleted account."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as the installation sees it."""

    id: int
    owner: str
    name: str
    installation_id: int
    private: bool = False
    default_branch: str = "main"

    @property
    def full_name(self) -> str:
        """`owner/name`, as people write it."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or lines of it, at the revision that was judged."""

    path: str
    line: int | None = None
    end_line: int | None = None

    def __str__(self) -> str:
        """`path`, `path:5` or `path:5-9`."""
        if self.line is None:
            return self.path
        if self.end_line is None or self.end_line == self.line:
            return f"{self.path}:{self.line}"
        return f"{self.path}:{self.line}-{self.end_line}"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a validator says is wrong: tag, place, words, and what to do if it said so."""

    tag: str | None
    words: str = ""
    place: Place | None = None
    url: str = ""
    suggestion: str | None = None
    inferred: float | None = None
    """The detector's confidence where the tag was not stated but understood from plain words."""
    aspect: str | None = None
    severity: str | None = None
    action: str | None = None
    rationale: str | None = None
    context_before: str = ""
    context_after: str = ""
    evidence: str | None = None
    metric: str | None = None
    """A number that shows it: coverage, or how many there are."""
    reference: str | None = None
    """Where the rule is written, by the validator's word."""
    offered: bool = False
    """Its suggestion stands in the thread already, to be committed with one click."""
    score: float | None = None
    """How good this is, from 0 to 1, by the validator's word."""
    part: tuple[str, str] | None = None
    """What inside the file, where no line is given: `("function", "parse_token()")`."""
    origin: Origin | None = None
    """Whence it comes, where that is not the same as for the rest of its verdict."""

    @property
    def key(self) -> str:
        """What makes it one gate with others: its tag, or, where it has none, what it is about and says."""
        return self.tag or f":{self.aspect}:{self.words}"


class Stance(StrEnum):
    """Where a validator stands after having spoken."""

    REJECTS = "rejects"
    APPROVES = "approves"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Validator:
    """Whose verdict it is; the key is stable, the name is what people see."""

    key: str
    name: str
    bot: bool = False
    check: bool = False

    @property
    def is_log(self) -> bool:
        """Whether a tool's log was handed in: there is no check of this name that anybody could look up."""
        return self.check and not self.key.startswith("check:")


_FORMAL = frozenset({"review", "check", "label", "command"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one validator said in one review, check, label or comment."""

    id: str
    """The thing on GitHub that says so: `review:81`, `check:validate`."""
    validator: Validator
    stance: Stance
    at: datetime
    head: str | None
    items: tuple[Item, ...] = ()
    more: int = 0
    """Tags left out because one verdict named more than the bot keeps."""
    url: str = ""
    counted: bool = True
    """False: recorded and named to the maintainers, but its author is no validator."""
    permission: str | None = None
    lifted_at: datetime | None = None
    body_hash: str = ""
    edited_at: datetime | None = None
    """When the words were last changed, where GitHub says so: an older version never replaces a newer."""
    said: str = ""
    """The beginning of the words themselves, or both ends of a failed check's output, for the detector."""
    account: str = ""
    """Whose account it came from, where the validator's name is another: the App behind a check."""
    account_id: int = 0
    """Who spoke, where the validator's key does not say it: by a label, a status, or over HTTP."""
    way: str = ""
    """How it was said, where the id does not tell: a commit status is kept like a check."""
    by_line: bool = False
    """A review whose state says nothing, so that only its VERDICT line tells where it stands."""

    @property
    def is_formal(self) -> bool:
        """Whether it has a state of its own on GitHub, or is an order; a comment and a document have not."""
        return self.id.partition(":")[0] in _FORMAL and not self.by_line

    def origin_of(self, item: Item) -> Origin:
        """Whence one of its items comes."""
        if item.origin is not None:
            return item.origin
        kind, _, rest = self.id.partition(":")
        delivery = rest if kind == "validation" else ""
        return Origin(self.way or kind, self.permission, self.body_hash, self.account, delivery)


@dataclass(frozen=True, slots=True)
class Revision:
    """A head that the pull request had, and when it was first seen."""

    head: str
    seen_at: datetime
    base: str | None = None
    """The commit that it grew from; the base's newest one then, until it is read."""
    tree: str | None = None
    files: tuple[FileDiff, ...] | None = None
    """What it changes against that commit; None where it was not read."""
    checks: tuple[CheckResult, ...] = ()
    gone: bool = False
    """GitHub no longer has it."""
    reads: int = 0
    """How often its files and checks were asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The id of the feedback that the comment carries, and a hash of what it asks for."""

    id: str
    what: str


@dataclass(frozen=True, slots=True)
class Briefed:
    """What one iteration's author was to be told next, round by round; the last round was posted."""

    at: datetime
    iteration: int
    feedback_type: str
    signal: str
    actions: tuple[str, ...]
    text: str
    before: str
    success: bool | None = None
    """Whether the next verdict accepted it; never so of a round that was not posted."""
    round: int = 1


@dataclass(frozen=True, slots=True)
class Escalation:
    """A person was asked to decide, once, and whether one with `write` has spoken since."""

    at: datetime
    head: str
    heard_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sticky:
    """The one comment of ours that carries the marker, as last written."""

    comment_id: int
    node_id: str
    url: str
    marker_id: str
    fingerprint: str
    """What it says, less its id and time: equal fingerprints need no write."""
    issues: tuple[str, ...]
    blocking: tuple[str, ...]
    written_at: datetime
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PullRequest:
    """Everything recorded about one pull request."""

    repository: Repository
    number: int
    author: Account
    title: str
    base: str
    head: str
    created_at: datetime
    updated_at: datetime
    open: bool = True
    merged: bool = False
    draft: bool = False
    closed_at: datetime | None = None
    revisions: tuple[Revision, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    sticky: Sticky | None = None
    unsure: bool = False
    """Two payloads of the same second differ: only GitHub can say which is the newer."""
    override: Override | None = None
    """The newest selection by a person; it holds for the head that they saw."""
    audits: tuple[Audit, ...] = ()
    tracked: tuple[Tracked, ...] = ()
    escalation: Escalation | None = None
    reported: str | None = None
    """The head for which the selection report got a comment of its own."""
    resolved_threads: tuple[str, ...] = ()
    """Addresses of the inline comments whose threads were resolved."""
    asked: Asked | None = None
    """What the comment asks for, under which id: another score alone is no new feedback."""
    briefs: tuple[Briefed, ...] = ()
    """One a round, for each iteration that a brief was shown for."""
    framework: str | None = None
    """What its manifests ask for, once they were read for a brief."""
    grounding: tuple[Grounded, ...] = ()
    """Which claims of the validators were looked up, and what each came to."""
    rulings: tuple[Ruling, ...] = ()
    """What was dismissed, appealed against or named again by command."""
    check: str = ""
    """What the check run on the head was last told to say, as a fingerprint."""
    suggested: str = ""
    """The head on which a review of ours offers suggestions."""
    labelled: str = ""
    """The label of ours that it was last told to have."""
    seen_opening: bool = False
    """We were told when it was opened, so nothing of ours can stand there that is not known."""
    proposes: bool = False
    """It proposes another config, so that every head of it is judged, whatever the push changed."""

    @property
    def name(self) -> str:
        """`owner/repo#7`."""
        return f"{self.repository.full_name}#{self.number}"
