"""Apply a person's rejection or selection to the pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands.model import CommandInvocation
from bot.findings.model import Finding
from bot.gates.config import RepositoryRules
from bot.iterations.model import current_iteration
from bot.iterations.selection import (
    parse_choice,
    render_selection_report,
    select_iteration,
    selection_report,
)
from bot.markdown.escape import code_span
from bot.markdown.links import format_login, short_sha
from bot.pull_request.model import (
    Item,
    PullRequest,
    SelectionOverride,
    Stance,
    Validator,
    Verdict,
    hash_text,
)
from bot.values import Account
from bot.verdicts.tags import limit_items

MAX_AUDITS = 50


def open_names(pull_request: PullRequest) -> tuple[str, ...]:
    """Return what a command can name of the open findings: their tags, and the ids of those without one."""
    iteration = current_iteration(pull_request)
    items = iteration.open_items if iteration else ()
    return tuple(dict.fromkeys(item.tag or item.finding for item in items))


def find_open(pull_request: PullRequest, name: str) -> tuple[Finding, ...]:
    """Return the open findings with this tag or id."""
    iteration = current_iteration(pull_request)
    return tuple(f for f in iteration.ledger.find(name) if f.is_open) if iteration else ()


def apply_rejection(
    pull_request: PullRequest,
    items: Sequence[Item],
    invocation: CommandInvocation,
    role: str | None,
    url: str,
) -> PullRequest:
    """Add these items to the findings of the command's sender.

    The command is their newest verdict, so their later approval lifts it like a review.
    """
    account, at = invocation.text.account, invocation.text.at
    kept, omitted = limit_items(items)
    rejection = Verdict(
        id=f"command:{invocation.key}",
        validator=Validator(f"user:{account.id}", account.login, bot=account.bot),
        stance=Stance.REJECTS,
        at=at,
        head=pull_request.head_at(at),
        items=kept,
        more=omitted,
        url=url,
        permission=role,
        body_hash=hash_text(invocation.text.body),
    )
    others = tuple(verdict for verdict in pull_request.verdicts if verdict.id != rejection.id)
    return replace(pull_request, verdicts=(*others, rejection))


def keep_command_verdicts(verdicts: tuple[Verdict, ...], changed: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Return the verdicts, and those that a command has added since."""
    ids = {verdict.id for verdict in verdicts}
    return (
        *verdicts,
        *(verdict for verdict in changed if verdict.id.startswith("command:") and verdict.id not in ids),
    )


@dataclass(frozen=True, slots=True)
class SelectionRequester:
    """Who asks for a selection, when, and which head they saw."""

    account: Account
    at: datetime
    head: str


def apply_selection(
    pull_request: PullRequest, choice: str, reason: str, requester: SelectionRequester, rules: RepositoryRules
) -> tuple[PullRequest, str]:
    """Record the selection with its audit, bound to the head that the requester saw; return the reply too.

    The caller has checked, with a fresh read, that the requester may write and is not the author.
    """
    report = selection_report(pull_request, rules)
    if report is None:
        return pull_request, "No iteration has been reviewed yet, so there is nothing to select.\n"
    if len(report.scored) == 1:
        return pull_request, "Only one iteration has been reviewed, so there is nothing to choose from.\n"
    parsed = parse_choice(choice, report.trajectory, reason)
    if isinstance(parsed, str):
        return pull_request, f"{parsed}\n"
    kind, number = parsed
    account = requester.account
    override = SelectionOverride(
        kind, account.login, reason, requester.at, requester.head, number, account.id
    )
    selection = select_iteration(report.trajectory, override, pull_request.head)
    audit = selection.audit
    if audit is None:
        seen, now = code_span(short_sha(requester.head)), code_span(short_sha(pull_request.head))
        return pull_request, (
            f"Not selected: you asked at {seen}, but the head is now {now}. "
            "If you still want it, repeat the command.\n"
        )
    change = (
        f"confirms iteration {audit.after}"
        if audit.before == audit.after
        else f"selects iteration {audit.after} instead of {audit.before}"
    )
    summary = (
        f"{format_login(audit.by)} {change}, at {code_span(short_sha(audit.head))}: {code_span(audit.reason)}"
    )
    selected = replace(pull_request, override=override, audits=(*pull_request.audits, audit)[-MAX_AUDITS:])
    return selected, f"{summary}\n\n{render_selection_report(replace(report, selection=selection))}"
