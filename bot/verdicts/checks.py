"""Turn check runs and commit statuses into verdicts, where the config maps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.gates.config import CheckRule, RepositoryRules
from bot.gates.model import has_phrase
from bot.pull_request.checks import FAILED_CONCLUSIONS, CheckAnnotation
from bot.pull_request.events import CheckEvent
from bot.pull_request.model import Item, Provenance, PullRequest, Stance, Validator, Verdict, hash_text
from bot.values import Account
from bot.verdicts.tags import MAX_ITEM_WORDS, ValidatorText, infer_items, limit_items

_PASSED = frozenset({"success", "neutral", "skipped"})  # as GitHub counts a required check


def conclusion_stance(conclusion: str) -> Stance | None:
    """Return the stance of a check with this conclusion; None for one that was cancelled or went stale."""
    if conclusion in FAILED_CONCLUSIONS:
        return Stance.REJECTS
    return Stance.APPROVES if conclusion in _PASSED else None


def is_mapped_check(check: CheckEvent, rules: RepositoryRules, me: Account) -> bool:
    """Whether the config maps this check, and it is not the bot's own."""
    return (
        conclusion_stance(check.conclusion) is not None
        and f"{check.app}[bot]" != me.login
        and any(rule.covers(check.name) for rule in rules.validators.checks)
    )


def merge_check(
    pull_request: PullRequest,
    check: CheckEvent,
    annotations: Sequence[CheckAnnotation],
    rules: RepositoryRules,
) -> tuple[Verdict, ...]:
    """Return the verdicts with this check's; a result older than the recorded one changes nothing."""
    verdicts = {verdict.id: verdict for verdict in pull_request.verdicts}
    verdict = _check_verdict(check, annotations, rules)
    earlier = verdicts.get(verdict.id)
    if earlier is None or earlier.at <= verdict.at:
        verdicts[verdict.id] = verdict
    if check.head != pull_request.head:
        return tuple(verdicts.values())
    # No brief goes by what it printed for an earlier head, and that would pile up.
    return tuple(_drop_output(other, verdict) for other in verdicts.values())


def _drop_output(verdict: Verdict, newest: Verdict) -> Verdict:
    earlier = verdict.validator.key == newest.validator.key and verdict.head != newest.head
    return replace(verdict, said="") if earlier and verdict.said else verdict


def _check_verdict(
    check: CheckEvent, annotations: Sequence[CheckAnnotation], rules: RepositoryRules
) -> Verdict:
    stance = conclusion_stance(check.conclusion) or Stance.SILENT
    covering = [rule for rule in rules.validators.checks if rule.covers(check.name)]
    stated = [item for rule in covering for item in _rule_items(check, rule, annotations)]
    items, more = limit_items(stated if stance is Stance.REJECTS else ())
    if stance is Stance.REJECTS and not items:
        items = infer_items(_check_texts(check, annotations), rules)
    return Verdict(
        # One a revision: a check that runs again replaces what it said, and no history piles up.
        id=f"check:{check.name}@{check.head}",
        validator=Validator(f"check:{check.name}", check.name, bot=True, check=True),
        stance=stance,
        at=check.at,
        head=check.head,
        items=items,
        more=more,
        url=check.url,
        permission="config",
        body_hash=check.body_hash,
        account=check.account,
        account_id=check.account_id,
        way="" if check.run_id else "status",
        said=check.output if stance is Stance.REJECTS else "",
    )


def _check_texts(check: CheckEvent, annotations: Sequence[CheckAnnotation]) -> Iterator[ValidatorText]:
    """Yield the texts beyond what the config maps: the output, and the annotations with their locations."""
    yield ValidatorText(f"{check.title}\n\n{check.output}", check.url)
    for annotation in annotations:
        if annotation.level != "notice":
            text = f"{annotation.title}\n\n{annotation.message}"
            yield ValidatorText(text, check.url, annotation.location, _annotation_origin(annotation, check))


def _rule_items(check: CheckEvent, rule: CheckRule, annotations: Sequence[CheckAnnotation]) -> Iterator[Item]:
    """Yield the rule's tags, located at the annotations that it maps or that can mean nothing else."""
    placed = [
        _located_item(tag, annotation, check)
        for annotation in annotations
        for tag in _mapped_tags(annotation, rule) or _sole_tag(annotation, rule)
    ]
    result = check.title or f"{check.name}: {check.conclusion}"
    for tag in dict.fromkeys((*rule.tags, *(item.tag for item in placed if item.tag))):
        located = [item for item in placed if item.tag == tag]
        without_location = Item(
            tag,
            words=check.title[:MAX_ITEM_WORDS],
            url=check.url,
            evidence=result[:MAX_ITEM_WORDS],
            metric=_title_metric(check),
        )
        yield from located or [without_location]


def _sole_tag(annotation: CheckAnnotation, rule: CheckRule) -> tuple[str, ...]:
    """Return the only tag of a check that has one; a notice is no failure."""
    return rule.tags if len(rule.tags) == 1 and annotation.level != "notice" else ()


def _mapped_tags(annotation: CheckAnnotation, rule: CheckRule) -> tuple[str, ...]:
    text = f"{annotation.title}\n{annotation.message}"
    return tuple(
        dict.fromkeys(mapping.tag for mapping in rule.annotations if has_phrase((mapping.phrase,), text))
    )


def _located_item(tag: str, annotation: CheckAnnotation, check: CheckEvent) -> Item:
    words = annotation.message or annotation.title
    evidence = f"{annotation.title}: {words}" if annotation.title and annotation.message else words
    return Item(
        tag,
        words=words[:MAX_ITEM_WORDS],
        place=annotation.location,
        url=check.url,
        evidence=evidence[:MAX_ITEM_WORDS],
        metric=_title_metric(check),
        origin=_annotation_origin(annotation, check),
    )


def _annotation_origin(annotation: CheckAnnotation, check: CheckEvent) -> Provenance:
    return Provenance("annotation", "config", hash_text(annotation.message), check.account)


def _title_metric(check: CheckEvent) -> str | None:
    """Return the check's title, where it contains a number."""
    return check.title[:MAX_ITEM_WORDS] if any(map(str.isdecimal, check.title)) else None
