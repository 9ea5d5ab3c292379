"""Select an iteration, report the selection, and restore its files."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from bot import regex
from bot.gates.config import RepositoryRules
from bot.iterations.model import current_iteration, list_iterations
from bot.iterations.progress import Degradation, Progress, measure_progress
from bot.iterations.scoring import ScoredIteration, Trajectory, counted_checks, format_percents, quality_delta
from bot.markdown.escape import code_span
from bot.markdown.links import format_login, short_sha
from bot.pull_request.diff import MAX_LISTED_FILES, Diff
from bot.pull_request.model import OverrideAudit, PullRequest, SelectionChoice, SelectionOverride


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected iteration, the automatic selection, and the override if one applies."""

    selected: ScoredIteration
    automatic: ScoredIteration
    final: ScoredIteration
    override: SelectionOverride | None = None
    outdated: SelectionOverride | None = None
    """An override of a head that the pull request has left."""

    @property
    def delta(self) -> float | None:
        """The final iteration's quality less the best one's: never above 0."""
        return quality_delta(self.automatic, self.final)

    @property
    def decision(self) -> SelectionChoice:
        """Which of them it is, or what a person chose."""
        is_final = self.automatic.number == self.final.number
        automatic = SelectionChoice.USE_FINAL if is_final else SelectionChoice.USE_BEST
        return self.override.choice if self.override else automatic

    @property
    def audit(self) -> OverrideAudit | None:
        """The audit entry, where a person decided."""
        override = self.override
        if override is None:
            return None
        return OverrideAudit(
            **{name: getattr(override, name) for name in ("by", "at", "reason", "head", "choice", "by_id")},
            before=self.automatic.number,
            after=self.selected.number,
        )


def parse_choice(
    choice: str, trajectory: Trajectory, reason: str
) -> tuple[SelectionChoice, int | None] | str:
    """Parse `best`, `final` or a number; else return why it is refused, as an answer to the command."""
    if not reason.strip():
        return "Give a reason: `/feedback-select best reason: …`"
    choices = {"best": SelectionChoice.USE_BEST, "final": SelectionChoice.USE_FINAL}
    if choice.lower() in choices:
        return choices[choice.lower()], None
    numbers = [scored.number for scored in trajectory.scored]
    if choice in map(str, numbers):
        return SelectionChoice.USE_SPECIFIC, int(choice)
    last = numbers[-1] if numbers else 0
    return f"Name `best`, `final` or an iteration from 1 to {last}."


def select_iteration(
    trajectory: Trajectory, override: SelectionOverride | None = None, head: str | None = None
) -> Selection:
    """Select the iteration with the highest score, unless a person decided at this head.

    `head` is the pull request's current one, where that is not the final iteration's.
    """
    final = trajectory.final
    best = trajectory.best or final
    holds = override is not None and override.head == (head or final.head)
    current = override if holds else None
    return Selection(_select(trajectory, current, best), best, final, current, None if holds else override)


def _select(
    trajectory: Trajectory, override: SelectionOverride | None, best: ScoredIteration
) -> ScoredIteration:
    if override is None or override.choice is SelectionChoice.USE_BEST:
        return best
    if override.choice is SelectionChoice.USE_FINAL:
        return trajectory.final
    return next((scored for scored in trajectory.scored if scored.number == override.iteration), best)


MAX_REPORT_FILES = 50


@dataclass(frozen=True, slots=True)
class SelectionReport:
    """The contents of the selection report."""

    name: str
    """`owner/repo#7`, the document's loop id."""
    trajectory: Trajectory
    selection: Selection
    degradations: tuple[Degradation, ...]
    """One for each iteration from the second on."""
    threshold: float
    merged: bool = False

    @property
    def scored(self) -> tuple[ScoredIteration, ...]:
        """The iterations in order."""
        return self.trajectory.scored

    def percent(self, scored: ScoredIteration) -> str:
        """Format the score of an iteration as every part of the report writes it."""
        return dict(
            zip((iteration.number for iteration in self.scored), format_percents(self.scored), strict=True)
        )[scored.number]


