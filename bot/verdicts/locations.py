"""Find the files, lines and named parts that a text mentions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from bot import regex
from bot.markdown.scan import code_spans, quotations
from bot.markdown.spans import find_fences
from bot.paths import is_inside_repository
from bot.values import Location

MAX_LOCATIONS = 50
"""Locations of one text that are kept."""
MAX_READ = 20_000
"""Characters of one text that are read for locations."""

FILE_EXTENSIONS = (
    "py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts go rs java kt kts c h cc cpp cxx hpp hh m mm cs fs vb rb"
    " erb php swift scala sh bash zsh ps1 sql lua pl ex exs erl hs clj r jl dart vue svelte astro css scss"
    " sass less html htm xml json jsonc json5 yaml yml toml ini cfg conf md mdx rst txt adoc lock gradle"
    " properties proto graphql gql tf hcl csv tsv svg env mod sum mk cmake nix zig sol tex ejs hbs"
)
"""Extensions by which a word is recognised as a file."""
_FILE_NAMES = "Dockerfile|Makefile|Procfile|Jenkinsfile|Gemfile|Rakefile|CODEOWNERS|Vagrantfile|Justfile"
_EXT = "|".join(FILE_EXTENSIONS.split())
# `self.key` and `process.env` are no files; neither is the name of a library.
_DOUBTFUL_WORDS = "env key lock mod sum r c h m mm pl sol ex sh properties html json xml text"
_DOUBTFUL = frozenset(_DOUBTFUL_WORDS.split())
_CERTAIN_NAMES_WORDS = (
    "cargo.lock poetry.lock yarn.lock uv.lock gemfile.lock composer.lock go.mod go.sum package.json"
    " tsconfig.json composer.json index.html pom.xml .env setup.sh install.sh build.sh package-lock.json"
)
_CERTAIN_NAMES = frozenset(_CERTAIN_NAMES_WORDS.split())
_LIBRARIES_WORDS = (
    "node vue next nuxt express react three d3 ember backbone moment chart p5 alpine discord angular"
    " knockout handlebars socket.io chai deno"
)
_LIBRARIES = frozenset(_LIBRARIES_WORDS.split())
_FILE_NAME = regex.Regex(_FILE_NAMES)
_NUMBER = "[1-9][0-9]{0,6}"
_LINES = (
    rf"(?::(?:line )?(?P<line>{_NUMBER})(?:[-–](?P<end>{_NUMBER})|:[0-9]+)?"
    rf"|\#L(?P<hash>{_NUMBER})(?:C[0-9]+)?(?:-L?(?P<hash_end>{_NUMBER})(?:C[0-9]+)?)?"
    rf"|\((?P<bracket>{_NUMBER})(?:,[0-9]+)?\)"
    r"|::(?P<name>[A-Za-z_]\w*(?:(?:::|\.)\w+)*)(?:\[[^\]\n]{0,80}\])?(?:\(\))?"
    r"|:(?P<call>[A-Za-z_][\w.]*\(\))"
    r"|\#(?P<slug>[a-z][\w-]*))"
)
_BARE = regex.Regex(
    rf"(?P<path>(?:[A-Za-z]:[\\/]|\.{{0,2}}[\\/])?(?:[\w.@+%~\[\]-]+[\\/])*"
    rf"(?:[\w@+%\[\]-][\w.@+%\[\]-]*\.(?:{_EXT})|{_FILE_NAMES}|\.(?:env|npmrc|gitignore|eslintrc|dockerignore)))"
    rf"(?:{_LINES}|\b|$)"
)
_WHOLE = regex.Regex(
    rf"(?P<path>(?:[\w.@+%~#&\[\]() -]+/)*[\w@+%#&\[\]().-][\w.@+%#&\[\]() -]*\.(?:{_EXT})|"
    rf"(?:[\w.@+ -]+/)*(?:{_FILE_NAMES})|(?:[\w.@+-]+/)+[\w.@+-]*){_LINES}?"
)
_URL = regex.Regex(
    r"https?://[^/\s]{1,200}/(?P<repository>[\w.-]+/[\w.-]+)/(?:blob|blame|raw|edit)/(?P<ref>[^/\s#?]{1,200})/"
    rf"(?P<path>[^\s#?<>()\"`]{{1,500}})(?:\?[^\s#)]{{0,100}})?(?:#L(?P<line>{_NUMBER})(?:C[0-9]+)?"
    rf"(?:-L?(?P<end>{_NUMBER})(?:C[0-9]+)?)?)?"
)
_ANY_URL = regex.Regex(r"https?://[^\s<>)]{1,500}")
_FRAME = regex.Regex(rf'File "(?P<path>[^"\n]{{1,300}})", line (?P<line>{_NUMBER})')
_ONE_OR_MORE = rf"(?P<n>{_NUMBER})(?:\s*(?:[-–]|to|and|through)\s*L?(?P<m>{_NUMBER}))?"
_BEHIND = regex.Regex(
    rf"[`'\"”)]{{0,2}}(?:\s*[,(:]\s*|\s+)(?:(?:at|on|in|around|near|see)\s+)?(?:the\s+)?"
    rf"(?:lines?\s+|L){_ONE_OR_MORE}",
    ignore_case=True,
)
_AHEAD = regex.Regex(
    rf"(?:\blines?\s+|\bL){_ONE_OR_MORE}\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?[`'\"“(]{{0,2}}$",
    ignore_case=True,
)
# Words before a path that only refers to it: the remark is about another file.
_ELSEWHERE = regex.Regex(
    r"\b(?:as|like|see|similar to|same as(?: in)?|copied from|taken from|to|into|from|instead of"
    r"|than|per|unlike|following|follow|cf\.?|e\.g\.?|compare(?:d)? (?:with|to)|matching|mirrors?|as in"
    r"|as done in|like in|(?:put|place|move|moved|belongs?|lives?|live|goes|go|add|create|define|defined|done"
    r"|exists?) (?:it |this |that |them |these |something )?(?:in|to|into|under)|also in|already in)"
    r"\s+(?:the\s+|our\s+|a\s+)?(?:file\s+|existing\s+)?[`'\"“(]{0,2}$",
    ignore_case=True,
)
_SENTENCE_START = regex.Regex(r"(?:^|[.!?;]\s|\n)[^.!?;\n]{0,200}$")
_COMMANDS_WORDS = (
    "python python3 pytest cat git npm npx yarn pnpm node go cargo make ruff mypy eslint bash sh rm cp"
    " mv vi vim import from docker tox uv pip ls cd run open import. const let var def class return"
    " source sudo"
)
_COMMANDS = frozenset(_COMMANDS_WORDS.split())
_SYSTEM_FOLDERS = "usr lib opt etc var proc dev nix tmp root Users"
_SYSTEM = tuple(f"/{folder}/" for folder in _SYSTEM_FOLDERS.split())
_CHECKOUTS = regex.Regex(
    r"^(?:/home/runner/work/[^/]+/[^/]+/|/github/workspace/|/__w/[^/]+/[^/]+/|/builds/[^/]+/[^/]+/|/workspace/"
    r"|/workspaces/[^/]+/|/app/|/code/|/src/(?:github\.com/[^/]+/[^/]+/)?|[A-Z]:/a/[^/]+/[^/]+/"
    r"|/home/circleci/(?:project|repo)/|/drone/src/|/go/src/[^/]+/[^/]+/[^/]+/)"
)
_INSTALLED = (
    "site-packages/",
    "dist-packages/",
    "node_modules/",
    "/lib/python",
    "<frozen",
    "/rustc/",
    "/go/pkg/mod/",
)
_MARKS = {'"': '"', "“": "”", "«": "»"}

_CALL_BEFORE = regex.Regex(
    r"(?:`(?P<code>[A-Za-z_][\w.]*(?:::\w+)*(?:\([^`\n]{0,60}\))?)`|(?P<call>[A-Za-z_][\w.]*(?:::\w+)*\(\)))"
    r"\s*(?:(?P<what>function|method|class|helper|constructor|handler|test|fixture|struct|type|hook)\s+)?"
    r"(?:in|of|from|at|inside)\s+(?:the\s+)?(?:file\s+)?[`'\"“(]{0,2}$",
    ignore_case=True,
)
_NAMED_BEFORE = regex.Regex(
    r"\b(?P<what>function|method|class|section|heading|chapter|paragraph)\s+"
    r"[`'\"“*]{1,2}(?P<name>[^`'\"”*\n]{1,80})[`'\"”*]{1,2}\s*"
    r"(?:in|of|from|at|inside)\s+(?:the\s+)?(?:file\s+)?[`'\"“(]{0,2}$",
    ignore_case=True,
)
_SECTION_BEFORE = regex.Regex(
    r"[`'\"“*]{1,2}(?P<name>[^`'\"”*\n]{1,80})[`'\"”*]{1,2}\s+(?P<what>section|heading|chapter)\s+"
    r"(?:in|of|from|at|inside)\s+(?:the\s+)?(?:file\s+)?[`'\"“(]{0,2}$",
    ignore_case=True,
)
_CALL_BEHIND = regex.Regex(
    r"[`'\"”)]{0,2}(?:'s|’s|,|:|\s+in|\s+the)?\s*(?:the\s+)?"
    r"(?:(?P<kind>function|method|class|section|heading|chapter)\s+)?"
    r"(?:`(?P<code>[A-Za-z_][\w.]*(?:::\w+)*\([^`\n]{0,60}\))`|(?P<call>[A-Za-z_][\w.]*\(\))"
    r"|[`\"“](?P<name>[^`\"”\n]{1,80})[`\"”](?:\s+(?P<what>function|method|class|section|heading|chapter))?)",
    ignore_case=True,
)
_SECTIONS = frozenset({"section", "heading", "chapter", "paragraph"})


@dataclass(frozen=True, slots=True)
class LocationMention:
    """A location in a text: its position, and the part of the file that is named with it."""

    location: Location
    start: int
    end: int
    part: tuple[str, str] | None = None
    """A function or heading, where no line is given: `("function", "parse_token()")`."""
    is_subject: bool = True
    """Whether the sentence is about it; a path that is only referred to is no location."""
    is_frame: bool = False


def find_place(text: str, *, repository: str | None = None) -> tuple[Location | None, tuple[str, str] | None]:
    """Return the location that the text is most about, and the named part; one with a line is preferred."""
    mentions = [mention for mention in find_mentions(text, repository=repository) if mention.is_subject]
    exact = next((mention for mention in mentions if mention.location.line or mention.part), None)
    best = exact or next(iter(mentions), None)
    return (best.location, best.part) if best else (None, None)


_NO_OUTPUT = frozenset({"suggestion", "json", "yaml", "yml", "diff", "patch"})
"""Fences that propose or state something; every other one may hold what a program printed."""


def find_output_locations(body: str) -> Iterator[tuple[int, Location]]:
    """Yield the line that the output in each fence points at, such as a traceback, and the fence's offset."""
    for fence in find_fences(body):
        is_output = _NO_OUTPUT.isdisjoint(fence.info.lower().split()[:1])
        mentions = find_mentions(fence.text) if is_output else ()
        exact = (mention.location for mention in mentions if mention.location.line)
        if location := next(exact, None):
            yield fence.start, location


