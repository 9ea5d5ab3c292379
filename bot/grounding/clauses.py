"""Match clauses of a text and the files and quotes that they mention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from bot import regex
from bot.gates.config import ClaimType
from bot.grounding.model import Claim, ClaimForm
from bot.markdown.blocks import SpanKind
from bot.markdown.scan import code_spans, quotations
from bot.markdown.spans import mask_hidden
from bot.paths import is_inside_repository

PATH_SIGN = "\ue000P{}\ue001"
QUOTE_SIGN = "\ue000Q{}\ue001"
PATH_PATTERN = "\ue000P(?P<p>[0-9]+)\ue001"
QUOTE_PATTERN = "\ue000Q(?P<q>[0-9]+)\ue001"
MAX_MENTION_LENGTH = 20_000
_LONGEST_SENTENCE = 600


@dataclass(frozen=True, slots=True)
class FileMention:
    """A file that a text names, with the lines or the definition in it, if given."""

    path: str
    line: int | None = None
    end_line: int | None = None
    name: str = ""
    sure: bool = True
    """It can hardly be anything but a file; `a/b` in code can be a branch or a division."""


@dataclass(slots=True)
class MarkedText:
    """A text in which every file and every quotation is replaced by one sign."""

    text: str
    mentions: list[FileMention] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    originals: dict[str, str] = field(default_factory=dict)
    """Sign → what it replaced."""

    def sentences(self) -> Iterator[str]:
        """Yield the sentences, with signs; a question claims nothing."""
        for sentence in _sentences(self.text):
            if sentence.strip() and not sentence.rstrip(" )*_").endswith("?"):
                yield sentence.strip()[:_LONGEST_SENTENCE]

    def plain(self, sentence: str) -> str:
        """Return the sentence as it was written."""
        return " ".join(_SIGN.sub(lambda sign: self.originals.get(sign[0], ""), sentence).split())

    def add_mention(self, mention: FileMention, original: str) -> str:
        """Record a file, and return its sign."""
        sign = PATH_SIGN.format(len(self.mentions))
        self.mentions.append(mention)
        self.originals[sign] = original
        return sign

    def add_quote(self, text: str, original: str) -> str:
        """Record a quotation, and return its sign."""
        sign = QUOTE_SIGN.format(len(self.quotes))
        self.quotes.append(text)
        self.originals[sign] = original
        return sign


def mark_mentions(text: str) -> MarkedText:
    """Replace the files and quotations in the writer's own words by signs."""
    readable = mask_hidden(
        text[:MAX_MENTION_LENGTH].replace("\ue000", " ").replace("\ue001", " "), *_NOT_READ
    )
    # Masked text became spaces; a long run of them would be scanned again from each of its positions.
    readable = "\n".join(map(_single_spaced, readable.split("\n")))
    marked = MarkedText("")
    if not readable.strip():
        return marked
    text = _mark_code(marked, readable)
    text = _WIKI.sub(lambda link: _mark_wiki_link(marked, link), text)
    # Bare files first: an apostrophe or a quotation mark may stand around a path.
    text = _mark_files(marked, text)
    text = _mark_quotations(marked, text)
    text = _CALL.sub(lambda call: _mark_call(marked, call), text)
    marked.text = _mark_lines(marked, text)
    return marked


