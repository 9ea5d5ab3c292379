"""Decide what a slash command does: reaction, reply, ruling, selection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import assert_never

from bot.commands import arguments as asks
from bot.commands.arguments import RejectRequest, SelectRequest
from bot.commands.catalogue import CommandGiver, Permit, can_answer, check_permission, is_rate_limited
from bot.commands.invocation import CommandInvocation, InvalidCommand, ParsedCommand, invocation_text
from bot.commands.text import (
    appealed_text,
    dismissed_text,
    explain_text,
    export_text,
    forget_text,
    help_text,
    not_open_text,
    private_record_text,
    rejected_text,
    usage_text,
)
from bot.gates.config import Permission, RecordVisibility, RepositoryRules, record_visibility
from bot.history.model import StoredCounts
from bot.history.patterns import AuthorHistory
from bot.history.text import HistoryContext, render_history
from bot.iterations import model as judged
from bot.iterations import selection
from bot.iterations.model import current_iteration, iterations_after_rulings, open_appeals
from bot.iterations.selection import (
    SelectionRefused,
    SelectionReport,
    parse_choice,
    select_iteration,
    selection_report,
)
from bot.markdown.escape import code_span
from bot.markdown.links import LinkContext, format_login, short_sha
from bot.pull_request.effects import (
    AddReaction,
    CommandSource,
    Effect,
    ForgetPerson,
    PostedReply,
    PostReply,
    ReactionKind,
    StoreCommand,
    join_topics,
)
from bot.pull_request.model import (
    Item,
    OverrideAudit,
    PullRequest,
    Ruling,
    RulingAction,
    SelectionOverride,
    Stance,
    Validator,
    Verdict,
)
from bot.values import Account
from bot.verdicts.tags import limit_items

NO_ACCOUNT = 0
"""Whom an answer to somebody forgotten was given to: it is counted, and says nothing of them."""
MAX_REPLY_LENGTH = 60_000
"""Characters of one comment, with room for the mark below GitHub's 65,536."""


def can_be_answered(
    order: CommandInvocation, before: Iterable[PostedReply | PostReply], now: datetime
) -> bool:
    """Whether one whose answers are counted gets another; the commands of one text are one question."""
    others = [one for one in before if invocation_text(one.key) != order.text]
    # What was said to somebody who was forgotten since is nobody's, and counts as everybody's: else
    # forgetting would begin the count anew. It is not put off by the question that comes before it.
    counted = {NO_ACCOUNT} if is_forget_command(order) else {NO_ACCOUNT, order.account.id}
    return can_answer([one.at for one in others if one.account_id in counted], now)


def is_forget_command(order: CommandInvocation) -> bool:
    """Whether the command deletes what is stored about its giver."""
    given = order.given
    return (
        isinstance(given, ParsedCommand)
        and isinstance(given.asked, asks.ForgetRequest)
        and given.asked.confirmed
    )


def join_replies(replies: Iterable[PostReply]) -> tuple[PostReply, ...]:
    """The answers to one text as one comment, since each comment is mailed, as long as it fits."""
    texts = groupby(replies, key=lambda one: invocation_text(one.key))
    return tuple(one for _, group in texts for one in _as_one(tuple(group)))


def _as_one(replies: Sequence[PostReply]) -> tuple[PostReply, ...]:
    body = "\n\n---\n\n".join(one.body.rstrip() for one in replies)
    if len(replies) == 1 or len(body) > MAX_REPLY_LENGTH:
        return tuple(replies)
    return (
        replace(
            replies[0],
            topic=join_topics(one.topic for one in replies),
            account_id=min(one.account_id for one in replies),
            body=f"{body}\n",
        ),
    )


