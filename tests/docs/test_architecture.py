"""The documents for contributors name files, packages and functions that exist."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.md")])
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATH = re.compile(r"(?:bot|tests|rules|docs|benchmarks|bin|\.github)(?:/[\w.-]+)+/?|app\.yml|pyproject\.toml")
SYMBOL = re.compile(r"`(?P<path>bot/[\w/]+\.py)` \((?P<names>`\w+`(?:(?:, | and )`\w+`)*)\)")


def code_spans(text):
    return re.findall(r"`([^`\n]+)`", text)


def section(heading):
    """The part of the architecture under this heading."""
    _, _, rest = ARCHITECTURE.partition(f"\n## {heading}\n")
    assert rest, heading
    return rest.partition("\n## ")[0]


def table_rows(text):
    """The cells of every row of a table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def definitions(path):
    """Names that a module defines at its top level."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_document_names_exists(page):
    theirs = {".github/whetstone.yml", ".github/copilot-instructions.md"}  # of repositories with the bot
    paths = {span for span in code_spans(page.read_text(encoding="utf-8")) if PATH.fullmatch(span)}
    missing = [path for path in paths - theirs if not (ROOT / path).exists()]
    assert sorted(missing) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_name_beside_a_path_is_defined_there(page):
    missing = [
        f"{match['path']}: {name}"
        for match in SYMBOL.finditer(page.read_text(encoding="utf-8"))
        for name in code_spans(match["names"])
        if name not in set(definitions(ROOT / match["path"]))
    ]
    assert missing == []


def test_the_table_of_changes_leads_to_files():
    rows = table_rows(section("Where do I change …?"))
    assert len(rows) >= 15
    assert [topic for topic, where in rows if not any(map(PATH.fullmatch, code_spans(where)))] == []


def test_the_table_of_packages_is_the_order_that_is_checked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    described = [
        {path.removeprefix("bot/").removesuffix(".py") for path in code_spans(row[0])}
        for row in table_rows(section("The packages"))
    ]
    assert described == [set(layer.split(" | ")) for layer in layers]
