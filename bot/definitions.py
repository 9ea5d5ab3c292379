"""List the names that a source file defines with their lines, using tree-sitter in a child process.

The process gets the path as its argument and the text on its standard input; it prints JSON. It has none
of the bot's environment, so a crafted file can't read a secret from it.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import posixpath
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar, and the queries (`queries/`) that find its definitions."""

    name: str
    queries: tuple[str, ...] = ()
    """The one of its own name where it is empty."""
    function: str = "language"
    scopes: frozenset[str] = frozenset()
    """Nodes whose name leads the names inside: `Token.parse`."""


MARKDOWN = Language("markdown")
_PYTHON = Language("python", scopes=frozenset({"class_definition", "function_definition"}))
_JS_SCOPES = frozenset({"class_declaration", "abstract_class_declaration", "interface_declaration"})
_JAVASCRIPT = Language("javascript", scopes=_JS_SCOPES)
_TYPESCRIPT = Language(
    "typescript", ("javascript", "typescript"), function="language_typescript", scopes=_JS_SCOPES
)
_RUST = Language("rust", scopes=frozenset({"impl_item", "trait_item", "mod_item"}))
_JAVA_SCOPES = ("class_declaration", "interface_declaration", "enum_declaration", "record_declaration")
_C = Language("c")
_CPP = Language(
    "cpp", ("c", "cpp"), scopes=frozenset({"class_specifier", "struct_specifier", "namespace_definition"})
)

LANGUAGES: Mapping[str, Language] = {
    **dict.fromkeys((".py", ".pyi"), _PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), _JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    ".tsx": replace(_TYPESCRIPT, function="language_tsx"),
    ".go": Language("go"),
    ".rs": _RUST,
    ".java": Language("java", scopes=frozenset(_JAVA_SCOPES)),
    **dict.fromkeys((".c", ".h"), _C),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), _CPP),
    **dict.fromkeys((".md", ".mdx", ".markdown"), MARKDOWN),
}


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class, constant or heading, and the lines that it takes."""

    name: str
    line: int
    end_line: int
    first_line: int = 0
    """Where its decorators or attributes begin, if before `line`."""


MAX_DEFINITIONS = 5_000
"""Names of one file that are kept; a generated file can have any number."""


def find_definitions(path: str, text: str) -> tuple[Definition, ...] | None:
    """Return what the file defines, in order; None for an unknown or not installed language."""
    language = LANGUAGES.get(posixpath.splitext(path)[1].lower())
    tools = _tools(language) if language else None
    if tools is None or language is None:
        return None
    data = text.encode("utf-8", "replace")
    tree = tools.parser.parse(data)
    matches = [match for _, match in tools.cursor(tools.query).matches(tree.root_node)]
    source = _Source.of(data, [node for match in matches for node in match.get("lead", ())])
    nodes = {_read_node(match, language, source) for match in matches if "name" in match}
    named = sorted((node for node in nodes if node.name), key=_DefinitionNode.order)
    return _qualified_definitions(named)[:MAX_DEFINITIONS]


@dataclass(frozen=True, slots=True)
class _Tools:
    parser: Any
    query: Any
    cursor: Any


_QUERIES = Path(__file__).with_name("queries")


@cache
def _tools(language: Language) -> _Tools | None:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(f"tree_sitter_{language.name}")
    except ImportError:  # the extra `places` is not installed: names are then not resolved
        return None
    compiled = tree_sitter.Language(getattr(grammar, language.function)())
    files = (_QUERIES / f"{name}.scm" for name in language.queries or (language.name,))
    query = tree_sitter.Query(compiled, "\n".join(file.read_text("utf-8") for file in files))
    return _Tools(tree_sitter.Parser(compiled), query, tree_sitter.QueryCursor)


@dataclass(frozen=True, slots=True)
class _DefinitionNode:
    start: int
    end: int
    name: str
    line: int
    first_line: int
    end_line: int
    is_scope: bool

    def order(self) -> tuple[int, int, str]:
        """Sort outer definitions before inner ones."""
        return self.start, -self.end, self.name


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's bytes and lines, and where decorators, attributes and the like begin.

    Nodes are asked for nothing but bytes: with a thousand definitions in a file, the binding's points,
    parents and siblings have crashed the process.
    """

    data: bytes
    starts: list[int]
    by_end: dict[int, int]
    """Last byte of a wrapper → the line that it begins on."""
    by_line: dict[int, int]
    """Line after an attribute → the line that it begins on."""

    @classmethod
    def of(cls, data: bytes, leads: Iterable[Any]) -> _Source:
        """Index the file's lines and leads."""
        starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
        source = cls(data, starts, {}, {})
        for node in leads:
            first = source.line(node.start_byte)
            source.by_end[node.end_byte] = first
            source.by_line[source.line(node.end_byte) + 1] = first
        return source

    def line(self, byte: int) -> int:
        """Return the line, from 1, of a byte."""
        return bisect_right(self.starts, byte)

    def first_line(self, start: int, end: int) -> int:
        """Return the first line of the definition between these bytes, with its decorators."""
        line = self.line(start)
        first = min(self.by_end.get(end, line), line)
        while (above := self.by_line.get(first, first)) < first:
            first = above
        return first


def _read_node(match: dict[str, list[Any]], language: Language, source: _Source) -> _DefinitionNode:
    whole, name = match["definition"][0], match["name"][0]
    start, end, at = whole.start_byte, whole.end_byte, name.start_byte
    text = " ".join(source.data[at : name.end_byte].decode("utf-8", "replace").split())
    return _DefinitionNode(
        start=start,
        end=end,
        name=text.strip("# ") if language is MARKDOWN else text,
        line=source.line(at),
        first_line=source.first_line(start, end),
        end_line=max(source.line(max(end - 1, start)), source.line(at)),
        is_scope=whole.type in language.scopes,
    )


def _qualified_definitions(nodes: Iterable[_DefinitionNode]) -> tuple[Definition, ...]:
    """Name each definition with its scopes: `Token.parse`."""
    scopes: list[_DefinitionNode] = []
    definitions: list[Definition] = []
    for node in nodes:
        scopes = [scope for scope in scopes if scope.end >= node.end and scope.start <= node.start]
        name = ".".join((*(scope.name for scope in scopes), node.name))
        definitions.append(Definition(name, node.line, node.end_line, node.first_line))
        if node.is_scope:
            scopes.append(node)
    return tuple(definitions)


PARSE_TIMEOUT = 5.0
"""Seconds after which the parser is killed."""

logger = logging.getLogger("pipeline.grounding")


async def outline_file(path: str, text: str, seconds: float = PARSE_TIMEOUT) -> tuple[Definition, ...] | None:
    """Return what the file defines; None for an unknown language, or where the parser fails."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        process.kill()
        await process.wait()
        answer = b""
    if process.returncode:
        logger.warning("reading the definitions of a file failed", extra={"status": process.returncode})
        return None
    return _parse_answer(answer)


def _parse_answer(answer: bytes) -> tuple[Definition, ...] | None:
    try:
        definitions = json.loads(answer)
        return None if definitions is None else tuple(Definition(*fields) for fields in definitions)
    except (ValueError, TypeError):
        return None


def run_worker() -> None:
    """Print the definitions of the file on the standard input."""
    definitions = find_definitions(sys.argv[1], sys.stdin.buffer.read().decode("utf-8", "replace"))
    rows = None if definitions is None else [(d.name, d.line, d.end_line, d.first_line) for d in definitions]
    sys.stdout.write(json.dumps(rows))


if __name__ == "__main__":
    run_worker()