def find_mentions(text: str, *, repository: str | None = None) -> tuple[LocationMention, ...]:
    """Return every file that the text names, in order; of a traceback the last frame of the project."""
    text = text[:MAX_READ]
    mentions = sorted(_scan(text, repository), key=lambda mention: (mention.start, -mention.end))
    kept: list[LocationMention] = []
    for mention in mentions:
        if kept and mention.start < kept[-1].end:
            continue
        if kept and mention.is_frame and kept[-1].is_frame:
            kept.pop()
        kept.append(mention)
        if len(kept) >= MAX_LOCATIONS:
            break
    return tuple(kept)


def _scan(text: str, repository: str | None) -> Iterator[LocationMention]:
    covered = bytearray(len(text))
    for scan in (_scan_urls, _scan_frames, _scan_quoted, _scan_bare):
        yield from scan(text, repository, covered)


def _cover(covered: bytearray, start: int, end: int) -> None:
    covered[start:end] = b"x" * (end - start)


def _scan_urls(text: str, repository: str | None, covered: bytearray) -> Iterator[LocationMention]:
    """Yield permalinks; no other address is read for paths."""
    for url in _URL.finditer(text):
        is_own = repository is None or url["repository"].lower() == repository.lower()
        path = unquote(url["path"]).rstrip(".,:;!'\"*_")
        location = repository_location(path, url["line"], url["end"])
        if is_own and location:
            yield LocationMention(location, url.start(), url.end())
    for url in _ANY_URL.finditer(text):
        _cover(covered, *url.span())


