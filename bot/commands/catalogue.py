"""All slash commands: arguments, permission, help, and what each one does.

To add a command, write its class here (its reply's text in `text.py`) and name it in `SLASH_COMMANDS`;
one that needs more than the giver's role also has its reads in `fetch.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from bot import regex
from bot.commands import text
from bot.commands.model import (
    ArgumentError,
    CommandArguments,
    CommandContext,
    CommandOutcome,
    CommandPermission,
    CommandRequest,
    reject_words,
)
from bot.commands.overrides import (
    SelectionRequester,
    apply_rejection,
    apply_selection,
    find_open,
    open_names,
)
from bot.findings.ledger import build_ledger
from bot.gates.config import Permission, RecordVisibility, record_visibility
from bot.gates.model import is_tag
from bot.history.text import HistoryContext, render_history
from bot.iterations.model import current_iteration, open_appeals
from bot.lessons.text import render_reply
from bot.markdown.escape import code_span
from bot.pull_request.effects import CommandSource, ForgetPerson, ReactionKind
from bot.pull_request.model import Item, RulingAction
from bot.values import Location

MAX_HISTORY_HOURS = 24 * 3650
"""The longest period: ten years."""
MAX_REJECTED_TAGS = 20

_LOGIN = regex.Regex(r"@([a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?(?:\[bot\])?)", ignore_case=True)
_PERIOD = regex.Regex(r"(\d{1,6})([hdw])", ignore_case=True)
_FINDING_ID = regex.Regex(r"f[1-9][0-9]{0,5}", ignore_case=True)
_LOCATION = regex.Regex(r"(?P<path>[^:]+)(?::(?P<line>\d{1,7})(?:-(?P<end>\d{1,7}))?)?")
_HOURS = {"h": 1, "d": 24, "w": 168}
_ANCHORS = {
    CommandSource.COMMENT: "#issuecomment-",
    CommandSource.INLINE: "#discussion_r",
    CommandSource.REVIEW: "#pullrequestreview-",
}


_ANYONE = CommandPermission(Permission.READ)
_ANYONE_AND_BOT = CommandPermission(Permission.READ, or_bot_author=True)
_TRIAGE = CommandPermission(Permission.TRIAGE)
_OVERRIDES = CommandPermission(Permission.WRITE, except_author=True)
_APPEALS = CommandPermission(Permission.WRITE, or_author=True, or_bot_author=True)


@dataclass(frozen=True, slots=True)
class HistoryRequest(CommandRequest):
    """`/feedback-history`: an author's record; the pull request's author where no login is given."""

    name = "history"
    usage = "[@login] [30d|24h|…] [tag]"
    example = "/feedback-history @rio-agent[bot] 30d date_errors"
    help = "Which gates an author breaks, how often, and what fixed them last time."
    who = _ANYONE_AND_BOT

    login: str | None = None
    hours: int | None = None
    tag: str | None = None

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read login, period and tag in any order, each at most once."""
        login: str | None = None
        hours: int | None = None
        tag: str | None = None
        for word in arguments.words:
            if login is None and (match := _LOGIN.fullmatch(word)):
                login = match[1]
            elif hours is None and (period := _parse_hours(word)):
                hours = period
            elif tag is None and is_tag(word.lower()):
                tag = word.lower()
            else:
                raise ArgumentError(_history_mistake(word))
        return cls(login, hours, tag)

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Show the record, or where it can be read by those who may."""
        facts, repository = context.facts, context.pull_request.repository
        subject = facts.subject or context.pull_request.author
        visibility = record_visibility(
            context.role,
            own=subject.id == context.invocation.text.account.id,
            agent=context.rules.authors.is_agent(subject.login, bot=subject.bot),
            public_thread=not repository.private,
        )
        if visibility is RecordVisibility.REFUSED or facts.history is None:
            return context.refuse()
        if visibility is RecordVisibility.ELSEWHERE:
            return context.reply(text.private_record_text(subject.login, repository, context.site.public_url))
        is_default = self.login is None
        setting = HistoryContext(repository, context.rules.gates, context.site.web, is_default)
        return context.reply(render_history(facts.history, setting))


@dataclass(frozen=True, slots=True)
class LessonsRequest(CommandRequest):
    """`/feedback-lessons`: what reviews here keep asking for, as a section to copy."""

    name = "lessons"
    example = "/feedback-lessons"
    help = "What reviews here keep asking for, as a section for `AGENTS.md`."
    who = _TRIAGE

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Reply with the section."""
        report = context.facts.lessons
        if report is None:
            return context.refuse()
        return context.reply(render_reply(report, context.pull_request.repository, context.site.web))


