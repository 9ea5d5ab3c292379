"""Render threads, files and Markdown of the demo's page as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import re2

from bot.fakegithub.git import FileChange, GitCommit, diff_commits
from bot.fakegithub.model import Account, Issue, IssueComment, PullRequest, Repository, Review, ReviewComment

if TYPE_CHECKING:
    from bot.fakegithub.server import FakeGitHub


_WIDE, _HIGH = 60, 160
_LEFT, _TOP, _BOTTOM = 34, 30, 24
_STEPS = 4


_SERIES = re2.compile(r"(?m)^\s*(bar|line) \[([^\]]*)\]")
_NAMES = re2.compile(r"x-axis \[([^\]]*)\]")
_TITLE = re2.compile(r'(?m)^\s*title "([^"]*)"')
_TOP_END = re2.compile(r"(?m)^\s*y-axis .*--> *(\d+)")


def draw_chart(text: str) -> str:
    """The chart as a picture, or nothing where it is of another kind."""
    numbers = {kind: [float(each) for each in found.split(",")] for kind, found in _SERIES.findall(text)}
    names = _NAMES.search(text)
    if set(numbers) != {"bar", "line"} or not names:
        return ""
    title = _TITLE.search(text)
    end = _TOP_END.search(text)
    top = max(*numbers["bar"], *numbers["line"], float(end[1]) if end else 1)
    parts = [
        *_scale(top, len(numbers["bar"])),
        *_bars(numbers["bar"], top),
        f'<polyline points="{_points(numbers["line"], top)}"/>',
        *_labels(names[1].split(",")),
    ]
    wide = _LEFT + len(numbers["bar"]) * _WIDE
    told = html.escape(title[1]) if title else ""
    heading = f'<text class="title" x="{wide / 2:.0f}" y="12">{told}</text>' if told else ""
    size = f"0 0 {wide} {_TOP + _HIGH + _BOTTOM}"
    drawn = "".join(parts)
    return f'<svg class="chart" viewBox="{size}" role="img" aria-label="{told}">{heading}{drawn}</svg>'


def _height(value: float, top: float) -> float:
    return _TOP + _HIGH - value / top * _HIGH


def _scale(top: float, count: int) -> Iterator[str]:
    """Thin lines across, each with its number."""
    step = max(1, round(top / _STEPS))
    for value in range(0, int(top) + 1, step):
        at = _height(value, top)
        yield f'<path d="M{_LEFT} {at:.0f}h{count * _WIDE}"/>'
        yield f'<text class="scale" x="{_LEFT - 8}" y="{at + 4:.0f}">{value}</text>'


def _bars(values: list[float], top: float) -> Iterator[str]:
    for at, value in enumerate(values):
        high = _height(value, top)
        yield (
            f'<rect x="{_LEFT + at * _WIDE + 14}" y="{high:.0f}" width="32" '
            f'height="{_TOP + _HIGH - high:.0f}"/>'
        )


def _points(values: list[float], top: float) -> str:
    return " ".join(f"{_LEFT + at * _WIDE + 30},{_height(value, top):.0f}" for at, value in enumerate(values))


def _labels(names: list[str]) -> Iterator[str]:
    for at, name in enumerate(names):
        yield (
            f'<text x="{_LEFT + at * _WIDE + 30}" y="{_TOP + _HIGH + 18}">{html.escape(name.strip())}</text>'
        )


_KINDS = {"+": "added", "-": "removed", "@": "range"}
_COMPARED = re2.compile(r"(?P<base>[0-9a-f]+)\.\.\.?(?P<head>[0-9a-f]+)")


def render_file_page(where: Repository, rest: str) -> str | None:
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


def render_diff_lines(shown: Iterable[str]) -> str:
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
    return (
        f"{_file_header(path, f'at <code>{sha[:7]}</code>')}<table class='file'><tbody>{rows}</tbody></table>"
    )


def _change(where: Repository, base: str | None, head: str) -> str:
    made = where.objects.commits[head]
    since = f"<code>{base[:7]}</code> to <code>{head[:7]}</code>" if base else f"<code>{head[:7]}</code>"
    found = diff_commits(where.objects, base, head)
    told = "".join(map(_patch, found)) or "<p>Nothing changed.</p>"
    return f"{_file_header(made.message, f'{html.escape(made.login)} committed, {since}')}{told}"


def _patch(change: FileChange) -> str:
    hunk = f"<pre>{render_diff_lines((change.patch or '').splitlines())}</pre>" if change.patch else ""
    return f'<div class="inline patch"><p class="path">{html.escape(change.path)}</p>{hunk}</div>'


def _file_header(title: str, told: str) -> str:
    return f'<header><h1>{html.escape(title)}</h1><p class="meta"><span>{told}</span></p></header>'


_TOKEN = re2.compile(
    r"(?s)(?P<ticks>`+)"
    r"|\\(?P<literal>[!-/:-@\[-`{-~])"
    r"|(?P<tag></?(?:details|summary|sub|sup|br)>)"
    r"|<!--.*?-->"
    r"|\[(?P<label>(?:`[^`]*`|\[[^\]]*\]|[^\[\]])*)\]\((?P<url>https?://[^)\s]+)\)"
    r"|\*\*(?P<bold>.+?)\*\*"
)
_TICKS = re2.compile(r"`+")
_FENCE = re2.compile(r"^\s*(?P<ticks>`{3,})(?P<info>[^`]*)$")
_HEADING = re2.compile(r"^(?P<marks>#{1,6}) +(?P<text>.*)$")
_ITEM = re2.compile(r"^(?P<indent>\s*)(?P<mark>[-*]|\d+\.) +(?P<text>.*)$")
_TASK = re2.compile(r"^\[(?P<done>[ x])\] ")
_RULE = re2.compile(r"^\|?[ :|-]*-[ :|-]*\|[ :|-]*$")
_RAW = re2.compile(r"^\s*</?(?:details|summary)>")


def render_markdown(text: str) -> str:
    """The text as HTML in which nothing but the bot's own tags is live."""
    return "\n".join(_blocks(text.split("\n")))


