"""Collect pending claims, plan the reads that verify them, and record each outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot import regex
from bot.gates.config import ClaimType, GroundingTool, RepositoryRules
from bot.grounding import manifests
from bot.grounding.claims import find_claims
from bot.grounding.model import Claim, ClaimForm, ClaimOutcome, ClaimResult, Requirement, claim_requirement
from bot.grounding.verify import VerificationContext, verify_claim
from bot.grounding.verify_files import CommentAnchor, locate_path, unreadable_reason
from bot.iterations.model import current_iteration
from bot.paths import is_inside_repository, is_secret_path
from bot.pull_request.events import InlineCommentSnapshot
from bot.pull_request.facts import Facts, FileText, Observations
from bot.pull_request.model import (
    MAX_GROUNDED_CLAIMS,
    GroundedClaim,
    Item,
    PullRequest,
    Stance,
    Validator,
    Verdict,
    hash_text,
)

_HUNK = regex.Regex(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_CONTEXT = 3
MOST_SENTENCES = 20
"""Sentences of one item that are read, since a verdict may have hundreds of items."""


@dataclass(frozen=True, slots=True)
class PendingClaim:
    """A claim of a verdict that has to be verified."""

    claim: Claim
    verdict: Verdict
    item: str
    requirement: Requirement
    anchor: CommentAnchor | None = None


def grounding_item_key(validator: str, item: Item) -> str:
    """Identify an item, independent of its line, which GitHub may move."""
    path = item.place.path if item.place else ""
    identity = "\0".join((validator, item.tag or "", path, item.words, item.url))
    return hash_text(identity)[:16]


def pending_claims(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules
) -> tuple[PendingClaim, ...]:
    """Return the claims against the pull request that were not looked up at its reviewed head."""
    if not rules.grounding.enabled or not rules.grounding.check_required:
        return ()
    iteration = current_iteration(pull_request)
    if iteration is None:
        return ()
    log = pull_request.grounding
    looked_up = {_key(entry) for entry in log if entry.head == iteration.head and entry.looked_up}
    rejecting = (verdict for verdict in iteration.standing if verdict.stance is Stance.REJECTS)
    reviewers = (pending for verdict in rejecting for pending in _verdict_claims(verdict, facts, rules))
    return tuple(
        pending
        for pending in (*reviewers, *_author_claims(pull_request, iteration.head, rules))
        if (pending.verdict.id, pending.item, pending.claim.text, pending.claim.type) not in looked_up
    )


def _key(entry: GroundedClaim) -> tuple[str, str, str, str]:
    return entry.verdict, entry.item, entry.claim, entry.type


def _needing_grounding(
    claims: Iterable[Claim], verdict: Verdict, rules: RepositoryRules, item: str = ""
) -> Iterator[PendingClaim]:
    for claim in claims:
        requirement = claim_requirement(claim.type, rules.grounding)
        if requirement is not Requirement.NOT_REQUIRED:
            yield PendingClaim(claim, verdict, item, requirement)


AUTHOR = "author"
"""The verdict under which the claims of the description are kept."""


def _author_claims(pull_request: PullRequest, head: str, rules: RepositoryRules) -> Iterator[PendingClaim]:
    """Yield what the author claims in the description."""
    if not rules.grounding.author or not pull_request.body:
        return
    author = pull_request.author
    speaker = Validator(f"{AUTHOR}:{author.id}", author.login, bot=author.bot)
    statement = Verdict(AUTHOR, speaker, Stance.SILENT, pull_request.created_at, head)
    yield from _needing_grounding(find_claims(pull_request.body, MOST_SENTENCES), statement, rules)


def author_claims(pull_request: PullRequest, head: str) -> tuple[GroundedClaim, ...]:
    """Return the claims of the description as they were verified at this head."""
    return tuple(entry for entry in pull_request.grounding if entry.verdict == AUTHOR and entry.head == head)


def _verdict_claims(verdict: Verdict, facts: Facts, rules: RepositoryRules) -> Iterator[PendingClaim]:
    texts: list[str] = []
    comments = {comment.url: comment for comment in facts.inline_comments or () if comment.url}
    for item in verdict.items:
        key = grounding_item_key(verdict.validator.key, item)
        anchor = _anchor(comments.get(item.url), item)
        claims = () if verdict.validator.check else tuple(_item_claims(item))
        texts += [claim.text for claim in claims]
        for pending in _needing_grounding(claims, verdict, rules, key):
            yield replace(pending, anchor=anchor) if pending.claim.form is ClaimForm.PLACE else pending
    yield from _body_claims(verdict, facts, rules, texts)


def _item_claims(item: Item) -> Iterator[Claim]:
    claims = find_claims(item.words, MOST_SENTENCES)
    location = item.place
    part = item.part[1] if item.part and item.part[0] != "test" else ""
    # Words that claim something about a file also say that it is there: that is one claim.
    is_told = location and any(claim.path == location.path for claim in claims)
    if location and (location.line is not None or part or not is_told):
        yield Claim(
            ClaimType.FILE_LOCATION,
            str(location)[:200],
            location.path,
            location.line,
            location.end_line,
            subject="" if location.line else part,
            form=ClaimForm.PLACE,
        )
    yield from claims


def _body_claims(
    verdict: Verdict, facts: Facts, rules: RepositoryRules, item_texts: Iterable[str]
) -> Iterator[PendingClaim]:
    """Yield what the review claims outside of its items: kept in the log, not shown."""
    number = verdict.id.removeprefix("review:")
    bodies = [_TAG.sub(" ", review.body) for review in facts.reviews or () if str(review.id) == number]
    in_items = "\n".join(item_texts)
    read = {item.words for item in verdict.items}  # often the whole body
    claims = (claim for body in bodies if body.strip() not in read for claim in find_claims(body))
    unread = (claim for claim in claims if claim.text.strip(" :-—") not in in_items)
    yield from _needing_grounding(unread, verdict, rules)


_TAG = regex.Regex(r"\[[a-z][a-z0-9]*(?:_[a-z0-9]+)+\][ :]*")


def _anchor(comment: InlineCommentSnapshot | None, item: Item) -> CommentAnchor | None:
    """Return the line that was commented on: the last one of the comment's hunk."""
    if comment is None or item.place is None:
        return None
    header, *body = comment.diff_hunk.split("\n")
    start = _HUNK.match(header)
    if start is None or not body or body[-1].startswith("-"):
        return None
    kept = [line[1:] for line in body if not line.startswith(("-", "\\"))]
    if not kept:
        return None
    return CommentAnchor(kept[-1], int(start[1]) + len(kept) - 1, tuple(kept[-1 - _CONTEXT : -1]))


