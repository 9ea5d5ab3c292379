"""Read what the verdicts make necessary, feature by feature, then decide once.

Each feature says what it needs from what is known so far: the heads that were judged, the claims to look up,
the files that a certain fix follows from, the manifests that name a framework. What was read is merged before
the next feature is asked. Nothing is rendered to find out what to read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.decisions.context import texts_of
from bot.decisions.fixing import file_key, wanted_files, with_fixes
from bot.decisions.manifests import wanted_manifests
from bot.decisions.pull_request import (
    Assessment,
    Decision,
    assess,
    conclude,
    is_comment_due,
    merge_texts,
    merge_verdicts,
)
from bot.decisions.revisions import unread, with_revisions
from bot.domain.comment import Site
from bot.domain.facts import Facts, Moment
from bot.domain.framework import in_manifests
from bot.domain.grounding.log import with_grounding
from bot.domain.grounding.statements import unchecked
from bot.domain.model import PullRequest, Verdict
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
    verdicts_before: tuple[Verdict, ...]
    """The verdicts that were known before this turn."""

    async def assess(self, before: PullRequest, facts: Facts) -> tuple[Assessment, Facts]:
        """Work out what is wrong, reading what that takes; return the facts with what was read."""
        known = merge_verdicts(before, facts, self.rules, self.moment.now)
        if heads := unread(known):
            facts = replace(facts, revisions=await revisions.read(known, heads, self.github))
        known = with_revisions(known, facts.revisions)
        facts = await self._look_up_claims(known, facts)
        known = with_grounding(known, facts, self.rules, self.moment.now)
        facts = await self._read_fixable_files(before, known, facts)
        known = merge_texts(before, known, facts)
        assessment = assess(known, facts, self.rules, self.moment, self.site)
        return await self._name_framework(known, assessment, facts)

    def conclude(self, assessment: Assessment) -> Decision:
        """Decide what GitHub should show, and render it."""
        return conclude(assessment, self.rules, self.moment, self.site)

    async def _look_up_claims(self, known: PullRequest, facts: Facts) -> Facts:
        # Claims come with verdicts: without a new one, those that could not be looked up stay so.
        is_old = known.sticky is not None and known.verdicts == self.verdicts_before
        if is_old or facts.observations is not None or not is_comment_due(known, self.rules):
            return facts
        claims = unchecked(known, facts, self.rules)
        if not claims:
            return facts
        return replace(facts, observations=await observe(known, claims, self.rules, self.github))

    async def _read_fixable_files(self, before: PullRequest, known: PullRequest, facts: Facts) -> Facts:
        texts = texts_of(facts)
        wanted = wanted_files(before, with_fixes(before, known, texts))
        if not wanted:
            return facts
        return replace(facts, files={**facts.files, **await read_files(known, wanted, texts, self.github)})

    async def _name_framework(
        self, known: PullRequest, assessment: Assessment, facts: Facts
    ) -> tuple[Assessment, Facts]:
        """Read the manifests once where the brief of an error is poor without the framework's name."""
        due = assessment.is_comment_due
        manifests = wanted_manifests(assessment.pull_request, self.rules) if due else ()
        if not manifests:
            return assessment, facts
        read = await read_files(known, manifests, {}, self.github)
        found = {path: read[key] for head, path in manifests if (key := file_key(head, path)) in read}
        facts = replace(facts, framework=in_manifests(found), detection=assessment.detection)
        known = replace(known, framework=facts.framework)
        return assess(known, facts, self.rules, self.moment, self.site), facts
