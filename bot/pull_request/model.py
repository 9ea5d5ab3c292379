"""Everything recorded about one pull request: revisions, verdicts, rulings, the sticky comment."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.pull_request.checks import CheckResult
from bot.pull_request.diff import FileDiff
from bot.values import Account, Location, Repository

MAX_GROUNDED_CLAIMS = 200
"""Entries of one pull request's log; older heads go first."""


@dataclass(frozen=True, slots=True)
class GroundedClaim:
    """One claim of a validator, its outcome, and where and when that was observed."""

    validator: str
    """The validator's key."""
    name: str
    verdict: str
    item: str
    """The key of the item that it belongs to; empty for a sentence of the review itself."""
    type: str
    requirement: str
    claim: str
    outcome: str
    head: str
    at: datetime
    tool: str = ""
    """Empty where nothing was looked at."""
    check: str = ""
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    is_place: bool = False
    note: str = ""
    nearest: str | None = None
    moved_from: int | None = None
    cited: bool = False
    blob: str = ""

    @property
    def source(self) -> str:
        """Where it was observed, as the document writes it: `contents @ 9f2c1e4`; empty for nowhere."""
        if not self.tool:
            return ""
        seen = f"check run {self.check}" if self.check else self.tool
        return f"{seen} @ {self.head[:7]}"

    @property
    def required(self) -> bool:
        """Whether grounding is mandatory."""
        return self.requirement == "mandatory"

    @property
    def looked_up(self) -> bool:
        """Whether anything was read to verify it."""
        return bool(self.tool)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an item comes from, besides the validator's name and the URL."""

    way: str = "review"
    """By review, inline comment, comment, check, status, label, command or validation."""
    permission: str | None = None
    """The author's role at that time; `config` where the config names the validator."""
    body_hash: str = ""
    """SHA-256 of the text when it was read."""
    account: str = ""
    """The account behind it, where the validator's name is another: the App behind a check."""
    delivery: str = ""
    """The id of a validation that was submitted over HTTP, which is nowhere on GitHub."""

    def as_document(self) -> dict[str, object]:
        """Return what is shown of it, without unknown values."""
        values = {
            "way": self.way,
            "account": self.account,
            "permission": self.permission,
            "body_sha256": self.body_hash,
            "delivery": self.delivery,
        }
        return {name: value for name, value in values.items() if value}


def hash_text(*words: str) -> str:
    """Return the SHA-256 of the texts, joined by line ends; lone surrogates are accepted."""
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()


class SelectionChoice(StrEnum):
    """What may be selected."""

    USE_BEST = "use_best"
    USE_FINAL = "use_final"
    USE_SPECIFIC = "use_specific"


@dataclass(frozen=True, slots=True)
class SelectionOverride:
    """A person's selection: who, when, why, and at which head they saw it."""

    choice: SelectionChoice
    by: str
    reason: str
    at: datetime
    head: str
    iteration: int | None = None
    """Only with `use_specific`."""
    by_id: int = 0


@dataclass(frozen=True, slots=True)
class OverrideAudit:
    """What an override changed."""

    by: str
    at: datetime
    reason: str
    head: str
    choice: SelectionChoice
    before: int
    after: int
    by_id: int = 0


class RulingAction(StrEnum):
    """What a command does to a tag."""

    DISMISS = "dismiss"
    APPEAL = "appeal"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Ruling:
    """One tag dismissed, appealed against or named again: by whom, when, why, and at which head."""

    act: RulingAction
    tag: str
    by_id: int
    by: str
    at: datetime
    head: str
    reason: str
    key: str
    """The command that says so: `comment:81/0`."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """How the feedback of one iteration turned out."""

    followed: bool
    delta: float | None
    """How much the quality rose; None if either score is not known."""
    clarity: float

    @property
    def improved(self) -> bool | None:
        """Whether the next iteration scored higher."""
        return None if self.delta is None else self.delta > 0

    def as_document(self) -> dict[str, object]:
        """Return it in the names of the actionable-feedback document, without what is not known."""
        values = {
            "feedback_followed": self.followed,
            "improvement_observed": self.improved,
            "improvement_delta": self.delta,
            "feedback_clarity_score": self.clarity,
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """One item and its outcome, small enough to be stored."""

    at: datetime
    """When the next iteration was reviewed."""
    author: str
    reviewer: str
    tag: str | None
    placed: bool
    followed: bool
    delta: float | None = None
    url: str = ""
    """The URL of the item, if it has one of its own."""
    clarity: float | None = None
    """Of the feedback that it belongs to; None if it was stored before that was computed."""


@dataclass(frozen=True, slots=True)
class TrackedIteration:
    """One iteration's feedback, and what the next iteration showed of it."""

    iteration: int
    head: str
    tracking: FollowUp
    observations: tuple[ItemOutcome, ...] = ()


