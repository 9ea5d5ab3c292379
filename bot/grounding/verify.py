"""Verify claims about checks, branches, settings and dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bot import regex
from bot.gates.config import ClaimType, GroundingTool
from bot.grounding import verify_files
from bot.grounding.manifests import (
    config_values,
    exact_version,
    is_manifest,
    manifest_versions,
    normalize_package,
    normalize_value,
)
from bot.grounding.model import (
    IN_CHECKS,
    IN_PULL_REQUEST,
    UNREAD,
    Claim,
    ClaimForm,
    ClaimOutcome,
    ClaimResult,
    Source,
    in_file,
    in_tree,
)
from bot.grounding.verify_files import CommentAnchor, located_text
from bot.markdown.format import format_count
from bot.markdown.scan import has_word
from bot.pull_request.facts import BranchState, FileText, Observations, ObservedCheckRun

_STATUS = regex.Regex(r"\b[1-5][0-9][0-9]\b")
CheckKinds = Mapping[str, str]
"""Check name → what the repository's config says that it shows."""

_FAILED = regex.Regex(r"(?i)\b([0-9]+) (?:tests? )?fail(?:ed|ures?|ing)\b")
_WORDS = {
    "tests": regex.Regex(
        r"(?i)(?:^|[^a-z])(?:tests?|pytest|jest|unit|specs?|vitest|mocha|rspec|junit)(?:[^a-z]|$)"
    ),
    "build": regex.Regex(r"(?i)(?:^|[^a-z])(?:build|compile|cargo|maven|gradle)(?:[^a-z]|$)"),
    "lint": regex.Regex(r"(?i)(?:^|[^a-z])(?:lint|linter|eslint|ruff|flake8|clippy|golangci)(?:[^a-z]|$)"),
    "types": regex.Regex(r"(?i)(?:^|[^a-z])(?:types?|typecheck|mypy|pyright|tsc)(?:[^a-z]|$)"),
}


def verify_test_result(claim: Claim, seen: Observations, kinds: CheckKinds) -> ClaimResult:
    """Verify the result of the checks of a kind or name."""
    if seen.checks is None:
        return UNREAD.unverifiable("the check runs were not read")
    what, _, name = claim.subject.partition(":")
    runs = [run for run in seen.checks if not run.ours]
    if what == "test":
        return _verify_named_test(claim, name, _of_kind(runs, "tests", kinds) or runs)
    if what == "check":
        runs = [run for run in runs if run.name.casefold() == name.casefold()]
    else:
        runs = _of_kind(runs, name, kinds)
    if not runs:
        return IN_CHECKS.unverifiable("no such check ran at this head")
    return _verify_together(claim.value, runs)


