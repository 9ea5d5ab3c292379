"""Read what a slash command needs, and run the commands of a thread in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands.catalogue import ForgetRequest, HistoryRequest, LessonsRequest
from bot.commands.decide import decide_command
from bot.commands.model import CommandFacts, CommandInvocation, CommandOutcome, InvalidCommand
from bot.commands.store import load_replies
from bot.gates.config import Permission, RepositoryRules
from bot.github.client import GitHub
from bot.history.fetch import fetch_author, fetch_history, history_query
from bot.history.forget import count_stored
from bot.lessons.fetch import fetch_lessons, lesson_query
from bot.markdown.links import LinkContext
from bot.pull_request.model import PullRequest
from bot.store.store import Store
from bot.values import Account

_TRIAGE_ROLES = frozenset(role for role in Permission if role.is_at_least(Permission.TRIAGE))


@dataclass(frozen=True, slots=True)
class CommandHandler:
    """Runs the commands of one thread, one by one."""

    store: Store
    github: GitHub
    site: LinkContext

    async def run(
        self,
        lane: str,
        pull_request: PullRequest,
        invocations: Sequence[CommandInvocation],
        rules: RepositoryRules,
        now: datetime,
    ) -> CommandOutcome:
        """Return the pull request after all of them, and the effects of all of them."""
        outcome = CommandOutcome(pull_request)
        replies = await self.store.read(load_replies, lane)
        common = CommandFacts(await self.github.me(), now, replies=replies)
        for invocation in invocations:
            # GitHub's clock may be ahead of ours; the command is never from the future.
            common = replace(common, now=max(now, invocation.text.at), new_replies=outcome.replies)
            facts = await self._fetch_facts(invocation, outcome.pull_request, rules, common)
            decided = decide_command(invocation, outcome.pull_request, facts, rules, self.site)
            outcome = decided.after(outcome)
        return outcome

    async def _fetch_facts(
        self,
        invocation: CommandInvocation,
        pull_request: PullRequest,
        rules: RepositoryRules,
        facts: CommandFacts,
    ) -> CommandFacts:
        account, repository = invocation.text.account, pull_request.repository
        if account.id == facts.me.id or (account.bot and account.id != pull_request.author.id):
            return facts  # ignored, so nothing is read for it
        request = invocation.parsed
        if not account.bot:
            fresh = not isinstance(request, InvalidCommand) and request.needs_fresh_role
            facts = replace(facts, role=await self.github.role(repository, account, fresh=fresh))
        match request:
            case HistoryRequest():
                subject = await self._find_subject(request.login, account, pull_request, rules)
                query = history_query(subject, rules, facts.now, request.hours, request.tag)
                history = await fetch_history(self.store, repository, query, rules, pull_request)
                return replace(facts, subject=subject, history=history)
            case LessonsRequest() if facts.role in _TRIAGE_ROLES:
                asked = lesson_query(repository, rules, facts.now)
                lessons = await fetch_lessons(self.store, self.github, repository, rules, asked)
                return replace(facts, lessons=lessons)
            case ForgetRequest():
                stored = await self.store.read(count_stored, repository.id, account.id)
                return replace(facts, stored=stored)
            case _:
                return facts

    async def _find_subject(
        self, login: str | None, giver: Account, pull_request: PullRequest, rules: RepositoryRules
    ) -> Account:
        """Find whose history is requested; a login that is unknown here gets an empty record."""
        if login is None:
            return pull_request.author
        for account in (pull_request.author, giver):
            if login.lower().removesuffix("[bot]") == account.login.lower().removesuffix("[bot]"):
                return account
        return await fetch_author(self.store, pull_request.repository, login, rules)
