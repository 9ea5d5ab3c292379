"""Parse GitHub's JSON: accounts, repositories, pull requests, reviews, checks, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot import regex
from bot.gates.rule_book import CONFIG_FILE
from bot.logging import PRIVATE_KEY, Redaction
from bot.pull_request.checks import CheckResult
from bot.pull_request.diff import Comparison, FileDiff
from bot.pull_request.documents import parse_documents_in
from bot.pull_request.events import (
    CheckEvent,
    ConfigPushEvent,
    Event,
    IgnoredEvent,
    InlineCommentSnapshot,
    LabelEvent,
    PullRequestSnapshot,
    ReviewSnapshot,
    ReviewState,
)
from bot.pull_request.model import Item, hash_text
from bot.values import GHOST, Account, Repository

JsonObject = Mapping[str, Any]

_LARGEST = 2**63 - 1  # what a database's integer holds
_MAX_MESSAGE = 4_000  # characters at the end of a commit message, where trailers are


class PayloadError(Exception):
    """A field that has to be there is not, or is of another kind."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(f"{path} is not {expected}")


Parsed = TypeVar("Parsed")


def parse_each(parse: Callable[[Any], Parsed], items: Iterable[Any]) -> Iterator[Parsed]:
    """Parse a list; one of many that can't be read is left out."""
    for item in items:
        with suppress(PayloadError):
            yield parse(item)


def get_path(tree: object, path: str) -> Any:
    """The value at `a.b.c`, None if any step is missing."""
    for step in path.split("."):
        if not isinstance(tree, dict):  # as every object that was read is: to ask for more is slow
            return None
        tree = tree.get(step)
    return tree


def require_object(tree: object, path: str) -> JsonObject:
    """An object that has to be there."""
    value = get_path(tree, path)
    if not isinstance(value, Mapping):
        raise PayloadError(path, "an object")
    return value


def require_id(tree: object, path: str) -> int:
    """An id or number that has to be there."""
    value = get_integer(tree, path)
    if value is None or value < 1:
        raise PayloadError(path, "a number")
    return value


def get_integer(tree: object, path: str) -> int | None:
    """A whole number that a database can hold, None for anything else."""
    value = get_path(tree, path)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and abs(value) <= _LARGEST else None


def require_text(tree: object, path: str) -> str:
    """A string that has to be there and to say something."""
    value = get_text(tree, path)
    if not value.strip():
        raise PayloadError(path, "a text")
    return value


def get_text(tree: object, path: str) -> str:
    """A string as a database can keep it; empty for anything else."""
    value = get_path(tree, path)
    if not isinstance(value, str):
        return ""
    # PostgreSQL keeps no NUL, and nothing encodes half a surrogate pair.
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def get_list(tree: object, path: str) -> list[Any]:
    """A list, empty for anything else."""
    value = get_path(tree, path)
    return value if isinstance(value, list) else []


def require_time(tree: object, path: str) -> datetime:
    """A time that has to be there, in UTC."""
    value = get_time(tree, path)
    if value is None:
        raise PayloadError(path, "a time")
    return value


def get_time(tree: object, path: str) -> datetime | None:
    """A time in UTC, None for anything else."""
    value = get_path(tree, path)
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


MAX_OUTPUT = 2_000
"""Characters that are kept of a title, a summary, a text, and of an annotation."""
ELLIPSIS = "\n…\n"

_redacted = Redaction()


def shorten_output(*parts: str) -> str:
    """The parts, each with the beginning and the end of a long one, in whole lines or at least words."""
    return "\n".join(_redacted(_ends(PRIVATE_KEY.sub("", part))) for part in parts if part.strip())


def _ends(text: str) -> str:
    """Cut before secrets are looked for: that may take long in a text made for it.

    No word is cut, for half a secret is not known as one. Only a key has lines, and blanks.
    """
    if len(text) <= MAX_OUTPUT:
        return text
    half = (MAX_OUTPUT - len(ELLIPSIS)) // 2
    first, last = text[:half], text[-half:]
    first = first.rpartition("\n")[0] or _LAST_WORD.sub("", first)
    return f"{first}{ELLIPSIS}{last.partition(chr(10))[2] or _FIRST_WORD.sub('', last)}"


