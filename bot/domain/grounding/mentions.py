"""Which files, places, names and quoted words does a text mention, and where does each sentence end?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bot.domain.grounding.paths import is_inside
from bot.domain.prose import Kind, mask

P = "\ue000P{}\ue001"
Q = "\ue000Q{}\ue001"
PATH = "\ue000P(?P<p>[0-9]+)\ue001"
QUOTE = "\ue000Q(?P<q>[0-9]+)\ue001"
LONGEST = 20_000
_LONGEST_SENTENCE = 600


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that a text names, with the lines or the name in it, if given."""

    path: str
    line: int | None = None
    end_line: int | None = None
    name: str = ""
    sure: bool = True
    """It can hardly be anything but a file; `a/b` in code can be a branch or a division."""


@dataclass(slots=True)
class Marked:
    """A text in which every file and every quoted word stands as one sign."""

    text: str
    mentions: list[Mention] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    def sentences(self) -> Iterator[str]:
        """The sentences, still with signs; a question claims nothing."""
        for sentence in _ENDS.split(self.text):
            if sentence.strip() and not sentence.rstrip(" )*_").endswith("?"):
                yield sentence.strip()[:_LONGEST_SENTENCE]

    def plain(self, sentence: str) -> str:
        """The sentence as it was written."""
        return " ".join(_SIGN.sub(lambda sign: self.said.get(sign[0], ""), sentence).split())


def marked(text: str) -> Marked:
    """The writer's own words, files and quoted words made signs."""
    readable = mask(text[:LONGEST].replace("\ue000", " ").replace("\ue001", " "), *_NOT_READ)
    # What is not read became spaces; a pasted log of them would be gone over from each of its places.
    readable = _GAPS.sub(" ", readable)
    found = Marked("")
    found.text = _CODE.sub(lambda code: _code(found, code["code"].strip(), code[0]), readable)
    found.text = _WIKI.sub(lambda link: _mention(found, Mention(f"{link[1]}.md"), link[0]), found.text)
    # Bare files first: an apostrophe or a quotation mark may stand around a path.
    found.text = _BARE.sub(lambda path: _bare(found, path), found.text)
    found.text = _QUOTED.sub(lambda quote: _quote(found, quote), found.text)
    found.text = _CALL.sub(lambda call: _word(found, call[0]), found.text)
    found.text = _with_lines(found, found.text)
    return found


