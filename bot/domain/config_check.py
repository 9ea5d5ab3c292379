"""What does the check run on a config say?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from bot.domain.check_runs import CONFIG, MOST_ANNOTATIONS, Annotation, CheckText, Conclusion
from bot.domain.escape import code_span
from bot.domain.problems import Problem


@dataclass(frozen=True, slots=True)
class ConfigReport:
    """A version of a config, judged without being applied."""

    path: str
    conclusion: Conclusion
    """Success: it can be used; failure: it can't; neutral: there is no such file any more."""
    gates: int
    problems: tuple[Problem, ...] = ()


def config_check(report: ConfigReport, head: str, *, in_force: bool) -> CheckText:
    """The check run: every mistake at its line and column, as many as GitHub takes.

    `in_force` says that it is the default branch's own version, not one that is proposed.
    """
    annotations = tuple(_annotation(problem) for problem in report.problems[:MOST_ANNOTATIONS])
    return CheckText(
        name=CONFIG,
        head=head,
        conclusion=report.conclusion,
        title=_title(report),
        summary=_summary(report, in_force=in_force),
        places=hashlib.sha256(repr(annotations).encode("utf-8", "surrogatepass")).hexdigest()[:32],
        annotations=annotations,
    )


def _annotation(problem: Problem) -> Annotation:
    return Annotation(
        path=problem.file,
        line=max(1, problem.line),
        end_line=max(1, problem.line),
        message=f"{problem.what}; {problem.allowed}",
        column=max(1, problem.column),
    )


def _title(report: ConfigReport) -> str:
    if report.conclusion is Conclusion.NEUTRAL:
        return "The config is removed"
    if report.conclusion is Conclusion.SUCCESS:
        return f"The config is good: {report.gates} gates"
    count = len(report.problems)
    return f"The config has {count} mistake{'' if count == 1 else 's'}"


def _summary(report: ConfigReport, *, in_force: bool) -> str:
    path = code_span(report.path)
    if report.conclusion is Conclusion.NEUTRAL:
        return f"Without {path} the owner's config and the defaults hold."
    if report.conclusion is Conclusion.SUCCESS:
        return f"{path} holds once it is on the default branch: {report.gates} gates would be in force."
    lines = [f"- {code_span(str(problem), 300)}" for problem in report.problems[:MOST_ANNOTATIONS]]
    if left := len(report.problems) - len(lines):
        lines.append(f"- and {left} more")
    then = (
        "The last version without a mistake stays in force; without one, the defaults do."
        if in_force
        else "It is not applied; a broken config on the default branch leaves the last good one in force."
    )
    return "\n".join([*lines, "", then])
