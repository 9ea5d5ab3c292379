"""`whetstone preflight`: in a checkout, before a push, what the next review is likely to ask for."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bot.cli import CommandFailed, UsageError
from bot.cli.common import add_repository, repository_name
from bot.lessons.preflight import MAX_SHOWN, CertainFix, GateHistory, certain_fixes, rank_gates

UNREACHABLE = 3
"""The exit code where the bot did not answer."""
_SECONDS = 5
_MAX_ANSWER = 5_000_000
_MAX_FILES = 200
_MAX_FILE = 500_000
_SHOWN = ("tag", "blocking", "broken", "text", "last_fix")
_BASES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser, "the repository (default: the one of the remote `origin`)", nargs="?")
    parser.add_argument(
        "--base", metavar="REF", help="what to compare with (default: the branch of origin/HEAD)"
    )
    parser.add_argument("--agent", metavar="LOGIN", help="the author (default: the owner of GH_TOKEN)")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format (default: text)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    repository = arguments.repository or repository_name(_origin())
    changed = _changed_paths(arguments.base)
    try:
        own, everybody = _ask(repository, arguments.agent or "@me"), _ask(repository, None)
    except _Unreachable as error:
        print(f"whetstone preflight: {error}; nothing was checked", file=sys.stderr)
        return UNREACHABLE
    gates = rank_gates(own, everybody, changed)[:MAX_SHOWN] if changed else ()
    # Only for gates that count here: what is certain by one of them may be as it should by another.
    tags = [gate.tag for gate in everybody]
    fixes = certain_fixes(_texts(root, changed), tags, _pages(), datetime.now(UTC).date())
    if arguments.format == "json":
        print(json.dumps(_as_json(changed, gates, fixes), ensure_ascii=False))
    else:
        print(_as_text(changed, gates, fixes))
    return 0


class _Unreachable(Exception):
    """The bot did not answer as hoped; the message says why, and what to do."""


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: the token is for one host only."""

    def redirect_request(self, *_: object) -> None:
        """Answer the redirect itself."""


def _ask(repository: str, agent: str | None) -> tuple[GateHistory, ...]:
    url = os.environ.get("WHETSTONE_URL", "").rstrip("/")
    if urlsplit(url).scheme not in {"http", "https"}:
        raise UsageError("WHETSTONE_URL must be the bot's address, such as https://whetstone.example")
    token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN")
    if not token:
        raise UsageError("GH_TOKEN is not set; run: export GH_TOKEN=$(gh auth token)")
    whose = f"&agent={quote(agent)}" if agent else ""
    address = f"{url}/api/v1/repos/{repository}/lessons?max=50&least=1{whose}"
    request = Request(address, headers={"Authorization": f"Bearer {token}", "Accept": "application/json"})  # noqa: S310  checked above
    try:
        with build_opener(_NoRedirect).open(request, timeout=_SECONDS) as response:
            return _read_answer(response.read(_MAX_ANSWER))
    except HTTPError as error:
        if error.code == 404 and agent not in {None, "@me"}:
            raise CommandFailed(f"{agent} has no record in {repository}, or GH_TOKEN can't read it") from None
        reason = {
            401: "GitHub does not know GH_TOKEN",
            404: f"{repository} does not exist there, or GH_TOKEN can't read it",
        }
        raise _Unreachable(
            f"{url} responded with {error.code}: {reason.get(error.code, 'try again later')}"
        ) from None
    except (URLError, HTTPException, TimeoutError, OSError) as error:
        cause = getattr(error, "reason", error)
        raise _Unreachable(f"{url} (WHETSTONE_URL) can't be reached: {cause}") from None