_LAST_WORD = regex.Regex(r"\S*\z")
_FIRST_WORD = regex.Regex(r"\A\S*\s*")


def parse_account(tree: object, path: str) -> Account:
    """The account there; a deleted one is null, and becomes the ghost."""
    found = get_path(tree, path)
    number = get_integer(found, "id")
    login = get_text(found, "login")
    if not number or number < 1 or not login:
        return GHOST
    return Account(number, login, bot=get_path(found, "type") == "Bot")


def parse_repository(payload: JsonObject) -> Repository:
    """The payload's repository, with the installation that the delivery came through (0: none)."""
    return Repository(
        id=require_id(payload, "repository.id"),
        owner=require_text(payload, "repository.owner.login"),
        name=require_text(payload, "repository.name"),
        installation_id=get_integer(payload, "installation.id") or 0,
        private=get_path(payload, "repository.private") is True,
        default_branch=get_text(payload, "repository.default_branch") or "main",
    )


def parse_payload_pull_request(payload: JsonObject) -> PullRequestSnapshot:
    """The payload's pull request as it was when the event happened."""
    return parse_pull_request(parse_repository(payload), require_object(payload, "pull_request"))


def parse_pull_request(where: Repository, tree: JsonObject) -> PullRequestSnapshot:
    """A pull request of this repository, from a webhook or as it is read."""
    created = require_time(tree, "created_at")
    return PullRequestSnapshot(
        repository=where,
        number=require_id(tree, "number"),
        author=parse_account(tree, "user"),
        title=get_text(tree, "title"),
        base=require_text(tree, "base.ref"),
        head=require_text(tree, "head.sha"),
        created_at=created,
        updated_at=get_time(tree, "updated_at") or created,
        open=get_path(tree, "state") != "closed",
        # Reviews' payloads carry no `merged`, only the time.
        merged=get_path(tree, "merged") is True or get_time(tree, "merged_at") is not None,
        draft=get_path(tree, "draft") is True,
        closed_at=get_time(tree, "closed_at"),
        base_sha=get_text(tree, "base.sha"),
        body=get_text(tree, "body"),
    )


def parse_pull_requests(where: Repository, items: Iterable[JsonObject]) -> tuple[PullRequestSnapshot, ...]:
    """The pull requests of a list, except for those that can't be read."""
    return tuple(parse_each(lambda tree: parse_pull_request(where, tree), items))


def _parse_documents(tree: object) -> tuple[Item, ...]:
    """The items of the documents in a body's fences; most bodies have no fence."""
    body = get_text(tree, "body")
    has_fence = "```" in body or "~~~" in body
    return parse_documents_in(body, get_text(tree, "html_url")) if has_fence else ()


def parse_review(tree: JsonObject) -> ReviewSnapshot:
    """A review, from a webhook or from a list; raises `PayloadError` for a pending one without a time."""
    submitted = get_time(tree, "submitted_at") or get_time(tree, "updated_at")
    if submitted is None:
        raise PayloadError("review.submitted_at", "a time")
    return ReviewSnapshot(
        id=require_id(tree, "id"),
        author=parse_account(tree, "user"),
        state=_state(tree),
        body=get_text(tree, "body"),
        submitted_at=submitted,
        head=get_text(tree, "commit_id") or None,
        url=get_text(tree, "html_url"),
        documents=_parse_documents(tree),
        node_id=get_text(tree, "node_id"),
    )


def parse_inline_comment(tree: JsonObject) -> InlineCommentSnapshot:
    """A review comment, from a webhook or from a list."""
    on_line = get_path(tree, "subject_type") != "file"
    # GitHub moves `line` with later pushes, and empties it once the line is gone.
    written = "original_" if on_line and get_path(tree, "original_line") is not None else ""
    return InlineCommentSnapshot(
        id=require_id(tree, "id"),
        review_id=get_integer(tree, "pull_request_review_id"),
        author=parse_account(tree, "user"),
        body=get_text(tree, "body"),
        path=require_text(tree, "path"),
        line=_line(tree, f"{written}line", "side"),
        start_line=_line(tree, f"{written}start_line", "start_side"),
        # Of a comment on the whole file the hunk says nothing: it ends with no line that was meant.
        diff_hunk=get_text(tree, "diff_hunk") if on_line else "",
        created_at=require_time(tree, "created_at"),
        url=get_text(tree, "html_url"),
        documents=_parse_documents(tree),
        in_reply_to=get_integer(tree, "in_reply_to_id"),
    )