class FindingStatus(StrEnum):
    """The state of one thing that a validator says is wrong."""

    NEW = "new"
    OPEN = "open"
    CHANGED = "changed"
    FIXED = "fixed"
    REGRESSED = "regressed"
    WITHDRAWN = "withdrawn"
    DISMISSED = "dismissed"

    @property
    def is_open(self) -> bool:
        """Whether it still counts against the pull request."""
        return self not in _CLOSED


_CLOSED = frozenset({FindingStatus.FIXED, FindingStatus.WITHDRAWN, FindingStatus.DISMISSED})


@dataclass(frozen=True, slots=True)
class StatusChange:
    """One step in the life of a finding: what it became, when, at which head, and by whose act."""

    status: FindingStatus
    at: datetime
    head: str
    by: str


BLOCKING_SEVERITIES = frozenset({"critical", "major"})
"""Severities of a feedback document that block where no gate says so."""


@dataclass(frozen=True, slots=True)
class Item:
    """One problem that a validator reports: tag, location, text, and what to do if stated."""

    tag: str | None
    words: str = ""
    place: Location | None = None
    url: str = ""
    suggestion: str | None = None
    inferred: float | None = None
    """The confidence where the tag was not stated but inferred from plain words."""
    aspect: str | None = None
    severity: str | None = None
    action: str | None = None
    rationale: str | None = None
    context_before: str = ""
    context_after: str = ""
    evidence: str | None = None
    metric: str | None = None
    """A number that shows it: coverage, or a count."""
    reference: str | None = None
    """Where the rule is written, according to the validator."""
    offered: bool = False
    """Its suggestion is already in the thread, to be committed with one click."""
    score: float | None = None
    """The validator's own score from 0 to 1."""
    part: tuple[str, str] | None = None
    """The part of the file, where no line is given: `("function", "parse_token()")`."""
    origin: Provenance | None = None
    """Its provenance, where that differs from the rest of its verdict."""
    label: str | None = None
    """The Conventional Comments label that its text starts with, such as `nitpick`."""
    blocks: bool | None = None
    """Whether it blocks by its own words: a label, a decoration, a hedge; None leaves that to the gate."""
    comment_id: int | None = None
    """The inline comment that started its thread; None if it was not said inline."""
    removed_at: datetime | None = None
    """When its validator edited it out or deleted it."""
    rule: str | None = None
    """The tool's rule that it breaks, where no tag stands for that rule."""
    looks_like: str | None = None
    """The tag that its plain words suggest; it changes neither name nor severity."""
    finding: str = ""
    """The short id of the finding that it reports, once the ledger was read: `f4`."""
    status: FindingStatus | None = None
    """The finding's status, likewise."""

    @property
    def key(self) -> str:
        """What groups it with others into one entry of the comment: tag, tool's rule, or the finding."""
        if self.tag or self.rule:
            return self.tag or f":rule:{self.rule}"
        return f":{self.finding}:{self.aspect}:{self.words}"


class Stance(StrEnum):
    """The stance of a validator's verdict."""

    REJECTS = "rejects"
    APPROVES = "approves"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Validator:
    """The author of a verdict; the key is stable, the name is what people see."""

    key: str
    name: str
    bot: bool = False
    check: bool = False

    @property
    def is_log(self) -> bool:
        """Whether it is a submitted tool log: GitHub has no check of this name."""
        return self.check and not self.key.startswith("check:")

    @property
    def app(self) -> str:
        """The slug of the App whose check it is; empty for a status, a log and a reviewer."""
        kind, _, check = self.key.partition(":")
        return check.removesuffix(self.name).rstrip("/") if kind == "check" else ""


_FORMAL = frozenset({"review", "check", "label", "command"})