@dataclass(frozen=True, slots=True)
class ShowRequest(CommandRequest):
    """`/feedback`: post or refresh the comment now."""

    name = ""
    example = "/feedback"
    help = "Post the feedback comment, or refresh it."
    who = _ANYONE

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Ask for the comment; it is the answer, unless there is nothing to show."""
        iteration = current_iteration(context.pull_request)
        if iteration is None or not (iteration.is_rejected or context.pull_request.sticky):
            return context.reply("No reviewer or check requests changes on this pull request.\n")
        asked = replace(context.pull_request, comment_requested_at=context.invocation.text.at)
        return replace(context, pull_request=asked).react(ReactionKind.EYES)


@dataclass(frozen=True, slots=True)
class HelpRequest(CommandRequest):
    """`/feedback-help`: the list of commands."""

    name = "help"
    example = "/feedback-help"
    help = "This list."
    who = _ANYONE_AND_BOT

    def decide(self, context: CommandContext) -> CommandOutcome:
        """List the commands."""
        return context.reply(text.help_text(SLASH_COMMANDS))


@dataclass(frozen=True, slots=True)
class ExplainRequest(CommandRequest):
    """`/feedback-explain`: what a gate wants."""

    name = "explain"
    usage = "TAG"
    example = "/feedback-explain date_errors"
    help = "What a gate requires, with examples."
    who = _ANYONE_AND_BOT

    tag: str

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read one tag."""
        return cls(_parse_tag(arguments))

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Describe the gate; of a finding the gate that it breaks or looks like."""
        findings = find_open(context.pull_request, self.tag)
        tags = [finding.item.tag or finding.item.looks_like for finding in findings]
        explanation = text.explain_text(
            next(filter(None, tags), self.tag),
            context.rules.gates,
            context.pull_request.repository,
            context.site.web,
        )
        return context.reply(explanation)


@dataclass(frozen=True, slots=True)
class RejectRequest(CommandRequest):
    """`/feedback-reject`: a verdict, or an appeal refused."""

    name = "reject"
    usage = "TAG… [path:line] [reason: …]"
    example = "/feedback-reject date_errors claims/x.md:5 reason: month 13"
    help = "Reject this revision for these tags, or refuse an appeal."
    who = _OVERRIDES
    needs_fresh_role = True

    tags: tuple[str, ...]
    place: Location | None = None
    reason: str | None = None

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read tags, and at most one location."""
        tags = tuple(dict.fromkeys(word.lower() for word in arguments.words if _names_finding(word)))
        others = [word for word in arguments.words if not _names_finding(word)]
        if not tags:
            raise _missing_tag([word for word in others if _parse_location(word) is None])
        if len(tags) > MAX_REJECTED_TAGS:
            raise ArgumentError(f"{len(tags)} tags are too many; use at most {MAX_REJECTED_TAGS}")
        location = _parse_location(others[0]) if others else None
        if len(others) > 1 and "." not in others[0].rpartition("/")[2] and _parse_location(others[-1]):
            whole = code_span(" ".join(others), 80)
            raise ArgumentError(f"put a path with spaces between backticks: {whole}")
        if others and (location is None or len(others) > 1):
            mistake = (
                "is one location too many; use only one" if location else "is neither a tag nor a location"
            )
            raise ArgumentError(f"{code_span(others[-1], 60)} {mistake}")
        return cls(tags, location, arguments.reason)

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Record the tags as the giver's verdict, and refuse the appeals against them."""
        rulings = tuple(context.ruling(RulingAction.REJECT, tag, self.reason or "") for tag in self.tags)
        pull_request, invocation = context.pull_request, context.invocation
        page = context.site.web.pull_url(pull_request.repository, pull_request.number)
        url = f"{page}{_ANCHORS[invocation.text.where]}{invocation.text.id}"
        ledger = build_ledger(pull_request)
        ruled = replace(pull_request, rulings=(*pull_request.rulings, *rulings))
        undecided = open_appeals(ruled, ledger)
        refused = [each for name, each in open_appeals(pull_request, ledger).items() if name not in undecided]
        place = self.place or invocation.text.place
        ids = [name for name in self.tags if not is_tag(name)]
        if unknown := next((name for name in ids if not find_open(pull_request, name)), None):
            names = open_names(pull_request)
            return context.reply(text.not_open_text(unknown, names, context.rules.gates))
        # An id names a finding that stands already: rejecting it again only refuses the appeal against it.
        named = [name for name in self.tags if name not in ids]
        items = [Item(tag, words=self.reason or "", place=place, url=url) for tag in named]
        rejected = (
            apply_rejection(pull_request, items, invocation, context.facts.role, url)
            if named
            else pull_request
        )
        reply = text.rejected_text(rulings, refused, open_names(rejected), context.rules.gates)
        return replace(context, pull_request=rejected).reply(reply, *rulings)


