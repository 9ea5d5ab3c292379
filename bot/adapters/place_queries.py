"""How does each language write a definition? As tree-sitter queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar, and what in it is a definition."""

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
PYTHON = Language(
    "tree_sitter_python",
    _PYTHON,
    scopes=frozenset({"class_definition", "function_definition"}),
)
JAVASCRIPT = Language("tree_sitter_javascript", _JAVASCRIPT, scopes=_JS_SCOPES)
TYPESCRIPT = Language("tree_sitter_typescript", _TYPESCRIPT, "language_typescript", scopes=_JS_SCOPES)
TSX = Language("tree_sitter_typescript", _TYPESCRIPT, "language_tsx", scopes=_JS_SCOPES)
GO = Language("tree_sitter_go", _GO)
RUST = Language(
    "tree_sitter_rust",
    _RUST,
    scopes=frozenset({"impl_item", "trait_item", "mod_item"}),
)
JAVA = Language(
    "tree_sitter_java",
    _JAVA,
    scopes=frozenset(
        {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
    ),
)
C = Language("tree_sitter_c", _C)
CPP = Language(
    "tree_sitter_cpp",
    _CPP,
    scopes=frozenset({"class_specifier", "struct_specifier", "namespace_definition"}),
)
MARKDOWN = Language("tree_sitter_markdown", HEADINGS, nests=False)

LANGUAGES: Mapping[str, Language] = {
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
