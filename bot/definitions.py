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
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class LanguageQueries:
    """A grammar, and the query that finds its definitions."""

    module: str
    query: str
    function: str = "language"
    scopes: frozenset[str] = frozenset()
    """Nodes whose name leads the names inside: `Token.parse`."""
    nests: bool = True


# `@lead` is what begins a definition before its own node: a decorator, an attribute, a template's head.
_PYTHON = """
(decorated_definition) @lead
(function_definition name: (identifier) @name) @definition
(class_definition name: (identifier) @name) @definition
(module (expression_statement (assignment left: (identifier) @name) @definition))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @definition)))
"""
_JAVASCRIPT = """
(export_statement) @lead
(function_declaration name: (identifier) @name) @definition
(generator_function_declaration name: (identifier) @name) @definition
(class_declaration name: (_) @name) @definition
(method_definition name: (_) @name) @definition
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition)))
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(interface_declaration name: (_) @name) @definition
(type_alias_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(abstract_class_declaration name: (_) @name) @definition
(public_field_definition name: (_) @name) @definition
"""
)
_GO = """
(function_declaration name: (identifier) @name) @definition
(method_declaration name: (field_identifier) @name) @definition
(type_spec name: (type_identifier) @name) @definition
(const_spec name: (identifier) @name) @definition
(source_file (var_declaration (var_spec name: (identifier) @name) @definition))
"""
_RUST = """
(attribute_item) @lead
(function_item name: (identifier) @name) @definition
(function_signature_item name: (identifier) @name) @definition
(struct_item name: (type_identifier) @name) @definition
(enum_item name: (type_identifier) @name) @definition
(trait_item name: (type_identifier) @name) @definition
(mod_item name: (identifier) @name) @definition
(const_item name: (identifier) @name) @definition
(static_item name: (identifier) @name) @definition
(type_item name: (type_identifier) @name) @definition
(macro_definition name: (identifier) @name) @definition
(impl_item type: (type_identifier) @name) @definition
"""
_JAVA = """
(class_declaration name: (identifier) @name) @definition
(interface_declaration name: (identifier) @name) @definition
(enum_declaration name: (identifier) @name) @definition
(record_declaration name: (identifier) @name) @definition
(method_declaration name: (identifier) @name) @definition
(constructor_declaration name: (identifier) @name) @definition
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition
"""
_C = """
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @definition
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @definition
(struct_specifier name: (type_identifier) @name body: (_)) @definition
(enum_specifier name: (type_identifier) @name body: (_)) @definition
(union_specifier name: (type_identifier) @name body: (_)) @definition
(type_definition declarator: (type_identifier) @name) @definition
(preproc_def name: (identifier) @name) @definition
(preproc_function_def name: (identifier) @name) @definition
"""
_CPP = (
    _C
    + """
(template_declaration) @lead
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @definition
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @name)) @definition
(class_specifier name: (type_identifier) @name body: (_)) @definition
(namespace_definition name: (_) @name) @definition
"""
)
HEADINGS = """
(section (atx_heading heading_content: (_) @name)) @definition
(section (setext_heading heading_content: (_) @name)) @definition
"""

_JS_SCOPES = frozenset({"class_declaration", "abstract_class_declaration", "interface_declaration"})
PYTHON = LanguageQueries(
    "tree_sitter_python", _PYTHON, scopes=frozenset({"class_definition", "function_definition"})
)
JAVASCRIPT = LanguageQueries("tree_sitter_javascript", _JAVASCRIPT, scopes=_JS_SCOPES)
TYPESCRIPT = LanguageQueries("tree_sitter_typescript", _TYPESCRIPT, "language_typescript", scopes=_JS_SCOPES)
TSX = LanguageQueries("tree_sitter_typescript", _TYPESCRIPT, "language_tsx", scopes=_JS_SCOPES)
GO = LanguageQueries("tree_sitter_go", _GO)
RUST = LanguageQueries("tree_sitter_rust", _RUST, scopes=frozenset({"impl_item", "trait_item", "mod_item"}))
JAVA = LanguageQueries(
    "tree_sitter_java",
    _JAVA,
    scopes=frozenset(
        {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
    ),
)
C = LanguageQueries("tree_sitter_c", _C)
CPP = LanguageQueries(
    "tree_sitter_cpp", _CPP, scopes=frozenset({"class_specifier", "struct_specifier", "namespace_definition"})
)
MARKDOWN = LanguageQueries("tree_sitter_markdown", HEADINGS, nests=False)

LANGUAGES: Mapping[str, LanguageQueries] = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), TYPESCRIPT),
    ".tsx": TSX,
    ".go": GO,
    ".rs": RUST,
    ".java": JAVA,
    **dict.fromkeys((".c", ".h"), C),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), CPP),
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
    return _qualified_definitions(named, language)[:MAX_DEFINITIONS]


@dataclass(frozen=True, slots=True)
class _Tools:
    parser: Any
    query: Any
    cursor: Any


@cache
def _tools(language: LanguageQueries) -> _Tools | None:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(language.module)
    except ImportError:  # the extra `places` is not installed: names are then not resolved
        return None
    compiled = tree_sitter.Language(getattr(grammar, language.function)())
    query = tree_sitter.Query(compiled, language.query)
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


def _read_node(match: dict[str, list[Any]], language: LanguageQueries, source: _Source) -> _DefinitionNode:
    whole, name = match["definition"][0], match["name"][0]
    start, end, at = whole.start_byte, whole.end_byte, name.start_byte
    text = " ".join(source.data[at : name.end_byte].decode("utf-8", "replace").split())
    return _DefinitionNode(
        start=start,
        end=end,
        name=text.strip("# ") if language.query is HEADINGS else text,
        line=source.line(at),
        first_line=source.first_line(start, end),
        end_line=max(source.line(max(end - 1, start)), source.line(at)),
        is_scope=whole.type in language.scopes,
    )


def _qualified_definitions(
    nodes: Iterable[_DefinitionNode], language: LanguageQueries
) -> tuple[Definition, ...]:
    """Name each definition with its scopes: `Token.parse`."""
    scopes: list[_DefinitionNode] = []
    definitions: list[Definition] = []
    for node in nodes:
        scopes = [scope for scope in scopes if scope.end >= node.end and scope.start <= node.start]
        name = ".".join((*(scope.name for scope in scopes), node.name)) if language.nests else node.name
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
