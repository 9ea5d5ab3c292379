"""What do validators say in other ways than by a review, and who among them counts?"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from bot.decisions import check_verdicts, comment_verdicts, label_verdicts
from bot.decisions.validation_verdicts import with_validation
from bot.decisions.verdicts import counts, granted
from bot.domain.events import CheckSeen, CommentSeen, Event, LabelSeen
from bot.domain.facts import Facts
from bot.domain.model import Account, PullRequest
from bot.domain.own_events import ValidationSeen
from bot.domain.rules import Rules

Voice = CommentSeen | LabelSeen | CheckSeen | ValidationSeen


def voice_of(event: Event, pull_request: PullRequest, rules: Rules, me: Account) -> Voice | None:
    """The event, if it can change a verdict by itself."""
    match event:
        case CommentSeen() if comment_verdicts.speaks(event, pull_request, rules):
            return event
        case ValidationSeen():
            return event
        case LabelSeen() if label_verdicts.tag_of(event.label):
            return event
        case CheckSeen() if check_verdicts.is_mapped(event, rules, me):
            return event
        case _:
            return None


def with_voices(pull_request: PullRequest, facts: Facts, rules: Rules) -> PullRequest:
    """The pull request with the verdicts that these events amount to, in the order they came."""
    for voice in facts.spoken:
        match voice:
            case CommentSeen():
                verdicts = comment_verdicts.with_comment(pull_request, voice, rules, facts.me)
            case LabelSeen():
                role = facts.roles.get(voice.sender.id)
                counted = counts(voice.sender, role, pull_request, facts, rules)
                allowed = granted(voice.sender, role, rules) if counted else role
                verdicts = label_verdicts.with_label(pull_request, voice, allowed, counted=counted)
            case ValidationSeen():
                verdicts = with_validation(pull_request, voice, rules, facts.me)
            case CheckSeen():
                found = facts.annotations.get(voice.run_id or 0, ())
                verdicts = check_verdicts.with_check(pull_request, voice, found, rules)
            case _:
                assert_never(voice)
        pull_request = replace(pull_request, verdicts=verdicts)
    return pull_request
