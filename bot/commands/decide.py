"""Decide a slash command: permission, rate limit, then what the command itself does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bot.commands.catalogue import ForgetRequest
from bot.commands.model import (
    NO_ACCOUNT,
    CommandContext,
    CommandFacts,
    CommandGiver,
    CommandInvocation,
    CommandOutcome,
    InvalidCommand,
    Permit,
    check_permission,
    invocation_text_key,
)
from bot.commands.text import usage_text
from bot.gates.config import Permission, RepositoryRules
from bot.markdown.links import LinkContext
from bot.pull_request.effects import PostedReply, PostReply
from bot.pull_request.model import PullRequest

REPLY_PAUSE = timedelta(minutes=1)
"""Between two replies in a thread to one whose replies are limited."""
MAX_REPLIES_PER_DAY = 10
"""Replies in a thread to one whose replies are limited."""


def decide_command(
    invocation: CommandInvocation,
    pull_request: PullRequest,
    facts: CommandFacts,
    rules: RepositoryRules,
    site: LinkContext,
) -> CommandOutcome:
    """Return a reaction and at most one reply; nothing for an ignored sender."""
    context = CommandContext(invocation, pull_request, facts, rules, site)
    giver = context.giver
    permit = check_permission(invocation.command, giver, by_author=rules.overrides.by_author)
    if is_rate_limited(giver) and not can_be_answered(
        invocation, (*facts.replies, *facts.new_replies), facts.now
    ):
        permit = Permit.IGNORED if giver.is_bot else Permit.NO  # a person sees that it was read
    if permit is Permit.IGNORED or any(
        invocation_text_key(reply.key) == invocation.text.key for reply in facts.replies
    ):
        return CommandOutcome(pull_request)
    if permit is Permit.NO:
        return context.refuse()
    if isinstance(invocation.parsed, InvalidCommand):
        return context.reply(usage_text(invocation.parsed))
    return invocation.parsed.decide(context)


def is_rate_limited(giver: CommandGiver) -> bool:
    """Whether replies are limited: for bots, and for people without a role who are not the author."""
    is_onlooker = giver.role is None or not giver.role.is_at_least(Permission.TRIAGE)
    return giver.is_bot or (is_onlooker and not giver.is_author)


def can_be_answered(
    invocation: CommandInvocation, previous: Iterable[PostedReply | PostReply], now: datetime
) -> bool:
    """Whether a rate-limited giver gets another reply; the commands of one text are one question."""
    # A reply to somebody who was forgotten since is nobody's, and counts as everybody's: otherwise
    # forgetting would reset the count. Forgetting is not put off by the question that comes before it.
    accounts = (
        {NO_ACCOUNT}
        if invocation.parsed == ForgetRequest(confirmed=True)
        else {NO_ACCOUNT, invocation.text.account.id}
    )
    others = (reply for reply in previous if invocation_text_key(reply.key) != invocation.text.key)
    return can_answer([reply.at for reply in others if reply.account_id in accounts], now)


def can_answer(replied_at: Sequence[datetime], now: datetime) -> bool:
    """Whether the limit allows another reply in a thread after these."""
    today = [at for at in replied_at if at > now - timedelta(days=1)]
    return len(today) < MAX_REPLIES_PER_DAY and all(at <= now - REPLY_PAUSE for at in today)
