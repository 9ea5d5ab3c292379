"""What is wrong with a running Whetstone, and how is it mended?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.app_facts import AboutApp, Hook, Installed, Sent, Wanted
from bot.domain.model import PullRequest, Stance

_LEVELS = ("read", "write", "admin")
_SKEW_NOTED, _SKEW_WRONG = 10, 55
"""Our JWT is dated a minute back, and GitHub takes none from its future."""


class State(StrEnum):
    """How bad it is."""

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, what was found, and what to do about it."""

    subject: str
    state: State
    what: str
    mend: str = ""


def of_settings(problems: Sequence[str]) -> tuple[Finding, ...]:
    """Everything that is missing or malformed."""
    if not problems:
        return (Finding("settings", State.FINE, "all that is needed is set"),)
    return tuple(Finding("settings", State.WRONG, problem, _set(problem)) for problem in problems)


def _set(problem: str) -> str:
    mend = "set it in the environment or in .env; docs/reference/settings.md says how"
    is_missing = problem.startswith("GITHUB_") and " is not set" in problem
    return f"{mend}, and whetstone serve --setup does it for you" if is_missing else mend


def of_clock(ahead: float | None) -> Finding:
    """How far this machine's clock is ahead of GitHub's, in seconds."""
    if ahead is None:
        return Finding("clock", State.NOTE, "GitHub showed no time to compare with")
    state = State.FINE if abs(ahead) <= _SKEW_NOTED else State.NOTE
    if abs(ahead) > _SKEW_WRONG:
        state = State.WRONG
    way = "ahead of" if ahead > 0 else "behind"
    what = (
        "as GitHub's, to a few seconds" if state is State.FINE else f"{abs(ahead):.0f} s {way} GitHub's clock"
    )
    mend = (
        "" if state is State.FINE else "set this machine's clock by NTP: GitHub refuses what is dated wrongly"
    )
    return Finding("clock", state, what, mend)


def of_registration(app: AboutApp, wanted: Wanted) -> tuple[Finding, ...]:
    """Whether the App was registered with what `app.yml` asks for."""
    mend = f"change it under Permissions & events of the App ({app.url})"
    return (
        _permissions("permissions", "the App", app.permissions, wanted, mend),
        _events(app, wanted, mend),
    )


def of_installation(installed: Installed, wanted: Wanted) -> tuple[Finding, ...]:
    """Whether an account granted what the App asks for."""
    where = f"the installation on {installed.account}"
    if installed.suspended:
        mend = f"un-suspend it at {installed.url}"
        return (Finding("installation", State.WRONG, f"{where} is suspended", mend),)
    mend = f"an owner of {installed.account} accepts the new permissions at {installed.url}"
    return (_permissions("installation", where, installed.permissions, wanted, mend),)


def of_hook(hook: Hook, public_url: str | None) -> tuple[Finding, ...]:
    """Whether deliveries go where this server is, in the form that it reads."""
    found = []
    if not hook.url:
        found.append(("the App has no webhook address", "set it to https://<this server>/webhook"))
    elif not hook.url.endswith("/webhook"):
        found.append((f"the address {hook.url} is not this bot's door", "let it end with /webhook"))
    elif public_url and hook.url != f"{public_url}/webhook":
        found.append((f"the address is {hook.url}, PUBLIC_URL is {public_url}", "make the two agree"))
    if not hook.json:
        found.append(("deliveries come as a form", "set the content type to application/json"))
    if not hook.has_secret:
        found.append(("GitHub signs nothing", "set the webhook secret to GITHUB_WEBHOOK_SECRET"))
    if not hook.checks_certificate:
        found.append(("GitHub does not check the certificate", "enable SSL verification"))
    if not found:
        return (Finding("webhook", State.FINE, f"deliveries go to {hook.url}"),)
    return tuple(
        Finding("webhook", State.WRONG, what, f"{mend}, on the App's settings page") for what, mend in found
    )


def of_deliveries(sent: Iterable[Sent]) -> Finding:
    """Whether GitHub could deliver what it had to say."""
    lost = unanswered(sent)
    if not lost:
        return Finding("deliveries", State.FINE, "every delivery of the last three days was taken")
    reasons = ", ".join(f"{status} ({n})" for status, n in Counter(s.status for s in lost).most_common(3))
    mend = "when the reason is gone: whetstone reconcile"
    return Finding("deliveries", State.WRONG, f"{len(lost)} of the last three days failed: {reasons}", mend)


