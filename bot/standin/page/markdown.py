"""How does a comment look on GitHub's page? As much of its Markdown as the bot writes."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import re2

from bot.standin.page.chart import chart

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


def rendered(text: str) -> str:
    """The text as HTML in which nothing but the bot's own tags is live."""
    return "\n".join(_blocks(text.split("\n")))


def inline(text: str) -> str:
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
        return f'<a href="{address}" target="_blank" rel="noreferrer noopener">{inline(found["label"])}</a>'
    if found["bold"]:
        return f"<strong>{inline(found['bold'])}</strong>"
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
            yield f"<h{level}>{inline(heading['text'])}</h{level}>"
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
            yield inline(line)
            at += 1
        else:
            end = _until(lines, at + 1, _ends_paragraph)
            yield f"<p>{'<br>'.join(inline(each) for each in lines[at:end])}</p>"
            at = end


def _until(lines: list[str], start: int, is_end: object) -> int:
    assert callable(is_end)  # noqa: S101  for the type checker
    return next((at for at in range(start, len(lines)) if is_end(lines[at])), len(lines))


def _ends_paragraph(line: str) -> bool:
    return not line.strip() or any(each.match(line) for each in (_FENCE, _HEADING, _ITEM, _RAW))


def _code(info: str, lines: list[str]) -> str:
    text = "\n".join(lines)
    drawn = chart(text) if info == "mermaid" else ""
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
        return f"<li>{inline(text)}</li>"
    done = "" if task["done"] == " " else " checked"
    return f'<li class="task"><input type="checkbox" disabled{done}> {inline(text[task.end() :])}</li>'


def _table(lines: list[str]) -> str:
    head, rule, *rows = [_cells(each) for each in lines]
    ends = ["right" if each.strip().endswith(":") else "left" for each in rule]

    def row(cells: list[str], kind: str) -> str:
        return "".join(
            f'<{kind} class="{end}">{inline(each)}</{kind}>'
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