def parse_mention(text: str) -> FileMention | None:
    """Parse a text that is a file with a location: `src/a.py:42-48`, `docs/b.md#set-up`."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    path, name = match["path"], match["path"].rsplit("/", 1)[-1]
    is_sure = _FILE_NAME.fullmatch(name) is not None or path.endswith("/")
    if not is_sure and ("/" not in path.strip("/") or _NO_FILE.match(path)):
        return None
    return replace(_build_mention(match), sure=is_sure)


_NOT_READ = (
    SpanKind.FENCE,
    SpanKind.QUOTE,
    SpanKind.LINK,
    SpanKind.IMAGE,
    SpanKind.URL,
    SpanKind.COMMENT,
    SpanKind.HTML,
)
_EXTENSIONS = (
    "py pyi ipynb js jsx mjs cjs ts tsx go rs java kt kts c h cc cpp cxx hpp hh cs rb php swift scala sh bash"
    " sql lua ex exs hs clj r jl dart vue svelte css scss html htm xml json jsonc json5 yaml yml toml ini cfg"
    " conf md mdx rst txt adoc lock gradle properties proto graphql tf csv tsv svg png jpe?g gif pdf pem key"
    " env mod sum bin so dll exe zip gz jar wasm"
)
_NAMES = "Dockerfile Makefile Procfile Jenkinsfile Gemfile LICENSE README CHANGELOG CODEOWNERS"
_EXT = "|".join(_EXTENSIONS.split())
_NAMED = "|".join(_NAMES.split())
_FILE_NAME = regex.Regex(rf"[\w.@+-]*\.(?:{_EXT})|{_NAMED}|\.[a-z][\w.-]*", ignore_case=True)
_PLACE = (
    r"(?::(?P<line>[1-9][0-9]{0,6})(?:[-–](?P<end>[1-9][0-9]{0,6}))?(?::[0-9]+)?"
    r"|\#L(?P<hash>[1-9][0-9]{0,6})(?:-L?(?P<hash_end>[1-9][0-9]{0,6}))?"
    r"|::?(?P<name>[A-Za-z_][\w.]*(?:::\w+)*)(?:\(\))?|\#(?P<slug>[\w-]+))"
)
_WHOLE = regex.Regex(rf"(?P<path>(?:[\w.@+~\[\]-]+/|/)*[\w.@+\[\]-]+/?){_PLACE}?")
_IN_RUN = r"[\w/.@:\\~$+-]"
"""What a file can stand in but not begin behind: only where such a run begins is a file looked for."""
_RUN = regex.Regex(rf"{_IN_RUN}*(?:\.[A-Za-z]|{_NAMED}){_IN_RUN}*")
_LONGEST_PLACE = 200  # characters behind a run that name a line or a part of the file
_BARE = regex.Regex(
    rf"(?P<path>(?:~?/)?(?:[\w.@+-]+/)*(?:[\w@+-][\w.@+-]*\.(?:{_EXT})|{_NAMED}"
    rf"|\.(?:env|npmrc|netrc|gitignore|eslintrc|github)\b[\w.-]*\b))"
    rf"(?:{_PLACE}|$|[^\w/.(]|\.(?:$|\W))"
)
_NO_FILE = regex.Regex(
    r"(?:application|text|image|audio|video|multipart|origin|upstream|refs|https?:)/|[\d./]+$"
)
_LONGEST_CODE = 501
_WIKI = regex.Regex(r"\[\[([\w ./-]+)(?:[|#][^\]\n]*)?\]\]")
_LONGEST_LINK = 400
_MARKS = {'"': '"', "“": "”", "«": "»", "'": "'"}
_BEFORE_MARK = "([{,;:=‘"
_CALL = regex.Regex(r"[A-Za-z_][\w.]*(?:::\w+)*\(\)")
_SIGN = regex.Regex("\ue000[PQ][0-9]+\ue001")
_ENDS = regex.Regex(r"(?P<abbreviation>\b(?:e\.g|i\.e|cf)\.)|(?P<sign>[.!?])\s+|\n+|;\s+|\s[—–]\s|\s-\s")
_LINES = r"lines?\s+(?P<n>[1-9][0-9]{0,6})(?:\s*(?:[-–]|to|and)\s*(?P<m>[1-9][0-9]{0,6}))?"
_AFTER = regex.Regex(
    rf"{PATH_PATTERN}(?:\s*,\s*|\s*\(\s*|\s+)(?:at\s+|on\s+|in\s+)?{_LINES}\)?", ignore_case=True
)
_BEFORE = regex.Regex(rf"\b{_LINES}\s+(?:of|in)\s+(?:the\s+file\s+)?{PATH_PATTERN}", ignore_case=True)


def _code_sign(marked: MarkedText, code: str, original: str) -> str:
    mention = parse_mention(code)
    if mention is not None and (mention.sure or is_inside_repository(mention.path)):
        return marked.add_mention(mention, original)
    return marked.add_quote(code, original)


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


def _replace_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Replace the spans, which are in order: start, end and replacement of each."""
    done, parts = 0, []
    for start, end, replacement in spans:
        parts += [text[done:start], replacement]
        done = end
    return "".join((*parts, text[done:]))