def unanswered(sent: Iterable[Sent]) -> tuple[Sent, ...]:
    """The newest failed attempt of every delivery of which no attempt succeeded, oldest first."""
    newest: dict[str, Sent] = {}
    good = set()
    for each in sent:
        if each.ok:
            good.add(each.guid)
        elif each.guid not in newest or each.id > newest[each.guid].id:
            newest[each.guid] = each
    return tuple(sorted((s for guid, s in newest.items() if guid not in good), key=lambda s: s.id))


def of_parked(count: int) -> Finding:
    """Whether deliveries were given up on."""
    if not count:
        return Finding("store", State.FINE, "it answers, and nothing is parked")
    mend = "whetstone parked says why; when it is mended: whetstone parked --retry all"
    parked = "1 delivery is parked" if count == 1 else f"{count} deliveries are parked"
    return Finding("store", State.NOTE, f"it answers; {parked}", mend)


def of_server(version: int | None, wanted: int) -> tuple[Finding, ...]:
    """Whether a PostgreSQL of this major version lets a process that stands still hold up nobody."""
    if version is None or version >= wanted:
        return ()
    what = (
        f"PostgreSQL {version} ends no transaction that lasts: "
        "a process that is stopped in the middle of a statement holds up the others"
    )
    mend = f"move DATABASE_URL to PostgreSQL {wanted} or newer; docs/scaling.md says why"
    return (Finding("store", State.NOTE, what, mend),)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Writes of one kind that GitHub does not take in a repository, and the permission that is missing."""

    repository: str
    kind: str
    permission: str
    count: int


def of_waiting(writes: Sequence[Waiting]) -> tuple[Finding, ...]:
    """The permissions that writes wait for."""
    mend = "an owner accepts the App's permissions on GitHub; what waits is then written by itself"
    return tuple(
        Finding("writes", State.WRONG, f"{_waiting(each)}: GitHub does not take it", mend) for each in writes
    )


def _waiting(each: Waiting) -> str:
    kind = each.kind.partition(" ")[0]
    number = f"1 {kind} waits" if each.count == 1 else f"{each.count} writes of the kind {kind} wait"
    lacks = f" for the permission {each.permission}" if each.permission else ""
    return f"{number} in {each.repository}{lacks}"


def of_uncounted(pull_requests: Sequence[PullRequest]) -> tuple[Finding, ...]:
    """The accounts whose rejecting reviews were not counted, with the lines that would count them."""
    if not any(pull_request.verdicts for pull_request in pull_requests):
        mend = "whetstone backfill OWNER/REPO reads what was said before the App was installed"
        return (Finding("validators", State.NOTE, "no review is recorded yet", mend),)
    names: Counter[tuple[str, bool]] = Counter()
    for pull_request in pull_requests:
        names.update(
            (verdict.validator.name, verdict.validator.bot)
            for verdict in pull_request.verdicts
            if not verdict.counted and verdict.stance is Stance.REJECTS
        )
    if not names:
        return (Finding("validators", State.FINE, "every rejecting review was counted"),)
    return tuple(_uncounted(name, count, bot=bot) for (name, bot), count in names.most_common(10))


def _uncounted(name: str, count: int, *, bot: bool) -> Finding:
    reviews = "1 rejecting review" if count == 1 else f"{count} rejecting reviews"
    kind, listed = ("apps", name.removesuffix("[bot]")) if bot else ("users", name)
    mend = f"to count {name}, in .github/whetstone.yml: validators: {{{kind}: [{listed}]}}"
    what = f"{name} is no validator: {reviews} of {'its' if bot else 'theirs'} did not count"
    return Finding("validators", State.NOTE, what, mend)


def _permissions(subject: str, who: str, granted: object, wanted: Wanted, mend: str) -> Finding:
    has = granted if isinstance(granted, dict) else {}
    lacks = [
        f"{name}: {level}"
        for name, level in wanted.permissions.items()
        if _rank(has.get(name)) < _rank(level)
    ]
    if lacks:
        return Finding(subject, State.WRONG, f"{who} lacks {', '.join(lacks)}", mend)
    extra = [f"{n}: {v}" for n, v in has.items() if _rank(v) > _rank(wanted.permissions.get(n))]
    if extra:
        return Finding(subject, State.NOTE, f"{who} may do more than is needed: {', '.join(extra)}", mend)
    return Finding(subject, State.FINE, f"{who} may do exactly what app.yml says")


def _rank(level: object) -> int:
    return _LEVELS.index(level) + 1 if level in _LEVELS else 0


def _events(app: AboutApp, wanted: Wanted, mend: str) -> Finding:
    lacks = sorted(set(wanted.events) - set(app.events))
    if lacks:
        return Finding("events", State.WRONG, f"GitHub does not tell of {', '.join(lacks)}", mend)
    return Finding("events", State.FINE, "GitHub tells of all that is read")