def _state(tree: JsonObject) -> ReviewState:
    try:
        # Webhooks write it in lower case, the API in upper case.
        return ReviewState(get_text(tree, "state").lower())
    except ValueError:
        raise PayloadError("review.state", "a known state") from None


def _line(tree: JsonObject, key: str, side: str) -> int | None:
    # The left side numbers the lines of the base, which mean nothing at the head.
    return None if get_path(tree, side) == "LEFT" else get_integer(tree, key)


_NOTHING = "0" * 40
_OUTPUT = ("title", "summary", "text")


def parse_check_run(_action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """A check run that was created or ended; its conclusion is empty while it runs."""
    return CheckEvent(
        repository=parse_repository(payload),
        head=require_text(payload, "check_run.head_sha"),
        name=require_text(payload, "check_run.name"),
        conclusion=get_text(payload, "check_run.conclusion").lower(),
        at=get_time(payload, "check_run.completed_at") or require_time(payload, "check_run.started_at"),
        url=get_text(payload, "check_run.html_url"),
        run_id=require_id(payload, "check_run.id"),
        app=get_text(payload, "check_run.app.slug"),
        title=shorten_output(get_text(payload, "check_run.output.title")),
        annotations=get_integer(payload, "check_run.output.annotations_count") or 0,
        numbers=_numbers(payload, "check_run.pull_requests"),
        pull_request=_pull_request(payload),
        account=_app(payload),
        body_hash=hash_text(*(get_text(payload, f"check_run.output.{part}") for part in _OUTPUT)),
        output=shorten_output(*(get_text(payload, f"check_run.output.{part}") for part in _OUTPUT[1:])),
        suite_id=get_integer(payload, "check_run.check_suite.id") or 0,
    )


def parse_status(_action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """A commit status; its conclusion is empty while it is pending."""
    state = get_text(payload, "state").lower()
    return CheckEvent(
        repository=parse_repository(payload),
        head=require_text(payload, "sha"),
        name=require_text(payload, "context"),
        conclusion="" if state == "pending" else state,
        at=get_time(payload, "updated_at") or require_time(payload, "created_at"),
        url=get_text(payload, "target_url") or get_text(payload, "commit.html_url"),
        title=shorten_output(get_text(payload, "description")),
        pull_request=_pull_request(payload),
        account=get_text(payload, "sender.login"),
        account_id=get_integer(payload, "sender.id") or 0,
        body_hash=hash_text(get_text(payload, "description")),
    )


def parse_push(_action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """A push that touches the config."""
    head = require_text(payload, "after")
    if head == _NOTHING or not get_text(payload, "ref").startswith("refs/heads/"):
        return IgnoredEvent("a push that deletes the branch")
    if not any(map(_touches, get_list(payload, "commits"))):
        return IgnoredEvent("a push that does not change the config")
    where = parse_repository(payload)
    in_force = get_text(payload, "ref") == f"refs/heads/{where.default_branch}"
    return ConfigPushEvent(where, head, _pull_request(payload), in_force)


def parse_label(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """A label put on or taken off."""
    return LabelEvent(
        action=action,
        pull_request=parse_payload_pull_request(payload),
        label=get_text(payload, "label.name"),
        sender=parse_account(payload, "sender"),
        url=get_text(payload, "pull_request.html_url"),
    )


def _app(payload: JsonObject) -> str:
    slug = get_text(payload, "check_run.app.slug")
    return f"{slug}[bot]" if slug else ""


def _pull_request(payload: JsonObject) -> PullRequestSnapshot | None:
    return parse_payload_pull_request(payload) if get_path(payload, "pull_request") else None


def _numbers(payload: JsonObject, path: str) -> tuple[int, ...]:
    """The pull requests of this repository; a fork's payload names those of other repositories too."""
    here = get_path(payload, "repository.id")
    pulls = (pull for pull in get_list(payload, path) if get_path(pull, "base.repo.id") == here)
    return tuple(number for pull in pulls if (number := get_integer(pull, "number")))


def _touches(commit: object) -> bool:
    return any(CONFIG_FILE in get_list(commit, key) for key in ("added", "removed", "modified"))


def repository_payload(where: Repository) -> dict[str, Any]:
    """A repository and its installation as GitHub's payloads have them."""
    return {
        "repository": {
            "id": where.id,
            "name": where.name,
            "owner": {"login": where.owner},
            "private": where.private,
            "default_branch": where.default_branch,
        },
        "installation": {"id": where.installation_id},
    }


def parse_comparison(answer: Any, head: str) -> Comparison:
    """The comparison with what could be read of it; the tree only where the head itself is shown."""
    commits = get_list(answer, "commits")
    shown = next((commit for commit in reversed(commits) if get_text(commit, "sha") == head), None)
    return Comparison(
        base=get_text(answer, "merge_base_commit.sha") or None,
        tree=get_text(shown, "commit.tree.sha") or None,
        ahead=get_integer(answer, "ahead_by") or 0,
        files=tuple(_file(file) for file in get_list(answer, "files") if get_text(file, "filename")),
        messages=tuple(get_text(commit, "commit.message")[-_MAX_MESSAGE:] for commit in commits),
    )


def parse_check_results(runs: Any, statuses: Any) -> tuple[CheckResult, ...]:
    """Check runs and commit statuses alike; a status that waits has no conclusion yet."""
    found = [
        CheckResult(
            get_text(run, "name"),
            get_text(run, "conclusion") or None,
            run_id=get_integer(run, "id") or 0,
            app=get_text(run, "app.slug"),
            suite_id=get_integer(run, "check_suite.id") or 0,
        )
        for run in get_list(runs, "check_runs")
    ]
    for status in get_list(statuses, "statuses"):
        state = get_text(status, "state")
        conclusion = None if state == "pending" else state or None
        found.append(CheckResult(get_text(status, "context"), conclusion, app=""))
    return tuple(check for check in found if check.name)


def parse_ended_checks(where: Repository, head: str, runs: Any, statuses: Any) -> tuple[CheckEvent, ...]:
    """Check runs and statuses that ended, as their events would have reported them."""
    told = repository_payload(where)
    ended = [run for run in get_list(runs, "check_runs") if get_text(run, "status") == "completed"]
    checks = [{**told, "check_run": run} for run in ended]
    contexts = [{**told, **status, "sha": head} for status in get_list(statuses, "statuses")]
    events = (
        *parse_each(lambda payload: parse_check_run("completed", payload), checks),
        *parse_each(lambda payload: parse_status("", payload), contexts),
    )
    return tuple(event for event in events if isinstance(event, CheckEvent))


def _file(tree: Any) -> FileDiff:
    return FileDiff(
        path=get_text(tree, "filename"),
        added=get_integer(tree, "additions") or 0,
        deleted=get_integer(tree, "deletions") or 0,
        status=get_text(tree, "status") or "modified",
        blob=get_text(tree, "sha") or None,
        previous_path=get_text(tree, "previous_filename") or None,
        patch=get_text(tree, "patch") if isinstance(get_path(tree, "patch"), str) else None,
    )


_ROLES = ("admin", "maintain", "write", "triage", "read")
_FLAGS = {"admin": "admin", "maintain": "maintain", "push": "write", "triage": "triage", "pull": "read"}


def parse_role(answer: Any, account: Account) -> str | None:
    """The role in GitHub's response; None without one, or if the login now belongs to another account."""
    holder = get_integer(answer, "user.id")
    if holder is not None and holder != account.id:
        return None
    name = get_text(answer, "role_name")
    if name in _ROLES:
        return name
    # A role of the organisation's own making: what it is built on shows in the flags.
    if role := highest_role(answer, "user.permissions"):
        return role
    # `permission` knows neither triage nor maintain, so it comes last.
    coarse = get_text(answer, "permission")
    return coarse if coarse in _ROLES else None


def highest_role(tree: Any, path: str) -> str | None:
    """The highest role that the flags there give."""
    return next((role for flag, role in _FLAGS.items() if get_path(tree, f"{path}.{flag}") is True), None)