def render_inline(text: str) -> str:
    """One line's code, links and emphasis."""
    parts = []
    while found := _TOKEN.search(text):
        done, shown = _code_span(text, *found.span()) if found["ticks"] else (found.end(), _token(found))
        parts += [_plain(text[: found.start()]), shown]
        text = text[done:]
    return "".join((*parts, _plain(text)))


def _code_span(text: str, start: int, end: int) -> tuple[int, str]:
    """Where the code ends that these backticks open, and how it is shown; they alone where none does."""
    ticks = text[start:end]
    closing = next((run for run in _TICKS.finditer(text[end:]) if run[0] == ticks), None)
    if closing is None:
        return end, _plain(ticks)
    inside = text[end : end + closing.start()]
    if inside.startswith(" ") and inside.endswith(" ") and inside.strip():
        inside = inside[1:-1]
    return end + closing.end(), f"<code>{html.escape(inside)}</code>"


def _token(found: Any) -> str:
    if found["literal"]:
        return html.escape(found["literal"])
    if found["url"]:
        address = html.escape(found["url"])
        label = render_inline(found["label"])
        return f'<a href="{address}" target="_blank" rel="noreferrer noopener">{label}</a>'
    if found["bold"]:
        return f"<strong>{render_inline(found['bold'])}</strong>"
    return found["tag"] or ""


def _plain(text: str) -> str:
    return html.escape(html.unescape(text), quote=False)


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or (line.startswith("<!--") and line.rstrip().endswith("-->")):
            at += 1
        elif fence := _FENCE.match(line):
            end = _until(lines, at + 1, lambda each, ticks=fence["ticks"]: each.strip().startswith(ticks))
            yield _code(fence["info"].strip(), lines[at + 1 : end])
            at = end + 1
        elif heading := _HEADING.match(line):
            level = min(6, len(heading["marks"]) + 1)
            yield f"<h{level}>{render_inline(heading['text'])}</h{level}>"
            at += 1
        elif "|" in line and at + 1 < len(lines) and _RULE.match(lines[at + 1]):
            end = _until(lines, at, lambda each: "|" not in each)
            yield _table(lines[at:end])
            at = end
        elif _ITEM.match(line):
            end = _until(lines, at, lambda each: not _ITEM.match(each) and not each.startswith("  "))
            yield _list(lines[at:end])
            at = end
        elif _RAW.match(line):
            yield render_inline(line)
            at += 1
        else:
            end = _until(lines, at + 1, _ends_paragraph)
            yield f"<p>{'<br>'.join(render_inline(each) for each in lines[at:end])}</p>"
            at = end


