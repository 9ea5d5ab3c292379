"""Render the replies to slash commands."""

from __future__ import annotations

from collections.abc import Sequence

from bot.commands.model import CommandRequest, InvalidCommand
from bot.gates.model import Gates
from bot.history.model import StoredCounts
from bot.markdown.escape import code_span, escape_mentions, gate_code
from bot.markdown.format import format_count, format_table, join_words
from bot.markdown.links import GitHubLinks, format_login, short_sha
from bot.pull_request.model import Ruling
from bot.values import Repository

_MAX_EXAMPLE = 300  # characters
_MAX_TAGS = 60  # in the list of all gates


def explain_text(tag: str, gates: Gates, repository: Repository, web: GitHubLinks) -> str:
    """Explain a gate with its fix and examples; an unknown tag gets the nearest one."""
    gate = gates.get(tag)
    if gate is None:
        more = f" and {len(gates) - _MAX_TAGS} more" if len(gates) > _MAX_TAGS else ""
        tags = ", ".join(map(code_span, gates.tags[:_MAX_TAGS]))
        listed = f"\n\nThe gates here: {tags}{more}" if tags else ""
        return f"No gate has the tag {code_span(tag)}.{_suggestion(gates.nearest(tag))}{listed}\n"
    severity = "blocking" if gate.is_blocking else "a warning, not blocking"
    fixable = ", auto-fixable" if gate.auto_fixable else ""
    examples = (
        f"- Not {gate_code(example.bad, _MAX_EXAMPLE)}\n  but {gate_code(example.good, _MAX_EXAMPLE)}"
        for example in gate.examples
    )
    wrong = f"Disagree? {code_span(f'/feedback-appeal {tag} reason: …')}"
    often = f"history of this gate: {code_span(f'/feedback-history {tag}')}"
    parts = (
        f"**{escape_mentions(gate.gate)}** {code_span(tag)} — {severity}{fixable}",
        escape_mentions(gate.description),
        f"Fix: {escape_mentions(gate.fix)}",
        "\n".join(examples),
        gate.guide and f"More: [{code_span(gate.guide)}]({web.guide_url(repository, gate.guide)})",
        f"<sub>{wrong} · {often} · all commands: `/feedback-help`</sub>",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _suggestion(tag: str | None) -> str:
    return f" Did you mean {code_span(tag)}?" if tag else ""


def usage_text(invalid: InvalidCommand) -> str:
    """Say what is wrong with a command, its usage, and an example."""
    command = invalid.command
    return (
        f"Not understood: {invalid.message}.\n\n"
        f"Use: {code_span(command.synopsis())} · for example: {code_span(command.example)}\n\n"
        f"<sub>{command.help} All commands: `/feedback-help`</sub>\n"
    )


def help_text(commands: Sequence[type[CommandRequest]]) -> str:
    """List the commands with usage, permission and example."""
    table = format_table("| Command | Does | Who | Example |\n|---|---|---|---|", commands, _row)
    return (
        "**Commands**, each at the start of a line in a new comment\n\n"
        f"{table}\n\n"
        "<sub>A command in a quote, in code or in an edited comment is ignored.</sub>\n"
    )


def export_text(login: str, repository: Repository, public_url: str | None) -> str:
    """Say where a person's data can be downloaded; never the data itself, since others read this thread."""
    path = f"/api/v1/repos/{repository.full_name}/authors/{login}/export"
    if public_url is None:
        where = f"this bot's server, at {code_span(f'GET {path}', 300)}"
    else:
        where = code_span(f"GET {public_url}{path}", 300)
    return (
        f"Everything that is stored about {format_login(login)} in this repository: {where}, with the header "
        "`Authorization: Bearer <a GitHub token of yours that may read metadata>`. GitHub is asked what the "
        "token can read; the token is not stored. To delete everything: `/feedback-forget`\n"
    )


def forget_text(login: str, stored: StoredCounts, *, done: bool = False) -> str:
    """Say what is deleted and what stays, in the store and on GitHub."""
    parts = (
        (stored.pull_requests, "pull request"),
        (stored.verdicts, "verdict"),
        (stored.commands, "command"),
    )
    counts = [format_count(number, noun) for number, noun in parts if number]
    what = join_words([*counts, "the webhook deliveries that name you"])
    if done:
        # Without the login: what is still to be posted is in the store.
        return f"Deleted in this repository: {what}.\n\n{_WHAT_STAYS}\n"
    return (
        f"Stored about {format_login(login)} in this repository: {what}. This can't be undone.\n\n"
        f"{_WHAT_STAYS}\n\n"
        "To delete it: `/feedback-forget confirm` · to see it first: `/feedback-export`\n"
    )


_WHAT_STAYS = (
    "- What stays in the bot's store, without your name: counts, and the findings on open pull requests. "
    "Their words are deleted when the pull request is closed; until then, its author and reviewers are "
    "stored by account number. The operator's backups are not changed.\n"
    "- What stays on GitHub: your pull requests, reviews and comments, and what this bot posted, some of "
    "which names or quotes you. The bot's comments on open pull requests are edited and no longer name you. "
    "The rest can be deleted on GitHub.\n"
    "- What you do here from now on is stored again."
)


def private_record_text(login: str, repository: Repository, public_url: str | None) -> str:
    """Say where a person's record can be read, since it is not shown in a public thread."""
    path = f"/api/v1/repos/{repository.full_name}/authors/{login}/patterns"
    command = code_span(f"whetstone history {repository.full_name} {login}", 300)
    address = code_span(f"GET {public_url}{path}", 300)
    api = "" if public_url is None else f"With `triage` access or more, you can read it at {address}. "
    return (
        f"The record of {format_login(login)} is not shown in a public thread. {api}"
        f"The operator of this bot can read it with {command}.\n"
    )


def _row(command: type[CommandRequest]) -> tuple[object, ...]:
    return code_span(command.synopsis()), command.help, command.who, code_span(command.example)


def dismissed_text(ruling: Ruling, open_tags: Sequence[str]) -> str:
    """Confirm a dismissal, with the tags that stay open."""
    return f"Dismissed {_tag_at_head(ruling)}. {_open_tags(open_tags)}\n"


def appealed_before_text(tag: str) -> str:
    """Refuse a bot's second appeal against the same finding."""
    return f"{code_span(tag)} has already been appealed, and a maintainer decides. Nothing was changed.\n"


def appealed_text(ruling: Ruling) -> str:
    """Confirm an appeal, with who decides about it."""
    return (
        f"Appealed against {_tag_at_head(ruling)}. It is shown at its gate until a maintainer decides: "
        f"{code_span(f'/feedback-dismiss {ruling.tag} reason: …')} upholds it, "
        f"{code_span(f'/feedback-reject {ruling.tag}')} refuses it.\n"
    )


def rejected_text(
    rulings: Sequence[Ruling], appeals: Sequence[Ruling], open_tags: Sequence[str], gates: Gates
) -> str:
    """Confirm a rejection, with the appeals that it refuses and the tags that no gate has."""
    tags = join_words([code_span(ruling.tag) for ruling in rulings])
    first = rulings[0]
    why = f": {code_span(first.reason, 300)}" if first.reason else ""
    sentences = [
        f"Rejected {code_span(short_sha(first.head))} for {tags}{why}.",
        *(
            f"The appeal of {format_login(appeal.by)} against {code_span(appeal.tag)} is refused."
            for appeal in appeals
        ),
        *(
            f"No gate has the tag {code_span(ruling.tag)}, so it is only a warning."
            f"{_suggestion(gates.nearest(ruling.tag))}"
            for ruling in rulings
            if ruling.tag not in gates
        ),
        _open_tags(open_tags),
    ]
    return f"{' '.join(sentences)}\n"


def not_open_text(tag: str, open_tags: Sequence[str], gates: Gates) -> str:
    """Say that a tag is not open, with the tags that are."""
    nearest = gates.nearest(tag) if tag not in gates else None
    suggestion = _suggestion(nearest if nearest in open_tags else None)
    return f"{code_span(tag)} is not open here.{suggestion} {_open_tags(open_tags)}\n"


def _tag_at_head(ruling: Ruling) -> str:
    return f"{code_span(ruling.tag)} at {code_span(short_sha(ruling.head))}: {code_span(ruling.reason, 300)}"


def _open_tags(tags: Sequence[str]) -> str:
    if not tags:
        return "No issue is open."
    return f"{format_count(len(tags), 'issue')} open: {join_words([code_span(tag) for tag in tags])}."