def record_grounding(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules, now: datetime
) -> PullRequest:
    """Verify the pending claims against the observations, and add them to the grounding log."""
    seen = facts.observations
    iteration = current_iteration(pull_request)
    if seen is None or iteration is None or seen.head != iteration.head or not rules.grounding.enabled:
        return pull_request
    pending = pending_claims(pull_request, facts, rules)
    if not pending:
        return pull_request
    kinds = _check_kinds(seen, rules)
    names = find_renames(pull_request, seen)
    entries = tuple(_with_new_name(_entry(claim, seen, kinds, now), names) for claim in pending)
    replaced = set(map(_key, entries))
    log = pull_request.grounding
    kept = tuple(entry for entry in log if entry.head != seen.head or _key(entry) not in replaced)
    return replace(pull_request, grounding=(*kept, *entries)[-MAX_GROUNDED_CLAIMS:])


def _entry(pending: PendingClaim, seen: Observations, kinds: dict[str, str], now: datetime) -> GroundedClaim:
    claim, verdict = pending.claim, pending.verdict
    result = verify_claim(claim, seen, VerificationContext(kinds, pending.anchor, verdict.head))
    entry = seen.entry(result.path or claim.path or "")
    return GroundedClaim(
        validator=verdict.validator.key,
        name=verdict.validator.name,
        verdict=verdict.id,
        item=pending.item,
        type=claim.type.value,
        requirement=pending.requirement.value,
        claim=claim.text,
        outcome=result.outcome.value,
        head=seen.head,
        at=now,
        tool=result.tool.value if result.tool else "",
        check=result.check,
        path=result.path or claim.path,
        line=result.line if result.path else claim.line,
        end_line=result.end_line if result.path else claim.end_line,
        is_place=_is_location(claim, result),
        note=result.note,
        nearest=result.nearest,
        moved_from=result.moved_from,
        cited=claim.cited,
        blob=entry.sha if entry else "",
    )


