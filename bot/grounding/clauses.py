"""Match clauses of a text and the files and quotes that they mention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    """A file that a text names, with the lines or the name in it, if given."""

    path: str
    line: int | None = None
    end_line: int | None = None
    name: str = ""
    sure: bool = True
    """It can hardly be anything but a file; `a/b` in code can be a branch or a division."""


@dataclass(slots=True)
class MarkedText:
    """A text in which every file and every quoted word stands as one sign."""

    text: str
    mentions: list[FileMention] = field(default_factory=list)
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


def mark_mentions(text: str) -> MarkedText:
    """The writer's own words, files and quoted words made signs."""
    readable = mask_hidden(
        text[:MAX_MENTION_LENGTH].replace("\ue000", " ").replace("\ue001", " "), *_NOT_READ
    )
    # What is not read became spaces; a pasted log of them would be gone over from each of its places.
    readable = "\n".join(map(_single_spaced, readable.split("\n")))
    found = MarkedText("")
    found.text = _with_code(found, readable)
    found.text = _WIKI.sub(lambda link: _wiki(found, link), found.text)
    # Bare files first: an apostrophe or a quotation mark may stand around a path.
    found.text = _with_files(found, found.text)
    found.text = _with_quotes(found, found.text)
    found.text = _CALL.sub(lambda call: _call(found, call), found.text)
    found.text = _with_lines(found, found.text)
    return found


