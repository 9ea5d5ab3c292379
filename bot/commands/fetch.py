"""Read what a slash command needs, and run the commands of a thread in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.commands import arguments as asks
from bot.commands.decide import CommandFacts, CommandOutcome, decide_command
from bot.commands.invocation import CommandInvocation, ParsedCommand
from bot.commands.store import load_replies
from bot.gates.config import RepositoryRules
from bot.github.client import GitHub
from bot.history.forget import count_stored
from bot.history.model import HistoryRecord, build_history_record
from bot.history.patterns import AuthorHistory, HistoryQuery, build_history, history_needed_since
from bot.history.store import find_author, load_author
from bot.iterations.model import apply_dismissals, overturned_tags
from bot.markdown.links import LinkContext
from bot.pull_request.model import PullRequest
from bot.store.store import Store
from bot.values import Account

_FRESH = (asks.DismissRequest, asks.AppealRequest, asks.RejectRequest, asks.SelectRequest)


@dataclass(frozen=True, slots=True)
class CommandHandler:
    """Carries out the commands of one thread, one by one."""

    store: Store
    github: GitHub
    site: LinkContext

    async def run(
        self,
        lane: str,
        known: PullRequest,
        orders: Sequence[CommandInvocation],
        rules: RepositoryRules,
        now: datetime,
    ) -> CommandOutcome:
        """The pull request after all of them, and everything to be done about them."""
        outcome = CommandOutcome(known)
        before = await self.store.read(load_replies, lane)
        facts = CommandFacts(await self.github.me(), now, replies=before)
        for order in orders:
            # GitHub's clock may be ahead of ours; the command is never from the future.
            facts = replace(facts, now=max(now, order.at), said=outcome.replies)
            read = await self._facts(order, outcome.pull_request, rules, facts)
            outcome = decide_command(order, outcome.pull_request, read, rules, self.site).after(outcome)
        return outcome

    async def _facts(
        self, order: CommandInvocation, known: PullRequest, rules: RepositoryRules, facts: CommandFacts
    ) -> CommandFacts:
        account = order.account
        if account.id == facts.me.id or (account.bot and account.id != known.author.id):
            return facts  # not listened to, so nothing is read for it
        asked = order.given.asked if isinstance(order.given, ParsedCommand) else None
        if not account.bot:
            role = await self.github.role(known.repository, account, fresh=isinstance(asked, _FRESH))
            facts = replace(facts, role=role)
        match asked:
            case asks.HistoryRequest():
                return await self._history(asked, order, known, rules, facts)
            case asks.ForgetRequest():
                return replace(
                    facts, stored=await self.store.read(count_stored, known.repository.id, account.id)
                )
            case _:
                return facts

    async def _history(
        self,
        asked: asks.HistoryRequest,
        order: CommandInvocation,
        known: PullRequest,
        rules: RepositoryRules,
        facts: CommandFacts,
    ) -> CommandFacts:
        subject = await self._subject(asked.login, order.account, known, rules)
        ask = history_query(subject.login, rules, facts.now, asked.hours, asked.tag)
        told = await fetch_history(self.store, known, subject, ask, rules)
        return replace(facts, subject=subject, history=told)

    async def _subject(
        self, login: str | None, giver: Account, known: PullRequest, rules: RepositoryRules
    ) -> Account:
        """Whoever is meant; a login that nobody here ever had gets the empty record."""
        if login is None or _same(login, known.author.login):
            return known.author
        if _same(login, giver.login):
            return giver
        found = await self.store.read(find_author, known.repository.id, login, shared=rules.history.shared)
        return found or Account(-1, login, bot=login.endswith("[bot]"))


def history_query(
    login: str, rules: RepositoryRules, now: datetime, hours: int | None, tag: str | None = None
) -> HistoryQuery:
    """The question, with what the repository's rules say about periods and clocks."""
    return HistoryQuery(
        login=login,
        now=now,
        zone=ZoneInfo(rules.weekly.timezone),
        hours=hours,
        tag=tag,
        periods=rules.history.periods,
        minimum=rules.history.minimum,
        dead_after=timedelta(days=rules.history.dead_after_days),
    )


async def fetch_history(
    store: Store, known: PullRequest, author: Account, ask: HistoryQuery, rules: RepositoryRules
) -> AuthorHistory:
    """What is remembered of an author, with the present pull request as it is right now."""
    where = known.repository.id
    shared = rules.history.shared
    records, fixes = await store.read(load_author, where, history_needed_since(ask), author.id, shared=shared)
    if known.author.id == author.id:
        others = (record for record in records if record.key != ("", known.number))
        records = (*others, _record(known))
    return build_history(records, rules.gates, ask, fixes)


def _record(present: PullRequest) -> HistoryRecord:
    return build_history_record(apply_dismissals(present), overturned_tags(present))


def _same(login: str, other: str) -> bool:
    return login.lower().removesuffix("[bot]") == other.lower().removesuffix("[bot]")
