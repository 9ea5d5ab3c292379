"""Which files, places, names and quoted words does a text mention, and where does each sentence end?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bot.domain import regex
from bot.domain.grounding.paths import is_inside
from bot.domain.prose import Kind, mask
from bot.domain.scan import code_spans, quotations

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
        for sentence in _sentences(self.text):
            if sentence.strip() and not sentence.rstrip(" )*_").endswith("?"):
                yield sentence.strip()[:_LONGEST_SENTENCE]

    def plain(self, sentence: str) -> str:
        """The sentence as it was written."""
        return " ".join(_SIGN.sub(lambda sign: self.said.get(sign[0], ""), sentence).split())


def marked(text: str) -> Marked:
    """The writer's own words, files and quoted words made signs."""
    readable = mask(text[:LONGEST].replace("\ue000", " ").replace("\ue001", " "), *_NOT_READ)
    # What is not read became spaces; a pasted log of them would be gone over from each of its places.
    readable = "\n".join(map(_single_spaced, readable.split("\n")))
    found = Marked("")
    found.text = _with_code(found, readable)
    found.text = _WIKI.sub(lambda link: _wiki(found, link), found.text)
    # Bare files first: an apostrophe or a quotation mark may stand around a path.
    found.text = _with_files(found, found.text)
    found.text = _with_quotes(found, found.text)
    found.text = _CALL.sub(lambda call: _call(found, call), found.text)
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
_KNOWN = regex.Pattern(rf"[\w.@+-]*\.(?:{_EXT})|{_NAMED}|\.[a-z][\w.-]*", ignore_case=True)
_PLACE = (
    r"(?::(?P<line>[1-9][0-9]{0,6})(?:[-–](?P<end>[1-9][0-9]{0,6}))?(?::[0-9]+)?"
    r"|\#L(?P<hash>[1-9][0-9]{0,6})(?:-L?(?P<hash_end>[1-9][0-9]{0,6}))?"
    r"|::?(?P<name>[A-Za-z_][\w.]*(?:::\w+)*)(?:\(\))?|\#(?P<slug>[\w-]+))"
)
_WHOLE = regex.Pattern(rf"(?P<path>(?:[\w.@+~\[\]-]+/|/)*[\w.@+\[\]-]+/?){_PLACE}?")
_IN_RUN = r"[\w/.@:\\~$+-]"
"""What a file can stand in but not begin behind: only where such a run begins is a file looked for."""
_RUN = regex.Pattern(rf"{_IN_RUN}*(?:\.[A-Za-z]|{_NAMED}){_IN_RUN}*")
_LONGEST_PLACE = 200  # characters behind a run that name a line or a part of the file
_BARE = regex.Pattern(
    rf"(?P<path>(?:~?/)?(?:[\w.@+-]+/)*(?:[\w@+-][\w.@+-]*\.(?:{_EXT})|{_NAMED}"
    rf"|\.(?:env|npmrc|netrc|gitignore|eslintrc|github)\b[\w.-]*\b))"
    rf"(?:{_PLACE}|$|[^\w/.(]|\.(?:$|\W))"
)
_NO_FILE = regex.Pattern(
    r"(?:application|text|image|audio|video|multipart|origin|upstream|refs|https?:)/|[\d./]+$"
)
_LONGEST_CODE = 501
_WIKI = regex.Pattern(r"\[\[([\w ./-]+)(?:[|#][^\]\n]*)?\]\]")
_LONGEST_LINK = 400
_MARKS = {'"': '"', "“": "”", "«": "»", "'": "'"}
_BEFORE_MARK = "([{,;:=‘"
_CALL = regex.Pattern(r"[A-Za-z_][\w.]*(?:::\w+)*\(\)")
_SIGN = regex.Pattern("\ue000[PQ][0-9]+\ue001")
_ENDS = regex.Pattern(r"(?P<abbreviation>\b(?:e\.g|i\.e|cf)\.)|(?P<sign>[.!?])\s+|\n+|;\s+|\s[—–]\s|\s-\s")
_LINES = r"lines?\s+(?P<n>[1-9][0-9]{0,6})(?:\s*(?:[-–]|to|and)\s*(?P<m>[1-9][0-9]{0,6}))?"
_AFTER = regex.Pattern(rf"{PATH}(?:\s*,\s*|\s*\(\s*|\s+)(?:at\s+|on\s+|in\s+)?{_LINES}\)?", ignore_case=True)
_BEFORE = regex.Pattern(rf"\b{_LINES}\s+(?:of|in)\s+(?:the\s+file\s+)?{PATH}", ignore_case=True)


