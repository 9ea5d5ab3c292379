"""Verify claims about checks, branches, settings and dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bot import regex
from bot.gates.config import ClaimType, GroundingTool
from bot.grounding import verify_files
from bot.grounding.manifests import (
    PackageVersions,
    config_values,
    exact_version,
    is_manifest,
    manifest_versions,
    normalize_package,
    normalize_value,
)
from bot.grounding.model import (
    Claim,
    ClaimForm,
    ClaimOutcome,
    ClaimResult,
    contradicted_result,
    unverifiable_result,
    verified_result,
)
from bot.grounding.verify_files import CommentAnchor, located_text
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
    """Whether the checks of that kind or name ended so."""
    if seen.checks is None:
        return unverifiable_result("the check runs were not read")
    what, _, name = claim.subject.partition(":")
    runs = [run for run in seen.checks if not run.ours]
    if what == "test":
        return _named_test(claim, name, _of_kind(runs, "tests", kinds) or runs)
    meant = (
        [run for run in runs if run.name.casefold() == name.casefold()]
        if what == "check"
        else _of_kind(runs, name, kinds)
    )
    if not meant:
        return unverifiable_result("no such check ran at this head", GroundingTool.CHECKS)
    return _together(claim.value, meant)


def verify_error(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether a check printed the message."""
    return _printed(seen, (claim.subject,))


