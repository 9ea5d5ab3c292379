"""Collect pending claims, plan the reads that verify them, and record each outcome."""

from __future__ import annotations

import hashlib
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
from bot.iterations import model as iterations_model
from bot.paths import is_inside_repository, is_secret_path
from bot.pull_request.events import InlineCommentSnapshot
from bot.pull_request.facts import Facts, FileText, Observations
from bot.pull_request.model import MAX_GROUNDED_CLAIMS, GroundedClaim, Item, PullRequest, Stance, Verdict

_HUNK = regex.Regex(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_CONTEXT = 3
MOST_SENTENCES = 20
"""Sentences of one item that are read: a verdict may have hundreds of items."""


@dataclass(frozen=True, slots=True)
class PendingClaim:
    """One claim of one verdict that has to be looked up."""

    claim: Claim
    verdict: Verdict
    item: str
    requirement: Requirement
    anchor: CommentAnchor | None = None


def grounding_item_key(validator: str, item: Item) -> str:
    """The same for an item however often it is read; its line may be moved by GitHub."""
    path = item.place.path if item.place else ""
    said = "\0".join((validator, item.tag or "", path, item.words, item.url))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def pending_claims(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules
) -> tuple[PendingClaim, ...]:
    """The claims that stand against the pull request and were not looked up at its judged head."""
    if not rules.grounding.enabled or not rules.grounding.check_required:
        return ()
    present = iterations_model.current_iteration(pull_request)
    if present is None:
        return ()
    known = {
        (entry.verdict, entry.item, entry.claim, entry.type)
        for entry in pull_request.grounding
        if entry.head == present.head and entry.looked_up
    }
    return tuple(
        asked
        for verdict in present.standing
        if verdict.stance is Stance.REJECTS
        for asked in _of_verdict(verdict, facts, rules)
        if (verdict.id, asked.item, asked.claim.text, asked.claim.type) not in known
    )


def _of_verdict(verdict: Verdict, facts: Facts, rules: RepositoryRules) -> Iterator[PendingClaim]:
    seen: set[str] = set()
    comments = {comment.url: comment for comment in facts.inline_comments or () if comment.url}
    for item in verdict.items:
        key = grounding_item_key(verdict.validator.key, item)
        anchor = _anchor(comments.get(item.url), item)
        for claim in _of_item(item, verdict):
            seen.add(claim.text)
            need = claim_requirement(claim.type, rules.grounding)
            if need is not Requirement.NOT_REQUIRED:
                yield PendingClaim(
                    claim, verdict, key, need, anchor if claim.form is ClaimForm.PLACE else None
                )
    yield from _of_body(verdict, facts, rules, seen)


def _of_item(item: Item, verdict: Verdict) -> Iterator[Claim]:
    if item.place and not verdict.validator.check:
        place = item.place
        kind = ClaimType.FILE_LOCATION
        yield Claim(kind, str(place)[:200], place.path, place.line, place.end_line, form=ClaimForm.PLACE)
    if not verdict.validator.check:
        yield from find_claims(item.words, MOST_SENTENCES)


def _of_body(
    verdict: Verdict, facts: Facts, rules: RepositoryRules, seen: Iterable[str]
) -> Iterator[PendingClaim]:
    """What the review says outside of its items: kept in the log, not shown."""
    number = verdict.id.removeprefix("review:")
    bodies = [review.body for review in facts.reviews or () if str(review.id) == number]
    said = "\n".join(seen)
    for claim in (claim for body in bodies for claim in find_claims(_TAG.sub(" ", body))):
        need = claim_requirement(claim.type, rules.grounding)
        if need is not Requirement.NOT_REQUIRED and claim.text.strip(" :-—") not in said:
            yield PendingClaim(claim, verdict, "", need)


_TAG = regex.Regex(r"\[[a-z][a-z0-9]*(?:_[a-z0-9]+)+\][ :]*")


def _anchor(comment: InlineCommentSnapshot | None, item: Item) -> CommentAnchor | None:
    """The line that was commented on, as the comment's hunk ends with it."""
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
    """The pull request with what was just seen about the claims that stand against it."""
    present = iterations_model.current_iteration(pull_request)
    if present is None or not rules.grounding.enabled:
        return pull_request
    seen = facts.observations
    asked = pending_claims(pull_request, facts, rules) if seen is not None else ()
    if seen is None or seen.head != present.head or not asked:
        return pull_request
    kinds = _kinds(seen, rules)
    names = find_renames(pull_request, seen)
    found = tuple(_with_name(_entry(each, seen, kinds, now), names) for each in asked)
    again = {(entry.verdict, entry.item, entry.claim, entry.type) for entry in found}
    kept = tuple(
        entry
        for entry in pull_request.grounding
        if entry.head != seen.head or (entry.verdict, entry.item, entry.claim, entry.type) not in again
    )
    return replace(pull_request, grounding=(*kept, *found)[-MAX_GROUNDED_CLAIMS:])


def _entry(asked: PendingClaim, seen: Observations, kinds: dict[str, str], now: datetime) -> GroundedClaim:
    claim, verdict = asked.claim, asked.verdict
    result = verify_claim(claim, seen, VerificationContext(kinds, asked.anchor, verdict.head))
    entry = seen.entry(result.path or claim.path or "")
    return GroundedClaim(
        validator=verdict.validator.key,
        name=verdict.validator.name,
        verdict=verdict.id,
        item=asked.item,
        type=claim.type.value,
        requirement=asked.requirement.value,
        claim=claim.text,
        outcome=result.outcome.value,
        head=seen.head,
        at=now,
        tool=result.tool.value if result.tool else "",
        check=result.check,
        path=result.path or claim.path,
        line=result.line if result.path else claim.line,
        end_line=result.end_line if result.path else claim.end_line,
        is_place=_is_place(claim.type, claim.form, result),
        note=result.note,
        nearest=result.nearest,
        moved_from=result.moved_from,
        cited=claim.cited,
        blob=entry.sha if entry else "",
    )


def find_renames(pull_request: PullRequest, seen: Observations) -> dict[str, str]:
    """Where files went that had another path: by what GitHub says of the diff, or by the same content."""
    files = [
        file
        for revision in pull_request.revisions
        if revision.head == seen.head
        for file in revision.files or ()
    ]
    names = {file.previous_path: file.path for file in files if file.previous_path}
    paths = {entry.sha: path for path, entry in (seen.tree.entries.items() if seen.tree else ())}
    known = {
        entry.path: paths[entry.blob]
        for entry in pull_request.grounding
        if entry.path and entry.blob in paths
    }
    return {**known, **names}


def _with_name(entry: GroundedClaim, names: dict[str, str]) -> GroundedClaim:
    """A file that is not there any more under its name is named as it is called now."""
    now = names.get(entry.path or "")
    if (
        entry.outcome != ClaimOutcome.CONTRADICTED
        or entry.tool != GroundingTool.TREE
        or now is None
        or now == entry.path
    ):
        return entry
    return replace(entry, note="that file was renamed", nearest=now)


def _is_place(kind: ClaimType, form: ClaimForm, result: ClaimResult) -> bool:
    """Whether the claim says where the item is."""
    of_place = kind is ClaimType.FILE_LOCATION or form in {ClaimForm.NAMED, ClaimForm.PLACE}
    return of_place and result.path is not None


def _kinds(seen: Observations, rules: RepositoryRules) -> dict[str, str]:
    """What the config says about each check that ran."""
    return {
        run.name: rule.kind.value
        for run in seen.checks or ()
        for rule in rules.validators.checks
        if rule.kind and rule.covers(run.name)
    }


_MOST_MANIFESTS = 3


class ReadKind(StrEnum):
    """What is read."""

    TREE = "tree"
    FILE = "file"
    CHECKS = "checks"
    ANNOTATIONS = "annotations"
    BRANCH = "branch"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """One read, and of what."""

    kind: ReadKind
    path: str = ""
    blob: str | None = None
    names: bool = False
    """The names that the file defines are wanted too."""
    run: int = 0


_IN_CHECKS = frozenset(
    {
        ClaimType.TEST_RESULTS,
        ClaimType.ERROR_MESSAGES,
        ClaimType.CODE_BEHAVIOR,
        ClaimType.API_RESPONSES,
    }
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
    """The read to make next; None where no other would tell more."""
    made = frozenset((read.kind, read.path, read.run) for read in done)
    wanted = (*_tree(claims), *_files(claims, seen), *_checks(claims, seen), *_branch(claims))
    return next((read for read in wanted if (read.kind, read.path, read.run) not in made), None)


def _tree(claims: Sequence[Claim]) -> list[PlannedRead]:
    asks = (claim for claim in claims if claim.type in _IN_FILES)
    lookable = any(claim.path is None or is_inside_repository(claim.path.rstrip("/")) for claim in asks)
    return [PlannedRead(ReadKind.TREE)] if lookable else []


def _files(claims: Sequence[Claim], seen: Observations) -> list[PlannedRead]:
    """The files that claims are about, those with most claims first."""
    reads = Counter(read.path for claim in claims if (read := _file(claim, seen)))
    names = {
        read.path
        for claim in claims
        if claim.form in {ClaimForm.DEFINED, ClaimForm.CALLED}
        and claim.subject
        and (read := _file(claim, seen))
    }
    found = [read for claim in claims if (read := _file(claim, seen))]
    ordered = sorted({read.path: read for read in found}.values(), key=lambda read: -reads[read.path])
    return [PlannedRead(ReadKind.FILE, read.path, read.blob, names=read.path in names) for read in ordered]


def _file(claim: Claim, seen: Observations) -> PlannedRead | None:
    if claim.type not in _IN_FILES or seen.tree is None:
        return None
    if claim.path is None:
        return _manifest(claim, seen)
    found = locate_path(claim.path, seen)
    if isinstance(found, ClaimResult):
        return _unlisted(claim.path, seen)
    needs_text = claim.type is not ClaimType.FILE_EXISTENCE and (
        claim.line or claim.form is not ClaimForm.NAMED
    )
    if not needs_text or unreadable_reason(found.path, found.entry) or found.path in seen.files:
        return None
    return PlannedRead(ReadKind.FILE, found.path, found.entry.sha if found.entry else None)


def _unlisted(path: str, seen: Observations) -> PlannedRead | None:
    """A path that GitHub's list was too short for is asked for by itself."""
    bare = path.rstrip("/")
    cut_short = seen.tree is not None and seen.tree.truncated
    if (
        not cut_short
        or not is_inside_repository(bare)
        or is_secret_path(bare)
        or bare in seen.absent
        or bare in seen.files
    ):
        return None
    return PlannedRead(ReadKind.FILE, bare)


def _manifest(claim: Claim, seen: Observations) -> PlannedRead | None:
    """The next manifest that may name the package, the outermost first."""
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
        if isinstance(text, FileText) and _names(claim, path, text):
            return None
    return None


def _names(claim: Claim, path: str, text: FileText) -> bool:
    known = manifests.manifest_versions(path, "\n".join(text.lines)) or {}
    return manifests.normalize_package(claim.subject) in known


def _checks(claims: Sequence[Claim], seen: Observations) -> list[PlannedRead]:
    asks = [claim for claim in claims if claim.type in _IN_CHECKS]
    if not asks:
        return []
    if seen.checks is None:
        return [PlannedRead(ReadKind.CHECKS)]
    detailed = any(
        claim.type is not ClaimType.TEST_RESULTS or claim.subject.startswith("test:") for claim in asks
    )
    failed = [run for run in seen.checks if run.has_failed and not run.ours and run.annotations_count]
    return (
        [PlannedRead(ReadKind.ANNOTATIONS, run=run.id) for run in failed if not run.annotations]
        if detailed
        else []
    )


def _branch(claims: Sequence[Claim]) -> list[PlannedRead]:
    asks = {claim.subject for claim in claims if claim.type is ClaimType.GIT_STATE} - {"worktree"}
    reads = [PlannedRead(ReadKind.BRANCH)] if asks else []
    return [*reads, PlannedRead(ReadKind.COMPARISON)] if asks & {"behind", "current"} else reads
