"""What must be read besides the reviews: who speaks in other ways, what checks found, what was proposed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.decisions.check_verdicts import stance
from bot.decisions.comment_verdicts import speaks
from bot.decisions.fixing import file_key
from bot.decisions.record import record
from bot.decisions.voices import Voice, voice_of
from bot.domain.check_runs import Annotation
from bot.domain.config_check import ConfigReport
from bot.domain.events import CheckSeen, CommentSeen, ConfigPushed, Event, LabelSeen, PullRequestSeen
from bot.domain.facts import Facts
from bot.domain.grounding.paths import is_inside, is_secret
from bot.domain.model import PullRequest, Repository, Stance
from bot.domain.own_events import HeadSeen, ValidationSeen
from bot.domain.rules import Rules
from bot.ports import Forbidden, GitHub, Gone, Refused, RuleBook

CONFIG_PATH = ".github/whetstone.yml"
_NEW_HEAD = frozenset({"opened", "reopened"})


async def listen(
    facts: Facts, pull_request: PullRequest, events: Sequence[Event], rules: Rules, github: GitHub
) -> Facts:
    """The facts with what these events say by themselves; an event that says nothing costs no read."""
    before = await _ended_before(pull_request, events, rules, github)
    found = (voice_of(event, pull_request, rules, facts.me) for event in (*before, *events))
    spoken = tuple(voice for voice in found if voice)
    roles = dict(facts.roles)
    annotations = {}
    for voice in spoken:
        if isinstance(voice, LabelSeen) and _is_asked(voice, pull_request, facts):
            roles[voice.sender.id] = await github.role(pull_request.repository, voice.sender)
        elif isinstance(voice, CheckSeen) and voice.run_id and _has_places(voice):
            annotations[voice.run_id] = await _annotations(pull_request.repository, voice.run_id, github)
    return replace(facts, spoken=spoken, roles=roles, annotations=annotations)


async def judged_unseen(events: Sequence[Event], rule_book: RuleBook, github: GitHub) -> PullRequest | None:
    """The pull request that a validator judges by other means than a review, where nothing is known of it."""
    for event in events:
        if isinstance(event, ValidationSeen) or (
            isinstance(event, CommentSeen) and speaks(event, None, await rule_book.rules(event.repository))
        ):
            seen = await github.pull_request(event.repository, event.number)
            return record(None, PullRequestSeen("seen", seen), seen.updated_at)
    return None


async def proposed_config(
    pull_request: PullRequest, events: Sequence[Event], rule_book: RuleBook, github: GitHub
) -> ConfigReport | None:
    """What is to be said of the config that the pull request proposes; None where it proposes none."""
    if not pull_request.open or not any(_may_propose(event, pull_request) for event in events):
        return None
    report = await rule_book.report(pull_request.repository, pull_request.head)
    if report is None:
        return None
    # An old branch differs from the default one also where it touches nothing.
    changed = await github.changed_files(pull_request.repository, pull_request.number)
    return report if CONFIG_PATH in changed else None


async def read_files(
    pull_request: PullRequest,
    wanted: Sequence[tuple[str, str]],
    known: Mapping[str, str],
    github: GitHub,
) -> dict[str, str]:
    """The text of each file that can be read as such; one that was read already is not asked for again."""
    found: dict[str, str] = {}
    for head, path in wanted:
        if file_key(head, path) in known or is_secret(path) or not is_inside(path):
            continue
        try:
            data = await github.file(pull_request.repository, path, head)
        except (Forbidden, Gone, Refused):
            continue
        if data is not None:
            found[file_key(head, path)] = data.decode("utf-8", "replace")
    return found


async def _ended_before(
    pull_request: PullRequest, events: Sequence[Event], rules: Rules, github: GitHub
) -> tuple[CheckSeen, ...]:
    """The checks that ended before there was a pull request to tell; asked only where the config maps any."""
    if not pull_request.open or not rules.validators.checks:
        return ()
    if not any(_may_have_ended_before(event, pull_request) for event in events):
        return ()
    try:
        return await github.ended_checks(pull_request.repository, pull_request.head)
    except (Forbidden, Gone, Refused):
        return ()


async def _annotations(repository: Repository, run_id: int, github: GitHub) -> tuple[Annotation, ...]:
    """What the run found; a verdict without places is better than none where they may not be read."""
    try:
        return await github.annotations(repository, run_id)
    except (Forbidden, Gone, Refused):
        return ()


def _may_have_ended_before(event: Event, pull_request: PullRequest) -> bool:
    match event:
        case PullRequestSeen():
            return event.action in _NEW_HEAD
        case HeadSeen():
            return not pull_request.verdicts
        case _:
            return False


def _may_propose(event: Event, pull_request: PullRequest) -> bool:
    match event:
        case PullRequestSeen():
            # GitHub tells of a push to our own branches with its files; of one to a fork it does not.
            pushed = event.action == "synchronize" and (event.fork or pull_request.proposes)
            return event.action in _NEW_HEAD or pushed
        case ConfigPushed():
            return True
        case _:
            return False


def _is_asked(voice: LabelSeen, pull_request: PullRequest, facts: Facts) -> bool:
    """Whether it matters what the sender may do."""
    return voice.action == "labeled" and voice.sender.id not in {0, facts.me.id, pull_request.author.id}


def _has_places(voice: Voice) -> bool:
    return (
        isinstance(voice, CheckSeen) and voice.annotations > 0 and stance(voice.conclusion) is Stance.REJECTS
    )
