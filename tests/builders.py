"""One builder a noun: a valid value, with the facts that a test is about changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.feedback.document import build_document
from bot.feedback.model import Decision, Feedback
from bot.feedback.render import render_comment
from bot.gates.config import DetectionConfig, RepositoryRules
from bot.gates.packs import load_pack
from bot.markdown.links import GitHubLinks, LinkContext
from bot.pull_request.effects import ShowComment
from bot.pull_request.events import InlineCommentSnapshot, PullRequestSnapshot, ReviewSnapshot, ReviewState
from bot.pull_request.facts import DecisionTime, Facts
from bot.pull_request.model import PullRequest, Revision, StickyComment
from bot.turn.decide import decide_pull_request
from bot.values import Account, Repository

RULES_DIRECTORY = Path(__file__).parent.parent / "rules"
KNOWLEDGE_BASE = load_pack(RULES_DIRECTORY / "knowledge-base.yml")
RULES = RepositoryRules(gates=KNOWLEDGE_BASE, detection=DetectionConfig(enabled=False))
SITE = LinkContext(GitHubLinks())

START = datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
ME = Account(900, "whetstone[bot]", bot=True)
RIO = Account(10, "rio-agent[bot]", bot=True)
ALICE = Account(1, "alice")
BOB = Account(2, "bob")
REPOSITORY = Repository(77, "acme", "knowledge", installation_id=5)
HEADS = tuple(f"{number:x}" * 40 for number in range(1, 10))
ID = "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10"


def at(minutes: float) -> datetime:
    """So many minutes into the story."""
    return START + timedelta(minutes=minutes)


SHOWN = {
    "repository": REPOSITORY,
    "number": 212,
    "author": RIO,
    "title": "Futarchy resists manipulation",
    "base": "main",
    "head": HEADS[0],
    "created_at": at(-60),
    "updated_at": at(0),
}
"""What GitHub shows of the one pull request of most tests."""


def pull_request(**changes) -> PullRequest:
    known = PullRequest(**SHOWN, revisions=(Revision(HEADS[0], at(-60)),), seen_opening=True)
    return replace(known, **changes)


def snapshot(**changes) -> PullRequestSnapshot:
    seen = PullRequestSnapshot(**SHOWN, open=True, merged=False, draft=False, closed_at=None)
    return replace(seen, **changes)


def issues(*tags: str) -> str:
    """A review's line that names these tags."""
    return f"<!-- ISSUES: {', '.join(tags)} -->"


def review(number: int, body: str = "", **changes) -> ReviewSnapshot:
    said = ReviewSnapshot(
        id=number,
        author=ALICE,
        state=ReviewState.CHANGES_REQUESTED,
        body=body,
        submitted_at=at(number),
        head=HEADS[0],
        url=f"https://github.com/acme/knowledge/pull/212#pullrequestreview-{number}",
    )
    return replace(said, **changes)


def inline(number: int, review_id: int, body: str, **changes) -> InlineCommentSnapshot:
    said = InlineCommentSnapshot(
        id=number,
        review_id=review_id,
        author=ALICE,
        body=body,
        path="claims/futarchy.md",
        line=5,
        start_line=None,
        diff_hunk="@@ -0,0 +1,5 @@\n+---\n+type: claim\n+domain: markets\n+source: x\n+created: 2026-13-01",
        created_at=at(number % 60),
        url=f"https://github.com/acme/knowledge/pull/212#discussion_r{number}",
    )
    return replace(said, **changes)


def facts(
    *reviews: ReviewSnapshot, comments: tuple[InlineCommentSnapshot, ...] = (), roles: dict | None = None
) -> Facts:
    everybody = {said.author.id: "write" for said in reviews}
    return Facts(ME, None, reviews, comments, everybody if roles is None else roles)


def moment(minutes: float = 42, identity: str = ID) -> DecisionTime:
    return DecisionTime(at(minutes), identity)


def sticky(**changes) -> StickyComment:
    shown = StickyComment(
        comment_id=501,
        node_id="IC_501",
        url="https://github.com/acme/knowledge/pull/212#issuecomment-501",
        marker_id="old",
        fingerprint="something else",
        issues=("date_errors",),
        blocking=("date_errors",),
        written_at=at(2),
    )
    return replace(shown, **changes)


def decided(
    known: PullRequest, read: Facts, rules: RepositoryRules = RULES, when: DecisionTime | None = None
) -> Decision:
    return decide_pull_request(known, read, rules, when or moment(), SITE)


def rendered(feedback: Feedback, site: LinkContext = SITE) -> str:
    """The comment on this feedback."""
    return render_comment(feedback, site, build_document(feedback, site.schema))


def written(decision: Decision) -> PullRequest:
    """The pull request once GitHub shows the comment that was decided, if one was."""
    known = decision.pull_request
    for effect in decision.effects:
        if isinstance(effect, ShowComment):
            shown = sticky(fingerprint=effect.fingerprint, issues=effect.issues, blocking=effect.blocking)
            known = replace(known, sticky=shown)
    return known
