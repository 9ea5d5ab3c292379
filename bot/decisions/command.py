"""What becomes of a slash command?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from bot.decisions.answers import NOBODY, is_forgetting, joined, may_be_answered
from bot.decisions.comment_verdicts import rejected_by_command
from bot.decisions.orders import Order, text_of
from bot.decisions.selection import Asker, select_by_command
from bot.domain import iterations as judged
from bot.domain.choices import Permission
from bot.domain.commands import asked as asks
from bot.domain.commands.explain import explain_text
from bot.domain.commands.permits import Giver, Permit, Sight, is_counted, permit, sight
from bot.domain.commands.reading import WrongUse
from bot.domain.commands.replies import (
    Stored,
    export_text,
    forget_text,
    help_text,
    record_elsewhere,
    wrong_use,
)
from bot.domain.commands.ruling_text import appealed_text, dismissed_text, not_open_text, rejected_text
from bot.domain.comment import Site
from bot.domain.effects import Effect
from bot.domain.history import History
from bot.domain.history_text import history_text
from bot.domain.history_words import Setting
from bot.domain.memos import Forget, Memo
from bot.domain.model import Account, PullRequest
from bot.domain.replied import Replied
from bot.domain.rules import Rules
from bot.domain.ruling import Act, Ruling
from bot.domain.rulings import in_force, open_appeals
from bot.domain.thread_effects import Face, React, Reply, Where


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """What was read for one command."""

    me: Account
    now: datetime
    role: str | None = None
    """The giver's role in the repository."""
    replies: tuple[Replied, ...] = ()
    """What was answered in this thread before."""
    said: tuple[Reply, ...] = ()
    """What is answered there in this very turn."""
    subject: Account | None = None
    """Whose history is asked for."""
    history: History | None = None
    stored: Stored = field(default_factory=Stored)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The pull request after a command, and what to do about it."""

    pull_request: PullRequest
    reactions: tuple[Effect, ...] = ()
    replies: tuple[Reply, ...] = ()
    memos: tuple[Memo, ...] = ()

    def after(self, other: Outcome) -> Outcome:
        """Both, the other one first."""
        return Outcome(
            self.pull_request,
            (*other.reactions, *self.reactions),
            joined((*other.replies, *self.replies)),
            (*other.memos, *self.memos),
        )


def decide(order: Order, pull_request: PullRequest, facts: CommandFacts, rules: Rules, site: Site) -> Outcome:
    """A face and at most one answer; nothing at all for whoever is not listened to."""
    ground = _Ground(order, pull_request, facts, rules, site)
    giver = _giver(ground)
    allowed = permit(order.command, giver, by_author=rules.overrides.by_author)
    if is_counted(giver) and not may_be_answered(order, (*facts.replies, *facts.said), facts.now):
        allowed = Permit.IGNORED if giver.is_bot else Permit.NO  # a person sees that it was read
    if allowed is Permit.IGNORED or any(text_of(one.key) == order.text for one in facts.replies):
        return Outcome(pull_request)
    if allowed is Permit.NO:
        return _refused(ground)
    seen = _react(ground, Face.EYES)
    if isinstance(order.given, WrongUse):
        return _answered(ground, wrong_use(order.given), seen)
    return _carried_out(order.given.asked, ground, seen)


@dataclass(frozen=True, slots=True)
class _Ground:
    """Everything that a command is decided on."""

    order: Order
    pull_request: PullRequest
    facts: CommandFacts
    rules: Rules
    site: Site


def _carried_out(  # noqa: PLR0911  one line a command
    asked: asks.Asked, ground: _Ground, seen: React
) -> Outcome:
    match asked:
        case asks.HistoryAsked():
            return _history(asked, ground, seen)
        case asks.HelpAsked():
            return _answered(ground, help_text(), seen)
        case asks.ExplainAsked():
            return _explained(asked, ground, seen)
        case asks.DismissAsked():
            return _dismissed(asked, ground, seen)
        case asks.AppealAsked():
            return _appealed(asked, ground, seen)
        case asks.RejectAsked():
            return _rejected(asked, ground, seen)
        case asks.SelectAsked():
            return _selected(asked, ground, seen)
        case asks.ExportAsked():
            return _exported(ground, seen)
        case asks.ForgetAsked():
            return _forgotten(asked, ground, seen)
        case _:
            assert_never(asked)


def _history(asked: asks.HistoryAsked, ground: _Ground, seen: React) -> Outcome:
    facts, where = ground.facts, ground.pull_request.repository
    subject = facts.subject or ground.pull_request.author
    shown = sight(
        _permission(ground),
        own=subject.id == ground.order.account.id,
        agent=ground.rules.authors.is_agent(subject.login, bot=subject.bot),
        public_thread=not where.private,
    )
    if shown is Sight.REFUSED or facts.history is None:
        return _refused(ground)
    if shown is Sight.ELSEWHERE:
        return _answered(ground, record_elsewhere(subject.login, where, ground.site.public_url), seen)
    is_default = asked.login is None
    setting = Setting(where, ground.rules.gates, ground.site.web, is_default)
    return _answered(ground, history_text(facts.history, setting), seen)


def _explained(asked: asks.ExplainAsked, ground: _Ground, seen: React) -> Outcome:
    where = ground.pull_request.repository
    text = explain_text(
        asked.tag, ground.rules.gates, where, ground.site.web, may_appeal=not ground.order.account.bot
    )
    return _answered(ground, text, seen)


def _dismissed(asked: asks.DismissAsked, ground: _Ground, seen: React) -> Outcome:
    tags = open_tags(ground.pull_request)
    if asked.tag not in tags:
        return _answered(ground, not_open_text(asked.tag, tags, ground.rules.gates), seen)
    ruling = _ruling(Act.DISMISS, asked.tag, asked.reason, ground)
    left = [tag for tag in tags if tag != asked.tag]
    return _answered(ground, dismissed_text(ruling, left), seen, ruling)


def _appealed(asked: asks.AppealAsked, ground: _Ground, seen: React) -> Outcome:
    tags = open_tags(ground.pull_request)
    if asked.tag not in tags:
        return _answered(ground, not_open_text(asked.tag, tags, ground.rules.gates), seen)
    ruling = _ruling(Act.APPEAL, asked.tag, asked.reason, ground)
    return _answered(ground, appealed_text(ruling), seen, ruling)


_ANCHORS = {
    Where.COMMENT: "#issuecomment-",
    Where.INLINE: "#discussion_r",
    Where.REVIEW: "#pullrequestreview-",
}


def _rejected(asked: asks.RejectAsked, ground: _Ground, seen: React) -> Outcome:
    """The tags stand as this person's verdict, and an appeal against one of them is refused."""
    rulings = tuple(_ruling(Act.REJECT, tag, asked.reason or "", ground) for tag in asked.tags)
    known, order = ground.pull_request, ground.order
    page = f"{ground.site.web.pull_url(known.repository, known.number)}{_ANCHORS[order.where]}{order.id}"
    appeals = open_appeals(known)
    refused = [appeals[tag] for tag in asked.tags if tag in appeals]
    after = rejected_by_command(known, asked, order, ground.facts.role, page)
    text = rejected_text(rulings, refused, open_tags(after), ground.rules.gates)
    return _answered(replace(ground, pull_request=after), text, seen, *rulings)