def _scan_frames(text: str, _repository: str | None, covered: bytearray) -> Iterator[LocationMention]:
    for frame in _FRAME.finditer(text):
        _cover(covered, *frame.span())
        if location := repository_location(frame["path"], frame["line"]):
            yield LocationMention(location, frame.start(), frame.end(), is_frame=True)


def _scan_quoted(text: str, _repository: str | None, covered: bytearray) -> Iterator[LocationMention]:
    for start, end in _quoted(text):
        match = None if start >= end or covered[start] else _whole(text[start:end])
        if match is not None and (mention := _mention(text, match, start, start + match.end())):
            _cover(covered, start, end)
            yield mention
        elif match is None and " " in text[start:end]:
            _cover(covered, start, end)  # code: a path in it is part of a command


def _scan_bare(text: str, _repository: str | None, covered: bytearray) -> Iterator[LocationMention]:
    for match in _BARE.finditer(text):
        before = text[match.start() - 1 : match.start()]
        is_inside = regex.is_word(before) or before in {"/", "\\", ".", "@", "-", "$", "{", "~"}
        if is_inside or covered[match.start()]:
            continue
        if mention := _mention(text, match, match.start(), match.end()):
            yield mention


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    """Yield the text between backticks or quotation marks: a path there may have spaces."""
    for start, end, ticks in code_spans(text, 300):
        inner = text[start + ticks : end - ticks]
        yield start + ticks + len(inner) - len(inner.lstrip()), start + ticks + len(inner.rstrip())
    for start, end in quotations(text, _MARKS, "(["):
        yield start + 1, end - 1