def render_selection_report(report: SelectionReport, *, is_folded: bool = False) -> str:
    """Render the report as Markdown; in a fold of the comment without the figures that only programs need."""
    selected = report.selection.selected.number
    reasons = tuple(selection_rationale(report))[: -1 if is_folded else None]
    parts = [
        "## Output Selection Report",
        "\n".join(
            (
                f"**Loop ID**: {report.name}",
                f"**Total Iterations**: {len(report.scored)}",
                f"**Selected Iteration**: {selected}",
            )
        ),
        "### Quality Scores",
        _score_table(report),
        "### Selection Rationale",
        f"Iteration {selected} selected because:\n" + "\n".join(f"- {line}" for line in reasons),
        "### Artifacts Applied",
        _artifacts(report),
    ]
    if not is_folded:
        checklist = (f"- [{'x' if done else ' '}] {text}" for done, text in selection_checklist(report))
        parts += ["### Validation Checklist", "\n".join(checklist)]
    return "\n\n".join(parts) + "\n"


def selection_checklist(report: SelectionReport) -> tuple[tuple[bool, str], ...]:
    """Return the document's seven points, each with whether it is met."""
    missing = [s for s in report.scored if not s.available or s.diff is None]
    unscored = [scored.number for scored in report.scored if scored.score is None]
    selection, override = report.selection, report.selection.override
    flagged = [degradation.iteration for degradation in report.degradations if degradation.is_flagged]
    points = (
        (not missing, "All iteration outputs preserved", _missing_text(missing)),
        (not unscored, "Quality score calculated for each iteration", _join_numbers("not for", unscored)),
        (_is_maintained(report.trajectory), "Best tracker maintained throughout", ""),
        (
            selection.selected.number == selection.automatic.number,
            "Selection based on quality, not recency",
            f"{format_login(override.by)} decided" if override else "",
        ),
        (True, "Selection decision logged with rationale", ""),
        (len(report.scored) > 1, "Override option available if needed (`/feedback-select`)", ""),
        (
            len(report.degradations) == len(report.scored) - 1,
            "Degradation patterns detected",
            _join_numbers("in iteration", flagged) or "none",
        ),
    )
    return tuple((is_met, f"{text}: {note}" if note else text) for is_met, text, note in points)


def _score_table(report: SelectionReport) -> str:
    rows = ["| Iteration | Quality | Status |", "|-----------|---------|--------|"]
    for scored in report.scored:
        marks = [
            "✓ SELECTED" if scored.number == report.selection.selected.number else "",
            "(final)" if scored.number == report.selection.final.number else "",
        ]
        status = " ".join(word for word in marks if word)
        rows.append(f"| {scored.number} | {report.percent(scored)} | {status} |".replace("|  |", "| |"))
    return "\n".join(rows)


def selection_rationale(report: SelectionReport) -> Iterator[str]:
    """Yield why this iteration was selected, the comparison last."""
    selection, selected = report.selection, report.selection.selected
    if override := selection.override:
        automatic = selection.automatic.number
        is_same = selected.number == automatic
        verb = "confirmed it" if is_same else f"selected it instead of iteration {automatic}"
        yield f"{format_login(override.by)} {verb}: {code_span(override.reason)}"
    elif selected.score is None:
        yield "No iteration could be scored, so the final one is selected"
    else:
        yield _score_reason(report)
    if outdated := selection.outdated:
        head = code_span(short_sha(outdated.head))
        yield f"The selection of {format_login(outdated.by)} was for {head}, no longer the head"
    yield from (
        f"Quality degraded in iteration {degradation.iteration}"
        for degradation in report.degradations
        if degradation.is_degraded
    )
    if checks := counted_checks(selected.checks):
        failed = selected.failed_checks
        yield (
            f"{failed} of {len(checks)} validation checks failed"
            if failed
            else "All validation checks passed"
        )
    if selected.quality is not None and selected.quality < report.threshold:
        yield f"Below the threshold for acceptance ({report.threshold:.0%}); the score overrules nobody"
    yield _comparison_line(report)