def _until(lines: list[str], start: int, is_end: object) -> int:
    assert callable(is_end)  # noqa: S101  for the type checker
    return next((at for at in range(start, len(lines)) if is_end(lines[at])), len(lines))


def _ends_paragraph(line: str) -> bool:
    return not line.strip() or any(each.match(line) for each in (_FENCE, _HEADING, _ITEM, _RAW))


def _code(info: str, lines: list[str]) -> str:
    text = "\n".join(lines)
    drawn = draw_chart(text) if info == "mermaid" else ""
    if info == "suggestion":
        return f'<div class="suggestion">Suggested change<pre><code>{html.escape(text)}</code></pre></div>'
    return (
        drawn or f'<pre class="code" data-kind="{html.escape(info)}"><code>{html.escape(text)}</code></pre>'
    )


def _list(lines: list[str]) -> str:
    items = []
    for line in lines:
        found = _ITEM.match(line)
        if found:
            items.append(found["text"])
        elif items:
            items[-1] += f" {line.strip()}"
    kind = "ol" if lines[0].lstrip()[:1].isdigit() else "ul"
    return f"<{kind}>{''.join(map(_item, items))}</{kind}>"


def _item(text: str) -> str:
    task = _TASK.match(text)
    if not task:
        return f"<li>{render_inline(text)}</li>"
    done = "" if task["done"] == " " else " checked"
    return f'<li class="task"><input type="checkbox" disabled{done}> {render_inline(text[task.end() :])}</li>'


def _table(lines: list[str]) -> str:
    head, rule, *rows = [_cells(each) for each in lines]
    ends = ["right" if each.strip().endswith(":") else "left" for each in rule]

    def row(cells: list[str], kind: str) -> str:
        return "".join(
            f'<{kind} class="{end}">{render_inline(each)}</{kind}>'
            for each, end in zip(cells, [*ends, *["left"] * len(cells)], strict=False)
        )

    body = "".join(f"<tr>{row(each, 'td')}</tr>" for each in rows)
    return f"<table><thead><tr>{row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _cells(line: str) -> list[str]:
    parts: list[str] = []
    for part in line.strip().strip("|").split("|"):
        if parts and parts[-1].endswith("\\"):
            parts[-1] = f"{parts[-1][:-1]}|{part}"
        else:
            parts.append(part)
    return [each.strip() for each in parts]


_COLOURS = 6
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def render_name(who: Account | None) -> str:
    """The login in bold; a bot's without its suffix, and labelled."""
    if who is None:
        return "<strong>ghost</strong>"
    shown = html.escape(who.login.removesuffix("[bot]"))
    badge = ' <span class="label">bot</span>' if who.type == "Bot" else ""
    return f"<strong>{shown}</strong>{badge}"


def render_avatar(who: Account, *, small: bool = False) -> str:
    """A letter in a colour of its own: a circle for a person, a square for a bot."""
    colour = sum(who.login.encode()) % _COLOURS
    classes = f"avatar c{colour}{' square' if who.type == 'Bot' else ''}{' small' if small else ''}"
    return f'<span class="{classes}" aria-hidden="true">{html.escape(who.login[:1].upper())}</span>'


def render_icon(kind: str) -> str:
    """A drawing that the page defines once."""
    return f'<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-{kind}"/></svg>'