def _whole(code: str) -> regex.RegexMatch | None:
    """Return the match of code that is a path as a whole."""
    match = _WHOLE.fullmatch(code) if len(code) <= 300 else None
    if match is None:
        return None
    path, first = match["path"], code.split(" ", 1)[0]
    if " " in path and (first.lower() in _COMMANDS or " -" in path):
        return None
    last = path.rsplit("/", 1)[-1]
    if "." not in last and not match["line"] and not _FILE_NAME.fullmatch(last):
        # `a/b` can be a branch, a package or a division; with a trailing slash it is a folder.
        return match if path.endswith("/") and path.count("/") > 1 else None
    return match


def _mention(text: str, match: regex.RegexMatch, start: int, end: int) -> LocationMention | None:
    path, line, last = match["path"], match["line"] or match["hash"], match["end"] or match["hash_end"]
    line = line or match["bracket"]
    if not line and not _is_file(path, text[end : end + 1]):
        return None
    if line and "/" not in path and _is_host(path):
        return None
    name = match["name"] or match["call"] or match["slug"]
    part = _part(name, is_section=bool(match["slug"])) if name else None
    if not line and not part:
        around = _lines_around(text, start, end)
        if around:
            line, last, start, end = around
    part = part or (None if line else _part_around(text, start, end))
    location = repository_location(path, line, last)
    if location is None:
        return None
    is_subject = bool(line or part) or not _ELSEWHERE.search(_sentence_before(text, start))
    return LocationMention(location, start, end, part, is_subject)


