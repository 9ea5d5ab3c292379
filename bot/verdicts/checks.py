"""Turn check runs and commit statuses into verdicts, where the config maps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot.findings.ledger import verdict_order
from bot.gates.config import CheckRule, RepositoryRules
from bot.gates.model import has_phrase
from bot.pull_request.checks import FAILED_CONCLUSIONS, CheckAnnotation, check_validator_key
from bot.pull_request.events import CheckEvent
from bot.pull_request.model import Item, Provenance, PullRequest, Stance, Validator, Verdict, hash_text
from bot.values import Account
from bot.verdicts.failures import CheckFailure, read_failure, tail_of_log
from bot.verdicts.tags import MAX_BODY_KEPT, MAX_ITEM_WORDS, infer_tags, limit_items

ACTIONS_APP = "github-actions"
"""The App whose check runs are jobs with a log."""

_PASSED = frozenset({"success", "neutral", "skipped"})  # as GitHub counts a required check


def conclusion_stance(conclusion: str) -> Stance | None:
    """Return the stance of a check with this conclusion; None for one that was cancelled or went stale."""
    if conclusion in FAILED_CONCLUSIONS:
        return Stance.REJECTS
    return Stance.APPROVES if conclusion in _PASSED else None


def is_mapped_check(check: CheckEvent, rules: RepositoryRules, me: Account) -> bool:
    """Whether the config maps this check, it is not the bot's own, and it runs or has ended."""
    return (
        (not check.conclusion or conclusion_stance(check.conclusion) is not None)
        and f"{check.app}[bot]" != me.login
        and any(rule.covers(check.name) for rule in rules.validators.checks)
    )


MAX_RUNS_KEPT = 10
"""Runs of one check at one head that a pull request stores; older ones go first."""
MAX_SUITES_READ = 4
"""Suites whose event is read in one turn, the newest first."""


def merge_check(
    pull_request: PullRequest,
    check: CheckEvent,
    annotations: Sequence[CheckAnnotation],
    rules: RepositoryRules,
    *,
    log: str = "",
) -> tuple[Verdict, ...]:
    """Return the verdicts with this run's; which run counts is the ledger's decision.

    `log` is the end of the job's log, where the check's own output says nothing.
    """
    verdict = _check_verdict(check, located_annotations(annotations), rules, tail_of_log(log) if log else "")
    same_suite = (other for other in pull_request.verdicts if verdict.suite and other.suite == verdict.suite)
    trigger = next((other.trigger for other in same_suite if other.trigger), "")
    verdict = replace(verdict, trigger=trigger)
    recorded = (_with_app(other, verdict) for other in pull_request.verdicts)
    verdicts = {other.id: other for other in recorded if other is not None} | {verdict.id: verdict}
    same_head = sorted(
        (other for other in verdicts.values() if _is_same_check(other, verdict)), key=verdict_order
    )
    for other in same_head[:-MAX_RUNS_KEPT]:
        del verdicts[other.id]
    if check.head != pull_request.head:
        return tuple(verdicts.values())
    # No brief goes by what it printed for an earlier head or in an earlier run, and that would pile up.
    return tuple(_drop_output(other, same_head[-1]) for other in verdicts.values())


def unread_suites(pull_request: PullRequest) -> tuple[int, ...]:
    """Return the suites of GitHub Actions whose event has to be read: it decides which of two counts.

    That matters only where a check of one name is in several suites at the head, and fails in one of them.
    """
    by_key: dict[str, list[Verdict]] = {}
    for verdict in pull_request.verdicts:
        is_job = verdict.validator.key.startswith(f"check:{ACTIONS_APP}/")
        if is_job and verdict.suite and verdict.head == pull_request.head:
            by_key.setdefault(verdict.validator.key, []).append(verdict)
    unread = {
        verdict.suite
        for verdicts in by_key.values()
        if len({verdict.suite for verdict in verdicts}) > 1
        and any(verdict.stance is Stance.REJECTS for verdict in verdicts)
        for verdict in verdicts
        if not verdict.trigger
    }
    return tuple(sorted(unread)[-MAX_SUITES_READ:])


def record_triggers(pull_request: PullRequest, triggers: Mapping[int, str]) -> PullRequest:
    """Record the events that started these suites."""
    verdicts = tuple(
        replace(verdict, trigger=triggers[verdict.suite])
        if verdict.suite in triggers and not verdict.trigger
        else verdict
        for verdict in pull_request.verdicts
    )
    return replace(pull_request, verdicts=verdicts) if triggers else pull_request


def needs_log(check: CheckEvent, annotations: Sequence[CheckAnnotation]) -> bool:
    """Whether the job's log has to be read to learn what failed: GitHub Actions leaves the output empty."""
    is_failed = conclusion_stance(check.conclusion) is Stance.REJECTS
    is_job = check.app == ACTIONS_APP and check.run_id is not None
    return (
        is_failed and is_job and not located_annotations(annotations) and read_failure(check.output) is None
    )