def find_renames(pull_request: PullRequest, seen: Observations) -> dict[str, str]:
    """Return the new path of each renamed file: by GitHub's diff, or by the same content."""
    files = [
        file
        for revision in pull_request.revisions
        if revision.head == seen.head
        for file in revision.files or ()
    ]
    names = {file.previous_path: file.path for file in files if file.previous_path}
    paths = {entry.sha: path for path, entry in (seen.tree.entries.items() if seen.tree else ())}
    same_content = {
        entry.path: paths[entry.blob]
        for entry in pull_request.grounding
        if entry.path and entry.blob in paths
    }
    return {**same_content, **names}


def _with_new_name(entry: GroundedClaim, names: dict[str, str]) -> GroundedClaim:
    """Name a file that does not exist any more as it is called now."""
    name = names.get(entry.path or "")
    is_missing = entry.outcome == ClaimOutcome.CONTRADICTED and entry.tool == GroundingTool.TREE
    if not is_missing or name is None or name == entry.path:
        return entry
    return replace(entry, note="that file was renamed", nearest=name)


def _is_location(claim: Claim, result: ClaimResult) -> bool:
    """Whether the claim says where the item is."""
    names_location = claim.type is ClaimType.FILE_LOCATION or claim.form in {ClaimForm.NAMED, ClaimForm.PLACE}
    return names_location and result.path is not None


def _check_kinds(seen: Observations, rules: RepositoryRules) -> dict[str, str]:
    """Return the kind that the config gives each check that ran."""
    return {
        run.name: rule.kind.value
        for run in seen.checks or ()
        for rule in rules.validators.checks
        if rule.kind and rule.covers(run.name)
    }


_MOST_MANIFESTS = 3


class ReadKind(StrEnum):
    """What is read from GitHub."""

    TREE = "tree"
    FILE = "file"
    CHECKS = "checks"
    ANNOTATIONS = "annotations"
    BRANCH = "branch"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """One read from GitHub."""

    kind: ReadKind
    path: str = ""
    blob: str | None = None
    names: bool = False
    """The names that the file defines are wanted too."""
    run: int = 0


_IN_CHECKS = frozenset(
    {ClaimType.TEST_RESULTS, ClaimType.ERROR_MESSAGES, ClaimType.CODE_BEHAVIOR, ClaimType.API_RESPONSES}
)
_IN_FILES = frozenset(
    {
        ClaimType.FILE_CONTENTS,
        ClaimType.FILE_EXISTENCE,
        ClaimType.FILE_LOCATION,
        ClaimType.CONFIGURATION_VALUES,
        ClaimType.DEPENDENCY_VERSIONS,
    }
)


def plan_next_read(
    claims: Sequence[Claim], seen: Observations, done: Iterable[PlannedRead]
) -> PlannedRead | None:
    """Return the read to make next; None if no other would show more."""
    made = frozenset((read.kind, read.path, read.run) for read in done)
    reads = (
        *_tree_reads(claims),
        *_file_reads(claims, seen),
        *_check_reads(claims, seen),
        *_branch_reads(claims),
    )
    return next((read for read in reads if (read.kind, read.path, read.run) not in made), None)