def _score_reason(report: SelectionReport) -> str:
    """Say what the score of the selected iteration is worth; "highest" only where it is the only one."""
    selected, final = report.selection.selected, report.selection.final
    scores = [scored.quality or 0.0 for scored in report.scored if scored.quality is not None]
    percent = report.percent(selected)
    if len(scores) == 1:
        reason = f"The only iteration with a quality score ({percent})"
    elif scores.count(selected.quality or 0.0) > 1:
        reason = f"Reached {percent} first, and no iteration scored higher"
    elif selected.number == final.number or final.quality is None:
        reason = f"Highest quality score ({percent})"
    else:
        return f"Highest quality score ({percent} vs {report.percent(final)} final)"
    return f"{reason}, and the final iteration" if selected.number == final.number else reason


def _comparison_line(report: SelectionReport) -> str:
    selection = report.selection
    change = "–" if selection.delta is None else _format_points(selection.delta * 100)
    return (
        f"best_iteration: {selection.automatic.number} ({report.percent(selection.automatic)}), "
        f"final_iteration: {selection.final.number} ({report.percent(selection.final)}), "
        f"delta: {change}, decision: {selection.decision}"
    )


def _format_points(change: float) -> str:
    return f"{change:+.4g} point{'' if abs(change) == 1 else 's'}" if change else "0 points"


def _artifacts(report: SelectionReport) -> str:
    selected, final = report.selection.selected, report.selection.final
    files = selected.diff.files if selected.diff else ()
    if not files:
        return "- the files are not known"
    names = ", ".join(code_span(file.path, 200) for file in files[:MAX_REPORT_FILES])
    more = f" and {len(files) - MAX_REPORT_FILES} more" if len(files) > MAX_REPORT_FILES else ""
    if selected.number == final.number:
        state = "as merged" if report.merged else "as on the branch"
    else:
        state = "not applied: the selection is advice, and nothing is written to the branch"
    return f"- {names}{more} (from iteration {selected.number}, {state})"


def _missing_text(missing: list[ScoredIteration]) -> str:
    names = (f"iteration {scored.number} {code_span(short_sha(scored.head))}" for scored in missing)
    return ", ".join(
        f"the files of {name} are not known"
        if scored.diff is None
        else f"{name} is gone from GitHub, its hashes are kept"
        for name, scored in zip(names, missing, strict=True)
    )


def _is_maintained(trajectory: Trajectory) -> bool:
    """Whether after every iteration the tracked best was the highest of those so far."""
    quality_by_number = {scored.number: scored.quality for scored in trajectory.scored}
    return all(
        number is not None
        and quality_by_number[number]
        == max(quality for quality in list(quality_by_number.values())[:count] if quality is not None)
        for count, number in enumerate(trajectory.trail, 1)
    )


def _join_numbers(lead: str, numbers: list[int]) -> str:
    return f"{lead} {', '.join(map(str, numbers))}" if numbers else ""


def build_selection_report(
    pull_request: PullRequest, progress: Progress, rules: RepositoryRules
) -> SelectionReport:
    """Build the report of the scored iterations."""
    return SelectionReport(
        name=pull_request.name,
        trajectory=progress.trajectory,
        selection=select_iteration(progress.trajectory, pull_request.override, pull_request.head),
        degradations=progress.degradations,
        threshold=rules.iterations.threshold,
        merged=pull_request.merged,
    )


def selection_report(pull_request: PullRequest, rules: RepositoryRules) -> SelectionReport | None:
    """Return the report of a pull request; None before its first verdict."""
    current = current_iteration(pull_request)
    if current is None:
        return None
    progress = measure_progress(pull_request, list_iterations(pull_request), current, rules)
    return build_selection_report(pull_request, progress, rules)


def selection_report_markdown(pull_request: PullRequest, rules: RepositoryRules) -> str | None:
    """Return the Output Selection Report as Markdown; None before the second iteration."""
    report = selection_report(pull_request, rules)
    return render_selection_report(report) if report and len(report.scored) > 1 else None


MAX_NAMED_FILES = 10
"""Files that the command names as arguments; more of them are listed below it."""
MAX_LISTED_LENGTH = 4_000
"""Characters of a list of files; a longer one is made by git."""