def format_ago(at: datetime, now: datetime) -> str:
    """`now`, `3 hours ago`, `last week`, `on 3 Oct`."""
    past = now - at
    if past < _MINUTE:
        return "now"
    for unit, word, limit in ((_MINUTE, "minute", _HOUR), (_HOUR, "hour", _DAY), (_DAY, "day", 30 * _DAY)):
        if past < limit:
            count = past // unit
            return f"{count} {word}{'' if count == 1 else 's'} ago"
    return f"on {at.day} {at:%b}" + ("" if at.year == now.year else f" {at.year}")


_REACTIONS = {"eyes": "👀", "confused": "😕", "+1": "👍", "-1": "👎", "rocket": "🚀"}
_STATES = {
    "APPROVED": ("approved these changes", "good", "check"),
    "CHANGES_REQUESTED": ("requested changes", "bad", "changes"),
    "COMMENTED": ("reviewed", "plain", "eye"),
    "DISMISSED": ("had a review that was dismissed", "plain", "eye"),
}
_FEEDBACK = "<!-- REJECTION: "
_HUNK = 4
"""Lines of the diff above an inline comment."""
_LAST = 1 << 62
"""Of what happens in the same second, the end comes last."""


def list_threads(github: FakeGitHub) -> list[dict[str, object]]:
    """Every thread, newest first, the issues before the pull requests."""
    threads = [each for where in github.repositories.values() for each in where.threads.values()]
    ordered = sorted(
        threads, key=lambda each: (isinstance(each, PullRequest), each.state != "open", -each.number)
    )
    return [
        {
            "number": each.number,
            "path": thread_path(each),
            "title": each.title,
            "author": each.user.login.removesuffix("[bot]"),
            "state": _state(each),
            "kind": "pull request" if isinstance(each, PullRequest) else "issue",
            "opened": format_ago(each.created_at, github.now()),
            "comments": len(github.comments_of(each)),
        }
        for each in ordered
    ]


def thread_path(shown: Issue) -> str:
    """The thread's path, as on GitHub."""
    kind = "pull" if isinstance(shown, PullRequest) else "issues"
    return f"/{shown.repository.full_name}/{kind}/{shown.number}"


def render_thread(github: FakeGitHub, shown: Issue) -> str:
    """The thread as HTML."""
    entries = sorted(_entries(github, shown), key=lambda each: each[0])
    words = shown.body or ("No description provided." if isinstance(shown, PullRequest) else "")
    opened = _bubble(
        shown, shown.user, f"commented {_when(shown.created_at, github)}", render_markdown(words)
    )
    return f"{_header(shown)}{opened}{''.join(text for _, text in entries)}"


def _header(shown: Issue) -> str:
    if isinstance(shown, PullRequest):
        commits = len(shown.repository.objects.between(shown.base_sha, shown.head_sha))
        counted = "1 commit" if commits == 1 else f"{commits} commits"
        merged = (
            f"{render_name(shown.merged_by)} merged"
            if shown.merged_by
            else f"{render_name(shown.user)} wants to merge"
        )
        branches = (
            f"<code>{html.escape(shown.base_ref)}</code> from <code>{html.escape(shown.head_ref)}</code>"
        )
        told = f"{merged} {counted} into {branches}"
    else:
        labels = "".join(f'<span class="label">{html.escape(each.name)}</span>' for each in shown.labels)
        told = f"{render_name(shown.user)} opened this issue {labels}"
    state = _state(shown)
    pill = f'<span class="state {state}">{_icon_of(shown)} {state.capitalize()}</span>'
    return (
        f'<header><h1>{html.escape(shown.title)} <span class="number">#{shown.number}</span></h1>'
        f'<p class="meta">{pill} <span>{told}</span></p></header>'
    )


def _entries(github: FakeGitHub, shown: Issue) -> Iterator[tuple[tuple[datetime, int], str]]:
    for comment in github.comments_of(shown):
        yield (comment.created_at, comment.id), _comment(github, comment)
    if isinstance(shown, PullRequest):
        for review in shown.reviews.values():
            if review.submitted_at:
                yield (review.submitted_at, review.id), _review(github, review)
        for commit in shown.repository.objects.between(shown.base_sha, shown.head_sha):
            yield (commit.at, shown.pushed.get(commit.sha, 0)), _push(shown, commit)
        if shown.closed_at:
            word = _state(shown)
            by = render_name(shown.merged_by or shown.closed_by or shown.user)
            text = f"{by} {word} this {_when(shown.closed_at, github)}"
            yield (shown.closed_at, _LAST), _event(word, word, text, word)


