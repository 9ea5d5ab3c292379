"""Render lessons as a section for agents' instruction files, as a reply, and as JSON."""

from __future__ import annotations

from bot.history.model import Ratio
from bot.lessons.effect import (
    INSTRUCTION_FILES,
    SECTION_END,
    SECTION_START,
    Effect,
    Outcome,
    wilson_interval,
)
from bot.lessons.model import LESSON_WINDOW, AgentFigures, Lesson, LessonReport
from bot.markdown.escape import code_span
from bot.markdown.format import fold, format_count, format_long_range, join_words
from bot.markdown.links import GitHubLinks
from bot.values import Repository

LessonJson = dict[str, object]

_FENCE = "````"  # longer than any fence in the section, which has none
_COPY = (
    f"Copy this into {join_words([code_span(file) for file in INSTRUCTION_FILES], 'or')}, "
    "in place of an earlier one:"
)
_NONE = "No gate was broken in two or more of the pull requests reviewed in the last 12 weeks.\n"


def render_section(report: LessonReport, repository: Repository, web: GitHubLinks) -> str:
    """Render the section to copy into AGENTS.md or a file like it; empty without lessons."""
    if not report.lessons:
        return ""
    period = format_long_range((report.until - LESSON_WINDOW).date(), report.until.date())
    lines = (f"- {format_lesson(lesson, report, repository, web)}" for lesson in report.lessons)
    return "\n".join(
        (
            SECTION_START,
            "## What reviews here keep asking for",
            "",
            f"Check these before you push. Counts are of the pull requests reviewed {period}.",
            "",
            *lines,
            SECTION_END,
            "",
        )
    )


def format_lesson(lesson: Lesson, report: LessonReport, repository: Repository, web: GitHubLinks) -> str:
    """Format one line: what to do, where, what happened, and that it helped if it did."""
    where = f"In {code_span(f'{lesson.folder}/')}: " if lesson.folder else ""
    last = ""
    if lesson.numbers:
        number, which = lesson.numbers[0], "last" if lesson.is_latest_named else "for example"
        last = f", {which} in [{number}]({web.pull_url(repository, number)})"
    effect = lesson.effect
    helped = f" It helped: {_format_effect(effect)}." if effect and effect.outcome is Outcome.HELPED else ""
    happened = f"{_format_broken(lesson, report)}{last}"
    return f"{where}{lesson.instruction} ({code_span(lesson.tag)}): {happened}.{helped}"


def render_reply(report: LessonReport, repository: Repository, web: GitHubLinks) -> str:
    """Render the reply to `/feedback-lessons`: the section to copy, and what to remove."""
    section = render_section(report, repository, web)
    parts = [f"**Lessons** — {format_count(report.reviewed, 'pull request')} reviewed in the last 12 weeks"]
    if section:
        parts += [
            _COPY,
            f"{_FENCE}markdown\n{section}{_FENCE}",
        ]
    else:
        parts.append(_NONE.strip())
    parts += render_removals(report)
    return "\n\n".join(parts) + "\n"


def render_removals(report: LessonReport) -> list[str]:
    """Render which lessons to remove, each with its figures; nothing if there are none."""
    if not report.removals:
        return []
    lines = (
        f"- {code_span(lesson.tag)} in {code_span(lesson.effect.adoption.file)}: "
        f"{_format_effect(lesson.effect)}."
        for lesson in report.removals
        if lesson.effect
    )
    return ["These had no effect: remove them, and check them automatically instead:", "\n".join(lines)]


def format_summary(report: LessonReport) -> str:
    """Format the weekly line: `Lessons: 2 helped, 1 without effect.`; empty if nothing was measured."""
    counts = (
        (report.count(Outcome.HELPED), "helped"),
        (len(report.removals), "without effect"),
        (report.count(Outcome.MEASURING), "being measured"),
    )
    parts = [f"{count} {outcome}" for count, outcome in counts if count]
    return f"Lessons: {', '.join(parts)}." if parts else ""


def render_lessons(report: LessonReport, repository: Repository, web: GitHubLinks) -> tuple[str, ...]:
    """Render the lessons' part of the weekly summary: what was measured, and the section in a fold."""
    summary, section = format_summary(report), render_section(report, repository, web)
    folded = fold("Lessons for agents", f"{_FENCE}markdown\n{section}{_FENCE}") if section else ""
    return tuple(filter(None, (summary, folded)))