def verify_behavior(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether a check that failed names both the code and what it did."""
    if not claim.holds or not claim.value:
        return unverifiable_result(
            "no check run shows it", GroundingTool.CHECKS if seen.checks is not None else None
        )
    return _printed(seen, (claim.subject.split("(")[0], claim.value), failed=True)


def verify_response(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether a check printed the request and its answer, and no other answer beside it."""
    return _printed(seen, (claim.subject, claim.value), one_of=_STATUS)


def verify_git_state(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether the pull request stands so to its base."""
    if claim.subject == "worktree":
        return unverifiable_result("a working directory is not on GitHub")
    branch = seen.branch
    if branch is None:
        return unverifiable_result("the pull request was not read")
    if branch.head != seen.head:
        return unverifiable_result("the head has moved", GroundingTool.PULL_REQUEST)
    is_so, note = _standing(claim, branch)
    if is_so is None:
        return unverifiable_result(note, GroundingTool.PULL_REQUEST)
    return (
        verified_result(GroundingTool.PULL_REQUEST)
        if is_so == claim.holds
        else contradicted_result(GroundingTool.PULL_REQUEST, note)
    )


def _standing(claim: Claim, branch: BranchState) -> tuple[bool | None, str]:
    match claim.subject:
        case "conflicts" | "mergeable":
            if branch.mergeable is None:
                return None, "GitHub has not worked it out yet"
            so = branch.mergeable is (claim.subject == "mergeable")
            return so, f"GitHub {'can' if branch.mergeable else 'can not'} merge the branch"
        case "behind" | "current":
            if branch.behind_by is None:
                return None, "the branches were not compared"
            behind = branch.behind_by == int(claim.value) if claim.value else branch.behind_by > 0
            so = behind if claim.subject == "behind" else branch.behind_by == 0
            return so, f"the branch is {_commits(branch.behind_by)} behind"
        case "commits":
            return branch.commits == int(
                claim.value
            ) if branch.commits else None, f"the branch has {_commits(branch.commits or 0)}"
        case _:
            return branch.draft, f"the pull request is {'a' if branch.draft else 'no'} draft"


def _commits(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"


def _of_kind(runs: list[ObservedCheckRun], kind: str, kinds: CheckKinds) -> list[ObservedCheckRun]:
    if kind == "all":
        return runs
    told = [run for run in runs if kinds.get(run.name) == kind]
    return told or [run for run in runs if run.name not in kinds and _WORDS[kind].search(run.name)]


def _together(value: str, runs: list[ObservedCheckRun]) -> ClaimResult:  # noqa: PLR0911  one answer a case
    amount, _, wanted = value.rpartition(" ")
    failed, passed = [run for run in runs if run.has_failed], [run for run in runs if run.has_passed]
    running = [run for run in runs if run.conclusion is None]
    if amount:
        return _amount(amount, wanted, failed)
    if failed:
        if wanted == "fail":
            return _shown(verified_result(GroundingTool.CHECKS), failed[0])
        return _shown(
            contradicted_result(GroundingTool.CHECKS, f"the check `{failed[0].name}` failed"), failed[0]
        )
    if running:
        return unverifiable_result(f"the check `{running[0].name}` has not ended", GroundingTool.CHECKS)
    if not passed:
        return unverifiable_result("no check of that kind came to a result", GroundingTool.CHECKS)
    if wanted == "pass":
        return _shown(verified_result(GroundingTool.CHECKS), passed[0])
    return _shown(
        contradicted_result(GroundingTool.CHECKS, f"the check `{passed[0].name}` passed"), passed[0]
    )


def _amount(amount: str, wanted: str, failed: list[ObservedCheckRun]) -> ClaimResult:
    if amount.isdigit() and wanted == "fail":
        for run in failed:
            counts = set(_FAILED.findall(_said(run)))
            if counts == {amount}:
                return _shown(verified_result(GroundingTool.CHECKS), run)
            if counts:
                return _shown(
                    contradicted_result(GroundingTool.CHECKS, f"the check says {min(counts)} failed"), run
                )
    return unverifiable_result("no check run says how many", GroundingTool.CHECKS)


def _named_test(claim: Claim, name: str, runs: list[ObservedCheckRun]) -> ClaimResult:
    bare = name.removesuffix("()")
    naming = [run for run in runs if run.has_failed and has_word(_said(run), bare)]
    if claim.value == "fail" and naming:
        return _shown(verified_result(GroundingTool.CHECKS), naming[0])
    if claim.value == "pass" and naming:
        return _shown(
            contradicted_result(GroundingTool.CHECKS, f"the check `{naming[0].name}` names it as failed"),
            naming[0],
        )
    if claim.value == "fail" and runs and all(run.has_passed for run in runs):
        return _shown(
            contradicted_result(GroundingTool.CHECKS, f"the check `{runs[0].name}` passed"), runs[0]
        )
    return unverifiable_result("no check run names that test", GroundingTool.CHECKS)


def _printed(
    seen: Observations,
    words: tuple[str, ...],
    *,
    failed: bool = False,
    one_of: regex.Regex | None = None,
) -> ClaimResult:
    if seen.checks is None:
        return unverifiable_result("the check runs were not read")
    for run in seen.checks:
        if run.ours or (failed and not run.has_failed):
            continue
        for part in _parts(run):
            folded = " ".join(part.split())
            alone = one_of is None or len(set(one_of.findall(folded))) <= 1
            if alone and all(_has(folded, word) for word in words):
                return _shown(verified_result(GroundingTool.CHECKS), run)
    return unverifiable_result("no check run at this head shows it", GroundingTool.CHECKS)


def _has(text: str, words: str) -> bool:
    wanted = " ".join(words.split())
    return bool(wanted) and has_word(text, wanted)


def _parts(run: ObservedCheckRun) -> list[str]:
    return [*run.output.splitlines(), *(f"{each.title} {each.message}" for each in run.annotations)]


def _said(run: ObservedCheckRun) -> str:
    return "\n".join(_parts(run))


def _shown(result: ClaimResult, run: ObservedCheckRun) -> ClaimResult:
    outcome = result.outcome
    return replace(result, check=run.name) if outcome is not ClaimOutcome.UNVERIFIABLE else result


def verify_setting(claim: Claim, seen: Observations) -> ClaimResult:  # noqa: PLR0911  one answer a case
    """Whether the file gives the key this value."""
    found = located_text(claim.path or "", seen)
    if isinstance(found, ClaimResult):
        return found
    path, text = found
    if not claim.subject:
        return unverifiable_result("the key is not named", GroundingTool.CONTENTS, path)
    known = config_values(path, text.lines, claim.subject)
    if len(known) > 1:
        return unverifiable_result(f"the key has {len(known)} values", GroundingTool.CONTENTS, path)
    if not known:
        leaf = claim.subject.rsplit(".", 1)[-1]
        if any(leaf in line for line in text.lines):
            return unverifiable_result(
                "the key is there, its value could not be read", GroundingTool.CONTENTS, path
            )
        return contradicted_result(GroundingTool.CONTENTS, "the file has no such key", path=path)
    same = known[0] == normalize_value(claim.value)
    if same == claim.holds:
        return verified_result(GroundingTool.CONTENTS, path)
    shown = (
        "the value is another one" if _PRIVATE.search(claim.subject) else f"the value is `{known[0][:80]}`"
    )
    return contradicted_result(GroundingTool.CONTENTS, shown, path=path)


# A value under such a key is not repeated, whatever file it stands in.
_PRIVATE = regex.Regex(r"pass|secret|token|key|credential|auth|private|dsn", ignore_case=True)


def verify_dependency(claim: Claim, seen: Observations) -> ClaimResult:
    """Whether a manifest asks for the package, and for this version of it."""
    if claim.path:
        found = located_text(claim.path, seen)
        if isinstance(found, ClaimResult):
            return found
        return _in_one(claim, found[0], manifest_versions(found[0], "\n".join(found[1].lines)))
    read = {
        path: text for path, text in seen.files.items() if is_manifest(path) and isinstance(text, FileText)
    }
    if not read:
        return unverifiable_result("no manifest was read", GroundingTool.TREE if seen.tree else None)
    results = [
        _in_one(claim, path, manifest_versions(path, "\n".join(text.lines))) for path, text in read.items()
    ]
    naming = [result for result in results if not result.note.startswith(_NOT_NAMED)]
    if naming:
        decided = [each for each in naming if each.outcome is not ClaimOutcome.UNVERIFIABLE] or naming
        same = {each.outcome for each in decided}
        return (
            decided[0]
            if len(same) == 1
            else unverifiable_result("the manifests differ", GroundingTool.CONTENTS)
        )
    return _nowhere(claim, seen, results[0])


_NOT_NAMED = "the manifest does not name "


def _in_one(claim: Claim, path: str, known: PackageVersions | None) -> ClaimResult:
    if known is None:
        return unverifiable_result("the manifest could not be read", GroundingTool.CONTENTS, path)
    wanted = known.get(normalize_package(claim.subject))
    if wanted is None:
        result = (
            verified_result(GroundingTool.CONTENTS, path) if not claim.holds and not claim.value else None
        )
        return replace(
            result or contradicted_result(GroundingTool.CONTENTS, "", path=path),
            note=f"{_NOT_NAMED}`{claim.subject}`",
        )
    if not claim.value:
        if claim.holds:
            return verified_result(GroundingTool.CONTENTS, path)
        return contradicted_result(GroundingTool.CONTENTS, f"the manifest names `{claim.subject}`", path=path)
    return _version(claim, path, wanted)


def _version(claim: Claim, path: str, wanted: frozenset[str]) -> ClaimResult:
    if len(wanted) > 1:
        return unverifiable_result(
            f"the manifest has several versions of `{claim.subject}`", GroundingTool.CONTENTS, path
        )
    (written,) = wanted
    said = claim.value.strip()
    pinned, meant = exact_version(written), exact_version(said)
    if written == said or (pinned and meant and _same(pinned, meant)):
        same = True
    elif pinned and meant:
        same = False
    else:
        return unverifiable_result(
            f"the manifest asks for `{claim.subject} {written or 'in any version'}`",
            GroundingTool.CONTENTS,
            path,
        )
    if same == claim.holds:
        return verified_result(GroundingTool.CONTENTS, path)
    return contradicted_result(
        GroundingTool.CONTENTS, f"the manifest asks for `{claim.subject} {written}`", path=path
    )


def _same(one: str, other: str) -> bool:
    short, long = sorted((one.removeprefix("v"), other.removeprefix("v")), key=len)
    return long == short or (long.startswith(short + ".") and set(long[len(short) :]) <= {".", "0"})


def _nowhere(claim: Claim, seen: Observations, first: ClaimResult) -> ClaimResult:
    """Nothing names the package: certain only where every manifest was read."""
    listed = [path for path in (seen.tree.entries if seen.tree else ()) if is_manifest(path)]
    complete = seen.tree is not None and not seen.tree.truncated
    if complete and all(isinstance(seen.files.get(path), FileText) for path in listed):
        return first
    what = f"no manifest that was read names `{claim.subject}`"
    return unverifiable_result(what, GroundingTool.CONTENTS) if claim.holds or first.outcome else first


@dataclass(frozen=True, slots=True)
class VerificationContext:
    """What a claim is weighed with besides the observations."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    anchor: CommentAnchor | None = None
    judged: str | None = None
    """The head that the validator saw; None where nobody knows."""


def verify_claim(claim: Claim, seen: Observations, setting: VerificationContext | None = None) -> ClaimResult:
    """The outcome, never beyond what was observed."""
    around = setting or VerificationContext()
    result = _weighed(claim, seen, around)
    if claim.qualified and result.outcome is ClaimOutcome.VERIFIED:
        return replace(result, outcome=ClaimOutcome.UNVERIFIABLE, note="only a part of it can be looked up")
    return _found_again(claim, result, seen, around)


def _weighed(claim: Claim, seen: Observations, around: VerificationContext) -> ClaimResult:
    if claim.type is ClaimType.FILE_LOCATION and claim.form is ClaimForm.PLACE:
        return verify_files.verify_lines(claim, seen, around.anchor)
    if claim.type is ClaimType.TEST_RESULTS:
        return verify_test_result(claim, seen, around.kinds)
    weigh = _BY_TYPE.get(claim.type)
    return weigh(claim, seen) if weigh else unverifiable_result("nothing on GitHub shows it")


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


def _found_again(
    claim: Claim, result: ClaimResult, seen: Observations, around: VerificationContext
) -> ClaimResult:
    """A line that was right at the head that the validator saw, and stands elsewhere since."""
    was_before = around.judged is not None and around.judged != seen.head
    single = (
        result.outcome is ClaimOutcome.CONTRADICTED and result.line is not None and claim.line is not None
    )
    if not (was_before and single):
        return result
    return replace(result, outcome=ClaimOutcome.VERIFIED, note="", moved_from=claim.line)
