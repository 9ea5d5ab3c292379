"""Which verdict does a document or a linter's log amount to that was handed in over HTTP?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.decisions.comment_verdicts import head_at
from bot.domain.choices import Permission
from bot.domain.model import Account, Item, PullRequest, Stance, Validator, Verdict
from bot.domain.own_events import ValidationSeen
from bot.domain.phrases import names
from bot.domain.rules import Rules
from bot.domain.tags import MOST_WORDS, bounded

_SEVERITIES = {"error": "major", "warning": "minor", "note": "suggestion", "none": "suggestion"}


def with_validation(
    pull_request: PullRequest, seen: ValidationSeen, rules: Rules, me: Account
) -> tuple[Verdict, ...]:
    """The verdicts with what was handed in; the newest of the same voice stands."""
    items, more = bounded(_mapped(seen, rules) if seen.tool else seen.items)
    rejects = bool(items) and not seen.accepts
    voice = _validator(seen)
    # Findings that the config gives no meaning refuse nothing, but they are no consent either.
    means_nothing = bool(seen.tool and seen.findings and not items) and not _has_rejected(pull_request, voice)
    # Pipelines name what they checked out, which may be GitHub's merge of the head into the base.
    heads = {revision.head for revision in pull_request.revisions}
    verdict = Verdict(
        id=f"validation:{seen.id}",
        validator=voice,
        stance=Stance.REJECTS if rejects else Stance.APPROVES,
        at=seen.at,
        head=seen.head if seen.head in heads else head_at(pull_request, seen.at),
        items=items if rejects else (),
        more=more if rejects else 0,
        counted=_counts(seen, pull_request, rules, me) and not means_nothing,
        permission=seen.role,
        body_hash=seen.body_hash,
        account=seen.author.login if seen.author and seen.tool else "",
        account_id=seen.author.id if seen.author else 0,
    )
    return (*(each for each in pull_request.verdicts if each.id != verdict.id), verdict)


def _has_rejected(pull_request: PullRequest, voice: Validator) -> bool:
    return any(
        each.validator.key == voice.key and each.counted and each.stance is Stance.REJECTS
        for each in pull_request.verdicts
    )


def _validator(seen: ValidationSeen) -> Validator:
    """A voice of its own: a script that uses a person's token must not replace that person's review."""
    # GitHub did not say which App's token it was: what one such token says must lift nothing of another's.
    who = str(seen.author.id) if seen.author else f"app:{seen.id}"
    if seen.tool:
        return Validator(f"validation:{who}:{seen.tool}", seen.tool, bot=True, check=True)
    name = seen.author.login if seen.author else "validation"
    return Validator(f"validation:{who}", name, bot=seen.author is None or seen.author.bot)


def _counts(seen: ValidationSeen, pull_request: PullRequest, rules: Rules, me: Account) -> bool:
    if seen.author and seen.author.id in {me.id, pull_request.author.id}:
        return False
    if seen.author and rules.validators.is_named(seen.author.login, bot=seen.author.bot):
        return True
    return seen.role in set(Permission) and Permission(seen.role).is_at_least(rules.validators.permission)


def _mapped(seen: ValidationSeen, rules: Rules) -> Iterator[Item]:
    """The results whose rule the config gives a tag; the others are the linter's own business."""
    for finding in seen.findings:
        tag = next((rule.tag for rule in rules.validators.sarif if names(rule.rule, finding.rule)), None)
        if tag:
            yield Item(
                tag,
                words=finding.message[:MOST_WORDS],
                place=finding.place,
                severity=_SEVERITIES.get(finding.level),
                evidence=f"{seen.tool} {finding.rule}: {finding.message}"[:MOST_WORDS],
            )
