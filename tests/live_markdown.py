"""What in a text of ours would GitHub turn into a mention, a reference or an entry in another thread?"""

from __future__ import annotations

import html
import re

_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_RUN = re.compile(r"`+")
_THREAD = re.compile(
    r"https?://(?!redirect\.github\.com)[^\s)\]>\"]+/(?:pull|pulls|issues|discussions)/\d+[^\s)\]>\"]*"
)
_RELATIVE = re.compile(r"\]\(\s*<?(/[^)\s]*/(?:pull|issues|discussions)/\d+)")
_ADDRESS = re.compile(r"(?<=\]\()[^)\s]*(?=\))|https?://[^\s)\]>]+")
_MENTION = re.compile(r"(?<![\w/])@[a-z0-9][\w-]*(?:/[\w.-]+)?", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w&])(?:[\w.-]+(?:/[\w.-]+)?)?#[0-9]+\b|\bGH-[0-9]+\b", re.IGNORECASE)
_SHA = re.compile(r"(?<!@ )\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")


def live_references(markdown: str, own: str = "") -> list[str]:
    """Every mention, number, commit and direct link to a thread that stands outside code.

    A link into the thread itself, whose address is `own`, touches no other.

    A commit after `@ ` is our own note of the revision that was read, and links of this repository's
    files and commits have no thread, so neither counts.
    """
    text = _rendered(markdown)
    threads = [url for url in _THREAD.findall(text) if not own or not url.startswith(f"{own}#")]
    found = threads + _RELATIVE.findall(text)
    text = _ADDRESS.sub(" ", text)
    for pattern in (_MENTION, _NUMBER, _SHA):
        found += pattern.findall(text)
    return found


def _rendered(markdown: str) -> str:
    """The text as GitHub's own filters see it: code and comments gone, escapes and entities resolved."""
    text = _COMMENT.sub(" ", _FENCED.sub("", markdown))
    text = "\n\n".join(_without_code(block) for block in re.split(r"\n[ \t]*\n", text))
    return html.unescape(text)


def _without_code(block: str) -> str:
    """The block without its code spans, found as CommonMark finds them: equal runs of backticks."""
    kept, at = [], 0
    while opening := _opening(block, at):
        kept.append(block[at : opening.start()])
        closing = next((run for run in _RUN.finditer(block, opening.end()) if run[0] == opening[0]), None)
        kept.append(" " if closing else opening[0])
        at = closing.end() if closing else opening.end()
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", "".join((*kept, block[at:])))


def _opening(block: str, at: int) -> re.Match[str] | None:
    """The next run of backticks; one behind a backslash opens with the rest of its run."""
    for run in _RUN.finditer(block, at):
        before = block[at : run.start()]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return run
        if len(run[0]) > 1:
            return _RUN.match(block, run.start() + 1)
    return None