UNREADABLE = "?"
"""The trigger of a suite whose event can't be read: it is the same as no other."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One validator's verdict in one review, check, label or comment."""

    id: str
    """Its source on GitHub: `review:81`, `check:validate`."""
    validator: Validator
    stance: Stance
    at: datetime
    head: str | None
    items: tuple[Item, ...] = ()
    more: int = 0
    """Number of tags omitted because one verdict named more than the bot stores."""
    url: str = ""
    counted: bool = True
    """False: recorded and named to the maintainers, but its author is no validator."""
    permission: str | None = None
    lifted_at: datetime | None = None
    body_hash: str = ""
    edited_at: datetime | None = None
    """When the text was last edited, where GitHub says so: an older version never replaces a newer."""
    said: str = ""
    """The beginning of the text, or both ends of a failed check's output, for the detector."""
    account: str = ""
    """The account behind it, where the validator's name is another: the App behind a check."""
    account_id: int = 0
    """The author's id, where the validator's key does not have it: for labels, statuses and validations."""
    way: str = ""
    """The kind of source, where the id does not show it: a commit status is stored like a check."""
    by_line: bool = False
    """A review whose state has no stance, so that only its VERDICT line gives one."""
    advisory: bool = False
    """It rejects only while one of its findings blocks: a reviewing App's comments, or a validation."""
    unlabelled_by: str = ""
    """Who removed the label without being a validator; the verdict stands."""
    repeats: bool = False
    """Its text says that earlier remarks still hold ("still", "as above")."""
    trigger: str = ""
    """The event that started a check's suite, where it was read; `UNREADABLE` where GitHub does not say."""

    @property
    def suite(self) -> int:
        """The check suite that its id names: `check:ci/test@9f2c1e4#311/8812`; 0 for none."""
        suite = self.id.rpartition("#")[2].partition("/")[0]
        return int(suite) if suite.isdecimal() else 0

    @property
    def is_formal(self) -> bool:
        """Whether it has a state on GitHub or is a command; comments and documents have none."""
        return self.id.partition(":")[0] in _FORMAL and not self.by_line

    def origin_of(self, item: Item) -> Provenance:
        """Return the provenance of one of its items."""
        if item.origin is not None:
            return item.origin
        kind, _, rest = self.id.partition(":")
        delivery = rest if kind == "validation" else ""
        return Provenance(self.way or kind, self.permission, self.body_hash, self.account, delivery)


@dataclass(frozen=True, slots=True)
class WrittenBy:
    """A coding agent that signed a commit or a description, and the model where it names one."""

    agent: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """A head that the pull request had, and when it was first seen."""

    head: str
    seen_at: datetime
    base: str | None = None
    """The merge base; until it is read, the base's newest commit at that time."""
    tree: str | None = None
    files: tuple[FileDiff, ...] | None = None
    """What it changes against that commit; None if it was not read."""
    checks: tuple[CheckResult, ...] = ()
    gone: bool = False
    """GitHub no longer has it."""
    reads: int = 0
    """How often reading its files and checks was attempted."""
    written_by: tuple[WrittenBy, ...] = ()
    """The agents that signed its commits."""


@dataclass(frozen=True, slots=True)
class HeadSpan:
    """A time during which the branch is known to have been at one head.

    A head that the branch came back to has several. First and last sight are both kept, so that a push in
    between that is reported late still splits the span.
    """

    head: str
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class ThreadState:
    """An inline thread that was resolved or reopened: by whom, when, and with which permission."""

    comment_id: int
    """The comment that started the thread."""
    resolved: bool
    at: datetime
    by_id: int
    by: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """What happened around the reviews: resolved threads, the author's answers, requested reviews."""

    threads: tuple[ThreadState, ...] = ()
    answers: tuple[tuple[int, datetime], ...] = ()
    """The first comment of each thread in which the author replied, and when they last did."""
    requests: tuple[tuple[int, datetime], ...] = ()
    """Whose review was requested, by account id, and when it last was."""


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """What is stored of a finding besides the verdicts that report it: its number and its last status."""

    number: int
    keys: tuple[str, ...]
    """The reports that it was recognised in; the first one made it."""
    status: FindingStatus
    place: Location | None = None
    """Its location at `head`."""
    head: str = ""

    @property
    def id(self) -> str:
        """The short id, as people and commands write it: `f4`."""
        return f"f{self.number}"