def _read_answer(body: bytes) -> tuple[GateHistory, ...]:
    try:
        return tuple(map(_gate_history, json.loads(body)["lessons"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _Unreachable("the server at WHETSTONE_URL is not Whetstone") from None


def _gate_history(lesson: dict[str, Any]) -> GateHistory:
    fix = lesson["last_fix"]
    return GateHistory(
        tag=lesson["tag"],
        broken=lesson["broken"],
        prevented=lesson["prevented"],
        paths=tuple(lesson["paths"]),
        text=lesson["text"],
        blocking=lesson["blocking"],
        last_fix=f"{fix['head'][:7]} in pull request {fix['number']}" if fix else "",
    )


def _as_text(changed: Sequence[str], gates: Sequence[GateHistory], fixes: Sequence[CertainFix]) -> str:
    if not changed:
        return "Nothing changed since the base, so there is nothing to check."
    lines = [] if gates else ["No gate was broken before in files like the changed ones."]
    for number, gate in enumerate(gates, 1):
        mark = "BLOCK" if gate.blocking else "WARN"
        fixed = f" Last fixed by {gate.last_fix}." if gate.last_fix else ""
        lines.append(f"{number}. [{mark}] {gate.text}{fixed}")
    if fixes:
        lines += ["", "Certain fixes:"]
        lines += [f"  {fix.path}:{fix.line}: {fix.replacement} ({fix.tag})" for fix in fixes]
    return "\n".join(lines)


def _as_json(
    changed: Sequence[str], gates: Sequence[GateHistory], fixes: Sequence[CertainFix]
) -> dict[str, object]:
    return {
        "changed": list(changed),
        "gates": [{name: getattr(gate, name) for name in _SHOWN} for gate in gates],
        "fixes": [asdict(fix) for fix in fixes],
    }


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  no shell, and only our options
            ("git", *arguments),  # noqa: S607  as the user has it
            capture_output=True,
            check=True,
            timeout=_SECONDS,
        )
    except FileNotFoundError:
        raise UsageError("git is not installed") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode("utf-8", "replace").strip().splitlines()
        if reason and "not a git repository" in reason[0]:
            raise UsageError("this is not a git checkout; run it in the one that you want to push") from None
        raise CommandFailed(f"git {arguments[0]}: {reason[0] if reason else 'failed'}") from None
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"git {arguments[0]} took more than {_SECONDS} seconds") from None
    return done.stdout.decode("utf-8", "surrogateescape")


def _origin() -> str:
    try:
        url = _git("remote", "get-url", "origin").strip().rstrip("/").removesuffix(".git")
    except CommandFailed:
        raise UsageError("there is no remote `origin`; give OWNER/REPO") from None
    return "/".join(url.replace(":", "/").split("/")[-2:])


def _changed_paths(base: str | None) -> list[str]:
    """Return the paths that differ from where the branch parted, committed or not."""
    start = _git("merge-base", "HEAD", base or _default_base()).strip()
    tracked = _git("diff", "--name-only", "--no-relative", "-z", "--diff-filter=d", start)
    return sorted(filter(None, {*tracked.split("\0"), *_list_files()}))


def _default_base() -> str:
    for branch in _BASES:
        try:
            return _git("rev-parse", "--verify", branch).strip()
        except CommandFailed:
            continue
    raise UsageError(
        "the default branch of origin is not known; set it with --base, such as --base origin/develop"
    )


def _texts(root: Path, changed: Sequence[str]) -> dict[str, str]:
    """Read the changed Markdown files; links out of the checkout and large files are left out."""
    texts = {}
    for path in [path for path in changed if path.endswith(".md")][:_MAX_FILES]:
        file = root / path
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MAX_FILE:
            texts[path] = file.read_text("utf-8", "replace")
    return texts


def _pages() -> frozenset[str]:
    """Return the names of all Markdown files of the checkout, as links write them."""
    return frozenset(
        PurePosixPath(path).stem.lower() for path in _list_files("--cached") if path.endswith(".md")
    )


def _list_files(*which: str) -> list[str]:
    """Return the untracked files of the whole checkout, and others that are asked for."""
    listed = _git("ls-files", "--others", "--exclude-standard", *which, "-z", "--full-name", ":/")
    return listed.split("\0")
