"""Render the replies to slash commands."""

from __future__ import annotations

from collections.abc import Sequence

from bot.commands.catalogue import SLASH_COMMANDS, SlashCommand
from bot.commands.invocation import InvalidCommand
from bot.gates.model import Gate, Gates
from bot.history.model import StoredCounts
from bot.markdown.escape import code_span, escape_mentions, gate_code, table_cell
from bot.markdown.format import format_count, join_words
from bot.markdown.links import GitHubLinks, format_login, short_sha
from bot.pull_request.model import Ruling
from bot.values import Repository

_LONG = 300  # characters of an example
_TAGS = 60  # in the list of all gates


def explain_text(
    tag: str, gates: Gates, repository: Repository, web: GitHubLinks, *, may_appeal: bool = True
) -> str:
    """The gate with its fix and examples, or the nearest one there is."""
    gate = gates.get(tag)
    if gate is None:
        return _unknown(tag, gates)
    parts = (
        f"**{escape_mentions(gate.gate)}** {code_span(tag)} — {_weight(gate)}",
        escape_mentions(gate.description),
        f"Fix: {escape_mentions(gate.fix)}",
        _examples(gate),
        _guide(gate, repository, web),
        _footer(tag, may_appeal=may_appeal),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _weight(gate: Gate) -> str:
    weight = "blocking" if gate.is_blocking else "a warning, not blocking"
    return f"{weight}, auto-fixable" if gate.auto_fixable else weight


def _examples(gate: Gate) -> str:
    return "\n".join(
        f"- Not {gate_code(example.bad, _LONG)}\n  but {gate_code(example.good, _LONG)}"
        for example in gate.examples
    )


def _guide(gate: Gate, repository: Repository, web: GitHubLinks) -> str:
    if not gate.guide:
        return ""
    return f"More: [{code_span(gate.guide)}]({web.guide_url(repository, gate.guide)})"


def _footer(tag: str, *, may_appeal: bool) -> str:
    wrong = f"Wrong here: {code_span(f'/feedback-appeal {tag} reason: …')} · " if may_appeal else ""
    often = f"{'how' if may_appeal else 'How'} often: {code_span(f'/feedback-history {tag}')}"
    return f"<sub>{wrong}{often} · all commands: `/feedback-help`</sub>"


def _unknown(tag: str, gates: Gates) -> str:
    near = gates.nearest(tag)
    meant = f" Did you mean {code_span(near)}?" if near else ""
    more = f" and {len(gates) - _TAGS} more" if len(gates) > _TAGS else ""
    known = ", ".join(code_span(each) for each in gates.tags[:_TAGS])
    listed = f"\n\nThe gates here: {known}{more}" if known else ""
    return f"No gate has the tag {code_span(tag)}.{meant}{listed}\n"


def usage_text(mistake: InvalidCommand) -> str:
    """What is wrong, the right use, and a line that works."""
    command = mistake.command
    return (
        f"Not understood: {mistake.what}.\n\n"
        f"Use: {code_span(command.right_use)} · for example: {code_span(command.example)}\n\n"
        f"<sub>{command.help} All commands: `/feedback-help`</sub>\n"
    )


def help_text() -> str:
    """Every command with its use, who may give it, and an example."""
    table = "\n".join(("| Command | Does | Who | Example |", "|---|---|---|---|", *map(_row, SLASH_COMMANDS)))
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
        f"All that is stored about {format_login(login)} in this repository: {where}, with the header "
        "`Authorization: Bearer <a GitHub token of yours that may read metadata>`. The token is asked of "
        "GitHub and not stored. To delete it all: `/feedback-forget`\n"
    )


def forget_text(login: str, stored: StoredCounts, *, done: bool = False) -> str:
    """What goes, or what is gone, and what stays: in the store, and on GitHub."""
    what = _stored(stored)
    if done:
        # Without the login: what is still to be posted is in the store.
        return f"Deleted for you in this repository: {what}.\n\n{_STAYS}\n"
    return (
        f"Stored about {format_login(login)} in this repository: {what}. This can't be undone.\n\n"
        f"{_STAYS}\n\n"
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


def private_record_text(login: str, repository: Repository, public_url: str | None) -> str:
    """Where a person's record can be read, since a public thread is not the place."""
    path = f"/api/v1/repos/{repository.full_name}/authors/{login}/patterns"
    command = code_span(f"whetstone history {repository.full_name} {login}", 300)
    address = code_span(f"GET {public_url}{path}", 300)
    api = "" if public_url is None else f"Whoever has `triage` or more here reads it at {address}. "
    return (
        f"The record of {format_login(login)} is not shown in a public thread. {api}"
        f"Whoever runs this bot reads it with {command}.\n"
    )


def _row(command: SlashCommand) -> str:
    cells = (code_span(command.right_use), command.help, str(command.who), code_span(command.example))
    return f"| {' | '.join(map(table_cell, cells))} |"


def _stored(stored: StoredCounts) -> str:
    parts = (
        (stored.pull_requests, "pull request"),
        (stored.verdicts, "verdict"),
        (stored.commands, "command"),
    )
    counts = [format_count(number, noun) for number, noun in parts if number]
    return join_words([*counts, "the webhook deliveries that name you"])


def dismissed_text(ruling: Ruling, left: Sequence[str]) -> str:
    """The tag is lifted; what is left to be mended."""
    return f"Dismissed {_what(ruling)}. {_left(left)}\n"


def appealed_text(ruling: Ruling) -> str:
    """The appeal is heard, and who decides."""
    return (
        f"Appealed against {_what(ruling)}. It is shown at its gate until a maintainer decides: "
        f"{code_span(f'/feedback-dismiss {ruling.tag} reason: …')} upholds it, "
        f"{code_span(f'/feedback-reject {ruling.tag}')} refuses it.\n"
    )


def rejected_text(
    rulings: Sequence[Ruling], appeals: Sequence[Ruling], left: Sequence[str], gates: Gates
) -> str:
    """The tags are held against the revision, which appeals that refuses, and which tags no gate has."""
    tags = join_words([code_span(ruling.tag) for ruling in rulings])
    first = rulings[0]
    why = f": {code_span(first.reason, 300)}" if first.reason else ""
    said = [
        f"Rejected {code_span(short_sha(first.head))} for {tags}{why}.",
        *(
            f"The appeal of {format_login(one.by)} against {code_span(one.tag)} is refused."
            for one in appeals
        ),
        *(_no_gate(one.tag, gates) for one in rulings if one.tag not in gates),
        _left(left),
    ]
    return f"{' '.join(said)}\n"


def not_open_text(tag: str, open_tags: Sequence[str], gates: Gates) -> str:
    """The tag is not held against this pull request; which ones are."""
    near = gates.nearest(tag) if tag not in gates else None
    meant = f" Did you mean {code_span(near)}?" if near and near in open_tags else ""
    return f"{code_span(tag)} is not open here.{meant} {_left(open_tags)}\n"


def _no_gate(tag: str, gates: Gates) -> str:
    near = gates.nearest(tag)
    meant = f" Did you mean {code_span(near)}?" if near else ""
    return f"No gate has the tag {code_span(tag)}, so it is only a warning.{meant}"


def _what(ruling: Ruling) -> str:
    return f"{code_span(ruling.tag)} at {code_span(short_sha(ruling.head))}: {code_span(ruling.reason, 300)}"


def _left(tags: Sequence[str]) -> str:
    if not tags:
        return "No tag is open."
    return f"{format_count(len(tags), 'tag')} open: {join_words([code_span(tag) for tag in tags])}."
