"""List every text that a person can read: python -m tests.docs.strings [FOLDER…]

String literals of two words or more in `bot/` (help, errors, log messages, problem details, metric help; no
docstrings, no patterns), the text of HTML templates, the descriptions of schemas and the texts of `rules/`.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
_RULE_KEYS = {"description", "fix", "gate", "title", "message", "hint", "allowed"}
_SCHEMA_KEYS = {"description", "title", "x-allowed"}


class Text(NamedTuple):
    """A text and the place where it is written."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {' '.join(self.text.split())}"


def visible_texts(*folders: str) -> Iterator[Text]:
    """Every text below these folders; without any, all of `bot/` and `rules/`."""
    for folder in folders or ("bot", "rules"):
        start = ROOT / folder
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            read = {".py": _python, ".html": _html, ".json": _schema, ".yml": _rules}.get(path.suffix)
            if read and path.is_file():
                yield from read(path)


def _python(path: Path) -> Iterator[Text]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in node.values)
            words = "".join(
                part.value if isinstance(part, ast.Constant) else "{}"
                for part in node.values
                if not isinstance(part, ast.Constant) or isinstance(part.value, str)
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            words = node.value
        else:
            continue
        if id(node) not in docstrings and _is_prose(words):
            yield Text(path, node.lineno, words)


def _is_prose(words: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2,}[,;:.]? [A-Za-z{]", words)) and not re.search(r"\\[bswd]|\(\?", words)


def _html(path: Path) -> Iterator[Text]:
    markup = re.sub(r"<(style|script).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for number, line in enumerate(markup.splitlines(), 1):
        words = re.sub(r"<[^>]*>|\{[{%].*?[%}]\}", " ", line).strip()
        if _is_prose(words):
            yield Text(path, number, words)


def _schema(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    for words in _values(json.loads(source), _SCHEMA_KEYS):
        found = source.find(json.dumps(words, ensure_ascii=False))
        yield Text(path, source.count("\n", 0, max(found, 0)) + 1, words)


def _rules(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    for words in _values(yaml.load(source, yaml.CSafeLoader), _RULE_KEYS):
        if _is_prose(words):
            yield Text(path, source.count("\n", 0, max(source.find(words[:30]), 0)) + 1, words)


def _values(node: Any, keys: set[str]) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in keys and isinstance(value, str):
                yield value
            else:
                yield from _values(value, keys)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value, keys)


if __name__ == "__main__":
    for text in visible_texts(*sys.argv[1:]):
        print(text)  # noqa: T201  it is run by hand