class IterationChoice(StrEnum):
    """An iteration that is not given by its number."""

    BEST = "best"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class SelectRequest(CommandRequest):
    """`/feedback-select`: this iteration is the result."""

    name = "select"
    usage = "best|final|N reason: …"
    example = "/feedback-select best reason: the last push broke the links"
    help = "Select the iteration that counts as the result."
    who = _OVERRIDES
    needs_fresh_role = True

    choice: IterationChoice | int
    reason: str

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read an iteration and a reason."""
        word = arguments.words[0].lower() if arguments.words else ""
        choice = int(word) if word.isascii() and word.isdigit() and len(word) <= 4 else word
        if isinstance(choice, str) and choice not in set(IterationChoice):
            raise ArgumentError("name an iteration: `best`, `final` or its number")
        reject_words(arguments.words[1:])
        return cls(choice if isinstance(choice, int) else IterationChoice(choice), _parse_reason(arguments))

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Record the selection with its audit."""
        invocation = context.invocation
        requester = SelectionRequester(invocation.text.account, invocation.text.at, context.head_seen)
        selected, reply = apply_selection(
            context.pull_request, str(self.choice), self.reason, requester, context.rules
        )
        return replace(context.reply(reply), pull_request=selected)


@dataclass(frozen=True, slots=True)
class FindingRequest(CommandRequest):
    """A command about the open findings with a tag or an id, for a reason."""

    tag: str
    reason: str

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read one tag and a reason."""
        return cls(_parse_tag(arguments), _parse_reason(arguments))


@dataclass(frozen=True, slots=True)
class DismissRequest(FindingRequest):
    """`/feedback-dismiss`: the tag does not hold, or an appeal is upheld."""

    name = "dismiss"
    usage = "TAG reason: …"
    example = "/feedback-dismiss date_errors reason: the date is right"
    help = "Dismiss a tag at this revision, or uphold an appeal."
    who = _OVERRIDES
    needs_fresh_role = True

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Lift the tag at the head that the giver saw."""
        names = open_names(context.pull_request)
        dismissed = find_open(context.pull_request, self.tag)
        if not dismissed:
            return context.reply(text.not_open_text(self.tag, names, context.rules.gates))
        ruling = context.ruling(RulingAction.DISMISS, self.tag, self.reason)
        gone = {name for finding in dismissed for name in (finding.id, self.tag)}
        remaining = [name for name in names if name not in gone]
        return context.reply(text.dismissed_text(ruling, remaining), ruling)


