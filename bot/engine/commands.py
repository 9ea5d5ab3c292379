"""What must be read before a slash command can be decided, and in which order are they decided?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.decisions.command import CommandFacts, Outcome, decide
from bot.decisions.orders import Order
from bot.domain.commands import asked as asks
from bot.domain.commands.reading import Given
from bot.domain.comment import Site
from bot.domain.history import Ask, History, history, needed_since
from bot.domain.memory import Record, record_of
from bot.domain.model import Account, PullRequest
from bot.domain.rules import Rules
from bot.domain.rulings import for_memory, overturned
from bot.ports import GitHub, Memory

_FRESH = (asks.DismissAsked, asks.AppealAsked, asks.RejectAsked, asks.SelectAsked)


@dataclass(frozen=True, slots=True)
class Commands:
    """Carries out the commands of one thread, one by one."""

    memory: Memory
    github: GitHub
    site: Site

    async def carry_out(
        self, lane: str, known: PullRequest, orders: Sequence[Order], rules: Rules, now: datetime
    ) -> Outcome:
        """The pull request after all of them, and everything to be done about them."""
        outcome = Outcome(known)
        before = await self.memory.replies(lane)
        facts = CommandFacts(await self.github.me(), now, replies=before)
        for order in orders:
            # GitHub's clock may be ahead of ours; the command is never from the future.
            facts = replace(facts, now=max(now, order.at), said=outcome.replies)
            read = await self._facts(order, outcome.pull_request, rules, facts)
            outcome = decide(order, outcome.pull_request, read, rules, self.site).after(outcome)
        return outcome

    async def _facts(
        self, order: Order, known: PullRequest, rules: Rules, facts: CommandFacts
    ) -> CommandFacts:
        account = order.account
        if account.id == facts.me.id or (account.bot and account.id != known.author.id):
            return facts  # not listened to, so nothing is read for it
        asked = order.given.asked if isinstance(order.given, Given) else None
        if not account.bot:
            role = await self.github.role(known.repository, account, fresh=isinstance(asked, _FRESH))
            facts = replace(facts, role=role)
        match asked:
            case asks.HistoryAsked():
                return await self._history(asked, order, known, rules, facts)
            case asks.ForgetAsked():
                return replace(facts, stored=await self.memory.stored(known.repository.id, account.id))
            case _:
                return facts

    async def _history(
        self,
        asked: asks.HistoryAsked,
        order: Order,
        known: PullRequest,
        rules: Rules,
        facts: CommandFacts,
    ) -> CommandFacts:
        subject = await self._subject(asked.login, order.account, known, rules)
        ask = ask_of(subject.login, rules, facts.now, asked.hours, asked.tag)
        told = await history_of(self.memory, known, subject, ask, rules)
        return replace(facts, subject=subject, history=told)

    async def _subject(self, login: str | None, giver: Account, known: PullRequest, rules: Rules) -> Account:
        """Whoever is meant; a login that nobody here ever had gets the empty record."""
        if login is None or _same(login, known.author.login):
            return known.author
        if _same(login, giver.login):
            return giver
        found = await self.memory.author(known.repository.id, login, shared=rules.history.shared)
        return found or Account(-1, login, bot=login.endswith("[bot]"))


def ask_of(login: str, rules: Rules, now: datetime, hours: int | None, tag: str | None = None) -> Ask:
    """The question, with what the repository's rules say about periods and clocks."""
    return Ask(
        login=login,
        now=now,
        zone=ZoneInfo(rules.weekly.timezone),
        hours=hours,
        tag=tag,
        periods=rules.history.periods,
        minimum=rules.history.minimum,
        dead_after=timedelta(days=rules.history.dead_after_days),
    )


async def history_of(memory: Memory, known: PullRequest, author: Account, ask: Ask, rules: Rules) -> History:
    """What is remembered of an author, with the present pull request as it is right now."""
    where = known.repository.id
    shared = rules.history.shared
    records, fixes = await memory.authored(where, needed_since(ask), author.id, shared=shared)
    if known.author.id == author.id:
        others = (record for record in records if record.key != ("", known.number))
        records = (*others, _record(known))
    return history(records, rules.gates, ask, fixes)


def _record(present: PullRequest) -> Record:
    return record_of(for_memory(present), overturned(present))


def _same(login: str, other: str) -> bool:
    return login.lower().removesuffix("[bot]") == other.lower().removesuffix("[bot]")