def _selected(asked: asks.SelectAsked, ground: _Ground, seen: React) -> Outcome:
    order = ground.order
    asker = Asker(order.account.login, order.at, _head_seen(ground), order.account.id)
    done = select_by_command(ground.pull_request, asked, asker, ground.rules)
    return replace(_answered(ground, done.reply, seen), pull_request=done.pull_request)


def _exported(ground: _Ground, seen: React) -> Outcome:
    where, login = ground.pull_request.repository, ground.order.account.login
    return _answered(ground, export_text(login, where, ground.site.public_url), seen)


def _forgotten(asked: asks.ForgetAsked, ground: _Ground, seen: React) -> Outcome:
    order, stored = ground.order, ground.facts.stored
    outcome = _answered(ground, forget_text(order.account.login, stored, done=asked.confirmed), seen)
    if not asked.confirmed:
        return outcome
    where = ground.pull_request.repository.id
    memo = Forget(where, order.account.id, order.account.login, ground.facts.now, order.key)
    return replace(outcome, memos=(memo,))


def open_tags(pull_request: PullRequest) -> tuple[str, ...]:
    """The tags that are held against it now."""
    present = judged.current(pull_request, in_force(pull_request))
    return present.tags if present else ()


def _ruling(act: Act, tag: str, reason: str, ground: _Ground) -> Ruling:
    order = ground.order
    return Ruling(
        act, tag, order.account.id, order.account.login, order.at, _head_seen(ground), reason, order.key
    )


def _head_seen(ground: _Ground) -> str:
    """The head that was there when the command was written: a comment's payload does not say it."""
    seen = [one for one in ground.pull_request.revisions if one.seen_at <= ground.order.at]
    newest = max(seen, key=lambda one: one.seen_at, default=None)
    return newest.head if newest else ground.pull_request.head


def _giver(ground: _Ground) -> Giver:
    order, author = ground.order, ground.pull_request.author
    return Giver(
        role=_permission(ground),
        is_author=order.account.id == author.id,
        is_bot=order.account.bot,
        is_agent=ground.rules.authors.is_agent(order.account.login, bot=order.account.bot),
        is_us=order.account.id == ground.facts.me.id,
        wrote_it=order.sender_id == order.account.id,
    )


def _permission(ground: _Ground) -> Permission | None:
    role = ground.facts.role
    if role is None or role not in set(Permission):
        # Everybody reads what is public.
        return None if ground.pull_request.repository.private else Permission.READ
    return Permission(role)


def _react(ground: _Ground, face: Face) -> React:
    order = ground.order
    return React(ground.pull_request.repository, order.where, order.id, order.node_id, face)


def _refused(ground: _Ground) -> Outcome:
    return Outcome(ground.pull_request, (_react(ground, Face.CONFUSED),))


def _answered(ground: _Ground, body: str, seen: React, *rulings: Ruling) -> Outcome:
    order, known = ground.order, ground.pull_request
    reply = Reply(
        repository=known.repository,
        number=known.number,
        key=order.key,
        topic=order.topic,
        account_id=NOBODY if is_forgetting(order) else order.account.id,
        at=ground.facts.now,
        body=body,
        inline=order.inline,
    )
    return Outcome(_with(known, rulings), (seen,), (reply,))


def _with(known: PullRequest, rulings: Sequence[Ruling]) -> PullRequest:
    return replace(known, rulings=(*known.rulings, *rulings)) if rulings else known
