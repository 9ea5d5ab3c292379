"""Which decision holds once everything that it would repeat was looked at? Nothing is written for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.decisions.context import texts_of
from bot.decisions.fixing import file_key, wanted_files
from bot.decisions.manifests import wanted_manifests
from bot.decisions.pull_request import Decision, decide
from bot.decisions.revisions import unread
from bot.domain.comment import Site
from bot.domain.facts import Facts, Moment
from bot.domain.framework import in_manifests
from bot.domain.grounding.statements import unchecked
from bot.domain.model import PullRequest
from bot.domain.rules import Rules
from bot.engine import revisions
from bot.engine.grounding import observe
from bot.engine.listening import read_files
from bot.ports import GitHub


@dataclass(frozen=True, slots=True)
class Deciding:
    """The rules and the moment of a decision, and where it can look."""

    rules: Rules
    moment: Moment
    site: Site
    github: GitHub

    async def decided(self, known: PullRequest, facts: Facts) -> tuple[Decision, Facts]:
        """The decision, and the facts with what was read for it: judged heads, claims, files, manifests."""
        decision = self.on(known, facts)
        if heads := unread(decision.pull_request):
            seen = await revisions.read(decision.pull_request, heads, self.github)
            facts = replace(facts, revisions=seen)
            decision = self.on(known, facts)
        asked = unchecked(decision.pull_request, facts, self.rules) if decision.shows else ()
        if asked:
            observed = await observe(decision.pull_request, asked, self.rules, self.github)
            facts = replace(facts, observations=observed)
            decision = self.on(known, facts)
        if wanted := wanted_files(known, decision.pull_request):
            read = await read_files(known, wanted, texts_of(facts), self.github)
            facts = replace(facts, files={**facts.files, **read})
            decision = self.on(known, facts)
        manifests = wanted_manifests(decision.pull_request, self.rules) if decision.shows else ()
        if manifests:
            read = await read_files(known, manifests, {}, self.github)
            found = {path: read[key] for head, path in manifests if (key := file_key(head, path)) in read}
            facts = replace(facts, framework=in_manifests(found))
            decision = self.on(known, facts)
        return decision, facts

    def on(self, known: PullRequest, facts: Facts) -> Decision:
        """The decision on what is known so far."""
        return decide(known, facts, self.rules, self.moment, self.site)
