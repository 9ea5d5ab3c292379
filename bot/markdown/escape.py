"""Escape foreign text in our Markdown, and write and read comment markers."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping

from bot import regex
from bot.markdown.scan import code_spans

CODE_LIMIT = 120
"""Characters of foreign text that one line shows."""


def code_span(text: str, limit: int = CODE_LIMIT) -> str:
    """Return the text as one line of code that nothing inside can end, at most `limit` characters."""
    return _code(_unhidden(truncate(one_line(text), limit)))


def gate_code(text: str, limit: int = CODE_LIMIT) -> str:
    """Return a gate's text as code that can be copied: only what looks like a marker is changed."""
    return _code(_MARKER.sub(lambda match: _unhidden(match[0]), truncate(one_line(text), limit)))


def escape_mentions(text: str) -> str:
    """Return a gate's text on one line: emphasis and code stay, nothing in it mentions, links or hides."""
    line = one_line(text)
    done, parts = 0, []
    for start, end, ticks in code_spans(line):
        parts += [_without_live(line[done:start]), _as_code(line[start + ticks : end - ticks])]
        done = end
    return "".join((*parts, _without_live(line[done:])))


def table_cell(markdown: str) -> str:
    """Return the Markdown as a table's cell; GitHub removes the backslash again, even inside code."""
    lines = markdown.replace("\r", "\n").split("\n")
    return " ".join(filter(None, lines)).replace("|", "\\|").strip()


def one_line(text: str) -> str:
    """Fold white space, and make characters visible that hide text or reverse its direction."""
    is_plain = text.isascii() and text.isprintable()
    return " ".join((text if is_plain else "".join(map(_visible, text))).split())


def truncate(text: str, limit: int) -> str:
    """Return at most `limit` characters of the text, with an ellipsis where it was longer."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def render_marker(word: str, data: Mapping[str, object]) -> str:
    """Render `<!-- WORD: {…} -->` on one line; no string in the data can end it early."""
    return f"<!-- {word}: {html_safe_json(data)} -->"


_encode_json = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder for each call


def html_safe_json(data: object) -> str:
    """Return JSON on one line with `<`, `>` and `&` escaped, so that HTML can hold it."""
    text = _encode_json(data)
    if not (text.isascii() and text.isprintable()):
        text = text.translate({ord(sign): _escaped(sign) for sign in set(text) if not " " <= sign <= "~"})
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def parse_marker(word: str, body: str) -> dict[str, object] | None:
    """Return the data of the body's first marker of this word; None without one, or without a JSON object."""
    opening = f"<!-- {word}: " + "{"
    for line in body.split("\n"):  # by hand: a lazy pattern takes quadratic time on repeated openings
        start = line.find(opening)
        end = line.find("} -->", start + len(opening)) if start >= 0 else -1
        if end >= 0:
            return _object(line[start + len(opening) - 1 : end + 1])
    return None


_BACKTICKS = regex.Regex(r"`+")
_MARKER = regex.Regex(r"<!--\s*[A-Z][A-Z-]*:")
_LIVE = regex.Regex(
    r"(?:https?://|www\.)[^\s`]*[\w/]"
    r"|(?:[\w.-]+/)?[\w.-]*(?:@[a-z0-9](?:[\w./-]*\w)?|#[0-9]+)"
    r"|\bgh-[0-9]+"
    r"|(?P<hex>\b[0-9a-f]{7,40}\b)",
    ignore_case=True,
)
# One character each that Markdown or HTML would read; an entity can't begin code, HTML or an escape.
_MEANT = regex.Regex(r"&[#\w]|[<`\\]|!\[|\]\(")
# The (non-)joiners make letters and emoji of several languages; the word joiner is our own.
_WANTED = frozenset("\u200c\u200d\u2060")


def _code(text: str) -> str:
    words = text or " "
    fence = "`" * (max(map(len, _BACKTICKS.findall(words)), default=0) + 1) if "`" in words else "`"
    pad = " " if "`" in (words[0], words[-1]) else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def _unhidden(text: str) -> str:
    return text.replace("<!--", "<\u2060!--")


def _without_live(text: str) -> str:
    """Make code of what GitHub would link or notify about, and escape the rest."""
    done, parts = 0, []
    for match in _LIVE.finditer(text):
        if match["hex"] and (match[0].isdigit() or match[0].isalpha()):
            continue  # a number or a word is no commit
        parts += [_literal(text[done : match.start()]), _as_code(match[0])]
        done = match.end()
    return "".join((*parts, _literal(text[done:])))


def _literal(text: str) -> str:
    return _MEANT.sub(_entity, text)


def _entity(match: regex.RegexMatch) -> str:
    text: str = match[0]
    return f"]&#{ord('(')};" if text == "](" else f"&#{ord(text[0])};{text[1:]}"


def _as_code(text: str) -> str:
    return gate_code(text, len(text))


def _escaped(character: str) -> str:
    return character if _visible(character) == character else json.dumps(character)[1:-1]


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