def _mark_code(marked: MarkedText, text: str) -> str:
    def spans() -> Iterator[tuple[int, int, str]]:
        for start, end, ticks in code_spans(text, _LONGEST_CODE):
            code = text[start + ticks : end - ticks].strip()
            yield start, end, _code_sign(marked, code, text[start:end])

    return _replace_spans(text, spans())


def _mark_wiki_link(marked: MarkedText, link: regex.RegexMatch) -> str:
    original: str = link[0]
    if len(original) > _LONGEST_LINK:
        return original
    return marked.add_mention(FileMention(f"{link[1]}.md"), original)


def _mark_files(marked: MarkedText, text: str) -> str:
    def spans() -> Iterator[tuple[int, int, str]]:
        done = 0
        for run in _RUN.finditer(text):
            start = run.start()
            file = _BARE.match(text[start : run.end() + _LONGEST_PLACE]) if start >= done else None
            if file is not None:
                mention = _build_mention(file)
                done = start + (file.end() if mention.line or mention.name else len(mention.path))
                yield start, done, marked.add_mention(mention, text[start:done])

    return _replace_spans(text, spans())


def _mark_quotations(marked: MarkedText, text: str) -> str:
    def spans() -> Iterator[tuple[int, int, str]]:
        for start, end in quotations(text, _MARKS, _BEFORE_MARK):
            inner, original = text[start + 1 : end - 1], marked.plain(text[start:end])
            is_marked = _SIGN.fullmatch(inner.strip())
            yield start, end, inner.strip() if is_marked else marked.add_quote(marked.plain(inner), original)

    return _replace_spans(text, spans())


def _mark_call(marked: MarkedText, call: regex.RegexMatch) -> str:
    original: str = call[0]
    before = call.string[max(call.start() - 3, 0) : call.start()]
    is_part = before[-1:] in ("`", ".") or regex.is_word(before[-1:])
    is_part = is_part or (before.endswith("::") and regex.is_word(before[:-2]))
    return original if is_part else marked.add_quote(original, original)


def _build_mention(match: regex.RegexMatch) -> FileMention:
    line, end = match["line"] or match["hash"], match["end"] or match["hash_end"]
    name = match["name"] or match["slug"] or ""
    return FileMention(match["path"], int(line) if line else None, int(end) if end else None, name)


def _mark_lines(marked: MarkedText, text: str) -> str:
    """Replace `line 42 of a.py` and `a.py, line 42` by one sign."""

    def join(match: regex.RegexMatch) -> str:
        sign, index = PATH_SIGN.format(match["p"]), int(match["p"])
        if marked.mentions[index].line is not None:
            return str(match[0])
        end = int(match["m"]) if match["m"] else None
        mention = replace(marked.mentions[index], line=int(match["n"]), end_line=end)
        return marked.add_mention(mention, match[0].replace(sign, marked.originals[sign]))

    return _AFTER.sub(join, _BEFORE.sub(join, text))


