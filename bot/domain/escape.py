"""Others' words in our Markdown, so that they stay nothing but words."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

CODE_LIMIT = 120
"""Characters of somebody's words that one line shows."""


def code_span(text: str, limit: int = CODE_LIMIT) -> str:
    """The text as one line of code that nothing inside can end, at most `limit` characters of it."""
    return _code(_unhidden(cut(one_line(text), limit)))


def own_code(text: str, limit: int = CODE_LIMIT) -> str:
    """A gate's own words as code that can be copied: only what looks like a marker is changed."""
    return _code(_MARKER.sub(_unhidden("<!--"), cut(one_line(text), limit)))


def quiet(text: str) -> str:
    """A gate's own sentence on one line: emphasis and code stay, nothing in it mentions, links or hides."""
    line = one_line(text)
    done, parts = 0, []
    for found in _CODE_OR_LIVE.finditer(line):
        parts += [_literal(line[done : found.start()]), _as_code(found)]
        done = found.end()
    return "".join((*parts, _literal(line[done:])))


def table_cell(markdown: str) -> str:
    """The Markdown as a table's cell; GitHub takes the backslash away again, also inside code."""
    return _LINE_ENDS.sub(" ", markdown).replace("|", "\\|").strip()


def one_line(text: str) -> str:
    """The text with white space folded, and with what hides or turns the line round made visible."""
    return " ".join("".join(map(_visible, text)).split())


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of the text; an ellipsis says that there was more."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def marker(word: str, data: Mapping[str, object]) -> str:
    """`<!-- WORD: {…} -->` on one line; no string in the data can end it early."""
    return f"<!-- {word}: {json_text(data)} -->"


def json_text(data: object) -> str:
    """JSON on one line in which `<`, `>` and `&` stand only as escapes, so that HTML can hold it."""
    text = _UNSEEN.sub(_escaped, json.dumps(data, ensure_ascii=False))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def read_marker(word: str, body: str) -> dict[str, object] | None:
    """The data of the body's first marker of this word; None where there is none or it is no JSON object."""
    opening = f"<!-- {word}: " + "{"
    for line in body.split("\n"):  # by hand: a lazy pattern takes quadratic time on repeated openings
        start = line.find(opening)
        end = line.find("} -->", start + len(opening)) if start >= 0 else -1
        if end >= 0:
            return _object(line[start + len(opening) - 1 : end + 1])
    return None


_BACKTICKS = re.compile(r"`+")
_MARKER = re.compile(r"<!--(?=\s*[A-Z][A-Z-]*:)")
_UNSEEN = re.compile(r"[^ -~]")
_LINE_ENDS = re.compile(r"[\r\n]+")
_CODE_OR_LIVE = re.compile(
    r"(?<!`)(?P<fence>`+)(?!`)(?P<code>.*?[^`])(?P=fence)(?!`)"
    r"|(?:https?://|www\.)[^\s`]*[\w/]"
    # A name before the sign is read from its beginning only: from each of its letters takes quadratic time.
    r"|(?:(?<![\w.-])(?:[\w.-]++/)?+[\w.-]*+)?(?:@[a-z0-9](?:[\w./-]*\w)?|#[0-9]+)"
    r"|\bgh-[0-9]+"
    r"|\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b",
    re.IGNORECASE,
)
# One character each that Markdown or HTML would read; an entity can't begin code, HTML or an escape.
_MEANT = re.compile(r"&(?=[#\w])|[<`\\]|!(?=\[)|(?<=\])\(")
# The (non-)joiners make letters and emoji of several languages; the word joiner is our own.
_WANTED = frozenset("\u200c\u200d\u2060")


def _code(text: str) -> str:
    words = text or " "
    fence = "`" * (max(map(len, _BACKTICKS.findall(words)), default=0) + 1)
    pad = " " if "`" in (words[0], words[-1]) else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def _unhidden(text: str) -> str:
    return text.replace("<!--", "<\u2060!--")


def _literal(text: str) -> str:
    return _MEANT.sub(lambda found: f"&#{ord(found[0])};", text)


def _as_code(found: re.Match[str]) -> str:
    text = found[0] if found["fence"] is None else found["code"]
    return own_code(text, len(text))


def _escaped(found: re.Match[str]) -> str:
    return found[0] if _visible(found[0]) == found[0] else json.dumps(found[0])[1:-1]


def _visible(character: str) -> str:
    if " " <= character <= "~" or character in _WANTED:
        return character
    if character.isspace():
        return " "
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs"} or 0xE0100 <= ord(character) <= 0xE01EF
    return "\ufffd" if hidden else character


def _object(text: str) -> dict[str, object] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
