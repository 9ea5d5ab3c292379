"""Run one turn: fetch what is missing, then decide.

Each feature says what it needs from what is known so far: the heads that were judged, the claims to look up,
the files that a certain fix follows from, the manifests that name a framework. What was read is merged before
the next feature is asked. Nothing is rendered to find out what to read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.feedback.brief_inputs import framework_in_manifests, manifests_to_read
from bot.feedback.model import Decision
from bot.gates.config import RepositoryRules
from bot.github.client import GitHub
from bot.grounding.fetch import observe_revision
from bot.grounding.log import pending_claims, record_grounding
from bot.history.model import HistoryRecord
from bot.markdown.links import LinkContext
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import PullRequest, Verdict
from bot.pull_request.record import merge_revisions
from bot.turn import fetch as turn_fetch
from bot.turn.decide import Assessment, assess, conclude, is_comment_due, merge_texts, merge_verdicts
from bot.turn.fetch import fetch_files, unread_revisions
from bot.verdicts.item_context import add_fixes, file_key, files_at_head, files_for_fixes


@dataclass(frozen=True, slots=True)
class TurnRunner:
    """The rules and the moment of a decision, and where it can look."""

    rules: RepositoryRules
    moment: DecisionTime
    site: LinkContext
    github: GitHub
    verdicts_before: tuple[Verdict, ...]
    """The verdicts that were known before this turn."""
    recent_records: tuple[HistoryRecord, ...] = ()
    """The author's latest records in this repository."""

    async def assess(self, before: PullRequest, facts: Facts) -> tuple[Assessment, Facts]:
        """Work out what is wrong, reading what that takes; return the facts with what was read."""
        known = merge_verdicts(before, facts, self.rules, self.moment.now)
        if heads := unread_revisions(known):
            facts = replace(facts, revisions=await turn_fetch.fetch_revisions(known, heads, self.github))
        known = merge_revisions(known, facts.revisions)
        facts = await self._look_up_claims(known, facts)
        known = record_grounding(known, facts, self.rules, self.moment.now)
        facts = await self._read_fixable_files(before, known, facts)
        known = merge_texts(before, known, facts)
        assessment = assess(known, self.rules, self.moment)
        return await self._name_framework(known, assessment, facts)

    def conclude(self, assessment: Assessment) -> Decision:
        """Decide what GitHub should show, and render it."""
        return conclude(assessment, self.rules, self.moment, self.site, self.recent_records)

    async def _look_up_claims(self, known: PullRequest, facts: Facts) -> Facts:
        # Claims come with verdicts: without a new one, those that could not be looked up stay so.
        is_old = known.sticky is not None and known.verdicts == self.verdicts_before
        if is_old or facts.observations is not None or not is_comment_due(known, self.rules):
            return facts
        claims = pending_claims(known, facts, self.rules)
        if not claims:
            return facts
        return replace(facts, observations=await observe_revision(known, claims, self.rules, self.github))

    async def _read_fixable_files(self, before: PullRequest, known: PullRequest, facts: Facts) -> Facts:
        texts = files_at_head(facts)
        wanted = files_for_fixes(before, add_fixes(before, known, texts))
        if not wanted:
            return facts
        return replace(facts, files={**facts.files, **await fetch_files(known, wanted, texts, self.github)})

    async def _name_framework(
        self, known: PullRequest, assessment: Assessment, facts: Facts
    ) -> tuple[Assessment, Facts]:
        """Read the manifests once where the brief of an error is poor without the framework's name."""
        due = assessment.is_comment_due
        manifests = manifests_to_read(assessment.pull_request, self.rules) if due else ()
        if not manifests:
            return assessment, facts
        read = await fetch_files(known, manifests, {}, self.github)
        found = {path: read[key] for head, path in manifests if (key := file_key(head, path)) in read}
        facts = replace(facts, framework=framework_in_manifests(found))
        known = replace(known, framework=facts.framework)
        return assess(known, self.rules, self.moment, assessment.detection), facts