@dataclass(frozen=True, slots=True)
class AppealRequest(FindingRequest):
    """`/feedback-appeal`: the tag is wrong, a maintainer should look."""

    name = "appeal"
    usage = "TAG reason: …"
    example = "/feedback-appeal date_errors reason: the source gives no other date"
    help = "Object to a tag. The objection is shown at its gate until a maintainer decides."
    who = _APPEALS
    needs_fresh_role = True

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Record the appeal."""
        if not find_open(context.pull_request, self.tag):
            names = open_names(context.pull_request)
            return context.reply(text.not_open_text(self.tag, names, context.rules.gates))
        account = context.invocation.text.account
        if account.bot and any(
            ruling.act is RulingAction.APPEAL and (ruling.by_id, ruling.tag) == (account.id, self.tag)
            for ruling in context.pull_request.rulings
        ):
            return context.reply(text.appealed_before_text(self.tag))
        ruling = context.ruling(RulingAction.APPEAL, self.tag, self.reason)
        return context.reply(text.appealed_text(ruling), ruling)


@dataclass(frozen=True, slots=True)
class ExportRequest(CommandRequest):
    """`/feedback-export`: where the giver's data can be downloaded."""

    name = "export"
    example = "/feedback-export"
    help = "Where to download everything that is stored about you."
    who = _ANYONE

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Say where the data is."""
        login = context.invocation.text.account.login
        return context.reply(
            text.export_text(login, context.pull_request.repository, context.site.public_url)
        )


@dataclass(frozen=True, slots=True)
class ForgetRequest(CommandRequest):
    """`/feedback-forget`: delete the giver's data; unconfirmed, only say what would be deleted."""

    name = "forget"
    usage = "[confirm]"
    example = "/feedback-forget confirm"
    help = "Delete what is stored about you. Without `confirm`, only list it."
    who = _ANYONE

    confirmed: bool = False

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read nothing, or `confirm`."""
        confirmed = [word.lower() for word in arguments.words] == ["confirm"]
        reject_words([] if confirmed else arguments.words)
        return cls(confirmed)

    def decide(self, context: CommandContext) -> CommandOutcome:
        """Delete the data once it is confirmed; the reply then contains no name."""
        account, facts = context.invocation.text.account, context.facts
        reply = text.forget_text(account.login, facts.stored, done=self.confirmed)
        if not self.confirmed:
            return context.reply(reply)
        forget = ForgetPerson(
            context.pull_request.repository.id,
            account.id,
            account.login,
            facts.now,
            context.invocation.key,
        )
        return replace(context.reply(reply, anonymous=True), store_commands=(forget,))


def _parse_tag(arguments: CommandArguments) -> str:
    if not arguments.words or not _names_finding(arguments.words[0]):
        raise _missing_tag(arguments.words)
    word = arguments.words[0]
    if others := [other for other in arguments.words[1:] if _names_finding(other)]:
        raise ArgumentError(f"{code_span(others[0], 60)} is one tag too many: write one command for each tag")
    reject_words(arguments.words[1:])
    return word.lower()


def _missing_tag(words: Sequence[str]) -> ArgumentError:
    if not words:
        return ArgumentError("a tag is missing")
    return ArgumentError(
        f"{code_span(words[0], 60)} is neither a tag, which is two or more words joined by `_`, "
        "nor a finding's id, such as `f4`"
    )


def _names_finding(word: str) -> bool:
    """Whether the word is a tag or the id of a finding, in any case."""
    return is_tag(word.lower()) or _FINDING_ID.fullmatch(word) is not None


def _parse_reason(arguments: CommandArguments) -> str:
    if not arguments.reason:
        raise ArgumentError("a reason is missing")
    return arguments.reason


def _parse_hours(word: str) -> int | None:
    match = _PERIOD.fullmatch(word)
    hours = int(match[1]) * _HOURS[match[2].lower()] if match else 0
    return hours if 0 < hours <= MAX_HISTORY_HOURS else None


def _history_mistake(word: str) -> str:
    shown = code_span(word, 60)
    if _LOGIN.fullmatch(word) or _parse_hours(word) or is_tag(word.lower()):
        return f"{shown} is one too many: use at most one login, one period and one tag"
    if word[0].isdigit():
        return f"{shown} is not a period: use hours, days or weeks, such as `24h`, `30d` or `6w`"
    return f"{shown} is not a login with `@`, a period or a tag"


def _parse_location(word: str) -> Location | None:
    match = _LOCATION.fullmatch(word)
    if match is None or not any(sign in word for sign in "./:"):
        return None
    if match["line"] is None:
        return Location(match["path"])
    line = int(match["line"])
    end = int(match["end"] or line)
    if not 0 < line <= end:
        return None
    return Location(match["path"], line, end if end > line else None)


SLASH_COMMANDS: tuple[type[CommandRequest], ...] = (
    HistoryRequest,
    LessonsRequest,
    ExplainRequest,
    AppealRequest,
    RejectRequest,
    DismissRequest,
    SelectRequest,
    ExportRequest,
    ForgetRequest,
    ShowRequest,
    HelpRequest,
)

_BY_NAME = {command.name: command for command in SLASH_COMMANDS}


def find_command(name: str) -> type[CommandRequest] | None:
    """Return the command of this name, in any case."""
    return _BY_NAME.get(name.lower())