def apply_rejection(
    pull_request: PullRequest, asked: RejectRequest, order: CommandInvocation, role: str | None, url: str
) -> PullRequest:
    """The pull request after `/feedback-reject` by somebody who may: these tags besides what they had said.

    The command is their newest word, so their later approval lifts it like a review.
    """
    account = order.account
    key = f"user:{account.id}"
    # Without what was dismissed: naming one tag now does not name another one again.
    present = current_iteration(pull_request, iterations_after_rulings(pull_request))
    before = [
        verdict
        for verdict in (present.standing if present else ())
        if verdict.validator.key == key and verdict.stance is Stance.REJECTS
    ]
    said = [Item(tag, words=asked.reason or "", place=asked.place, url=url) for tag in asked.tags]
    earlier = [replace(item, origin=each.origin_of(item)) for each in before for item in each.items]
    items, more = limit_items(earlier + said)
    verdict = Verdict(
        id=f"command:{order.key}",
        validator=Validator(key, account.login, bot=account.bot),
        stance=Stance.REJECTS,
        at=order.at,
        head=pull_request.head_at(order.at),
        items=items,
        more=more + sum(verdict.more for verdict in before),
        url=url,
        permission=role,
        body_hash=order.body_hash,
    )
    others = tuple(each for each in pull_request.verdicts if each.id != verdict.id)
    return replace(pull_request, verdicts=(*others, verdict))