def located_annotations(annotations: Sequence[CheckAnnotation]) -> tuple[CheckAnnotation, ...]:
    """Return the annotations that say where it failed: those of level failure, others if there is none."""
    telling = [annotation for annotation in annotations if not _is_exit_code(annotation)]
    failures = tuple(annotation for annotation in telling if annotation.level == "failure")
    return failures or tuple(telling)


def _is_exit_code(annotation: CheckAnnotation) -> bool:
    """Whether it is GitHub Actions' own note that a step failed, which is at no line of the code."""
    return annotation.path == ".github" or (
        annotation.path.startswith(".github")
        and annotation.message.startswith("Process completed with exit code")
    )


def _with_app(other: Verdict, verdict: Verdict) -> Verdict | None:
    """Return a verdict of 0.1, which knew checks by name alone, as one of its App; None if replaced."""
    is_older_form = other.validator.key == f"check:{verdict.validator.name}" != verdict.validator.key
    if not is_older_form or other.way == "status" or other.account != verdict.account:
        return other
    return None if other.head == verdict.head else replace(other, validator=verdict.validator)


def _is_same_check(verdict: Verdict, other: Verdict) -> bool:
    return (verdict.validator.key, verdict.head) == (other.validator.key, other.head)


def _drop_output(verdict: Verdict, newest: Verdict) -> Verdict:
    is_older = verdict.validator.key == newest.validator.key and verdict.id != newest.id
    return replace(verdict, said="") if is_older and verdict.said else verdict


def _check_verdict(
    check: CheckEvent, annotations: Sequence[CheckAnnotation], rules: RepositoryRules, log: str
) -> Verdict:
    failure = read_failure(check.output, check.url) or (read_failure(log, check.url) if log else None)
    stance = conclusion_stance(check.conclusion) or Stance.SILENT
    covering = [rule for rule in rules.validators.checks if rule.covers(check.name)]
    stated = [item for rule in covering for item in _rule_items(check, rule, annotations, failure)]
    items, more = limit_items(stated if stance is Stance.REJECTS else ())
    if stance is Stance.REJECTS and not items:
        items, more = limit_items(infer_tags(_untagged_items(check, annotations, failure), rules))
    key = check_validator_key(check.app, check.name)
    run = f"{check.suite_id}/{int(check.at.timestamp())}-{check.run_id or 0}"
    return Verdict(
        # An App can end one run twice: it is the same run, and what was dismissed in it stays dismissed.
        id=f"{key}@{check.head}#{run}",
        validator=Validator(key, check.name, bot=True, check=True),
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
        said=(check.output or _failure_lines(log)) if stance is Stance.REJECTS else "",
    )


def _failure_lines(log: str) -> str:
    """Return the end of a log that is kept: enough for the brief, and no more than a check's own output."""
    return log[-MAX_BODY_KEPT:].partition("\n")[2] if len(log) > MAX_BODY_KEPT else log


def _untagged_items(
    check: CheckEvent, annotations: Sequence[CheckAnnotation], failure: CheckFailure | None
) -> Iterator[Item]:
    """Yield what failed in a check that no tag stands for: its annotations, else its first failure."""
    located = [annotation for annotation in annotations if annotation.level != "notice"]
    for annotation in located:
        words = annotation.message or annotation.title
        origin = _annotation_origin(annotation, check)
        yield Item(None, words[:MAX_ITEM_WORDS], annotation.location, check.url, origin=origin)
    if not located:
        first_line = next((line.strip() for line in check.output.splitlines() if line.strip()), "")
        summary = (failure.summary if failure else "") or first_line or check.title
        words = summary or f"{check.name}: {check.conclusion}"
        place, part = (failure.location, failure.part) if failure else (None, None)
        yield Item(None, words[:MAX_ITEM_WORDS], place, check.url, part=part)


def _rule_items(
    check: CheckEvent,
    rule: CheckRule,
    annotations: Sequence[CheckAnnotation],
    failure: CheckFailure | None,
) -> Iterator[Item]:
    """Yield the rule's tags, located at the annotations that it maps or that can mean nothing else.

    Without such an annotation the first failure in the output says what is wrong and where.
    """
    placed = [
        _located_item(tag, annotation, check)
        for annotation in annotations
        for tag in _mapped_tags(annotation, rule) or _sole_tag(annotation, rule)
    ]
    result = check.title or f"{check.name}: {check.conclusion}"
    for tag in dict.fromkeys((*rule.tags, *(item.tag for item in placed if item.tag))):
        located = [item for item in placed if item.tag == tag]
        described = Item(
            tag,
            words=((failure.summary if failure else "") or check.title)[:MAX_ITEM_WORDS],
            place=failure.location if failure else None,
            url=check.url,
            evidence=((failure.summary if failure else "") or result)[:MAX_ITEM_WORDS],
            metric=_title_metric(check),
            part=failure.part if failure else None,
        )
        yield from located or [described]


def _sole_tag(annotation: CheckAnnotation, rule: CheckRule) -> tuple[str, ...]:
    """Return the only tag of a check that has one; a notice is not a failure."""
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
    """Return the check's title, if it contains a number."""
    return check.title[:MAX_ITEM_WORDS] if any(map(str.isdecimal, check.title)) else None