def _code(found: Marked, code: str, whole: str) -> str:
    mention = path_of(code)
    if mention is not None and (mention.sure or is_inside(mention.path)):
        return _mention(found, mention, whole)
    return _sign(found, Q, found.quotes, code, whole)


def _sentences(text: str) -> Iterator[str]:
    done = 0
    for end in _ENDS.finditer(text):
        if not end["abbreviation"]:
            yield text[done : end.start() + len(end["sign"] or "")]
            done = end.end()
    yield text[done:]


def _single_spaced(line: str) -> str:
    words = " ".join(line.split())
    if not words:
        return " " if line else ""
    return f"{' ' * line[0].isspace()}{words}{' ' * line[-1].isspace()}"


def _with_code(found: Marked, text: str) -> str:
    done, parts = 0, []
    for start, end, ticks in code_spans(text, _LONGEST_CODE):
        parts += [text[done:start], _code(found, text[start + ticks : end - ticks].strip(), text[start:end])]
        done = end
    return "".join((*parts, text[done:]))


def _wiki(found: Marked, link: regex.Match) -> str:
    whole: str = link[0]
    return _mention(found, Mention(f"{link[1]}.md"), whole) if len(whole) <= _LONGEST_LINK else whole


def _with_files(found: Marked, text: str) -> str:
    done, parts = 0, []
    for run in _RUN.finditer(text):
        start = run.start()
        file = _BARE.match(text[start : run.end() + _LONGEST_PLACE]) if start >= done else None
        if file is None:
            continue
        mention = _placed(file)
        end = start + (file.end() if mention.line or mention.name else len(mention.path))
        parts += [text[done:start], _mention(found, mention, text[start:end])]
        done = end
    return "".join((*parts, text[done:]))


def _with_quotes(found: Marked, text: str) -> str:
    done, parts = 0, []
    for start, end in quotations(text, _MARKS, _BEFORE_MARK):
        parts += [text[done:start], _quote(found, text[start:end])]
        done = end
    return "".join((*parts, text[done:]))


def _quote(found: Marked, quoted: str) -> str:
    inner = quoted[1:-1]
    if _SIGN.fullmatch(inner.strip()):
        return inner.strip()
    return _sign(found, Q, found.quotes, found.plain(inner), found.plain(quoted))


def _call(found: Marked, call: regex.Match) -> str:
    whole: str = call[0]
    before = call.string[max(call.start() - 3, 0) : call.start()]
    is_part = before[-1:] in ("`", ".") or regex.is_word(before[-1:])
    is_part = is_part or (before.endswith("::") and regex.is_word(before[:-2]))
    return whole if is_part else _word(found, whole)


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


def _placed(match: regex.Match) -> Mention:
    line, end = match["line"] or match["hash"], match["end"] or match["hash_end"]
    name = match["name"] or match["slug"] or ""
    return Mention(match["path"], int(line) if line else None, int(end) if end else None, name)


def _with_lines(found: Marked, text: str) -> str:
    """The text with `line 42 of a.py` and `a.py, line 42` made one sign."""

    def joined(match: regex.Match) -> str:
        sign, index = P.format(match["p"]), int(match["p"])
        if found.mentions[index].line is not None:
            return str(match[0])
        end = int(match["m"]) if match["m"] else None
        placed = replace(found.mentions[index], line=int(match["n"]), end_line=end)
        return _mention(found, placed, match[0].replace(sign, found.said[sign]))

    return _AFTER.sub(joined, _BEFORE.sub(joined, text))
