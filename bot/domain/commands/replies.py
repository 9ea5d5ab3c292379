"""What the shorter commands are answered with, word for word."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.commands.catalogue import COMMANDS
from bot.domain.commands.command import Command
from bot.domain.commands.reading import WrongUse
from bot.domain.escape import code_span, table_cell
from bot.domain.links import person
from bot.domain.model import Repository
from bot.domain.phrasing import counted, joined


@dataclass(frozen=True, slots=True)
class Stored:
    """How much is stored about somebody in a repository."""

    pull_requests: int = 0
    verdicts: int = 0
    commands: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is stored but deliveries."""
        return not (self.pull_requests or self.verdicts or self.commands)


def wrong_use(mistake: WrongUse) -> str:
    """What is wrong, the right use, and a line that works."""
    command = mistake.command
    return (
        f"Not understood: {mistake.what}.\n\n"
        f"Use: {code_span(command.right_use)} · for example: {code_span(command.example)}\n\n"
        f"<sub>{command.help} All commands: `/feedback-help`</sub>\n"
    )


def help_text() -> str:
    """Every command with its use, who may give it, and an example."""
    table = "\n".join(("| Command | Does | Who | Example |", "|---|---|---|---|", *map(_row, COMMANDS)))
    return (
        "**Commands**, each at the start of a line in a new comment\n\n"
        f"{table}\n\n"
        "<sub>A command in a quote, in code or in an edited comment is not read.</sub>\n"
    )


def export_text(login: str, repository: Repository, public_url: str | None) -> str:
    """Where to get one's data; never the data, since others read this thread."""
    path = f"/api/v1/repos/{repository.full_name}/authors/{login}/export"
    if public_url is None:
        where = f"this bot's server, at {code_span(f'GET {path}', 300)}"
    else:
        where = code_span(f"GET {public_url}{path}", 300)
    return (
        f"All that is stored about {person(login)} in this repository: {where}, with the header "
        "`Authorization: Bearer <a GitHub token of yours that may read metadata>`. The token is asked of "
        "GitHub and not stored. To delete it all: `/feedback-forget`\n"
    )


def forget_text(login: str, stored: Stored, *, done: bool = False) -> str:
    """What goes, or what is gone, and what stays: in the store, and on GitHub."""
    what = _stored(stored)
    if done:
        # Without the login: what is still to be posted is in the store.
        return f"Deleted for you in this repository: {what}.\n\n{_STAYS}\n"
    return (
        f"Stored about {person(login)} in this repository: {what}. This can't be undone.\n\n{_STAYS}\n\n"
        "To delete it: `/feedback-forget confirm` · to see it first: `/feedback-export`\n"
    )


_STAYS = (
    "- Stays in the bot's store, without name: counts, and the findings on open pull requests (their words "
    "go when the pull request is closed; until then its author and reviewers are known by account number). "
    "Backups of the operator keep what they had.\n"
    "- Stays on GitHub: your pull requests, reviews and comments, and this bot's comments, check runs and "
    "weekly summary as they were posted, some of which name or quote you. Whoever may delete them does so "
    "there.\n"
    "- What you do here from now on is new, and is stored again."
)


def record_elsewhere(login: str, repository: Repository, public_url: str | None) -> str:
    """Where a person's record can be read, since a public thread is not the place."""
    path = f"/api/v1/repos/{repository.full_name}/authors/{login}/patterns"
    command = code_span(f"whetstone history {repository.full_name} {login}", 300)
    address = code_span(f"GET {public_url}{path}", 300)
    api = "" if public_url is None else f"Whoever has `triage` or more here reads it at {address}. "
    return (
        f"The record of {person(login)} is not shown in a public thread. {api}"
        f"Whoever runs this bot reads it with {command}.\n"
    )


def _row(command: Command) -> str:
    cells = (code_span(command.right_use), command.help, str(command.who), code_span(command.example))
    return f"| {' | '.join(map(table_cell, cells))} |"


def _stored(stored: Stored) -> str:
    parts = (
        (stored.pull_requests, "pull request"),
        (stored.verdicts, "verdict"),
        (stored.commands, "command"),
    )
    counts = [counted(number, noun) for number, noun in parts if number]
    return joined([*counts, "the webhook deliveries that name you"])
