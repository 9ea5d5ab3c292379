"""Render threads, files, changes and comments of the demo's page as GitHub shows them (`templates/`)."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bot import regex
from bot.fakegithub.git import GitCommit, diff_commits
from bot.fakegithub.model import Issue, IssueComment, PullRequest, Repository, Review

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

    from bot.fakegithub.server import FakeGitHub


_COMPARISON = regex.Regex(r"(?P<base>[0-9a-f]+)\.\.\.?(?P<head>[0-9a-f]+)")
_REACTIONS = {"eyes": "👀", "confused": "😕", "+1": "👍", "-1": "👎", "rocket": "🚀"}
_REVIEW_STATES = {
    "APPROVED": ("approved these changes", "good", "check"),
    "CHANGES_REQUESTED": ("requested changes", "bad", "changes"),
    "COMMENTED": ("reviewed", "plain", "eye"),
    "DISMISSED": ("had a review that was dismissed", "plain", "eye"),
}
"""Text, class and icon of a review."""
_LAST = 1 << 62
"""Of what happens in the same second, the end comes last."""

Entry = tuple[Literal["comment", "review", "commit", "end"], IssueComment | Review | GitCommit | None]


def list_threads(github: FakeGitHub) -> list[dict[str, object]]:
    """Every thread, newest first, the issues before the pull requests."""
    threads = sorted(
        (thread for repository in github.repositories.values() for thread in repository.threads.values()),
        key=lambda thread: (isinstance(thread, PullRequest), thread.state != "open", -thread.number),
    )
    return [
        {
            "number": thread.number,
            "path": thread_path(thread),
            "title": thread.title,
            "author": thread.user.login.removesuffix("[bot]"),
            "state": _state(thread),
            "kind": "pull request" if isinstance(thread, PullRequest) else "issue",
            "opened": format_ago(thread.created_at, github.now()),
            "comments": len(github.comments_of(thread)),
        }
        for thread in threads
    ]


def thread_path(thread: Issue) -> str:
    """The thread's path, as on GitHub."""
    kind = "pull" if isinstance(thread, PullRequest) else "issues"
    return f"/{thread.repository.full_name}/{kind}/{thread.number}"


def render_page(github: FakeGitHub, repository: Repository, path: str) -> str | None:
    """Render what GitHub shows at this path of a repository, or return None if there is nothing."""
    kind, _, rest = path.partition("/")
    if kind in {"pull", "issues"}:
        thread = repository.threads.get(int(rest)) if rest.isdecimal() else None
        return render_thread(github, thread) if thread else None
    if kind == "blob":
        sha, _, file = rest.partition("/")
        return _render_file(repository, _find_commit(repository, sha), file)
    if kind == "commit":
        commit = _find_commit(repository, rest)
        return _render_change(repository, next(iter(commit.parents), None), commit) if commit else None
    if kind == "compare" and (match := _COMPARISON.fullmatch(rest)):
        base, head = _find_commit(repository, match["base"]), _find_commit(repository, match["head"])
        return _render_change(repository, base.sha, head) if base and head else None
    return None


def render_thread(github: FakeGitHub, thread: Issue) -> str:
    """Render a thread: its description, and what happened since in its order."""
    from markupsafe import Markup

    def markdown(text: str) -> Markup:
        return Markup(render_markdown(text, github.find_repository))  # noqa: S704  escaped by the renderer

    entries = sorted(_entries(github, thread), key=lambda entry: entry[0])
    return (
        templates()
        .get_template("thread.html")
        .render(
            thread=thread,
            is_pull=isinstance(thread, PullRequest),
            state=_state(thread),
            commit_count=len(_commits(thread)),
            entries=[entry for _, entry in entries],
            now=github.now(),
            emojis=_REACTIONS,
            review_states=_REVIEW_STATES,
            markdown=markdown,
        )
    )


def _entries(github: FakeGitHub, thread: Issue) -> Iterator[tuple[tuple[datetime, int], Entry]]:
    for comment in github.comments_of(thread):
        yield (comment.created_at, comment.id), ("comment", comment)
    if isinstance(thread, PullRequest):
        for review in thread.reviews.values():
            if review.submitted_at:
                yield (review.submitted_at, review.id), ("review", review)
        for commit in _commits(thread):
            yield (commit.at, thread.pushed.get(commit.sha, 0)), ("commit", commit)
        if thread.closed_at:
            yield (thread.closed_at, _LAST), ("end", None)


def _commits(thread: Issue) -> tuple[GitCommit, ...]:
    if not isinstance(thread, PullRequest):
        return ()
    return thread.repository.objects.between(thread.base_sha, thread.head_sha)


def _state(thread: Issue) -> str:
    return "merged" if isinstance(thread, PullRequest) and thread.merged else thread.state


def _find_commit(repository: Repository, sha: str) -> GitCommit | None:
    """Find a commit by the first digits of its name, or by a branch."""
    commits = repository.objects.commits
    matches = (name for name in commits if sha and name.startswith(sha))
    return commits.get(repository.branches.get(sha) or next(matches, ""))


def _render_file(repository: Repository, commit: GitCommit | None, path: str) -> str | None:
    content = repository.objects.content(commit.sha, path) if commit else None
    if commit is None or content is None:
        return None
    lines = content.decode("utf-8", "replace").splitlines()
    return templates().get_template("file.html").render(path=path, sha=commit.sha, lines=lines)


def _render_change(repository: Repository, base: str | None, head: GitCommit) -> str:
    changes = diff_commits(repository.objects, base, head.sha)
    return templates().get_template("change.html").render(commit=head, base=base, changes=changes)


