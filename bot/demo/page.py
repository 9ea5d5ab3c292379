"""Serve the demo's page: threads as GitHub shows them (`templates/`), a log of requests, and the buttons."""

from __future__ import annotations

import html
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from aiohttp import web

from bot import regex
from bot.demo.stories import Story
from bot.demo.story import DemoAction, DemoActionError, DemoActions
from bot.fakegithub.deliveries import Exchange, WebhookDelivery
from bot.fakegithub.git import GitCommit, diff_commits
from bot.fakegithub.issues import Issue, IssueComment
from bot.fakegithub.model import Repository
from bot.fakegithub.pulls import PullRequest
from bot.fakegithub.reviews import Review

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

    from bot.fakegithub.server import FakeGitHub


_STEPS = ("push", "approve", "history")
"""The three steps that the page leads through, by the action that completes each."""


_LOG_SIZE = 14
_SHA = regex.Regex(r"\b([0-9a-f]{7})[0-9a-f]{33}\b")


class WireLog:
    """The last webhooks and requests between the fake GitHub and the bot."""

    def __init__(self, github: FakeGitHub) -> None:
        self._last: deque[WebhookDelivery | Exchange] = deque(maxlen=_LOG_SIZE)
        github.observers.append(self._last.append)
        github.deliveries.observers.append(self._last.append)

    def lines(self) -> list[dict[str, str]]:
        """Direction, request and status of each, newest first."""
        names = ("direction", "request", "status")
        return [dict(zip(names, _describe(item), strict=True)) for item in reversed(self._last)]


def _describe(item: WebhookDelivery | Exchange) -> tuple[str, str, str]:
    if isinstance(item, WebhookDelivery):
        status = "…" if item.status_code is None else str(item.status_code)
        return "GitHub → bot", f"{item.event} {item.action or ''}".strip(), status
    params = item.params or {}
    path = item.path.removeprefix("/repos/{}/{}".format(params.get("owner"), params.get("repo")))
    return "bot → GitHub", f"{item.method} {_SHA.sub(lambda sha: str(sha[1]), path)}", str(item.status)


_FOLDER = Path(__file__).parent
_POLL_SECONDS = 20.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


class DemoPage:
    """The page of a story; offers to act as one of `logins`, with these `tags`, and guides through it."""

    def __init__(
        self,
        github: FakeGitHub,
        repository: Repository,
        story: Story,
        logins: Sequence[str],
        tags: Sequence[str],
    ) -> None:
        self._github = github
        self._actions = DemoActions(github, repository, story)
        self._logins = tuple(logins)
        # Those of the story first: the others are many.
        self._tags = tuple(dict.fromkeys((*story.routine.remarks, *tags)))
        self._log = WireLog(github)
        self._agent_lines: tuple[str, ...] = ()
        self._story_number = 0
        self._step = 0

    def start_guide(self, agent_lines: Sequence[str]) -> None:
        """Begin the three steps on the newest pull request; these lines are for its agent."""
        threads = self._actions.repository.threads
        self._story_number = max(
            number for number, thread in threads.items() if isinstance(thread, PullRequest)
        )
        self._agent_lines = tuple(line.strip() for line in agent_lines)
        self._github.changed()

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Listen while the block runs; yields the address."""
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            yield f"http://{host}:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application()
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/page.{kind:css|js}", self._asset),
                web.get("/threads", self._threads),
                web.get("/view/{owner}/{name}/{rest:.+}", self._view),
                web.get("/changes", self._changes),
                web.post("/threads/{number:\\d+}", self._act),
                web.get("/{owner}/{name}/{rest:.+}", self._page),
            ]
        )
        return app

    async def _page(self, _: web.Request) -> web.Response:
        return _response((_FOLDER / "page.html").read_text(encoding="utf-8"), "text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        kind = request.match_info["kind"]
        text = (_FOLDER / f"page.{kind}").read_text(encoding="utf-8")
        return _response(text, "text/css" if kind == "css" else "text/javascript")

    async def _threads(self, _: web.Request) -> web.Response:
        content = {
            "at": self._version(),
            "repository": self._actions.repository.full_name,
            "threads": list_threads(self._github),
            "people": self._logins,
            "tags": self._tags,
            "story": self._story_number,
            "step": self._next_step(),
            "agent": self._agent_lines,
            "wire": self._log.lines(),
        }
        return _response(json.dumps(content), "application/json")

    async def _view(self, request: web.Request) -> web.Response:
        """Answer with what GitHub shows at this path, without the frame around it."""
        path = request.match_info
        repository = self._github.find_repository(f"{path['owner']}/{path['name']}")
        view = render_page(self._github, repository, path["rest"]) if repository else None
        if view is None:
            return _response(
                "<header><h1>There is no such page in this demo.</h1></header>", "text/html", 404
            )
        return _response(view, "text/html")

    async def _changes(self, request: web.Request) -> web.Response:
        """Answer when something has happened since, or after a while."""
        since = request.query.get("since", "")
        with suppress(TimeoutError):
            await self._github.until(lambda: self._version() != since, _POLL_SECONDS)
        return _response(json.dumps({"at": self._version()}), "application/json")

    async def _act(self, request: web.Request) -> web.Response:
        # Another site's page can send no JSON here without asking first, and is not answered.
        if request.content_type != "application/json":
            return _response("This works only from the page itself.", "text/plain", 415)
        try:
            action = msgspec.json.decode(await request.read(), type=DemoAction)
            thread = self._actions.perform(int(request.match_info["number"]), action)
        except (DemoActionError, msgspec.DecodeError, ValueError) as error:
            return _response(str(error), "text/plain", 422)
        kind = "history" if action.text.startswith("/feedback-history") else action.kind
        step = self._next_step()
        if thread.number == self._story_number and _STEPS[step : step + 1] == (kind,):
            self._step = step + 1
        return _response(json.dumps({"path": thread_path(thread)}), "application/json")

    def _next_step(self) -> int:
        """The step that comes next; a pull request that is closed can't be pushed to or approved any more."""
        thread = self._actions.repository.threads.get(self._story_number)
        is_closed = thread is not None and thread.state != "open"
        return max(self._step, _STEPS.index("history")) if is_closed else self._step

    def _version(self) -> str:
        """Changes with every request, webhook and answer to one, and with the guide."""
        github = self._github
        answered = sum(delivery.status_code is not None for delivery in github.deliveries.all[-50:])
        return f"{len(github.requests)}.{len(github.deliveries)}.{answered}.{self._story_number}.{self._step}"


def _response(text: str, content_type: str, status: int = 200) -> web.Response:
    return web.Response(
        text=text, content_type=content_type, charset="utf-8", status=status, headers=_HEADERS
    )


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