def _lines_around(text: str, start: int, end: int) -> tuple[str, str | None, int, int] | None:
    behind = _BEHIND.match(text[end : end + 80])
    if behind:
        return behind["n"], behind["m"], start, end + behind.end()
    ahead = _AHEAD.search(text[max(0, start - 80) : start])
    if ahead:
        return ahead["n"], ahead["m"], max(0, start - 80) + ahead.start(), end
    return None


def _part_around(text: str, start: int, end: int) -> tuple[str, str] | None:
    before = text[max(0, start - 160) : start]
    named = _CALL_BEFORE.search(before)
    code = (named["code"] or named["call"]) if named else ""
    if named and (named["what"] or _is_definition(code)):
        return _part(code.partition("(")[0], is_call="(" in code)
    titled = _NAMED_BEFORE.search(before) or _SECTION_BEFORE.search(before)
    if titled:
        is_section = titled["what"].lower() in _SECTIONS
        return _part(titled["name"].strip(), is_section=is_section)
    behind = _CALL_BEHIND.match(text[end : end + 160])
    if behind is None:
        return None
    if code := behind["code"] or behind["call"]:
        return _part(code.partition("(")[0], is_call=True)
    what = (behind["kind"] or behind["what"] or "").lower()
    return _part(behind["name"].strip(), is_section=what in _SECTIONS) if what else None


def _is_definition(code: str) -> bool:
    """Whether code can hardly be anything but the name of a definition: a call, or of several words."""
    is_camel = any(map(str.isupper, code[1:])) and any(map(str.islower, code))
    return code.endswith(")") or "." in code or "::" in code or "_" in code.strip("_") or is_camel


def _part(name: str, *, is_section: bool = False, is_call: bool = False) -> tuple[str, str]:
    if is_section:
        return "section", name
    return "function", f"{name.removesuffix('()')}()" if is_call or name.endswith("()") else name


def _sentence_before(text: str, start: int) -> str:
    before = text[max(0, start - 200) : start]
    match = _SENTENCE_START.search(before)
    return match[0] if match else before


def _is_file(path: str, following: str) -> bool:
    """Whether a path without a line can hardly be anything but a file."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    stem, _, suffix = name.rpartition(".")
    if following == "(":
        return False
    if "/" in path or "\\" in path:
        return True
    if name.lower() in _CERTAIN_NAMES or not stem:
        return True
    if stem.lower() in _LIBRARIES and suffix.lower() == "js":
        return False
    is_attribute = suffix.lower() in _DOUBTFUL and stem.islower() and "-" not in stem
    return not is_attribute


def _is_host(path: str) -> bool:
    """Whether a name before `:8080` is a host's: few of its last parts are extensions too."""
    return path.rsplit(".", 1)[-1].lower() in {"sh", "rs", "py", "pl", "sol"} and path.count(".") > 1


def repository_location(path: str, line: str | None = None, end: str | None = None) -> Location | None:
    """Return a location from what a program or a person wrote; None if it is outside the repository."""
    relative = _relative(path)
    if relative is None or not is_inside_repository(relative):
        return None
    first, last = (int(line) if line else None), (int(end) if end else None)
    if first is not None and last is not None and last <= first:
        last = None
    return Location(relative.rstrip("/"), first, last)


def _relative(path: str) -> str | None:
    """Return the path in the repository; None for one outside it or of an installed library."""
    path = path.replace("\\", "/")
    if any(map(path.__contains__, _INSTALLED)):
        return None
    if "%" in path:
        path = unquote(path)
    path = _CHECKOUTS.sub("", path)
    while path.startswith("./"):
        path = path[2:]
    if path.startswith(_SYSTEM) or path.startswith(("/home/", "../", "~")):
        return None
    return path.lstrip("/")
