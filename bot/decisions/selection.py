"""Which iteration is selected: by its score, unless a person with `write` decided at this head."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain import iterations as judged
from bot.domain import selection_report
from bot.domain.commands.asked import SelectAsked
from bot.domain.course import Course, course
from bot.domain.escape import code_span
from bot.domain.links import person, short
from bot.domain.model import PullRequest
from bot.domain.override import Audit, Override
from bot.domain.rules import Rules
from bot.domain.rulings import in_force
from bot.domain.selection import Refused, asked, select
from bot.domain.selection_report import Report

MOST_AUDITS = 50


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for a selection, when, and which head they saw."""

    login: str
    at: datetime
    head: str
    id: int = 0


@dataclass(frozen=True, slots=True)
class Selected:
    """What a command to select came to: the pull request as it is then, and the answer in the thread."""

    pull_request: PullRequest
    reply: str


def report_on(pull_request: PullRequest, went: Course, rules: Rules) -> Report:
    """The report as it stands now."""
    return Report(
        name=pull_request.name,
        trajectory=went.trajectory,
        selection=select(went.trajectory, pull_request.override, pull_request.head),
        degradations=went.degradations,
        threshold=rules.iterations.threshold,
        merged=pull_request.merged,
    )


def report_of(pull_request: PullRequest, rules: Rules) -> Report | None:
    """The report of a pull request; None before its first judgement."""
    known = in_force(pull_request)
    present = judged.current(pull_request, known)
    if present is None:
        return None
    return report_on(pull_request, course(pull_request, known, present, rules), rules)


def selection_report_of(pull_request: PullRequest, rules: Rules) -> str | None:
    """The Output Selection Report as Markdown; None before the second iteration."""
    report = report_of(pull_request, rules)
    return selection_report.render(report) if report and len(report.scored) > 1 else None


def select_by_command(pull_request: PullRequest, wanted: SelectAsked, asker: Asker, rules: Rules) -> Selected:
    """The pull request with this selection and its audit, bound to the head that the asker saw.

    Whoever calls has made sure, with a fresh read, that the asker may write and is not the author.
    """
    report = report_of(pull_request, rules)
    if report is None:
        return Selected(pull_request, "Nothing was judged yet, so there is no iteration to select.\n")
    if len(report.scored) == 1:
        return Selected(pull_request, "Only one iteration was judged, so there is nothing to select from.\n")
    found = asked(str(wanted.choice), report.trajectory, wanted.reason)
    if isinstance(found, Refused):
        return Selected(pull_request, f"{found.because}\n")
    choice, number = found
    override = Override(choice, asker.login, wanted.reason, asker.at, asker.head, number, asker.id)
    made = select(report.trajectory, override, pull_request.head)
    if made.audit is None:
        return Selected(pull_request, _moved(asker, pull_request))
    audits = (*pull_request.audits, made.audit)[-MOST_AUDITS:]
    changed = replace(pull_request, override=override, audits=audits)
    return Selected(changed, _reply(made.audit, replace(report, selection=made)))


def _moved(asker: Asker, pull_request: PullRequest) -> str:
    seen, now = code_span(short(asker.head)), code_span(short(pull_request.head))
    return f"Not selected: it was asked for at {seen}, and the head is {now} by now. Ask again if it holds.\n"


def _reply(audit: Audit, report: Report) -> str:
    way = (
        f"confirms iteration {audit.after}"
        if audit.before == audit.after
        else f"selects iteration {audit.after} instead of {audit.before}"
    )
    said = f"{person(audit.by)} {way}, at {code_span(short(audit.head))}: {code_span(audit.reason)}"
    return f"{said}\n\n{selection_report.render(report)}"