def keep_command_verdicts(known: tuple[Verdict, ...], changed: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """The known verdicts, and those that a command has added since."""
    ids = {verdict.id for verdict in known}
    return (*known, *(each for each in changed if each.id.startswith("command:") and each.id not in ids))


MAX_AUDITS = 50


@dataclass(frozen=True, slots=True)
class SelectionRequester:
    """Who asks for a selection, when, and which head they saw."""

    login: str
    at: datetime
    head: str
    id: int = 0


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """What a command to select came to: the pull request as it is then, and the answer in the thread."""

    pull_request: PullRequest
    reply: str


def apply_selection(
    pull_request: PullRequest, wanted: SelectRequest, asker: SelectionRequester, rules: RepositoryRules
) -> SelectionResult:
    """The pull request with this selection and its audit, bound to the head that the asker saw.

    Whoever calls has made sure, with a fresh read, that the asker may write and is not the author.
    """
    report = selection_report(pull_request, rules)
    if report is None:
        return SelectionResult(pull_request, "Nothing was judged yet, so there is no iteration to select.\n")
    if len(report.scored) == 1:
        return SelectionResult(
            pull_request, "Only one iteration was judged, so there is nothing to select from.\n"
        )
    found = parse_choice(str(wanted.choice), report.trajectory, wanted.reason)
    if isinstance(found, SelectionRefused):
        return SelectionResult(pull_request, f"{found.reason}\n")
    choice, number = found
    override = SelectionOverride(choice, asker.login, wanted.reason, asker.at, asker.head, number, asker.id)
    made = select_iteration(report.trajectory, override, pull_request.head)
    if made.audit is None:
        return SelectionResult(pull_request, _moved(asker, pull_request))
    audits = (*pull_request.audits, made.audit)[-MAX_AUDITS:]
    changed = replace(pull_request, override=override, audits=audits)
    return SelectionResult(changed, _reply(made.audit, replace(report, selection=made)))


def _moved(asker: SelectionRequester, pull_request: PullRequest) -> str:
    seen, now = code_span(short_sha(asker.head)), code_span(short_sha(pull_request.head))
    return f"Not selected: it was asked for at {seen}, and the head is {now} by now. Ask again if it holds.\n"


def _reply(audit: OverrideAudit, report: SelectionReport) -> str:
    way = (
        f"confirms iteration {audit.after}"
        if audit.before == audit.after
        else f"selects iteration {audit.after} instead of {audit.before}"
    )
    said = f"{format_login(audit.by)} {way}, at {code_span(short_sha(audit.head))}: {code_span(audit.reason)}"
    return f"{said}\n\n{selection.render_selection_report(report)}"


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """What was read for one command."""

    me: Account
    now: datetime
    role: str | None = None
    """The giver's role in the repository."""
    replies: tuple[PostedReply, ...] = ()
    """What was answered in this thread before."""
    said: tuple[PostReply, ...] = ()
    """What is answered there in this very turn."""
    subject: Account | None = None
    """Whose history is asked for."""
    history: AuthorHistory | None = None
    stored: StoredCounts = field(default_factory=StoredCounts)


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The pull request after a command, and what to do about it."""

    pull_request: PullRequest
    reactions: tuple[Effect, ...] = ()
    replies: tuple[PostReply, ...] = ()
    memos: tuple[StoreCommand, ...] = ()

    def after(self, other: CommandOutcome) -> CommandOutcome:
        """Both, the other one first."""
        return CommandOutcome(
            self.pull_request,
            (*other.reactions, *self.reactions),
            join_replies((*other.replies, *self.replies)),
            (*other.memos, *self.memos),
        )


def decide_command(
    order: CommandInvocation,
    pull_request: PullRequest,
    facts: CommandFacts,
    rules: RepositoryRules,
    site: LinkContext,
) -> CommandOutcome:
    """A face and at most one answer; nothing at all for whoever is not listened to."""
    ground = _CommandContext(order, pull_request, facts, rules, site)
    giver = _giver(ground)
    allowed = check_permission(order.command, giver, by_author=rules.overrides.by_author)
    if is_rate_limited(giver) and not can_be_answered(order, (*facts.replies, *facts.said), facts.now):
        allowed = Permit.IGNORED if giver.is_bot else Permit.NO  # a person sees that it was read
    if allowed is Permit.IGNORED or any(invocation_text(one.key) == order.text for one in facts.replies):
        return CommandOutcome(pull_request)
    if allowed is Permit.NO:
        return _refused(ground)
    seen = _react(ground, ReactionKind.EYES)
    if isinstance(order.given, InvalidCommand):
        return _answered(ground, usage_text(order.given), seen)
    return _carried_out(order.given.asked, ground, seen)


@dataclass(frozen=True, slots=True)
class _CommandContext:
    """Everything that a command is decided on."""

    order: CommandInvocation
    pull_request: PullRequest
    facts: CommandFacts
    rules: RepositoryRules
    site: LinkContext


def _carried_out(  # noqa: PLR0911  one line a command
    asked: asks.CommandRequest, ground: _CommandContext, seen: AddReaction
) -> CommandOutcome:
    match asked:
        case asks.HistoryRequest():
            return _history(asked, ground, seen)
        case asks.HelpRequest():
            return _answered(ground, help_text(), seen)
        case asks.ExplainRequest():
            return _explained(asked, ground, seen)
        case asks.DismissRequest():
            return _dismissed(asked, ground, seen)
        case asks.AppealRequest():
            return _appealed(asked, ground, seen)
        case asks.RejectRequest():
            return _rejected(asked, ground, seen)
        case asks.SelectRequest():
            return _selected(asked, ground, seen)
        case asks.ExportRequest():
            return _exported(ground, seen)
        case asks.ForgetRequest():
            return _forgotten(asked, ground, seen)
        case _:
            assert_never(asked)


def _history(asked: asks.HistoryRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    facts, where = ground.facts, ground.pull_request.repository
    subject = facts.subject or ground.pull_request.author
    shown = record_visibility(
        _permission(ground),
        own=subject.id == ground.order.account.id,
        agent=ground.rules.authors.is_agent(subject.login, bot=subject.bot),
        public_thread=not where.private,
    )
    if shown is RecordVisibility.REFUSED or facts.history is None:
        return _refused(ground)
    if shown is RecordVisibility.ELSEWHERE:
        return _answered(ground, private_record_text(subject.login, where, ground.site.public_url), seen)
    is_default = asked.login is None
    setting = HistoryContext(where, ground.rules.gates, ground.site.web, is_default)
    return _answered(ground, render_history(facts.history, setting), seen)


def _explained(asked: asks.ExplainRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    where = ground.pull_request.repository
    text = explain_text(
        asked.tag, ground.rules.gates, where, ground.site.web, may_appeal=not ground.order.account.bot
    )
    return _answered(ground, text, seen)


def _dismissed(asked: asks.DismissRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    tags = currently_open_tags(ground.pull_request)
    if asked.tag not in tags:
        return _answered(ground, not_open_text(asked.tag, tags, ground.rules.gates), seen)
    ruling = _ruling(RulingAction.DISMISS, asked.tag, asked.reason, ground)
    left = [tag for tag in tags if tag != asked.tag]
    return _answered(ground, dismissed_text(ruling, left), seen, ruling)


def _appealed(asked: asks.AppealRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    tags = currently_open_tags(ground.pull_request)
    if asked.tag not in tags:
        return _answered(ground, not_open_text(asked.tag, tags, ground.rules.gates), seen)
    ruling = _ruling(RulingAction.APPEAL, asked.tag, asked.reason, ground)
    return _answered(ground, appealed_text(ruling), seen, ruling)


_ANCHORS = {
    CommandSource.COMMENT: "#issuecomment-",
    CommandSource.INLINE: "#discussion_r",
    CommandSource.REVIEW: "#pullrequestreview-",
}


def _rejected(asked: asks.RejectRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    """The tags stand as this person's verdict, and an appeal against one of them is refused."""
    rulings = tuple(_ruling(RulingAction.REJECT, tag, asked.reason or "", ground) for tag in asked.tags)
    known, order = ground.pull_request, ground.order
    page = f"{ground.site.web.pull_url(known.repository, known.number)}{_ANCHORS[order.where]}{order.id}"
    appeals = open_appeals(known)
    refused = [appeals[tag] for tag in asked.tags if tag in appeals]
    after = apply_rejection(known, asked, order, ground.facts.role, page)
    text = rejected_text(rulings, refused, currently_open_tags(after), ground.rules.gates)
    return _answered(replace(ground, pull_request=after), text, seen, *rulings)


def _selected(asked: asks.SelectRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    order = ground.order
    asker = SelectionRequester(order.account.login, order.at, _head_seen(ground), order.account.id)
    done = apply_selection(ground.pull_request, asked, asker, ground.rules)
    return replace(_answered(ground, done.reply, seen), pull_request=done.pull_request)


def _exported(ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    where, login = ground.pull_request.repository, ground.order.account.login
    return _answered(ground, export_text(login, where, ground.site.public_url), seen)


def _forgotten(asked: asks.ForgetRequest, ground: _CommandContext, seen: AddReaction) -> CommandOutcome:
    order, stored = ground.order, ground.facts.stored
    outcome = _answered(ground, forget_text(order.account.login, stored, done=asked.confirmed), seen)
    if not asked.confirmed:
        return outcome
    where = ground.pull_request.repository.id
    memo = ForgetPerson(where, order.account.id, order.account.login, ground.facts.now, order.key)
    return replace(outcome, memos=(memo,))


def currently_open_tags(pull_request: PullRequest) -> tuple[str, ...]:
    """The tags that are held against it now."""
    present = judged.current_iteration(pull_request, iterations_after_rulings(pull_request))
    return present.tags if present else ()


def _ruling(act: RulingAction, tag: str, reason: str, ground: _CommandContext) -> Ruling:
    order = ground.order
    return Ruling(
        act, tag, order.account.id, order.account.login, order.at, _head_seen(ground), reason, order.key
    )


def _head_seen(ground: _CommandContext) -> str:
    """The head that was there when the command was written: a comment's payload does not say it."""
    seen = [one for one in ground.pull_request.revisions if one.seen_at <= ground.order.at]
    newest = max(seen, key=lambda one: one.seen_at, default=None)
    return newest.head if newest else ground.pull_request.head


def _giver(ground: _CommandContext) -> CommandGiver:
    order, author = ground.order, ground.pull_request.author
    return CommandGiver(
        role=_permission(ground),
        is_author=order.account.id == author.id,
        is_bot=order.account.bot,
        is_agent=ground.rules.authors.is_agent(order.account.login, bot=order.account.bot),
        is_bot_itself=order.account.id == ground.facts.me.id,
        is_text_author=order.sender_id == order.account.id,
    )


def _permission(ground: _CommandContext) -> Permission | None:
    role = ground.facts.role
    if role is None or role not in set(Permission):
        # Everybody reads what is public.
        return None if ground.pull_request.repository.private else Permission.READ
    return Permission(role)


def _react(ground: _CommandContext, face: ReactionKind) -> AddReaction:
    order = ground.order
    return AddReaction(ground.pull_request.repository, order.where, order.id, order.node_id, face)


def _refused(ground: _CommandContext) -> CommandOutcome:
    return CommandOutcome(ground.pull_request, (_react(ground, ReactionKind.CONFUSED),))


def _answered(ground: _CommandContext, body: str, seen: AddReaction, *rulings: Ruling) -> CommandOutcome:
    order, known = ground.order, ground.pull_request
    reply = PostReply(
        repository=known.repository,
        number=known.number,
        key=order.key,
        topic=order.topic,
        account_id=NO_ACCOUNT if is_forget_command(order) else order.account.id,
        at=ground.facts.now,
        body=body,
        inline=order.inline,
    )
    return CommandOutcome(_with(known, rulings), (seen,), (reply,))


def _with(known: PullRequest, rulings: Sequence[Ruling]) -> PullRequest:
    return replace(known, rulings=(*known.rulings, *rulings)) if rulings else known
