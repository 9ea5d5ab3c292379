"""Builders of valid values; keyword arguments change the facts that a test is about."""

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
RULES = RepositoryRules(
    gates=KNOWLEDGE_BASE, detection=DetectionConfig(enabled=False), inferring=("knowledge-base",)
)
SITE = LinkContext(GitHubLinks())

START = datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
ME = Account(900, "whetstone[bot]", bot=True)
RIO = Account(10, "rio-agent[bot]", bot=True)
ALICE = Account(1, "alice")
BOB = Account(2, "bob")
REPOSITORY = Repository(77, "acme", "knowledge", installation_id=5)
HEADS = tuple(f"{number:x}" * 40 for number in range(1, 10))
FEEDBACK_ID = "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10"


def at_minute(minutes: float) -> datetime:
    """The time this many minutes after `START`."""
    return START + timedelta(minutes=minutes)


PULL_REQUEST_FIELDS = {
    "repository": REPOSITORY,
    "number": 212,
    "author": RIO,
    "title": "Futarchy resists manipulation",
    "base": "main",
    "head": HEADS[0],
    "created_at": at_minute(-60),
    "updated_at": at_minute(0),
}
"""The fields of the pull request that most tests are about."""


def make_pull_request(**changes) -> PullRequest:
    pull_request = PullRequest(
        **PULL_REQUEST_FIELDS, revisions=(Revision(HEADS[0], at_minute(-60)),), seen_opening=True
    )
    return replace(pull_request, **changes)


def make_snapshot(**changes) -> PullRequestSnapshot:
    snapshot = PullRequestSnapshot(
        **PULL_REQUEST_FIELDS, open=True, merged=False, draft=False, closed_at=None
    )
    return replace(snapshot, **changes)


def issues_marker(*tags: str) -> str:
    """The marker in a review that names these tags."""
    return f"<!-- ISSUES: {', '.join(tags)} -->"


def make_review(number: int, body: str = "", **changes) -> ReviewSnapshot:
    review = ReviewSnapshot(
        id=number,
        author=ALICE,
        state=ReviewState.CHANGES_REQUESTED,
        body=body,
        submitted_at=at_minute(number),
        head=HEADS[0],
        url=f"https://github.com/acme/knowledge/pull/212#pullrequestreview-{number}",
    )
    return replace(review, **changes)


def make_inline_comment(number: int, review_id: int, body: str, **changes) -> InlineCommentSnapshot:
    comment = InlineCommentSnapshot(
        id=number,
        review_id=review_id,
        author=ALICE,
        body=body,
        path="claims/futarchy.md",
        line=5,
        start_line=None,
        diff_hunk="@@ -0,0 +1,5 @@\n+---\n+type: claim\n+domain: markets\n+source: x\n+created: 2026-13-01",
        created_at=at_minute(number % 60),
        url=f"https://github.com/acme/knowledge/pull/212#discussion_r{number}",
    )
    return replace(comment, **changes)


def make_facts(
    *reviews: ReviewSnapshot, comments: tuple[InlineCommentSnapshot, ...] = (), roles: dict | None = None
) -> Facts:
    write_access = {review.author.id: "write" for review in reviews}
    return Facts(ME, None, reviews, comments, write_access if roles is None else roles)


def make_decision_time(minutes: float = 42, identity: str = FEEDBACK_ID) -> DecisionTime:
    return DecisionTime(at_minute(minutes), identity)


def make_sticky_comment(**changes) -> StickyComment:
    comment = StickyComment(
        comment_id=501,
        node_id="IC_501",
        url="https://github.com/acme/knowledge/pull/212#issuecomment-501",
        marker_id="old",
        fingerprint="something else",
        issues=("date_errors",),
        blocking=("date_errors",),
        written_at=at_minute(2),
    )
    return replace(comment, **changes)


def decide(
    pull_request: PullRequest, facts: Facts, rules: RepositoryRules = RULES, time: DecisionTime | None = None
) -> Decision:
    return decide_pull_request(pull_request, facts, rules, time or make_decision_time(), SITE)


def render_feedback(feedback: Feedback, site: LinkContext = SITE) -> str:
    """The comment on this feedback."""
    return render_comment(feedback, site, build_document(feedback, site.schema))


def apply_posted_comment(decision: Decision) -> PullRequest:
    """The pull request once GitHub shows the comment that was decided, if one was."""
    pull_request = decision.pull_request
    for effect in decision.effects:
        if isinstance(effect, ShowComment):
            comment = make_sticky_comment(
                fingerprint=effect.fingerprint, issues=effect.issues, blocking=effect.blocking
            )
            pull_request = replace(pull_request, sticky=comment)
    return pull_request