def parse_mention(text: str) -> FileMention | None:
    """The file and place that the whole text names, if it is one: `src/a.py:42-48`, `docs/b.md#set-up`."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    path, suffix = match["path"], match["path"].rsplit("/", 1)[-1]
    known = _KNOWN.fullmatch(suffix) is not None or path.endswith("/")
    if not known and ("/" not in path.strip("/") or _NO_FILE.match(path)):
        return None
    return replace(_placed(match), sure=known)


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
_KNOWN = regex.Regex(rf"[\w.@+-]*\.(?:{_EXT})|{_NAMED}|\.[a-z][\w.-]*", ignore_case=True)
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


def _code(found: MarkedText, code: str, whole: str) -> str:
    mention = parse_mention(code)
    if mention is not None and (mention.sure or is_inside_repository(mention.path)):
        return _mention(found, mention, whole)
    return _sign(found, QUOTE_SIGN, found.quotes, code, whole)


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


def _with_code(found: MarkedText, text: str) -> str:
    done, parts = 0, []
    for start, end, ticks in code_spans(text, _LONGEST_CODE):
        parts += [text[done:start], _code(found, text[start + ticks : end - ticks].strip(), text[start:end])]
        done = end
    return "".join((*parts, text[done:]))


def _wiki(found: MarkedText, link: regex.RegexMatch) -> str:
    whole: str = link[0]
    return _mention(found, FileMention(f"{link[1]}.md"), whole) if len(whole) <= _LONGEST_LINK else whole


def _with_files(found: MarkedText, text: str) -> str:
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


def _with_quotes(found: MarkedText, text: str) -> str:
    done, parts = 0, []
    for start, end in quotations(text, _MARKS, _BEFORE_MARK):
        parts += [text[done:start], _quote(found, text[start:end])]
        done = end
    return "".join((*parts, text[done:]))


def _quote(found: MarkedText, quoted: str) -> str:
    inner = quoted[1:-1]
    if _SIGN.fullmatch(inner.strip()):
        return inner.strip()
    return _sign(found, QUOTE_SIGN, found.quotes, found.plain(inner), found.plain(quoted))


def _call(found: MarkedText, call: regex.RegexMatch) -> str:
    whole: str = call[0]
    before = call.string[max(call.start() - 3, 0) : call.start()]
    is_part = before[-1:] in ("`", ".") or regex.is_word(before[-1:])
    is_part = is_part or (before.endswith("::") and regex.is_word(before[:-2]))
    return whole if is_part else _word(found, whole)


def _word(found: MarkedText, word: str) -> str:
    return _sign(found, QUOTE_SIGN, found.quotes, word, word)


def _mention(found: MarkedText, mention: FileMention, whole: str) -> str:
    sign = PATH_SIGN.format(len(found.mentions))
    found.mentions.append(mention)
    found.said[sign] = whole
    return sign


def _sign(found: MarkedText, form: str, known: list[str], value: str, whole: str) -> str:
    sign = form.format(len(known))
    known.append(value)
    found.said[sign] = whole
    return sign


def _placed(match: regex.RegexMatch) -> FileMention:
    line, end = match["line"] or match["hash"], match["end"] or match["hash_end"]
    name = match["name"] or match["slug"] or ""
    return FileMention(match["path"], int(line) if line else None, int(end) if end else None, name)


def _with_lines(found: MarkedText, text: str) -> str:
    """The text with `line 42 of a.py` and `a.py, line 42` made one sign."""

    def joined(match: regex.RegexMatch) -> str:
        sign, index = PATH_SIGN.format(match["p"]), int(match["p"])
        if found.mentions[index].line is not None:
            return str(match[0])
        end = int(match["m"]) if match["m"] else None
        placed = replace(found.mentions[index], line=int(match["n"]), end_line=end)
        return _mention(found, placed, match[0].replace(sign, found.said[sign]))

    return _AFTER.sub(joined, _BEFORE.sub(joined, text))


NEGATION = r"(?P<no>does\s+not|doesn't|do\s+not|don't|did\s+not|didn't|no\s+longer|never)"
GAP_PATTERN = r"\s+"


@dataclass(frozen=True, slots=True)
class ClauseMatch:
    """A clause in which a way of claiming was found."""

    marked: MarkedText
    clause: str
    match: regex.RegexMatch

    def group(self, name: str) -> str:
        """What stands in a group, empty where the pattern has none or it is not filled."""
        return (self.match.groupdict().get(name) or "").strip()

    @property
    def mention(self) -> FileMention | None:
        """The file that the claim is about."""
        index = self.group("p")
        return self.marked.mentions[int(index)] if index else None

    def quote(self, name: str = "q") -> str:
        """The quoted words that the claim is about."""
        index = self.group(name)
        return self.marked.quotes[int(index)] if index else ""

    def word(self, name: str) -> str:
        """A bare word, or what a sign in its place stands for."""
        value = self.group(name)
        sign = _QUOTE.fullmatch(value)
        return self.marked.quotes[int(sign["q"])] if sign else value.rstrip(".")

    def claim(self, kind: ClaimType, form: ClaimForm = ClaimForm.STATED, **known: str) -> Claim:
        """The claim, with the place and whether it is one of absence."""
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
            subject=known.get("subject", self.quote()),
            value=known.get("value", ""),
            holds=not self.group("no"),
            form=form,
            cited=bool(_CITED.search(self.clause)),
        )


ClaimBuilder = Callable[[ClauseMatch], Claim | None]


@dataclass(frozen=True, slots=True)
class ClaimPattern:
    """One way to put a claim, and what it claims."""

    expression: regex.Regex
    build: ClaimBuilder

    def hear(self, marked: MarkedText, clause: str) -> tuple[Claim, regex.RegexMatch] | None:
        """The claim that the clause makes this way; a part of it that nobody can look up is noted."""
        match = self.expression.search(clause)
        if match is None or _NOT_SAID.search(clause[: match.start()]):
            return None
        claim = self.build(ClauseMatch(marked, clause, match))
        if claim is None:
            return None
        return replace(claim, qualified=_says_more(clause, match)), match


def claim_pattern(expression: str, build: ClaimBuilder) -> ClaimPattern:
    """A way to put a claim: `<P>` stands for a file, `<Q>` for quoted words, a space for any gap."""
    spread = expression.replace("<P>", PATH_PATTERN).replace("<Q>", QUOTE_PATTERN).replace(" ", GAP_PATTERN)
    spread = spread.replace(r"\ue000", "\ue000").replace(r"\ue001", "\ue001")  # RE2 knows no such escape
    return ClaimPattern(regex.Regex(spread, ignore_case=True), build)


def _says_more(clause: str, match: regex.RegexMatch) -> bool:
    rest = _CITATION.sub("", clause[match.end() :]).strip(" .,:!)*_`'\"")
    continued = _CONTINUED.match(rest)
    goes_on = bool(rest) and (not continued or bool(continued["thing"]))
    return goes_on or bool(_QUALIFIER.search(clause[: match.start()]))


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
# Somebody else's word, a denial, or another revision: then the writer does not say that it is so here.
_NOT_SAID = regex.Regex(
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
