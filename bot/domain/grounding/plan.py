"""Which read of GitHub would show most of what is still unknown?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.choices import ClaimType
from bot.domain.grounding import manifests
from bot.domain.grounding.claim import Claim, Form
from bot.domain.grounding.locate import locate, readable
from bot.domain.grounding.observations import Observations, Text
from bot.domain.grounding.paths import is_inside, is_secret
from bot.domain.grounding.result import Result

_MOST_MANIFESTS = 3


class Kind(StrEnum):
    """What is read."""

    TREE = "tree"
    FILE = "file"
    CHECKS = "checks"
    ANNOTATIONS = "annotations"
    BRANCH = "branch"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class Read:
    """One read, and of what."""

    kind: Kind
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


def next_read(claims: Sequence[Claim], seen: Observations, done: Iterable[Read]) -> Read | None:
    """The read to make next; None where no other would tell more."""
    made = frozenset((read.kind, read.path, read.run) for read in done)
    wanted = (*_tree(claims), *_files(claims, seen), *_checks(claims, seen), *_branch(claims))
    return next((read for read in wanted if (read.kind, read.path, read.run) not in made), None)


def _tree(claims: Sequence[Claim]) -> list[Read]:
    asks = (claim for claim in claims if claim.type in _IN_FILES)
    lookable = any(claim.path is None or is_inside(claim.path.rstrip("/")) for claim in asks)
    return [Read(Kind.TREE)] if lookable else []


def _files(claims: Sequence[Claim], seen: Observations) -> list[Read]:
    """The files that claims are about, those with most claims first."""
    reads = Counter(read.path for claim in claims if (read := _file(claim, seen)))
    names = {
        read.path
        for claim in claims
        if claim.form in {Form.DEFINED, Form.CALLED} and claim.subject and (read := _file(claim, seen))
    }
    found = [read for claim in claims if (read := _file(claim, seen))]
    ordered = sorted({read.path: read for read in found}.values(), key=lambda read: -reads[read.path])
    return [Read(Kind.FILE, read.path, read.blob, names=read.path in names) for read in ordered]


def _file(claim: Claim, seen: Observations) -> Read | None:
    if claim.type not in _IN_FILES or seen.tree is None:
        return None
    if claim.path is None:
        return _manifest(claim, seen)
    found = locate(claim.path, seen)
    if isinstance(found, Result):
        return _unlisted(claim.path, seen)
    needs_text = claim.type is not ClaimType.FILE_EXISTENCE and (claim.line or claim.form is not Form.NAMED)
    if not needs_text or readable(found.path, found.entry) or found.path in seen.files:
        return None
    return Read(Kind.FILE, found.path, found.entry.sha if found.entry else None)


def _unlisted(path: str, seen: Observations) -> Read | None:
    """A path that GitHub's list was too short for is asked for by itself."""
    bare = path.rstrip("/")
    cut_short = seen.tree is not None and seen.tree.truncated
    if not cut_short or not is_inside(bare) or is_secret(bare) or bare in seen.absent or bare in seen.files:
        return None
    return Read(Kind.FILE, bare)


def _manifest(claim: Claim, seen: Observations) -> Read | None:
    """The next manifest that may name the package, the outermost first."""
    listed = [
        path
        for path, entry in (seen.tree.entries.items() if seen.tree else ())
        if manifests.is_manifest(path) and not readable(path, entry)
    ]
    listed.sort(key=lambda path: (manifests.is_lock(path), path.count("/"), path))
    for path in listed[:_MOST_MANIFESTS]:
        text = seen.files.get(path)
        if text is None:
            return Read(Kind.FILE, path, seen.tree.entries[path].sha if seen.tree else None)
        if isinstance(text, Text) and _names(claim, path, text):
            return None
    return None


def _names(claim: Claim, path: str, text: Text) -> bool:
    known = manifests.versions(path, "\n".join(text.lines)) or {}
    return manifests.folded(claim.subject) in known


def _checks(claims: Sequence[Claim], seen: Observations) -> list[Read]:
    asks = [claim for claim in claims if claim.type in _IN_CHECKS]
    if not asks:
        return []
    if seen.checks is None:
        return [Read(Kind.CHECKS)]
    detailed = any(
        claim.type is not ClaimType.TEST_RESULTS or claim.subject.startswith("test:") for claim in asks
    )
    failed = [run for run in seen.checks if run.failed and not run.ours and run.annotations_count]
    return [Read(Kind.ANNOTATIONS, run=run.id) for run in failed if not run.annotations] if detailed else []


def _branch(claims: Sequence[Claim]) -> list[Read]:
    asks = {claim.subject for claim in claims if claim.type is ClaimType.GIT_STATE} - {"worktree"}
    reads = [Read(Kind.BRANCH)] if asks else []
    return [*reads, Read(Kind.COMPARISON)] if asks & {"behind", "current"} else reads
