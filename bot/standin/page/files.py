"""How do a file and a change look, where a comment links to them?"""

from __future__ import annotations

import html
from collections.abc import Iterable

import re2

from bot.standin.diff import FileChange, changes
from bot.standin.model import Repository

_KINDS = {"+": "added", "-": "removed", "@": "range"}
_COMPARED = re2.compile(r"(?P<base>[0-9a-f]+)\.\.\.?(?P<head>[0-9a-f]+)")


def shown(where: Repository, rest: str) -> str | None:
    """What is at `blob/…`, `commit/…` or `compare/…` of a repository, or None where there is nothing."""
    kind, _, what = rest.partition("/")
    if kind == "blob":
        sha, _, path = what.partition("/")
        return _file(where, _commit(where, sha), path)
    if kind == "commit":
        head = _commit(where, what)
        return head and _change(where, next(iter(where.objects.commits[head].parents), None), head)
    if kind == "compare" and (ends := _COMPARED.fullmatch(what)):
        base, head = _commit(where, ends["base"]), _commit(where, ends["head"])
        return _change(where, base, head) if base and head else None
    return None


def lines(shown: Iterable[str]) -> str:
    """Lines of a diff in its colours."""
    spans = (f'<span class="{_KINDS.get(line[:1], "same")}">{html.escape(line)}</span>' for line in shown)
    return "".join(spans)


def _commit(where: Repository, sha: str) -> str | None:
    """The whole name of a commit whose first digits are given; a branch is as good."""
    known = where.objects.commits
    found = where.branches.get(sha) or next((each for each in known if sha and each.startswith(sha)), None)
    return found if found in known else None


def _file(where: Repository, sha: str | None, path: str) -> str | None:
    content = where.objects.content(sha, path) if sha else None
    if sha is None or content is None:
        return None
    rows = "".join(
        f'<tr id="L{number}"><td class="number">{number}</td><td>{html.escape(line)}</td></tr>'
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1)
    )
    return f"{_header(path, f'at <code>{sha[:7]}</code>')}<table class='file'><tbody>{rows}</tbody></table>"


def _change(where: Repository, base: str | None, head: str) -> str:
    made = where.objects.commits[head]
    since = f"<code>{base[:7]}</code> to <code>{head[:7]}</code>" if base else f"<code>{head[:7]}</code>"
    found = changes(where.objects, base, head)
    told = "".join(map(_patch, found)) or "<p>Nothing changed.</p>"
    return f"{_header(made.message, f'{html.escape(made.login)} committed, {since}')}{told}"


def _patch(change: FileChange) -> str:
    hunk = f"<pre>{lines((change.patch or '').splitlines())}</pre>" if change.patch else ""
    return f'<div class="inline patch"><p class="path">{html.escape(change.path)}</p>{hunk}</div>'


def _header(title: str, told: str) -> str:
    return f'<header><h1>{html.escape(title)}</h1><p class="meta"><span>{told}</span></p></header>'