def _push(shown: PullRequest, commit: GitCommit) -> str:
    where = f"/{shown.repository.full_name}/commit/{commit.sha}"
    text = f'{html.escape(commit.message)}<a href="{where}"><code>{commit.sha[:7]}</code></a>'
    return _event("commit", "push", f"{render_avatar(shown.user, small=True)} {text}", f"commit-{commit.sha}")


def _event(mark: str, kind: str, text: str, anchor: str) -> str:
    shown = f'<span class="mark">{render_icon(mark)}</span><div>{text}</div>'
    return f'<div class="event {kind}" id="{anchor}">{shown}</div>'


def _comment(github: FakeGitHub, comment: IssueComment) -> str:
    reactions = "".join(
        f'<span class="reaction" title="{html.escape(each.user.login)}">'
        f"{_REACTIONS.get(each.content, '•')} 1</span>"
        for each in comment.reactions
    )
    edited = " · edited" if comment.updated_at > comment.created_at else ""
    body = render_markdown(comment.body) + (f'<p class="reactions">{reactions}</p>' if reactions else "")
    if comment.minimized:
        summary = f"<summary>This comment was marked as {comment.minimized}.</summary>"
        body = f"<details class=minimised>{summary}{body}</details>"
    did = f"commented {_when(comment.created_at, github)}{edited}"
    kind = "bot rejection" if comment.body.startswith(_FEEDBACK) else "bot" if comment.via_app else ""
    return _bubble(comment.issue, comment.user, did, body, f'class="{kind}" id="issuecomment-{comment.id}"')


def _review(github: FakeGitHub, review: Review) -> str:
    """The event, the words in a box of their own, and each comment below the lines that it is about."""
    words, kind, mark = _STATES.get(review.state, _STATES["COMMENTED"])
    at = review.submitted_at or review.pull.created_at
    told = f"{render_name(review.user)} {words} {_when(at, github)}"
    event = _event(mark, f"review {kind}", told, f"pullrequestreview-{review.id}")
    body = render_markdown(review.body) if review.body else ""
    box = _bubble(review.pull, review.user, "left a comment", body, 'class="review"') if body else ""
    return f"{event}{box}{''.join(_inline(github, each) for each in review.comments)}"


def _inline(github: FakeGitHub, comment: ReviewComment) -> str:
    hunk = render_diff_lines(comment.diff_hunk.splitlines()[-_HUNK:] if comment.line else [])
    place = html.escape(comment.path) + (f":{comment.line}" if comment.line else "")
    who = f"{render_avatar(comment.user, small=True)} {render_name(comment.user)}"
    said = f"{who} {_when(comment.created_at, github)}"
    return (
        f'<div class="inline" id="discussion_r{comment.id}">'
        f'<p class="path">{place}</p>{f"<pre>{hunk}</pre>" if hunk else ""}'
        f'<p class="by">{said}</p><div class="body">{render_markdown(comment.body)}</div></div>'
    )


def _bubble(where: Issue, who: Account, did: str, body: str, marks: str = "") -> str:
    author = '<span class="label">Author</span>' if who is where.user and where.user.type == "User" else ""
    return (
        f"<article {marks}>{render_avatar(who)}<h2><span>{render_name(who)} {did}</span>{author}</h2>"
        f'<div class="body">{body}</div></article>'
    )


def _when(at: datetime, github: FakeGitHub) -> str:
    full = f"{at:%d %b %Y, %H:%M} UTC"
    return f'<time datetime="{at.isoformat()}" title="{full}">{format_ago(at, github.now())}</time>'


def _icon_of(shown: Issue) -> str:
    kind = "pull" if isinstance(shown, PullRequest) else "issue"
    return render_icon(kind if shown.state == "open" else _state(shown))


def _state(shown: Issue) -> str:
    if isinstance(shown, PullRequest) and shown.merged:
        return "merged"
    return shown.state
