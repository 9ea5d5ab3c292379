"""Which module may know which? The architecture, as a test."""

import ast
import sys
from pathlib import Path

import pytest

BOT = Path(__file__).parent.parent / "bot"
LAYERS = ("domain", "decisions", "engine", "adapters", "standin", "cli", "settings", "ports", "wiring")
MAY_IMPORT = {
    "domain": {"domain"},
    "decisions": {"domain", "decisions"},
    "engine": {"engine", "decisions", "domain", "ports"},
    "adapters": {"adapters", "domain", "ports"},
    "ports": {"domain", "ports"},
    "standin": {"standin"},
    "settings": {"settings"},
    "wiring": set(LAYERS) - {"cli"},
    "cli": {"cli", "wiring", "domain", "settings", "ports", "standin"},
}
PURE = ("domain", "decisions")
IMPURE_STANDARD = {
    "logging",
    "os",
    "pathlib",
    "random",
    "socket",
    "sqlite3",
    "subprocess",
    "time",
    "urllib.request",
}
MODULES = sorted(
    path for path in BOT.rglob("*.py") if path.name != "__main__.py" and "migrations" not in path.parts
)


def layer_of(path: Path) -> str:
    return path.relative_to(BOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"bot.{alias.name}" for alias in node.names} if node.module == "bot" else {node.module}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(BOT)))
def test_a_module_knows_only_the_layers_below_it(path):
    layer = layer_of(path)
    allowed = MAY_IMPORT.get(layer, set())
    known = {name.split(".")[1] for name in imported(path) if name.startswith("bot.")}
    assert known - allowed == set()


@pytest.mark.parametrize(
    "path", [path for path in MODULES if layer_of(path) in PURE], ids=lambda path: str(path.relative_to(BOT))
)
def test_the_domain_and_the_decisions_are_values_only(path):
    outside = {name for name in imported(path) if name.split(".")[0] != "bot"}
    libraries = {name for name in outside if name.split(".")[0] not in sys.stdlib_module_names} - {"re2"}
    assert (libraries, outside & IMPURE_STANDARD) == (set(), set())