def path_of(text: str) -> Mention | None:
    """The file and place that the whole text names, if it is one: `src/a.py:42-48`, `docs/b.md#set-up`."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    path, suffix = match["path"], match["path"].rsplit("/", 1)[-1]
    known = _KNOWN.fullmatch(suffix) is not None or path.endswith("/")
    if not known and ("/" not in path.strip("/") or _NO_FILE.match(path)):
        return None
    return replace(_placed(match), sure=known)


_NOT_READ = (Kind.FENCE, Kind.QUOTE, Kind.LINK, Kind.IMAGE, Kind.URL, Kind.COMMENT, Kind.HTML)
_EXTENSIONS = (
    "py pyi ipynb js jsx mjs cjs ts tsx go rs java kt kts c h cc cpp cxx hpp hh cs rb php swift scala sh bash"
    " sql lua ex exs hs clj r jl dart vue svelte css scss html htm xml json jsonc json5 yaml yml toml ini cfg"
    " conf md mdx rst txt adoc lock gradle properties proto graphql tf csv tsv svg png jpe?g gif pdf pem key"
    " env mod sum bin so dll exe zip gz jar wasm"
)
_NAMES = "Dockerfile Makefile Procfile Jenkinsfile Gemfile LICENSE README CHANGELOG CODEOWNERS"
_EXT = "|".join(_EXTENSIONS.split())
_NAMED = "|".join(_NAMES.split())
_KNOWN = re.compile(rf"[\w.@+-]*\.(?:{_EXT})|{_NAMED}|\.[a-z][\w.-]*", re.IGNORECASE)
_PLACE = (
    r"(?::(?P<line>[1-9][0-9]{0,6})(?:[-–](?P<end>[1-9][0-9]{0,6}))?(?::[0-9]+)?"
    r"|\#L(?P<hash>[1-9][0-9]{0,6})(?:-L?(?P<hash_end>[1-9][0-9]{0,6}))?"
    r"|::?(?P<name>[A-Za-z_][\w.]*(?:::\w+)*)(?:\(\))?|\#(?P<slug>[\w-]+))?"
)
_WHOLE = re.compile(rf"(?P<path>(?:[\w.@+~\[\]-]+/|/)*[\w.@+\[\]-]+/?){_PLACE}")
_BARE = re.compile(
    rf"(?<![\w/.@:\\~$+-])(?P<path>(?:~?/)?(?:[\w.@+-]+/)*(?:[\w@+-][\w.@+-]*\.(?:{_EXT})|{_NAMED}(?=/|\b)"
    rf"|\.(?:env|npmrc|netrc|gitignore|eslintrc|github)\b[\w.-]*\b))"
    rf"(?![\w/]|\.\w|\(){_PLACE}"
)
_NO_FILE = re.compile(
    r"(?:application|text|image|audio|video|multipart|origin|upstream|refs|https?:)/|[\d./]+$"
)
_CODE = re.compile(r"(?<!`)(?P<fence>`+)(?!`)(?P<code>[^`\n]|[^\n]{1,500}?[^`\n])(?P=fence)(?!`)")
_WIKI = re.compile(r"\[\[([\w ./-]{1,200})(?:[|#][^\]\n]{0,200})?\]\]")
_QUOTED = re.compile(
    r"\"(?P<a>[^\"\n]{1,300})\"|“(?P<b>[^”\n]{1,300})”|«(?P<c>[^»\n]{1,300})»"
    r"|(?:‘|(?<![^\s(\[{,;:=]))'(?P<d>(?:[^'\n]|(?<=\w)'(?=\w)){1,300})'(?!\w)"
)
_CALL = re.compile(r"(?<![\w`.])(?<!\w::)[A-Za-z_][\w.]*+(?:::\w++)*+\(\)")
_SIGN = re.compile("\ue000[PQ][0-9]+\ue001")
_ENDS = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)\s+|\n+|;\s+|\s[—–]\s|\s-\s")
_GAPS = re.compile(r"[^\S\n]++")
_LINES = r"lines?\s+(?P<n>[1-9][0-9]{0,6})(?:\s*(?:[-–]|to|and)\s*(?P<m>[1-9][0-9]{0,6}))?"
_AFTER = re.compile(rf"{PATH}(?:\s*,\s*|\s*\(\s*|\s+)(?:at\s+|on\s+|in\s+)?{_LINES}\)?", re.IGNORECASE)
_BEFORE = re.compile(rf"\b{_LINES}\s+(?:of|in)\s+(?:the\s+file\s+)?{PATH}", re.IGNORECASE)


def _code(found: Marked, code: str, whole: str) -> str:
    mention = path_of(code)
    if mention is not None and (mention.sure or is_inside(mention.path)):
        return _mention(found, mention, whole)
    return _sign(found, Q, found.quotes, code, whole)


def _bare(found: Marked, match: re.Match[str]) -> str:
    return _mention(found, _placed(match), match[0])


def _quote(found: Marked, match: re.Match[str]) -> str:
    inner = next(group for group in (match["a"], match["b"], match["c"], match["d"]) if group)
    sign = _SIGN.fullmatch(inner.strip())
    return sign[0] if sign else _sign(found, Q, found.quotes, found.plain(inner), found.plain(match[0]))


def _word(found: Marked, word: str) -> str:
    return _sign(found, Q, found.quotes, word, word)


def _mention(found: Marked, mention: Mention, whole: str) -> str:
    sign = P.format(len(found.mentions))
    found.mentions.append(mention)
    found.said[sign] = whole
    return sign


def _sign(found: Marked, form: str, known: list[str], value: str, whole: str) -> str:
    sign = form.format(len(known))
    known.append(value)
    found.said[sign] = whole
    return sign


def _placed(match: re.Match[str]) -> Mention:
    line, end = match["line"] or match["hash"], match["end"] or match["hash_end"]
    name = match["name"] or match["slug"] or ""
    return Mention(match["path"], int(line) if line else None, int(end) if end else None, name)


def _with_lines(found: Marked, text: str) -> str:
    """The text with `line 42 of a.py` and `a.py, line 42` made one sign."""

    def joined(match: re.Match[str]) -> str:
        sign, index = P.format(match["p"]), int(match["p"])
        if found.mentions[index].line is not None:
            return match[0]
        end = int(match["m"]) if match["m"] else None
        placed = replace(found.mentions[index], line=int(match["n"]), end_line=end)
        return _mention(found, placed, match[0].replace(sign, found.said[sign]))

    return _AFTER.sub(joined, _BEFORE.sub(joined, text))