def format_prevented(report: LessonReport) -> str:
    """Format what the lessons that were not copied yet would have prevented; empty for nothing."""
    prevented = sum(lesson.prevented for lesson in report.unadopted)
    return format_count(prevented, "rejection") if prevented else ""


def report_json(report: LessonReport, repository: Repository, web: GitHubLinks) -> LessonJson:
    """Return the report for programs."""
    return {
        "repository": repository.full_name,
        "agent": report.agent,
        "pull_requests": report.reviewed,
        "lessons": [_lesson_json(lesson, report, repository, web) for lesson in report.lessons],
        "removals": [_lesson_json(lesson, report, repository, web) for lesson in report.removals],
        "helped": report.count(Outcome.HELPED),
        "without_effect": len(report.removals),
        "agents": [_figures_json(figures) for figures in report.figures],
        "markdown": render_section(report, repository, web),
    }


def render_report(report: LessonReport, repository: Repository, web: GitHubLinks) -> str:
    """Render what the terminal prints: the section, what to remove, and the figures of agents."""
    parts = [render_section(report, repository, web) or _NONE]
    parts += [f"{part}\n" for part in render_removals(report)]
    if report.figures:
        parts.append("Pull requests signed by coding agents, without their users' names:\n")
        parts.append("".join(f"- {_format_figures(figures)}\n" for figures in report.figures))
    return "\n".join(parts)


def _format_broken(lesson: Lesson, report: LessonReport) -> str:
    what = "missing" if "missing" in lesson.tag.split("_") else "reported"
    whose, whole = "your " if report.agent else "", format_count(lesson.broken.whole, "pull request")
    inferred = f" ({lesson.inferred} in plain words)" if lesson.inferred else ""
    return f"{what} in {lesson.broken.part} of {whose}{whole}{inferred}"


def _format_effect(effect: Effect) -> str:
    return f"{_format_ratio(effect.before)} before it was added, {_format_ratio(effect.after)} since"


def _format_ratio(ratio: Ratio) -> str:
    low, high = wilson_interval(ratio)
    return f"{ratio.part} of {ratio.whole} ({round(100 * low)}–{round(100 * high)}%)"


def _format_figures(figures: AgentFigures) -> str:
    name = f"{figures.mark.agent} ({figures.mark.model})" if figures.mark.model else figures.mark.agent
    tags = ", ".join(f"{tag} {count}" for tag, count in figures.tags.items()) or "no gate broken"
    return f"{name}: {format_count(figures.pull_requests, 'pull request')}; {tags}"


def _lesson_json(
    lesson: Lesson, report: LessonReport, repository: Repository, web: GitHubLinks
) -> LessonJson:
    gate, fix = lesson.gate, lesson.fix
    return {
        "tag": lesson.tag,
        "gate": gate.gate,
        "instruction": lesson.instruction,
        "text": format_lesson(lesson, report, repository, web),
        "fix": gate.fix,
        "blocking": gate.is_blocking,
        "auto_fixable": gate.auto_fixable,
        "broken": lesson.broken.part,
        "of": lesson.broken.whole,
        "prevented": lesson.prevented,
        "inferred": lesson.inferred,
        "folder": lesson.folder,
        "paths": list(lesson.paths),
        "evidence": [
            {"number": number, "url": web.pull_url(repository, number)} for number in lesson.numbers
        ],
        "last_fix": fix and {"number": fix.number, "head": fix.head, "at": fix.at.isoformat()},
        "effect": lesson.effect and _effect_json(lesson.effect),
    }


def _effect_json(effect: Effect) -> LessonJson:
    return {
        "file": effect.adoption.file,
        "since": effect.adoption.since.isoformat(),
        "outcome": effect.outcome.value,
        "before": _ratio_json(effect.before),
        "after": _ratio_json(effect.after),
    }


def _ratio_json(ratio: Ratio) -> LessonJson:
    low, high = wilson_interval(ratio)
    return {"broken": ratio.part, "of": ratio.whole, "low": round(low, 3), "high": round(high, 3)}


def _figures_json(figures: AgentFigures) -> LessonJson:
    return {
        "agent": figures.mark.agent,
        "model": figures.mark.model,
        "pull_requests": figures.pull_requests,
        "tags": dict(figures.tags),
    }