_END = "END_OF_FILES"
_PATHSPEC_MAGIC = regex.Regex(r"[*?\[\\]|^:")  # git reads these in a path as a pattern
_UNSHOWABLE = regex.Regex(r"[\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}\"]|<!--|```")


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Which files restoring an earlier iteration brings back, and which it leaves or removes."""

    restored: tuple[str, ...]
    kept: tuple[str, ...] = ()
    """Files that were added since: they stay."""
    removed: tuple[str, ...] = ()
    """Files that the earlier iteration had deleted: they go."""
    ranges: tuple[tuple[str, str], ...] = ()
    """Merge base and head, of the earlier iteration first."""
    is_complete: bool = True
    """Whether all files are known: GitHub lists only the first of a long diff."""


def plan_restore(earlier: ScoredIteration, current: ScoredIteration) -> RestorePlan | None:
    """Plan restoring the earlier files; None if they are not known, gone from GitHub, or the same."""
    earlier_diff, current_diff = earlier.diff, current.diff
    if not earlier.available or earlier_diff is None or current_diff is None:
        return None
    # A file that was renamed since is where it was before, and its new name stays.
    moved = [
        file.previous_path
        for file in current_diff.files
        if file.previous_path and earlier_diff.get(file.path) is None
    ]
    differing = tuple(dict.fromkeys((*differing_files(earlier_diff, current_diff), *moved)))
    kept = tuple(
        path
        for path in differing
        if earlier_diff.get(path) is None
        and (file := current_diff.get(path))
        and file.status in {"added", "renamed", "copied"}
    )
    restored = tuple(path for path in differing if path not in kept)
    removed = tuple(
        path for path in restored if (file := earlier_diff.get(path)) and file.status == "removed"
    )
    if not restored:
        return None
    return RestorePlan(
        restored,
        kept,
        removed,
        # Without a known merge base, all that differs between the two.
        ranges=(
            (earlier.base or current.head, earlier.head),
            (current.base or earlier.head, current.head),
        ),
        is_complete=all(len(diff.files) < MAX_LISTED_FILES for diff in (earlier_diff, current_diff)),
    )


def differing_files(earlier: Diff, present: Diff) -> tuple[str, ...]:
    """Return the files that differ between two revisions of a pull request."""
    paths = dict.fromkeys(file.path for file in (*earlier.files, *present.files))
    return tuple(path for path in paths if _blob(earlier, path) != _blob(present, path))


def restore_commands(head: str, plan: RestorePlan) -> str:
    """Return the shell commands that restore the files, however many; a new file is never deleted."""
    fetch = f"git fetch origin {head}"
    restore = "git restore --source=FETCH_HEAD --staged --worktree"
    paths = plan.restored
    is_showable = plan.is_complete and _END not in paths and not any(map(_UNSHOWABLE.search, paths))
    if is_showable and len(paths) <= MAX_NAMED_FILES:
        return f"{fetch}\n{restore} -- {' '.join(map(_shell_argument, paths))}"
    literal = restore.replace("git ", "git --literal-pathspecs ", 1)
    if is_showable and sum(map(len, paths)) <= MAX_LISTED_LENGTH:
        listed = "\n".join((*paths, _END))
        return f"{fetch}\n{literal} --pathspec-from-file=- <<'{_END}'\n{listed}"
    # Only what the pull request changes: the base may have been merged since, and stays as it is. Of what
    # only the later one changes, not the files that the earlier one lacks: restoring would delete them.
    listing = "git diff --name-only --no-renames -z"
    differing = f"xargs -0 {listing.replace('git ', 'git --literal-pathspecs ', 1)}"
    ranges = [
        f"  {listing} {base} {end} | {differing}{kept} FETCH_HEAD HEAD --"
        for (base, end), kept in zip(plan.ranges, ("", " --diff-filter=a"), strict=True)
    ]
    return "\n".join((fetch, "{", *ranges, f"}} | {literal} --pathspec-from-file=- --pathspec-file-nul"))


def _blob(diff: Diff, path: str) -> tuple[str, str | None] | None:
    """Return kind and blob of a file at a revision; None if the pull request does not change it."""
    file = diff.get(path)
    return None if file is None else ("gone" if file.status == "removed" else "file", file.blob)


def _shell_argument(path: str) -> str:
    return shlex.quote(f":(literal){path}" if _PATHSPEC_MAGIC.search(path) else path)