_HTML = regex.Regex(r"(?s)<!--.*?(?:-->|\z)|<(?P<close>/?)(?P<tag>details|summary|sub|sup|br)>")
"""The HTML that has an effect: comments are hidden, these tags are live. Everything else is text."""
_GITHUB_URL = regex.Regex(r"https://(?:redirect\.)?github\.com(?P<path>/(?P<name>[^/]+/[^/]+)/.*)")
_TASK = regex.Regex(r"\[(?P<done>[ x])\] ")


def render_markdown(text: str, has_repository: Callable[[str], object] = lambda _: False) -> str:
    """Return the text as HTML in which nothing but a few tags without attributes is live.

    Links to a repository for which `has_repository` is true become paths of the demo's own page.
    """
    parser = _parser()
    env: dict[str, Any] = {"open_tags": []}
    tokens = parser.parse(text, env)
    _mark_tasks(tokens)
    for token in _flatten(tokens):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"  # the page has the first level for itself
        elif token.type in {"th_open", "td_open"}:
            # A class, because the page's Content-Security-Policy allows no `style`.
            alignment = str(token.attrs.pop("style", "text-align:left"))
            token.attrSet("class", alignment.removeprefix("text-align:"))
        elif token.type == "link_open":
            _set_link(token, has_repository)
    rendered = str(parser.renderer.render(tokens, parser.options, env)).strip()
    # A tag left open would take in what the page shows after this text.
    return rendered + "".join(f"</{tag}>" for tag in reversed(env["open_tags"]))


@cache
def _parser() -> MarkdownIt:
    # Imported here: only the page needs it, not the story in the terminal.
    from markdown_it import MarkdownIt

    # No images: the page's Content-Security-Policy would not load them.
    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = lambda url: url.startswith(("https://", "http://"))  # type: ignore[method-assign]
    parser.add_render_rule("html_block", _render_html)
    parser.add_render_rule("html_inline", _render_html)
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    parser.add_render_rule("task", _render_task)
    return parser


def _flatten(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _set_link(token: Token, has_repository: Callable[[str], object]) -> None:
    match = _GITHUB_URL.fullmatch(str(token.attrGet("href")))
    if match and has_repository(match["name"]):
        token.attrSet("href", match["path"])
    else:
        token.attrs |= {"target": "_blank", "rel": "noreferrer noopener"}


def _mark_tasks(tokens: Sequence[Token]) -> None:
    """Turn `[x] ` at the start of a list item into a checkbox."""
    for item, _, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type == "list_item_open" and inline.children and (task := _TASK.match(inline.content)):
            item.attrSet("class", "task")
            text = inline.children[0]
            text.content = text.content[task.end() :]
            inline.children.insert(0, text.copy(type="task", content=task["done"]))


def _render_task(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    return f'<input type="checkbox" disabled{" checked" if tokens[at].content == "x" else ""}> '


def _render_html(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """Escape all but comments and the allowed tags, which are kept balanced."""
    text, parts, end = tokens[at].content, [], 0
    for match in _HTML.finditer(text):
        parts += [_escape(text[end : match.start()]), _live_tag(match, env["open_tags"])]
        end = match.end()
    return "".join((*parts, _escape(text[end:])))


def _live_tag(match: regex.RegexMatch, open_tags: list[str]) -> str:
    tag = match["tag"]
    if match["close"]:
        if open_tags[-1:] != [tag]:
            return ""
        open_tags.pop()
    elif tag and tag != "br":
        open_tags.append(tag)
    return str(match[0]) if tag else ""


def _escape(text: str) -> str:
    return html.escape(html.unescape(text), quote=False)


def _render_code(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    kind, text = tokens[at].info.strip(), tokens[at].content.removesuffix("\n")
    code = f"<code>{html.escape(text)}</code>"
    if kind == "suggestion":
        return f'<div class="suggestion">Suggested change<pre>{code}</pre></div>\n'
    chart = draw_chart(text) if kind == "mermaid" else ""
    return chart or f'<pre class="code" data-kind="{html.escape(kind)}">{code}</pre>\n'


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_SERIES = regex.Regex(r"(?m)^\s*(bar|line) \[([^\]]*)\]")
_NAMES = regex.Regex(r"x-axis \[([^\]]*)\]")
_TITLE = regex.Regex(r'(?m)^\s*title "([^"]*)"')
_Y_MAXIMUM = regex.Regex(r"(?m)^\s*y-axis .*--> *(\d+)")


def draw_chart(text: str) -> str:
    """Draw Mermaid's bars and line as SVG; a chart of another kind is not drawn."""
    series = {kind: [float(value) for value in values.split(",")] for kind, values in _SERIES.findall(text)}
    names = _NAMES.search(text)
    if set(series) != {"bar", "line"} or not names:
        return ""
    match = _TITLE.search(text)
    y_maximum = _Y_MAXIMUM.search(text)
    return (
        templates()
        .get_template("chart.svg")
        .render(
            title=match[1] if match else "",
            bars=series["bar"],
            line=series["line"],
            names=[name.strip() for name in names[1].split(",")],
            top=max(*series["bar"], *series["line"], float(y_maximum[1]) if y_maximum else 1),
        )
    )


@cache
def templates() -> Environment:
    """The templates of the page."""
    # Imported here: only the page needs it, not the story in the terminal.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["ago"] = format_ago
    return environment


def format_ago(at: datetime, now: datetime) -> str:
    """Format a past moment as GitHub does: `now`, `3 hours ago`, `on 3 Oct`."""
    past = now - at
    if past < _MINUTE:
        return "now"
    for unit, word, limit in ((_MINUTE, "minute", _HOUR), (_HOUR, "hour", _DAY), (_DAY, "day", 30 * _DAY)):
        if past < limit:
            count = past // unit
            return f"{count} {word}{'' if count == 1 else 's'} ago"
    return f"on {at.day} {at:%b}" + ("" if at.year == now.year else f" {at.year}")