@dataclass(frozen=True, slots=True)
class ClauseMatch:
    """A clause that a claim pattern matches."""

    marked: MarkedText
    clause: str
    match: regex.RegexMatch

    def group(self, name: str) -> str:
        """Return a group as it was matched; empty if the pattern has none or it matched nothing."""
        return (self.match.groupdict().get(name) or "").strip()

    @property
    def mention(self) -> FileMention | None:
        """The file that the claim is about, if any."""
        index = self.group("p")
        return self.marked.mentions[int(index)] if index else None

    def quote(self, name: str = "q") -> str:
        """Return the quoted text that the claim is about."""
        index = self.group(name)
        return self.marked.quotes[int(index)] if index else ""

    def group_text(self, name: str) -> str:
        """Return the text of a group: a bare word, or what a sign stands for."""
        value = self.group(name)
        sign = _QUOTE.fullmatch(value)
        return self.marked.quotes[int(sign["q"])] if sign else value.rstrip(".")

    def claim(self, kind: ClaimType, form: ClaimForm = ClaimForm.STATED, **fields: str) -> Claim:
        """Build the claim, with its location and whether it denies something."""
        mention = self.mention
        line, end = (mention.line, mention.end_line) if mention else (None, None)
        if number := self.group("n"):
            line = int(number)
        return Claim(
            kind,
            self.marked.plain(self.clause)[:200],
            mention.path if mention else None,
            line,
            end,
            subject=fields.get("subject", self.quote()),
            value=fields.get("value", ""),
            holds=not self.group("no"),
            form=form,
            cited=bool(_CITED.search(self.clause)),
        )


ClaimBuilder = Callable[[ClauseMatch], Claim | None]


@dataclass(frozen=True, slots=True)
class ClaimPattern:
    """One way to phrase a claim, and how the claim is built."""

    expression: regex.Regex
    build: ClaimBuilder

    def match(self, marked: MarkedText, clause: str) -> tuple[Claim, str] | None:
        """Return the claim that the clause makes this way, and the text that it covers."""
        match = self.expression.search(clause)
        if match is None or _NOT_CLAIMED.search(clause[: match.start()]):
            return None
        claim = self.build(ClauseMatch(marked, clause, match))
        if claim is None:
            return None
        return replace(claim, qualified=_is_qualified(clause, match)), match[0]


def _is_qualified(clause: str, match: regex.RegexMatch) -> bool:
    rest = _CITATION.sub("", clause[match.end() :]).strip(" .,:!)*_`'\"")
    continued = _CONTINUED.match(rest)
    has_more = bool(rest) and (not continued or bool(continued["thing"]))
    return has_more or bool(_QUALIFIER.search(clause[: match.start()]))


_QUOTE = regex.Regex(QUOTE_PATTERN)
_CONTINUED = regex.Regex(
    r"(?P<thing>and\s+(?:the\s+|a\s+)?\x{e000})"
    r"|(?:and\b|which\b|too$|already\b|now\b|still\b|anymore\b|any more\b"
    r"|at (?:the|this) (?:head|commit|revision)\b|right now\b|currently\b)|\(",
    ignore_case=True,
)
_QUALIFIER = regex.Regex(
    r"\b(?:only|every|each|all|most|nothing|nobody|always|often|sometimes|twice|half|few|after|until|except"
    r"|besides|instead|(?:one|two|three|four|five|six|seven|eight|nine|ten|several|some|[0-9]+) of)\b",
    ignore_case=True,
)
# A quotation, a denial, or another revision: then the writer does not claim that it is so here.
_NOT_CLAIMED = regex.Regex(
    r"\b(?:not|never|no|none|neither|nor|without|unlike|false|untrue|lie|wrong|myth|doubts?|doubtful"
    r"|denies|denied"
    r"|claims?|claimed|claiming|says|said|states?|stated|promises|pretends|supposedly|allegedly"
    r"|description|readme says"
    r"|(?:on|in) (?:main|master|production|upstream|the (?:base|fork|last|previous|next|old|new|other))"
    r"|release"
    r"|before|earlier|previously|formerly|former|old|yesterday|locally|once|imagine|suppose)\b",
    ignore_case=True,
)
_CITATION = regex.Regex(
    r"\((?:read|grep|glob|seen|observed|verified|npm|pytest|see|from|source)\b[^)]*\)", ignore_case=True
)
_CITED = regex.Regex(
    r"\((?:read|grep|glob|seen|observed|verified|npm|pytest|see|from|source)\b", ignore_case=True
)