def _tree_reads(claims: Sequence[Claim]) -> list[PlannedRead]:
    about_files = (claim for claim in claims if claim.type in _IN_FILES)
    is_needed = any(
        claim.path is None or is_inside_repository(claim.path.rstrip("/")) for claim in about_files
    )
    return [PlannedRead(ReadKind.TREE)] if is_needed else []


def _file_reads(claims: Sequence[Claim], seen: Observations) -> list[PlannedRead]:
    """Return the files that claims are about, those with most claims first."""
    reads = [(claim, read) for claim in claims if (read := _file_read(claim, seen))]
    counts = Counter(read.path for _, read in reads)
    needs_names = {
        read.path
        for claim, read in reads
        if claim.form in {ClaimForm.DEFINED, ClaimForm.CALLED, ClaimForm.PLACE} and claim.subject
    }
    ordered = sorted({read.path: read for _, read in reads}.values(), key=lambda read: -counts[read.path])
    return [replace(read, names=read.path in needs_names) for read in ordered]


def _file_read(claim: Claim, seen: Observations) -> PlannedRead | None:
    if claim.type not in _IN_FILES or seen.tree is None:
        return None
    if claim.path is None:
        return _manifest_read(claim, seen)
    located = locate_path(claim.path, seen)
    if isinstance(located, ClaimResult):
        return _unlisted_read(claim.path, seen)
    needs_text = claim.type is not ClaimType.FILE_EXISTENCE and (
        claim.line or claim.form is not ClaimForm.NAMED
    )
    if not needs_text or unreadable_reason(located.path, located.entry) or located.path in seen.files:
        return None
    return PlannedRead(ReadKind.FILE, located.path, located.entry.sha if located.entry else None)


def _unlisted_read(path: str, seen: Observations) -> PlannedRead | None:
    """Read a path by itself where GitHub's list of files was truncated."""
    bare = path.rstrip("/")
    is_truncated = seen.tree is not None and seen.tree.truncated
    was_read = bare in seen.absent or bare in seen.files
    if not is_truncated or was_read or not is_inside_repository(bare) or is_secret_path(bare):
        return None
    return PlannedRead(ReadKind.FILE, bare)


def _manifest_read(claim: Claim, seen: Observations) -> PlannedRead | None:
    """Return the next manifest that may name the package, the outermost first."""
    listed = [
        path
        for path, entry in (seen.tree.entries.items() if seen.tree else ())
        if manifests.is_manifest(path) and not unreadable_reason(path, entry)
    ]
    listed.sort(key=lambda path: (manifests.is_lock(path), path.count("/"), path))
    for path in listed[:_MOST_MANIFESTS]:
        text = seen.files.get(path)
        if text is None:
            return PlannedRead(ReadKind.FILE, path, seen.tree.entries[path].sha if seen.tree else None)
        if isinstance(text, FileText):
            packages = manifests.manifest_versions(path, "\n".join(text.lines)) or {}
            if manifests.normalize_package(claim.subject) in packages:
                return None
    return None


def _check_reads(claims: Sequence[Claim], seen: Observations) -> list[PlannedRead]:
    about_checks = [claim for claim in claims if claim.type in _IN_CHECKS]
    if not about_checks:
        return []
    if seen.checks is None:
        return [PlannedRead(ReadKind.CHECKS)]
    if all(
        claim.type is ClaimType.TEST_RESULTS and not claim.subject.startswith("test:")
        for claim in about_checks
    ):
        return []
    failed = [run for run in seen.checks if run.has_failed and not run.ours and run.annotations_count]
    return [PlannedRead(ReadKind.ANNOTATIONS, run=run.id) for run in failed if not run.annotations]


def _branch_reads(claims: Sequence[Claim]) -> list[PlannedRead]:
    subjects = {claim.subject for claim in claims if claim.type is ClaimType.GIT_STATE} - {"worktree"}
    reads = [PlannedRead(ReadKind.BRANCH)] if subjects else []
    return [*reads, PlannedRead(ReadKind.COMPARISON)] if subjects & {"behind", "current"} else reads