def verify_error(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that a check printed the message."""
    return _printed(seen, (claim.subject,))


def verify_behavior(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that a failed check names both the code and its behaviour."""
    if not claim.holds or not claim.value:
        source = UNREAD if seen.checks is None else IN_CHECKS
        return source.unverifiable("no check run shows it")
    return _printed(seen, (claim.subject.split("(")[0], claim.value), failed=True)


def verify_response(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that a check printed the request and its response, and no other response beside it."""
    return _printed(seen, (claim.subject, claim.value), one_of=_STATUS)


def verify_git_state(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify the state of the pull request's branch."""
    if claim.subject == "worktree":
        return UNREAD.unverifiable("a working directory is not on GitHub")
    branch = seen.branch
    if branch is None:
        return UNREAD.unverifiable("the pull request was not read")
    if branch.head != seen.head:
        return IN_PULL_REQUEST.unverifiable("the head has moved")
    holds, note = _branch_state(claim, branch)
    if holds is None:
        return IN_PULL_REQUEST.unverifiable(note)
    return IN_PULL_REQUEST.decided(holds == claim.holds, note)


def _branch_state(claim: Claim, branch: BranchState) -> tuple[bool | None, str]:
    match claim.subject:
        case "conflicts" | "mergeable":
            if branch.mergeable is None:
                return None, "GitHub has not computed it yet"
            holds = branch.mergeable is (claim.subject == "mergeable")
            verb = "can" if branch.mergeable else "can't"
            return holds, f"GitHub {verb} merge the branch"
        case "behind" | "current":
            if branch.behind_by is None:
                return None, "the branches were not compared"
            behind = branch.behind_by == int(claim.value) if claim.value else branch.behind_by > 0
            holds = behind if claim.subject == "behind" else branch.behind_by == 0
            return holds, f"the branch is {format_count(branch.behind_by, 'commit')} behind"
        case "commits":
            return branch.commits == int(
                claim.value
            ) if branch.commits else None, f"the branch has {format_count(branch.commits or 0, 'commit')}"
        case _:
            return branch.draft, f"the pull request is {'a' if branch.draft else 'no'} draft"


def _of_kind(runs: list[ObservedCheckRun], kind: str, kinds: CheckKinds) -> list[ObservedCheckRun]:
    if kind == "all":
        return runs
    configured = [run for run in runs if kinds.get(run.name) == kind]
    return configured or [run for run in runs if run.name not in kinds and _WORDS[kind].search(run.name)]


def _verify_together(value: str, runs: list[ObservedCheckRun]) -> ClaimResult:  # noqa: PLR0911  one answer a case
    amount, _, wanted = value.rpartition(" ")
    failed, passed = [run for run in runs if run.has_failed], [run for run in runs if run.has_passed]
    running = [run for run in runs if run.conclusion is None]
    if amount:
        return _verify_amount(amount, wanted, failed)
    if failed:
        if wanted == "fail":
            return _by_check(failed[0]).verified()
        return _by_check(failed[0]).contradicted(f"the check `{failed[0].name}` failed")
    if running:
        return IN_CHECKS.unverifiable(f"the check `{running[0].name}` has not finished")
    if not passed:
        return IN_CHECKS.unverifiable("no check of that kind has finished")
    if wanted == "pass":
        return _by_check(passed[0]).verified()
    return _by_check(passed[0]).contradicted(f"the check `{passed[0].name}` passed")


def _verify_amount(amount: str, wanted: str, failed: list[ObservedCheckRun]) -> ClaimResult:
    if amount.isdigit() and wanted == "fail":
        for run in failed:
            counts = set(_FAILED.findall(_output(run)))
            if counts == {amount}:
                return _by_check(run).verified()
            if counts:
                return _by_check(run).contradicted(f"the check says {min(counts)} failed")
    return IN_CHECKS.unverifiable("no check run reports a number")


def _verify_named_test(claim: Claim, name: str, runs: list[ObservedCheckRun]) -> ClaimResult:
    bare = name.removesuffix("()")
    naming = [run for run in runs if run.has_failed and has_word(_output(run), bare)]
    if claim.value == "fail" and naming:
        return _by_check(naming[0]).verified()
    if claim.value == "pass" and naming:
        return _by_check(naming[0]).contradicted(f"the check `{naming[0].name}` names it as failed")
    if claim.value == "fail" and runs and all(run.has_passed for run in runs):
        return _by_check(runs[0]).contradicted(f"the check `{runs[0].name}` passed")
    return IN_CHECKS.unverifiable("no check run names that test")


def _printed(
    seen: Observations, texts: tuple[str, ...], *, failed: bool = False, one_of: regex.Regex | None = None
) -> ClaimResult:
    if seen.checks is None:
        return UNREAD.unverifiable("the check runs were not read")
    for run in seen.checks:
        if run.ours or (failed and not run.has_failed):
            continue
        for part in _parts(run):
            folded = " ".join(part.split())
            alone = one_of is None or len(set(one_of.findall(folded))) <= 1
            if alone and all(_has_text(folded, text) for text in texts):
                return _by_check(run).verified()
    return IN_CHECKS.unverifiable("no check run at this head shows it")


def _has_text(output: str, text: str) -> bool:
    wanted = " ".join(text.split())
    return bool(wanted) and has_word(output, wanted)


def _parts(run: ObservedCheckRun) -> list[str]:
    return [*run.output.splitlines(), *(f"{note.title} {note.message}" for note in run.annotations)]


def _output(run: ObservedCheckRun) -> str:
    return "\n".join(_parts(run))


def _by_check(run: ObservedCheckRun) -> Source:
    return Source(GroundingTool.CHECKS, check=run.name)


def verify_setting(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that the file gives the key this value."""
    located = located_text(claim.path or "", seen)
    if isinstance(located, ClaimResult):
        return located
    path, text = located
    if not claim.subject:
        return in_file(path).unverifiable("the key is not named")
    values = config_values(path, text.lines, claim.subject)
    if len(values) > 1:
        return in_file(path).unverifiable(f"the key has {len(values)} values")
    if not values:
        leaf = claim.subject.rsplit(".", 1)[-1]
        if any(leaf in line for line in text.lines):
            return in_file(path).unverifiable("the key is there, but its value could not be read")
        return in_file(path).contradicted("the file has no such key")
    same = values[0] == normalize_value(claim.value)
    shown = "the value is different" if _PRIVATE.search(claim.subject) else f"the value is `{values[0][:80]}`"
    return in_file(path).decided(same == claim.holds, shown)


# A value under such a key is not repeated, whatever file it stands in.
_PRIVATE = regex.Regex(r"pass|secret|token|key|credential|auth|private|dsn", ignore_case=True)


def verify_dependency(claim: Claim, seen: Observations) -> ClaimResult:
    """Verify that a manifest names the package, and this version of it."""
    if claim.path:
        located = located_text(claim.path, seen)
        return located if isinstance(located, ClaimResult) else _verify_in_manifest(claim, *located)
    results = [
        _verify_in_manifest(claim, path, text)
        for path, text in seen.files.items()
        if is_manifest(path) and isinstance(text, FileText)
    ]
    if not results:
        return (in_tree() if seen.tree else UNREAD).unverifiable("no manifest was read")
    naming = [result for result in results if not result.note.startswith(_NOT_NAMED)]
    if naming:
        decided = [result for result in naming if result.outcome is not ClaimOutcome.UNVERIFIABLE] or naming
        if len({result.outcome for result in decided}) > 1:
            return in_file().unverifiable("the manifests differ")
        return decided[0]
    return _named_nowhere(claim, seen, results[0])


_NOT_NAMED = "the manifest does not name "


def _verify_in_manifest(claim: Claim, path: str, text: FileText) -> ClaimResult:
    packages = manifest_versions(path, "\n".join(text.lines))
    if packages is None:
        return in_file(path).unverifiable("the manifest could not be read")
    versions = packages.get(normalize_package(claim.subject))
    if versions is None:
        result = in_file(path).verified() if not claim.holds and not claim.value else None
        return replace(result or in_file(path).contradicted(""), note=f"{_NOT_NAMED}`{claim.subject}`")
    if not claim.value:
        return in_file(path).decided(claim.holds, f"the manifest names `{claim.subject}`")
    return _verify_version(claim, path, versions)


def _verify_version(claim: Claim, path: str, versions: frozenset[str]) -> ClaimResult:
    if len(versions) > 1:
        return in_file(path).unverifiable(f"the manifest has several versions of `{claim.subject}`")
    (written,) = versions
    claimed = claim.value.strip()
    pinned, meant = exact_version(written), exact_version(claimed)
    if written == claimed or (pinned and meant and _is_same_version(pinned, meant)):
        same = True
    elif pinned and meant:
        same = False
    else:
        return in_file(path).unverifiable(
            f"the manifest asks for `{claim.subject} {written or 'in any version'}`"
        )
    return in_file(path).decided(same == claim.holds, f"the manifest asks for `{claim.subject} {written}`")


def _is_same_version(one: str, other: str) -> bool:
    short, long = sorted((one.removeprefix("v"), other.removeprefix("v")), key=len)
    return long == short or (long.startswith(short + ".") and set(long[len(short) :]) <= {".", "0"})


def _named_nowhere(claim: Claim, seen: Observations, first: ClaimResult) -> ClaimResult:
    """Return the result where nothing names the package: certain only if every manifest was read."""
    listed = [path for path in (seen.tree.entries if seen.tree else ()) if is_manifest(path)]
    complete = seen.tree is not None and not seen.tree.truncated
    if complete and all(isinstance(seen.files.get(path), FileText) for path in listed):
        return first
    note = f"none of the manifests that were read names `{claim.subject}`"
    return in_file().unverifiable(note)


@dataclass(frozen=True, slots=True)
class VerificationContext:
    """What a claim is verified with besides the observations."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    anchor: CommentAnchor | None = None
    reviewed_head: str | None = None
    """The head that the validator saw; None if it is not known."""


def verify_claim(claim: Claim, seen: Observations, context: VerificationContext | None = None) -> ClaimResult:
    """Verify a claim, never beyond what was observed."""
    context = context or VerificationContext()
    result = _verify_by_type(claim, seen, context)
    if claim.qualified and result.outcome is ClaimOutcome.VERIFIED:
        return replace(result, outcome=ClaimOutcome.UNVERIFIABLE, note="only part of it can be verified")
    return _accept_moved_line(claim, result, seen, context)


def _verify_by_type(claim: Claim, seen: Observations, context: VerificationContext) -> ClaimResult:
    if claim.type is ClaimType.FILE_LOCATION and claim.form is ClaimForm.PLACE:
        return verify_files.verify_lines(claim, seen, context.anchor)
    if claim.type is ClaimType.TEST_RESULTS:
        return verify_test_result(claim, seen, context.kinds)
    verify = _BY_TYPE.get(claim.type)
    return verify(claim, seen) if verify else UNREAD.unverifiable("nothing on GitHub shows it")


_BY_TYPE: Mapping[ClaimType, Callable[[Claim, Observations], ClaimResult]] = {
    ClaimType.FILE_EXISTENCE: verify_files.verify_existence,
    ClaimType.FILE_CONTENTS: verify_files.verify_contents,
    ClaimType.FILE_LOCATION: verify_files.verify_location,
    ClaimType.CONFIGURATION_VALUES: verify_setting,
    ClaimType.DEPENDENCY_VERSIONS: verify_dependency,
    ClaimType.ERROR_MESSAGES: verify_error,
    ClaimType.API_RESPONSES: verify_response,
    ClaimType.CODE_BEHAVIOR: verify_behavior,
    ClaimType.GIT_STATE: verify_git_state,
}


def _accept_moved_line(
    claim: Claim, result: ClaimResult, seen: Observations, context: VerificationContext
) -> ClaimResult:
    """Accept a line that was right at the head that the validator saw, and has moved since."""
    has_new_head = context.reviewed_head is not None and context.reviewed_head != seen.head
    is_elsewhere = (
        result.outcome is ClaimOutcome.CONTRADICTED and result.line is not None and claim.line is not None
    )
    if not (has_new_head and is_elsewhere):
        return result
    return replace(result, outcome=ClaimOutcome.VERIFIED, note="", moved_from=claim.line)