@dataclass(frozen=True, slots=True)
class FrozenScore:
    """An iteration's score when the next one started: what comes in later does not change it."""

    number: int
    head: str
    value: float | None
    decided: str = ""
    unobserved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedbackIdentity:
    """The id of the feedback that the comment carries, and a hash of what it asks for."""

    id: str
    what: str


@dataclass(frozen=True, slots=True)
class PostedBrief:
    """One round of an iteration's brief; the last round was posted.

    An approval that still asks for something is recorded without actions: nothing was posted.
    """

    at: datetime
    iteration: int
    feedback_type: str
    signal: str
    actions: tuple[str, ...]
    text: str
    before: str
    success: bool | None = None
    """Whether the next verdict accepted it; False for a round that was not posted."""
    round: int = 1

    def as_document(self) -> dict[str, object]:
        """Return the round with the field names of document 004."""
        return {
            "timestamp": self.at.isoformat().replace("+00:00", "Z"),
            "original_prompt": self.before,
            "feedback_type": self.feedback_type,
            "feedback_signal": self.signal,
            "actions_applied": list(self.actions),
            "refined_prompt": self.text,
            "iteration": self.iteration,
            "success": self.success,
            "round": self.round,
        }


@dataclass(frozen=True, slots=True)
class Escalation:
    """A request to a person to decide, and when one with `write` answered."""

    at: datetime
    head: str
    heard_at: datetime | None = None
    is_closed: bool = False
    """Its comment was reduced to one line when the pull request was merged or closed."""


@dataclass(frozen=True, slots=True)
class StickyComment:
    """The bot's comment that carries the marker, as last written."""

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
    sticky: StickyComment | None = None
    unsure: bool = False
    """Two payloads of the same second differ: only GitHub can say which is the newer."""
    override: SelectionOverride | None = None
    """The newest selection by a person; it holds for the head that they saw."""
    audits: tuple[OverrideAudit, ...] = ()
    tracked: tuple[TrackedIteration, ...] = ()
    escalation: Escalation | None = None
    reported: str | None = None
    """The head for which the selection report got a comment of its own."""
    reported_iteration: int = 0
    """The iteration that this comment says is selected."""
    asked: FeedbackIdentity | None = None
    """What the comment asks for, under which id: another score alone is no new feedback."""
    briefs: tuple[PostedBrief, ...] = ()
    """One a round, for each iteration that a brief was shown for."""
    framework: str | None = None
    """What its manifests ask for, once they were read for a brief."""
    grounding: tuple[GroundedClaim, ...] = ()
    """The validators' claims that were verified, and their outcomes."""
    rulings: tuple[Ruling, ...] = ()
    """Tags that were dismissed, appealed against or named again by command."""
    check: str = ""
    """Fingerprint of the check run that was last sent for the head."""
    suggested: str = ""
    """The head on which a review of the bot offers suggestions."""
    labelled: str = ""
    """The bot's label that was last sent."""
    seen_opening: bool = False
    """Its opening was received, so every comment of the bot on it is recorded."""
    proposes: bool = False
    """It proposes another config, so that every head is checked, whatever the push changed."""
    heads: tuple[HeadSpan, ...] = ()
    """Where the branch was, in the order of the pushes."""
    conversation: Conversation = field(default_factory=Conversation)
    body: str = ""
    """The beginning of its description."""
    posted_head: str = ""
    """The reviewed head for which the comment was last posted, not only edited."""
    comment_requested_at: datetime | None = None
    """When somebody last asked for the comment by `/feedback`."""
    findings: tuple[FindingRecord, ...] = ()
    """Number and last status of every finding, in the order in which they were first reported."""
    scores: tuple[FrozenScore, ...] = ()
    """The scores of the iterations that are over."""
    written_by: tuple[WrittenBy, ...] = ()
    """The agents that signed the description."""

    @property
    def name(self) -> str:
        """`owner/repo#7`."""
        return f"{self.repository.full_name}#{self.number}"

    def head_at(self, at: datetime) -> str:
        """Return the newest head at that time, as far as known."""
        revisions = [revision for revision in self.revisions if revision.seen_at <= at]
        return max(revisions, key=lambda revision: revision.seen_at).head if revisions else self.head


@dataclass(frozen=True, slots=True)
class OverturnedTag:
    """A maintainer found that the tag was wrongly given: dismissed it, or upheld an appeal."""

    tag: str
    at: datetime
