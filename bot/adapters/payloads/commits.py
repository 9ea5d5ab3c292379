"""What a payload says about a commit: a check, a status, a push; and about a label, or of our own."""

from __future__ import annotations

from bot.adapters.payloads import outputs, things
from bot.adapters.payloads.fields import (
    Json,
    find,
    identifier,
    moment,
    optional_integer,
    optional_moment,
    text,
    word,
)
from bot.domain.events import CheckSeen, ConfigPushed, Event, Ignored, LabelSeen
from bot.domain.origin import hash_of
from bot.domain.own_events import ConfigBroken
from bot.domain.snapshots import PullRequestSnapshot

CONFIG_BROKEN = "config_broken"
CONFIG_PATH = ".github/whetstone.yml"
_NOTHING = "0" * 40
_OUTPUT = ("title", "summary", "text")


def check_run(_action: str, payload: Json) -> Event | Ignored:
    """A check run that ended."""
    return CheckSeen(
        repository=things.repository(payload),
        head=word(payload, "check_run.head_sha"),
        name=word(payload, "check_run.name"),
        conclusion=text(payload, "check_run.conclusion").lower(),
        at=optional_moment(payload, "check_run.completed_at") or moment(payload, "check_run.started_at"),
        url=text(payload, "check_run.html_url"),
        run_id=identifier(payload, "check_run.id"),
        app=text(payload, "check_run.app.slug"),
        title=outputs.kept(text(payload, "check_run.output.title")),
        annotations=optional_integer(payload, "check_run.output.annotations_count") or 0,
        numbers=_numbers(payload, "check_run.pull_requests"),
        pull_request=_pull_request(payload),
        account=_app(payload),
        body_hash=hash_of(*(text(payload, f"check_run.output.{part}") for part in _OUTPUT)),
        output=outputs.kept(*(text(payload, f"check_run.output.{part}") for part in _OUTPUT[1:])),
    )


def status(_action: str, payload: Json) -> Event | Ignored:
    """A commit status that is no longer pending."""
    state = text(payload, "state").lower()
    if state == "pending":
        return Ignored("a status that is still pending")
    return CheckSeen(
        repository=things.repository(payload),
        head=word(payload, "sha"),
        name=word(payload, "context"),
        conclusion=state,
        at=optional_moment(payload, "updated_at") or moment(payload, "created_at"),
        url=text(payload, "target_url") or text(payload, "commit.html_url"),
        title=outputs.kept(text(payload, "description")),
        pull_request=_pull_request(payload),
        account=text(payload, "sender.login"),
        account_id=optional_integer(payload, "sender.id") or 0,
        body_hash=hash_of(text(payload, "description")),
    )


def push(_action: str, payload: Json) -> Event | Ignored:
    """A push that touches the config."""
    head = word(payload, "after")
    if head == _NOTHING or not text(payload, "ref").startswith("refs/heads/"):
        return Ignored("a push that leaves no branch")
    commits = find(payload, "commits")
    if not any(_touches(commit) for commit in (commits if isinstance(commits, list) else ())):
        return Ignored("a push that leaves the config alone")
    where = things.repository(payload)
    in_force = text(payload, "ref") == f"refs/heads/{where.default_branch}"
    return ConfigPushed(where, head, _pull_request(payload), in_force)


def label(action: str, payload: Json) -> Event | Ignored:
    """A label put on or taken off."""
    return LabelSeen(
        action=action,
        pull_request=things.pull_request(payload),
        label=text(payload, "label.name"),
        sender=things.account(payload, "sender"),
        url=text(payload, "pull_request.html_url"),
    )


def own(_action: str, payload: Json) -> Event | Ignored:
    """A row that we wrote ourselves."""
    return ConfigBroken(things.repository(payload))


def _app(payload: Json) -> str:
    slug = text(payload, "check_run.app.slug")
    return f"{slug}[bot]" if slug else ""


def _pull_request(payload: Json) -> PullRequestSnapshot | None:
    return things.pull_request(payload) if find(payload, "pull_request") else None


def _numbers(payload: Json, path: str) -> tuple[int, ...]:
    """The pull requests of this repository; a fork's payload names those of other repositories too."""
    found, here = find(payload, path), find(payload, "repository.id")
    numbers = (
        optional_integer(each, "number")
        for each in (found if isinstance(found, list) else ())
        if find(each, "base.repo.id") == here
    )
    return tuple(number for number in numbers if number)


def _touches(commit: object) -> bool:
    lists = (find(commit, key) for key in ("added", "removed", "modified"))
    return any(CONFIG_PATH in paths for paths in lists if isinstance(paths, list))
