"""Do the checks show it, and does the branch stand so?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain import regex
from bot.domain.grounding.claim import Claim
from bot.domain.grounding.observations import BranchState, CheckRun, Observations
from bot.domain.grounding.result import Outcome, Result, Tool, contradicted, unverifiable, verified
from bot.domain.scan import has_word

_STATUS = regex.Pattern(r"\b[1-5][0-9][0-9]\b")
Kinds = Mapping[str, str]
"""Check name → what the repository's config says that it shows."""

_FAILED = regex.Pattern(r"(?i)\b([0-9]+) (?:tests? )?fail(?:ed|ures?|ing)\b")
_WORDS = {
    "tests": regex.Pattern(
        r"(?i)(?:^|[^a-z])(?:tests?|pytest|jest|unit|specs?|vitest|mocha|rspec|junit)(?:[^a-z]|$)"
    ),
    "build": regex.Pattern(r"(?i)(?:^|[^a-z])(?:build|compile|cargo|maven|gradle)(?:[^a-z]|$)"),
    "lint": regex.Pattern(r"(?i)(?:^|[^a-z])(?:lint|linter|eslint|ruff|flake8|clippy|golangci)(?:[^a-z]|$)"),
    "types": regex.Pattern(r"(?i)(?:^|[^a-z])(?:types?|typecheck|mypy|pyright|tsc)(?:[^a-z]|$)"),
}


def test_result(claim: Claim, seen: Observations, kinds: Kinds) -> Result:
    """Whether the checks of that kind or name ended so."""
    if seen.checks is None:
        return unverifiable("the check runs were not read")
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
        return unverifiable("no such check ran at this head", Tool.CHECKS)
    return _together(claim.value, meant)


def error(claim: Claim, seen: Observations) -> Result:
    """Whether a check printed the message."""
    return _printed(seen, (claim.subject,))


def behaviour(claim: Claim, seen: Observations) -> Result:
    """Whether a check that failed names both the code and what it did."""
    if not claim.holds or not claim.value:
        return unverifiable("no check run shows it", Tool.CHECKS if seen.checks is not None else None)
    return _printed(seen, (claim.subject.split("(")[0], claim.value), failed=True)


def response(claim: Claim, seen: Observations) -> Result:
    """Whether a check printed the request and its answer, and no other answer beside it."""
    return _printed(seen, (claim.subject, claim.value), one_of=_STATUS)


def git_state(claim: Claim, seen: Observations) -> Result:
    """Whether the pull request stands so to its base."""
    if claim.subject == "worktree":
        return unverifiable("a working directory is not on GitHub")
    branch = seen.branch
    if branch is None:
        return unverifiable("the pull request was not read")
    if branch.head != seen.head:
        return unverifiable("the head has moved", Tool.PULL_REQUEST)
    is_so, note = _standing(claim, branch)
    if is_so is None:
        return unverifiable(note, Tool.PULL_REQUEST)
    return verified(Tool.PULL_REQUEST) if is_so == claim.holds else contradicted(Tool.PULL_REQUEST, note)


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


def _of_kind(runs: list[CheckRun], kind: str, kinds: Kinds) -> list[CheckRun]:
    if kind == "all":
        return runs
    told = [run for run in runs if kinds.get(run.name) == kind]
    return told or [run for run in runs if run.name not in kinds and _WORDS[kind].search(run.name)]


def _together(value: str, runs: list[CheckRun]) -> Result:  # noqa: PLR0911  one answer a case
    amount, _, wanted = value.rpartition(" ")
    failed, passed = [run for run in runs if run.failed], [run for run in runs if run.passed]
    running = [run for run in runs if run.conclusion is None]
    if amount:
        return _amount(amount, wanted, failed)
    if failed:
        if wanted == "fail":
            return _shown(verified(Tool.CHECKS), failed[0])
        return _shown(contradicted(Tool.CHECKS, f"the check `{failed[0].name}` failed"), failed[0])
    if running:
        return unverifiable(f"the check `{running[0].name}` has not ended", Tool.CHECKS)
    if not passed:
        return unverifiable("no check of that kind came to a result", Tool.CHECKS)
    if wanted == "pass":
        return _shown(verified(Tool.CHECKS), passed[0])
    return _shown(contradicted(Tool.CHECKS, f"the check `{passed[0].name}` passed"), passed[0])


def _amount(amount: str, wanted: str, failed: list[CheckRun]) -> Result:
    if amount.isdigit() and wanted == "fail":
        for run in failed:
            counts = set(_FAILED.findall(_said(run)))
            if counts == {amount}:
                return _shown(verified(Tool.CHECKS), run)
            if counts:
                return _shown(contradicted(Tool.CHECKS, f"the check says {min(counts)} failed"), run)
    return unverifiable("no check run says how many", Tool.CHECKS)


def _named_test(claim: Claim, name: str, runs: list[CheckRun]) -> Result:
    bare = name.removesuffix("()")
    naming = [run for run in runs if run.failed and has_word(_said(run), bare)]
    if claim.value == "fail" and naming:
        return _shown(verified(Tool.CHECKS), naming[0])
    if claim.value == "pass" and naming:
        return _shown(
            contradicted(Tool.CHECKS, f"the check `{naming[0].name}` names it as failed"), naming[0]
        )
    if claim.value == "fail" and runs and all(run.passed for run in runs):
        return _shown(contradicted(Tool.CHECKS, f"the check `{runs[0].name}` passed"), runs[0])
    return unverifiable("no check run names that test", Tool.CHECKS)


def _printed(
    seen: Observations,
    words: tuple[str, ...],
    *,
    failed: bool = False,
    one_of: regex.Pattern | None = None,
) -> Result:
    if seen.checks is None:
        return unverifiable("the check runs were not read")
    for run in seen.checks:
        if run.ours or (failed and not run.failed):
            continue
        for part in _parts(run):
            folded = " ".join(part.split())
            alone = one_of is None or len(set(one_of.findall(folded))) <= 1
            if alone and all(_has(folded, word) for word in words):
                return _shown(verified(Tool.CHECKS), run)
    return unverifiable("no check run at this head shows it", Tool.CHECKS)


def _has(text: str, words: str) -> bool:
    wanted = " ".join(words.split())
    return bool(wanted) and has_word(text, wanted)


def _parts(run: CheckRun) -> list[str]:
    return [*run.output.splitlines(), *(f"{each.title} {each.message}" for each in run.annotations)]


def _said(run: CheckRun) -> str:
    return "\n".join(_parts(run))


def _shown(result: Result, run: CheckRun) -> Result:
    outcome = result.outcome
    return replace(result, check=run.name) if outcome is not Outcome.UNVERIFIABLE else result
